//! `/openai/v1/vector_stores/{box_id}/files`: the files of a box, put there from uploads.

use axum::{
    Json,
    extract::{Path, State},
};
use engine::{
    Fault, Reason,
    access::{Caller, Reading, Writing},
    ids::BoxId,
    seams::catalog::{
        Action, CursorValue, FileChanges, FileCursor, FileQuery, FileRecord, FileStatus, Metadata, NewFile,
        SortKey, UploadOutcome,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    super::{
        documents::{PageRanges, Pages},
        sources,
    },
    Deleted, List, filters, limit,
    named::{self, Named},
    newest_first,
};
use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{Asking, ReadingBox, WritingBox, no_such_file},
        body::JsonBody,
        error::Failure,
        query::Parameters,
    },
};

/// Characters of a file whose text is given in one piece.
const MOST_CHARACTERS: u64 = 10_000_000;

/// A file of a box as OpenAI shows it.
#[derive(Serialize)]
pub(super) struct StoreFile {
    pub(super) id: String,
    object: &'static str,
    usage_bytes: u64,
    created_at: i64,
    vector_store_id: BoxId,
    pub(super) status: &'static str,
    last_error: Option<Value>,
    attributes: Map<String, Value>,
    chunking_strategy: Value,
}

impl StoreFile {
    pub(super) fn of(file: &FileRecord) -> Self {
        let failed = |message: &String| json!({"code": "invalid_file", "message": message});
        StoreFile {
            id: named::id_of(file),
            object: "vector_store.file",
            usage_bytes: file.size,
            created_at: file.created_at.as_second(),
            vector_store_id: file.box_id,
            status: match file.status {
                FileStatus::Queued | FileStatus::Processing => "in_progress",
                FileStatus::Ready | FileStatus::ReadyWithWarnings => "completed",
                FileStatus::Failed => "failed",
                FileStatus::Deleting => "cancelled",
            },
            last_error: file.error.as_ref().filter(|_| file.status == FileStatus::Failed).map(failed),
            attributes: filters::attributes(&file.metadata),
            chunking_strategy: json!({"type": "other"}),
        }
    }
}

/// What to put into a box.
#[derive(Deserialize)]
pub(super) struct AttachBody {
    file_id: String,
    attributes: Option<Metadata>,
    #[expect(dead_code, reason = "quire cuts documents in its own way")]
    chunking_strategy: Option<Value>,
}

/// Puts a file into a box, where it is read.
pub(super) async fn attach(
    State(app): State<App>,
    Asking(caller): Asking,
    WritingBox(writing): WritingBox,
    actor: Actor,
    body: JsonBody<AttachBody>,
) -> Result<Json<StoreFile>, Failure> {
    let AttachBody { file_id, attributes, .. } = body.value;
    let file = put(&app, &caller, &writing, &actor, &file_id, attributes).await?;
    Ok(Json(StoreFile::of(&file)))
}

/// Puts an upload, or a file of another box, into a box; one that is there already only gets its attributes.
pub(super) async fn put(
    app: &App,
    caller: &Caller,
    writing: &Writing,
    actor: &Actor,
    id: &str,
    attributes: Option<Metadata>,
) -> Result<FileRecord, Fault> {
    let new = match named::find(app, caller, id).await? {
        Named::Upload(upload) => NewFile {
            name: upload.name,
            external_id: Some(id.to_string()),
            sha256: upload.sha256,
            size: upload.size,
            media_type: upload.media_type,
            tags: None,
            metadata: attributes,
            expires_at: None,
        },
        Named::File(file, _) => match named::in_box(app, writing.reading(), id).await {
            Ok(there) => {
                return match attributes {
                    Some(attributes) => replace(app, writing, &there, attributes).await,
                    None => Ok(there),
                };
            }
            Err(fault) if fault.reason != Reason::NotFound => return Err(fault),
            Err(_) => NewFile {
                name: file.name,
                external_id: Some(id.to_string()),
                sha256: file.sha256,
                size: file.size,
                media_type: file.media_type,
                tags: Some(file.tags),
                metadata: Some(attributes.unwrap_or(file.metadata)),
                expires_at: file.expires_at,
            },
        },
    };
    let added = app.library.add_upload(writing, new).await?.ok_or_else(no_such_file)?;
    if added.outcome != UploadOutcome::Known {
        actor.note(Action::FileUploaded, writing.box_id(), added.file.name.as_str()).await?;
    }
    Ok(added.file)
}

/// Gives a file these attributes in place of those it has.
async fn replace(
    app: &App,
    writing: &Writing,
    file: &FileRecord,
    attributes: Metadata,
) -> Result<FileRecord, Fault> {
    let mut metadata: Metadata = file.metadata.keys().map(|name| (name.clone(), Value::Null)).collect();
    metadata.extend(attributes);
    let changes = FileChanges { metadata: Some(metadata), ..FileChanges::default() };
    app.catalog.change_file(writing, file.id, changes).await?.ok_or_else(no_such_file)
}

