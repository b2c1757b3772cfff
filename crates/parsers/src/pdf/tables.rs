//! Recognises tables without lines around their cells: rows of cells that stand in columns.

use std::ops::Range;

use super::lines::{Cell, Line};

/// Parts of lines that make a cell.
pub(super) type Parts<'a> = Vec<(&'a Line, Range<usize>)>;
/// Rows of cells; all rows have as many cells.
pub(super) type Rows<'a> = Vec<Vec<Parts<'a>>>;

/// Fewer rows than this may be chance.
const FEWEST_ROWS: usize = 3;
/// Rows of one table: no page has more, and looking for more would take long on a page of nothing but cells.
const MOST_ROWS: usize = 400;
/// Cells longer than this are columns of running text.
const LONGEST_CELL: usize = 80;
/// Characters of a line of a header.
const LONGEST_HEADER: usize = 120;
/// Lines that a header has at most.
const MOST_HEADER_LINES: usize = 2;
/// Lines in a row that fill the first column only, at most: labels of the rows below, and what goes on from the row above.
const MOST_LABELS: usize = 2;

/// The rows of a table whose cells are known.
pub(super) fn of_cells(rows: &[Vec<Vec<Line>>]) -> Rows<'_> {
    rows.iter().map(|row| row.iter().map(|cell| whole(cell)).collect()).collect()
}

fn whole(cell: &[Line]) -> Parts<'_> {
    cell.iter().map(|line| (line, 0..line.text.len())).collect()
}

/// The table that starts with the first line, and how many lines it takes; `None` where there is none.
pub(super) fn table(lines: &[Line]) -> Option<(Rows<'_>, usize)> {
    if let Some(body) = Body::of(lines) {
        return Some((body.rows(), body.used));
    }
    // Words of a header may stand closer together than cells do.
    for count in 1..=MOST_HEADER_LINES {
        let Some(body) = Body::of(lines.get(count..)?) else { continue };
        let header = body.header(&lines[..=count])?;
        let mut rows = vec![header];
        rows.extend(body.rows());
        return Some((rows, count + body.used));
    }
    None
}

/// Lines whose cells stand in columns.
struct Body<'a> {
    /// The left and right edge of each column, in reading order.
    columns: Vec<(f32, f32)>,
    /// The lines of each row.
    lines: Vec<Vec<&'a Line>>,
    /// How many lines they are together.
    used: usize,
}

impl<'a> Body<'a> {
    fn of(lines: &'a [Line]) -> Option<Self> {
        let first = lines.first().filter(|line| is_row(line))?;
        let mut columns: Vec<(f32, f32)> = first.cells.iter().map(|cell| (cell.left, cell.right)).collect();
        let mut rows: Vec<Vec<&Line>> = vec![vec![first]];
        let mut labels: Vec<&Line> = Vec::new();
        let (mut used, mut whole) = (1, 1);
        for (at, pair) in lines.windows(2).enumerate().take(MOST_ROWS) {
            let (before, line) = (&pair[0], &pair[1]);
            let (step, size) = (line.base - before.base, line.size.max(before.size));
            if line.table.is_some() || step <= 0.0 || step >= 3.5 * size {
                break;
            }
            if is_row(line) && fits(&line.cells, &mut columns) {
                for label in labels.drain(..) {
                    // What starts with a small letter goes on with what is above it.
                    match rows.last_mut() {
                        Some(row) if label.text.starts_with(char::is_lowercase) => row.push(label),
                        _ => rows.push(vec![label]),
                    }
                }
                rows.push(vec![line]);
                whole += 1;
                used = at + 2;
            } else if is_label(line, &columns) && step < 2.0 * size && labels.len() < MOST_LABELS {
                labels.push(line);
            } else {
                break;
            }
        }
        let is_full = |row: &&Vec<&Line>| row[0].cells.len() == columns.len();
        let full = rows.iter().filter(is_full).count();
        // Most rows fill all columns; otherwise lines merely happen to have gaps.
        if whole < FEWEST_ROWS || full * 5 < whole * 3 {
            return None;
        }
        let right_to_left = first.cells.len() > 1 && first.cells[0].left > first.cells[1].left;
        columns.sort_by(|a, b| a.0.total_cmp(&b.0));
        if right_to_left {
            columns.reverse();
        }
        Some(Body { columns, lines: rows, used })
    }

