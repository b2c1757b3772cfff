//! Reads a page as blocks: headings, paragraphs, lists, tables and code, each cut into pieces that stay whole.

use std::ops::Range;

use super::sentences;
use crate::document::{Format, Page};

/// What a block is; decides where it may be cut and what its parts share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading of this level, 1–6, with its words.
    Heading(u8, String),
    /// Prose: pieces are sentences.
    Prose,
    /// Pieces are items.
    List,
    /// Pieces are rows; the bytes of the header row.
    Table(Range<usize>),
    /// Pieces are lines.
    Code,
}

/// A part of a page that belongs together.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Byte ranges in the page's text, in order, blank ends cut off; together all that is not blank in the block.
    pub(super) pieces: Vec<Range<usize>>,
}

impl Block {
    pub(super) fn range(&self) -> Range<usize> {
        match (self.pieces.first(), self.pieces.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
}

/// One line of a page: its bytes without the line break.
type Line = Range<usize>;

/// The blocks of a page, in order.
pub(super) fn read(page: &Page) -> Vec<Block> {
    let lines = lines(&page.text);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if page.text[lines[at].clone()].trim().is_empty() {
            at += 1;
            continue;
        }
        let (block, next) = match page.format {
            Format::Markdown => markdown_block(&page.text, &lines, at),
            Format::Text => prose(&page.text, &lines, at, |_| false),
        };
        if !block.pieces.is_empty() {
            blocks.push(block);
        }
        at = next;
    }
    blocks
}

fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' {
            lines.push(start..at);
            start = at + 1;
        }
    }
    lines.push(start..text.len());
    lines
}

/// The block that starts at line `at`, and the line after it.
fn markdown_block(text: &str, lines: &[Line], at: usize) -> (Block, usize) {
    let line = &text[lines[at].clone()];
    if let Some((level, words)) = heading(line) {
        let block = Block {
            kind: Kind::Heading(level, words),
            pieces: trimmed(text, &lines[at]).into_iter().collect(),
        };
        (block, at + 1)
    } else if let Some(fence) = fence(line) {
        code(text, lines, at, fence)
    } else if is_table_start(text, lines, at) {
        table(text, lines, at)
    } else if is_item(line) {
        list(text, lines, at)
    } else {
        prose(text, lines, at, |next| {
            let line = &text[lines[next].clone()];
            heading(line).is_some()
                || fence(line).is_some()
                || is_item(line)
                || is_table_start(text, lines, next)
        })
    }
}

/// Lines up to a blank one, or up to where `ends` says that something else starts; cut into sentences.
fn prose(text: &str, lines: &[Line], at: usize, ends: impl Fn(usize) -> bool) -> (Block, usize) {
    let mut next = at + 1;
    while next < lines.len() && !text[lines[next].clone()].trim().is_empty() && !ends(next) {
        next += 1;
    }
    let range = lines[at].start..lines[next - 1].end;
    let pieces = sentences::split(&text[range.clone()])
        .into_iter()
        .map(|piece| range.start + piece.start..range.start + piece.end)
        .collect();
    (Block { kind: Kind::Prose, pieces }, next)
}

fn heading(line: &str) -> Option<(u8, String)> {
    let line = line.trim_start();
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let words = line.get(level..)?;
    if !(1..=6).contains(&level) || !words.starts_with([' ', '\t']) {
        return None;
    }
    let words = words.trim().trim_end_matches('#').trim_end().replace("**", "");
    (!words.is_empty()).then_some((level as u8, words))
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence))
}

