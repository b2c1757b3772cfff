//! An answer while it is being sent: checked, cut at its limits, counted.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use serde_json::Value;

use super::{
    ChatWorkDone, Finish, Outcome, draft::Draft, language::Language, phrases, prompt, verify::Verifier,
};
use crate::{
    Fault, Reason,
    seams::{
        answerer::{Format, Piece, Pieces, Sampling, Tokens},
        embedder::Embedder,
    },
};

/// What an answer is made of once its passages are known.
pub(super) struct Begun {
    pub(super) verifier: Verifier,
    /// The closest passages, for a question that gets no answer.
    pub(super) near: Vec<(String, u32)>,
    /// The language of fixed sentences.
    pub(super) language: Language,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) sampling: Sampling,
    pub(super) format: Format,
    pub(super) search_units: u64,
    pub(super) context_tokens: usize,
    pub(super) asked_tokens: usize,
}

/// An answer that is being sent. Dropping it stops the work.
pub struct Answering {
    begun: Begun,
    /// `None` once the answerer has ended.
    pieces: Option<Box<dyn Pieces>>,
    draft: Draft,
    /// JSON that has come in.
    whole: String,
    /// Sentences that no citation has followed yet.
    held: String,
    /// Texts that are checked and not yet handed out.
    ready: VecDeque<String>,
    /// What was handed out.
    written: String,
    counted: Option<Tokens>,
    finish: Option<Finish>,
    /// Whether the model was stopped by the token limit.
    short: bool,
    /// Whether anything was found to answer from.
    found: bool,
}

impl Answering {
    pub(super) fn new(mut begun: Begun, pieces: Option<Box<dyn Pieces>>, warnings: Vec<String>) -> Self {
        let found = pieces.is_some();
        let mut ready = VecDeque::new();
        if !found {
            ready.push_back(phrases::nothing_found(begun.language, &begun.near));
        }
        for warning in warnings {
            begun.verifier.warn(warning);
        }
        Answering {
            begun,
            pieces,
            draft: Draft::default(),
            whole: String::new(),
            held: String::new(),
            ready,
            written: String::new(),
            counted: None,
            finish: None,
            short: false,
            found,
        }
    }

    /// The next part of the text; `None` when it has ended.
    pub async fn next(&mut self) -> Result<Option<String>, Fault> {
        loop {
            if self.finish.is_some() {
                return Ok(None);
            }
            if let Some(text) = self.ready.pop_front() {
                let text = self.cut(text);
                if !text.is_empty() {
                    self.written.push_str(&text);
                    return Ok(Some(text));
                }
                continue;
            }
            let Some(pieces) = &mut self.pieces else {
                self.finish = Some(if self.short { Finish::Length } else { Finish::Stop });
                continue;
            };
            match pieces.next().await? {
                Some(piece) => self.take(piece).await?,
                None => {
                    self.pieces = None;
                    self.end().await?;
                }
            }
        }
    }

    /// What the answer took so far.
    pub fn work(&self) -> ChatWorkDone {
        if !self.found {
            return ChatWorkDone::default();
        }
        let generated = self.counted.map_or(0, |counted| counted.completion);
        ChatWorkDone {
            search_units: self.begun.search_units,
            context_tokens: self.begun.context_tokens,
            generated_tokens: generated.max(self.begun.embedder.count_tokens(&self.written)),
        }
    }

    /// What is known once [`next`](Self::next) has given its last part.
    pub fn outcome(mut self) -> Outcome {
        let work = self.work();
        let completion = self.begun.embedder.count_tokens(&self.written);
        let own = Tokens { prompt: self.begun.asked_tokens + work.context_tokens, completion };
        // Only citations that the text shows: they are numbered in order, so the highest number is enough.
        let cited = |index: usize| self.written.contains(&format!("[{index}]"));
        let shown = (1..).take_while(|&index| cited(index)).count();
        let (citations, warnings) = self.begun.verifier.finish(shown);
        Outcome {
            finish: self.finish.unwrap_or(Finish::Stop),
            citations,
            warnings,
            tokens: self.counted.unwrap_or(own),
            work,
        }
    }

    async fn take(&mut self, piece: Piece) -> Result<(), Fault> {
        match piece {
            Piece::Quote(passage, place) => {
                let quote = self.begun.verifier.passages().get(passage.wrapping_sub(1));
                let quote = quote.and_then(|passage| passage.chunk.text.get(place.clone())).map(shown);
                if let Some(quote) = quote {
                    self.quote(passage, place, &quote).await?;
                }
            }
            Piece::Row(passage, place, read) => self.quote(passage, place, &shown(&read)).await?,
            Piece::Plain(text) => self.ready.push_back(text),
            Piece::Text(text) if self.begun.format == Format::Text => {
                self.draft.push(&text);
                self.read(false).await?;
            }
            Piece::Text(text) => self.whole.push_str(&text),
            Piece::Tokens(tokens) => self.counted = Some(tokens),
            Piece::Cut => self.short = true,
        }
        Ok(())
    }

