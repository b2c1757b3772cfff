//! Asks the answer picker: does this sentence answer the question?
//!
//! It reads a sentence with what stands around it, marked off, exactly as `training/train_pick.py` wrote it in training.

use crate::{
    chat::{
        language::Language,
        pick::{Sentence, Tongue},
    },
    seams::answerer::Passage,
};

/// Between a sentence and what stands around it.
const MARK: &str = " ‖ ";
/// Words of the sentence before, and of the one after.
const BEFORE: usize = 24;
const AFTER: usize = 14;
/// Words of a sentence and of the headings above it: what is longer was cut badly, and would cost as much as many.
const LONGEST: usize = 110;
const ABOVE: usize = 16;

/// A sentence as the picker reads it: itself, the headings above, what stands before and after.
pub(super) fn read(sentence: &Sentence, passages: &[Passage]) -> String {
    let above = passages[sentence.passage].chunk.section.join(", ");
    let (before, after) = &sentence.beside;
    let said = first(sentence.text(passages), LONGEST);
    format!("{said}{MARK}{}{MARK}{}{MARK}{}", first(&above, ABOVE), last(before, BEFORE), first(after, AFTER))
}

/// Whether this is for the picker that knows many languages: the question is not English, or most of the likeliest sentences
/// are not; `multilingual` is whether the box is.
pub(super) fn takes_many(question: &str, likeliest: &[Sentence], multilingual: bool) -> bool {
    let other = likeliest.iter().filter(|sentence| sentence.tongue != Tongue::English).count();
    2 * other > likeliest.len()
        || !can_read(question)
        || multilingual && Language::told(question) != Some(Language::English)
}

/// Whether a question is mostly in a script that the picker for English was trained on: Latin or Chinese.
pub(super) fn can_read(question: &str) -> bool {
    let known =
        |letter: char| matches!(letter, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{3400}'..='\u{9fff}');
    let letters = || question.chars().filter(|letter| letter.is_alphabetic());
    2 * letters().filter(|letter| known(*letter)).count() >= letters().count()
}

fn first(text: &str, count: usize) -> String {
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

fn last(text: &str, count: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words[words.len().saturating_sub(count)..].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_from_the_far_end() {
        assert_eq!(first(" a  b\nc ", 2), "a b");
        assert_eq!(last(" a  b\nc ", 2), "b c");
        assert_eq!(last("", 2), "");
    }

    #[test]
    fn scripts_that_were_not_trained_on_are_told() {
        assert!(
            can_read("Wie schwer?")
                && can_read("故宫在哪里？")
                && can_read("Ai giám sát?")
                && can_read("17?")
        );
        assert!(!can_read("Где находится музей?") && !can_read("أين المتحف؟"));
    }
}
