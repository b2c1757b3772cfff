//! Writes the lines of a page as Markdown: headings by size, paragraphs, lists and simple tables. Every word that is
//! written keeps its place on the page.

use std::ops::Range;

use super::lines::Line;
use super::running::Sheet;
use super::{figures, tables};
use crate::blocks::{self, Marker};
use crate::placing::Placing;

/// A line this much larger than the body is a heading.
const HEADING: f32 = 1.15;
/// Longer texts in large letters are no headings: slides, posters, notices.
const LONGEST_HEADING: usize = 160;

/// Longer lines in bold letters are emphasis, no headings.
const LONGEST_BOLD: usize = 130;
/// Letters this much heavier than the body's are bold.
const BOLD: f32 = 1.2;

/// The size of body text and the sizes of headings above it, for a whole document.
pub(super) struct Sizes {
    body: f32,
    /// Sizes of headings, the largest first.
    headings: Vec<i32>,
    /// The share of ink from which letters of the body's size are bold, where few are.
    bold: Option<f32>,
}

impl Sizes {
    /// Measures all lines of a document: the commonest size is the body's.
    pub(super) fn measure<'a>(lines: impl Iterator<Item = &'a Line>) -> Self {
        /// Deeper levels than this cannot be told apart by size.
        const LEVELS: usize = 4;
        let lines: Vec<&Line> = lines.collect();
        let mut counts: std::collections::HashMap<i32, usize> = std::collections::HashMap::new();
        for line in &lines {
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
        let bold = bold(lines.iter().filter(|line| (half_points(line.size) - body).abs() <= 1));
        Self { body: body as f32 / 2.0, headings, bold }
    }

    /// For text whose sizes are too rough to tell headings by.
    pub(super) fn without_headings() -> Self {
        Self { body: f32::MAX, headings: Vec::new(), bold: None }
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

    fn is_bold(&self, line: &Line) -> bool {
        let bold = line.weight.share().zip(self.bold).is_some_and(|(share, bold)| share >= bold);
        bold && line.upright && line.table.is_none() && line.size <= self.body * HEADING
    }

    /// The level of a heading that is told by its bold letters: below those told by their size.
    fn bold_level(&self, lines: &[Line], at: usize) -> Option<u8> {
        /// Lines of one heading.
        const MOST_LINES: usize = 2;
        let adjoins = |one: &Line, next: &Line| {
            let step = next.base - one.base;
            step > 0.0 && step < 1.5 * next.size.max(one.size)
        };
        let line = lines.get(at).filter(|line| self.is_bold(line))?;
        let above = lines[..at].iter().rev().zip(lines[..at + 1].iter().rev());
        let first = at - above.take_while(|(one, next)| adjoins(one, next) && self.is_bold(one)).count();
        let below = lines[at + 1..].iter().zip(&lines[at..]);
        let last = at + below.take_while(|(next, one)| adjoins(one, next) && self.is_bold(next)).count();
        let words = |line: &Line| line.text.chars().filter(|character| character.is_alphabetic()).count();
        let heading = last - first < MOST_LINES
            && lines[first..=last].iter().all(|line| line.text.chars().count() <= LONGEST_BOLD)
            && words(line) >= 3
            && line.cells.len() <= 2
            && !line.text.ends_with([',', ';']);
        // Words in bold letters that go on with a paragraph, or that a paragraph goes on with.
        let within = first.checked_sub(1).is_some_and(|before| {
            let before = &lines[before];
            let ended = before.text.ends_with(['.', ':', '!', '?', ')', '”', '"']);
            before.table.is_none() && adjoins(before, &lines[first]) && !ended && before.right > line.right
        });
        let level = u8::try_from(self.headings.len() + 1).unwrap_or(u8::MAX).min(6);
        (heading && !within).then_some(level)
    }
}

/// From which share of ink letters are bold; `None` where many are, or nothing is known.
fn bold<'a>(body: impl Iterator<Item = &'a &'a Line>) -> Option<f32> {
    let mut shares: Vec<(f32, usize)> =
        body.filter_map(|line| Some((line.weight.share()?, line.text.len()))).collect();
    shares.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: usize = shares.iter().map(|(_, length)| length).sum();
    let mut before = 0;
    let usual = shares.iter().find(|(_, length)| {
        before += length;
        before * 2 >= total
    })?;
    let bold = usual.0 * BOLD;
    let emphasised: usize = shares.iter().filter(|(share, _)| *share >= bold).map(|(_, length)| length).sum();
    (emphasised * 5 < total).then_some(bold)
}

