//! Texts to token ids: `WordPiece` for BERT's vocabularies, unigram for those of many languages.
//!
//! Neither asks for special tokens of its own, and what `tokenizer.json` says of truncation and padding is ignored: long
//! texts are up to the chunker.

mod trie;
mod unigram;
mod wordpiece;

use std::path::Path;

use crate::runtime::Sequence;
use crate::weights::WeightsError;
use unigram::Unigram;
use wordpiece::WordPiece;

/// Turns texts into token ids.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    /// What goes before and after every text.
    first: u32,
    separator: u32,
}

enum Vocabulary {
    WordPiece(Box<WordPiece>),
    Unigram(Box<Unigram>),
}

impl Tokenizer {
    /// Reads a `tokenizer.json` with a `WordPiece` model, or a `.unigram` file.
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let bytes = std::fs::read(path).map_err(|error| WeightsError::file(path, error))?;
        match path.extension().is_some_and(|extension| extension == "unigram") {
            true => Tokenizer::parse_unigram(&bytes),
            false => Tokenizer::parse(&bytes),
        }
    }

    /// As [`Tokenizer::open`], from the bytes of a `tokenizer.json`.
    pub fn parse(bytes: &[u8]) -> Result<Self, WeightsError> {
        let pieces = WordPiece::parse(bytes)?;
        let (first, separator) = (pieces.first, pieces.separator);
        Ok(Tokenizer { vocabulary: Vocabulary::WordPiece(Box::new(pieces)), first, separator })
    }

    /// As [`Tokenizer::open`], from the bytes of a `.unigram` file.
    pub fn parse_unigram(bytes: &[u8]) -> Result<Self, WeightsError> {
        let pieces = Unigram::parse(bytes)?;
        let (first, separator) = (pieces.first, pieces.separator);
        Ok(Tokenizer { vocabulary: Vocabulary::Unigram(Box::new(pieces)), first, separator })
    }

    /// The ids of a text without special tokens.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        // English has about four and a half bytes per token.
        let mut ids = Vec::with_capacity(text.len() / 4 + 2);
        self.walk(text, &mut |id| ids.push(id));
        ids
    }

    /// How many tokens a text has, without special ones.
    pub fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.walk(text, &mut |_| count += 1);
        count
    }

    /// One text between the first and the separating token.
    pub(crate) fn single(&self, ids: &[u32]) -> Sequence {
        let ids = [&[self.first], ids, &[self.separator]].concat();
        Sequence { second_from: ids.len(), ids }
    }

    /// A query and a passage as a cross-encoder reads them.
    pub(crate) fn pair(&self, query: &[u32], passage: &[u32]) -> Sequence {
        let ids = [&[self.first], query, &[self.separator], passage, &[self.separator]].concat();
        Sequence { ids, second_from: query.len() + 2 }
    }

    /// The largest id, so that a model with fewer embeddings can be refused.
    pub(crate) fn largest_id(&self) -> u32 {
        match &self.vocabulary {
            Vocabulary::WordPiece(pieces) => pieces.largest_id(),
            Vocabulary::Unigram(pieces) => pieces.largest_id(),
        }
    }

    fn walk(&self, text: &str, each: &mut impl FnMut(u32)) {
        match &self.vocabulary {
            Vocabulary::WordPiece(pieces) => pieces.walk(text, each),
            Vocabulary::Unigram(pieces) => pieces.walk(text, each),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    pub(crate) use super::unigram::tests::small_unigram;
    pub(crate) use super::wordpiece::tests::small_file;

    /// The digest of so many texts' ids.
    pub(super) fn digest(ours: &Tokenizer, texts: &[String]) -> String {
        let mut hashed = Sha256::new();
        for text in texts {
            let ids = ours.encode(text);
            assert_eq!(ours.count(text), ids.len(), "{text:?}");
            ids.iter().for_each(|id| hashed.update(id.to_le_bytes()));
        }
        hashed.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Texts of several fragments each, by a generator that is easy to write again: `bench/models/` has it too.
    pub(super) fn mixtures(fragments: &[String], count: usize) -> Vec<String> {
        let mut state = 11_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut one = || {
            let fragments = (0..draw(12)).map(|_| fragments[draw(fragments.len())].as_str());
            fragments.collect::<String>()
        };
        (0..count).map(|_| one()).collect()
    }

    #[test]
    fn pairs_know_where_the_passage_starts() {
        let ours = Tokenizer::parse(&small_file()).unwrap();
        let (query, passage) = (ours.encode("the"), ours.encode("walking"));
        let pair = ours.pair(&query, &passage);
        assert_eq!(pair, Sequence { ids: vec![2, 5, 3, 9, 10, 3], second_from: 3 });
        assert_eq!(ours.single(&query), Sequence { ids: vec![2, 5, 3], second_from: 3 });
    }
}
