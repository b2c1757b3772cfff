//! Files and boxes that are being deleted: marked first, then removed, then forgotten, so that a crash in between is
//! finished by whoever looks next.

use async_trait::async_trait;

use super::files::FileRecord;
use crate::{
    Fault,
    access::{Owning, Writing},
    ids::{BoxId, FileId},
};

/// A file that is being deleted.
#[derive(Debug)]
pub struct Deletion {
    /// The file as it was.
    pub file: FileRecord,
    /// Its original, and that of a version still in progress.
    pub originals: Vec<String>,
    /// How many of these originals no other file of the box uses. Other boxes do not count: a receipt must not tell
    /// what they hold.
    pub last_of_box: u64,
}

/// Deletion of files and boxes, and the question whether an original is still wanted.
#[async_trait]
pub trait Deletions: Send + Sync {
    /// Marks a file as being deleted: from now on nothing shows it. `None` where there is no such file.
    async fn begin_delete(&self, writing: &Writing, file: FileId) -> Result<Option<Deletion>, Fault>;

    /// Forgets a file that is being deleted, with its job.
    async fn finish_delete(&self, writing: &Writing, file: FileId) -> Result<(), Fault>;

    /// Files whose deletion was begun and not finished, in boxes that stay.
    async fn half_deleted(&self) -> Result<Vec<Deletion>, Fault>;

    /// Marks a box as being deleted, with all its files: from now on nobody has access to it, it takes no files, and nothing
    /// is left to be read or reindexed in it.
    async fn begin_delete_box(&self, owning: &Owning) -> Result<(), Fault>;

    /// Forgets a box that is being deleted, with all that hangs on its record.
    async fn finish_delete_box(&self, writing: &Writing) -> Result<(), Fault>;

    /// Boxes whose deletion was begun and not finished.
    async fn half_deleted_boxes(&self) -> Result<Vec<BoxId>, Fault>;

    /// Whether a box is there and not being deleted. Whoever changes the content of a box asks once they hold a claim on it.
    async fn box_stays(&self, box_id: BoxId) -> Result<bool, Fault>;

    /// Whether any file, or version in progress, uses this original.
    async fn original_is_wanted(&self, sha256: &str) -> Result<bool, Fault>;

    /// The originals of one box, to be looked after when it is deleted.
    async fn originals_of_box(&self, writing: &Writing) -> Result<Vec<String>, Fault>;

    /// All originals that files refer to.
    async fn wanted_originals(&self) -> Result<Vec<String>, Fault>;
}
