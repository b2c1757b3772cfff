//! What goes wrong in a store; to callers it is always our fault.

use engine::Fault;

/// A store failed. Never shown to callers, only logged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database refused or failed.
    #[error("database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The store of originals refused or failed.
    #[error("originals: {0}")]
    Blob(#[source] Box<object_store::Error>),
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
    /// The thread that writes has ended.
    #[error("the store is closed")]
    Closed,
}

impl Error {
    /// An I/O failure with what was being done.
    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let context = context.into();
        move |source| Error::Io { context, source }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::internal(error)
    }
}
