//! Names and labels that owners give their files.

use engine::{Fault, seams::catalog::FileName};
use jiff::Timestamp;

/// Labels on one file, and characters in one: labels, not texts.
const MOST_TAGS: usize = 100;
const LONGEST_TAG: usize = 100;

/// A name for a file.
pub(crate) fn parse_name(text: &str) -> Result<FileName, Fault> {
    text.parse().map_err(|wrong: String| Fault::invalid("name", wrong))
}

/// A JSON array of strings, or words separated by commas.
pub(crate) fn parse_tags(text: &str) -> Result<Vec<String>, Fault> {
    let tags: Vec<String> = match text.trim().starts_with('[') {
        true => serde_json::from_str(text).map_err(|_| {
            Fault::invalid("tags", "`tags` must be a JSON array of strings, or words separated by commas")
        })?,
        false => text.split(',').map(str::to_string).collect(),
    };
    check_tags(tags)
}

/// Labels without the spaces around them, if they are few and short enough.
pub(super) fn check_tags(tags: Vec<String>) -> Result<Vec<String>, Fault> {
    let tags: Vec<String> =
        tags.iter().map(|tag| tag.trim().to_string()).filter(|tag| !tag.is_empty()).collect();
    if tags.len() > MOST_TAGS || tags.iter().any(|tag| tag.chars().count() > LONGEST_TAG) {
        let cause =
            format!("a file can have at most {MOST_TAGS} tags of at most {LONGEST_TAG} characters each");
        return Err(Fault::invalid("tags", cause));
    }
    Ok(tags)
}

/// A time in the future, at which a file is deleted.
pub(super) fn parse_expiry(text: &str) -> Result<Timestamp, Fault> {
    let wrong = "`expiresAt` must be a time in the future, such as 2027-01-31T12:00:00Z; to remove the file now, delete it";
    let moment = text.trim().parse::<Timestamp>().ok().filter(|moment| *moment > Timestamp::now());
    moment.ok_or_else(|| Fault::invalid("expiresAt", wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_as_json_or_with_commas() {
        assert_eq!(parse_tags("a, b,,c").unwrap(), ["a", "b", "c"]);
        assert_eq!(parse_tags(r#"["x, y", " z "]"#).unwrap(), ["x, y", "z"]);
        assert!(parse_tags("[1]").is_err());
        assert!(parse_tags(&"x,".repeat(101)).is_err());
    }
}
