//! Checks what is stored against its bounds, in the transaction that stores it.
//!
//! Writes that add something run alone, in a file as on a server, so what is counted here cannot change before the commit.
//! A box counts for each of its owners.

use engine::{
    Fault,
    bounds::{Bound, Bounds, Quota},
    ids::{BoxId, UserId},
};
use jiff::Timestamp;

use super::{
    sql::{Row, Transaction},
    users::units,
};
use crate::Error;

/// Bytes in the unit that storage is bounded in, as the dashboard shows sizes.
const GIGABYTE: u64 = 1_000_000_000;
/// Bytes in the unit that metadata is bounded in.
const KILOBYTE: u64 = 1 << 10;

/// The bounds of an account: its own, then its plan's, then the settings'.
pub(super) fn of_user(t: &Transaction<'_>, settings: &Bounds, user: UserId) -> Result<Bounds, Error> {
    let sql = "select p.quota, u.quota from users u join plans p on p.name = u.plan where u.id = $1";
    let Some(row) = t.first(sql, &[user.into()])? else { return Ok(settings.clone()) };
    Ok(settings.with(&read_quota(&row, 0)?).with(&read_quota(&row, 1)?))
}

/// What an account or a plan says.
pub(super) fn read_quota(row: &Row, column: usize) -> Result<Quota, Error> {
    let quota = row.optional(column, |row, column| {
        serde_json::from_str(row.text(column)?).map_err(|wrong| Error::Corrupt(format!("a quota: {wrong}")))
    })?;
    Ok(quota.unwrap_or_default())
}

/// The question for a sum over the boxes that an account owns; `user` is its id, as SQL has it.
fn of_boxes(user: &str, column: &str) -> String {
    format!(
        "select cast(coalesce(sum(s.{column}), 0) as bigint) from memberships m
         join box_sizes s on s.box_id = m.box_id where m.user_id = {user} and m.role = 'owner'"
    )
}

/// The question for the number of boxes that an account owns.
pub(super) fn boxes_of(user: &str) -> String {
    format!("select count(*) from memberships where user_id = {user} and role = 'owner'")
}

/// The question for the bytes that an account stores, with those of uploads under way.
pub(super) fn bytes_of(user: &str) -> String {
    let uploads =
        format!("select cast(coalesce(sum(size), 0) as bigint) from uploads where user_id = {user}");
    format!("select ({}) + ({uploads})", of_boxes(user, "bytes"))
}

/// How much an account has of what a bound is about, in the unit that [`limit`] has.
pub(super) fn used_by_user(t: &Transaction<'_>, user: UserId, bound: Bound) -> Result<u64, Error> {
    let (sql, now) = match bound {
        Bound::Boxes => (boxes_of("$1"), None),
        Bound::StorageGb => (bytes_of("$1"), None),
        Bound::QueuedFiles => (of_boxes("$1", "queued"), None),
        Bound::Keys => {
            let sql = "select count(*) from keys where user_id = $1 and revoked_at is null
                       and (expires_at is null or expires_at > $2)";
            (sql.into(), Some(Timestamp::now()))
        }
        Bound::Files | Bound::Members | Bound::MetadataKb | Bound::Tags => return Ok(0),
    };
    let mut parameters = vec![user.into()];
    parameters.extend(now.map(Into::into));
    t.first(&sql, &parameters)?.map_or(Ok(0), |row| units(&row, 0))
}

fn used_by_box(t: &Transaction<'_>, box_id: BoxId, bound: Bound) -> Result<u64, Error> {
    let sql = match bound {
        Bound::Files => "select files from box_sizes where box_id = $1",
        // Somebody who is invited counts as a member: nothing refuses them when they join.
        Bound::Members => {
            "select (select count(*) from memberships where box_id = $1)
             + (select count(*) from one_time_links where box_id = $1 and purpose = 'join')"
        }
        _ => return Ok(0),
    };
    t.first(sql, &[box_id.into()])?.map_or(Ok(0), |row| units(&row, 0))
}

/// The value of a bound in the unit that is counted: bytes where it is given in larger ones.
pub(super) fn limit(bounds: &Bounds, bound: Bound) -> u64 {
    let unit = match bound {
        Bound::StorageGb => GIGABYTE,
        Bound::MetadataKb => KILOBYTE,
        _ => 1,
    };
    bounds.limit(bound).saturating_mul(unit)
}

/// Refuses what brought an account past one of its bounds; called after the change, which is then rolled back.
pub(super) fn check_user(
    t: &Transaction<'_>,
    settings: &Bounds,
    user: UserId,
    bounds: &[Bound],
) -> Result<(), Fault> {
    let own = of_user(t, settings, user)?;
    for &bound in bounds {
        if used_by_user(t, user, bound)? > limit(&own, bound) {
            return Err(bound.exceeded(own.limit(bound)));
        }
    }
    Ok(())
}

/// The same for the owners of a box, who all pay for what is in it.
pub(super) fn check_owners(
    t: &Transaction<'_>,
    settings: &Bounds,
    box_id: BoxId,
    bounds: &[Bound],
) -> Result<(), Fault> {
    owners(t, box_id)?.into_iter().try_for_each(|owner| check_user(t, settings, owner, bounds))
}

/// Refuses what brought a box past one of its bounds: the widest that one of its owners has.
pub(super) fn check_box(
    t: &Transaction<'_>,
    settings: &Bounds,
    box_id: BoxId,
    bound: Bound,
) -> Result<(), Fault> {
    let owners = owners(t, box_id)?.into_iter();
    let limits = owners.map(|owner| Ok(of_user(t, settings, owner)?.limit(bound)));
    let limits = limits.collect::<Result<Vec<u64>, Error>>()?;
    let limit = limits.into_iter().max().unwrap_or_else(|| settings.limit(bound));
    if used_by_box(t, box_id, bound)? > limit { Err(bound.exceeded(limit)) } else { Ok(()) }
}

/// Refuses metadata and labels of one file that are past their bounds. What was past them before may still shrink.
pub(super) fn check_labels(
    settings: &Bounds,
    bound: Bound,
    before: usize,
    after: usize,
) -> Result<(), Fault> {
    if after > before && after as u64 > limit(settings, bound) {
        return Err(bound.exceeded(settings.limit(bound)));
    }
    Ok(())
}

fn owners(t: &Transaction<'_>, box_id: BoxId) -> Result<Vec<UserId>, Error> {
    let sql = "select user_id from memberships where box_id = $1 and role = 'owner'";
    t.all(sql, &[box_id.into()])?.iter().map(|row| row.parse(0)).collect()
}
