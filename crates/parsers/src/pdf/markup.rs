//! Writes the lines of a page as Markdown: headings by size, paragraphs, lists and simple tables.

use super::lines::Line;
use crate::blocks::{Block, Marker, Table, markdown};

/// A line this much larger than the body is a heading.
const HEADING: f32 = 1.15;
/// Longer texts in large letters are no headings: slides, posters, notices.
const LONGEST_HEADING: usize = 160;

/// The size of body text and the sizes of headings above it, for a whole document.
pub(super) struct Sizes {
    body: f32,
    /// Sizes of headings, the largest first.
    headings: Vec<i32>,
}

impl Sizes {
    /// Measures all lines of a document: the commonest size is the body's.
    pub(super) fn measure<'a>(lines: impl Iterator<Item = &'a Line>) -> Self {
        /// Deeper levels than this cannot be told apart by size.
        const LEVELS: usize = 4;
        let mut counts: std::collections::HashMap<i32, usize> = std::collections::HashMap::new();
        for line in lines {
            *counts.entry(half_points(line.size)).or_default() += line.text.len();
        }
        let body = counts.iter().max_by_key(|(size, count)| (**count, -**size)).map_or(20, |(size, _)| *size);
        let total: usize = counts.values().sum();
        // A size that carries a good part of the text is another kind of body, not a heading.
        let rare = |count: usize| count * 5 < total;
        let mut headings: Vec<i32> = counts
            .iter()
            .filter(|(size, count)| **size as f32 > body as f32 * HEADING && rare(**count))
            .map(|(size, _)| *size)
            .collect();
        headings.sort_unstable_by(|a, b| b.cmp(a));
        headings.dedup_by(|a, b| (*a - *b).abs() <= 1);
        headings.truncate(LEVELS);
        Self { body: body as f32 / 2.0, headings }
    }

    fn level(&self, line: &Line) -> Option<u8> {
        if line.size <= self.body * HEADING || !line.text.chars().any(char::is_alphanumeric) {
            return None;
        }
        let size = half_points(line.size);
        if size <= self.headings.last().copied().unwrap_or(i32::MAX) - 2 {
            return None;
        }
        let above = self.headings.iter().filter(|heading| **heading > size + 1).count();
        u8::try_from(above + 1).ok()
    }
}

fn half_points(size: f32) -> i32 {
    (size * 2.0).round() as i32
}

/// Writes the lines of one page; gives the text and the number of tables.
pub(super) fn write(lines: &[Line], sizes: &Sizes) -> (String, u32) {
    let mut blocks: Vec<Block> = Vec::new();
    let leading = leading(lines);
    let mut at = 0;
    while at < lines.len() {
        if let Some((table, used)) = super::tables::table(&lines[at..]) {
            blocks.push(Block::Table(Table { rows: table }));
            at += used;
            continue;
        }
        let line = &lines[at];
        let before = at.checked_sub(1).map(|before| &lines[before]);
        match (sizes.level(line), before) {
            (Some(level), before) => heading(&mut blocks, level, line, before),
            (None, Some(before)) if continues(before, line, &blocks, leading) => {
                append(&mut blocks, before, line, lines)
            }
            _ => start(&mut blocks, line),
        }
        at += 1;
    }
    let tables = blocks.iter().filter(|block| matches!(block, Block::Table(_))).count();
    (markdown(&blocks), u32::try_from(tables).unwrap_or(u32::MAX))
}

fn heading(blocks: &mut Vec<Block>, level: u8, line: &Line, before: Option<&Line>) {
    let adjoins = before.is_some_and(|before| {
        (before.size - line.size).abs() < 0.6
            && line.base > before.base
            && line.base - before.base < 1.8 * line.size
    });
    match blocks.last_mut() {
        Some(Block::Heading(same, text))
            if *same == level && adjoins && text.len() + line.text.len() < LONGEST_HEADING =>
        {
            join(text, &line.text, true);
        }
        _ if line.text.chars().count() <= LONGEST_HEADING => {
            blocks.push(Block::Heading(level, line.text.clone()))
        }
        _ => start(blocks, line),
    }
}

/// The usual step from line to line, in shares of the font size; widely set text has one of two and more.
fn leading(lines: &[Line]) -> f32 {
    let mut steps: Vec<f32> = lines
        .windows(2)
        .filter(|pair| {
            (pair[0].size - pair[1].size).abs() < 0.6 && (pair[0].left - pair[1].left).abs() < pair[0].size
        })
        .map(|pair| (pair[1].base - pair[0].base) / pair[1].size.max(0.1))
        .filter(|step| (0.8..3.0).contains(step))
        .collect();
    steps.sort_unstable_by(f32::total_cmp);
    // Without enough lines to measure: the step of most printed text.
    if steps.len() < 4 { 1.2 } else { steps[steps.len() / 2] }
}

