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

/// Puts a line that was gathered from left to right into reading order.
///
/// Reordering is its own inverse for lines without nested embeddings, so the seen order is handed to the ordinary
/// algorithm as if it were the read one.
pub(super) fn logical(seen: &str, paragraph_right_to_left: bool) -> String {
    if !is_right_to_left(seen) {
        return seen.to_owned();
    }
    let base = if paragraph_right_to_left { Level::rtl() } else { Level::ltr() };
    let info = BidiInfo::new(seen, Some(base));
    let mut out = String::with_capacity(seen.len());
    for paragraph in &info.paragraphs {
        out.push_str(&info.reorder_line(paragraph, paragraph.range.clone()));
    }
    reattach_marks(&out)
}

/// Vowel signs stand after their letter; in the order seen they came after it too, so reordering put them before.
fn reattach_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut waiting = String::new();
    for character in text.chars() {
        if bidi_class(character) == BidiClass::NSM {
            waiting.push(character);
            continue;
        }
        out.push(character);
        if !character.is_whitespace() {
            out.push_str(&waiting);
            waiting.clear();
        }
    }
    out.push_str(&waiting);
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
    use super::*;

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
