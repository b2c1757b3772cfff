//! Attention in 8 bits, for all paths that multiply bytes.
//!
//! A sequence's queries, keys and values are rounded once for all heads. Keys and values have signed steps, worth the same in one
//! dimension; what a step of a key is worth goes into its queries, whose steps are worth the same in one head. Softmax is computed in
//! f32, and its shares are steps of their sum.

use super::aligned::Buffer;
use super::bytes::{COLUMNS, Dot, EIGHT};
use super::lanes::{self, LANES};
use super::math;

/// Queries scored together: their scores against 200 keys stay in the first-level cache. Every `ROWS` divides it.
const QUERIES: usize = 24;

/// Bytes that are packed together, of a key or of as many values.
const WORD: usize = 4;

/// Room for the longest sequence.
#[derive(Default)]
pub(crate) struct Room {
    /// What each column of `joined` is multiplied with before it is rounded.
    factors: Vec<f32>,
    /// What one step of a score is worth in each head, and one step of each dimension of the values.
    score_scales: Vec<f32>,
    value_scales: Vec<f32>,
    /// [`WORD`] rows of `joined`, rounded.
    rounded: Buffer<u8>,
    /// Head after head.
    queries: Buffer<u8>,
    keys: Packed,
    values: Packed,
    /// Of [`QUERIES`] queries of one head.
    scores: Buffer<i32>,
    shares: Buffer<u8>,
    sums: Buffer<i32>,
    /// As many rows of ones as are multiplied together.
    ones: Buffer<u8>,
    /// That nothing is, as nobody looked.
    small: Vec<bool>,
}

/// Keys or values, head after head, in panels as [`super::bytes::Weights`] has them.
#[derive(Default)]
struct Packed {
    words: Buffer<i32>,
    /// What is missing from each column's products because rows count their steps from another number than zero.
    missing: Vec<i32>,
}

/// How long a sequence is and how its rows divide into heads.
#[derive(Clone, Copy)]
struct Sizes {
    length: usize,
    /// Keys and values with zeros after the last.
    padded: usize,
    /// Queries with whatever there is after the last.
    queries: usize,
    heads: usize,
    head_width: usize,
}

impl Sizes {
    fn width(self) -> usize {
        self.heads * self.head_width
    }
}

/// One sequence's attention: rows of queries, keys and values side by side in `joined`, result in `context`.
///
/// # Safety
/// The processor must have what `D` takes; only to be called in functions compiled for it.
#[inline(always)]
pub(crate) unsafe fn attend<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
    joined: &[f32],
    context: &mut [f32],
    length: usize,
    (heads, head_width): (usize, usize),
    room: &mut Room,
) {
    assert!(head_width.is_multiple_of(LANES) && QUERIES.is_multiple_of(ROWS));
    let (padded, queries) = (length.next_multiple_of(LANES), length.next_multiple_of(QUERIES));
    let sizes = Sizes { length, padded, queries, heads, head_width };
    room.make::<ROWS>(sizes);
    room.measure::<D, DEPTH, ROWS>(joined, sizes);
    room.round::<D, DEPTH, ROWS>(joined, sizes);
    let Room { score_scales, value_scales, queries, keys, values, scores, shares, sums, ones, small, .. } =
        room;
    // SAFETY: the caller vouches for the processor.
    unsafe {
        keys.add_up::<D, DEPTH, ROWS>(head_width, zero::<D, DEPTH, ROWS>() as i32, ones, small);
        values.add_up::<D, DEPTH, ROWS>(padded, D::FIRST as i32, ones, small);
    }
    for head in 0..heads {
        let column = head * head_width;
        let value_scales = &value_scales[column..][..head_width];
        for first in (0..length).step_by(QUERIES) {
            let count = QUERIES.min(length - first);
            let asked = &queries[(head * sizes.queries + first) * head_width..][..QUERIES * head_width];
            // SAFETY: the caller vouches for the processor.
            unsafe {
                keys.multiply::<D, DEPTH, ROWS>(
                    asked,
                    count,
                    head * padded..(head + 1) * padded,
                    small,
                    scores,
                )
            };
            let mut worth = [0.0; QUERIES];
            let rows = scores.chunks_exact_mut(padded).zip(shares.chunks_exact_mut(padded)).zip(&mut worth);
            for ((scores, shares), worth) in rows.take(count) {
                *worth = 1.0 / soften::<D, DEPTH, ROWS>(scores, length, score_scales[head], shares);
            }
            // SAFETY: the caller vouches for the processor.
            unsafe {
                values.multiply::<D, DEPTH, ROWS>(
                    &shares[..QUERIES * padded],
                    count,
                    column..column + head_width,
                    small,
                    sums,
                )
            };
            for (row, sums) in sums.chunks_exact(head_width).enumerate().take(count) {
                let context = &mut context[(first + row) * sizes.width() + column..][..head_width];
                for ((out, sum), scale) in context.iter_mut().zip(sums).zip(value_scales) {
                    *out = *sum as f32 * (scale * worth[row]);
                }
            }
        }
    }
}

