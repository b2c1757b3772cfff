//! What a search takes and what it gives.

use std::{collections::HashSet, sync::Arc};

use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    Candidate, Freshness,
    cite::{self, Highlight},
    fuse,
};
use crate::{
    Fault,
    cost::{self, SearchWork, Work},
    ids::{ChunkId, FileId},
    layout::Region,
    seams::index::{Chunk, Correction},
};

/// Which sides recall candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Vectors and words.
    #[default]
    Hybrid,
    /// Vectors only.
    Semantic,
    /// Words only.
    Keyword,
}

/// What to search for and how.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The question, 1–4,000 characters.
    pub query: String,
    /// Hits wanted, 1–50.
    pub top_k: usize,
    /// The least score of a hit, 0–1.
    pub threshold: f32,
    /// Which sides to ask.
    pub mode: Mode,
    /// Whether to rerank the best.
    pub rerank: bool,
    /// Only these files; `None` is the whole box.
    pub only: Option<HashSet<FileId>>,
    /// Hits of one file at most.
    pub max_chunks_per_document: Option<usize>,
    /// Neighbouring chunks to give with each hit, before and after, 0–3.
    pub context: usize,
    /// Whether to say how each hit came about, and where each file of `only` dropped out.
    pub explain: bool,
    /// Whether to say where on its pages each hit stands.
    pub regions: bool,
    /// How new the files are, where newer ones are preferred.
    pub freshness: Option<Arc<Freshness>>,
    /// How much costly work may be done; less where the caller caps what the search may cost.
    pub most: SearchWork,
}

impl SearchRequest {
    /// A plain search with the usual settings.
    pub fn new(query: impl Into<String>) -> Self {
        SearchRequest {
            query: query.into(),
            top_k: 10,
            threshold: 0.0,
            mode: Mode::Hybrid,
            rerank: true,
            only: None,
            max_chunks_per_document: None,
            context: 0,
            explain: false,
            regions: false,
            freshness: None,
            most: SearchWork::MOST,
        }
    }

    /// The same search with fewer neighbours, and then fewer hits, where it would return more than it may.
    pub(super) fn shrunk(mut self) -> Self {
        while self.context > 0 && self.top_k.saturating_mul(1 + 2 * self.context) > self.most.passages {
            self.context -= 1;
        }
        self.top_k = self.top_k.min(self.most.passages);
        self
    }

    /// Whether the best are reranked: asked for, and within what may be done.
    pub(super) fn closer(&self) -> bool {
        self.rerank && self.most.reranked > 0
    }

    /// What it can cost, by a server with or without a cross-encoder.
    pub fn bounds(&self, cross_encoder: bool) -> cost::Bounds {
        let reranks = self.rerank && self.most.reranked > 0 && cross_encoder;
        let cross_encoded = if reranks { self.most.cross_encoded } else { 0 };
        let passages = self.top_k.saturating_mul(1 + 2 * self.context).min(self.most.passages);
        cost::Bounds { min: 1, max: cost::search(&Work { cross_encoded, passages, ..Work::default() }, 1) }
    }

    /// The limits hold for every caller, so they are checked here too.
    pub fn check(&self) -> Result<(), Fault> {
        let characters = self.query.chars().count();
        if self.query.trim().is_empty() {
            return Err(Fault::invalid("query", "`query` is empty; it needs 1 to 4,000 characters"));
        }
        if characters > 4_000 {
            let cause = format!("`query` has {characters} characters; the limit is 4,000");
            return Err(Fault::invalid("query", cause));
        }
        if !(1..=50).contains(&self.top_k) {
            return Err(Fault::invalid("top_k", format!("`top_k` must be from 1 to 50, not {}", self.top_k)));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            let cause = format!("`threshold` must be from 0 to 1, not {}", self.threshold);
            return Err(Fault::invalid("threshold", cause));
        }
        if self.context > 3 {
            return Err(Fault::invalid(
                "context",
                format!("`context` must be from 0 to 3, not {}", self.context),
            ));
        }
        if self.max_chunks_per_document == Some(0) {
            let cause = "`max_chunks_per_document` must be 1 or more, not 0";
            return Err(Fault::invalid("max_chunks_per_document", cause));
        }
        Ok(())
    }
}

