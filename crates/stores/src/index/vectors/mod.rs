//! The vectors of a box: finds the nearest.
//!
//! Up to [`EXACT`] vectors are scanned one by one. Beyond, one bit per dimension is kept beside them: a scan of the bits
//! leaves the nearest few thousand, a finer look at the same bits the nearest few hundred, and only those are compared
//! exactly. Beyond [`WHOLE`] the bits alone stay in memory (48 MB for a million vectors of 384), and the few hundred are
//! read from the box's file: a large box costs a sixteenth of its vectors, and the page cache decides how fast they are.

mod codes;
mod kernels;
mod top;

#[cfg(test)]
mod tests;

use std::ops::Range;

use codes::{Codes, Mean};
use engine::seams::index::EXACT_TO;
pub(super) use kernels::Kernels;
use rusqlite::{Connection, Result, Transaction};
use top::Top;

use super::{Wanted, truth};

/// Vectors up to which no codes are kept: comparing all takes 2 ms for 384 dimensions.
const EXACT: usize = EXACT_TO;
/// Vectors up to which they are kept in memory: 100 MB for 384 dimensions, and the hundreds that are compared exactly
/// need not be read.
const WHOLE: usize = 130_000;
/// How many the scan of the bits leaves for each one wanted, and at least: with 4,000 left, a tenth-best of 100,000 was
/// missed in fewer than one of a hundred searches when this way of searching was first tried.
const SCANNED: (usize, usize) = (40, 4_000);
/// How many the finer look leaves to be read and compared exactly, for each one wanted, and at least.
const COMPARED: (usize, usize) = (6, 600);

/// The vectors of a box, one a slot.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    kernels: Kernels,
    dimensions: usize,
    count: usize,
    /// All vectors, while they fit; else empty.
    halves: Vec<u16>,
    /// Their codes, once they are too many to compare each.
    codes: Option<Codes>,
    row: Vec<u16>,
}

/// What codes are taken around: the mean of the first vectors, settled when a box first has enough to need codes. It is kept
/// in the box's file, so that the box finds the same however often the file is opened, copied or restored. `None` for a
/// smaller box.
pub(super) fn centre(connection: &Connection) -> Result<Option<Vec<f32>>> {
    if truth::chunk_count(connection)? <= EXACT as u64 {
        return Ok(None);
    }
    if let Some(settled) = truth::centre(connection)? {
        return Ok(Some(settled));
    }
    let mut mean = Mean::default();
    truth::each_vector(connection, Some(EXACT + 1), |bytes| mean.add(truth::halves(bytes)))?;
    Ok(Some(mean.of_all()))
}

/// Settles what codes are taken around, where it was not. A box of before this was kept is settled before its first change, as
/// whoever searches it found it.
pub(super) fn settle(transaction: &Transaction<'_>) -> Result<()> {
    if truth::centre(transaction)?.is_none()
        && let Some(centre) = centre(transaction)?
    {
        truth::settle_centre(transaction, &centre)?;
    }
    Ok(())
}

