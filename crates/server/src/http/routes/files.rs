//! Files: list, show, change, delete.

use std::collections::HashSet;

use axum::extract::State;
use engine::{
    Fault,
    access::Reading,
    ids::{BoxId, FileId},
    seams::catalog::{Action, FileChanges, FileCursor, FileQuery, FileRecord, FileStatus, Metadata, SortKey},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    labels::{check_tags, parse_expiry, parse_name, parse_tags},
    received::parse_external_id,
};

use crate::{
    app::App,
    http::{
        BASE,
        actor::Actor,
        auth::{Reader, ReadingBox, ReadingFile, WritingFile, no_such_file},
        body::{self, JsonBody},
        error::ErrorEnvelope,
        origin::Origin,
        query::{Nothing, Parameters, page_limit},
        reply::{Envelope, Reply, Success},
        token,
    },
};

/// A file as the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileObject {
    #[schema(value_type = String, example = "fil_019388f0a5c07d2e8a6b3c1d2e3f4a5b")]
    file_id: FileId,
    #[schema(value_type = String)]
    box_id: BoxId,
    name: String,
    file_name: String,
    media_type: String,
    storage_size: u64,
    sha256: String,
    pages: u32,
    char_count: u64,
    chunks: u32,
    /// queued, processing, ready, `ready_with_warnings`, failed or deleting
    #[schema(value_type = String)]
    status: FileStatus,
    progress: Progress,
    error: Option<String>,
    warnings: Vec<String>,
    language: Option<String>,
    tags: Vec<String>,
    #[schema(value_type = Object)]
    metadata: Metadata,
    external_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    indexed_at: Option<Timestamp>,
    /// When it is deleted by itself; null: never, unless its box has `retentionDays`.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    link: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Progress {
    pages_done: u32,
    pages: Option<u32>,
}

impl FileObject {
    pub(super) fn of(file: FileRecord, origin: &Origin) -> Self {
        FileObject {
            file_id: file.id,
            box_id: file.box_id,
            name: file.name.as_str().to_string(),
            file_name: file.name.as_str().to_string(),
            media_type: file.media_type,
            storage_size: file.size,
            sha256: file.sha256,
            pages: file.extent.pages,
            char_count: file.extent.characters,
            chunks: file.extent.chunks,
            status: file.status,
            progress: Progress { pages_done: file.progress.done, pages: file.progress.total },
            error: file.error,
            warnings: file.warnings,
            language: file.language,
            tags: file.tags,
            metadata: file.metadata,
            external_id: file.external_id,
            created_at: file.created_at,
            updated_at: file.updated_at,
            indexed_at: file.indexed_at,
            expires_at: file.expires_at,
            link: format!("{origin}{BASE}/files/{}", file.id),
        }
    }
}

/// Which files to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Only this box; every box that the key can use if left out.
    box_id: Option<String>,
    /// The most files to return, 1 to 200; 50 if left out.
    limit: Option<String>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
    /// A part of the name.
    query: Option<String>,
    /// One or more statuses, separated by commas.
    status: Option<String>,
    /// Tags that a file must all have, separated by commas.
    tags: Option<String>,
    /// name, createdAt, updatedAt, storageSize or pages; a minus sign before it reverses the order.
    sort: Option<String>,
}

/// A page of files.
#[derive(Serialize, ToSchema)]
pub(super) struct FileList {
    files: Vec<FileObject>,
    total: u64,
    has_more: bool,
    next_cursor: Option<String>,
    usage: ListUsage,
}

#[derive(Serialize, ToSchema)]
struct ListUsage {
    files: usize,
}

