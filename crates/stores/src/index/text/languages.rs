//! The languages of a box: what makes their terms, and which of their words say nothing by themselves.

use std::collections::{HashMap, HashSet};

use super::{
    analyzer::{Analyzer, fold},
    question::{Question, Slot},
};

/// The languages whose stems a query is tried with at most, most frequent first. Most words have one or two stems in all
/// of them together, so this bounds an odd box, not a usual one.
const QUERY_LANGUAGES: usize = 16;

/// Words of another language's list that a query must have to be taken for that language instead of the box's first:
/// "war" alone is German for "was", and English for what it is.
const TELLING: usize = 2;

/// The languages of a box.
#[derive(Clone, Default)]
pub(in crate::index) struct Languages {
    /// Most frequent first, as of the last opening.
    known: Vec<Known>,
    places: HashMap<Option<String>, usize>,
}

#[derive(Clone)]
struct Known {
    code: String,
    analyzer: Analyzer,
    /// Articles, pronouns, prepositions and the like, without accents; empty where there is no list.
    function: HashSet<String>,
}

impl Languages {
    /// The languages of these names, most frequent first; `None` stands for what could not be told.
    pub(in crate::index) fn of(names: impl IntoIterator<Item = Option<String>>) -> Self {
        let mut languages = Languages::default();
        for name in names {
            languages.note(name.as_deref());
        }
        languages
    }

    /// Makes sure that chunks of this language can be found.
    pub(super) fn note(&mut self, language: Option<&str>) {
        let name = language.map(str::to_string);
        if self.places.contains_key(&name) {
            return;
        }
        self.places.insert(name, self.known.len());
        let code = language.unwrap_or("en").to_string();
        let list = stop_words::lookup(&code).unwrap_or_default();
        let function = list.iter().map(|word| fold(&word.to_lowercase(), "").into_owned()).collect();
        self.known.push(Known { code, analyzer: Analyzer::new(language), function });
    }

    /// What makes the terms of a chunk of this language.
    pub(super) fn analyzer(&self, language: &Option<String>) -> Analyzer {
        match self.places.get(language) {
            Some(&place) => self.known[place].analyzer,
            None => Analyzer::new(language.as_deref()),
        }
    }

    /// Whether chunks of this language are in the box.
    pub(super) fn has(&self, code: &str) -> bool {
        self.known.iter().any(|known| known.code == code)
    }

    /// Reads a query.
    pub(in crate::index) fn read<'a>(&'a self, query: &'a str) -> Question<'a> {
        let slots = self.slots(query);
        let words: HashSet<String> = slots.iter().map(|slot| fold(&slot.word, "").into_owned()).collect();
        Question::new(self, self.function_words(&words), query, slots)
    }

    /// Each place of a query with the terms it may stand for: one for each way to stem it.
    pub(super) fn slots(&self, query: &str) -> Vec<Slot> {
        let mut slots: Vec<Slot> = Vec::new();
        for (at, known) in self.known.iter().take(QUERY_LANGUAGES).enumerate() {
            let mut place = 0;
            known.analyzer.terms(query, |token| {
                if at == 0 {
                    slots.push(Slot::new(token.word, token.written));
                }
                if let Some(slot) = slots.get_mut(place) {
                    slot.terms.insert(token.term.to_string());
                }
                place += 1;
            });
        }
        slots
    }

    /// The list of the language that the query is in: the box's first, unless another's words tell otherwise.
    fn function_words(&self, words: &HashSet<String>) -> Option<&HashSet<String>> {
        let first = &self.known.first()?.function;
        let only = |of: &HashSet<String>, not: &HashSet<String>| {
            words.iter().filter(|word| of.contains(*word) && !not.contains(*word)).count()
        };
        let others = self.known.iter().take(QUERY_LANGUAGES).skip(1).map(|known| &known.function);
        let telling = others.map(|other| (only(other, first), other)).filter(|(count, _)| *count >= TELLING);
        match telling.max_by_key(|(count, _)| *count) {
            Some((count, other)) if count > only(first, other) => Some(other),
            _ => Some(first),
        }
    }
}
