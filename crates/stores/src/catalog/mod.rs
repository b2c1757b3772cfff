//! The catalog: one SQL text, in `SQLite` today; every table has its file here.

mod attempts;
mod audit;
mod boxes;
#[cfg(test)]
mod contract;
mod database;
mod files;
mod jobs;
mod keys;
mod migrations;
mod onetime;
mod reindex;
mod sessions;
mod signin;
mod sql;
mod units;
mod users;

use std::path::Path;

pub use database::Database;

use crate::Error;

/// The catalog in one `SQLite` file.
pub struct Sqlite {
    database: Database,
}

impl Sqlite {
    /// Opens the catalog at `path`, makes it where there is none, and brings its tables up to date.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Sqlite { database: Database::open(path)? })
    }
}
