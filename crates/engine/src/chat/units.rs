//! Cuts a passage into what can be quoted alone: a sentence, an item of a list, a row of a table.

use std::ops::Range;

use crate::ingest::chunk::sentences;

/// The places that can be quoted, in order, in bytes. Headings are none: they name, they do not say.
pub(super) fn units(text: &str) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut block: Option<Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        let row = trimmed.starts_with('|');
        let marker = list_marker(trimmed);
        if trimmed.is_empty() || is_heading(trimmed) || row || marker > 0 {
            close(text, block.take(), &mut units);
        }
        if trimmed.is_empty() || is_heading(trimmed) {
            continue;
        }
        if row {
            let rule = trimmed.chars().all(|character| matches!(character, '|' | '-' | ':' | ' '));
            if !rule {
                units.push(start + indent..start + indent + trimmed.len());
            }
            continue;
        }
        block = match block {
            Some(open) => Some(open.start..end),
            None => Some(start + indent + marker..end),
        };
    }
    close(text, block, &mut units);
    units
}

fn close(text: &str, block: Option<Range<usize>>, units: &mut Vec<Range<usize>>) {
    if let Some(block) = block {
        let found = sentences::split(&text[block.clone()]);
        units.extend(found.into_iter().map(|range| block.start + range.start..block.start + range.end));
    }
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&level) && line[level..].starts_with(' ')
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

    #[test]
    fn sentences_items_and_rows_stand_alone() {
        let text = "# Warranty\n\nIt lasts two\nyears. It covers parts.\n- one thing\n- another\n\n| a | b |\n|---|---|\n| 1 | 2 |\n1. first";
        let parts: Vec<&str> = units(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(
            parts,
            [
                "It lasts two\nyears.",
                "It covers parts.",
                "one thing",
                "another",
                "| a | b |",
                "| 1 | 2 |",
                "first"
            ]
        );
        assert!(units("").is_empty() && units("# Only a heading").is_empty());
    }
}
