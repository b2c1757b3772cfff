//! What a question names, codes, years and names, and whether a passage bears it out.
//!
//! A sentence about the F-240 does not answer a question about the F-990, however alike the rest is; nor does one about another
//! year, or a passage in which the company that is asked about does not occur.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use unicode_segmentation::UnicodeSegmentation;

use super::{
    kind,
    language::Language,
    words::{self, flat, stems},
};
use crate::{ids::FileId, seams::answerer::Passage};

/// What a question names.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Numbers and codes that name one thing: `k2-35`, `1003`, `lavapro 9`.
    pub(super) codes: Vec<String>,
    years: Vec<String>,
    /// The stems of names.
    names: Vec<String>,
}

/// What stands around the sentences of a passage.
pub(super) struct Around {
    /// The stems of the headings, the lead and the file's name.
    pub(super) stems: HashSet<String>,
    /// Those and the passage itself, flat.
    text: String,
    document: Arc<Document>,
    language: Option<Language>,
    /// Share of the names asked about that the document does not have.
    pub(super) unknown: f32,
}

/// What was found of one document: flat, and the stems of its words.
#[derive(Default)]
struct Document {
    text: String,
    words: HashSet<String>,
}

impl Around {
    /// Around each of the passages that were found for a question in this language that names these.
    pub(super) fn all(found: &[Passage], named: &Named, language: Option<Language>) -> Vec<Self> {
        let texts: Vec<String> =
            found.iter().map(|passage| flat(&format!("{} {}", above(passage), passage.chunk.text))).collect();
        let mut documents: HashMap<FileId, Document> = HashMap::new();
        for (passage, text) in found.iter().zip(&texts) {
            let document = documents.entry(passage.id.file).or_default();
            document.text.push_str(text);
            document.text.push(' ');
            document.words.extend(text.unicode_words().map(words::stem));
        }
        let documents: HashMap<FileId, Arc<Document>> =
            documents.into_iter().map(|(file, document)| (file, Arc::new(document))).collect();
        let around = |(passage, text): (&Passage, String)| {
            let around = Around {
                stems: stems_above(passage),
                text,
                document: documents[&passage.id.file].clone(),
                language: Language::told(&passage.chunk.text),
                unknown: 0.0,
            };
            Around { unknown: named.unknown(&around, language), ..around }
        };
        found.iter().zip(texts).map(around).collect()
    }

    /// Whether the document has a name, or one that is written nearly so, or what it is short for.
    fn knows(&self, name: &str) -> bool {
        let document = &self.document;
        document.words.contains(name)
            || document.words.iter().any(|word| nearly(word, name))
            || name.chars().count() <= LONGEST_SHORT && is_short_for(name, &document.text)
    }

    /// Whether the passage is surely in another language than this.
    pub(super) fn is_foreign(&self, language: Option<Language>) -> bool {
        matches!((self.language, language), (Some(here), Some(asked)) if here != asked)
    }
}

impl Named {
    pub(super) fn of(question: &str) -> Self {
        let years = words::telling(question).into_iter().filter(|word| is_year(word.text));
        Named {
            codes: codes(question),
            years: years.map(|word| word.text.to_string()).collect(),
            names: names(question),
        }
    }

    /// Whether every code stands in a text or around it, and no other code in its place.
    pub(super) fn codes_stand(&self, text: &str, around: &Around) -> bool {
        let own = flat(text);
        let elsewhere = |code: &String| !has_word(&own, code);
        if self.codes.iter().any(|code| elsewhere(code) && !has_word(&around.text, code)) {
            return false;
        }
        // "Newton 45" is no other thing than "Bowl 50"; "Bowl 48" is.
        let alike = |code: &str| match code.split_once(' ') {
            Some((name, _)) => self.codes.iter().any(|own| own.starts_with(&format!("{name} "))),
            None => code.contains(char::is_alphabetic),
        };
        let other = |code: &String| alike(code) && !self.codes.contains(code);
        !self.codes.iter().any(elsewhere) || !codes(text).iter().any(other)
    }

