//! Products, attention and normalisation in safe Rust over 16 lanes, written so that the compiler vectorises them.
//!
//! Everything here is `inline(always)` and generic over [`Lanes`]: the portable path compiles all of it for the baseline processor;
//! [`super::avx2`] and `super::neon` compile normalisation, and what finishes a product, once more around products of their own.

use super::aligned::Buffer;
use super::layers::Norm;
use super::math;

/// Columns computed together: two registers of AVX2, four of SSE or NEON.
pub(crate) const LANES: usize = 16;

/// Weights as panels of 16 outputs: within a panel the 16 weights of each input lie side by side.
pub(crate) struct Matrix {
    panels: Buffer<f32>,
    bias: Vec<f32>,
    inputs: usize,
}

impl Matrix {
    /// Packs `matrix`, one row of `inputs` an output.
    pub(crate) fn pack(matrix: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let mut panels = Buffer::new(bias.len().next_multiple_of(LANES) * inputs);
        for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
            let panel = &mut panels[output / LANES * LANES * inputs..];
            for (place, weight) in panel[output % LANES..].iter_mut().step_by(LANES).zip(weights) {
                *place = *weight;
            }
        }
        Matrix { panels, bias, inputs }
    }
}

/// What is done with each sum of a product.
pub(crate) enum Finish<'a> {
    Store(&'a mut [f32]),
    Gelu(&'a mut [f32]),
    /// Added to what is there.
    Add(&'a mut [f32]),
}

impl Finish<'_> {
    /// Finishes 16 sums at `place`.
    #[inline(always)]
    pub(crate) fn apply<L: Lanes>(&mut self, place: usize, sums: &[f32; LANES], bias: &[f32; LANES]) {
        let mut values = [0.0; LANES];
        for ((value, sum), bias) in values.iter_mut().zip(sums).zip(bias) {
            *value = sum + bias;
        }
        match self {
            Finish::Store(out) => out[place..place + LANES].copy_from_slice(&values),
            Finish::Gelu(out) => {
                for (out, value) in out[place..place + LANES].iter_mut().zip(&values) {
                    *out = gelu::<L>(*value);
                }
            }
            Finish::Add(out) => {
                for (out, value) in out[place..place + LANES].iter_mut().zip(&values) {
                    *out += value;
                }
            }
        }
    }
}

/// What differs between the processors this file is compiled for.
pub(crate) trait Lanes {
    /// Whether multiply-add is one instruction.
    const FUSED: bool;

    /// The least and the greatest of some values, a multiple of 16.
    #[inline(always)]
    fn range(values: &[f32]) -> (f32, f32) {
        let (mut least, mut greatest) = ([f32::MAX; LANES], [f32::MIN; LANES]);
        for lanes in values.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                // Each is one instruction for eight values, unlike `min` and `max`, and passes over NaN as they do.
                least[lane] = if lanes[lane] < least[lane] { lanes[lane] } else { least[lane] };
                greatest[lane] = if lanes[lane] > greatest[lane] { lanes[lane] } else { greatest[lane] };
            }
        }
        (fold(least, f32::min), fold(greatest, f32::max))
    }
}

/// Sums of `ROWS` rows of `input`, `stride` apart, with one panel.
#[inline(always)]
fn block<L: Lanes, const ROWS: usize>(input: &[f32], stride: usize, panel: &[f32]) -> [[f32; LANES]; ROWS] {
    let panel = panel.as_chunks::<LANES>().0;
    let rows: [&[f32]; ROWS] = std::array::from_fn(|row| &input[row * stride..][..panel.len()]);
    let mut sums = [[0.0; LANES]; ROWS];
    for (index, weights) in panel.iter().enumerate() {
        for (row, sums) in rows.iter().zip(&mut sums) {
            let value = row[index];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = multiply_add::<L>(value, *weight, *sum);
            }
        }
    }
    sums
}

#[inline(always)]
pub(super) fn multiply_add<L: Lanes>(a: f32, b: f32, c: f32) -> f32 {
    if L::FUSED { math::multiply_add::<true>(a, b, c) } else { math::multiply_add::<false>(a, b, c) }
}

#[inline(always)]
fn gelu<L: Lanes>(x: f32) -> f32 {
    if L::FUSED { math::gelu::<true>(x) } else { math::gelu::<false>(x) }
}

#[inline(always)]
pub(super) fn exp2_byte<L: Lanes>(x: f32, first: f32) -> u8 {
    if L::FUSED { math::exp2_byte::<true>(x, first) } else { math::exp2_byte::<false>(x, first) }
}

#[inline(always)]
fn exp2<L: Lanes>(x: f32) -> f32 {
    if L::FUSED { math::exp2::<true>(x) } else { math::exp2::<false>(x) }
}

/// Calls `each(row, sums)` for the product of every row with one panel.
#[inline(always)]
fn panel_product<L: Lanes, const ROWS: usize>(
    input: &[f32],
    stride: usize,
    rows: usize,
    panel: &[f32],
    mut each: impl FnMut(usize, &[f32; LANES]),
) {
    let whole = rows / ROWS * ROWS;
    for row in (0..whole).step_by(ROWS) {
        let sums = block::<L, ROWS>(&input[row * stride..], stride, panel);
        for (offset, sums) in sums.iter().enumerate() {
            each(row + offset, sums);
        }
    }
    for row in whole..rows {
        each(row, &block::<L, 1>(&input[row * stride..], stride, panel)[0]);
    }
}

