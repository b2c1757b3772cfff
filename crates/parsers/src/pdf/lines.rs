//! Puts the segments of a block into lines.

use std::ops::Range;
use std::rc::Rc;

use super::bidi;
use super::grid::Ruled;
use super::ink::Weight;
use super::segments::{Segment, Span};

/// One line of a block.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    /// Where its words stand, in the order of the text. A word of the text may lack one where a character stands for
    /// several words.
    pub(super) words: Vec<Span>,
    /// Parts of the line with wide gaps between them, each with its left and right edge: cells, where it is a table.
    pub(super) cells: Vec<Cell>,
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) base: f32,
    pub(super) size: f32,
    /// The baseline of the characters that have this size.
    pub(super) main_base: f32,
    /// Lines of one block share it; paragraphs do not cross it.
    pub(super) block: usize,
    /// The direction of the text on the page; 0 for most text.
    pub(super) angle: f32,
    pub(super) weight: Weight,
    /// Whether the line runs along the page as most text does.
    pub(super) upright: bool,
    /// The table that it stands for.
    pub(super) table: Option<Rc<Ruled>>,
}

/// A part of a line between wide gaps.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    /// Where it is in the line's text.
    pub(super) range: Range<usize>,
    pub(super) left: f32,
    pub(super) right: f32,
}

/// A gap of this share of the font size parts cells.
const CELL_GAP: f32 = 1.0;
/// A gap of this share of the font size between two segments is a blank.
const BLANK: f32 = 0.12;

impl Line {
    pub(super) fn cell(&self, cell: &Cell) -> &str {
        &self.text[cell.range.clone()]
    }

    /// The words of a part of the text, each with its place in the text and its left and right edge.
    pub(super) fn words_in(&self, part: Range<usize>) -> impl Iterator<Item = (Range<usize>, f32, f32)> {
        let mut rest = part.start;
        std::iter::from_fn(move || {
            let ahead = &self.text[rest..part.end];
            let start = rest + (ahead.len() - ahead.trim_start().len());
            let length = self.text[start..part.end].find(char::is_whitespace).unwrap_or(part.end - start);
            rest = start + length;
            let (left, right) = self.edges(&(start..rest));
            (length > 0).then_some((start..rest, left, right))
        })
    }

    fn edges(&self, word: &Range<usize>) -> (f32, f32) {
        let from = self.words.partition_point(|span| span.start < word.start);
        let to = self.words.partition_point(|span| span.start < word.end);
        // A word without a place of its own is within the one before it.
        let from = if from < to { from } else { from.saturating_sub(1) };
        let spans = &self.words[from..to.max((from + 1).min(self.words.len()))];
        let left = spans.iter().map(|span| span.left).fold(f32::MAX, f32::min);
        let right = spans.iter().map(|span| span.right).fold(f32::MIN, f32::max);
        if spans.is_empty() { (self.left, self.right) } else { (left, right) }
    }

    /// The edges on the page of a part of the line: left, top, right, bottom, as shares of the page's size.
    pub(super) fn box_of(&self, left: f32, right: f32, page: (f32, f32)) -> [f32; 4] {
        /// How far letters reach above and below their baseline, in shares of the font size.
        const ABOVE: f32 = 0.8;
        const BELOW: f32 = 0.2;
        let (top, bottom) = (self.main_base - ABOVE * self.size, self.main_base + BELOW * self.size);
        let (sine, cosine) = self.angle.sin_cos();
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let corners = corners.map(|(x, y)| (x * cosine - y * sine, x * sine + y * cosine));
        let (mut edges, (width, height)) = ([f32::MAX, f32::MAX, f32::MIN, f32::MIN], page);
        for (x, y) in corners.map(|(x, y)| (x / width, y / height)) {
            edges = [edges[0].min(x), edges[1].min(y), edges[2].max(x), edges[3].max(y)];
        }
        edges
    }
}

