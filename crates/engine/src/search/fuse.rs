//! Weighs what the stages know of each candidate into one order.
//!
//! Scores say more than ranks: a word that is in one chunk only stands far above the rest, and keeps that lead here, while
//! a model that finds everything about equally like the query has little to say. The weights are one setting for each
//! embedder, for all boxes and languages ([`Weighing`]), measured on the sets of docs/search.md.

use std::collections::HashSet;

use super::Candidate;
use crate::seams::weighing::Weighing;

/// The shares of repeated tokens at which a model starts to lose, and has lost, track of what it reads: text in an
/// unknown script comes out as the same "unknown" token again and again. English has up to a quarter within [`LOOKED_AT`].
const REPEATED: (f32, f32) = (0.25, 0.45);
/// Tokens within which repeated ones are counted: in a paragraph of any language the articles come again and again.
const LOOKED_AT: usize = 32;
/// The BM25 score that reads as 0.5 when shown as a share: about what one rare word brings.
const HALF_KEYWORD: f32 = 8.0;

/// How far the embedder may be trusted with a query, from its tokens: its least trust to 1.
pub fn trust(token_ids: &[u32], weighing: &Weighing) -> f32 {
    let distinct = |ids: &[u32]| ids.iter().collect::<HashSet<_>>().len();
    let distinct: usize = token_ids.chunks(LOOKED_AT).map(distinct).sum();
    let repeated = (token_ids.len() - distinct) as f32 / token_ids.len().max(1) as f32;
    let lost = ((repeated - REPEATED.0) / (REPEATED.1 - REPEATED.0)).clamp(0.0, 1.0);
    1.0 - (1.0 - weighing.least_trust) * lost
}

/// A BM25 score, which has no upper end, as a share.
pub(super) fn keyword_share(score: f32) -> f32 {
    score / (score + HALF_KEYWORD)
}

/// Weighs both sides into `fused`, and sorts by it, best first. A side that nothing is known from counts for nothing.
pub(super) fn fuse(candidates: &mut [Candidate], weighing: &Weighing, trust: f32) {
    let share = weighing.semantic;
    let semantic = stretched(candidates, |candidate| candidate.cosine, share.spread);
    let best_keyword = candidates.iter().filter_map(|candidate| candidate.keyword).fold(0.0, f32::max);
    let weight = match (semantic.is_some(), best_keyword > 0.0) {
        (true, true) => share.weight * trust,
        (true, false) => 1.0,
        (false, _) => 0.0,
    };
    let least_best = weighing.keyword_spread.max(f32::MIN_POSITIVE);
    for (at, candidate) in candidates.iter_mut().enumerate() {
        let semantic = semantic.as_ref().map_or(0.0, |shares| shares[at]);
        // A chunk without any of the words scores nothing, so that is where this side starts.
        let keyword = candidate.keyword.map_or(0.0, |score| score / best_keyword.max(least_best));
        candidate.fused = weight * semantic + (1.0 - weight) * keyword;
        (candidate.weighed, candidate.order) = (candidate.fused, candidate.fused);
    }
    sort(candidates);
}

/// Weighs the late interaction in, where there is one, and sorts again.
pub(super) fn add_late(candidates: &mut [Candidate], weighing: &Weighing, trust: f32) {
    let share = weighing.late;
    let Some(late) = stretched(candidates, |candidate| candidate.late, share.spread) else { return };
    let weight = share.weight * trust;
    for (candidate, late) in candidates.iter_mut().zip(late) {
        candidate.weighed = (1.0 - weight) * candidate.fused + weight * late;
        candidate.order = candidate.weighed;
    }
    sort(candidates);
}

/// Weighs a cross-encoder's scores of the first candidates in. What it has read stays above what it has not.
pub(super) fn add_cross(candidates: &mut [Candidate], scores: &[f32], weighing: &Weighing, trust: f32) {
    let share = weighing.cross;
    let read = candidates.len().min(scores.len());
    let (read, _) = candidates.split_at_mut(read);
    for (candidate, score) in read.iter_mut().zip(scores) {
        candidate.cross = Some(*score);
    }
    let Some(shares) = stretched(read, |candidate| candidate.cross, share.spread) else { return };
    let weight = share.weight * trust;
    for (candidate, share) in read.iter_mut().zip(shares) {
        candidate.order = 1.0 + (1.0 - weight) * candidate.weighed + weight * share;
    }
    sort(candidates);
}

