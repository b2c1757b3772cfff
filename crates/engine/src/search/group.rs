//! Keeps one passage from being shown twice, and one document from filling the page.

use std::collections::{HashMap, HashSet};

use crate::ids::{ChunkId, FileId};

/// Shared runs of words from which two passages count as the same: a page footer or a date may differ, a sentence not.
const SAME: f64 = 0.9;
/// Words in a run that is compared.
const RUN: usize = 3;

/// What became of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is shown.
    Kept,
    /// It says what this earlier one says.
    Merged(ChunkId),
    /// Its document has enough passages already.
    Crowded,
}

/// Decides which passages are shown, one after another, best first.
pub(super) struct Grouping {
    most_per_file: Option<usize>,
    kept: Vec<(ChunkId, HashSet<u64>)>,
    per_file: HashMap<FileId, usize>,
}

impl Grouping {
    pub(super) fn new(most_per_file: Option<usize>) -> Self {
        Grouping { most_per_file, kept: Vec::new(), per_file: HashMap::new() }
    }

    /// What becomes of the next passage.
    pub(super) fn fate(&mut self, id: ChunkId, text: &str) -> Fate {
        let runs = runs(text);
        if let Some((other, _)) = self.kept.iter().find(|(_, other)| same(other, &runs)) {
            return Fate::Merged(*other);
        }
        let of_file = self.per_file.entry(id.file).or_default();
        if self.most_per_file.is_some_and(|most| *of_file >= most) {
            return Fate::Crowded;
        }
        *of_file += 1;
        self.kept.push((id, runs));
        Fate::Kept
    }
}

/// Every run of words, as a hash; spaces and case do not count. A short text is one run.
fn runs(text: &str) -> HashSet<u64> {
    let words: Vec<u64> = text.split_whitespace().map(hash).collect();
    if words.len() < 2 * RUN {
        // Also scripts without spaces, where runs of words say nothing.
        return HashSet::from([hash(text.trim())]);
    }
    words.windows(RUN).map(|run| run.iter().fold(0u64, |sum, word| sum.rotate_left(21) ^ word)).collect()
}

/// FNV-1a: short words, no attacker to fear, and the same on every machine.
fn hash(word: &str) -> u64 {
    word.chars().flat_map(char::to_lowercase).fold(0xcbf2_9ce4_8422_2325, |hash, character| {
        (hash ^ u64::from(u32::from(character))).wrapping_mul(0x0100_0000_01b3)
    })
}

fn same(a: &HashSet<u64>, b: &HashSet<u64>) -> bool {
    let (fewer, more) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // Too different in size to be the same, which is cheap to see.
    if (fewer.len() as f64) < SAME * more.len() as f64 {
        return false;
    }
    let shared = fewer.iter().filter(|run| more.contains(run)).count() as f64;
    shared >= SAME * (a.len() + b.len()) as f64 / (1.0 + SAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_merged_and_documents_limited() {
        let (one, two) = (FileId::generate(), FileId::generate());
        let id = |file, ordinal| ChunkId { file, ordinal };
        let text =
            "The warranty lasts for two years from the day of purchase and covers all parts of the machine.";
        let copy = text.to_uppercase().replace(' ', "\n");
        let passages = [
            (id(one, 0), text),
            (id(two, 5), copy.as_str()),
            (id(one, 1), "Something else entirely is said here."),
            (id(one, 2), "And a third thing that is new."),
            (id(two, 6), "The warranty lasts for two years."),
        ];
        let mut grouping = Grouping::new(Some(2));
        let fates = passages.map(|(id, text)| grouping.fate(id, text));
        let merged = Fate::Merged(id(one, 0));
        assert_eq!(fates, [Fate::Kept, merged, Fate::Kept, Fate::Crowded, Fate::Kept]);
    }
}
