//! The kernels: AMX tiles in bf16, AVX-512 and AVX2 in f32, and plain Rust for every other processor.

// Kernels reach for instructions the language has no safe words for; every block says why it holds.
#![allow(unsafe_code)]

use super::kernels::{COLUMNS, Kernel, Sums};

/// Weights as panels: the weights of each input for all outputs of a panel side by side.
fn pack_floats(matrix: &[f32], inputs: usize) -> Vec<f32> {
    let mut panels = vec![0.0; matrix.len()];
    for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
        let panel = &mut panels[output / COLUMNS * COLUMNS * inputs..];
        for (place, weight) in panel[output % COLUMNS..].iter_mut().step_by(COLUMNS).zip(weights) {
            *place = *weight;
        }
    }
    panels
}

/// Plain Rust, for the oldest processor of an architecture; what the others are tested against.
pub(super) struct Portable;

impl Kernel for Portable {
    type Cell = f32;
    const ROWS: usize = 2;
    const INPUTS: usize = 1;
    const FUSED: bool = cfg!(target_arch = "aarch64");

    #[inline(always)]
    fn round(values: &[f32], cells: &mut [f32]) {
        cells.copy_from_slice(values);
    }

    fn pack(matrix: &[f32], inputs: usize) -> Vec<f32> {
        pack_floats(matrix, inputs)
    }

    #[inline(always)]
    fn block(rows: &[f32], inputs: usize, panel: &[f32], sums: &mut Sums) {
        let mut totals = [[0.0f32; COLUMNS]; Self::ROWS];
        for (index, weights) in panel.as_chunks::<COLUMNS>().0.iter().enumerate() {
            for (row, totals) in totals.iter_mut().enumerate() {
                let value = rows[row * inputs + index];
                for (total, weight) in totals.iter_mut().zip(weights) {
                    *total =
                        if Self::FUSED { value.mul_add(*weight, *total) } else { value * weight + *total };
                }
            }
        }
        sums.0[..Self::ROWS].copy_from_slice(&totals);
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use intel::{Amx, Avx2, Avx512, Tiles};

#[cfg(target_arch = "x86_64")]
mod intel {
    use std::arch::asm;
    use std::arch::x86_64::*;

    use super::super::kernels::{COLUMNS, Kernel, Sums};
    use super::pack_floats;

    /// f32 on registers of 256 bits.
    pub(in super::super) struct Avx2;

    impl Avx2 {
        pub(in super::super) fn available() -> bool {
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
        }
    }

    impl Kernel for Avx2 {
        type Cell = f32;
        const ROWS: usize = 3;
        const INPUTS: usize = 1;
        const FUSED: bool = true;

        #[inline(always)]
        fn round(values: &[f32], cells: &mut [f32]) {
            cells.copy_from_slice(values);
        }

        fn pack(matrix: &[f32], inputs: usize) -> Vec<f32> {
            pack_floats(matrix, inputs)
        }

        #[inline(always)]
        fn block(rows: &[f32], inputs: usize, panel: &[f32], sums: &mut Sums) {
            assert!(rows.len() >= Self::ROWS * inputs && panel.len() == COLUMNS * inputs);
            // SAFETY: lengths were asserted; only code that is compiled for AVX2, where it is available, has this kernel.
            unsafe {
                let mut totals = [[_mm256_setzero_ps(); 4]; Self::ROWS];
                for index in 0..inputs {
                    let weights: [__m256; 4] = std::array::from_fn(|part| {
                        _mm256_loadu_ps(panel.as_ptr().add(index * COLUMNS + part * 8))
                    });
                    for (row, totals) in totals.iter_mut().enumerate() {
                        let value = _mm256_set1_ps(*rows.as_ptr().add(row * inputs + index));
                        for part in 0..4 {
                            totals[part] = _mm256_fmadd_ps(value, weights[part], totals[part]);
                        }
                    }
                }
                for (out, totals) in sums.0.iter_mut().zip(totals) {
                    for (part, total) in totals.into_iter().enumerate() {
                        _mm256_storeu_ps(out.as_mut_ptr().add(part * 8), total);
                    }
                }
            }
        }
    }

    /// f32 on registers of 512 bits.
    pub(in super::super) struct Avx512;

    impl Avx512 {
        pub(in super::super) fn available() -> bool {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && Avx2::available()
        }
    }

    impl Kernel for Avx512 {
        type Cell = f32;
        const ROWS: usize = 12;
        const INPUTS: usize = 1;
        const FUSED: bool = true;

        #[inline(always)]
        fn round(values: &[f32], cells: &mut [f32]) {
            cells.copy_from_slice(values);
        }

        fn pack(matrix: &[f32], inputs: usize) -> Vec<f32> {
            pack_floats(matrix, inputs)
        }

        #[inline(always)]
        fn block(rows: &[f32], inputs: usize, panel: &[f32], sums: &mut Sums) {
            assert!(rows.len() >= Self::ROWS * inputs && panel.len() == COLUMNS * inputs);
            // SAFETY: lengths were asserted; only code that is compiled for AVX-512, where it is available, has this kernel.
            unsafe {
                let mut totals = [[_mm512_setzero_ps(); 2]; Self::ROWS];
                for index in 0..inputs {
                    let place = panel.as_ptr().add(index * COLUMNS);
                    let (left, right) = (_mm512_loadu_ps(place), _mm512_loadu_ps(place.add(16)));
                    for (row, totals) in totals.iter_mut().enumerate() {
                        let value = _mm512_set1_ps(*rows.as_ptr().add(row * inputs + index));
                        totals[0] = _mm512_fmadd_ps(value, left, totals[0]);
                        totals[1] = _mm512_fmadd_ps(value, right, totals[1]);
                    }
                }
                for (out, totals) in sums.0.iter_mut().zip(totals) {
                    _mm512_storeu_ps(out.as_mut_ptr(), totals[0]);
                    _mm512_storeu_ps(out.as_mut_ptr().add(16), totals[1]);
                }
            }
        }
    }

    /// bf16 on tiles: blocks of 32 rows and 32 outputs, 32 inputs at a time.
    pub(in super::super) struct Amx;

    /// Cells of a tile: 16 rows of 32.
    const TILE: usize = 512;

    impl Amx {
        /// Whether this processor has tiles and the system lets this process use them. In a child it must be asked before
        /// system calls are confined; the answer stays.
        pub(in super::super) fn available() -> bool {
            static AVAILABLE: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
                const AMX_BF16: u32 = 1 << 22;
                const AMX_TILE: u32 = 1 << 24;
                let tiles = __cpuid_count(7, 0).edx;
                Avx512::available()
                    && is_x86_feature_detected!("avx512bf16")
                    && tiles & (AMX_BF16 | AMX_TILE) == AMX_BF16 | AMX_TILE
                    && permitted()
            });
            *AVAILABLE
        }
    }

