//! Deterministic stand-ins for tests: no weights, no threads, yet related texts are near.

use async_trait::async_trait;
use engine::Fault;
use engine::seams::embedder::{Embedder, Embedding, Role};
use engine::seams::reranker::Reranker;

use crate::runtime::normalise_vector;

/// Enough that a few dozen words rarely share a place.
const DIMENSIONS: usize = 256;

/// Embeds a text as its bag of words: each word adds a fixed pattern chosen by its hash.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeEmbedder;

/// Scores a passage by the share of the query's words it has.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeReranker;

/// Words in lower case, cut at everything but letters and digits, a plural's s taken off.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| {
        let word = word.to_lowercase();
        match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 => stem.to_owned(),
            _ => word,
        }
    })
}

/// FNV-1a: the same on every machine and in every version, unlike the standard library's hash.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Adds a word's pattern: three places, so that one collision does not make two words the same.
fn add(vector: &mut [f32], word: &str) {
    let mut hash = hash(word);
    for _ in 0..3 {
        let sign = if hash & 1 == 0 { 1.0 } else { -1.0 };
        vector[(hash >> 8) as usize % DIMENSIONS] += sign;
        hash = hash.rotate_left(21).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn id(&self) -> &str {
        "fake@1"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn max_tokens(&self) -> usize {
        510
    }

    fn count_tokens(&self, text: &str) -> usize {
        words(text).count()
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        _role: Role,
        with_tokens: bool,
    ) -> Result<Vec<Embedding>, Fault> {
        let embed = |text: &String| {
            let (mut vector, mut tokens, mut token_ids) = (vec![0.0; DIMENSIONS], Vec::new(), Vec::new());
            for word in words(text) {
                add(&mut vector, &word);
                if with_tokens {
                    let start = tokens.len();
                    tokens.resize(start + DIMENSIONS, 0.0);
                    add(&mut tokens[start..], &word);
                    normalise_vector(&mut tokens[start..]);
                    token_ids.push(hash(&word) as u32);
                }
            }
            if vector.iter().all(|value| *value == 0.0) {
                vector[0] = 1.0;
            }
            normalise_vector(&mut vector);
            Embedding { vector, tokens, token_ids }
        };
        Ok(texts.iter().map(embed).collect())
    }
}

#[async_trait]
impl Reranker for FakeReranker {
    fn id(&self) -> &str {
        "fake@1"
    }

    async fn score(&self, query: &str, passages: Vec<String>) -> Result<Vec<f32>, Fault> {
        let wanted: Vec<String> = words(query).collect();
        let score = |passage: &String| {
            let there: Vec<String> = words(passage).collect();
            let found = wanted.iter().filter(|word| there.contains(word)).count();
            found as f32 / wanted.len().max(1) as f32
        };
        Ok(passages.iter().map(score).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn related_texts_are_nearer_and_vectors_have_length_one() {
        let texts =
            ["How long is the notice period?", "The notice period is three months.", "Cats sleep.", ""];
        let texts = texts.map(String::from).to_vec();
        let found = FakeEmbedder.embed(texts.clone(), Role::Passage, true).await.unwrap();
        let dot = |a: usize, b: usize| {
            found[a].vector.iter().zip(&found[b].vector).map(|(a, b)| a * b).sum::<f32>()
        };
        assert!(dot(0, 1) > dot(0, 2) + 0.2);
        assert!((0..4).all(|text| (dot(text, text) - 1.0).abs() < 1e-5));
        assert_eq!(found[2].tokens.len(), 2 * DIMENSIONS);
        assert_eq!(found, FakeEmbedder.embed(texts, Role::Query, true).await.unwrap());
    }

    #[tokio::test]
    async fn passages_with_the_querys_words_score_higher() {
        let passages = vec!["A notice period.".to_owned(), "Cats.".to_owned()];
        assert_eq!(FakeReranker.score("notice periods", passages).await.unwrap(), [1.0, 0.0]);
    }
}
