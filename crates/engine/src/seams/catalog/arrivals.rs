//! Boxes that are being brought in from elsewhere: nobody sees one before all of it is there.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{BoxLanguage, BoxName, BoxRecord, Extent, FileName, FileStatus, Metadata};
use crate::{
    Fault,
    access::{Reading, Writing},
    ids::{BoxId, FileId, UserId},
};

/// How a box is set up, to be taken along. What a later version adds is left out by an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BoxSettings {
    /// After how many days its files are deleted.
    pub retention_days: Option<u32>,
    /// What it is for.
    pub language: BoxLanguage,
}

/// A box that is to arrive.
#[derive(Debug, Clone)]
pub struct NewArrival {
    /// What it was called where it was; kept where no box here has this id.
    pub id: BoxId,
    /// Its name.
    pub name: BoxName,
    /// When it was created.
    pub created_at: Timestamp,
    /// What clients noted about it.
    pub notes: Metadata,
    /// How it is set up.
    pub settings: BoxSettings,
}

/// A file of such a box.
#[derive(Debug, Clone)]
pub struct ArrivingFile {
    /// What it was called where it was; kept where no file here has this id.
    pub id: FileId,
    /// Its name.
    pub name: FileName,
    /// The owner's own name for it.
    pub external_id: Option<String>,
    /// SHA-256 of the original, in hexadecimal.
    pub sha256: String,
    /// Bytes of the original.
    pub size: u64,
    /// Its media type.
    pub media_type: String,
    /// Ready, ready with warnings, failed, or queued: then it is read once the box has arrived.
    pub status: FileStatus,
    /// Why it could not be read.
    pub error: Option<String>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// The language most of it is in.
    pub language: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// What the owner says about it.
    pub metadata: Metadata,
    /// The text in numbers.
    pub extent: Extent,
    /// When it was first uploaded.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
    /// When its content last became searchable.
    pub indexed_at: Option<Timestamp>,
    /// When it is deleted by itself.
    pub expires_at: Option<Timestamp>,
}

/// A version of a file that waits beside the one that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingVersion {
    /// SHA-256 of its original.
    pub sha256: String,
    /// Bytes of its original.
    pub size: u64,
    /// Its name.
    pub name: FileName,
}

/// Boxes on their way in, and what is needed to send one out.
///
/// Whoever brings a box in says again and again that they are at it, by adding its files. One who falls silent for longer
/// than they asked for has died: what they brought so far is then deleted like any box.
#[async_trait]
pub trait Arrivals: Send + Sync {
    /// How a box is set up.
    async fn settings_of(&self, reading: &Reading) -> Result<BoxSettings, Fault>;

    /// The version that waits beside the readable one of a file.
    async fn waiting_version(&self, writing: &Writing, file: FileId)
    -> Result<Option<WaitingVersion>, Fault>;

    /// Makes a box that nobody sees. It goes away unless a file is added to it, or it has arrived, within this time.
    async fn begin_arrival(&self, arrival: NewArrival, patience: Duration) -> Result<BoxRecord, Fault>;

    /// Adds a file to such a box and gives the id that it has here. Its original counts as wanted from now on.
    async fn add_arriving(
        &self,
        writing: &Writing,
        file: ArrivingFile,
        patience: Duration,
    ) -> Result<FileId, Fault>;

    /// All is there: the box is from now on a box of this owner's, and its unread files are in the queue.
    async fn finish_arrival(&self, writing: &Writing, owner: UserId) -> Result<(), Fault>;

    /// Turns a box that will not arrive into one that is being deleted.
    async fn give_up_arrival(&self, writing: &Writing) -> Result<(), Fault>;

    /// Does the same to those that nobody has been at for too long.
    async fn give_up_abandoned_arrivals(&self) -> Result<(), Fault>;
}
