//! Estimates from all that is known of a hit how likely it is to be relevant.
//!
//! A logistic fit on judged sets of many domains: of the hits with a score of 0.5, half are relevant there.
//! `training/calibrate.py` fits the numbers.

use super::{Candidate, fuse::keyword_share};

/// A logistic function of what the stages say.
struct Fit {
    constant: f32,
    cosine: f32,
    keyword: f32,
    late: f32,
    weighed: f32,
    cross: f32,
}

/// By words and vectors alone.
const WITHOUT_LATE: Fit =
    Fit { constant: -8.61, cosine: 1.42, keyword: 2.51, late: 0.0, weighed: 5.98, cross: 0.0 };
/// With late interaction.
const WITH_LATE: Fit =
    Fit { constant: -8.36, cosine: 1.69, keyword: 3.08, late: -2.36, weighed: 7.15, cross: 0.0 };
/// With the cross-encoder too.
const WITH_CROSS: Fit =
    Fit { constant: -5.74, cosine: 1.14, keyword: 2.70, late: -5.29, weighed: 6.81, cross: 0.14 };

/// How likely a candidate is to be relevant, 0–1.
pub(super) fn likelihood(candidate: &Candidate) -> f32 {
    let fit = match (candidate.cross, candidate.late) {
        (Some(_), _) => WITH_CROSS,
        (None, Some(_)) => WITH_LATE,
        (None, None) => WITHOUT_LATE,
    };
    let sum = fit.constant
        + fit.cosine * candidate.cosine.unwrap_or(0.0)
        + fit.keyword * keyword_share(candidate.keyword.unwrap_or(0.0))
        + fit.late * candidate.late.unwrap_or(0.0)
        + fit.weighed * candidate.weighed
        + fit.cross * candidate.cross.unwrap_or(0.0);
    1.0 / (1.0 + (-sum).exp())
}
