//! The search path: query → recall → fuse → rerank → group → cite.
//!
//! - [`Search::run`] tells the path; [`request`] is what it takes and gives.
//! - [`fuse`] weighs the sides, [`late`] looks closer, [`calibrate`] says how sure it is.
//! - [`across`] asks several boxes, [`parts`] sorts them by the embedder that filled them, [`fresh`] prefers newer files.
//! - [`group`] merges copies, [`cite`] marks words, [`explain`] says where a file dropped out.

mod across;
mod calibrate;
mod cite;
mod explain;
mod fresh;
pub mod fuse;
mod group;
pub mod late;
mod parts;
mod request;
mod rerankers;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

pub use cite::Highlight;
pub use fresh::{Freshness, Recency};
use parts::{Part, by_part, changed_over, looked_closer};
pub use request::{Context, Hit, Mode, Models, Ranks, Scores, SearchHits, SearchRequest, Stage, WhyNot};
pub use rerankers::Rerankers;

use crate::{
    Fault, Reason,
    access::Reading,
    blocking,
    cost::{self, SearchWork, Work},
    embedders::Embedders,
    ids::ChunkId,
    seams::{
        embedder::Role,
        index::{Candidate as Found, Chunk, Correction, EXACT_TO, Index, Recall, Recalled},
        reranker::Reranker,
    },
};

/// Candidates that each side recalls: the hundredth is rarely worth a look, and more cost time in every later stage.
const RECALLED: usize = 100;

/// Searches boxes.
#[derive(Clone)]
pub struct Search {
    index: Arc<dyn Index>,
    embedders: Embedders,
    rerankers: Rerankers,
    exact_to: usize,
}

/// What recall comes to.
struct Remembered {
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
    /// A search over `index` with the models that its vectors are made by, and the cross-encoders that there are.
    pub fn new(
        index: Arc<dyn Index>,
        embedders: impl Into<Embedders>,
        rerankers: impl Into<Rerankers>,
    ) -> Self {
        Search { index, embedders: embedders.into(), rerankers: rerankers.into(), exact_to: EXACT_TO }
    }

    /// The same search, which compares a query with each chunk of boxes that have at most so many.
    pub fn exact_to(self, chunks: usize) -> Self {
        Search { exact_to: chunks, ..self }
    }

    /// The same search over another index.
    pub fn over(&self, index: Arc<dyn Index>) -> Self {
        Search { index, ..self.clone() }
    }

    /// The usual cross-encoder, where there is one.
    pub fn reranker(&self) -> Option<&Arc<dyn Reranker>> {
        self.rerankers.usual()
    }

    /// What a search can cost here.
    pub fn bounds(&self, request: &SearchRequest) -> cost::Bounds {
        request.bounds(self.rerankers.any())
    }

    /// Searches one box.
    pub async fn run(&self, reading: &Reading, request: SearchRequest) -> Result<SearchHits, Fault> {
        self.across(std::slice::from_ref(reading), request).await
    }

    /// Searches several boxes as if they were one. The work beyond recall is that of one search, and so is the price.
    pub async fn across(&self, readings: &[Reading], request: SearchRequest) -> Result<SearchHits, Fault> {
        request.check()?;
        let request = request.shrunk();
        let mut filled = self.filled_by(readings).await?;
        loop {
            let found = Box::pin(self.through_stages(readings, &filled, request.clone())).await;
            let now = self.filled_by(readings).await?;
            // A box that was changed over meanwhile was asked by vectors of a model that it no longer has.
            if !changed_over(&filled, &now) {
                return found;
            }
            filled = now;
        }
    }

    /// The path itself, for boxes that these embedders filled.
    async fn through_stages(
        &self,
        readings: &[Reading],
        filled: &[Option<String>],
        mut request: SearchRequest,
    ) -> Result<SearchHits, Fault> {
        let mut parts = self.parts(filled).await?;
        let Remembered { candidates: recalled, corrected } =
            self.recall(readings, &mut parts, &request).await?;
        // What comes now reads the query as it was meant.
        request.query = request::corrected(&request.query, &corrected);
        // The work beyond recall is that of one search.
        request.most.reranked /= parts.len();
        let mut log = explain::Log::new(&request, &recalled);
        let query_tokens = parts.iter().map(Part::query_tokens).sum();
        let mut work = Work { query_tokens, recalled: recalled.len(), ..Work::default() };

        let mut reranked = Vec::with_capacity(parts.len());
        for (part, recalled) in parts.iter().zip(by_part(&parts, recalled)) {
            let fused = part.fused(recalled);
            log.note(Stage::Fuse, &fused);
            let closer = self.rerank(readings, &request, part, fused, &mut work).await?;
            log.note(Stage::Rerank, &closer);
            reranked.push(closer);
        }

        let hits = likely_enough(&parts, reranked, &request);
        log.note(Stage::Threshold, hits.iter().map(|(candidate, _)| candidate));
        let hits = self.group(readings, &request, hits, &mut log).await?;
        let hits = self.cite(readings, &request, hits).await?;
        work.passages = hits.iter().map(|hit| 1 + hit.around.len()).sum();
        let models = self.models(&parts);
        Ok(SearchHits { why_not: log.why_not(&hits), hits, work, corrected, models })
    }

