//! Boxes to be indexed again, and their latest queries.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Reading, Writing},
    ids::{BoxId, FileId},
    seams::catalog::{RecentQuery, ReindexAction, ReindexState, Reindexing},
};
use jiff::Timestamp;

use super::{
    Sql,
    boxes::must_exist,
    sql::{Row, Transaction},
    versions::start_over,
};
use crate::Error;

/// Queries kept for each box.
const KEPT: i64 = 50;

#[async_trait]
impl Reindexing for Sql {
    async fn request_reindex(&self, writing: &Writing, action: ReindexAction) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                request(t, box_id, action)
            })
            .await
    }

    async fn take_reindex(&self) -> Result<Option<(BoxId, ReindexAction)>, Fault> {
        let wanted = "select box_id, action from reindexes where state = 'wanted' order by asked_at limit 1";
        // Most of the time there is none, and finding that out should not wait for the disk.
        if self.database.read(|t| t.first(wanted, &[]))?.is_none() {
            return Ok(None);
        }
        let node = self.nodes.id.clone();
        self.database
            .write(move |t| {
                let Some(row) = t.first(wanted, &[])? else { return Ok(None) };
                let box_id: BoxId = row.parse(0)?;
                let sql = "update reindexes set state = 'running', node = $1 where box_id = $2";
                t.execute(sql, &[node.into(), box_id.into()])?;
                let rebuild = row.text(1)? == ReindexAction::Rebuild.as_str();
                let action = if rebuild { ReindexAction::Rebuild } else { ReindexAction::GoBack };
                Ok(Some((box_id, action)))
            })
            .await
    }

    async fn note_reindex(&self, writing: &Writing, state: ReindexState) -> Result<(), Fault> {
        let box_id = writing.box_id();
        let (word, done, total, note) = match state {
            ReindexState::Wanted => ("wanted", 0, 0, None),
            ReindexState::Running(done, total) => ("running", done, total, None),
            ReindexState::Done(report) => ("done", 0, 0, Some(report)),
            ReindexState::Failed(why) => ("failed", 0, 0, Some(why)),
        };
        self.database
            .write(move |t| {
                let sql =
                    "update reindexes set state = $1, done = $2, total = $3, note = $4 where box_id = $5";
                let numbers = (i64::from(done), i64::from(total));
                t.execute(
                    sql,
                    &[word.into(), numbers.0.into(), numbers.1.into(), note.into(), box_id.into()],
                )?;
                Ok(())
            })
            .await
    }

    async fn reindex_state(&self, reading: &Reading) -> Result<Option<ReindexState>, Fault> {
        let sql = "select state, done, total, note from reindexes where box_id = $1";
        let row = self.database.read(|t| t.first(sql, &[reading.box_id().into()]))?;
        Ok(row.map(|row| state(&row)).transpose()?)
    }

    async fn resume_reindexes(&self) -> Result<(), Fault> {
        let sql = "update reindexes set state = 'wanted' where state = 'running'";
        self.database.write(move |t| Ok(t.execute(sql, &[])?)).await.map(drop)
    }

    async fn note_chunks(&self, writing: &Writing, file: FileId, chunks: u32) -> Result<(), Fault> {
        let box_id = writing.box_id();
        let sql = "update files set chunks = $1 where id = $2 and box_id = $3";
        self.database
            .write(move |t| Ok(t.execute(sql, &[i64::from(chunks).into(), file.into(), box_id.into()])?))
            .await
            .map(drop)
    }

    async fn requeue_file(&self, writing: &Writing, file: FileId) -> Result<Vec<String>, Fault> {
        let box_id = writing.box_id();
        self.database.write(move |t| start_over(t, box_id, file, Timestamp::now())).await
    }

    async fn note_queries(&self, queries: Vec<RecentQuery>) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                for RecentQuery { box_id, query, found } in &queries {
                    let found = serde_json::to_string(found).map_err(Fault::internal)?;
                    // A box that was deleted meanwhile has no queries.
                    t.execute(
                        "insert into recent_queries (box_id, query, found, asked_at)
                         select id, $2, $3, cast($4 as bigint) from boxes where id = $1 and deleting_at is null
                         on conflict (box_id, query) do update set found = excluded.found, asked_at = excluded.asked_at",
                        &[(*box_id).into(), query.clone().into(), found.into(), Timestamp::now().into()],
                    )?;
                    t.execute(
                        "delete from recent_queries where box_id = $1 and query not in
                         (select query from recent_queries where box_id = $1 order by asked_at desc limit $2)",
                        &[(*box_id).into(), KEPT.into()],
                    )?;
                }
                Ok(())
            })
            .await
    }

    async fn recent_queries(&self, reading: &Reading) -> Result<Vec<RecentQuery>, Fault> {
        let box_id = reading.box_id();
        let sql = "select query, found from recent_queries where box_id = $1 order by asked_at desc";
        let found = self.database.scan(move |t| {
            let read = |row: &Row| {
                let wrong = |wrong: serde_json::Error| Error::Corrupt(format!("recent query: {wrong}"));
                let found = serde_json::from_str(row.text(1)?).map_err(wrong)?;
                Ok(RecentQuery { box_id, query: row.text(0)?.to_string(), found })
            };
            t.all(sql, &[box_id.into()])?.iter().map(read).collect::<Result<Vec<_>, Error>>()
        });
        Ok(found.await?)
    }
}

/// Has a box indexed again, unless that is in progress.
pub(super) fn request(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    action: ReindexAction,
) -> Result<(), Fault> {
    let running = "select 1 from reindexes where box_id = $1 and state = 'running'";
    if transaction.first(running, &[box_id.into()])?.is_some() {
        return Err(Fault::new(
            Reason::Conflict,
            "the index of this box is already being rebuilt; wait until it is done",
        ));
    }
    transaction.execute(
        "insert into reindexes (box_id, action, state, done, total, note, asked_at)
         values ($1, $2, 'wanted', 0, 0, null, $3)
         on conflict (box_id) do update set action = excluded.action, state = 'wanted', done = 0,
         total = 0, note = null, asked_at = excluded.asked_at",
        &[box_id.into(), action.as_str().into(), Timestamp::now().into()],
    )?;
    Ok(())
}

fn state(row: &Row) -> Result<ReindexState, Error> {
    let note = || row.text(3).map(str::to_string);
    let count = |column| Ok::<_, Error>(u32::try_from(row.integer(column)?).unwrap_or(0));
    match row.text(0)? {
        "wanted" => Ok(ReindexState::Wanted),
        "running" => Ok(ReindexState::Running(count(1)?, count(2)?)),
        "done" => Ok(ReindexState::Done(note()?)),
        "failed" => Ok(ReindexState::Failed(note()?)),
        other => Err(Error::Corrupt(format!("`{other}` is no state of a reindexing"))),
    }
}
