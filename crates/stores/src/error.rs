//! What goes wrong in a store; to callers it is always our fault.

use std::time::Duration;

use engine::{Fault, Reason};
use tantivy::{
    TantivyError,
    directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError},
};

/// A store failed. Never shown to callers, only logged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database refused or failed.
    #[error("database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The database server refused a statement.
    #[error("database server: {}", described(.0))]
    Postgres(#[source] Box<tokio_postgres::Error>),
    /// The database server cannot be reached, or could not finish in time.
    #[error("database server is away: {0}")]
    Away(String),
    /// All connections to the database server are in use.
    #[error("all connections to the database server are in use")]
    Busy,
    /// The address of a server is wrong.
    #[error("{0}")]
    Address(String),
    /// The store of originals refused or failed.
    #[error("originals: {0}")]
    Blob(#[source] Box<object_store::Error>),
    /// The text index of a box could not be read or written.
    #[error("text index: {0}")]
    Text(#[from] tantivy::TantivyError),
    /// Files could not be read or written.
    #[error("{context}: {source}")]
    Io {
        /// What was being done.
        context: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A stored value is not what this program writes.
    #[error("stored value: {0}")]
    Corrupt(String),
    /// The database was written by a newer program.
    #[error("the store has version {found}, this program knows up to {known}; use a newer quire")]
    TooNew {
        /// What the store says.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// A migration would remove what nodes of older versions still need.
    #[error(
        "{nodes} nodes of an older quire are running, which cannot go on with the tables of this one; stop them first"
    )]
    OlderNodes {
        /// How many.
        nodes: i64,
    },
    /// The system does not let the database's file be written.
    #[error("commit failed: {0}")]
    Unwritable(String),
    /// Less of the disk is free than the settings ask for.
    #[error("the disk is full but for what is kept free (load.free_disk_mb)")]
    DiskFull,
    /// The thread that writes has ended.
    #[error("the store is closed")]
    Closed,
}

impl Error {
    /// A copy of it for another caller that waited for the same work.
    pub(crate) fn again(&self) -> Error {
        match self {
            Error::Away(said) => Error::Away(said.clone()),
            Error::Busy => Error::Busy,
            Error::Closed => Error::Closed,
            other => Error::Corrupt(format!("the transaction failed: {other}")),
        }
    }

    /// Whether the disk has no room, or a quota is used up.
    fn is_full(&self) -> bool {
        match self {
            Error::DiskFull => true,
            Error::Io { source, .. } => is_lack_of_room(source),
            Error::Text(error) => of_text(error).is_some_and(is_lack_of_room),
            Error::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            _ => false,
        }
    }

    /// Whether the system refuses for now: the disk is read-only or fails, or there are no more file handles or memory.
    fn is_refused(&self) -> bool {
        match self {
            Error::Unwritable(_) => true,
            Error::Io { source, .. } => is_refusal(source),
            Error::Sqlite(error) => error.sqlite_error_code().is_some_and(is_refusal_of_file),
            Error::Text(error) => of_text(error).is_some_and(is_refusal),
            _ => false,
        }
    }

    /// What became of a commit, for one of those who wait for it.
    pub(crate) fn of_commit(error: &rusqlite::Error) -> Error {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Error::DiskFull,
            Some(code) if is_refusal_of_file(code) => Error::Unwritable(error.to_string()),
            _ => Error::Corrupt(format!("commit failed: {error}")),
        }
    }

    /// An I/O failure with what was being done.
    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let context = context.into();
        move |source| Error::Io { context, source }
    }
}

/// What the system said of a file of a text index, where it said anything.
fn of_text(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(error) => Some(error),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. })
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => Some(io_error),
        _ => None,
    }
}

fn is_lack_of_room(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn is_refusal(error: &std::io::Error) -> bool {
    use nix::errno::Errno;
    let passing = [Errno::EIO, Errno::EROFS, Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM];
    system_error(error).is_some_and(|number| passing.contains(&Errno::from_raw(number)))
}

/// What the system said, also where `tempfile` has put a path around it and left nothing but the words.
fn system_error(error: &std::io::Error) -> Option<i32> {
    let in_words = || {
        let text = error.to_string();
        text.split_once("(os error ")?.1.split_once(')')?.0.parse().ok()
    };
    error.raw_os_error().or_else(in_words)
}

fn is_refusal_of_file(code: rusqlite::ErrorCode) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, OutOfMemory, ReadOnly, SystemIoFailure};
    matches!(code, CannotOpen | OutOfMemory | ReadOnly | SystemIoFailure)
}

