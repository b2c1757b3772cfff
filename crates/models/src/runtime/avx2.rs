//! Products and attention in 8 bits on AVX2 and AVX-VNNI, and [`lanes`] compiled for these.

use std::arch::x86_64::*;

use super::attention::{self, Room};
use super::bytes::{self, COLUMNS, Dot, EIGHT, Scratch, Steps};
use super::float::Kernels;
use super::lanes::{self, Finish, Lanes};
use super::layers::Norm;

/// Rows kept in registers: 6 × 2 sums, two weights and one value make 15 of the 16 registers.
const ROWS: usize = 6;

/// Inputs of an output that are multiplied together.
const DEPTH: usize = 4;

pub(crate) type Weights = bytes::Weights<COLUMNS, DEPTH>;

/// For x86-64 processors since 2013.
pub(crate) struct Avx2;

pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

impl Lanes for Avx2 {
    const FUSED: bool = true;
}

/// How four pairs of bytes are multiplied and added to each of eight sums.
trait Adds {
    /// # Safety
    /// The processor must have the instructions.
    unsafe fn add(sums: __m256i, activations: __m256i, weights: __m256i) -> __m256i;
}

impl Adds for Avx2 {
    #[inline(always)]
    unsafe fn add(sums: __m256i, activations: __m256i, weights: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let pairs = _mm256_maddubs_epi16(activations, weights);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }
}

/// Rows of bytes computed together on AVX2, whose sums of products take more registers.
const FEWER_ROWS: usize = 3;

/// Pairs of products are added in 16 bits, which hold them only while activations keep to 7 bits or, in attention, weights do.
impl Dot<DEPTH, FEWER_ROWS> for Avx2 {
    const FIRST: f32 = 0.0;
    const STEPS: f32 = 127.0;
    const SHARES: f32 = 255.0;
    const MOST: f32 = 64.0;

    /// Where weights are small, two steps are added in 16 bits: three multiplications in place of four.
    #[inline(always)]
    unsafe fn products(
        rows: *const u8,
        inputs: usize,
        panel: *const i8,
        small: &[bool],
    ) -> [[i32; COLUMNS]; FEWER_ROWS] {
        // SAFETY: the caller vouches for the processor, for what is read, and for which weights are small.
        unsafe {
            let mut sums = [[_mm256_setzero_si256(); 2]; FEWER_ROWS];
            for (at, small) in small.iter().enumerate() {
                let weights = |part: usize| _mm256_loadu_si256(panel.add(at * 128 + part * 32).cast());
                let (first, second) = ([weights(0), weights(1)], [weights(2), weights(3)]);
                for (row, sums) in sums.iter_mut().enumerate() {
                    let values = rows.add(row * inputs + at * EIGHT).cast::<i32>();
                    let four = _mm256_set1_epi32(values.read_unaligned());
                    let next = _mm256_set1_epi32(values.add(1).read_unaligned());
                    for ((sum, first), second) in sums.iter_mut().zip(first).zip(second) {
                        if *small {
                            let pairs = _mm256_maddubs_epi16(four, first);
                            let pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(next, second));
                            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
                        } else {
                            *sum = Self::add(Self::add(*sum, four, first), next, second);
                        }
                    }
                }
            }
            stored(sums)
        }
    }
}

/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn stored<const ROWS: usize>(sums: [[__m256i; 2]; ROWS]) -> [[i32; COLUMNS]; ROWS] {
    let mut out = [[0; COLUMNS]; ROWS];
    for (out, sums) in out.iter_mut().zip(sums) {
        // SAFETY: two times eight sums, and the caller vouches for AVX2.
        unsafe {
            _mm256_storeu_si256(out.as_mut_ptr().cast(), sums[0]);
            _mm256_storeu_si256(out.as_mut_ptr().add(8).cast(), sums[1]);
        }
    }
    out
}

