//! Recognises tables by the lines that are drawn around their cells.
//!
//! Lines that touch each other make a grid; where no line parts two fields of it, they are one cell. What is written in a cell
//! belongs together, however many lines it has.

use std::rc::Rc;

use super::columns::is_figures;
use super::ink::Rule;
use super::lines::{self, Line};
use super::segments::{Segment, Span};

/// Drawn lines this near to each other are one, or touch.
const NEAR: f32 = 3.0;
/// Lines of a page beyond which it is a drawing: each is compared with those across it.
const MOST_RULES: usize = 800;
/// Fields of one grid.
const MOST_FIELDS: usize = 10_000;
/// Characters in a cell: longer ones are boxes of running text.
const LONGEST_CELL: usize = 1_000;
/// Characters in the cells of a table, on average.
const USUAL_CELL: usize = 200;
/// Rows that a header has at most.
const MOST_HEADER_ROWS: usize = 3;
/// Lines of text that the cells of a row have in common before these count as rows of their own.
const FEWEST_SHARED_LINES: usize = 3;

/// A table: rows of cells of lines, in reading order; all rows have as many cells.
#[derive(Debug)]
pub(super) struct Ruled {
    pub(super) rows: Vec<Vec<Vec<Line>>>,
}

/// The segments of a page with one in place of each table, which holds it.
pub(super) fn take_tables(mut segments: Vec<Segment>, rules: &[Rule], right_to_left: bool) -> Vec<Segment> {
    for grid in grids(rules) {
        segments = grid.take(segments, right_to_left);
    }
    segments
}

/// Fields between drawn lines.
struct Grid {
    /// Where its columns begin and end, from the left.
    xs: Vec<f32>,
    /// Where its rows begin and end, from the top.
    ys: Vec<f32>,
    /// The cell of each field, row by row: the first field of the cell.
    cells: Vec<usize>,
}

/// The grids that drawn lines make, of at least two rows and columns.
fn grids(rules: &[Rule]) -> Vec<Grid> {
    let (across, down) = (merged(rules, true), merged(rules, false));
    if across.len() < 2 || down.is_empty() || across.len() + down.len() > MOST_RULES {
        return Vec::new();
    }
    // Lines down come after those across.
    let mut groups = Groups::new(across.len() + down.len());
    for (a, one) in across.iter().enumerate() {
        for (d, other) in down.iter().enumerate() {
            let meets = |at: f32, rule: &Rule| rule.from - NEAR <= at && at <= rule.to + NEAR;
            if meets(other.at, one) && meets(one.at, other) {
                groups.join(a, across.len() + d);
            }
        }
    }
    let firsts = (0..across.len()).filter(|at| groups.find(*at) == *at);
    let mut found = Vec::new();
    for first in firsts {
        let of_group = |rules: &[Rule], offset: usize| -> Vec<Rule> {
            let here = |(at, _): &(usize, &Rule)| groups.find(at + offset) == first;
            rules.iter().enumerate().filter(here).map(|(_, rule)| *rule).collect()
        };
        found.extend(Grid::of(&of_group(&across, 0), &of_group(&down, across.len())));
    }
    found
}

/// Lines of one direction, those that go on with each other as one.
fn merged(rules: &[Rule], horizontal: bool) -> Vec<Rule> {
    let mut rules: Vec<Rule> = rules.iter().filter(|rule| rule.horizontal == horizontal).copied().collect();
    rules.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut merged: Vec<Rule> = Vec::new();
    let mut rest = &rules[..];
    while let Some(first) = rest.first() {
        // Both sides of a thick line, and the pieces of a long one, lie closely together.
        let level = rest.iter().take_while(|rule| rule.at - first.at <= NEAR / 2.0).count();
        let mut pieces = rest[..level].to_vec();
        pieces.sort_by(|a, b| a.from.total_cmp(&b.from));
        let before = merged.len();
        for piece in pieces {
            match merged[before..].last_mut() {
                Some(last) if piece.from <= last.to + NEAR => last.to = last.to.max(piece.to),
                _ => merged.push(piece),
            }
        }
        rest = &rest[level..];
    }
    merged
}

