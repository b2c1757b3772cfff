//! What happens between the tiles, in 16 lanes: bf16 rounding, GELU, powers of two, layer normalisation.

use std::arch::x86_64::*;

use super::super::{layers::Norm, math};

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

/// Normalises rows of `hidden` in place and copies them, rounded, into column panels of 32.
///
/// # Safety
/// `hidden` must be valid for `rows` rows of the norm's width, `panels` for width / 32 panels of `stride` rows.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub(super) unsafe fn normalise(hidden: *mut f32, panels: *mut u16, stride: usize, rows: usize, norm: &Norm) {
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
        for at in (0..width).step_by(32) {
            let mut halves = [_mm512_setzero_ps(); 2];
            for (half, out) in halves.iter_mut().enumerate() {
                // SAFETY: as above; gain and bias are as long as the row.
                unsafe {
                    let at = at + 16 * half;
                    let x = _mm512_fmadd_ps(_mm512_loadu_ps(place.add(at)), scale, shift);
                    let (gain, bias) = (norm.gain.as_ptr().add(at), norm.bias.as_ptr().add(at));
                    *out = _mm512_fmadd_ps(x, _mm512_loadu_ps(gain), _mm512_loadu_ps(bias));
                    _mm512_storeu_ps(place.add(at), *out);
                }
            }
            // SAFETY: the caller vouches for the panels.
            unsafe { store(panels.add((at / 32 * stride + row) * 32), halves[0], halves[1]) };
        }
    }
}
