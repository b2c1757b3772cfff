//! Files: upload, list, show, change, delete, and the report on how each page was read.

use axum::{
    extract::{Multipart, Query, State, multipart::Field, rejection::QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    access::Reading,
    ids::{BoxId, FileId},
    seams::catalog::{
        FileChanges, FileCursor, FileName, FileQuery, FileRecord, FileStatus, Metadata, NewFile, SortKey,
        UploadOutcome,
    },
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stores::blobs::Staged;
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    http::{
        BASE,
        auth::{Asking, ReadingBox, ReadingFile, WritingBox, WritingFile},
        body::{self, JsonBody},
        error::{ErrorEnvelope, Failure},
        origin::Origin,
        reply::{Envelope, Reply, Success},
        token,
    },
};

/// Bytes of the small fields of an upload, each.
const FIELD_BYTES: usize = 64 * 1024;
/// The parts of the form.
const FIELDS: &[&str] = &["file", "name", "metadata", "tags", "externalId"];
/// Labels on one file, and characters in one: labels, not texts.
const MOST_TAGS: usize = 100;
const LONGEST_TAG: usize = 100;

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
            link: format!("{origin}{BASE}/files/{}", file.id),
        }
    }
}

/// What an upload came to.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadObject {
    #[serde(flatten)]
    file: FileObject,
    /// The box has these bytes already, so no file was added.
    deduplicated: bool,
    /// A file with the same `externalId` gets this content.
    replaced: bool,
}

/// The form of an upload.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form; the fields are read one by one as they come in")]
pub(super) struct UploadForm {
    /// The file; its name is taken from the part.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// A JSON object of your own.
    metadata: Option<String>,
    /// Labels: a JSON array or `a,b,c`.
    tags: Option<String>,
    /// Your own name for the file; the same one again replaces its content.
    #[schema(rename = "externalId")]
    external_id: Option<String>,
}

/// Adds a file to a box, or a new version of one.
#[utoipa::path(post, path = "/boxes/{box_id}/files", tag = "files",
    params(("box_id" = String, Path, description = "The box")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The file was received and waits to be read", body = Envelope<UploadObject>),
        (status = 200, description = "The box has these bytes already", body = Envelope<UploadObject>),
        (status = "4XX", description = "The form is wrong, or the file too large", body = ErrorEnvelope)
    ))]
pub(super) async fn upload(
    State(app): State<App>,
    WritingBox(writing): WritingBox,
    origin: Origin,
    form: Result<Multipart, axum::extract::multipart::MultipartRejection>,
) -> Result<Response, Failure> {
    let form = form.map_err(|_| {
        let cause = "send the file as a form: `Content-Type: multipart/form-data` with a part named `file`";
        Fault::new(Reason::UnsupportedMediaType, cause)
    })?;
    let mut received = Received::from_form(&app, form).await?;
    let warnings = std::mem::take(&mut received.warnings);
    let (staged, describe) = received.whole()?;
    let uploaded = app.library.add(&writing, staged, describe).await?;
    let deduplicated = uploaded.outcome == UploadOutcome::Known;
    let replaced = uploaded.outcome == UploadOutcome::Replaced;
    let status = if deduplicated { StatusCode::OK } else { StatusCode::CREATED };
    let object = UploadObject { file: FileObject::of(uploaded.file, &origin), deduplicated, replaced };
    Ok((status, Success::with_warnings(object, warnings)).into_response())
}

/// The parts of an upload, as they come in.
#[derive(Default)]
struct Received {
    staged: Option<(Staged, FileName, String)>,
    name: Option<FileName>,
    metadata: Option<Metadata>,
    tags: Option<Vec<String>>,
    external_id: Option<String>,
    warnings: Vec<String>,
}