impl Vectors {
    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.halves.capacity() * 2 + self.codes.as_ref().map_or(0, Codes::bytes)
    }

    /// Adds a vector in the next slot.
    pub(super) fn push(&mut self, halves: impl Iterator<Item = u16>) {
        self.row.clear();
        self.row.extend(halves);
        if self.count == 0 {
            self.dimensions = self.row.len();
        }
        self.count += 1;
        let whole = self.count == 1 || !self.halves.is_empty();
        if whole {
            self.halves.extend_from_slice(&self.row);
        }
        if let Some(codes) = &mut self.codes {
            codes.push(&self.row);
            if self.count > WHOLE {
                self.halves = Vec::new();
            }
        }
    }

    /// Keeps codes from here on, also of what is there; `more` are about to come.
    pub(super) fn code_around(&mut self, centre: Vec<f32>, more: usize) {
        if self.codes.is_none() && (self.count == 0 || centre.len() == self.dimensions) {
            let mut codes = Codes::around(centre);
            codes.reserve(self.count + more);
            self.halves.chunks_exact(self.dimensions.max(1)).for_each(|row| codes.push(row));
            self.codes = Some(codes);
        }
    }

    /// Keeps only the vectors of these slots, in order.
    pub(super) fn keep(&mut self, slots: &[Range<usize>]) {
        let mut to = 0;
        for range in slots {
            if let Some(codes) = &mut self.codes {
                codes.shift(range.clone(), to);
            }
            if !self.halves.is_empty() {
                let (from, until) = (range.start * self.dimensions, range.end * self.dimensions);
                self.halves.copy_within(from..until, to * self.dimensions);
            }
            to += range.len();
        }
        if let Some(codes) = &mut self.codes {
            codes.truncate(to);
        }
        self.halves.truncate(to * self.dimensions);
        if to == 0 {
            // Nothing is left to tell whole from coded by: start again.
            (self.codes, self.halves) = (None, Vec::new());
        }
        self.count = to;
    }

    /// The slots among `ranges` nearest to `query`, best first, with their dot products. `number_of` gives the number
    /// under which the file keeps the vector of a slot.
    pub(super) fn nearest(
        &self,
        connection: &Connection,
        query: &[f32],
        ranges: &[Range<usize>],
        wanted: &Wanted,
        number_of: impl Fn(usize) -> i64,
    ) -> Result<Vec<(usize, f32)>> {
        let limit = wanted.limit;
        if query.len() != self.dimensions || limit == 0 {
            return Ok(Vec::new());
        }
        let everything = || ranges.iter().cloned().flatten().collect::<Vec<usize>>();
        let Some(codes) = &self.codes else { return Ok(self.exact(query, &everything(), limit)) };
        let compared = (limit * COMPARED.0).max(COMPARED.1);
        let in_question = ranges.iter().map(Range::len).sum::<usize>();
        // Reading them from the file takes longer, so a filter of a very large box may leave fewer.
        let all =
            in_question <= wanted.exact_to && (!self.halves.is_empty() || self.count <= wanted.exact_to);
        let few = in_question <= compared || all;
        let mut slots = if few {
            ranges.iter().cloned().flatten().collect()
        } else {
            self.likely(codes, query, ranges, limit)
        };
        // In the order of the file, so that neighbours share a page.
        slots.sort_unstable();
        if !self.halves.is_empty() {
            return Ok(self.exact(query, &slots, limit));
        }
        let mut top = Top::new(limit);
        for (slot, dot) in slots.iter().zip(self.dots(connection, query, &slots, number_of)?) {
            dot.into_iter().for_each(|dot| top.offer(dot, *slot));
        }
        Ok(top.into_sorted())
    }

    /// The dot products of `query` with the vectors of these slots; `None` where the file has one no longer.
    pub(super) fn dots(
        &self,
        connection: &Connection,
        query: &[f32],
        slots: &[usize],
        number_of: impl Fn(usize) -> i64,
    ) -> Result<Vec<Option<f32>>> {
        let mut dots = vec![None; slots.len()];
        if query.len() != self.dimensions {
            return Ok(dots);
        }
        if !self.halves.is_empty() {
            let dot = |&slot: &usize| self.kernels.dot(self.halves_of(slot), query);
            return Ok(slots.iter().map(dot).map(Some).collect());
        }
        let numbers: Vec<i64> = slots.iter().map(|&slot| number_of(slot)).collect();
        let mut row = Vec::with_capacity(self.dimensions);
        truth::vectors_of(connection, &numbers, |at, bytes| {
            row.clear();
            row.extend(truth::halves(bytes));
            dots[at] = Some(self.kernels.dot(&row, query));
        })?;
        Ok(dots)
    }

    fn halves_of(&self, slot: usize) -> &[u16] {
        &self.halves[slot * self.dimensions..][..self.dimensions]
    }

    fn exact(&self, query: &[f32], slots: &[usize], limit: usize) -> Vec<(usize, f32)> {
        let mut top = Top::new(limit);
        for &slot in slots {
            top.offer(self.kernels.dot(self.halves_of(slot), query), slot);
        }
        top.into_sorted()
    }

    /// The slots whose codes say that they may be among the nearest.
    fn likely(&self, codes: &Codes, query: &[f32], ranges: &[Range<usize>], limit: usize) -> Vec<usize> {
        let query = codes.query(query);
        let mut distances = Vec::with_capacity(ranges.iter().map(Range::len).sum());
        for range in ranges {
            self.kernels.distances(codes.of(range.clone()), &query.code, &mut distances);
        }
        let bar = distance_of(&distances, (limit * SCANNED.0).max(SCANNED.1), self.dimensions);
        let mut top = Top::new((limit * COMPARED.0).max(COMPARED.1));
        for (slot, _) in
            ranges.iter().cloned().flatten().zip(&distances).filter(|(_, distance)| **distance <= bar)
        {
            top.offer(codes.estimate(&query, slot), slot);
        }
        top.into_sorted().into_iter().map(|(slot, _)| slot).collect()
    }
}

/// The distance within which about `wanted` of these lie: counted, since there are few distances and many vectors.
fn distance_of(distances: &[u16], wanted: usize, dimensions: usize) -> u16 {
    let mut counts = vec![0usize; dimensions + 1];
    for &distance in distances {
        counts[distance as usize] += 1;
    }
    let mut within = 0;
    let reached = counts.iter().position(|count| {
        within += count;
        within >= wanted
    });
    reached.unwrap_or(dimensions) as u16
}
