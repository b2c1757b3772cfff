//! Activations × weights on tiles, with what follows done on the vector units while the tile unit goes on.

use std::arch::x86_64::*;

use super::super::aligned::Buffer;
use super::tile;
use super::vector;

/// Activations in bf16, as panels of 32 columns: within a panel every row is one cache line and rows follow each
/// other, so that any 16 consecutive rows are a tile, wherever a sequence starts.
#[derive(Default)]
pub(super) struct Panels {
    pub(super) values: Buffer<u16>,
    /// Rows from one panel to the next.
    pub(super) stride: usize,
}

impl Panels {
    /// Makes room for `rows` rows and `columns` columns.
    pub(super) fn shape(&mut self, rows: usize, columns: usize) {
        // Attention reads up to 31 rows beyond the last sequence.
        let tiles = (rows + 31).div_ceil(16);
        // An odd number of tiles, or all panels would fall into the same few sets of the cache.
        self.stride = (tiles | 1) * 16;
        self.values.reserve(self.stride * columns);
    }
}

/// Weights of one linear layer: for each 32 outputs, for each 32 inputs, two tiles of 16 outputs each, in which
/// row r holds inputs 2r and 2r + 1 of every output side by side.
pub(crate) struct Weights {
    tiles: Buffer<u16>,
    bias: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

impl Weights {
    /// Packs `matrix`, one row of `inputs` an output.
    pub(crate) fn pack(matrix: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let outputs = bias.len();
        let mut tiles = Buffer::new(outputs * inputs);
        for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
            let (block, half, column) = (output / 32, output % 32 / 16, output % 16);
            for (step, weights) in weights.chunks_exact(32).enumerate() {
                let base = (block * (inputs / 32) + step) * 2 * tile::TILE + half * tile::TILE + column * 2;
                for (pair, values) in weights.chunks_exact(2).enumerate() {
                    tiles[base + pair * 32] = round(values[0]);
                    tiles[base + pair * 32 + 1] = round(values[1]);
                }
            }
        }
        Weights { tiles, bias, inputs, outputs }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }
}

/// To bf16, nearest even.
fn round(x: f32) -> u16 {
    half::bf16::from_f32(x).to_bits()
}

/// What is done with each sum.
#[derive(Clone, Copy)]
pub(super) enum Finish {
    /// Rounded into panels with this stride.
    Store { panels: *mut u16, stride: usize },
    /// GELU, then rounded into panels with this stride.
    Gelu { panels: *mut u16, stride: usize },
    /// Added to the residual, rows of `width` floats.
    Add { hidden: *mut f32, width: usize },
}

/// 32×32 sums as four tiles; see [`tile::store_2x2`].
#[repr(C, align(64))]
struct Sums([f32; 1024]);

/// Sums that wait to be finished.
#[derive(Clone, Copy)]
struct Pending {
    block: usize,
    row: usize,
    count: usize,
}

/// `input × weights`, finished as `finish` says, for the first `rows` rows.
///
/// # Safety
/// AMX and AVX-512 must be there and tiles shaped. `input` must hold the weights' inputs as columns and `rows`
/// rounded up to 16 rows; what `finish` points to must have room for `rows` rows and the weights' outputs.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub(super) unsafe fn product(input: &Panels, rows: usize, weights: &Weights, finish: Finish) {
    let steps = weights.inputs / 32;
    // Finishing 32 rows is spread over the steps of the next product, so that both units work at once.
    let share = 32usize.div_ceil(steps);
    let mut sums = [Sums([0.0; 1024]), Sums([0.0; 1024])];
    let mut current = 0;
    let mut pending = Pending { block: 0, row: 0, count: 0 };
    let panel = input.stride * 32;
    for block in 0..weights.outputs / 32 {
        let columns = weights.tiles[block * steps * 2 * tile::TILE..].as_ptr();
        for row in (0..rows).step_by(32) {
            let both = rows - row > 16;
            let previous = sums[1 - current].0.as_ptr();
            // SAFETY: rows and columns are within what the caller vouches for; pending rows were stored before.
            unsafe {
                let first = input.values.as_ptr().add(row * 32);
                tile::zero();
                for step in 0..steps {
                    let (rows, columns) = (first.add(step * panel), columns.add(step * 2 * tile::TILE));
                    if both {
                        tile::multiply_2x2(rows, columns, columns.add(tile::TILE));
                    } else {
                        tile::multiply_1x2(rows, columns, columns.add(tile::TILE));
                    }
                    let from = step * share;
                    finish_rows(previous, pending, from..from + share, weights, finish);
                }
                tile::store_2x2(sums[current].0.as_mut_ptr());
            }
            pending = Pending { block, row, count: (rows - row).min(32) };
            current = 1 - current;
        }
    }
    // SAFETY: as above.
    unsafe { finish_rows(sums[1 - current].0.as_ptr(), pending, 0..32, weights, finish) };
}

/// Finishes some rows of waiting sums.
///
/// # Safety
/// `sums` must hold 1,024 floats and `finish` must have room for the rows and columns of `pending`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn finish_rows(
    sums: *const f32,
    pending: Pending,
    rows: std::ops::Range<usize>,
    weights: &Weights,
    finish: Finish,
) {
    for row in rows.start..rows.end.min(pending.count) {
        // SAFETY: row < 32, so both halves lie within 1,024 floats; bias is as long as the outputs; the caller
        // vouches for the target.
        unsafe {
            let sums = sums.add(row / 16 * 512 + row % 16 * 16);
            let bias = weights.bias.as_ptr().add(pending.block * 32);
            let left = _mm512_add_ps(_mm512_load_ps(sums), _mm512_loadu_ps(bias));
            let right = _mm512_add_ps(_mm512_load_ps(sums.add(256)), _mm512_loadu_ps(bias.add(16)));
            let row = pending.row + row;
            match finish {
                Finish::Store { panels, stride } => {
                    vector::store(panels.add((pending.block * stride + row) * 32), left, right);
                }
                Finish::Gelu { panels, stride } => {
                    let place = panels.add((pending.block * stride + row) * 32);
                    vector::store(place, vector::gelu(left), vector::gelu(right));
                }
                Finish::Add { hidden, width } => {
                    let place = hidden.add(row * width + pending.block * 32);
                    _mm512_storeu_ps(place, _mm512_add_ps(left, _mm512_loadu_ps(place)));
                    let place = place.add(16);
                    _mm512_storeu_ps(place, _mm512_add_ps(right, _mm512_loadu_ps(place)));
                }
            }
        }
    }
}
