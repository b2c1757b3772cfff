//! Several boxes in one search: their candidates are weighed together, as if they were of one box. What a stage asks the index for
//! is asked of each box by itself.

use std::collections::{HashMap, HashSet};

use super::{Candidate, Search};
use crate::{
    Fault,
    access::Reading,
    ids::{ChunkId, FileId},
    seams::index::{Chunk, Correction, LaidOut, Recalled},
};

/// A chunk, and which of the boxes it is in.
pub(super) type Place = (usize, ChunkId);

/// A page of a file, and which of the boxes it is in.
pub(super) type PagePlace = (usize, FileId, u32);

impl Candidate {
    pub(super) fn place(&self) -> Place {
        (self.box_at, self.id)
    }
}

impl Search {
    /// The similarity of each chunk to a vector, where it has one.
    pub(super) async fn cosines(
        &self,
        readings: &[Reading],
        places: &[Place],
        vector: &[f32],
    ) -> Result<Vec<Option<f32>>, Fault> {
        let mut all = vec![None; places.len()];
        for (reading, (at, ids)) in readings.iter().zip(by_box(readings.len(), places)) {
            if !ids.is_empty() {
                scatter(&mut all, &at, self.index.cosines(reading, &ids, vector).await?);
            }
        }
        Ok(all)
    }

    /// The token vectors of each chunk.
    pub(super) async fn tokens(&self, readings: &[Reading], places: &[Place]) -> Result<Vec<Vec<u8>>, Fault> {
        let mut all = vec![Vec::new(); places.len()];
        for (reading, (at, ids)) in readings.iter().zip(by_box(readings.len(), places)) {
            if !ids.is_empty() {
                scatter(&mut all, &at, self.index.tokens(reading, &ids).await?);
            }
        }
        Ok(all)
    }

    /// What each chunk says, if it is still there.
    pub(super) async fn chunks(
        &self,
        readings: &[Reading],
        places: &[Place],
    ) -> Result<Vec<Option<Chunk>>, Fault> {
        let mut all = vec![None; places.len()];
        for (reading, (at, ids)) in readings.iter().zip(by_box(readings.len(), places)) {
            if !ids.is_empty() {
                scatter(&mut all, &at, self.index.chunks(reading, &ids).await?);
            }
        }
        Ok(all)
    }

    /// Those of these pages that have a look of their own.
    pub(super) async fn laid_out(
        &self,
        readings: &[Reading],
        pages: HashSet<PagePlace>,
    ) -> Result<HashMap<PagePlace, LaidOut>, Fault> {
        let mut all = HashMap::new();
        for (box_at, reading) in readings.iter().enumerate() {
            let here = pages.iter().filter(|(at, ..)| *at == box_at);
            let wanted: Vec<(FileId, u32)> = here.map(|(_, file, number)| (*file, *number)).collect();
            if wanted.is_empty() {
                continue;
            }
            let found = self.index.laid_out(reading, &wanted).await?;
            let named = wanted.into_iter().map(|(file, number)| (box_at, file, number));
            all.extend(named.zip(found).filter_map(|(place, page)| Some((place, page?))));
        }
        Ok(all)
    }
}

/// The words that are taken for others in all boxes: one that is right in a box is no mistake. Boxes where no word is found have no
/// say; where others differ, the first has it.
pub(super) fn common(recalled: &[Recalled]) -> Vec<Correction> {
    if let [only] = recalled {
        return only.corrected.clone();
    }
    let mut found = recalled.iter().filter(|one| !one.keyword.is_empty());
    let Some(first) = found.next() else { return Vec::new() };
    let others: Vec<&Recalled> = found.collect();
    let in_all = |correction: &&Correction| {
        let same = |other: &Correction| other.written == correction.written;
        others.iter().all(|one| one.corrected.iter().any(same))
    };
    first.corrected.iter().filter(in_all).cloned().collect()
}

/// The chunks of each box, and where each stands among all.
fn by_box(boxes: usize, places: &[Place]) -> Vec<(Vec<usize>, Vec<ChunkId>)> {
    let mut parts = vec![(Vec::new(), Vec::new()); boxes];
    for (at, (box_at, id)) in places.iter().enumerate() {
        parts[*box_at].0.push(at);
        parts[*box_at].1.push(*id);
    }
    parts
}

/// Puts each value where it belongs among all.
fn scatter<T>(all: &mut [T], at: &[usize], values: Vec<T>) {
    for (&at, value) in at.iter().zip(values) {
        all[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ids::FileId, seams::index::Candidate as Found};

    fn recalled(found: usize, words: &[(&str, &str)]) -> Recalled {
        let chunk = ChunkId { file: FileId::generate(), ordinal: 0 };
        let corrected = words
            .iter()
            .map(|(written, taken_for)| Correction {
                written: written.to_string(),
                taken_for: taken_for.to_string(),
            })
            .collect();
        Recalled { keyword: vec![Found { chunk, score: 1.0 }; found], corrected, ..Recalled::default() }
    }

    #[test]
    fn a_word_that_one_box_has_is_not_corrected_in_all() {
        let taken = |boxes: &[Recalled]| -> Vec<String> {
            common(boxes).into_iter().map(|correction| correction.taken_for).collect()
        };
        let wrong = || recalled(1, &[("waranty", "warranty"), ("lion", "lyon")]);
        assert_eq!(taken(&[wrong()]), ["warranty", "lyon"]);
        assert_eq!(taken(&[recalled(0, &[("waranty", "warranty")])]), ["warranty"]);
        assert_eq!(taken(&[wrong(), recalled(2, &[("waranty", "warrant")])]), ["warranty"]);
        assert_eq!(taken(&[wrong(), recalled(0, &[])]), ["warranty", "lyon"], "a box without any of them");
        assert!(taken(&[wrong(), recalled(1, &[])]).is_empty());
        assert!(taken(&[]).is_empty());
    }
}
