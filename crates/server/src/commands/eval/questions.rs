//! Reads questions with what they should find.

use std::path::Path;

use engine::{Fault, Reason};
use serde_json::Value;

use super::number;

/// A place in a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// The file's name.
    pub(super) file: String,
    /// The page; `None` is any.
    pub(super) page: Option<u64>,
    /// How relevant it is; 1 unless said otherwise.
    pub(super) grade: f64,
}

impl Target {
    /// Whether a place that was found is this one.
    pub(super) fn is(&self, found: &Target) -> bool {
        self.file == found.file && (self.page.is_none() || self.page == found.page)
    }

    /// `terms.pdf#page=3` or `terms.pdf`.
    fn parse(text: &str) -> Option<Self> {
        let (file, page) = match text.rsplit_once("#page=") {
            Some((file, page)) => (file, Some(page.trim().parse().ok()?)),
            None => (text, None),
        };
        let file = file.trim();
        (!file.is_empty()).then(|| Target { file: file.to_string(), page, grade: 1.0 })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.page {
            Some(page) => write!(f, "{}, page {page}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// A question and what it should find.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) relevant: Vec<Target>,
}

/// Reads a file of questions; what is wrong is named by its line.
pub(super) fn read(path: &Path) -> Result<Vec<Question>, Fault> {
    let wrong = |cause: String| Fault::new(Reason::InvalidParameter, format!("{}: {cause}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let questions: Result<Vec<Question>, Fault> = lines
        .map(|(line, number)| parse(line).map_err(|cause| wrong(format!("line {number}: {cause}"))))
        .collect();
    let questions = questions?;
    if questions.is_empty() {
        return Err(wrong("holds no question".into()));
    }
    Ok(questions)
}

fn parse(line: &str) -> Result<Question, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = ["question", "query"].iter().find_map(|name| value[name].as_str());
    let text = text.ok_or("there is no `question`")?.to_string();
    let relevant = match (&value["relevant"], value["truth"].as_str()) {
        (Value::Array(places), _) => {
            places.iter().map(place).collect::<Option<Vec<_>>>().ok_or("`relevant` must list files")?
        }
        (Value::Null, Some(truth)) => cited(truth),
        _ => Vec::new(),
    };
    if relevant.is_empty() {
        return Err("neither `relevant` nor `truth` names a file".into());
    }
    Ok(Question { text, relevant })
}

fn place(value: &Value) -> Option<Target> {
    match value {
        Value::String(text) => Target::parse(text),
        Value::Object(_) => {
            let target = Target::parse(value["file"].as_str()?)?;
            let page = value["page"].as_u64().or(target.page);
            Some(Target { page, grade: number(value, "grade").unwrap_or(1.0), ..target })
        }
        _ => None,
    }
}

/// The places in square brackets in a text.
fn cited(truth: &str) -> Vec<Target> {
    let brackets = truth.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    let mut places = Vec::new();
    for target in brackets.filter_map(|(inside, _)| Target::parse(inside)) {
        if !places.contains(&target) {
            places.push(target);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_name_a_place_are_read() {
        let of = |line: &str| parse(line).unwrap().relevant;
        let place = |file: &str, page, grade| Target { file: file.into(), page, grade };
        assert_eq!(
            of(r#"{"question": "q", "relevant": ["a b.pdf#page=3", {"file": "c.md", "grade": 2}]}"#),
            [place("a b.pdf", Some(3), 1.0), place("c.md", None, 2.0)]
        );
        assert_eq!(
            of(r#"{"query": "q", "truth": "Yes. [a.pdf#page=7] No. [b.pdf#page=8][a.pdf#page=7]"}"#),
            [place("a.pdf", Some(7), 1.0), place("b.pdf", Some(8), 1.0)]
        );
        for wrong in ["{}", "[]", "{", r#"{"question": "q"}"#, r#"{"question": "q", "relevant": [5]}"#] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
