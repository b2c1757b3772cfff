//! Files: what is known of each original and of the text read from it.

use std::{
    collections::{HashMap, HashSet},
    str::FromStr,
};

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{DateField, Filter, Metadata, users::name_of};
use crate::{
    Fault,
    access::{Reading, Writing},
    ids::{BoxId, FileId},
};

/// What its owner calls a file: the last part of a path, without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileName(String);

impl FileName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for FileName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let plain: String = last.chars().filter(|c| !c.is_control()).collect();
        name_of(&plain, 255).map(FileName).ok_or_else(|| "a file name must have 1 to 255 characters".into())
    }
}

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// Waits to be read.
    Queued,
    /// Is being read.
    Processing,
    /// Can be read and searched.
    Ready,
    /// Can be read and searched, but something about it should be known.
    ReadyWithWarnings,
    /// Could not be read.
    Failed,
    /// Is being deleted.
    Deleting,
}

impl FileStatus {
    /// All of them.
    pub const ALL: [FileStatus; 6] = [
        FileStatus::Queued,
        FileStatus::Processing,
        FileStatus::Ready,
        FileStatus::ReadyWithWarnings,
        FileStatus::Failed,
        FileStatus::Deleting,
    ];

    /// The word on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            FileStatus::Queued => "queued",
            FileStatus::Processing => "processing",
            FileStatus::Ready => "ready",
            FileStatus::ReadyWithWarnings => "ready_with_warnings",
            FileStatus::Failed => "failed",
            FileStatus::Deleting => "deleting",
        }
    }
}

impl FromStr for FileStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        FileStatus::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            let known = FileStatus::ALL.map(FileStatus::as_str).join(", ");
            format!("`{text}` is not a status; use {known}")
        })
    }
}

/// The text read from a file, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Pages.
    pub pages: u32,
    /// Code points on all pages.
    pub characters: u64,
    /// Passages for search.
    pub chunks: u32,
}

/// How far reading has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProgress {
    /// Pages read so far.
    pub done: u32,
    /// Of how many, where that is known.
    pub total: Option<u32>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Identifies the file permanently, over all versions of its content.
    pub id: FileId,
    /// The box it is in.
    pub box_id: BoxId,
    /// What its owner calls it.
    pub name: FileName,
    /// The owner's own name for it in another system.
    pub external_id: Option<String>,
    /// SHA-256 of the original, in hexadecimal.
    pub sha256: String,
    /// Bytes of the original.
    pub size: u64,
    /// Media type, sniffed from the bytes once they were read.
    pub media_type: String,
    /// Its state.
    pub status: FileStatus,
    /// How far reading has come.
    pub progress: FileProgress,
    /// Why it could not be read.
    pub error: Option<String>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// ISO 639-1 code of the language most of it is in.
    pub language: Option<String>,
    /// The owner's labels, sorted.
    pub tags: Vec<String>,
    /// What the owner says about it.
    pub metadata: Metadata,
    /// The text in numbers.
    pub extent: Extent,
    /// When it was first uploaded.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
    /// When its content last became searchable; `None`: never yet.
    pub indexed_at: Option<Timestamp>,
    /// When it is deleted by itself; `None`: never, unless its box says so.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// An original that was received, to become a file or a new version of one.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// What its owner calls it.
    pub name: FileName,
    /// The owner's own name for it; the same one again means a new version.
    pub external_id: Option<String>,
    /// SHA-256 of the original, in hexadecimal.
    pub sha256: String,
    /// Bytes of the original.
    pub size: u64,
    /// A first guess at the media type, until the bytes were read.
    pub media_type: String,
    /// Labels; `None` keeps those that the file has.
    pub tags: Option<Vec<String>>,
    /// Metadata; `None` keeps what the file has.
    pub metadata: Option<Metadata>,
    /// When it is deleted by itself; `None` keeps what the file has.
    pub expires_at: Option<Timestamp>,
}

/// What became of an upload.
#[derive(Debug)]
pub struct Uploaded {
    /// The file as it is now.
    pub file: FileRecord,
    /// What happened to it.
    pub outcome: UploadOutcome,
    /// Originals that this made unneeded.
    pub superseded: Vec<String>,
}

