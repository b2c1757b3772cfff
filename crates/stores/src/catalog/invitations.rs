//! Invitations that wait: how many there may be, and who they make a member once somebody vouches for the address.

use engine::{
    Fault, Reason,
    seams::catalog::{Email, Inviters, MostInvitations, NewOneTimeLink, PlanName, Purpose, User},
};
use jiff::Timestamp;

use super::{
    keys::bump_access_version,
    onetime::{SELECT, STANDS, join, list},
    sql::{Transaction, Value},
    users::units,
};
use crate::Error;

/// Refuses an invitation of somebody who is no operator where there are too many. One for an address that is invited already
/// takes the older one's place, and is not one more.
pub(super) fn must_have_room(
    transaction: &Transaction<'_>,
    link: &NewOneTimeLink,
    most: MostInvitations,
) -> Result<(), Fault> {
    let Purpose::Join { email, member: Some((box_id, _)), .. } = &link.purpose else { return Ok(()) };
    let sql = "select count(*) from one_time_links where box_id = $1 and expires_at > $2 and email <> $3";
    let of_box = count(transaction, sql, &[(*box_id).into(), link.now.into(), email.as_str().into()])?;
    if of_box >= most.of_box {
        return Err(too_many(most.of_box, "open invitations to a box", "accounts.open_invitations"));
    }
    let by_operator = "select count(*) from users where id = $1 and operator = 1";
    if count(transaction, by_operator, &[link.made_by.into()])? > 0 {
        return Ok(());
    }
    let sql = "select (select count(*) from one_time_links where made_by = $1 and purpose = 'join'
               and expires_at > $2 and email <> $3) + (select count(*) from users where invited_by = $1)";
    let of_person = count(transaction, sql, &[link.made_by.into(), link.now.into(), email.as_str().into()])?;
    if of_person >= most.of_person {
        let what = "invitations by one person, open or used to make accounts";
        return Err(too_many(most.of_person, what, "accounts.invitations_each"));
    }
    Ok(())
}

fn count(transaction: &Transaction<'_>, sql: &str, parameters: &[Value]) -> Result<u64, Error> {
    transaction.first(sql, parameters)?.map_or(Ok(0), |row| units(&row, 0))
}

fn too_many(most: u64, what: &str, setting: &str) -> Fault {
    Fault::new(Reason::Conflict, format!("there can be at most {most} {what} ({setting} = {most})"))
        .hint("withdraw some, or ask an operator to raise the setting")
}

/// Gives an account whose address somebody vouches for the roles of the invitations that waited for it.
pub(super) fn claim_invitations(
    transaction: &Transaction<'_>,
    user: &User,
    now: Timestamp,
) -> Result<(), Fault> {
    let sql =
        format!("{SELECT} where l.purpose = 'join' and l.email = $1 and l.expires_at > $2 and {STANDS}");
    let mut claimed = false;
    for link in list(transaction, &sql, &[user.email.as_str().into(), now.into()])? {
        if let Purpose::Join { member: Some((box_id, role)), .. } = link.purpose {
            join(transaction, box_id, user.id, role)?;
            claimed = true;
        }
    }
    if claimed {
        bump_access_version(transaction)?;
    }
    let sql = "delete from one_time_links where purpose = 'join' and email = $1";
    transaction.execute(sql, &[user.email.as_str().into()])?;
    Ok(())
}

/// The plan of an account that an invitation waits for, if its maker may make accounts.
pub(super) fn invited_plan(
    transaction: &Transaction<'_>,
    email: &Email,
    inviters: Inviters,
    now: Timestamp,
) -> Result<Option<PlanName>, Error> {
    // Invitations to the server come first: they say which plan.
    let sql = format!(
        "{SELECT} where l.purpose = 'join' and l.email = $1 and l.expires_at > $2 and {STANDS} order by l.box_id is null desc"
    );
    let links = list(transaction, &sql, &[email.as_str().into(), now.into()])?;
    let mut links = links.into_iter().filter(|link| link.by_operator || inviters == Inviters::Owners);
    Ok(links.next().and_then(|link| match link.purpose {
        Purpose::Join { plan, .. } => Some(plan),
        _ => None,
    }))
}
