//! Programs that people let in: registrations, codes and grants.

use async_trait::async_trait;
use engine::{
    Fault,
    apikey::RefreshToken,
    bounds::Bound,
    ids::{ClientId, UserId},
    permissions::Permissions,
    seams::catalog::{Client, Exchange, Grants, NewClient, NewCode, NewKey, NewTokens, Refresh, Refreshed},
};
use jiff::{SignedDuration, Timestamp};

use super::{
    Sql, bounds, keys,
    sql::{Row, Transaction},
};
use crate::{Error, blobs::hexadecimal};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

#[async_trait]
impl Grants for Sql {
    async fn register_client(&self, new: NewClient) -> Result<Option<Client>, Fault> {
        let id = ClientId::generate();
        self.database.write(move |t| Ok(register(t, id, new)?)).await
    }

    async fn client(&self, id: ClientId) -> Result<Option<Client>, Fault> {
        let sql = "select name, redirect_uris from clients where id = $1";
        let row = self.database.read(|t| t.first(sql, &[id.into()]))?;
        Ok(row.map(|row| read_client(id, &row)).transpose()?)
    }

    async fn add_code(&self, new: NewCode) -> Result<(), Fault> {
        self.database.write(move |t| Ok(add_code(t, &new)?)).await
    }

    async fn exchange_code(
        &self,
        exchange: Exchange,
        tokens: NewTokens,
    ) -> Result<Option<Permissions>, Fault> {
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                let Some((user, permissions)) = redeem(t, &exchange, &tokens)? else { return Ok(None) };
                bounds::check_user(t, &limits, user, &[Bound::Keys])?;
                Ok(Some(permissions))
            })
            .await
    }

    async fn refresh_grant(&self, refresh: Refresh, tokens: NewTokens) -> Result<Refreshed, Fault> {
        self.database.write(move |t| renew(t, &refresh, &tokens)).await
    }

    async fn end_grant(&self, sent: &RefreshToken) -> Result<bool, Fault> {
        let sent = sent.clone();
        self.database
            .write(move |t| {
                let sql = "select 1 from grants g join keys k on k.prefix = g.prefix
                           where g.prefix = $1 and k.secret_hash = $2";
                let of = [sent.prefix().into(), hexadecimal(&sent.family_hash()).into()];
                if t.first(sql, &of)?.is_none() {
                    return Ok(false);
                }
                revoke(t, sent.prefix(), Timestamp::now())?;
                Ok(true)
            })
            .await
    }
}

fn register(t: &Transaction<'_>, id: ClientId, new: NewClient) -> Result<Option<Client>, Error> {
    let count = |sql: &str, parameters: &[super::sql::Value]| {
        t.first(sql, parameters)?.map_or(Ok(0), |row| row.integer(0)).map(|count| count as u64)
    };
    let lately = [new.network.as_str().into(), (new.now - HOUR).into()];
    let of_network = "select count(*) from clients where network = $1 and created_at > $2";
    if count(of_network, &lately)? >= new.most_each {
        return Ok(None);
    }
    if count("select count(*) from clients", &[])? >= new.most {
        let unused = "delete from clients where coalesce(used_at, created_at) < $1
                      and not exists (select 1 from grants g where g.client_id = clients.id)";
        if t.execute(unused, &[(new.now - DAY).into()])? == 0 {
            return Ok(None);
        }
    }
    let redirect_uris = serde_json::to_string(&new.redirect_uris).expect("a list of texts");
    t.execute(
        "insert into clients (id, name, redirect_uris, network, created_at) values ($1, $2, $3, $4, $5)",
        &[
            id.into(),
            new.name.as_str().into(),
            redirect_uris.into(),
            new.network.as_str().into(),
            new.now.into(),
        ],
    )?;
    Ok(Some(Client { id, name: new.name, redirect_uris: new.redirect_uris }))
}

fn read_client(id: ClientId, row: &Row) -> Result<Client, Error> {
    let redirect_uris = serde_json::from_str(row.text(1)?)
        .map_err(|wrong| Error::Corrupt(format!("redirect_uris: {wrong}")))?;
    Ok(Client { id, name: row.parse(0)?, redirect_uris })
}

fn add_code(t: &Transaction<'_>, new: &NewCode) -> Result<(), Error> {
    t.execute("delete from authorization_codes where expires_at <= $1", &[new.now.into()])?;
    t.execute(
        "insert into authorization_codes (code_hash, user_id, client_id, client_name, redirect_uri, challenge, audience,
         box_id, permissions, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            hexadecimal(&new.code).into(),
            new.user.into(),
            new.client.as_str().into(),
            new.name.as_str().into(),
            new.redirect_uri.as_str().into(),
            new.challenge.as_str().into(),
            new.audience.as_str().into(),
            new.only.into(),
            new.permissions.to_string().into(),
            new.expires_at.into(),
        ],
    )?;
    let used = "update clients set used_at = $1 where id = $2";
    t.execute(used, &[new.now.into(), new.client.as_str().into()])?;
    Ok(())
}

