//! The row with the most or the least of something: "Which server has the most memory?"
//!
//! Nothing is reckoned: the rows that were found are compared by one column, and the row at the wanted end is quoted.

use std::collections::HashSet;

use super::{
    alike,
    rows::{self, Found, Heads, stands},
    words::{self, stems},
};
use crate::seams::answerer::{Passage, Piece};

/// Rows that share the end of a column, at most; more say nothing.
const MOST_ROWS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Most,
    Least,
}

/// What asks for an end, in lower case, and the column that it means where it means one.
const ASKING: &[(&str, End, &str)] = &[
    ("most expensive", End::Most, "price"),
    ("least expensive", End::Least, "price"),
    ("cheapest", End::Least, "price"),
    ("heaviest", End::Most, "weight"),
    ("lightest", End::Least, "weight"),
    ("tallest", End::Most, "height"),
    ("widest", End::Most, "width"),
    ("fastest", End::Most, "speed"),
    ("slowest", End::Least, "speed"),
    ("longest", End::Most, "length"),
    ("shortest", End::Least, "length"),
    ("earliest", End::Least, "date"),
    ("latest", End::Most, "date"),
    ("most", End::Most, ""),
    ("highest", End::Most, ""),
    ("largest", End::Most, ""),
    ("biggest", End::Most, ""),
    ("greatest", End::Most, ""),
    ("least", End::Least, ""),
    ("lowest", End::Least, ""),
    ("smallest", End::Least, ""),
    ("fewest", End::Least, ""),
    ("am teuersten", End::Most, "price"),
    ("teuerste", End::Most, "price"),
    ("billigste", End::Least, "price"),
    ("günstigste", End::Least, "price"),
    ("schwerste", End::Most, "weight"),
    ("leichteste", End::Least, "weight"),
    ("meiste", End::Most, ""),
    ("meisten", End::Most, ""),
    ("höchste", End::Most, ""),
    ("größte", End::Most, ""),
    ("wenigsten", End::Least, ""),
    ("niedrigste", End::Least, ""),
    ("kleinste", End::Least, ""),
    ("más caro", End::Most, "price"),
    ("más cara", End::Most, "price"),
    ("más barato", End::Least, "price"),
    ("más barata", End::Least, "price"),
    ("más pesado", End::Most, "weight"),
    ("más alto", End::Most, ""),
    ("más alta", End::Most, ""),
    ("más grande", End::Most, ""),
    ("mayor", End::Most, ""),
    ("menor", End::Least, ""),
    ("le plus cher", End::Most, "price"),
    ("la plus chère", End::Most, "price"),
    ("le moins cher", End::Least, "price"),
    ("la moins chère", End::Least, "price"),
    ("le plus élevé", End::Most, ""),
    ("la plus élevée", End::Most, ""),
    ("le plus grand", End::Most, ""),
    ("la plus grande", End::Most, ""),
    ("le plus de", End::Most, ""),
    ("le plus petit", End::Least, ""),
    ("mais caro", End::Most, "price"),
    ("mais cara", End::Most, "price"),
    ("mais barato", End::Least, "price"),
    ("mais barata", End::Least, "price"),
    ("maior", End::Most, ""),
    ("più caro", End::Most, "price"),
    ("più economico", End::Least, "price"),
    ("più alto", End::Most, ""),
    ("più alta", End::Most, ""),
];

/// A question for an end of a column.
struct Extreme {
    end: End,
    /// Stems of what the column may be called where the question does not say: "cheapest" means a price.
    meant: Vec<String>,
    /// Its other words, each with those for the same thing.
    words: Vec<Vec<String>>,
}

/// The rows that answer, as pieces of an answer; none where the question asks for no end, or where no column can be compared.
pub(super) fn pieces(question: &str, passages: &[Passage]) -> Vec<Piece> {
    let Some(extreme) = Extreme::of(question) else { return Vec::new() };
    rows::tables(passages).iter().find_map(|table| extreme.answer(table, passages)).unwrap_or_default()
}

impl Extreme {
    fn of(question: &str) -> Option<Self> {
        let lower = format!(" {} ", question.to_lowercase().replace(['?', '¿', ',', '.', '!'], " "));
        let asked = |(said, _, _): &&(&str, End, &str)| {
            lower.match_indices(said).any(|(at, _)| {
                let ends = lower[at + said.len()..].chars().next();
                lower[..at].ends_with(' ') && ends.is_none_or(|next| next == ' ' || "rnsm".contains(next))
            })
        };
        let (said, end, meant) = ASKING.iter().find(asked)?;
        let own: HashSet<String> = stems(said);
        let mut words = words::telling(question);
        words.retain(|word| !own.iter().any(|own| word.stem.starts_with(own.as_str())));
        let words = words.iter().map(|word| alike::with(&word.stem)).collect();
        let meant = words::telling(meant).iter().flat_map(|word| alike::with(&word.stem)).collect();
        Some(Extreme { end: *end, meant, words })
    }

    /// The rows at the wanted end; `None` where this table is not what is asked about.
    fn answer(&self, table: &[Found], passages: &[Passage]) -> Option<Vec<Piece>> {
        let heads = Heads::of(table, passages);
        let column = self.column(&heads.columns, |at| value(table[0].cell(at, passages)).is_some())?;
        let narrowing = heads.narrowing(&self.words);
        let rows: Vec<&Found> = table.iter().filter(|found| found.has_all(&narrowing, passages)).collect();
        self.at_end(&rows, column, passages)
    }