/// What the stages gave a hit, each 0–1; `None` where a stage did not see it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// Likeness by vector.
    pub semantic: Option<f32>,
    /// By its words.
    pub keyword: Option<f32>,
    /// Both weighed together.
    pub fused: f32,
    /// By reranking.
    pub rerank: Option<f32>,
}

/// The hit's rank in each stage, from 1; `None` where a stage did not see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ranks {
    /// Among the candidates by vector.
    pub semantic: Option<usize>,
    /// Among the candidates by words.
    pub keyword: Option<usize>,
    /// After both were weighed together.
    pub fused: usize,
    /// After reranking.
    pub rerank: Option<usize>,
}

/// A chunk next to a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Which chunk.
    pub id: ChunkId,
    /// What it says.
    pub chunk: Chunk,
}

/// One hit.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Which chunk.
    pub id: ChunkId,
    /// Its place among the hits, from 1.
    pub rank: usize,
    /// How likely it is to be relevant, 0–1; never more than the hit before.
    pub score: f32,
    /// What the stages gave it.
    pub scores: Scores,
    /// Its rank in each stage.
    pub ranks: Ranks,
    /// The passage itself.
    pub chunk: Chunk,
    /// Where the query's words are, on the chunk's page.
    pub highlights: Vec<Highlight>,
    /// Where the passage stands on its pages, where these have a look of their own and it was asked for.
    pub regions: Vec<Region>,
    /// The chunks around it, in order.
    pub around: Vec<Context>,
    /// Chunks that say the same and are not shown.
    pub copies: Vec<ChunkId>,
}

impl Hit {
    pub(super) fn new(
        candidate: Candidate,
        query: &str,
        rank: usize,
        score: f32,
        copies: Vec<ChunkId>,
        around: Vec<Context>,
    ) -> Option<Self> {
        let scores = Scores {
            semantic: candidate.cosine.map(|cosine| cosine.clamp(0.0, 1.0)),
            keyword: candidate.keyword.map(fuse::keyword_share),
            fused: candidate.fused,
            rerank: candidate.cross.or(candidate.late).map(|_| candidate.likelihood),
        };
        let ranks = Ranks {
            semantic: candidate.semantic_rank,
            keyword: candidate.keyword_rank,
            fused: candidate.fused_rank,
            rerank: candidate.rerank_rank,
        };
        let chunk = candidate.chunk?;
        let highlights = cite::highlights(query, &chunk);
        let (id, regions) = (candidate.id, Vec::new());
        Some(Hit { id, rank, score, scores, ranks, highlights, regions, chunk, around, copies })
    }
}

/// The stages at which a file can drop out, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Neither side found a chunk of it.
    Recall,
    /// Its chunks were not among those that are looked at closer.
    Fuse,
    /// As before, after the closer look.
    Rerank,
    /// Its chunks are less likely relevant than the threshold asks for.
    Threshold,
    /// Its chunks say what better ones of other files say.
    Group,
    /// Others were better.
    TopK,
}

/// Why a file has no hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WhyNot {
    /// Which file.
    pub file: FileId,
    /// The stage that its last chunk did not get through.
    pub stage: Stage,
}

/// What some of the boxes were searched with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Models {
    /// The embedder that filled them.
    pub embedder: String,
    /// The cross-encoder that reads after it; without one, late interaction alone reranks.
    pub reranker: Option<String>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct SearchHits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// The work done for them.
    pub work: Work,
    /// For each file of `only` that has no hit, the stage at which it dropped out; empty unless asked for.
    pub why_not: Vec<WhyNot>,
    /// Words that the box does not have, and what was looked for instead.
    pub corrected: Vec<Correction>,
    /// What the boxes were searched with: one entry for each embedder that filled some of them.
    pub models: Vec<Models>,
}

/// A query with words taken for others.
pub(super) fn corrected(query: &str, corrections: &[Correction]) -> String {
    let mut corrected = String::with_capacity(query.len());
    let mut end = 0;
    for (start, word) in query.unicode_word_indices() {
        let lower = word.to_lowercase();
        if let Some(correction) = corrections.iter().find(|correction| correction.written == lower) {
            corrected.push_str(&query[end..start]);
            corrected.push_str(&correction.taken_for);
            end = start + word.len();
        }
    }
    corrected.push_str(&query[end..]);
    corrected
}
