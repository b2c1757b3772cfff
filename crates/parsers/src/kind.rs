//! Owns what kind of file some bytes are. The bytes decide; the name only breaks ties between kinds of plain text.

use std::io::{Cursor, Read};

use engine::seams::parser::ParseFailure;

use crate::failure;

/// A kind of file we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Portable Document Format.
    Pdf,
    /// A Word document.
    Docx,
    /// A `PowerPoint` presentation.
    Pptx,
    /// A workbook: xlsx, xlsm, xlsb, xls or ods.
    Workbook(&'static str),
    /// Rows of values with this delimiter.
    Delimited(u8),
    /// A web page.
    Html,
    /// Markdown.
    Markdown,
    /// Text without markup.
    Text,
    /// A mail.
    Email,
    /// Rich Text Format.
    Rtf,
    /// An `OpenDocument` text.
    Odt,
    /// An `OpenDocument` presentation.
    Odp,
    /// An electronic book.
    Epub,
    /// A picture of this media type, read by text recognition.
    Image(&'static str),
}

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const XLSB: &str = "application/vnd.ms-excel.sheet.binary.macroenabled.12";
const XLS: &str = "application/vnd.ms-excel";
const ODS: &str = "application/vnd.oasis.opendocument.spreadsheet";

impl Kind {
    /// The media type of files of this kind.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Workbook(media_type) | Self::Image(media_type) => media_type,
            Self::Delimited(b'\t') => "text/tab-separated-values",
            Self::Delimited(_) => "text/csv",
            Self::Html => "text/html",
            Self::Markdown => "text/markdown",
            Self::Text => "text/plain",
            Self::Email => "message/rfc822",
            Self::Rtf => "application/rtf",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Epub => "application/epub+zip",
        }
    }
}

/// Says what kind of file `bytes` are. `name` is a hint only.
pub fn sniff(bytes: &[u8], name: &str) -> Result<Kind, ParseFailure> {
    if let Some(kind) = by_magic(bytes) {
        return Ok(kind);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return in_zip(bytes);
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return in_compound_file(bytes);
    }
    // Some programs write lines of their own before the header; readers look for it in the first kilobyte.
    if contains(head(bytes, 1024), b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    if let Some(what) = known_but_unread(bytes) {
        return Err(failure::unsupported(format!(
            "{what} are not supported; convert the file to PDF or text"
        )));
    }
    in_text(bytes, name)
}

fn by_magic(bytes: &[u8]) -> Option<Kind> {
    Some(match bytes {
        [b'%', b'P', b'D', b'F', b'-', ..] => Kind::Pdf,
        [b'{', b'\\', b'r', b't', b'f', ..] => Kind::Rtf,
        [0x89, b'P', b'N', b'G', ..] => Kind::Image("image/png"),
        [0xff, 0xd8, 0xff, ..] => Kind::Image("image/jpeg"),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => Kind::Image("image/tiff"),
        [b'G', b'I', b'F', b'8', _, b'a', ..] => Kind::Image("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Kind::Image("image/webp"),
        // "BM" alone starts many texts; a bitmap has zeros in its reserved words.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Kind::Image("image/bmp"),
        _ => return None,
    })
}

fn known_but_unread(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0x1f, 0x8b, ..] | [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            "compressed archives"
        }
        [b'7', b'z', 0xbc, 0xaf, ..] | [b'R', b'a', b'r', b'!', ..] => "compressed archives",
        [0x7f, b'E', b'L', b'F', ..] | [b'M', b'Z', 0x90 | 0x00, _, ..] => "executable files",
        [b'I', b'D', b'3', ..] | [b'O', b'g', b'g', b'S', ..] | [b'f', b'L', b'a', b'C', ..] => "audio files",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "videos and HEIC pictures",
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => "databases",
        _ => return None,
    })
}