fn half_points(size: f32) -> i32 {
    (size * 2.0).round() as i32
}

/// A block of a page: parts of its lines.
enum Piece<'a> {
    Heading(u8, Vec<Part<'a>>),
    Paragraph(Vec<Part<'a>>),
    Item(Marker, Vec<Part<'a>>),
    Table(tables::Rows<'a>),
}

/// A part of a line, and what stands between it and the part before.
struct Part<'a> {
    line: &'a Line,
    /// Where it starts in the line; it ends where the line ends.
    from: usize,
    joint: Joint,
}

/// What stands between two lines of a block.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    Blank,
    LineEnd,
    /// A hyphen, which is dropped: the word is joined again.
    Hyphen,
    /// Nothing: the hyphen is invisible.
    Nothing,
}

impl Part<'_> {
    fn text(&self) -> &str {
        &self.line.text[self.from..]
    }
}

/// A page as Markdown, and how many tables it has.
pub(super) fn write(sheet: &Sheet, sizes: &Sizes) -> (Placing, u32) {
    let pieces = pieces(&sheet.lines, sizes);
    let mut writer = Writer { out: Placing::default(), page: (sheet.width, sheet.height) };
    let mut after_item = false;
    for piece in &pieces {
        let item = matches!(piece, Piece::Item(..));
        if !writer.out.text.is_empty() {
            writer.out.plain(if item && after_item { "\n" } else { "\n\n" });
        }
        writer.piece(piece);
        after_item = item;
    }
    let tables = pieces.iter().filter(|piece| matches!(piece, Piece::Table(_))).count();
    (writer.out, u32::try_from(tables).unwrap_or(u32::MAX))
}

fn pieces<'a>(lines: &'a [Line], sizes: &Sizes) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let leading = leading(lines);
    let mut at = 0;
    while at < lines.len() {
        if let Some(table) = &lines[at].table {
            pieces.push(Piece::Table(tables::of_cells(&table.rows)));
            at += 1;
            continue;
        }
        if let Some((rows, used)) = table(&lines[at..]) {
            pieces.push(Piece::Table(rows));
            at += used;
            continue;
        }
        let line = &lines[at];
        let before = at.checked_sub(1).map(|before| &lines[before]);
        let level = sizes.level(line).or_else(|| sizes.bold_level(lines, at));
        match (level, before) {
            (Some(level), before) => heading(&mut pieces, level, line, before),
            (None, Some(before)) if continues(before, line, &pieces, leading) => {
                append(&mut pieces, before, line, lines)
            }
            _ => start(&mut pieces, line),
        }
        at += 1;
    }
    pieces
}

/// The table that starts with the first line: of figures, or of whatever stands in columns; the one that goes further.
fn table(lines: &[Line]) -> Option<(tables::Rows<'_>, usize)> {
    /// Lines that may be taken for a header wrongly.
    const HEADER: usize = 2;
    match (tables::table(lines), figures::table(lines)) {
        (Some(cells), Some(figures)) if cells.1 >= figures.1 && cells.0[0].len() >= figures.0[0].len() => {
            Some(cells)
        }
        (Some(cells), None) => {
            let further = |start: usize| {
                let rest = lines.get(start..).and_then(figures::table);
                rest.is_some_and(|(_, used)| start + used > cells.1)
            };
            (1..=HEADER).all(|start| !further(start)).then_some(cells)
        }
        (_, figures) => figures,
    }
}

