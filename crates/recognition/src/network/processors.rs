//! The kernels: AMX tiles in bf16, AVX-512 VNNI and AVX-VNNI in 8 bits, AVX-512 and AVX2 in f32, and plain Rust for every other
//! processor.

// Kernels reach for instructions the language has no safe words for; every block says why it holds.
#![allow(unsafe_code)]

use super::kernels::{COLUMNS, Kernel, Packed, Panel, Rows, Sums, Worth};

/// Weights as panels: the weights of each input for all outputs of a panel side by side.
fn pack_floats(matrix: &[f32], inputs: usize) -> Packed<f32> {
    let mut panels = vec![0.0; matrix.len()];
    for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
        let panel = &mut panels[output / COLUMNS * COLUMNS * inputs..];
        for (place, weight) in panel[output % COLUMNS..].iter_mut().step_by(COLUMNS).zip(weights) {
            *place = *weight;
        }
    }
    Packed::of_numbers(panels, inputs)
}

/// Inputs of an output that are multiplied together in 8 bits.
#[cfg(target_arch = "x86_64")]
const DEPTH: usize = 4;

/// Weights as signed bytes with one scale an output: [`DEPTH`] inputs of each output of a panel side by side.
#[cfg(target_arch = "x86_64")]
fn pack_bytes(matrix: &[f32], inputs: usize) -> Packed<u8> {
    const MOST: f32 = 127.0;
    let mut packed = Packed { panels: vec![0; matrix.len()], steps: Vec::new(), sums: Vec::new() };
    for (output, weights) in matrix.chunks_exact(inputs).enumerate() {
        let most = weights.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
        let step = most.max(f32::MIN_POSITIVE) / MOST;
        let panel = &mut packed.panels[output / COLUMNS * COLUMNS * inputs..];
        let mut sum = 0;
        for (input, weight) in weights.iter().enumerate() {
            let whole = (weight / step).round() as i8;
            sum += i32::from(whole);
            let place = input / DEPTH * DEPTH * COLUMNS + output % COLUMNS * DEPTH + input % DEPTH;
            panel[place] = whole.cast_unsigned();
        }
        packed.steps.push(step);
        packed.sums.push(sum as f32 * step);
    }
    packed
}

/// Plain Rust, for the oldest processor of an architecture; what the others are tested against.
pub(super) struct Portable;

impl Kernel for Portable {
    type Cell = f32;
    const ROWS: usize = 2;
    const INPUTS: usize = 1;
    const FUSED: bool = cfg!(target_arch = "aarch64");

    #[inline(always)]
    fn round(numbers: &[f32], cells: &mut [f32]) -> Worth {
        cells.copy_from_slice(numbers);
        Worth::default()
    }

    fn pack(matrix: &[f32], inputs: usize) -> Packed<f32> {
        pack_floats(matrix, inputs)
    }

