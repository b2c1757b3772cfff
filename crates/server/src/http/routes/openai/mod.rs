//! OpenAI's shapes, for programs that were written for it: files, vector stores and responses. A vector store is a box.
//!
//! OpenAI uploads a file first and says later which store it is for, so [`files`] keeps uploads that are in no box. Where one is
//! put into a box, the file there keeps the upload's id as its `externalId` ([`named`]), under which clients go on to ask for it.

mod batches;
mod files;
mod filters;
mod named;
mod responses;
pub(super) mod search;
mod store_files;
mod stores;

use axum::{
    Router,
    routing::{get, post},
};
use engine::Fault;
use serde::Serialize;

use super::{chat, embeddings, models, rerank};
use crate::app::App;

/// Files that are named at once, as many as OpenAI takes.
const MOST_FILES: usize = 2_000;

/// Everything below `/openai/v1`, where an unmodified client finds what it knows.
pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/chat/completions", post(chat::complete))
        .route("/responses", post(responses::create))
        .route("/embeddings", post(embeddings::embed))
        .route("/rerank", post(rerank::rerank))
        .route("/models", get(models::list))
        .route("/models/{box_id}", get(models::show))
        .route("/files", get(files::list).post(files::upload))
        .route("/files/{file_id}", get(files::show).delete(files::delete))
        .route("/files/{file_id}/content", get(files::content))
        .route("/vector_stores", get(stores::list).post(stores::create))
        .route("/vector_stores/{box_id}", get(stores::show).post(stores::change).delete(stores::delete))
        .route("/vector_stores/{box_id}/search", post(search::search))
        .route("/vector_stores/{box_id}/files", get(store_files::list).post(store_files::attach))
        .route(
            "/vector_stores/{box_id}/files/{file_id}",
            get(store_files::show).post(store_files::change).delete(store_files::detach),
        )
        .route("/vector_stores/{box_id}/files/{file_id}/content", get(store_files::content))
        .route("/vector_stores/{box_id}/file_batches", post(batches::create))
        .route("/vector_stores/{box_id}/file_batches/{batch_id}", get(batches::show))
        .route("/vector_stores/{box_id}/file_batches/{batch_id}/cancel", post(batches::cancel))
        .route("/vector_stores/{box_id}/file_batches/{batch_id}/files", get(batches::files))
}

/// What bodies say, before anything is looked up: none may panic, whatever it is given.
pub(super) fn read(bytes: &[u8]) {
    let _ = search::read(bytes);
    let _ = responses::read(bytes);
    let _ = batches::read(bytes);
}

/// A part of a list.
#[derive(Serialize)]
struct List<T> {
    object: &'static str,
    data: Vec<T>,
    first_id: Option<String>,
    last_id: Option<String>,
    has_more: bool,
}

impl<T> List<T> {
    fn new(data: Vec<T>, has_more: bool, id: impl Fn(&T) -> String) -> Self {
        let (first_id, last_id) = (data.first().map(&id), data.last().map(&id));
        List { object: "list", data, first_id, last_id, has_more }
    }
}

/// What was deleted.
#[derive(Serialize)]
struct Deleted {
    id: String,
    object: &'static str,
    deleted: bool,
}

/// How many items a list shall have at most.
fn limit(asked: Option<&str>, usual: u32, most: u32) -> Result<u32, Fault> {
    match asked.map(str::parse::<u32>) {
        None => Ok(usual),
        Some(Ok(limit)) if (1..=most).contains(&limit) => Ok(limit),
        Some(_) => Err(Fault::invalid("limit", format!("`limit` must be a whole number from 1 to {most}"))),
    }
}

/// Whether a list goes from the newest to the oldest, as it does unless asked otherwise.
fn newest_first(order: Option<&str>) -> Result<bool, Fault> {
    match order {
        None | Some("desc") => Ok(true),
        Some("asc") => Ok(false),
        Some(_) => Err(Fault::invalid("order", "`order` must be asc or desc")),
    }
}
