//! The languages of a box: what makes their terms, and which of their words say nothing by themselves.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;

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

/// The languages of a box, most frequent first. They depend on what the box holds and on nothing else, so that a box answers
/// alike before and after it was opened again, restored or moved.
#[derive(Clone, Default)]
pub(in crate::index) struct Languages {
    known: Vec<Known>,
}

#[derive(Clone)]
struct Known {
    code: String,
    analyzer: Analyzer,
    function: Arc<HashSet<String>>,
}

impl Languages {
    /// The languages of these names, most frequent first; `None` stands for what could not be told.
    pub(in crate::index) fn of(names: impl IntoIterator<Item = Option<String>>) -> Self {
        let known = names.into_iter().map(|name| {
            let analyzer = Analyzer::new(name.as_deref());
            let code = name.unwrap_or_else(|| "en".to_string());
            Known { function: function_words(&code), code, analyzer }
        });
        Languages { known: known.collect() }
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

/// Articles, pronouns, prepositions and the like of a language, without accents; empty where there is no list. Each is made
/// once.
fn function_words(code: &str) -> Arc<HashSet<String>> {
    static MADE: LazyLock<Mutex<HashMap<String, Arc<HashSet<String>>>>> = LazyLock::new(Default::default);
    let mut made = MADE.lock();
    if let Some(words) = made.get(code) {
        return words.clone();
    }
    let list = stop_words::lookup(code).unwrap_or_default();
    let words = Arc::new(list.iter().map(|word| fold(&word.to_lowercase(), "").into_owned()).collect());
    made.insert(code.to_string(), Arc::clone(&words));
    words
}
