//! Where the words of a page stand on it: kept beside its text in about a quarter of the text's bytes, and turned into
//! regions where a part of the text is shown.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Steps from one edge of a page to the other: a third of a point on A4.
const GRID: i32 = 2048;
/// Gaps that differ by more than this within a line are stored one by one: about seven points on A4.
const UNEVEN: i32 = 24;
/// What separates the cells of a table row in Markdown.
const BAR: &str = "|";

/// A rectangle on a page: each number is a share of the page's width or height, from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Region {
    /// The page, from 1.
    pub page: u32,
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width.
    pub w: f64,
    /// Its height.
    pub h: f64,
}

/// Where a word of a text stands, as a reader of files tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Where the word starts in the text, in bytes.
    pub start: usize,
    /// Where it ends, exclusive.
    pub end: usize,
    /// Its edges, from 0 to 1: left, top, right, bottom.
    pub edges: [f32; 4],
}

/// The places of a page's words, packed. Only together with the page's text it can be read.
///
/// It is a list of runs: words of one line that follow each other in the text. Where the words of a run start and end is
/// seen in the text, so a run keeps its place in the text, its height, and for most words one byte: the step to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(Vec<u8>);

/// A word on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    start: usize,
    end: usize,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    /// Which run it is of.
    run: usize,
    /// Whether it is read from right to left.
    mirrored: bool,
}

impl Layout {
    /// Packs the places of words, in the order of the text. `None` where there are none, or where they take more bytes
    /// than the text: then they are no words.
    pub fn pack(text: &str, spots: &[Spot]) -> Option<Self> {
        let words: Vec<Word> = spots.iter().filter_map(|spot| Word::of(spot, text)).collect();
        let mut packed = Vec::with_capacity(words.len() * 2);
        let mut pen = Pen::default();
        let mut rest = &words[..];
        while !rest.is_empty() {
            let run = Run::first_of(rest, text);
            run.write(text, &mut pen, &mut packed);
            rest = &rest[run.words.len()..];
        }
        let layout = Layout(packed);
        (!words.is_empty() && layout.fits(text)).then_some(layout)
    }

    /// The bytes, for a store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A layout from the bytes of a store.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Layout(bytes)
    }

    /// Whether this is a layout of this text, and no larger than one may be. What a parser hands over may be hostile.
    pub fn fits(&self, text: &str) -> bool {
        /// What a page of a few words may take beyond its text.
        const BESIDE_TEXT: usize = 64;
        self.0.len() <= text.len() + BESIDE_TEXT && self.words(text).is_some()
    }

    /// The words with their places, in the order of the text; `None` where the bytes do not belong to the text.
    fn words(&self, text: &str) -> Option<Vec<Word>> {
        let mut bytes = Bytes(&self.0);
        let mut pen = Pen::default();
        let mut words = Vec::new();
        let mut runs = 0;
        while !bytes.0.is_empty() {
            read_run(&mut bytes, text, &mut pen, runs, &mut words)?;
            runs += 1;
        }
        Some(words)
    }
}

/// What each run is told relative to: the end of the run before it, and its place.
#[derive(Default)]
struct Pen {
    end: usize,
    top: i32,
    left: i32,
}

/// Words that are stored together.
struct Run<'a> {
    words: &'a [Word],
    mirrored: bool,
    /// Whether each word has a width of its own, and bars stand between words.
    loose: bool,
    /// The narrowest gap.
    gap: i32,
}

impl Word {
    fn of(spot: &Spot, text: &str) -> Option<Self> {
        let step = |share: f32| ((share * GRID as f32).round() as i32).clamp(0, GRID);
        let [left, top, right, bottom] = spot.edges.map(step);
        let word = text.get(spot.start..spot.end)?;
        let whole = !word.is_empty() && !word.contains(char::is_whitespace);
        let (right, bottom) = (right.max(left), bottom.max(top));
        whole.then_some(Word {
            start: spot.start,
            end: spot.end,
            left,
            right,
            top,
            bottom,
            run: 0,
            mirrored: false,
        })
    }

    /// Its left and right edge, or those of its reflection.
    fn sides(&self, mirrored: bool) -> (i32, i32) {
        if mirrored { (GRID - self.right, GRID - self.left) } else { (self.left, self.right) }
    }
}

