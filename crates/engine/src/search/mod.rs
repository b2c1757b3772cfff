//! The search path: query → recall → fuse → rerank → group → cite.
//!
//! - [`Search::run`] tells the path; [`request`] is what it takes and gives.
//! - [`fuse`] weighs the sides, [`late`] looks closer, [`calibrate`] says how sure it is.
//! - [`across`] asks several boxes, [`fresh`] prefers newer files.
//! - [`group`] merges copies, [`cite`] marks words, [`explain`] says where a file dropped out.

mod across;
mod calibrate;
mod cite;
mod explain;
mod fresh;
pub mod fuse;
mod group;
pub mod late;
mod request;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

pub use cite::Highlight;
pub use fresh::{Freshness, Recency};
pub use request::{Context, Hit, Mode, Ranks, Scores, SearchHits, SearchRequest, Stage, WhyNot};

use crate::{
    Fault, Reason,
    access::Reading,
    blocking,
    cost::{self, SearchWork, Work},
    ids::ChunkId,
    seams::{
        embedder::{Embedder, Embedding, Role},
        index::{Candidate as Found, Chunk, Correction, Index, Recall, Recalled},
        reranker::Reranker,
        weighing::Weighing,
    },
};

/// Candidates that each side recalls: the hundredth is rarely worth a look, and more cost time in every later stage.
const RECALLED: usize = 100;

/// Searches boxes.
#[derive(Clone)]
pub struct Search {
    index: Arc<dyn Index>,
    embedder: Arc<dyn Embedder>,
    reranker: Option<Arc<dyn Reranker>>,
}

/// What recall comes to.
struct Remembered {
    /// The query as vectors, where they were asked for.
    question: Option<Embedding>,
    candidates: Vec<Candidate>,
    corrected: Vec<Correction>,
}

/// One candidate and what the stages came to know of it.
#[derive(Debug, Clone)]
struct Candidate {
    id: ChunkId,
    /// Which of the boxes that are searched it is in.
    box_at: usize,
    /// Its rank among the candidates of a side, from 1.
    semantic_rank: Option<usize>,
    keyword_rank: Option<usize>,
    /// Its similarity by vector.
    cosine: Option<f32>,
    /// Its BM25 score.
    keyword: Option<f32>,
    /// Its similarity by late interaction.
    late: Option<f32>,
    /// What a cross-encoder gives it: a logit.
    cross: Option<f32>,
    /// Both sides weighed together.
    fused: f32,
    fused_rank: usize,
    /// Its rank after reranking, where it was reranked.
    rerank_rank: Option<usize>,
    /// The late interaction weighed in.
    weighed: f32,
    /// All that is known weighed together.
    order: f32,
    /// How likely it is to be relevant, once that was asked.
    likelihood: f32,
    /// What it says, once a stage had to know.
    chunk: Option<Chunk>,
}

impl Candidate {
    fn new(id: ChunkId) -> Self {
        Candidate {
            id,
            box_at: 0,
            semantic_rank: None,
            keyword_rank: None,
            cosine: None,
            keyword: None,
            late: None,
            cross: None,
            fused: 0.0,
            fused_rank: 0,
            rerank_rank: None,
            weighed: 0.0,
            order: 0.0,
            likelihood: 0.0,
            chunk: None,
        }
    }
}

impl Search {
    /// A search over `index` with the model that its vectors are made by, and a cross-encoder where there is one.
    pub fn new(
        index: Arc<dyn Index>,
        embedder: Arc<dyn Embedder>,
        reranker: Option<Arc<dyn Reranker>>,
    ) -> Self {
        Search { index, embedder, reranker }
    }

    /// The same search over another index.
    pub fn over(&self, index: Arc<dyn Index>) -> Self {
        Search { index, ..self.clone() }
    }

    /// The cross-encoder, where there is one.
    pub fn reranker(&self) -> Option<&Arc<dyn Reranker>> {
        self.reranker.as_ref()
    }

    /// What a search can cost here.
    pub fn bounds(&self, request: &SearchRequest) -> cost::Bounds {
        request.bounds(self.cross_encoder().is_some())
    }

    /// The cross-encoder, where there is one and the embedder's numbers give it a weight.
    fn cross_encoder(&self) -> Option<&Arc<dyn Reranker>> {
        self.reranker.as_ref().filter(|_| self.embedder.weighing().cross.weight > 0.0)
    }

    /// Searches one box.
    pub async fn run(&self, reading: &Reading, request: SearchRequest) -> Result<SearchHits, Fault> {
        self.across(std::slice::from_ref(reading), request).await
    }