    /// Whether a word, by its stem, is a name or a part of a code.
    pub(super) fn has(&self, stem: &str) -> bool {
        let part = |code: &String| code.split(' ').any(|part| words::stem(part) == stem);
        self.names.iter().any(|name| name == stem) || self.codes.iter().any(part)
    }

    /// Whether every year stands in a text or its document.
    pub(super) fn years_stand(&self, text: &str, around: &Around) -> bool {
        self.years
            .iter()
            .all(|year| text.contains(year.as_str()) || around.document.text.contains(year.as_str()))
    }

    /// Share of the names that the document of a passage does not have. Names of another language may be written otherwise,
    /// and do not count.
    fn unknown(&self, around: &Around, language: Option<Language>) -> f32 {
        if self.names.is_empty() || around.is_foreign(language) {
            return 0.0;
        }
        let unknown = self.names.iter().filter(|name| !around.knows(name)).count();
        unknown as f32 / self.names.len() as f32
    }
}

/// The stems of what stands above a passage.
pub(super) fn stems_above(passage: &Passage) -> HashSet<String> {
    stems(&above(passage))
}

/// The headings, the lead and the name of the file.
fn above(passage: &Passage) -> String {
    let file = passage.file_name.replace(['_', '-', '.'], " ");
    format!("{} {} {file} {}", passage.chunk.section.join(" "), passage.chunk.lead, passage.file_name)
}

/// Whether two long words differ by one letter at most, or by their ends.
fn nearly(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let ends = short[same..].iter().rev().zip(long[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    short.len() >= LONG && (same == short.len() || long.len() - same - ends <= 1)
}

/// Letters of a word that may be misspelt, and of one that may stand for several.
const LONG: usize = 5;
const LONGEST_SHORT: usize = 5;

/// Whether words in a row begin with the letters of a name: "European Union" with "eu".
pub(super) fn is_short_for(name: &str, text: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    let first: Vec<char> = text.unicode_words().filter_map(|word| word.chars().next()).collect();
    letters.len() > 1 && first.windows(letters.len()).any(|window| window == letters)
}

/// Numbers and codes that name one thing: `K2-35`, `1003`, `E4021`, `LavaPro 9`; not years, and not small numbers alone.
pub(super) fn codes(text: &str) -> Vec<String> {
    // Scripts without blanks write numbers and words together.
    let inside = |character: char| {
        character.is_alphanumeric() && character < '\u{2e80}' || matches!(character, '-' | '_' | '/' | '.')
    };
    let tokens = text.split(|character: char| !inside(character));
    let tokens: Vec<&str> = tokens.map(|token| token.trim_matches(['-', '_', '/', '.'])).collect();
    let mut found: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let digits = token.chars().filter(char::is_ascii_digit).count();
        let letters = token.chars().any(char::is_alphabetic);
        if digits == 0 || is_year(token) || token.contains('/') || is_measure(token) {
            continue;
        }
        if letters || digits >= 3 {
            found.push(token.to_lowercase());
            continue;
        }
        let before = at.checked_sub(1).map(|at| tokens[at]).filter(|before| names_a_number(before));
        found.extend(before.map(|before| format!("{} {token}", before.to_lowercase())));
    }
    found.dedup();
    found
}

/// Whether a token says how much or which years, and names nothing: `3-year`, `2001-02`.
fn is_measure(token: &str) -> bool {
    let Some((number, rest)) = token.split_once('-') else { return false };
    let word = rest.chars().filter(|character| character.is_lowercase()).count() >= 3
        && rest.chars().all(|character| character.is_alphabetic() || character == '-');
    let years =
        is_year(number) && matches!(rest.len(), 2 | 4) && rest.bytes().all(|byte| byte.is_ascii_digit());
    number.bytes().all(|byte| byte.is_ascii_digit()) && word || years
}

/// Whether a word with a small number behind it is a name: `LavaPro 9`, not `March 9` or `The 9`.
fn names_a_number(word: &str) -> bool {
    let lower = word.to_lowercase();
    word.starts_with(char::is_uppercase)
        && word.chars().all(char::is_alphabetic)
        && word.chars().count() > 2
        && !words::is_empty(&lower)
        && !kind::is_time_name(&lower)
        && !words::is_number_word(&lower)
}

/// The stems of the names in a question: words with a capital that do not begin a sentence.
fn names(question: &str) -> Vec<String> {
    let german = Language::told(question) == Some(Language::German);
    let telling = |word: &str| !words::is_empty(&word.to_lowercase());
    let capital = |word: &str| word.starts_with(char::is_uppercase);
    let inside = |word: &str| word.chars().skip(1).any(char::is_uppercase);
    let all: Vec<(usize, &str)> = question.unicode_word_indices().collect();
    let content = all.iter().filter(|(_, word)| telling(word)).count();
    let capitals = all.iter().filter(|(_, word)| telling(word) && capital(word)).count();
    // A question in capitals tells nothing.
    if capitals > 2 && capitals == content || !question.contains(char::is_lowercase) {
        return Vec::new();
    }
    let begins = |at: usize| {
        let before = question[..at].trim_end_matches([' ', '"', '“', '«', '(', '¿', '¡']);
        before.is_empty() || before.ends_with(['.', '?', '!', ':', ';'])
    };
    let is_name = |at: usize, word: &str| {
        telling(word)
            && capital(word)
            && !begins(at)
            && (!german || inside(word))
            && !word.contains(|character: char| character.is_numeric())
            && !kind::is_time_name(&word.to_lowercase())
    };
    let found = all.iter().filter(|(at, word)| is_name(*at, word));
    found.map(|(_, word)| words::stem(word)).collect()
}

/// Whether a word is a year.
pub(super) fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u32>().is_ok_and(|year| (1500..2200).contains(&year))
}

