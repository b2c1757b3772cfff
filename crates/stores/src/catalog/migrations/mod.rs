//! The catalog's tables, step by step. Steps are only ever added, never changed.

use crate::{
    Error,
    postgres::{Connection, Step, run_steps},
};

const STEPS: &[Step] = &[
    Step::adding(include_str!("20261115_accounts.sql")),
    Step::adding(include_str!("20261116_files.sql")),
    Step::adding(include_str!("20261118_reindex.sql")),
    Step::adding(include_str!("20261119_units.sql")),
    Step::adding(include_str!("20261120_dashboard.sql")),
    Step::adding(include_str!("20261120_nodes.sql")),
    Step::adding(include_str!("20261121_versions.sql")),
    Step::adding(include_str!("20261121_settled.sql")),
    Step::adding(include_str!("20261122_identity.sql")),
    Step::adding(include_str!("20261122_bounds.sql")),
    Step::by_kind(include_str!("20261122_sizes_sqlite.sql"), include_str!("20261122_sizes_postgres.sql")),
    Step::adding(include_str!("20261122_deletion.sql")),
    Step::adding(include_str!("20261123_interrupted.sql")),
    Step::adding(include_str!("20261123_scrubbed.sql")),
    Step::adding(include_str!("20261125_permissions.sql")),
    Step::adding(include_str!("20261125_webhooks.sql")),
    Step::adding(include_str!("20261126_uploads.sql")),
    Step::adding(include_str!("20261127_questions.sql")),
    Step::adding(include_str!("20261128_sources.sql")),
    Step::adding(include_str!("20261129_arrivals.sql")),
    Step::adding(include_str!("20261129_retention.sql")),
    Step::adding(include_str!("20261129_webhook_turns.sql")),
    Step::adding(include_str!("20261129_uploads_by_key.sql")),
    Step::adding(include_str!("20261130_language.sql")),
    Step::adding(include_str!("20261201_conversations.sql")),
    Step::adding(include_str!("20261202_grants.sql")),
    Step::adding(include_str!("20261203_second_factors.sql")),
    Step::adding(include_str!("20261204_traces.sql")),
    Step::adding(include_str!("20261205_shared_conversations.sql")),
    Step::adding(include_str!("20261206_user_language.sql")),
    Step::adding(include_str!("20261207_origins.sql")),
    Step::adding(include_str!("20261208_evaluation.sql")),
    Step::adding(include_str!("20261209_passkeys.sql")),
];

/// Files that have seen fewer steps were written before deleted text was overwritten wherever it had been.
const SCRUBBED: i64 = 14;

/// How many steps this program knows.
pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// Runs the steps that the file has not seen, each in its own transaction.
pub(super) fn run_on_file(connection: &mut rusqlite::Connection) -> Result<(), Error> {
    let before: i64 = connection.query_row("pragma user_version", [], |row| row.get(0))?;
    run_steps_on_file(connection)?;
    if (1..SCRUBBED).contains(&before) {
        connection.execute_batch("vacuum")?;
    }
    Ok(())
}

fn run_steps_on_file(connection: &mut rusqlite::Connection) -> Result<(), Error> {
    loop {
        // Immediate: two processes that start together take turns, and the second finds nothing left to do.
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let done: i64 = transaction.query_row("pragma user_version", [], |row| row.get(0))?;
        if done > KNOWN {
            return Err(Error::TooNew { found: done, known: KNOWN });
        }
        let Some(step) = STEPS.get(done as usize) else { return Ok(()) };
        transaction.execute_batch(step.in_file.unwrap_or(step.sql))?;
        transaction.pragma_update(None, "user_version", done + 1)?;
        transaction.commit()?;
    }
}

/// Runs the steps that the server has not seen.
pub(super) async fn run_on_server(connection: &Connection) -> Result<(), Error> {
    run_steps(connection, "catalog_steps", STEPS, Some(ALIVE)).await
}

/// Counts nodes that were heard of just now and know fewer steps than `$1`. One that does not report it is of the first
/// version that could run on several nodes.
const ALIVE: &str = "select count(*) from nodes where coalesce(knows, 6) < $1
                     and heard_at > extract(epoch from clock_timestamp()) * 1000 - 15000";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::{Address, Pool};

    /// A catalog as this version makes it, in a schema of the test's own.
    async fn made() -> Option<(Connection, String)> {
        let url = crate::scaled::schema()?;
        drop(crate::catalog::Sql::connect(&url).unwrap());
        Some((Pool::new(Address::parse(&url).unwrap(), 1).get().await.unwrap(), url))
    }

    /// The steps of a future version.
    fn with(step: Step) -> Vec<Step> {
        let known = STEPS.iter().map(|step| Step { ..*step });
        known.chain([step]).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_step_that_adds_leaves_this_version_running() {
        let Some((connection, url)) = made().await else { return };
        let later =
            with(Step::adding("alter table files add column mood text; create table moods (name text)"));
        run_steps(&connection, "catalog_steps", &later, Some(ALIVE)).await.unwrap();
        run_on_server(&connection).await.unwrap();
        drop(crate::catalog::Sql::connect(&url).unwrap());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_step_that_takes_away_waits_for_older_nodes_and_keeps_them_out() {
        use engine::seams::catalog::Nodes;
        let Some((connection, url)) = made().await else { return };
        let node = crate::catalog::Sql::connect(&url).unwrap();
        node.beat_node().await.unwrap();
        let needs = STEPS.len() + 1;
        let later = with(Step { needs, ..Step::adding("alter table files drop column error") });
        let waits = run_steps(&connection, "catalog_steps", &later, Some(ALIVE)).await.unwrap_err();
        assert!(matches!(waits, Error::OlderNodes { nodes: 1 }), "{waits}");
        connection.batch_execute("rollback; delete from nodes").await.unwrap();
        run_steps(&connection, "catalog_steps", &later, Some(ALIVE)).await.unwrap();
        let refused = crate::catalog::Sql::connect(&url).map(drop).unwrap_err().to_string();
        assert!(refused.contains("use a newer quire"), "{refused}");
    }
}
