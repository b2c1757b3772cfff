//! Weighs the sentences and rows of passages against a question, by words alone.
//!
//! What a sentence is worth is a sum: the fitted features ([`FIT`]) and a few plain rules on top, each for a mistake that
//! the features alone make ([`Nudge`]). docs/chat.md says how the numbers were chosen.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    alike, kind,
    kind::Kind,
    language::Language,
    named::{Around, Named, has_word},
    table::Row,
    units::{self, Unit},
    words::{self, Word, flat, stems},
};
use crate::seams::answerer::Passage;

/// What each thing that is known of a sentence adds to its sum; a logistic fit of "it holds the answer".
struct Fit {
    constant: f32,
    shared: f32,
    cosine: f32,
    kind: f32,
    passage: f32,
}

const FIT: Fit = Fit { constant: -7.24, shared: 3.67, cosine: 4.19, kind: 0.68, passage: 3.88 };

/// The same where a model has judged the sentence.
struct JudgedFit {
    constant: f32,
    judged: f32,
    shared: f32,
    kind: f32,
    passage: f32,
    /// What the plain rules count.
    rules: f32,
}

const JUDGED: JudgedFit =
    JudgedFit { constant: -2.1, judged: 0.35, shared: 2.68, kind: 0.38, passage: 1.04, rules: 0.7 };

/// What the plain rules add.
struct Nudge {
    /// "212 nurses", where it is asked how many nurses.
    counts: f32,
    /// It has every word of the question and the kind of thing asked for, however unlikely its passage is.
    complete: f32,
    /// Neither it nor what stands around it has the number or code that is asked about.
    unidentified: f32,
    /// Its document does not have the year.
    undated: f32,
    /// Its document does not have a name that is asked about.
    unknown: f32,
    /// Its document has most of them.
    partly_unknown: f32,
    /// It has the code that is asked about, and nothing of what is asked about it.
    named_only: f32,
    /// It says nothing of what is counted, and no number of it.
    not_counted: f32,
    uncounted: f32,
    /// It was said in an earlier answer, and a follow-up asks for something else.
    repeated: f32,
    /// A row that the question names, with a column that it asks for.
    cell: f32,
    /// A row that the question does not name.
    unnamed: f32,
    /// A cell that does not hold the kind of thing asked for.
    other_kind: f32,
    /// A row that the question names, and of which it asks something that no column is called.
    no_column: f32,
    /// The item of a list whose number is asked for.
    ordinal: f32,
    /// A row whose name says nothing besides what is asked for.
    precise: f32,
}

const NUDGE: Nudge = Nudge {
    counts: 1.2,
    complete: 0.9,
    unidentified: -6.0,
    undated: -9.0,
    unknown: -9.0,
    partly_unknown: -1.0,
    named_only: -3.0,
    not_counted: -1.5,
    uncounted: -2.2,
    repeated: -3.0,
    cell: 1.5,
    unnamed: -2.0,
    other_kind: -6.0,
    no_column: -5.0,
    ordinal: 3.0,
    precise: 0.8,
};

/// The lowest judgement that counts of a sentence in another language than the question: the picker knows little of these.
const FOREIGN: f32 = -4.0;
/// What a word counts that stands only in the heading, the table's title or the file's name.
const CONTEXT: f32 = 0.7;
/// What a column of quantities is preferred by where something is counted.
const QUANTITY: f32 = 5.0;
/// Words in the names of columns that hold numbers of things, not quantities.
const NAMING: &[&str] = &["id", "nr", "code"];
/// Letters of a column's name that may be the first letters of the question's words, at most.
const SHORT: usize = 4;
/// From this share of the question's words on a sentence counts as complete.
const COMPLETE: f32 = 0.85;

/// In which languages is asked and written, as far as the picker knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    /// Both in the same other language.
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
    /// How it reads, where that is not as it is written: a row of a table.
    pub(super) shown: Option<String>,
    /// Share of the question's words, weighed by rarity, that it has.
    pub(super) shared: f32,
    pub(super) cosine: f32,
    /// How surely a model says that it answers, where one was asked: a logit.
    pub(super) judged: Option<f32>,
    /// What stands right before and after it; of a row that reads as one cell, the whole row.
    pub(super) beside: (String, String),
    /// Whether it holds the kind of thing that is asked for.
    kind: f32,
    /// What the plain rules say.
    nudge: f32,
    pub(super) tongue: Tongue,
    pub(super) sum: f32,
}

