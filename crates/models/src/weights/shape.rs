//! What a model's files say about the network: its sizes, and how a vector comes out of it.

use serde::{Deserialize, Serialize};

use super::WeightsError;

/// The sizes of a BERT encoder, as its `config.json` gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Encoder layers.
    pub layers: usize,
    /// Width of the hidden states.
    pub width: usize,
    /// Attention heads.
    pub heads: usize,
    /// Width between the two feed-forward products.
    pub inner: usize,
    /// Rows of the position table: the most tokens of a sequence.
    pub positions: usize,
    /// Keeps layer normalisation from dividing by zero.
    pub epsilon: f32,
}

impl Shape {
    /// Refuses sizes that no path could run.
    pub(crate) fn check(&self) -> Result<(), WeightsError> {
        let whole = self.heads > 0
            && self.width.is_multiple_of(self.heads)
            && self.head_width().is_multiple_of(16)
            && self.inner.is_multiple_of(16)
            && self.positions >= FEWEST_POSITIONS;
        match whole && self.width > 0 && self.inner > 0 {
            true => Ok(()),
            false => Err(WeightsError::Unsupported(format!(
                "heads and widths must divide into blocks of 16, but are {self:?}"
            ))),
        }
    }

    pub(crate) fn head_width(&self) -> usize {
        self.width / self.heads
    }
}

/// Fewer would not leave room for a pair of texts and its special tokens.
pub(crate) const FEWEST_POSITIONS: usize = 16;

/// How a text's vector comes from its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    Cls,
}
