//! What a chat takes and what it gives.

use std::{collections::HashSet, sync::Arc};

use super::verify::Citation;
use crate::{
    Fault,
    cost::SearchWork,
    ids::FileId,
    seams::answerer::{Format, Sampling, Tokens, Turn},
    search::Freshness,
};

/// Messages in one conversation at most.
const MOST_TURNS: usize = 1_000;

/// A question and how to answer it.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// What was said, oldest first; the last user message is the question.
    pub turns: Vec<Turn>,
    /// Instructions from system and developer messages.
    pub wishes: Vec<String>,
    /// Only these files; `None` is the whole box.
    pub only: Option<HashSet<FileId>>,
    /// How new the files are, where newer ones are preferred.
    pub freshness: Option<Arc<Freshness>>,
    /// The least score of a passage, 0–1.
    pub threshold: f32,
    /// Passages to answer from, 1–50.
    pub max_sources: usize,
    /// Whether to read the documents whole, where they fit.
    pub full_context: bool,
    /// How much costly work its search may do.
    pub most: SearchWork,
    /// Tokens of passages to read at most.
    pub max_context_tokens: usize,
    /// How to choose words.
    pub sampling: Sampling,
    /// What the answer should look like.
    pub format: Format,
}

impl ChatRequest {
    /// Passages that are read by default: more rarely hold what these do not.
    pub const SOURCES: usize = 8;

    /// A plain question with the usual settings.
    pub fn new(turns: Vec<Turn>) -> Self {
        ChatRequest {
            turns,
            wishes: Vec::new(),
            only: None,
            freshness: None,
            threshold: 0.0,
            max_sources: Self::SOURCES,
            full_context: false,
            most: SearchWork::MOST,
            max_context_tokens: usize::MAX,
            sampling: Sampling::default(),
            format: Format::Text,
        }
    }

    /// The limits hold for every caller, so they are checked here too.
    pub fn check(&self) -> Result<(), Fault> {
        if self.turns.len() > MOST_TURNS {
            let cause = format!("`messages` has {} entries; the limit is {MOST_TURNS}", self.turns.len());
            return Err(Fault::invalid("messages", cause));
        }
        if !(1..=50).contains(&self.max_sources) {
            let cause = format!("`max_sources` must be from 1 to 50, not {}", self.max_sources);
            return Err(Fault::invalid("max_sources", cause));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            let cause = format!("`threshold` must be from 0 to 1, not {}", self.threshold);
            return Err(Fault::invalid("threshold", cause));
        }
        Ok(())
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It was complete, or a stop text came up.
    Stop,
    /// It was as long as it may be.
    Length,
}

/// What is known once an answer has ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was asked last, in the asker's words; `None` where that was no question to the documents.
    pub question: Option<String>,
    /// Whether there was an answer, not only word that there is none.
    pub answered: bool,
    /// Why it ended.
    pub finish: Finish,
    /// What it cites, by number.
    pub citations: Vec<Citation>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Tokens read and written: the model's count, or ours.
    pub tokens: Tokens,
    /// What to charge for.
    pub work: ChatWorkDone,
}

/// The work that an answer took; what it costs follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChatWorkDone {
    /// What its search cost; 0 where nothing was found.
    pub search_units: u64,
    /// Tokens of the passages that were read; none where nothing was found.
    pub context_tokens: usize,
    /// Tokens written so far.
    pub generated_tokens: usize,
}
