//! [`lanes`] compiled for AVX2 and FMA: the same safe code in registers of eight floats.

use super::float::Kernels;
use super::lanes::{self, Finish, Matrix, Room};
use super::layers::Norm;

/// Rows kept in registers: 6 × 2 sums, two weights and one value make 15 of the 16 registers.
const ROWS: usize = 6;

/// For x86-64 processors since 2013.
pub(crate) struct Avx2;

pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

impl Kernels for Avx2 {
    type Weights = Matrix;
    type Scratch = ();

    fn linear(input: &[f32], rows: usize, weights: &Matrix, finish: Finish<'_>, (): &mut ()) {
        #[target_feature(enable = "avx2,fma")]
        fn run(input: &[f32], rows: usize, weights: &Matrix, finish: Finish<'_>) {
            lanes::linear::<true, ROWS>(input, rows, weights, finish);
        }
        assert!(available());
        // SAFETY: the processor has both features.
        unsafe { run(input, rows, weights, finish) }
    }

    fn attend(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
        #[target_feature(enable = "avx2,fma")]
        fn run(joined: &[f32], context: &mut [f32], length: usize, heads: (usize, usize), room: &mut Room) {
            lanes::attend::<true, ROWS>(joined, context, length, heads, room);
        }
        assert!(available());
        // SAFETY: the processor has both features.
        unsafe { run(joined, context, length, heads, room) }
    }

    fn normalise(hidden: &mut [f32], norm: &Norm) {
        #[target_feature(enable = "avx2,fma")]
        fn run(hidden: &mut [f32], norm: &Norm) {
            lanes::normalise::<true>(hidden, norm);
        }
        assert!(available());
        // SAFETY: the processor has both features.
        unsafe { run(hidden, norm) }
    }
}
