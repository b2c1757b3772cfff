//! API keys, and the version that tells caches when to look again.

use std::collections::BTreeSet;

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::Caller,
    apikey::SecretHash,
    bounds::Bound,
    ids::{BoxId, UserId},
    seams::catalog::{EventKind, Exposure, KeyRecord, KeyState, Keys, NewKey, Secret, StoredKey},
};
use jiff::Timestamp;

use super::{
    Sql, bounds,
    sql::{Row, Transaction},
    webhooks::{Event, emit},
};
use crate::{Error, blobs::hexadecimal};

const SELECT: &str =
    "select k.prefix, k.name, u.email, k.scoped, k.created_at, k.expires_at, k.revoked_at, k.exposed_at,
    k.exposed_how, k.last_used_at, k.permissions, g.client_id, k.origins from keys k join users u on u.id = k.user_id
    left join grants g on g.prefix = k.prefix";

#[async_trait]
impl Keys for Sql {
    async fn add_key(&self, key: NewKey) -> Result<KeyRecord, Fault> {
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                let record = add(t, &key)?;
                bounds::check_user(t, &limits, key.user, &[Bound::Keys])?;
                Ok(record)
            })
            .await
    }

    async fn keys(&self, user: Option<UserId>) -> Result<Vec<KeyRecord>, Fault> {
        let records = self.database.read(|t| {
            let rows = match user {
                Some(user) => {
                    t.all(&format!("{SELECT} where k.user_id = $1 order by k.created_at"), &[user.into()])?
                }
                None => t.all(&format!("{SELECT} order by k.created_at"), &[])?,
            };
            rows.iter().map(|row| read_record(t, row)).collect()
        });
        Ok(records?)
    }

    async fn revoke_key(&self, prefix: &str) -> Result<(), Fault> {
        let prefix = prefix.to_string();
        self.database
            .write(move |t| {
                if set_revoked(t, &prefix, Timestamp::now())? > 0 {
                    return bump_access_version(t);
                }
                match t.first("select 1 from keys where prefix = $1", &[prefix.as_str().into()])? {
                    Some(_) => Ok(()),
                    None => {
                        let cause = format!("there is no key with the prefix `{prefix}`");
                        Err(Fault::new(Reason::NotFound, cause).hint("`quire key list` shows all of them"))
                    }
                }
            })
            .await
    }

    async fn expose_key(&self, prefix: &str, how: Exposure, revoke: bool) -> Result<bool, Fault> {
        let prefix = prefix.to_string();
        self.database
            .write(move |t| {
                // Nobody can use it any more, so there is nothing to mark.
                let sql = "select 1 from keys where prefix = $1 and revoked_at is null";
                if t.first(sql, &[prefix.as_str().into()])?.is_none() {
                    return Ok(false);
                }
                let now = Timestamp::now();
                let marked = t.execute(
                    "update keys set exposed_at = $1, exposed_how = $2 where prefix = $3 and exposed_at is null",
                    &[now.into(), how.as_str().into(), prefix.as_str().into()],
                )?;
                let revoked = if revoke { set_revoked(t, &prefix, now)? } else { 0 };
                let changed = marked + revoked > 0;
                if changed {
                    tell_exposed(t, &prefix, how)?;
                    bump_access_version(t)?;
                }
                Ok(changed)
            })
            .await
    }

    async fn touch_keys(&self, uses: Vec<(String, Timestamp)>) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                for (prefix, at) in uses {
                    t.execute(
                        "update keys set last_used_at = $1 where prefix = $2",
                        &[at.into(), prefix.into()],
                    )?;
                }
                Ok(())
            })
            .await
    }

    async fn stored_key(&self, prefix: &str) -> Result<Option<StoredKey>, Fault> {
        Ok(self.database.read(|t| stored(t, prefix))?)
    }

    async fn access_version(&self) -> Result<i64, Fault> {
        let row = self.database.read(|t| t.first("select version from access_version where one = 1", &[]))?;
        Ok(row.ok_or_else(|| Error::Corrupt("access_version is empty".into()))?.integer(0)?)
    }
}

fn tell_exposed(transaction: &Transaction<'_>, prefix: &str, how: Exposure) -> Result<(), Fault> {
    let sql = "select user_id, name, revoked_at from keys where prefix = $1";
    let Some(row) = transaction.first(sql, &[prefix.into()])? else { return Ok(()) };
    let data = serde_json::json!({
        "prefix": prefix, "name": row.text(1)?, "how": how.as_str(), "revoked": !row.is_null(2),
    });
    let (kind, user) = (EventKind::KeyExposed, Some(row.parse(0)?));
    Ok(emit(transaction, &Event { kind, box_id: None, user, subject: prefix, data })?)
}

/// Must be part of every transaction that changes who may do what.
pub(super) fn bump_access_version(transaction: &Transaction<'_>) -> Result<(), Fault> {
    transaction.execute("update access_version set version = version + 1 where one = 1", &[])?;
    Ok(())
}

/// Revokes a key that was not revoked before; says how many there were.
pub(super) fn set_revoked(
    transaction: &Transaction<'_>,
    prefix: &str,
    now: Timestamp,
) -> Result<usize, Error> {
    let sql = "update keys set revoked_at = $1 where prefix = $2 and revoked_at is null";
    transaction.execute(sql, &[now.into(), prefix.into()])
}

