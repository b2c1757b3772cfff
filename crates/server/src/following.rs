//! What following a folder and following a source elsewhere have in common: ids that fit, and how much may be deleted unasked.

use sha2::{Digest, Sha256};
use stores::blobs::hexadecimal;

/// Characters of an external id at most.
const LONGEST_ID: usize = 200;
/// As many files can always be deleted.
const FEW: usize = 10;

/// A name as an external id: itself, or the beginning of a very long one with a hash of it all.
pub(crate) fn external_id(name: &str) -> String {
    if name.chars().count() <= LONGEST_ID {
        return name.to_string();
    }
    let hash = hexadecimal(&Sha256::digest(name.as_bytes()));
    let start: String = name.chars().take(LONGEST_ID - hash.len() - 1).collect();
    format!("{start}#{hash}")
}

/// Whether so many files are gone that it may be a mistake: more than ten, and more than a quarter of those that are known.
pub(crate) fn is_much(gone: usize, known: usize) -> bool {
    gone > FEW && gone * 4 > known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_have_ids_of_their_own() {
        assert_eq!(external_id("a/b.txt"), "a/b.txt");
        let long = "x/".repeat(150);
        let ids = [external_id(&format!("{long}1")), external_id(&format!("{long}2"))];
        assert!(ids[0] != ids[1] && ids.iter().all(|id| id.chars().count() == LONGEST_ID));
    }

    #[test]
    fn more_than_ten_and_a_quarter_is_much() {
        assert!(!is_much(10, 10) && !is_much(11, 44) && is_much(12, 44) && is_much(11, 11));
    }
}
