//! Cuts a page into blocks in reading order: columns beside each other, paragraphs below each other.

use super::segments::Segment;

/// Cuts deeper than this gain nothing: a page of a newspaper needs about ten.
const DEEPEST: usize = 24;
/// Segments beyond which a page is a drawing full of labels; cutting it would cost much and mean nothing.
const MOST_SEGMENTS: usize = 20_000;

/// A gap between segments: how wide it is and where its middle lies.
#[derive(Clone, Copy)]
struct Gap {
    width: f32,
    middle: f32,
}

/// The blocks of a page, in reading order.
pub(super) fn blocks(segments: Vec<Segment>, right_to_left: bool) -> Vec<Vec<Segment>> {
    let mut blocks = Vec::new();
    if segments.len() > MOST_SEGMENTS {
        blocks.push(segments);
    } else {
        cut(segments, right_to_left, 0, &mut blocks);
    }
    blocks
}

fn cut(segments: Vec<Segment>, right_to_left: bool, depth: usize, blocks: &mut Vec<Vec<Segment>>) {
    if segments.len() <= 1 || depth > DEEPEST {
        if !segments.is_empty() {
            blocks.push(segments);
        }
        return;
    }
    let size = median_size(&segments);
    let gutter = widest(segments.iter().map(|segment| (segment.left, segment.right)));
    if gutter.width > 0.9 * size && are_columns(&segments, gutter, size) {
        let middle = |segment: &Segment| (segment.left + segment.right) / 2.0;
        let (left, right): (Vec<_>, Vec<_>) =
            segments.into_iter().partition(|segment| middle(segment) < gutter.middle);
        let (first, second) = if right_to_left { (right, left) } else { (left, right) };
        cut(first, right_to_left, depth + 1, blocks);
        cut(second, right_to_left, depth + 1, blocks);
        return;
    }
    // The room between two lines of one paragraph is smaller than this.
    let gap = widest(
        segments.iter().map(|segment| (segment.base - 0.8 * segment.size, segment.base + 0.2 * segment.size)),
    );
    if gap.width > 0.35 * size {
        let (above, below): (Vec<_>, Vec<_>) =
            segments.into_iter().partition(|segment| segment.base - 0.3 * segment.size < gap.middle);
        cut(above, right_to_left, depth + 1, blocks);
        cut(below, right_to_left, depth + 1, blocks);
        return;
    }
    blocks.push(segments);
}

/// Whether both sides of a gutter read as columns of text rather than as cells of a table.
fn are_columns(segments: &[Segment], gutter: Gap, size: f32) -> bool {
    /// Fewer lines than this may as well be two cells.
    const FEWEST_LINES: usize = 3;
    /// Shorter lines than this are cells or labels.
    const SHORTEST_LINE: usize = 18;
    /// Where one of so many lines has figures that stand by themselves, they are those of a table.
    const FIGURES: usize = 3;
    let is_left = |segment: &&Segment| (segment.left + segment.right) / 2.0 < gutter.middle;
    let column = |left: bool| {
        let side: Vec<&Segment> = segments.iter().filter(|segment| is_left(segment) == left).collect();
        let lines = line_count(&side, size);
        let characters: usize = side.iter().map(|segment| segment.text.chars().count()).sum();
        let figures: Vec<&Segment> =
            side.iter().filter(|segment| is_figures(&segment.text)).copied().collect();
        lines >= FEWEST_LINES
            && characters / lines.max(1) >= SHORTEST_LINE
            && line_count(&figures, size) * FIGURES < lines
    };
    column(true) && column(false)
}

/// Whether a segment is one number, or several.
pub(super) fn is_figures(text: &str) -> bool {
    text.chars().any(|character| character.is_ascii_digit()) && !text.chars().any(char::is_alphabetic)
}

fn line_count(segments: &[&Segment], size: f32) -> usize {
    let mut lines: Vec<i64> =
        segments.iter().map(|segment| (segment.base / (0.6 * size)).round() as i64).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.len()
}

pub(super) fn median_size(segments: &[Segment]) -> f32 {
    let mut sizes: Vec<f32> = segments.iter().map(|segment| segment.size).collect();
    sizes.sort_unstable_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(10.0).max(0.1)
}

/// The widest gap that no interval covers.
fn widest(intervals: impl Iterator<Item = (f32, f32)>) -> Gap {
    let mut intervals: Vec<(f32, f32)> = intervals.collect();
    intervals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = Gap { width: 0.0, middle: 0.0 };
    let mut end = intervals.first().map_or(0.0, |interval| interval.1);
    for (from, to) in intervals {
        if from - end > best.width {
            best = Gap { width: from - end, middle: (from + end) / 2.0 };
        }
        end = end.max(to);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::segments::segment_of as segment;

    fn first_words(blocks: &[Vec<Segment>]) -> Vec<String> {
        blocks
            .iter()
            .flatten()
            .map(|segment| segment.text.split(' ').next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn two_columns_are_read_one_after_the_other() {
        let mut segments =
            vec![segment("Title over both columns of this page, all the way across it", 50.0, 40.0)];
        for line in 0..5 {
            let base = 80.0 + line as f32 * 12.0;
            segments.push(segment(&format!("l{line} words that fill a column of text"), 50.0, base));
            segments.push(segment(&format!("r{line} words that fill a column of text"), 300.0, base));
        }
        let words = first_words(&blocks(segments, false));
        assert_eq!(words, ["Title", "l0", "l1", "l2", "l3", "l4", "r0", "r1", "r2", "r3", "r4"]);
    }

    #[test]
    fn cells_of_a_table_stay_in_their_row() {
        let mut segments = Vec::new();
        for line in 0..5 {
            let base = 80.0 + line as f32 * 12.0;
            segments.push(segment(&format!("k{line}"), 50.0, base));
            segments.push(segment(&format!("v{line}"), 300.0, base));
        }
        assert_eq!(blocks(segments, false).len(), 1);
    }
}
