//! Boxes and memberships.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Leaving, Managing, Operating, Owning, Reading, Role, Writing, no_such_box},
    bounds::Bound,
    ids::{BoxId, UserId},
    seams::catalog::{BoxLanguage, BoxName, BoxRecord, BoxTotals, Boxes, Member},
};
use jiff::Timestamp;

use super::{
    Sql,
    attempts::forget_answers_of,
    bounds,
    conversations::forget_conversations_of,
    keys::bump_access_version,
    onetime::end_links_of,
    sql::{Row, Transaction},
    users::units,
};
use crate::Error;

#[async_trait]
impl Boxes for Sql {
    async fn add_box_for(
        &self,
        name: BoxName,
        language: BoxLanguage,
        owner: UserId,
    ) -> Result<BoxRecord, Fault> {
        let (id, created_at) = (BoxId::generate(), now_to_the_millisecond());
        let record =
            BoxRecord { id, name, created_at, retention_days: None, language, changed_over_at: None };
        let added = record.clone();
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                t.execute(
                    "insert into boxes (id, name, created_at, language) values ($1, $2, $3, $4)",
                    &[
                        record.id.into(),
                        record.name.as_str().into(),
                        record.created_at.into(),
                        record.language.as_str().into(),
                    ],
                )?;
                set_role(t, record.id, owner, Role::Owner)?;
                bounds::check_user(t, &limits, owner, &[Bound::Boxes])?;
                bump_access_version(t)
            })
            .await?;
        Ok(added)
    }

    async fn boxes(&self) -> Result<Vec<BoxRecord>, Fault> {
        let sql = format!("{BOXES} where deleting_at is null order by created_at, id");
        let boxes = self.database.read(|t| t.all(&sql, &[])?.iter().map(read_box).collect());
        Ok(boxes?)
    }

    async fn boxes_of(&self, readings: &[Reading]) -> Result<Vec<BoxRecord>, Fault> {
        let sql = format!("{BOXES} where id = $1 and deleting_at is null");
        let mut boxes = self.database.read(|t| {
            let rows =
                readings.iter().filter_map(|reading| t.first(&sql, &[reading.box_id().into()]).transpose());
            rows.map(|row| read_box(&row?)).collect::<Result<Vec<_>, Error>>()
        })?;
        boxes.sort_by_key(|record| record.id);
        Ok(boxes)
    }

    async fn members(&self, reading: &Reading) -> Result<Vec<Member>, Fault> {
        let sql =
            "select m.user_id, u.email, m.role, u.vouched from memberships m join users u on u.id = m.user_id
                   where m.box_id = $1 order by u.email";
        let read = |row: &Row| {
            let vouched = row.integer(3)? == 1;
            Ok(Member { user: row.parse(0)?, email: row.email(1)?, role: row.parse(2)?, vouched })
        };
        let members = self
            .database
            .read(|t| t.all(sql, &[reading.box_id().into()])?.iter().map(read).collect::<Result<_, Error>>());
        Ok(members?)
    }

    async fn grant(&self, managing: &Managing, user: UserId, role: Role) -> Result<(), Fault> {
        let (managing, box_id) = (*managing, managing.box_id());
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                let before = role_of(t, box_id, user)?;
                managing.may_turn(before, Some(role))?;
                if before == Some(role) {
                    return Ok(());
                }
                // A role may take away what the one before allowed.
                forget_answers_of(t, user)?;
                set_role(t, box_id, user, role)?;
                if role == Role::Owner {
                    bounds::check_user(t, &limits, user, OWNING)?;
                }
                if before.is_none() {
                    bounds::check_box(t, &limits, box_id, Bound::Members)?;
                }
                end_links_of(t, user)?;
                must_have_an_owner(t, box_id)?;
                bump_access_version(t)
            })
            .await
    }

    async fn revoke(&self, managing: &Managing, user: UserId) -> Result<(), Fault> {
        let (managing, box_id) = (*managing, managing.box_id());
        self.database
            .write(move |t| {
                managing.may_turn(role_of(t, box_id, user)?, None)?;
                end_membership(t, box_id, user)
            })
            .await
    }

    async fn leave(&self, leaving: &Leaving) -> Result<(), Fault> {
        let (box_id, user) = (leaving.box_id(), leaving.user());
        self.database.write(move |t| end_membership(t, box_id, user)).await
    }

    async fn rename_box(&self, managing: &Managing, name: BoxName) -> Result<(), Fault> {
        let box_id = managing.box_id();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                t.execute(
                    "update boxes set name = $1 where id = $2",
                    &[name.as_str().into(), box_id.into()],
                )?;
                Ok(())
            })
            .await
    }

    async fn hand_over(&self, owning: &Owning, from: UserId, to: UserId) -> Result<(), Fault> {
        let box_id = owning.box_id();
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                if role_of(t, box_id, to)?.is_none() {
                    return Err(Fault::new(
                        Reason::NotFound,
                        "a box can only be handed over to one of its members; add the account as a member first",
                    ));
                }
                forget_answers_of(t, from)?;
                set_role(t, box_id, from, Role::Admin)?;
                set_role(t, box_id, to, Role::Owner)?;
                end_links_of(t, from)?;
                bounds::check_user(t, &limits, to, OWNING)?;
                bump_access_version(t)
            })
            .await
    }

    async fn totals(&self, readings: &[Reading]) -> Result<Vec<BoxTotals>, Fault> {
        let boxes: Vec<BoxId> = readings.iter().map(Reading::box_id).collect();
        Ok(self.database.scan(move |t| boxes.iter().map(|&id| totals(t, id)).collect()).await?)
    }

    async fn totals_of_all(&self, _: &Operating) -> Result<(u64, BoxTotals), Fault> {
        let counted = self.database.scan(|t| {
            let boxes = t
                .first("select count(*) from boxes where deleting_at is null", &[])?
                .map_or(Ok(0), |row| units(&row, 0))?;
            let sql =
                format!("{TOTALS} (select count(*) from memberships) from files where status <> 'deleting'");
            Ok::<_, Error>((boxes, read_totals(t.first(&sql, &[])?)?))
        });
        Ok(counted.await?)
    }

    async fn shard_of(&self, box_id: BoxId) -> Result<Option<u32>, Fault> {
        let row = self.database.read(|t| {
            t.first("select shard from boxes where id = $1 and shard is not null", &[box_id.into()])
        })?;
        Ok(row.map(|row| shard(&row)).transpose()?)
    }

    async fn place_box(&self, writing: &Writing, shard: u32) -> Result<u32, Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let sql = "update boxes set shard = $1 where id = $2 and shard is null";
                t.execute(sql, &[i64::from(shard).into(), box_id.into()])?;
                let row = t.first("select shard from boxes where id = $1", &[box_id.into()])?;
                Ok(self::shard(&row.ok_or_else(no_such_box)?)?)
            })
            .await
    }

    async fn move_box(&self, writing: &Writing, shard: u32) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let sql = "update boxes set shard = $1 where id = $2 and deleting_at is null";
                match t.execute(sql, &[i64::from(shard).into(), box_id.into()])? {
                    0 => Err(no_such_box()),
                    _ => Ok(()),
                }
            })
            .await
    }
}

