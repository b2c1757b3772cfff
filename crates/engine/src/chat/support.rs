//! Looks for what bears a claim out, where no words are quoted or the quote is not found: one sentence, item or row that
//! says the same.

use std::{collections::HashSet, ops::Range};

use super::{
    kind, locate,
    named::{codes, is_year},
    units::{self, Unit},
    words::{self, flat, stems},
};
use crate::seams::answerer::Passage;

/// Share of a claim's content words that its support must have.
const SUPPORT: f64 = 0.8;
/// What the passage that was named is preferred by.
const NAMED: f64 = 0.05;

/// A claim, and what it must be about.
pub(super) struct Claim<'a> {
    /// What is said.
    pub(super) said: &'a str,
    /// What was asked: its codes and years must stand where the claim is supported.
    pub(super) question: &'a str,
    /// Texts that belong with the claim, such as the other fields of its record.
    pub(super) beside: &'a [String],
    /// The passage that was named, from 0.
    pub(super) named: Option<usize>,
}

/// The passage, from 0, and the place in it that bears a claim out.
pub(super) fn find(claim: &Claim<'_>, passages: &[Passage]) -> Option<(usize, Range<usize>)> {
    let wanted = stems(claim.said);
    if wanted.is_empty() {
        return None;
    }
    if let Some(found) = literal(claim, passages) {
        return Some(found);
    }
    let mut best: Option<(f64, usize, Range<usize>)> = None;
    for (at, passage) in passages.iter().enumerate() {
        let around = Around::of(passage);
        for unit in units::of(&passage.chunk) {
            let Some(share) = share(claim, &wanted, &unit, passage, &around) else { continue };
            let share = share + if claim.named == Some(at) { NAMED } else { 0.0 };
            if best.as_ref().is_none_or(|(most, _, _)| share > *most) {
                best = Some((share, at, unit.place));
            }
        }
    }
    best.map(|(_, at, place)| (at, place))
}

/// Words that a claim puts in quotation marks, or the claim itself, word for word.
fn literal(claim: &Claim<'_>, passages: &[Passage]) -> Option<(usize, Range<usize>)> {
    let quoted = claim.said.split(['"', '“', '”', '„']).skip(1).step_by(2).max_by_key(|part| part.len());
    let quoted = quoted.filter(|part| part.chars().count() >= 12);
    let plain = claim.said.trim().trim_end_matches(['.', '!', '?', '。']);
    // One or two words stand everywhere; they need what stands around them.
    let plain = Some(plain).filter(|plain| stems(plain).len() > 2 && claim.beside.is_empty());
    let order = claim.named.into_iter().chain(0..passages.len());
    let texts: Vec<&str> = quoted.into_iter().chain(plain).collect();
    order.into_iter().find_map(|at| {
        let passage = passages.get(at)?;
        let around = Around::of(passage);
        texts.iter().find_map(|text| {
            let place = locate::find(text, &passage.chunk.text)
                .filter(|place| !crosses_rows(&passage.chunk.text, place))?;
            let unit = unit_of(passage, &place);
            let about = unit.is_none_or(|unit| is_about(claim.question, &unit, passage, &around));
            about.then_some((at, place))
        })
    })
}

/// The share of a claim's words that a unit has; `None` where it does not bear the claim out.
fn share(
    claim: &Claim<'_>,
    wanted: &HashSet<String>,
    unit: &Unit,
    passage: &Passage,
    around: &Around,
) -> Option<f64> {
    let text = &passage.chunk.text[unit.place.clone()];
    let there = words_of(unit, passage);
    // What the question says already may stand around the sentence; what is new must stand in it.
    let asked = stems(claim.question);
    let new: Vec<&String> = wanted.iter().filter(|word| !asked.contains(*word)).collect();
    let around_counts =
        |word: &String| !new.is_empty() && asked.contains(word) && around.stems.contains(word);
    let present = |word: &&String| there.contains(*word) || around_counts(word);
    let share = wanted.iter().filter(present).count() as f64 / wanted.len() as f64;
    let says_it = new.is_empty() || new.iter().any(|word| there.contains(*word));
    let apart = unit.row.is_some() || unit.item.is_some();
    let beside = claim.beside.iter().all(|other| {
        let other = stems(other);
        let known = |word: &&String| there.contains(*word) || !apart && around.stems.contains(*word);
        other.is_empty() || other.iter().filter(known).count() as f64 >= SUPPORT * other.len() as f64
    });
    let holds = share >= SUPPORT
        && says_it
        && beside
        && numbers_stand(claim.said, &there, &asked)
        && is_negated(claim.said) == is_negated(text)
        && is_about(claim.question, unit, passage, around);
    holds.then_some(share)
}

