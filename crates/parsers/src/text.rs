//! Plain text in any encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use engine::document::Format;

use crate::pages;
use crate::{Parsed, clean};

/// About one printed page; the same size as sections of other flowing documents.
const PAGE_BYTES: usize = 3_600;

/// Text and how sure its encoding is.
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// Whether some bytes did not fit the encoding.
    pub(crate) damaged: bool,
}

/// Decodes bytes of unknown encoding: byte order mark, UTF-16 by its zeros, UTF-8, else the likeliest legacy encoding.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    if let Some(decoded) = decode_utf32(bytes) {
        return decoded;
    }
    let encoding = Encoding::for_bom(bytes).map(|(encoding, _)| encoding).unwrap_or_else(|| guess(bytes));
    let (text, _, damaged) = encoding.decode(bytes);
    Decoded { text: text.into_owned(), damaged }
}

/// Decodes bytes that come with a declared encoding, which is believed unless it does not fit.
pub(crate) fn decode_as(bytes: &[u8], label: &str) -> Decoded {
    match Encoding::for_label(label.trim().as_bytes()) {
        Some(encoding) => {
            let (text, _, damaged) = encoding.decode(bytes);
            if damaged { decode(bytes) } else { Decoded { text: text.into_owned(), damaged } }
        }
        None => decode(bytes),
    }
}

fn decode_utf32(bytes: &[u8]) -> Option<Decoded> {
    let read: fn([u8; 4]) -> u32 = match bytes {
        // Checked before UTF-16, whose mark is the start of this one.
        [0xff, 0xfe, 0, 0, ..] => u32::from_le_bytes,
        [0, 0, 0xfe, 0xff, ..] => u32::from_be_bytes,
        _ => return None,
    };
    let (units, rest) = bytes.as_chunks::<4>();
    let mut damaged = !rest.is_empty();
    let mut text = String::with_capacity(units.len());
    for unit in units.iter().skip(1) {
        let character = char::from_u32(read(*unit));
        damaged |= character.is_none();
        text.push(character.unwrap_or('\u{fffd}'));
    }
    Some(Decoded { text, damaged })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    /// Enough for the detector to see a language; the whole of a large file would only cost time.
    const SAMPLE: usize = 256 << 10;
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if let Some(encoding) = utf16_by_zeros(sample) {
        return encoding;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// UTF-16 without a mark: Latin text has a zero in nearly every second byte.
fn utf16_by_zeros(sample: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = sample.as_chunks::<2>();
    if pairs.len() < 4 {
        return None;
    }
    let high = pairs.iter().filter(|pair| pair[0] == 0 && pair[1] != 0).count();
    let low = pairs.iter().filter(|pair| pair[1] == 0 && pair[0] != 0).count();
    // Seven of ten: punctuation and letters of Latin scripts, with room for a few others.
    let most = pairs.len() * 7 / 10;
    if low > most {
        Some(UTF_16LE)
    } else if high > most {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Reads plain text: form feeds are page breaks, else sections of sensible size.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let decoded = decode(bytes);
    let mut pages = Vec::new();
    for stored in decoded.text.split('\u{c}') {
        let text = clean::page_text(stored);
        if text.is_empty() {
            continue;
        }
        for piece in pages::split_text(&text, PAGE_BYTES) {
            let mut page = pages::page("", piece, 0);
            page.format = Format::Text;
            pages.push(page);
        }
    }
    if pages.is_empty() {
        pages.push(pages::page("", "", 0));
    }
    let mut warnings = Vec::new();
    if decoded.damaged {
        warnings.push("some characters could not be decoded; save the file as UTF-8 to keep them".to_owned());
    }
    Parsed { title: None, pages, warnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_recognised() {
        let text = "Grüße aus Köln: schöne Straßen, größere Häuser, süße Äpfel.";
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let latin: Vec<u8> = encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
        let utf32: Vec<u8> = std::iter::once('\u{feff}')
            .chain(text.chars())
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        for bytes in [text.as_bytes().to_vec(), utf16, latin, utf32] {
            assert_eq!(decode(&bytes).text, text);
        }
        let russian = "Съешь же ещё этих мягких французских булок, да выпей чаю.";
        assert_eq!(decode(&encoding_rs::WINDOWS_1251.encode(russian).0).text, russian);
        let japanese = "これは日本語の文章です。文字コードを判定します。";
        assert_eq!(decode(&encoding_rs::SHIFT_JIS.encode(japanese).0).text, japanese);
    }

    #[test]
    fn form_feeds_are_pages() {
        let parsed = parse(b"one\x0ctwo\x0c\x0c");
        assert_eq!(parsed.pages.iter().map(|page| page.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn an_empty_file_says_so() {
        assert_eq!(parse(b" \n").pages[0].warnings, [pages::NO_TEXT]);
    }
}
