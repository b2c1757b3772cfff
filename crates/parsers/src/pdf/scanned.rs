//! Lays out what was recognised in a picture: the same columns, lines and tables as where a page tells its characters.

use engine::document::Page;
use recognition::Scan;

use super::ink::Weight;
use super::markup::{self, Sizes};
use super::running::Sheet;
use super::segments::{Segment, Span};
use super::{bidi, columns, lines};
use crate::ocr::{self, Read};
use crate::pages;

/// A gap of this share of the letters' size ends a segment: a column, a cell of a table.
const WIDE: f32 = 1.6;

/// The page that was recognised in a picture.
pub(crate) fn recognised_page(read: Read) -> Page {
    let scan = match read {
        Read::Page(page) => return page,
        Read::Scan(scan) => scan,
    };
    let (width, height) = scan.size;
    let sheet = Sheet { lines: layout(&scan), width, height };
    let (written, tables) = markup::write(&sheet, &Sizes::without_headings());
    let mut page = pages::page("", &written.text, tables);
    if page.text.is_empty() {
        return ocr::wordless_page();
    }
    page.layout = written.layout(&page);
    if scan.cut {
        page.warnings.push("the picture holds more lines than are read".into());
    }
    ocr::finished(page, scan.confidence)
}

fn layout(scan: &Scan) -> Vec<lines::Line> {
    let (across, along): (Vec<_>, Vec<_>) = scan.lines.iter().partition(|line| line.across);
    let texts = || scan.lines.iter().flat_map(|line| &line.words).map(|word| word.text.as_str());
    let right_to_left = bidi::mostly_right_to_left(texts());
    let mut all = Vec::new();
    for (block, part) in [along, across].into_iter().enumerate() {
        let segments: Vec<Segment> = part.into_iter().flat_map(segments).collect();
        for segments in columns::blocks(segments, right_to_left) {
            all.extend(lines::lines(segments, 2 * all.len() + block, right_to_left));
        }
    }
    all
}

/// A line as segments, parted where gaps are wide.
fn segments(line: &recognition::Line) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for word in &line.words {
        match segments.last_mut().filter(|last| word.left - last.right < WIDE * line.size) {
            Some(segment) => {
                segment.text.push(' ');
                segment.words.push(Span { start: segment.text.len(), left: word.left, right: word.right });
                segment.text.push_str(&word.text);
                segment.right = segment.right.max(word.right);
            }
            None => segments.push(Segment {
                text: word.text.clone(),
                words: vec![Span { start: 0, left: word.left, right: word.right }],
                left: word.left,
                right: word.right,
                base: line.base,
                size: line.size,
                direction: i32::from(line.across),
                angle: line.angle,
                weight: Weight::default(),
                table: None,
            }),
        }
    }
    segments
}
