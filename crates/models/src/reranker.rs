//! Scores passages against a query in process, with a cross-encoder.

use std::path::Path;

use async_trait::async_trait;
use engine::seams::embedder::Role;
use engine::seams::reranker::Reranker;
use engine::{Fault, Reason};

use crate::batcher::{Batcher, Model, Work};
use crate::embedder::{Loaded, Options, run_group};
use crate::runtime::{self, Classifier, Network, Scratch};
use crate::tokens::Tokenizer;
use crate::weights::{Folder, WeightsError};

/// A cross-encoder in this process.
///
/// A passage too long to be read beside the query is read in windows, and its score is that of the best one. A query
/// that takes more than half of the room is an error.
pub struct LocalReranker {
    id: String,
    tokenizer: Tokenizer,
    max_tokens: usize,
    path: runtime::Path,
    batcher: Batcher<CrossEncoder>,
}

/// The network with its head, as the batcher drives it.
struct CrossEncoder {
    network: Network,
    classifier: Classifier,
}

impl LocalReranker {
    /// Loads the model in `folder`; see [`Folder`] for what must be there.
    pub fn load(folder: &Path, options: &Options) -> Result<Self, WeightsError> {
        let folder = Folder::open(folder)?;
        let Loaded { network, tokenizer, checkpoint } = Loaded::open(&folder, options)?;
        let classifier = Classifier::load(&checkpoint, &folder.shape)?;
        let path = network.path();
        let model = CrossEncoder { network, classifier };
        // A search does without the reranker sooner than it would wait for long.
        let batcher = Batcher::start("reranker", model, options.threads, options.queue_tokens / 8)
            .map_err(|error| WeightsError::file(Path::new("reranker thread"), error))?;
        let max_tokens = folder.max_tokens();
        Ok(LocalReranker { id: folder.id, tokenizer, max_tokens, path, batcher })
    }

    /// The kernels in use.
    pub fn path(&self) -> runtime::Path {
        self.path
    }

    /// The work for each passage's windows, and how many windows each passage has.
    fn prepare(&self, query: &str, passages: &[String]) -> Result<(Vec<Work>, Vec<usize>), Fault> {
        let query = self.tokenizer.encode(query);
        // `[CLS]` and two `[SEP]`.
        let room = self.max_tokens - 3;
        if query.len() > room / 2 {
            let (length, most) = (query.len(), room / 2);
            let cause = format!(
                "the query has {length} tokens; the reranker reads at most {most}; shorten it, or search with `rerank` false"
            );
            return Err(Fault::new(Reason::Unprocessable, cause).param("query"));
        }
        let mut work = Vec::with_capacity(passages.len());
        let mut windows = Vec::with_capacity(passages.len());
        for passage in passages {
            let ids = self.tokenizer.encode(passage);
            let before = work.len();
            let pair = |ids: &[u32]| Work { sequence: self.tokenizer.pair(&query, ids), tokens_from: None };
            match ids.is_empty() {
                true => work.push(pair(&[])),
                false => work.extend(ids.chunks(room - query.len()).map(pair)),
            }
            windows.push(work.len() - before);
        }
        Ok((work, windows))
    }
}

#[async_trait]
impl Reranker for LocalReranker {
    fn id(&self) -> &str {
        &self.id
    }

    async fn score(&self, query: &str, passages: Vec<String>) -> Result<Vec<f32>, Fault> {
        // Tokenizing fifty passages takes a millisecond, a hundredth of what follows.
        let (work, windows) = self.prepare(query, &passages)?;
        let mut scores = self.batcher.run(work, Role::Query).await?.into_iter();
        let best = |count: usize| scores.by_ref().take(count).fold(f32::NEG_INFINITY, f32::max);
        Ok(windows.into_iter().map(best).collect())
    }
}

impl Model for CrossEncoder {
    type Output = f32;
    type Scratch = Scratch;

