//! Weighs the sentences and rows of passages against a question, by words alone.
//!
//! What all of it counts, with a model's judgement or the similarity by vector, is in [`weights`](super::weights).

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use unicode_segmentation::UnicodeSegmentation;

use super::{
    alike, kind,
    kind::Kind,
    language::Language,
    named::{Around, Named, has_word, is_short_for, is_year},
    table::Row,
    units::{self, Unit},
    weights::{BY_VECTOR, JUDGED, JUDGED_ENGLISH, JUDGED_TWO, Known, Rules},
    words::{self, Word, flat, stems},
};
use crate::seams::answerer::Passage;

/// The lowest judgement that counts of a sentence in another language than the question: the picker knows little of these.
const FOREIGN: f32 = -4.0;
/// The lowest that counts of a row, where neither is in English: it has learnt from English tables alone.
const ROW: f32 = -2.0;
/// What a word counts that stands only in the heading, the table's title or the file's name.
const CONTEXT: f32 = 0.7;
/// What a column of quantities is preferred by where something is counted.
const QUANTITY: f32 = 5.0;
/// What each word of a column's name takes off that the question does not have.
const BESIDES: f32 = 0.1;
/// What each year takes off that is not the question's.
const OTHER_YEAR: f32 = 1.0;
/// Words in the names of columns that hold numbers of things, not quantities.
const NAMING: &[&str] = &["id", "nr", "code"];
/// Names of columns that say nothing of what is in them, as stems.
const VALUES: &[&str] = &["valu", "wert", "valor", "valeur"];
/// Letters of a part of a German compound, at least.
const LEAST_OF_COMPOUND: usize = 4;
/// Letters of a column's name that may be the first letters of the question's words, at most.
const SHORT: usize = 4;
/// From this share of the question's words on a sentence counts as complete.
const COMPLETE: f32 = 0.85;

/// In which languages is asked and written, as far as the picker knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    /// Both in English, or the question in a language that is not told and is written like English.
    English,
    /// Both in the same other language, or the question in one that is not told.
    Other,
    /// In two.
    Two,
}

/// A sentence or row and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// Its passage, from 0.
    pub(super) passage: usize,
    /// What is quoted.
    pub(super) place: Range<usize>,
    /// Where the item of a list ends that it begins.
    pub(super) item_end: usize,
    /// How it reads, where that is not as it is written: a row of a table, an item below a heading that dates it.
    pub(super) shown: Option<String>,
    pub(super) known: Known,
    /// How surely a model says that it answers, where one was asked: a logit.
    pub(super) judged: Option<f32>,
    /// What stands right before and after it; of a row that reads as one cell, the whole row.
    pub(super) beside: (String, String),
    pub(super) tongue: Tongue,
    pub(super) sum: f32,
}

impl Sentence {
    /// Completes the sum, once a model has judged it or the similarity by vector is known.
    pub(super) fn add_up(&mut self) {
        let weights = match (self.judged, self.tongue) {
            (None, _) => BY_VECTOR,
            (Some(_), Tongue::English) => JUDGED_ENGLISH,
            (Some(_), Tongue::Other) => JUDGED,
            (Some(_), Tongue::Two) => JUDGED_TWO,
        };
        if let Some(judged) = self.judged {
            let lowest = match (self.tongue, &self.shown) {
                (Tongue::Two, _) => FOREIGN,
                (Tongue::Other, Some(_)) => ROW,
                _ => f32::NEG_INFINITY,
            };
            self.known.compared = judged.max(lowest);
        }
        self.sum = weights.sum(&self.known);
    }

    /// What it says, as models compare it.
    pub(super) fn text<'a>(&'a self, passages: &'a [Passage]) -> &'a str {
        let written = &passages[self.passage].chunk.text[self.place.clone()];
        self.shown.as_deref().unwrap_or(written)
    }
}

/// What a question is, in a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted<'a> {
    /// Understood on its own.
    pub(super) question: &'a str,
    /// As it was put, where that lacks what was said before: a follow-up.
    pub(super) follow_up: Option<&'a str>,
    /// What was answered before.
    pub(super) answered: Vec<&'a str>,
}