/// What a new owner of a box must have room for.
const OWNING: &[Bound] = &[Bound::Boxes, Bound::StorageGb];

/// Times are stored in milliseconds; a record just created must equal the one read back.
fn now_to_the_millisecond() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).expect("now is a valid time")
}

/// Refuses a box that does not exist or is being deleted.
pub(super) fn must_exist(transaction: &Transaction<'_>, box_id: BoxId) -> Result<(), Fault> {
    let sql = "select 1 from boxes where id = $1 and deleting_at is null";
    match transaction.first(sql, &[box_id.into()])? {
        Some(_) => Ok(()),
        None => Err(no_such_box()),
    }
}

/// The role of a user in a box, if any.
fn role_of(transaction: &Transaction<'_>, box_id: BoxId, user: UserId) -> Result<Option<Role>, Error> {
    let sql = "select role from memberships where box_id = $1 and user_id = $2";
    transaction.first(sql, &[box_id.into(), user.into()])?.map(|row| row.parse(0)).transpose()
}

/// The beginning of a question for totals; the number of members comes last.
const TOTALS: &str =
    "select count(*), cast(coalesce(sum(case when status in ('queued', 'processing') then 1 end), 0) as bigint),
    cast(coalesce(sum(case when status = 'failed' then 1 end), 0) as bigint),
    cast(coalesce(sum(pages), 0) as bigint), cast(coalesce(sum(size), 0) as bigint),";