/// Up to the closing fence, which belongs to the last line; an unclosed one ends with the page.
fn code(text: &str, lines: &[Line], at: usize, fence: &str) -> (Block, usize) {
    let closing =
        (at + 1..lines.len()).find(|&line| text[lines[line].clone()].trim_start().starts_with(fence));
    let next = closing.map_or(lines.len(), |line| line + 1);
    (
        Block {
            kind: Kind::Code,
            pieces: lines[at..next].iter().flat_map(|line| trimmed(text, line)).collect(),
        },
        next,
    )
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// A row of bars and the rule under it.
fn is_table_start(text: &str, lines: &[Line], at: usize) -> bool {
    let rule = |line: &str| {
        line.contains('-')
            && line.trim().bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
    };
    is_row(&text[lines[at].clone()]) && lines.get(at + 1).is_some_and(|next| rule(&text[next.clone()]))
}

fn table(text: &str, lines: &[Line], at: usize) -> (Block, usize) {
    let mut next = at + 1;
    while next < lines.len() && is_row(&text[lines[next].clone()]) {
        next += 1;
    }
    let mut pieces: Vec<Range<usize>> = lines[at..next].iter().flat_map(|line| trimmed(text, line)).collect();
    let header = pieces[0].clone();
    // The rule says nothing without the header above it.
    if pieces.len() > 1 {
        pieces[0].end = pieces.remove(1).end;
    }
    (Block { kind: Kind::Table(header), pieces }, next)
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•']) {
        return rest.starts_with([' ', '\t']);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits)
        && line[digits..].strip_prefix(['.', ')']).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Items with the lines that continue them: indented ones, also after one blank line, and plain ones right below.
fn list(text: &str, lines: &[Line], at: usize) -> (Block, usize) {
    let line = |at: usize| &text[lines[at].clone()];
    let mut items: Vec<Range<usize>> = vec![lines[at].clone()];
    let mut next = at + 1;
    while next < lines.len() {
        let blank = line(next).trim().is_empty();
        let after_blank = blank && next + 1 < lines.len() && {
            let following = line(next + 1);
            is_item(following) || (following.starts_with([' ', '\t']) && !following.trim().is_empty())
        };
        if after_blank {
            next += 1;
        } else if blank || heading(line(next)).is_some() || fence(line(next)).is_some() {
            break;
        }
        if is_item(line(next)) {
            items.push(lines[next].clone());
        } else if let Some(item) = items.last_mut() {
            item.end = lines[next].end;
        }
        next += 1;
    }
    (Block { kind: Kind::List, pieces: items.iter().flat_map(|item| trimmed(text, item)).collect() }, next)
}

/// The range without blank ends; nothing where it is all blank.
pub(super) fn trimmed(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let kept = part.trim();
    let start = range.start + (part.len() - part.trim_start().len());
    (!kept.is_empty()).then(|| start..start + kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<(Kind, Vec<&str>)> {
        let page = Page {
            number: 1,
            label: String::new(),
            text: text.into(),
            format: Format::Markdown,
            ocr: false,
            confidence: None,
            tables: 0,
            warnings: vec![],
            layout: None,
        };
        read(&page)
            .into_iter()
            .map(|block| (block.kind, block.pieces.into_iter().map(|piece| &text[piece]).collect()))
            .collect()
    }

    #[test]
    fn each_kind_is_told_apart() {
        let text = "# One ##\nSome prose. More\nof it.\n- a\n  b\n\n- c\n\n| h | i |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\nTail.\n```rust\n# no heading\n\nx\n```\n";
        let found = blocks(text);
        assert_eq!(found[0], (Kind::Heading(1, "One".into()), vec!["# One ##"]));
        assert_eq!(found[1], (Kind::Prose, vec!["Some prose.", "More\nof it."]));
        assert_eq!(found[2], (Kind::List, vec!["- a\n  b", "- c"]));
        assert!(matches!(found[3].0, Kind::Table(_)));
        assert_eq!(found[3].1, ["| h | i |\n|---|:-:|", "| 1 | 2 |", "| 3 | 4 |"]);
        assert_eq!(found[4], (Kind::Prose, vec!["Tail."]));
        assert_eq!(found[5], (Kind::Code, vec!["```rust", "# no heading", "x", "```"]));
    }

    #[test]
    fn what_only_looks_like_markup_is_prose() {
        for text in ["#hashtag", "####### seven", "1984 was a year.", "-5 degrees", "| lonely bar", "#"] {
            assert_eq!(blocks(text)[0].0, Kind::Prose, "{text}");
        }
    }
}
