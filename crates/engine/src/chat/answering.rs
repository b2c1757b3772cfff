//! An answer while it is being sent: checked, cut at its limits, counted.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::Arc,
};

use serde_json::Value;

use super::{
    ChatWorkDone, Extractive, Finish, Outcome,
    draft::Draft,
    language::Language,
    phrases, prompt,
    structured::{self, Node},
    verify::{Checked, Verifier},
    words,
};
use crate::{
    Fault, Reason,
    seams::{
        answerer::{Answerer, Brief, Format, Passage, Piece, Pieces, Sampling, Tokens},
        embedder::Embedder,
    },
};

/// What an answer is made of once its passages are known.
pub(super) struct Begun {
    pub(super) verifier: Verifier,
    /// What was asked, in the asker's words; `None` where that was no question to the documents.
    pub(super) asked: Option<String>,
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
    /// For a model's answer of which nothing remains.
    pub(super) quoting: Quoting,
}

/// What is quoted where nothing that a model wrote can be delivered.
#[derive(Default)]
pub(super) struct Quoting {
    by: Option<(Arc<Extractive>, Brief)>,
    used: bool,
}

impl Quoting {
    pub(super) fn by(extractive: Arc<Extractive>, brief: Brief) -> Self {
        Quoting { by: Some((extractive, brief)), used: false }
    }

    /// The quotes, once.
    async fn pieces(&mut self) -> Result<Option<Box<dyn Pieces>>, Fault> {
        let Some((extractive, brief)) = self.by.take() else { return Ok(None) };
        let pieces = extractive.answer(brief).await?;
        self.used = pieces.is_some();
        Ok(pieces)
    }
}

impl Begun {
    /// The schema that the answer follows.
    fn schema(&self) -> Option<&Value> {
        match &self.format {
            Format::Schema(wrapped) => Some(structured::unwrapped(wrapped)),
            Format::Text | Format::Object => None,
        }
    }

    /// A sentence of ours in the format that is wanted.
    fn wrapped(&self, sentence: &str) -> String {
        if self.format == Format::Text {
            return sentence.to_string();
        }
        let node = Node::nothing(self.schema(), sentence);
        serde_json::to_string(&node).unwrap_or_else(|_| "{}".into())
    }

    /// What remains of a text of a JSON answer: the sentences that are supported, beside what they belong to.
    async fn checked_text(&mut self, text: &str, beside: &[String]) -> Result<String, Fault> {
        let mut draft = Draft::default();
        draft.push(text);
        let mut checked = String::new();
        while let Some(sentence) = draft.next(true) {
            let said = sentence.text();
            let marked = sentence.marks().next().is_some();
            if marked {
                if let Checked::Cited(text) = self.verifier.checked(&sentence).await? {
                    checked.push_str(&text);
                }
            } else if words::telling(&said).is_empty()
                || self.verifier.supported(&said, None, beside).await?.is_some()
            {
                checked.push_str(&said);
            }
        }
        if checked.trim().is_empty() && !text.trim().is_empty() {
            self.verifier.warn("a text of the JSON was left out: the documents do not say it".into());
            return Ok(String::new());
        }
        Ok(checked)
    }
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
    /// Whether all that it says is that nothing was found.
    nothing: bool,
    /// Whether a sentence was left out, and whether the model said that there is no answer.
    dropped: bool,
    refused: bool,
}

impl Answering {
    pub(super) fn new(mut begun: Begun, pieces: Option<Box<dyn Pieces>>, warnings: Vec<String>) -> Self {
        let found = pieces.is_some();
        for warning in warnings {
            begun.verifier.warn(warning);
        }
        let mut answering = Answering {
            begun,
            pieces,
            draft: Draft::default(),
            whole: String::new(),
            held: String::new(),
            ready: VecDeque::new(),
            written: String::new(),
            counted: None,
            finish: None,
            short: false,
            found,
            nothing: false,
            dropped: false,
            refused: false,
        };
        if !found {
            answering.say_nothing_found();
        }
        answering
    }

