//! The catalog's tables, step by step. Steps are only ever added, never changed.

use rusqlite::Connection;

use crate::Error;

const STEPS: &[&str] = &[
    include_str!("20261115_accounts.sql"),
    include_str!("20261116_files.sql"),
    include_str!("20261118_reindex.sql"),
    include_str!("20261119_units.sql"),
    include_str!("20261120_dashboard.sql"),
];

/// Runs the steps that the database has not seen, each in its own transaction.
pub(super) fn run(connection: &mut Connection) -> Result<(), Error> {
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