/// The step of a query that stands for zero.
const fn zero<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>() -> f32 {
    D::FIRST + (D::SHARES + 1.0) / 2.0
}

impl Room {
    fn make<const ROWS: usize>(&mut self, sizes: Sizes) {
        let Sizes { padded, queries, heads, head_width, .. } = sizes;
        let (width, most) = (sizes.width(), padded.max(head_width));
        self.rounded.reserve(WORD * 3 * width);
        self.queries.reserve(queries * width);
        self.keys.reserve(heads * padded, head_width);
        self.values.reserve(width, padded);
        self.scores.reserve(QUERIES * padded);
        self.shares.reserve(QUERIES * padded);
        self.sums.reserve(QUERIES * head_width);
        self.ones.reserve(ROWS * most);
        self.ones.fill(1);
        self.small.resize(most / EIGHT, false);
    }

    /// Finds what the steps of each column are worth.
    #[inline(always)]
    fn measure<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
        &mut self,
        joined: &[f32],
        sizes: Sizes,
    ) {
        let width = sizes.width();
        let Room { factors, score_scales, value_scales, .. } = self;
        factors.clear();
        factors.resize(3 * width, 0.0);
        for row in joined.chunks_exact(3 * width).take(sizes.length) {
            for (most, value) in factors.iter_mut().zip(row) {
                // One instruction, unlike `max`.
                *most = if value.abs() > *most { value.abs() } else { *most };
            }
        }
        let (queries, rest) = factors.split_at_mut(width);
        let (keys, values) = rest.split_at_mut(width);
        score_scales.clear();
        for (queries, keys) in
            queries.chunks_exact_mut(sizes.head_width).zip(keys.chunks_exact_mut(sizes.head_width))
        {
            let mut most = 0.0f32;
            for (query, key) in queries.iter_mut().zip(keys) {
                let scale = math::step_between(0.0, *key, D::MOST);
                *key = 1.0 / scale;
                most = most.max(*query * scale);
                *query = scale;
            }
            let scale = math::step_between(0.0, most, (D::SHARES - 1.0) / 2.0);
            queries.iter_mut().for_each(|query| *query /= scale);
            score_scales.push(scale);
        }
        value_scales.clear();
        value_scales.extend(values.iter().map(|most| math::step_between(0.0, *most, D::MOST)));
        values.iter_mut().zip(value_scales).for_each(|(value, scale)| *value = 1.0 / *scale);
    }

    /// Rounds all queries, keys and values and puts them where they are multiplied.
    #[inline(always)]
    fn round<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
        &mut self,
        joined: &[f32],
        sizes: Sizes,
    ) {
        let (width, head_width, zero) = (sizes.width(), sizes.head_width, zero::<D, DEPTH, ROWS>());
        let Room { factors, rounded, queries, keys, values, .. } = self;
        let (query_factors, other_factors) = factors.split_at(width);
        for first in (0..sizes.padded).step_by(WORD) {
            for (row, rounded) in (first..).zip(rounded.chunks_exact_mut(3 * width).take(WORD)) {
                if row >= sizes.length {
                    rounded.fill(0);
                    continue;
                }
                let (asked, others) = rounded.split_at_mut(width);
                let (query, other) = joined[row * 3 * width..][..3 * width].split_at(width);
                for ((out, value), factor) in asked.iter_mut().zip(query).zip(query_factors) {
                    *out = math::nearest_byte(value * factor, zero);
                }
                for ((out, value), factor) in others.iter_mut().zip(other).zip(other_factors) {
                    *out = math::nearest_byte(value * factor, 0.0);
                }
                for (head, query) in asked.chunks_exact(head_width).enumerate() {
                    queries[(head * sizes.queries + row) * head_width..][..head_width].copy_from_slice(query);
                }
                keys.place_column::<DEPTH>(&others[..width], row, sizes);
            }
            let four: [&[u8]; WORD] = std::array::from_fn(|row| &rounded[(row * 3 + 2) * width..][..width]);
            values.place_rows::<DEPTH>(four, first, sizes);
        }
    }
}

impl Packed {
    /// Makes room for `columns` of `inputs`, both multiples of [`LANES`].
    fn reserve(&mut self, columns: usize, inputs: usize) {
        self.words.reserve(columns * inputs / WORD);
        self.missing.resize(columns, 0);
    }

    /// A token's dimensions become a column of each head.
    #[inline(always)]
    fn place_column<const DEPTH: usize>(&mut self, steps: &[u8], token: usize, sizes: Sizes) {
        let (words, size) = (DEPTH / WORD, COLUMNS * sizes.head_width / WORD);
        for (head, steps) in steps.chunks_exact(sizes.head_width).enumerate() {
            let panel = &mut self.words[(head * sizes.padded + token) / COLUMNS * size..][..size];
            let groups = panel.chunks_exact_mut(COLUMNS * words).zip(steps.chunks_exact(DEPTH));
            for (group, steps) in groups {
                for (word, four) in steps.as_chunks::<WORD>().0.iter().enumerate() {
                    group[token % COLUMNS * words + word] = i32::from_le_bytes(*four);
                }
            }
        }
    }

