//! The inner loops over vectors, in the best form that this machine can run.
//!
//! Every form computes what [`portable`] computes; the tests compare them with each other.
#![allow(unsafe_code)]

/// The inner loops, chosen once.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct Kernels {
    dot: fn(&[u16], &[f32]) -> f32,
    distances: fn(&[u64], &[u64], &mut Vec<u16>),
}

impl Default for Kernels {
    fn default() -> Self {
        Self::best()
    }
}

impl Kernels {
    /// The fastest that this machine can run.
    pub(in crate::index) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2 && is_x86_feature_detected!("avx512f");
            if avx512 && is_x86_feature_detected!("avx512vpopcntdq") {
                return Kernels { dot: x86::dot_avx512, distances: x86::distances_avx512 };
            }
            if avx512 {
                return Kernels { dot: x86::dot_avx512, distances: x86::distances };
            }
            if avx2 {
                return Kernels { dot: x86::dot_avx2, distances: x86::distances };
            }
        }
        Self::portable()
    }

    /// What runs everywhere. On 64-bit ARM the conversion of halves and the counting of bits are single instructions
    /// there too, so it needs no form of its own.
    pub(super) fn portable() -> Self {
        Kernels { dot: portable::dot, distances: portable::distances }
    }

    /// The dot product of a stored vector, as bits of halves, and a query of the same length.
    pub(in crate::index) fn dot(&self, halves: &[u16], query: &[f32]) -> f32 {
        (self.dot)(halves, query)
    }

    /// Appends the number of differing bits between `query` and each code; codes follow each other without a gap.
    pub(super) fn distances(&self, codes: &[u64], query: &[u64], distances: &mut Vec<u16>) {
        (self.distances)(codes, query, distances);
    }
}

/// The safe forms.
mod portable {
    use half::{
        f16,
        slice::{HalfBitsSliceExt, HalfFloatSliceExt},
    };

    /// Halves are converted a block at a time, so that the block stays in the nearest cache.
    const BLOCK: usize = 64;

    pub(super) fn dot(halves: &[u16], query: &[f32]) -> f32 {
        let mut sums = [0.0f32; 8];
        let mut floats = [0.0f32; BLOCK];
        for (halves, query) in halves.chunks(BLOCK).zip(query.chunks(BLOCK)) {
            let floats = &mut floats[..halves.len()];
            halves.reinterpret_cast::<f16>().convert_to_f32_slice(floats);
            for (at, (a, b)) in floats.iter().zip(query).enumerate() {
                sums[at % 8] += a * b;
            }
        }
        sums.iter().sum()
    }

    pub(super) fn distances(codes: &[u64], query: &[u64], distances: &mut Vec<u16>) {
        let differing =
            |code: &[u64]| code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones() as u16).sum::<u16>();
        distances.extend(codes.chunks_exact(query.len().max(1)).map(differing));
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::portable;

    pub(super) fn dot_avx512(halves: &[u16], query: &[f32]) -> f32 {
        let whole = halves.len().min(query.len()) / 16 * 16;
        // SAFETY: chosen only where AVX-512F was found; both slices have at least `whole` elements.
        let sum = unsafe { dot_16_lanes(&halves[..whole], &query[..whole]) };
        sum + portable::dot(&halves[whole..], &query[whole..])
    }

    pub(super) fn dot_avx2(halves: &[u16], query: &[f32]) -> f32 {
        let whole = halves.len().min(query.len()) / 8 * 8;
        // SAFETY: chosen only where AVX2, FMA and F16C were found; both slices have at least `whole` elements.
        let sum = unsafe { dot_8_lanes(&halves[..whole], &query[..whole]) };
        sum + portable::dot(&halves[whole..], &query[whole..])
    }

    pub(super) fn distances(codes: &[u64], query: &[u64], distances: &mut Vec<u16>) {
        // SAFETY: chosen only where POPCNT was found.
        unsafe { distances_popcnt(codes, query, distances) }
    }

    pub(super) fn distances_avx512(codes: &[u64], query: &[u64], distances: &mut Vec<u16>) {
        match <&[u64; 6]>::try_from(query) {
            // SAFETY: chosen only where AVX-512 counts bits.
            Ok(query) => unsafe { distances_6_words(codes, query, distances) },
            Err(_) => self::distances(codes, query, distances),
        }
    }

