//! Vectors made beforehand, by text; stands in for a model.

use std::{collections::HashMap, fs, path::Path};

use async_trait::async_trait;
use engine::{
    Fault,
    seams::embedder::{Embedder, Embedding, Role},
};

const DIMENSIONS: usize = 384;

/// Answers with vectors read from files that bench/index/embed.py wrote.
#[derive(Default)]
pub(crate) struct Prepared {
    by_text: HashMap<String, Raw>,
}

struct Raw {
    vector: Vec<f32>,
    ids: Vec<u32>,
    tokens: Vec<u16>,
}

impl Prepared {
    pub(crate) fn read(folder: &Path, name: &str) -> Self {
        let mut prepared = Prepared::default();
        for kind in ["passages", "queries"] {
            let texts = fs::read_to_string(folder.join(format!("{name}.{kind}.jsonl"))).expect("texts");
            let bytes = fs::read(folder.join(format!("{name}.{kind}.bin"))).expect("vectors");
            let mut rest = &bytes[..];
            for line in texts.lines() {
                let text: String = serde_json::from_str(line).expect("a JSON string");
                let count = u32::from_le_bytes(take(&mut rest, 4).try_into().expect("four bytes")) as usize;
                let vector = words(take(&mut rest, 4 * DIMENSIONS)).map(f32::from_bits).collect();
                let ids = words(take(&mut rest, 4 * count)).collect();
                let tokens = take(&mut rest, 2 * count * DIMENSIONS);
                let tokens =
                    tokens.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
                prepared.by_text.insert(text, Raw { vector, ids, tokens });
            }
        }
        prepared
    }

    pub(crate) fn of(&self, text: &str) -> Embedding {
        let raw = self.by_text.get(text).unwrap_or_else(|| panic!("no vector for {text:?}"));
        let tokens = raw.tokens.iter().map(|bits| half::f16::from_bits(*bits).to_f32()).collect();
        Embedding { vector: raw.vector.clone(), tokens, token_ids: raw.ids.clone() }
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

#[async_trait]
impl Embedder for Prepared {
    fn id(&self) -> &str {
        "prepared"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn max_tokens(&self) -> usize {
        256
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        _role: Role,
        _with_tokens: bool,
    ) -> Result<Vec<Embedding>, Fault> {
        Ok(texts.iter().map(|text| self.of(text)).collect())
    }
}
