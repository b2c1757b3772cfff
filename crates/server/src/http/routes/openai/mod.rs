//! OpenAI's shapes, for programs that were written for it. A vector store is a box.

mod filters;
mod named;
pub(super) mod search;

use axum::{
    Router,
    routing::{get, post},
};

use super::{chat, embeddings, models, rerank};
use crate::app::App;

/// Everything below `/openai/v1`, where an unmodified client finds what it knows.
pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/chat/completions", post(chat::complete))
        .route("/embeddings", post(embeddings::embed))
        .route("/rerank", post(rerank::rerank))
        .route("/models", get(models::list))
        .route("/models/{box_id}", get(models::show))
        .route("/vector_stores/{box_id}/search", post(search::search))
}
