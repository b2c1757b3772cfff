//! Late interaction: how well each token of a query is met by some token of a passage, from packed token vectors.
//!
//! A passage is packed as the signs of its token vectors, one bit per dimension, with one scale each: 50 bytes per token of
//! 384 dimensions instead of 1,536. Tokens of the same word are pooled, then the most similar neighbours, until at most
//! [`MOST_ROWS`] are left: so articles and commas, which stand everywhere, take one row each. No passage takes more than
//! 4 KB, and nothing here depends on which model made the vectors. Of the ten passages that whole vectors put first, nine
//! are first by signs too; signs around a mean were no better, two bits a little (docs/search.md).

use std::collections::HashMap;

/// Rows kept of a passage at most: with 384 dimensions they and the header fill 4 KB.
const MOST_ROWS: usize = 80;
/// The version of the layout: a passage packed otherwise is not read.
const LAYOUT: u8 = 1;
/// Layout, a byte to spare, and the dimensions.
const HEADER: usize = 4;

/// Packs the token vectors of a passage: `tokens` row after row, `ids` the token behind each row.
pub fn pack(tokens: &[f32], ids: &[u32]) -> Vec<u8> {
    if ids.is_empty() || tokens.len() < ids.len() {
        return Vec::new();
    }
    let dimensions = tokens.len() / ids.len();
    let rows = pooled(tokens, ids, dimensions);
    let mut packed = vec![LAYOUT, 0];
    packed.extend((dimensions as u16).to_le_bytes());
    for row in &rows {
        let scale = 1.0 / row.iter().map(|value| value.abs()).sum::<f32>().max(1.0);
        packed.extend(((scale * SCALE_STEPS) as u16).to_le_bytes());
        packed.extend(row.chunks(8).map(|values| {
            values.iter().enumerate().fold(0u8, |byte, (bit, value)| byte | (u8::from(*value > 0.0) << bit))
        }));
    }
    packed
}

/// The signs of a unit vector are scaled such that its dot product with them is 1, as it is with itself; over all vectors
/// this makes dot products with signs right on average. The scale is at most 1, and kept in steps of this fraction.
const SCALE_STEPS: f32 = 65_535.0;

/// Tokens of the same id become one, then neighbours, most similar first, until few enough are left. All of unit length.
fn pooled(tokens: &[f32], ids: &[u32], dimensions: usize) -> Vec<Vec<f32>> {
    let mut place: HashMap<u32, usize> = HashMap::new();
    let mut rows: Vec<Vec<f32>> = Vec::new();
    for (row, id) in tokens.chunks_exact(dimensions).zip(ids) {
        match place.get(id) {
            Some(&at) => add(&mut rows[at], row),
            None => {
                place.insert(*id, rows.len());
                rows.push(row.to_vec());
            }
        }
    }
    rows.iter_mut().for_each(|row| normalize(row));
    while rows.len() > MOST_ROWS {
        let mut likeness: Vec<(f32, usize)> =
            rows.windows(2).enumerate().map(|(at, pair)| (dot(&pair[0], &pair[1]), at)).collect();
        likeness.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut gone = vec![false; rows.len()];
        let mut left = rows.len();
        for (_, at) in likeness {
            // A row takes part in one merge a round, so that long chains do not melt into one.
            let taken = gone[at] || gone[at + 1] || (at > 0 && gone[at - 1]) || left == MOST_ROWS;
            if !taken {
                let next = std::mem::take(&mut rows[at + 1]);
                add(&mut rows[at], &next);
                normalize(&mut rows[at]);
                gone[at + 1] = true;
                left -= 1;
            }
        }
        rows.retain(|row| !row.is_empty());
    }
    rows
}

fn add(sum: &mut [f32], row: &[f32]) {
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
}

