//! Numbers, sizes and times for people.

use jiff::{Timestamp, tz::TimeZone};

use crate::words::Words;

/// A time to the minute, in UTC; the page's script makes it the reader's own.
pub(super) fn moment(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Bytes in the largest unit that leaves a digit before the point.
pub(super) fn size(words: Words, bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "frame-size-b";
    for larger in ["frame-size-kb", "frame-size-mb", "frame-size-gb", "frame-size-tb"] {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    let digits = if unit == "frame-size-b" { 0 } else { 1 };
    words.text(unit).with("size", words.fraction(value, digits)).plain()
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
pub(super) fn kind(words: Words, media_type: &str, name: &str) -> String {
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
        ("rtf", "RTF"),
        ("json", "JSON"),
    ];
    let translated = [
        ("message/rfc822", "frame-kind-mail"),
        ("image/", "frame-kind-picture"),
        ("text/plain", "frame-kind-text"),
    ];
    let has = |(part, _): &(&str, &str)| media_type.contains(part);
    let found = known.into_iter().find(has).map(|(_, word)| word.to_string());
    let found = found.or_else(|| translated.into_iter().find(has).map(|(_, key)| words.plain(key)));
    let ending = || name.rsplit_once('.').map(|(_, ending)| ending.to_uppercase()).filter(|e| e.len() <= 5);
    found.or_else(ending).unwrap_or_else(|| words.plain("frame-kind-file"))
}

/// What browser on what system somebody used, as far as it says.
pub(super) fn browser(words: Words, agent: &str) -> String {
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
        (Some(browser), Some(system)) => {
            words.text("frame-browser-on").with("browser", browser).with("system", system).plain()
        }
        (Some(one), None) | (None, Some(one)) => one.to_string(),
        (None, None) => words.plain("frame-browser-unknown"),
    }
}

#[cfg(test)]
mod tests {
    use engine::seams::catalog::UserLanguage;

    use super::*;

    #[test]
    fn sizes_read_well() {
        let size = |bytes| size(Words::default(), bytes);
        assert_eq!([size(999), size(1_500), size(20_000_000)], ["999 B", "1.5 KB", "20.0 MB"]);
        assert_eq!(super::size(Words::of(UserLanguage::French), 1_500), "1,5 Ko");
    }

    #[test]
    fn browsers_are_told_apart() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36";
        assert_eq!(browser(Words::default(), chrome), "Chrome on Linux");
        assert_eq!(browser(Words::default(), ""), "An unknown browser");
    }

    #[test]
    fn kinds_have_short_names() {
        let kind = |media_type, name| kind(Words::default(), media_type, name);
        assert_eq!(kind("application/pdf", "x"), "PDF");
        assert_eq!(kind("message/rfc822", "x"), "Mail");
        assert_eq!(kind("application/octet-stream", "a.log"), "LOG");
        assert_eq!(kind("application/octet-stream", "a"), "File");
    }
}
