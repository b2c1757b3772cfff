//! Products and attention in 8 bits on NEON, by dot products of four bytes or matrices of 2 × 8 by 8 × 2 (I8MM), and [`lanes`].
//!
//! The instructions for bytes are written as assembly, as this version of Rust has no stable functions for them.

use std::arch::aarch64::*;
use std::arch::asm;
use std::arch::is_aarch64_feature_detected;

use super::attention::{self, Room};
use super::bytes::{self, COLUMNS, Dot, Scratch, Steps};
use super::float::Kernels;
use super::lanes::{self, Finish, LANES, Lanes};
use super::layers::Norm;

/// Rows kept in registers: 4 × 4 sums, four values and four weights of the 32. With six rows some would not stay there.
const ROWS: usize = 4;

/// Inputs of an output in one step of a dot product, and of a matrix.
const QUAD: usize = 4;
const OCTET: usize = 8;

pub(crate) type DotWeights = bytes::Weights<COLUMNS, QUAD>;
pub(crate) type MatrixWeights = bytes::Weights<COLUMNS, OCTET>;

/// For Graviton2, Apple's M1 and others since 2018.
pub(crate) struct Dotprod;

/// For Graviton3, Apple's M2 and others since 2021.
pub(crate) struct I8mm;

pub(crate) fn dotprod_available() -> bool {
    is_aarch64_feature_detected!("neon") && is_aarch64_feature_detected!("dotprod")
}

pub(crate) fn i8mm_available() -> bool {
    is_aarch64_feature_detected!("neon") && is_aarch64_feature_detected!("i8mm")
}

impl Lanes for Dotprod {
    const FUSED: bool = true;

    #[inline(always)]
    fn range(values: &[f32]) -> (f32, f32) {
        // SAFETY: as above.
        unsafe { range(values) }
    }
}

impl Lanes for I8mm {
    const FUSED: bool = true;

    #[inline(always)]
    fn range(values: &[f32]) -> (f32, f32) {
        Dotprod::range(values)
    }
}

/// The least and the greatest of some values, a multiple of 16.
#[inline]
#[target_feature(enable = "neon")]
fn range(values: &[f32]) -> (f32, f32) {
    let (mut least, mut greatest) = ([vdupq_n_f32(f32::MAX); 4], [vdupq_n_f32(f32::MIN); 4]);
    for lanes in values.chunks_exact(LANES) {
        for part in 0..4 {
            // SAFETY: four of the sixteen floats.
            let values = unsafe { vld1q_f32(lanes.as_ptr().add(part * 4)) };
            least[part] = vminnmq_f32(least[part], values);
            greatest[part] = vmaxnmq_f32(greatest[part], values);
        }
    }
    let least = vminnmq_f32(vminnmq_f32(least[0], least[1]), vminnmq_f32(least[2], least[3]));
    let greatest = vmaxnmq_f32(vmaxnmq_f32(greatest[0], greatest[1]), vmaxnmq_f32(greatest[2], greatest[3]));
    (vminnmvq_f32(least), vmaxnmvq_f32(greatest))
}

impl Dot<QUAD, ROWS> for Dotprod {
    const FIRST: f32 = -128.0;
    const STEPS: f32 = 255.0;

    #[inline(always)]
    unsafe fn products(
        rows: *const u8,
        inputs: usize,
        panel: *const i8,
        _: &[bool],
    ) -> [[i32; COLUMNS]; ROWS] {
        // SAFETY: the caller vouches for what the kernel wants.
        unsafe { dot_products(rows.cast(), inputs, panel) }
    }
}