    /// Searches several boxes as if they were one. The work beyond recall is that of one search, and so is the price.
    pub async fn across(&self, readings: &[Reading], request: SearchRequest) -> Result<SearchHits, Fault> {
        request.check()?;
        let mut request = request.shrunk();
        let Remembered { question, candidates: recalled, corrected } =
            self.recall(readings, &request).await?;
        // What comes now reads the query as it was meant.
        request.query = request::corrected(&request.query, &corrected);
        let mut log = explain::Log::new(&request, &recalled);
        let query_tokens = question.as_ref().map_or(0, |question| question.token_ids.len().max(1));
        let mut work = Work { query_tokens, recalled: recalled.len(), ..Work::default() };

        let fused = fused(recalled, &question, self.embedder.weighing());
        log.note(Stage::Fuse, &fused);
        let reranked = self.rerank(readings, &request, question, fused, &mut work).await?;
        log.note(Stage::Rerank, &reranked);

        let hits = likely_enough(reranked, &request, self.embedder.weighing());
        log.note(Stage::Threshold, hits.iter().map(|(candidate, _)| candidate));
        let hits = self.group(readings, &request, hits, &mut log).await?;
        let hits = self.cite(readings, &request, hits).await?;
        work.passages = hits.iter().map(|hit| 1 + hit.around.len()).sum();
        Ok(SearchHits { why_not: log.why_not(&hits), hits, work, corrected })
    }

    /// The query as vectors, and the candidates of the sides that the mode asks for. Words are looked up while the
    /// embedder still reads the query; where some were misspelt, it reads the query again, without those.
    async fn recall(&self, readings: &[Reading], request: &SearchRequest) -> Result<Remembered, Fault> {
        let (recalled, mut meaning) = tokio::try_join!(
            self.by_words(readings, request),
            self.by_meaning(readings, request, &request.query)
        )?;
        let corrected = across::common(&recalled);
        if !corrected.is_empty() {
            let meant = request::corrected(&request.query, &corrected);
            meaning = self.by_meaning(readings, request, &meant).await?;
        }
        let (question, semantic) = meaning;
        let keyword = recalled.into_iter().map(|recalled| recalled.keyword).collect();
        let mut candidates: HashMap<ChunkId, Candidate> = HashMap::new();
        // Each box has a best one of its own: ranks are within a box, scores are what counts.
        for (box_at, rank, found) in ranked(semantic) {
            let candidate = candidates.entry(found.chunk).or_insert_with(|| Candidate::new(found.chunk));
            candidate.box_at = box_at;
            (candidate.semantic_rank, candidate.cosine) = (Some(rank), Some(found.score));
        }
        for (box_at, rank, found) in ranked(keyword) {
            let candidate = candidates.entry(found.chunk).or_insert_with(|| Candidate::new(found.chunk));
            candidate.box_at = box_at;
            (candidate.keyword_rank, candidate.keyword) = (Some(rank), Some(found.score));
        }
        let mut candidates: Vec<Candidate> = candidates.into_values().collect();
        if let Some(question) = question.as_ref().filter(|_| request.mode == Mode::Hybrid) {
            self.complete(readings, &question.vector, &mut candidates).await?;
        }
        Ok(Remembered { question, candidates, corrected })
    }

    /// The candidates by their words.
    async fn by_words(&self, readings: &[Reading], request: &SearchRequest) -> Result<Vec<Recalled>, Fault> {
        if request.mode == Mode::Semantic {
            return Ok(Vec::new());
        }
        let recall = Recall { text: Some(&request.query), vector: None, ..self.wanted(request) };
        self.recalled(readings, recall).await
    }

    /// The query as vectors, and the candidates by similarity to it; nothing where only words count.
    async fn by_meaning(
        &self,
        readings: &[Reading],
        request: &SearchRequest,
        query: &str,
    ) -> Result<(Option<Embedding>, Vec<Vec<Found>>), Fault> {
        if request.mode == Mode::Keyword && !request.closer() {
            return Ok((None, Vec::new()));
        }
        let embedded = self.embedder.embed(vec![query.to_string()], Role::Query, request.closer()).await?;
        let question = embedded.into_iter().next();
        let Some(embedding) = question.as_ref().filter(|_| request.mode != Mode::Keyword) else {
            return Ok((question, Vec::new()));
        };
        let recall = Recall { text: None, vector: Some(&embedding.vector), ..self.wanted(request) };
        let recalled = self.recalled(readings, recall).await?;
        Ok((question, recalled.into_iter().map(|recalled| recalled.semantic).collect()))
    }

    fn wanted<'a>(&'a self, request: &'a SearchRequest) -> Recall<'a> {
        let (model, only) = (self.embedder.id(), request.only.as_ref());
        Recall { text: None, vector: None, model, only, limit: RECALLED }
    }

