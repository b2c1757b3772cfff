//! Summaries without a language model: the most central sentences of each document, in order, below its headings.
//!
//! A sentence is central where it has the words that the whole document has most often, as far as they tell it from
//! others; each section has its say before any has a second one.

use std::collections::{HashMap, HashSet};

use super::{language::Language, phrases, units, words::stems};
use crate::{
    ids::FileId,
    seams::answerer::{Passage, Piece},
};

/// Sentences in a summary at most.
pub(super) const MOST: usize = 8;
/// Sentences about one document of several.
const EACH: usize = 2;
/// Headings that are named.
const HEADINGS: usize = 12;
/// Content words of a sentence that can stand alone.
const FEWEST_WORDS: usize = 4;
/// Content words of a sentence that is short enough for a summary.
const MOST_WORDS: usize = 45;
/// Shared words from which two sentences say the same.
const SAME: f32 = 0.6;

/// A sentence that may be quoted.
struct Candidate {
    piece: Piece,
    words: HashSet<String>,
    section: Vec<String>,
    /// How early it stands, from 0.
    order: usize,
    worth: f32,
}

/// The summary of the documents that these passages are of.
pub(super) fn pieces(passages: &[Passage], language: Language) -> Vec<Piece> {
    let mut files: Vec<FileId> = Vec::new();
    for passage in passages {
        if !files.contains(&passage.id.file) {
            files.push(passage.id.file);
        }
    }
    let most = if files.len() == 1 { MOST } else { EACH };
    let mut pieces = Vec::new();
    for file in &files {
        let numbers: Vec<usize> = (0..passages.len()).filter(|at| passages[*at].id.file == *file).collect();
        let central = central(passages, &numbers, most);
        if central.is_empty() {
            continue;
        }
        if files.len() > 1 {
            let line = if pieces.is_empty() { "" } else { "\n" };
            pieces.push(Piece::Plain(format!("{line}- {}: ", passages[numbers[0]].file_name)));
        } else if let Some(outline) = outline(passages, &numbers, language) {
            pieces.push(Piece::Plain(outline));
        }
        pieces.extend(central);
    }
    pieces
}

/// The headings of a document, where it has several.
fn outline(passages: &[Passage], numbers: &[usize], language: Language) -> Option<String> {
    let mut headings: Vec<&str> = Vec::new();
    for at in numbers {
        for heading in passages[*at].chunk.section.iter().take(2) {
            if !headings.contains(&heading.as_str()) {
                headings.push(heading);
            }
        }
    }
    if headings.len() < 2 {
        return None;
    }
    headings.truncate(HEADINGS);
    Some(format!("{}: {}.\n\n", phrases::outline(language), headings.join("; ")))
}

/// The most central sentences of a document, in order.
fn central(passages: &[Passage], numbers: &[usize], most: usize) -> Vec<Piece> {
    let mut candidates = candidates(passages, numbers);
    let mut common: HashMap<String, f32> = HashMap::new();
    for word in candidates.iter().flat_map(|candidate| &candidate.words) {
        *common.entry(word.clone()).or_default() += 1.0;
    }
    let heading_words: HashSet<String> = candidates
        .iter()
        .flat_map(|candidate| candidate.section.iter().flat_map(|heading| stems(heading)))
        .collect();
    for candidate in &mut candidates {
        let shared: f32 = candidate.words.iter().map(|word| common[word].ln_1p()).sum();
        let named = candidate.words.iter().filter(|word| heading_words.contains(*word)).count() as f32;
        let figures =
            candidate.words.iter().filter(|word| word.contains(|c: char| c.is_ascii_digit())).count();
        let length = candidate.words.len() as f32;
        // Long sentences have more words of any kind; the first sentence of a section says what it is about.
        candidate.worth = (shared + named) / length.sqrt() + 0.3 * figures.min(2) as f32;
        candidate.worth *= match candidate.order {
            0 => 1.4,
            1 => 1.1,
            _ => 1.0,
        };
    }
    let mut by_worth: Vec<usize> = (0..candidates.len()).collect();
    by_worth.sort_by(|a, b| candidates[*b].worth.total_cmp(&candidates[*a].worth));
    let mut taken: Vec<usize> = Vec::new();
    // Each section once, then again.
    for round in 0..most {
        for &at in &by_worth {
            let candidate = &candidates[at];
            let of_section =
                taken.iter().filter(|other| candidates[**other].section == candidate.section).count();
            let said = taken.contains(&at)
                || taken.iter().any(|other| overlap(&candidates[*other].words, &candidate.words) >= SAME);
            if taken.len() < most && of_section <= round && !said {
                taken.push(at);
            }
        }
    }
    taken.sort_unstable();
    taken.into_iter().map(|at| candidates[at].piece.clone()).collect()
}

