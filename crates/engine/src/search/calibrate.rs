//! Turns what is known of a hit into how likely it is relevant.
//!
//! A logistic fit on the judged sets: of the hits with a score of 0.5, half are relevant there. `bench/index/calibrate.py`
//! fits the numbers anew and draws docs/calibration.svg.

use super::{Candidate, fuse::keyword_share};

/// A logistic function of what the stages say.
struct Fit {
    constant: f32,
    cosine: f32,
    keyword: f32,
    late: f32,
    weighed: f32,
}

/// With late interaction.
const WITH_LATE: Fit = Fit { constant: -8.99, cosine: 0.49, keyword: 3.94, late: 1.20, weighed: 6.21 };
/// Without.
const WITHOUT_LATE: Fit = Fit { constant: -8.95, cosine: 2.23, keyword: 4.11, late: 0.0, weighed: 5.43 };

/// How likely a candidate is relevant, 0–1.
pub(super) fn likelihood(candidate: &Candidate) -> f32 {
    let fit = if candidate.late.is_some() { WITH_LATE } else { WITHOUT_LATE };
    // A cross-encoder's word lifts `weighed` above the rest; its share is what counts here.
    let weighed = candidate.cross.unwrap_or(candidate.weighed);
    let sum = fit.constant
        + fit.cosine * candidate.cosine.unwrap_or(0.0)
        + fit.keyword * keyword_share(candidate.keyword.unwrap_or(0.0))
        + fit.late * candidate.late.unwrap_or(0.0)
        + fit.weighed * weighed;
    1.0 / (1.0 + (-sum).exp())
}
