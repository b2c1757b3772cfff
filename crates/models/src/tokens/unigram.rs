//! Unigram (`SentencePiece`): the likeliest pieces of each word, by dynamic programming over a trie of the vocabulary.
//!
//! A text is first brought to a normal form: characters are replaced by the model's own table (compatibility forms, odd
//! spaces, control characters), then composed (NFC). Words are cut at spaces and start with `▁`. A character without a
//! piece is unknown; neighbours that are unknown make one token. Special tokens cannot be written in a text: `</s>` is
//! four ordinary characters. Time is linear: no piece is longer than [`MOST_PIECE`].
//!
//! A `.unigram` file holds the vocabulary in 4 MB instead of the 17 of a `tokenizer.json` (`training/multi.py` writes it;
//! numbers are little-endian):
//!
//! | | |
//! |---|---|
//! | magic | `quire unigram 1\n` |
//! | seven times `u32` | pieces, their bytes, replacements, their bytes; ids of the first, the separating, the unknown token |
//! | a piece each, sorted by its bytes | `u8`: how many bytes it shares with the one before; `u8`: how many follow |
//! | | `u32`: id; `f32`: logarithm of its probability |
//! | bytes of all pieces | without what each shares |
//! | a replacement each, sorted | `u32`: character; `u8`: how many bytes replace it |
//! | bytes of all replacements | |
//!
//! Each column stands by itself: all shared lengths, then all others, and so on.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::trie::Trie;
use crate::weights::WeightsError;

const MAGIC: &[u8] = b"quire unigram 1\n";
/// The longest piece in bytes; the longest known is of 48.
const MOST_PIECE: usize = 255;
/// A word of more bytes is cut, so that hostile text takes little memory. Chinese has words of a paragraph.
const MOST_WORD: usize = 16 * 1024;
/// As many bytes are composed together. Longer runs beyond ASCII are cut.
const MOST_RUN: usize = 4 * 1024;
/// How much less likely than the rarest piece an unknown character is, as a logarithm.
const UNKNOWN_PENALTY: f64 = 10.0;
/// What a word starts with.
const SPACE: char = '▁';

/// A vocabulary of pieces with their probabilities.
pub(super) struct Unigram {
    trie: Trie,
    /// By place in the trie's list: id, and logarithm of the probability.
    pieces: Vec<(u32, f32)>,
    replacements: Replacements,
    pub(super) first: u32,
    pub(super) separator: u32,
    unknown: u32,
    unknown_score: f64,
}

/// What stands for a character.
struct Replacements {
    /// Sorted: the character, and where its replacement ends in `bytes`; it begins where the one before ends.
    characters: Vec<(u32, u32)>,
    text: String,
    ascii: [Ascii; 128],
}

#[derive(Clone, Copy, PartialEq)]
enum Ascii {
    Keep,
    Space,
    Drop,
}

/// What one text's words need, one after the other.
#[derive(Default)]
struct Room {
    word: String,
    /// For each byte of the word: the best way to get there.
    best: Vec<Step>,
    found: Vec<u32>,
    mapped: String,
}

/// The best way to a place: its score, the piece that ends there, and where that began.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    id: u32,
    from: u32,
}

const UNREACHED: Step = Step { score: f64::NEG_INFINITY, id: 0, from: 0 };

