//! Attention of one sequence on tiles: 32 queries at a time against all keys, softmax between the two products.

use std::arch::x86_64::*;

use super::super::aligned::Buffer;
use super::product::Panels;
use super::tile;
use super::vector;

/// Room for one head of the longest sequence.
#[derive(Default)]
pub(super) struct Room {
    /// Keys, transposed: for each 32 keys and 32 dimensions two tiles of 16 keys.
    keys: Buffer<u16>,
    /// Values: for each 32 dimensions and 32 keys two tiles of 16 dimensions, keys interleaved in pairs.
    values: Buffer<u16>,
    /// Scores of 32 queries: for each 32 keys four tiles as [`tile::store_2x2`] leaves them.
    scores: Buffer<f32>,
    /// Their softmax before division by the sum: for each 32 keys two tiles of 16 queries.
    shares: Buffer<u16>,
}

impl Room {
    pub(super) fn shape(&mut self, longest: usize, head_width: usize) {
        let blocks = longest.div_ceil(32);
        self.keys.reserve(blocks * head_width * 32);
        self.values.reserve(blocks * head_width * 32);
        self.scores.reserve(blocks.max(1) * 1024);
        self.shares.reserve(blocks * 1024);
    }
}

/// One sequence within the packed rows.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) length: usize,
}

/// Fills the rows of `span` in `context` from the queries, keys and values in `joined`.
///
/// # Safety
/// AMX and AVX-512 must be there and tiles shaped; `joined` must have three times, `context` once
/// `heads × head_width` columns and room for the span and 31 rows more; `head_width` is a multiple of 32.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512bf16")]
pub(super) unsafe fn attend(
    joined: &Panels,
    context: &mut Panels,
    span: Span,
    (heads, head_width): (usize, usize),
    room: &mut Room,
) {
    let parts = head_width / 32;
    let panels = heads * parts;
    for head in 0..heads {
        // SAFETY: panel indices stay below three times `panels`; rows of the span are inside each panel.
        unsafe {
            let panel = |kind: usize, part: usize| {
                let index = kind * panels + head * parts + part;
                joined.values.as_ptr().add((index * joined.stride + span.first) * 32)
            };
            for part in 0..parts {
                transpose_keys(panel(1, part), span.length, part, parts, &mut room.keys);
                interleave_values(panel(2, part), span.length, part, &mut room.values);
            }
            for query in (0..span.length).step_by(32) {
                let count = (span.length - query).min(32);
                score(panel(0, 0).add(query * 32), joined.stride * 32, count, span.length, parts, room);
                let sums = soften(&mut room.scores, &mut room.shares, count, span.length);
                for part in 0..parts {
                    let index = head * parts + part;
                    let row = span.first + query;
                    let place = context.values.as_mut_ptr().add((index * context.stride + row) * 32);
                    mix(place, count, span.length, part, &sums, room);
                }
            }
        }
    }
}

/// Scores of up to 32 queries against every key.
///
/// # Safety
/// As for [`attend`]; `queries` must be readable for two tiles in each of `parts` panels `panel` apart.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn score(
    queries: *const u16,
    panel: usize,
    count: usize,
    length: usize,
    parts: usize,
    room: &mut Room,
) {
    for block in 0..length.div_ceil(32) {
        // SAFETY: `Room::shape` made room for every block.
        unsafe {
            tile::zero();
            for part in 0..parts {
                let keys = room.keys.as_ptr().add((block * parts + part) * 2 * tile::TILE);
                let queries = queries.add(part * panel);
                if count > 16 {
                    tile::floats_2x2(queries, keys, keys.add(tile::TILE));
                } else {
                    tile::floats_1x2(queries, keys, keys.add(tile::TILE));
                }
            }
            tile::store_2x2(room.scores.as_mut_ptr().add(block * 1024));
        }
    }
}