/// The lines of one block, from top to bottom.
pub(super) fn lines(segments: Vec<Segment>, block: usize, right_to_left: bool) -> Vec<Line> {
    let (tables, mut segments): (Vec<_>, Vec<_>) =
        segments.into_iter().partition(|segment| segment.table.is_some());
    segments.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut lines = Vec::new();
    let mut rest = segments.into_iter().peekable();
    while let Some(first) = rest.next() {
        let (base, mut size) = (first.base, first.size);
        let mut row = vec![first];
        while let Some(next) = rest.next_if(|next| (next.base - base).abs() < 0.5 * size.max(next.size)) {
            size = size.max(next.size);
            row.push(next);
        }
        row.sort_by(|a, b| a.left.total_cmp(&b.left));
        lines.extend(line(&row, block, right_to_left));
    }
    for table in tables {
        let table = table_line(table, block);
        let at = lines.partition_point(|line: &Line| line.base <= table.base);
        lines.insert(at, table);
    }
    lines
}

/// The line that stands for a table, at its upper edge.
fn table_line(segment: Segment, block: usize) -> Line {
    let inner = segment.table.iter().flat_map(|table| table.rows.iter().flatten().flatten());
    let mut sizes: Vec<f32> = inner.map(|line| line.size).collect();
    sizes.sort_unstable_by(f32::total_cmp);
    let size = sizes.get(sizes.len() / 2).copied().unwrap_or(10.0);
    // See where the segment is made.
    let top = segment.base - 0.8 * segment.size;
    Line {
        text: segment.text,
        words: Vec::new(),
        cells: Vec::new(),
        left: segment.left,
        right: segment.right,
        base: top,
        size,
        main_base: top,
        block,
        angle: 0.0,
        weight: Weight::default(),
        upright: true,
        table: segment.table,
    }
}

fn line(row: &[Segment], block: usize, right_to_left: bool) -> Option<Line> {
    let mut written = Written::default();
    let mut blank = false;
    for segment in row {
        written.push(segment, blank);
        blank = segment.text.ends_with(' ');
    }
    if bidi::is_right_to_left(&written.text) {
        written = written.in_reading_order(right_to_left);
    }
    let Written { text, words, cells } = written;
    if text.trim().is_empty() {
        return None;
    }
    // The size most characters have: a large initial or a small exponent does not make a heading.
    let main = row.iter().max_by_key(|segment| segment.text.len())?;
    Some(Line {
        text,
        words,
        cells,
        left: row.iter().map(|segment| segment.left).fold(f32::MAX, f32::min),
        right: row.iter().map(|segment| segment.right).fold(f32::MIN, f32::max),
        base: row[0].base,
        size: main.size,
        main_base: main.base,
        block,
        angle: main.angle,
        weight: row.iter().fold(Weight::default(), |mut sum, segment| {
            sum.add(segment.weight);
            sum
        }),
        upright: row[0].direction == 0,
        table: None,
    })
}

/// What a line says so far.
#[derive(Default)]
struct Written {
    text: String,
    words: Vec<Span>,
    cells: Vec<Cell>,
}

impl Written {
    fn push(&mut self, segment: &Segment, blank: bool) {
        let text = segment.text.trim();
        let skipped = segment.text.len() - segment.text.trim_start().len();
        match self.cells.last_mut() {
            Some(cell) if segment.left - cell.right < CELL_GAP * segment.size => {
                let apart = segment.left - cell.right > BLANK * segment.size;
                if blank || apart || segment.text.starts_with(' ') {
                    self.text.push(' ');
                }
                cell.right = cell.right.max(segment.right);
            }
            last => {
                if last.is_some() {
                    self.text.push(' ');
                }
                let start = self.text.len();
                self.cells.push(Cell { range: start..start, left: segment.left, right: segment.right });
            }
        }
        let start = self.text.len();
        self.words.extend(
            segment
                .words
                .iter()
                .map(|word| Span { start: start + word.start.saturating_sub(skipped), ..*word }),
        );
        self.text.push_str(text);
        if let Some(cell) = self.cells.last_mut() {
            cell.range.end = self.text.len();
        }
    }

