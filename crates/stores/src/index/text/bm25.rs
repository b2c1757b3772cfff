//! BM25 for the indexes that score by themselves, with the values that tantivy has too.

/// How fast further occurrences of a word stop counting, and how much a long text is penalised.
const SATURATION: f32 = 1.2;
const LENGTH_WEIGHT: f32 = 0.75;

/// What is counted of a term in one field of a chunk: its text, or what is above it.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct Field {
    rarity: f32,
    usual_length: f32,
}

impl Field {
    /// For terms that `found` of `chunks` chunks have in this field, counted once for each of them, in a field with
    /// `terms` terms in all chunks.
    pub(in crate::index) fn new(found: usize, chunks: f32, terms: f32) -> Self {
        let found = (found as f32).min(chunks);
        let rarity = (1.0 + (chunks - found + 0.5) / (found + 0.5)).ln();
        Field { rarity, usual_length: (terms / chunks).max(f32::MIN_POSITIVE) }
    }

    /// What `count` occurrences in a field of `length` terms are worth.
    pub(in crate::index) fn worth(self, count: u32, length: u32) -> f32 {
        let count = count as f32;
        let relative = length as f32 / self.usual_length;
        let norm = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative);
        self.rarity * count * (1.0 + SATURATION) / (count + norm)
    }
}
