//! The queue of files to be read.

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault,
    ids::{BoxId, FileId, JobId, UserId},
    seams::catalog::{FileProgress, Finished, Job, JobOutcome, Jobs},
};
use jiff::Timestamp;

use super::{
    Sql,
    database::Turn,
    files::{find, tell_read},
    nodes::Alive,
    sql::{Row, Transaction},
    versions::{give_up, write_failure, write_success},
};
use crate::Error;

#[async_trait]
impl Jobs for Sql {
    async fn claim_job(&self, worker: &str, now: Timestamp) -> Result<Option<Job>, Fault> {
        // Most of the time there is nothing to do, and finding that out should not wait for the disk.
        let due = "select 1 from jobs where worker is null and due_at <= $1 limit 1";
        if self.database.read(|t| t.first(due, &[now.into()]))?.is_none() {
            return Ok(None);
        }
        let worker = worker.to_string();
        self.database.write_beside(Turn::Beside, move |t| claim(t, &worker, now)).await
    }

    async fn beat(&self, job: &Job, worker: &str, progress: FileProgress) -> Result<bool, Fault> {
        let (id, file, worker) = (job.id, job.file, worker.to_string());
        self.database
            .write_beside(Turn::Beside, move |t| {
                let sql = "update jobs set heard_at = $1 where id = $2 and worker = $3";
                if t.execute(sql, &[t.now()?.into(), id.into(), worker.into()])? == 0 {
                    return Ok(false);
                }
                let sql = "update files set progress_done = $1, progress_total = $2 where id = $3";
                let total = progress.total.map(i64::from);
                t.execute(sql, &[i64::from(progress.done).into(), total.into(), file.into()])?;
                Ok(true)
            })
            .await
    }

    async fn finish_job(
        &self,
        job: &Job,
        worker: &str,
        outcome: JobOutcome,
        now: Timestamp,
    ) -> Result<Finished, Fault> {
        let (job, worker) = (job.clone(), worker.to_string());
        self.database.write(move |t| finish(t, &job, &worker, outcome, now)).await
    }

    async fn give_job_back(&self, job: &Job, worker: &str) -> Result<(), Fault> {
        let (id, file, worker) = (job.id, job.file, worker.to_string());
        self.database
            .write_beside(Turn::Beside, move |t| {
                let sql = "update jobs set worker = null, heard_at = null, starts = starts - 1
                           where id = $1 and worker = $2";
                if t.execute(sql, &[id.into(), worker.into()])? > 0 {
                    let sql = "update files set status = 'queued' where id = $1 and status = 'processing'";
                    t.execute(sql, &[file.into()])?;
                }
                Ok(())
            })
            .await
    }

    async fn requeue_abandoned(&self, silent_for: Duration) -> Result<u64, Fault> {
        self.database.write(move |t| Ok(requeue_abandoned(t, Alive::now(t, silent_for)?)?)).await
    }

    async fn queue_length(&self) -> Result<u64, Fault> {
        let row = self.database.read(|t| t.first("select count(*) from jobs", &[]))?;
        Ok(row.map_or(Ok(0), |row| row.integer(0))?.unsigned_abs())
    }
}

/// Gives back to the queue the jobs whose worker has been silent for too long.
pub(super) fn requeue_abandoned(transaction: &Transaction<'_>, alive: Alive) -> Result<u64, Error> {
    let sql = "update files set status = 'queued' where status = 'processing' and id in
               (select file_id from jobs where worker is not null and (heard_at < $1 or heard_at > $2))";
    transaction.execute(sql, &alive.bounds())?;
    let sql = "update jobs set worker = null, heard_at = null
               where worker is not null and (heard_at < $1 or heard_at > $2)";
    Ok(transaction.execute(sql, &alive.bounds())? as u64)
}

