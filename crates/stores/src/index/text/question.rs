//! A query as the index reads it: its words, each with the terms it may stand for.
//!
//! All terms of one word weigh alike, by how many chunks have any of them. If each weighed by itself, a stem that only a few
//! chunks have, because their language was taken for another, would weigh most.

use std::collections::{BTreeSet, HashMap, HashSet};

use engine::{ingest::chunk, seams::index::Correction};

use super::{analyzer::fold, languages::Languages, spelling};

/// How fast more of the same word in a query stops to count: a topic is named more often than what is said of it.
const SATURATION: f32 = 8.0;

/// One place of a query.
pub(super) struct Slot {
    /// The word in small letters; empty where it is none.
    pub(super) word: String,
    /// The terms it may stand for.
    pub(super) terms: BTreeSet<String>,
    /// Whether it is written in capitals: IT is no pronoun.
    capitals: bool,
    /// Whether it is put together of others, which have places of their own: `getUserName`.
    compound: bool,
    /// Whether it says nothing by itself.
    function: bool,
}

impl Slot {
    pub(super) fn new(word: &str, written: &str) -> Self {
        let capitals = written.chars().nth(1).is_some() && written.chars().all(char::is_uppercase);
        let pairs = written.chars().zip(written.chars().skip(1));
        let compound = pairs.into_iter().any(|(one, next)| one.is_lowercase() && next.is_uppercase());
        Slot { word: word.to_string(), terms: BTreeSet::new(), capitals, compound, function: false }
    }
}

/// Terms that count as one.
pub(in crate::index) struct Group {
    pub(in crate::index) terms: Vec<String>,
    /// What it counts beside others: more where the query has it more often.
    pub(in crate::index) weight: f32,
}

/// A query that was read.
pub(in crate::index) struct Question<'a> {
    languages: &'a Languages,
    function_words: Option<&'a HashSet<String>>,
    query: &'a str,
    slots: Vec<Slot>,
}

impl<'a> Question<'a> {
    pub(super) fn new(
        languages: &'a Languages,
        function_words: Option<&'a HashSet<String>>,
        query: &'a str,
        mut slots: Vec<Slot>,
    ) -> Self {
        let shouted = !query.chars().any(char::is_lowercase);
        for slot in &mut slots {
            let listed = function_words.is_some_and(|list| list.contains(&*fold(&slot.word, "")));
            slot.function = listed && (shouted || !slot.capitals);
        }
        Question { languages, function_words, query, slots }
    }

    /// What is looked for: all but function words, or those too where there is nothing else.
    fn telling(&self) -> impl Iterator<Item = &Slot> {
        let all = self.slots.iter().all(|slot| slot.function);
        self.slots.iter().filter(move |slot| all || !slot.function)
    }

    /// Every term that is looked for.
    pub(in crate::index) fn terms(&self) -> BTreeSet<&str> {
        self.telling().flat_map(|slot| slot.terms.iter().map(String::as_str)).collect()
    }

    /// The words that the box does not have, and that may be misspelt. None of a query in a language that the box has
    /// nothing of: its words are right, and those of the box that look like them mean something else.
    pub(in crate::index) fn unknown(&self, known: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let unknown: BTreeSet<String> = self
            .telling()
            .filter(|slot| !slot.compound && spelling::tolerance(&slot.word) > 0)
            .filter(|slot| !slot.terms.iter().any(|term| known(term)))
            .map(|slot| slot.word.clone())
            .collect();
        let foreign = || chunk::language_of(self.query).is_some_and(|language| !self.languages.has(language));
        if unknown.is_empty() || foreign() { BTreeSet::new() } else { unknown }
    }

    /// Takes words for others.
    pub(in crate::index) fn correct(&mut self, corrections: &[Correction]) {
        for slot in &mut self.slots {
            let Some(correction) = corrections.iter().find(|correction| correction.written == slot.word)
            else {
                continue;
            };
            let meant = self.languages.slots(&correction.taken_for);
            slot.terms = meant.into_iter().flat_map(|slot| slot.terms).collect();
            slot.word.clone_from(&correction.taken_for);
            slot.function = self.function_words.is_some_and(|list| list.contains(&*fold(&slot.word, "")));
        }
    }

