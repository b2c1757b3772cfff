//! The filters of a search: which files count, by label, kind, language, date and metadata.

use engine::{Fault, seams::catalog::Filter};
use serde_json::{Value, json};

use super::fields::Fields;

/// Kinds of files that people tell apart, the text for each, and how their media types begin.
pub(super) const KINDS: &[(&str, &str, &[&str])] = &[
    ("pdf", "asking-kind-pdf", &["application/pdf"]),
    (
        "word",
        "asking-kind-word",
        &["application/vnd.openxmlformats-officedocument.wordprocessingml", "application/msword"],
    ),
    (
        "excel",
        "asking-kind-excel",
        &["application/vnd.openxmlformats-officedocument.spreadsheetml", "application/vnd.ms-excel"],
    ),
    (
        "slides",
        "asking-kind-slides",
        &["application/vnd.openxmlformats-officedocument.presentationml", "application/vnd.ms-powerpoint"],
    ),
    ("page", "asking-kind-page", &["text/html", "application/xhtml"]),
    ("mail", "asking-kind-mail", &["message/"]),
    ("text", "asking-kind-text", &["text/plain", "text/markdown", "text/csv"]),
    ("picture", "asking-kind-picture", &["image/"]),
];

/// Languages that quire tells apart and the text for each, most spoken first; others can be asked for over the API.
pub(super) const LANGUAGES: &[(&str, &str)] = &[
    ("en", "asking-in-en"),
    ("zh", "asking-in-zh"),
    ("es", "asking-in-es"),
    ("ar", "asking-in-ar"),
    ("fr", "asking-in-fr"),
    ("pt", "asking-in-pt"),
    ("ru", "asking-in-ru"),
    ("de", "asking-in-de"),
    ("ja", "asking-in-ja"),
    ("it", "asking-in-it"),
    ("nl", "asking-in-nl"),
    ("pl", "asking-in-pl"),
    ("tr", "asking-in-tr"),
    ("sv", "asking-in-sv"),
    ("he", "asking-in-he"),
];

/// How an entry of the metadata is compared with what was typed, the text for it, and the operator.
pub(super) const COMPARISONS: &[(&str, &str, &str)] = &[
    ("", "asking-compare-is", "$eq"),
    ("contains", "asking-compare-contains", "$contains"),
    ("least", "asking-compare-least", "$gte"),
    ("most", "asking-compare-most", "$lte"),
];

/// What the form says of them, as it was typed.
#[derive(Default)]
pub(super) struct Narrowed {
    pub(super) label: String,
    pub(super) kind: String,
    pub(super) language: String,
    pub(super) from: String,
    pub(super) until: String,
    /// An entry of the metadata, how it is compared, and with what.
    pub(super) entry: String,
    pub(super) compare: String,
    pub(super) value: String,
}

impl Narrowed {
    pub(super) fn of(fields: &Fields) -> Self {
        let text = |name| fields.text(name).to_string();
        Narrowed {
            label: text("label"),
            kind: text("kind"),
            language: text("language"),
            from: text("from"),
            until: text("until"),
            entry: text("entry").trim().to_string(),
            compare: text("compare"),
            value: text("value").trim().to_string(),
        }
    }

    /// Whether anything is left out.
    pub(super) fn any(&self) -> bool {
        let typed =
            [&self.label, &self.kind, &self.language, &self.from, &self.until, &self.entry, &self.value];
        typed.iter().any(|text| !text.is_empty())
    }

    pub(super) fn kinds(&self) -> &'static [(&'static str, &'static str, &'static [&'static str])] {
        KINDS
    }

