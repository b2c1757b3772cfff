//! Passwords, identities elsewhere, and tries that were counted.

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault,
    ids::UserId,
    seams::catalog::{Email, Identity, SignIns, Stored, Subject, User},
};
use jiff::Timestamp;

use super::{
    Sql,
    database::Turn,
    sql::{Row, Transaction},
    users::{find_user, read_user},
};
use crate::Error;

/// Tries this old count no more.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[async_trait]
impl SignIns for Sql {
    async fn count_try(&self, subjects: &[Subject], now: Timestamp) -> Result<Option<Duration>, Fault> {
        let subjects = subjects.to_vec();
        // Need not survive a power cut, but a restart.
        self.database.write_soon(Turn::Alone, move |t| Ok(count(t, &subjects, now)?)).await
    }

    async fn forgive_tries(&self, subjects: &[Subject]) -> Result<(), Fault> {
        let subjects = subjects.to_vec();
        self.database
            .write_soon(Turn::Alone, move |t| {
                for subject in &subjects {
                    let sql = match subject {
                        Subject::Account(_) => "delete from sign_in_tries where subject = $1",
                        Subject::Network(_) => {
                            "update sign_in_tries set failures = failures - 1 where subject = $1 and failures > 0"
                        }
                    };
                    t.execute(sql, &[subject.as_text().into()])?;
                }
                Ok(())
            })
            .await
    }

    async fn stored_sign_in(&self, email: &Email) -> Result<Option<Stored>, Fault> {
        let sql = format!("{} where u.email = $1", super::users::SELECT);
        let found = self.database.read(|t| {
            let Some(row) = t.first(&sql, &[email.as_str().into()])? else { return Ok(None) };
            let user = read_user(&row)?;
            let row = t.first("select password_hash from users where id = $1", &[user.id.into()])?;
            let text = |row: &Row, column: usize| row.text(column).map(str::to_string);
            let password_hash = row.map(|row| row.optional(0, text)).transpose()?.flatten();
            Ok::<_, Error>(Some(Stored { user, password_hash }))
        });
        Ok(found?)
    }

    async fn set_password(&self, user: UserId, password_hash: String) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let sql = "update users set password_hash = $1 where id = $2";
                t.execute(sql, &[password_hash.as_str().into(), user.into()])?;
                Ok(())
            })
            .await
    }

    async fn user_of_identity(&self, identity: &Identity) -> Result<Option<User>, Fault> {
        let sql = "select user_id from identities where issuer = $1 and subject = $2";
        let parameters = [identity.issuer.as_str().into(), identity.subject.as_str().into()];
        let found = self.database.read(|t| match t.first(sql, &parameters)? {
            Some(row) => find_user(t, row.parse(0)?),
            None => Ok(None),
        });
        Ok(found?)
    }

    async fn add_identity(&self, user: UserId, identity: Identity) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                t.execute(
                    "insert into identities (issuer, subject, user_id, created_at) values ($1, $2, $3, $4)
                     on conflict (issuer, subject) do nothing",
                    &[
                        identity.issuer.as_str().into(),
                        identity.subject.as_str().into(),
                        user.into(),
                        Timestamp::now().into(),
                    ],
                )?;
                Ok(())
            })
            .await
    }

    async fn is_set_up(&self) -> Result<bool, Fault> {
        Ok(self.database.read(|t| Ok::<_, Error>(able_operators(t)? > 0))?)
    }
}

/// Operators who can sign in.
pub(super) fn able_operators(transaction: &Transaction<'_>) -> Result<i64, Error> {
    let sql = "select count(*) from users u where u.operator = 1 and u.disabled_at is null
               and (u.password_hash is not null or exists (select 1 from identities i where i.user_id = u.id))";
    transaction.first(sql, &[])?.map_or(Ok(0), |row| row.integer(0))
}

fn count(
    transaction: &Transaction<'_>,
    subjects: &[Subject],
    now: Timestamp,
) -> Result<Option<Duration>, Error> {
    let forgotten = now.saturating_sub(FORGOTTEN_AFTER).unwrap_or(Timestamp::MIN);
    transaction.execute("delete from sign_in_tries where last_at <= $1", &[forgotten.into()])?;
    let mut longest = Duration::ZERO;
    for subject in subjects {
        let sql = "select failures, last_at from sign_in_tries where subject = $1";
        let Some(row) = transaction.first(sql, &[subject.as_text().into()])? else { continue };
        let wait = subject.wait_after(u32::try_from(row.integer(0)?).unwrap_or(u32::MAX));
        let passed = now.as_millisecond().saturating_sub(row.integer(1)?);
        let passed = Duration::from_millis(u64::try_from(passed).unwrap_or(0));
        longest = longest.max(wait.saturating_sub(passed));
    }
    if !longest.is_zero() {
        return Ok(Some(longest));
    }
    for subject in subjects {
        transaction.execute(
            "insert into sign_in_tries (subject, failures, last_at) values ($1, 1, $2)
             on conflict (subject) do update set failures = sign_in_tries.failures + 1, last_at = excluded.last_at",
            &[subject.as_text().into(), now.into()],
        )?;
    }
    Ok(None)
}
