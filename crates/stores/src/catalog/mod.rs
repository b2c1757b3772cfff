//! The catalog: one SQL text, in a `SQLite` file or on a `PostgreSQL` server; every table has its file here.

mod attempts;
mod audit;
mod boxes;
#[cfg(test)]
mod contract;
mod copy;
mod database;
mod files;
mod identities;
mod invitations;
mod jobs;
mod keys;
mod migrations;
mod nodes;
mod onetime;
mod postgres;
mod reindex;
mod sessions;
mod signin;
mod sql;
mod sqlite;
mod units;
mod users;

use std::path::Path;

pub use database::Database;

use crate::{Error, postgres::Address};

/// The catalog in an SQL database.
pub struct Sql {
    database: Database,
    nodes: nodes::Here,
}

impl Sql {
    /// Opens the catalog at `path`, makes it where there is none, and brings its tables up to date.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Sql { database: Database::open(path)?, nodes: nodes::Here::default() })
    }

    /// The catalog in a `PostgreSQL` database, whose tables are made and brought up to date.
    pub fn connect(url: &str) -> Result<Self, Error> {
        Ok(Sql { database: Database::connect(Address::parse(url)?)?, nodes: nodes::Here::default() })
    }
}
