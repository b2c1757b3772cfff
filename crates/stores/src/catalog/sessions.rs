//! Sign-ins to the dashboard.

use async_trait::async_trait;
use engine::{
    Fault,
    access::Person,
    ids::{SessionId, UserId},
    seams::catalog::{NewSession, Session, SessionRecord, Sessions, TokenHash},
};
use jiff::Timestamp;

use super::{
    Sql,
    database::Turn,
    sql::{Row, Transaction},
    users::find_user,
};
use crate::{Error, blobs::hexadecimal};

#[async_trait]
impl Sessions for Sql {
    async fn begin_session(&self, new: NewSession) -> Result<SessionId, Fault> {
        let id = SessionId::generate();
        self.database
            .write(move |t| {
                t.execute(
                    "insert into sessions (id, token_hash, user_id, agent, address, created_at, seen_at, expires_at)
                     values ($1, $2, $3, $4, $5, $6, $6, $7)",
                    &[
                        id.into(),
                        hexadecimal(&new.token).into(),
                        new.user.into(),
                        new.agent.as_str().into(),
                        new.address.as_str().into(),
                        new.now.into(),
                        new.expires_at.into(),
                    ],
                )?;
                Ok(id)
            })
            .await
    }

    async fn session(
        &self,
        token: &TokenHash,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<Option<Session>, Fault> {
        let token = hexadecimal(token);
        Ok(self.database.read(|t| find(t, &token, now, idle_since))?)
    }

    async fn touch_session(&self, session: SessionId, now: Timestamp) -> Result<(), Fault> {
        self.database
            .write_soon(Turn::Beside, move |t| {
                t.execute("update sessions set seen_at = $1 where id = $2", &[now.into(), session.into()])?;
                Ok(())
            })
            .await
    }

    async fn sessions_of(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionRecord>, Fault> {
        let sql = "select id, agent, address, created_at, seen_at from sessions
                   where user_id = $1 and expires_at > $2 order by seen_at desc, id desc";
        let parameters = [user.into(), now.into()];
        let found =
            self.database.read(|t| t.all(sql, &parameters)?.iter().map(read).collect::<Result<_, Error>>());
        Ok(found?)
    }

    async fn end_session(&self, user: UserId, session: SessionId) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let sql = "delete from sessions where id = $1 and user_id = $2";
                t.execute(sql, &[session.into(), user.into()])?;
                Ok(())
            })
            .await
    }

    async fn end_sessions(&self, user: UserId, except: Option<SessionId>) -> Result<u64, Fault> {
        // No identifier is empty, so that an empty one spares none.
        let spared = except.map(|id| id.to_string()).unwrap_or_default();
        self.database
            .write(move |t| {
                let sql = "delete from sessions where user_id = $1 and id <> $2";
                Ok(t.execute(sql, &[user.into(), spared.into()])? as u64)
            })
            .await
    }

    async fn forget_old_sessions(&self, now: Timestamp, idle_since: Timestamp) -> Result<u64, Fault> {
        self.database
            .write(move |t| {
                let sql = "delete from sessions where expires_at <= $1 or seen_at <= $2";
                Ok(t.execute(sql, &[now.into(), idle_since.into()])? as u64)
            })
            .await
    }
}

fn find(
    transaction: &Transaction<'_>,
    token: &str,
    now: Timestamp,
    idle_since: Timestamp,
) -> Result<Option<Session>, Error> {
    let sql = "select id, user_id, seen_at from sessions
               where token_hash = $1 and expires_at > $2 and seen_at > $3";
    let row = transaction.first(sql, &[token.into(), now.into(), idle_since.into()])?;
    let Some(row) = row else { return Ok(None) };
    let Some(user) = find_user(transaction, row.parse(1)?)?.filter(|user| !user.disabled) else {
        return Ok(None);
    };
    let roles =
        transaction.all("select box_id, role from memberships where user_id = $1", &[user.id.into()])?;
    let roles = roles.iter().map(|row| Ok((row.parse(0)?, row.parse(1)?))).collect::<Result<_, Error>>()?;
    let person = Person { user: user.id, operator: user.operator, roles };
    Ok(Some(Session { id: row.parse(0)?, seen_at: row.time(2)?, user, person }))
}

fn read(row: &Row) -> Result<SessionRecord, Error> {
    Ok(SessionRecord {
        id: row.parse(0)?,
        agent: row.text(1)?.to_string(),
        address: row.text(2)?.to_string(),
        created_at: row.time(3)?,
        seen_at: row.time(4)?,
    })
}
