//! `WordPiece`: texts to token ids exactly as the `tokenizers` crate does it for BERT, many times faster.
//!
//! Speed matters because the chunker counts tokens all the time. Exactness is tested against what `tokenizers` itself
//! answered (`bench/models/tokens.py`). The truncation and padding that a `tokenizer.json` may ask for are ignored:
//! long texts are up to the chunker.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::Deserialize;
use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use crate::weights::WeightsError;

/// A vocabulary of words and their pieces.
pub(super) struct WordPiece {
    /// Whole words and the first pieces of words.
    starts: Pieces,
    /// Pieces inside of words, without their prefix.
    continuations: Pieces,
    /// Tokens that stand for themselves wherever they occur: `[SEP]` and the like.
    verbatim: Vec<(String, u32)>,
    /// Which bytes such a token starts with.
    verbatim_starts: [bool; 256],
    unknown: u32,
    pub(super) first: u32,
    pub(super) separator: u32,
    /// The longest piece in bytes: no longer prefix needs a look.
    longest: usize,
    longest_word: usize,
    normalizer: Normalizer,
}

type Pieces = HashMap<Box<[u8]>, u32, BuildHasherDefault<PieceHasher>>;

/// A quick hash for keys of a few bytes; the vocabulary is fixed, so nobody can choose keys that collide.
#[derive(Default)]
struct PieceHasher(u64);

impl Hasher for PieceHasher {
    fn write(&mut self, bytes: &[u8]) {
        /// An odd constant with its bits well mixed (the golden ratio).
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(SPREAD);
        }
        self.0 ^= self.0 >> 29;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The parts of `tokenizer.json` that we need.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Normalizer,
    pre_tokenizer: Tagged,
    model: Model,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct Tagged {
    r#type: String,
}

#[derive(Deserialize)]
struct Normalizer {
    r#type: String,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

#[derive(Deserialize)]
struct Model {
    r#type: Option<String>,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<String, u32>,
}

impl WordPiece {
    /// Reads a `tokenizer.json` with a BERT normalizer, its pre-tokenizer and a `WordPiece` model.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, WeightsError> {
        let malformed = |what: String| WeightsError::Malformed(format!("tokenizer.json: {what}"));
        let file: File = serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
        let kinds = [&file.normalizer.r#type, &file.pre_tokenizer.r#type];
        let wordpiece = file.model.r#type.as_deref().is_none_or(|kind| kind == "WordPiece");
        if kinds != ["BertNormalizer", "BertPreTokenizer"] || !wordpiece {
            return Err(WeightsError::Unsupported("only BERT tokenizers with WordPiece are run".into()));
        }
        let Model { vocab, unk_token, continuing_subword_prefix, max_input_chars_per_word, .. } = file.model;
        let id = |token: &str| {
            vocab.get(token).copied().ok_or_else(|| malformed(format!("`{token}` is not in the vocabulary")))
        };
        let (unknown, first, separator) = (id(&unk_token)?, id("[CLS]")?, id("[SEP]")?);
        let longest = vocab.keys().map(String::len).max().unwrap_or(0);
        let (mut starts, mut continuations) = (Pieces::default(), Pieces::default());
        for (piece, id) in &vocab {
            starts.insert(piece.as_bytes().into(), *id);
            if let Some(rest) = piece.strip_prefix(&continuing_subword_prefix) {
                continuations.insert(rest.as_bytes().into(), *id);
            }
        }
        let added = file.added_tokens.into_iter().filter(|token| !token.content.is_empty());
        let verbatim: Vec<_> = added.map(|token| (token.content, token.id)).collect();
        let mut verbatim_starts = [false; 256];
        verbatim.iter().for_each(|(token, _)| verbatim_starts[usize::from(token.as_bytes()[0])] = true);
        Ok(WordPiece {
            starts,
            continuations,
            verbatim,
            verbatim_starts,
            unknown,
            first,
            separator,
            longest,
            longest_word: max_input_chars_per_word,
            normalizer: file.normalizer,
        })
    }

    /// The largest id, so that a model with fewer embeddings can be refused.
    pub(super) fn largest_id(&self) -> u32 {
        self.starts.values().copied().chain(self.verbatim.iter().map(|(_, id)| *id)).max().unwrap_or(0)
    }

