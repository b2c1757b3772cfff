//! Embeds texts in process.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use engine::seams::embedder::{Embedder, Embedding, Role};
use engine::seams::weighing::Weighing;
use engine::turnstile::served;
use engine::{Fault, blocking};

use crate::batcher::{Batcher, Model, Work};
use crate::runtime::{self, Network, Scratch, normalise_vector};
use crate::tokens::Tokenizer;
use crate::weights::{Checkpoint, Folder, Pooling, Settings, WeightsError};

/// Texts of up to this many bytes are tokenized where they arrive, which takes well below a millisecond.
const TOKENIZE_HERE: usize = 16 * 1024;

/// How a model is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads for one batch.
    pub threads: usize,
    /// Which kernels; the fastest that this processor has otherwise.
    pub path: Option<runtime::Path>,
    /// How many tokens of passages, and of queries, may wait.
    pub queue_tokens: usize,
    /// Whether a pinned model's hashes are checked before it is loaded.
    pub verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // Some ten seconds of work for two cores with AMX, a few thousand questions.
        Options { threads, path: None, queue_tokens: 512 * 1024, verify: true }
    }
}

/// An embedding model in this process.
///
/// A text with more tokens than the model takes is not cut: it is embedded in windows whose vectors are averaged by
/// their tokens, each with the words that the model wants before a text. Token vectors are the last hidden states, of
/// unit length; neither special tokens nor those words have any.
pub struct LocalEmbedder {
    id: String,
    tokenizer: Arc<Tokenizer>,
    /// What goes before a query and before a passage, as tokens.
    prefixes: [Arc<[u32]>; 2],
    weighing: Weighing,
    dimensions: usize,
    max_tokens: usize,
    path: runtime::Path,
    batcher: Batcher<Encoder>,
}

/// The network with what makes vectors of its output, as the batcher drives it.
struct Encoder {
    network: Network,
    pooling: Pooling,
    centres: Option<Centres>,
}

/// What all of a model's vectors have in common, and what is taken from each: the rest tells texts apart, fills the range
/// of cosines, and keeps its signs where vectors are packed to one bit.
struct Centres {
    vector: Vec<f32>,
    tokens: Vec<f32>,
}

impl Centres {
    /// As the checkpoint has them, if it has.
    fn load(checkpoint: &Checkpoint, width: usize) -> Result<Option<Self>, WeightsError> {
        if !checkpoint.has("centre.vector") {
            return Ok(None);
        }
        let vector = |name: &str| checkpoint.vector(name, width);
        Ok(Some(Centres { vector: vector("centre.vector")?, tokens: vector("centre.tokens")? }))
    }
}

/// Takes `centre` from a unit vector and makes the rest one again.
fn take_from(vector: &mut [f32], centre: &[f32]) {
    vector.iter_mut().zip(centre).for_each(|(value, centre)| *value -= centre);
    normalise_vector(vector);
}

impl LocalEmbedder {
    /// Loads the model in `folder`; see [`Folder`] for what must be there.
    pub fn load(folder: &Path, options: &Options) -> Result<Self, WeightsError> {
        let folder = Folder::open(folder)?;
        let loaded = Loaded::open(&folder, options)?;
        let encoder = Encoder {
            pooling: folder.pooling(),
            centres: Centres::load(&loaded.checkpoint, folder.shape.width)?,
            network: loaded.network,
        };
        let Settings { query_prefix, passage_prefix, weighing, .. } = &folder.settings;
        let prefixes = [query_prefix, passage_prefix].map(|prefix| loaded.tokenizer.encode(prefix).into());
        let longest = prefixes.iter().map(|prefix: &Arc<[u32]>| prefix.len()).max().unwrap_or(0);
        // Without the two special tokens, and what goes before.
        let max_tokens = folder.max_tokens().checked_sub(2 + longest).filter(|tokens| *tokens > 0);
        Ok(LocalEmbedder {
            id: folder.id.clone(),
            tokenizer: Arc::new(loaded.tokenizer),
            prefixes,
            weighing: weighing.clone().unwrap_or(Weighing::USUAL),
            dimensions: folder.shape.width,
            max_tokens: max_tokens.ok_or_else(|| {
                WeightsError::Unsupported("what goes before a text leaves no room for it".into())
            })?,
            path: encoder.network.path(),
            batcher: Batcher::start("embedder", encoder, options.threads, options.queue_tokens)
                .map_err(|error| WeightsError::file(Path::new("embedder thread"), error))?,
        })
    }