/// Whether a line goes on with the paragraph of the line before it.
fn continues(before: &Line, line: &Line, blocks: &[Block], leading: f32) -> bool {
    let open = matches!(blocks.last(), Some(Block::Paragraph(_) | Block::Item { .. }));
    let step = (line.base - before.base) / line.size.max(before.size).max(0.1);
    let alike = (before.size - line.size).abs() < 0.15 * before.size.max(line.size);
    let near = if before.block == line.block {
        step < 1.75
    } else {
        // Cuts between blocks part widely set lines too; those that align and step as usual belong together.
        let aligned =
            (before.left - line.left).abs() < line.size || (before.right - line.right).abs() < line.size;
        aligned && step <= 1.12 * leading && before.right - before.left > 0.6 * (line.right - line.left)
    };
    open && alike && step > 0.0 && near && marker(&line.text).is_none()
}

fn start(blocks: &mut Vec<Block>, line: &Line) {
    blocks.push(match marker(&line.text) {
        Some((marker, text)) => Block::Item { depth: 0, marker, text: text.to_owned() },
        None => Block::Paragraph(line.text.clone()),
    });
}

fn append(blocks: &mut [Block], before: &Line, line: &Line, lines: &[Line]) {
    let Some(Block::Paragraph(text) | Block::Item { text, .. }) = blocks.last_mut() else { return };
    // A line that ends well before the others of its block was ended on purpose: an address, a verse, code.
    let both = |other: &&Line| other.block == line.block || other.block == before.block;
    let right = lines.iter().filter(both).map(|other| other.right).fold(f32::MIN, f32::max);
    let left = lines.iter().filter(both).map(|other| other.left).fold(f32::MAX, f32::min);
    let full = before.right - left > 0.75 * (right - left);
    join(text, &line.text, full);
}

/// Joins the next line to a text; words divided at the line's end become whole.
fn join(text: &mut String, next: &str, same_paragraph: bool) {
    let divided = text.ends_with(['-', '\u{ad}', '‐'])
        && text.chars().rev().nth(1).is_some_and(char::is_lowercase)
        && next.starts_with(char::is_lowercase);
    let soft = text.ends_with('\u{ad}');
    if divided || soft {
        text.pop();
    } else {
        text.push(if same_paragraph { ' ' } else { '\n' });
    }
    text.push_str(next);
}

/// The marker a line starts with, where it is an item of a list, and the text after it.
fn marker(text: &str) -> Option<(Marker, &str)> {
    let (first, rest) = text.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    if rest.is_empty() {
        return None;
    }
    if matches!(
        first,
        "•" | "●"
            | "▪"
            | "■"
            | "◦"
            | "○"
            | "‣"
            | "–"
            | "-"
            | "·"
            | "∙"
            | "➢"
            | "✓"
            | "❖"
            | "\u{f0b7}"
            | "\u{f0a7}"
    ) {
        return Some((Marker::Bullet, rest));
    }
    let digits = first.strip_suffix('.').or_else(|| first.strip_suffix(')'))?;
    // Years and quantities end sentences; items of lists stay small.
    let number = digits.parse().ok().filter(|number| *number < 200)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((Marker::Number(number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, base: f32, size: f32) -> Line {
        let right = 50.0 + text.len() as f32 * 5.0;
        Line { text: text.into(), cells: Vec::new(), left: 50.0, right, base, size, block: 0, upright: true }
    }

    fn text(lines: &[Line]) -> String {
        write(lines, &Sizes::measure(lines.iter())).0
    }

    #[test]
    fn sizes_make_headings_and_hyphens_are_joined() {
        let lines = [
            line("A title", 20.0, 18.0),
            line("Words that go on and are di-", 40.0, 10.0),
            line("vided at the end of the line", 52.0, 10.0),
            line("and so on, to the very end.", 64.0, 10.0),
            line("• first point of the list", 76.0, 10.0),
            line("2. second point", 88.0, 10.0),
        ];
        let expected = "# A title\n\nWords that go on and are divided at the end of the line and so on, to the very end.\n\n\
                        - first point of the list\n2. second point";
        assert_eq!(text(&lines), expected);
    }

    #[test]
    fn short_lines_keep_their_ends() {
        let lines =
            [line("Ann Example", 20.0, 10.0), line("A longer street name 12, behind the house", 32.0, 10.0)];
        assert_eq!(text(&lines), "Ann Example\nA longer street name 12, behind the house");
    }
}