/// A word that is asked for.
struct AskedWord {
    /// Whether it may be the beginning or the end of a longer word, as in German: `Akku`, `Akkulaufzeit`.
    compounds: bool,
    stem: String,
    weight: f32,
    alike: Vec<String>,
    /// Whether it is written like the first letters of several words: `CFO`.
    short: bool,
}

/// What a question asks, against the passages that may answer it.
pub(super) struct Asked<'a> {
    words: Vec<Word<'a>>,
    /// Each word once, with its weight: high where few passages have it.
    weighed: Vec<AskedWord>,
    kind: Option<Kind>,
    counted: Vec<String>,
    ordinal: Option<u32>,
    sought: Option<String>,
    /// The stem of what is asked about a thing.
    attribute: Option<String>,
    /// Whether it is asked where something is, or what it means.
    where_is: bool,
    meaning: bool,
    named: Named,
    language: Option<Language>,
    /// The stems of a follow-up's own words; `None` where it is none.
    own: Option<Vec<String>>,
    /// Earlier answers, flat.
    answered: Vec<String>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(wanted: &Wanted<'a>, passages: &[Passage]) -> Self {
        let question = wanted.question;
        let mut words = words::telling(question);
        words.retain(|word| !is_form(question, word));
        let texts: Vec<HashSet<String>> = passages.iter().map(|passage| stems(&passage.chunk.text)).collect();
        let rarity = |stem: &str| {
            let with = texts.iter().filter(|text| text.contains(stem)).count() as f32;
            (1.0 + (texts.len() as f32 + 1.0) / (with + 0.5)).ln()
        };
        let own: Option<Vec<String>> =
            wanted.follow_up.map(|turn| words::telling(turn).into_iter().map(|word| word.stem).collect());
        let mut weights: HashMap<String, f32> = HashMap::new();
        for word in &words {
            // What a follow-up itself says counts twice what it takes over.
            let twice = own.as_ref().is_some_and(|own| own.contains(&word.stem));
            let weight = rarity(&word.stem) * if twice { 2.0 } else { 1.0 };
            weights.insert(word.stem.clone(), weight);
        }
        let language = Language::told(question);
        let german = language == Some(Language::German);
        let mut weighed: Vec<AskedWord> = weights
            .into_iter()
            .map(|(stem, weight)| AskedWord {
                alike: alike::of(&stem),
                short: words.iter().any(|word| word.stem == stem && is_short(word.text)),
                compounds: german && stem.chars().count() >= LEAST_OF_COMPOUND,
                stem,
                weight,
            })
            .collect();
        weighed.sort_by(|a, b| a.stem.cmp(&b.stem));
        Asked {
            weighed,
            kind: kind::asked(question),
            counted: kind::counted(question).iter().flat_map(|stem| alike::with(stem)).collect(),
            ordinal: kind::ordinal(question),
            sought: kind::sought(question),
            attribute: kind::attribute(question),
            where_is: kind::asks_where(question),
            meaning: question.unicode_words().any(means),
            named: Named::of(question),
            language,
            own,
            answered: wanted.answered.iter().map(|answer| flat(answer)).collect(),
            words,
        }
    }

    /// Every sentence and row of the passages, those first that share most and stand in the likeliest passages.
    pub(super) fn sentences(&self, passages: &[Passage]) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for ((at, passage), around) in
            passages.iter().enumerate().zip(Around::all(passages, &self.named, self.language))
        {
            let mut units = units::of(&passage.chunk);
            let said = units.len();
            units.extend(units::dated(&passage.chunk.text).into_iter().map(Unit::alone));
            for (number, unit) in units.iter().enumerate() {
                let mut sentence = match &unit.row {
                    Some(row) => self.row(row, unit, passage, &around),
                    None => self.prose(unit, passage, &around),
                };
                sentence.passage = at;
                sentence.tongue = self.tongue(&around);
                if unit.row.is_none() && number < said {
                    let said = |at: Option<usize>| {
                        let place = at.and_then(|at| units[..said].get(at)).map(|unit| unit.place.clone());
                        place.map_or(String::new(), |place| passage.chunk.text[place].to_string())
                    };
                    sentence.beside = (said(number.checked_sub(1)), said(Some(number + 1)));
                }
                sentence.known.passage = passage.score;
                sentence.sum = sentence.known.shared + passage.score + sentence.known.rules.by_hand() / 4.0;
                sentences.push(sentence);
            }
        }
        sentences.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        sentences
    }

    fn tongue(&self, around: &Around) -> Tongue {
        match self.language {
            _ if around.is_foreign(self.language) => Tongue::Two,
            None | Some(Language::English) => Tongue::English,
            Some(_) => Tongue::Other,
        }
    }

    fn prose(&self, unit: &Unit, passage: &Passage, around: &Around) -> Sentence {
        let own = &passage.chunk.text[unit.place.clone()];
        let shown = unit.under.as_ref().map(|under| format!("{under} – {own}"));
        let text = shown.as_deref().unwrap_or(own);
        let there = self.stems(text);
        let shared = self.shared(&there, around);
        let kind = self.kind.map_or(0.0, |kind| kind.held(text, &self.words));
        let counting = !self.counted.is_empty();
        let counts = counting && kind::counts(text, &self.counted);
        let mut rules = self.rules(text, own, &there, around);
        if self.ordinal.is_some() && unit.item == self.ordinal {
            rules.ordinal = 1.0;
        } else if counts {
            rules.counts = 1.0;
        } else if counting && !around.is_foreign(self.language) {
            rules.uncounted = 1.0;
        } else if shared >= COMPLETE && kind >= 0.0 && self.weighed.len() > 1 {
            rules.complete = 1.0;
        }
        Sentence {
            passage: 0,
            place: unit.place.clone(),
            item_end: unit.item_end,
            shown,
            known: Known { shared, kind, rules, ..Known::default() },
            judged: None,
            beside: Default::default(),
            tongue: Tongue::English,
            sum: 0.0,
        }
    }

    fn row(&self, row: &Row, unit: &Unit, passage: &Passage, around: &Around) -> Sentence {
        let text = &passage.chunk.text;
        let written = &text[unit.place.clone()];
        let cells: Vec<HashSet<String>> =
            (0..row.cells.len()).map(|at| self.stems(row.cell(text, at))).collect();
        let named: Vec<usize> = (0..cells.len()).filter(|at| self.names_cell(row.cell(text, *at))).collect();
        let column = self.column(row, text, &cells, &named);
        let mut there: HashSet<String> = HashSet::new();
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| Some(*at) != column) {
            there.extend(cell.iter().cloned());
            if column.is_none() || named.contains(&at) {
                there.extend(self.names(row, at));
            }
        }
        if let Some(column) = column {
            there.extend(self.names(row, column));
        }
        there.extend(stems(&row.table.title));
        let shared = self.shared(&there, around);
        let value = column.map_or(written, |column| row.cell(text, column));
        let kind = self.kind.map_or(0.0, |kind| kind.held_by_cell(value, &self.words));
        let identified =
            format!("{written} {} {}", row.table.title, column.map_or("", |at| row.table.column(at)));
        let mut rules = self.rules(&identified, written, &there, around);
        let said = rules.named_only == 0.0 && rules.not_counted == 0.0;
        match (named.is_empty(), column) {
            (true, _) => rules.unnamed = 1.0,
            (false, Some(_)) if kind <= -1.0 => rules.other_kind = 1.0,
            (false, None)
                if !around.is_foreign(self.language)
                    && (self.kind.is_some() && self.asks_more(&there, around)
                        || self.lacks_attribute(&there, around)) =>
            {
                rules.no_column = 1.0;
            }
            (false, Some(_)) if kind >= 0.0 && said && self.is_asked_of(row, column) => {
                rules.cell = 1.0;
            }
            (false, _) => {}
        }
        if let Some(&label) = named.first() {
            let known = cells[label]
                .iter()
                .filter(|stem| self.weighed.iter().any(|word| word.stem == **stem))
                .count();
            rules.precise = known as f32 / cells[label].len() as f32 - 0.5;
        }
        let (shown, whole) = match column {
            Some(column) => (row.read_cell(text, column, &named), row.read_whole(text)),
            None => (row.read_whole(text), String::new()),
        };
        let place = row.place(text).unwrap_or_else(|| unit.place.clone());
        Sentence {
            passage: 0,
            item_end: place.end,
            place,
            shown: Some(shown),
            known: Known { shared, kind, rules, ..Known::default() },
            judged: None,
            beside: (whole, String::new()),
            tongue: Tongue::English,
            sum: 0.0,
        }
    }

    /// The column that is asked for in a row: one whose name the question has, or the only one that holds the kind of
    /// thing asked for.
    fn column(&self, row: &Row, text: &str, cells: &[HashSet<String>], named: &[usize]) -> Option<usize> {
        let filled = |at: &usize| !row.cell(text, *at).is_empty();
        let open: Vec<usize> = (0..cells.len()).filter(|at| !named.contains(at)).filter(filled).collect();
        let quantities = alike::of(&words::stem("number"));
        let places = alike::with(&words::stem("location"));
        let meanings = alike::with(&words::stem("meaning"));
        let dated = self.weighed.iter().any(|word| is_year(&word.stem));
        let worth = |at: usize| {
            let name = self.names(row, at);
            let said: f32 = self.weighed.iter().map(|word| word.weight * word.standing(&name)).sum();
            // "Model 20" is asked for, not "Model 20 Pro".
            let others =
                name.iter().filter(|stem| !self.weighed.iter().any(|word| word.stem == **stem)).count();
            // The year 2021 is asked for, not what changed from 2020 to 2021.
            let other_year =
                |stem: &&String| is_year(stem) && !self.weighed.iter().any(|word| word.stem == **stem);
            let years = if dated { name.iter().filter(other_year).count() } else { 0 };
            let besides = BESIDES * others as f32 + OTHER_YEAR * years as f32;
            let said = if said > 0.0 { (said - besides).max(f32::MIN_POSITIVE) } else { said };
            // "To which city": what is sought comes before what is said of it.
            let sought = self.sought.as_ref().is_some_and(|sought| name.contains(sought));
            let said = if sought { said * 3.0 } else { said };
            // "How many chairs": a quantity, never the number that names a row.
            let said = match self.counted.is_empty() {
                true => said,
                false if NAMING.iter().any(|word| name.contains(*word)) => 0.0,
                false if quantities.iter().any(|word| name.contains(word)) => said + QUANTITY,
                false => said,
            };
            // "Where is the ladder": a place, not who has it. "What does E07 mean": its meaning.
            let said = if self.where_is && places.iter().any(|word| name.contains(word))
                || self.meaning && meanings.iter().any(|word| name.contains(word))
            {
                said + QUANTITY
            } else {
                said
            };
            let kind = self.kind.map_or(0.0, |kind| kind.held_by_cell(row.cell(text, at), &self.words));
            (said, kind)
        };
        let worths: Vec<(usize, f32, f32)> = open
            .into_iter()
            .map(|at| {
                let (said, kind) = worth(at);
                (at, said, kind)
            })
            .collect();
        let best = worths
            .iter()
            .filter(|(_, said, _)| *said > 0.0)
            .max_by(|a, b| (a.1 + 0.3 * a.2).total_cmp(&(b.1 + 0.3 * b.2)));
        if let Some((at, _, _)) = best {
            return Some(*at);
        }
        let mut fitting = worths.iter().filter(|(_, _, kind)| *kind > 0.0);
        match (fitting.next(), fitting.next()) {
            (Some((at, _, _)), None) if !named.is_empty() => Some(*at),
            _ if worths.len() == 1 && !named.is_empty() => Some(worths[0].0),
            _ => None,
        }
    }

    /// The stems of a text, those of the question among them that the text is written out for, or short for: `CFO` and "chief
    /// financial officer".
    fn stems(&self, text: &str) -> HashSet<String> {
        let mut there = stems(text);
        let written_out = |word: &&AskedWord| word.short && is_short_for(&word.stem, &flat(text));
        there.extend(self.weighed.iter().filter(written_out).map(|word| word.stem.clone()));
        for short in text.unicode_words().filter(|word| is_short(word)) {
            there.extend(self.written_out(&short.to_lowercase()));
        }
        there
    }

    /// The stems of the question's words that begin with these letters, one after the other.
    fn written_out(&self, letters: &str) -> Vec<String> {
        let letters: Vec<char> = letters.chars().collect();
        let initial = |word: &Word<'_>| word.text.to_lowercase().chars().next();
        let spelt = |words: &&[Word<'_>]| words.iter().map(initial).eq(letters.iter().copied().map(Some));
        let words = self.words.windows(letters.len()).find(spelt).unwrap_or_default();
        words.iter().map(|word| word.stem.clone()).collect()
    }

    /// The words of a column's name, and those of the question that it is short for: "operating system" of `os`.
    fn names(&self, row: &Row, column: usize) -> HashSet<String> {
        let name = row.table.column(column);
        let mut names = stems(name);
        if (2..=SHORT).contains(&name.chars().count()) {
            names.extend(self.written_out(&name.to_lowercase()));
        }
        names
    }

    /// Whether the question has the name of this column, or of the thing that it counts, or the column is only called "value".
    fn is_asked_of(&self, row: &Row, column: Option<usize>) -> bool {
        let name = column.map(|at| self.names(row, at)).unwrap_or_default();
        let asked = || self.weighed.iter().any(|word| word.standing(&name) > 0.0);
        asked() || self.kind.is_some() || name.len() == 1 && VALUES.iter().any(|value| name.contains(*value))
    }

    /// Whether neither a row nor what stands around it has what is asked about the thing that it names.
    fn lacks_attribute(&self, there: &HashSet<String>, around: &Around) -> bool {
        let attribute = self.weighed.iter().find(|word| self.attribute.as_ref() == Some(&word.stem));
        attribute.is_some_and(|word| !word.stands(there, around))
    }

    /// Whether the question has a word that neither a row nor what stands around it has.
    fn asks_more(&self, there: &HashSet<String>, around: &Around) -> bool {
        !self.weighed.iter().all(|word| word.stands(there, around))
    }

    /// Whether the question has a word of a cell, or one like it; a part of a code is none, nor is a number alike, or the unit of a
    /// quantity: "how heavy" does not name "19.5 kg".
    fn names_cell(&self, cell: &str) -> bool {
        let own = flat(cell);
        let least = if own.starts_with(|first: char| first.is_ascii_digit()) { alike::LIKE } else { 0.0 };
        let code =
            |stem: &str| self.named.codes.iter().find(|code| code.contains(stem) && code.as_str() != stem);
        let there = stems(cell);
        self.weighed.iter().any(|word| {
            word.standing(&there) > least && code(&word.stem).is_none_or(|code| has_word(&own, code))
        })
    }

    /// Share of the question's words that a text has, by itself or by what stands around it.
    fn shared(&self, text: &HashSet<String>, around: &Around) -> f32 {
        let total: f32 = self.weighed.iter().map(|word| word.weight).sum();
        let shared: f32 = self
            .weighed
            .iter()
            .map(|word| word.weight * word.standing(text).max(CONTEXT * word.standing(&around.stems)))
            .sum();
        if total > 0.0 { shared / total } else { 0.0 }
    }

    /// The rules for sentences and rows alike: whether a text is about the things that the question names, has what is asked
    /// about them, and is new. `quoted` is what was answered before if it is answered now.
    fn rules(&self, text: &str, quoted: &str, there: &HashSet<String>, around: &Around) -> Rules {
        let unknown = around.unknown;
        let flag = |applies: bool| if applies { 1.0 } else { 0.0 };
        Rules {
            unidentified: flag(!self.named.codes_stand(text, around)),
            undated: flag(!self.named.years_stand(text, around)),
            // Where most of the names are right, the other may only be written otherwise.
            partly_unknown: flag(unknown > 0.0 && unknown < 0.5),
            unknown: flag(unknown >= 0.5),
            named_only: flag(self.is_only_named(there, around)),
            not_counted: flag(self.says_nothing_counted(there, around)),
            repeated: flag(self.is_repeated(quoted)),
            ..Rules::default()
        }
    }

    /// Whether a text with the right code says nothing of what is asked about it.
    fn is_only_named(&self, text: &HashSet<String>, around: &Around) -> bool {
        let name = |stem: &str| words::is_number(stem) || self.named.has(stem);
        let others = || self.weighed.iter().filter(|word| !name(&word.stem));
        !self.named.codes.is_empty()
            && others().next().is_some()
            && !others().any(|word| word.stands(text, around))
    }

    /// Whether a text says nothing of what is counted.
    fn says_nothing_counted(&self, text: &HashSet<String>, around: &Around) -> bool {
        let counted = || self.weighed.iter().filter(|word| self.counted.contains(&word.stem));
        counted().next().is_some() && !counted().any(|word| word.stands(text, around))
    }

    /// Whether an earlier answer said this, and a follow-up asks for something that is not in it.
    fn is_repeated(&self, text: &str) -> bool {
        let Some(own) = &self.own else { return false };
        let flat = flat(text.trim_matches(['|', ' ']));
        if flat.chars().count() < 3 || !self.answered.iter().any(|answer| answer.contains(&flat)) {
            return false;
        }
        let there = stems(text);
        own.is_empty() || !own.iter().all(|stem| there.contains(stem))
    }
}

