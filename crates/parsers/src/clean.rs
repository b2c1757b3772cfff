//! Owns what clean text is: NFC, no control characters, no trailing blanks, at most one empty line in a row.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Cleans the text of a whole page.
pub(crate) fn page_text(text: &str) -> String {
    let text = characters(text);
    let mut clean = String::with_capacity(text.len());
    let mut empty_lines = 0;
    for line in text.split('\n') {
        let line = line.trim_end();
        if line.is_empty() {
            empty_lines += 1;
            continue;
        }
        if !clean.is_empty() {
            clean.push('\n');
            if empty_lines > 0 {
                clean.push('\n');
            }
        }
        empty_lines = 0;
        clean.push_str(line);
    }
    clean
}

/// Cleans a text that must stay on one line: a label, a title, a table cell.
pub(crate) fn one_line(text: &str) -> String {
    let text = characters(text);
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Cleans one word of a line: what one character stands for may hold blanks.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(characters(text))
}

/// Cuts a label to a length a list can show.
pub(crate) fn label(text: &str) -> String {
    /// Longer than nearly every slide title, short enough for a line of a list.
    const LABEL_CHARACTERS: usize = 120;
    let line = one_line(text);
    match line.char_indices().nth(LABEL_CHARACTERS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

fn characters(text: &str) -> String {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t') {
        return text.to_owned();
    }
    let mut mapped = String::with_capacity(text.len());
    let mut previous = ' ';
    for character in text.chars() {
        match character {
            '\n' if previous == '\r' => {}
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => mapped.push('\n'),
            '\n' | '\t' => mapped.push(character),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => mapped.push(' '),
            // Invisible: soft hyphen, zero-width space, byte order mark, directional marks (order is logical already).
            '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => {}
            '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}' => {}
            // Ligatures and presentation forms are shapes, not letters: nobody searches for them.
            '\u{fb00}'..='\u{fb06}' | '\u{fb50}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}' => {
                mapped.extend(std::iter::once(character).nfkc());
            }
            other if other.is_control() => {}
            other => mapped.push(other),
        }
        previous = character;
    }
    match is_nfc_quick(mapped.chars()) {
        IsNormalized::Yes => mapped,
        _ => mapped.nfc().collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn empty_lines_and_control_characters_go() {
        assert_eq!(page_text("\n\na \u{0}b\r\n\r\n\r\n\nc\u{7}\td  \n\n"), "a b\n\nc\td");
    }

    #[test]
    fn letters_are_composed_and_ligatures_opened() {
        assert_eq!(page_text("e\u{301} \u{fb01}n co\u{ad}op"), "é fin coop");
    }

    #[test]
    fn a_label_stays_on_one_line() {
        assert_eq!(label(" a\n b\t c "), "a b c");
        assert_eq!(label(&"x".repeat(500)).chars().count(), 121);
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(text in "\\PC{0,200}|[\\x00-\\x20a-c]{0,60}") {
            let once = page_text(&text);
            prop_assert_eq!(page_text(&once), once.clone());
            prop_assert!(!once.contains("\n\n\n"));
            prop_assert!(once.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        }
    }
}