/// Powers of two of each row's scores below its largest, rounded into `shares`; one divided by each row's sum.
///
/// # Safety
/// Scores of `count` rows and `length` keys must have been stored.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512bf16")]
unsafe fn soften(
    scores: &mut Buffer<f32>,
    shares: &mut Buffer<u16>,
    count: usize,
    length: usize,
) -> [f32; 32] {
    let last = length.div_ceil(32) - 1;
    let tail = length - last * 32;
    let left_mask = ((1u32 << tail.min(16)) - 1) as u16;
    let right_mask = ((1u32 << tail.saturating_sub(16)) - 1) as u16;
    let mut inverse = [0.0; 32];
    for (row, inverse) in inverse.iter_mut().enumerate().take(count) {
        let none = _mm512_set1_ps(f32::MIN);
        // SAFETY: `Room::shape` made room for `last + 1` blocks; row < 32.
        unsafe {
            let scores = scores.as_ptr().add(row / 16 * 512 + row % 16 * 16);
            let shares = shares.as_mut_ptr().add(row / 16 * 512 + row % 16 * 32);
            let end = scores.add(last * 1024);
            let end_left = _mm512_mask_loadu_ps(none, left_mask, end);
            let end_right = _mm512_mask_loadu_ps(none, right_mask, end.add(256));
            let (mut left_most, mut right_most) = (end_left, end_right);
            for block in 0..last {
                left_most = _mm512_max_ps(left_most, _mm512_load_ps(scores.add(block * 1024)));
                right_most = _mm512_max_ps(right_most, _mm512_load_ps(scores.add(block * 1024 + 256)));
            }
            let most = _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_max_ps(left_most, right_most)));
            let left = vector::exp2(_mm512_sub_ps(end_left, most));
            let right = vector::exp2(_mm512_sub_ps(end_right, most));
            vector::store(shares.add(last * 1024), left, right);
            let (mut left_sum, mut right_sum) = (left, right);
            for block in 0..last {
                let scores = scores.add(block * 1024);
                let left = vector::exp2(_mm512_sub_ps(_mm512_load_ps(scores), most));
                let right = vector::exp2(_mm512_sub_ps(_mm512_load_ps(scores.add(256)), most));
                vector::store(shares.add(block * 1024), left, right);
                left_sum = _mm512_add_ps(left_sum, left);
                right_sum = _mm512_add_ps(right_sum, right);
            }
            *inverse = 1.0 / _mm512_reduce_add_ps(_mm512_add_ps(left_sum, right_sum));
        }
    }
    inverse
}

/// The mean of the values by their shares, into 32 columns of the context.
///
/// # Safety
/// As for [`attend`]; `place` must be writable for `count` rows of 32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn mix(
    place: *mut u16,
    count: usize,
    length: usize,
    part: usize,
    inverse: &[f32; 32],
    room: &mut Room,
) {
    let blocks = length.div_ceil(32);
    // SAFETY: `Room::shape` made room for every block; scores are spent and take the sums.
    unsafe {
        tile::zero();
        for block in 0..blocks {
            let shares = room.shares.as_ptr().add(block * 1024);
            let values = room.values.as_ptr().add((part * blocks + block) * 2 * tile::TILE);
            if count > 16 {
                tile::floats_2x2(shares, values, values.add(tile::TILE));
            } else {
                tile::floats_1x2(shares, values, values.add(tile::TILE));
            }
        }
        let sums = room.scores.as_mut_ptr();
        tile::store_2x2(sums);
        for (row, inverse) in inverse.iter().enumerate().take(count) {
            let sums = sums.add(row / 16 * 512 + row % 16 * 16);
            let inverse = _mm512_set1_ps(*inverse);
            let left = _mm512_mul_ps(_mm512_load_ps(sums), inverse);
            let right = _mm512_mul_ps(_mm512_load_ps(sums.add(256)), inverse);
            vector::store(place.add(row * 32), left, right);
        }
    }
}