/// Four rows against one panel, 16 inputs at a time.
///
/// # Safety
/// As for [`Dot::products`].
#[inline]
#[target_feature(enable = "neon,dotprod")]
unsafe fn dot_products(rows: *const i8, inputs: usize, panel: *const i8) -> [[i32; COLUMNS]; ROWS] {
    let mut sums = [[vdupq_n_s32(0); 4]; ROWS];
    for input in (0..inputs).step_by(16) {
        // SAFETY: 16 bytes of each row, and of the panel 16 for each of those; the caller vouches for both.
        unsafe {
            let values: [int8x16_t; ROWS] =
                std::array::from_fn(|row| vld1q_s8(rows.add(row * inputs + input)));
            let panel = panel.add(input * COLUMNS);
            add_quads::<0>(&mut sums, &values, panel);
            add_quads::<1>(&mut sums, &values, panel.add(QUAD * COLUMNS));
            add_quads::<2>(&mut sums, &values, panel.add(2 * QUAD * COLUMNS));
            add_quads::<3>(&mut sums, &values, panel.add(3 * QUAD * COLUMNS));
        }
    }
    let mut out = [[0; COLUMNS]; ROWS];
    for (out, sums) in out.iter_mut().zip(sums) {
        for (out, sum) in out.chunks_exact_mut(4).zip(sums) {
            // SAFETY: four numbers.
            unsafe { vst1q_s32(out.as_mut_ptr(), sum) };
        }
    }
    out
}

/// Adds four inputs of each row, those at `PLACE` of its values, times their weights.
///
/// # Safety
/// `weights` must be readable for 64 bytes.
#[inline]
#[target_feature(enable = "neon,dotprod")]
unsafe fn add_quads<const PLACE: usize>(
    sums: &mut [[int32x4_t; 4]; ROWS],
    values: &[int8x16_t; ROWS],
    weights: *const i8,
) {
    // SAFETY: the caller vouches for the weights.
    let weights: [int8x16_t; 4] = std::array::from_fn(|part| unsafe { vld1q_s8(weights.add(part * 16)) });
    for (sums, values) in sums.iter_mut().zip(values) {
        for (sum, weights) in sums.iter_mut().zip(weights) {
            *sum = dot::<PLACE>(*sum, weights, *values);
        }
    }
}

