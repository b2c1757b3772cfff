//! Activations × weights on tiles, with what follows done on the vector units while the tile unit goes on.

use std::arch::x86_64::*;

use super::super::{aligned::Buffer, math};
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
        self.stride = stride(rows);
        self.values.reserve(self.stride * columns);
    }
}

/// Activations in 8 bits, value = offset + scale × step with one scale and offset a row, as panels of 64 columns.
#[derive(Default)]
pub(super) struct Steps {
    values: Buffer<u8>,
    /// Rows from one panel to the next.
    stride: usize,
    scales: Buffer<f32>,
    offsets: Buffer<f32>,
}

impl Steps {
    /// Makes room for `rows` rows and up to `columns` columns.
    pub(super) fn shape(&mut self, rows: usize, columns: usize) {
        self.stride = stride(rows);
        self.values.reserve(self.stride * columns);
        self.scales.reserve(self.stride);
        self.offsets.reserve(self.stride);
    }

    /// The places a row is written to.
    pub(super) fn rows(&mut self) -> Rows {
        Rows {
            values: self.values.as_mut_ptr(),
            stride: self.stride,
            scales: self.scales.as_mut_ptr(),
            offsets: self.offsets.as_mut_ptr(),
        }
    }
}

/// Where [`Steps`] are written.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) values: *mut u8,
    pub(super) stride: usize,
    pub(super) scales: *mut f32,
    pub(super) offsets: *mut f32,
}

/// Rows from one panel to the next: a product and attention read up to 31 rows beyond the last. An odd number of
/// tiles, or all panels would fall into the same few sets of the cache.
fn stride(rows: usize) -> usize {
    ((rows + 31).div_ceil(16) | 1) * 16
}

/// Weights of one linear layer in 8 bits, one scale an output: for each 32 outputs, for each 64 inputs, two tiles of
/// 16 outputs each, in which row r holds inputs 4r to 4r + 3 of every output side by side.
pub(crate) struct Weights {
    tiles: Buffer<u8>,
    /// What one step of each output's weights is worth.
    scales: Vec<f32>,
    /// Each output's weights added up: what a row's offset is multiplied with.
    sums: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
}

impl Weights {
    /// Packs `matrix`, one row of `inputs` an output.
    pub(crate) fn pack(matrix: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let mut tiles = Buffer::new(bias.len() * inputs);
        let (mut scales, mut sums) = (Vec::with_capacity(bias.len()), Vec::with_capacity(bias.len()));
        let mut steps = vec![0i8; inputs];
        for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
            let (block, half, column) = (output / 32, output % 32 / 16, output % 16);
            let (scale, sum) = math::steps_of(weights, &mut steps);
            for (step, weights) in steps.chunks_exact(64).enumerate() {
                let base = (block * (inputs / 64) + step) * 2 * tile::BYTES + half * tile::BYTES + column * 4;
                let tile = &mut tiles[base..];
                for (four, place) in weights.chunks_exact(4).zip(tile.chunks_mut(64)) {
                    place[..4].copy_from_slice(&[four[0] as u8, four[1] as u8, four[2] as u8, four[3] as u8]);
                }
            }
            scales.push(scale);
            sums.push(sum);
        }
        Weights { tiles, scales, sums, bias, inputs }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }
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
struct Sums([i32; 1024]);

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
/// rounded up to 32 rows; what `finish` points to must have room for `rows` rows and the weights' outputs.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub(super) unsafe fn product(input: &Steps, rows: usize, weights: &Weights, finish: Finish) {
    let steps = weights.inputs / 64;
    // Finishing 32 rows is spread over the steps of the next product, so that both units work at once.
    let share = 32usize.div_ceil(steps);
    // So is fetching the next outputs' weights, which come from far: as many lines a step as make the block.
    let lines = 32usize.div_ceil(rows.div_ceil(32)).min(8);
    let mut sums = [Sums([0; 1024]), Sums([0; 1024])];
    let mut current = 0;
    let mut pending = Pending { block: 0, row: 0, count: 0 };
    let panel = input.stride * 64;
    for block in 0..weights.outputs() / 32 {
        let columns = weights.tiles[block * steps * 2 * tile::BYTES..].as_ptr();
        let mut ahead = columns.wrapping_add(steps * 2 * tile::BYTES);
        for row in (0..rows).step_by(32) {
            let both = rows - row > 16;
            let previous = sums[1 - current].0.as_ptr();
            // SAFETY: rows and columns are within what the caller vouches for; pending rows were stored before;
            // prefetching reads nothing.
            unsafe {
                let first = input.values.as_ptr().add(row * 64);
                tile::zero();
                for step in 0..steps {
                    let (rows, columns) = (first.add(step * panel), columns.add(step * 2 * tile::BYTES));
                    if both {
                        tile::bytes_2x2(rows, columns, columns.add(tile::BYTES));
                    } else {
                        tile::bytes_1x2(rows, columns, columns.add(tile::BYTES));
                    }
                    for _ in 0..lines {
                        _mm_prefetch::<_MM_HINT_T1>(ahead.cast());
                        ahead = ahead.wrapping_add(64);
                    }
                    let from = step * share;
                    finish_rows(previous, pending, from..from + share, input, weights, finish);
                }
                tile::store_2x2(sums[current].0.as_mut_ptr());
            }
            pending = Pending { block, row, count: (rows - row).min(32) };
            current = 1 - current;
        }
    }
    // SAFETY: as above.
    unsafe { finish_rows(sums[1 - current].0.as_ptr(), pending, 0..32, input, weights, finish) };
}

/// Finishes some rows of waiting sums.
///
/// # Safety
/// `sums` must hold 1,024 integers and `finish` must have room for the rows and columns of `pending`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn finish_rows(
    sums: *const i32,
    pending: Pending,
    rows: std::ops::Range<usize>,
    input: &Steps,
    weights: &Weights,
    finish: Finish,
) {
    let column = pending.block * 32;
    for row in rows.start..rows.end.min(pending.count) {
        // SAFETY: row < 32, so both halves lie within 1,024 integers; scales, sums and bias are as long as the
        // outputs; the caller vouches for the target.
        unsafe {
            let sums = sums.add(row / 16 * 512 + row % 16 * 16);
            let row = pending.row + row;
            let scale = _mm512_set1_ps(*input.scales.as_ptr().add(row));
            let offset = _mm512_set1_ps(*input.offsets.as_ptr().add(row));
            let value = |half: usize| {
                let at = column + 16 * half;
                let load = |values: &[f32]| _mm512_loadu_ps(values.as_ptr().add(at));
                let base = _mm512_fmadd_ps(offset, load(&weights.sums), load(&weights.bias));
                let scale = _mm512_mul_ps(scale, load(&weights.scales));
                let sum = _mm512_cvtepi32_ps(_mm512_load_si512(sums.add(256 * half).cast()));
                _mm512_fmadd_ps(sum, scale, base)
            };
            let (left, right) = (value(0), value(1));
            match finish {
                Finish::Store { panels, stride } => {
                    vector::store(panels.add((pending.block * stride + row) * 32), left, right);
                }
                Finish::Gelu { panels, stride } => {
                    let place = panels.add((pending.block * stride + row) * 32);
                    vector::store(place, vector::gelu(left), vector::gelu(right));
                }
                Finish::Add { hidden, width } => {
                    let place = hidden.add(row * width + column);
                    _mm512_storeu_ps(place, _mm512_add_ps(left, _mm512_loadu_ps(place)));
                    let place = place.add(16);
                    _mm512_storeu_ps(place, _mm512_add_ps(right, _mm512_loadu_ps(place)));
                }
            }
        }
    }
}