    /// Adds the similarity by vector to those that only their words brought here.
    async fn complete(
        &self,
        readings: &[Reading],
        vector: &[f32],
        candidates: &mut [Candidate],
    ) -> Result<(), Fault> {
        let mut unknown: Vec<&mut Candidate> =
            candidates.iter_mut().filter(|candidate| candidate.cosine.is_none()).collect();
        let places: Vec<_> = unknown.iter().map(|candidate| candidate.place()).collect();
        if places.is_empty() {
            return Ok(());
        }
        let cosines = self.cosines(readings, &places, vector).await?;
        unknown.iter_mut().zip(cosines).for_each(|(candidate, cosine)| candidate.cosine = cosine);
        Ok(())
    }

    /// Reranks the best: late interaction first, then the cross-encoder where there is one.
    async fn rerank(
        &self,
        readings: &[Reading],
        request: &SearchRequest,
        question: Option<Embedding>,
        mut candidates: Vec<Candidate>,
        work: &mut Work,
    ) -> Result<Vec<Candidate>, Fault> {
        candidates.truncate(SearchWork::MOST.reranked);
        let Some(question) = question.filter(|_| request.closer()) else { return Ok(candidates) };
        candidates.truncate(request.most.reranked);
        work.reranked = candidates.len();
        let weighing = self.embedder.weighing();
        let trust = fuse::trust(&question.token_ids, weighing);
        let places: Vec<_> = candidates.iter().map(Candidate::place).collect();
        let tokens = self.tokens(readings, &places).await?;
        let numbers = weighing.clone();
        let mut candidates =
            blocking::run(move |_| looked_closer(&question, candidates, &tokens, &numbers)).await?;
        if let Some(reranker) = self.cross_encoder().filter(|_| request.most.cross_encoded > 0) {
            let best = candidates.len().min(request.most.cross_encoded);
            self.read(readings, &mut candidates[..best]).await?;
            let rest = candidates.split_off(best);
            // One that was removed meanwhile is left out.
            candidates.retain(|candidate| candidate.chunk.is_some());
            // A row of a table says little without its header. The title is the same for the whole document, and not at hand.
            let chunks = candidates.iter().flat_map(|best| &best.chunk);
            let passages: Vec<String> = chunks.map(|chunk| chunk.with_headings("")).collect();
            candidates.extend(rest);
            let read = passages.len();
            match reranker.score(&request.query, passages).await {
                Ok(scores) => {
                    work.cross_encoded = read;
                    fuse::add_cross(&mut candidates, &scores, weighing, trust);
                }
                // A query longer than the model reads, or too many at once: what was known before it has to do, and
                // nobody pays for what was not done.
                Err(fault) if matches!(fault.reason, Reason::Unprocessable | Reason::Overloaded) => {}
                Err(fault) => return Err(fault),
            }
        }
        for (candidate, rank) in candidates.iter_mut().zip(1..) {
            candidate.rerank_rank = Some(rank);
        }
        Ok(candidates)
    }

    /// Reads what these say, where that is not known yet.
    async fn read(&self, readings: &[Reading], candidates: &mut [Candidate]) -> Result<(), Fault> {
        let mut unread: Vec<&mut Candidate> =
            candidates.iter_mut().filter(|candidate| candidate.chunk.is_none()).collect();
        let places: Vec<_> = unread.iter().map(|candidate| candidate.place()).collect();
        if places.is_empty() {
            return Ok(());
        }
        for (candidate, chunk) in unread.iter_mut().zip(self.chunks(readings, &places).await?) {
            candidate.chunk = chunk;
        }
        Ok(())
    }

    /// The hits to be shown, each with the copies of it that are not. Only as many are read as it takes to fill the page.
    async fn group(
        &self,
        readings: &[Reading],
        request: &SearchRequest,
        hits: Vec<(Candidate, f32)>,
        log: &mut explain::Log,
    ) -> Result<Vec<(Candidate, f32, Vec<ChunkId>)>, Fault> {
        let mut grouping = group::Grouping::new(request.max_chunks_per_document);
        let mut kept: Vec<(Candidate, f32, Vec<ChunkId>)> = Vec::new();
        let mut hits = hits.into_iter();
        while kept.len() < request.top_k {
            let (mut next, scores): (Vec<Candidate>, Vec<f32>) = hits.by_ref().take(request.top_k).unzip();
            if next.is_empty() {
                break;
            }
            self.read(readings, &mut next).await?;
            for (candidate, score) in next.into_iter().zip(scores) {
                // One that was removed meanwhile is left out.
                let Some(chunk) = &candidate.chunk else { continue };
                match grouping.fate(candidate.id, &chunk.text) {
                    group::Fate::Kept => kept.push((candidate, score, Vec::new())),
                    group::Fate::Merged(into) => {
                        if let Some((.., copies)) = kept.iter_mut().find(|(kept, ..)| kept.id == into) {
                            copies.push(candidate.id);
                        }
                    }
                    group::Fate::Crowded => {}
                }
            }
        }
        log.note(Stage::Group, kept.iter().map(|(candidate, ..)| candidate));
        log.note(Stage::Group, hits.as_slice().iter().map(|(candidate, _)| candidate));
        kept.truncate(request.top_k);
        Ok(kept)
    }

