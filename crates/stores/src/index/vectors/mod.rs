//! The vectors of a box: finds the nearest.

use std::ops::Range;

use half::{f16, slice::HalfBitsSliceExt};
use rusqlite::{Connection, Result};

/// The vectors of a box, one a slot.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    dimensions: usize,
    count: usize,
    halves: Vec<u16>,
}

impl Vectors {
    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.halves.capacity() * 2
    }

    /// Makes room for as many vectors as are about to come.
    pub(super) fn expect(&mut self, _count: usize) {}

    /// Adds a vector in the next slot.
    pub(super) fn push(&mut self, halves: impl Iterator<Item = u16>) {
        let before = self.halves.len();
        self.halves.extend(halves);
        self.dimensions = self.halves.len() - before;
        self.count += 1;
    }

    /// Finishes a row of pushes.
    pub(super) fn settle(&mut self, _connection: &Connection) -> Result<()> {
        Ok(())
    }

    /// Keeps only the vectors of these slots, in order.
    pub(super) fn keep(&mut self, slots: &[Range<usize>]) {
        let mut to = 0;
        for range in slots {
            let (from, until) = (range.start * self.dimensions, range.end * self.dimensions);
            self.halves.copy_within(from..until, to);
            to += until - from;
        }
        self.halves.truncate(to);
        self.count = slots.iter().map(Range::len).sum();
    }

    /// The slots among `ranges` nearest to `query`, best first, with their cosines.
    pub(super) fn nearest(
        &self,
        _connection: &Connection,
        query: &[f32],
        ranges: &[Range<usize>],
        limit: usize,
        _number_of: impl Fn(usize) -> i64,
    ) -> Result<Vec<(usize, f32)>> {
        let mut found: Vec<(usize, f32)> = ranges
            .iter()
            .cloned()
            .flatten()
            .map(|slot| {
                let row: &[f16] = self.halves[slot * self.dimensions..][..self.dimensions].reinterpret_cast();
                (slot, row.iter().zip(query).map(|(a, b)| a.to_f32() * b).sum())
            })
            .collect();
        found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(limit);
        Ok(found)
    }
}
