//! Tells text from letters that mean nothing, by the words that every text of a language is full of.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Languages in Latin letters whose function words are known, and few enough to tell them from chance.
const LANGUAGES: [&str; 17] =
    ["az", "ca", "da", "de", "en", "es", "eu", "fi", "fr", "hu", "id", "it", "nl", "no", "pt", "ro", "sv"];
/// Fewer words than this tell nothing.
const FEWEST_WORDS: usize = 40;
/// Prose has 40 function words in a hundred, a list of names and figures ten. Letters that mean nothing look like one now and then.
const ONE_IN: usize = 13;

/// The languages that have a word among their function words, a bit for each.
static FUNCTION_WORDS: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (language, code) in LANGUAGES.iter().enumerate() {
        for word in stop_words::lookup(code).unwrap_or_default() {
            *words.entry(*word).or_default() |= 1 << language;
        }
    }
    words
});

/// Whether a text reads like one of the languages; `None` where it has too few words in Latin letters to tell.
pub(crate) fn is_likely(text: &str) -> Option<bool> {
    let (function, all) = function_words(text);
    (all >= FEWEST_WORDS).then_some(function * ONE_IN >= all)
}

/// Whether a text, which may be short, is sentences rather than labels: their words, or letters of scripts that need none.
pub(crate) fn has_sentences(text: &str) -> bool {
    const FEWEST_WORDS: usize = 6;
    const ONE_IN: usize = 5;
    const FEWEST_LETTERS: usize = 20;
    let (function, all) = function_words(text);
    let others = text
        .chars()
        .filter(|letter| matches!(letter, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
        .count();
    all >= FEWEST_WORDS && function * ONE_IN >= all || others >= FEWEST_LETTERS
}

/// How many words are function words of the language that has the most of them, and how many there are in Latin letters.
fn function_words(text: &str) -> (usize, usize) {
    let mut found = [0usize; LANGUAGES.len()];
    let mut all = 0;
    for word in words(text).filter(|word| word.chars().any(is_latin)) {
        all += 1;
        let languages = FUNCTION_WORDS.get(word.as_str()).copied().unwrap_or_default();
        for (language, found) in found.iter_mut().enumerate() {
            *found += usize::from(languages & 1 << language != 0);
        }
    }
    (found.into_iter().max().unwrap_or_default(), all)
}

/// Whether two readings of a page have at least half of the words of the first in common.
pub(crate) fn agree(seen: &str, told: &str) -> bool {
    let mut left: HashMap<String, usize> = HashMap::new();
    for word in words(told) {
        *left.entry(word).or_default() += 1;
    }
    let (mut common, mut all) = (0, 0);
    for word in words(seen) {
        all += 1;
        if let Some(count) = left.get_mut(&word).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    common * 2 >= all
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn is_latin(letter: char) -> bool {
    matches!(letter, 'a'..='z' | '\u{df}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "The machine is delivered with a filter that has to be cleaned once a month. Open the cover at the \
        back, take out the filter and rinse it with cold water, but never with soap. Let it dry for an hour before you \
        put it in again. If the light goes on, the filter is not in its place.";

    /// Each letter as the next one in the alphabet, as fonts with a wrong table tell them.
    fn shifted(text: &str) -> String {
        let next = |letter: char| match letter {
            'z' => 'a',
            'a'..='y' | 'A'..='Z' => char::from(letter as u8 + 1),
            other => other,
        };
        text.chars().map(next).collect()
    }

    #[test]
    fn prose_reads_like_a_language_and_shifted_letters_do_not() {
        assert_eq!(is_likely(PROSE), Some(true));
        assert_eq!(is_likely(&shifted(PROSE)), Some(false));
        let spanish = "La máquina se entrega con un filtro que debe limpiarse una vez al mes. Abra la tapa trasera, saque \
            el filtro y enjuáguelo con agua fría, pero nunca con jabón. Déjelo secar durante una hora antes de volver a \
            ponerlo. Si la luz se enciende, el filtro no está en su sitio.";
        assert_eq!(is_likely(spanish), Some(true));
    }

    #[test]
    fn little_text_and_other_scripts_tell_nothing() {
        assert_eq!(is_likely("Invoice 4711"), None);
        assert_eq!(is_likely(&"Машина поставляется с фильтром ".repeat(20)), None);
    }

    #[test]
    fn sentences_are_told_from_labels() {
        assert!(has_sentences("The spare key is kept behind the blue door"));
        assert!(has_sentences("備用鑰匙放在藍色的門後面請不要告訴任何人謝謝您的合作"));
        assert!(!has_sentences(
            "Torque - Speed Curve Power Efficiency Current 3.60 Torque in-lbs Speed - rpm"
        ));
        assert!(!has_sentences("Contoso Ltd"));
    }

    #[test]
    fn readings_with_most_words_in_common_agree() {
        assert!(agree("The filter is clean.", "the fllter is clean"));
        assert!(!agree(PROSE, &shifted(PROSE)));
    }
}