    /// Four codes of 384 dimensions are three registers: eight words' bits are counted at once, then added code by code.
    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    fn distances_6_words(codes: &[u64], query: &[u64; 6], distances: &mut Vec<u16>) {
        let (fours, rest) = codes.as_chunks::<24>();
        let around = |at: usize| query[at % 6] as i64;
        let queries: [__m512i; 3] = std::array::from_fn(|register| {
            let lanes: [i64; 8] = std::array::from_fn(|lane| around(register * 8 + lane));
            // SAFETY: eight lanes are loaded from as many.
            unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
        });
        distances.reserve(codes.len() / 6);
        for four in fours {
            let mut counts = [0u64; 24];
            for (register, query) in queries.iter().enumerate() {
                // SAFETY: three registers of eight are the 24 words of four codes, and of their counts.
                unsafe {
                    let words = _mm512_loadu_si512(four.as_ptr().add(register * 8).cast());
                    let counted = _mm512_popcnt_epi64(_mm512_xor_si512(words, *query));
                    _mm512_storeu_si512(counts.as_mut_ptr().add(register * 8).cast(), counted);
                }
            }
            distances.extend(counts.as_chunks::<6>().0.iter().map(|code| code.iter().sum::<u64>() as u16));
        }
        distances_popcnt(rest, query, distances);
    }

    /// Four sums, because one addition has to wait four cycles for the one before it.
    #[target_feature(enable = "avx512f")]
    unsafe fn dot_16_lanes(halves: &[u16], query: &[f32]) -> f32 {
        let mut sums = [_mm512_setzero_ps(); 4];
        for (at, (halves, query)) in halves.chunks_exact(16).zip(query.chunks_exact(16)).enumerate() {
            // SAFETY: each chunk is exactly the 16 elements that are loaded; the loads need no alignment.
            let (a, b) = unsafe {
                (_mm512_cvtph_ps(_mm256_loadu_si256(halves.as_ptr().cast())), _mm512_loadu_ps(query.as_ptr()))
            };
            sums[at % 4] = _mm512_fmadd_ps(a, b, sums[at % 4]);
        }
        let [a, b, c, d] = sums;
        _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)))
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn dot_8_lanes(halves: &[u16], query: &[f32]) -> f32 {
        let mut sums = [_mm256_setzero_ps(); 4];
        for (at, (halves, query)) in halves.chunks_exact(8).zip(query.chunks_exact(8)).enumerate() {
            // SAFETY: each chunk is exactly the 8 elements that are loaded; the loads need no alignment.
            let (a, b) = unsafe {
                (_mm256_cvtph_ps(_mm_loadu_si128(halves.as_ptr().cast())), _mm256_loadu_ps(query.as_ptr()))
            };
            sums[at % 4] = _mm256_fmadd_ps(a, b, sums[at % 4]);
        }
        let [a, b, c, d] = sums;
        let mut lanes = [0.0f32; 8];
        // SAFETY: the array holds exactly the 8 lanes that are stored; the store needs no alignment.
        unsafe {
            _mm256_storeu_ps(lanes.as_mut_ptr(), _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
        }
        lanes.iter().sum()
    }

    /// The portable loop, with the one instruction that counts bits; unrolled for the 384 dimensions of small models.
    #[target_feature(enable = "popcnt")]
    fn distances_popcnt(codes: &[u64], query: &[u64], distances: &mut Vec<u16>) {
        if let Ok(query) = <&[u64; 6]>::try_from(query) {
            let (codes, _) = codes.as_chunks::<6>();
            distances.extend(codes.iter().map(|code| {
                let mut differing = 0;
                for at in 0..6 {
                    differing += (code[at] ^ query[at]).count_ones();
                }
                differing as u16
            }));
        } else {
            let differing =
                |code: &[u64]| code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones() as u16).sum::<u16>();
            distances.extend(codes.chunks_exact(query.len().max(1)).map(differing));
        }
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    fn noise(seed: u64, count: usize) -> Vec<u64> {
        let mut state = seed;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        })
        .take(count)
        .collect()
    }

    #[test]
    fn every_form_gives_the_same_dot_product() {
        for length in [0, 1, 7, 8, 15, 16, 17, 100, 384, 768, 1021] {
            let float = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
            let halves: Vec<u16> =
                noise(1, length).into_iter().map(|bits| f16::from_f32(float(bits)).to_bits()).collect();
            let query: Vec<f32> = noise(2, length).into_iter().map(float).collect();
            let plain: f32 = halves.iter().zip(&query).map(|(&a, b)| f16::from_bits(a).to_f32() * b).sum();
            let mut forms = vec![Kernels::portable(), Kernels::best()];
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
            {
                forms.push(Kernels { dot: x86::dot_avx2, ..Kernels::portable() });
            }
            for kernels in forms {
                let found = kernels.dot(&halves, &query);
                assert!((found - plain).abs() < 1e-3, "{length}: {found} is not {plain}");
            }
        }
    }

    #[test]
    fn every_form_counts_the_same_bits() {
        for words in [1, 2, 6, 12, 13] {
            let (codes, query) = (noise(3, words * 50), noise(4, words));
            let (mut safe, mut best) = (Vec::new(), Vec::new());
            Kernels::portable().distances(&codes, &query, &mut safe);
            Kernels::best().distances(&codes, &query, &mut best);
            assert_eq!(safe, best);
            assert_eq!(safe.len(), 50);
        }
    }
}
