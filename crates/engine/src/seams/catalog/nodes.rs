//! The nodes that share a catalog: who is alive, who has claimed what, and what they tell each other.

use std::{any::Any, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::broadcast;

use super::files::{FileRecord, FileStatus};
use crate::{
    Fault,
    ids::{BoxId, FileId},
};

/// Something to be claimed exclusively, across all nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The content of a file, in a box whose index stays where it is meanwhile.
    File(BoxId, FileId),
    /// The content of a whole box.
    Box(BoxId),
    /// An original, by the SHA-256 of its bytes. Claimed last by whoever claims something else too.
    Original(String),
}

/// A claim that was granted; given up when dropped, or when its node dies.
pub struct Held(#[expect(dead_code, reason = "held, never looked at")] Box<dyn Any + Send>);

impl Held {
    /// Holds whatever this is.
    pub fn by(guard: impl Any + Send) -> Self {
        Held(Box::new(guard))
    }
}

/// A file that changed, as one node tells the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its box.
    pub box_id: BoxId,
    /// The file.
    pub file: FileId,
    /// Its state now.
    pub status: FileStatus,
    /// What it was, where it is being deleted: whoever hears of it may not find it any more. Its long fields may be
    /// missing.
    pub last: Option<Box<FileRecord>>,
}

impl Change {
    /// The announcement of a file in this state.
    pub fn of(file: &FileRecord) -> Self {
        let last = (file.status == FileStatus::Deleting).then(|| Box::new(file.clone()));
        Change { box_id: file.box_id, file: file.id, status: file.status, last }
    }
}

/// The nodes of one catalog. Where it is one process' own, that is one.
#[async_trait]
pub trait Nodes: Send + Sync {
    /// Names this node among all that ever were.
    fn node(&self) -> &str;

    /// Says that this node is alive, at the time of the clock that all nodes share.
    async fn beat_node(&self) -> Result<(), Fault>;

    /// The time by the clock that all nodes share.
    async fn clock(&self) -> Result<Timestamp, Fault>;

    /// Frees what other nodes had in progress that have said nothing for so long, by the clock that all share: their jobs are queued again, their units
    /// given back, their idempotency keys freed and their reindexings wanted again. Says how many nodes those were.
    async fn bury_nodes(&self, silent_for: Duration) -> Result<u64, Fault>;

    /// Waits until nobody, on any node, has what this claims.
    async fn claim(&self, claim: Claim) -> Result<Held, Fault>;

    /// Tells all other nodes of a change; one that is cut off just then misses it.
    async fn announce(&self, change: Change) -> Result<(), Fault>;

    /// What other nodes announce from now on.
    fn announced(&self) -> broadcast::Receiver<Change>;
}
