//! Puts the segments of a block into lines.

use super::bidi;
use super::segments::Segment;

/// One line of a block.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    /// Parts of the line with wide gaps between them, each with its left and right edge: cells, where it is a table.
    pub(super) cells: Vec<Cell>,
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) base: f32,
    pub(super) size: f32,
    /// Lines of one block share it; paragraphs do not cross it.
    pub(super) block: usize,
    /// Whether the line runs along the page as most text does.
    pub(super) upright: bool,
}

/// A part of a line between wide gaps.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) left: f32,
    pub(super) right: f32,
}

/// A gap of this share of the font size parts cells.
const CELL_GAP: f32 = 1.0;
/// A gap of this share of the font size between two segments is a blank.
const BLANK: f32 = 0.12;

/// The lines of one block, from top to bottom.
pub(super) fn lines(mut segments: Vec<Segment>, block: usize, right_to_left: bool) -> Vec<Line> {
    segments.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut lines = Vec::new();
    let mut rest = segments.into_iter().peekable();
    while let Some(first) = rest.next() {
        let (base, mut size) = (first.base, first.size);
        let mut row = vec![first];
        while let Some(next) = rest.next_if(|next| (next.base - base).abs() < 0.5 * size.max(next.size)) {
            size = size.max(next.size);
            row.push(next);
        }
        row.sort_by(|a, b| a.left.total_cmp(&b.left));
        lines.extend(line(&row, block, right_to_left));
    }
    lines
}

fn line(row: &[Segment], block: usize, right_to_left: bool) -> Option<Line> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut blank = false;
    for segment in row {
        let text = segment.text.trim();
        match cells.last_mut() {
            Some(cell) if segment.left - cell.right < CELL_GAP * segment.size => {
                if blank || segment.left - cell.right > BLANK * segment.size || segment.text.starts_with(' ')
                {
                    cell.text.push(' ');
                }
                cell.text.push_str(text);
                cell.right = cell.right.max(segment.right);
            }
            _ => cells.push(Cell { text: text.to_owned(), left: segment.left, right: segment.right }),
        }
        blank = segment.text.ends_with(' ');
    }
    let turned = cells.iter().any(|cell| bidi::is_right_to_left(&cell.text));
    if turned {
        for cell in &mut cells {
            cell.text = bidi::logical(&cell.text, right_to_left);
        }
        if right_to_left {
            cells.reverse();
        }
    }
    let text = cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" ");
    if text.trim().is_empty() {
        return None;
    }
    // The size most characters have: a large initial or a small exponent does not make a heading.
    let size = row.iter().max_by_key(|segment| segment.text.len()).map_or(10.0, |segment| segment.size);
    Some(Line {
        text,
        left: row.iter().map(|segment| segment.left).fold(f32::MAX, f32::min),
        right: row.iter().map(|segment| segment.right).fold(f32::MIN, f32::max),
        base: row[0].base,
        size,
        block,
        upright: row[0].direction == 0,
        cells,
    })
}
