//! Passwords, tries that were counted, and places that are known. Identities at providers are in `identities`.

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault,
    access::Operating,
    ids::{SessionId, UserId},
    seams::catalog::{Email, Guest, Identity, Inviters, Place, SignIns, Stored, Subject, TokenHash, User},
};
use jiff::Timestamp;

use super::{
    Sql,
    database::Turn,
    identities,
    sql::{Row, Transaction},
    users::read_user,
};
use crate::{Error, blobs::hexadecimal};

/// Attempts this old no longer count.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Places that were not signed in from for so long are not known any more.
const KNOWN_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Places remembered for one account: some browsers and networks for each of a few devices.
const MOST_PLACES: i64 = 40;

#[async_trait]
impl SignIns for Sql {
    async fn count_try(&self, subjects: &[Subject], now: Timestamp) -> Result<Option<Duration>, Fault> {
        let subjects = subjects.to_vec();
        // Must survive a restart, but not a power cut.
        self.database.write_soon(Turn::Alone, move |t| Ok(count(t, &subjects, now)?)).await
    }

    async fn forgive_tries(&self, subjects: &[Subject]) -> Result<(), Fault> {
        let subjects = subjects.to_vec();
        self.database
            .write_soon(Turn::Alone, move |t| {
                for subject in &subjects {
                    let sql = match subject {
                        Subject::From(..) | Subject::Browser(..) => {
                            "delete from sign_in_tries where subject = $1"
                        }
                        Subject::Network(_) | Subject::Account(_) => {
                            "update sign_in_tries set failures = failures - 1 where subject = $1 and failures > 0"
                        }
                    };
                    t.execute(sql, &[subject.as_text().into()])?;
                }
                Ok(())
            })
            .await
    }

    async fn unlock(&self, _: &Operating, email: &Email) -> Result<(), Fault> {
        let subject = Subject::Account(email.clone()).as_text();
        self.database
            .write(move |t| {
                // An address holds no space, so none begins with another one and a space.
                let sql =
                    "delete from sign_in_tries where subject = $1 or substr(subject, 1, length($2)) = $2";
                t.execute(sql, &[subject.as_str().into(), format!("{subject} ").into()])?;
                Ok(())
            })
            .await
    }

    async fn is_known_place(&self, email: &Email, place: &Place) -> Result<bool, Fault> {
        let sql = "select p.seen_at from known_places p join users u on u.id = p.user_id
                   where u.email = $1 and p.place = $2";
        let parameters = [email.as_str().into(), place.as_text().into()];
        Ok(self.database.read(|t| t.first(sql, &parameters))?.is_some())
    }

    async fn remember_places(&self, user: UserId, places: &[Place], now: Timestamp) -> Result<(), Fault> {
        let places: Vec<String> = places.iter().map(Place::as_text).collect();
        self.database.write_soon(Turn::Alone, move |t| Ok(remember(t, user, &places, now)?)).await
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

    async fn set_password(&self, user: UserId, password_hash: String, here: SessionId) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let sql = "update users set password_hash = $1 where id = $2";
                t.execute(sql, &[password_hash.as_str().into(), user.into()])?;
                let sql = "delete from sessions where user_id = $1 and id <> $2";
                t.execute(sql, &[user.into(), here.into()])?;
                t.execute("delete from known_places where user_id = $1", &[user.into()])?;
                // Set-up, new password, another identity: none of these links outlives the password.
                t.execute("delete from one_time_links where user_id = $1", &[user.into()])?;
                Ok(())
            })
            .await
    }

    async fn user_of_identity(&self, identity: &Identity) -> Result<Option<User>, Fault> {
        Ok(self.database.read(|t| identities::user_of(t, identity))?)
    }

    async fn has_identity(&self, user: UserId) -> Result<bool, Fault> {
        Ok(self.database.read(|t| identities::has_any(t, user))?)
    }

    async fn admit(
        &self,
        guest: Guest,
        everybody: bool,
        inviters: Inviters,
        now: Timestamp,
    ) -> Result<User, Fault> {
        if let Some(user) = self.user_of_identity(&guest.identity).await? {
            return identities::must_be_on(user);
        }
        self.database.write(move |t| identities::admit(t, &guest, everybody, inviters, now)).await
    }

    async fn connect(
        &self,
        token: &TokenHash,
        user: UserId,
        guest: Guest,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let token = hexadecimal(token);
        self.database.write(move |t| identities::connect(t, &token, user, &guest, now)).await
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

/// Remembers places, forgets those of long ago and, of too many, those that were used least recently.
fn remember(
    transaction: &Transaction<'_>,
    user: UserId,
    places: &[String],
    now: Timestamp,
) -> Result<(), Error> {
    for place in places {
        transaction.execute(
            "insert into known_places (user_id, place, seen_at) values ($1, $2, $3)
             on conflict (user_id, place) do update set seen_at = excluded.seen_at",
            &[user.into(), place.as_str().into(), now.into()],
        )?;
    }
    let long_ago = now.saturating_sub(KNOWN_FOR).unwrap_or(Timestamp::MIN);
    transaction.execute("delete from known_places where seen_at <= $1", &[long_ago.into()])?;
    transaction.execute(
        "delete from known_places where user_id = $1 and place in
         (select place from (select place, row_number() over (order by seen_at desc, place) as rank
                             from known_places where user_id = $1) ranked where rank > $2)",
        &[user.into(), MOST_PLACES.into()],
    )?;
    Ok(())
}