impl<'a> Run<'a> {
    /// As many of the words as stand in one line and follow each other in the text, at least one.
    fn first_of(words: &'a [Word], text: &str) -> Self {
        let mirrored = matches!(words, [first, second, ..]
            if second.left < first.left && (second.top, second.bottom) == (first.top, first.bottom));
        let mut run = Run { words: &words[..1], mirrored, loose: false, gap: GRID };
        let mut widest = 0;
        for (at, pair) in words.windows(2).enumerate() {
            let (before, after) = (pair[0].sides(mirrored), pair[1].sides(mirrored));
            let same_line = (pair[0].top, pair[0].bottom) == (pair[1].top, pair[1].bottom);
            let Some(bars) = between(text, &pair[0], &pair[1]) else { break };
            if !same_line || after.0 < before.0 {
                break;
            }
            let gap = (after.0 - before.1).max(0);
            run.gap = run.gap.min(gap);
            widest = widest.max(gap);
            run.loose |= bars;
            run.words = &words[..at + 2];
        }
        run.loose |= run.words.len() > 1 && widest - run.gap > UNEVEN;
        run
    }

    fn write(&self, text: &str, pen: &mut Pen, out: &mut Vec<u8>) {
        let (first, last) = (self.words[0], self.words[self.words.len() - 1]);
        let cut = text[last.end..].chars().next().is_some_and(|next| !next.is_whitespace());
        let flags = usize::from(self.mirrored) | usize::from(cut) << 1 | usize::from(self.loose) << 2;
        let left = first.sides(self.mirrored).0;
        push(out, (first.start - pen.end) as u32);
        push(out, (self.words.len() << 3 | flags) as u32);
        if cut {
            push(out, (last.end - last.start) as u32);
        }
        push(out, zigzag(first.top - pen.top));
        push(out, (first.bottom - first.top) as u32);
        push(out, zigzag(left - pen.left));
        if !self.loose && self.words.len() > 1 {
            push(out, self.gap as u32);
        }
        let mut at = left;
        for (nth, word) in self.words.iter().enumerate() {
            let (left, right) = word.sides(self.mirrored);
            if nth > 0 {
                push(out, (left - at) as u32);
            }
            if self.loose || nth + 1 == self.words.len() {
                push(out, (right - left) as u32);
            }
            at = left;
        }
        *pen = Pen { end: last.end, top: first.top, left };
    }
}

/// Whether bars stand between two words; `None` where anything else than blanks and bars does, or a word is a bar itself.
fn between(text: &str, one: &Word, next: &Word) -> Option<bool> {
    let blank = |character: char| character.is_whitespace();
    let gap = text.get(one.end..next.start)?;
    let apart =
        gap.starts_with(blank) && gap.ends_with(blank) && gap.split_whitespace().all(|part| part == BAR);
    let bar = [one, next].iter().any(|word| &text[word.start..word.end] == BAR);
    (apart && !bar).then(|| gap.contains(BAR))
}

fn read_run(
    bytes: &mut Bytes<'_>,
    text: &str,
    pen: &mut Pen,
    run: usize,
    words: &mut Vec<Word>,
) -> Option<()> {
    let start = pen.end.checked_add(bytes.number()? as usize)?;
    let head = bytes.number()?;
    let (count, mirrored, loose) = (head >> 3, head & 1 != 0, head & 4 != 0);
    let cut = if head & 2 != 0 { Some(bytes.number()? as usize) } else { None };
    let top = pen.top.checked_add(unzigzag(bytes.number()?))?;
    let bottom = top.checked_add(i32::try_from(bytes.number()?).ok()?)?;
    let mut left = pen.left.checked_add(unzigzag(bytes.number()?))?;
    let gap = if !loose && count > 1 { i32::try_from(bytes.number()?).ok()? } else { 0 };
    *pen = Pen { end: start, top, left };
    let mut rest = start;
    for nth in 0..count {
        if nth > 0 {
            let step = i32::try_from(bytes.number()?).ok()?;
            if !loose && let Some(before) = words.last_mut() {
                before.stretch(left.max(left.saturating_add(step).saturating_sub(gap)), mirrored);
            }
            left = left.checked_add(step)?;
        }
        let width = if loose || nth + 1 == count { i32::try_from(bytes.number()?).ok()? } else { 0 };
        let cut = cut.filter(|_| nth + 1 == count);
        let range = token(text, rest, nth == 0, loose, cut)?;
        (rest, pen.end) = (range.end, range.end);
        let right = left.checked_add(width)?;
        let (left, right) = if mirrored { (GRID.checked_sub(right)?, GRID - left) } else { (left, right) };
        if [left, top].iter().any(|edge| *edge < 0) || [right, bottom].iter().any(|edge| *edge > GRID) {
            return None;
        }
        words.push(Word { start: range.start, end: range.end, left, right, top, bottom, run, mirrored });
    }
    (count > 0).then_some(())
}

