//! The encoder for the paths that keep activations as rows of f32: portable, AVX2, NEON, and VNNI around its own products.

use super::aligned::Buffer;
use super::lanes::{self, Finish, Lanes, Matrix, Room};
use super::layers::{Layer, Norm};
use crate::weights::Shape;

/// What such a path brings: one product, attention and normalisation.
pub(crate) trait Kernels {
    /// Packed weights of one product.
    type Weights;
    /// Whatever they keep from call to call.
    type Scratch: Default;

    fn linear(
        input: &[f32],
        rows: usize,
        weights: &Self::Weights,
        finish: Finish<'_>,
        scratch: &mut Self::Scratch,
    );
    fn attend(
        joined: &[f32],
        context: &mut [f32],
        length: usize,
        heads: (usize, usize),
        scratch: &mut Self::Scratch,
    );
    fn normalise(hidden: &mut [f32], norm: &Norm);
}

/// Compiled for the oldest processor of its architecture. Slow but everywhere, and what the others are tested against.
pub(crate) struct Portable;

/// NEON has fused multiply-add and 32 registers from the start; baseline x86-64 has neither.
const FUSED: bool = cfg!(target_arch = "aarch64");
const ROWS: usize = if cfg!(target_arch = "aarch64") { 6 } else { 3 };

impl Lanes for Portable {
    const FUSED: bool = FUSED;
}

impl Kernels for Portable {
    type Weights = Matrix;
    type Scratch = Room;

    fn linear(input: &[f32], rows: usize, weights: &Matrix, finish: Finish<'_>, _: &mut Room) {
        lanes::linear::<Portable, ROWS>(input, rows, weights, finish);
    }

    fn attend(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
        lanes::attend::<Portable, ROWS>(joined, context, length, heads, room);
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        lanes::normalise::<Portable>(hidden, norm);
    }
}

/// Room for one thread's activations; grows to the largest batch and stays.
#[derive(Default)]
pub(crate) struct Scratch<S> {
    joined: Buffer<f32>,
    context: Buffer<f32>,
    inner: Buffer<f32>,
    kernels: S,
}

/// Runs the encoder over packed sequences. `hidden` holds the summed embeddings and becomes the last hidden states.
pub(crate) fn encode<K: Kernels>(
    shape: &Shape,
    first: &Norm,
    layers: &[Layer<K::Weights>],
    lengths: &[usize],
    hidden: &mut [f32],
    scratch: &mut Scratch<K::Scratch>,
) {
    let rows: usize = lengths.iter().sum();
    let width = shape.width;
    scratch.joined.reserve(rows * 3 * width);
    scratch.context.reserve(rows * width);
    scratch.inner.reserve(rows * shape.inner);
    let Scratch { joined, context, inner, kernels } = scratch;
    let hidden = &mut hidden[..rows * width];
    K::normalise(hidden, first);
    for layer in layers {
        K::linear(hidden, rows, &layer.joined, Finish::Store(joined), kernels);
        let mut start = 0;
        for &length in lengths {
            let heads = (shape.heads, shape.head_width());
            K::attend(&joined[start * 3 * width..], &mut context[start * width..], length, heads, kernels);
            start += length;
        }
        K::linear(context, rows, &layer.output, Finish::Add(hidden), kernels);
        K::normalise(hidden, &layer.attention_norm);
        K::linear(hidden, rows, &layer.up, Finish::Gelu(inner), kernels);
        K::linear(inner, rows, &layer.down, Finish::Add(hidden), kernels);
        K::normalise(hidden, &layer.output_norm);
    }
}