/// Whether a word stands in a flat text, not inside another.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_long_numbers_name_things_and_years_do_not() {
        assert_eq!(codes("What does the K2-35 weigh in 2021?"), ["k2-35"]);
        assert_eq!(codes("When was order 1003 shipped? 12 of them."), ["1003"]);
        assert_eq!(codes("Wie lange gilt die Garantie auf die LavaPro 9?"), ["lavapro 9"]);
        assert_eq!(codes("步道在2024年有多少游客，K2-35呢？"), ["k2-35"]);
        assert!(codes("How many ducks were there in 2021, 24/7? On March 5? The 12?").is_empty());
        assert!(
            codes("The 3-year warranty of 2001-02? Die 10-seitige, das 30-Tage-Recht, 2-ярдовый?").is_empty()
        );
        assert_eq!(codes("The 5-HT? The 2024-118, the A4-year?"), ["5-ht", "2024-118", "a4-year"]);
        assert!(has_word("order 1003, shipped", "1003") && !has_word("order 10034", "1003"));
    }

    #[test]
    fn another_code_stands_in_the_place_of_the_right_one() {
        let around = Around {
            stems: HashSet::new(),
            text: "super bowl 50 was played in santa clara".into(),
            document: Arc::default(),
            unknown: 0.0,
            language: None,
        };
        let stands = |text: &str| Named::of("Who won Super Bowl 50?").codes_stand(text, &around);
        assert!(stands("Newton 45 times threw it.") && stands("Super Bowl 50 was won by Denver."));
        assert!(!stands("Super Bowl 48 was won by Seattle.") && !stands("Gate E4021 was closed."));
        assert!(!Named::of("Who won Super Bowl 12?").codes_stand("Denver won.", &around));
    }

    #[test]
    fn names_may_be_misspelt_or_short() {
        assert!(nearly("maastrich", "maastricht") && nearly("sheeshank", "sheepshank"));
        assert!(nearly("helth", "health"));
        assert!(
            !nearly("anna", "anne") && !nearly("mountain", "fountains") && !nearly("coastal", "mountain")
        );
        assert!(
            is_short_for("eu", "the european union was") && !is_short_for("eu", "the union european was")
        );
    }

    #[test]
    fn names_have_capitals_inside_a_question() {
        let of = |question: &str| names(question).len();
        assert_eq!(of("How many shops does Tessaro have in Paris?"), 2);
        assert_eq!(of("Ducks? How many ducks in March?"), 0);
        assert_eq!(of("Wie schwer ist der Motor des LavaPro?"), 1);
        assert_eq!(of("WHAT DOES THE PUMP WEIGH?"), 0);
    }
}
