//! The catalog's tables, step by step. Steps are only ever added, never changed.

use rusqlite::Connection;

use crate::Error;

const STEPS: &[&str] = &[
    include_str!("20261115_accounts.sql"),
    include_str!("20261116_files.sql"),
    include_str!("20261118_reindex.sql"),
    include_str!("20261119_units.sql"),
    include_str!("20261120_dashboard.sql"),
    include_str!("20261120_nodes.sql"),
];

/// Runs the steps that the file has not seen, each in its own transaction.
pub(super) fn run_on_file(connection: &mut Connection) -> Result<(), Error> {
    loop {
        // Immediate: two processes that start together take turns, and the second finds nothing left to do.
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let done: i64 = transaction.query_row("pragma user_version", [], |row| row.get(0))?;
        let known = STEPS.len() as i64;
        if done > known {
            return Err(Error::TooNew { found: done, known });
        }
        let Some(step) = STEPS.get(done as usize) else { return Ok(()) };
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", done + 1)?;
        transaction.commit()?;
    }
}

/// Runs the steps that the server has not seen. Nodes that start together take turns; a node of an older version than
/// the tables goes on, because steps only add what it does not look at.
pub(super) async fn run_on_server(connection: &crate::postgres::Connection) -> Result<(), Error> {
    let transaction = "begin; select pg_advisory_xact_lock(hashtextextended('quire/migrations', 0));
                       create table if not exists catalog_steps (step bigint primary key)";
    loop {
        connection.batch_execute(transaction).await?;
        let done: i64 = connection.query_one("select count(*) from catalog_steps", &[]).await?.get(0);
        if done > STEPS.len() as i64 {
            tracing::warn!(done, known = STEPS.len(), "The catalog is of a newer version than this program");
        }
        let Some(step) = STEPS.get(done as usize) else {
            return Ok(connection.batch_execute("commit").await?);
        };
        let noted = format!("{step}; insert into catalog_steps (step) values ({}); commit", done + 1);
        connection.batch_execute(&noted).await?;
    }
}
