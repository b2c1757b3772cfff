//! Files that were uploaded before anybody said which box they are for, and batches of files: what OpenAI's clients work with.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{FileName, FileRecord, Metadata};
use crate::{
    Fault,
    access::{Managing, Reading, Uploading, Writing},
    ids::{BatchId, BoxId, UploadId, UserId},
};

/// A file that is in no box yet. Nobody but its user sees it, and it is gone when it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Identifies it, also in the boxes that it is put into: it is their file's `external_id`.
    pub id: UploadId,
    /// Whose it is.
    pub user: UserId,
    /// The prefix of the key that it came by.
    pub key: String,
    /// What its owner calls it.
    pub name: FileName,
    /// What it is for, in the words of whoever uploaded it.
    pub purpose: String,
    /// SHA-256 of the original, in hexadecimal.
    pub sha256: String,
    /// Bytes of the original.
    pub size: u64,
    /// Media type, as the sender says.
    pub media_type: String,
    /// When it came in.
    pub created_at: Timestamp,
    /// When it goes, unless somebody deletes it before.
    pub expires_at: Timestamp,
}

/// Which uploads to list.
#[derive(Debug, Clone)]
pub struct UploadQuery {
    /// Only those for this purpose.
    pub purpose: Option<String>,
    /// The last one of the page before.
    pub after: Option<UploadId>,
    /// Newest first.
    pub descending: bool,
    /// Most uploads to give.
    pub limit: u32,
}

/// Files that were put into a box together, to be watched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Identifies it.
    pub id: BatchId,
    /// The box that the files are in.
    pub box_id: BoxId,
    /// The files, as they were named.
    pub files: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether it was called off.
    pub cancelled: bool,
}

/// Uploads, batches, and what OpenAI's clients say about a box.
#[async_trait]
pub trait Uploads: Send + Sync {
    /// Keeps an upload, if its user has room for it.
    async fn add_upload(&self, upload: Upload) -> Result<(), Fault>;

    /// An upload that has not expired.
    async fn upload(&self, uploading: &Uploading, id: UploadId) -> Result<Option<Upload>, Fault>;

    /// Uploads that have not expired, in order of their ids.
    async fn uploads(&self, uploading: &Uploading, query: UploadQuery) -> Result<Vec<Upload>, Fault>;

    /// Removes an upload; gives the original that it referred to, or `None` where there is no such upload.
    async fn remove_upload(&self, uploading: &Uploading, id: UploadId) -> Result<Option<String>, Fault>;

    /// Removes what has expired; gives the originals that it referred to.
    async fn remove_expired_uploads(&self, now: Timestamp) -> Result<Vec<String>, Fault>;

    /// The file of a box that another system calls so, for each of these names in their order.
    async fn files_named(
        &self,
        reading: &Reading,
        external_ids: &[String],
    ) -> Result<Vec<Option<FileRecord>>, Fault>;

    /// Remembers which files were put into a box together.
    async fn add_batch(&self, writing: &Writing, files: Vec<String>) -> Result<Batch, Fault>;

    /// A batch of this box.
    async fn batch(&self, reading: &Reading, id: BatchId) -> Result<Option<Batch>, Fault>;

    /// Notes that a batch was called off.
    async fn cancel_batch(&self, writing: &Writing, id: BatchId) -> Result<(), Fault>;

    /// What is said about these boxes, in the order asked.
    async fn notes(&self, readings: &[Reading]) -> Result<Vec<Metadata>, Fault>;

    /// Says something else about a box.
    async fn set_notes(&self, managing: &Managing, notes: Metadata) -> Result<(), Fault>;
}
