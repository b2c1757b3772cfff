//! The terms of chunks and queries, counted: what an index needs that scores by itself.

use std::collections::{BTreeSet, HashMap};

use engine::seams::index::Chunk;

use super::{analyzer::Analyzer, terms::QUERY_LANGUAGES};

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

/// Counts the terms of a chunk in a document of this title.
pub(in crate::index) fn count_terms(chunk: &Chunk, title: &str) -> Counts {
    let analyzer = Analyzer::new(chunk.language.as_deref());
    let above = chunk.section.iter().map(String::as_str).chain([title]);
    count(&analyzer, [&*chunk.text, &*chunk.lead], above)
}

/// Counts the terms of a text and of what is above it.
pub(super) fn count<'a>(
    analyzer: &Analyzer,
    body: [&str; 2],
    above: impl Iterator<Item = &'a str>,
) -> Counts {
    let mut counts = Counts::default();
    for text in body {
        analyzer.terms(text, |term| {
            counts.terms.entry(term.to_string()).or_default().0 += 1;
            counts.body += 1;
        });
    }
    for text in above {
        analyzer.terms(text, |term| {
            counts.terms.entry(term.to_string()).or_default().1 += 1;
            counts.head += 1;
        });
    }
    counts
}

/// The terms of a query in a box of these languages, most frequent first; an empty one is unknown.
pub(in crate::index) fn query_terms(query: &str, languages: &[String]) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for language in languages.iter().take(QUERY_LANGUAGES) {
        let language = Some(language.as_str()).filter(|language| !language.is_empty());
        Analyzer::new(language).terms(query, |term| {
            terms.insert(term.to_string());
        });
    }
    terms
}
