//! Models behind somebody else's endpoint: OpenAI-shaped `/embeddings` and `/chat/completions`, Cohere- or Jina-shaped
//! `/rerank`.

mod answerer;
mod breaker;
mod client;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use engine::seams::embedder::{Embedder, Embedding, Role};
use engine::seams::reranker::Reranker;
use engine::{Fault, Reason};
use serde::{Deserialize, Serialize};

use crate::runtime::normalise_vector;
pub use answerer::{Patience, RemoteAnswerer};
use client::Client;

/// Texts sent in one request: the most that common servers take by default.
const TEXTS_PER_REQUEST: usize = 32;

/// Where a remote model is and how to talk to it.
#[derive(Clone)]
pub struct Remote {
    /// The part before `/embeddings` or `/rerank`, usually ending in `/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<String>,
    /// How long one request may take, connecting included.
    pub timeout: Duration,
    /// How often a request is tried while the endpoint is busy or failing.
    pub attempts: u32,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.as_ref().map(|_| "***");
        f.debug_struct("Remote")
            .field("url", &self.url)
            .field("model", &self.model)
            .field("key", &key)
            .finish()
    }
}

/// An embedding model behind an OpenAI-shaped endpoint.
///
/// Gives no token vectors, since the endpoints have none to give. Counts tokens by a cautious estimate, because the
/// model's vocabulary is not known here.
pub struct RemoteEmbedder {
    client: Client,
    id: String,
    model: String,
    dimensions: usize,
    ask_dimensions: bool,
    max_tokens: usize,
    prefixes: [String; 2],
}

/// What an embedder must be told about a model that it cannot look into.
#[derive(Debug, Clone, Default)]
pub struct RemoteShape {
    /// The length of the vectors.
    pub dimensions: usize,
    /// Whether to ask the endpoint for this length; models of fixed length refuse that.
    pub ask_dimensions: bool,
    /// The most tokens of one text.
    pub max_tokens: usize,
    /// What goes before a query.
    pub query_prefix: String,
    /// What goes before a passage.
    pub passage_prefix: String,
}

#[derive(Serialize)]
struct EmbeddingsBody<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct EmbeddingsReply {
    data: Vec<EmbeddingsEntry>,
}

#[derive(Deserialize)]
struct EmbeddingsEntry {
    index: usize,
    embedding: Vec<f32>,
}

impl RemoteEmbedder {
    /// Prepares to talk to the endpoint; nothing is sent yet.
    pub fn new(remote: Remote, shape: RemoteShape) -> Result<Self, Fault> {
        Ok(RemoteEmbedder {
            id: Self::id_of(&remote.model, shape.dimensions),
            model: remote.model.clone(),
            client: Client::new(remote)?,
            dimensions: shape.dimensions,
            ask_dimensions: shape.ask_dimensions,
            max_tokens: shape.max_tokens,
            prefixes: [shape.query_prefix, shape.passage_prefix],
        })
    }

    /// What the vectors of a remote model are known by.
    pub fn id_of(model: &str, dimensions: usize) -> String {
        format!("{model}@remote/{dimensions}")
    }

    async fn embed_some(&self, texts: &[String]) -> Result<Vec<Embedding>, Fault> {
        let dimensions = self.ask_dimensions.then_some(self.dimensions);
        let body = EmbeddingsBody { model: &self.model, input: texts, encoding_format: "float", dimensions };
        let reply: EmbeddingsReply = self.client.post("embeddings", &body).await?;
        let entries = reply.data.into_iter().map(|entry| (entry.index, entry.embedding)).collect();
        let embedding = |mut vector: Vec<f32>| {
            let right = vector.len() == self.dimensions && vector.iter().all(|value| value.is_finite());
            if !right {
                let (found, expected) = (vector.len(), self.dimensions);
                return Err(wrong(format!("a vector of {found} numbers where {expected} are configured")));
            }
            normalise_vector(&mut vector);
            Ok(Embedding { vector, tokens: Vec::new(), token_ids: Vec::new() })
        };
        in_order(entries, texts.len())?.into_iter().map(embedding).collect()
    }
}

#[async_trait]
impl Embedder for RemoteEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn count_tokens(&self, text: &str) -> usize {
        // Common vocabularies take four bytes per token in English and fewer elsewhere: rather too many than too few.
        text.len().div_ceil(3)
    }

    fn gives_tokens(&self) -> bool {
        false
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        role: Role,
        _with_tokens: bool,
    ) -> Result<Vec<Embedding>, Fault> {
        let prefix = &self.prefixes[role as usize];
        let texts: Vec<String> = texts.into_iter().map(|text| format!("{prefix}{text}")).collect();
        let mut embeddings = Vec::with_capacity(texts.len());
        for some in texts.chunks(TEXTS_PER_REQUEST) {
            embeddings.extend(self.embed_some(some).await?);
        }
        Ok(embeddings)
    }
}

/// A reranking model behind a Cohere- or Jina-shaped endpoint.
pub struct RemoteReranker {
    client: Client,
    id: String,
    model: String,
}

#[derive(Serialize)]
struct RerankBody<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
    return_documents: bool,
}

#[derive(Deserialize)]
struct RerankReply {
    results: Vec<RerankEntry>,
}

#[derive(Deserialize)]
struct RerankEntry {
    index: usize,
    relevance_score: f32,
}

impl RemoteReranker {
    /// Prepares to talk to the endpoint; nothing is sent yet.
    pub fn new(remote: Remote) -> Result<Self, Fault> {
        let id = format!("{}@remote", remote.model);
        Ok(RemoteReranker { id, model: remote.model.clone(), client: Client::new(remote)? })
    }
}

#[async_trait]
impl Reranker for RemoteReranker {
    fn id(&self) -> &str {
        &self.id
    }

    async fn score(&self, query: &str, passages: Vec<String>) -> Result<Vec<f32>, Fault> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        let count = passages.len();
        let body = RerankBody {
            model: &self.model,
            query,
            documents: &passages,
            top_n: count,
            return_documents: false,
        };
        let reply: RerankReply = self.client.post("rerank", &body).await?;
        let entries = reply.results.into_iter().map(|entry| (entry.index, entry.relevance_score)).collect();
        let scores = in_order(entries, count)?;
        match scores.iter().all(|score| score.is_finite()) {
            true => Ok(scores),
            false => Err(wrong("a score that is no number".into())),
        }
    }
}

/// Puts numbered answers in order; each number must be there exactly once.
fn in_order<T>(entries: Vec<(usize, T)>, count: usize) -> Result<Vec<T>, Fault> {
    let found = entries.len();
    let mut by_index: HashMap<usize, T> = entries.into_iter().collect();
    let ordered: Option<Vec<T>> = (0..count).map(|index| by_index.remove(&index)).collect();
    match ordered {
        Some(ordered) if found == count => Ok(ordered),
        _ => Err(wrong(format!("{found} answers for {count} texts"))),
    }
}

/// An answer of the wrong shape: the endpoint's fault, told to the log.
fn wrong(what: String) -> Fault {
    let mut fault = Fault::new(
        Reason::UpstreamUnavailable,
        "the model endpoint sent an answer that cannot be read; tell the operator if it persists",
    );
    fault.source = Some(format!("the endpoint sent {what}").into());
    fault
}
