//! Brings tables up to date, step by step, however many nodes start at once.
//!
//! Nodes of two versions run side by side while they are replaced one by one, so a step only adds what a program of the
//! version before does not look at. A step that takes something away comes a version later, and says how many steps a
//! program must know to do without: one that knows fewer does not start any more, and the step waits until none runs.

use super::Connection;
use crate::Error;

/// A step of a schema. Steps are only ever added, never changed.
pub(crate) struct Step {
    pub(crate) sql: &'static str,
    /// What a file runs in its place, where the two databases have no words in common.
    pub(crate) in_file: Option<&'static str>,
    /// How many steps a program must know to work with the tables after this one: none where it only adds.
    pub(crate) needs: usize,
}

impl Step {
    /// A step that programs of older versions do not notice.
    pub(crate) const fn adding(sql: &'static str) -> Self {
        Step { sql, in_file: None, needs: 0 }
    }

    /// Such a step in the words of each database.
    pub(crate) const fn by_kind(in_file: &'static str, on_server: &'static str) -> Self {
        Step { sql: on_server, in_file: Some(in_file), needs: 0 }
    }
}

/// Runs the steps that are not yet noted in `table`. Nodes that start together take turns; one that knows fewer steps than
/// were run goes on, unless one of them needs more. `alive` counts the nodes that run and know fewer than `$1`.
pub(crate) async fn run(
    connection: &Connection,
    table: &str,
    steps: &[Step],
    alive: Option<&str>,
) -> Result<(), Error> {
    let begin = format!(
        "begin; select pg_advisory_xact_lock(hashtextextended('quire/migrations', 0));
         create table if not exists {table} (step bigint primary key);
         alter table {table} add column if not exists needs bigint not null default 0"
    );
    let known = steps.len() as i64;
    loop {
        connection.batch_execute(&begin).await?;
        let sql = format!("select count(*), coalesce(max(needs), 0) from {table}");
        let row = connection.query_one(&sql, &[]).await?;
        let (done, needs): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        if needs > known {
            return Err(Error::TooNew { found: done, known });
        }
        if done > known {
            tracing::warn!(
                done,
                known,
                "The tables were made by a newer version than this program; continuing"
            );
        }
        let Some(step) = steps.get(done as usize) else {
            return Ok(connection.batch_execute("commit").await?);
        };
        let needs = step.needs as i64;
        if let (1.., Some(alive)) = (needs, alive) {
            let nodes: i64 = connection.query_one(alive, &[&needs]).await?.try_get(0)?;
            if nodes > 0 {
                return Err(Error::OlderNodes { nodes });
            }
        }
        let Step { sql, .. } = step;
        let noted =
            format!("{sql}; insert into {table} (step, needs) values ({}, {needs}); commit", done + 1);
        connection.batch_execute(&noted).await?;
    }
}
