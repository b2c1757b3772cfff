//! "What came after it?": the sentence, item or row that stands next to what was answered last.

use super::{
    locate, units,
    words::{flat, stems},
};
use crate::seams::answerer::{Brief, Direction, Passage, Piece, Speaker, Turn};

/// Share of a unit's words that the answer must have for it to be the one that was quoted.
const QUOTED: f32 = 0.6;

/// What was answered last.
fn last_answer(turns: &[Turn]) -> Option<&str> {
    turns.iter().rev().find(|turn| turn.speaker == Speaker::Assistant).map(|turn| turn.text.as_str())
}

/// A unit in reading order.
struct Placed {
    passage: usize,
    piece: Piece,
    text: String,
}

/// What stands next to the last answer; nothing where it was not found, or nothing follows.
pub(super) fn pieces(direction: Direction, brief: &Brief) -> Vec<Piece> {
    let Some(answer) = last_answer(&brief.turns) else { return Vec::new() };
    let mut order: Vec<usize> = (0..brief.passages.len()).collect();
    order.sort_by_key(|at| (brief.passages[*at].id.file, brief.passages[*at].id.ordinal));
    let units: Vec<Placed> = order.into_iter().flat_map(|at| placed(at, &brief.passages[at])).collect();
    let quoted: Vec<usize> = (0..units.len()).filter(|at| stands_in(answer, &units[*at].text)).collect();
    let next = match direction {
        Direction::After => quoted.last().map(|at| at + 1),
        Direction::Before => quoted.first().and_then(|at| at.checked_sub(1)),
    };
    let from = match direction {
        Direction::After => quoted.last(),
        Direction::Before => quoted.first(),
    };
    let (Some(next), Some(from)) = (next.and_then(|at| units.get(at)), from.map(|at| &units[*at])) else {
        return Vec::new();
    };
    let (a, b) = (&brief.passages[from.passage].id, &brief.passages[next.passage].id);
    // Only what really stands beside it: of the same file, and of the same or the neighbouring passage.
    if a.file != b.file || a.ordinal.abs_diff(b.ordinal) > 1 { Vec::new() } else { vec![next.piece.clone()] }
}

/// Passages at most whose neighbours are read.
const KEPT: usize = 2;

/// Keeps the passages that the last answer quotes; all where it quotes none.
pub(super) fn keep_answered(turns: &[Turn], passages: &mut Vec<Passage>) {
    let Some(answer) = last_answer(turns) else { return };
    let quoted = |passage: &Passage| placed(0, passage).iter().any(|unit| stands_in(answer, &unit.text));
    if passages.iter().any(quoted) {
        passages.retain(quoted);
    }
    passages.truncate(KEPT);
}

fn placed(at: usize, passage: &Passage) -> Vec<Placed> {
    let chunk = &passage.chunk;
    let piece = |unit: units::Unit| match &unit.row {
        Some(row) => {
            let shown = row.read_whole(&chunk.text);
            let place = row.place(&chunk.text).unwrap_or_else(|| unit.place.clone());
            Placed { passage: at, text: shown.clone(), piece: Piece::Row(at + 1, place, shown) }
        }
        None => {
            let text = chunk.text[unit.place.clone()].to_string();
            Placed { passage: at, text, piece: Piece::Quote(at + 1, unit.place) }
        }
    };
    units::of(chunk).into_iter().map(piece).collect()
}

/// Whether an answer quotes a unit: word for word, or by most of its words where it is a row.
fn stands_in(answer: &str, unit: &str) -> bool {
    if locate::find(&flat(unit), &flat(answer)).is_some() {
        return true;
    }
    let (said, there) = (stems(answer), stems(unit));
    let shared = there.intersection(&said).count() as f32;
    there.len() > 1 && shared / there.len() as f32 >= QUOTED && shared / said.len().max(1) as f32 >= QUOTED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ids::{ChunkId, FileId},
        seams::index::Chunk,
    };

    #[test]
    fn the_next_sentence_or_item_is_found() {
        let chunk = |text: &str| Chunk {
            text: text.into(),
            page: 1,
            page_end: 1,
            start: 0,
            end: 0,
            section: [].into(),
            lead: "".into(),
            language: None,
        };
        let file = FileId::generate();
        let passage = |ordinal, text: &str| Passage {
            id: ChunkId { file, ordinal },
            file_name: "a".into(),
            chunk: chunk(text),
            score: 0.0,
        };
        let passages = vec![
            passage(1, "3. Close the lid of the pot."),
            passage(0, "1. Wash the rice well.\n2. Boil a litre of water."),
        ];
        let next = |answer: &str, direction| {
            let turns = vec![
                Turn { speaker: Speaker::User, text: "What is first?".into() },
                Turn { speaker: Speaker::Assistant, text: answer.into() },
                Turn { speaker: Speaker::User, text: "And then?".into() },
            ];
            let brief = Brief { turns, passages: passages.clone(), ..Brief::default() };
            match pieces(direction, &brief).pop() {
                Some(Piece::Quote(number, place)) => passages[number - 1].chunk.text[place].to_string(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(next("Wash the rice well. [1]", Direction::After), "Boil a litre of water.");
        assert_eq!(next("Boil a litre of water. [1]", Direction::After), "Close the lid of the pot.");
        assert_eq!(next("Boil a litre of water. [1]", Direction::Before), "Wash the rice well.");
        assert_eq!(next("Close the lid of the pot. [1]", Direction::After), "None");
        assert_eq!(next("Something else. [1]", Direction::After), "None");
    }
}
