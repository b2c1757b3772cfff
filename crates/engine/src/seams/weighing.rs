//! How much each stage of a search counts: numbers that belong to an embedder, because models differ in how far apart
//! their similarities lie.

use serde::Deserialize;

/// The numbers of one embedder. `training/` chooses them; `quire.json` beside a model's weights may bring its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighing {
    /// The vectors relative to the words, where the model knows the query's language.
    pub semantic: Share,
    /// The best BM25 score from which the words get their full weight; with less they get less. A question in another
    /// language than the text shares a name or a number with it, and no more.
    pub keyword_spread: f32,
    /// The late interaction relative to both.
    pub late: Share,
    /// The cross-encoder relative to all before it. With a weight of zero none is asked.
    pub cross: Share,
    /// What is left of a model's weight where the query's tokens say that it does not know what it reads; 1 for a model
    /// that knows every script.
    pub least_trust: f32,
    /// How likely a hit is to be relevant, by words and vectors alone.
    pub without_late: Fit,
    /// The same with late interaction.
    pub with_late: Fit,
    /// The same with the cross-encoder too.
    pub with_cross: Fit,
}

/// What one stage counts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// From 0 to 1.
    pub weight: f32,
    /// The distance between the candidates' lowest and highest value from which the stage gets its full weight; with
    /// less it gets less.
    pub spread: f32,
}

/// A logistic function of what the stages say.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    pub constant: f32,
    pub cosine: f32,
    pub keyword: f32,
    pub late: f32,
    pub weighed: f32,
    pub cross: f32,
}

impl Weighing {
    /// For `quire-embed-1`, and for models that bring nothing of their own. Measured on the sets of docs/search.md.
    pub const USUAL: Weighing = Weighing {
        semantic: Share { weight: 0.45, spread: 0.4 },
        keyword_spread: 0.0,
        late: Share { weight: 0.4, spread: 0.5 },
        cross: Share { weight: 0.3, spread: 8.0 },
        least_trust: 0.3,
        without_late: Fit {
            constant: -8.61,
            cosine: 1.42,
            keyword: 2.51,
            late: 0.0,
            weighed: 5.98,
            cross: 0.0,
        },
        with_late: Fit {
            constant: -8.36,
            cosine: 1.69,
            keyword: 3.08,
            late: -2.36,
            weighed: 7.15,
            cross: 0.0,
        },
        with_cross: Fit {
            constant: -5.74,
            cosine: 1.14,
            keyword: 2.70,
            late: -5.29,
            weighed: 6.81,
            cross: 0.14,
        },
    };
}
