//! Accounts and plans.

use std::collections::HashMap;

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::Operating,
    bounds::{Bound, Quota},
    ids::UserId,
    seams::catalog::{
        AccountUse, Email, Holding, Month, NewUser, PersonName, Plan, PlanName, User, UserLanguage, Users,
    },
};
use jiff::Timestamp;

use super::{
    Sql, bounds,
    files::as_json,
    invitations::claim_invitations,
    keys::bump_access_version,
    onetime::end_links_of,
    signin::able_operators,
    sql::{Row, Transaction},
};
use crate::Error;

pub(super) const SELECT: &str =
    "select u.id, u.email, u.plan, coalesce(u.monthly_units, p.monthly_units), u.disabled_at, u.created_at, u.name,
    u.operator, u.vouched, u.invited_by, u.awaits_identity, u.language from users u join plans p on p.name = u.plan";

#[async_trait]
impl Users for Sql {
    async fn add_user(&self, user: NewUser) -> Result<User, Fault> {
        self.database.write(move |transaction| add(transaction, &user, None)).await
    }

    async fn users(&self) -> Result<Vec<User>, Fault> {
        let sql = format!("{SELECT} order by u.created_at, u.id");
        let users = self.database.read(|t| t.all(&sql, &[])?.iter().map(read_user).collect());
        Ok(users?)
    }

    async fn user(&self, email: &Email) -> Result<User, Fault> {
        let sql = format!("{SELECT} where u.email = $1");
        let row = self.database.read(|t| t.first(&sql, &[email.as_str().into()]))?;
        match row {
            Some(row) => Ok(read_user(&row)?),
            None => Err(Fault::new(Reason::NotFound, format!("there is no user {email}"))
                .hint("`quire user list` shows all of them")),
        }
    }

    async fn set_user_disabled(&self, user: UserId, disabled: bool) -> Result<(), Fault> {
        let disabled_at = disabled.then(Timestamp::now);
        self.database
            .write(move |t| {
                let before = able_operators(t)?;
                t.execute(
                    "update users set disabled_at = $1 where id = $2",
                    &[disabled_at.into(), user.into()],
                )?;
                if disabled {
                    t.execute("delete from sessions where user_id = $1", &[user.into()])?;
                    t.execute("delete from one_time_links where user_id = $1", &[user.into()])?;
                    end_links_of(t, user)?;
                }
                must_keep_an_operator(t, before)?;
                bump_access_version(t)
            })
            .await
    }

    async fn set_user_units(&self, user: UserId, monthly_units: u64) -> Result<(), Fault> {
        let units = i64::try_from(monthly_units).unwrap_or(i64::MAX);
        self.database
            .write(move |t| {
                t.execute("update users set monthly_units = $1 where id = $2", &[units.into(), user.into()])?;
                bump_access_version(t)
            })
            .await
    }

    async fn set_user_quota(&self, user: UserId, quota: Quota) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let quota = (!quota.is_empty()).then(|| as_json(&quota));
                t.execute("update users set quota = $1 where id = $2", &[quota.into(), user.into()])?;
                Ok(())
            })
            .await
    }

    async fn user_quota(&self, user: UserId) -> Result<Quota, Fault> {
        let row = self.database.read(|t| t.first("select quota from users where id = $1", &[user.into()]))?;
        Ok(row.map_or(Ok(Quota::default()), |row| bounds::read_quota(&row, 0))?)
    }

    async fn holdings(&self, user: UserId) -> Result<Vec<Holding>, Fault> {
        let held = self.database.read(|t| {
            let limits = bounds::of_user(t, &self.bounds, user)?;
            let counted = [Bound::Boxes, Bound::StorageGb, Bound::QueuedFiles, Bound::Keys].into_iter();
            let holding = |bound| {
                let used = bounds::used_by_user(t, user, bound)?;
                Ok(Holding { bound, used, allowed: bounds::limit(&limits, bound) })
            };
            counted.map(holding).collect::<Result<_, Error>>()
        });
        Ok(held?)
    }

    async fn use_of_accounts(
        &self,
        _: &Operating,
        month: Month,
    ) -> Result<HashMap<UserId, AccountUse>, Fault> {
        let sql = format!(
            "select u.id, coalesce((select m.used from unit_months m where m.user_id = u.id and m.month = $1), 0)
             + (select cast(coalesce(sum(r.units), 0) as bigint) from unit_reservations r
                where r.user_id = u.id and r.month = $1 and r.settled = 1),
             ({}), ({}) from users u",
            bounds::boxes_of("u.id"),
            bounds::bytes_of("u.id"),
        );
        let read = |row: &Row| {
            let used = AccountUse { units: units(row, 1)?, boxes: units(row, 2)?, bytes: units(row, 3)? };
            Ok((row.parse(0)?, used))
        };
        let used = self.database.scan(move |t| {
            t.all(&sql, &[month.to_string().into()])?.iter().map(read).collect::<Result<_, Error>>()
        });
        Ok(used.await?)
    }

    async fn set_user_plan(&self, user: UserId, plan: PlanName) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                must_have_plan(t, &plan)?;
                t.execute(
                    "update users set plan = $1, monthly_units = null, quota = null where id = $2",
                    &[plan.as_str().into(), user.into()],
                )?;
                bump_access_version(t)
            })
            .await
    }

    async fn set_user_name(&self, user: UserId, name: Option<PersonName>) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let name = name.as_ref().map(PersonName::as_str);
                t.execute("update users set name = $1 where id = $2", &[name.into(), user.into()])?;
                Ok(())
            })
            .await
    }

    async fn set_user_language(&self, user: UserId, language: Option<UserLanguage>) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let language = language.map(UserLanguage::as_str);
                t.execute("update users set language = $1 where id = $2", &[language.into(), user.into()])?;
                Ok(())
            })
            .await
    }

    async fn set_user_operator(&self, user: UserId, operator: bool) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let before = able_operators(t)?;
                t.execute("update users set operator = $1 where id = $2", &[operator.into(), user.into()])?;
                end_links_of(t, user)?;
                must_keep_an_operator(t, before)
            })
            .await
    }

    async fn vouch_for(&self, _: &Operating, user: UserId) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                t.execute("update users set vouched = 1 where id = $1", &[user.into()])?;
                let found = find_user(t, user)?;
                found.map_or(Ok(()), |user| claim_invitations(t, &user, Timestamp::now()))
            })
            .await
    }

    async fn set_awaits_identity(&self, _: &Operating, user: UserId, awaits: bool) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let sql = "update users set awaits_identity = $1 where id = $2";
                t.execute(sql, &[awaits.into(), user.into()])?;
                Ok(())
            })
            .await
    }

    async fn put_plan(&self, plan: Plan) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let units = plan.monthly_units.map(|units| i64::try_from(units).unwrap_or(i64::MAX));
                let quota = (!plan.quota.is_empty()).then(|| as_json(&plan.quota));
                t.execute(
                    "insert into plans (name, monthly_units, quota) values ($1, $2, $3)
                     on conflict (name) do update
                     set monthly_units = excluded.monthly_units, quota = excluded.quota",
                    &[plan.name.as_str().into(), units.into(), quota.into()],
                )?;
                bump_access_version(t)
            })
            .await
    }

    async fn plans(&self) -> Result<Vec<Plan>, Fault> {
        let read = |row: &Row| {
            let quota = bounds::read_quota(row, 2)?;
            Ok(Plan { name: row.parse(0)?, monthly_units: row.optional(1, units)?, quota })
        };
        let sql = "select name, monthly_units, quota from plans order by name";
        let plans = self.database.read(|t| t.all(sql, &[])?.iter().map(read).collect::<Result<_, Error>>());
        Ok(plans?)
    }
}

