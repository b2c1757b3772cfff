//! Products in 8 bits: weights and activations as the kernels take them, and the product around those kernels.
//!
//! Weights are signed with one scale an output; activations are unsigned with one scale and offset a row, so that
//! a single token's outliers cost only that token precision. Kernels that multiply only signed bytes take the same steps
//! from -128 on. [`super::attention`] multiplies in the same way; the rest of the encoder stays in f32.

use super::aligned::Buffer;
use super::attention;
use super::lanes::{Finish, LANES, Lanes};
use super::math;

/// Weights as panels of `COLUMNS` outputs: within a panel `DEPTH` inputs of each output lie side by side.
pub(crate) struct Weights<const COLUMNS: usize, const DEPTH: usize> {
    pub(super) panels: Buffer<i8>,
    /// What one step of each output's weights is worth.
    pub(super) scales: Vec<f32>,
    /// Each output's weights added up: what a row's offset is multiplied with.
    pub(super) sums: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) inputs: usize,
    /// Of each eight inputs of each panel, whether its weights [are small](are_small).
    pub(super) small: Vec<bool>,
}

/// Inputs that are looked at together for small weights.
pub(super) const EIGHT: usize = 8;

/// Whether the products of an output's weights for eight inputs with steps of up to 127 can be added in 16 bits four by four, of which
/// two are four inputs further on. They nearly always can: an output's greatest weight is 127, and most are far smaller.
fn are_small(w: &[i8]) -> bool {
    const MOST: i32 = i16::MAX as i32 / 127;
    let fits = |four: [i8; 4]| {
        let sum = |of: fn(i32) -> i32| four.iter().map(|weight| of(i32::from(*weight))).sum::<i32>();
        sum(|weight| weight.max(0)) <= MOST && sum(|weight| (-weight).max(0)) <= MOST
    };
    fits([w[0], w[1], w[4], w[5]]) && fits([w[2], w[3], w[6], w[7]])
}

impl<const COLUMNS: usize, const DEPTH: usize> Weights<COLUMNS, DEPTH> {
    /// Packs `matrix`, one row of `inputs` an output.
    pub(crate) fn pack(matrix: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let mut panels = Buffer::new(bias.len() * inputs);
        let (mut scales, mut sums) = (Vec::with_capacity(bias.len()), Vec::with_capacity(bias.len()));
        let mut steps = vec![0i8; inputs];
        let mut small = vec![true; bias.len().div_ceil(COLUMNS) * (inputs / EIGHT)];
        for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
            let (scale, sum) = math::steps_of(weights, &mut steps);
            let panel = &mut panels[output / COLUMNS * COLUMNS * inputs..];
            for (input, &step) in steps.iter().enumerate() {
                panel[input / DEPTH * DEPTH * COLUMNS + output % COLUMNS * DEPTH + input % DEPTH] = step;
            }
            let small = &mut small[output / COLUMNS * (inputs / EIGHT)..];
            for (small, weights) in small.iter_mut().zip(steps.chunks_exact(EIGHT)) {
                *small &= are_small(weights);
            }
            scales.push(scale);
            sums.push(sum);
        }
        Weights { panels, scales, sums, bias, inputs, small }
    }
}

/// What a thread keeps from product to product.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(super) steps: Steps,
    pub(super) attention: attention::Room,
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

    /// Rounds a row to steps of `D` between its least and its greatest value.
    #[inline(always)]
    fn round_row<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
        &mut self,
        row: usize,
        values: &[f32],
    ) {
        let (least, greatest) = D::range(values);
        let scale = math::step_between(least, greatest, D::STEPS);
        self.scales[row] = scale;
        self.offsets[row] = least - D::FIRST * scale;
        let factor = 1.0 / scale;
        let out = &mut self.values[row * values.len()..][..values.len()];
        for (out, value) in out.iter_mut().zip(values) {
            *out = math::nearest_byte((value - least) * factor, D::FIRST);
        }
    }
}

/// Outputs computed together: two registers of eight sums, or four of four.
pub(crate) const COLUMNS: usize = LANES;

/// How a processor multiplies bytes: `DEPTH` inputs of an output at a time, and `ROWS` rows together.
pub(crate) trait Dot<const DEPTH: usize, const ROWS: usize>: Lanes {
    /// The least step of an activation: 0, or -128 where activations are signed.
    const FIRST: f32;

    /// How many steps lie between the least and the greatest.
    const STEPS: f32;

    /// How many steps lie between the least and the greatest query or share of softmax.
    const SHARES: f32 = Self::STEPS;

    /// The greatest step of a key or a value.
    const MOST: f32 = 127.0;

    /// The products of `ROWS` rows of `inputs` bytes with one panel. `inputs` is a multiple of [`LANES`].
    ///
    /// # Safety
    /// The processor must have the instructions; `rows` must be readable for `ROWS` rows of `inputs` bytes, `panel` for
    /// `inputs` × [`COLUMNS`], and `small` say of each eight inputs whether their weights are.
    unsafe fn products(
        rows: *const u8,
        inputs: usize,
        panel: *const i8,
        small: &[bool],
    ) -> [[i32; COLUMNS]; ROWS];
}

/// `input × weights + bias`, finished as `finish` says. `inputs` must be a multiple of [`LANES`].
///
/// # Safety
/// The processor must have what `D` takes; only to be called in functions compiled for it.
#[inline(always)]
pub(crate) unsafe fn linear<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
    input: &[f32],
    rows: usize,
    weights: &Weights<COLUMNS, DEPTH>,
    mut finish: Finish<'_>,
    steps: &mut Steps,
) {
    let (inputs, outputs) = (weights.inputs, weights.bias.len());
    assert!(inputs.is_multiple_of(LANES) && outputs.is_multiple_of(COLUMNS));
    assert!(input.len() >= rows * inputs && weights.panels.len() == outputs * inputs);
    steps.reserve(rows, inputs, ROWS);
    for (row, values) in input.chunks_exact(inputs).enumerate().take(rows) {
        steps.round_row::<D, DEPTH, ROWS>(row, values);
    }
    for (index, panel) in weights.panels.chunks_exact(COLUMNS * inputs).enumerate() {
        let columns = index * COLUMNS..(index + 1) * COLUMNS;
        let whole = |values: &[f32]| -> [f32; COLUMNS] {
            values[columns.clone()].try_into().expect("as many as there are columns")
        };
        let (scales, sums, bias) = (whole(&weights.scales), whole(&weights.sums), whole(&weights.bias));
        let small = &weights.small[index * (inputs / EIGHT)..][..inputs / EIGHT];
        for row in (0..rows).step_by(ROWS) {
            let group = &steps.values[row * inputs..][..ROWS * inputs];
            // SAFETY: the caller vouches for the processor; a group of rows and a panel are as long as the kernel wants.
            let products = unsafe { D::products(group.as_ptr(), inputs, panel.as_ptr(), small) };
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