impl Grid {
    fn of(across: &[Rule], down: &[Rule]) -> Option<Self> {
        let (xs, ys) = (places(down, across), places(across, down));
        let (columns, rows) = (xs.len().checked_sub(1)?, ys.len().checked_sub(1)?);
        if columns < 2 || rows < 2 || columns * rows > MOST_FIELDS {
            return None;
        }
        let wall = |rules: &[Rule], at: f32, across: f32| {
            rules.iter().any(|rule| (rule.at - at).abs() <= NEAR && rule.from <= across && across <= rule.to)
        };
        let mut groups = Groups::new(columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = ((xs[column] + xs[column + 1]) / 2.0, (ys[row] + ys[row + 1]) / 2.0);
                let field = row * columns + column;
                if column + 1 < columns && !wall(down, xs[column + 1], y) {
                    groups.join(field, field + 1);
                }
                if row + 1 < rows && !wall(across, ys[row + 1], x) {
                    groups.join(field, field + columns);
                }
            }
        }
        let cells = (0..columns * rows).map(|field| groups.of(field)).collect();
        Some(Grid { xs, ys, cells })
    }

    /// The field at a point.
    fn field(&self, x: f32, y: f32) -> Option<usize> {
        let within = |places: &[f32], at: f32| {
            places.partition_point(|place| *place <= at).checked_sub(1).filter(|nth| nth + 1 < places.len())
        };
        Some(within(&self.ys, y)? * (self.xs.len() - 1) + within(&self.xs, x)?)
    }

    /// Puts a table in place of the segments that are in its cells, if these make one.
    fn take(&self, segments: Vec<Segment>, right_to_left: bool) -> Vec<Segment> {
        let mut written: Vec<Vec<Segment>> = vec![Vec::new(); self.cells.len()];
        let mut outside = Vec::new();
        let mut original = Vec::new();
        for segment in segments {
            let y = segment.base - 0.3 * segment.size;
            let inside = segment.direction == 0
                && segment.table.is_none()
                && self.field((segment.left + segment.right) / 2.0, y).is_some();
            if !inside {
                outside.push(segment);
                continue;
            }
            for part in parted(&segment, &self.xs) {
                let middle =
                    ((part.left + part.right) / 2.0).clamp(self.xs[0], self.xs[self.xs.len() - 1] - 0.1);
                if let Some(field) = self.field(middle, y) {
                    written[self.cells[field]].push(part);
                }
            }
            original.push(segment);
        }
        if !is_table(&written, &self.cells, self.xs.len() - 1) {
            outside.extend(original);
            return outside;
        }
        let cells: Vec<Vec<Line>> =
            written.into_iter().map(|cell| lines::lines(cell, 0, right_to_left)).collect();
        let rows = self.rows(&cells, right_to_left);
        if holds_rows(&rows) || is_stacked(&rows) && self.has_labels(&outside) {
            outside.extend(original);
            return outside;
        }
        outside.push(self.segment(rows));
        outside
    }

    /// Whether text stands to the left of the grid, on the height of most of its rows.
    fn has_labels(&self, outside: &[Segment]) -> bool {
        let (top, bottom) = (self.ys[0], self.ys[self.ys.len() - 1]);
        let beside = |segment: &&Segment| {
            segment.direction == 0
                && segment.right <= self.xs[0] + NEAR
                && (top..bottom).contains(&(segment.base - 0.3 * segment.size))
        };
        outside.iter().filter(beside).count() * 2 >= self.ys.len() - 1
    }

    /// The rows of the table. What spans fields of the header stands in all of them; other cells stand where they begin.
    fn rows(&self, cells: &[Vec<Line>], right_to_left: bool) -> Vec<Vec<Vec<Line>>> {
        let (columns, rows) = (self.xs.len() - 1, self.ys.len() - 1);
        let last_row =
            |cell: usize| self.cells.iter().rposition(|other| *other == cell).map_or(0, |at| at / columns);
        let header = self.cells[..columns].iter().map(|cell| last_row(*cell) + 1).max().unwrap_or(1);
        let header = if header <= MOST_HEADER_ROWS { header } else { 1 };
        let mut table = Vec::new();
        for row in 0..rows {
            let fields = row * columns..(row + 1) * columns;
            let shown = |field: usize| {
                let cell = self.cells[field];
                cell == field || row < header && cell < columns
            };
            let mut cells: Vec<Vec<Line>> = fields
                .map(|field| if shown(field) { cells[self.cells[field]].clone() } else { Vec::new() })
                .collect();
            if right_to_left {
                cells.reverse();
            }
            if cells.iter().any(|cell| !cell.is_empty()) {
                table.extend(split(cells));
            }
        }
        table
    }

    /// What stands for the table among the segments of the page.
    fn segment(&self, rows: Vec<Vec<Vec<Line>>>) -> Segment {
        let (top, bottom) = (self.ys[0], self.ys[self.ys.len() - 1]);
        let text: Vec<&str> = rows.iter().flatten().flatten().map(|line| line.text.as_str()).collect();
        // Where columns are looked for, a segment reaches from 0.8 of its size above its baseline to 0.2 below.
        let size = bottom - top;
        Segment {
            text: text.join(" "),
            words: Vec::new(),
            left: self.xs[0],
            right: self.xs[self.xs.len() - 1],
            base: top + 0.8 * size,
            size,
            direction: 0,
            angle: 0.0,
            weight: Default::default(),
            table: Some(Rc::new(Ruled { rows })),
        }
    }
}