/// Where there was an operator who can sign in, one stays.
fn must_keep_an_operator(transaction: &Transaction<'_>, before: i64) -> Result<(), Fault> {
    if before > 0 && able_operators(transaction)? == 0 {
        return Err(Fault::new(
            Reason::Conflict,
            "the server must have at least one operator who can sign in",
        )
        .hint("make somebody else an operator first"));
    }
    Ok(())
}

fn must_have_plan(transaction: &Transaction<'_>, plan: &PlanName) -> Result<(), Fault> {
    match transaction.first("select 1 from plans where name = $1", &[plan.as_str().into()])? {
        Some(_) => Ok(()),
        None => Err(Fault::new(Reason::NotFound, format!("there is no plan `{}`", plan.as_str()))
            .hint("`quire plan list` shows all of them")),
    }
}

pub(super) fn find_user(transaction: &Transaction<'_>, id: UserId) -> Result<Option<User>, Error> {
    let row = transaction.first(&format!("{SELECT} where u.id = $1"), &[id.into()])?;
    row.map(|row| read_user(&row)).transpose()
}

pub(super) fn find_user_by_email(
    transaction: &Transaction<'_>,
    email: &Email,
) -> Result<Option<User>, Error> {
    let row = transaction.first(&format!("{SELECT} where u.email = $1"), &[email.as_str().into()])?;
    row.map(|row| read_user(&row)).transpose()
}

/// Creates an account. Whoever is `invited_by` somebody who is no operator comes with an address that nobody vouches for.
pub(super) fn add(
    transaction: &Transaction<'_>,
    user: &NewUser,
    invited_by: Option<UserId>,
) -> Result<User, Fault> {
    must_have_plan(transaction, &user.plan)?;
    let id = UserId::generate();
    let added = transaction.execute(
        "insert into users (id, email, password_hash, plan, created_at, vouched, invited_by)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (email) do nothing",
        &[
            id.into(),
            user.email.as_str().into(),
            user.password_hash.clone().into(),
            user.plan.as_str().into(),
            Timestamp::now().into(),
            invited_by.is_none().into(),
            invited_by.into(),
        ],
    )?;
    if added == 0 {
        return Err(Fault::new(
            Reason::Conflict,
            format!("{} already has an account; use that account, or choose another address", user.email),
        ));
    }
    let user = find_user(transaction, id)?;
    let user = user.ok_or_else(|| Error::Corrupt("the new user is not there".into()))?;
    if user.vouched {
        claim_invitations(transaction, &user, Timestamp::now())?;
    }
    Ok(user)
}

pub(super) fn read_user(row: &Row) -> Result<User, Error> {
    Ok(User {
        id: row.parse(0)?,
        email: row.email(1)?,
        plan: row.parse(2)?,
        monthly_units: row.optional(3, units)?,
        disabled: !row.is_null(4),
        created_at: row.time(5)?,
        name: row.optional(6, Row::parse)?,
        operator: row.integer(7)? == 1,
        vouched: row.integer(8)? == 1,
        invited_by: row.optional(9, Row::parse)?,
        awaits_identity: row.integer(10)? == 1,
        language: row.optional(11, Row::parse)?,
    })
}

/// A number of units, never negative.
pub(super) fn units(row: &Row, column: usize) -> Result<u64, Error> {
    u64::try_from(row.integer(column)?).map_err(|_| Error::Corrupt("negative units".into()))
}