    pub(super) fn languages(&self) -> &'static [(&'static str, &'static str)] {
        LANGUAGES
    }

    pub(super) fn comparisons(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        COMPARISONS
    }

    /// What must hold of the metadata.
    fn on_metadata(&self) -> Result<Option<Value>, Fault> {
        let (entry, typed) = (&self.entry, &self.value);
        match (entry.as_str(), typed.as_str()) {
            ("", "") => return Ok(None),
            ("", _) => return Err(Fault::invalid("entry", "say which key of the metadata has this value")),
            (entry, _) if entry.starts_with('$') => {
                return Err(Fault::invalid("entry", "a key of the metadata does not begin with `$`"));
            }
            // The key alone: files that have it.
            (entry, "") => return Ok(Some(json!({entry: {"$ne": null}}))),
            _ => {}
        }
        let known = COMPARISONS.iter().find(|(name, ..)| *name == self.compare);
        let (.., operator) = known.ok_or_else(|| Fault::invalid("compare", "there is no such comparison"))?;
        // Nobody who types 2024 knows whether it was stored as a number or as a text.
        let mut values = vec![json!(typed)];
        values.extend(serde_json::from_str(typed).ok().filter(|value: &Value| match *operator {
            "$eq" => value.is_number() || value.is_boolean(),
            "$contains" => false,
            _ => value.is_number(),
        }));
        let each: Vec<Value> = values.into_iter().map(|value| json!({entry: {*operator: value}})).collect();
        Ok(Some(json!({"$or": each})))
    }

    /// The same in the words of the API.
    fn conditions(&self) -> Result<Vec<Value>, Fault> {
        let mut all = Vec::new();
        if !self.label.is_empty() {
            all.push(json!({"$file.tags": {"$in": [self.label]}}));
        }
        if !self.kind.is_empty() {
            let kind = KINDS.iter().find(|(name, ..)| *name == self.kind);
            let (.., starts) = kind.ok_or_else(|| Fault::invalid("kind", "there is no such kind of file"))?;
            let starts: Vec<Value> =
                starts.iter().map(|start| json!({"$file.mediaType": {"$starts": start}})).collect();
            all.push(json!({"$or": starts}));
        }
        if !self.language.is_empty() {
            all.push(json!({"$file.language": self.language}));
        }
        if !self.from.is_empty() {
            all.push(json!({"$file.createdAt": {"$gte": date("from", &self.from)?.to_string()}}));
        }
        if !self.until.is_empty() {
            // The whole of the last day counts.
            let after = date("until", &self.until)?.tomorrow().map_err(|_| wrong_date("until"))?;
            all.push(json!({"$file.createdAt": {"$lt": after.to_string()}}));
        }
        all.extend(self.on_metadata()?);
        Ok(all)
    }

    /// Which files count; `None` is all of them.
    pub(super) fn filter(&self) -> Result<Option<Filter>, Fault> {
        let conditions = self.conditions()?;
        if conditions.is_empty() {
            return Ok(None);
        }
        Filter::parse(&json!({"$and": conditions})).map(Some)
    }
}

fn date(field: &str, text: &str) -> Result<jiff::civil::Date, Fault> {
    text.parse().map_err(|_| wrong_date(field))
}

fn wrong_date(field: &str) -> Fault {
    Fault::invalid(field, "this is not a date such as 2026-11-16")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed(fields: &[(&str, &str)]) -> Narrowed {
        Narrowed::of(&Fields::of(
            fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        ))
    }

    #[test]
    fn every_filter_of_the_form_is_one_that_the_catalog_understands() {
        assert!(narrowed(&[]).filter().unwrap().is_none());
        for (kind, ..) in KINDS {
            assert!(narrowed(&[("kind", kind)]).filter().unwrap().is_some(), "{kind}");
        }
        let all = [
            ("label", "a"),
            ("kind", "pdf"),
            ("language", "de"),
            ("from", "2026-01-31"),
            ("until", "2026-12-31"),
        ];
        assert_eq!(narrowed(&all).conditions().unwrap().len(), 5);
        assert!(narrowed(&all).filter().unwrap().is_some());
        assert!(narrowed(&all).conditions().unwrap()[4].to_string().contains("2027-01-01"));
    }

    #[test]
    fn metadata_is_compared_as_a_text_and_as_what_it_looks_like() {
        let passes = |fields: &[(&str, &str)], metadata: Value| {
            let filter = narrowed(fields).filter().unwrap().unwrap();
            filter.matches(&serde_json::from_value(metadata).unwrap())
        };
        let year = [("entry", "year"), ("value", "2024")];
        assert!(passes(&year, json!({"year": 2024})) && passes(&year, json!({"year": "2024"})));
        assert!(!passes(&year, json!({"year": 2023})) && !passes(&year, json!({})));
        let least = [("entry", "year"), ("compare", "least"), ("value", "2024")];
        assert!(passes(&least, json!({"year": 2025})) && passes(&least, json!({"year": "2024-03"})));
        assert!(!passes(&least, json!({"year": 2023})));
        let most = [("entry", "year"), ("compare", "most"), ("value", "2024")];
        assert!(passes(&most, json!({"year": 2023})) && !passes(&most, json!({"year": 2025})));
        let part = [("entry", "team"), ("compare", "contains"), ("value", "Leg")];
        assert!(passes(&part, json!({"team": "The legal one"})) && !passes(&part, json!({"team": "hr"})));
        let signed = [("entry", "signed"), ("value", "true")];
        assert!(passes(&signed, json!({"signed": true})) && !passes(&signed, json!({"signed": false})));
        let any = [("entry", "team")];
        assert!(passes(&any, json!({"team": ""})) && !passes(&any, json!({"year": 1})));
    }

    #[test]
    fn what_cannot_be_meant_is_said_to_be_wrong() {
        for wrong in [("kind", "smell"), ("from", "yesterday"), ("until", "9999-12-31"), ("entry", "$or")] {
            assert_eq!(narrowed(&[wrong]).filter().unwrap_err().param.as_deref(), Some(wrong.0));
        }
        let alone = narrowed(&[("value", "2024")]).filter().unwrap_err();
        assert_eq!(alone.param.as_deref(), Some("entry"));
        let compared = narrowed(&[("entry", "year"), ("compare", "smells"), ("value", "1")]).filter();
        assert_eq!(compared.unwrap_err().param.as_deref(), Some("compare"));
    }
}