/// Writes pieces, each word with its place.
struct Writer {
    out: Placing,
    page: (f32, f32),
}

impl Writer {
    fn piece(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Heading(level, parts) => {
                self.out.plain(&"######"[..usize::from((*level).clamp(1, 6))]);
                self.out.plain(" ");
                self.parts(parts, "\n");
            }
            Piece::Paragraph(parts) => self.parts(parts, "\n"),
            Piece::Item(marker, parts) => {
                match marker {
                    Marker::Number(number) => self.out.plain(&format!("{number}. ")),
                    _ => self.out.plain("- "),
                }
                self.parts(parts, "\n  ");
            }
            Piece::Table(rows) => self.table(rows),
        }
    }

    fn parts(&mut self, parts: &[Part<'_>], line_end: &str) {
        for (nth, part) in parts.iter().enumerate() {
            match part.joint {
                _ if nth == 0 => {}
                Joint::Blank => self.out.plain(" "),
                Joint::LineEnd => self.out.plain(line_end),
                Joint::Hyphen => self.out.take_back(),
                Joint::Nothing => {}
            }
            self.words(part.line, part.from..part.line.text.len(), false);
        }
    }

    fn table(&mut self, rows: &tables::Rows<'_>) {
        for (nth, row) in rows.iter().enumerate() {
            if nth > 0 {
                self.out.plain("\n");
            }
            self.out.plain("|");
            for cell in row {
                self.cell(cell);
                self.out.plain(" |");
            }
            if nth == 0 {
                let mut rule = String::from("\n");
                blocks::write_rule(&mut rule, row.len());
                self.out.plain(&rule);
            }
        }
    }

    /// Writes the lines of a cell as one.
    fn cell(&mut self, parts: &[(&Line, Range<usize>)]) {
        let mut before = "";
        for (nth, (line, range)) in parts.iter().enumerate() {
            let text = &line.text[range.clone()];
            match joint(before, text, true) {
                Joint::Hyphen if nth > 0 => self.out.take_back(),
                Joint::Nothing if nth > 0 => {}
                _ => self.out.plain(" "),
            }
            self.words(line, range.clone(), true);
            before = text;
        }
    }

    /// Writes a part of a line. Blanks between words are kept as they are, except in cells.
    fn words(&mut self, line: &Line, part: Range<usize>, cell: bool) {
        let mut end = part.start;
        for (word, left, right) in line.words_in(part.clone()) {
            if end > part.start {
                let blank = &line.text[end..word.start];
                self.out.plain(if cell || blank == " " { " " } else { blank });
            }
            end = word.end;
            let edges = line.box_of(left, right, self.page);
            let word = &line.text[word];
            if cell && word.contains('|') {
                self.out.word(&word.replace('|', "\\|"), edges);
            } else {
                self.out.word(word, edges);
            }
        }
    }
}