    /// Cuts the text at verbatim tokens and walks what lies between.
    pub(super) fn walk(&self, mut text: &str, each: &mut impl FnMut(u32)) {
        let mut word = String::new();
        while let Some((at, length, id)) = self.next_verbatim(text) {
            self.walk_plain(&text[..at], &mut word, each);
            each(id);
            text = &text[at + length..];
        }
        self.walk_plain(text, &mut word, each);
    }

    /// The first verbatim token of a text; the longest where several start there.
    fn next_verbatim(&self, text: &str) -> Option<(usize, usize, u32)> {
        for (at, byte) in text.bytes().enumerate() {
            if self.verbatim_starts[usize::from(byte)] {
                let rest = &text.as_bytes()[at..];
                let here = self.verbatim.iter().filter(|(token, _)| rest.starts_with(token.as_bytes()));
                if let Some((token, id)) = here.max_by_key(|(token, _)| token.len()) {
                    return Some((at, token.len(), *id));
                }
            }
        }
        None
    }

    /// Normalises, splits into words and punctuation, and hands each word on.
    fn walk_plain(&self, text: &str, word: &mut String, each: &mut impl FnMut(u32)) {
        let mut rest = text;
        while let Some(&byte) = rest.as_bytes().first() {
            if byte < 0x80 {
                self.take_ascii(byte, word, each);
                rest = &rest[1..];
                continue;
            }
            // A run of other characters is decomposed as a whole: marks may have to swap places.
            let end = rest.bytes().position(|byte| byte < 0x80).unwrap_or(rest.len());
            self.take_other(&rest[..end], word, each);
            rest = &rest[end..];
        }
        self.take_word(word, each);
    }

    #[inline]
    fn take_ascii(&self, byte: u8, word: &mut String, each: &mut impl FnMut(u32)) {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => word.push(char::from(byte)),
            b'A'..=b'Z' if self.normalizer.lowercase => word.push(char::from(byte | 0x20)),
            b'A'..=b'Z' => word.push(char::from(byte)),
            b' ' | b'\t' | b'\n' | b'\r' => self.take_word(word, each),
            _ if byte.is_ascii_punctuation() => self.take_mark(char::from(byte), word, each),
            _ if self.normalizer.clean_text => {}
            0x0b | 0x0c => self.take_word(word, each),
            _ => word.push(char::from(byte)),
        }
    }

    /// Characters beyond ASCII, in the order of the original's steps.
    fn take_other(&self, run: &str, word: &mut String, each: &mut impl FnMut(u32)) {
        let Normalizer { clean_text, handle_chinese_chars, strip_accents, lowercase, .. } = self.normalizer;
        let mut cleaned = String::with_capacity(run.len() + 8);
        for character in run.chars() {
            if clean_text && (character == '\u{fffd}' || character.is_other()) {
                continue;
            }
            if handle_chinese_chars && is_ideograph(character) {
                cleaned.extend([' ', character, ' ']);
            } else if character.is_whitespace() {
                cleaned.push(' ');
            } else {
                cleaned.push(character);
            }
        }
        let mut take = |character: char| {
            if lowercase {
                character.to_lowercase().for_each(|character| self.take_character(character, word, each));
            } else {
                self.take_character(character, word, each);
            }
        };
        if strip_accents.unwrap_or(lowercase) {
            cleaned.nfd().filter(|character| !character.is_mark_nonspacing()).for_each(&mut take);
        } else {
            cleaned.chars().for_each(&mut take);
        }
    }

    fn take_character(&self, character: char, word: &mut String, each: &mut impl FnMut(u32)) {
        if character.is_whitespace() {
            self.take_word(word, each);
        } else if character.is_ascii_punctuation() || character.is_punctuation() {
            self.take_mark(character, word, each);
        } else {
            word.push(character);
        }
    }

    /// Punctuation ends a word and is one of its own.
    fn take_mark(&self, mark: char, word: &mut String, each: &mut impl FnMut(u32)) {
        self.take_word(word, each);
        word.push(mark);
        self.take_word(word, each);
    }

    /// Cuts a word into the longest pieces there are, from the left; a word that cannot be cut is unknown as a whole.
    fn take_word(&self, word: &mut String, each: &mut impl FnMut(u32)) {
        if word.is_empty() {
            return;
        }
        if let Some(id) = self.starts.get(word.as_bytes())
            && word.len() <= self.longest_word
        {
            each(*id);
        } else if !self.cut(word, each) {
            each(self.unknown);
        }
        word.clear();
    }