impl Received {
    async fn from_form(app: &App, mut form: Multipart) -> Result<Self, Fault> {
        let mut received = Received::default();
        while let Some(field) = form.next_field().await.map_err(broken_form)? {
            let name = field.name().unwrap_or_default().to_string();
            match name.as_str() {
                "file" if received.staged.is_some() => {
                    return Err(Fault::invalid(
                        "file",
                        "one upload carries one `file`; send the others one by one",
                    ));
                }
                "file" => received.staged = Some(stage(app, field).await?),
                "name" => received.name = Some(parse_name(&text(field, "name").await?)?),
                "metadata" => received.metadata = Some(parse_metadata(&text(field, "metadata").await?)?),
                "tags" => {
                    received.tags.get_or_insert_default().extend(parse_tags(&text(field, "tags").await?)?)
                }
                "externalId" | "external_id" => {
                    received.external_id = Some(parse_external_id(&text(field, "externalId").await?)?);
                }
                other => received.warnings.push(body::warning(other, FIELDS)),
            }
        }
        Ok(received)
    }

    /// The file, and how to describe it to the catalog.
    fn whole(self) -> Result<(Staged, impl FnOnce(&Staged) -> NewFile), Fault> {
        let Received { staged, name, metadata, tags, external_id, .. } = self;
        let (staged, sent_name, media_type) = staged
            .ok_or_else(|| Fault::missing("file", "the form has no part of that name with a file in it"))?;
        let name = name.unwrap_or(sent_name);
        let describe = move |staged: &Staged| NewFile {
            name,
            external_id,
            sha256: staged.sha256.clone(),
            size: staged.size,
            media_type,
            tags,
            metadata,
        };
        Ok((staged, describe))
    }
}

/// Writes a file part to disk as it comes in, hashing it on the way; never holds more than a piece of it.
async fn stage(app: &App, mut field: Field<'_>) -> Result<(Staged, FileName, String), Fault> {
    let name = parse_name(field.file_name().unwrap_or("unnamed"))?;
    let media_type = field.content_type().unwrap_or("application/octet-stream").to_string();
    let most = app.config.limits.file_mb * 1024 * 1024;
    let mut incoming = app.library.blobs.receive()?;
    while let Some(bytes) = field.chunk().await.map_err(broken_form)? {
        if incoming.size() + bytes.len() as u64 > most {
            body::drain(&mut field).await;
            let limit = app.config.limits.file_mb;
            return Err(Fault::new(Reason::TooLarge, format!("{} is larger than {limit} MB", name.as_str()))
                .param("file")
                .hint("split the file, or ask the operator to raise limits.file_mb"));
        }
        incoming.write(&bytes)?;
    }
    let staged = tokio::task::spawn_blocking(move || incoming.finish()).await.map_err(Fault::internal)??;
    Ok((staged, name, media_type))
}

async fn text(mut field: Field<'_>, name: &str) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    while let Some(more) = field.chunk().await.map_err(broken_form)? {
        bytes.extend_from_slice(&more);
        if bytes.len() > FIELD_BYTES {
            let cause = format!("`{name}` is larger than {} KB", FIELD_BYTES / 1024);
            return Err(Fault::new(Reason::TooLarge, cause).param(name));
        }
    }
    String::from_utf8(bytes).map_err(|_| Fault::invalid(name, format!("`{name}` is not UTF-8")))
}

fn broken_form(error: axum::extract::multipart::MultipartError) -> Fault {
    tracing::debug!(%error, "A form could not be read");
    Fault::new(Reason::InvalidParameter, "the form is cut off or not well-formed multipart/form-data")
}

fn parse_name(text: &str) -> Result<FileName, Fault> {
    text.parse().map_err(|wrong: String| Fault::invalid("name", wrong))
}

fn parse_metadata(text: &str) -> Result<Metadata, Fault> {
    serde_json::from_str(text)
        .map_err(|wrong| Fault::invalid("metadata", format!("`metadata` must be a JSON object: {wrong}")))
}

/// A JSON array of texts, or texts with commas between them.
fn parse_tags(text: &str) -> Result<Vec<String>, Fault> {
    let tags: Vec<String> = match text.trim().starts_with('[') {
        true => serde_json::from_str(text).map_err(|wrong| {
            Fault::invalid("tags", format!("`tags` must be a JSON array of texts: {wrong}"))
        })?,
        false => text.split(',').map(str::to_string).collect(),
    };
    check_tags(tags)
}

