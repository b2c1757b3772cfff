//! The text index of a small box, in memory: its terms and how often each chunk has them.

use std::collections::HashMap;

use rusqlite::{Connection, Result};

use super::{
    super::truth,
    bm25::Field,
    counts::count,
    terms::{HEADING_WEIGHT, Languages},
};

/// All terms of a box.
pub(super) struct Small {
    languages: Languages,
    chunks: Vec<Entry>,
    postings: HashMap<String, Vec<Posting>>,
    /// Terms of all chunks, in their text and above it.
    terms: (u64, u64),
}

struct Entry {
    number: i64,
    file: i64,
    /// Terms in its text and above it.
    terms: (u32, u32),
}

struct Posting {
    /// Its place among the chunks.
    chunk: u32,
    /// How often the term is in its text and above it.
    counts: (u32, u32),
}

impl Small {
    /// Reads a box.
    pub(super) fn of(connection: &Connection) -> Result<Self> {
        let languages = Languages::of(connection)?;
        let mut small = Small { languages, chunks: Vec::new(), postings: HashMap::new(), terms: (0, 0) };
        truth::each_passage(connection, None, |passage| {
            let Some(analyzer) = small.languages.analyzer(&passage.language) else { return };
            let above = passage.section.iter().map(String::as_str).chain([passage.title.as_str()]);
            let counts = count(analyzer, [&passage.text, &passage.lead], above);
            let chunk = small.chunks.len() as u32;
            for (term, counts) in counts.terms {
                small.postings.entry(term).or_default().push(Posting { chunk, counts });
            }
            let terms = (counts.body, counts.head);
            small.terms = (small.terms.0 + u64::from(terms.0), small.terms.1 + u64::from(terms.1));
            small.chunks.push(Entry { number: passage.chunk, file: passage.file, terms });
        })?;
        Ok(small)
    }

    /// The numbers of the chunks that share words with `query`, best first, with their scores; only those of `files`
    /// where they are given.
    pub(super) fn search(&self, query: &str, files: Option<&[i64]>, limit: usize) -> Vec<(i64, f32)> {
        let mut scores = vec![0.0; self.chunks.len()];
        for postings in self.languages.terms(query).iter().filter_map(|term| self.postings.get(term)) {
            let field = |of: fn(&Posting) -> u32, terms: u64| {
                let found = postings.iter().filter(|posting| of(posting) > 0).count();
                Field::new(found, self.chunks.len() as f32, terms as f32)
            };
            let body = field(|posting| posting.counts.0, self.terms.0);
            let head = field(|posting| posting.counts.1, self.terms.1);
            for Posting { chunk, counts } in postings {
                let terms = self.chunks[*chunk as usize].terms;
                scores[*chunk as usize] +=
                    body.worth(counts.0, terms.0) + HEADING_WEIGHT * head.worth(counts.1, terms.1);
            }
        }
        let wanted = |entry: &Entry| files.is_none_or(|files| files.contains(&entry.file));
        let found = self.chunks.iter().zip(scores).filter(|(entry, score)| *score > 0.0 && wanted(entry));
        let mut found: Vec<(i64, f32)> = found.map(|(entry, score)| (entry.number, score)).collect();
        found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(limit);
        found
    }
}
