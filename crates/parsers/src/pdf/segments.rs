//! Joins the characters of a page into segments: runs of text on one baseline without a wide gap.

use std::rc::Rc;

use super::grid::Ruled;
use super::ink::{Glyph, Ink, Weight};

/// A gap of this share of the font size is a blank. Letters of one word stand closer, blanks of tight lines do not.
const BLANK: f32 = 0.17;
/// A gap of this share of the font size ends the segment: a column, a table cell, a tab.
const WIDE: f32 = 1.2;

/// Where a word starts in its text, in bytes, and its edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) left: f32,
    pub(super) right: f32,
}

/// A run of text on one baseline, in a frame turned so that the text runs from left to right.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) text: String,
    /// The words, in order.
    pub(super) words: Vec<Span>,
    pub(super) left: f32,
    pub(super) right: f32,
    /// The baseline; larger is further down.
    pub(super) base: f32,
    pub(super) size: f32,
    /// The direction of the text on the page, in tenths of a radian.
    pub(super) direction: i32,
    /// The same, exactly.
    pub(super) angle: f32,
    pub(super) weight: Weight,
    /// The table that it stands for.
    pub(super) table: Option<Rc<Ruled>>,
}

/// Joins characters in the order they were drawn.
pub(super) fn join(ink: &Ink) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut last: Option<Placed> = None;
    for glyph in &ink.glyphs {
        let text = &ink.text[glyph.start as usize..glyph.end as usize];
        let placed = Placed::of(glyph);
        let joined = match (last.as_ref(), segments.last_mut()) {
            (Some(before), Some(segment)) => segment.try_append(before, &placed, text),
            _ => false,
        };
        if !joined {
            let mut segment = Segment {
                text: String::new(),
                words: Vec::new(),
                left: placed.left.min(placed.right),
                right: placed.right.max(placed.left),
                base: placed.base,
                size: placed.size,
                direction: (glyph.angle / 0.1).round() as i32,
                angle: glyph.angle,
                weight: Weight::default(),
                table: None,
            };
            segment.push(text, &placed);
            segments.push(segment);
        }
        if let Some(segment) = segments.last_mut() {
            segment.weight.add(glyph.weight);
        }
        last = Some(placed);
    }
    segments.retain(|segment| !segment.text.trim().is_empty());
    segments
}

/// A character in the turned frame.
struct Placed {
    left: f32,
    right: f32,
    base: f32,
    size: f32,
    angle: f32,
}

impl Placed {
    fn of(glyph: &Glyph) -> Self {
        let (sine, cosine) = glyph.angle.sin_cos();
        let turn = |(x, y): (f32, f32)| (x * cosine + y * sine, y * cosine - x * sine);
        let (left, base) = turn(glyph.from);
        let (right, _) = turn(glyph.to);
        Self { left, right, base, size: glyph.size, angle: glyph.angle }
    }
}

impl Segment {
    /// Adds a character to the text, and to its last word unless a blank lies between them.
    fn push(&mut self, text: &str, at: &Placed) {
        let (left, right) = (at.left.min(at.right), at.left.max(at.right));
        let goes_on = !self.text.is_empty() && !self.text.ends_with(char::is_whitespace);
        if !text.starts_with(char::is_whitespace) {
            match self.words.last_mut() {
                Some(word) if goes_on => {
                    (word.left, word.right) = (word.left.min(left), word.right.max(right));
                }
                _ => self.words.push(Span { start: self.text.len(), left, right }),
            }
        }
        self.text.push_str(text);
    }

    fn try_append(&mut self, before: &Placed, next: &Placed, text: &str) -> bool {
        let larger = next.size.max(self.size);
        let smaller = next.size.min(self.size);
        // Raised and lowered characters belong to their line up to about half its height.
        let same_line =
            (before.angle - next.angle).abs() < 0.05 && (next.base - before.base).abs() < 0.45 * larger;
        let gap = next.left - before.right;
        // Kerning and accents step back a little; a step back of more than half a letter starts something else.
        if !same_line || gap < -0.5 * next.size || gap > WIDE * larger {
            return false;
        }
        let blank = gap > BLANK * smaller && !self.text.ends_with(' ') && !text.starts_with(' ');
        if blank {
            self.text.push(' ');
        }
        // Blanks have whatever size the line's end was given.
        let visible = !text.trim().is_empty();
        let first = self.words.is_empty();
        self.push(text, next);
        self.right = self.right.max(next.right);
        if visible && (first || next.size > self.size) {
            // The larger characters carry the line: a small number before a heading does not set its baseline.
            self.size = next.size;
            self.base = next.base;
        }
        true
    }
}

/// A segment in letters five points wide, for tests.
#[cfg(test)]
pub(super) fn segment_of(text: &str, left: f32, base: f32) -> Segment {
    let mut words = Vec::new();
    let mut start = 0;
    let edge = |end: usize| left + 5.0 * text[..end].chars().count() as f32;
    for word in text.split_inclusive(' ') {
        let end = start + word.trim_end().len();
        words.push(Span { start, left: edge(start), right: edge(end) });
        start += word.len();
    }
    Segment {
        text: text.into(),
        words,
        left,
        right: edge(text.len()),
        base,
        size: 10.0,
        direction: 0,
        angle: 0.0,
        weight: Weight::default(),
        table: None,
    }
}