impl Sentence {
    /// Completes the sum, once a model has judged it or the similarity by vector is known.
    pub(super) fn add_up(&mut self, score: f32) {
        if let Some(judged) = self.judged {
            let judged = if self.tongue == Tongue::Two { judged.max(FOREIGN) } else { judged };
            self.sum = JUDGED.constant
                + JUDGED.judged * judged
                + JUDGED.shared * self.shared
                + JUDGED.kind * self.kind
                + JUDGED.passage * score
                + JUDGED.rules * self.nudge;
            return;
        }
        self.sum = FIT.constant
            + FIT.shared * self.shared
            + FIT.cosine * self.cosine
            + FIT.kind * self.kind
            + FIT.passage * score
            + self.nudge;
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
    /// Whether it may be the beginning of a longer word, as in German: `Akku`, `Akkulaufzeit`.
    compounds: bool,
    stem: String,
    weight: f32,
    alike: Vec<String>,
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
                compounds: german && stem.chars().count() >= 4,
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
        for (at, passage) in passages.iter().enumerate() {
            let around = Around::of(passage, passages);
            let units = units::of(&passage.chunk);
            for (number, unit) in units.iter().enumerate() {
                let mut sentence = match &unit.row {
                    Some(row) => self.row(row, unit, passage, &around),
                    None => self.prose(unit, passage, &around),
                };
                sentence.passage = at;
                sentence.tongue = self.tongue(&around);
                if unit.row.is_none() {
                    let said = |at: Option<usize>| {
                        let place = at.and_then(|at| units.get(at)).map(|unit| unit.place.clone());
                        place.map_or(String::new(), |place| passage.chunk.text[place].to_string())
                    };
                    sentence.beside = (said(number.checked_sub(1)), said(Some(number + 1)));
                }
                sentence.sum = sentence.shared + passage.score + sentence.nudge / 4.0;
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
        let text = &passage.chunk.text[unit.place.clone()];
        let shared = self.shared(&stems(text), around);
        let kind = self.kind.map_or(0.0, |kind| kind.held(text, &self.words));
        let counting = !self.counted.is_empty();
        let counts = counting && kind::counts(text, &self.counted);
        let mut nudge = self.identified(text, around) + self.repeated(text) + self.said(&stems(text), around);
        if self.ordinal.is_some() && unit.item == self.ordinal {
            nudge += NUDGE.ordinal;
        } else if counts {
            nudge += NUDGE.counts;
        } else if counting && !around.is_foreign(self.language) {
            nudge += NUDGE.uncounted;
        } else if shared >= COMPLETE && kind >= 0.0 && self.weighed.len() > 1 {
            nudge += NUDGE.complete;
        }
        Sentence {
            passage: 0,
            place: unit.place.clone(),
            shown: None,
            shared,
            cosine: 0.0,
            judged: None,
            beside: Default::default(),
            kind,
            nudge,
            tongue: Tongue::English,
            sum: 0.0,
        }
    }

    fn row(&self, row: &Row, unit: &Unit, passage: &Passage, around: &Around) -> Sentence {
        let text = &passage.chunk.text;
        let written = &text[unit.place.clone()];
        let cells: Vec<HashSet<String>> = (0..row.cells.len()).map(|at| stems(row.cell(text, at))).collect();
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
        let kind = self.kind.map_or(0.0, |kind| kind.held(value, &self.words));
        let identified =
            format!("{written} {} {}", row.table.title, column.map_or("", |at| row.table.column(at)));
        let said = self.said(&there, around);
        let mut nudge = self.identified(&identified, around) + self.repeated(written) + said;
        match (named.is_empty(), column) {
            (true, _) => nudge += NUDGE.unnamed,
            (false, Some(_)) if kind <= -1.0 => nudge += NUDGE.other_kind,
            (false, None)
                if self.kind.is_some()
                    && !around.is_foreign(self.language)
                    && self.asks_more(&there, around) =>
            {
                nudge += NUDGE.no_column;
            }
            (false, Some(_)) if kind >= 0.0 && said >= 0.0 && self.is_asked_of(row, column) => {
                nudge += NUDGE.cell;
            }
            (false, _) => {}
        }
        if let Some(&label) = named.first() {
            let known = cells[label]
                .iter()
                .filter(|stem| self.weighed.iter().any(|word| word.stem == **stem))
                .count();
            nudge += NUDGE.precise * (known as f32 / cells[label].len() as f32 - 0.5);
        }
        let (shown, whole) = match column {
            Some(column) => (row.read_cell(text, column, &named), row.read_whole(text)),
            None => (row.read_whole(text), String::new()),
        };
        let place = row.place(text).unwrap_or_else(|| unit.place.clone());
        Sentence {
            passage: 0,
            place,
            shown: Some(shown),
            shared,
            cosine: 0.0,
            judged: None,
            beside: (whole, String::new()),
            kind,
            nudge,
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
        let worth = |at: usize| {
            let name = self.names(row, at);
            let said: f32 = self.weighed.iter().map(|word| word.weight * word.standing(&name)).sum();
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
            let kind = self.kind.map_or(0.0, |kind| kind.held(row.cell(text, at), &self.words));
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

    /// The words of a column's name, and those of the question that it is short for: "operating system" of `os`.
    fn names(&self, row: &Row, column: usize) -> HashSet<String> {
        let name = row.table.column(column);
        let mut names = stems(name);
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        if (2..=SHORT).contains(&letters.len()) {
            let initial = |word: &Word<'_>| word.text.to_lowercase().chars().next();
            let spelt = |words: &&[Word<'_>]| words.iter().map(initial).eq(letters.iter().copied().map(Some));
            let words = self.words.windows(letters.len()).find(spelt).unwrap_or_default();
            names.extend(words.iter().map(|word| word.stem.clone()));
        }
        names
    }

    /// Whether the question has the name of this column, or of the thing that it counts.
    fn is_asked_of(&self, row: &Row, column: Option<usize>) -> bool {
        let name = column.map(|at| self.names(row, at)).unwrap_or_default();
        self.weighed.iter().any(|word| word.standing(&name) > 0.0) || self.kind.is_some()
    }

    /// Whether the question has a word that neither a row nor what stands around it has.
    fn asks_more(&self, there: &HashSet<String>, around: &Around) -> bool {
        let stands = |word: &AskedWord| word.standing(there) > 0.0 || word.standing(&around.stems) > 0.0;
        !self.weighed.iter().all(stands)
    }

    /// Whether the question has a word of a cell, or one like it; a part of a code is none, nor is a number alike.
    fn names_cell(&self, cell: &str) -> bool {
        let own = flat(cell);
        let code =
            |stem: &str| self.named.codes.iter().find(|code| code.contains(stem) && code.as_str() != stem);
        let there = stems(cell);
        self.weighed.iter().any(|word| {
            word.standing(&there) > 0.0 && code(&word.stem).is_none_or(|code| has_word(&own, code))
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

    /// Below 0 where a code, a year or a name of the question stands neither in a text nor around it.
    fn identified(&self, text: &str, around: &Around) -> f32 {
        let mut nudge = 0.0;
        if !self.named.codes_stand(text, around) {
            nudge += NUDGE.unidentified;
        }
        if !self.named.years_stand(text, around) {
            nudge += NUDGE.undated;
        }
        // Where most of the names are right, the other may only be written otherwise.
        match self.named.unknown(around, self.language) {
            0.0 => nudge,
            share if share < 0.5 => nudge + NUDGE.partly_unknown,
            _ => nudge + NUDGE.unknown,
        }
    }

    /// Below 0 where a text with the right code says nothing of what is asked about it, or nothing of what is counted.
    fn said(&self, text: &HashSet<String>, around: &Around) -> f32 {
        let stands = |word: &AskedWord| word.standing(text) > 0.0 || word.standing(&around.stems) > 0.0;
        let mut nudge = 0.0;
        if !self.named.codes.is_empty() {
            let name = |stem: &str| words::is_number(stem) || self.named.has(stem);
            let others = || self.weighed.iter().filter(|word| !name(&word.stem));
            if others().next().is_some() && !others().any(stands) {
                nudge += NUDGE.named_only;
            }
        }
        let counted: Vec<&AskedWord> =
            self.weighed.iter().filter(|word| self.counted.contains(&word.stem)).collect();
        if !counted.is_empty() && !counted.into_iter().any(stands) {
            nudge += NUDGE.not_counted;
        }
        nudge
    }

    /// Below 0 where an earlier answer said this, and a follow-up asks for something that is not in it.
    fn repeated(&self, text: &str) -> f32 {
        let Some(own) = &self.own else { return 0.0 };
        let flat = flat(text.trim_matches(['|', ' ']));
        if flat.chars().count() < 3 || !self.answered.iter().any(|answer| answer.contains(&flat)) {
            return 0.0;
        }
        let there = stems(text);
        let answers = !own.is_empty() && own.iter().all(|stem| there.contains(stem));
        if answers { 0.0 } else { NUDGE.repeated }
    }
}

impl AskedWord {
    /// 1 where a text has the word, less where it has one that is like it, 0 where it has none.
    fn standing(&self, text: &HashSet<String>) -> f32 {
        if text.contains(&self.stem) {
            1.0
        } else if self.alike.iter().any(|alike| text.contains(alike))
            || self.compounds && text.iter().any(|word| word.starts_with(&self.stem))
        {
            alike::LIKE
        } else {
            0.0
        }
    }
}

/// Whether a word only belongs to the form of the question: "how long", "wie lange", "took part".
fn is_form(question: &str, word: &Word<'_>) -> bool {
    let lower = word.text.to_lowercase();
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
