//! `/openai/v1/files`: uploads that are in no box yet, and files of boxes by their ids.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    ids::UploadId,
    seams::catalog::{Action, FileRecord, FileStatus, Upload, UploadQuery},
};
use futures::StreamExt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stores::blobs::Staged;

use super::{
    super::{links, received::stage},
    Deleted, List, limit,
    named::{self, Named},
    newest_first,
};
use crate::{
    app::App,
    http::{
        actor::Actor,
        audience::Audience,
        auth::{self, Reader, Writer, WritingFile, no_such_file},
        error::Failure,
        form::Form,
        query::Parameters,
    },
};

/// How long an upload is kept that nobody says more about: time to put it into a box.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The least and the most that may be asked for, as OpenAI has them.
const SHORTEST: u64 = 60 * 60;
const LONGEST: u64 = 30 * 24 * 60 * 60;
/// Bytes of a small field.
const FIELD_BYTES: usize = 1024;

/// A file as OpenAI shows it.
#[derive(Serialize)]
pub(super) struct FileObject {
    id: String,
    object: &'static str,
    bytes: u64,
    created_at: i64,
    expires_at: Option<i64>,
    filename: String,
    purpose: String,
    status: &'static str,
    status_details: Option<String>,
}

impl From<Upload> for FileObject {
    fn from(upload: Upload) -> Self {
        FileObject {
            id: upload.id.to_string(),
            object: "file",
            bytes: upload.size,
            created_at: upload.created_at.as_second(),
            expires_at: Some(upload.expires_at.as_second()),
            filename: upload.name.as_str().to_string(),
            purpose: upload.purpose,
            // There is nothing to wait for: it is read once it is in a box.
            status: "processed",
            status_details: None,
        }
    }
}

impl From<FileRecord> for FileObject {
    fn from(file: FileRecord) -> Self {
        FileObject {
            id: named::id_of(&file),
            object: "file",
            bytes: file.size,
            created_at: file.created_at.as_second(),
            expires_at: None,
            filename: file.name.as_str().to_string(),
            purpose: "assistants".into(),
            status: match file.status {
                FileStatus::Queued | FileStatus::Processing => "uploaded",
                FileStatus::Ready | FileStatus::ReadyWithWarnings => "processed",
                FileStatus::Failed | FileStatus::Deleting => "error",
            },
            status_details: file.error,
        }
    }
}

/// Keeps a file until it is put into a store.
pub(super) async fn upload(
    State(app): State<App>,
    Writer(caller): Writer,
    mut form: Form,
) -> Result<Json<FileObject>, Failure> {
    let sent = match Sent::read(&app, &mut form).await {
        Ok(sent) => sent,
        Err(fault) => {
            form.drain().await;
            return Err(fault.into());
        }
    };
    let now = Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap_or_default();
    let kept = sent.kept_for()?;
    let missing = || Fault::missing("file", "the form has no part named `file` with a file in it");
    let (staged, name, media_type) = sent.file.ok_or_else(missing)?;
    let upload = Upload {
        id: UploadId::generate(),
        user: caller.user,
        key: caller.prefix.clone(),
        name,
        purpose: sent.purpose.unwrap_or_else(|| "user_data".into()),
        sha256: staged.sha256.clone(),
        size: staged.size,
        media_type,
        created_at: now,
        expires_at: now.saturating_add(kept).unwrap_or(Timestamp::MAX),
    };
    app.library.keep_upload(staged, upload.clone()).await?;
    Ok(Json(upload.into()))
}

/// The parts of an upload.
#[derive(Default)]
struct Sent {
    file: Option<(Staged, engine::seams::catalog::FileName, String)>,
    purpose: Option<String>,
    seconds: Option<String>,
}

impl Sent {
    async fn read(app: &App, form: &mut Form) -> Result<Self, Fault> {
        let mut sent = Sent::default();
        while let Some(part) = form.next_part().await? {
            match part.name.as_str() {
                "file" if sent.file.is_some() => {
                    return Err(Fault::invalid(
                        "file",
                        "an upload can contain only one `file`; upload the others separately",
                    ));
                }
                "file" => sent.file = Some(stage(app, form, part).await?),
                "purpose" => sent.purpose = Some(form.text("purpose", FIELD_BYTES).await?),
                "expires_after[seconds]" => {
                    sent.seconds = Some(form.text("expires_after", FIELD_BYTES).await?);
                }
                _ => {}
            }
        }
        Ok(sent)
    }

