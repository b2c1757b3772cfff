//! `/openai/v1/vector_stores/{box_id}/file_batches`: files that are put into a box together and watched together.

use axum::{
    Json,
    extract::{Path, State},
};
use engine::{
    Fault, Reason,
    access::Reading,
    ids::{BatchId, BoxId},
    seams::catalog::{Action, Batch, FileRecord, FileStatus, Metadata},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    List, MOST_FILES, limit, named, newest_first, store_files, store_files::StoreFile, stores::FileCounts,
};
use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{Asking, ReadingBox, WritingBox},
        body::{self, JsonBody},
        error::Failure,
        query::Parameters,
    },
};

/// A batch as OpenAI shows it.
#[derive(Serialize)]
pub(super) struct BatchObject {
    id: BatchId,
    object: &'static str,
    created_at: i64,
    vector_store_id: BoxId,
    status: &'static str,
    file_counts: FileCounts,
}

/// Which files.
#[derive(Deserialize)]
pub(super) struct BatchBody {
    file_ids: Option<Vec<String>>,
    files: Option<Vec<OneFile>>,
    attributes: Option<Metadata>,
    #[expect(dead_code, reason = "quire cuts documents in its own way")]
    chunking_strategy: Option<Value>,
}

#[derive(Deserialize)]
struct OneFile {
    file_id: String,
    attributes: Option<Metadata>,
}

impl BatchBody {
    /// The files, and the attributes of those that have none of their own. Those are one copy for all: a body has room for a hundred
    /// thousand ids beside half a megabyte of attributes.
    fn files(self) -> Result<(Vec<OneFile>, Option<Metadata>), Fault> {
        let (files, attributes) = match (self.files, self.file_ids) {
            (Some(files), None) => (files, None),
            (None, Some(ids)) => {
                let files = ids.into_iter().map(|file_id| OneFile { file_id, attributes: None }).collect();
                (files, self.attributes)
            }
            _ => return Err(Fault::missing("file_ids", "an array of file ids (or send `files` instead)")),
        };
        if files.is_empty() || files.len() > MOST_FILES {
            let cause = format!("a batch must have 1 to {MOST_FILES} files, not {}", files.len());
            return Err(Fault::invalid("file_ids", cause));
        }
        Ok((files, attributes))
    }
}

/// What a body says, before anything is looked up.
pub(super) fn read(bytes: &[u8]) -> Result<(), Fault> {
    body::parse::<BatchBody>(bytes)?.value.files().map(drop)
}

/// Puts files into a box.
pub(super) async fn create(
    State(app): State<App>,
    Asking(caller): Asking,
    WritingBox(writing): WritingBox,
    actor: Actor,
    body: JsonBody<BatchBody>,
) -> Result<Json<BatchObject>, Failure> {
    let (files, attributes) = body.value.files()?;
    // Before anything is put anywhere: one wrong id refuses all of them.
    for file in &files {
        named::find(&app, &caller, &file.file_id).await?;
    }
    let ids = files.iter().map(|file| file.file_id.clone()).collect();
    for file in files {
        let attributes = file.attributes.or_else(|| attributes.clone());
        store_files::put(&app, &caller, &writing, &actor, &file.file_id, attributes).await?;
    }
    let batch = app.catalog.add_batch(&writing, ids).await?;
    Ok(Json(object(&app, writing.reading(), batch).await?))
}

/// The batch of a path, after its box.
type InStore = Path<(String, String)>;

async fn found(app: &App, reading: &Reading, id: &str) -> Result<Batch, Fault> {
    let unknown = || Fault::new(Reason::NotFound, "this store has no batch with this id").param("batch_id");
    app.catalog.batch(reading, id.parse().map_err(|_| unknown())?).await?.ok_or_else(unknown)
}

/// The files of a batch that are in the box.
async fn members(app: &App, reading: &Reading, batch: &Batch) -> Result<Vec<FileRecord>, Fault> {
    named::all_in_box(app, reading, &batch.files).await
}