fn normalize(row: &mut [f32]) {
    let norm = dot(row, row).sqrt().max(f32::MIN_POSITIVE);
    row.iter_mut().for_each(|value| *value /= norm);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The token vectors of a query, ready to be compared with packed passages.
pub struct Query {
    dimensions: usize,
    rows: Vec<QueryRow>,
}

struct QueryRow {
    /// For each byte of signs and each value of it, what its dimensions add to the dot product.
    table: Vec<[f32; 256]>,
}

impl Query {
    /// From the rows of an embedding with tokens, pooled as those of a passage: in a long question articles count once, and its
    /// end counts as much as its beginning.
    pub fn new(tokens: &[f32], ids: &[u32]) -> Self {
        let dimensions = if ids.is_empty() { 0 } else { tokens.len() / ids.len() };
        let rows = if dimensions == 0 { Vec::new() } else { pooled(tokens, ids, dimensions) };
        let tables = |row: Vec<f32>| QueryRow { table: row.chunks(8).map(byte_table).collect() };
        let rows = rows.into_iter().map(tables).collect();
        Query { dimensions, rows }
    }

    /// The mean over the query's tokens of the cosine with the passage's most similar token; `None` where the passage was not
    /// packed from vectors like these.
    pub fn similarity(&self, packed: &[u8]) -> Option<f32> {
        let (&[layout, _, low, high], rows) = packed.split_first_chunk::<HEADER>()?;
        let dimensions = usize::from(u16::from_le_bytes([low, high]));
        if layout != LAYOUT || dimensions != self.dimensions || dimensions == 0 || self.rows.is_empty() {
            return None;
        }
        let total: f32 = self.rows.iter().map(|query| query.best(rows)).sum();
        Some(total / self.rows.len() as f32)
    }
}

impl QueryRow {
    /// The cosine with the most similar row.
    fn best(&self, rows: &[u8]) -> f32 {
        rows.chunks_exact(2 + self.table.len())
            .map(|row| {
                let scale = f32::from(u16::from_le_bytes([row[0], row[1]])) / SCALE_STEPS;
                scale * self.signed_sum(&row[2..])
            })
            .fold(f32::NEG_INFINITY, f32::max)
    }

    /// Four sums side by side, since each look-up has to wait for memory.
    fn signed_sum(&self, signs: &[u8]) -> f32 {
        let mut sums = [0.0f32; 4];
        let (signs, last_signs) = signs.as_chunks::<4>();
        let (tables, last_tables) = self.table.as_chunks::<4>();
        for (signs, tables) in signs.iter().zip(tables) {
            for lane in 0..4 {
                sums[lane] += tables[lane][usize::from(signs[lane])];
            }
        }
        let rest: f32 =
            last_signs.iter().zip(last_tables).map(|(byte, table)| table[usize::from(*byte)]).sum();
        sums.iter().sum::<f32>() + rest
    }
}

/// For each value of a byte, the sum over its bits of the values, counted with their sign.
fn byte_table(values: &[f32]) -> [f32; 256] {
    let mut table = [-values.iter().sum::<f32>(); 256];
    for byte in 1..256usize {
        let lowest = byte.trailing_zeros() as usize;
        table[byte] = table[byte & (byte - 1)] + 2.0 * values.get(lowest).copied().unwrap_or(0.0);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(seed: u64, count: usize, dimensions: usize) -> Vec<f32> {
        let mut state = seed;
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row: Vec<f32> = (0..dimensions)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 40) as f32 / (1u64 << 23) as f32 - 0.9
                })
                .collect();
            normalize(&mut row);
            rows.extend(row);
        }
        rows
    }

    fn exact(query: &[f32], passage: &[f32], dimensions: usize) -> f32 {
        let best =
            |row: &[f32]| passage.chunks(dimensions).map(|other| dot(row, other)).fold(f32::MIN, f32::max);
        query.chunks(dimensions).map(best).sum::<f32>() / (query.len() / dimensions) as f32
    }

    #[test]
    fn packed_similarity_is_near_the_exact_one() {
        for dimensions in [384, 100] {
            let passage = rows(1, 60, dimensions);
            let packed = pack(&passage, &(0..60).collect::<Vec<_>>());
            let mut query = passage[dimensions * 7..dimensions * 12].to_vec();
            query.extend(rows(2, 5, dimensions));
            let found = Query::new(&query, &(0..10).collect::<Vec<_>>()).similarity(&packed).unwrap();
            let wanted = exact(&query, &passage, dimensions);
            assert!((found - wanted).abs() < 0.12, "{dimensions}: {found} is not {wanted}");
        }
    }

    #[test]
    fn the_end_of_a_long_query_counts() {
        let (passage, unlike) = (rows(1, 40, 384), rows(2, 120, 384));
        let packed = pack(&passage, &(0..40).collect::<Vec<_>>());
        let ids: Vec<u32> = (0..120).collect();
        let like = [&unlike[..80 * 384], &passage].concat();
        let [like, unlike] =
            [like, unlike].map(|query| Query::new(&query, &ids).similarity(&packed).unwrap());
        assert!(like > unlike + 0.2, "{like} is hardly more than {unlike}");
    }

    #[test]
    fn a_passage_never_takes_more_than_four_kilobytes() {
        let passage = rows(3, 250, 384);
        let packed = pack(&passage, &(0..250).map(|id| id % 200).collect::<Vec<_>>());
        assert!((3_000..=4_096).contains(&packed.len()), "{} bytes", packed.len());
    }

    #[test]
    fn what_is_not_packed_tokens_is_refused() {
        let query = Query::new(&rows(4, 3, 16), &[1, 2, 3]);
        assert!(pack(&[], &[]).is_empty());
        for bytes in [&[][..], &[1, 2, 3], &[9; 200], &pack(&rows(5, 3, 32), &[1, 2, 3])] {
            assert_eq!(query.similarity(bytes), None);
        }
        assert_eq!(Query::new(&[], &[]).similarity(&pack(&rows(5, 3, 16), &[1, 2, 3])), None);
    }
}
