//! The path as a whole, over a small index in memory.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Mutex,
};

use async_trait::async_trait;

use super::*;
use crate::{
    access::Writing,
    document::{Document, Page},
    ids::{BoxId, FileId},
    seams::{
        embedder::{Embedder, Embedding},
        index::{
            Candidate as Found, Contents, Correction, HowRead, IndexedChunk, LaidOut, Recalled, Removed,
        },
    },
};

/// Each word a dimension: enough to tell like from unlike.
const WORDS: [&str; 6] = ["warranty", "guarantee", "refund", "error", "e4021", "lunch"];

fn vector(text: &str) -> Vec<f32> {
    let lower = text.to_lowercase();
    let mut vector: Vec<f32> =
        WORDS.iter().map(|word| if lower.contains(word) { 1.0 } else { -0.3 }).collect();
    // The two words mean the same.
    let like = vector[0].max(vector[1]);
    (vector[0], vector[1]) = (like, like);
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / norm).collect()
}

struct Words;

#[async_trait]
impl Embedder for Words {
    fn id(&self) -> &str {
        "words"
    }
    fn dimensions(&self) -> usize {
        WORDS.len()
    }
    fn max_tokens(&self) -> usize {
        100
    }
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
    async fn embed(&self, texts: Vec<String>, _: Role, _: bool) -> Result<Vec<Embedding>, Fault> {
        let one = |text: &String| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let tokens = words.iter().flat_map(|word| vector(word)).collect();
            Embedding { vector: vector(text), tokens, token_ids: (0..words.len() as u32).collect() }
        };
        Ok(texts.iter().map(one).collect())
    }
}

#[derive(Default)]
struct Memory(BTreeMap<ChunkId, IndexedChunk>);