fn candidates(passages: &[Passage], numbers: &[usize]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut section: &[String] = &[];
    let mut order = 0;
    let mut seen: HashSet<String> = HashSet::new();
    for &at in numbers {
        let chunk = &passages[at].chunk;
        if *chunk.section != *section {
            (section, order) = (&chunk.section, 0);
        }
        for unit in units::of(chunk) {
            let text = &chunk.text[unit.place.clone()];
            let (said, piece) = match &unit.row {
                Some(row) => {
                    let shown = row.read_whole(&chunk.text);
                    let place = row.place(&chunk.text).unwrap_or_else(|| unit.place.clone());
                    (shown.clone(), Piece::Row(at + 1, place, shown))
                }
                None => (text.to_string(), Piece::Quote(at + 1, unit.place.clone())),
            };
            let words = stems(&said);
            let fewest = if unit.item.is_some() || unit.row.is_some() { 2 } else { FEWEST_WORDS };
            if !(fewest..=MOST_WORDS).contains(&words.len()) || !seen.insert(said) {
                continue;
            }
            candidates.push(Candidate { piece, words, section: section.to_vec(), order, worth: 0.0 });
            order += 1;
        }
    }
    candidates
}

/// Share of the shorter text's words that the other has too.
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let fewest = a.len().min(b.len()).max(1) as f32;
    a.intersection(b).count() as f32 / fewest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ids::ChunkId, seams::index::Chunk};

    fn passage(file: FileId, ordinal: u32, section: &[&str], text: &str) -> Passage {
        let section = section.iter().map(ToString::to_string).collect();
        let chunk = Chunk { section, ..Chunk::plain(text) };
        Passage { id: ChunkId { file, ordinal }, file_name: format!("{ordinal}.md"), chunk, score: 0.0 }
    }

    fn said(passages: &[Passage]) -> String {
        let text = |piece: Piece| match piece {
            Piece::Quote(number, place) => format!("<{}>", &passages[number - 1].chunk.text[place]),
            Piece::Row(_, _, shown) | Piece::Plain(shown) => shown,
            other => panic!("{other:?}"),
        };
        pieces(passages, Language::English).into_iter().map(text).collect()
    }

    #[test]
    fn every_section_has_its_say_in_order() {
        let file = FileId::generate();
        let passages = [
            passage(
                file,
                0,
                &["Lake report"],
                "The lake report describes ducks on the lake in 2021. Many thanks to all.",
            ),
            passage(
                file,
                1,
                &["Lake report", "Counts"],
                "Counts of ducks rose to 183 birds on the lake. It rained.",
            ),
        ];
        assert_eq!(
            said(&passages),
            "Outline: Lake report; Counts.\n\n<The lake report describes ducks on the lake in 2021.>\
             <Counts of ducks rose to 183 birds on the lake.>"
        );
    }

    #[test]
    fn several_documents_have_a_line_each() {
        let passages = [
            passage(FileId::generate(), 0, &[], "The warranty of the machine lasts two years from purchase."),
            passage(
                FileId::generate(),
                1,
                &[],
                "Repairs are made by the workshop in Lyon within three weeks.",
            ),
        ];
        assert_eq!(
            said(&passages),
            "- 0.md: <The warranty of the machine lasts two years from purchase.>\n- 1.md: <Repairs are made by the workshop in Lyon within three weeks.>"
        );
        assert_eq!(said(&[]), "");
    }
}