/// `ROWS` rows against one panel.
///
/// # Safety
/// As for [`Dot::products`].
#[inline(always)]
unsafe fn products<A: Adds, const ROWS: usize>(
    rows: *const u8,
    inputs: usize,
    panel: *const i8,
) -> [[i32; COLUMNS]; ROWS] {
    // SAFETY: the caller vouches for the processor, and for what is read.
    unsafe {
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for step in 0..inputs / DEPTH {
            let left = _mm256_loadu_si256(panel.add(step * 64).cast());
            let right = _mm256_loadu_si256(panel.add(step * 64 + 32).cast());
            for (row, sums) in sums.iter_mut().enumerate() {
                let four = rows.add(row * inputs + step * DEPTH).cast::<i32>().read_unaligned();
                let values = _mm256_set1_epi32(four);
                sums[0] = A::add(sums[0], values, left);
                sums[1] = A::add(sums[1], values, right);
            }
        }
        stored(sums)
    }
}

impl Kernels for Avx2 {
    type Weights = Weights;
    type Scratch = Scratch;

    fn linear(
        input: &[f32],
        rows: usize,
        weights: &Self::Weights,
        finish: Finish<'_>,
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "avx2,fma")]
        fn run(input: &[f32], rows: usize, weights: &Weights, finish: Finish<'_>, steps: &mut Steps) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { bytes::linear::<Avx2, DEPTH, FEWER_ROWS>(input, rows, weights, finish, steps) }
        }
        assert!(available());
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
        #[target_feature(enable = "avx2,fma")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { attention::attend::<Avx2, DEPTH, FEWER_ROWS>(joined, context, length, heads, room) }
        }
        assert!(available());
        // SAFETY: the processor has the features.
        unsafe { run(joined, context, length, heads, &mut scratch.attention) }
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        #[target_feature(enable = "avx2,fma")]
        fn run(hidden: &mut [f32], norm: &Norm) {
            lanes::normalise::<Avx2>(hidden, norm);
        }
        assert!(available());
        // SAFETY: the processor has both features.
        unsafe { run(hidden, norm) }
    }
}

/// For processors that multiply bytes in one instruction but lack AVX-512: laptops since 2021, Zen 5 and later.
pub(crate) struct AvxVnni;

pub(crate) fn vnni_available() -> bool {
    is_x86_feature_detected!("avxvnni") && available()
}

impl Lanes for AvxVnni {
    const FUSED: bool = true;
}

impl Adds for AvxVnni {
    #[inline(always)]
    unsafe fn add(sums: __m256i, activations: __m256i, weights: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-VNNI.
        unsafe { _mm256_dpbusd_avx_epi32(sums, activations, weights) }
    }
}

impl Dot<DEPTH, ROWS> for AvxVnni {
    const FIRST: f32 = 0.0;
    const STEPS: f32 = 255.0;

    #[inline(always)]
    unsafe fn products(
        rows: *const u8,
        inputs: usize,
        panel: *const i8,
        _: &[bool],
    ) -> [[i32; COLUMNS]; ROWS] {
        // SAFETY: the caller vouches for what the kernel wants.
        unsafe { products::<AvxVnni, ROWS>(rows, inputs, panel) }
    }
}

impl Kernels for AvxVnni {
    type Weights = Weights;
    type Scratch = Scratch;

    fn linear(
        input: &[f32],
        rows: usize,
        weights: &Self::Weights,
        finish: Finish<'_>,
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "avx2,fma,avxvnni")]
        fn run(input: &[f32], rows: usize, weights: &Weights, finish: Finish<'_>, steps: &mut Steps) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { bytes::linear::<AvxVnni, DEPTH, ROWS>(input, rows, weights, finish, steps) }
        }
        assert!(vnni_available());
        // SAFETY: the processor has the features.
        unsafe { run(input, rows, weights, finish, &mut scratch.steps) }
    }

    fn attend(
        joined: &[f32],
        context: &mut [f32],
        length: usize,
        heads: (usize, usize),
        scratch: &mut Scratch,
    ) {
        #[target_feature(enable = "avx2,fma,avxvnni")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            // SAFETY: compiled for what it takes, and called only where the processor has it.
            unsafe { attention::attend::<AvxVnni, DEPTH, ROWS>(joined, context, length, heads, room) }
        }
        assert!(vnni_available());
        // SAFETY: the processor has the features.
        unsafe { run(joined, context, length, heads, &mut scratch.attention) }
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        Avx2::normalise(hidden, norm);
    }
}
