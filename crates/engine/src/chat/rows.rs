//! The rows of tables among the passages that were found, table by table.

use std::collections::HashSet;

use super::{named, table::Row, units, words::stems};
use crate::seams::answerer::{Passage, Piece};

/// A row that was found.
pub(super) struct Found {
    passage: usize,
    pub(super) row: Row,
}

impl Found {
    /// The passage that it is in.
    pub(super) fn passage<'a>(&self, passages: &'a [Passage]) -> &'a Passage {
        &passages[self.passage]
    }

    /// The text of its passage.
    pub(super) fn text<'a>(&self, passages: &'a [Passage]) -> &'a str {
        &self.passage(passages).chunk.text
    }

    /// The text of one of its cells.
    pub(super) fn cell<'a>(&self, column: usize, passages: &'a [Passage]) -> &'a str {
        self.row.cell(self.text(passages), column)
    }

    /// The columns that name the row: the first, and where that is a code, the first that is none.
    pub(super) fn names(&self, column: usize, passages: &[Passage]) -> Vec<usize> {
        let is_code =
            |at: &usize| self.cell(*at, passages).contains(|character: char| character.is_ascii_digit());
        let is_empty = |at: &usize| self.cell(*at, passages).is_empty();
        let mut names = vec![0];
        if is_code(&0) {
            names.extend((1..self.row.cells.len()).find(|at| *at != column && !is_code(at) && !is_empty(at)));
        }
        names
    }

    /// One of its cells, named by these, as a piece of an answer.
    pub(super) fn piece(&self, column: usize, names: &[usize], passages: &[Passage]) -> Option<Piece> {
        let text = self.text(passages);
        let place = self.row.place(text)?;
        Some(Piece::Row(self.passage + 1, place, self.row.read_cell(text, column, names)))
    }

    /// Whether each of these words stands in the row.
    pub(super) fn has_all(&self, words: &[&Vec<String>], passages: &[Passage]) -> bool {
        let text = self.text(passages);
        let written = self.row.place(text).map(|place| stems(&text[place])).unwrap_or_default();
        words.iter().all(|word| stands(word, &written))
    }
}

/// What stands above the rows of a table, by stems.
pub(super) struct Heads {
    pub(super) columns: Vec<HashSet<String>>,
    title: HashSet<String>,
    /// What stands above its passage.
    above: HashSet<String>,
}

impl Heads {
    pub(super) fn of(table: &[Found], passages: &[Passage]) -> Self {
        let first = &table[0];
        Heads {
            columns: first.row.table.columns.iter().map(|name| stems(name)).collect(),
            title: stems(&first.row.table.title),
            above: named::stems_above(first.passage(passages)),
        }
    }

    /// The words that stand in none of them and so must stand in the rows: "in Frankfurt".
    pub(super) fn narrowing<'a>(&self, words: &'a [Vec<String>]) -> Vec<&'a Vec<String>> {
        let known = |word: &&Vec<String>| {
            let mut all = self.columns.iter().chain([&self.title, &self.above]);
            all.any(|there| stands(word, there))
        };
        words.iter().filter(|word| !known(word)).collect()
    }
}

/// The rows of all tables: those with the same columns in the same file are of one table. The likeliest table comes first.
pub(super) fn tables(passages: &[Passage]) -> Vec<Vec<Found>> {
    let mut tables: Vec<Vec<Found>> = Vec::new();
    for (at, passage) in passages.iter().enumerate() {
        for row in units::of(&passage.chunk).into_iter().filter_map(|unit| unit.row) {
            let same = |table: &Vec<Found>| {
                let first = &table[0];
                first.passage(passages).id.file == passage.id.file
                    && first.row.table.columns == row.table.columns
            };
            let known = tables.iter().position(same);
            let found = Found { passage: at, row };
            match known {
                Some(known) => tables[known].push(found),
                None => tables.push(vec![found]),
            }
        }
    }
    tables
}

/// Whether one of these words is there.
pub(super) fn stands(words: &[String], there: &HashSet<String>) -> bool {
    words.iter().any(|word| there.contains(word))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::chat::extract::tests::passage;

    /// What is said of the rows that this picks from a passage of `servers.csv` with this text.
    pub(in crate::chat) fn said_by(
        pieces: fn(&str, &[Passage]) -> Vec<Piece>,
        question: &str,
        text: &str,
    ) -> Vec<String> {
        let passage = Passage { file_name: "servers.csv".into(), ..passage(text, 0.5) };
        let row = |piece| match piece {
            Piece::Row(1, place, said) => {
                assert!(text[place].contains(" | "));
                said
            }
            other => panic!("{other:?}"),
        };
        pieces(question, &[passage]).into_iter().map(row).collect()
    }
}
