//! Says where in a passage the words of the query are.

use std::collections::HashSet;

use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use crate::seams::index::Chunk;

/// A place on the chunk's page, in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Highlight {
    /// Where it starts.
    pub start: u32,
    /// Where it ends, exclusive.
    pub end: u32,
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
            _ => found.push(Highlight { start, end }),
        }
    }
    found
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
