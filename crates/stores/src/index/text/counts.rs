//! The terms of chunks, counted: what an index needs that scores by itself.

use std::collections::{BTreeSet, HashMap};

use engine::seams::index::Chunk;

use super::{
    analyzer::{Analyzer, Token},
    spelling,
};

/// The terms of one chunk.
#[derive(Debug, Default)]
pub(in crate::index) struct Counts {
    /// How often each term occurs in the text, and in what is above it.
    pub(in crate::index) terms: HashMap<String, (u32, u32)>,
    /// Terms in the text.
    pub(in crate::index) body: u32,
    /// Terms in what is above it.
    pub(in crate::index) head: u32,
}

/// Counts the terms of a chunk in a document of this title; `words` gets those that misspelt ones may be taken for.
pub(in crate::index) fn count_terms(chunk: &Chunk, title: &str, words: &mut BTreeSet<String>) -> Counts {
    let analyzer = Analyzer::new(chunk.language.as_deref());
    let above = chunk.section.iter().map(String::as_str).chain([title]);
    count(&analyzer, [&*chunk.text, &*chunk.lead], above, words)
}

/// Counts the terms of a text and of what is above it.
pub(super) fn count<'a>(
    analyzer: &Analyzer,
    body: [&str; 2],
    above: impl Iterator<Item = &'a str>,
    words: &mut BTreeSet<String>,
) -> Counts {
    let mut counts = Counts::default();
    for text in body {
        analyzer.terms(text, |token| {
            counts.terms.entry(token.term.to_string()).or_default().0 += 1;
            counts.body += 1;
            keep(token, words);
        });
    }
    for text in above {
        analyzer.terms(text, |token| {
            counts.terms.entry(token.term.to_string()).or_default().1 += 1;
            counts.head += 1;
            keep(token, words);
        });
    }
    counts
}

/// Notes the word of a token, where misspelt ones may be taken for it.
pub(super) fn keep(token: Token<'_>, words: &mut BTreeSet<String>) {
    if !words.contains(token.word) && spelling::is_kept(token.word) {
        words.insert(token.word.to_string());
    }
}