    fn rows(&self) -> Rows<'a> {
        let cells = |row: &Vec<&'a Line>| {
            let mut cells: Vec<Parts<'a>> = vec![Vec::new(); self.columns.len()];
            for line in row {
                for cell in &line.cells {
                    if let Some(at) = self.columns.iter().position(|column| overlaps(cell, *column)) {
                        cells[at].push((*line, cell.range.clone()));
                    }
                }
            }
            cells
        };
        self.lines.iter().map(cells).collect()
    }

    /// The lines above as a row, if their words stand over the columns; the last of `lines` is the first row.
    fn header(&self, lines: &'a [Line]) -> Option<Vec<Parts<'a>>> {
        let mut cells: Vec<Parts<'a>> = vec![Vec::new(); self.columns.len()];
        for pair in lines.windows(2) {
            let (line, next) = (&pair[0], &pair[1]);
            let (step, size) = (next.base - line.base, line.size.max(next.size));
            let alike = (line.size - next.size).abs() < 0.2 * size;
            let prose =
                line.text.ends_with(['.', ':', ';', ',']) || line.text.chars().count() > LONGEST_HEADER;
            if line.table.is_some() || !alike || prose || step <= 0.0 || step > 2.6 * size {
                return None;
            }
            for (at, range) in over_columns(line, &self.columns)? {
                cells[at].push((line, range));
            }
        }
        let filled = cells.iter().filter(|cell| !cell.is_empty()).count();
        // The column of labels often has no header.
        (filled >= 2 && filled + 1 >= cells.len()).then_some(cells)
    }
}

/// Which words of a line stand over which column; `None` where they run over from one column to the next.
fn over_columns(line: &Line, columns: &[(f32, f32)]) -> Option<Vec<(usize, Range<usize>)>> {
    /// The gap between words over two columns, in shares of the font size; blanks within a sentence are half as wide.
    const APART: f32 = 0.6;
    let (first, last) = (columns.first()?, columns.last()?);
    // The words over a column of numbers are often wider than the numbers.
    let slack = 4.0 * line.size;
    // Columns that are read from right to left have headers with wide gaps, or none that can be told.
    if first.0 > last.0 || line.left < first.0 - slack || line.right > last.1 + slack {
        return None;
    }
    let borders: Vec<f32> = columns.windows(2).map(|pair| (pair[0].1 + pair[1].0) / 2.0).collect();
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    let mut end = f32::MIN;
    for (range, left, right) in line.words_in(0..line.text.len()) {
        let at = borders.partition_point(|border| *border <= (left + right) / 2.0);
        match found.last_mut() {
            Some((column, words)) if *column == at => words.end = range.end,
            Some((column, _)) if at < *column || left - end < APART * line.size => return None,
            _ => found.push((at, range)),
        }
        end = right;
    }
    Some(found)
}

/// Whether a line is one short text in one of the columns.
fn is_label(line: &Line, columns: &[(f32, f32)]) -> bool {
    let [cell] = &line.cells[..] else { return false };
    let short = line.text.chars().count() <= LONGEST_CELL;
    let mut over = columns.iter().filter(|column| overlaps(cell, **column));
    let (Some(column), None) = (over.next(), over.next()) else { return false };
    short && (cell.left - column.0).abs() < 2.0 * line.size
}

fn is_row(line: &Line) -> bool {
    line.cells.len() >= 2 && line.cells.iter().all(|cell| line.cell(cell).chars().count() <= LONGEST_CELL)
}
fn overlaps(cell: &Cell, column: (f32, f32)) -> bool {
    cell.left < column.1 && cell.right > column.0
}