async fn object(app: &App, reading: &Reading, batch: Batch) -> Result<BatchObject, Fault> {
    let files = members(app, reading, &batch).await?;
    let mut counts = FileCounts { total: batch.files.len() as u64, ..FileCounts::default() };
    for file in &files {
        match file.status {
            FileStatus::Queued | FileStatus::Processing => counts.in_progress += 1,
            FileStatus::Ready | FileStatus::ReadyWithWarnings => counts.completed += 1,
            FileStatus::Failed => counts.failed += 1,
            FileStatus::Deleting => {}
        }
    }
    // Whatever is gone from the box was called off, one way or another.
    counts.cancelled = counts.total.saturating_sub(counts.in_progress + counts.completed + counts.failed);
    let status = match (batch.cancelled, counts.in_progress) {
        (_, 1..) => "in_progress",
        (true, 0) => "cancelled",
        (false, 0) => "completed",
    };
    Ok(BatchObject {
        id: batch.id,
        object: "vector_store.files_batch",
        created_at: batch.created_at.as_second(),
        vector_store_id: batch.box_id,
        status,
        file_counts: counts,
    })
}

/// Shows how far a batch is.
pub(super) async fn show(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    Path((_, id)): InStore,
) -> Result<Json<BatchObject>, Failure> {
    let batch = found(&app, &reading, &id).await?;
    Ok(Json(object(&app, &reading, batch).await?))
}

/// Calls a batch off: what waits to be read is taken out of the box.
pub(super) async fn cancel(
    State(app): State<App>,
    WritingBox(writing): WritingBox,
    actor: Actor,
    Path((_, id)): InStore,
) -> Result<Json<BatchObject>, Failure> {
    let batch = found(&app, writing.reading(), &id).await?;
    app.catalog.cancel_batch(&writing, batch.id).await?;
    for file in members(&app, writing.reading(), &batch).await? {
        if file.status == FileStatus::Queued && file.indexed_at.is_none() {
            app.library.delete(&writing, file.id).await?;
            actor.note(Action::FileDeleted, file.box_id, file.name.as_str()).await?;
        }
    }
    let batch = found(&app, writing.reading(), &id).await?;
    Ok(Json(object(&app, writing.reading(), batch).await?))
}

/// Which files of a batch to list.
#[derive(Deserialize)]
pub(super) struct ListQuery {
    limit: Option<String>,
    order: Option<String>,
    after: Option<String>,
    filter: Option<String>,
}

/// Lists the files of a batch.
pub(super) async fn files(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    Path((_, id)): InStore,
    query: Parameters<ListQuery>,
) -> Result<Json<List<StoreFile>>, Failure> {
    let query = query.value;
    let limit = limit(query.limit.as_deref(), 20, 100)? as usize;
    let batch = found(&app, &reading, &id).await?;
    let mut files: Vec<StoreFile> =
        members(&app, &reading, &batch).await?.iter().map(StoreFile::of).collect();
    if newest_first(query.order.as_deref())? {
        files.reverse();
    }
    if let Some(status) = &query.filter {
        files.retain(|file| file.status == *status);
    }
    if let Some(after) = &query.after {
        let at = files.iter().position(|file| file.id == *after).map_or(0, |at| at + 1);
        files.drain(..at);
    }
    let has_more = files.len() > limit;
    files.truncate(limit);
    Ok(Json(List::new(files, has_more, |file| file.id.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of the attributes for each id would take some fifty gigabytes.
    #[test]
    fn attributes_are_not_copied_for_each_id_of_a_long_list() {
        let attributes = Metadata::from([("a".to_string(), Value::String("x".repeat(500_000)))]);
        let body = |ids: usize| BatchBody {
            file_ids: Some(vec![String::new(); ids]),
            files: None,
            attributes: Some(attributes.clone()),
            chunking_strategy: None,
        };
        assert!(body(100_000).files().is_err());
        let (files, common) = body(MOST_FILES).files().unwrap();
        assert!(files.iter().all(|file| file.attributes.is_none()) && common.is_some());
    }
}
