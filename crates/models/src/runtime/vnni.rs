//! Products and attention in 8 bits on AVX-512 VNNI: four times the multiplications of f32 in each instruction.

use std::arch::x86_64::*;

use super::attention::{self, Room};
use super::avx2::Avx2;
use super::bytes::{self, Dot, Scratch, Steps};
use super::float::Kernels;
use super::lanes::{Finish, Lanes};
use super::layers::Norm;
use super::math;
use crate::weights::Shape;

/// Outputs computed together: four registers of 16 sums.
const COLUMNS: usize = 64;

/// Rows computed together: 6 × 4 sums and four weights make 28 of the 32 registers.
const ROWS: usize = 6;

/// Inputs of an output that are multiplied together.
const DEPTH: usize = 4;

/// For servers from Cascade Lake and Zen 4 on that lack AMX.
pub(crate) struct Vnni;

pub(crate) type Weights = bytes::Weights<COLUMNS, DEPTH>;

pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni")
        && super::avx2::available()
}

/// Whether every product of this network divides into [`COLUMNS`].
pub(crate) fn fits(shape: &Shape) -> bool {
    shape.width.is_multiple_of(COLUMNS) && shape.inner.is_multiple_of(COLUMNS)
}

impl Kernels for Vnni {
    type Weights = Weights;
    type Scratch = Scratch;

    fn linear(input: &[f32], rows: usize, weights: &Weights, finish: Finish<'_>, scratch: &mut Scratch) {
        assert!(available());
        let outputs = weights.bias.len();
        assert!(input.len() >= rows * weights.inputs && weights.panels.len() == outputs * weights.inputs);
        assert!(outputs.is_multiple_of(COLUMNS) && weights.inputs.is_multiple_of(32));
        let (target, kind) = match finish {
            Finish::Store(out) => (out, Kind::Store),
            Finish::Gelu(out) => (out, Kind::Gelu),
            Finish::Add(out) => (out, Kind::Add),
        };
        assert!(target.len() >= rows * outputs);
        // SAFETY: the processor has the features, and every length was asserted.
        unsafe {
            quantise(input, rows, weights.inputs, &mut scratch.steps);
            product(&scratch.steps, rows, weights, target.as_mut_ptr(), kind);
        }
    }

    fn attend(
        joined: &[f32],
        context: &mut [f32],
        length: usize,
        heads: (usize, usize),
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { attention::attend::<Vnni, DEPTH, MORE_ROWS>(joined, context, length, heads, room) }
        }
        assert!(available());
        // SAFETY: the processor has the features.
        unsafe { run(joined, context, length, heads, &mut scratch.attention) }
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        Avx2::normalise(hidden, norm);
    }
}

impl Lanes for Vnni {
    const FUSED: bool = true;
}

/// Rows of attention computed together, whose panels are one register wide.
const MORE_ROWS: usize = 12;

impl Dot<DEPTH, MORE_ROWS> for Vnni {
    const FIRST: f32 = 0.0;
    const STEPS: f32 = 255.0;

    #[inline(always)]
    unsafe fn products(
        rows: *const u8,
        inputs: usize,
        panel: *const i8,
        _: &[bool],
    ) -> [[i32; bytes::COLUMNS]; MORE_ROWS] {
        let mut out = [[0; bytes::COLUMNS]; MORE_ROWS];
        // SAFETY: the caller vouches for the processor, and for what is read; sixteen sums are a register.
        unsafe {
            let mut sums = [_mm512_setzero_si512(); MORE_ROWS];
            for step in 0..inputs / DEPTH {
                let weights = _mm512_loadu_si512(panel.add(step * 64).cast());
                for (row, sum) in sums.iter_mut().enumerate() {
                    let four = rows.add(row * inputs + step * DEPTH).cast::<i32>().read_unaligned();
                    *sum = _mm512_dpbusd_epi32(*sum, _mm512_set1_epi32(four), weights);
                }
            }
            for (out, sum) in out.iter_mut().zip(sums) {
                _mm512_storeu_si512(out.as_mut_ptr().cast(), sum);
            }
        }
        out
    }
}

/// [`Finish`] without its target.
#[derive(Clone, Copy)]
enum Kind {
    Store,
    Gelu,
    Add,
}

