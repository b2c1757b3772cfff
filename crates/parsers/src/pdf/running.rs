//! Recognises headings and page numbers that run over the pages of a PDF, and drops them.

use std::collections::HashMap;

use super::lines::Line;

/// The share of the page's height, at the top and at the bottom, in which running lines stand.
const MARGIN: f32 = 0.12;
/// So many pages must carry a line before it can be a running one: shorter documents keep everything.
pub(super) const FEWEST_PAGES: usize = 3;

/// A page while running lines are looked for.
pub(super) struct Sheet {
    pub(super) lines: Vec<Line>,
    pub(super) height: f32,
}

/// What two running lines have in common: their words without numbers, and their height on the page.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    words: String,
    height: i32,
}

/// Drops lines that repeat at the same height over many pages.
pub(super) fn drop_running(sheets: &mut [Sheet]) {
    if sheets.len() < FEWEST_PAGES {
        return;
    }
    let mut counts: HashMap<Key, usize> = HashMap::new();
    for sheet in sheets.iter() {
        let mut seen: Vec<Key> = candidates(sheet).map(|(_, key)| key).collect();
        seen.sort_unstable_by(|a, b| (a.height, &a.words).cmp(&(b.height, &b.words)));
        seen.dedup();
        for key in seen {
            *counts.entry(key).or_default() += 1;
        }
    }
    // Left and right pages differ, and chapters change the line: a fifth of all pages, or a dozen of them, is a habit.
    let needed = FEWEST_PAGES.max((sheets.len() / 5).min(12));
    for sheet in sheets {
        let running: Vec<usize> =
            candidates(sheet).filter(|(_, key)| nearby(&counts, key) >= needed).map(|(at, _)| at).collect();
        // A page of nothing but running lines keeps them: it would be empty.
        if running.len() < sheet.lines.len() {
            let mut at = 0;
            sheet.lines.retain(|_| {
                at += 1;
                !running.contains(&(at - 1))
            });
        }
    }
}

/// Heights are counted in steps; a line may fall on either side of one.
fn nearby(counts: &HashMap<Key, usize>, key: &Key) -> usize {
    (-1..=1).filter_map(|step| counts.get(&Key { words: key.words.clone(), height: key.height + step })).sum()
}

fn candidates(sheet: &Sheet) -> impl Iterator<Item = (usize, Key)> + '_ {
    let inside = move |line: &Line| {
        line.upright && (line.base < sheet.height * MARGIN || line.base > sheet.height * (1.0 - MARGIN))
    };
    let key =
        |line: &Line| Key { words: without_numbers(&line.text), height: (line.base / 4.0).round() as i32 };
    sheet
        .lines
        .iter()
        .enumerate()
        .filter(move |(_, line)| inside(line))
        .map(move |(at, line)| (at, key(line)))
}

fn without_numbers(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_numeric() {
            if !words.ends_with('#') {
                words.push('#');
            }
        } else if !character.is_whitespace() {
            words.extend(character.to_lowercase());
        }
    }
    // Roman page numbers of a preface count like others.
    if !words.is_empty() && words.chars().all(|character| "ivxlc".contains(character)) {
        return "#".to_owned();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(texts: &[(&str, f32)]) -> Sheet {
        let line = |(text, base): &(&str, f32)| Line {
            text: (*text).to_owned(),
            cells: Vec::new(),
            left: 0.0,
            right: 100.0,
            base: *base,
            size: 10.0,
            block: 0,
            upright: true,
        };
        Sheet { lines: texts.iter().map(line).collect(), height: 800.0 }
    }

    #[test]
    fn running_lines_go_and_body_text_stays() {
        let mut sheets: Vec<Sheet> = (1..6)
            .map(|page| {
                let (body, number) = (format!("Body of {page}"), format!("Page {page}"));
                sheet(&[
                    ("Annual report", 30.0),
                    (body.as_str(), 50.0),
                    ("Same", 400.0),
                    (number.as_str(), 780.0),
                ])
            })
            .collect();
        drop_running(&mut sheets);
        let texts: Vec<_> = sheets[1].lines.iter().map(|line| line.text.as_str()).collect();
        // "Body of #" repeats too, but only because the example is short of words.
        assert!(texts.contains(&"Same") && !texts.contains(&"Annual report") && !texts.contains(&"Page 2"));
    }

    #[test]
    fn two_pages_keep_everything() {
        let mut sheets = vec![sheet(&[("Head", 30.0)]), sheet(&[("Head", 30.0), ("x", 300.0)])];
        drop_running(&mut sheets);
        assert_eq!(sheets[1].lines.len(), 2);
    }
}