/// Whether each cell stands in a column of its own; columns grow to their widest cell.
fn fits(cells: &[Cell], columns: &mut [(f32, f32)]) -> bool {
    if cells.len() > columns.len() {
        return false;
    }
    let mut taken = vec![None; columns.len()];
    for (index, cell) in cells.iter().enumerate() {
        let mut hits = columns.iter().enumerate().filter(|(_, column)| overlaps(cell, **column));
        let (Some((at, _)), None) = (hits.next(), hits.next()) else { return false };
        if taken[at].replace(index).is_some() {
            return false;
        }
    }
    for (column, index) in columns.iter_mut().zip(taken) {
        if let Some(cell) = index.map(|index| &cells[index]) {
            *column = (column.0.min(cell.left), column.1.max(cell.right));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::lines::line_of;
    use super::super::segments::Span;
    use super::*;

    fn row(base: f32, cells: &[(&str, f32, f32)]) -> Line {
        let text = cells.iter().map(|(text, ..)| *text).collect::<Vec<_>>().join(" ");
        let mut start = 0;
        let mut line = line_of(&text, 0.0, 300.0);
        line.cells = cells
            .iter()
            .map(|(text, left, right)| {
                let range = start..start + text.len();
                start = range.end + 1;
                Cell { range, left: *left, right: *right }
            })
            .collect();
        Line { base, main_base: base, ..line }
    }

    fn texts(row: &[Vec<(&Line, Range<usize>)>]) -> Vec<String> {
        let text = |(line, range): &(&Line, Range<usize>)| line.text[range.clone()].to_owned();
        row.iter().map(|cell| cell.iter().map(text).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn aligned_rows_make_a_table() {
        let lines = [
            row(10.0, &[("Name", 10.0, 40.0), ("Age", 100.0, 120.0)]),
            row(24.0, &[("Ann", 10.0, 30.0), ("41", 105.0, 115.0)]),
            row(38.0, &[("Bob", 10.0, 32.0), ("7", 110.0, 115.0)]),
            row(80.0, &[("Far away", 10.0, 60.0), ("x", 110.0, 115.0)]),
        ];
        let (rows, used) = table(&lines).expect("a table");
        assert_eq!(used, 3);
        assert_eq!(texts(&rows[1]), ["Ann", "41"]);
    }

    #[test]
    fn labels_and_long_cells_do_not_end_a_table() {
        let mut lines = vec![
            row(10.0, &[("Cash", 10.0, 40.0), ("41", 105.0, 115.0)]),
            row(24.0, &[("Loans to", 10.0, 50.0), ("7", 110.0, 115.0)]),
            row(36.0, &[("others", 10.0, 40.0)]),
            row(50.0, &[("Assets", 10.0, 40.0)]),
            row(64.0, &[("Land", 10.0, 32.0), ("9", 110.0, 115.0)]),
            row(78.0, &[("And so on", 10.0, 60.0)]),
        ];
        let (rows, used) = table(&lines).expect("a table");
        assert_eq!(used, 5, "a label without rows below it is none");
        let texts: Vec<Vec<String>> = rows.iter().map(|row| texts(row)).collect();
        assert_eq!(texts[1..], [vec!["Loans to others", "7"], vec!["Assets", ""], vec!["Land", "9"]]);
        lines[4].base = 300.0;
        assert!(table(&lines).is_none());
    }

    #[test]
    fn words_over_columns_are_their_header() {
        let words = |text: &str, places: &[(usize, f32, f32)]| {
            let mut line = line_of(text, places[0].1, places[places.len() - 1].2);
            line.words = places
                .iter()
                .map(|(start, left, right)| Span { start: *start, left: *left, right: *right })
                .collect();
            line
        };
        let mut lines = vec![
            words("Year Freshwater ducks", &[(0, 10.0, 32.0), (5, 80.0, 130.0), (16, 133.0, 160.0)]),
            row(14.0, &[("2019", 10.0, 32.0), ("120", 105.0, 120.0)]),
            row(28.0, &[("2020", 10.0, 32.0), ("135", 105.0, 120.0)]),
            row(42.0, &[("2021", 10.0, 32.0), ("150", 105.0, 120.0)]),
        ];
        let (rows, used) = table(&lines).expect("a table");
        assert_eq!((used, texts(&rows[0])), (4, vec!["Year".to_owned(), "Freshwater ducks".to_owned()]));
        // A sentence has its blanks where they fall.
        lines[0] = words(
            "In the years that follow",
            &[(0, 10.0, 20.0), (3, 23.0, 40.0), (7, 43.0, 70.0), (13, 73.0, 90.0), (18, 93.0, 120.0)],
        );
        assert!(table(&lines).is_none());
    }

    #[test]
    fn two_rows_are_not_enough() {
        let lines = [
            row(10.0, &[("a", 0.0, 5.0), ("b", 50.0, 55.0)]),
            row(24.0, &[("c", 0.0, 5.0), ("d", 50.0, 55.0)]),
        ];
        assert!(table(&lines).is_none());
    }
}
