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
    pub(super) width: f32,
    pub(super) height: f32,
}

/// What two running lines have in common: their words, their height, and how far their number is from the page's.
#[derive(PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
struct Key {
    words: String,
    height: i32,
    offset: Option<i64>,
}

/// Drops lines that repeat at the same height over many pages.
pub(super) fn drop_running(sheets: &mut [Sheet]) {
    if sheets.len() < FEWEST_PAGES {
        return;
    }
    let mut counts: HashMap<Key, usize> = HashMap::new();
    for (page, sheet) in sheets.iter().enumerate() {
        let mut seen: Vec<Key> = candidates(sheet).flat_map(|(_, line)| keys(line, page)).collect();
        seen.sort_unstable();
        seen.dedup();
        for key in seen {
            *counts.entry(key).or_default() += 1;
        }
    }
    // Left and right pages differ, and chapters change the line: a fifth of all pages, or a dozen of them, is a habit.
    let needed = FEWEST_PAGES.max((sheets.len() / 5).min(12));
    for (page, sheet) in sheets.iter_mut().enumerate() {
        let repeats = |line: &Line| keys(line, page).iter().any(|key| nearby(&counts, key) >= needed);
        let running: Vec<usize> =
            candidates(sheet).filter(|(_, line)| repeats(line)).map(|(at, _)| at).collect();
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
    (-1..=1).filter_map(|step| counts.get(&Key { height: key.height + step, ..key.clone() })).sum()
}

/// The lines that stand where running lines do.
fn candidates(sheet: &Sheet) -> impl Iterator<Item = (usize, &Line)> {
    let inside = |line: &Line| {
        line.upright && (line.base < sheet.height * MARGIN || line.base > sheet.height * (1.0 - MARGIN))
    };
    sheet.lines.iter().enumerate().filter(move |(_, line)| inside(line))
}

/// What a line is compared by: its whole text, and its text with one number taken as the page's. A number that does not
/// count with the pages (an invoice's, a chapter's) is never taken for one.
fn keys(line: &Line, page: usize) -> Vec<Key> {
    /// Page, count of pages, year: lines with more numbers are data.
    const MOST_NUMBERS: usize = 3;
    let height = (line.base / 4.0).round() as i32;
    let text: String = line.text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if !text.is_empty() && text.len() < 8 && text.chars().all(|character| "ivxlc".contains(character)) {
        return vec![Key { words: "roman".to_owned(), height, offset: None }];
    }
    let mut keys = Vec::new();
    let mut rest = 0;
    while let Some(start) =
        text[rest..].find(|character: char| character.is_ascii_digit()).map(|at| rest + at)
    {
        let end = text[start..]
            .find(|character: char| !character.is_ascii_digit())
            .map_or(text.len(), |at| start + at);
        if let Ok(number) = text[start..end].parse::<u32>() {
            let words = format!("{}#{}", &text[..start], &text[end..]);
            keys.push(Key { words, height, offset: Some(i64::from(number) - page as i64) });
        }
        rest = end;
    }
    if keys.len() > MOST_NUMBERS {
        keys.clear();
    }
    keys.push(Key { words: text, height, offset: None });
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(texts: &[(&str, f32)]) -> Sheet {
        let line = |(text, base): &(&str, f32)| Line {
            base: *base,
            main_base: *base,
            ..super::super::lines::line_of(text, 0.0, 100.0)
        };
        Sheet { lines: texts.iter().map(line).collect(), width: 600.0, height: 800.0 }
    }

    #[test]
    fn running_lines_go_and_body_text_stays() {
        let mut sheets: Vec<Sheet> = (1..6)
            .map(|page| {
                let (body, number) = (format!("Body of {}", page * page + 13), format!("Page {page}"));
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
        assert_eq!(texts, ["Body of 17", "Same"]);
    }

    #[test]
    fn two_pages_keep_everything() {
        let mut sheets = vec![sheet(&[("Head", 30.0)]), sheet(&[("Head", 30.0), ("x", 300.0)])];
        drop_running(&mut sheets);
        assert_eq!(sheets[1].lines.len(), 2);
    }
}