    /// Says that the documents do not answer.
    fn say_nothing_found(&mut self) {
        let nothing = phrases::nothing_found(self.begun.language, &self.begun.near);
        self.ready.push_back(self.begun.wrapped(&nothing));
        self.nothing = true;
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

    /// What it is answered from, best first.
    pub fn passages(&self) -> &[Passage] {
        self.begun.verifier.passages()
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
        // JSON shows no numbers: its values stay as they are, and every citation is given.
        let shown = match self.begun.format {
            Format::Text => (1..).take_while(|&index| cited(index)).count(),
            Format::Object | Format::Schema(_) => usize::MAX,
        };
        let (citations, warnings) = self.begun.verifier.finish(shown);
        Outcome {
            question: self.begun.asked.take(),
            answered: !self.nothing,
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
            Piece::Plain(text) if self.begun.format == Format::Text => self.ready.push_back(text),
            Piece::Plain(text) => self.ready.push_back(self.begun.wrapped(&text)),
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

    /// Checks the whole sentences that have come in. One that claims nothing waits for one that is supported.
    async fn read(&mut self, end: bool) -> Result<(), Fault> {
        while let Some(sentence) = self.draft.next(end) {
            if sentence.text().contains(prompt::NOTHING) {
                self.refused = true;
                continue;
            }
            match self.begun.verifier.checked(&sentence).await? {
                Checked::Plain(text) => self.held.push_str(&text),
                Checked::Cited(text) => {
                    let held = std::mem::take(&mut self.held);
                    self.ready.push_back(held + &text);
                }
                Checked::Unsupported => self.dropped = true,
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
        let left_out = self.dropped || !held.trim().is_empty();
        if !self.written.is_empty() || !self.ready.is_empty() {
            if left_out && !self.begun.quoting.used {
                self.begun
                    .verifier
                    .warn("a part of the model's answer was left out: nothing supports it".into());
            }
            return Ok(());
        }
        if left_out && !self.refused {
            self.begun
                .verifier
                .warn("the model's answer was left out: nothing it cites is in the documents".into());
            if let Some(pieces) = self.begun.quoting.pieces().await? {
                self.begun.verifier.warn("the documents are quoted instead".into());
                self.pieces = Some(pieces);
                return Ok(());
            }
        }
        self.say_nothing_found();
        Ok(())
    }

    /// JSON is read whole: its texts are checked, its shape is kept.
    async fn structured(&mut self) -> Result<(), Fault> {
        let whole = std::mem::take(&mut self.whole);
        let whole = whole.trim();
        if whole.is_empty() && !(self.ready.is_empty() && self.written.is_empty()) {
            return Ok(()); // a sentence of ours, not a model's
        }
        if whole.trim_matches(['"', '.']) == prompt::NOTHING {
            self.say_nothing_found();
            return Ok(());
        }
        let mut node: Node = serde_json::from_str(whole).map_err(|_| {
            Fault::new(
                Reason::UpstreamUnavailable,
                "the language model was asked for JSON but returned something else; try again",
            )
        })?;
        let schema = self.begun.schema().cloned();
        if let Some(schema) = &schema {
            node = node.ordered(schema);
        }
        if node.texts(None).iter().any(|leaf| leaf.text.trim() == prompt::NOTHING) {
            self.say_nothing_found();
            return Ok(());
        }
        let mut anchors: HashMap<usize, Vec<String>> = HashMap::new();
        for leaf in node.texts(schema.as_ref()) {
            if leaf.listed {
                continue;
            }
            let beside = anchors.entry(leaf.object).or_default();
            *leaf.text = self.begun.checked_text(leaf.text, beside).await?;
            // The first text of a record says what the others are of.
            if beside.is_empty() && !leaf.text.is_empty() {
                beside.push(leaf.text.clone());
            }
        }
        self.ready.push_back(serde_json::to_string(&node).map_err(Fault::internal)?);
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
