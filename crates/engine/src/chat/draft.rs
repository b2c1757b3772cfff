//! Reads what a model writes, as it comes: whole sentences, and the passages that each one cites.
//!
//! `The warranty lasts two years [1: "for two years from purchase"].` or shorter `… two years [1].`

/// Bytes of a mark at most; a bracket that is longer is text.
const LONGEST_MARK: usize = 2_400;
/// Bytes after which a sentence that does not end is taken as one.
const LONGEST_SENTENCE: usize = 8_000;

/// A citation of a passage, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The passage, from 1; unchecked.
    pub(super) passage: usize,
    /// The words that it quotes.
    pub(super) quote: Option<String>,
}

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Mark(Mark),
}

/// A sentence, the blanks behind it included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sentence {
    pub(super) parts: Vec<Part>,
}

impl Sentence {
    /// The words without the marks.
    pub(super) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Mark(_) => None,
        });
        texts.collect()
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Mark(mark) => Some(mark),
        })
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_string())),
        }
    }
}

/// Text that has come in and is not read yet.
#[derive(Debug, Default)]
pub(super) struct Draft {
    rest: String,
}

impl Draft {
    pub(super) fn push(&mut self, text: &str) {
        self.rest.push_str(text);
    }

    /// The next whole sentence; at the `end` also what is left.
    pub(super) fn next(&mut self, end: bool) -> Option<Sentence> {
        let (sentence, read) = read(&self.rest, end)?;
        self.rest.drain(..read);
        Some(sentence)
    }
}

/// One sentence from the start of `text` and how far it reaches; `None` while it may go on.
fn read(text: &str, end: bool) -> Option<(Sentence, usize)> {
    let mut sentence = Sentence::default();
    let (mut at, mut from) = (0, 0);
    let mut ended = false;
    while let Some(character) = text[at..].chars().next() {
        let next = at + character.len_utf8();
        if character == '[' {
            match mark(&text[at..], end) {
                Reading::More => return None,
                Reading::Marks(marks, length) => {
                    sentence.push(&text[from..at]);
                    sentence.parts.extend(marks.into_iter().map(Part::Mark));
                    (at, from) = (at + length, at + length);
                    continue;
                }
                Reading::Text => {}
            }
        }
        if ended
            && !character.is_whitespace()
            && !matches!(character, '.' | '!' | '?' | '"' | '”' | ')' | '*')
        {
            break;
        }
        at = next;
        ended = ended || character == '\n' || at > LONGEST_SENTENCE || stops(character, &text[next..], end)?;
        if character == '\n' && !text[next..].starts_with('\n') {
            if text[next..].is_empty() && !end {
                return None;
            }
            break;
        }
    }
    if at == text.len() && !end || at == 0 {
        return None;
    }
    sentence.push(&text[from..at]);
    Some((sentence, at))
}

/// Whether a character ends a sentence, by what follows; `None` while that is not known.
fn stops(character: char, rest: &str, end: bool) -> Option<bool> {
    match character {
        '。' | '！' | '？' => Some(true),
        '.' | '!' | '?' => match rest.chars().next() {
            None => end.then_some(true),
            Some(next) => Some(next.is_whitespace() || matches!(next, '[' | '"' | '”' | ')' | '*')),
        },
        _ => Some(false),
    }
}

enum Reading {
    /// Marks and how many bytes they take.
    Marks(Vec<Mark>, usize),
    /// No mark.
    Text,
    /// Not yet known.
    More,
}

/// Reads `[1]`, `[1, 2]` or `[1: "words"]` at the start of `text`.
fn mark(text: &str, end: bool) -> Reading {
    let open = if end || text.len() > LONGEST_MARK { Reading::Text } else { Reading::More };
    let inside = &text[1..];
    let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &inside[digits..];
    if digits == 0 || digits > 4 {
        return if rest.is_empty() { open } else { Reading::Text };
    }
    let number = |text: &str| text.trim().parse::<usize>().ok();
    match rest.trim_start().chars().next() {
        None => open,
        Some(':') => {
            let Some(colon) = rest.find(':') else { return Reading::Text };
            let said = &rest[colon + 1..];
            let quoted = said.trim_start().starts_with(['"', '“', '\'']);
            let close = match quoted {
                true => ["\"]", "”]", "']"]
                    .iter()
                    .filter_map(|close| Some(said.find(close)? + close.len() - 1))
                    .min(),
                false => said.find(']'),
            };
            let Some(close) = close else { return open };
            let quote = said[..close].trim().trim_matches(['"', '“', '”', '\'']).trim().to_string();
            let passage = number(&inside[..digits]).unwrap_or(0);
            Reading::Marks(vec![Mark { passage, quote: Some(quote) }], 1 + digits + colon + 1 + close + 1)
        }
        Some(']' | ',') => {
            let Some(close) = inside.find(']') else { return open };
            let numbers: Option<Vec<usize>> = inside[..close].split(',').map(number).collect();
            let marks = numbers
                .map(|numbers| numbers.into_iter().map(|passage| Mark { passage, quote: None }).collect());
            marks.map_or(Reading::Text, |marks| Reading::Marks(marks, close + 2))
        }
        Some(_) => Reading::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a text in steps of so many bytes and shows what is read of it.
    fn read_in_steps(text: &str, step: usize) -> Vec<String> {
        let mut draft = Draft::default();
        let mut read = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let to = text.ceil_char_boundary((from + step).min(text.len()));
            draft.push(&text[from..to]);
            from = to;
            while let Some(sentence) = draft.next(from == text.len()) {
                read.push(shown(&sentence));
            }
        }
        read
    }

    fn shown(sentence: &Sentence) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Mark(Mark { passage, quote }) => format!("<{passage}|{}>", quote.as_deref().unwrap_or("")),
        };
        sentence.parts.iter().map(part).collect()
    }

    #[test]
    fn sentences_and_marks_are_read_however_they_come_in() {
        let text = "It lasts 2.5 years [1: \"for two. Years\"]. It covers parts. [2] [3, 4] See [note] here!\nAnd [x";
        let expected = [
            "It lasts 2.5 years <1|for two. Years>. ",
            "It covers parts. <2|> <3|><4|> ",
            "See [note] here!\n",
            "And [x",
        ];
        for step in [1, 2, 3, 7, 1000] {
            assert_eq!(read_in_steps(text, step), expected, "steps of {step}");
        }
        assert_eq!(read_in_steps("两年。[1]它很大", 3), ["两年。<1|>", "它很大"]);
    }

    #[test]
    fn a_mark_without_end_is_text_and_memory_stays_small() {
        let flood = format!("[1: \"{}", "x".repeat(20_000));
        assert!(
            read_in_steps(&flood, 500)
                .iter()
                .all(|sentence| sentence.len() <= LONGEST_SENTENCE + LONGEST_MARK + 10)
        );
        assert_eq!(read_in_steps("[99999] [1", 4), ["[99999] [1"]);
    }
}
