//! The boxes of a search by the embedder that filled them: each embedder reads the query once, and what its boxes have is weighed
//! by its own numbers. Calibrated scores bring the parts together.

use std::sync::Arc;

use super::{Candidate, Search, fuse, late};
use crate::{
    Fault,
    access::Reading,
    seams::{
        embedder::{Embedder, Embedding},
        weighing::Weighing,
    },
};

/// Boxes that one embedder filled.
pub(super) struct Part {
    pub(super) embedder: Arc<dyn Embedder>,
    /// Which of the boxes that are searched.
    pub(super) boxes: Vec<usize>,
    /// The query as vectors, where they were asked for.
    pub(super) question: Option<Embedding>,
}

impl Part {
    pub(super) fn weighing(&self) -> &Weighing {
        self.embedder.weighing()
    }

    /// Tokens of the query that were embedded.
    pub(super) fn query_tokens(&self) -> usize {
        self.question.as_ref().map_or(0, |question| question.token_ids.len().max(1))
    }

    /// How far the embedder may be trusted with the query.
    pub(super) fn trust(&self) -> f32 {
        self.question.as_ref().map_or(1.0, |question| fuse::trust(&question.token_ids, self.weighing()))
    }

    /// Both sides weighed together, best first.
    pub(super) fn fused(&self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        fuse::fuse(&mut candidates, self.weighing(), self.trust());
        for (candidate, rank) in candidates.iter_mut().zip(1..) {
            candidate.fused_rank = rank;
        }
        candidates
    }
}

impl Search {
    /// Which embedder filled each box. Without a second one there is nothing to look up.
    pub(super) async fn filled_by(&self, readings: &[Reading]) -> Result<Vec<Option<String>>, Fault> {
        if !self.embedders.several() {
            return Ok(vec![Some(self.embedders.usual().id().to_string()); readings.len()]);
        }
        let mut models = Vec::with_capacity(readings.len());
        for reading in readings {
            models.push(self.index.model(reading).await?);
        }
        Ok(models)
    }

    /// The boxes by embedder. Those that have no vectors are nobody's, and there is always one part.
    pub(super) async fn parts(&self, filled: &[Option<String>]) -> Result<Vec<Part>, Fault> {
        let mut parts: Vec<Part> = Vec::new();
        for (at, model) in filled.iter().enumerate().filter(|(_, model)| model.is_some()) {
            let embedder = self.embedders.of_model(model.as_deref()).await?;
            match parts.iter_mut().find(|part| part.embedder.id() == embedder.id()) {
                Some(part) => part.boxes.push(at),
                None => parts.push(Part { embedder, boxes: vec![at], question: None }),
            }
        }
        if parts.is_empty() {
            let embedder = self.embedders.usual().clone();
            parts.push(Part { embedder, boxes: Vec::new(), question: None });
        }
        Ok(parts)
    }
}

/// Whether a box was changed over to another model between two looks.
pub(super) fn changed_over(before: &[Option<String>], after: &[Option<String>]) -> bool {
    let changed = |(before, after): (&Option<String>, &Option<String>)| matches!((before, after), (Some(before), Some(after)) if before != after);
    before.iter().zip(after).any(changed)
}

/// The candidates of each part, in the order of the parts.
pub(super) fn by_part(parts: &[Part], candidates: Vec<Candidate>) -> Vec<Vec<Candidate>> {
    let mut split = vec![Vec::new(); parts.len()];
    for candidate in candidates {
        // One of a box that was just filled has no vectors that were asked for; its words can be weighed anywhere.
        let at = parts.iter().position(|part| part.boxes.contains(&candidate.box_at)).unwrap_or(0);
        split[at].push(candidate);
    }
    split
}

/// The late interaction of every candidate. Takes a few milliseconds of CPU, so it is not for the async threads.
pub(super) fn looked_closer(
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