/// Which files to list.
#[derive(Deserialize)]
pub(super) struct ListQuery {
    limit: Option<String>,
    order: Option<String>,
    after: Option<String>,
    filter: Option<String>,
}

/// Lists the files of a box.
pub(super) async fn list(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    query: Parameters<ListQuery>,
) -> Result<Json<List<StoreFile>>, Failure> {
    let query = query.value;
    let statuses = match query.filter.as_deref() {
        None => Vec::new(),
        Some("in_progress") => vec![FileStatus::Queued, FileStatus::Processing],
        Some("completed") => vec![FileStatus::Ready, FileStatus::ReadyWithWarnings],
        Some("failed") => vec![FileStatus::Failed],
        // What was called off is not in the box.
        Some("cancelled") => {
            return Ok(Json(List::new(Vec::new(), false, |file: &StoreFile| file.id.clone())));
        }
        Some(_) => {
            let cause = "`filter` must be in_progress, completed, failed or cancelled";
            return Err(Fault::invalid("filter", cause).into());
        }
    };
    let after = match &query.after {
        None => None,
        Some(id) => Some(place(&named::in_box(&app, &reading, id).await?)),
    };
    let wanted = FileQuery {
        name_part: None,
        statuses,
        tags: Vec::new(),
        sort: SortKey::CreatedAt,
        descending: newest_first(query.order.as_deref())?,
        after,
        limit: limit(query.limit.as_deref(), 20, 100)?,
    };
    let page = app.catalog.list_files(&[reading], wanted).await?;
    let files: Vec<StoreFile> = page.files.iter().map(StoreFile::of).collect();
    Ok(Json(List::new(files, page.next.is_some(), |file| file.id.clone())))
}

fn place(file: &FileRecord) -> FileCursor {
    FileCursor { value: CursorValue::Number(file.created_at.as_millisecond()), id: file.id }
}

/// The file of a path, after its box.
type InStore = Path<(String, String)>;

/// Shows a file of a box.
pub(super) async fn show(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    Path((_, id)): InStore,
) -> Result<Json<StoreFile>, Failure> {
    Ok(Json(StoreFile::of(&named::in_box(&app, &reading, &id).await?)))
}

/// What can be said about a file.
#[derive(Deserialize)]
pub(super) struct ChangeBody {
    attributes: Option<Metadata>,
}

/// Gives a file other attributes.
pub(super) async fn change(
    State(app): State<App>,
    WritingBox(writing): WritingBox,
    actor: Actor,
    Path((_, id)): InStore,
    body: JsonBody<ChangeBody>,
) -> Result<Json<StoreFile>, Failure> {
    let file = named::in_box(&app, writing.reading(), &id).await?;
    let changed = replace(&app, &writing, &file, body.value.attributes.unwrap_or_default()).await?;
    actor.note(Action::FileChanged, changed.box_id, changed.name.as_str()).await?;
    Ok(Json(StoreFile::of(&changed)))
}

/// Deletes a file from a box; its upload stays until it expires.
pub(super) async fn detach(
    State(app): State<App>,
    WritingBox(writing): WritingBox,
    actor: Actor,
    Path((_, id)): InStore,
) -> Result<Json<Deleted>, Failure> {
    let file = named::in_box(&app, writing.reading(), &id).await?;
    let receipt = app.library.delete(&writing, file.id).await?.ok_or_else(no_such_file)?;
    actor.note(Action::FileDeleted, receipt.file.box_id, receipt.file.name.as_str()).await?;
    Ok(Json(Deleted { id, object: "vector_store.file.deleted", deleted: true }))
}

/// The text of a file.
#[derive(Serialize)]
pub(super) struct FileContent {
    object: &'static str,
    data: Vec<Value>,
    has_more: bool,
    next_page: Option<()>,
}

/// Returns the text that was read from a file, page by page.
pub(super) async fn content(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    Path((_, id)): InStore,
) -> Result<Json<FileContent>, Failure> {
    let file = sources::readable(named::in_box(&app, &reading, &id).await?)?;
    if file.extent.characters > MOST_CHARACTERS {
        let cause = format!("the text has more than {MOST_CHARACTERS} characters");
        return Err(Fault::new(Reason::TooLarge, cause)
            .hint("POST /boxes/{box_id}/retrieve-full-documents returns it in parts")
            .into());
    }
    Ok(Json(FileContent {
        object: "vector_store.file_content.page",
        data: texts(&app, &reading, &file).await?,
        has_more: false,
        next_page: None,
    }))
}

async fn texts(app: &App, reading: &Reading, file: &FileRecord) -> Result<Vec<Value>, Fault> {
    let mut pages = Pages::of(app, reading, file.id, PageRanges::parse(None)?.0).await?;
    let mut texts = Vec::new();
    while let Some(some) = pages.next().await? {
        texts.extend(some.into_iter().map(|page| json!({"type": "text", "text": page.text})));
    }
    Ok(texts)
}