    /// The kernels in use.
    pub fn path(&self) -> runtime::Path {
        self.path
    }

    /// The work for each text's windows, and how many windows each text has.
    async fn prepare(
        &self,
        texts: Vec<String>,
        role: Role,
        with_tokens: bool,
    ) -> Result<(Vec<Work>, Vec<usize>), Fault> {
        let tokenizer = self.tokenizer.clone();
        let (max_tokens, prefix) = (self.max_tokens, self.prefixes[role as usize].clone());
        let bytes: usize = texts.iter().map(String::len).sum();
        let prepare = move || {
            let mut work = Vec::with_capacity(texts.len());
            let mut windows = Vec::with_capacity(texts.len());
            let tokens_from = with_tokens.then_some(1 + prefix.len());
            for text in texts {
                let ids = tokenizer.encode(&text);
                let before = work.len();
                let window = |ids: &[u32]| {
                    let sequence = tokenizer.single(&[&prefix, ids].concat());
                    Work { sequence, tokens_from }
                };
                match ids.is_empty() {
                    true => work.push(window(&[])),
                    false => work.extend(ids.chunks(max_tokens).map(window)),
                }
                windows.push(work.len() - before);
            }
            (work, windows)
        };
        if bytes <= TOKENIZE_HERE {
            return Ok(prepare());
        }
        // Somebody waits for an account's texts; those of files are nobody's.
        match served() {
            Some(_) => blocking::run(move |_| prepare()).await,
            None => blocking::compute(prepare).await,
        }
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }

    fn weighing(&self) -> &Weighing {
        &self.weighing
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        role: Role,
        with_tokens: bool,
    ) -> Result<Vec<Embedding>, Fault> {
        let (work, windows) = self.prepare(texts, role, with_tokens).await?;
        let lengths: Vec<usize> = work.iter().map(|work| work.sequence.ids.len()).collect();
        let answers = self.batcher.run(work, role).await?;
        let mut parts = lengths.into_iter().zip(answers);
        Ok(windows.into_iter().map(|count| join(parts.by_ref().take(count))).collect())
    }
}

/// One text's embedding from those of its windows.
fn join(mut parts: impl Iterator<Item = (usize, Embedding)>) -> Embedding {
    let (length, mut whole) = parts.next().expect("a text has at least one window");
    let mut more = false;
    for (next_length, next) in parts {
        if !more {
            whole.vector.iter_mut().for_each(|value| *value *= length as f32);
        }
        more = true;
        for (sum, value) in whole.vector.iter_mut().zip(&next.vector) {
            *sum += value * next_length as f32;
        }
        whole.tokens.extend(next.tokens);
        whole.token_ids.extend(next.token_ids);
    }
    if more {
        normalise_vector(&mut whole.vector);
    }
    whole
}

impl Model for Encoder {
    type Output = Embedding;
    type Scratch = Scratch;

