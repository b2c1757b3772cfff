//! Owns the blocks that flowing documents are made of, and how they are written as Markdown.

use crate::clean;

/// One block of a flowing document, in reading order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// A heading and its level, from 1.
    Heading(u8, String),
    /// A paragraph; line breaks within it are kept.
    Paragraph(String),
    /// One item of a list.
    Item { depth: usize, marker: Marker, text: String },
    /// A table.
    Table(Table),
    /// Text whose blanks and line breaks matter.
    Code(String),
    /// The document says that a new page starts here.
    PageBreak,
    /// A part of the document with a name of its own starts here: a chapter, an attachment.
    Part(String),
}

/// What stands before a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// A bullet of any shape.
    Bullet,
    /// The number of the item.
    Number(u32),
    /// A box, ticked or not.
    Checkbox(bool),
}

/// A table as rows of cells; the first row is the header.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<String>>,
}

impl Block {
    /// Writes the block as Markdown, without a line end.
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Heading(level, text) => {
                out.extend(std::iter::repeat_n('#', usize::from((*level).clamp(1, 6))));
                out.push(' ');
                out.push_str(&clean::one_line(text));
            }
            Self::Paragraph(text) => push_lines(out, text, ""),
            Self::Item { depth, marker, text } => {
                // Deeper than this is a loop in the file, not a thought in a list.
                const DEEPEST: usize = 12;
                let indent = "    ".repeat((*depth).min(DEEPEST));
                out.push_str(&indent);
                match marker {
                    Marker::Bullet => out.push_str("- "),
                    Marker::Number(number) => out.push_str(&format!("{number}. ")),
                    Marker::Checkbox(true) => out.push_str("- [x] "),
                    Marker::Checkbox(false) => out.push_str("- [ ] "),
                }
                push_lines(out, text, &format!("{indent}  "));
            }
            Self::Table(table) => table.write(out),
            Self::Code(text) => {
                out.push_str("```\n");
                out.push_str(text.trim_matches('\n'));
                out.push_str("\n```");
            }
            Self::PageBreak | Self::Part(_) => {}
        }
    }

    /// Whether the block carries no text.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Heading(_, text) | Self::Paragraph(text) | Self::Item { text, .. } | Self::Code(text) => {
                text.trim().is_empty()
            }
            Self::Table(table) => table.is_empty(),
            Self::PageBreak | Self::Part(_) => false,
        }
    }
}

fn push_lines(out: &mut String, text: &str, indent: &str) {
    let mut first = true;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !first {
            out.push('\n');
            out.push_str(indent);
        }
        out.push_str(line);
        first = false;
    }
}

impl Table {
    /// Whether no cell holds text.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.iter().flatten().all(|cell| cell.trim().is_empty())
    }

    /// The rows without empty rows and columns at the edges, all of one width.
    pub(crate) fn trimmed(&self) -> Self {
        let filled = |row: &Vec<String>| row.iter().any(|cell| !cell.trim().is_empty());
        let rows: Vec<_> = self.rows.iter().filter(|row| filled(row)).collect();
        let used =
            |row: &&Vec<String>| row.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |at| at + 1);
        let first_used = |row: &&Vec<String>| row.iter().position(|cell| !cell.trim().is_empty());
        let width = rows.iter().map(used).max().unwrap_or(0);
        let start = rows.iter().filter_map(first_used).min().unwrap_or(0);
        let cut =
            |row: &Vec<String>| (start..width).map(|at| row.get(at).cloned().unwrap_or_default()).collect();
        Self { rows: rows.into_iter().map(cut).collect() }
    }

    /// Writes the table as a Markdown pipe table.
    pub(crate) fn write(&self, out: &mut String) {
        for (index, row) in self.trimmed().rows.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            write_row(out, row);
            if index == 0 {
                out.push('\n');
                write_rule(out, row.len());
            }
        }
    }
}

/// Writes one row of a pipe table.
pub(crate) fn write_row(out: &mut String, row: &[String]) {
    out.push('|');
    for cell in row {
        out.push(' ');
        out.push_str(&clean::one_line(cell).replace('|', "\\|"));
        out.push_str(" |");
    }
}

/// Writes the rule under the header of a pipe table.
pub(crate) fn write_rule(out: &mut String, columns: usize) {
    out.push('|');
    for _ in 0..columns {
        out.push_str(" - |");
    }
}

/// A number in Roman numerals, in small letters.
pub(crate) fn roman(number: u32) -> String {
    const VALUES: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    // Romans had no way to write more, and a hostile number would write forever.
    let mut rest = number.min(10_000);
    let mut out = String::new();
    for (value, letters) in VALUES {
        while rest >= value {
            out.push_str(letters);
            rest -= value;
        }
    }
    out
}

/// Writes blocks as Markdown with an empty line between them, list items tightly.
pub(crate) fn markdown(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut previous_item = false;
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let item = matches!(block, Block::Item { .. });
        if matches!(block, Block::PageBreak | Block::Part(_)) {
            continue;
        }
        if !out.is_empty() {
            out.push_str(if item && previous_item { "\n" } else { "\n\n" });
        }
        block.write(&mut out);
        previous_item = item;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]]) -> Table {
        Table { rows: rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect() }
    }

    #[test]
    fn a_table_becomes_pipes_without_empty_edges() {
        let mut out = String::new();
        table(&[&["", "a", "b|c", ""], &["", "", "", ""], &["", "1", "two\nlines"]]).write(&mut out);
        assert_eq!(out, "| a | b\\|c |\n| - | - |\n| 1 | two lines |");
    }

    #[test]
    fn lists_are_tight_and_nested() {
        let item = |depth, marker, text: &str| Block::Item { depth, marker, text: text.into() };
        let text = markdown(&[
            Block::Heading(2, "T".into()),
            item(0, Marker::Number(1), "one"),
            item(1, Marker::Bullet, "in"),
            item(0, Marker::Checkbox(true), "done"),
        ]);
        assert_eq!(text, "## T\n\n1. one\n    - in\n- [x] done");
    }
}
