//! Turns text into the terms it is found by.
//!
//! Words are those of Unicode (UAX #29), lower-cased, stemmed by the language of the chunk and without accents. Scripts
//! without spaces become overlapping runs of two or three characters. What looks like an identifier is also kept whole:
//! `max_retry_count`, `RFC-2616`, `getUserName`, `3.2.1`.

use std::borrow::Cow;

use frostem::Stemmer;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// Longer ones are encoded data, not words; nobody searches for them.
const LONGEST_TERM: usize = 80;

/// Makes the terms of texts in one language.
pub(super) struct Analyzer {
    stemmer: Option<Stemmer>,
    /// Whether accents go before stemming: English writes them at random, other stemmers need them.
    fold_first: bool,
}

impl Analyzer {
    /// For an ISO 639-1 code. Text of unknown language is taken for English: most of it is, and numbers, names and
    /// codes come out the same.
    pub(super) fn new(language: Option<&str>) -> Self {
        let language = match language {
            Some("nb" | "nn") => "no",
            Some(language) => language,
            None => "en",
        };
        Analyzer { stemmer: Stemmer::try_from_name(language).ok(), fold_first: language == "en" }
    }

    /// Calls `emit` with every term of `text`, in order.
    pub(super) fn terms(&self, text: &str, mut emit: impl FnMut(&str)) {
        let mut run = String::new();
        let mut run_script = Script::Spaced;
        let mut run_end = 0;
        let mut before: Option<(usize, &str)> = None;
        for (start, word) in text.unicode_word_indices() {
            let script = Script::of(word);
            if script != run_script || start != run_end {
                grams(&run, run_script, &mut emit);
                run.clear();
            }
            if script == Script::Spaced {
                self.word(word, &mut emit);
                if let Some((end, previous)) = before.filter(|(end, _)| &text[*end..start] == "-") {
                    self.joined(&text[end - previous.len()..start + word.len()], previous, word, &mut emit);
                }
                before = Some((start + word.len(), word));
            } else {
                run.push_str(word);
            }
            (run_script, run_end) = (script, start + word.len());
        }
        grams(&run, run_script, &mut emit);
    }

    fn word(&self, word: &str, emit: &mut impl FnMut(&str)) {
        if word.len() > LONGEST_TERM {
            return;
        }
        if word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
            // 10,000 and 10000 are the same number; 3.2.1 is a place and stays as it is.
            return emit(&word.replace(',', ""));
        }
        let parts = parts(word);
        if parts.len() < 2 {
            return emit(&self.normal(word));
        }
        emit(&self.normal(word));
        for part in parts
            .into_iter()
            .filter(|part| part.chars().nth(1).is_some() || part.starts_with(char::is_numeric))
        {
            emit(&self.normal(part));
        }
    }

    /// Two words with a hyphen between them are one name where a number is in it (RFC-2616) or a letter stands alone
    /// before it (e-mail).
    fn joined(&self, whole: &str, first: &str, second: &str, emit: &mut impl FnMut(&str)) {
        if whole.contains(|c: char| c.is_ascii_digit()) {
            emit(&fold(&format!("{first}{second}").to_lowercase()));
        } else if first.chars().count() == 1 {
            emit(&self.normal(&format!("{first}{second}")));
        }
    }

    fn normal(&self, word: &str) -> String {
        let lower = word.to_lowercase();
        let Some(stemmer) = self.stemmer else { return fold(&lower).into_owned() };
        // A word with a digit in it is a code, and codes have no endings.
        if lower.bytes().any(|byte| byte.is_ascii_digit()) {
            return fold(&lower).into_owned();
        }
        if self.fold_first {
            stemmer.stem(&fold(&lower)).into_owned()
        } else {
            fold(&stemmer.stem(&lower)).into_owned()
        }
    }
}

/// How a script is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    /// With spaces between words.
    Spaced,
    /// Chinese, Japanese, and Korean, whose words carry endings that no stemmer here knows: by two characters.
    Pairs,
    /// Thai, Lao, Khmer, Myanmar: by three, since vowel signs count.
    Triples,
}