    /// Those of the rows that have the most or the least in a column.
    fn at_end(&self, rows: &[&Found], column: usize, passages: &[Passage]) -> Option<Vec<Piece>> {
        let values: Vec<(f64, String)> =
            rows.iter().map(|found| value(found.cell(column, passages))).collect::<Option<_>>()?;
        if rows.len() < 2 || values.iter().any(|(_, unit)| *unit != values[0].1) {
            return None;
        }
        let compare = |a: &f64, b: &f64| if self.end == End::Most { a.total_cmp(b) } else { b.total_cmp(a) };
        let best = values.iter().map(|(value, _)| *value).max_by(compare)?;
        let best: Vec<&&Found> =
            rows.iter().zip(&values).filter(|(_, (value, _))| *value == best).map(|(row, _)| row).collect();
        (best.len() <= MOST_ROWS).then(|| {
            best.into_iter()
                .filter_map(|found| found.piece(column, &found.names(column, passages), passages))
                .collect()
        })
    }

    /// The one column that can be compared and that the question names, or that its word for the end means.
    fn column(&self, names: &[HashSet<String>], compares: impl Fn(usize) -> bool) -> Option<usize> {
        let named = |at: &usize| self.words.iter().any(|word| stands(word, &names[*at]));
        let meant = |at: &usize| stands(&self.meant, &names[*at]);
        // The first names the rows.
        let one = |wanted: &dyn Fn(&usize) -> bool| {
            let mut found = (1..names.len()).filter(|at| compares(*at) && wanted(at));
            found.next().filter(|_| found.next().is_none())
        };
        one(&named).or_else(|| one(&meant))
    }
}

/// The number of a cell, and what is written around it: its unit. A date counts as its digits.
fn value(cell: &str) -> Option<(f64, String)> {
    let cell = cell.replace("**", "");
    let digit = |character: char| character.is_ascii_digit();
    let start = cell.find(digit)?;
    let end = cell.rfind(digit)? + 1;
    let (number, unit) = (&cell[start..end], format!("{}{}", &cell[..start], &cell[end..]));
    let negative = cell[..start].trim_end().ends_with(['-', '−']);
    let parts: Vec<&str> = number.split('-').collect();
    let value = match parts[..] {
        [year, month, day]
            if [year, month, day]
                .iter()
                .zip([4, 2, 2])
                .all(|(part, long)| part.len() == long && part.chars().all(digit)) =>
        {
            number.replace('-', "").parse().ok()?
        }
        [number] => plain(number)?,
        _ => return None,
    };
    Some((if negative { -value } else { value }, unit.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// `1,250`, `1 250`, `1.250,50` and `3.5` as numbers.
fn plain(number: &str) -> Option<f64> {
    let bare: String =
        number.chars().filter(|character| !character.is_whitespace() && *character != '\'').collect();
    let thousands = |mark: char| {
        let mut groups = bare.split(mark);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3)
    };
    let plain = match (bare.rfind(','), bare.rfind('.')) {
        (Some(comma), Some(point)) if comma > point => bare.replace('.', "").replace(',', "."),
        (Some(_), Some(_)) => bare.replace(',', ""),
        (Some(_), None) if thousands(',') => bare.replace(',', ""),
        (Some(_), None) => bare.replace(',', "."),
        (None, Some(_)) if bare.matches('.').count() > 1 && thousands('.') => bare.replace('.', ""),
        _ => bare,
    };
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::said_by;
    use super::*;

    fn said(question: &str, text: &str) -> Vec<String> {
        said_by(super::pieces, question, text)
    }

    const SERVERS: &str = "| host | city | memory_gb | price | until |\n|---|---|---|---|---|\n\
        | atlas | Oslo | 256 | $1,250 | 2027-05-31 |\n| cygnus | Lyon | 32 | $980 | 2024-12-15 |\n| draco | Oslo | 512 | $12,400 | 2028-01-31 |";

    #[test]
    fn the_row_at_the_end_of_a_column_is_quoted() {
        assert_eq!(said("Which server has the most memory?", SERVERS), ["draco, memory gb: 512"]);
        assert_eq!(said("Which server has the least memory in Oslo?", SERVERS), ["atlas, memory gb: 256"]);
        assert_eq!(said("What is the cheapest server?", SERVERS), ["cygnus, price: $980"]);
        assert_eq!(said("Welcher Server hat den höchsten Preis?", SERVERS), ["draco, price: $12,400"]);
    }

    #[test]
    fn a_row_that_begins_with_a_code_is_named_by_the_next_cell_too() {
        let tools =
            "| asset | item | price |\n|---|---|---|\n| T-101 | Drill | 189 |\n| T-102 | Table saw | 1240 |";
        assert_eq!(said("What is the most expensive item?", tools), ["T-102, Table saw, price: 1240"]);
    }

    #[test]
    fn what_cannot_be_compared_is_left_to_others() {
        for question in [
            "Which server has memory?",
            "Which duck has the most memory?",
            "Which server is the tallest?",
            "Which server has the most memory in Rome?",
            "Who almost has a server with memory?",
        ] {
            assert_eq!(said(question, SERVERS), Vec::<String>::new(), "{question}");
        }
        let mixed = "| disk | size |\n|---|---|\n| a | 900 MB |\n| b | 2 GB |";
        assert_eq!(said("Which disk has the largest size?", mixed), Vec::<String>::new());
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (cell, number) in [
            ("1,250", 1250.0),
            ("3.5", 3.5),
            ("1.250,50 €", 1250.5),
            ("12,4", 12.4),
            ("-7 %", -7.0),
            ("2024-12-15", 20241215.0),
        ] {
            assert_eq!(value(cell).map(|(value, _)| value), Some(number), "{cell}");
        }
        assert!(value("none").is_none() && value("10-12").is_none());
    }
}
