//! [`lanes`] compiled for AVX2 and FMA, around a product that keeps its sums in registers.

use std::arch::x86_64::*;

use super::float::Kernels;
use super::lanes::{self, Finish, LANES, Lanes, Matrix, Room};
use super::layers::Norm;

/// Rows kept in registers: 6 × 2 sums, two weights and one value make 15 of the 16 registers.
const ROWS: usize = 6;

/// For x86-64 processors since 2013.
pub(crate) struct Avx2;

pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

impl Lanes for Avx2 {
    const FUSED: bool = true;

    #[inline(always)]
    fn block<const ROWS: usize>(input: &[f32], stride: usize, panel: &[f32]) -> [[f32; LANES]; ROWS] {
        let inputs = panel.len() / LANES;
        assert!(input.len() >= (ROWS - 1) * stride + inputs);
        // SAFETY: only called within functions compiled for AVX2 and FMA, which check for them; lengths asserted.
        unsafe { block::<ROWS>(input.as_ptr(), stride, panel.as_ptr(), inputs) }
    }
}

/// Sums of `ROWS` rows with one panel.
///
/// # Safety
/// `input` must be readable for `ROWS` rows of `inputs`, `stride` apart, `panel` for `inputs` × 16.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn block<const ROWS: usize>(
    input: *const f32,
    stride: usize,
    panel: *const f32,
    inputs: usize,
) -> [[f32; LANES]; ROWS] {
    let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
    for index in 0..inputs {
        // SAFETY: within what the caller vouches for.
        unsafe {
            let left = _mm256_loadu_ps(panel.add(index * LANES));
            let right = _mm256_loadu_ps(panel.add(index * LANES + 8));
            for (row, sums) in sums.iter_mut().enumerate() {
                let value = _mm256_broadcast_ss(&*input.add(row * stride + index));
                sums[0] = _mm256_fmadd_ps(value, left, sums[0]);
                sums[1] = _mm256_fmadd_ps(value, right, sums[1]);
            }
        }
    }
    let mut out = [[0.0; LANES]; ROWS];
    for (out, sums) in out.iter_mut().zip(sums) {
        // SAFETY: two times eight floats.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), sums[0]);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), sums[1]);
        }
    }
    out
}

impl Kernels for Avx2 {
    type Weights = Matrix;
    type Scratch = ();

    fn linear(input: &[f32], rows: usize, weights: &Matrix, finish: Finish<'_>, (): &mut ()) {
        #[target_feature(enable = "avx2,fma")]
        fn run(input: &[f32], rows: usize, weights: &Matrix, finish: Finish<'_>) {
            lanes::linear::<Avx2, ROWS>(input, rows, weights, finish);
        }
        assert!(available());
        // SAFETY: the processor has both features.
        unsafe { run(input, rows, weights, finish) }
    }

    fn attend(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
        #[target_feature(enable = "avx2,fma")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            lanes::attend::<Avx2, ROWS>(joined, context, length, heads, room);
        }
        assert!(available());
        // SAFETY: the processor has both features.
        unsafe { run(joined, context, length, heads, room) }
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