    fn cut(&self, word: &str, each: &mut impl FnMut(u32)) -> bool {
        if word.len() > self.longest_word && word.chars().count() > self.longest_word {
            return false;
        }
        // No word has more pieces than characters.
        let mut found = [0; 128];
        let mut overflow = Vec::new();
        let mut count = 0;
        let mut start = 0;
        while start < word.len() {
            let pieces = if start == 0 { &self.starts } else { &self.continuations };
            let mut end = word.len().min(start + self.longest);
            let id = loop {
                while !word.is_char_boundary(end) {
                    end -= 1;
                }
                if end == start {
                    return false;
                }
                match pieces.get(&word.as_bytes()[start..end]) {
                    Some(id) => break *id,
                    None => end -= 1,
                }
            };
            match found.get_mut(count) {
                Some(place) => *place = id,
                None => overflow.push(id),
            }
            count += 1;
            start = end;
        }
        found[..count.min(found.len())].iter().chain(&overflow).for_each(|id| each(*id));
        true
    }
}

/// The blocks that BERT puts spaces around.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::super::{
        Tokenizer,
        tests::{digest, mixtures},
    };
    use super::*;

    /// A small vocabulary with single letters, some words and pieces, in the shape of a real `tokenizer.json`.
    pub(crate) fn small_file() -> Vec<u8> {
        let mut vocabulary: Vec<String> =
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "un", "##aff", "##able", "walk", "##ing"]
                .map(String::from)
                .to_vec();
        for character in
            ('!'..='~').filter(|c| !c.is_ascii_uppercase()).chain("äöüßéαβγ中文日本¿«»–’".chars())
        {
            vocabulary.push(character.to_string());
            vocabulary.push(format!("##{character}"));
        }
        let special = |id: usize| {
            serde_json::json!({"id": id, "content": vocabulary[id], "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true})
        };
        let vocab: HashMap<&String, usize> =
            vocabulary.iter().enumerate().map(|(id, piece)| (piece, id)).collect();
        let file = serde_json::json!({
            "version": "1.0",
            "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": null,
            "added_tokens": (0..5).map(special).collect::<Vec<_>>(),
            "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": null,
            "decoder": null,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab},
        });
        serde_json::to_vec(&file).unwrap()
    }

    /// What the original makes of many texts: `bench/models/tokens.py` wrote it and says how they are put together.
    #[derive(Deserialize)]
    struct Reference {
        fragments: Vec<String>,
        characters: Vec<String>,
        mixtures: Vec<String>,
    }

    fn reference() -> (Tokenizer, Reference) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/quire-embed-1/tokenizer.json");
        let reference = serde_json::from_str(include_str!("wordpiece_reference.json")).unwrap();
        (Tokenizer::open(&file).unwrap(), reference)
    }

    #[test]
    fn every_character_is_tokenized_as_by_the_original() {
        let (ours, reference) = reference();
        let all: Vec<char> = ('\0'..=char::MAX).filter(|c| u32::from(*c) < 0x3_0000).collect();
        let some =
            all.chunks(500).map(|some| some.iter().map(|c| format!(" {c} the{c}un {c}\u{301}")).collect());
        let texts: Vec<String> = some.collect();
        for (at, text) in texts.iter().enumerate() {
            let found = digest(&ours, std::slice::from_ref(text));
            assert_eq!(found, reference.characters[at], "among the 500 from number {} on", at * 500);
        }
    }

    #[test]
    fn mixed_texts_are_tokenized_as_by_the_original() {
        let (ours, reference) = reference();
        let mut texts = mixtures(&reference.fragments, 20_000);
        for length in [99, 100, 101, 500] {
            texts.extend(["a".repeat(length), "é".repeat(length)]);
        }
        for (at, some) in texts.chunks(100).enumerate() {
            assert_eq!(digest(&ours, some), reference.mixtures[at], "one of {some:?}");
        }
    }

    #[test]
    fn another_kind_of_tokenizer_is_refused() {
        let file = String::from_utf8(small_file()).unwrap().replace("BertPreTokenizer", "Whitespace");
        assert!(matches!(Tokenizer::parse(file.as_bytes()), Err(WeightsError::Unsupported(_))));
        assert!(matches!(Tokenizer::parse(b"{}"), Err(WeightsError::Malformed(_))));
    }
}
