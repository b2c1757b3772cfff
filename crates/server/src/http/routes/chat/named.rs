//! Which boxes a chat request means where its path names none.

use std::collections::BTreeSet;

use engine::{
    Fault,
    access::{Caller, Reading, no_such_box},
    seams::catalog::BoxRecord,
};

use super::super::search::{MOST_BOXES, several};
use crate::app::App;

/// Boxes that an error lists at most.
const LISTED: usize = 10;

/// How a request names its box.
pub(super) enum NamedBox<'a> {
    /// By `box_id`, in the body or as a header.
    Id(&'a str),
    /// By `boxes`, in the body: several.
    Several(&'a [String]),
    /// By `model`, which OpenAI clients always send: perhaps a box, perhaps the name of a language model.
    Model(&'a str),
    Nothing,
}

/// The boxes that are named; the key's only box where none is.
pub(super) async fn find(app: &App, caller: &Caller, named: NamedBox<'_>) -> Result<Vec<Reading>, Fault> {
    let (model, explicit) = match named {
        NamedBox::Id(id) => return Ok(vec![caller.may_search(id.parse().map_err(|_| no_such_box())?)?]),
        NamedBox::Several(boxes) => return several(caller, boxes),
        NamedBox::Nothing => (None, false),
        NamedBox::Model(model) => match model.strip_prefix("box:") {
            Some(rest) => (Some(rest.trim()), true),
            None => (Some(model), model.starts_with("box_")),
        },
    };
    if let Some(id) = model.and_then(|model| model.parse().ok()) {
        return Ok(vec![caller.may_search(id)?]);
    }
    let searchable = caller.searchable()?;
    let boxes = app.catalog.boxes_of(&searchable).await?;
    if let Some(record) = model.map(|name| by_name(&boxes, name)).transpose()?.flatten() {
        return Ok(vec![caller.may_search(record.id)?]);
    }
    if let Some(list) = model.filter(|model| explicit && model.contains(',')) {
        return several(caller, &ids(&boxes, list)?);
    }
    match (&searchable[..], explicit) {
        (_, true) => Err(no_such_box()),
        ([only], false) => Ok(vec![*only]),
        _ => Err(which(model, &boxes)),
    }
}

/// The ids of boxes that are named by id or name, separated by commas. There is room for half a million names in a body, each of which
/// would be compared with every box.
fn ids(boxes: &[BoxRecord], list: &str) -> Result<Vec<String>, Fault> {
    let names: BTreeSet<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > MOST_BOXES {
        let cause = format!("`model` can name at most {MOST_BOXES} boxes, not {}", names.len());
        return Err(Fault::invalid("model", cause));
    }
    let one = |name: &str| match by_name(boxes, name)? {
        Some(record) => Ok(record.id.to_string()),
        None => Ok(name.to_string()),
    };
    names.into_iter().map(one).collect()
}

/// The one box of this name; letters in the wrong case do not matter where that is clear enough.
fn by_name<'a>(boxes: &'a [BoxRecord], name: &str) -> Result<Option<&'a BoxRecord>, Fault> {
    let mut found: Vec<_> = boxes.iter().filter(|record| record.name.as_str() == name).collect();
    if found.is_empty() {
        let name = name.to_lowercase();
        found = boxes.iter().filter(|record| record.name.as_str().to_lowercase() == name).collect();
    }
    match found[..] {
        [] => Ok(None),
        [record] => Ok(Some(record)),
        [..] => Err(Fault::invalid("model", format!("several boxes are called `{name}`; use the box id"))),
    }
}

/// The error for a request that could mean several boxes.
fn which(model: Option<&str>, boxes: &[BoxRecord]) -> Fault {
    let ways = "name the box as `model`, as `box_id`, in the header X-Box-Id or in the path \
                /boxes/{box_id}/chat/completions";
    let listed: Vec<_> =
        boxes.iter().take(LISTED).map(|record| format!("{} ({})", record.name.as_str(), record.id)).collect();
    let more = match boxes.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let choice = match listed.is_empty() {
        true => "this key can use no box".to_string(),
        false => format!("this key can use {}{more}", listed.join(", ")),
    };
    match model {
        Some(model) => {
            let model: String = model.chars().take(100).collect();
            Fault::invalid("model", format!("`model` is `{model}`, which is not a box; {ways}; {choice}"))
        }
        None => Fault::missing("model", &format!("{ways}; {choice}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_half_a_million_names_is_refused_before_they_are_looked_up() {
        let many: String = (0..100_000).map(|name| format!("{name},")).collect();
        assert_eq!(ids(&[], &many).unwrap_err().param.as_deref(), Some("model"));
        assert_eq!(ids(&[], "a, b,a,,").unwrap(), ["a", "b"]);
    }
}