/// Adds to each of four sums the products of four weights with the four values at `PLACE`.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot<const PLACE: usize>(mut sums: int32x4_t, weights: int8x16_t, values: int8x16_t) -> int32x4_t {
    // SAFETY: an instruction between registers, of a feature that this function is compiled for.
    unsafe {
        asm!(
            "sdot {sums:v}.4s, {weights:v}.16b, {values:v}.4b[{place}]",
            sums = inlateout(vreg) sums, weights = in(vreg) weights, values = in(vreg) values, place = const PLACE,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sums
}

impl Dot<OCTET, ROWS> for I8mm {
    const FIRST: f32 = -128.0;
    const STEPS: f32 = 255.0;

    #[inline(always)]
    unsafe fn products(
        rows: *const u8,
        inputs: usize,
        panel: *const i8,
        _: &[bool],
    ) -> [[i32; COLUMNS]; ROWS] {
        // SAFETY: the caller vouches for what the kernel wants.
        unsafe { matrix_products(rows.cast(), inputs, panel) }
    }
}

/// Four rows against one panel, 16 inputs at a time. Each register of sums is of two rows and two outputs.
///
/// # Safety
/// As for [`Dot::products`].
#[inline]
#[target_feature(enable = "neon,i8mm")]
unsafe fn matrix_products(rows: *const i8, inputs: usize, panel: *const i8) -> [[i32; COLUMNS]; ROWS] {
    let mut sums = [[vdupq_n_s32(0); COLUMNS / 2]; ROWS / 2];
    for input in (0..inputs).step_by(16) {
        // SAFETY: 16 bytes of each row, and of the panel 16 for each of those; the caller vouches for both.
        unsafe {
            let pairs: [(int64x2_t, int64x2_t); ROWS / 2] = std::array::from_fn(|pair| {
                let row = rows.add(2 * pair * inputs + input);
                (vreinterpretq_s64_s8(vld1q_s8(row)), vreinterpretq_s64_s8(vld1q_s8(row.add(inputs))))
            });
            let panel = panel.add(input * COLUMNS);
            add_octets(&mut sums, pairs.map(|(upper, lower)| vzip1q_s64(upper, lower)), panel);
            add_octets(
                &mut sums,
                pairs.map(|(upper, lower)| vzip2q_s64(upper, lower)),
                panel.add(OCTET * COLUMNS),
            );
        }
    }
    let mut out = [[0; COLUMNS]; ROWS];
    for (out, sums) in out.chunks_exact_mut(2).zip(sums) {
        for (part, sums) in sums.chunks_exact(2).enumerate() {
            let (left, right) = (vreinterpretq_s64_s32(sums[0]), vreinterpretq_s64_s32(sums[1]));
            // SAFETY: four numbers each.
            unsafe {
                let upper = vreinterpretq_s32_s64(vzip1q_s64(left, right));
                let lower = vreinterpretq_s32_s64(vzip2q_s64(left, right));
                vst1q_s32(out[0].as_mut_ptr().add(part * 4), upper);
                vst1q_s32(out[1].as_mut_ptr().add(part * 4), lower);
            }
        }
    }
    out
}

/// Adds eight inputs of each pair of rows times their weights.
///
/// # Safety
/// `weights` must be readable for 128 bytes.
#[inline]
#[target_feature(enable = "neon,i8mm")]
unsafe fn add_octets(
    sums: &mut [[int32x4_t; COLUMNS / 2]; ROWS / 2],
    pairs: [int64x2_t; ROWS / 2],
    weights: *const i8,
) {
    for part in 0..COLUMNS / 2 {
        // SAFETY: the caller vouches for the weights.
        let weights = unsafe { vld1q_s8(weights.add(part * 16)) };
        for (sums, pair) in sums.iter_mut().zip(pairs) {
            sums[part] = multiply(sums[part], vreinterpretq_s8_s64(pair), weights);
        }
    }
}

/// Adds the products of two rows of eight values with two rows of eight weights to the four sums.
#[inline]
#[target_feature(enable = "neon,i8mm")]
fn multiply(mut sums: int32x4_t, values: int8x16_t, weights: int8x16_t) -> int32x4_t {
    // SAFETY: an instruction between registers, of a feature that this function is compiled for.
    unsafe {
        asm!(
            "smmla {sums:v}.4s, {values:v}.16b, {weights:v}.16b",
            sums = inlateout(vreg) sums, values = in(vreg) values, weights = in(vreg) weights,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sums
}

impl Kernels for Dotprod {
    type Weights = DotWeights;
    type Scratch = Scratch;

    fn linear(input: &[f32], rows: usize, weights: &DotWeights, finish: Finish<'_>, scratch: &mut Scratch) {
        #[target_feature(enable = "neon,dotprod")]
        fn run(input: &[f32], rows: usize, weights: &DotWeights, finish: Finish<'_>, steps: &mut Steps) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { bytes::linear::<Dotprod, QUAD, ROWS>(input, rows, weights, finish, steps) }
        }
        assert!(dotprod_available());
        // SAFETY: the processor has both features.
        unsafe { run(input, rows, weights, finish, &mut scratch.steps) }
    }

    fn attend(
        joined: &[f32],
        context: &mut [f32],
        length: usize,
        heads: (usize, usize),
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "neon,dotprod")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { attention::attend::<Dotprod, QUAD, ROWS>(joined, context, length, heads, room) }
        }
        assert!(dotprod_available());
        // SAFETY: the processor has the features.
        unsafe { run(joined, context, length, heads, &mut scratch.attention) }
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        lanes::normalise::<Dotprod>(hidden, norm);
    }
}

impl Kernels for I8mm {
    type Weights = MatrixWeights;
    type Scratch = Scratch;

    fn linear(
        input: &[f32],
        rows: usize,
        weights: &MatrixWeights,
        finish: Finish<'_>,
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "neon,i8mm")]
        fn run(input: &[f32], rows: usize, weights: &MatrixWeights, finish: Finish<'_>, steps: &mut Steps) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { bytes::linear::<I8mm, OCTET, ROWS>(input, rows, weights, finish, steps) }
        }
        assert!(i8mm_available());
        // SAFETY: the processor has both features.
        unsafe { run(input, rows, weights, finish, &mut scratch.steps) }
    }

    fn attend(
        joined: &[f32],
        context: &mut [f32],
        length: usize,
        heads: (usize, usize),
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "neon,i8mm")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { attention::attend::<I8mm, OCTET, ROWS>(joined, context, length, heads, room) }
        }
        assert!(i8mm_available());
        // SAFETY: the processor has the features.
        unsafe { run(joined, context, length, heads, &mut scratch.attention) }
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        Dotprod::normalise(hidden, norm);
    }
}
