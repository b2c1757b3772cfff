//! What happens between the tiles, in 16 lanes: rounding to bf16 and to 8 bits, GELU, powers of two, normalisation.

use std::arch::x86_64::*;

use super::super::{layers::Norm, math};
use super::product::{Panels, Rows};

pub(super) use super::super::vnni::gelu;

/// Rounds 32 floats to bf16 and writes them as one cache line.
///
/// # Safety
/// `place` must be writable for 32 elements.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub(super) unsafe fn store(place: *mut u16, left: __m512, right: __m512) {
    // SAFETY: both are 64 bytes without padding, any bits are valid.
    let pair: __m512i = unsafe { std::mem::transmute(_mm512_cvtne2ps_pbh(right, left)) };
    // SAFETY: the caller vouches for `place`.
    unsafe { _mm512_storeu_si512(place.cast(), pair) };
}

/// `2^x` of 16 floats, to the precision of bf16; see [`math::EXP2_COARSE`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn exp2(x: __m512) -> __m512 {
    /// `x − floor(x)`.
    const DOWN: i32 = 1;
    let part = _mm512_reduce_ps::<DOWN>(x);
    let [c0, c1, c2, c3] = math::EXP2_COARSE.map(|coefficient| _mm512_set1_ps(coefficient));
    let sum = _mm512_fmadd_ps(_mm512_fmadd_ps(_mm512_fmadd_ps(c3, part, c2), part, c1), part, c0);
    _mm512_scalef_ps(sum, x)
}

/// A row's least and greatest value become its offset and its scale; gives what a value is multiplied with.
///
/// # Safety
/// `rows` must have room for `row`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn note_range(rows: Rows, row: usize, least: __m512, most: __m512) -> (__m512, __m512) {
    let (least, most) = (_mm512_reduce_min_ps(least), _mm512_reduce_max_ps(most));
    let scale = math::step_between(least, most, 255.0);
    // SAFETY: the caller vouches for the row.
    unsafe {
        *rows.scales.add(row) = scale;
        *rows.offsets.add(row) = least;
    }
    (_mm512_set1_ps(least), _mm512_set1_ps(1.0 / scale))
}

/// Sixteen values as steps.
#[inline]
#[target_feature(enable = "avx512f")]
fn steps(x: __m512, least: __m512, factor: __m512) -> __m128i {
    _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(_mm512_sub_ps(x, least), factor)))
}

/// Normalises rows of `hidden` in place and copies them, as steps, into column panels of 64.
///
/// # Safety
/// `hidden` must be valid for `rows` rows of the norm's width, a multiple of 64; `target` must have room for them.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn normalise(hidden: *mut f32, target: Rows, rows: usize, norm: &Norm) {
    let width = norm.gain.len();
    let share = 1.0 / width as f32;
    for row in 0..rows {
        // SAFETY: the caller vouches for `rows` rows.
        let place = unsafe { hidden.add(row * width) };
        let (mut sum, mut squares) = ([_mm512_setzero_ps(); 2], [_mm512_setzero_ps(); 2]);
        for at in (0..width).step_by(32) {
            for half in 0..2 {
                // SAFETY: widths are multiples of 32.
                let x = unsafe { _mm512_loadu_ps(place.add(at + 16 * half)) };
                sum[half] = _mm512_add_ps(sum[half], x);
                squares[half] = _mm512_fmadd_ps(x, x, squares[half]);
            }
        }
        let mean = _mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1])) * share;
        let variance = _mm512_reduce_add_ps(_mm512_add_ps(squares[0], squares[1])) * share - mean * mean;
        let scale = 1.0 / (variance.max(0.0) + norm.epsilon).sqrt();
        let (shift, scale) = (_mm512_set1_ps(-mean * scale), _mm512_set1_ps(scale));
        let (mut least, mut most) = (_mm512_set1_ps(f32::MAX), _mm512_set1_ps(f32::MIN));
        for at in (0..width).step_by(16) {
            // SAFETY: as above; gain and bias are as long as the row.
            unsafe {
                let x = _mm512_fmadd_ps(_mm512_loadu_ps(place.add(at)), scale, shift);
                let (gain, bias) = (norm.gain.as_ptr().add(at), norm.bias.as_ptr().add(at));
                let x = _mm512_fmadd_ps(x, _mm512_loadu_ps(gain), _mm512_loadu_ps(bias));
                least = _mm512_min_ps(least, x);
                most = _mm512_max_ps(most, x);
                _mm512_storeu_ps(place.add(at), x);
            }
        }
        // SAFETY: the caller vouches for the target; 16 steps from a multiple of 16 are within a panel's row.
        unsafe {
            let (least, factor) = note_range(target, row, least, most);
            for at in (0..width).step_by(16) {
                let out = target.values.add((at / 64 * target.stride + row) * 64 + at % 64);
                _mm_store_si128(out.cast(), steps(_mm512_loadu_ps(place.add(at)), least, factor));
            }
        }
    }
}

/// Rows quantised together: their least and greatest values fill 16 registers.
const TOGETHER: usize = 8;

/// Copies the first `columns` columns of `panels`, as steps, into column panels of 64.
///
/// # Safety
/// `panels` must hold `rows` rounded up to [`TOGETHER`] rows of `columns`, a multiple of 64, and `target` must have
/// room for them.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn quantise(panels: &Panels, rows: usize, columns: usize, target: Rows) {
    for first in (0..rows).step_by(TOGETHER) {
        // SAFETY: the caller vouches for these rows.
        let line = |panel: usize, row: usize| unsafe {
            let line = panels.values.as_ptr().add((panel * panels.stride + first + row) * 32);
            _mm512_loadu_si512(line.cast())
        };
        let mut least = [_mm512_set1_ps(f32::MAX); TOGETHER];
        let mut most = [_mm512_set1_ps(f32::MIN); TOGETHER];
        for panel in 0..columns / 32 {
            for row in 0..TOGETHER {
                // The order of a line's values is of no matter here: those at even places, then those at odd ones.
                let line = line(panel, row);
                let even = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(line));
                let odd = _mm512_castsi512_ps(_mm512_and_si512(line, _mm512_set1_epi32(!0xffff)));
                least[row] = _mm512_min_ps(least[row], _mm512_min_ps(even, odd));
                most[row] = _mm512_max_ps(most[row], _mm512_max_ps(even, odd));
            }
        }
        let mut ranges = [(_mm512_setzero_ps(), _mm512_setzero_ps()); TOGETHER];
        for (row, range) in ranges.iter_mut().enumerate() {
            // SAFETY: the caller vouches for these rows.
            *range = unsafe { note_range(target, first + row, least[row], most[row]) };
        }
        for panel in 0..columns / 32 {
            for (row, (least, factor)) in ranges.into_iter().enumerate() {
                let line = line(panel, row);
                let left = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(line));
                let right = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(line));
                let wide = |half: __m512i| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(half));
                // SAFETY: half a line of a panel of 64.
                unsafe {
                    let at = (panel / 2 * target.stride + first + row) * 64 + panel % 2 * 32;
                    let out = target.values.add(at).cast::<__m128i>();
                    _mm_store_si128(out, steps(wide(left), least, factor));
                    _mm_store_si128(out.add(1), steps(wide(right), least, factor));
                }
            }
        }
    }
}
