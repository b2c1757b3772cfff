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
    /// None yet, around a mean.
    pub(super) fn around(mean: Vec<f32>) -> Self {
        Codes { words: mean.len().div_ceil(64), mean, bits: Vec::new() }
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

/// Counts the mean of vectors.
#[derive(Default)]
pub(super) struct Mean {
    sums: Vec<f64>,
    count: u32,
}

impl Mean {
    pub(super) fn add(&mut self, halves: impl Iterator<Item = u16>) {
        self.count += 1;
        for (at, half) in halves.enumerate() {
            let value = f16::from_bits(half).to_f64();
            match self.sums.get_mut(at) {
                Some(sum) => *sum += value,
                None => self.sums.push(value),
            }
        }
    }

    pub(super) fn of_all(self) -> Vec<f32> {
        self.sums.into_iter().map(|sum| (sum / f64::from(self.count)) as f32).collect()
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
