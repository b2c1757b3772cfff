//! What filters can ask of a file besides its metadata: `$file.tags`, `$file.createdAt` and the like.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::{Map, Value};

use super::{Metadata, wrong};
use crate::Fault;

/// What every reserved name begins with; no metadata of an owner can be mistaken for it.
pub(super) const RESERVED: &str = "$file.";
const TAGS: &str = "$file.tags";
const NAME: &str = "$file.name";
const MEDIA_TYPE: &str = "$file.mediaType";
const LANGUAGE: &str = "$file.language";
const CREATED_AT: &str = "$file.createdAt";
const UPDATED_AT: &str = "$file.updatedAt";
const ALL: [&str; 6] = [TAGS, NAME, MEDIA_TYPE, LANGUAGE, CREATED_AT, UPDATED_AT];

/// A file as filters see it.
#[derive(Debug, Clone)]
pub struct FileFields {
    /// Labels.
    pub tags: Vec<String>,
    /// What its owner calls it.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// The language of its text, where that is known.
    pub language: Option<String>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl FileFields {
    /// The metadata of the file with these beside them, under their reserved names.
    pub fn beside(self, mut metadata: Metadata) -> Metadata {
        let time = |at: Timestamp| Value::from(at.as_millisecond());
        metadata.insert(TAGS.into(), self.tags.into());
        metadata.insert(NAME.into(), self.name.into());
        metadata.insert(MEDIA_TYPE.into(), self.media_type.into());
        metadata.insert(LANGUAGE.into(), self.language.into());
        metadata.insert(CREATED_AT.into(), time(self.created_at));
        metadata.insert(UPDATED_AT.into(), time(self.updated_at));
        metadata
    }
}

/// Which date of a file counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DateField {
    /// When it was added.
    Created,
    /// When it was last changed.
    Updated,
    /// An entry of its metadata that holds a date.
    Entry(String),
}

impl DateField {
    /// Reads a name as it stands in a filter.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            CREATED_AT => Ok(DateField::Created),
            UPDATED_AT => Ok(DateField::Updated),
            name if name.starts_with('$') => Err(format!(
                "must be {CREATED_AT}, {UPDATED_AT} or an entry of the metadata that holds a date"
            )),
            "" => Err("must name a date".into()),
            name => Ok(DateField::Entry(name.to_string())),
        }
    }
}

/// A date or a time as JSON has them: `2026-11-16`, `2026-11-16T09:30:00Z`. A date stands for its beginning, in UTC.
pub fn moment(text: &str) -> Option<Timestamp> {
    let midnight = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    text.parse::<Timestamp>().ok().or_else(midnight)
}

/// The value of a condition on a reserved name as it is compared: times as milliseconds. Faults name the place.
pub(super) fn compared(name: &str, value: &Value, place: &str) -> Result<Value, Fault> {
    match name {
        CREATED_AT | UPDATED_AT => times(value, place),
        name if ALL.contains(&name) => Ok(value.clone()),
        _ => Err(wrong(place, &format!("is no field of files; there are {}", ALL.join(", ")))),
    }
}

/// The same value with every text in it as milliseconds.
fn times(value: &Value, place: &str) -> Result<Value, Fault> {
    match value {
        Value::String(text) => moment(text).map(|at| Value::from(at.as_millisecond())).ok_or_else(|| {
            wrong(place, "must be a date such as \"2026-11-16\" or a time such as \"2026-11-16T09:30:00Z\"")
        }),
        Value::Array(values) => values.iter().map(|value| times(value, place)).collect(),
        Value::Object(operators) => {
            let each = operators.iter().map(|(operator, value)| {
                Ok((operator.clone(), times(value, &format!("{place}.{operator}"))?))
            });
            each.collect::<Result<Map<_, _>, Fault>>().map(Value::Object)
        }
        Value::Null => Ok(Value::Null),
        Value::Bool(_) | Value::Number(_) => Err(wrong(place, "must be a date or a time, as a text")),
    }
}