    /// Asks Linux to let this process use tile registers: they enlarge every thread's saved state, so it wants to know.
    #[cfg(target_os = "linux")]
    fn permitted() -> bool {
        const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
        const XFEATURE_XTILEDATA: libc::c_long = 18;
        // SAFETY: the call takes two numbers and changes nothing but the permission.
        unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
    }

    #[cfg(not(target_os = "linux"))]
    fn permitted() -> bool {
        false
    }

    /// Tile registers shaped for this thread as 16 rows of 64 bytes, and handed back on drop.
    pub(in super::super) struct Tiles(());

    impl Tiles {
        /// # Safety
        /// [`Amx::available`] must have said yes.
        pub(in super::super) unsafe fn shape() -> Self {
            #[repr(C, align(64))]
            struct Configuration([u8; 64]);
            let mut configuration = Configuration([0; 64]);
            configuration.0[0] = 1; // the only palette
            for tile in 0..8 {
                configuration.0[16 + 2 * tile] = 64; // bytes a row
                configuration.0[48 + tile] = 16; // rows
            }
            // SAFETY: the configuration is 64 valid bytes; the caller vouches for AMX.
            unsafe { asm!("ldtilecfg [{}]", in(reg) configuration.0.as_ptr(), options(nostack, readonly)) };
            Tiles(())
        }
    }

    impl Drop for Tiles {
        fn drop(&mut self) {
            // SAFETY: a `Tiles` exists only where AMX does.
            unsafe { asm!("tilerelease", options(nostack, nomem)) };
        }
    }

