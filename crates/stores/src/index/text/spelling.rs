//! Takes misspelt words for words that the box has: the nearest, and of those the most frequent.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeSet};

use engine::seams::index::Correction;
use unicode_normalization::char::is_combining_mark;

use super::analyzer::fold;

/// Letters of the longest word that is kept for this: longer ones are names of things, copied rather than typed.
const LONGEST: usize = 24;
/// Letters from which a word may be two slips away from what was meant; of a shorter one too little would be left.
const TWO_SLIPS: usize = 8;
/// Letters from which one slip is allowed: most words of three letters are one slip from each other.
const ONE_SLIP: usize = 4;

/// Letters of the shortest word that another may be taken for.
const SHORTEST: usize = 3;

/// How many slips a word may have: letters left out, put in, exchanged, or swapped with their neighbour.
pub(super) fn tolerance(word: &str) -> usize {
    match letters(word) {
        Some(count) if count >= TWO_SLIPS => 2,
        Some(count) if count >= ONE_SLIP => 1,
        _ => 0,
    }
}

/// Whether a misspelt word may be taken for this one.
pub(in crate::index) fn is_kept(word: &str) -> bool {
    letters(word).is_some_and(|count| count >= SHORTEST)
}

/// How many letters a word has; nothing where it has anything else, or is too long.
fn letters(word: &str) -> Option<usize> {
    let only = word.chars().all(|c| c.is_alphabetic() || is_combining_mark(c));
    Some(word.chars().count()).filter(|&count| only && count <= LONGEST)
}

/// Looks for what misspelt words may mean.
pub(in crate::index) struct Speller {
    misspelt: Vec<Misspelt>,
}

struct Misspelt {
    written: String,
    folded: String,
    length: usize,
    tolerance: usize,
    mask: u64,
    best: Option<Likely>,
}

/// How likely a word is meant, the likeliest least.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Likely {
    slips: usize,
    /// The first letter is the one that is hardly ever wrong.
    other_start: bool,
    files: Reverse<u64>,
    word: String,
}

/// A word of the box.
struct Offered<'a> {
    folded: Cow<'a, str>,
    length: usize,
    mask: u64,
}

impl<'a> Offered<'a> {
    fn of(word: &'a str) -> Self {
        let folded = fold(word, "");
        Offered { length: folded.chars().count(), mask: mask(&folded), folded }
    }
}

impl Misspelt {
    /// How many slips a word is away; nothing where they are more than `tolerance`.
    fn slips(&self, word: &Offered, tolerance: usize) -> Option<usize> {
        // A slip takes one letter of the alphabet away and brings another in, at most.
        let far = self.length.abs_diff(word.length) > tolerance
            || (self.mask ^ word.mask).count_ones() as usize > 2 * tolerance;
        if far {
            return None;
        }
        Some(strsim::osa_distance(&self.folded, &word.folded)).filter(|slips| *slips <= tolerance)
    }
}

impl Speller {
    pub(in crate::index) fn new(words: BTreeSet<String>) -> Self {
        let misspelt = words.into_iter().map(|written| {
            let folded = fold(&written, "").into_owned();
            let (length, tolerance, mask) = (folded.chars().count(), tolerance(&written), mask(&folded));
            Misspelt { written, folded, length, tolerance, mask, best: None }
        });
        Speller { misspelt: misspelt.collect() }
    }

    /// The lengths that a word must have to be worth an [`offer`](Self::offer), in characters. Folding changes a length
    /// by one letter at most in the words that it does so in.
    pub(in crate::index) fn lengths(&self) -> (usize, usize) {
        let least = self.misspelt.iter().map(|word| word.length - word.tolerance).min().unwrap_or(0);
        let most = self.misspelt.iter().map(|word| word.length + word.tolerance).max().unwrap_or(0);
        (least.saturating_sub(1), most + 1)
    }

    /// Whether any of them may mean this word.
    pub(in crate::index) fn is_near(&self, word: &str) -> bool {
        let word = Offered::of(word);
        self.misspelt.iter().any(|misspelt| misspelt.slips(&word, misspelt.tolerance).is_some())
    }

    /// A word that the box has, in so many files.
    pub(in crate::index) fn offer(&mut self, word: &str, files: u64) {
        let offered = Offered::of(word);
        for misspelt in &mut self.misspelt {
            let tolerance = misspelt.best.as_ref().map_or(misspelt.tolerance, |best| best.slips);
            let Some(slips) = misspelt.slips(&offered, tolerance) else { continue };
            let other_start = misspelt.folded.chars().next() != offered.folded.chars().next();
            let likely = Likely { slips, other_start, files: Reverse(files), word: word.to_string() };
            if misspelt.best.as_ref().is_none_or(|best| likely < *best) {
                misspelt.best = Some(likely);
            }
        }
    }

    /// What each is taken for; those that nothing is near to are left out.
    pub(in crate::index) fn corrections(self) -> Vec<Correction> {
        let found = self.misspelt.into_iter().filter_map(|misspelt| {
            Some(Correction { written: misspelt.written, taken_for: misspelt.best?.word })
        });
        found.collect()
    }
}

/// Which letters a word has, roughly.
fn mask(word: &str) -> u64 {
    word.chars().fold(0, |mask, letter| mask | 1 << (u32::from(letter) % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(word: &str, known: &[(&str, u64)]) -> Option<String> {
        let mut speller = Speller::new(BTreeSet::from([word.to_string()]));
        for (word, files) in known {
            speller.offer(word, *files);
        }
        speller.corrections().pop().map(|correction| correction.taken_for)
    }

    #[test]
    fn the_nearest_word_is_meant_and_of_those_the_most_frequent() {
        let known =
            [("hearing", 3), ("heart", 90), ("services", 5), ("service", 80), ("types", 4), ("tips", 9)];
        assert_eq!(taken("hearin", &known).as_deref(), Some("hearing"));
        assert_eq!(taken("servises", &known).as_deref(), Some("services"));
        assert_eq!(taken("typs", &known).as_deref(), Some("tips"), "as near, and in more files");
        assert_eq!(taken("yhearing", &known).as_deref(), Some("hearing"));
        assert_eq!(taken("nothing", &known), None);
    }

    #[test]
    fn short_words_and_codes_are_left_alone() {
        assert_eq!((tolerance("cat"), tolerance("cats"), tolerance("services")), (0, 1, 2));
        assert_eq!((tolerance("e4021"), tolerance("max_retries")), (0, 0));
        assert_eq!(tolerance(&"x".repeat(30)), 0);
        assert!(is_kept("the") && is_kept("año") && !is_kept("of") && !is_kept("rfc2616"));
    }

    #[test]
    fn accents_are_no_slips() {
        assert_eq!(taken("manana", &[("mañana", 1), ("manzana", 50)]).as_deref(), Some("mañana"));
    }
}