/// What callers are told of a failure of any kind.
pub(crate) fn fault(error: impl Into<Error>) -> Fault {
    error.into().into()
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Error {
        Error::Blob(Box::new(error))
    }
}

/// What the server said, where it said anything.
pub(crate) fn described(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |said| format!("{} {}", said.code().code(), said.message()))
}

/// How long a caller should wait for a store that is away: a failover takes a few seconds.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The same for a disk that is full: somebody has to act first.
const DISK_RETRY_AFTER: Duration = Duration::from_secs(60);

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let away = match &error {
            Error::Away(_) | Error::Busy => true,
            Error::Blob(error) => matches!(**error, object_store::Error::Generic { .. }),
            _ => false,
        };
        match error {
            error if away => {
                let fault = Fault::new(
                    Reason::UpstreamUnavailable,
                    "a database or storage server cannot be reached; try again shortly",
                );
                Fault { source: Some(Box::new(error)), ..fault.retry_after(RETRY_AFTER) }
            }
            error if error.is_full() => {
                let cause = "the server's disk is almost full, so it accepts no files at the moment";
                let fault = Fault::new(Reason::Overloaded, cause)
                    .hint("ask the operator to free space, or to lower load.free_disk_mb")
                    .retry_after(DISK_RETRY_AFTER);
                Fault { source: Some(Box::new(error)), ..fault }
            }
            error if error.is_refused() => {
                let cause =
                    "the server cannot use its disk at the moment, so nothing was changed; try again shortly";
                let fault = Fault::new(Reason::Overloaded, cause)
                    .hint("if it lasts, tell the operator: `quire doctor` says what is wrong")
                    .retry_after(DISK_RETRY_AFTER);
                Fault { source: Some(Box::new(error)), ..fault }
            }
            error => Fault::internal(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_told_as_such_whoever_noticed() {
        let io = |number| Error::io("writing")(std::io::Error::from_raw_os_error(number));
        let sqlite = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(13), None);
        let (no_space, quota, too_large) = (io(28), io(122), io(27));
        for full in [no_space, quota, too_large, Error::of_commit(&sqlite), sqlite.into()] {
            let fault = Fault::from(full);
            assert_eq!(fault.reason, Reason::Overloaded, "{fault}");
            assert!(fault.cause.contains("disk") && fault.retry_after.is_some(), "{fault}");
        }
    }

    #[test]
    fn a_disk_that_refuses_for_now_is_worth_another_try_and_a_damaged_file_is_not() {
        let io = |number| std::io::Error::from_raw_os_error(number);
        let sqlite = |number| rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(number), None);
        // EIO, EROFS, EMFILE, ENFILE and ENOMEM; SQLITE_NOMEM, _READONLY, _IOERR and _CANTOPEN.
        let system = [5, 30, 24, 23, 12].map(|number| Error::io("writing")(io(number)));
        let text = Error::Text(TantivyError::IoError(std::sync::Arc::new(io(5))));
        let wrapped = Error::io("writing")(std::io::Error::other(format!("{} at path \"/x\"", io(24))));
        let file = [7, 8, 10, 14].map(|number| Error::of_commit(&sqlite(number)));
        for refused in system.into_iter().chain(file).chain([text, wrapped, sqlite(10).into()]) {
            let fault = Fault::from(refused);
            assert_eq!((fault.reason, fault.retry_after.is_some()), (Reason::Overloaded, true), "{fault}");
        }
        // ENOENT; SQLITE_CORRUPT and _NOTADB.
        let damaged = [11, 26].map(|number| Error::from(sqlite(number)));
        for lasting in damaged.into_iter().chain([Error::io("reading")(io(2))]) {
            assert_eq!(Fault::from(lasting).reason, Reason::Internal);
        }
    }
}