/// Where lines of one direction stand. Lines across them that reach further tell an edge that is not drawn.
fn places(rules: &[Rule], across: &[Rule]) -> Vec<f32> {
    /// Shorter ends are those of thick lines.
    const OVERHANG: f32 = 12.0;
    let mut places: Vec<f32> = Vec::new();
    // Those of one direction are in order.
    for rule in rules {
        if places.last().is_none_or(|last| rule.at - last > NEAR) {
            places.push(rule.at);
        }
    }
    let first = across.iter().map(|rule| rule.from).fold(f32::MAX, f32::min);
    let last = across.iter().map(|rule| rule.to).fold(f32::MIN, f32::max);
    if places.first().is_some_and(|place| place - first > OVERHANG) {
        places.insert(0, first);
    }
    if places.last().is_some_and(|place| last - place > OVERHANG) {
        places.push(last);
    }
    places
}

/// Whether what is written in the fields reads as a table rather than as a form, a drawing or boxes of text.
fn is_table(written: &[Vec<Segment>], cells: &[usize], columns: usize) -> bool {
    let length = |cell: &Vec<Segment>| cell.iter().map(|segment| segment.text.chars().count()).sum::<usize>();
    let filled: Vec<(usize, usize)> = written
        .iter()
        .enumerate()
        .filter(|(_, cell)| !cell.is_empty())
        .map(|(field, cell)| (field, length(cell)))
        .collect();
    let all = cells.iter().enumerate().filter(|(field, cell)| field == *cell).count();
    let distinct = |of: &dyn Fn(usize) -> usize| {
        let mut seen: Vec<usize> = filled.iter().map(|(field, _)| of(*field)).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    let (rows_used, columns_used) = (distinct(&|field| field / columns), distinct(&|field| field % columns));
    let characters: usize = filled.iter().map(|(_, length)| length).sum();
    rows_used >= 2
        && columns_used >= 2
        && filled.len() * 4 >= all
        && filled.iter().all(|(_, length)| *length <= LONGEST_CELL)
        && characters <= USUAL_CELL * filled.len()
}

/// Whether cells hold rows of cells themselves: what is drawn are the edges of a whole table, or lines under its sums.
fn holds_rows(rows: &[Vec<Vec<Line>>]) -> bool {
    /// Lines of text with a number behind a wide gap.
    const FEWEST: usize = 2;
    let parted = |line: &&Line| {
        line.cells.len() > 1 && line.cells.iter().skip(1).any(|cell| is_figures(line.cell(cell)))
    };
    rows.iter().flatten().flatten().filter(parted).count() >= FEWEST
}

/// Whether a cell has several numbers below each other.
fn is_stacked(rows: &[Vec<Vec<Line>>]) -> bool {
    rows.iter().flatten().any(|cell| cell.len() > 1 && cell.iter().all(|line| is_figures(&line.text)))
}

/// A segment cut where a column begins between two of its words.
fn parted(segment: &Segment, xs: &[f32]) -> Vec<Segment> {
    let column = |word: &Span| xs.partition_point(|x| *x <= (word.left + word.right) / 2.0);
    let mut parts: Vec<Segment> = Vec::new();
    for pair in segment.words.chunk_by(|one, next| column(one) == column(next)) {
        let (first, last) = (pair[0], pair[pair.len() - 1]);
        let after = segment.words.partition_point(|word| word.start <= last.start);
        let end = segment.words.get(after).map_or(segment.text.len(), |next| next.start);
        let start = if parts.is_empty() { 0 } else { first.start };
        let words = pair.iter().map(|word| Span { start: word.start - start, ..*word }).collect();
        let left = pair.iter().map(|word| word.left).fold(f32::MAX, f32::min);
        let right = pair.iter().map(|word| word.right).fold(f32::MIN, f32::max);
        parts.push(Segment {
            text: segment.text[start..end].to_owned(),
            words,
            left,
            right,
            ..segment.clone()
        });
    }
    if parts.len() < 2 { vec![segment.clone()] } else { parts }
}

/// The rows that a drawn row really has: where its cells, but for the first, have the same lines of text, each is a row.
fn split(cells: Vec<Vec<Line>>) -> Vec<Vec<Vec<Line>>> {
    let count = cells.iter().skip(1).map(Vec::len).max().unwrap_or(0);
    let longest = cells.iter().skip(1).find(|cell| cell.len() == count);
    let others = cells.iter().skip(1).filter(|cell| !cell.is_empty()).count();
    let (Some(longest), true) = (longest, count >= FEWEST_SHARED_LINES && others >= 2) else {
        return vec![cells];
    };
    let bases: Vec<f32> = longest.iter().map(|line| line.base).collect();
    let on_them = |line: &Line| bases.iter().any(|base| (base - line.base).abs() < 0.4 * line.size);
    // Cells of running text have as many lines as their words need.
    let alike = cells.iter().skip(1).filter(|cell| !cell.is_empty()).all(|cell| {
        cell.iter().all(on_them) && cell.len() * 2 > count && cell.iter().all(|line| line.cells.len() < 2)
    });
    if !alike {
        return vec![cells];
    }
    let mut rows: Vec<Vec<Vec<Line>>> = vec![vec![Vec::new(); cells.len()]; count];
    for (column, cell) in cells.into_iter().enumerate() {
        for line in cell {
            // A first cell of more lines ends on the baseline of its row.
            let row = bases.partition_point(|base| *base < line.base - 0.4 * line.size).min(count - 1);
            rows[row][column].push(line);
        }
    }
    rows
}

/// Sets that are joined; each is named by its first member.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Groups((0..count).collect())
    }

    fn find(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn of(&mut self, at: usize) -> usize {
        let first = self.find(at);
        self.0[at] = first;
        first
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::segments::segment_of as segment;

    fn across(at: f32, from: f32, to: f32) -> Rule {
        Rule { horizontal: true, at, from, to }
    }

    fn down(at: f32, from: f32, to: f32) -> Rule {
        Rule { horizontal: false, at, from, to }
    }

    fn rows(segments: Vec<Segment>, rules: &[Rule]) -> Option<Vec<Vec<String>>> {
        let left = take_tables(segments, rules, false);
        let table = left.into_iter().find_map(|segment| segment.table)?;
        let text =
            |cell: &Vec<Line>| cell.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" / ");
        Some(table.rows.iter().map(|row| row.iter().map(text).collect()).collect())
    }

    #[test]
    fn lines_around_cells_make_a_table_whatever_is_in_them() {
        let rules = [
            across(100.0, 0.0, 300.0),
            across(120.0, 0.0, 300.0),
            across(160.0, 0.0, 300.0),
            down(0.0, 100.0, 160.0),
            down(100.0, 100.0, 160.0),
            down(200.0, 120.0, 160.0),
            down(300.0, 100.0, 160.0),
        ];
        let segments = vec![
            segment("Above it", 0.0, 80.0),
            segment("Name", 5.0, 115.0),
            segment("Both", 105.0, 115.0),
            segment("A name of", 5.0, 135.0),
            segment("two lines", 5.0, 150.0),
            segment("one", 105.0, 135.0),
            segment("two", 205.0, 135.0),
        ];
        let table = rows(segments, &rules).expect("a table");
        assert_eq!(table, [vec!["Name", "Both", "Both"], vec!["A name of / two lines", "one", "two"]]);
    }

    #[test]
    fn rows_without_lines_between_them_are_told_by_their_text() {
        let rules = [
            across(100.0, 0.0, 300.0),
            across(120.0, 0.0, 300.0),
            across(200.0, 0.0, 300.0),
            down(100.0, 100.0, 200.0),
            down(200.0, 100.0, 200.0),
        ];
        let mut segments =
            vec![segment("Item", 5.0, 115.0), segment("2018", 105.0, 115.0), segment("2019", 205.0, 115.0)];
        for (label, base) in [("Sales", 135.0), ("Costs of all", 150.0), ("kinds", 165.0), ("Profit", 180.0)]
        {
            segments.push(segment(label, 5.0, base));
            if label != "Costs of all" {
                segments.push(segment("1", 105.0, base));
                segments.push(segment("2", 205.0, base));
            }
        }
        let table = rows(segments, &rules).expect("a table");
        assert_eq!(table.len(), 4);
        assert_eq!(table[2], ["Costs of all / kinds", "1", "2"]);
    }

    #[test]
    fn a_segment_over_two_columns_is_cut_between_words() {
        let rules = [
            across(0.0, 0.0, 200.0),
            across(20.0, 0.0, 200.0),
            across(40.0, 0.0, 200.0),
            down(0.0, 0.0, 40.0),
            down(50.0, 0.0, 40.0),
            down(200.0, 0.0, 40.0),
        ];
        let table =
            rows(vec![segment("one two", 25.0, 15.0), segment("3", 5.0, 35.0)], &rules).expect("a table");
        assert_eq!(table, [["one", "two"], ["3", ""]]);
    }

    #[test]
    fn frames_and_drawings_are_no_tables() {
        let frame =
            [across(0.0, 0.0, 200.0), across(90.0, 0.0, 200.0), down(0.0, 0.0, 90.0), down(200.0, 0.0, 90.0)];
        assert!(rows(vec![segment("words", 5.0, 15.0)], &frame).is_none());
        let paper: Vec<Rule> = (0..20)
            .flat_map(|n| [across(n as f32 * 10.0, 0.0, 190.0), down(n as f32 * 10.0, 0.0, 190.0)])
            .collect();
        assert!(rows(vec![segment("axis", 5.0, 15.0)], &paper).is_none());
        let many: Vec<Rule> = (0..5_000).map(|n| across(n as f32 * 10.0, 0.0, 190.0)).collect();
        assert!(rows(vec![segment("map", 5.0, 15.0)], &many).is_none());
    }
}