    fn run(&self, group: &[&Work], scratch: &mut Scratch) -> Vec<Embedding> {
        let width = self.network.shape().width;
        run_group(&self.network, group, scratch, |work, hidden| {
            let mut vector = self.pooling.pool(hidden, width);
            if let Some(centres) = &self.centres {
                take_from(&mut vector, &centres.vector);
            }
            let (mut tokens, mut token_ids) = (Vec::new(), Vec::new());
            if let Some(first) = work.tokens_from {
                let inner = first..work.sequence.ids.len() - 1;
                token_ids.extend_from_slice(&work.sequence.ids[inner.clone()]);
                tokens.extend_from_slice(&hidden[inner.start * width..inner.end * width]);
                for token in tokens.chunks_exact_mut(width) {
                    normalise_vector(token);
                    if let Some(centres) = &self.centres {
                        take_from(token, &centres.tokens);
                    }
                }
            }
            Embedding { vector, tokens, token_ids }
        })
    }
}

/// Runs a group and calls `finish` with each sequence's hidden states.
pub(crate) fn run_group<O>(
    network: &Network,
    group: &[&Work],
    scratch: &mut Scratch,
    finish: impl Fn(&Work, &[f32]) -> O,
) -> Vec<O> {
    let sequences: Vec<_> = group.iter().map(|work| &work.sequence).collect();
    let (mut hidden, width) = (network.encode(&sequences, scratch), network.shape().width);
    let one = |work: &&Work| {
        let (mine, rest) = hidden.split_at(work.sequence.ids.len() * width);
        hidden = rest;
        finish(work, mine)
    };
    group.iter().map(one).collect()
}

/// What embedder and reranker load alike.
pub(crate) struct Loaded {
    pub(crate) network: Network,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) checkpoint: Checkpoint,
}