impl Script {
    fn of(word: &str) -> Self {
        match word.chars().next().map_or(0, u32::from) {
            0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF => Script::Triples,
            0x1100..=0x11FF
            | 0x2E80..=0x2FDF
            | 0x3005..=0x3007
            | 0x3040..=0x30FF
            | 0x3130..=0x318F
            | 0x31F0..=0x31FF
            | 0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xAC00..=0xD7AF
            | 0xF900..=0xFAFF
            | 0xFF66..=0xFF9F
            | 0x20000..=0x3FFFF => Script::Pairs,
            _ => Script::Spaced,
        }
    }
}

/// Overlapping runs of characters; a shorter text is one.
fn grams(run: &str, script: Script, emit: &mut impl FnMut(&str)) {
    let size = match script {
        Script::Spaced => return,
        Script::Pairs => 2,
        Script::Triples => 3,
    };
    let mut starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    starts.push(run.len());
    match starts.len() {
        1 => {}
        count if count <= size => emit(run),
        _ => starts.windows(size + 1).for_each(|window| emit(&run[window[0]..window[size]])),
    }
}

/// The parts of a compound: between marks, and where a capital follows a small letter. One part where it is none.
fn parts(word: &str) -> Vec<&str> {
    word.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
        .filter(|part| !part.is_empty())
        .flat_map(|part| {
            let mut cuts = vec![0];
            let mut previous = ' ';
            for (at, character) in part.char_indices() {
                if character.is_uppercase() && previous.is_lowercase() {
                    cuts.push(at);
                }
                previous = character;
            }
            cuts.push(part.len());
            cuts.windows(2).map(|pair| &part[pair[0]..pair[1]]).collect::<Vec<_>>()
        })
        .collect()
}

/// Takes accents and other marks off letters that are read without them too.
fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let mut folded = String::with_capacity(word.len());
    for character in word.nfkc() {
        match character {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            // Arabic: vowel signs and the stretching stroke are optional, and the forms of alif are mixed up freely.
            '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{0652}' | '\u{0640}' => {}
            'أ' | 'إ' | 'آ' => folded.push('ا'),
            // Latin and Greek accents; elsewhere marks tell letters apart.
            '\u{00C0}'..='\u{024F}' | '\u{1E00}'..='\u{1FFF}' | '\u{0370}'..='\u{03FF}' => {
                folded.extend(character.to_string().nfd().filter(|&part| !is_combining_mark(part)));
            }
            '\u{0300}'..='\u{036F}' => {}
            other => folded.push(other),
        }
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(language: &str, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Analyzer::new(Some(language)).terms(text, |term| terms.push(term.to_string()));
        terms
    }

    #[test]
    fn words_lose_case_accents_and_endings() {
        assert_eq!(terms("en", "Running the Cafés' ÉTUDES"), ["run", "the", "cafe", "etud"]);
        assert_eq!(terms("de", "Häuser Straßen"), terms("de", "haus STRASSE"));
        assert_eq!(terms("fr", "l'avion"), ["avion", "avion"]);
        assert_eq!(terms("xx", "Whatever"), ["whatever"]);
    }

    #[test]
    fn identifiers_are_kept_whole_and_in_parts() {
        assert_eq!(terms("en", "E4021"), ["e4021"]);
        assert_eq!(terms("en", "max_retries"), ["max_retri", "max", "retri"]);
        assert_eq!(terms("en", "RFC-2616"), ["rfc", "2616", "rfc2616"]);
        assert_eq!(terms("en", "section 3.2.1"), ["section", "3.2.1"]);
        assert_eq!(terms("en", "getUserName"), ["getusernam", "get", "user", "name"]);
        assert_eq!(terms("en", "10,000 e-mails"), ["10000", "e", "mail", "email"]);
    }

    #[test]
    fn scripts_without_spaces_become_runs() {
        assert_eq!(terms("zh", "博物院 x 中"), ["博物", "物院", "x", "中"]);
        assert_eq!(terms("ja", "東京タワー"), ["東京", "京タ", "タワ", "ワー"]);
        assert_eq!(terms("ko", "서울시"), ["서울", "울시"]);
        assert_eq!(terms("th", "เมือง"), ["เมื", "มือ", "ือง"]);
        assert_eq!(terms("ar", "كِتَابٌ"), terms("ar", "كتاب"));
    }

    #[test]
    fn long_runs_of_letters_are_left_out() {
        assert!(terms("en", &"x".repeat(500)).is_empty());
    }
}
