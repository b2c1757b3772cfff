//! One bit per dimension: on which side of the mean a vector lies. A scan of these finds the few worth an exact look.

use half::{
    f16,
    slice::{HalfBitsSliceExt, HalfFloatSliceExt},
};

/// The codes of all vectors of a box.
#[derive(Debug)]
pub(super) struct Codes {
    mean: Vec<f32>,
    /// Words of 64 bits per code.
    words: usize,
    bits: Vec<u64>,
}

/// A query, ready for both looks at the codes.
pub(super) struct Query {
    /// The query's own code.
    pub(super) code: Vec<u64>,
    /// For each byte of a code and each value of it, what its dimensions add to the dot product.
    table: Vec<[f32; 256]>,
}

impl Codes {
    /// Codes around the mean of these vectors, one row of halves after the other.
    pub(super) fn around(halves: &[u16], dimensions: usize) -> Self {
        let mut mean = vec![0.0f32; dimensions];
        let mut floats = vec![0.0f32; dimensions];
        let count = halves.len() / dimensions.max(1);
        for row in halves.chunks_exact(dimensions.max(1)) {
            row.reinterpret_cast::<f16>().convert_to_f32_slice(&mut floats);
            mean.iter_mut().zip(&floats).for_each(|(sum, value)| *sum += value / count as f32);
        }
        let mut codes = Codes { mean, words: dimensions.div_ceil(64), bits: Vec::new() };
        halves.chunks_exact(dimensions.max(1)).for_each(|row| codes.push(row));
        codes
    }

    pub(super) fn bytes(&self) -> usize {
        self.bits.capacity() * 8
    }

    pub(super) fn reserve(&mut self, count: usize) {
        self.bits.reserve_exact(count * self.words);
    }

    pub(super) fn push(&mut self, halves: &[u16]) {
        let mut floats = vec![0.0f32; halves.len()];
        halves.reinterpret_cast::<f16>().convert_to_f32_slice(&mut floats);
        let code = self.code(&floats);
        self.bits.extend(code);
    }

    /// The codes of these slots.
    pub(super) fn of(&self, slots: std::ops::Range<usize>) -> &[u64] {
        &self.bits[slots.start * self.words..slots.end * self.words]
    }

    /// Moves the codes of `slots` to start at slot `to`.
    pub(super) fn shift(&mut self, slots: std::ops::Range<usize>, to: usize) {
        self.bits.copy_within(slots.start * self.words..slots.end * self.words, to * self.words);
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.bits.truncate(count * self.words);
    }

    pub(super) fn query(&self, query: &[f32]) -> Query {
        let table = query.chunks(8).map(byte_table).collect();
        Query { code: self.code(query), table }
    }

    /// About the dot product with the vector of a slot, up to a constant and a scale that all slots share.
    pub(super) fn estimate(&self, query: &Query, slot: usize) -> f32 {
        let bytes = self.of(slot..slot + 1).iter().flat_map(|word| word.to_le_bytes());
        query.table.iter().zip(bytes).map(|(table, byte)| table[byte as usize]).sum()
    }

    fn code(&self, vector: &[f32]) -> Vec<u64> {
        let mut code = vec![0u64; self.words];
        for (at, (value, mean)) in vector.iter().zip(&self.mean).enumerate() {
            code[at / 64] |= u64::from(value > mean) << (at % 64);
        }
        code
    }
}

/// For each value of a byte, the sum over its bits of the query's values, counted with their sign.
fn byte_table(values: &[f32]) -> [f32; 256] {
    let mut table = [-values.iter().sum::<f32>(); 256];
    for byte in 1..256usize {
        let lowest = byte.trailing_zeros() as usize;
        table[byte] = table[byte & (byte - 1)] + 2.0 * values.get(lowest).copied().unwrap_or(0.0);
    }
    table
}
