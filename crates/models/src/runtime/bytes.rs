//! Products in 8 bits: weights and activations as the kernels take them, and the product on 256-bit registers.
//!
//! Weights are signed with one scale an output; activations are unsigned with one scale and offset a row, so that
//! a single token's outliers cost only that token precision. The rest of the encoder stays in f32.

use std::arch::x86_64::*;

use super::aligned::Buffer;
use super::lanes::{Finish, LANES, Lanes};
use super::math;

/// Weights as panels of `COLUMNS` outputs: within a panel four inputs of each output lie side by side.
pub(crate) struct Weights<const COLUMNS: usize> {
    pub(super) panels: Buffer<i8>,
    /// What one step of each output's weights is worth.
    pub(super) scales: Vec<f32>,
    /// Each output's weights added up: what a row's offset is multiplied with.
    pub(super) sums: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) inputs: usize,
}

impl<const COLUMNS: usize> Weights<COLUMNS> {
    /// Packs `matrix`, one row of `inputs` an output.
    pub(crate) fn pack(matrix: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let mut panels = Buffer::new(bias.len() * inputs);
        let (mut scales, mut sums) = (Vec::with_capacity(bias.len()), Vec::with_capacity(bias.len()));
        let mut steps = vec![0i8; inputs];
        for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
            let (scale, sum) = math::steps_of(weights, &mut steps);
            let panel = &mut panels[output / COLUMNS * COLUMNS * inputs..];
            for (input, &step) in steps.iter().enumerate() {
                panel[input / 4 * 4 * COLUMNS + output % COLUMNS * 4 + input % 4] = step;
            }
            scales.push(scale);
            sums.push(sum);
        }
        Weights { panels, scales, sums, bias, inputs }
    }
}

/// Activations in 8 bits: value = offset + scale × step.
#[derive(Default)]
pub(crate) struct Steps {
    pub(super) values: Buffer<u8>,
    pub(super) scales: Vec<f32>,
    pub(super) offsets: Vec<f32>,
}

impl Steps {
    /// Makes room for `rows` rows of `inputs`, read in groups of `together`.
    pub(super) fn reserve(&mut self, rows: usize, inputs: usize, together: usize) {
        self.values.reserve(rows.next_multiple_of(together) * inputs);
        self.scales.resize(rows, 0.0);
        self.offsets.resize(rows, 0.0);
    }

    /// Rounds each row to `most` steps between its least and its greatest value.
    #[inline(always)]
    fn round(&mut self, input: &[f32], rows: usize, inputs: usize, most: f32) {
        for row in 0..rows {
            let values = &input[row * inputs..][..inputs];
            let (mut least, mut greatest) = ([f32::MAX; LANES], [f32::MIN; LANES]);
            for lanes in values.chunks_exact(LANES) {
                for lane in 0..LANES {
                    least[lane] = least[lane].min(lanes[lane]);
                    greatest[lane] = greatest[lane].max(lanes[lane]);
                }
            }
            let least = least.into_iter().fold(f32::MAX, f32::min);
            let greatest = greatest.into_iter().fold(f32::MIN, f32::max);
            let scale = math::step_between(least, greatest, most);
            self.scales[row] = scale;
            self.offsets[row] = least;
            let factor = 1.0 / scale;
            let out = &mut self.values[row * inputs..][..inputs];
            for (out, value) in out.iter_mut().zip(values) {
                *out = math::nearest_byte((value - least) * factor);
            }
        }
    }
}

/// Outputs computed together: two registers of eight sums.
pub(crate) const COLUMNS: usize = LANES;

/// How a processor adds products of bytes.
pub(crate) trait Dot: Lanes {
    /// The greatest step of an activation.
    const MOST: f32;

    /// Adds the products of four pairs of bytes to each of eight sums.
    ///
    /// # Safety
    /// The processor must have the instructions.
    unsafe fn add(sums: __m256i, activations: __m256i, weights: __m256i) -> __m256i;
}

/// `input × weights + bias`, finished as `finish` says. `inputs` must be a multiple of [`LANES`].
///
/// # Safety
/// The processor must have what `D` takes, and AVX2; only to be called in functions compiled for both.
#[inline(always)]
pub(crate) unsafe fn linear<D: Dot, const ROWS: usize>(
    input: &[f32],
    rows: usize,
    weights: &Weights<COLUMNS>,
    mut finish: Finish<'_>,
    steps: &mut Steps,
) {
    let (inputs, outputs) = (weights.inputs, weights.bias.len());
    assert!(inputs.is_multiple_of(LANES) && outputs.is_multiple_of(COLUMNS));
    assert!(input.len() >= rows * inputs && weights.panels.len() == outputs * inputs);
    steps.reserve(rows, inputs, ROWS);
    steps.round(input, rows, inputs, D::MOST);
    for (index, panel) in weights.panels.chunks_exact(COLUMNS * inputs).enumerate() {
        let columns = index * COLUMNS..(index + 1) * COLUMNS;
        let whole = |values: &[f32]| -> [f32; COLUMNS] {
            values[columns.clone()].try_into().expect("as many as there are columns")
        };
        let (scales, sums, bias) = (whole(&weights.scales), whole(&weights.sums), whole(&weights.bias));
        for row in (0..rows).step_by(ROWS) {
            let group = &steps.values[row * inputs..][..ROWS * inputs];
            // SAFETY: a group of rows and a panel are as long as `block` wants them.
            let products = unsafe { block::<D, ROWS>(group.as_ptr(), inputs, panel.as_ptr()) };
            for (offset, products) in products.iter().enumerate().take(rows - row) {
                let row = row + offset;
                let (scale, offset) = (steps.scales[row], steps.offsets[row]);
                let mut values = [0.0; COLUMNS];
                for column in 0..COLUMNS {
                    let whole = products[column] as f32 * scales[column];
                    values[column] = whole.mul_add(scale, offset * sums[column]);
                }
                finish.apply::<D>(row * outputs + index * COLUMNS, &values, &bias);
            }
        }
    }
}

/// `ROWS` rows against one panel.
///
/// # Safety
/// `rows` must be readable for `ROWS` rows of `inputs` bytes, `panel` for `inputs` × 16; the rest as for [`linear`].
#[inline(always)]
unsafe fn block<D: Dot, const ROWS: usize>(
    rows: *const u8,
    inputs: usize,
    panel: *const i8,
) -> [[i32; COLUMNS]; ROWS] {
    // SAFETY: the caller vouches for the processor, and for what is read.
    unsafe {
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for step in 0..inputs / 4 {
            let left = _mm256_loadu_si256(panel.add(step * 64).cast());
            let right = _mm256_loadu_si256(panel.add(step * 64 + 32).cast());
            for (row, sums) in sums.iter_mut().enumerate() {
                let four = rows.add(row * inputs + step * 4).cast::<i32>().read_unaligned();
                let values = _mm256_set1_epi32(four);
                sums[0] = D::add(sums[0], values, left);
                sums[1] = D::add(sums[1], values, right);
            }
        }
        let mut out = [[0; COLUMNS]; ROWS];
        for (out, sums) in out.iter_mut().zip(sums) {
            _mm256_storeu_si256(out.as_mut_ptr().cast(), sums[0]);
            _mm256_storeu_si256(out.as_mut_ptr().add(8).cast(), sums[1]);
        }
        out
    }
}