/// Makes a grant of a code, where it is still good and this program's.
fn redeem(
    t: &Transaction<'_>,
    exchange: &Exchange,
    tokens: &NewTokens,
) -> Result<Option<(UserId, Permissions)>, Fault> {
    let code = hexadecimal(&exchange.code);
    let sql = "select user_id, client_id, client_name, redirect_uri, challenge, audience, box_id, permissions, expires_at,
               prefix from authorization_codes where code_hash = $1";
    let Some(row) = t.first(sql, &[code.as_str().into()])? else { return Ok(None) };
    if let Some(prefix) = row.optional(9, |row, at| row.text(at).map(str::to_string))? {
        revoke(t, &prefix, exchange.now)?;
        return Ok(None);
    }
    let (client, audience) = (row.text(1)?, row.text(5)?);
    let fits = client == exchange.client
        && exchange.redirect_uri.as_deref().is_none_or(|uri| row.text(3).is_ok_and(|kept| kept == uri))
        && row.text(4)? == exchange.challenge
        && exchange.audience.as_deref().is_none_or(|wanted| wanted == audience)
        && row.time(8)? > exchange.now;
    if !fits {
        return Ok(None);
    }
    let (user, permissions) = (row.parse(0)?, row.parse(7)?);
    forget_ended(t, user, client, exchange.now)?;
    let key = NewKey {
        key: tokens.access.clone(),
        user,
        name: row.parse(2)?,
        expires_at: Some(tokens.refresh_until),
        permissions,
        boxes: row.optional(6, Row::parse)?.map(|box_id| vec![box_id]),
        origins: Default::default(),
    };
    keys::add(t, &key)?;
    let prefix = tokens.access.prefix();
    t.execute(
        "update keys set secret_hash = $1 where prefix = $2",
        &[hexadecimal(&tokens.refresh.family_hash()).into(), prefix.into()],
    )?;
    t.execute(
        "insert into grants (prefix, client_id, audience, turn_hash, access_hash, access_until)
         values ($1, $2, $3, $4, $5, $6)",
        &[
            prefix.into(),
            client.into(),
            audience.into(),
            hexadecimal(&tokens.refresh.turn_hash()).into(),
            hexadecimal(&tokens.access.secret_hash()).into(),
            tokens.access_until.into(),
        ],
    )?;
    let used = "update authorization_codes set prefix = $1 where code_hash = $2";
    t.execute(used, &[prefix.into(), code.as_str().into()])?;
    Ok(Some((user, permissions)))
}

/// What somebody allowed a program earlier and has ended need not stay in the list when they let it in again.
fn forget_ended(t: &Transaction<'_>, user: UserId, client: &str, now: Timestamp) -> Result<(), Error> {
    let sql = "delete from keys where user_id = $1 and (revoked_at is not null or expires_at <= $2)
               and exists (select 1 from grants g where g.prefix = keys.prefix and g.client_id = $3)";
    t.execute(sql, &[user.into(), now.into(), client.into()]).map(drop)
}

fn renew(t: &Transaction<'_>, refresh: &Refresh, tokens: &NewTokens) -> Result<Refreshed, Fault> {
    let prefix = refresh.sent.prefix();
    let sql = "select g.client_id, g.audience, g.turn_hash, k.permissions, k.expires_at from grants g
               join keys k on k.prefix = g.prefix join users u on u.id = k.user_id
               where g.prefix = $1 and k.secret_hash = $2 and k.revoked_at is null and u.disabled_at is null";
    let family = hexadecimal(&refresh.sent.family_hash());
    let Some(row) = t.first(sql, &[prefix.into(), family.into()])? else { return Ok(Refreshed::Refused) };
    let fits = row.text(0)? == refresh.client
        && refresh
            .audience
            .as_deref()
            .is_none_or(|wanted| row.text(1).is_ok_and(|audience| audience == wanted));
    let live = row.optional(4, Row::time)?.is_none_or(|end| end > refresh.now);
    if !fits || !live {
        return Ok(Refreshed::Refused);
    }
    if row.text(2)? != hexadecimal(&refresh.sent.turn_hash()) {
        revoke(t, prefix, refresh.now)?;
        return Ok(Refreshed::Reused);
    }
    t.execute(
        "update grants set turn_hash = $1, earlier_hash = access_hash, earlier_until = access_until,
         access_hash = $2, access_until = $3 where prefix = $4",
        &[
            hexadecimal(&tokens.refresh.turn_hash()).into(),
            hexadecimal(&tokens.access.secret_hash()).into(),
            tokens.access_until.into(),
            prefix.into(),
        ],
    )?;
    let until = "update keys set expires_at = $1 where prefix = $2";
    t.execute(until, &[tokens.refresh_until.into(), prefix.into()])?;
    keys::bump_access_version(t)?;
    Ok(Refreshed::Done(row.parse(3)?))
}

fn revoke(t: &Transaction<'_>, prefix: &str, now: Timestamp) -> Result<(), Fault> {
    if keys::set_revoked(t, prefix, now)? > 0 {
        keys::bump_access_version(t)?;
    }
    Ok(())
}