/// The words of a unit; a row has those of its header and title too.
pub(super) fn words_of(unit: &Unit, passage: &Passage) -> HashSet<String> {
    let mut there = stems(&passage.chunk.text[unit.place.clone()]);
    if let Some(row) = &unit.row {
        there.extend(row.table.columns.iter().flat_map(|name| stems(name)));
        there.extend(stems(&row.table.title));
    }
    there
}

/// The unit that a place of a passage lies in.
pub(super) fn unit_of(passage: &Passage, place: &Range<usize>) -> Option<Unit> {
    units::of(&passage.chunk)
        .into_iter()
        .find(|unit| unit.place.start <= place.start && place.start < unit.place.end)
}

/// Whether a place goes over from one row of a table to another.
pub(super) fn crosses_rows(text: &str, place: &Range<usize>) -> bool {
    let mut lines = text[place.clone()].split('\n');
    let first_row =
        text[..place.start].rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with('|'));
    let first = lines.next().unwrap_or("");
    (first_row || first.trim_start().starts_with('|')) && lines.any(|line| line.trim_start().starts_with('|'))
}

/// Whether every number of a claim stands among these words, or in the question.
fn numbers_stand(said: &str, there: &HashSet<String>, asked: &HashSet<String>) -> bool {
    let mut numbers = words::telling(said).into_iter().filter(|word| kind::is_number(word.text));
    numbers.all(|number| there.contains(&number.stem) || asked.contains(&number.stem))
}

/// Whether the codes and years of a question stand in a unit, or in the headings above it.
fn is_about(question: &str, unit: &Unit, passage: &Passage, around: &Around) -> bool {
    let years = words::telling(question).into_iter().filter(|word| is_year(word.text));
    let codes = codes(question).into_iter().chain(years.map(|year| year.text.to_string()));
    let mut own = flat(&passage.chunk.text[unit.place.clone()]);
    if let Some(row) = &unit.row {
        own.push_str(&flat(&format!(" {} {}", row.table.title, row.table.columns.join(" "))));
    }
    codes.into_iter().all(|code| own.contains(&code) || around.above.contains(&code))
}

/// Whether a text denies something. A "No" at its start only answers.
pub(super) fn is_negated(text: &str) -> bool {
    const NEGATING: &[&str] = &[
        "not", "never", "no", "none", "cannot", "without", "neither", "nor", "nicht", "kein", "keine",
        "keinen", "keiner", "ohne", "nie", "nunca", "sin", "ni", "pas", "jamais", "aucun", "aucune", "sans",
        "não", "sem", "nenhum", "nenhuma", "non", "senza", "nessun", "nessuna", "mai",
    ];
    let lower = text.trim().to_lowercase().replace('’', "'");
    let lower = ["no,", "nein,", "non,", "não,", "no."]
        .iter()
        .find_map(|start| lower.strip_prefix(start))
        .unwrap_or(&lower);
    lower.contains("n't")
        || lower.split(|character: char| !character.is_alphanumeric()).any(|word| NEGATING.contains(&word))
}

/// What stands around the units of a passage.
struct Around {
    stems: HashSet<String>,
    /// The headings, the lead and the file's name, flat.
    above: String,
}

