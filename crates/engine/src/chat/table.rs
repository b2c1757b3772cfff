//! Tables inside passages: which column a question asks for, and how a row or a cell reads as a sentence.

use std::{ops::Range, sync::Arc};

use super::words;

/// The longest title that is repeated before a cell.
const LONGEST_TITLE: usize = 120;

/// What the rows of a table share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    /// Its caption, or the heading above it; may be empty.
    pub(super) title: String,
    /// The names of its columns; empty where they are not known.
    pub(super) columns: Vec<String>,
}

/// A row of a table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) table: Arc<Table>,
    /// Its cells, as places in the passage.
    pub(super) cells: Vec<Range<usize>>,
}

/// Whether a line is the rule below the header of a table.
pub(super) fn is_rule(line: &str) -> bool {
    line.contains('-')
        && line.starts_with(['|', '-', ':'])
        && line.contains('|')
        && line.chars().all(|character| matches!(character, '|' | '-' | ':' | ' ' | '\t'))
}

impl Table {
    /// A table with this header row, below this line.
    pub(super) fn new(above: &str, header: &str) -> Self {
        // `shipped_on` is two words.
        let name = |cell: Range<usize>| clean(&header[cell].replace('_', " "));
        let columns = cells(header, 0).into_iter().map(name).collect();
        Table { title: title(above), columns }
    }

    /// The table that the first rows of a passage continue, by what leads them.
    pub(super) fn below(lead: &str, heading: &str) -> Self {
        let header = lead.lines().rfind(|line| line.trim_start().starts_with('|')).map(str::trim);
        let above: Vec<&str> = lead.lines().filter(|line| !line.trim_start().starts_with('|')).collect();
        let above = above.join(" ");
        let above = if above.trim().is_empty() { heading } else { above.as_str() };
        match header {
            Some(header) => Self::new(above, header),
            None => Table { title: title(above), columns: Vec::new() },
        }
    }

    /// Whether the first row below the rule only goes on with the header: it names no row of its own.
    pub(super) fn is_more_header(&self, line: &str) -> bool {
        let found = cells(line, 0);
        let filled = |cell: &Range<usize>| !line[cell.clone()].trim().is_empty();
        self.columns.len() > 2
            && found.first().is_some_and(|first| !filled(first))
            && found.iter().filter(|cell| filled(cell)).count() > 1
            && self.columns.iter().skip(1).any(String::is_empty)
    }

    /// The table with a second header row.
    pub(super) fn with_more_header(&self, line: &str) -> Self {
        let more: Vec<String> = cells(line, 0).into_iter().map(|cell| clean(&line[cell])).collect();
        let columns = (0..self.columns.len().max(more.len())).map(|at| {
            let above = self.columns.get(at).map_or("", String::as_str);
            let below = more.get(at).map_or("", String::as_str);
            format!("{above} {below}").trim().to_string()
        });
        Table { title: self.title.clone(), columns: columns.collect() }
    }

    /// The name of a column; may be empty.
    pub(super) fn column(&self, at: usize) -> &str {
        self.columns.get(at).map_or("", String::as_str)
    }
}

impl Row {
    /// A row that starts at this byte of its passage.
    pub(super) fn new(table: Arc<Table>, line: &str, start: usize) -> Self {
        Row { table, cells: cells(line, start) }
    }