    #[inline(always)]
    fn block(rows: &Rows<f32>, inputs: usize, panel: &Panel<'_, f32>, sums: &mut Sums) {
        let (rows, panel) = (&rows.cells, panel.cells);
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
pub(super) use intel::{Amx, Avx2, Avx512, AvxVnni, Tiles, Vnni};

#[cfg(target_arch = "x86_64")]
mod intel {
    use std::arch::asm;
    use std::arch::x86_64::*;

    use super::super::kernels::{COLUMNS, Kernel, Packed, Panel, Rows, Sums, Worth};
    use super::{DEPTH, pack_bytes, pack_floats};

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
        fn round(numbers: &[f32], cells: &mut [f32]) -> Worth {
            cells.copy_from_slice(numbers);
            Worth::default()
        }

        fn pack(matrix: &[f32], inputs: usize) -> Packed<f32> {
            pack_floats(matrix, inputs)
        }

        #[inline(always)]
        fn block(rows: &Rows<f32>, inputs: usize, panel: &Panel<'_, f32>, sums: &mut Sums) {
            let (rows, panel) = (&rows.cells, panel.cells);
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
        fn round(numbers: &[f32], cells: &mut [f32]) -> Worth {
            cells.copy_from_slice(numbers);
            Worth::default()
        }

        fn pack(matrix: &[f32], inputs: usize) -> Packed<f32> {
            pack_floats(matrix, inputs)
        }

        #[inline(always)]
        fn block(rows: &Rows<f32>, inputs: usize, panel: &Panel<'_, f32>, sums: &mut Sums) {
            let (rows, panel) = (&rows.cells, panel.cells);
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

    /// 8 bits on registers of 512 bits.
    pub(in super::super) struct Vnni;

    impl Vnni {
        pub(in super::super) fn available() -> bool {
            is_x86_feature_detected!("avx512vnni") && Avx512::available()
        }
    }

    impl Kernel for Vnni {
        type Cell = u8;
        const ROWS: usize = 12;
        const INPUTS: usize = DEPTH;
        const FUSED: bool = true;

        #[inline(always)]
        fn round(numbers: &[f32], cells: &mut [u8]) -> Worth {
            assert!(numbers.len() == cells.len());
            // SAFETY: loads and stores stay below the length; only code that is compiled for AVX-512 has this kernel.
            unsafe {
                // The last of them may be fewer than a register holds.
                let whole = numbers.len() / 16 * 16;
                let mask = ((1u32 << (numbers.len() - whole)) - 1) as u16;
                let last = _mm512_maskz_loadu_ps(mask, numbers.as_ptr().add(whole));
                // Zero is among the steps anyway.
                let (mut least, mut most) = (last, last);
                for at in (0..whole).step_by(16) {
                    let values = _mm512_loadu_ps(numbers.as_ptr().add(at));
                    least = _mm512_min_ps(least, values);
                    most = _mm512_max_ps(most, values);
                }
                let (worth, factor) = steps(_mm512_reduce_min_ps(least), _mm512_reduce_max_ps(most));
                let (least, factor) = (_mm512_set1_ps(worth.least), _mm512_set1_ps(factor));
                let bytes = |values: __m512| {
                    _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(
                        _mm512_sub_ps(values, least),
                        factor,
                    )))
                };
                for at in (0..whole).step_by(16) {
                    let values = _mm512_loadu_ps(numbers.as_ptr().add(at));
                    _mm_storeu_si128(cells.as_mut_ptr().add(at).cast(), bytes(values));
                }
                _mm_mask_storeu_epi8(cells.as_mut_ptr().add(whole).cast(), mask, bytes(last));
                worth
            }
        }

        #[inline(always)]
        fn zero(worth: Worth) -> u8 {
            zero(worth)
        }

        fn pack(matrix: &[f32], inputs: usize) -> Packed<u8> {
            pack_bytes(matrix, inputs)
        }

        #[inline(always)]
        fn block(rows: &Rows<u8>, inputs: usize, panel: &Panel<'_, u8>, sums: &mut Sums) {
            assert!(rows.cells.len() >= Self::ROWS * inputs && panel.cells.len() == COLUMNS * inputs);
            assert!(inputs.is_multiple_of(DEPTH));
            // SAFETY: lengths were asserted; only code that is compiled for VNNI, where it is available, has this kernel.
            unsafe {
                let mut totals = [[_mm512_setzero_si512(); 2]; Self::ROWS];
                for index in (0..inputs).step_by(DEPTH) {
                    let place = panel.cells.as_ptr().add(index * COLUMNS);
                    let (left, right) =
                        (_mm512_loadu_si512(place.cast()), _mm512_loadu_si512(place.add(64).cast()));
                    for (row, totals) in totals.iter_mut().enumerate() {
                        let four = rows.cells.as_ptr().add(row * inputs + index).cast::<i32>();
                        let four = _mm512_set1_epi32(four.read_unaligned());
                        totals[0] = _mm512_dpbusd_epi32(totals[0], four, left);
                        totals[1] = _mm512_dpbusd_epi32(totals[1], four, right);
                    }
                }
                let load =
                    |values: &[f32; COLUMNS], part: usize| _mm512_loadu_ps(values.as_ptr().add(part * 16));
                for ((out, totals), worth) in sums.0.iter_mut().zip(totals).zip(rows.worth) {
                    let (least, step) = (_mm512_set1_ps(worth.least), _mm512_set1_ps(worth.step));
                    for (part, total) in totals.into_iter().enumerate() {
                        let steps = _mm512_mul_ps(_mm512_cvtepi32_ps(total), step);
                        let base = _mm512_mul_ps(least, load(panel.sums, part));
                        let sum = _mm512_fmadd_ps(steps, load(panel.steps, part), base);
                        _mm512_storeu_ps(out.as_mut_ptr().add(part * 16), sum);
                    }
                }
            }
        }
    }

    /// What steps between these numbers are worth, and how many of them are in one. Zero is among them.
    #[inline(always)]
    fn steps(least: f32, most: f32) -> (Worth, f32) {
        const STEPS: f32 = 255.0;
        let least = least.min(0.0);
        let range = most.max(0.0) - least;
        (Worth { least, step: range / STEPS }, if range > 0.0 { STEPS / range } else { 0.0 })
    }

    /// The step that is nearest to zero.
    #[inline(always)]
    fn zero(worth: Worth) -> u8 {
        if worth.step > 0.0 { (-worth.least / worth.step).round() as u8 } else { 0 }
    }

    /// 8 bits on registers of 256 bits.
    pub(in super::super) struct AvxVnni;

    impl AvxVnni {
        pub(in super::super) fn available() -> bool {
            is_x86_feature_detected!("avxvnni") && Avx2::available()
        }
    }

    impl Kernel for AvxVnni {
        type Cell = u8;
        const ROWS: usize = 3;
        const INPUTS: usize = DEPTH;
        const FUSED: bool = true;

        #[inline(always)]
        fn round(numbers: &[f32], cells: &mut [u8]) -> Worth {
            let (mut least, mut most) = ([f32::MAX; 8], [f32::MIN; 8]);
            let (lanes, rest) = numbers.as_chunks::<8>();
            for values in lanes {
                for lane in 0..8 {
                    // Each is one instruction for all lanes, unlike `min` and `max`.
                    least[lane] = if values[lane] < least[lane] { values[lane] } else { least[lane] };
                    most[lane] = if values[lane] > most[lane] { values[lane] } else { most[lane] };
                }
            }
            let least = rest.iter().chain(&least).fold(f32::MAX, |least, value| least.min(*value));
            let most = rest.iter().chain(&most).fold(f32::MIN, |most, value| most.max(*value));
            let (worth, factor) = steps(least, most);
            for (cell, value) in cells.iter_mut().zip(numbers) {
                // Adding 2^23 leaves the nearest whole number in the lowest bits.
                *cell = ((value - worth.least) * factor + 8_388_608.0).to_bits() as u8;
            }
            worth
        }

        #[inline(always)]
        fn zero(worth: Worth) -> u8 {
            zero(worth)
        }

        fn pack(matrix: &[f32], inputs: usize) -> Packed<u8> {
            pack_bytes(matrix, inputs)
        }

        #[inline(always)]
        fn block(rows: &Rows<u8>, inputs: usize, panel: &Panel<'_, u8>, sums: &mut Sums) {
            assert!(rows.cells.len() >= Self::ROWS * inputs && panel.cells.len() == COLUMNS * inputs);
            assert!(inputs.is_multiple_of(DEPTH));
            // SAFETY: lengths were asserted; only code that is compiled for AVX-VNNI, where it is available, has this kernel.
            unsafe {
                let mut totals = [[_mm256_setzero_si256(); 4]; Self::ROWS];
                for index in (0..inputs).step_by(DEPTH) {
                    let place = panel.cells.as_ptr().add(index * COLUMNS);
                    let fours: [__m256i; Self::ROWS] = std::array::from_fn(|row| {
                        let four = rows.cells.as_ptr().add(row * inputs + index).cast::<i32>();
                        _mm256_set1_epi32(four.read_unaligned())
                    });
                    for part in 0..4 {
                        let weights = _mm256_loadu_si256(place.add(part * 32).cast());
                        for (totals, four) in totals.iter_mut().zip(fours) {
                            totals[part] = _mm256_dpbusd_avx_epi32(totals[part], four, weights);
                        }
                    }
                }
                let load =
                    |values: &[f32; COLUMNS], part: usize| _mm256_loadu_ps(values.as_ptr().add(part * 8));
                for ((out, totals), worth) in sums.0.iter_mut().zip(totals).zip(rows.worth) {
                    let (least, step) = (_mm256_set1_ps(worth.least), _mm256_set1_ps(worth.step));
                    for (part, total) in totals.into_iter().enumerate() {
                        let steps = _mm256_mul_ps(_mm256_cvtepi32_ps(total), step);
                        let base = _mm256_mul_ps(least, load(panel.sums, part));
                        let sum = _mm256_fmadd_ps(steps, load(panel.steps, part), base);
                        _mm256_storeu_ps(out.as_mut_ptr().add(part * 8), sum);
                    }
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
        fn round(numbers: &[f32], cells: &mut [u16]) -> Worth {
            assert!(numbers.len() == cells.len());
            let whole = numbers.len() / 32 * 32;
            // SAFETY: loads and stores stay below the length; only code compiled for AVX-512 with bf16 has this kernel;
            // both registers are 64 bytes of any bits.
            unsafe {
                for at in (0..whole).step_by(32) {
                    let left = _mm512_loadu_ps(numbers.as_ptr().add(at));
                    let right = _mm512_loadu_ps(numbers.as_ptr().add(at + 16));
                    let pair: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(right, left));
                    _mm512_storeu_si512(cells.as_mut_ptr().add(at).cast(), pair);
                }
                let rest = numbers.len() - whole;
                if rest > 0 {
                    let mask = |from: usize| ((1u32 << rest.saturating_sub(from).min(16)) - 1) as u16;
                    let left = _mm512_maskz_loadu_ps(mask(0), numbers.as_ptr().add(whole));
                    let right = _mm512_maskz_loadu_ps(mask(16), numbers.as_ptr().wrapping_add(whole + 16));
                    let pair: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(right, left));
                    let mask = (1u64 << rest) - 1;
                    _mm512_mask_storeu_epi16(cells.as_mut_ptr().add(whole).cast(), mask as u32, pair);
                }
            }
            Worth::default()
        }

        fn pack(matrix: &[f32], inputs: usize) -> Packed<u16> {
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
            Packed::of_numbers(panels, inputs)
        }

        #[inline(always)]
        fn block(rows: &Rows<u16>, inputs: usize, panel: &Panel<'_, u16>, sums: &mut Sums) {
            let (rows, panel) = (&rows.cells, panel.cells);
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