impl Word {
    /// Lets a word of which only the start was known reach to `end`.
    fn stretch(&mut self, end: i32, mirrored: bool) {
        if mirrored {
            self.left = (GRID - end).clamp(0, self.right);
        } else {
            self.right = end.clamp(self.left, GRID);
        }
    }
}

/// The next word of the text from a place on: at that very place where it is the first of its run.
fn token(text: &str, from: usize, first: bool, bars: bool, cut: Option<usize>) -> Option<Range<usize>> {
    let mut from = from;
    loop {
        let rest = text.get(from..)?;
        let start = from + if first { 0 } else { rest.len() - rest.trim_start().len() };
        let length = text[start..].find(char::is_whitespace).unwrap_or(text.len() - start);
        let end = start + cut.unwrap_or(length).min(length);
        if bars && !first && &text[start..start + length] == BAR {
            from = start + length;
            continue;
        }
        return (start < end && text.is_char_boundary(end)).then_some(start..end);
    }
}

/// Numbers of seven bits a byte, the lowest first.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn number(&mut self) -> Option<u32> {
        let mut number = 0u32;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

fn push(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i32) -> u32 {
    ((number << 1) ^ (number >> 31)) as u32
}

fn unzigzag(number: u32) -> i32 {
    (number >> 1) as i32 ^ -((number & 1) as i32)
}

/// The words of a page, unpacked.
pub struct Placed<'a> {
    page: u32,
    text: &'a str,
    words: Vec<Word>,
    /// The byte at which every so many characters start.
    milestones: Vec<usize>,
}

/// Characters from one milestone to the next.
const MILE: usize = 256;

impl<'a> Placed<'a> {
    /// The words of the page of this number and text.
    pub fn new(page: u32, text: &'a str, layout: &Layout) -> Self {
        let milestones = text.char_indices().step_by(MILE).map(|(at, _)| at).collect();
        Placed { page, text, words: layout.words(text).unwrap_or_default(), milestones }
    }

    /// Where the characters of this range stand: a region for each line, and one for lines of equal width below each other.
    pub fn regions(&self, range: Range<u32>) -> Vec<Region> {
        let bytes = self.byte(range.start)..self.byte(range.end);
        let first = self.words.partition_point(|word| word.end <= bytes.start);
        let within = self.words[first..].iter().take_while(|word| word.start < bytes.end);
        let mut lines: Vec<(usize, [i32; 4])> = Vec::new();
        for word in within {
            let (left, right) = self.clipped(word, &bytes);
            match lines.last_mut() {
                Some((run, edges)) if joins(*run, edges, word, left, right) => {
                    (edges[0], edges[2]) = (edges[0].min(left), edges[2].max(right));
                    *run = word.run;
                }
                _ => lines.push((word.run, [left, word.top, right, word.bottom])),
            }
        }
        let mut blocks: Vec<[i32; 4]> = Vec::new();
        for (_, line) in lines {
            match blocks.last_mut() {
                Some(block) if continues(block, &line) => {
                    *block = [block[0].min(line[0]), block[1], block[2].max(line[2]), line[3]];
                }
                _ => blocks.push(line),
            }
        }
        blocks.into_iter().map(|edges| self.region(edges)).collect()
    }

    /// The left and right edge of the part of a word that lies in a range of bytes; characters count as equally wide.
    fn clipped(&self, word: &Word, bytes: &Range<usize>) -> (i32, i32) {
        if bytes.start <= word.start && word.end <= bytes.end {
            return (word.left, word.right);
        }
        let count = |from: usize, to: usize| self.text[from..to.max(from)].chars().count() as i32;
        let all = count(word.start, word.end).max(1);
        let before = count(word.start, bytes.start.clamp(word.start, word.end));
        let after = count(bytes.end.clamp(word.start, word.end), word.end);
        let (left, right) = if word.mirrored { (after, before) } else { (before, after) };
        let width = word.right - word.left;
        (word.left + width * left / all, word.right - width * right / all)
    }

