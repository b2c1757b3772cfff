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

/// Grows whenever a text gives other terms than before: what was made with a lower one is made anew from the truth.
pub(in crate::index) const ANALYSIS: i64 = 1;

/// One term of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    /// What the index holds.
    pub(super) term: &'a str,
    /// The word in small letters, with its accents; empty where it is none: a number, a code, a run of characters.
    pub(super) word: &'a str,
    /// The same as the text has it.
    pub(super) written: &'a str,
}

/// Makes the terms of texts in one language.
#[derive(Clone, Copy)]
pub(super) struct Analyzer {
    stemmer: Option<Stemmer>,
    /// Whether accents go before stemming: English writes them at random, other stemmers need them.
    fold_first: bool,
    /// What looks like an accent to others, and is a letter of its own to who reads the language.
    letters: &'static str,
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
        let letters = match language {
            "es" => "ñ",
            "sv" | "fi" => "åäö",
            "da" | "no" => "åæø",
            "et" => "õäöü",
            _ => "",
        };
        Analyzer { stemmer: Stemmer::try_from_name(language).ok(), fold_first: language == "en", letters }
    }

    /// Calls `emit` with every term of `text`, in order. Texts give as many in any language, so the terms of two
    /// analyzers can be told apart by their places.
    pub(super) fn terms(&self, text: &str, mut emit: impl FnMut(Token<'_>)) {
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

    fn word(&self, word: &str, emit: &mut impl FnMut(Token<'_>)) {
        if word.len() > LONGEST_TERM {
            return;
        }
        if word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
            // 10,000 and 10000 are the same number; 3.2.1 is a place and stays as it is.
            return emit(Token { term: &word.replace(',', ""), word: "", written: word });
        }
        self.normal(word, emit);
        let parts = parts(word);
        if parts.len() < 2 {
            return;
        }
        for part in parts
            .into_iter()
            .filter(|part| part.chars().nth(1).is_some() || part.starts_with(char::is_numeric))
        {
            self.normal(part, emit);
        }
    }

    /// Two words with a hyphen between them are one name where a number is in it (RFC-2616) or a letter stands alone
    /// before it (e-mail).
    fn joined(&self, whole: &str, first: &str, second: &str, emit: &mut impl FnMut(Token<'_>)) {
        let written = format!("{first}{second}");
        if whole.contains(|c: char| c.is_ascii_digit()) {
            emit(Token { term: &fold(&written.to_lowercase(), ""), word: "", written: &written });
        } else if first.chars().count() == 1 {
            self.normal(&written, emit);
        }
    }

    fn normal(&self, written: &str, emit: &mut impl FnMut(Token<'_>)) {
        let lower = composed(written.to_lowercase());
        // A word with a digit in it is a code, and codes have no endings.
        if lower.bytes().any(|byte| byte.is_ascii_digit()) {
            return emit(Token { term: &fold(&lower, ""), word: "", written });
        }
        let term = match self.stemmer {
            Some(stemmer) if self.fold_first => stemmer.stem(&fold(&lower, "")).into_owned(),
            Some(stemmer) => fold(&stemmer.stem(&lower), self.letters).into_owned(),
            None => fold(&lower, self.letters).into_owned(),
        };
        emit(Token { term: &term, word: &lower, written });
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
fn grams(run: &str, script: Script, emit: &mut impl FnMut(Token<'_>)) {
    // Not of Thai and Lao, where that takes letters apart.
    let run = if script == Script::Pairs { composed(run.to_string()) } else { run.to_string() };
    let run = run.as_str();
    let mut emit = |term: &str| emit(Token { term, word: "", written: term });
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

/// Letters and their marks in one piece, and in the form that is written: files have them in pieces, in half width, or as
/// they are printed beside each other. What joins or parts letters without being seen is left out.
fn composed(text: String) -> String {
    if text.is_ascii() {
        return text;
    }
    let seen = |c: &char| !matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}');
    text.nfkc().filter(seen).collect()
}

/// Takes accents and other marks off letters that are read without them too, except off `letters`.
pub(super) fn fold<'a>(word: &'a str, letters: &str) -> Cow<'a, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let mut folded = String::with_capacity(word.len());
    for character in word.nfkc() {
        match character {
            kept if letters.contains(kept) => folded.push(kept),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            // Arabic: vowel signs and the stretching stroke are optional; the forms of alif, yeh and kaf and the bearers
            // of hamza are mixed up freely, and so are the two letters that may end a feminine noun.
            '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{0640}' => {}
            'أ' | 'إ' | 'آ' | 'ٱ' => folded.push('ا'),
            'ى' | 'ی' | 'ئ' => folded.push('ي'),
            'ؤ' => folded.push('و'),
            'ک' => folded.push('ك'),
            'ة' => folded.push('ه'),
            // Hebrew: points are optional, and five letters have a form of their own at the end.
            '\u{0591}'..='\u{05BD}'
            | '\u{05BF}'
            | '\u{05C1}'
            | '\u{05C2}'
            | '\u{05C4}'
            | '\u{05C5}'
            | '\u{05C7}' => {}
            'ך' => folded.push('כ'),
            'ם' => folded.push('מ'),
            'ן' => folded.push('נ'),
            'ף' => folded.push('פ'),
            'ץ' => folded.push('צ'),
            // Russian writes one for the other.
            'ё' => folded.push('е'),
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
        Analyzer::new(Some(language)).terms(text, |token| terms.push(token.term.to_string()));
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
    fn accents_stay_where_they_make_another_letter() {
        assert_ne!(terms("es", "año"), terms("es", "ano"));
        assert_eq!(terms("es", "acción"), terms("es", "accion"));
        assert_ne!(terms("sv", "får"), terms("sv", "far"));
        assert_eq!(
            terms("fr", "élève"),
            terms("fr", "e\u{301}le\u{300}ve"),
            "marks apart from their letters"
        );
    }

    #[test]
    fn arabic_and_hebrew_are_found_however_they_are_pointed() {
        assert_eq!(terms("ar", "مدرسة"), terms("ar", "مدرسه"));
        assert_eq!(terms("ar", "\u{FEEB}\u{FE8E}"), terms("ar", "ها"), "as printed");
        assert_eq!(terms("he", "שָׁלוֹם"), terms("he", "שלום"));
        assert_eq!(terms("he", "ארץ"), ["ארצ"]);
        assert_eq!(terms("fa", "کتاب"), terms("fa", "كتاب"));
    }

    #[test]
    fn every_language_of_snowball_has_its_stemmer() {
        let languages =
            "ar ca da de el en es et eu fi fr ga hi hu hy id it lt ne nl no pt ro ru sr sv ta tr yi";
        let without: Vec<&str> =
            languages.split(' ').filter(|code| Analyzer::new(Some(code)).stemmer.is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
        for (language, one, other) in [
            ("ru", "гарантии", "гарантия"),
            ("tr", "evler", "ev"),
            ("fi", "talossa", "talo"),
            ("hi", "किताबों", "किताबें"),
            ("ar", "الكتاب", "كتاب"),
            ("el", "σπίτια", "σπίτι"),
            ("nb", "husene", "hus"),
        ] {
            assert_eq!(terms(language, one), terms(language, other), "{language}");
        }
    }

    #[test]
    fn khmer_lao_and_burmese_become_runs_too() {
        assert_eq!(terms("km", "ភ្នំពេញ").len(), "ភ្នំពេញ".chars().count() - 2);
        assert_eq!(terms("lo", "ວຽງຈັນ").len(), "ວຽງຈັນ".chars().count() - 2);
        assert_eq!(terms("my", "ရန်ကုန်").len(), "ရန်ကုန်".chars().count() - 2);
    }

    #[test]
    fn every_language_gives_as_many_terms() {
        let text = "The e-mail of getUserName, l'avion, 10,000 RFC-2616 東京タワー เมือง";
        let count = terms("xx", text).len();
        for language in ["en", "fr", "es", "tr", "ar", "ja", "sv"] {
            assert_eq!(terms(language, text).len(), count, "{language}");
        }
    }

    #[test]
    fn long_runs_of_letters_are_left_out() {
        assert!(terms("en", &"x".repeat(500)).is_empty());
    }
}