impl Memory {
    fn add(&mut self, texts: &[&str]) -> FileId {
        let file = FileId::generate();
        for (text, ordinal) in texts.iter().zip(0..) {
            let chunk = Chunk::plain(text);
            let tokens: Vec<f32> = text.split_whitespace().flat_map(vector).collect();
            let ids: Vec<u32> = (0..text.split_whitespace().count() as u32).collect();
            let stored = IndexedChunk { chunk, vector: vector(text), tokens: late::pack(&tokens, &ids) };
            self.0.insert(ChunkId { file, ordinal }, stored);
        }
        file
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[async_trait]
impl Index for Memory {
    async fn replace(
        &self,
        _: &Writing,
        _: FileId,
        _: &Arc<Document>,
        _: &Arc<[IndexedChunk]>,
        _: &str,
    ) -> Result<(), Fault> {
        Ok(())
    }
    async fn remove(&self, _: &Writing, _: FileId) -> Result<Removed, Fault> {
        Ok(Removed::default())
    }
    async fn drop_box(&self, _: &Writing) -> Result<(), Fault> {
        Ok(())
    }
    async fn pages(&self, _: &Reading, _: FileId, _: u32, _: u32) -> Result<Vec<Page>, Fault> {
        Ok(vec![])
    }
    async fn how_read(&self, _: &Reading, _: FileId) -> Result<HowRead, Fault> {
        Ok(HowRead::default())
    }
    async fn laid_out(&self, _: &Reading, pages: &[(FileId, u32)]) -> Result<Vec<Option<LaidOut>>, Fault> {
        Ok(vec![None; pages.len()])
    }
    async fn revision(&self, _: &Reading, _: FileId) -> Result<Option<i64>, Fault> {
        Ok(None)
    }
    async fn recall(&self, _: &Reading, recall: Recall<'_>) -> Result<Recalled, Fault> {
        let allowed = |id: &ChunkId| recall.only.is_none_or(|only| only.contains(&id.file));
        let side = |score: &dyn Fn(&IndexedChunk) -> f32| {
            let scored = self
                .0
                .iter()
                .filter(|(id, _)| allowed(id))
                .map(|(id, stored)| Found { chunk: *id, score: score(stored) });
            let mut found: Vec<Found> = scored.filter(|found| found.score > 0.0).collect();
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
            found.truncate(recall.limit);
            found
        };
        let words = |text: &str, stored: &IndexedChunk| {
            let text = text.to_lowercase();
            let shared =
                text.split_whitespace().filter(|word| stored.chunk.text.to_lowercase().contains(word));
            shared.count() as f32 * 5.0
        };
        Ok(Recalled {
            semantic: recall.vector.map_or(vec![], |vector| side(&|stored| dot(vector, &stored.vector))),
            keyword: recall.text.map_or(vec![], |text| side(&|stored| words(text, stored))),
            corrected: recall.text.map_or(vec![], |text| {
                let misspelt = text.to_lowercase().contains("warrenty");
                let meant = Correction { written: "warrenty".into(), taken_for: "warranty".into() };
                misspelt.then_some(meant).into_iter().collect()
            }),
        })
    }
    async fn model(&self, _: &Reading) -> Result<Option<String>, Fault> {
        Ok(Some("words".into()))
    }
    async fn usual_language(&self, _: &Reading) -> Result<Option<String>, Fault> {
        Ok(None)
    }
    async fn cosines(&self, _: &Reading, ids: &[ChunkId], vector: &[f32]) -> Result<Vec<Option<f32>>, Fault> {
        Ok(ids.iter().map(|id| Some(dot(vector, &self.0.get(id)?.vector))).collect())
    }
    async fn chunks(&self, _: &Reading, ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault> {
        Ok(ids.iter().map(|id| Some(self.0.get(id)?.chunk.clone())).collect())
    }
    async fn tokens(&self, _: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<u8>>, Fault> {
        Ok(ids.iter().map(|id| self.0.get(id).map_or(Vec::new(), |stored| stored.tokens.clone())).collect())
    }
    async fn contents(&self, _: &Reading) -> Result<Contents, Fault> {
        Ok(Contents::default())
    }

    fn draft(&self) -> Arc<dyn Index> {
        unreachable!("nothing is reindexed here")
    }

    async fn adopt(&self, _: &Writing) -> Result<(), Fault> {
        unreachable!("nothing is reindexed here")
    }

    async fn vectors(&self, _: &Reading, _: &[ChunkId]) -> Result<Vec<Vec<f32>>, Fault> {
        Ok(Vec::new())
    }

    async fn describe(&self) -> Result<String, Fault> {
        Ok("in memory".into())
    }
}

async fn search(memory: Memory, request: SearchRequest) -> Result<SearchHits, Fault> {
    let writing = Writing::for_operator(BoxId::generate());
    Search::new(Arc::new(memory), Arc::new(Words), None).run(writing.reading(), request).await
}

#[tokio::test]
async fn paraphrases_and_identifiers_are_both_found() {
    let mut memory = Memory::default();
    let warranty = memory.add(&["The guarantee lasts two years"]);
    let codes = memory.add(&["See error E4021 in the log", "Some error in the log"]);
    memory.add(&["Bring your own lunch"]);
    let hits = search(memory, SearchRequest::new("warranty")).await.unwrap().hits;
    assert_eq!(hits[0].id.file, warranty);
    assert!(hits[0].scores.keyword.is_none() && hits[0].scores.rerank.is_some());

    let mut memory = Memory::default();
    let codes_again = memory.add(&["Some error in the log", "See error E4021 in the log"]);
    let found = search(memory, SearchRequest::new("error E4021")).await.unwrap();
    assert_eq!((found.hits[0].id.file, found.hits[0].id.ordinal), (codes_again, 1));
    assert_ne!(codes, codes_again);
    assert_eq!(found.hits[0].highlights.len(), 2);
    assert!(found.hits.is_sorted_by(|a, b| a.score >= b.score));
    assert!(
        found.hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank && (0.0..=1.0).contains(&hit.score))
    );
    assert_eq!(found.work.reranked, 2);
}

/// A cross-encoder that is asked for too much.
struct Busy;

#[async_trait]
impl Reranker for Busy {
    fn id(&self) -> &str {
        "busy"
    }
    async fn score(&self, _: &str, _: Vec<String>) -> Result<Vec<f32>, Fault> {
        Err(Fault::new(Reason::Overloaded, "too much to do"))
    }
}

#[tokio::test]
async fn a_busy_cross_encoder_is_done_without_and_not_paid_for() {
    let mut memory = Memory::default();
    let warranty = memory.add(&["The guarantee lasts two years"]);
    let search = Search::new(Arc::new(memory), Arc::new(Words), Some(Arc::new(Busy) as Arc<dyn Reranker>));
    let writing = Writing::for_operator(BoxId::generate());
    let found = search.run(writing.reading(), SearchRequest::new("warranty")).await.unwrap();
    assert_eq!((found.hits[0].id.file, found.work.reranked, found.work.cross_encoded), (warranty, 1, 0));
}

/// Keeps what it is given to read.
#[derive(Default)]
struct Listener(Mutex<Vec<String>>);

#[async_trait]
impl Reranker for Listener {
    fn id(&self) -> &str {
        "listener"
    }
    async fn score(&self, _: &str, passages: Vec<String>) -> Result<Vec<f32>, Fault> {
        let scores = vec![0.0; passages.len()];
        *self.0.lock().unwrap() = passages;
        Ok(scores)
    }
}

#[tokio::test]
async fn the_cross_encoder_reads_what_stands_above_a_passage_too() {
    let mut memory = Memory::default();
    memory.add(&["| parts | two years |"]);
    let chunk = &mut memory.0.values_mut().next().unwrap().chunk;
    (chunk.section, chunk.lead) = (["Warranty".into()].into(), "| what | how long |".into());
    let listener = Arc::new(Listener::default());
    let search = Search::new(Arc::new(memory), Arc::new(Words), Some(listener.clone() as Arc<dyn Reranker>));
    let writing = Writing::for_operator(BoxId::generate());
    search.run(writing.reading(), SearchRequest::new("parts")).await.unwrap();
    assert_eq!(*listener.0.lock().unwrap(), ["Warranty\n| what | how long |\n| parts | two years |"]);
}

#[tokio::test]
async fn neighbours_and_copies_are_told() {
    let mut memory = Memory::default();
    let text = "The warranty covers all the parts of the machine for two years from the day";
    let first = memory.add(&["Intro", text, "Outro", "warranty refund terms"]);
    let second = memory.add(&[text]);
    let request = SearchRequest { context: 1, ..SearchRequest::new("warranty") };
    let hits = search(memory, request).await.unwrap().hits;
    let copied = hits.iter().find(|hit| !hit.copies.is_empty()).expect("one of the copies is shown");
    let other = if copied.id.file == first { second } else { first };
    assert_eq!(copied.copies[0].file, other);
    for hit in hits.iter().filter(|hit| hit.id == ChunkId { file: first, ordinal: 1 }) {
        let around: Vec<&str> = hit.around.iter().map(|context| context.chunk.text.as_str()).collect();
        assert_eq!(around, ["Intro", "Outro"]);
    }
}

#[tokio::test]
async fn one_document_does_not_fill_the_page() {
    let mut memory = Memory::default();
    let first = memory.add(&["warranty one", "warranty two", "warranty three"]);
    let second = memory.add(&["guarantee"]);
    let request = SearchRequest { max_chunks_per_document: Some(1), ..SearchRequest::new("warranty") };
    let files: Vec<FileId> =
        search(memory, request).await.unwrap().hits.iter().map(|hit| hit.id.file).collect();
    assert_eq!(files, [first, second]);
}

#[tokio::test]
async fn files_without_hits_say_why() {
    let mut memory = Memory::default();
    let best = memory.add(&["warranty"]);
    let later = memory.add(&["the warranty and the lunch and the error"]);
    let missing = FileId::generate();
    let only = HashSet::from([best, later, missing]);
    let request =
        SearchRequest { top_k: 1, explain: true, only: Some(only), ..SearchRequest::new("warranty") };
    let why_not = search(memory, request).await.unwrap().why_not;
    assert_eq!(why_not.len(), 2);
    assert!(why_not.contains(&WhyNot { file: missing, stage: Stage::Recall }));
    assert!(why_not.contains(&WhyNot { file: later, stage: Stage::TopK }));
}

#[tokio::test]
async fn a_misspelt_query_is_read_as_it_was_meant() {
    let mut memory = Memory::default();
    memory.add(&["the warranty lasts two years"]);
    let found = search(memory, SearchRequest::new("Warrenty, how long?")).await.unwrap();
    let meant = Correction { written: "warrenty".into(), taken_for: "warranty".into() };
    assert_eq!(found.corrected, [meant]);
    assert_eq!(found.hits[0].highlights.len(), 1, "the word that was meant is marked");
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_by_name() {
    let wrong: [(&str, SearchRequest); 5] = [
        ("query", SearchRequest::new(" ")),
        ("top_k", SearchRequest { top_k: 51, ..SearchRequest::new("x") }),
        ("threshold", SearchRequest { threshold: f32::NAN, ..SearchRequest::new("x") }),
        ("context", SearchRequest { context: 4, ..SearchRequest::new("x") }),
        (
            "max_chunks_per_document",
            SearchRequest { max_chunks_per_document: Some(0), ..SearchRequest::new("x") },
        ),
    ];
    for (name, request) in wrong {
        assert_eq!(search(Memory::default(), request).await.unwrap_err().param.as_deref(), Some(name));
    }
    assert!(search(Memory::default(), SearchRequest::new("anything")).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn modes_ask_only_their_side() {
    for (mode, semantic, keyword) in [(Mode::Semantic, true, false), (Mode::Keyword, false, true)] {
        let mut memory = Memory::default();
        memory.add(&["warranty terms"]);
        let request = SearchRequest { mode, rerank: false, ..SearchRequest::new("warranty") };
        let found = search(memory, request).await.unwrap();
        assert_eq!(found.hits[0].ranks.semantic.is_some(), semantic, "{mode:?}");
        assert_eq!(found.hits[0].ranks.keyword.is_some(), keyword, "{mode:?}");
        assert_eq!(found.work.reranked, 0);
    }
}
