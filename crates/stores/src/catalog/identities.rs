//! Identities at providers: whose they are, and which account somebody from a provider gets.

use engine::{
    Fault, Reason,
    ids::UserId,
    seams::catalog::{Email, Guest, Identity, Inviters, NewUser, PersonName, PlanName, User},
};
use jiff::Timestamp;

use super::{
    invitations::{claim_invitations, invited_plan},
    keys::bump_access_version,
    sql::Transaction,
    users::{add, find_user, find_user_by_email},
};
use crate::Error;

pub(super) fn user_of(transaction: &Transaction<'_>, identity: &Identity) -> Result<Option<User>, Error> {
    let sql = "select user_id from identities where issuer = $1 and subject = $2";
    let parameters = [identity.issuer.as_str().into(), identity.subject.as_str().into()];
    match transaction.first(sql, &parameters)? {
        Some(row) => find_user(transaction, row.parse(0)?),
        None => Ok(None),
    }
}

pub(super) fn has_any(transaction: &Transaction<'_>, user: UserId) -> Result<bool, Error> {
    let sql = "select 1 from identities where user_id = $1 limit 1";
    Ok(transaction.first(sql, &[user.into()])?.is_some())
}

/// The account, unless it was disabled.
pub(super) fn must_be_on(user: User) -> Result<User, Fault> {
    if user.disabled {
        return Err(Fault::new(
            Reason::RoleInsufficient,
            "this account is disabled; ask an operator to enable it",
        ));
    }
    Ok(user)
}

/// See [`engine::seams::catalog::SignIns::admit`].
pub(super) fn admit(
    transaction: &Transaction<'_>,
    guest: &Guest,
    everybody: bool,
    inviters: Inviters,
    now: Timestamp,
) -> Result<User, Fault> {
    if let Some(user) = user_of(transaction, &guest.identity)? {
        return must_be_on(user);
    }
    let unproven = "the provider does not confirm an e-mail address of yours";
    let email = guest.email.as_ref().ok_or_else(|| unknown(unproven))?;
    let user = match find_user_by_email(transaction, email)? {
        Some(user) => take_over(transaction, must_be_on(user)?)?,
        None => {
            let plan = match invited_plan(transaction, email, inviters, now)? {
                None if everybody => Some(PlanName::default()),
                plan => plan,
            };
            let plan = plan.ok_or_else(|| unknown("there is no account here for your address"))?;
            make(transaction, guest, email, plan)?
        }
    };
    tie(transaction, user.id, &guest.identity, now)?;
    transaction.execute("update users set vouched = 1 where id = $1", &[user.id.into()])?;
    claim_invitations(transaction, &user, now)?;
    bump_access_version(transaction)?;
    Ok(find_user(transaction, user.id)?.unwrap_or(user))
}

fn unknown(cause: &str) -> Fault {
    Fault::new(Reason::RoleInsufficient, cause).hint("ask an operator for an invitation")
}

fn make(transaction: &Transaction<'_>, guest: &Guest, email: &Email, plan: PlanName) -> Result<User, Fault> {
    let user = add(transaction, &NewUser { email: email.clone(), password_hash: None, plan }, None)?;
    let name = guest.name.as_ref().map(PersonName::as_str);
    transaction.execute("update users set name = $1 where id = $2", &[name.into(), user.id.into()])?;
    Ok(user)
}

/// There is an account with this address. One that nobody holds, as the command line creates them, is for whoever
/// proves the address. One that somebody holds is theirs, whatever its address: anybody may have chosen its password.
/// Only an operator can let it be taken over, and then its holder until now keeps nothing that lets them in.
fn take_over(transaction: &Transaction<'_>, user: User) -> Result<User, Fault> {
    let sql = "select 1 from users where id = $1 and password_hash is not null
               union select 1 from passkeys where user_id = $1";
    let held = transaction.first(sql, &[user.id.into()])?.is_some() || has_any(transaction, user.id)?;
    if held && !user.awaits_identity {
        return Err(Fault::new(
            Reason::RoleInsufficient,
            "there is already an account with your address, but it is not confirmed as yours",
        )
        .hint(
            "if it is, sign in with its password and connect it under Profile; otherwise ask an operator to \
             hand it over to you",
        ));
    }
    if held {
        let now = Timestamp::now();
        let sql = "update keys set revoked_at = $1 where user_id = $2 and revoked_at is null";
        transaction.execute(sql, &[now.into(), user.id.into()])?;
        transaction.execute("delete from one_time_links where made_by = $1", &[user.id.into()])?;
        for table in
            ["sessions", "known_places", "identities", "passkeys", "recovery_codes", "second_factors"]
        {
            transaction.execute(&format!("delete from {table} where user_id = $1"), &[user.id.into()])?;
        }
    }
    transaction.execute("delete from one_time_links where user_id = $1", &[user.id.into()])?;
    let sql = "update users set password_hash = null, awaits_identity = 0 where id = $1";
    transaction.execute(sql, &[user.id.into()])?;
    Ok(user)
}

fn tie(
    transaction: &Transaction<'_>,
    user: UserId,
    identity: &Identity,
    now: Timestamp,
) -> Result<(), Fault> {
    let tied = transaction.execute(
        "insert into identities (issuer, subject, user_id, created_at) values ($1, $2, $3, $4)
         on conflict (issuer, subject) do nothing",
        &[identity.issuer.as_str().into(), identity.subject.as_str().into(), user.into(), now.into()],
    )?;
    if tied == 0 {
        return Err(Fault::new(
            Reason::Conflict,
            "this sign-in is already connected to another account; sign out, then sign in with it to use that account",
        ));
    }
    Ok(())
}

/// See [`engine::seams::catalog::SignIns::connect`].
pub(super) fn connect(
    transaction: &Transaction<'_>,
    token: &str,
    user: UserId,
    guest: &Guest,
    now: Timestamp,
) -> Result<bool, Fault> {
    let sql = "delete from one_time_links
               where token_hash = $1 and purpose = 'connect' and user_id = $2 and expires_at > $3";
    let used = transaction.execute(sql, &[token.into(), user.into(), now.into()])?;
    let Some(found) = find_user(transaction, user)?.filter(|_| used > 0) else { return Ok(false) };
    must_be_on(found.clone())?;
    tie(transaction, user, &guest.identity, now)?;
    if guest.email.as_ref() == Some(&found.email) {
        transaction.execute("update users set vouched = 1 where id = $1", &[user.into()])?;
        claim_invitations(transaction, &found, now)?;
    }
    Ok(true)
}