    impl Kernel for Amx {
        type Cell = u16;
        const ROWS: usize = 32;
        const INPUTS: usize = 32;
        const FUSED: bool = true;

        #[inline(always)]
        fn round(values: &[f32], cells: &mut [u16]) {
            assert!(values.len() == cells.len());
            let whole = values.len() / 32 * 32;
            // SAFETY: loads and stores stay below the length; only code compiled for AVX-512 with bf16 has this kernel;
            // both registers are 64 bytes of any bits.
            unsafe {
                for at in (0..whole).step_by(32) {
                    let left = _mm512_loadu_ps(values.as_ptr().add(at));
                    let right = _mm512_loadu_ps(values.as_ptr().add(at + 16));
                    let pair: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(right, left));
                    _mm512_storeu_si512(cells.as_mut_ptr().add(at).cast(), pair);
                }
                let rest = values.len() - whole;
                if rest > 0 {
                    let mask = |from: usize| ((1u32 << rest.saturating_sub(from).min(16)) - 1) as u16;
                    let left = _mm512_maskz_loadu_ps(mask(0), values.as_ptr().add(whole));
                    let right = _mm512_maskz_loadu_ps(mask(16), values.as_ptr().wrapping_add(whole + 16));
                    let pair: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(right, left));
                    let mask = (1u64 << rest) - 1;
                    _mm512_mask_storeu_epi16(cells.as_mut_ptr().add(whole).cast(), mask as u32, pair);
                }
            }
        }

        fn pack(matrix: &[f32], inputs: usize) -> Vec<u16> {
            // For each 32 outputs, for each 32 inputs, two tiles of 16 outputs: row r holds inputs 2r and 2r + 1 of each.
            let mut panels = vec![0u16; matrix.len()];
            for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
                let panel = &mut panels[output / COLUMNS * COLUMNS * inputs..];
                for (input, weight) in weights.iter().enumerate() {
                    let tile = (input / 32 * 2 + output % 32 / 16) * TILE;
                    panel[tile + input % 32 / 2 * 32 + output % 16 * 2 + input % 2] =
                        half::bf16::from_f32(*weight).to_bits();
                }
            }
            panels
        }

        #[inline(always)]
        fn block(rows: &[u16], inputs: usize, panel: &[u16], sums: &mut Sums) {
            assert!(rows.len() >= Self::ROWS * inputs && panel.len() == COLUMNS * inputs);
            // SAFETY: tiles are shaped before this kernel is used. Each load reads 16 rows: of a panel's tile, a kilobyte, or
            // of cells, `inputs` apart; both were asserted to be there. The sums are 32 rows of 128 bytes.
            unsafe {
                asm!(
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "tilezero tmm2",
                    "tilezero tmm3",
                    options(nostack, nomem)
                );
                let below = rows.as_ptr().add(16 * inputs);
                for step in 0..inputs / 32 {
                    asm!(
                        "tileloadd tmm6, [{panel} + {line}]",
                        "tileloadd tmm4, [{rows} + {stride}]",
                        "tdpbf16ps tmm0, tmm4, tmm6",
                        "tileloadd tmm7, [{panel} + {line} + 1024]",
                        "tdpbf16ps tmm1, tmm4, tmm7",
                        "tileloadd tmm5, [{below} + {stride}]",
                        "tdpbf16ps tmm2, tmm5, tmm6",
                        "tdpbf16ps tmm3, tmm5, tmm7",
                        panel = in(reg) panel.as_ptr().add(step * 2 * TILE),
                        rows = in(reg) rows.as_ptr().add(step * 32),
                        below = in(reg) below.add(step * 32),
                        line = in(reg) 64usize,
                        stride = in(reg) inputs * 2,
                        options(nostack, readonly)
                    );
                }
                asm!(
                    "tilestored [{sums} + {stride}], tmm0",
                    "tilestored [{sums} + {stride} + 64], tmm1",
                    "tilestored [{below} + {stride}], tmm2",
                    "tilestored [{below} + {stride} + 64], tmm3",
                    sums = in(reg) sums.0.as_mut_ptr(),
                    below = in(reg) sums.0.as_mut_ptr().add(16),
                    stride = in(reg) size_of::<[f32; COLUMNS]>(),
                    options(nostack)
                );
            }
        }
    }
}
