//! The text index of a small box, in memory: its terms and how often each chunk has them.

use std::collections::{BTreeSet, HashMap};

use engine::seams::index::Correction;
use rusqlite::{Connection, Result};

use super::{
    super::truth, Matches, analyzer::Analyzer, bm25::Field, counts::count, languages::Languages,
    question::Group, spelling::Speller, terms::HEADING_WEIGHT,
};

/// All terms of a box.
pub(super) struct Small {
    languages: Languages,
    chunks: Vec<Entry>,
    postings: HashMap<String, Vec<Posting>>,
    /// In how many files each word is.
    words: HashMap<String, u64>,
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
        let languages = Languages::of(truth::languages(connection)?);
        let mut small = Small {
            languages,
            chunks: Vec::new(),
            postings: HashMap::new(),
            words: HashMap::new(),
            terms: (0, 0),
        };
        let mut words_of: HashMap<i64, BTreeSet<String>> = HashMap::new();
        truth::each_passage(connection, None, |passage| {
            let analyzer = Analyzer::new(passage.language.as_deref());
            let above = passage.section.iter().map(String::as_str).chain([passage.title.as_str()]);
            let words = words_of.entry(passage.file).or_default();
            let counts = count(&analyzer, [&passage.text, &passage.lead], above, words);
            let chunk = small.chunks.len() as u32;
            for (term, counts) in counts.terms {
                small.postings.entry(term).or_default().push(Posting { chunk, counts });
            }
            let terms = (counts.body, counts.head);
            small.terms = (small.terms.0 + u64::from(terms.0), small.terms.1 + u64::from(terms.1));
            small.chunks.push(Entry { number: passage.chunk, file: passage.file, terms });
        })?;
        for word in words_of.into_values().flatten() {
            *small.words.entry(word).or_default() += 1;
        }
        Ok(small)
    }

    /// The chunks that share words with `query`; only those of `files` where they are given.
    pub(super) fn search(&self, query: &str, files: Option<&[i64]>, limit: usize) -> Matches {
        let mut question = self.languages.read(query);
        let unknown = question.unknown(|term| self.postings.contains_key(term));
        let corrections = if unknown.is_empty() { Vec::new() } else { self.meant(unknown) };
        question.correct(&corrections);
        let mut scores = vec![0.0; self.chunks.len()];
        question.groups().iter().for_each(|group| self.score(group, &mut scores));
        let wanted = |entry: &Entry| files.is_none_or(|files| files.contains(&entry.file));
        let found = self.chunks.iter().zip(scores).filter(|(entry, score)| *score > 0.0 && wanted(entry));
        let mut found: Vec<(i64, f32)> = found.map(|(entry, score)| (entry.number, score)).collect();
        found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(limit);
        (found, corrections)
    }

    fn meant(&self, unknown: BTreeSet<String>) -> Vec<Correction> {
        let mut speller = Speller::new(unknown);
        self.words.iter().for_each(|(word, files)| speller.offer(word, *files));
        speller.corrections()
    }

    /// Adds what a group's postings count to their chunks.
    fn score(&self, group: &Group, scores: &mut [f32]) {
        let postings = || group.terms.iter().filter_map(|term| self.postings.get(term)).flatten();
        let field = |of: fn(&Posting) -> u32, terms: u64| {
            let found = postings().filter(|posting| of(posting) > 0).count();
            Field::new(found, self.chunks.len() as f32, terms as f32)
        };
        let body = field(|posting| posting.counts.0, self.terms.0);
        let head = field(|posting| posting.counts.1, self.terms.1);
        for Posting { chunk, counts } in postings() {
            let terms = self.chunks[*chunk as usize].terms;
            let gained = body.worth(counts.0, terms.0) + HEADING_WEIGHT * head.worth(counts.1, terms.1);
            scores[*chunk as usize] += group.weight * gained;
        }
    }
}
