//! Turns lines of right-to-left text from the order seen into the order read.

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

/// Whether a text holds letters that are read from right to left.
pub(super) fn is_right_to_left(text: &str) -> bool {
    // No such letter lies below the Hebrew block, so most lines end here.
    text.bytes().any(|byte| byte >= 0xd6) && text.chars().any(right_to_left)
}

fn right_to_left(character: char) -> bool {
    matches!(bidi_class(character), BidiClass::R | BidiClass::AL)
}

/// Puts a line that was gathered from left to right into reading order: its characters, each with the byte of `seen` at
/// which it starts.
///
/// Reordering is its own inverse for lines without nested embeddings, so the seen order is handed to the ordinary
/// algorithm as if it were the read one.
pub(super) fn logical(seen: &str, paragraph_right_to_left: bool) -> Vec<(usize, char)> {
    let base = if paragraph_right_to_left { Level::rtl() } else { Level::ltr() };
    let info = BidiInfo::new(seen, Some(base));
    let mut out = Vec::with_capacity(seen.len());
    for paragraph in &info.paragraphs {
        let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let level = levels.get(run.start).copied().unwrap_or(base);
            let from = run.start;
            let characters = seen[run].char_indices().map(|(at, character)| (from + at, character));
            if level.is_rtl() {
                out.extend(characters.rev());
            } else {
                out.extend(characters);
            }
        }
    }
    reattach_marks(out)
}

/// Vowel signs stand after their letter; in the order seen they came after it too, so reordering put them before.
fn reattach_marks(text: Vec<(usize, char)>) -> Vec<(usize, char)> {
    let mut out = Vec::with_capacity(text.len());
    let mut waiting = Vec::new();
    for (at, character) in text {
        if bidi_class(character) == BidiClass::NSM {
            waiting.push((at, character));
            continue;
        }
        out.push((at, character));
        if !character.is_whitespace() {
            out.append(&mut waiting);
        }
    }
    out.append(&mut waiting);
    out
}

/// Whether most letters of a page are read from right to left.
pub(super) fn mostly_right_to_left<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let (mut right, mut left) = (0usize, 0usize);
    for line in lines {
        for character in line.chars() {
            match bidi_class(character) {
                BidiClass::R | BidiClass::AL => right += 1,
                BidiClass::L => left += 1,
                _ => {}
            }
        }
    }
    right > left
}

#[cfg(test)]
mod tests {
    fn logical(seen: &str, right_to_left: bool) -> String {
        let read = super::logical(seen, right_to_left);
        assert!(read.iter().all(|(at, character)| seen[*at..].starts_with(*character)));
        read.into_iter().map(|(_, character)| character).collect()
    }

    #[test]
    fn seen_order_becomes_read_order() {
        assert_eq!(logical("םולש", true), "שלום");
        assert_eq!(logical("Python תפש 12", true), "12 שפת Python");
        assert_eq!(logical("plain", true), "plain");
    }

    #[test]
    fn numbers_keep_their_order_inside_right_to_left_text() {
        assert_eq!(logical("2024 תנש", true), "שנת 2024");
    }
}