    /// Adds what a reader needs: the place of the query's words, and the chunks around.
    async fn cite(
        &self,
        readings: &[Reading],
        request: &SearchRequest,
        grouped: Vec<(Candidate, f32, Vec<ChunkId>)>,
    ) -> Result<Vec<Hit>, Fault> {
        let reach = request.context as u32;
        let around: Vec<_> = grouped
            .iter()
            .flat_map(|(candidate, ..)| neighbours(candidate.id, reach).map(|id| (candidate.box_at, id)))
            .collect();
        let stored = if around.is_empty() { Vec::new() } else { self.chunks(readings, &around).await? };
        let found: HashMap<ChunkId, Chunk> =
            around.into_iter().zip(stored).filter_map(|((_, id), stored)| Some((id, stored?))).collect();
        let hits = grouped.into_iter().zip(1..).filter_map(|((candidate, score, copies), rank)| {
            let around = neighbours(candidate.id, reach)
                .filter_map(|id| Some(Context { id, chunk: found.get(&id)?.clone() }))
                .collect();
            Hit::new(candidate, &request.query, rank, score, copies, around)
        });
        Ok(hits.collect())
    }
}

/// What each box found, with the box and the rank there, from 1.
fn ranked(found: Vec<Vec<Found>>) -> impl Iterator<Item = (usize, usize, Found)> {
    let of_box = |(box_at, found): (usize, Vec<Found>)| {
        found.into_iter().zip(1..).map(move |(found, rank)| (box_at, rank, found))
    };
    found.into_iter().enumerate().flat_map(of_box)
}

/// Both sides weighed together, best first.
fn fused(
    mut candidates: Vec<Candidate>,
    question: &Option<Embedding>,
    weighing: &Weighing,
) -> Vec<Candidate> {
    let trust = question.as_ref().map_or(1.0, |question| fuse::trust(&question.token_ids, weighing));
    fuse::fuse(&mut candidates, weighing, trust);
    for (candidate, rank) in candidates.iter_mut().zip(1..) {
        candidate.fused_rank = rank;
    }
    candidates
}

/// The late interaction of every candidate. Takes a few milliseconds of CPU, so it is not for the async threads.
fn looked_closer(
    question: &Embedding,
    mut candidates: Vec<Candidate>,
    tokens: &[Vec<u8>],
    weighing: &Weighing,
) -> Vec<Candidate> {
    let query = late::Query::new(&question.tokens, &question.token_ids);
    for (candidate, tokens) in candidates.iter_mut().zip(tokens) {
        candidate.late = query.similarity(tokens);
    }
    fuse::add_late(&mut candidates, weighing, fuse::trust(&question.token_ids, weighing));
    candidates
}

/// Each with its calibrated score, as long as that reaches the threshold. A hit is never surer than the one before it:
/// the order has seen more than the calibration.
fn likely_enough(
    candidates: Vec<Candidate>,
    request: &SearchRequest,
    weighing: &Weighing,
) -> Vec<(Candidate, f32)> {
    let mut before = 1.0f32;
    let scored = candidates.into_iter().map(|mut candidate| {
        candidate.likelihood = calibrate::likelihood(&candidate, weighing);
        before = before.min(candidate.likelihood);
        (candidate, before)
    });
    let enough = |(_, score): &(Candidate, f32)| *score >= request.threshold;
    let Some(freshness) = &request.freshness else { return scored.take_while(enough).collect() };
    let aged = |(candidate, score): (Candidate, f32)| {
        let factor = freshness.of(candidate.id.file);
        (candidate, score * factor)
    };
    let mut scored: Vec<(Candidate, f32)> = scored.map(aged).collect();
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    scored.into_iter().take_while(enough).collect()
}

/// The chunks up to `reach` before and after this one, in order; some may not exist.
fn neighbours(id: ChunkId, reach: u32) -> impl Iterator<Item = ChunkId> {
    let (first, last) = (id.ordinal.saturating_sub(reach), id.ordinal.saturating_add(reach));
    (first..=last).filter(move |&ordinal| ordinal != id.ordinal).map(move |ordinal| ChunkId { ordinal, ..id })
}
