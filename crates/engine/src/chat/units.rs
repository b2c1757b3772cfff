//! Cuts a passage into what can be quoted alone: a sentence, an item of a list, a row of a table.

use std::{ops::Range, sync::Arc};

use super::{
    kind::Kind,
    named,
    table::{self, Row, Table},
};
use crate::{ingest::chunk::sentences, seams::index::Chunk};

/// A part of a passage that can be quoted alone.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Where it is in the passage, in bytes.
    pub(super) place: Range<usize>,
    /// What is known of it where it is a row of a table.
    pub(super) row: Option<Row>,
    /// Its number where it is an item of a list; 0 where items have none.
    pub(super) item: Option<u32>,
    /// Where the item ends that it is a sentence of; its own end where it is of none.
    pub(super) item_end: usize,
    /// The heading above an item of a list, where that says of when or of which number it is: "3.1.0 (2025-03-05)".
    pub(super) under: Option<String>,
}

impl Unit {
    /// A unit that is neither a row nor part of a list.
    pub(super) fn alone(place: Range<usize>) -> Self {
        Unit { item_end: place.end, place, row: None, item: None, under: None }
    }
}

/// The units of a passage, in order. Headings are none: they name, they do not say. Nor are the headers of tables.
pub(super) fn of(chunk: &Chunk) -> Vec<Unit> {
    read(&chunk.text, &chunk.lead, chunk.section.last().map_or("", String::as_str))
}

/// The headings in a text that have a date: of headings, only these say something by themselves.
pub(super) fn dated(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let heading = line.trim().trim_start_matches('#').trim();
        if is_heading(line.trim()) && Kind::Date.held(heading, &[]) > 0.0 {
            let start = at + line.find(heading).unwrap_or(0);
            found.push(start..start + heading.len());
        }
        at += line.len();
    }
    found
}

/// A heading that says of when or of which number the items below it are.
fn telling(heading: &str) -> Option<String> {
    const LONGEST: usize = 80;
    let heading = heading.trim_start_matches('#').trim();
    let tells = || !named::codes(heading).is_empty() || Kind::Date.held(heading, &[]) > 0.0;
    (heading.len() <= LONGEST && tells()).then(|| heading.to_string())
}

/// The units of a text below this lead and heading.
pub(super) fn read(text: &str, lead: &str, heading: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut block: Option<(Range<usize>, Option<u32>)> = None;
    // The table that rows belong to, and what was said right above.
    let mut table: Option<Arc<Table>> = None;
    let mut above = heading.to_string();
    let mut under = telling(heading);
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let (start, end) = (at, at + line.len());
        at = end;
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        let row = trimmed.starts_with('|');
        let marker = list_marker(trimmed);
        if trimmed.is_empty() || is_heading(trimmed) || row || marker > 0 {
            close(text, block.take(), under.as_ref(), &mut units);
        }
        if is_heading(trimmed) {
            under = telling(trimmed);
        }
        if !row && !trimmed.is_empty() {
            table = None;
            above = trimmed.trim_start_matches('#').trim().to_string();
        }
        if trimmed.is_empty() || is_heading(trimmed) {
            continue;
        }
        if row {
            let place = start + indent..start + indent + trimmed.len();
            if table::is_rule(trimmed) {
                continue;
            }
            if lines.peek().is_some_and(|next| table::is_rule(next.trim())) {
                table = Some(Arc::new(Table::new(&above, trimmed)));
                continue;
            }
            let first = units.last().is_none_or(|unit: &Unit| unit.place.end < start.saturating_sub(1));
            let known = table.get_or_insert_with(|| Arc::new(Table::below(lead, heading)));
            if first && known.is_more_header(trimmed) {
                table = Some(Arc::new(known.with_more_header(trimmed)));
                continue;
            }
            let row = Row::new(known.clone(), trimmed, place.start);
            units.push(Unit { item_end: place.end, place, row: Some(row), item: None, under: None });
            continue;
        }
        let follows = lines.peek().is_some_and(|next| opens(next));
        let alone = follows || lines.peek().is_none_or(|next| next.trim().is_empty());
        let title = marker == 0 && follows && is_title(trimmed);
        if title {
            close(text, block.take(), under.as_ref(), &mut units);
        }
        if marker == 0 && block.is_none() && alone && repeats(trimmed, heading) {
            continue;
        }
        block = match block {
            Some((open, item)) => Some((open.start..end, item)),
            None => Some((start + indent + marker..end, item_number(trimmed, marker))),
        };
        if title {
            close(text, block.take(), under.as_ref(), &mut units);
        }
    }
    close(text, block, under.as_ref(), &mut units);
    units
}

fn close(
    text: &str,
    block: Option<(Range<usize>, Option<u32>)>,
    under: Option<&String>,
    units: &mut Vec<Unit>,
) {
    if let Some((block, item)) = block {
        let found = sentences::split(&text[block.clone()]);
        let place = |range: Range<usize>| block.start + range.start..block.start + range.end;
        let end = found.last().map_or(block.end, |range| block.start + range.end);
        units.extend(found.into_iter().map(|range| {
            let place = place(range);
            let item_end = if item.is_some() { end } else { place.end };
            Unit { place, row: None, item, item_end, under: under.filter(|_| item.is_some()).cloned() }
        }));
    }
}