impl Unigram {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, WeightsError> {
        let malformed = |what: &str| WeightsError::Malformed(format!("not a unigram vocabulary: {what}"));
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(|| malformed("it starts otherwise"))?;
        let mut take = |count: usize| -> Result<&[u8], WeightsError> {
            let (taken, left) = rest.split_at_checked(count).ok_or_else(|| malformed("too short"))?;
            rest = left;
            Ok(taken)
        };
        let mut numbers = take(7 * 4)?.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number));
        let mut next = || numbers.next().expect("seven were taken");
        let [count, size, replaced, replaced_size] = [(); 4].map(|()| next() as usize);
        let [first, separator, unknown] = [(); 3].map(|()| next());
        // No count may make a product overflow, on any machine.
        if [count, size, replaced, replaced_size].iter().any(|count| *count > bytes.len()) {
            return Err(malformed("too short"));
        }
        let (shared, more) = (take(count)?, take(count)?);
        let (ids, scores) = (take(count * 4)?.as_chunks::<4>().0, take(count * 4)?.as_chunks::<4>().0);
        let texts =
            unshared(shared, more, take(size)?).ok_or_else(|| malformed("a piece's length is wrong"))?;
        let keys: Vec<&[u8]> = texts.1.iter().map(|range| &texts.0[range.clone()]).collect();
        if keys.iter().any(|key| std::str::from_utf8(key).is_err()) {
            return Err(malformed("a piece is no text"));
        }
        let trie = Trie::new(&keys).ok_or_else(|| malformed("pieces are not in order"))?;
        let pieces: Vec<(u32, f32)> = ids
            .iter()
            .zip(scores)
            .map(|(id, score)| (u32::from_le_bytes(*id), f32::from_le_bytes(*score)))
            .collect();
        if pieces.iter().any(|(_, score)| !score.is_finite()) {
            return Err(malformed("a probability is no number"));
        }
        let (characters, lengths) = (take(replaced * 4)?.as_chunks::<4>().0, take(replaced)?);
        let replacements = Replacements::new(characters, lengths, take(replaced_size)?);
        let replacements = replacements.ok_or_else(|| malformed("its replacements are wrong"))?;
        let least = pieces.iter().map(|(_, score)| f64::from(*score)).fold(0.0, f64::min);
        let unknown_score = least - UNKNOWN_PENALTY;
        Ok(Unigram { trie, pieces, replacements, first, separator, unknown, unknown_score })
    }

    pub(super) fn largest_id(&self) -> u32 {
        let special = [self.first, self.separator, self.unknown];
        self.pieces.iter().map(|(id, _)| *id).chain(special).max().unwrap_or(0)
    }

    pub(super) fn walk(&self, text: &str, each: &mut impl FnMut(u32)) {
        let mut room = Room::default();
        room.word.push(SPACE);
        let mut rest = text;
        while !rest.is_empty() {
            // A mark composes with the letter before it, so that one is left to the next run.
            let plain =
                rest.bytes().position(|byte| byte >= 0x80).map_or(rest.len(), |at| at.saturating_sub(1));
            let (ascii, after) = rest.split_at(plain);
            for byte in ascii.bytes() {
                match self.replacements.ascii[usize::from(byte)] {
                    Ascii::Keep => self.take(char::from(byte), &mut room, each),
                    Ascii::Space => self.end_word(&mut room, each),
                    Ascii::Drop => {}
                }
            }
            let run = &after[..run_length(after)];
            self.take_run(run, &mut room, each);
            rest = &after[run.len()..];
        }
        self.end_word(&mut room, each);
    }

    /// Characters beyond ASCII, and the letter before them.
    fn take_run(&self, run: &str, room: &mut Room, each: &mut impl FnMut(u32)) {
        let mut mapped = std::mem::take(&mut room.mapped);
        mapped.clear();
        for character in run.chars() {
            match self.replacements.of(character) {
                Some(replacement) => mapped.push_str(replacement),
                None => mapped.push(character),
            }
        }
        match is_nfc_quick(mapped.chars()) {
            IsNormalized::Yes => mapped.chars().for_each(|character| self.take(character, room, each)),
            _ => mapped.nfc().for_each(|character| self.take(character, room, each)),
        }
        room.mapped = mapped;
    }

    #[inline]
    fn take(&self, character: char, room: &mut Room, each: &mut impl FnMut(u32)) {
        if character == ' ' || character == SPACE {
            return self.end_word(room, each);
        }
        if room.word.len() >= MOST_WORD {
            self.cut(room, each);
            room.word.clear();
        }
        room.word.push(character);
    }

    /// Hands on a word's tokens and begins the next one; spaces beside spaces count once.
    fn end_word(&self, room: &mut Room, each: &mut impl FnMut(u32)) {
        if room.word.len() > SPACE.len_utf8() || !room.word.starts_with(SPACE) {
            self.cut(room, each);
        }
        room.word.clear();
        room.word.push(SPACE);
    }

    /// Finds the likeliest pieces of the word, from left to right, and hands them on.
    fn cut(&self, room: &mut Room, each: &mut impl FnMut(u32)) {
        let Room { word, best, found, .. } = room;
        best.clear();
        best.resize(word.len() + 1, UNREACHED);
        best[0].score = 0.0;
        for (at, character) in word.char_indices() {
            let before = best[at].score;
            let single = character.len_utf8();
            let mut known = false;
            self.trie.prefixes(&word.as_bytes()[at..], |piece, length| {
                let (id, score) = self.pieces[piece];
                known |= length == single;
                better(&mut best[at + length], before + f64::from(score), id, at);
            });
            if !known {
                better(&mut best[at + single], before + self.unknown_score, self.unknown, at);
            }
        }
        found.clear();
        let mut end = word.len();
        while end > 0 {
            let Step { id, from, .. } = best[end];
            // Unknown characters side by side are one token.
            if id != self.unknown || found.last() != Some(&id) {
                found.push(id);
            }
            end = from as usize;
        }
        found.iter().rev().for_each(|id| each(*id));
    }
}

