//! Connections to `PostgreSQL`: how they are made, kept and given up. The catalog and the index both use this.

mod address;
mod pool;
mod steps;

pub(crate) use address::Address;
pub(crate) use pool::{Connection, Pool};
pub(crate) use steps::{Step, run as run_steps};
use tokio_postgres::error::SqlState;

use crate::Error;

/// Whether the server is at fault and not the statement: it went away, is starting, stopping or full, or is a standby
/// that is not to be written to. Another try on another connection may succeed.
pub(crate) fn is_away(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else { return true };
    let known = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    known.contains(code) || code.code().starts_with("08")
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Error {
        let slow = error.code().is_some_and(|code| {
            [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED]
                .contains(code)
        });
        if is_away(&error) || slow {
            Error::Away(crate::error::described(&error))
        } else {
            Error::Postgres(Box::new(error))
        }
    }
}