/// The number of an item whose sign has so many bytes; 0 where it has none, `None` where there is no sign.
fn item_number(line: &str, marker: usize) -> Option<u32> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (marker > 0).then(|| line[..digits].parse().unwrap_or(0))
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&level) && line[level..].starts_with(' ')
}

/// Whether a line reads like a title: short, not a sentence, and most of its words begin with a capital letter.
fn is_title(line: &str) -> bool {
    const LONGEST: usize = 100;
    if line.len() > LONGEST || line.ends_with(['.', ',', ';', ':', '?', '!']) {
        return false;
    }
    let words = || line.split_whitespace().filter(|word| word.chars().count() > 3);
    let capital = |word: &&str| !word.starts_with(char::is_lowercase);
    let (all, capitals) = (words().count(), words().filter(capital).count());
    all > 1 && capitals * 4 >= all * 3
}

/// Whether a line begins something, rather than going on with the line before it.
fn opens(line: &str) -> bool {
    line.trim_start().starts_with(char::is_uppercase)
}

/// Whether a line only says the heading again that it stands below, as running titles do.
fn repeats(line: &str, heading: &str) -> bool {
    let heading = heading.trim();
    let rest = line.len().checked_sub(heading.len()).filter(|at| line.is_char_boundary(*at));
    // A heading of one short word may well begin a sentence.
    heading.len() > 3
        && rest.is_some_and(|at| {
            line[at..].eq_ignore_ascii_case(heading) && (at == 0 || line[..at].trim_end().ends_with(':'))
        })
}

/// Bytes of the sign before an item of a list; 0 where there is none.
fn list_marker(line: &str) -> usize {
    let sign = line.chars().next().filter(|sign| matches!(sign, '-' | '*' | '+' | '•' | '–'));
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let width = match sign {
        Some(sign) => sign.len_utf8(),
        None if (1..=3).contains(&digits) && line[digits..].starts_with(['.', ')']) => digits + 1,
        None => return 0,
    };
    if line[width..].starts_with(' ') { width + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        read(text, "", "").into_iter().map(|unit| &text[unit.place]).collect()
    }

    #[test]
    fn sentences_items_and_rows_stand_alone_and_headers_do_not() {
        let text = "# Warranty\n\nIt lasts two\nyears. It covers parts.\n- one thing\n- another\n\n| a | b |\n|---|---|\n| 1 | 2 |\n1. first";
        assert_eq!(
            parts(text),
            ["It lasts two\nyears.", "It covers parts.", "one thing", "another", "| 1 | 2 |", "first"]
        );
        assert!(parts("").is_empty() && parts("# Only a heading").is_empty());
    }

    #[test]
    fn titles_are_not_part_of_the_sentence_below_them() {
        let heading = "How Prior-Authorization Works";
        let text = "How Prior-Authorization Works\n\nCARE MANAGEMENT: How Prior-Authorization Works\nPrior authorization is a \
                    process that\nNorthwind uses. It helps.\nOffice Hours And Places\nThe office is open.\nAbsent: Mary Jones";
        let parts: Vec<&str> = read(text, "", heading).into_iter().map(|unit| &text[unit.place]).collect();
        assert_eq!(
            parts,
            [
                "Prior authorization is a process that\nNorthwind uses.",
                "It helps.",
                "Office Hours And Places",
                "The office is open.",
                "Absent: Mary Jones"
            ]
        );
    }

    #[test]
    fn items_know_the_version_or_day_that_they_stand_under() {
        let text =
            "## 3.1.0 (2025-03-05)\n- Incremental backups.\n\nA paragraph.\n\n## Plans\n- More of them.\n";
        let under: Vec<_> = read(text, "", "").into_iter().map(|unit| unit.under).collect();
        assert_eq!(under, [Some("3.1.0 (2025-03-05)".to_string()), None, None]);
        assert_eq!(read("- Closed.", "", "Monday, 5 May")[0].under.as_deref(), Some("Monday, 5 May"));
        assert_eq!(read("- Anybody.", "", "1. Who may drive")[0].under, None);
        let dates: Vec<&str> = dated(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(dates, ["3.1.0 (2025-03-05)"]);
    }

    #[test]
    fn rows_know_their_columns_and_what_the_table_is_called() {
        let text =
            "Ducks counted:\n\n| Kind | Year | |\n|---|---|---|\n| | 2021 | 2022 |\n| Teal | 12 | 15 |\n";
        let units = read(text, "", "Birds");
        assert_eq!(units.len(), 2);
        let row = units[1].row.as_ref().unwrap();
        assert_eq!(row.table.title, "Ducks counted");
        assert_eq!(row.table.columns, ["Kind", "Year 2021", "2022"]);
        let cut = read("| Teal | 12 |\n| Mallard | 40 |", "Table 3. Ducks\n| Kind | Count |", "Birds");
        assert_eq!(cut.len(), 2);
        let row = cut[1].row.as_ref().unwrap();
        assert_eq!((row.table.title.as_str(), &row.table.columns[1][..]), ("Table 3. Ducks", "Count"));
    }
}
