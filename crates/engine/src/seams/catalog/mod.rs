//! Users, boxes, roles, keys, files, jobs and usage: the small, precious records.

mod attempts;
mod boxes;
mod files;
mod jobs;
mod keys;
mod reindex;
mod units;
mod users;

pub use attempts::{Attempts, Begun, IdempotencyKey, KeptAnswer, NewAttempt};
pub use boxes::{BoxName, BoxRecord, Boxes, Member};
pub use files::{
    CursorValue, Deletion, Extent, FileChanges, FileCursor, FileName, FilePage, FileProgress, FileQuery,
    FileRecord, FileStatus, Files, Metadata, NewFile, SortKey, UploadOutcome, Uploaded,
};
pub use jobs::{Finished, Job, JobOutcome, Jobs};
pub use keys::{Exposure, KeyName, KeyRecord, KeyState, Keys, NewKey, StoredKey};
pub use reindex::{RecentQuery, ReindexAction, ReindexState, Reindexing};
pub use units::{Account, Balance, Month, NewReservation, Operation, Reservation, Units, UsageLine};
pub use users::{Email, NewUser, Plan, PlanName, User, Users};

/// Everything the catalog keeps, as one seam; a method is one transaction.
///
/// Implementations: `stores::catalog::Sqlite` (one file, for one machine).
pub trait Catalog: Users + Boxes + Keys + Files + Jobs + Reindexing + Units + Attempts {}

impl<T: Users + Boxes + Keys + Files + Jobs + Reindexing + Units + Attempts> Catalog for T {}
