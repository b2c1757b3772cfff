//! Judges how well each passage answers a query, reading both together.

use async_trait::async_trait;

use crate::Fault;

/// A reranking model.
///
/// Implementations: `models::LocalReranker` (a cross-encoder in process), `models::RemoteReranker` (a
/// Cohere/Jina-shaped endpoint), `models::FakeReranker` (deterministic, for tests).
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Identifies the model and its version.
    fn id(&self) -> &str;

    /// One raw score per passage, in order; higher is better.
    async fn score(&self, query: &str, passages: Vec<String>) -> Result<Vec<f32>, Fault>;
}
