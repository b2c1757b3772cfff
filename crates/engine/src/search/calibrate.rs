//! Estimates from all that is known of a hit how likely it is to be relevant.
//!
//! A logistic fit on judged sets of many domains: of the hits with a score of 0.5, half are relevant there.
//! `training/calibrate.py` fits the numbers, for each embedder its own.

use super::{Candidate, fuse::keyword_share};
use crate::seams::weighing::Weighing;

/// How likely a candidate is to be relevant, 0–1.
pub(super) fn likelihood(candidate: &Candidate, weighing: &Weighing) -> f32 {
    let fit = match (candidate.cross, candidate.late) {
        (Some(_), _) => weighing.with_cross,
        (None, Some(_)) => weighing.with_late,
        (None, None) => weighing.without_late,
    };
    let sum = fit.constant
        + fit.cosine * candidate.cosine.unwrap_or(0.0)
        + fit.keyword * keyword_share(candidate.keyword.unwrap_or(0.0))
        + fit.late * candidate.late.unwrap_or(0.0)
        + fit.weighed * candidate.weighed
        + fit.cross * candidate.cross.unwrap_or(0.0);
    1.0 / (1.0 + (-sum).exp())
}
