//! Writes an answer from passages, piece by piece.

use std::ops::Range;

use async_trait::async_trait;
use serde_json::Value;

use crate::{Fault, ids::ChunkId, seams::index::Chunk};

/// Who said something in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person who asks.
    User,
    /// The answerer.
    Assistant,
}

/// One thing said in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Who said it.
    pub speaker: Speaker,
    /// What was said.
    pub text: String,
}

/// What the answer should look like.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Format {
    /// Prose.
    #[default]
    Text,
    /// Any JSON object.
    Object,
    /// JSON of this schema, as the caller wrapped it.
    Schema(Value),
}

/// How a model should choose its words; what is `None` is left to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampling {
    /// 0–2.
    pub temperature: Option<f32>,
    /// 0–1.
    pub top_p: Option<f32>,
    /// The same seed, the same words, where the model can.
    pub seed: Option<i64>,
    /// The most tokens to write.
    pub max_tokens: Option<usize>,
    /// Texts that end the answer where they come up.
    pub stop: Vec<String>,
}

/// A passage to answer from. Its number is its place in the brief, from 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Which chunk.
    pub id: ChunkId,
    /// What its file is called.
    pub file_name: String,
    /// What it says.
    pub chunk: Chunk,
    /// How likely it is to be relevant, 0–1.
    pub score: f32,
}

/// One of several things that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// What is asked of it.
    pub question: String,
}

/// Where to look from what was answered last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What stands behind it.
    After,
    /// What stands before it.
    Before,
}

/// What to do with the passages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Task {
    /// Answer the question.
    #[default]
    Answer,
    /// Say in short what they say.
    Summary,
    /// Say what they say of each of these.
    Comparison(Vec<Side>),
    /// Say what stands next to what was answered last.
    Beside(Direction),
}

/// All that an answerer is told.
#[derive(Debug, Clone, Default)]
pub struct Brief {
    /// The question, rewritten so that it can be understood without the earlier turns.
    pub question: String,
    /// The conversation, the question as it was put last.
    pub turns: Vec<Turn>,
    /// Instructions about tone and language, from system and developer messages. They never lift the rule that only the
    /// passages count.
    pub wishes: Vec<String>,
    /// What is wanted of them.
    pub task: Task,
    /// What to answer from.
    pub passages: Vec<Passage>,
    /// The embedder that knows their language; `None`: the usual one.
    pub model: Option<String>,
    /// How to choose words.
    pub sampling: Sampling,
    /// What the answer should look like.
    pub format: Format,
}

/// Tokens as the model itself counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Read.
    pub prompt: usize,
    /// Written.
    pub completion: usize,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words of the answerer's own. Claims carry `[n: "words of passage n"]` or `[n]`; who reads this checks them.
    Text(String),
    /// Words of a passage, exactly: its number, and the place in its text in bytes.
    Quote(usize, Range<usize>),
    /// A row of a table or a part of it: the number of its passage, its place there, and how it reads as a sentence.
    Row(usize, Range<usize>, String),
    /// Words of the server's own that claim nothing of the documents, such as the name of a file. Only answerers in this
    /// process give them.
    Plain(String),
    /// What was read and written, where the model says so.
    Tokens(Tokens),
    /// The model stopped because it had written as much as it may.
    Cut,
}

/// An answer that is being written. Dropping it stops the work.
#[async_trait]
pub trait Pieces: Send {
    /// The next piece; `None` after the last.
    async fn next(&mut self) -> Result<Option<Piece>, Fault>;
}

/// Answers questions from passages.
///
/// Implementations: `engine::chat::Extractive` (quotes, in process), `models::RemoteAnswerer` (any OpenAI-compatible
/// server).
#[async_trait]
pub trait Answerer: Send + Sync {
    /// Identifies the answerer, for logs.
    fn id(&self) -> &str;

    /// Whether it can answer in this format.
    fn can(&self, format: &Format) -> bool;

    /// The most tokens that an answer can have where the brief sets no limit.
    fn longest(&self) -> usize;

    /// Whether it is told the conversation, as a language model is; that is charged for then.
    fn is_told(&self) -> bool {
        true
    }

    /// Begins an answer; `None` where nothing in the passages answers the question.
    async fn answer(&self, brief: Brief) -> Result<Option<Box<dyn Pieces>>, Fault>;
}