fn check_tags(tags: Vec<String>) -> Result<Vec<String>, Fault> {
    let tags: Vec<String> =
        tags.iter().map(|tag| tag.trim().to_string()).filter(|tag| !tag.is_empty()).collect();
    if tags.len() > MOST_TAGS || tags.iter().any(|tag| tag.chars().count() > LONGEST_TAG) {
        let cause = format!("a file has at most {MOST_TAGS} tags of at most {LONGEST_TAG} characters");
        return Err(Fault::invalid("tags", cause));
    }
    Ok(tags)
}

fn parse_external_id(text: &str) -> Result<String, Fault> {
    let id = text.trim();
    if !(1..=200).contains(&id.chars().count()) {
        return Err(Fault::invalid("externalId", "`externalId` has 1 to 200 characters"));
    }
    Ok(id.to_string())
}

/// Which files to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Only this box; every box of the key where it is left out.
    box_id: Option<String>,
    /// How many at most, 1 to 200; 50 where it is left out.
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// A part of the name.
    query: Option<String>,
    /// One or more states, with commas between them.
    status: Option<String>,
    /// Labels that a file must all have, with commas between them.
    tags: Option<String>,
    /// name, createdAt, updatedAt, storageSize or pages; a minus sign before it turns the order round.
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
    fn wanted(&self) -> Result<FileQuery, Fault> {
        let limit = match self.limit.as_deref().map(str::parse::<u32>) {
            None => 50,
            Some(Ok(limit)) if (1..=200).contains(&limit) => limit,
            Some(_) => return Err(Fault::invalid("limit", "`limit` is a number from 1 to 200")),
        };
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
        let statuses =
            statuses.collect::<Result<_, String>>().map_err(|wrong| Fault::invalid("status", wrong))?;
        Ok(FileQuery {
            name_part: self.query.clone().filter(|part| !part.is_empty()),
            statuses,
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

fn read_cursor(text: &str, sort: &str) -> Result<FileCursor, Fault> {
    let cursor: Option<Cursor> = token::decode(text).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match cursor {
        Some(cursor) if cursor.sort == sort => Ok(cursor.at),
        Some(_) => {
            Err(Fault::invalid("cursor", "the cursor belongs to another `sort`; start again without it"))
        }
        None => {
            Err(Fault::invalid("cursor", "the cursor is not one of ours; use `next_cursor` as it was given"))
        }
    }
}

fn write_cursor(at: FileCursor, sort: &str) -> String {
    let cursor = Cursor { sort: sort.to_string(), at };
    token::encode(&serde_json::to_vec(&cursor).expect("plain JSON"))
}

async fn list(app: &App, readings: &[Reading], query: &ListQuery, origin: &Origin) -> Reply<FileList> {
    let page = app.catalog.list_files(readings, query.wanted()?).await?;
    let sort = query.sort.as_deref().unwrap_or("-createdAt");
    let files: Vec<_> = page.files.into_iter().map(|file| FileObject::of(file, origin)).collect();
    let next_cursor = page.next.map(|at| write_cursor(at, sort));
    let usage = ListUsage { files: files.len() };
    Ok(Success::new(FileList {
        files,
        total: page.total,
        has_more: next_cursor.is_some(),
        next_cursor,
        usage,
    }))
}

fn parameters(query: Result<Query<ListQuery>, QueryRejection>) -> Result<ListQuery, Fault> {
    query.map(|Query(query)| query).map_err(|wrong| Fault::new(Reason::InvalidParameter, wrong.body_text()))
}

/// Lists the files of one box.
#[utoipa::path(get, path = "/boxes/{box_id}/files", tag = "files",
    params(("box_id" = String, Path, description = "The box"), ListQuery),
    responses(
        (status = 200, description = "A page of files", body = Envelope<FileList>),
        (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn list_box(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
    origin: Origin,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Reply<FileList> {
    list(&app, &[reading], &parameters(query)?, &origin).await
}

/// Lists the files of one box or of all boxes that the key may be used on.
#[utoipa::path(get, path = "/files", tag = "files", params(ListQuery), responses(
    (status = 200, description = "A page of files", body = Envelope<FileList>),
    (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
))]
pub(super) async fn list_all(
    State(app): State<App>,
    Asking(caller): Asking,
    origin: Origin,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Reply<FileList> {
    let query = parameters(query)?;
    let readings = match &query.box_id {
        Some(id) => vec![caller.may_read(id.parse().map_err(|_| engine::access::no_such_box())?)?],
        None => caller.readable(),
    };
    list(&app, &readings, &query, &origin).await
}

/// Shows one file.
#[utoipa::path(get, path = "/files/{file_id}", tag = "files",
    params(("file_id" = String, Path, description = "The file")),
    responses(
        (status = 200, description = "The file", body = Envelope<FileObject>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such file", body = ErrorEnvelope)
    ))]
pub(super) async fn show(file: ReadingFile, origin: Origin) -> Reply<FileObject> {
    Ok(Success::new(FileObject::of(file.record, &origin)))
}

/// What can be changed about a file.
#[derive(Deserialize, ToSchema)]
pub(super) struct Changes {
    /// Another name.
    name: Option<String>,
    /// Other labels, in place of those it has.
    tags: Option<Vec<String>>,
    /// Laid over the metadata it has; a null takes an entry away.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Metadata>,
}

/// Changes name, tags and metadata of a file.
#[utoipa::path(patch, path = "/files/{file_id}", tag = "files",
    params(("file_id" = String, Path, description = "The file")),
    request_body = Changes,
    responses(
        (status = 200, description = "The file as it is now", body = Envelope<FileObject>),
        (status = "4XX", description = "The key, its role or the body is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn change(
    State(app): State<App>,
    file: WritingFile,
    origin: Origin,
    body: JsonBody<Changes>,
) -> Reply<FileObject> {
    let changes = FileChanges {
        name: body.value.name.as_deref().map(parse_name).transpose()?,
        tags: body.value.tags.map(check_tags).transpose()?,
        metadata: body.value.metadata,
    };
    let changed = app.catalog.change_file(&file.writing, file.id, changes).await?.ok_or_else(no_such_file)?;
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
    /// 0 where another file is of the same bytes.
    originals: u64,
    pages: u64,
    chunks: u64,
    vectors: u64,
}

/// Deletes a file for good; from the answer on nothing of it can be found.
#[utoipa::path(delete, path = "/files/{file_id}", tag = "files",
    params(("file_id" = String, Path, description = "The file")),
    responses(
        (status = 200, description = "What was removed", body = Envelope<DeletionReceipt>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such file", body = ErrorEnvelope)
    ))]
pub(super) async fn delete(State(app): State<App>, file: WritingFile) -> Reply<DeletionReceipt> {
    let receipt = app.library.delete(&file.writing, file.id).await?.ok_or_else(no_such_file)?;
    let removed = RemovedCounts {
        originals: receipt.originals,
        pages: receipt.removed.pages,
        chunks: receipt.removed.chunks,
        vectors: receipt.removed.vectors,
    };
    Ok(Success::new(DeletionReceipt {
        file_id: file.id,
        name: receipt.file.name.as_str().to_string(),
        sha256: receipt.file.sha256,
        deleted: true,
        deleted_at: Timestamp::now(),
        removed,
    }))
}

/// The one answer for a file that does not exist and for a file of somebody else.
pub(crate) fn no_such_file() -> Fault {
    Fault::new(Reason::NotFound, "there is no such file, or this key has no access to it").param("file_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_as_json_or_with_commas() {
        assert_eq!(parse_tags("a, b,,c").unwrap(), ["a", "b", "c"]);
        assert_eq!(parse_tags(r#"["x, y", " z "]"#).unwrap(), ["x, y", "z"]);
        assert!(parse_tags("[1]").is_err());
        assert!(parse_tags(&"x,".repeat(101)).is_err());
    }

    #[test]
    fn a_cursor_is_good_for_its_own_order_only() {
        let at = FileCursor { value: engine::seams::catalog::CursorValue::Number(7), id: FileId::generate() };
        let text = write_cursor(at.clone(), "-createdAt");
        assert_eq!(read_cursor(&text, "-createdAt").unwrap(), at);
        assert!(read_cursor(&text, "name").is_err());
        assert!(read_cursor("nonsense", "name").is_err());
    }
}