    fn kept_for(&self) -> Result<Duration, Fault> {
        match self.seconds.as_deref().map(|text| text.trim().parse::<u64>()) {
            None => Ok(KEPT),
            Some(Ok(seconds)) if (SHORTEST..=LONGEST).contains(&seconds) => Ok(Duration::from_secs(seconds)),
            Some(_) => {
                let cause = format!("`expires_after.seconds` must be from {SHORTEST} to {LONGEST}");
                Err(Fault::invalid("expires_after", cause))
            }
        }
    }
}

/// Which uploads to list.
#[derive(Deserialize)]
pub(super) struct ListQuery {
    limit: Option<String>,
    order: Option<String>,
    after: Option<String>,
    purpose: Option<String>,
}

/// Lists uploads that have not expired.
pub(super) async fn list(
    State(app): State<App>,
    Reader(caller): Reader,
    query: Parameters<ListQuery>,
) -> Result<Json<List<FileObject>>, Failure> {
    let query = query.value;
    let limit = limit(query.limit.as_deref(), 1_000, 10_000)?;
    let after = query.after.map(|id| id.parse().map_err(|_| unknown_after())).transpose()?;
    let wanted = UploadQuery {
        purpose: query.purpose,
        after,
        descending: newest_first(query.order.as_deref())?,
        limit: limit + 1,
    };
    let mut uploads = app.catalog.uploads(&caller.uploads(), wanted).await?;
    let has_more = uploads.len() > limit as usize;
    uploads.truncate(limit as usize);
    let files: Vec<FileObject> = uploads.into_iter().map(FileObject::from).collect();
    Ok(Json(List::new(files, has_more, |file| file.id.clone())))
}

fn unknown_after() -> Fault {
    Fault::invalid("after", "`after` must be the id of an item on the previous page of the list")
}

/// Shows a file, in a box or not.
pub(super) async fn show(
    State(app): State<App>,
    Reader(caller): Reader,
    Path(id): Path<String>,
) -> Result<Json<FileObject>, Failure> {
    Ok(Json(match named::find(&app, &caller, &id).await? {
        Named::Upload(upload) => upload.into(),
        Named::File(file, _) => (*file).into(),
    }))
}

/// Sends the original.
pub(super) async fn content(
    State(app): State<App>,
    Reader(caller): Reader,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let upload = match named::find(&app, &caller, &id).await? {
        Named::Upload(upload) => upload,
        Named::File(file, reading) => {
            let audience = Audience::of_key(&app, &caller, reading.box_id()).seated()?;
            let mut response = links::send(&app, &file, &headers, audience).await?;
            links::describe(response.headers_mut(), &file, false);
            return Ok(response);
        }
    };
    let most = app.config.connections.streams_per_key;
    let place = app.streams.keys.take(&caller.prefix, most).ok_or_else(|| {
        let cause = format!(
            "this API key has {most} streams, documents or downloads in progress; wait until one has ended"
        );
        Fault::new(Reason::OverloadedKey, cause).retry_after(Duration::from_secs(1))
    })?;
    let body = match upload.size {
        0 => Body::empty(),
        size => {
            let pieces = app.library.blobs.read(&upload.sha256, 0..size).await?;
            // The place is free again when the last piece is sent or nobody listens any more.
            Body::from_stream(pieces.map(move |piece| {
                let _held = &place;
                piece
            }))
        }
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    let plain = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, plain);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(upload.size));
    Ok(response)
}

/// Deletes a file: the upload, and what is in boxes of it.
pub(super) async fn delete(
    State(app): State<App>,
    Writer(caller): Writer,
    actor: Actor,
    Path(id): Path<String>,
) -> Result<Json<Deleted>, Failure> {
    let mut found = false;
    if let Ok(upload) = id.parse()
        && let Some(sha256) = app.catalog.remove_upload(&caller.uploads(), upload).await?
    {
        app.library.remove_original(&sha256).await?;
        found = true;
    }
    let mut copies = named::copies(&app, &caller, &id).await?;
    if copies.is_empty() && !found {
        let id = id.parse().map_err(|_| no_such_file())?;
        let WritingFile { id, writing } = auth::writable_file(&app, &caller, id).await?;
        let file = app.catalog.files(writing.reading(), &[id]).await?.pop().flatten();
        copies.push((file.ok_or_else(no_such_file)?, writing));
    }
    for (file, writing) in copies {
        app.library.delete(&writing, file.id).await?;
        actor.note(Action::FileDeleted, file.box_id, file.name.as_str()).await?;
    }
    Ok(Json(Deleted { id, object: "file", deleted: true }))
}
