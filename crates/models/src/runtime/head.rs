//! From hidden states to an answer: one vector per text, or one score per pair.

use crate::weights::{Checkpoint, Pooling, Shape, WeightsError};

impl Pooling {
    /// One unit vector from a sequence's hidden states.
    pub(crate) fn pool(self, hidden: &[f32], width: usize) -> Vec<f32> {
        let mut vector = match self {
            Pooling::Cls => hidden[..width].to_vec(),
            Pooling::Mean => {
                let mut sums = vec![0.0; width];
                for row in hidden.chunks_exact(width) {
                    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                sums
            }
        };
        normalise_vector(&mut vector);
        vector
    }
}

/// Makes a vector's length one; leaves the zero vector alone.
pub(crate) fn normalise_vector(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// A cross-encoder's head: pooler (optional), then one linear output.
pub(crate) struct Classifier {
    pooler: Option<(Vec<f32>, Vec<f32>)>,
    weights: Vec<f32>,
    bias: f32,
}

impl Classifier {
    pub(crate) fn load(checkpoint: &Checkpoint, shape: &Shape) -> Result<Self, WeightsError> {
        let pooler = match checkpoint.has("pooler.dense.weight") {
            true => Some((
                checkpoint.matrix("pooler.dense.weight", shape.width, shape.width)?,
                checkpoint.vector("pooler.dense.bias", shape.width)?,
            )),
            false => None,
        };
        let weights = checkpoint.matrix("classifier.weight", 1, shape.width)?;
        let bias = checkpoint.vector("classifier.bias", 1)?[0];
        Ok(Classifier { pooler, weights, bias })
    }

    /// The score of a pair from its first token's hidden state.
    pub(crate) fn score(&self, first: &[f32]) -> f32 {
        let dot = |row: &[f32], values: &[f32]| row.iter().zip(values).map(|(a, b)| a * b).sum::<f32>();
        let Some((matrix, bias)) = &self.pooler else {
            return dot(&self.weights, first) + self.bias;
        };
        let rows = matrix.chunks_exact(first.len()).zip(bias);
        let pooled: Vec<f32> = rows.map(|(row, bias)| (dot(row, first) + bias).tanh()).collect();
        dot(&self.weights, &pooled) + self.bias
    }
}