    /// The text of a cell.
    pub(super) fn cell<'a>(&self, text: &'a str, at: usize) -> &'a str {
        self.cells.get(at).and_then(|cell| text.get(cell.clone())).unwrap_or("")
    }

    /// The place that is quoted: from the first filled cell to the last, without the outer bars.
    pub(super) fn place(&self, text: &str) -> Option<Range<usize>> {
        let mut filled = self.cells.iter().filter(|cell| !text[(*cell).clone()].is_empty());
        let first = filled.next()?;
        let last = filled.next_back().unwrap_or(first);
        Some(first.start..last.end)
    }

    /// "Order 1003, shipped: 5 March", with the title of the table before it.
    pub(super) fn read_cell(&self, text: &str, column: usize, named: &[usize]) -> String {
        let mut labels: Vec<String> = Vec::new();
        for &at in named.iter().filter(|at| **at != column) {
            labels.push(self.label(text, at));
        }
        let first = self.label(text, 0);
        if column != 0 && !named.contains(&0) && !first.is_empty() {
            labels.insert(0, first);
        }
        let name = self.table.column(column);
        let value = clean(self.cell(text, column));
        let labels = labels.join(", ");
        let said = match (labels.is_empty(), name.is_empty()) {
            (true, true) => value,
            (true, false) => format!("{name}: {value}"),
            (false, true) => format!("{labels}: {value}"),
            (false, false) => format!("{labels}, {name}: {value}"),
        };
        self.below_title(said)
    }

    /// Every cell with the name of its column.
    pub(super) fn read_whole(&self, text: &str) -> String {
        let mut parts = Vec::new();
        for at in 0..self.cells.len() {
            let value = clean(self.cell(text, at));
            if value.is_empty() {
                continue;
            }
            let name = self.table.column(at);
            let bare = name.is_empty() || name == value || (at == 0 && !is_plain_number(&value));
            parts.push(if bare { value } else { format!("{name}: {value}") });
        }
        self.below_title(parts.join(", "))
    }

    /// A cell that names the row; a bare number says what it is a number of.
    fn label(&self, text: &str, at: usize) -> String {
        let value = clean(self.cell(text, at));
        let name = self.table.column(at);
        if is_plain_number(&value) && !name.is_empty() { format!("{name} {value}") } else { value }
    }

    fn below_title(&self, said: String) -> String {
        let title = &self.table.title;
        let known = words::telling(title).iter().all(|word| said.contains(word.text));
        if title.is_empty() || known { said } else { format!("{title} – {said}") }
    }
}

fn is_plain_number(value: &str) -> bool {
    !value.is_empty()
        && value.chars().all(|character| character.is_ascii_digit() || matches!(character, '#' | '-' | '.'))
}

/// The cells of a row as places, blanks cut off, for a line that starts at this byte.
fn cells(line: &str, start: usize) -> Vec<Range<usize>> {
    let mut bars: Vec<usize> = Vec::new();
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'\\' => escaped = !escaped,
            b'|' if !escaped => bars.push(at),
            _ => escaped = false,
        }
    }
    if bars.last().is_none_or(|last| !line[last + 1..].trim().is_empty()) {
        bars.push(line.len());
    }
    let cell = |pair: &[usize]| {
        let inside = &line[pair[0] + 1..pair[1]];
        let from = pair[0] + 1 + (inside.len() - inside.trim_start().len());
        start + from..start + from + inside.trim().len()
    };
    bars.windows(2).map(cell).collect()
}

/// A cell as prose: no marks of Markdown, one line.
fn clean(cell: &str) -> String {
    let cell = cell.replace("\\|", "|").replace("**", "").replace('`', "").replace("<br>", " ");
    cell.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A caption or heading as the title of a table; a whole paragraph is none.
fn title(above: &str) -> String {
    let title = clean(above);
    let title = title.trim().trim_end_matches([':', '.', '：']).trim();
    if title.chars().count() > LONGEST_TITLE || title.starts_with('|') {
        String::new()
    } else {
        title.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_as_sentences() {
        let line = "| 1003 | 5 March | a\\|b |";
        let table = Arc::new(Table::new("Orders:", "| Order | Shipped | **My_note** |"));
        assert_eq!(table.columns, ["Order", "Shipped", "My note"]);
        let row = Row::new(table, line, 0);
        assert_eq!(row.cell(line, 2), "a\\|b");
        assert_eq!(row.read_cell(line, 1, &[0]), "Orders – Order 1003, Shipped: 5 March");
        assert_eq!(row.read_whole(line), "Orders – Order: 1003, Shipped: 5 March, My note: a|b");
        assert_eq!(&line[row.place(line).unwrap()], "1003 | 5 March | a\\|b");
    }

    #[test]
    fn rules_and_odd_rows_are_known() {
        assert!(is_rule("|---|:-:|") && is_rule("| - | - |"));
        assert!(!is_rule("| - |a") && !is_rule("---") && !is_rule("| a | - |"));
        assert_eq!(cells("|", 0).len(), 0);
        assert_eq!(cells("|a", 3), vec![Range { start: 4, end: 5 }]);
        assert_eq!(cells("||", 0), vec![Range { start: 1, end: 1 }]);
        assert_eq!(Table::below("", "H").columns.len(), 0);
    }
}