fn heading<'a>(pieces: &mut Vec<Piece<'a>>, level: u8, line: &'a Line, before: Option<&Line>) {
    let adjoins = before.is_some_and(|before| {
        (before.size - line.size).abs() < 0.6
            && line.base > before.base
            && line.base - before.base < 1.8 * line.size
    });
    let length = |parts: &[Part<'_>]| parts.iter().map(|part| part.text().len() + 1).sum::<usize>();
    match pieces.last_mut() {
        Some(Piece::Heading(same, parts))
            if *same == level && adjoins && length(parts) + line.text.len() < 2 * LONGEST_HEADING =>
        {
            join(parts, line, true);
        }
        _ if line.text.chars().count() <= LONGEST_HEADING => {
            pieces.push(Piece::Heading(level, vec![whole(line)]))
        }
        _ => start(pieces, line),
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
fn continues(before: &Line, line: &Line, pieces: &[Piece<'_>], leading: f32) -> bool {
    let open = matches!(pieces.last(), Some(Piece::Paragraph(_) | Piece::Item(..)));
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

fn whole(line: &Line) -> Part<'_> {
    Part { line, from: 0, joint: Joint::Blank }
}

fn start<'a>(pieces: &mut Vec<Piece<'a>>, line: &'a Line) {
    pieces.push(match marker(&line.text) {
        Some((marker, text)) => {
            let from = line.text.len() - text.len();
            Piece::Item(marker, vec![Part { line, from, joint: Joint::Blank }])
        }
        None => Piece::Paragraph(vec![whole(line)]),
    });
}

fn append<'a>(pieces: &mut [Piece<'a>], before: &Line, line: &'a Line, lines: &[Line]) {
    let Some(Piece::Paragraph(parts) | Piece::Item(_, parts)) = pieces.last_mut() else { return };
    // A line that ends well before the others of its block was ended on purpose: an address, a verse, code.
    let both = |other: &&Line| other.block == line.block || other.block == before.block;
    let right = lines.iter().filter(both).map(|other| other.right).fold(f32::MIN, f32::max);
    let left = lines.iter().filter(both).map(|other| other.left).fold(f32::MAX, f32::min);
    let full = before.right - left > 0.75 * (right - left);
    join(parts, line, full);
}

/// Joins the next line to a block; words divided at the line's end become whole.
fn join<'a>(parts: &mut Vec<Part<'a>>, line: &'a Line, same_paragraph: bool) {
    let joint = joint(parts.last().map_or("", Part::text), &line.text, same_paragraph);
    parts.push(Part { line, from: 0, joint });
}

/// What stands between a line and the next.
fn joint(text: &str, next: &str, same_paragraph: bool) -> Joint {
    let divided = text.ends_with(['-', '‐'])
        && text.chars().rev().nth(1).is_some_and(char::is_lowercase)
        && next.starts_with(char::is_lowercase);
    match (divided, text.ends_with('\u{ad}')) {
        (_, true) => Joint::Nothing,
        (true, _) => Joint::Hyphen,
        _ if same_paragraph => Joint::Blank,
        _ => Joint::LineEnd,
    }
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
    use crate::pdf::ink::Weight;

    fn line(text: &str, base: f32, size: f32) -> Line {
        let right = 50.0 + text.len() as f32 * 5.0;
        Line { base, main_base: base, size, right, ..super::super::lines::line_of(text, 50.0, right) }
    }

    fn text(lines: &[Line]) -> String {
        let sheet = Sheet { lines: lines.to_vec(), width: 600.0, height: 800.0 };
        write(&sheet, &Sizes::measure(lines.iter())).0.text
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
    fn bold_lines_are_headings_where_few_are() {
        let bold = |line: Line| Line { weight: Weight::of(0.3), ..line };
        let mut lines = vec![
            bold(line("Income taxes", 20.0, 10.0)),
            line("Words that go on and on until the end of", 40.0, 10.0),
            bold(line("the line, some of them in bold letters", 52.0, 10.0)),
            line("and then go on as they did before that.", 64.0, 10.0),
        ];
        lines.extend(
            (0..9).map(|at| {
                line("More words of another paragraph, to the end.", 90.0 + 12.0 * at as f32, 10.0)
            }),
        );
        for line in lines.iter_mut().filter(|line| line.weight.share().is_none()) {
            line.weight = Weight::of(0.2);
        }
        let text = text(&lines);
        assert!(
            text.starts_with("# Income taxes\n\nWords that go on and on until the end of the line, some"),
            "{text}"
        );
        assert_eq!(text.matches('#').count(), 1);
    }

    #[test]
    fn short_lines_keep_their_ends() {
        let lines =
            [line("Ann Example", 20.0, 10.0), line("A longer street name 12, behind the house", 32.0, 10.0)];
        assert_eq!(text(&lines), "Ann Example\nA longer street name 12, behind the house");
    }
}