#[inline]
fn better(step: &mut Step, score: f64, id: u32, from: usize) {
    if score > step.score {
        *step = Step { score, id, from: from as u32 };
    }
}

/// How many bytes belong to the run of characters beyond ASCII at the start of a text, after at most one of ASCII.
fn run_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let inner = bytes.iter().skip(1).take(MOST_RUN).take_while(|byte| **byte >= 0x80).count();
    let mut length = bytes.len().min(1 + inner);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    length
}

type Texts = (Vec<u8>, Vec<std::ops::Range<usize>>);

/// Every piece in full, from what each shares with the one before.
fn unshared(shared: &[u8], more: &[u8], mut rest: &[u8]) -> Option<Texts> {
    let mut bytes: Vec<u8> = Vec::with_capacity(rest.len() * 2);
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::with_capacity(shared.len());
    for (shared, more) in shared.iter().zip(more) {
        let before = ranges.last().cloned().unwrap_or(0..0);
        let (shared, more) = (usize::from(*shared), usize::from(*more));
        if shared > before.len() || shared + more > MOST_PIECE {
            return None;
        }
        let start = bytes.len();
        bytes.extend_from_within(before.start..before.start + shared);
        let (own, left) = rest.split_at_checked(more)?;
        bytes.extend_from_slice(own);
        rest = left;
        ranges.push(start..bytes.len());
    }
    rest.is_empty().then_some((bytes, ranges))
}

impl Replacements {
    fn new(characters: &[[u8; 4]], lengths: &[u8], bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        let mut end = 0;
        let characters: Vec<(u32, u32)> = characters
            .iter()
            .zip(lengths)
            .map(|(character, length)| {
                end += u32::from(*length);
                (u32::from_le_bytes(*character), end)
            })
            .collect();
        let boundaries = characters.iter().all(|(_, end)| text.is_char_boundary(*end as usize));
        if !boundaries || end as usize != text.len() || !characters.is_sorted_by(|a, b| a.0 < b.0) {
            return None;
        }
        let mut table = Replacements { characters, text, ascii: [Ascii::Keep; 128] };
        for code in 0..128u8 {
            let action = match table.of(char::from(code)) {
                None if code == b' ' => Ascii::Space,
                None => Ascii::Keep,
                Some("") => Ascii::Drop,
                Some(" ") => Ascii::Space,
                // No vocabulary does this; the quick way through ASCII has no room for it.
                Some(_) => return None,
            };
            table.ascii[usize::from(code)] = action;
        }
        Some(table)
    }

    fn of(&self, character: char) -> Option<&str> {
        let at = self.characters.binary_search_by_key(&u32::from(character), |(code, _)| *code).ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.characters[before].1);
        Some(&self.text[start as usize..self.characters[at].1 as usize])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use super::super::Tokenizer;
    use super::super::tests::{digest, mixtures};
    use super::*;