/// Rounds each row to 255 steps between its least and its greatest value.
///
/// # Safety
/// `input` must hold `rows` rows of `inputs`, a multiple of 16.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn quantise(input: &[f32], rows: usize, inputs: usize, steps: &mut Steps) {
    steps.reserve(rows, inputs, ROWS);
    for row in 0..rows {
        let values = &input[row * inputs..][..inputs];
        let (mut least, mut most) = (_mm512_set1_ps(f32::MAX), _mm512_set1_ps(f32::MIN));
        for lanes in values.chunks_exact(16) {
            // SAFETY: 16 floats.
            let x = unsafe { _mm512_loadu_ps(lanes.as_ptr()) };
            least = _mm512_min_ps(least, x);
            most = _mm512_max_ps(most, x);
        }
        let (least, most) = (_mm512_reduce_min_ps(least), _mm512_reduce_max_ps(most));
        let scale = math::step_between(least, most, 255.0);
        steps.scales[row] = scale;
        steps.offsets[row] = least;
        let (factor, least) = (_mm512_set1_ps(1.0 / scale), _mm512_set1_ps(least));
        let out = &mut steps.values[row * inputs..][..inputs];
        for (lanes, out) in values.chunks_exact(16).zip(out.chunks_exact_mut(16)) {
            // SAFETY: 16 floats in, 16 bytes out.
            unsafe {
                let x = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(lanes.as_ptr()), least), factor);
                let bytes = _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(x));
                _mm_storeu_si128(out.as_mut_ptr().cast(), bytes);
            }
        }
    }
}

/// All panels against all rows.
///
/// # Safety
/// `steps` must hold `rows` rows of the weights' inputs, and `target` `rows` rows of their outputs.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn product(steps: &Steps, rows: usize, weights: &Weights, target: *mut f32, kind: Kind) {
    let outputs = weights.bias.len();
    for column in (0..outputs).step_by(COLUMNS) {
        // SAFETY: panels are as many as asserted by the caller.
        let panel = unsafe { weights.panels.as_ptr().add(column * weights.inputs) };
        for row in (0..rows).step_by(ROWS) {
            // SAFETY: quantising made room for whole groups of rows.
            let sums =
                unsafe { block(steps.values.as_ptr().add(row * weights.inputs), weights.inputs, panel) };
            for (offset, sums) in sums.iter().enumerate().take(rows - row) {
                let row = row + offset;
                let (scale, offset) = (_mm512_set1_ps(steps.scales[row]), _mm512_set1_ps(steps.offsets[row]));
                for (part, sum) in sums.iter().enumerate() {
                    let at = column + 16 * part;
                    // SAFETY: 16 columns from `at` are within the outputs.
                    unsafe {
                        let load = |values: &[f32]| _mm512_loadu_ps(values.as_ptr().add(at));
                        let base = _mm512_fmadd_ps(offset, load(&weights.sums), load(&weights.bias));
                        let scale = _mm512_mul_ps(scale, load(&weights.scales));
                        let x = _mm512_fmadd_ps(_mm512_cvtepi32_ps(*sum), scale, base);
                        let place = target.add(row * outputs + at);
                        let x = match kind {
                            Kind::Store => x,
                            Kind::Gelu => gelu(x),
                            Kind::Add => _mm512_add_ps(x, _mm512_loadu_ps(place)),
                        };
                        _mm512_storeu_ps(place, x);
                    }
                }
            }
        }
    }
}

/// Six rows against one panel.
///
/// # Safety
/// `rows` must be readable for six rows of `inputs` bytes, `panel` for `inputs` × 64.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn block(rows: *const u8, inputs: usize, panel: *const i8) -> [[__m512i; 4]; ROWS] {
    let mut sums = [[_mm512_setzero_si512(); 4]; ROWS];
    for step in 0..inputs / 4 {
        // SAFETY: within what the caller vouches for.
        unsafe {
            let panel = panel.add(step * 4 * COLUMNS);
            let weights: [__m512i; 4] =
                std::array::from_fn(|part| _mm512_loadu_si512(panel.add(part * 64).cast()));
            for (row, sums) in sums.iter_mut().enumerate() {
                let four = rows.add(row * inputs + step * 4).cast::<i32>().read_unaligned();
                let values = _mm512_set1_epi32(four);
                for part in 0..4 {
                    sums[part] = _mm512_dpbusd_epi32(sums[part], values, weights[part]);
                }
            }
        }
    }
    sums
}

/// GELU of 16 floats; see [`math::GELU`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn gelu(x: __m512) -> __m512 {
    let inside =
        _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-math::GELU_LIMIT)), _mm512_set1_ps(math::GELU_LIMIT));
    let square = _mm512_mul_ps(inside, inside);
    let mut sum = _mm512_set1_ps(math::GELU[8]);
    for coefficient in math::GELU[..8].iter().rev() {
        sum = _mm512_fmadd_ps(sum, square, _mm512_set1_ps(*coefficient));
    }
    _mm512_mul_ps(x, _mm512_fmadd_ps(inside, sum, _mm512_set1_ps(0.5)))
}
