//! The steps of a network, each compiled for every kind of processor.

// A function compiled for a processor may be called only where that processor is; which is asked when a network is loaded.
#![allow(unsafe_code)]

use super::kernels::{self, Activation, Kernel, Source, Weights, Window};
use super::processors::Portable;

/// The steps, for one kind of processor. [`kernels`] says what each does.
pub(super) trait Ops: Kernel {
    fn product(
        source: &Source<'_>,
        rows: usize,
        weights: &Weights<Self::Cell>,
        activation: Activation,
        out: &mut [f32],
    );
    fn widen(input: &[f32], rows: usize, weights: [&Weights<Self::Cell>; 2], residual: bool, out: &mut [f32]);
    fn best(input: &[f32], rows: usize, weights: &Weights<Self::Cell>) -> Vec<(usize, f32)>;
    fn slide(input: (&[f32], usize), size: (usize, usize), window: &Window, out: &mut [f32]);
    fn attend(joined: &[f32], length: usize, width: usize, heads: usize, out: &mut [f32]);
}

/// [`Ops`] for a kernel, compiled with the features it needs; `$before` is done before products.
macro_rules! compiled {
    ($kernel:ty, $(#[$features:meta])?, $before:expr) => {
        impl Ops for $kernel {
            fn product(
                source: &Source<'_>,
                rows: usize,
                weights: &Weights<Self::Cell>,
                activation: Activation,
                out: &mut [f32],
            ) {
                $(#[$features])?
                fn run(
                    source: &Source<'_>,
                    rows: usize,
                    weights: &Weights<<$kernel as Kernel>::Cell>,
                    activation: Activation,
                    out: &mut [f32],
                ) {
                    kernels::product::<$kernel>(source, rows, weights, activation, out);
                }
                let _ready = $before;
                // SAFETY: this kernel is chosen only where the processor has what it needs.
                #[allow(unused_unsafe)]
                unsafe {
                    run(source, rows, weights, activation, out)
                }
            }

            fn widen(
                input: &[f32],
                rows: usize,
                weights: [&Weights<Self::Cell>; 2],
                residual: bool,
                out: &mut [f32],
            ) {
                $(#[$features])?
                fn run(
                    input: &[f32],
                    rows: usize,
                    weights: [&Weights<<$kernel as Kernel>::Cell>; 2],
                    residual: bool,
                    out: &mut [f32],
                ) {
                    kernels::widen::<$kernel>(input, rows, weights, residual, out);
                }
                let _ready = $before;
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                unsafe {
                    run(input, rows, weights, residual, out)
                }
            }

            fn best(input: &[f32], rows: usize, weights: &Weights<Self::Cell>) -> Vec<(usize, f32)> {
                $(#[$features])?
                fn run(
                    input: &[f32],
                    rows: usize,
                    weights: &Weights<<$kernel as Kernel>::Cell>,
                ) -> Vec<(usize, f32)> {
                    kernels::best::<$kernel>(input, rows, weights)
                }
                let _ready = $before;
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                unsafe {
                    run(input, rows, weights)
                }
            }

            fn slide(input: (&[f32], usize), size: (usize, usize), window: &Window, out: &mut [f32]) {
                $(#[$features])?
                fn run(input: (&[f32], usize), size: (usize, usize), window: &Window, out: &mut [f32]) {
                    kernels::slide::<$kernel>(input, size, window, out);
                }
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                unsafe {
                    run(input, size, window, out)
                }
            }

            fn attend(joined: &[f32], length: usize, width: usize, heads: usize, out: &mut [f32]) {
                $(#[$features])?
                fn run(joined: &[f32], length: usize, width: usize, heads: usize, out: &mut [f32]) {
                    kernels::attend::<$kernel>(joined, length, width, heads, out);
                }
                // SAFETY: as above.
                #[allow(unused_unsafe)]
                unsafe {
                    run(joined, length, width, heads, out)
                }
            }
        }
    };
}

compiled!(Portable, , ());

#[cfg(target_arch = "x86_64")]
mod intel {
    use super::super::processors::{Amx, Avx2, Avx512, AvxVnni, Tiles, Vnni};
    use super::*;

    compiled!(Avx2, #[target_feature(enable = "avx2,fma")], ());
    compiled!(Avx512, #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")], ());
    compiled!(Vnni, #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma")], ());
    compiled!(AvxVnni, #[target_feature(enable = "avxvnni,avx2,fma")], ());
    compiled!(
        Amx,
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16,avx2,fma")],
        // SAFETY: this kernel is chosen only where tiles are available.
        unsafe { Tiles::shape() }
    );
}