    /// Of four tokens, the first of which is `token`, each dimension becomes a word of its column.
    #[inline(always)]
    fn place_rows<const DEPTH: usize>(&mut self, four: [&[u8]; WORD], token: usize, sizes: Sizes) {
        let (words, size) = (DEPTH / WORD, COLUMNS * sizes.padded / WORD);
        for part in 0..sizes.width() / COLUMNS {
            let four = four.map(|row| {
                row[part * COLUMNS..].first_chunk::<COLUMNS>().expect("a whole number of columns")
            });
            let together: [i32; COLUMNS] = std::array::from_fn(|lane| {
                i32::from_le_bytes([four[0][lane], four[1][lane], four[2][lane], four[3][lane]])
            });
            let group = &mut self.words[part * size + token / DEPTH * COLUMNS * words..][..COLUMNS * words];
            for (place, word) in group[token % DEPTH / WORD..].iter_mut().step_by(words).zip(together) {
                *place = word;
            }
        }
    }

    /// Finds what is missing where `zero` is the step that stands for zero.
    ///
    /// # Safety
    /// As for [`attend`].
    #[inline(always)]
    unsafe fn add_up<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
        &mut self,
        inputs: usize,
        zero: i32,
        ones: &[u8],
        small: &[bool],
    ) {
        let Packed { words, missing } = self;
        for (panel, missing) in
            words.chunks_exact(COLUMNS * inputs / WORD).zip(missing.chunks_exact_mut(COLUMNS))
        {
            // SAFETY: the caller vouches for the processor.
            let sums = unsafe { products::<D, DEPTH, ROWS>(&ones[..ROWS * inputs], inputs, panel, small) };
            missing.iter_mut().zip(sums[0]).for_each(|(missing, sum)| *missing = -zero * sum);
        }
    }

    /// Writes the products of `count` rows of `steps` with some columns to rows of `out`.
    ///
    /// # Safety
    /// As for [`attend`].
    #[inline(always)]
    unsafe fn multiply<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
        &self,
        steps: &[u8],
        count: usize,
        columns: std::ops::Range<usize>,
        small: &[bool],
        out: &mut [i32],
    ) {
        let inputs = steps.len() / QUERIES;
        let stride = columns.len();
        let panels = self.words[columns.start * inputs / WORD..columns.end * inputs / WORD]
            .chunks_exact(COLUMNS * inputs / WORD);
        let missing = self.missing[columns].as_chunks::<COLUMNS>().0;
        for (index, (panel, missing)) in panels.zip(missing).enumerate() {
            let rows = steps.chunks_exact(ROWS * inputs).zip(out.chunks_exact_mut(ROWS * stride));
            for (rows, out) in rows.take(count.div_ceil(ROWS)) {
                // SAFETY: the caller vouches for the processor.
                let products = unsafe { products::<D, DEPTH, ROWS>(rows, inputs, panel, small) };
                for row in 0..ROWS {
                    let all: [i32; COLUMNS] = std::array::from_fn(|lane| products[row][lane] + missing[lane]);
                    out[row * stride + index * COLUMNS..][..COLUMNS].copy_from_slice(&all);
                }
            }
        }
    }
}

/// The products of some rows with one panel.
///
/// # Safety
/// As for [`attend`].
#[inline(always)]
unsafe fn products<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
    rows: &[u8],
    inputs: usize,
    panel: &[i32],
    small: &[bool],
) -> [[i32; COLUMNS]; ROWS] {
    assert!(rows.len() == ROWS * inputs && panel.len() == COLUMNS * inputs / WORD);
    // SAFETY: the caller vouches for the processor; nothing is said to be small; lengths asserted.
    unsafe { D::products(rows.as_ptr(), inputs, panel.as_ptr().cast(), &small[..inputs / EIGHT]) }
}

/// Softmax in powers of two over the first `length` scores, in steps of which the greatest share has all; the other shares
/// are zero. Gives how many steps there are together.
#[inline(always)]
fn soften<D: Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>(
    scores: &mut [i32],
    length: usize,
    scale: f32,
    shares: &mut [u8],
) -> f32 {
    let most = scores[..length].iter().fold(i32::MIN, |most, score| most.max(*score));
    scores[length..].fill(i32::MIN / 2);
    let greatest = D::SHARES.log2();
    for (share, score) in shares.iter_mut().zip(scores) {
        let power = lanes::multiply_add::<D>((*score - most) as f32, scale, greatest);
        *share = lanes::exp2_byte::<D>(power, D::FIRST);
    }
    let first = D::FIRST as i8 as u8;
    shares.iter().map(|share| u32::from(share.wrapping_sub(first))).sum::<u32>() as f32
}
