//! Passkeys, and the challenges that they have answered.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    ids::{PasskeyId, UserId},
    seams::catalog::{Challenge, MOST_PASSKEYS, NewPasskey, Passkey, PasskeyName, Passkeys, User},
};
use jiff::Timestamp;

use super::{
    Sql,
    sql::{Row, Transaction},
    users::find_user,
};
use crate::{Error, blobs::hexadecimal};

const SELECT: &str = "select id, user_id, name, host, credential, public_key, sign_count, created_at, used_at
    from passkeys";

#[async_trait]
impl Passkeys for Sql {
    async fn passkeys_of(&self, user: UserId) -> Result<Vec<Passkey>, Fault> {
        let sql = format!("{SELECT} where user_id = $1 order by id");
        Ok(self.database.read(|t| t.all(&sql, &[user.into()])?.iter().map(read).collect())?)
    }

    async fn passkey(&self, credential: &[u8]) -> Result<Option<(Passkey, User)>, Fault> {
        let (sql, credential) = (format!("{SELECT} where credential = $1"), hexadecimal(credential));
        let found = self.database.read(|t| {
            let Some(row) = t.first(&sql, &[credential.as_str().into()])? else { return Ok(None) };
            let passkey = read(&row)?;
            Ok(find_user(t, passkey.made.user)?.map(|user| (passkey, user)))
        });
        Ok(found?)
    }

    async fn add_passkey(&self, passkey: NewPasskey, challenge: Challenge) -> Result<PasskeyId, Fault> {
        self.database
            .write(move |t| {
                if !spend(t, &challenge, passkey.created_at)? {
                    return Err(Fault::new(Reason::Conflict, "this was sent before; start again"));
                }
                let sql = "select count(*) from passkeys where user_id = $1";
                let row = t.first(sql, &[passkey.user.into()])?;
                if row.map(|row| row.integer(0)).transpose()?.unwrap_or(0) >= MOST_PASSKEYS as i64 {
                    let cause = format!("an account can have {MOST_PASSKEYS} passkeys; remove one first");
                    return Err(Fault::new(Reason::Conflict, cause));
                }
                insert(t, &passkey)
            })
            .await
    }

    async fn use_passkey(
        &self,
        passkey: PasskeyId,
        sign_count: u32,
        challenge: Challenge,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let sql = "update passkeys set sign_count = $2, used_at = $3
                   where id = $1 and (sign_count < $2 or sign_count + $2 = 0)";
        self.database
            .write(move |t| {
                let values = [passkey.into(), i64::from(sign_count).into(), now.into()];
                Ok(spend(t, &challenge, now)? && t.execute(sql, &values)? > 0)
            })
            .await
    }

    async fn remove_passkey(&self, user: UserId, passkey: PasskeyId) -> Result<Option<PasskeyName>, Fault> {
        self.database
            .write(move |t| {
                let which = [passkey.into(), user.into()];
                let row = t.first("select name from passkeys where id = $1 and user_id = $2", &which)?;
                t.execute("delete from passkeys where id = $1 and user_id = $2", &which)?;
                Ok(row.map(|row| row.parse(0)).transpose()?)
            })
            .await
    }
}

/// Uses up a challenge. False, if it was used before.
fn spend(transaction: &Transaction<'_>, challenge: &Challenge, now: Timestamp) -> Result<bool, Error> {
    transaction.execute("delete from used_challenges where expires_at < $1", &[now.into()])?;
    let sql = "insert into used_challenges (challenge_hash, expires_at) values ($1, $2)
               on conflict (challenge_hash) do nothing";
    Ok(transaction.execute(sql, &[hexadecimal(&challenge.hash).into(), challenge.expires_at.into()])? > 0)
}

fn insert(transaction: &Transaction<'_>, passkey: &NewPasskey) -> Result<PasskeyId, Fault> {
    let id = PasskeyId::generate();
    let sql = "insert into passkeys (id, user_id, name, host, credential, public_key, sign_count, created_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential) do nothing";
    let values = [
        id.into(),
        passkey.user.into(),
        passkey.name.as_str().into(),
        passkey.host.as_str().into(),
        hexadecimal(&passkey.credential).into(),
        hexadecimal(&passkey.public_key).into(),
        i64::from(passkey.sign_count).into(),
        passkey.created_at.into(),
    ];
    if transaction.execute(sql, &values)? == 0 {
        return Err(Fault::new(Reason::Conflict, "this passkey is already that of an account"));
    }
    Ok(id)
}

fn read(row: &Row) -> Result<Passkey, Error> {
    let sign_count = row.integer(6)?.try_into();
    Ok(Passkey {
        id: row.parse(0)?,
        made: NewPasskey {
            user: row.parse(1)?,
            name: row.parse(2)?,
            host: row.text(3)?.to_string(),
            credential: row.bytes(4)?,
            public_key: row.bytes(5)?,
            sign_count: sign_count.map_err(|_| Error::Corrupt("the count of a passkey".into()))?,
            created_at: row.time(7)?,
        },
        used_at: row.optional(8, Row::time)?,
    })
}
