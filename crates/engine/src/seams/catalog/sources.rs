//! Sources: places elsewhere that a box follows, such as a web site. Which files came from where, and how the last time went.

use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Fault,
    access::{Managing, Writing},
    ids::{BoxId, FileId, SourceId},
};

/// What kind of place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// Pages of one web site.
    Web,
    /// A Git repository.
    Git,
    /// Objects of a bucket.
    S3,
}

impl SourceKind {
    /// All of them.
    pub const ALL: [SourceKind; 3] = [SourceKind::Web, SourceKind::Git, SourceKind::S3];

    /// The name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Web => "web",
            SourceKind::Git => "git",
            SourceKind::S3 => "s3",
        }
    }
}

impl FromStr for SourceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        SourceKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let known = SourceKind::ALL.map(SourceKind::as_str).join(", ");
            format!("`{text}` is not a kind of source; use {known}")
        })
    }
}

/// Where a source is and what of it is wanted, as JSON that its kind understands. May hold a secret, so it is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceSettings(pub String);

impl fmt::Debug for SourceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A source to be stored.
#[derive(Debug, Clone)]
pub struct NewSource {
    /// Its kind.
    pub kind: SourceKind,
    /// Where it is.
    pub settings: SourceSettings,
    /// How often it is read; `None` is only when somebody asks.
    pub every: Option<Duration>,
    /// Whether files that are gone there are deleted from the box.
    pub delete_missing: bool,
}

/// What came of reading a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceReport {
    /// Files that were not there before.
    pub added: u64,
    /// Files with other content.
    pub changed: u64,
    /// Files that were deleted because they are gone there.
    pub removed: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Files that are gone there and were not deleted, because they are so many.
    pub held_back: u64,
    /// What could not be read, and why; the first hundred.
    pub failed: Vec<(String, String)>,
    /// Why the source as a whole could not be read.
    pub error: Option<String>,
}

/// A source as it is stored.
#[derive(Debug, Clone)]
pub struct Source {
    /// Identifies it.
    pub id: SourceId,
    /// The box that follows it.
    pub box_id: BoxId,
    /// Its kind.
    pub kind: SourceKind,
    /// Where it is.
    pub settings: SourceSettings,
    /// How often it is read.
    pub every: Option<Duration>,
    /// Whether files that are gone there are deleted from the box.
    pub delete_missing: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it is read next; `None` is only when somebody asks.
    pub due_at: Option<Timestamp>,
    /// Whether many deletions were allowed for the next time.
    pub may_delete_many: bool,
    /// Whether it is being read.
    pub running: bool,
    /// When it was read last, and what came of it.
    pub last: Option<(Timestamp, SourceReport)>,
    /// How many files came from it.
    pub files: u64,
}

/// A file that came from a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceItem {
    /// What it is called there: an address, a path.
    pub name: String,
    /// The file.
    pub file: FileId,
    /// What tells that it was changed there: an `ETag`, a date, a hash.
    pub version: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

/// Sources of boxes. They go with their box; a file that is deleted is forgotten by its source, and comes again.
#[async_trait]
pub trait Sources: Send + Sync {
    /// Stores a source, which is due at once.
    async fn add_source(&self, managing: &Managing, source: NewSource) -> Result<Source, Fault>;

    /// The sources of a box, oldest first.
    async fn sources(&self, managing: &Managing) -> Result<Vec<Source>, Fault>;

    /// Deletes a source; the files that came from it stay. Says whether there was one.
    async fn delete_source(&self, managing: &Managing, source: SourceId) -> Result<bool, Fault>;

    /// Has a source read soon, and allows it to delete many files; says whether there is one.
    async fn ask_for_sync(
        &self,
        managing: &Managing,
        source: SourceId,
        may_delete_many: bool,
        now: Timestamp,
    ) -> Result<bool, Fault>;

    /// Takes a source that is due: nobody else gets it until `until`, unless it is finished before.
    async fn take_source(&self, now: Timestamp, until: Timestamp) -> Result<Option<Source>, Fault>;

    /// Says that a source is still being read; `false` where it was deleted meanwhile.
    async fn keep_source(&self, source: SourceId, until: Timestamp) -> Result<bool, Fault>;

    /// Notes what came of reading a source, and tells those who want to know.
    async fn finish_source(
        &self,
        source: SourceId,
        report: SourceReport,
        now: Timestamp,
    ) -> Result<(), Fault>;

    /// The files that came from a source.
    async fn source_items(&self, writing: &Writing, source: SourceId) -> Result<Vec<SourceItem>, Fault>;

    /// Notes a file that came from a source, in place of what was known of it.
    async fn put_source_item(
        &self,
        writing: &Writing,
        source: SourceId,
        item: SourceItem,
    ) -> Result<(), Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_settings_are_not_printed() {
        for kind in SourceKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("ftp".parse::<SourceKind>().is_err());
        assert_eq!(format!("{:?}", SourceSettings("secret".into())), "***");
    }
}