    /// Hands out a cited text.
    async fn quote(&mut self, passage: usize, place: Range<usize>, text: &str) -> Result<(), Fault> {
        if let Some(index) = self.begun.verifier.cite(passage, place).await? {
            let before = self.ready.back().unwrap_or(&self.written);
            let gap = if before.is_empty() || before.ends_with(char::is_whitespace) { "" } else { " " };
            self.ready.push_back(format!("{gap}{text} [{index}]"));
        }
        Ok(())
    }

    /// Checks the whole sentences that have come in. One that no citation supports waits for one that does.
    async fn read(&mut self, end: bool) -> Result<(), Fault> {
        while let Some(sentence) = self.draft.next(end) {
            let cites = sentence.marks().next().is_some();
            if let Some(text) = self.begun.verifier.checked(&sentence).await? {
                self.held.push_str(&text);
                if cites {
                    self.ready.push_back(std::mem::take(&mut self.held));
                }
            }
        }
        Ok(())
    }

    /// The answerer has said all.
    async fn end(&mut self) -> Result<(), Fault> {
        if self.begun.format != Format::Text {
            return self.structured().await;
        }
        self.read(true).await?;
        let held = std::mem::take(&mut self.held);
        let said_nothing = self.written.is_empty() && self.ready.is_empty();
        if said_nothing {
            if !held.trim().is_empty() && !held.contains(prompt::NOTHING) {
                self.begun
                    .verifier
                    .warn("the model's answer was left out: nothing it cites is in the documents".into());
            }
            self.ready.push_back(phrases::nothing_found(self.begun.language, &self.begun.near));
        } else if !held.trim().is_empty() {
            self.begun.verifier.warn("the end of the model's answer was left out: it cites nothing".into());
        }
        Ok(())
    }

    /// JSON is read whole: its texts are checked, its shape is kept.
    async fn structured(&mut self) -> Result<(), Fault> {
        let whole = std::mem::take(&mut self.whole);
        let mut value: Value = serde_json::from_str(whole.trim()).map_err(|_| {
            Fault::new(
                Reason::UpstreamUnavailable,
                "the language model was asked for JSON but returned something else; try again",
            )
        })?;
        self.check_texts(&mut value).await?;
        self.ready.push_back(value.to_string());
        Ok(())
    }

    async fn check_texts(&mut self, value: &mut Value) -> Result<(), Fault> {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => {
                    let mut draft = Draft::default();
                    draft.push(text);
                    let mut checked = String::new();
                    while let Some(sentence) = draft.next(true) {
                        let kept = self.begun.verifier.checked(&sentence).await?;
                        checked.push_str(&kept.unwrap_or_default());
                    }
                    *text = checked;
                }
                Value::Array(values) => waiting.extend(values.iter_mut().rev()),
                Value::Object(fields) => waiting.extend(fields.values_mut().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        Ok(())
    }

    /// As much of a text as may still be written; says why the answer ends where it does.
    fn cut(&mut self, text: String) -> String {
        let mut text = text;
        let stops = self.begun.sampling.stop.iter().filter(|stop| !stop.is_empty());
        if let Some(at) = stops.filter_map(|stop| text.find(stop.as_str())).min() {
            text.truncate(at);
            self.finish = Some(Finish::Stop);
        }
        let Some(most) = self.begun.sampling.max_tokens else { return text };
        let count = |text: &str| self.begun.embedder.count_tokens(text);
        let before = count(&self.written);
        if before + count(&text) <= most {
            return text;
        }
        let mut end = 0;
        for (at, _) in text.char_indices().filter(|(_, character)| character.is_whitespace()) {
            if before + count(&text[..at]) > most {
                break;
            }
            end = at;
        }
        text.truncate(end);
        self.finish = Some(Finish::Length);
        text
    }
}

/// A quote as the text of an answer: on one line, and without `[7]`, which would read as a citation of ours.
fn shown(quote: &str) -> String {
    let mut text = quote.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    while let Some(open) = text[from..].find('[').map(|at| from + at) {
        let digits = text[open + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let close = open + 1 + digits;
        if digits > 0 && text[close..].starts_with(']') {
            text.replace_range(close..=close, ")");
            text.replace_range(open..=open, "(");
        }
        from = open + 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_document_are_not_taken_for_ours() {
        assert_eq!(shown("As  shown\n[7], [x] and [12]."), "As shown (7), [x] and (12).");
        assert_eq!(shown("[["), "[[");
    }
}
