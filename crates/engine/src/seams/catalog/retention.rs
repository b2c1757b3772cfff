//! What is kept for a time only: files that expire, and old lines of the audit log.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    Fault,
    access::{Managing, Writing},
    ids::FileId,
};

/// The longest time that can be set: a century.
pub const MOST_DAYS: u32 = 36_500;

/// Files and lines that are over their time. Whoever maintains the store asks, and deletes.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Files that are to be deleted by now, by their own time or by that of their box; at most `limit`, each with the right
    /// to do it.
    async fn expired_files(&self, now: Timestamp, limit: u32) -> Result<Vec<(Writing, FileId)>, Fault>;

    /// Says after how many days the files of a box are deleted; `None`: never.
    async fn set_retention(&self, managing: &Managing, days: Option<u32>) -> Result<(), Fault>;

    /// Removes lines of the audit log that are older; says how many.
    async fn forget_audit(&self, before: Timestamp) -> Result<u64, Fault>;
}