/// The oldest job of the user with the fewest in progress, and of their boxes the one with the fewest; of equals, the one
/// that has waited longest for its turn. A box is its first owner's.
fn claim(transaction: &Transaction<'_>, worker: &str, now: Timestamp) -> Result<Option<Job>, Fault> {
    let turn = transaction.first(
        "select q.box_id, u.id from (select distinct box_id from jobs where worker is null and due_at <= $1) q
         join boxes b on b.id = q.box_id
         left join users u on u.id =
             (select min(m.user_id) from memberships m where m.box_id = q.box_id and m.role = 'owner')
         order by (select count(*) from jobs r join memberships m on m.box_id = r.box_id
                   where r.worker is not null and m.user_id = u.id and m.role = 'owner'),
                  coalesce(u.served_at, 0),
                  (select count(*) from jobs r where r.box_id = q.box_id and r.worker is not null),
                  coalesce(b.served_at, 0), q.box_id limit 1",
        &[now.into()],
    )?;
    let Some(turn) = turn else { return Ok(None) };
    let box_id: BoxId = turn.parse(0)?;
    let sql = format!(
        "select j.id, j.file_id, coalesce(f.next_name, f.name), coalesce(f.next_sha256, f.sha256), j.failures, j.starts,
         case when j.starts > j.failures then 1 else f.interrupted end, j.trace from jobs j join files f on f.id = j.file_id
         where j.box_id = $1 and j.worker is null and j.due_at <= $2 order by j.due_at, j.id limit 1{}",
        transaction.skipping_taken("j")
    );
    let row = transaction.first(&sql, &[box_id.into(), now.into()])?;
    let Some(row) = row else { return Ok(None) };
    let number = |column: usize| row.integer(column).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let (id, file): (JobId, FileId) = (row.parse(0)?, row.parse(1)?);
    transaction.execute(
        "update jobs set worker = $1, heard_at = $2, starts = starts + 1 where id = $3",
        &[worker.into(), transaction.now()?.into(), id.into()],
    )?;
    transaction.execute("update boxes set served_at = $1 where id = $2", &[now.into(), box_id.into()])?;
    if let Some(owner) = turn.optional(1, Row::parse::<UserId>)? {
        transaction.execute("update users set served_at = $1 where id = $2", &[now.into(), owner.into()])?;
    }
    let sql =
        "update files set status = 'processing', progress_done = 0, progress_total = null where id = $1";
    transaction.execute(sql, &[file.into()])?;
    Ok(Some(Job {
        id,
        box_id,
        file,
        name: row.parse(2)?,
        sha256: row.text(3)?.to_string(),
        failures: number(4)?,
        starts: number(5)?.saturating_add(1),
        interrupted: row.integer(6)? != 0,
        trace: row.trace(7)?,
    }))
}

fn finish(
    transaction: &Transaction<'_>,
    job: &Job,
    worker: &str,
    outcome: JobOutcome,
    now: Timestamp,
) -> Result<Finished, Fault> {
    let mine = "select 1 from jobs where id = $1 and worker = $2";
    if transaction.first(mine, &[job.id.into(), worker.into()])?.is_none() {
        return Ok(Finished::default());
    }
    let superseded = match outcome {
        JobOutcome::Retry { after } => {
            let due =
                Timestamp::from_millisecond(now.as_millisecond() + after.as_millis() as i64).unwrap_or(now);
            let sql = "update jobs set worker = null, heard_at = null, failures = failures + 1, due_at = $1 where id = $2";
            transaction.execute(sql, &[due.into(), job.id.into()])?;
            transaction.execute("update files set status = 'queued' where id = $1", &[job.file.into()])?;
            return Ok(Finished { written: true, superseded: Vec::new() });
        }
        JobOutcome::Failed { error } => write_failure(transaction, job, &error, now)?,
        JobOutcome::GaveUp { error } => give_up(transaction, job, &error, now)?,
        indexed @ JobOutcome::Indexed { .. } => write_success(transaction, job, indexed, now)?,
    };
    transaction.execute("delete from jobs where id = $1", &[job.id.into()])?;
    if let Some(file) = find(transaction, job.box_id, job.file)? {
        tell_read(transaction, &file)?;
    }
    Ok(Finished { written: true, superseded })
}