impl AskedWord {
    /// Whether a text or what stands around it has the word, or one that is like it.
    fn stands(&self, text: &HashSet<String>, around: &Around) -> bool {
        self.standing(text) > 0.0 || self.standing(&around.stems) > 0.0
    }

    /// 1 where a text has the word, less where it has one that is like it, 0 where it has none.
    fn standing(&self, text: &HashSet<String>) -> f32 {
        // "Tagespreis", where it is asked what something costs.
        let ends = |word: &String, part: &String| {
            part.chars().count() >= LEAST_OF_COMPOUND && word.ends_with(part.as_str())
        };
        let compound = |word: &String| {
            word.starts_with(&self.stem)
                || ends(word, &self.stem)
                || self.alike.iter().any(|part| ends(word, part))
        };
        if text.contains(&self.stem) {
            1.0
        } else if self.alike.iter().any(|alike| text.contains(alike))
            || self.compounds && text.iter().any(compound)
        {
            alike::LIKE
        } else {
            0.0
        }
    }
}

/// Whether a word is written like the first letters of several: `CFO`, not `The` or `A4`.
fn is_short(word: &str) -> bool {
    (2..=5).contains(&word.chars().count()) && word.chars().all(char::is_uppercase)
}

/// Whether a word asks what something means.
fn means(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "mean" | "means" | "bedeutet" | "significa" | "signifie")
}

/// Whether a word only belongs to the form of the question: "how long", "wie lange", "took part", "what does … mean".
fn is_form(question: &str, word: &Word<'_>) -> bool {
    let lower = word.text.to_lowercase();
    if means(word.text) || matches!(lower.as_str(), "stand" | "stands") {
        return true;
    }
    if matches!(lower.as_str(), "took" | "take" | "taken" | "takes" | "part") {
        let whole = question.to_lowercase();
        return ["took part", "take part", "taken part", "takes part"]
            .iter()
            .any(|form| whole.contains(form));
    }
    let before = word.text.as_ptr() as usize - question.as_ptr() as usize;
    let before = question[..before].trim_end().to_lowercase();
    let vague = [
        "long",
        "lang",
        "lange",
        "often",
        "oft",
        "far",
        "weit",
        "soon",
        "hoch",
        "viel",
        "viele",
        "big",
        "large",
        "small",
        "early",
        "late",
        "quickly",
        "frequently",
        "groß",
    ];
    before.split(' ').next_back().is_some_and(|last| matches!(last, "how" | "wie"))
        && vague.contains(&lower.as_str())
}