    /// The query as vectors, and the candidates of the sides that the mode asks for. Words are looked up while the
    /// embedder still reads the query; where some were misspelt, it reads the query again, without those.
    async fn recall(
        &self,
        readings: &[Reading],
        parts: &mut [Part],
        request: &SearchRequest,
    ) -> Result<Remembered, Fault> {
        let (recalled, mut semantic) = tokio::try_join!(
            self.by_words(readings, request),
            self.by_meaning(readings, parts, request, &request.query)
        )?;
        let corrected = across::common(&recalled);
        if !corrected.is_empty() {
            let meant = request::corrected(&request.query, &corrected);
            semantic = self.by_meaning(readings, parts, request, &meant).await?;
        }
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
        for part in parts.iter().filter(|_| request.mode == Mode::Hybrid) {
            self.complete(readings, part, &mut candidates).await?;
        }
        Ok(Remembered { candidates, corrected })
    }

    /// The candidates by their words.
    async fn by_words(&self, readings: &[Reading], request: &SearchRequest) -> Result<Vec<Recalled>, Fault> {
        if request.mode == Mode::Semantic {
            return Ok(Vec::new());
        }
        let only = request.only.as_ref();
        let (text, exact_to) = (Some(request.query.as_str()), self.exact_to);
        let recall = Recall { text, vector: None, model: "", only, limit: RECALLED, exact_to };
        let mut all = Vec::with_capacity(readings.len());
        for reading in readings {
            all.push(self.index.recall(reading, recall.clone()).await?);
        }
        Ok(all)
    }

    /// The candidates of each box by similarity to the query, which each part gets as vectors; nothing where only words count.
    async fn by_meaning(
        &self,
        readings: &[Reading],
        parts: &mut [Part],
        request: &SearchRequest,
        query: &str,
    ) -> Result<Vec<Vec<Found>>, Fault> {
        let mut found = vec![Vec::new(); readings.len()];
        if request.mode == Mode::Keyword && !request.closer() {
            return Ok(found);
        }
        for part in parts.iter_mut().filter(|part| !part.boxes.is_empty()) {
            let embedded =
                part.embedder.embed(vec![query.to_string()], Role::Query, request.closer()).await?;
            part.question = embedded.into_iter().next();
            let Some(question) = part.question.as_ref().filter(|_| request.mode != Mode::Keyword) else {
                continue;
            };
            let (vector, model) = (Some(question.vector.as_slice()), part.embedder.id());
            let only = request.only.as_ref();
            for &at in &part.boxes {
                let exact_to = self.exact_to;
                let recall = Recall { text: None, vector, model, only, limit: RECALLED, exact_to };
                found[at] = self.index.recall(&readings[at], recall).await?.semantic;
            }
        }
        Ok(found)
    }

    /// Adds the similarity by vector to those of a part that only their words brought here.
    async fn complete(
        &self,
        readings: &[Reading],
        part: &Part,
        candidates: &mut [Candidate],
    ) -> Result<(), Fault> {
        let Some(question) = &part.question else { return Ok(()) };
        let mut unknown: Vec<&mut Candidate> = candidates
            .iter_mut()
            .filter(|candidate| candidate.cosine.is_none() && part.boxes.contains(&candidate.box_at))
            .collect();
        let places: Vec<_> = unknown.iter().map(|candidate| candidate.place()).collect();
        if places.is_empty() {
            return Ok(());
        }
        let cosines = self.cosines(readings, &places, &question.vector).await?;
        unknown.iter_mut().zip(cosines).for_each(|(candidate, cosine)| candidate.cosine = cosine);
        Ok(())
    }

    /// The id of the cross-encoder, where there is one and the embedder's numbers give it a weight.
    fn cross_encoder_id(&self, part: &Part) -> Option<&str> {
        self.rerankers.id_for(part.embedder.id()).filter(|_| part.weighing().cross.weight > 0.0)
    }