    /// A `.unigram` file of these pieces (text, id, logarithm) and replacements. Ids 0 to 3 are special.
    fn file(pieces: &[(&str, u32, f32)], replacements: &[(char, &str)]) -> Vec<u8> {
        let mut pieces = pieces.to_vec();
        pieces.sort_by_key(|(text, ..)| text.as_bytes());
        let mut replacements = replacements.to_vec();
        replacements.sort();
        let replaced: String = replacements.iter().map(|(_, text)| *text).collect();
        let (mut shared, mut more, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let mut before: &[u8] = &[];
        for (text, ..) in &pieces {
            let text = text.as_bytes();
            let same = before.iter().zip(text).take_while(|(a, b)| a == b).count();
            shared.push(same as u8);
            more.push((text.len() - same) as u8);
            rest.extend_from_slice(&text[same..]);
            before = text;
        }
        let sizes = [pieces.len(), rest.len(), replacements.len(), replaced.len(), 0, 2, 3];
        let mut bytes = MAGIC.to_vec();
        sizes.iter().for_each(|size| bytes.extend((*size as u32).to_le_bytes()));
        bytes.extend(shared.iter().chain(&more));
        pieces.iter().for_each(|(_, id, _)| bytes.extend(id.to_le_bytes()));
        pieces.iter().for_each(|(.., score)| bytes.extend(score.to_le_bytes()));
        bytes.extend(rest);
        replacements.iter().for_each(|(code, _)| bytes.extend(u32::from(*code).to_le_bytes()));
        bytes.extend(replacements.iter().map(|(_, text)| text.len() as u8));
        bytes.extend(replaced.as_bytes());
        bytes
    }

    /// A small vocabulary for tests of what is built on it.
    pub(crate) fn small_unigram() -> Vec<u8> {
        let letters: Vec<String> = ('a'..='z').map(String::from).collect();
        let mut pieces: Vec<(&str, u32, f32)> =
            letters.iter().zip(10..).map(|(letter, id)| (letter.as_str(), id, -9.0)).collect();
        pieces.extend([("▁", 4, -4.0), ("▁the", 5, -4.0), ("▁walk", 6, -6.0), ("ing", 7, -5.0)]);
        pieces.extend([("▁un", 8, -6.0), ("able", 9, -6.0), (":", 40, -8.0), ("é", 41, -8.0)]);
        file(&pieces, &[('\t', " "), ('\n', " "), ('\u{1}', ""), ('ﬁ', "fi"), ('\u{a0}', " ")])
    }

    fn encode(text: &str) -> Vec<u32> {
        Tokenizer::parse_unigram(&small_unigram()).unwrap().encode(text)
    }

    #[test]
    fn the_likeliest_pieces_win() {
        assert_eq!(encode("the walking"), [5, 6, 7]);
        // `▁the` and single letters are likelier than `▁` and letters alone.
        assert_eq!(encode("thea"), [5, 10]);
        assert_eq!(encode("ing"), [4, 7]);
    }

    #[test]
    fn spaces_marks_and_unknown_characters_are_brought_to_a_normal_form() {
        let plain = encode("the walking");
        for text in
            [" the  walking ", "the\twalking\n", "the\u{a0}walking", "th\u{1}e walking", "▁the walking"]
        {
            assert_eq!(encode(text), plain, "{text:?}");
        }
        assert_eq!(encode("ﬁ"), encode("fi"));
        assert_eq!(encode("the\u{301}"), encode("thé"));
        assert_eq!(encode("中文 文a"), [4, 3, 4, 3, 10]);
        assert!(encode("").is_empty() && encode(" \n ").is_empty());
        // Nobody can write a special token.
        assert!(!encode("<s> </s>").contains(&2));
    }

    #[test]
    fn long_words_and_runs_are_cut_and_nothing_is_lost() {
        assert_eq!(encode(&"a".repeat(100_000)).len(), 100_001);
        assert_eq!(encode(&"é".repeat(50_000)).len(), 50_001);
        assert_eq!(encode(&format!("a{}", "\u{301}".repeat(20_000))).len(), 4);
    }

    #[test]
    fn a_damaged_file_is_an_error_not_a_panic() {
        let good = small_unigram();
        assert!(Unigram::parse(&good).is_ok());
        for length in 0..good.len() {
            assert!(Unigram::parse(&good[..length]).is_err(), "{length}");
        }
        for at in MAGIC.len()..good.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                // Some changes only give other ids or scores.
                if let Ok(pieces) = Unigram::parse(&bad) {
                    pieces.walk("the walking é\u{301} ﬁ", &mut |_| {});
                }
            }
        }
    }

    /// What the package `tokenizers` makes of many texts: `bench/models/unigram.py` wrote it.
    #[derive(Deserialize)]
    struct Reference {
        fragments: Vec<String>,
        characters: Vec<String>,
        mixtures: Vec<String>,
    }

    fn reference() -> (Tokenizer, Reference) {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/quire-multi-1/vocabulary.unigram");
        let reference = serde_json::from_str(include_str!("unigram_reference.json")).unwrap();
        (Tokenizer::open(&file).unwrap(), reference)
    }

    #[test]
    fn every_character_is_cut_as_by_the_original() {
        let (ours, reference) = reference();
        let all: Vec<char> = ('\0'..=char::MAX).filter(|c| u32::from(*c) < 0x3_0000).collect();
        for (at, some) in all.chunks(500).enumerate() {
            let text: String = some.iter().map(|c| format!(" {c} the{c}un")).collect();
            let found = digest(&ours, &[text]);
            assert_eq!(found, reference.characters[at], "among the 500 from number {} on", at * 500);
        }
    }

    #[test]
    fn mixed_texts_of_many_languages_are_cut_as_by_the_original() {
        let (ours, reference) = reference();
        for (at, some) in mixtures(&reference.fragments, 20_000).chunks(100).enumerate() {
            assert_eq!(digest(&ours, some), reference.mixtures[at], "one of {some:?}");
        }
    }
}