/// Lays keys out as column tiles: a transposition of 16×16 pairs.
///
/// # Safety
/// `rows` must be readable for `length` rows of 32.
#[target_feature(enable = "avx512f")]
unsafe fn transpose_keys(rows: *const u16, length: usize, part: usize, parts: usize, keys: &mut Buffer<u16>) {
    for group in 0..length.div_ceil(32) * 2 {
        let mut lines = [_mm512_setzero_si512(); 16];
        for (key, line) in lines.iter_mut().enumerate() {
            let key = group * 16 + key;
            if key < length {
                // SAFETY: key < length.
                *line = unsafe { _mm512_loadu_si512(rows.add(key * 32).cast()) };
            }
        }
        let lines = transpose(lines);
        let base = ((group / 2 * parts + part) * 2 + group % 2) * tile::TILE;
        for (index, line) in lines.into_iter().enumerate() {
            // SAFETY: `Room::shape` made room for every block of 32 keys.
            unsafe { _mm512_storeu_si512(keys.as_mut_ptr().add(base + index * 32).cast(), line) };
        }
    }
}

/// Transposes 16×16 32-bit words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: [__m512i; 16]) -> [__m512i; 16] {
    let zero = _mm512_setzero_si512();
    let (mut words, mut pairs, mut columns) = ([zero; 16], [zero; 16], [zero; 16]);
    for i in 0..8 {
        words[2 * i] = _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
        words[2 * i + 1] = _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
    }
    for i in 0..4 {
        pairs[4 * i] = _mm512_unpacklo_epi64(words[4 * i], words[4 * i + 2]);
        pairs[4 * i + 1] = _mm512_unpackhi_epi64(words[4 * i], words[4 * i + 2]);
        pairs[4 * i + 2] = _mm512_unpacklo_epi64(words[4 * i + 1], words[4 * i + 3]);
        pairs[4 * i + 3] = _mm512_unpackhi_epi64(words[4 * i + 1], words[4 * i + 3]);
    }
    // Lane l of `pairs[4i + j]` is column 4l + j of rows 4i to 4i + 3: gather equal lanes.
    const EVEN: i32 = 0x88;
    const ODD: i32 = 0xdd;
    for j in 0..4 {
        let even_low = _mm512_shuffle_i32x4::<EVEN>(pairs[j], pairs[4 + j]);
        let even_high = _mm512_shuffle_i32x4::<EVEN>(pairs[8 + j], pairs[12 + j]);
        let odd_low = _mm512_shuffle_i32x4::<ODD>(pairs[j], pairs[4 + j]);
        let odd_high = _mm512_shuffle_i32x4::<ODD>(pairs[8 + j], pairs[12 + j]);
        columns[j] = _mm512_shuffle_i32x4::<EVEN>(even_low, even_high);
        columns[4 + j] = _mm512_shuffle_i32x4::<EVEN>(odd_low, odd_high);
        columns[8 + j] = _mm512_shuffle_i32x4::<ODD>(even_low, even_high);
        columns[12 + j] = _mm512_shuffle_i32x4::<ODD>(odd_low, odd_high);
    }
    columns
}

/// Lays values out as column tiles: rows 2r and 2r + 1 interleaved.
///
/// # Safety
/// `rows` must be readable for `length` rows of 32.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn interleave_values(rows: *const u16, length: usize, part: usize, values: &mut Buffer<u16>) {
    let blocks = length.div_ceil(32);
    for pair in 0..blocks * 16 {
        let load = |key: usize| {
            if key < length {
                // SAFETY: key < length.
                unsafe { _mm512_loadu_si512(rows.add(key * 32).cast()) }
            } else {
                _mm512_setzero_si512()
            }
        };
        let (even, odd) = (load(2 * pair), load(2 * pair + 1));
        let widen = |line: __m512i, half: usize| match half {
            0 => _mm512_cvtepu16_epi32(_mm512_castsi512_si256(line)),
            _ => _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(line)),
        };
        let base = (part * blocks + pair / 16) * 2 * tile::TILE + pair % 16 * 32;
        for half in 0..2 {
            let line = _mm512_or_si512(widen(even, half), _mm512_slli_epi32::<16>(widen(odd, half)));
            // SAFETY: `Room::shape` made room for every block of 32 keys.
            unsafe { _mm512_storeu_si512(values.as_mut_ptr().add(base + half * tile::TILE).cast(), line) };
        }
    }
}
