//! What one file may cost: every cap of the parsers and of the child process they run in.

use engine::seams::parser::ParseFailure;
use serde::{Deserialize, Serialize};

use crate::failure;
use crate::packs;
use crate::programs::installed;

/// The longest side of a drawn page, in pixels: a page may be a thousand times as high as it is wide.
pub(crate) const LONGEST_SIDE: u32 = 8_192;

/// What reads pictures and scanned pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ocr {
    /// The networks in this program.
    #[default]
    BuiltIn,
    /// The `tesseract` program; where it is not installed, the networks.
    Tesseract,
    /// Nothing: they have no text.
    Off,
}

impl Ocr {
    /// What is really used on this machine.
    pub fn here(self) -> Self {
        if self == Ocr::Tesseract && installed("tesseract").is_none() { Ocr::BuiltIn } else { self }
    }
}

/// Caps on what one file may ask for. A file that passes one of them fails or is cut with a warning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Pages of one file. The largest books and manuals have a few thousand; page-tree bombs have a billion.
    pub pages: u32,
    /// Bytes of text of one file. The Bible is 4 MB; 64 MiB is a shelf of books.
    pub text_bytes: usize,
    /// Bytes that archives of one file may inflate to, counted while reading: archives lie about their sizes.
    pub inflated_bytes: u64,
    /// Characters drawn on one PDF page. A dense newspaper page has 30,000.
    pub glyphs_per_page: usize,
    /// How deep markup may nest. Hand-made documents stay below 50; the stack of the parse thread holds far more.
    pub nesting: usize,
    /// How deep mails may lie within mails.
    pub attachment_depth: u32,
    /// Pixels of one picture given to text recognition: an A3 page at 400 dpi has 31 million.
    pub image_pixels: u64,
    /// What reads pictures and scanned pages.
    pub ocr: Ocr,
    /// The languages handed to `tesseract`, such as `eng` or `eng+deu`; those of a file's box are added.
    pub ocr_languages: String,
    /// Pages of one file that are recognised, because each takes seconds where a text page takes milliseconds.
    pub ocr_pages: u32,
    /// Whether `pdftotext` is asked where it is installed and our own reading of a page is blank or garbled.
    pub second_opinion: bool,
    /// Address space of the child, so that it stays well below 1.2 GB whatever the file asks for.
    pub memory_bytes: u64,
    /// Bytes the parent reads from the child before it stops listening.
    pub reply_bytes: u64,
    /// Seconds a file gets before its first page; a file that makes no progress ends within this.
    pub base_seconds: f64,
    /// Seconds added for each page read: 25 times what an ordinary page takes on a slow core.
    pub seconds_per_page: f64,
    /// Seconds added for each page recognised from a picture: what one picture may take at most, and a little more.
    pub seconds_per_ocr_page: f64,
    /// Seconds after which the child ends, whatever progress it makes.
    pub total_seconds: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pages: 20_000,
            text_bytes: 64 << 20,
            inflated_bytes: 256 << 20,
            glyphs_per_page: 400_000,
            nesting: 200,
            attachment_depth: 3,
            image_pixels: 60_000_000,
            ocr: Ocr::BuiltIn,
            ocr_languages: "eng".into(),
            ocr_pages: 300,
            second_opinion: true,
            memory_bytes: 1 << 30,
            reply_bytes: 256 << 20,
            base_seconds: 24.0,
            seconds_per_page: 0.05,
            seconds_per_ocr_page: 21.0,
            total_seconds: 900.0,
        }
    }
}

impl Limits {
    /// The same for a file of a box in these languages, the two letters of ISO 639-1 each.
    pub(crate) fn with_languages(&self, languages: &[String]) -> Self {
        Self { ocr_languages: packs::wanted(&self.ocr_languages, languages), ..self.clone() }
    }

    /// Fails where a file holds more text than one may.
    pub(crate) fn allow_text(&self, bytes: usize) -> Result<(), ParseFailure> {
        if bytes <= self.text_bytes {
            return Ok(());
        }
        let (held, most) = (bytes >> 20, self.text_bytes >> 20);
        Err(failure::limits(format!("the file holds {held} MB of text; the limit is {most} MB")))
    }
}
