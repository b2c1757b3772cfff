//! Which chunks of a box are live and where their vectors are: the part of a box that is kept in memory.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use engine::{
    ids::{ChunkId, FileId},
    seams::index::IndexedChunk,
};
use rusqlite::{Connection, Result};

use super::{
    Wanted, truth,
    vectors::{self, Vectors},
};

/// Slots of removed chunks are given up when they are this share of all: each rewrite then moves at most three live
/// rows for every one it frees.
const COMPACT_AT: f64 = 0.25;

/// The chunks of one file: they are numbered without a gap, so the first one and the count place them all.
#[derive(Debug, Clone, Copy)]
struct Run {
    file: FileId,
    first_number: i64,
    first_slot: usize,
    count: usize,
}

impl Run {
    fn slots(&self) -> Range<usize> {
        self.first_slot..self.first_slot + self.count
    }
}

/// All live chunks of a box, in slots in the order of their numbers. A removed file leaves its slots unused until
/// they are compacted away; since no run names them, they cannot be found.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By file, in no order.
    runs: HashMap<FileId, Run>,
    /// The same runs by slot, empty ones left out.
    in_order: Vec<Run>,
    vectors: Vectors,
}

impl Rows {
    /// Reads the rows of a box from its file.
    pub(super) fn load(connection: &Connection) -> Result<Self> {
        let mut rows = Rows::default();
        let mut slot = 0;
        for (file, first_number, count) in truth::runs(connection)? {
            let run = Run { file, first_number, first_slot: slot, count };
            slot += count;
            rows.insert(run);
        }
        let vectors = &mut rows.vectors;
        if let Some(centre) = vectors::centre(connection)? {
            vectors.code_around(centre, slot);
        }
        truth::each_vector(connection, None, |bytes| vectors.push(truth::halves(bytes)))?;
        Ok(rows)
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.vectors.bytes() + self.runs.len() * 3 * size_of::<Run>()
    }

    /// Whether there is no live chunk.
    pub(super) fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    /// How many live chunks there are.
    pub(super) fn len(&self) -> usize {
        self.in_order.iter().map(|run| run.count).sum()
    }

    /// Adds a file whose chunks were just stored under numbers from `first_number` on.
    pub(super) fn add(&mut self, file: FileId, first_number: i64, chunks: &[IndexedChunk]) {
        self.insert(Run { file, first_number, first_slot: self.vectors.len(), count: chunks.len() });
        for chunk in chunks {
            self.vectors.push(truth::halves(&truth::halves_as_bytes(&chunk.vector)));
        }
    }

    /// There are now so many chunks that their vectors are found by codes around this.
    pub(super) fn code_around(&mut self, centre: Vec<f32>) {
        self.vectors.code_around(centre, 0);
    }

    /// Takes a file out: none of its chunks can be found from here on.
    pub(super) fn remove(&mut self, file: FileId) {
        let Some(run) = self.runs.remove(&file) else { return };
        self.in_order.retain(|other| other.file != run.file);
        let dead = self.vectors.len() - self.len();
        if dead as f64 > COMPACT_AT * self.vectors.len() as f64 {
            self.compact();
        }
    }

    /// The chunk of this number, if it is live.
    pub(super) fn chunk_of_number(&self, number: i64) -> Option<ChunkId> {
        let after = self.in_order.partition_point(|run| run.first_number <= number);
        let run = self.in_order.get(after.checked_sub(1)?)?;
        let ordinal =
            usize::try_from(number - run.first_number).ok().filter(|&ordinal| ordinal < run.count)?;
        Some(ChunkId { file: run.file, ordinal: ordinal as u32 })
    }

    /// The number of this chunk, if it is live.
    pub(super) fn number_of(&self, chunk: ChunkId) -> Option<i64> {
        Some(self.run_of(chunk)?.first_number + i64::from(chunk.ordinal))
    }

    /// How near each of these chunks is to `query`; `None` where one is gone.
    pub(super) fn cosines(
        &self,
        connection: &Connection,
        query: &[f32],
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<f32>>> {
        let slot_of = |&chunk: &ChunkId| Some(self.run_of(chunk)?.first_slot + chunk.ordinal as usize);
        let places: Vec<Option<usize>> = chunks.iter().map(slot_of).collect();
        let slots: Vec<usize> = places.iter().flatten().copied().collect();
        let mut found =
            self.vectors.dots(connection, query, &slots, |slot| self.number_at(slot))?.into_iter();
        Ok(places.into_iter().map(|place| place.and_then(|_| found.next()?)).collect())
    }

    /// The chunks nearest to `query`, best first, with their cosines; only those of `only` where it is given.
    pub(super) fn nearest(
        &self,
        connection: &Connection,
        query: &[f32],
        wanted: &Wanted,
    ) -> Result<Vec<(ChunkId, f32)>> {
        let runs = joined(&self.live(wanted.only.as_ref()));
        let found = self.vectors.nearest(connection, query, &runs, wanted, |slot| self.number_at(slot))?;
        Ok(found.into_iter().map(|(slot, score)| (self.chunk_at(slot), score)).collect())
    }

    /// The files' live runs in the order of their slots.
    fn live(&self, only: Option<&HashSet<FileId>>) -> Vec<Run> {
        match only {
            None => self.in_order.clone(),
            Some(files) => {
                let mut runs: Vec<Run> = files
                    .iter()
                    .filter_map(|file| self.runs.get(file))
                    .filter(|run| run.count > 0)
                    .copied()
                    .collect();
                runs.sort_unstable_by_key(|run| run.first_slot);
                runs
            }
        }
    }

    fn insert(&mut self, run: Run) {
        self.runs.insert(run.file, run);
        if run.count > 0 {
            self.in_order.push(run);
        }
    }

    fn run_of(&self, chunk: ChunkId) -> Option<&Run> {
        self.runs.get(&chunk.file).filter(|run| (chunk.ordinal as usize) < run.count)
    }

    fn run_at(&self, slot: usize) -> usize {
        self.in_order.partition_point(|run| run.first_slot <= slot) - 1
    }

    fn number_at(&self, slot: usize) -> i64 {
        let run = &self.in_order[self.run_at(slot)];
        run.first_number + (slot - run.first_slot) as i64
    }

    fn chunk_at(&self, slot: usize) -> ChunkId {
        let run = &self.in_order[self.run_at(slot)];
        ChunkId { file: run.file, ordinal: (slot - run.first_slot) as u32 }
    }

    fn compact(&mut self) {
        let kept: Vec<Range<usize>> = self.in_order.iter().map(Run::slots).collect();
        self.vectors.keep(&kept);
        let mut slot = 0;
        for run in &mut self.in_order {
            run.first_slot = slot;
            slot += run.count;
            self.runs.insert(run.file, *run);
        }
    }
}

/// The slots of these runs as few ranges: neighbours become one.
fn joined(runs: &[Run]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match ranges.last_mut() {
            Some(last) if last.end == run.first_slot => last.end += run.count,
            _ => ranges.push(run.slots()),
        }
    }
    ranges
}