fn totals(transaction: &Transaction<'_>, box_id: BoxId) -> Result<BoxTotals, Error> {
    let sql = format!(
        "{TOTALS} (select count(*) from memberships where box_id = $1)
         from files where box_id = $1 and status <> 'deleting'"
    );
    read_totals(transaction.first(&sql, &[box_id.into()])?)
}

fn read_totals(row: Option<Row>) -> Result<BoxTotals, Error> {
    let Some(row) = row else { return Ok(BoxTotals::default()) };
    Ok(BoxTotals {
        files: units(&row, 0)?,
        under_way: units(&row, 1)?,
        failed: units(&row, 2)?,
        pages: units(&row, 3)?,
        bytes: units(&row, 4)?,
        members: units(&row, 5)?,
    })
}

pub(super) fn set_role(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    user: UserId,
    role: Role,
) -> Result<(), Fault> {
    transaction.execute(
        "insert into memberships (box_id, user_id, role, created_at) values ($1, $2, $3, $4)
         on conflict (box_id, user_id) do update set role = excluded.role",
        &[box_id.into(), user.into(), role.as_str().into(), Timestamp::now().into()],
    )?;
    Ok(())
}

/// Takes a user's role away, with everything that hangs on it.
fn end_membership(t: &Transaction<'_>, box_id: BoxId, user: UserId) -> Result<(), Fault> {
    let sql = "delete from memberships where box_id = $1 and user_id = $2";
    if t.execute(sql, &[box_id.into(), user.into()])? == 0 {
        return Err(Fault::new(
            Reason::NotFound,
            "the account has no role in this box, so there is none to remove",
        ));
    }
    end_links_of(t, user)?;
    // Nor does an invitation that they did not use yet let them in again.
    let sql = "delete from one_time_links where box_id = $1
               and email = (select email from users where id = $2)";
    t.execute(sql, &[box_id.into(), user.into()])?;
    forget_answers_of(t, user)?;
    forget_conversations_of(t, user, box_id)?;
    must_have_an_owner(t, box_id)?;
    bump_access_version(t)
}

fn must_have_an_owner(transaction: &Transaction<'_>, box_id: BoxId) -> Result<(), Fault> {
    let sql = "select 1 from memberships where box_id = $1 and role = 'owner' limit 1";
    match transaction.first(sql, &[box_id.into()])? {
        Some(_) => Ok(()),
        None => Err(Fault::new(Reason::Conflict, "a box must have at least one owner")
            .hint("make somebody else an owner first")),
    }
}

fn shard(row: &Row) -> Result<u32, Error> {
    u32::try_from(row.integer(0)?).map_err(|_| Error::Corrupt("a shard's number".into()))
}

/// The beginning of a question for boxes.
pub(super) const BOXES: &str =
    "select id, name, created_at, retention_days, language, changed_over_at from boxes";

pub(super) fn read_box(row: &Row) -> Result<BoxRecord, Error> {
    let days = row.optional(3, Row::integer)?.map(|days| u32::try_from(days).unwrap_or(u32::MAX));
    Ok(BoxRecord {
        id: row.parse(0)?,
        name: row.parse(1)?,
        created_at: row.time(2)?,
        retention_days: days,
        language: row.parse(4)?,
        changed_over_at: row.optional(5, Row::time)?,
    })
}
