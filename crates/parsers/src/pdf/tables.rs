//! Recognises simple tables among the lines of a page: rows of cells that stand in columns.

use std::ops::Range;

use super::lines::{Cell, Line};

/// Rows of cells, each of parts of lines; all rows have as many cells.
pub(super) type Rows<'a> = Vec<Vec<Vec<(&'a Line, Range<usize>)>>>;

/// Fewer rows than this may be chance.
const FEWEST_ROWS: usize = 3;
/// Cells longer than this are columns of running text.
const LONGEST_CELL: usize = 80;

/// The table that starts with the first line, and how many lines it takes; `None` where there is none.
pub(super) fn table(lines: &[Line]) -> Option<(Rows<'_>, usize)> {
    let first = lines.first()?;
    if !is_row(first) {
        return None;
    }
    let mut columns: Vec<(f32, f32)> = first.cells.iter().map(|cell| (cell.left, cell.right)).collect();
    let mut rows: Vec<&Line> = vec![first];
    for line in &lines[1..] {
        let before = rows[rows.len() - 1];
        let near = line.base > before.base && line.base - before.base < 3.5 * line.size.max(before.size);
        if !near || !is_row(line) || !fits(&line.cells, &mut columns) {
            break;
        }
        rows.push(line);
    }
    let full = rows.iter().filter(|row| row.cells.len() == columns.len()).count();
    // Most rows fill all columns; otherwise lines merely happen to have gaps.
    if rows.len() < FEWEST_ROWS || full * 5 < rows.len() * 3 {
        return None;
    }
    let right_to_left = first.cells.len() > 1 && first.cells[0].left > first.cells[1].left;
    columns.sort_by(|a, b| a.0.total_cmp(&b.0));
    if right_to_left {
        columns.reverse();
    }
    let used = rows.len();
    let cells = |row: &Line| {
        let mut cells = vec![Vec::new(); columns.len()];
        for cell in &row.cells {
            if let Some(at) = columns.iter().position(|column| overlaps(cell, *column)) {
                cells[at].push(cell.range.clone());
            }
        }
        cells
    };
    Some((rows.into_iter().map(|row| with_line(row, cells(row))).collect(), used))
}

fn with_line(line: &Line, cells: Vec<Vec<Range<usize>>>) -> Vec<Vec<(&Line, Range<usize>)>> {
    cells.into_iter().map(|cell| cell.into_iter().map(|range| (line, range)).collect()).collect()
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
    fn two_rows_are_not_enough() {
        let lines = [
            row(10.0, &[("a", 0.0, 5.0), ("b", 50.0, 55.0)]),
            row(24.0, &[("c", 0.0, 5.0), ("d", 50.0, 55.0)]),
        ];
        assert!(table(&lines).is_none());
    }
}
