//! The catalog: one SQL text, in a `SQLite` file or on a `PostgreSQL` server; every table has its file here.

mod arrivals;
mod attempts;
mod audit;
mod bounds;
mod boxes;
#[cfg(test)]
mod contract;
mod conversations;
mod copy;
mod database;
mod deletion;
mod evaluation;
mod files;
mod filtered;
mod grants;
mod identities;
mod invitations;
mod jobs;
mod keys;
mod language;
mod migrations;
mod model;
mod nodes;
mod onetime;
mod passkeys;
mod postgres;
mod questions;
mod reindex;
mod retention;
mod second_factor;
mod sessions;
mod signin;
mod sources;
mod sql;
mod sqlite;
mod units;
mod uploads;
mod users;
mod versions;
mod webhooks;

use std::{path::Path, sync::Arc};

pub use database::Database;
use engine::bounds::Bounds;

use crate::{Error, postgres::Address};

/// The catalog in an SQL database.
pub struct Sql {
    database: Database,
    nodes: nodes::Here,
    /// What the settings say about bounds.
    bounds: Arc<Bounds>,
}

impl Sql {
    /// Opens the catalog at `path`, creates it where there is none, and brings its tables up to date.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Sql::of(Database::open(path)?))
    }

    /// The catalog in a `PostgreSQL` database, whose tables are made and brought up to date.
    pub fn connect(url: &str) -> Result<Self, Error> {
        Ok(Sql::of(Database::connect(Address::parse(url)?)?))
    }

    fn of(database: Database) -> Self {
        Sql { database, nodes: nodes::Here::default(), bounds: Arc::new(Bounds::none()) }
    }

    /// The same catalog, which refuses what goes past these bounds.
    pub fn within(self, bounds: Bounds) -> Self {
        Sql { bounds: Arc::new(bounds), ..self }
    }
}
