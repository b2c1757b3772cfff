//! Puts the pieces of a page together into passages of the size wanted.

use std::{mem, ops::Range, sync::Arc};

use unicode_segmentation::GraphemeCursor;

use super::{
    Chunking,
    blocks::{self, Block, Kind},
};
use crate::{
    document::Page,
    ingest::bounds::{LONGEST_HEADING, LONGEST_LEAD, clip},
};

/// Tokens of a short sentence with its heading.
const SENTENCE: usize = 10;

/// A passage to become a chunk.
#[derive(Debug, Default)]
pub(super) struct Passage {
    pub(super) range: Range<usize>,
    pub(super) section: Arc<[String]>,
    pub(super) lead: Arc<str>,
}

/// The headings that apply, outermost first; carried from page to page. All passages under them share one list.
#[derive(Debug, Default)]
pub(super) struct Section {
    levels: Vec<u8>,
    names: Arc<[String]>,
}

impl Section {
    /// A heading ends those of its level and below. A long one is cut, because every passage under it carries it.
    fn enter(&mut self, level: u8, words: &str) {
        let above = self.levels.iter().take_while(|&&above| above < level).count();
        let mut words = words.to_string();
        clip(&mut words, LONGEST_HEADING);
        self.levels.truncate(above);
        self.levels.push(level);
        self.names = self.names[..above].iter().cloned().chain([words]).collect();
    }
}

/// A part of the text that stays whole where possible.
#[derive(Debug, Clone)]
struct Piece {
    range: Range<usize>,
    tokens: usize,
}

/// One block with what must not be separated from it: the headings above it, the sentence that announces it.
#[derive(Debug, Default)]
struct Unit {
    pieces: Vec<Piece>,
    section: Arc<[String]>,
    /// Whether it starts with a heading.
    opens: bool,
    /// Whether its parts may repeat a sentence: prose only.
    overlaps: bool,
    /// What its later parts need from the start of it.
    lead: Arc<str>,
}

impl Unit {
    fn tokens(&self) -> usize {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }
}

/// Packs one page.
pub(super) fn pack(
    page: &Page,
    section: &mut Section,
    chunking: &Chunking,
    count_tokens: &dyn Fn(&str) -> usize,
) -> Vec<Passage> {
    let mut packer = Packer { chunking, pieces: Vec::new(), current: Passage::default(), done: Vec::new() };
    for unit in units(page, section, chunking, count_tokens) {
        packer.add(unit, &page.text, count_tokens);
    }
    packer.flush();
    packer.done
}

/// The page's blocks, each with the headings and announcements right above it.
fn units(
    page: &Page,
    section: &mut Section,
    chunking: &Chunking,
    count_tokens: &dyn Fn(&str) -> usize,
) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut held = Unit::default();
    let found = blocks::read(page);
    for (at, block) in found.iter().enumerate() {
        let pieces = block
            .pieces
            .iter()
            .map(|range| Piece { range: range.clone(), tokens: count_tokens(&page.text[range.clone()]) });
        if let Kind::Heading(level, words) = &block.kind {
            section.enter(*level, words);
            held.opens = true;
            held.pieces.extend(pieces);
            // A run of headings as long as half a chunk is a table of contents, and stands alone.
            if held.tokens() * 2 > chunking.max_tokens {
                units.push(Unit { section: section.names.clone(), ..mem::take(&mut held) });
            }
            continue;
        }
        let caption = if held.opens { None } else { held.pieces.last().map(|piece| piece.range.clone()) };
        held.pieces.extend(pieces);
        if announces(&page.text, block, found.get(at + 1)) && held.tokens() * 2 <= chunking.max_tokens {
            continue;
        }
        held.overlaps = block.kind == Kind::Prose;
        if let Kind::Table(header) = &block.kind {
            held.lead = lead(&page.text, caption, header.clone());
        }
        units.push(Unit { section: section.names.clone(), ..mem::take(&mut held) });
    }
    if !held.pieces.is_empty() {
        units.push(Unit { section: section.names.clone(), ..held });
    }
    units
}

/// Whether a paragraph belongs to the list, table or code after it: "The terms are:", "Table 3. Fees".
fn announces(text: &str, block: &Block, next: Option<&Block>) -> bool {
    let structured = matches!(next.map(|next| &next.kind), Some(Kind::List | Kind::Table(_) | Kind::Code));
    let table = matches!(next.map(|next| &next.kind), Some(Kind::Table(_)));
    let words = &text[block.range()];
    // A caption is one or two sentences; a paragraph above a table is not one.
    block.kind == Kind::Prose
        && structured
        && (words.ends_with([':', '：']) || (table && block.pieces.len() <= 2))
}

/// Every later part of the table carries it, so a long one is cut.
fn lead(text: &str, caption: Option<Range<usize>>, header: Range<usize>) -> Arc<str> {
    let mut lead = match caption {
        Some(caption) => format!("{}\n{}", &text[caption], &text[header]),
        None => text[header].to_string(),
    };
    clip(&mut lead, LONGEST_LEAD);
    lead.into()
}

struct Packer<'a> {
    chunking: &'a Chunking,
    /// What the current passage is made of.
    pieces: Vec<Piece>,
    current: Passage,
    done: Vec<Passage>,
}