    fn byte(&self, character: u32) -> usize {
        let character = character as usize;
        let Some(&mile) = self.milestones.get(character / MILE) else { return self.text.len() };
        let rest = &self.text[mile..];
        rest.char_indices().nth(character % MILE).map_or(self.text.len(), |(at, _)| mile + at)
    }

    fn region(&self, edges: [i32; 4]) -> Region {
        // Four digits are finer than the grid.
        let share = |steps: i32| (f64::from(steps) / f64::from(GRID) * 10_000.0).round() / 10_000.0;
        let [left, top, right, bottom] = edges;
        let (x, y, w, h) = (share(left), share(top), share(right - left), share(bottom - top));
        Region { page: self.page, x, y, w, h }
    }
}

/// Whether a word goes on with a line: of the same run, or beside its end at the same height.
fn joins(run: usize, line: &[i32; 4], word: &Word, left: i32, right: i32) -> bool {
    /// A blank or two, but no gutter between columns.
    const NEAR: i32 = GRID / 50;
    let apart = (left - line[2]).max(line[0] - right);
    run == word.run || (line[1], line[3]) == (word.top, word.bottom) && apart < NEAR
}

/// Whether a line is as wide as the block above it and follows closely.
fn continues(block: &[i32; 4], line: &[i32; 4]) -> bool {
    /// The edges of justified lines differ by less.
    const EQUAL: i32 = GRID / 80;
    let height = line[3] - line[1];
    let below = line[1] - block[3];
    let equal = |one: i32, other: i32| (one - other).abs() <= EQUAL;
    line[1] > block[1]
        && -height / 2 <= below
        && below <= height
        && equal(block[0], line[0])
        && equal(block[2], line[2])
}

