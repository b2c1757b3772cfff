//! Requests that carry an `Idempotency-Key`, and the answers kept for their retries.

use async_trait::async_trait;
use engine::{
    Fault,
    ids::{AttemptId, BoxId, UserId},
    seams::catalog::{Attempts, Begun, KeptAnswer, NewAttempt},
};
use jiff::Timestamp;

use super::{
    Sql,
    database::Turn,
    sql::{Row, Transaction, Value},
    units::charge_attempt,
};
use crate::Error;

/// Answers kept for one API key, from one sweep to the next: a client that retries does so within its last few hundred requests.
const MOST_KEPT: i64 = 1_000;

#[async_trait]
impl Attempts for Sql {
    async fn begin_attempt(&self, new: NewAttempt) -> Result<Begun, Fault> {
        let node = self.nodes.id.clone();
        self.database.write_soon(Turn::Of(new.key.clone()), move |t| Ok(begin(t, &new, node)?)).await
    }

    async fn finish_attempt(
        &self,
        attempt: AttemptId,
        answer: Option<KeptAnswer>,
        expires_at: Timestamp,
    ) -> Result<(), Fault> {
        let there = self.database.write_again(Turn::Alone, false, move |t, again| {
            let ours = is_there(t, attempt)? || (again && was_charged(t, attempt)?);
            if !ours {
                return Ok(false);
            }
            charge_attempt(t, attempt)?;
            if let Some(answer) = answer.clone() {
                keep(t, attempt, answer, expires_at)?;
            }
            // Still without an answer: there is none to keep.
            t.execute("delete from attempts where id = $1 and status is null", &[attempt.into()])?;
            Ok(true)
        });
        match there.await? {
            true => Ok(()),
            false => Err(Error::Away(format!("the attempt {attempt} is gone")).into()),
        }
    }

    async fn free_abandoned_attempts(&self, until: Timestamp) -> Result<u64, Fault> {
        let sql = "delete from attempts where status is null and expires_at <= $1";
        self.database.write(move |t| Ok(t.execute(sql, &[until.into()])? as u64)).await
    }

    async fn forget_old_answers(&self, now: Timestamp) -> Result<u64, Fault> {
        let old = "delete from attempts where status is not null and expires_at <= $1";
        // Identifiers begin with the time they were made at.
        let many = "delete from attempts where id in
                    (select id from (select id, row_number() over (partition by key_prefix order by id desc) as place
                                     from attempts where status is not null) ranked where place > $1)";
        self.database
            .write(move |t| {
                Ok((t.execute(old, &[now.into()])? + t.execute(many, &[MOST_KEPT.into()])?) as u64)
            })
            .await
    }
}

fn begin(transaction: &Transaction<'_>, new: &NewAttempt, node: String) -> Result<Begun, Error> {
    let (key, name) = (new.key.as_str(), new.name.as_str());
    transaction.execute(
        "delete from attempts where key_prefix = $1 and name = $2 and status is not null
         and (expires_at <= $3 or rights <> $4)",
        &[key.into(), name.into(), new.now.into(), new.rights.as_str().into()],
    )?;
    let sql = "select request, request_body, status, content_type, answer from attempts
               where key_prefix = $1 and name = $2";
    if let Some(row) = transaction.first(sql, &[key.into(), name.into()])? {
        return if row.is_null(2) { Ok(Begun::Running) } else { answered(&row) };
    }
    let id = AttemptId::generate();
    transaction.execute(
        "insert into attempts (id, key_prefix, name, request, rights, keep, expires_at, node)
         values ($1, $2, $3, $4, $5, 1, $6, $7)",
        &[
            id.into(),
            key.into(),
            name.into(),
            new.request.as_str().into(),
            new.rights.as_str().into(),
            new.expires_at.into(),
            node.into(),
        ],
    )?;
    Ok(Begun::First(id))
}

fn is_there(transaction: &Transaction<'_>, attempt: AttemptId) -> Result<bool, Error> {
    Ok(transaction.first("select 1 from attempts where id = $1", &[attempt.into()])?.is_some())
}

/// Whether an attempt whose answer was not to be kept has ended all the same: what it cost can be looked up for a moment.
fn was_charged(transaction: &Transaction<'_>, attempt: AttemptId) -> Result<bool, Error> {
    let sql = "select 1 from unit_reservations where attempt_id = $1 and settled = 2";
    Ok(transaction.first(sql, &[attempt.into()])?.is_some())
}

fn answered(row: &Row) -> Result<Begun, Error> {
    let text = |row: &Row, column: usize| row.text(column).map(str::to_string);
    let status = u16::try_from(row.integer(2)?).map_err(|_| Error::Corrupt("a kept status".into()))?;
    let answer = KeptAnswer {
        request_body: text(row, 1)?,
        status,
        content_type: row.optional(3, text)?,
        body: text(row, 4)?,
        rights: None,
    };
    Ok(Begun::Answered { request: text(row, 0)?, answer })
}

fn keep(
    transaction: &Transaction<'_>,
    attempt: AttemptId,
    answer: KeptAnswer,
    expires_at: Timestamp,
) -> Result<(), Error> {
    transaction.execute(
        "update attempts set request_body = $1, status = $2, content_type = $3, answer = $4, expires_at = $5,
         rights = coalesce($7, rights) where id = $6 and status is null and keep = 1",
        &[
            answer.request_body.into(),
            i64::from(answer.status).into(),
            answer.content_type.into(),
            answer.body.into(),
            expires_at.into(),
            attempt.into(),
            answer.rights.into(),
        ],
    )?;
    Ok(())
}

/// What is deleted from a box must not come back by a retry: forgets the answers of all who could read the box, and
/// keeps none of those in progress. A retry does the work again. Those who have lost access have no answers left: see
/// [`forget_answers_of`].
pub(super) fn forget_answers(transaction: &Transaction<'_>, box_id: BoxId) -> Result<(), Error> {
    let theirs = "key_prefix in (select k.prefix from keys k join memberships m on m.user_id = k.user_id
                  where m.box_id = $1)";
    forget(transaction, theirs, box_id.into())
}

/// Forgets the answers of somebody whose rights were taken away, at once: a later deletion looks only for those who can
/// read the box then, and somebody who is let in again must not find what was deleted meanwhile.
pub(super) fn forget_answers_of(transaction: &Transaction<'_>, user: UserId) -> Result<(), Error> {
    forget(transaction, "key_prefix in (select prefix from keys where user_id = $1)", user.into())
}

fn forget(transaction: &Transaction<'_>, theirs: &str, of: Value) -> Result<(), Error> {
    let sql = format!("delete from attempts where status is not null and {theirs}");
    transaction.execute(&sql, std::slice::from_ref(&of))?;
    transaction.execute(&format!("update attempts set keep = 0 where {theirs}"), &[of])?;
    Ok(())
}