    /// The same, seen from left to right before, as it is read.
    fn in_reading_order(mut self, right_to_left: bool) -> Self {
        if right_to_left {
            self.cells.reverse();
        }
        let mut read = Self::default();
        for cell in &self.cells {
            if !read.cells.is_empty() {
                read.text.push(' ');
            }
            let start = read.text.len();
            for (at, character) in bidi::logical(&self.text[cell.range.clone()], right_to_left) {
                read.push_character(character, self.span_at(cell.range.start + at));
            }
            read.cells.push(Cell { range: start..read.text.len(), ..*cell });
        }
        read
    }

    /// The word that the character at this byte belongs to.
    fn span_at(&self, byte: usize) -> Option<Span> {
        let after = self.words.partition_point(|span| span.start <= byte);
        self.words.get(after.checked_sub(1)?).copied()
    }

    /// Adds a character that belongs to a word of the order seen; the words of the text cover all that they are made of.
    fn push_character(&mut self, character: char, span: Option<Span>) {
        let goes_on = !self.text.is_empty() && !self.text.ends_with(char::is_whitespace);
        if let Some(span) = span.filter(|_| !character.is_whitespace()) {
            match self.words.last_mut() {
                Some(word) if goes_on => {
                    (word.left, word.right) = (word.left.min(span.left), word.right.max(span.right));
                }
                _ => self.words.push(Span { start: self.text.len(), ..span }),
            }
        }
        self.text.push(character);
    }
}

/// A line of one cell, for tests.
#[cfg(test)]
pub(super) fn line_of(text: &str, left: f32, right: f32) -> Line {
    Line {
        text: text.to_owned(),
        words: vec![Span { start: 0, left, right }],
        cells: vec![Cell { range: 0..text.len(), left, right }],
        left,
        right,
        base: 0.0,
        size: 10.0,
        main_base: 0.0,
        block: 0,
        angle: 0.0,
        weight: Weight::default(),
        upright: true,
        table: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::segments::segment_of;

    fn segment(text: &str, left: f32) -> Segment {
        segment_of(text, left, 20.0)
    }

    fn placed(row: &[Segment], right_to_left: bool) -> Vec<(String, f32, f32)> {
        let line = line(row, 0, right_to_left).unwrap();
        let words = line.words_in(0..line.text.len());
        words.map(|(range, left, right)| (line.text[range].to_owned(), left, right)).collect()
    }

    #[test]
    fn words_keep_their_places_when_segments_are_joined() {
        let row = [segment("The war", 10.0), segment("ranty is", 45.0), segment("12", 300.0)];
        let expected =
            [("The", 10.0, 25.0), ("warranty", 30.0, 70.0), ("is", 75.0, 85.0), ("12", 300.0, 310.0)];
        assert_eq!(placed(&row, false), expected.map(|(word, left, right)| (word.to_owned(), left, right)));
    }

    #[test]
    fn words_keep_their_places_when_the_order_changes() {
        let expected = [("שנת", 25.0, 40.0), ("2024", 0.0, 20.0)];
        let row = [segment("2024 תנש", 0.0)];
        assert_eq!(placed(&row, true), expected.map(|(word, left, right)| (word.to_owned(), left, right)));
    }

    #[test]
    fn turned_lines_stand_upright_on_the_page() {
        let mut turned = line(&[segment("up", 10.0)], 0, false).unwrap();
        turned.angle = std::f32::consts::FRAC_PI_2;
        let [left, top, right, bottom] = turned.box_of(10.0, 20.0, (100.0, 100.0)).map(|share| share * 100.0);
        assert!((right - left - 10.0).abs() < 0.01 && (bottom - top - 10.0).abs() < 0.01);
        assert!((top - 10.0).abs() < 0.01 && (bottom - 20.0).abs() < 0.01);
    }
}