    fn run(&self, group: &[&Work], scratch: &mut Scratch) -> Vec<f32> {
        let width = self.network.shape().width;
        run_group(&self.network, group, scratch, |_, hidden| self.classifier.score(&hidden[..width]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Numbers, model_folder};

    #[tokio::test]
    async fn scores_come_in_order_and_alike_on_every_path() {
        let folder = model_folder(Numbers::F32);
        let passages: Vec<String> = (0..9).map(|count| "the walking unaffable ".repeat(count)).collect();
        let mut first: Option<Vec<f32>> = None;
        for path in runtime::Path::ALL.into_iter().rev().filter(|path| path.available()) {
            let options = Options { threads: 2, path: Some(path), ..Options::default() };
            let reranker = LocalReranker::load(folder.path(), &options).unwrap();
            assert_eq!(reranker.path(), path);
            let scores = reranker.score("walk", passages.clone()).await.unwrap();
            let alone = reranker.score("walk", vec![passages[3].clone()]).await.unwrap();
            assert!((scores[3] - alone[0]).abs() < 1e-3, "{path:?}");
            let expected = first.get_or_insert_with(|| scores.clone());
            assert!(scores.iter().zip(expected).all(|(a, b)| (a - *b).abs() < 0.1), "{path:?}");
        }
    }

    #[tokio::test]
    async fn the_picker_of_many_languages_that_ships_agrees_with_float32() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/quire-pick-multi-1");
        let reference: serde_json::Value = serde_json::from_str(include_str!("reference_pick.json")).unwrap();
        for path in runtime::Path::ALL.into_iter().filter(|path| path.available()) {
            let options = Options { threads: 2, path: Some(path), ..Options::default() };
            let picker = LocalReranker::load(&folder, &options).unwrap();
            // Activations of 7 bits and of 8; the scores lie between -7 and 7.
            let most = match path {
                runtime::Path::Portable => 0.01,
                runtime::Path::Avx2 => 0.8,
                _ => 0.5,
            };
            for pair in reference["pairs"].as_array().unwrap() {
                let text = |name: &str| pair[name].as_str().unwrap().to_owned();
                let expected = pair["score"].as_f64().unwrap() as f32;
                let found = picker.score(&text("question"), vec![text("sentence")]).await.unwrap()[0];
                println!("{path:?} {found} {expected}");
                assert!(
                    (found - expected).abs() < most,
                    "{path:?}: {found} instead of {expected} for {pair}"
                );
            }
        }
    }

    #[tokio::test]
    async fn the_cross_encoder_of_many_languages_that_ships_reads_across_languages() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/quire-rerank-multi-1");
        let reranker = LocalReranker::load(&folder, &Options::default()).unwrap();
        let passages = [
            "Der Zug fährt täglich um neun Uhr von Gleis drei ab.",
            "La garantía de la máquina dura tres años desde el día de la compra.",
            "保修期为三年，从购买之日算起。",
            "The library is closed on Mondays and on public holidays.",
        ];
        for (query, right) in [
            ("How long is the warranty of the machine?", 1),
            ("Wann fährt der Zug?", 0),
            ("保修期多长？", 2),
            ("¿Qué día cierra la biblioteca?", 3),
        ] {
            let scores = reranker.score(query, passages.map(str::to_owned).to_vec()).await.unwrap();
            let others = (0..passages.len()).filter(|at| *at != right).map(|at| scores[at]);
            assert!(others.fold(f32::MIN, f32::max) < scores[right], "{query}: {scores:?}");
        }
    }

    #[tokio::test]
    async fn a_long_passage_is_judged_by_its_best_window_and_a_long_query_refused() {
        let folder = model_folder(Numbers::F32);
        let reranker = LocalReranker::load(folder.path(), &Options::default()).unwrap();
        let long = vec!["the ".repeat(reranker.max_tokens * 2)];
        assert!(reranker.score("walk", long.clone()).await.unwrap()[0].is_finite());
        let fault = reranker.score(&long[0], long.clone()).await.unwrap_err();
        assert_eq!(fault.reason, Reason::Unprocessable);
    }
}
