//! Owns how flowing documents are cut into pages, and what a page without text must say.

use engine::document::{Format, Page};

use crate::blocks::{self, Block};
use crate::clean;

/// Where a section may end once it is this long: about one printed page.
const SECTION_CHARACTERS: usize = 3_200;
/// Where a section is cut even within its chapter or stored page: three printed pages, so that a citation stays near.
const LONGEST_PAGE: usize = 9_600;
/// A heading starts a new section only after this much text, lest each short chapter become a page of its own.
const SHORTEST_SECTION: usize = 1_600;

/// What a page says when nothing could be read from it.
pub(crate) const NO_TEXT: &str = "no text found on this page";

/// Makes a page of Markdown; an empty one says so.
pub(crate) fn page(label: &str, text: &str, tables: u32) -> Page {
    let text = clean::page_text(text);
    let warnings = if text.is_empty() { vec![NO_TEXT.to_owned()] } else { Vec::new() };
    Page {
        number: 0,
        label: clean::label(label),
        text,
        format: Format::Markdown,
        ocr: false,
        confidence: None,
        tables,
        warnings,
        layout: None,
    }
}

/// Numbers pages from 1 and labels those without a label by their number.
pub(crate) fn number(pages: &mut [Page]) {
    for (page, number) in pages.iter_mut().zip(1u32..) {
        page.number = number;
        if page.label.is_empty() {
            page.label = number.to_string();
        }
    }
}

/// Cuts blocks into pages: where the document says so, else at headings and paragraphs.
pub(crate) fn paginate(blocks: &[Block]) -> Vec<Page> {
    let stored_breaks = blocks.iter().any(|block| matches!(block, Block::PageBreak));
    let longest = if stored_breaks { LONGEST_PAGE } else { SECTION_CHARACTERS };
    let mut cutter = Cutter::default();
    for block in blocks {
        match block {
            Block::PageBreak => cutter.cut(),
            Block::Part(name) => {
                cutter.cut();
                cutter.label.clone_from(name);
            }
            Block::Heading(..) if !stored_breaks && cutter.length > SHORTEST_SECTION => {
                cutter.cut();
                cutter.push(block.clone());
            }
            Block::Table(table) => cutter.push_table(table, longest.max(LONGEST_PAGE)),
            Block::Paragraph(text) if text.len() > LONGEST_PAGE => {
                for piece in split_text(text, SECTION_CHARACTERS) {
                    cutter.cut();
                    cutter.push(Block::Paragraph(piece.to_owned()));
                }
            }
            _ => {
                if cutter.length > longest && !matches!(block, Block::Item { .. })
                    || cutter.length > LONGEST_PAGE
                {
                    cutter.cut();
                }
                cutter.push(block.clone());
            }
        }
    }
    cutter.cut();
    let mut pages = cutter.pages;
    if pages.is_empty() {
        pages.push(page("", "", 0));
    }
    pages
}

#[derive(Default)]
struct Cutter {
    pages: Vec<Page>,
    blocks: Vec<Block>,
    length: usize,
    label: String,
}

impl Cutter {
    fn push(&mut self, block: Block) {
        if block.is_empty() {
            return;
        }
        self.length += match &block {
            Block::Heading(_, text) | Block::Paragraph(text) | Block::Code(text) => text.len(),
            Block::Item { text, .. } => text.len() + 2,
            Block::Table(table) => table.rows.iter().flatten().map(|cell| cell.len() + 3).sum(),
            Block::PageBreak | Block::Part(_) => 0,
        };
        self.blocks.push(block);
    }

    /// A long table is cut between rows, with its header row on each page.
    fn push_table(&mut self, table: &blocks::Table, longest: usize) {
        let table = table.trimmed();
        let row_length = |row: &Vec<String>| row.iter().map(|cell| cell.len() + 3).sum::<usize>();
        let mut rest = table.rows.into_iter();
        let Some(header) = rest.next() else { return };
        let mut part = vec![header.clone()];
        let mut length = row_length(&header);
        for row in rest {
            if length + self.length > longest && part.len() > 1 {
                self.push(Block::Table(blocks::Table {
                    rows: std::mem::replace(&mut part, vec![header.clone()]),
                }));
                self.cut();
                length = row_length(&header);
            }
            length += row_length(&row);
            part.push(row);
        }
        self.push(Block::Table(blocks::Table { rows: part }));
    }

    fn cut(&mut self) {
        self.length = 0;
        if self.blocks.is_empty() {
            return;
        }
        let tables = self.blocks.iter().filter(|block| matches!(block, Block::Table(_))).count();
        let text = blocks::markdown(&self.blocks);
        self.pages.push(page(&self.label, &text, u32::try_from(tables).unwrap_or(u32::MAX)));
        self.blocks.clear();
    }
}

/// Cuts plain text into pieces of about `size` bytes at the best place: paragraph, line, sentence, word.
pub(crate) fn split_text(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > size + size / 4 {
        let window_end = rest.floor_char_boundary(size);
        let window_start = rest.floor_char_boundary(size / 2);
        let window = &rest[window_start..window_end];
        let at = ["\n\n", "\n", ". ", "。", " "]
            .iter()
            .find_map(|mark| window.rfind(mark).map(|at| window_start + at + mark.len()))
            .unwrap_or(window_end);
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    if !rest.trim().is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraphs(count: usize) -> Vec<Block> {
        (0..count).map(|n| Block::Paragraph(format!("{n} {}", "word ".repeat(60)))).collect()
    }

    #[test]
    fn stored_page_breaks_decide() {
        let blocks = vec![
            Block::Paragraph("one".into()),
            Block::PageBreak,
            Block::PageBreak,
            Block::Heading(1, "Two".into()),
        ];
        let pages = paginate(&blocks);
        let texts: Vec<_> = pages.iter().map(|page| page.text.as_str()).collect();
        assert_eq!(texts, ["one", "# Two"]);
    }

    #[test]
    fn without_breaks_sections_have_a_sensible_size() {
        let pages = paginate(&paragraphs(60));
        assert!(pages.len() > 3);
        assert!(pages.iter().all(|page| page.text.len() < 4_000));
    }

    #[test]
    fn a_long_table_repeats_its_header() {
        let mut rows = vec![vec!["name".to_owned(), "value".to_owned()]];
        rows.extend((0..900).map(|n| vec![format!("row {n}"), "some text".to_owned()]));
        let pages = paginate(&[Block::Table(blocks::Table { rows })]);
        assert!(pages.len() > 1);
        assert!(pages.iter().all(|page| page.text.starts_with("| name | value |\n| - | - |")));
    }

    #[test]
    fn nothing_is_one_page_with_a_warning() {
        let pages = paginate(&[]);
        assert_eq!(pages.len(), 1);
        assert_eq!(pages[0].warnings, [NO_TEXT]);
    }

    #[test]
    fn splitting_loses_nothing() {
        let text = "Ein Satz mit Umläuten: äöü. ".repeat(900);
        let pieces = split_text(&text, 1000);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| piece.len() <= 1250));
    }
}