/// `input × matrix + bias` for rows of the matrix's inputs, finished as `finish` says.
#[inline(always)]
pub(crate) fn linear<L: Lanes, const ROWS: usize>(
    input: &[f32],
    rows: usize,
    matrix: &Matrix,
    mut finish: Finish<'_>,
) {
    let outputs = matrix.bias.len();
    for (index, panel) in matrix.panels.chunks_exact(LANES * matrix.inputs).enumerate() {
        let bias: &[f32; LANES] =
            matrix.bias[index * LANES..][..LANES].try_into().expect("widths are multiples of 16");
        // Written out: in a closure that is not inlined the compiler forgets which processor it compiles for.
        let whole = rows / ROWS * ROWS;
        for row in (0..whole).step_by(ROWS) {
            let sums = block::<L, ROWS>(&input[row * matrix.inputs..], matrix.inputs, panel);
            for (offset, sums) in sums.iter().enumerate() {
                finish.apply::<L>((row + offset) * outputs + index * LANES, sums, bias);
            }
        }
        for row in whole..rows {
            let sums = block::<L, 1>(&input[row * matrix.inputs..], matrix.inputs, panel);
            finish.apply::<L>(row * outputs + index * LANES, &sums[0], bias);
        }
    }
}

/// Queries scored together: their scores against 200 keys stay in the first-level cache. Divides by every `ROWS`.
const QUERIES: usize = 24;

/// Room for one head of the longest sequence.
#[derive(Default)]
pub(crate) struct Room {
    keys: Buffer<f32>,
    values: Buffer<f32>,
    scores: Buffer<f32>,
}

/// One sequence's attention: rows of queries, keys and values side by side in `joined`, result in `context`.
#[inline(always)]
pub(crate) fn attend<L: Lanes, const ROWS: usize>(
    joined: &[f32],
    context: &mut [f32],
    length: usize,
    (heads, head_width): (usize, usize),
    room: &mut Room,
) {
    let width = heads * head_width;
    let padded = length.next_multiple_of(LANES);
    room.keys.reserve(padded * head_width);
    room.values.reserve(padded * head_width);
    room.scores.reserve(QUERIES * padded);
    let Room { keys, values, scores } = room;
    for head in 0..heads {
        let column = head * head_width;
        for (key, row) in joined.chunks_exact(3 * width).enumerate().take(length) {
            let panel = &mut keys[key / LANES * LANES * head_width + key % LANES..];
            for (dimension, value) in row[width + column..][..head_width].iter().enumerate() {
                panel[dimension * LANES] = *value;
            }
            for (part, lanes) in row[2 * width + column..][..head_width].chunks_exact(LANES).enumerate() {
                values[(part * length + key) * LANES..][..LANES].copy_from_slice(lanes);
            }
        }
        for first in (0..length).step_by(QUERIES) {
            let count = QUERIES.min(length - first);
            let queries = &joined[first * 3 * width + column..];
            for (index, panel) in keys[..padded * head_width].chunks_exact(LANES * head_width).enumerate() {
                panel_product::<L, ROWS>(queries, 3 * width, count, panel, |row, sums| {
                    scores[row * padded + index * LANES..][..LANES].copy_from_slice(sums);
                });
            }
            for row in scores.chunks_exact_mut(padded).take(count) {
                soften::<L>(row, length);
            }
            for (part, panel) in values[..length * head_width].chunks_exact(LANES * length).enumerate() {
                panel_product::<L, ROWS>(scores, padded, count, panel, |row, sums| {
                    context[(first + row) * width + column + part * LANES..][..LANES].copy_from_slice(sums);
                });
            }
        }
    }
}

/// The lanes taken together in pairs: one after the other they would keep the compiler from vectorising what made them.
#[inline(always)]
fn fold(mut lanes: [f32; LANES], both: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = both(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Softmax in powers of two over the first `length` scores, a multiple of 16 in all; the others become zero.
#[inline(always)]
fn soften<L: Lanes>(row: &mut [f32], length: usize) {
    row[length..].fill(f32::MIN);
    let (_, most) = L::range(row);
    let mut sums = [0.0; LANES];
    for lanes in row.chunks_exact_mut(LANES) {
        for (sum, score) in sums.iter_mut().zip(lanes) {
            *score = exp2::<L>(*score - most);
            *sum += *score;
        }
    }
    let inverse = 1.0 / fold(sums, |a, b| a + b);
    row.iter_mut().for_each(|share| *share *= inverse);
}

/// Normalises each row in place.
#[inline(always)]
pub(crate) fn normalise<L: Lanes>(hidden: &mut [f32], norm: &Norm) {
    let width = norm.gain.len();
    let share = 1.0 / width as f32;
    for row in hidden.chunks_exact_mut(width) {
        let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
        for lanes in row.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                sums[lane] += lanes[lane];
                squares[lane] = multiply_add::<L>(lanes[lane], lanes[lane], squares[lane]);
            }
        }
        let mean = fold(sums, |a, b| a + b) * share;
        let variance = (fold(squares, |a, b| a + b) * share - mean * mean).max(0.0);
        let scale = 1.0 / (variance + norm.epsilon).sqrt();
        for ((value, gain), bias) in row.iter_mut().zip(&norm.gain).zip(&norm.bias) {
            *value = multiply_add::<L>((*value - mean) * scale, *gain, *bias);
        }
    }
}