impl Packer<'_> {
    fn tokens(&self) -> usize {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// A unit goes whole into the current passage, or whole into the next, or is cut where it is too large.
    fn add(&mut self, unit: Unit, text: &str, count_tokens: &dyn Fn(&str) -> usize) {
        let (max, held, wanted) = (self.chunking.max_tokens, self.tokens(), unit.tokens());
        // A new section starts a new passage, unless so little was said before it that it could not stand alone: an
        // introduction goes with what it introduces, a section of its own needs a sentence at least.
        let introduced = unit.section.starts_with(&self.current.section);
        let alone = if introduced { max / 4 } else { SENTENCE };
        let new_section = unit.opens && held >= alone;
        // Better half empty than with half a paragraph at its end.
        let new_paragraph = held + wanted > max && wanted <= max && held * 2 >= max;
        if new_section || new_paragraph {
            self.flush();
        }
        if self.tokens() + wanted <= max {
            self.open(&unit.section);
            self.pieces.extend(unit.pieces);
        } else {
            self.cut(unit, text, count_tokens);
        }
    }

    /// Spreads a unit over as many passages as it needs, of about the same size.
    fn cut(&mut self, unit: Unit, text: &str, count_tokens: &dyn Fn(&str) -> usize) {
        let max = self.chunking.max_tokens;
        let total = self.tokens() + unit.tokens();
        let aim = total.div_ceil(total.div_ceil(max).max(1));
        let mut own = 0;
        self.open(&unit.section);
        for piece in unit.pieces.iter().flat_map(|piece| fitting(piece, text, max, count_tokens)) {
            let held = self.tokens();
            if held > 0 && (held + piece.tokens > max || held >= aim) {
                let repeated = self.repeated(&unit, own, max.saturating_sub(piece.tokens));
                self.flush();
                self.open(&unit.section);
                self.current.lead = unit.lead.clone();
                self.pieces.extend(repeated);
                own = 0;
            }
            self.pieces.push(piece);
            own += 1;
        }
    }

    /// The last sentence of the current passage, where it is short enough to repeat in the next. Not the only one of
    /// this unit in the passage: repeating all of it would say nothing new.
    fn repeated(&self, unit: &Unit, own: usize, room: usize) -> Option<Piece> {
        let last = self.pieces.last().filter(|_| unit.overlaps && own > 1)?;
        (last.tokens <= self.chunking.overlap.min(room)).then(|| last.clone())
    }

    /// The headings above the passage: those of all its units.
    fn open(&mut self, section: &Arc<[String]>) {
        if self.pieces.is_empty() {
            self.current.section = section.clone();
            return;
        }
        let current = &self.current.section;
        let shared = current.iter().zip(&**section).take_while(|(a, b)| a == b).count();
        if shared < current.len() {
            self.current.section = current[..shared].into();
        }
    }

    fn flush(&mut self) {
        let pieces = mem::take(&mut self.pieces);
        let passage = mem::take(&mut self.current);
        if let (Some(first), Some(last)) = (pieces.first(), pieces.last()) {
            self.done.push(Passage { range: first.range.start..last.range.end, ..passage });
        }
    }
}

/// The piece itself, or, where it alone is too long, parts of it that fit, cut between words if there are any.
fn fitting(piece: &Piece, text: &str, max: usize, count_tokens: &dyn Fn(&str) -> usize) -> Vec<Piece> {
    if piece.tokens <= max {
        return vec![piece.clone()];
    }
    let mut parts = Vec::new();
    let mut rest = piece.range.clone();
    // A little below the average, since tokens are not spread evenly.
    let step = (piece.range.len() * max / piece.tokens * 9 / 10).max(1);
    while !rest.is_empty() {
        let mut length = step;
        let part = loop {
            let part = rest.start..cut_point(text, &rest, length);
            let tokens = count_tokens(&text[part.clone()]);
            if tokens <= max || length == 1 {
                break Piece { range: part, tokens };
            }
            length /= 2;
        };
        rest.start = part.range.end;
        parts.extend(
            blocks::trimmed(text, &part.range).into_iter().map(|range| Piece { range, tokens: part.tokens }),
        );
    }
    parts
}

/// Where to cut `rest` after about `length` bytes: after the last blank of the second half, else between characters as
/// readers see them. Always past the start.
fn cut_point(text: &str, rest: &Range<usize>, length: usize) -> usize {
    if rest.len() <= length {
        return rest.end;
    }
    let limit = text.floor_char_boundary(rest.start + length);
    let half = text.floor_char_boundary(rest.start + length / 2);
    if let Some(blank) = text.get(half..limit).and_then(|part| part.rfind(char::is_whitespace)) {
        return text.ceil_char_boundary(half + blank + 1);
    }
    let mut cursor = GraphemeCursor::new(limit, text.len(), true);
    let whole = if cursor.is_boundary(text, 0).unwrap_or(true) {
        Some(limit)
    } else {
        cursor.prev_boundary(text, 0).ok().flatten()
    };
    match whole.filter(|&cut| cut > rest.start) {
        Some(cut) => cut,
        None => {
            let mut cursor = GraphemeCursor::new(rest.start, text.len(), true);
            cursor.next_boundary(text, 0).ok().flatten().unwrap_or(rest.end).min(rest.end)
        }
    }
}
