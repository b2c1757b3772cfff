//! Rows of values: CSV, TSV and their cousins with semicolons or pipes.

use engine::seams::parser::ParseFailure;

use crate::blocks::{Block, Table};
use crate::limits::Limits;
use crate::{Parsed, pages, text};

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter that splits the first rows most evenly.
pub(crate) fn delimiter(text: &str) -> Option<u8> {
    DELIMITERS
        .into_iter()
        .map(|delimiter| (evenness(text, delimiter), delimiter))
        .filter(|((_, fields), _)| *fields > 1)
        .max_by(|a, b| a.0.0.total_cmp(&b.0.0).then(a.0.1.cmp(&b.0.1)))
        .map(|(_, delimiter)| delimiter)
}

/// A delimiter that leaves no doubt although the file's name does not say that it holds rows.
pub(crate) fn certain_delimiter(text: &str) -> Option<u8> {
    let rows = text.lines().take(50).filter(|line| !line.trim().is_empty()).count();
    DELIMITERS.into_iter().find(|&delimiter| {
        let (share, fields) = evenness(text, delimiter);
        // Three even rows of three fields do not happen in prose; a sample cut in its last row is forgiven.
        rows >= 3
            && fields >= 3
            && share >= 0.98
            && !(delimiter == b'|' && text.trim_start().starts_with('|'))
    })
}

/// How large a share of the first rows has the commonest number of fields, and what that number is.
fn evenness(text: &str, delimiter: u8) -> (f64, usize) {
    /// Enough rows to see the pattern.
    const ROWS: usize = 50;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let widths: Vec<usize> = reader.records().take(ROWS).flatten().map(|record| record.len()).collect();
    let count = |width: usize| widths.iter().filter(|other| **other == width).count();
    let Some(common) = widths.iter().copied().max_by_key(|width| count(*width)) else { return (0.0, 0) };
    (count(common) as f64 / widths.len() as f64, common)
}

/// Reads the rows as one table, cut into pages with the header repeated.
pub(crate) fn parse(bytes: &[u8], delimiter: u8, limits: &Limits) -> Result<Parsed, ParseFailure> {
    let decoded = text::decode(bytes);
    // A table is no shorter than its rows were, and its cells take several times the memory.
    limits.allow_text(decoded.text.len())?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(decoded.text.trim_start_matches('\u{feff}').as_bytes());
    let rows = reader.records().flatten().map(|record| record.iter().map(str::to_owned).collect()).collect();
    let pages = pages::paginate(&[Block::Table(Table { rows })]);
    let warnings =
        if decoded.damaged { vec!["some characters could not be decoded".to_owned()] } else { Vec::new() };
    Ok(Parsed { title: None, pages, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_recognised() {
        assert_eq!(delimiter("a;b;c\n1,5;2;3\n"), Some(b';'));
        assert_eq!(delimiter("a\tb\n1\t2\n"), Some(b'\t'));
        assert_eq!(delimiter("just\nwords\n"), None);
        assert_eq!(certain_delimiter("a,b,c\n1,2,3\n4,5,6\n"), Some(b','));
        assert_eq!(certain_delimiter("One, two.\nThree, four, five.\nSix.\n"), None);
    }

    #[test]
    fn quoted_and_short_rows_are_kept() {
        let parsed = parse(b"a,b,c\n\"x, y\",2\n1,2,3,4\n", b',', &Limits::default()).unwrap();
        let expected = "| a | b | c |  |\n| - | - | - | - |\n| x, y | 2 |  |  |\n| 1 | 2 | 3 | 4 |";
        assert_eq!(parsed.pages[0].text, expected);
        assert_eq!(parsed.pages[0].tables, 1);
    }

    #[test]
    fn more_than_one_file_may_hold_is_refused_as_text() {
        let limits = Limits { text_bytes: 2 << 20, ..Limits::default() };
        let failure = parse(&b"a,b\n".repeat(1 << 20), b',', &limits).unwrap_err();
        assert_eq!(failure.message, "the file holds 4 MB of text; the limit is 2 MB");
    }
}