/// What happened to an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadOutcome {
    /// A new file.
    Added,
    /// A new version of a file.
    Replaced,
    /// Bytes that the box has already.
    Known,
}

/// Changes to what the owner says about a file; `None` leaves things as they are.
#[derive(Debug, Clone, Default)]
pub struct FileChanges {
    /// Another name.
    pub name: Option<FileName>,
    /// Another name of the owner's own, which no other file of the box has.
    pub external_id: Option<String>,
    /// Other labels.
    pub tags: Option<Vec<String>>,
    /// Metadata to lay over what is there; a null takes an entry away.
    pub metadata: Option<Metadata>,
    /// Another time when it is deleted by itself; `Some(None)`: never.
    pub expires_at: Option<Option<Timestamp>>,
}

/// What to list files by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// By name.
    Name,
    /// By the time of upload.
    CreatedAt,
    /// By the time of the last change.
    UpdatedAt,
    /// By size.
    Size,
    /// By number of pages.
    Pages,
}

/// Which files to list, and how.
#[derive(Debug, Clone)]
pub struct FileQuery {
    /// A part of the name.
    pub name_part: Option<String>,
    /// Only these states; empty is any.
    pub statuses: Vec<FileStatus>,
    /// Only files with all of these labels.
    pub tags: Vec<String>,
    /// The order.
    pub sort: SortKey,
    /// Largest first.
    pub descending: bool,
    /// The last file of the page before.
    pub after: Option<FileCursor>,
    /// Most files to give.
    pub limit: u32,
}

/// A place in a listing: the value it is sorted by, and the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCursor {
    /// What the listing is sorted by, as text or number.
    pub value: CursorValue,
    /// Breaks ties.
    pub id: FileId,
}

/// A sorted-by value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CursorValue {
    /// For sizes, pages and times (milliseconds).
    Number(i64),
    /// For names.
    Text(String),
}

impl CursorValue {
    /// Whether it is a text; else it is a number.
    pub fn is_text(&self) -> bool {
        matches!(self, CursorValue::Text(_))
    }
}

/// A part of a listing.
#[derive(Debug)]
pub struct FilePage {
    /// The files.
    pub files: Vec<FileRecord>,
    /// How many there are in all.
    pub total: u64,
    /// Where the next part starts, if there is one.
    pub next: Option<FileCursor>,
}

/// Files of boxes.
#[async_trait]
pub trait Files: Send + Sync {
    /// Makes a file of an original that was received, or a new version of one, with the job to read it.
    async fn add_file(&self, writing: &Writing, file: NewFile) -> Result<Uploaded, Fault>;

    /// The box that a file is in; tells nothing else, so it asks for no permission.
    async fn box_of_file(&self, file: FileId) -> Result<Option<BoxId>, Fault>;

    /// The files with these ids, in the order asked; `None` where there is no such file in the box.
    async fn files(&self, reading: &Reading, ids: &[FileId]) -> Result<Vec<Option<FileRecord>>, Fault>;

    /// The searchable files of a box whose metadata passes a filter.
    async fn files_where(&self, reading: &Reading, filter: Filter) -> Result<HashSet<FileId>, Fault>;

    /// The dates of the searchable files of a box; those without one are left out.
    async fn dates_of_files(
        &self,
        reading: &Reading,
        field: DateField,
    ) -> Result<HashMap<FileId, Timestamp>, Fault>;

    /// A part of the files of these boxes.
    async fn list_files(&self, readings: &[Reading], query: FileQuery) -> Result<FilePage, Fault>;

    /// Changes what the owner says about a file; `None` where there is no such file.
    async fn change_file(
        &self,
        writing: &Writing,
        file: FileId,
        changes: FileChanges,
    ) -> Result<Option<FileRecord>, Fault>;

    /// Puts a file into the queue again: its newest version is read, and what can be read of it now stays until then.
    /// `None` where there is no such file.
    async fn read_again(&self, writing: &Writing, file: FileId) -> Result<Option<FileRecord>, Fault>;

    /// The secret that signs download links; created on first use and shared by all nodes.
    async fn link_secret(&self) -> Result<Vec<u8>, Fault>;
}