/// As two letters a byte: what a child process says is JSON.
impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        serializer
            .serialize_str(&digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        bytes.map(Layout).ok_or_else(|| D::Error::custom("not a layout"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words of a text in lines of equal height; each character is a hundredth of the page wide.
    fn spots(text: &str) -> Vec<Spot> {
        let mut spots = Vec::new();
        let mut line_start = 0;
        for (number, line) in text.split('\n').enumerate() {
            let mut at = 0;
            for word in line.split(' ') {
                if !word.is_empty() && word != BAR {
                    let left = 0.1 + at as f32 / 100.0;
                    let right = left + word.chars().count() as f32 / 100.0;
                    let top = 0.1 + number as f32 * 0.02;
                    let byte = line_start + line.char_indices().nth(at).map_or(line.len(), |(byte, _)| byte);
                    spots.push(Spot {
                        start: byte,
                        end: byte + word.len(),
                        edges: [left, top, right, top + 0.015],
                    });
                }
                at += word.chars().count() + 1;
            }
            line_start += line.len() + 1;
        }
        spots
    }

    fn regions(text: &str, spots: &[Spot], range: Range<u32>) -> Vec<[f64; 4]> {
        let layout = Layout::pack(text, spots).expect("a layout");
        let found = Placed::new(3, text, &layout).regions(range);
        assert!(found.iter().all(|region| region.page == 3));
        found.iter().map(|region| [region.x, region.y, region.w, region.h]).collect()
    }

    fn near(found: &[[f64; 4]], expected: &[[f64; 4]]) {
        let close =
            |one: &[f64; 4], other: &[f64; 4]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.002);
        let same =
            found.len() == expected.len() && found.iter().zip(expected).all(|(one, other)| close(one, other));
        assert!(same, "{found:?} is not {expected:?}");
    }

    #[test]
    fn a_quote_is_where_its_words_are() {
        let text = "Thé warranty lasts two\nyears from the day of\npurchase.";
        let spots = spots(text);
        near(&regions(text, &spots, 4..12), &[[0.14, 0.1, 0.08, 0.015]]);
        near(&regions(text, &spots, 19..28), &[[0.29, 0.1, 0.03, 0.015], [0.1, 0.12, 0.05, 0.015]]);
        near(&regions(text, &spots, 0..54), &[[0.1, 0.1, 0.22, 0.035], [0.1, 0.14, 0.09, 0.015]]);
        near(&regions(text, &spots, 6..8), &[[0.16, 0.1, 0.02, 0.015]]);
        assert!(regions(text, &spots, 900..950).is_empty());
        assert!(regions(text, &spots, 3..4).is_empty(), "a blank stands nowhere");
    }

    #[test]
    fn a_row_of_a_table_is_one_region_and_its_cell_another() {
        let text = "| Revenue | 12.5 | 9 |\n| - | - | - |\n| Costs | 3.0 | 4 |";
        let at = |word: &str| text.find(word).unwrap();
        let spot = |word: &str, left: f32, top: f32| Spot {
            start: at(word),
            end: at(word) + word.len(),
            edges: [left, top, left + 0.05, top + 0.01],
        };
        let spots = [
            spot("Revenue", 0.1, 0.2),
            spot("12.5", 0.5, 0.2),
            spot("9", 0.8, 0.2),
            spot("Costs", 0.1, 0.22),
            spot("3.0", 0.5, 0.22),
            spot("4", 0.8, 0.22),
        ];
        let cell = at("12.5") as u32;
        near(&regions(text, &spots, cell..cell + 4), &[[0.5, 0.2, 0.05, 0.01]]);
        let row = at("| Costs") as u32;
        near(&regions(text, &spots, row..row + 19), &[[0.1, 0.22, 0.75, 0.01]]);
    }

    #[test]
    fn words_divided_at_the_end_of_a_line_are_in_two_places() {
        let text = "a divided word";
        let spots = [
            Spot { start: 0, end: 1, edges: [0.1, 0.1, 0.11, 0.12] },
            Spot { start: 2, end: 5, edges: [0.8, 0.1, 0.84, 0.12] },
            Spot { start: 5, end: 9, edges: [0.1, 0.13, 0.14, 0.15] },
            Spot { start: 10, end: 14, edges: [0.15, 0.13, 0.19, 0.15] },
        ];
        near(&regions(text, &spots, 2..9), &[[0.8, 0.1, 0.04, 0.02], [0.1, 0.13, 0.04, 0.02]]);
    }

    #[test]
    fn lines_are_read_from_right_to_left_too() {
        let text = "שלום לכם חברים";
        let spots = [
            Spot { start: 0, end: 8, edges: [0.7, 0.1, 0.8, 0.12] },
            Spot { start: 9, end: 15, edges: [0.6, 0.1, 0.68, 0.12] },
            Spot { start: 16, end: 26, edges: [0.4, 0.1, 0.58, 0.12] },
        ];
        near(&regions(text, &spots, 0..8), &[[0.6, 0.1, 0.2, 0.02]]);
        near(&regions(text, &spots, 0..2), &[[0.75, 0.1, 0.05, 0.02]]);
    }

    #[test]
    fn ordinary_text_takes_a_quarter_of_its_size() {
        let line = "the quick brown fox jumps over the lazy dog and runs along the river to the sea\n";
        let text = line.repeat(40);
        let layout = Layout::pack(&text, &spots(&text)).unwrap();
        assert!(layout.as_bytes().len() * 3 < text.len(), "{} of {}", layout.as_bytes().len(), text.len());
    }

    proptest! {
        #[test]
        fn what_is_packed_is_what_was_said(text in "[a-cé| \n]{1,80}") {
            let spots = spots(&text);
            if let Some(layout) = Layout::pack(&text, &spots) {
                let words = layout.words(&text).expect("our own");
                let said: Vec<_> = spots.iter().map(|spot| spot.start..spot.end).collect();
                let kept: Vec<_> = words.iter().map(|word| word.start..word.end).collect();
                prop_assert_eq!(said, kept);
                for (spot, word) in spots.iter().zip(&words) {
                    let off = |share: f32, steps: i32| (share * GRID as f32 - steps as f32).abs();
                    prop_assert!(off(spot.edges[0], word.left) <= 1.0 && off(spot.edges[1], word.top) <= 1.0);
                    prop_assert!(off(spot.edges[2], word.right) <= UNEVEN as f32 + 1.0);
                }
                let json = serde_json::to_string(&layout).unwrap();
                prop_assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), layout);
            }
        }

        #[test]
        fn hostile_bytes_are_refused_or_harmless(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            text in "[a-bé| \n]{0,40}",
            start in 0u32..60,
            length in 0u32..60,
        ) {
            let layout = Layout::from_bytes(bytes);
            let _ = layout.fits(&text);
            for region in Placed::new(1, &text, &layout).regions(start..start + length) {
                let inside = |share: f64| (0.0..=1.0).contains(&share);
                prop_assert!(inside(region.x) && inside(region.y) && inside(region.w) && inside(region.h));
            }
        }
    }
}