    /// The cross-encoder itself, where it is to be asked.
    async fn cross_encoder(
        &self,
        request: &SearchRequest,
        part: &Part,
    ) -> Result<Option<Arc<dyn Reranker>>, Fault> {
        match self.cross_encoder_id(part).filter(|_| request.most.cross_encoded > 0) {
            Some(_) => self.rerankers.get(part.embedder.id()).await,
            None => Ok(None),
        }
    }

    /// What the parts were searched with.
    fn models(&self, parts: &[Part]) -> Vec<Models> {
        let of = |part: &Part| Models {
            embedder: part.embedder.id().to_string(),
            reranker: self.cross_encoder_id(part).map(str::to_string),
        };
        parts.iter().map(of).collect()
    }

    /// Reranks the best: late interaction first, then the cross-encoder where there is one.
    async fn rerank(
        &self,
        readings: &[Reading],
        request: &SearchRequest,
        part: &Part,
        mut candidates: Vec<Candidate>,
        work: &mut Work,
    ) -> Result<Vec<Candidate>, Fault> {
        candidates.truncate(SearchWork::MOST.reranked);
        let question = part.question.clone().filter(|_| request.closer());
        let Some(question) = question else { return Ok(candidates) };
        candidates.truncate(request.most.reranked);
        work.reranked += candidates.len();
        let (trust, weighing) = (part.trust(), part.weighing().clone());
        let places: Vec<_> = candidates.iter().map(Candidate::place).collect();
        let tokens = self.tokens(readings, &places).await?;
        let mut candidates =
            blocking::run(move |_| looked_closer(&question, candidates, &tokens, &weighing)).await?;
        if let Some(reranker) = self.cross_encoder(request, part).await? {
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
                    work.cross_encoded += read;
                    fuse::add_cross(&mut candidates, &scores, part.weighing(), trust);
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

    /// Adds what a reader needs: the place of the query's words, where all stands on the page, and the chunks around.
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
            let box_at = candidate.box_at;
            Some((box_at, Hit::new(candidate, &request.query, rank, score, copies, around)?))
        });
        let mut hits: Vec<(usize, Hit)> = hits.collect();
        if request.regions {
            let pages = hits
                .iter()
                .flat_map(|(at, hit)| cite::pages(&hit.chunk).map(|number| (*at, hit.id.file, number)))
                .collect();
            let laid_out = self.laid_out(readings, pages).await?;
            for (box_at, hit) in &mut hits {
                let page = |number| laid_out.get(&(*box_at, hit.id.file, number));
                hit.regions = cite::place(&hit.chunk, &mut hit.highlights, page);
            }
        }
        Ok(hits.into_iter().map(|(_, hit)| hit).collect())
    }
}

/// What each box found, with the box and the rank there, from 1.
fn ranked(found: Vec<Vec<Found>>) -> impl Iterator<Item = (usize, usize, Found)> {
    let of_box = |(box_at, found): (usize, Vec<Found>)| {
        found.into_iter().zip(1..).map(move |(found, rank)| (box_at, rank, found))
    };
    found.into_iter().enumerate().flat_map(of_box)
}

/// Each with its calibrated score, as long as that reaches the threshold. Within a part a hit is never surer than the one
/// before it: the order has seen more than the calibration. Between parts the scores decide.
fn likely_enough(
    parts: &[Part],
    candidates: Vec<Vec<Candidate>>,
    request: &SearchRequest,
) -> Vec<(Candidate, f32)> {
    let mut scored: Vec<(Candidate, f32)> = Vec::new();
    for (part, candidates) in parts.iter().zip(candidates) {
        let mut before = 1.0f32;
        scored.extend(candidates.into_iter().map(|mut candidate| {
            candidate.likelihood = calibrate::likelihood(&candidate, part.weighing());
            before = before.min(candidate.likelihood);
            let aged = request.freshness.as_ref().map_or(1.0, |freshness| freshness.of(candidate.id.file));
            (candidate, before * aged)
        }));
    }
    // What is in order already stays as it is.
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    scored.into_iter().take_while(|(_, score)| *score >= request.threshold).collect()
}

/// The chunks up to `reach` before and after this one, in order; some may not exist.
fn neighbours(id: ChunkId, reach: u32) -> impl Iterator<Item = ChunkId> {
    let (first, last) = (id.ordinal.saturating_sub(reach), id.ordinal.saturating_add(reach));
    (first..=last).filter(move |&ordinal| ordinal != id.ordinal).map(move |ordinal| ChunkId { ordinal, ..id })
}
