//! The encoder on AMX tiles: linear layers in 8 bits, attention in bf16, residuals in f32.
//!
//! Activations travel as panels of one cache line per row ([`product::Panels`], [`product::Steps`]), so that every
//! product, and every head's queries, are read tile by tile without repacking, and sequences need no padding.

mod attention;
mod product;
mod tile;
mod vector;

use std::sync::LazyLock;

use super::aligned::Buffer;
use super::layers::{Layer, Norm};
use crate::weights::Shape;
use attention::{Room, Span};
use product::{Finish, Panels, Steps};

pub(crate) use product::Weights;

/// Whether this processor and this kernel let us use tiles. Asked once: the answer is the process's permanently.
pub(crate) fn available() -> bool {
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        let tiles = std::arch::x86_64::__cpuid_count(7, 0).edx;
        const AMX_BF16: u32 = 1 << 22;
        const AMX_TILE: u32 = 1 << 24;
        const AMX_INT8: u32 = 1 << 25;
        const ALL: u32 = AMX_BF16 | AMX_TILE | AMX_INT8;
        let vectors = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bf16");
        vectors && tiles & ALL == ALL && tile::permitted()
    });
    *AVAILABLE
}

/// Whether the tiles fit this network: rows must come in blocks of 64 columns, heads in blocks of 32.
pub(crate) fn fits(shape: &Shape) -> bool {
    shape.width.is_multiple_of(64) && shape.inner.is_multiple_of(64) && shape.head_width().is_multiple_of(32)
}

/// Room for one thread's activations; grows to the largest batch and stays.
#[derive(Default)]
pub(crate) struct Scratch {
    /// What the next product reads.
    input: Steps,
    joined: Panels,
    context: Panels,
    inner: Panels,
    room: Room,
}

/// Runs the encoder over packed sequences. `hidden` holds the summed embeddings and becomes the last hidden states;
/// it has room for the tokens rounded up to 16.
pub(crate) fn encode(
    shape: &Shape,
    first: &Norm,
    layers: &[Layer<Weights>],
    lengths: &[usize],
    hidden: &mut Buffer<f32>,
    scratch: &mut Scratch,
) {
    assert!(available() && fits(shape));
    let rows: usize = lengths.iter().sum();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    assert!(hidden.len() >= rows.next_multiple_of(16) * shape.width);
    scratch.input.shape(rows, shape.width.max(shape.inner));
    scratch.joined.shape(rows, 3 * shape.width);
    scratch.context.shape(rows, shape.width);
    scratch.inner.shape(rows, shape.inner);
    scratch.room.shape(longest, shape.head_width());
    // SAFETY: `available` and `fits` were asserted; every buffer was shaped for `rows` above, and weights were packed
    // for the same shape.
    unsafe {
        let _tiles = tile::Tiles::shape();
        run(shape, first, layers, lengths, rows, hidden, scratch);
    }
}

/// The layers, one after the other.
///
/// # Safety
/// Tiles must be shaped, and `hidden` and `scratch` must have room for `rows` rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512bf16")]
unsafe fn run(
    shape: &Shape,
    first: &Norm,
    layers: &[Layer<Weights>],
    lengths: &[usize],
    rows: usize,
    hidden: &mut Buffer<f32>,
    scratch: &mut Scratch,
) {
    let hidden = hidden.as_mut_ptr();
    let Scratch { input, joined, context, inner, room } = scratch;
    let heads = (shape.heads, shape.head_width());
    let add = Finish::Add { hidden, width: shape.width };
    // SAFETY: the caller vouches for all of it.
    unsafe {
        vector::normalise(hidden, input.rows(), rows, first);
        for layer in layers {
            debug_assert_eq!(layer.joined.outputs(), 3 * shape.width);
            let store = Finish::Store { panels: joined.values.as_mut_ptr(), stride: joined.stride };
            product::product(input, rows, &layer.joined, store);
            let mut start = 0;
            for &length in lengths {
                attention::attend(joined, context, Span { first: start, length }, heads, room);
                start += length;
            }
            vector::quantise(context, rows, shape.width, input.rows());
            product::product(input, rows, &layer.output, add);
            vector::normalise(hidden, input.rows(), rows, &layer.attention_norm);
            let gelu = Finish::Gelu { panels: inner.values.as_mut_ptr(), stride: inner.stride };
            product::product(input, rows, &layer.up, gelu);
            vector::quantise(inner, rows, shape.inner, input.rows());
            product::product(input, rows, &layer.down, add);
            vector::normalise(hidden, input.rows(), rows, &layer.output_norm);
        }
    }
}
