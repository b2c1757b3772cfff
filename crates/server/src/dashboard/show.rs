//! Numbers, sizes and times for people.

use jiff::{Timestamp, tz::TimeZone};

/// A time to the minute, in UTC; the page's script makes it the reader's own.
pub(super) fn moment(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Bytes in the largest unit that leaves a digit before the point.
pub(super) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// A number with its thousands apart.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 file", "2 files".
pub(super) fn count(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A time that a page can show: for people and for its script.
#[derive(Clone)]
pub(super) struct Moment {
    pub(super) iso: String,
    pub(super) text: String,
}

impl Moment {
    pub(super) fn of(time: Timestamp) -> Self {
        Moment { iso: time.to_string(), text: moment(time) }
    }
}

/// What kind of file it is, in a word.
pub(super) fn kind(media_type: &str, name: &str) -> String {
    let known = [
        ("pdf", "PDF"),
        ("wordprocessingml", "Word"),
        ("presentationml", "PowerPoint"),
        ("spreadsheetml", "Excel"),
        ("opendocument", "OpenDocument"),
        ("epub", "EPUB"),
        ("html", "HTML"),
        ("markdown", "Markdown"),
        ("csv", "CSV"),
        ("message/rfc822", "Mail"),
        ("rtf", "RTF"),
        ("image/", "Picture"),
        ("json", "JSON"),
        ("text/plain", "Text"),
    ];
    let found =
        known.into_iter().find(|(part, _)| media_type.contains(part)).map(|(_, word)| word.to_string());
    let ending = || name.rsplit_once('.').map(|(_, ending)| ending.to_uppercase()).filter(|e| e.len() <= 5);
    found.or_else(ending).unwrap_or_else(|| "File".into())
}

/// What browser on what system somebody used, as far as it says.
pub(super) fn browser(agent: &str) -> String {
    let first = |known: &[(&str, &'static str)]| {
        known.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name)
    };
    let browser = first(&[
        ("Edg/", "Edge"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ]);
    let system = first(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "macOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_string(),
        (None, None) => "An unknown browser".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([number(7), number(1_000), number(1_234_567)], ["7", "1,000", "1,234,567"]);
        assert_eq!([size(999), size(1_500), size(20_000_000)], ["999 B", "1.5 KB", "20.0 MB"]);
        assert_eq!([count(1, "file", "files"), count(0, "file", "files")], ["1 file", "0 files"]);
    }

    #[test]
    fn browsers_are_told_apart() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36";
        assert_eq!(browser(chrome), "Chrome on Linux");
        assert_eq!(browser(""), "An unknown browser");
    }

    #[test]
    fn kinds_have_short_names() {
        assert_eq!(kind("application/pdf", "x"), "PDF");
        assert_eq!(kind("application/octet-stream", "a.log"), "LOG");
        assert_eq!(kind("application/octet-stream", "a"), "File");
    }
}