impl Around {
    fn of(passage: &Passage) -> Self {
        let chunk = &passage.chunk;
        let above = format!("{} {} {}", chunk.section.join(" "), chunk.lead, passage.file_name);
        let stems =
            stems(&format!("{above} {} {}", passage.file_name.replace(['_', '-', '.'], " "), chunk.text));
        Around { stems, above: flat(&above) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ids::{ChunkId, FileId},
        seams::index::Chunk,
    };

    fn passage(text: &str) -> Passage {
        let chunk = Chunk::plain(text);
        Passage {
            id: ChunkId { file: FileId::generate(), ordinal: 0 },
            file_name: "a.md".into(),
            chunk,
            score: 1.0,
        }
    }

    fn found(said: &str, question: &str, texts: &[&str]) -> Option<String> {
        let passages: Vec<Passage> = texts.iter().map(|text| passage(text)).collect();
        let claim = Claim { said, question, beside: &[], named: Some(0) };
        find(&claim, &passages).map(|(at, place)| passages[at].chunk.text[place].to_string())
    }

    const TERMS: &str = "# Terms\n\nThe warranty lasts two years from the day of purchase. Repairs are made in Lyon. Batteries are not covered.";
    const DEVICES: &str = "| Model | Weight (kg) |\n|---|---|\n| K2-35 | 4.2 |\n| K2-40 | 5.1 |";

    #[test]
    fn a_claim_is_borne_out_by_its_words_wherever_they_stand() {
        let asked = "How long is the warranty?";
        assert_eq!(found("Repairs are made in Lyon.", asked, &[TERMS]).unwrap(), "Repairs are made in Lyon");
        let whole = "The warranty lasts two years from the day of purchase.";
        assert_eq!(
            found("From the day of purchase the warranty lasts two years.", asked, &[TERMS]).unwrap(),
            whole
        );
        assert_eq!(found("It lasts two full years.", asked, &["Nothing.", TERMS]), None);
        assert_eq!(found("The warranty lasts for two years.", asked, &["Nothing.", TERMS]).unwrap(), whole);
        assert_eq!(
            found("As it says, \"two years from the day\", it holds.", asked, &[TERMS]).unwrap(),
            "two years from the day"
        );
        assert_eq!(found("The moon is made of cheese.", asked, &[TERMS]), None);
        assert_eq!(found("The warranty lasts ten years.", asked, &[TERMS]), None);
        assert_eq!(found("", asked, &[TERMS]), None);
    }

    #[test]
    fn negation_counts() {
        let asked = "Are batteries covered?";
        assert!(found("Batteries are covered.", asked, &[TERMS]).is_none());
        assert!(found("No, batteries are not covered.", asked, &[TERMS]).is_some());
    }

    #[test]
    fn a_row_bears_out_what_it_says_and_nothing_of_its_neighbours() {
        let asked = "What does the K2-35 weigh?";
        assert_eq!(found("The K2-35 has a weight of 4.2 kg.", asked, &[DEVICES]).unwrap(), "| K2-35 | 4.2 |");
        assert_eq!(found("The K2-35 has a weight of 5.1 kg.", asked, &[DEVICES]), None);
        assert_eq!(found("The weight is 5.1 kg.", asked, &[DEVICES]), None);
        let at = DEVICES.find("4.2").unwrap();
        assert!(crosses_rows(DEVICES, &(at..DEVICES.len())) && !crosses_rows(DEVICES, &(at..at + 3)));
    }

    #[test]
    fn fields_of_one_record_stand_in_one_row() {
        let tasks = passage("| Task | Owner |\n|---|---|\n| Fix the roof | Anna |\n| Paint the wall | Ben |");
        let beside = ["Fix the roof".to_string()];
        let claim = |said| Claim { said, question: "List the tasks", beside: &beside, named: None };
        assert!(find(&claim("Anna"), std::slice::from_ref(&tasks)).is_some());
        assert!(find(&claim("Ben"), &[tasks]).is_none());
    }
}