pub(super) fn add(transaction: &Transaction<'_>, key: &NewKey) -> Result<KeyRecord, Fault> {
    let prefix = key.key.prefix();
    transaction.execute(
        "insert into keys (prefix, user_id, name, secret_hash, scoped, expires_at, created_at, permissions,
         origins) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &[
            prefix.into(),
            key.user.into(),
            key.name.as_str().into(),
            hexadecimal(&key.key.secret_hash()).into(),
            key.boxes.is_some().into(),
            key.expires_at.into(),
            Timestamp::now().into(),
            key.permissions.to_string().into(),
            key.origins.to_string().into(),
        ],
    )?;
    for &box_id in key.boxes.iter().flatten() {
        let sql = "select 1 from memberships where box_id = $1 and user_id = $2";
        if transaction.first(sql, &[box_id.into(), key.user.into()])?.is_none() {
            return Err(Fault::new(
                Reason::NotFound,
                format!("the account has no role in the box {box_id}; give it one first"),
            ));
        }
        let sql = "insert into key_boxes (prefix, box_id) values ($1, $2) on conflict do nothing";
        transaction.execute(sql, &[prefix.into(), box_id.into()])?;
    }
    bump_access_version(transaction)?;
    let row = transaction.first(&format!("{SELECT} where k.prefix = $1"), &[prefix.into()])?;
    let row = row.ok_or_else(|| Error::Corrupt("the new key is not there".into()))?;
    Ok(read_record(transaction, &row)?)
}

fn read_record(transaction: &Transaction<'_>, row: &Row) -> Result<KeyRecord, Error> {
    let scoped = row.integer(3)? == 1;
    let exposed =
        row.optional(7, Row::time)?.zip(row.optional(8, |row, at| row.text(at).map(str::to_string))?);
    Ok(KeyRecord {
        prefix: row.text(0)?.to_string(),
        name: row.parse(1)?,
        email: row.email(2)?,
        permissions: row.parse(10)?,
        origins: row.parse(12)?,
        boxes: if scoped { Some(scope(transaction, row.text(0)?)?.into_iter().collect()) } else { None },
        created_at: row.time(4)?,
        expires_at: row.optional(5, Row::time)?,
        revoked_at: row.optional(6, Row::time)?,
        exposed,
        last_used_at: row.optional(9, Row::time)?,
        client: row.optional(11, |row, at| row.text(at).map(str::to_string))?,
    })
}

fn scope(transaction: &Transaction<'_>, prefix: &str) -> Result<BTreeSet<BoxId>, Error> {
    let rows = transaction.all("select box_id from key_boxes where prefix = $1", &[prefix.into()])?;
    rows.iter().map(|row| row.parse(0)).collect()
}

fn stored(transaction: &Transaction<'_>, prefix: &str) -> Result<Option<StoredKey>, Error> {
    let sql = "select k.user_id, k.name, k.secret_hash, k.scoped, k.expires_at, k.revoked_at, u.disabled_at,
               k.exposed_at, k.permissions, g.audience, g.access_hash, g.access_until, g.earlier_hash, g.earlier_until,
               k.origins
               from keys k join users u on u.id = k.user_id left join grants g on g.prefix = k.prefix
               where k.prefix = $1";
    let Some(row) = transaction.first(sql, &[prefix.into()])? else { return Ok(None) };
    let user: UserId = row.parse(0)?;
    let roles = transaction.all("select box_id, role from memberships where user_id = $1", &[user.into()])?;
    let state = match (row.is_null(5), row.is_null(6)) {
        (false, _) => KeyState::Revoked,
        (true, false) => KeyState::UserDisabled,
        (true, true) => KeyState::Active,
    };
    let caller = Caller {
        user,
        prefix: prefix.to_string(),
        key_name: row.text(1)?.to_string(),
        expires_at: row.optional(4, Row::time)?,
        permissions: row.parse(8)?,
        origins: row.parse(14)?,
        scope: if row.integer(3)? == 1 { Some(scope(transaction, prefix)?) } else { None },
        audience: row.optional(9, |row, at| row.text(at).map(str::to_string))?,
        roles: roles.iter().map(|row| Ok((row.parse(0)?, row.parse(1)?))).collect::<Result<_, Error>>()?,
    };
    Ok(Some(StoredKey { secrets: secrets(&row)?, state, exposed: !row.is_null(7), caller }))
}

/// The secret of a key. A grant's own is half of its refresh tokens, with which nothing can be asked.
fn secrets(row: &Row) -> Result<Vec<Secret>, Error> {
    if row.is_null(9) {
        return Ok(vec![Secret { hash: hash(row, 2)?, until: None }]);
    }
    let tokens = [10, 12].into_iter().filter(|&at| !row.is_null(at));
    tokens.map(|at| Ok(Secret { hash: hash(row, at)?, until: Some(row.time(at + 1)?) })).collect()
}

fn hash(row: &Row, column: usize) -> Result<SecretHash, Error> {
    row.bytes(column)?.try_into().map_err(|_| Error::Corrupt("secret_hash".into()))
}
