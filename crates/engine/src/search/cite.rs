//! Says where in a passage the words of the query are, and where on its pages all of that stands.

use std::collections::HashSet;

use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    layout::{Placed, Region},
    seams::index::{Chunk, LaidOut},
};

/// A place on the chunk's page, in code points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Highlight {
    /// Where it starts.
    pub start: u32,
    /// Where it ends, exclusive.
    pub end: u32,
    /// Where that is on the page, where the page has a look of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
}

/// Letters that two forms of a word share at least; shorter words must be equal.
const STEM: usize = 4;
/// Letters by which two forms of a word differ at their ends at most: "connect" and "connections".
const ENDING: usize = 4;

/// Words of a query that are marked at most: each is compared with every word of every passage.
const MOST_WORDS: usize = 64;

/// The words of the query in the passage, in order. Words of up to three letters are left out where longer ones are
/// there: they are articles and prepositions, except where they hold a digit or are written in capitals.
pub(super) fn highlights(query: &str, chunk: &Chunk) -> Vec<Highlight> {
    let wanted = wanted(query);
    let mut found: Vec<Highlight> = Vec::new();
    let (mut seen_bytes, mut seen_points) = (0, 0);
    for (at, word) in chunk.text.unicode_word_indices() {
        let lower = word.to_lowercase();
        if !wanted.iter().any(|wanted| like(wanted, &lower)) {
            continue;
        }
        seen_points += chunk.text[seen_bytes..at].chars().count() as u32;
        seen_bytes = at;
        let start = chunk.start + seen_points;
        let end = start + word.chars().count() as u32;
        match found.last_mut() {
            // Scripts without spaces: characters that follow each other are one place.
            Some(last) if last.end == start => last.end = end,
            _ => found.push(Highlight { start, end, regions: Vec::new() }),
        }
    }
    found
}

/// The pages that a passage stands on. No passage fills more than a few; those of empty pages between two do not count.
pub(super) fn pages(chunk: &Chunk) -> impl Iterator<Item = u32> + use<> {
    const MOST: u32 = 8;
    chunk.page..=chunk.page_end.min(chunk.page.saturating_add(MOST))
}

/// Where a passage stands on its pages; its highlights learn the same. A page that was replaced meanwhile has no regions.
pub(super) fn place<'a>(
    chunk: &Chunk,
    highlights: &mut [Highlight],
    page: impl Fn(u32) -> Option<&'a LaidOut>,
) -> Vec<Region> {
    let mut regions = Vec::new();
    for number in pages(chunk) {
        let Some(LaidOut { text, layout }) = page(number) else { continue };
        let first = number == chunk.page;
        let start = if first { chunk.start } else { 0 };
        let end = if number == chunk.page_end { chunk.end } else { u32::MAX };
        if first && !begins_at(text, start, &chunk.text) {
            return Vec::new();
        }
        let placed = Placed::new(number, text, layout);
        regions.extend(placed.regions(start..end));
        for highlight in highlights.iter_mut().filter(|_| first) {
            highlight.regions = placed.regions(highlight.start..highlight.end);
        }
    }
    regions
}

/// Whether a passage, or what of it is on its first page, starts at this code point of the page's text.
fn begins_at(page: &str, start: u32, passage: &str) -> bool {
    let rest = page.char_indices().nth(start as usize).map_or("", |(at, _)| &page[at..]);
    let shared = rest.bytes().zip(passage.bytes()).take_while(|(page, passage)| page == passage).count();
    shared > 0 && (shared == rest.len() || shared == passage.len())
}

fn wanted(query: &str) -> Vec<String> {
    let telling = |word: &&str| {
        let short = word.chars().count() <= 3 && word.is_ascii();
        !short
            || word.bytes().any(|byte| byte.is_ascii_digit())
            || word.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let words: Vec<&str> = query.unicode_words().collect();
    let told: Vec<&str> = words.iter().copied().filter(telling).collect();
    let chosen = if told.is_empty() { words } else { told };
    let mut seen = HashSet::new();
    let distinct = chosen.into_iter().map(str::to_lowercase).filter(|word| seen.insert(word.clone()));
    distinct.take(MOST_WORDS).collect()
}

/// Whether two words are forms of one.
fn like(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longest = a.chars().count().max(b.chars().count());
    let code = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    shared >= STEM && longest - shared <= ENDING && shared * 2 > longest && !code(a) && !code(b)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_query_of_many_words_marks_the_first_of_them_once_each() {
        let query: String = (0..2000).map(|n| format!("w{} ", n % 100)).collect();
        let words = super::wanted(&query);
        assert_eq!((words.len(), words[0].as_str(), words[63].as_str()), (super::MOST_WORDS, "w0", "w63"));
    }

    use super::*;
    use crate::layout::{Layout, Spot};

    #[test]
    fn a_passage_stands_where_its_pages_say_so_and_nowhere_once_they_changed() {
        let chunk = |text: &str, start, page_end, end| Chunk {
            text: text.into(),
            page: 1,
            page_end,
            start,
            end,
            section: [].into(),
            lead: "".into(),
            language: None,
        };
        let laid_out = |text: &str| {
            let edges = [0.1, 0.1, 0.2, 0.2];
            let start = text.len() - text.split(' ').next_back().unwrap().len();
            let spot = Spot { start, end: text.len(), edges };
            LaidOut { text: text.into(), layout: Layout::pack(text, &[spot]).unwrap() }
        };
        let pages = [laid_out("for two years"), laid_out("and three")];
        let page = |number: u32| pages.get(number as usize - 1);
        let whole = chunk("two years\nand three", 4, 2, 9);
        let mut marks = [Highlight { start: 8, end: 13, regions: Vec::new() }];
        let regions = place(&whole, &mut marks, page);
        assert_eq!(regions.iter().map(|region| region.page).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(marks[0].regions, regions[..1]);
        assert!(place(&chunk("two weeks", 4, 1, 13), &mut [], page).is_empty());
        assert!(place(&chunk("beyond", 400, 1, 406), &mut [], page).is_empty());
    }

    fn marked(query: &str, text: &str) -> Vec<String> {
        let chunk = Chunk {
            text: text.into(),
            page: 1,
            page_end: 1,
            start: 100,
            end: 100 + text.chars().count() as u32,
            section: [].into(),
            lead: "".into(),
            language: None,
        };
        let part = |place: &Highlight| {
            text.chars().skip(place.start as usize - 100).take((place.end - place.start) as usize).collect()
        };
        highlights(query, &chunk).iter().map(part).collect()
    }

    #[test]
    fn forms_of_the_query_s_words_are_marked() {
        assert_eq!(
            marked("connecting the E4021 cable", "Ünïcode: the connection of cables, E4021 not E4022"),
            ["connection", "cables", "E4021"]
        );
        assert_eq!(marked("the US statute", "the US statutes"), ["US", "statutes"]);
        assert_eq!(marked("it is", "what it was"), ["it"]);
        assert_eq!(marked("博物院", "故宫博物院很大"), ["博物院"]);
        assert!(marked("", "text").is_empty());
    }
}
