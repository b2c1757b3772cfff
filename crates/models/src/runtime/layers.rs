//! The network as numbers: its layers packed for one path, and how they come out of a checkpoint.

use crate::weights::{Checkpoint, Shape, Tensor, WeightsError};

use super::math;

/// Layer normalisation.
pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

/// One encoder layer, its products packed as `M`.
pub(crate) struct Layer<M> {
    /// Queries, keys and values in one product.
    pub(crate) joined: M,
    pub(crate) output: M,
    pub(crate) attention_norm: Norm,
    pub(crate) up: M,
    pub(crate) down: M,
    pub(crate) output_norm: Norm,
}

/// The three tables whose rows add up to a token's first hidden state.
pub(crate) struct Embeddings {
    /// Stays in the mapped file: a text touches few of its rows.
    words: Tensor,
    positions: Vec<f32>,
    types: Vec<f32>,
    pub(crate) norm: Norm,
    width: usize,
}

impl Embeddings {
    pub(crate) fn load(checkpoint: &Checkpoint, shape: &Shape) -> Result<Self, WeightsError> {
        let words = checkpoint.tensor("embeddings.word_embeddings.weight")?;
        words.expect_columns(shape.width)?;
        let positions = checkpoint.tensor("embeddings.position_embeddings.weight")?;
        positions.expect_shape(&[shape.positions, shape.width])?;
        let types = checkpoint.tensor("embeddings.token_type_embeddings.weight")?;
        types.expect_columns(shape.width)?;
        Ok(Embeddings {
            positions: positions.values(),
            types: types.values(),
            norm: norm(checkpoint, "embeddings.LayerNorm", shape)?,
            words,
            width: shape.width,
        })
    }

    pub(crate) fn vocabulary(&self) -> usize {
        self.words.rows()
    }

    /// Writes the sum of the tables' rows for each token of one sequence.
    pub(crate) fn look_up(&self, ids: &[u32], second_from: usize, hidden: &mut [f32]) {
        for (position, (id, row)) in ids.iter().zip(hidden.chunks_exact_mut(self.width)).enumerate() {
            self.words.row(*id as usize, row);
            let kind = usize::from(position >= second_from) * self.width;
            let places = &self.positions[position * self.width..][..self.width];
            let kinds = &self.types[kind..][..self.width];
            for ((sum, place), kind) in row.iter_mut().zip(places).zip(kinds) {
                *sum += place + kind;
            }
        }
    }
}

/// Reads and packs every layer with `pack` (matrix by outputs, bias, inputs).
pub(crate) fn load<M>(
    checkpoint: &Checkpoint,
    shape: &Shape,
    pack: impl Fn(&[f32], Vec<f32>, usize) -> M + Sync,
) -> Result<Vec<Layer<M>>, WeightsError>
where
    M: Send,
{
    // Packing is the largest part of loading; two threads halve it and more would wait for memory.
    let middle = shape.layers / 2;
    let some = |range: std::ops::Range<usize>| {
        range.map(|index| layer(checkpoint, shape, index, &pack)).collect::<Result<Vec<_>, _>>()
    };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| some(middle..shape.layers));
        let mut layers = some(0..middle)?;
        layers.extend(second.join().expect("packing does not panic")?);
        Ok(layers)
    })
}

fn layer<M>(
    checkpoint: &Checkpoint,
    shape: &Shape,
    index: usize,
    pack: &impl Fn(&[f32], Vec<f32>, usize) -> M,
) -> Result<Layer<M>, WeightsError> {
    let name = |part: &str| format!("encoder.layer.{index}.{part}");
    let linear = |part: &str, outputs: usize, inputs: usize| -> Result<(Vec<f32>, Vec<f32>), WeightsError> {
        Ok((
            checkpoint.matrix(&name(&format!("{part}.weight")), outputs, inputs)?,
            checkpoint.vector(&name(&format!("{part}.bias")), outputs)?,
        ))
    };
    let packed = |part: &str, outputs: usize, inputs: usize| -> Result<M, WeightsError> {
        let (matrix, bias) = linear(part, outputs, inputs)?;
        Ok(pack(&matrix, bias, inputs))
    };
    let (mut matrix, mut bias) = linear("attention.self.query", shape.width, shape.width)?;
    // Softmax then takes powers of two of plain dot products.
    let scale = math::LOG2_E / (shape.head_width() as f32).sqrt();
    matrix.iter_mut().chain(&mut bias).for_each(|weight| *weight *= scale);
    for part in ["attention.self.key", "attention.self.value"] {
        let (more, more_bias) = linear(part, shape.width, shape.width)?;
        matrix.extend(more);
        bias.extend(more_bias);
    }
    Ok(Layer {
        joined: pack(&matrix, bias, shape.width),
        output: packed("attention.output.dense", shape.width, shape.width)?,
        attention_norm: norm(checkpoint, &name("attention.output.LayerNorm"), shape)?,
        up: packed("intermediate.dense", shape.inner, shape.width)?,
        down: packed("output.dense", shape.width, shape.inner)?,
        output_norm: norm(checkpoint, &name("output.LayerNorm"), shape)?,
    })
}

fn norm(checkpoint: &Checkpoint, name: &str, shape: &Shape) -> Result<Norm, WeightsError> {
    Ok(Norm {
        gain: checkpoint.vector(&format!("{name}.weight"), shape.width)?,
        bias: checkpoint.vector(&format!("{name}.bias"), shape.width)?,
        epsilon: shape.epsilon,
    })
}
