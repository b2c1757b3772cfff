//! Reads what the pages of a PDF call themselves.

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};

use super::text_string;
use crate::blocks::roman;

/// A range of pages that is counted in one style.
#[derive(Debug, PartialEq, Eq, Clone)]
struct Range {
    /// The first page of the range, from 0.
    page: usize,
    style: Option<char>,
    prefix: String,
    start: u32,
}

/// The labels of the first `count` pages; empty where the file states none.
pub(super) fn labels(pdf: &Pdf, count: usize) -> Vec<String> {
    let xref = pdf.xref();
    let root: Option<Dict<'_>> = xref.get(xref.root_id());
    let Some(tree) = root.and_then(|root| root.get::<Dict<'_>>(b"PageLabels")) else { return Vec::new() };
    let mut ranges = Vec::new();
    number_tree(&tree, 0, &mut ranges);
    ranges.sort_by_key(|range| range.page);
    spell(&ranges, count)
}

/// Number trees may nest; a loop must end.
fn number_tree(node: &Dict<'_>, depth: usize, ranges: &mut Vec<Range>) {
    const DEEPEST: usize = 16;
    const MOST_RANGES: usize = 20_000;
    if depth > DEEPEST || ranges.len() > MOST_RANGES {
        return;
    }
    if let Some(numbers) = node.get::<Array<'_>>(b"Nums") {
        let items: Vec<Object<'_>> = numbers.iter::<Object<'_>>().collect();
        for pair in items.chunks_exact(2) {
            let (Some(page), Some(label)) = (pair[0].clone().into_i32(), pair[1].clone().into_dict()) else {
                continue;
            };
            let Ok(page) = usize::try_from(page) else { continue };
            let style = label.get::<Name<'_>>(b"S").and_then(|style| style.as_str().chars().next());
            let prefix = label
                .get::<PdfString<'_>>(b"P")
                .map(|prefix| text_string(prefix.as_bytes()))
                .unwrap_or_default();
            let start = label.get::<i32>(b"St").and_then(|start| u32::try_from(start).ok()).unwrap_or(1);
            ranges.push(Range { page, style, prefix, start });
        }
    }
    if let Some(kids) = node.get::<Array<'_>>(b"Kids") {
        for kid in kids.iter::<Dict<'_>>() {
            number_tree(&kid, depth + 1, ranges);
        }
    }
}

fn spell(ranges: &[Range], count: usize) -> Vec<String> {
    let mut labels = Vec::with_capacity(count);
    for page in 0..count {
        let range = ranges.iter().rev().find(|range| range.page <= page);
        labels.push(range.map_or_else(String::new, |range| {
            let offset = u32::try_from(page - range.page).unwrap_or(u32::MAX);
            let number = range.start.saturating_add(offset);
            let number = match range.style {
                Some('D') => number.to_string(),
                Some('R') => roman(number).to_uppercase(),
                Some('r') => roman(number),
                Some('A') => letters(number).to_uppercase(),
                Some('a') => letters(number),
                _ => String::new(),
            };
            format!("{}{number}", range.prefix)
        }));
    }
    labels
}

/// a to z, then aa to zz, and so on.
fn letters(number: u32) -> String {
    if number == 0 {
        return String::new();
    }
    let letter = char::from(b'a' + ((number - 1) % 26) as u8);
    std::iter::repeat_n(letter, (((number - 1) / 26) as usize + 1).min(20)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_spelled_in_their_style() {
        let range = |page, style, prefix: &str, start| Range { page, style, prefix: prefix.into(), start };
        let ranges = [range(0, Some('r'), "", 1), range(2, Some('D'), "", 1), range(4, Some('D'), "A-", 8)];
        assert_eq!(spell(&ranges, 6), ["i", "ii", "1", "2", "A-8", "A-9"]);
        assert_eq!((roman(1994), letters(28)), ("mcmxciv".into(), "bb".into()));
    }
}