fn in_zip(bytes: &[u8]) -> Result<Kind, ParseFailure> {
    let unread =
        || failure::unsupported("zip archives are not supported; upload the files inside it one by one");
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else {
        return Err(failure::damaged(
            "the file's zip archive is damaged; open and save it again in its own program",
        ));
    };
    let mut small_part = |name: &str| -> Option<String> {
        /// Content types of the largest decks are some hundred kilobytes.
        const LARGEST: u64 = 4 << 20;
        let mut text = Vec::new();
        archive.by_name(name).ok()?.take(LARGEST).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    if let Some(media_type) = small_part("mimetype") {
        return match media_type.trim() {
            "application/epub+zip" => Ok(Kind::Epub),
            odf if odf.starts_with("application/vnd.oasis.opendocument.text") => Ok(Kind::Odt),
            odf if odf.starts_with("application/vnd.oasis.opendocument.presentation") => Ok(Kind::Odp),
            odf if odf.starts_with(ODS) => Ok(Kind::Workbook(ODS)),
            _ => Err(unread()),
        };
    }
    if let Some(types) = small_part("[Content_Types].xml") {
        let types = types.to_ascii_lowercase();
        let main = |what: &str| types.contains(what) && types.contains(".main+xml");
        if main("wordprocessingml") || types.contains("ms-word.document.macroenabled") {
            return Ok(Kind::Docx);
        } else if main("presentationml") || types.contains("ms-powerpoint") {
            return Ok(Kind::Pptx);
        } else if types.contains("sheet.binary") {
            return Ok(Kind::Workbook(XLSB));
        } else if main("spreadsheetml") || types.contains("ms-excel") {
            return Ok(Kind::Workbook(XLSX));
        }
    }
    let has = |name: &str| archive.index_for_name(name).is_some();
    match () {
        () if has("word/document.xml") => Ok(Kind::Docx),
        () if has("ppt/presentation.xml") => Ok(Kind::Pptx),
        () if has("xl/workbook.xml") => Ok(Kind::Workbook(XLSX)),
        () if has("META-INF/container.xml") => Ok(Kind::Epub),
        () if has("content.xml") => Ok(Kind::Odt),
        () => Err(unread()),
    }
}

/// The container of old Office files and of locked new ones; its entries have UTF-16 names.
fn in_compound_file(bytes: &[u8]) -> Result<Kind, ParseFailure> {
    let has = |name: &str| {
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        contains(bytes, &wide)
    };
    if has("EncryptedPackage") {
        Err(failure::locked("the file is protected by a password; save a copy without one"))
    } else if has("Workbook") || has("Book") {
        Ok(Kind::Workbook(XLS))
    } else if has("WordDocument") {
        Err(failure::unsupported(
            "Word files from before 2007 (.doc) are not supported; save the file as .docx or PDF",
        ))
    } else if has("PowerPoint Document") {
        Err(failure::unsupported(
            "PowerPoint files from before 2007 (.ppt) are not supported; save the file as .pptx or PDF",
        ))
    } else if has("__substg1.0_") {
        Err(failure::unsupported("Outlook messages (.msg) are not supported; save the mail as .eml"))
    } else {
        Err(failure::unsupported(
            "this kind of Office file is not supported; save it in a newer format or as PDF",
        ))
    }
}

fn in_text(bytes: &[u8], name: &str) -> Result<Kind, ParseFailure> {
    /// Enough to tell kinds of text apart.
    const SAMPLE: usize = 64 << 10;
    let text = crate::text::decode(head(bytes, SAMPLE)).text;
    let odd = text.chars().filter(|c| c.is_control() && !c.is_whitespace() || *c == '\u{fffd}').count();
    let extension = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    let extension = extension.as_str();
    // One odd character in ten is beyond any damaged text; a mail may carry raw binary parts, so it is asked first.
    if looks_like_mail(&text, extension) {
        return Ok(Kind::Email);
    }
    if odd * 10 > text.chars().count() {
        return Err(failure::unsupported(
            "quire cannot read this kind of file; upload PDF, Office, web, mail or text files",
        ));
    }
    if looks_like_html(&text, extension) {
        return Ok(Kind::Html);
    }
    if text.trim_start().starts_with("{\\rtf") {
        return Ok(Kind::Rtf);
    }
    match extension {
        "tsv" | "tab" => return Ok(Kind::Delimited(b'\t')),
        "csv" => return Ok(Kind::Delimited(crate::delimited::delimiter(&text).unwrap_or(b','))),
        "md" | "markdown" | "mdown" | "mkd" => return Ok(Kind::Markdown),
        _ => {}
    }
    if let Some(delimiter) = crate::delimited::certain_delimiter(&text) {
        return Ok(Kind::Delimited(delimiter));
    }
    Ok(if looks_like_markdown(&text) { Kind::Markdown } else { Kind::Text })
}

fn looks_like_html(text: &str, extension: &str) -> bool {
    let start: String = text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .chars()
        .take(2048)
        .collect::<String>()
        .to_lowercase();
    let telling = ["<!doctype html", "<html", "<head>", "<head ", "<body"];
    if start.starts_with('<') && telling.iter().any(|tag| start.contains(tag)) {
        return true;
    }
    let tagged = [
        "<p", "<div", "<h1", "<h2", "<table", "<ul", "<ol", "<span", "<a ", "<br", "<title", "<meta", "<img",
        "<article", "<section",
    ];
    let tags = tagged.iter().filter(|tag| start.contains(*tag)).count();
    match extension {
        "html" | "htm" | "xhtml" => start.contains('<') && start.contains('>'),
        // Markdown and text may hold tags; without a telling name only a file that starts with one is a web page.
        "md" | "markdown" | "txt" | "csv" => false,
        _ => tagged.iter().any(|tag| start.starts_with(tag)) && tags > 0 && start.contains("</"),
    }
}

fn looks_like_mail(text: &str, extension: &str) -> bool {
    const TELLING: [&str; 14] = [
        "from",
        "to",
        "subject",
        "date",
        "received",
        "return-path",
        "message-id",
        "mime-version",
        "content-type",
        "delivered-to",
        "cc",
        "reply-to",
        "sender",
        "content-transfer-encoding",
    ];
    let mut telling = 0;
    let mut fields = 0;
    let text = text.trim_start_matches('\u{feff}').trim_start_matches(['\r', '\n']);
    for line in text.lines().take(200) {
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) || line.starts_with("From ") || line.starts_with(">From ") {
            continue;
        }
        let Some((field, _)) = line.split_once(':') else {
            // Mails in the wild have broken header lines; other texts have them nearly everywhere.
            if fields < 2 {
                break;
            }
            continue;
        };
        let field = field.trim_end();
        if field.is_empty()
            || !field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        {
            break;
        }
        fields += 1;
        telling += usize::from(TELLING.contains(&field.to_ascii_lowercase().as_str()));
    }
    match extension {
        "eml" | "mht" | "mhtml" | "mbox" => true,
        // A memo starts with From/To/Subject too; mails have at least one field that people do not write.
        _ => {
            telling >= 3
                && text.lines().take(200).any(|line| {
                    let line = line.to_ascii_lowercase();
                    ["message-id:", "mime-version:", "received:", "return-path:", "content-type:"]
                        .iter()
                        .any(|field| line.starts_with(field))
                })
        }
    }
}