impl Loaded {
    /// Checks hashes and packs weights at the same time: each is bound by one core.
    pub(crate) fn open(folder: &Folder, options: &Options) -> Result<Self, WeightsError> {
        std::thread::scope(|scope| {
            let verified = scope.spawn(|| if options.verify { folder.verify().map(drop) } else { Ok(()) });
            let tokenizer = Tokenizer::open(&folder.tokenizer())?;
            let checkpoint = folder.checkpoint()?;
            let network = Network::load(&checkpoint, folder.shape.clone(), options.path)?;
            if tokenizer.largest_id() as usize >= network.vocabulary() {
                return Err(WeightsError::Malformed("the tokenizer has more tokens than the model".into()));
            }
            verified.join().expect("hashing does not panic")?;
            Ok(Loaded { network, tokenizer, checkpoint })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Numbers, model_folder, model_folder_with_tables, multilingual_folder};

    fn options(path: Option<runtime::Path>) -> Options {
        Options { threads: 2, path, ..Options::default() }
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    async fn one(embedder: &LocalEmbedder, text: &str) -> Embedding {
        embedder.embed(vec![text.to_owned()], Role::Passage, true).await.unwrap().remove(0)
    }

    #[tokio::test]
    async fn vectors_do_not_depend_on_the_batch() {
        let folder = model_folder(Numbers::F32);
        let embedder = LocalEmbedder::load(folder.path(), &options(None)).unwrap();
        let texts: Vec<String> = (0..40).map(|count| "the walking unaffable ".repeat(count % 9)).collect();
        let together = embedder.embed(texts.clone(), Role::Passage, false).await.unwrap();
        for (text, found) in texts.iter().zip(&together) {
            assert!(cosine(&found.vector, &one(&embedder, text).await.vector) > 0.9999, "{text}");
            assert!((found.vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
            assert!(found.tokens.is_empty());
        }
    }

    #[tokio::test]
    async fn every_token_but_the_special_ones_has_a_unit_vector() {
        let folder = model_folder(Numbers::F32);
        let embedder = LocalEmbedder::load(folder.path(), &options(None)).unwrap();
        let found = one(&embedder, "the walking").await;
        assert_eq!(found.token_ids.len(), embedder.count_tokens("the walking"));
        assert_eq!(found.tokens.len(), found.token_ids.len() * embedder.dimensions());
        for token in found.tokens.chunks(embedder.dimensions()) {
            assert!((token.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }

    #[tokio::test]
    async fn a_long_text_is_read_to_its_end() {
        let folder = model_folder(Numbers::F32);
        let embedder = LocalEmbedder::load(folder.path(), &options(None)).unwrap();
        let long = "the ".repeat(embedder.max_tokens() + 10);
        let (plain, changed) = (one(&embedder, &long).await, one(&embedder, &format!("{long} walk")).await);
        assert_eq!(plain.token_ids.len(), embedder.max_tokens() + 10);
        assert!(cosine(&plain.vector, &changed.vector) < 0.999_999);
    }

    #[tokio::test]
    async fn smaller_numbers_in_the_file_give_nearly_the_same_vectors() {
        let exact = model_folder(Numbers::F32);
        let exact = LocalEmbedder::load(exact.path(), &options(None)).unwrap();
        let expected = one(&exact, "the unaffable walking").await;
        let all =
            [(Numbers::F16, 0.9999), (Numbers::Bf16, 0.999), (Numbers::I8, 0.99), (Numbers::Nibbles, 0.9)];
        for (numbers, least) in all {
            let folder = model_folder(numbers);
            let embedder = LocalEmbedder::load(folder.path(), &options(None)).unwrap();
            let found = one(&embedder, "the unaffable walking").await;
            assert!(cosine(&found.vector, &expected.vector) > least, "{numbers:?}");
            assert_ne!(embedder.id(), exact.id());
        }
    }

    #[tokio::test]
    async fn tables_may_lie_in_a_file_that_models_share() {
        let (whole_folder, shared) = (model_folder(Numbers::I8), model_folder_with_tables(Numbers::I8));
        let whole = LocalEmbedder::load(whole_folder.path(), &options(None)).unwrap();
        let found = LocalEmbedder::load(shared.path(), &options(None)).unwrap();
        assert_eq!(found.id(), "shared");
        let expected = one(&whole, "the unaffable walking").await.vector;
        assert_eq!(one(&found, "the unaffable walking").await.vector, expected);
        let whole_file = whole_folder.path().join("model.safetensors");
        // Of the weights of another model only the tables are taken.
        std::fs::copy(&whole_file, shared.path().join("tables.safetensors")).unwrap();
        let found = LocalEmbedder::load(shared.path(), &options(None)).unwrap();
        assert_eq!(one(&found, "the unaffable walking").await.vector, expected);
        std::fs::copy(&whole_file, shared.path().join("model.safetensors")).unwrap();
        let twice = LocalEmbedder::load(shared.path(), &options(None));
        assert!(matches!(twice, Err(WeightsError::Malformed(_))));
    }

    #[tokio::test]
    async fn the_embedders_that_ship_give_nearly_the_same_vectors_on_every_path() {
        let texts = [
            "How long is the warranty?",
            "Revenue rose from 4.1 to 4.6 million euros, of which services were 31%; see note 12 for the segments.",
            "fn main() { println!(\"{}\", std::env::args().count()); }",
            "Die Garantie beträgt drei Jahre ab dem Tag der Lieferung.",
        ];
        // What all vectors of the second have in common is taken from them, so that the rest shows every error twice.
        for (name, least) in [("quire-embed-1", 0.995), ("quire-embed-2", 0.99)] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
            let exact = LocalEmbedder::load(&folder, &options(Some(runtime::Path::Portable))).unwrap();
            assert_eq!((exact.id(), exact.dimensions(), exact.max_tokens()), (name, 384, 254));
            for path in runtime::Path::ALL.into_iter().filter(|path| path.available()) {
                let embedder = LocalEmbedder::load(&folder, &options(Some(path))).unwrap();
                for text in texts {
                    let cosine = cosine(&one(&embedder, text).await.vector, &one(&exact, text).await.vector);
                    println!("{name} {path:?} {cosine}");
                    assert!(cosine > least, "{name} on {path:?}: {cosine} for {text}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_model_of_many_languages_runs_alike_on_every_path() {
        let folder = multilingual_folder();
        let plain = LocalEmbedder::load(folder.path(), &options(Some(runtime::Path::Portable))).unwrap();
        assert_eq!((plain.id(), plain.weighing().semantic.weight), ("many", 0.5));
        // Special tokens and `the:` leave this much of 64.
        assert_eq!(plain.max_tokens(), 64 - 2 - 2);
        let texts = ["the unaffable walking", "中文 é", ""];
        for path in runtime::Path::ALL.into_iter().filter(|path| path.available()) {
            let embedder = LocalEmbedder::load(folder.path(), &options(Some(path))).unwrap();
            for text in texts {
                let (expected, found) = (one(&plain, text).await, one(&embedder, text).await);
                assert_eq!(found.token_ids, embedder.tokenizer.encode(text));
                assert_eq!(found.tokens.len(), found.token_ids.len() * embedder.dimensions());
                let pairs = found.tokens.chunks(64).zip(expected.tokens.chunks(64));
                let least = pairs.map(|(a, b)| cosine(a, b)).fold(1.0, f32::min);
                let least = least.min(cosine(&found.vector, &expected.vector));
                assert!(least > tolerance(path), "{path:?}: {least}");
            }
        }
        let asked = plain.embed(vec![texts[0].to_owned()], Role::Query, false).await.unwrap().remove(0);
        assert!(cosine(&asked.vector, &one(&plain, texts[0]).await.vector) < 0.999_9);
    }

    #[tokio::test]
    async fn every_window_of_a_long_text_has_what_goes_before() {
        let folder = multilingual_folder();
        let embedder = LocalEmbedder::load(folder.path(), &options(None)).unwrap();
        let (work, windows) = embedder.prepare(vec!["the ".repeat(130)], Role::Passage, true).await.unwrap();
        assert_eq!(windows, [3]);
        for work in work {
            assert!(work.sequence.ids.len() <= 64 && work.sequence.ids.starts_with(&[0, 5, 40]));
            assert_eq!(work.tokens_from, Some(3));
        }
    }

    /// The least cosine with float32 that a path may have. What all vectors have in common is taken from them, so that
    /// the rest shows every error twice.
    fn tolerance(path: runtime::Path) -> f32 {
        match path {
            runtime::Path::Portable => 0.999,
            // Activations of 7 bits.
            runtime::Path::Avx2 => 0.93,
            _ => 0.98,
        }
    }

    /// Whether every path is near vectors that `bench/models` computed in float32; the file has their first 48 numbers.
    async fn agrees(folder: &Path, reference: &str) {
        let reference: serde_json::Value = serde_json::from_str(reference).unwrap();
        for path in runtime::Path::ALL.into_iter().filter(|path| path.available()) {
            let embedder = LocalEmbedder::load(folder, &options(Some(path))).unwrap();
            let mut lowest = 1.0f32;
            for entry in reference["texts"].as_array().unwrap() {
                let expected: Vec<f32> = serde_json::from_value(entry["vector"].clone()).unwrap();
                let found = one(&embedder, entry["text"].as_str().unwrap()).await.vector;
                let cosine = cosine(&found[..expected.len()], &expected);
                assert!(cosine > tolerance(path), "{path:?}: {cosine} for {}", entry["text"]);
                lowest = lowest.min(cosine);
            }
            println!("{path:?}: a cosine of at least {lowest:.4}");
        }
    }

    #[tokio::test]
    async fn the_real_model_agrees_with_float32() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/fetched/all-minilm-l6-v2");
        if !folder.is_dir() {
            println!("skipped: `{}` was not pulled", folder.display());
            return;
        }
        agrees(&folder, include_str!("reference.json")).await;
    }

    #[tokio::test]
    async fn the_multilingual_model_that_ships_agrees_with_float32() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/quire-multi-2");
        agrees(&folder, include_str!("reference_multi.json")).await;
    }
}