    /// The terms in groups, no term in two of them.
    pub(in crate::index) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<(Vec<String>, f32)> = Vec::new();
        let mut homes: HashMap<&str, usize> = HashMap::new();
        for slot in self.telling() {
            let mut shared: BTreeSet<usize> =
                slot.terms.iter().filter_map(|term| homes.get(term.as_str()).copied()).collect();
            let home = shared.pop_first().unwrap_or_else(|| {
                groups.push((Vec::new(), 0.0));
                groups.len() - 1
            });
            for other in shared {
                let (terms, count) = std::mem::take(&mut groups[other]);
                homes.values_mut().filter(|place| **place == other).for_each(|place| *place = home);
                groups[home].0.extend(terms);
                groups[home].1 += count;
            }
            groups[home].1 += 1.0;
            for term in &slot.terms {
                if homes.insert(term, home).is_none() {
                    groups[home].0.push(term.clone());
                }
            }
        }
        let weighed = groups.into_iter().filter(|(terms, _)| !terms.is_empty());
        weighed
            .map(|(terms, count)| Group { terms, weight: count * (SATURATION + 1.0) / (count + SATURATION) })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages(names: &[&str]) -> Languages {
        Languages::of(names.iter().map(|name| Some(name.to_string())))
    }

    fn terms(names: &[&str], query: &str) -> Vec<String> {
        languages(names).read(query).terms().into_iter().map(str::to_string).collect()
    }

    #[test]
    fn function_words_are_left_out_unless_there_is_nothing_else() {
        assert_eq!(terms(&["en"], "What are the costs of it?"), ["cost"]);
        assert_eq!(terms(&["en"], "the IT department"), ["depart", "it"]);
        assert_eq!(terms(&["en"], "to be or not to be"), ["be", "not", "or", "to"]);
        assert_eq!(terms(&["es"], "¿Cuál es el precio de más?"), ["preci"]);
    }

    #[test]
    fn a_word_of_another_language_is_no_function_word() {
        assert!(terms(&["en", "de"], "world war in Africa").contains(&"war".to_string()));
        assert!(!terms(&["en", "de"], "wer war der erste Kanzler").contains(&"war".to_string()));
    }

    #[test]
    fn all_stems_of_a_word_are_one_group_and_more_of_it_count_more() {
        let languages = languages(&["en", "fr"]);
        let groups = languages.read("computers compute prices").groups();
        let mut found: Vec<(usize, f32)> =
            groups.iter().map(|group| (group.terms.len(), group.weight)).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(groups.iter().map(|group| group.terms.len()).sum::<usize>(), {
            let mut all: Vec<&String> = groups.iter().flat_map(|group| &group.terms).collect();
            all.sort();
            all.dedup();
            all.len()
        });
        assert!(found[0].1 > 1.7 && found[0].1 < 2.0, "{found:?}");
        assert!((found[1].1 - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn only_words_that_nothing_has_may_be_misspelt() {
        let languages = languages(&["en"]);
        let mut question = languages.read("hearin care E4021 wiht typ getUserNmae");
        let unknown = question.unknown(|term| term == "care");
        assert_eq!(unknown.into_iter().collect::<Vec<_>>(), ["hearin", "nmae", "user", "wiht"]);
        let correction = |written: &str, taken_for: &str| Correction {
            written: written.into(),
            taken_for: taken_for.into(),
        };
        question.correct(&[correction("hearin", "hearing"), correction("wiht", "with")]);
        assert_eq!(
            question.terms().into_iter().collect::<Vec<_>>(),
            ["care", "e4021", "get", "getusernma", "hear", "nmae", "typ", "user"]
        );
    }

    #[test]
    fn a_question_in_another_language_is_not_misspelt() {
        let languages = languages(&["en"]);
        let query = "¿Cuántos empleados trabajan en la biblioteca nacional de la ciudad?";
        assert!(languages.read(query).unknown(|_| false).is_empty());
    }
}