fn looks_like_markdown(text: &str) -> bool {
    let heading = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let headings = text.lines().filter(heading).count();
    let other = text.contains("](")
        || text.contains("\n```")
        || text.contains("\n- ")
        || text.contains("\n* ")
        || text.contains("**");
    // One "# " line may be a comment of a script; two with other markup are Markdown.
    headings >= 2 && other && !text.starts_with("#!")
}

fn head(bytes: &[u8], length: usize) -> &[u8] {
    &bytes[..bytes.len().min(length)]
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use engine::seams::parser::FailureKind;

    use super::*;

    fn kind(bytes: &[u8], name: &str) -> Kind {
        sniff(bytes, name).expect("a kind")
    }

    #[test]
    fn bytes_decide_over_names() {
        assert_eq!(kind(b"%PDF-1.4", "a.txt"), Kind::Pdf);
        assert_eq!(kind(b"junk\n%PDF-1.4", "a.docx"), Kind::Pdf);
        assert_eq!(kind(b"{\\rtf1 hi}", "a.doc"), Kind::Rtf);
        assert_eq!(kind(b"<!DOCTYPE html><p>x", "a.txt"), Kind::Html);
        assert_eq!(kind(b"Hello", "a.pdf"), Kind::Text);
    }

    #[test]
    fn names_break_ties_between_texts() {
        assert_eq!(kind(b"a,b\n1,2\n", "x.csv"), Kind::Delimited(b','));
        assert_eq!(kind(b"a,b\n1,2\n", "x.txt"), Kind::Text);
        assert_eq!(kind(b"# A\n", "x.md"), Kind::Markdown);
        assert_eq!(kind(b"# A\n", "x"), Kind::Text);
    }

    #[test]
    fn mails_and_memos_are_told_apart() {
        let mail = b"Received: by x\r\nFrom: a@b\r\nSubject: s\r\n\r\nbody";
        assert_eq!(kind(mail, "message"), Kind::Email);
        assert_eq!(kind(b"From: Ann\nTo: Bob\nSubject: Lunch\n\nShall we?", "memo.txt"), Kind::Text);
    }

    #[test]
    fn unread_kinds_say_what_to_do() {
        let failure = sniff(b"\x7fELF\x02\x01", "a").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsupported);
        assert!(failure.message.contains("convert"));
        let noise: Vec<u8> = (0..2000u32).map(|n| (n * 7919 % 32) as u8).collect();
        assert_eq!(sniff(&noise, "noise.bin").unwrap_err().kind, FailureKind::Unsupported);
    }
}