/// Each value's place between the lowest and the highest, as a share of their distance or of `spread` if that is more;
/// `None` where no value is known, the lowest where one is not.
fn stretched(
    candidates: &[Candidate],
    value: impl Fn(&Candidate) -> Option<f32>,
    spread: f32,
) -> Option<Vec<f32>> {
    let known = || candidates.iter().filter_map(&value);
    let lowest = known().reduce(f32::min)?;
    let highest = known().reduce(f32::max)?;
    let spread = spread.max(highest - lowest);
    Some(
        candidates
            .iter()
            .map(|candidate| value(candidate).map_or(0.0, |known| (known - lowest) / spread))
            .collect(),
    )
}

fn sort(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| b.order.total_cmp(&a.order).then(a.id.cmp(&b.id)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ChunkId, FileId};

    fn candidates(known: &[(Option<f32>, Option<f32>)]) -> Vec<Candidate> {
        let file = FileId::generate();
        let one = |(&(cosine, keyword), ordinal)| Candidate {
            cosine,
            keyword,
            ..Candidate::new(ChunkId { file, ordinal })
        };
        known.iter().zip(0..).map(one).collect()
    }

    fn order(candidates: &[Candidate]) -> Vec<u32> {
        candidates.iter().map(|candidate| candidate.id.ordinal).collect()
    }

    #[test]
    fn a_word_that_stands_in_one_chunk_only_wins() {
        let mut found =
            candidates(&[(Some(0.45), Some(3.0)), (Some(0.40), Some(2.5)), (Some(0.2), Some(14.0))]);
        fuse(&mut found, &Weighing::USUAL, 1.0);
        assert_eq!(order(&found), [2, 0, 1]);
    }

    #[test]
    fn a_paraphrase_wins_where_words_say_little() {
        let mut found = candidates(&[(Some(0.8), Some(2.0)), (Some(0.2), Some(2.4)), (Some(0.3), None)]);
        fuse(&mut found, &Weighing::USUAL, 1.0);
        assert_eq!(order(&found), [0, 1, 2]);
        assert!(found.iter().all(|candidate| (0.0..=1.0).contains(&candidate.fused)));
    }

    #[test]
    fn few_words_in_common_count_less_where_the_model_says_so() {
        let known = [(Some(0.8), None), (Some(0.5), Some(3.0)), (Some(0.2), None)];
        let mut found = candidates(&known);
        fuse(&mut found, &Weighing::USUAL, 1.0);
        assert_eq!(order(&found), [1, 0, 2]);
        let mut found = candidates(&known);
        fuse(&mut found, &Weighing { keyword_spread: 15.0, ..Weighing::USUAL }, 1.0);
        assert_eq!(order(&found), [0, 1, 2]);
    }

    #[test]
    fn one_side_alone_keeps_its_order() {
        let mut semantic = candidates(&[(Some(0.1), None), (Some(0.3), None)]);
        fuse(&mut semantic, &Weighing::USUAL, 1.0);
        assert_eq!(order(&semantic), [1, 0]);
        let mut keyword = candidates(&[(None, Some(1.0)), (None, Some(3.0))]);
        fuse(&mut keyword, &Weighing::USUAL, 1.0);
        add_late(&mut keyword, &Weighing::USUAL, 1.0);
        assert_eq!(order(&keyword), [1, 0]);
        fuse(&mut [], &Weighing::USUAL, 1.0);
    }

    #[test]
    fn a_model_that_sees_the_same_token_again_and_again_is_not_trusted() {
        let usual = Weighing::USUAL;
        assert_eq!(trust(&[1, 2, 3, 4, 5, 5, 6], &usual), 1.0);
        assert!(trust(&[100; 20], &usual) <= usual.least_trust + 1e-6);
        assert_eq!(trust(&[], &usual), 1.0);
        // A paragraph in which every fifth token is an article is English all the same.
        let paragraph: Vec<u32> = (0..160).map(|at| if at % 5 == 0 { 7 } else { 1000 + at % 60 }).collect();
        assert_eq!(trust(&paragraph, &usual), 1.0);
        let knows_all = Weighing { least_trust: 1.0, ..usual };
        assert_eq!(trust(&[100; 20], &knows_all), 1.0);
    }
}
