//! Cuts a document into passages that can be embedded, found and cited.
//!
//! - [`blocks`] reads the structure of a page, [`sentences`] that of its prose.
//! - [`pack`] puts pieces together up to the size wanted.
//! - [`mod@language`] tells what language they are in, [`naming`] what their document is called.
//!
//! A chunk lies within one page and is exactly a part of its text, so every hit can be checked against the page.
//! Sentences, rows and items are cut only where one alone is longer than a chunk may be.

mod blocks;
mod language;
mod naming;
mod pack;
pub(crate) mod sentences;

#[cfg(test)]
mod tests;

use language::Languages;
pub use language::{assume, language_of, main_language};
pub use naming::title;

use super::bounds::MOST_PASSAGES;
use crate::{
    document::{Document, Page},
    seams::index::Chunk,
};

/// How large chunks become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunking {
    /// Tokens of the embedder in one chunk at most.
    pub max_tokens: usize,
    /// Tokens repeated at most from the end of a chunk at the start of the next, where a paragraph had to be cut; always
    /// whole sentences.
    pub overlap: usize,
}

impl Default for Chunking {
    /// 200 tokens leave room for headings within the 256 that small embedders read, and one sentence of overlap keeps a
    /// definition together with what it defines.
    fn default() -> Self {
        Chunking { max_tokens: 200, overlap: 32 }
    }
}

/// Cuts a document into chunks, in reading order; together they hold all that is not blank. Once there are more than
/// [`MOST_PASSAGES`], later pages are left alone: whoever asks keeps that many.
///
/// `count_tokens` is asked once for each sentence, row or item, not for each way of putting them together.
pub fn split(document: &Document, chunking: &Chunking, count_tokens: &dyn Fn(&str) -> usize) -> Vec<Chunk> {
    let languages = Languages::of(document);
    let mut section = pack::Section::default();
    let mut chunks = Vec::new();
    for page in &document.pages {
        if chunks.len() > MOST_PASSAGES {
            break;
        }
        let offsets = Offsets::of(&page.text);
        for passage in pack::pack(page, &mut section, chunking, count_tokens) {
            chunks.push(Chunk {
                text: page.text[passage.range.clone()].to_string(),
                page: page.number,
                page_end: page.number,
                start: offsets.at(page, passage.range.start),
                end: offsets.at(page, passage.range.end),
                language: languages.of_passage(&page.text[passage.range]).map(str::to_string),
                section: passage.section,
                lead: passage.lead,
            });
        }
    }
    chunks
}

/// Code points before each of the marks, one every [`Offsets::STRIDE`] bytes, so that looking one up reads little.
struct Offsets {
    marks: Vec<u32>,
}

impl Offsets {
    const STRIDE: usize = 512;

    fn of(text: &str) -> Self {
        let mut before = 0;
        let marks = text
            .as_bytes()
            .chunks(Self::STRIDE)
            .map(|part| {
                let mark = before;
                before += starts(part);
                mark
            })
            .collect();
        Offsets { marks }
    }

    /// The code point offset of a byte that starts a character, or of the end.
    fn at(&self, page: &Page, byte: usize) -> u32 {
        let mark = (byte / Self::STRIDE).min(self.marks.len().saturating_sub(1));
        let counted = self.marks.get(mark).copied().unwrap_or(0);
        counted + starts(&page.text.as_bytes()[mark * Self::STRIDE..byte])
    }
}

/// How many characters start in these bytes.
fn starts(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u32
}