impl ListQuery {
    /// What the catalog is asked; the sort is part of the cursor, so that it cannot change between pages.
    pub(super) fn wanted(&self) -> Result<FileQuery, Fault> {
        let limit = page_limit(self.limit.as_deref())?;
        let sort = self.sort.as_deref().unwrap_or("-createdAt");
        let (descending, field) = sort.strip_prefix('-').map_or((false, sort), |field| (true, field));
        let key = match field {
            "name" | "fileName" => SortKey::Name,
            "createdAt" => SortKey::CreatedAt,
            "updatedAt" => SortKey::UpdatedAt,
            "storageSize" | "size" => SortKey::Size,
            "pages" => SortKey::Pages,
            _ => {
                let cause =
                    format!("cannot sort by `{field}`: use name, createdAt, updatedAt, storageSize or pages");
                return Err(Fault::invalid("sort", cause));
            }
        };
        let statuses = self.status.as_deref().into_iter().flat_map(|list| list.split(',')).map(str::trim);
        let statuses = statuses.filter(|status| !status.is_empty()).map(str::parse);
        let statuses: HashSet<FileStatus> =
            statuses.collect::<Result<_, String>>().map_err(|wrong| Fault::invalid("status", wrong))?;
        Ok(FileQuery {
            name_part: self.query.clone().filter(|part| !part.is_empty()),
            statuses: statuses.into_iter().collect(),
            tags: self.tags.as_deref().map(parse_tags).transpose()?.unwrap_or_default(),
            sort: key,
            descending,
            after: self.cursor.as_deref().map(|cursor| read_cursor(cursor, sort)).transpose()?,
            limit,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Cursor {
    sort: String,
    at: FileCursor,
}

pub(super) fn read_cursor(text: &str, sort: &str) -> Result<FileCursor, Fault> {
    let cursor: Option<Cursor> = token::decode(text).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match cursor {
        Some(cursor) if cursor.sort == sort => Ok(cursor.at),
        Some(_) => Err(Fault::invalid(
            "cursor",
            "the cursor belongs to a list with a different `sort`; start again without it",
        )),
        None => Err(Fault::invalid(
            "cursor",
            "the cursor is not valid; use `next_cursor` of the previous page unchanged",
        )),
    }
}

pub(super) fn write_cursor(at: FileCursor, sort: &str) -> String {
    let cursor = Cursor { sort: sort.to_string(), at };
    token::encode(&serde_json::to_vec(&cursor).expect("plain JSON"))
}

async fn list(
    app: &App,
    readings: &[Reading],
    query: Parameters<ListQuery>,
    origin: &Origin,
) -> Reply<FileList> {
    let Parameters { value: query, warnings } = query;
    let page = app.catalog.list_files(readings, query.wanted()?).await?;
    let sort = query.sort.as_deref().unwrap_or("-createdAt");
    let files: Vec<_> = page.files.into_iter().map(|file| FileObject::of(file, origin)).collect();
    let next_cursor = page.next.map(|at| write_cursor(at, sort));
    let usage = ListUsage { files: files.len() };
    let (total, has_more) = (page.total, next_cursor.is_some());
    Ok(Success::with_warnings(FileList { files, total, has_more, next_cursor, usage }, warnings))
}

/// Lists the files of one box.
#[utoipa::path(get, path = "/boxes/{box_id}/files", operation_id = "list_box_files", tag = "files",
    params(("box_id" = String, Path, description = "The box"), ListQuery),
    responses(
        (status = 200, description = "A page of files", body = Envelope<FileList>),
        (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn list_box(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    origin: Origin,
    query: Parameters<ListQuery>,
) -> Reply<FileList> {
    list(&app, &[reading], query, &origin).await
}

/// Lists the files of one box or of all boxes that the key may be used on.
#[utoipa::path(get, path = "/files", operation_id = "list_files", tag = "files", params(ListQuery), responses(
    (status = 200, description = "A page of files", body = Envelope<FileList>),
    (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
))]
pub(super) async fn list_all(
    State(app): State<App>,
    Reader(caller): Reader,
    origin: Origin,
    query: Parameters<ListQuery>,
) -> Reply<FileList> {
    let readings = match &query.value.box_id {
        Some(id) => vec![caller.may_read(id.parse().map_err(|_| engine::access::no_such_box())?)?],
        None => caller.readable()?,
    };
    list(&app, &readings, query, &origin).await
}

/// How a link to a file is opened.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Opened {
    /// The page that a browser is taken to in the dashboard; without effect on the answer.
    #[expect(dead_code, reason = "links in answers carry it for browsers")]
    page: Option<String>,
}

/// Shows one file.
#[utoipa::path(get, path = "/files/{file_id}", operation_id = "get_file", tag = "files",
    params(("file_id" = String, Path, description = "The file"), Opened),
    responses(
        (status = 200, description = "The file", body = Envelope<FileObject>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such file", body = ErrorEnvelope)
    ))]
pub(super) async fn show(file: ReadingFile, origin: Origin, query: Parameters<Opened>) -> Reply<FileObject> {
    Ok(Success::with_warnings(FileObject::of(file.record, &origin), query.warnings))
}

/// What can be changed about a file.
#[derive(Deserialize, ToSchema)]
pub(super) struct Changes {
    /// A new name.
    name: Option<String>,
    /// Another name of your own for the file, which no other file of the box has.
    #[serde(rename = "externalId")]
    external_id: Option<String>,
    /// New tags, in place of those it has.
    tags: Option<Vec<String>>,
    /// Merged into the metadata it has; null removes an entry.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Metadata>,
    /// When the file is deleted by itself, in the future; null: never, unless its box has `retentionDays`.
    #[serde(rename = "expiresAt", default, deserialize_with = "body::given")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Option<String>>,
}

impl Changes {
    pub(super) fn read(self) -> Result<FileChanges, Fault> {
        Ok(FileChanges {
            name: self.name.as_deref().map(parse_name).transpose()?,
            external_id: self.external_id.as_deref().map(parse_external_id).transpose()?,
            tags: self.tags.map(check_tags).transpose()?,
            metadata: self.metadata,
            expires_at: match self.expires_at {
                None => None,
                Some(None) => Some(None),
                Some(Some(text)) => Some(Some(parse_expiry(&text)?)),
            },
        })
    }
}

/// Changes name, `externalId`, tags, metadata and expiry of a file.
#[utoipa::path(patch, path = "/files/{file_id}", operation_id = "change_file", tag = "files",
    params(("file_id" = String, Path, description = "The file")),
    request_body = Changes,
    responses(
        (status = 200, description = "The file as it is now", body = Envelope<FileObject>),
        (status = "4XX", description = "The key, its role or the body is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn change(
    State(app): State<App>,
    file: WritingFile,
    actor: Actor,
    origin: Origin,
    body: JsonBody<Changes>,
) -> Reply<FileObject> {
    let changes = body.value.read()?;
    let changed = app.catalog.change_file(&file.writing, file.id, changes).await?.ok_or_else(no_such_file)?;
    actor.note(Action::FileChanged, changed.box_id, changed.name.as_str()).await?;
    Ok(Success::with_warnings(FileObject::of(changed, &origin), body.warnings))
}

/// What a deletion removed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeletionReceipt {
    #[schema(value_type = String)]
    file_id: FileId,
    name: String,
    sha256: String,
    deleted: bool,
    #[schema(value_type = String, format = DateTime)]
    deleted_at: Timestamp,
    removed: RemovedCounts,
}

#[derive(Serialize, ToSchema)]
struct RemovedCounts {
    /// 0 where another file of the box is of the same bytes.
    originals: u64,
    pages: u64,
    chunks: u64,
    vectors: u64,
}

/// Deletes a file permanently; once this is answered, nothing of it can be found.
#[utoipa::path(delete, path = "/files/{file_id}", operation_id = "delete_file", tag = "files",
    params(("file_id" = String, Path, description = "The file")),
    responses(
        (status = 200, description = "What was removed", body = Envelope<DeletionReceipt>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such file", body = ErrorEnvelope)
    ))]
pub(super) async fn delete(
    State(app): State<App>,
    file: WritingFile,
    actor: Actor,
    query: Parameters<Nothing>,
) -> Reply<DeletionReceipt> {
    let receipt = app.library.delete(&file.writing, file.id).await?.ok_or_else(no_such_file)?;
    actor.note(Action::FileDeleted, receipt.file.box_id, receipt.file.name.as_str()).await?;
    let removed = RemovedCounts {
        originals: receipt.originals,
        pages: receipt.removed.pages,
        chunks: receipt.removed.chunks,
        vectors: receipt.removed.vectors,
    };
    let receipt = DeletionReceipt {
        file_id: file.id,
        name: receipt.file.name.as_str().to_string(),
        sha256: receipt.file.sha256,
        deleted: true,
        deleted_at: Timestamp::now(),
        removed,
    };
    Ok(Success::with_warnings(receipt, query.warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_order_only() {
        let at = FileCursor { value: engine::seams::catalog::CursorValue::Number(7), id: FileId::generate() };
        let text = write_cursor(at.clone(), "-createdAt");
        assert_eq!(read_cursor(&text, "-createdAt").unwrap(), at);
        assert!(read_cursor(&text, "name").is_err());
        assert!(read_cursor("nonsense", "name").is_err());
    }
}
