//! Turns texts into vectors that are close where the texts are similar.

use async_trait::async_trait;

use super::weighing::Weighing;
use crate::Fault;

/// What a text is to the embedder: some models want queries marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A question someone is waiting for: goes before passages.
    Query,
    /// A passage of a document being indexed.
    Passage,
}

/// One text's vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The text as one vector of unit length.
    pub vector: Vec<f32>,
    /// One unit vector per token, row after row, special tokens left out; empty unless asked for and given.
    pub tokens: Vec<f32>,
    /// The token ids behind the rows of `tokens`, in order.
    pub token_ids: Vec<u32>,
}

/// An embedding model.
///
/// Implementations: `models::LocalEmbedder` (in process), `models::RemoteEmbedder` (an OpenAI-shaped endpoint),
/// `models::FakeEmbedder` (deterministic, for tests).
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Identifies the model and its version; vectors of different ids must not be compared.
    fn id(&self) -> &str;

    /// The length of every vector.
    fn dimensions(&self) -> usize;

    /// The most tokens that count in one text; the chunker stays below it.
    fn max_tokens(&self) -> usize;

    /// How many tokens `text` has, without the special ones.
    fn count_tokens(&self, text: &str) -> usize;

    /// Whether it can fill [`Embedding::tokens`]; remote endpoints cannot.
    fn gives_tokens(&self) -> bool {
        true
    }

    /// How much its similarities count in a search.
    fn weighing(&self) -> &Weighing {
        &Weighing::USUAL
    }

    /// Embeds each text, in order. `with_tokens` also fills [`Embedding::tokens`]. A busy model answers
    /// [`Reason::Overloaded`](crate::Reason::Overloaded) at once rather than queueing without end.
    async fn embed(&self, texts: Vec<String>, role: Role, with_tokens: bool)
    -> Result<Vec<Embedding>, Fault>;
}
