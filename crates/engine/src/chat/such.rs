//! All rows that are as a question says: "Which orders were cancelled?", "Which vehicles have winter tyres?"
//!
//! Only where every word of the question is accounted for, by the table's title, its columns or the rows that are quoted; any other
//! question is answered sentence by sentence.

use super::{
    alike,
    rows::{self, Found, Heads, stands},
    words::{self, stems},
};
use crate::seams::answerer::{Passage, Piece};

/// Rows that are listed at most; more are for a search.
const MOST_ROWS: usize = 12;

/// How such a question begins, in lower case.
const ASKING: &str =
    "which|what|list|name|show|welche|welcher|welches|nenne|qué|cuáles|quels|quelles|quais|quali";

/// Words that turn it into its opposite.
const NEGATING: &str =
    "not|no|never|without|except|nicht|kein|keine|keinen|ohne|sin|pas|sans|aucun|não|sem|non|senza|n't";

/// What a cell says of a thing that has what its column is called, and of one that has not.
const YES: &str = "yes|y|true|x|✓|✔|✅|ja|sí|si|oui|sim|sì";
const NO: &str = "|no|n|false|-|–|✗|✘|❌|nein|non|não";

fn is_one_of(text: &str, words: &str) -> bool {
    let lower = text.trim().to_lowercase();
    words.split('|').any(|word| word == lower)
}

/// The rows that answer, as pieces of an answer; none where the question asks for no rows, or for more than the tables say.
pub(super) fn pieces(question: &str, passages: &[Passage]) -> Vec<Piece> {
    let lower = question.to_lowercase().replace('’', "'").replace("n't", " n't");
    let mut all = lower
        .split(|character: char| !character.is_alphanumeric() && character != '\'')
        .filter(|word| !word.is_empty());
    if !all.clone().next().is_some_and(|first| is_one_of(first, ASKING))
        || all.any(|word| is_one_of(word, NEGATING))
    {
        return Vec::new();
    }
    let words: Vec<Vec<String>> =
        words::telling(question).iter().map(|word| alike::with(&word.stem)).collect();
    rows::tables(passages).iter().find_map(|table| such(table, &words, passages)).unwrap_or_default()
}

/// The rows of a table that have all of the words; `None` where that says nothing of them.
fn such(table: &[Found], words: &[Vec<String>], passages: &[Passage]) -> Option<Vec<Piece>> {
    let heads = Heads::of(table, passages);
    let says_yes_or_no = |column: &usize| {
        let mut cells = table.iter().map(|found| found.cell(*column, passages));
        cells.all(|cell| is_one_of(cell, YES) || is_one_of(cell, NO))
    };
    let named: Vec<usize> = (1..heads.columns.len())
        .filter(|at| words.iter().any(|word| stands(word, &heads.columns[*at])))
        .collect();
    let asked: Vec<usize> = named.iter().copied().filter(says_yes_or_no).collect();
    let narrowing = heads.narrowing(words);
    let fits = |found: &&Found| {
        asked.iter().all(|column| is_one_of(found.cell(*column, passages), YES))
            && found.has_all(&narrowing, passages)
    };
    let rows: Vec<&Found> = table.iter().filter(fits).collect();
    if rows.len() < 2 || rows.len() == table.len() || rows.len() > MOST_ROWS {
        return None;
    }
    // What the rows are quoted for: the column that is asked about, or the cell that has one of the words.
    let tells = |found: &Found| {
        let holds = |at: &usize| {
            let cell = stems(found.cell(*at, passages));
            narrowing.iter().any(|word| stands(word, &cell))
        };
        let named = asked.first().or(named.first()).copied();
        named.or_else(|| (0..found.row.cells.len()).find(holds)).unwrap_or(0)
    };
    let alike = |a: &Found, b: &Found| a.cell(0, passages) == b.cell(0, passages);
    let piece = |found: &&Found| {
        let column = tells(found);
        let mut names = found.names(column, passages);
        let next =
            (1..found.row.cells.len()).find(|at| *at != column && !found.cell(*at, passages).is_empty());
        // Two of them are called the same: the next cell tells them apart.
        if table.iter().filter(|other| alike(other, found)).count() > 1 {
            names.extend(next.filter(|next| !names.contains(next)));
        }
        found.piece(column, &names, passages)
    };
    Some(rows.iter().filter_map(piece).collect())
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::said_by;

    fn said(question: &str, text: &str) -> Vec<String> {
        said_by(super::pieces, question, text)
    }

    const ORDERS: &str = "| order | customer | carrier | paid | status |\n|---|---|---|---|---|\n\
        | 5101 | Marsh | DHL | yes | delivered |\n| 5102 | Ruiz | SEUR | no | cancelled |\n\
        | 5103 | Ott | DHL | yes | cancelled |\n| 5104 | Noir | DHL | no | delivered |";

    #[test]
    fn all_rows_with_a_value_or_a_yes_are_quoted() {
        assert_eq!(
            said("Which orders were cancelled?", ORDERS),
            ["order 5102, Ruiz, status: cancelled", "order 5103, Ott, status: cancelled"]
        );
        assert_eq!(
            said("Which orders are paid?", ORDERS),
            ["order 5101, Marsh, paid: yes", "order 5103, Ott, paid: yes"]
        );
        assert_eq!(
            said("Which delivered orders were sent by carrier DHL?", ORDERS),
            Vec::<String>::new(),
            "nothing says that they were sent"
        );
        assert_eq!(said("Which orders have DHL as carrier?", ORDERS).len(), 3);
    }

    #[test]
    fn rows_that_are_called_the_same_are_told_apart() {
        let cars = "| Vehicle | Plate | Winter tyres |\n|---|---|---|\n| Golf | B-1 | yes |\n| Golf | B-2 | no |\n| Fox | B-3 | yes |";
        assert_eq!(
            said("Which vehicles have winter tyres?", cars),
            ["Golf, B-1, Winter tyres: yes", "Fox, Winter tyres: yes"]
        );
    }

    #[test]
    fn what_is_not_asked_for_or_not_accounted_for_is_left_to_others() {
        for question in [
            "Which orders were not cancelled?",
            "Which orders were cancelled by Eve?",
            "Which orders are there?",
            "Were orders cancelled?",
            "Which order of Ott was cancelled?",
        ] {
            assert_eq!(said(question, ORDERS), Vec::<String>::new(), "{question}");
        }
    }
}
