//! Boxes to be reindexed, and the queries that show whether it changed anything.

use async_trait::async_trait;

use crate::{
    Fault,
    access::{Reading, Writing},
    ids::{BoxId, FileId},
};

/// What to do with a box's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReindexAction {
    /// Rebuild it with the current models, then switch over.
    Rebuild,
    /// Go back to what was there before the last rebuild.
    GoBack,
}

impl ReindexAction {
    /// The word in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            ReindexAction::Rebuild => "rebuild",
            ReindexAction::GoBack => "go_back",
        }
    }
}

/// How far a reindexing has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReindexState {
    /// Requested, not started.
    Wanted,
    /// In progress: how many files are done, of how many.
    Running(u32, u32),
    /// Done; the report as JSON.
    Done(String),
    /// It could not be done, and why.
    Failed(String),
}

/// A query that was asked of a box, and where its best hits were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentQuery {
    /// The box.
    pub box_id: BoxId,
    /// The query.
    pub query: String,
    /// File and page of each hit, best first.
    pub found: Vec<(FileId, u32)>,
}

/// Reindexing of boxes. Whoever runs the server asks for it, the server does it.
#[async_trait]
pub trait Reindexing: Send + Sync {
    /// Asks for a reindexing; what was known of an earlier one is forgotten. A box that is being reindexed already is
    /// refused with [`Reason::Conflict`](crate::Reason::Conflict).
    async fn request_reindex(&self, writing: &Writing, action: ReindexAction) -> Result<(), Fault>;

    /// Takes one that was asked for, so that nobody else does.
    async fn take_reindex(&self) -> Result<Option<(BoxId, ReindexAction)>, Fault>;

    /// Notes how far it is, or how it ended.
    async fn note_reindex(&self, writing: &Writing, state: ReindexState) -> Result<(), Fault>;

    /// How far it is.
    async fn reindex_state(&self, reading: &Reading) -> Result<Option<ReindexState>, Fault>;

    /// Those that a crash interrupted are wanted again.
    async fn resume_reindexes(&self) -> Result<(), Fault>;

    /// Records how many passages a file has now.
    async fn note_chunks(&self, writing: &Writing, file: FileId, chunks: u32) -> Result<(), Fault>;

    /// Has a file read of which the index has nothing any more: until then it cannot be read.
    /// Gives the originals that this made unneeded.
    async fn requeue_file(&self, writing: &Writing, file: FileId) -> Result<Vec<String>, Fault>;

    /// Remembers queries; the latest fifty of each box are kept.
    async fn note_queries(&self, queries: Vec<RecentQuery>) -> Result<(), Fault>;

    /// The latest queries of a box.
    async fn recent_queries(&self, reading: &Reading) -> Result<Vec<RecentQuery>, Fault>;
}
