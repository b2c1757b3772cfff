//! Finds a quote in a text, word for word: line breaks, runs of blanks, hyphens at line ends and the shape of quotation
//! marks are ignored, nothing else is.

use std::ops::Range;

/// Characters of a quote that can be looked for; longer ones are copies rather than quotes.
const LONGEST: usize = 2_000;
/// The shortest quote: shorter ones occur everywhere.
const SHORTEST: usize = 2;

/// The place of `quote` in `text`, in bytes.
pub(super) fn find(quote: &str, text: &str) -> Option<Range<usize>> {
    let wanted: Vec<char> = flat(quote.trim()).map(|(_, character)| character).collect();
    let letters = wanted.iter().filter(|character| character.is_alphanumeric()).count();
    if letters < SHORTEST || wanted.len() > LONGEST {
        return None;
    }
    let there: Vec<(usize, char)> = flat(text).collect();
    let at = there
        .windows(wanted.len())
        .position(|window| window.iter().zip(&wanted).all(|((_, found), wanted)| found == wanted))?;
    let (start, _) = there[at];
    let (last, _) = there[at + wanted.len() - 1];
    let end = last + text[last..].chars().next().map_or(0, char::len_utf8);
    Some(start..end)
}

/// The characters that count, each with its byte offset.
fn flat(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut blank = false;
    text.char_indices().filter_map(move |(at, character)| {
        let was_blank = std::mem::replace(&mut blank, character.is_whitespace());
        match character {
            '\u{ad}' | '\u{200b}' => {
                blank = was_blank;
                None
            }
            '-' | '‐' | '‑' if line_ends(&text[at + character.len_utf8()..]) => {
                // The blanks behind a broken word are no blank either.
                blank = true;
                None
            }
            character if character.is_whitespace() => (!was_blank).then_some((at, ' ')),
            '“' | '”' | '„' | '«' | '»' => Some((at, '"')),
            '‘' | '’' | '‚' => Some((at, '\'')),
            '–' | '—' | '‐' | '‑' | '−' => Some((at, '-')),
            character => Some((at, character)),
        }
    })
}

/// Whether the line ends here and a letter goes on in the next: the hyphen before was the typesetter's.
fn line_ends(rest: &str) -> bool {
    let mut characters = rest.chars().skip_while(|character| matches!(character, ' ' | '\t' | '\r'));
    characters.next() == Some('\n')
        && characters.find(|character| !character.is_whitespace()).is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found<'a>(quote: &str, text: &'a str) -> Option<&'a str> {
        find(quote, text).map(|range| &text[range])
    }

    #[test]
    fn quotes_are_found_as_they_stand() {
        let text = "The war-\n  ranty lasts\n\ntwo  “full” years – no more. Ünd.";
        assert_eq!(found("the warranty", text), None);
        assert_eq!(
            found("The warranty lasts two \"full\" years", text),
            Some("The war-\n  ranty lasts\n\ntwo  “full” years")
        );
        assert_eq!(found("years - no more.", text), Some("years – no more."));
        assert_eq!(found("Ünd.", text), Some("Ünd."));
        assert_eq!(found("two years", text), None);
        assert_eq!(found(".", text), None);
        assert_eq!(found("", text), None);
        assert_eq!(found("state-of-the-art", "a state-of-the-art thing"), Some("state-of-the-art"));
    }

    proptest! {
        #[test]
        fn what_is_cut_out_is_found_again(text in "[a-zü .\\n“-]{0,80}", from in 0usize..80, length in 0usize..40) {
            let start = text.floor_char_boundary(from.min(text.len()));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            if let Some(place) = find(&text[start..end], &text) {
                let same = |part: &str| flat(part.trim()).map(|(_, c)| c).collect::<String>();
                prop_assert_eq!(same(&text[place]), same(&text[start..end]));
            }
        }
    }
}
