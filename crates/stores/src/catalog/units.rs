//! The ledger of intelligence units.

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault,
    ids::{AttemptId, ReservationId, UserId},
    seams::catalog::{Account, Balance, Month, NewReservation, Reservation, Units, UsageLine},
};
use jiff::{Timestamp, tz::TimeZone};

use super::{
    Sql,
    database::Turn,
    sql::{Row, Transaction, Value},
    users::units,
};
use crate::Error;

/// How long a charge can be looked up once it is made: longer than anybody tries.
const LOOKED_UP_FOR: Duration = Duration::from_secs(60);

#[async_trait]
impl Units for Sql {
    async fn reserve_units(&self, new: NewReservation) -> Result<Reservation, Fault> {
        let (node, id) = (self.nodes.id.clone(), ReservationId::generate());
        self.database
            .write_again(turn(new.account.user), true, move |t, again| {
                let held = "select 1 from unit_reservations where id = $1";
                if again && t.first(held, &[id.into()])?.is_some() {
                    return Ok(reservation(id, &new));
                }
                reserve(t, id, &new, node.clone())
            })
            .await
    }

    async fn settle_units(&self, reservation: &Reservation, actual: u64) -> Result<Balance, Fault> {
        let Reservation { id, account, month, most } = *reservation;
        let actual = actual.min(most);
        // Outlives the process; only a power cut can take it back, and then nobody is charged too much.
        let settled = self.database.write_again(turn(account.user), true, move |t, again| {
            match settle(t, id, actual, again)? {
                true => Ok(Some(balance(t, account, month)?)),
                false => Ok(None),
            }
        });
        settled.await?.ok_or_else(|| Error::Away(format!("the reservation {id} is gone")).into())
    }

    async fn release_units(&self, reservation: &Reservation) -> Result<(), Fault> {
        let id = reservation.id;
        self.database
            .write_again(Turn::Beside, true, move |t, _| {
                t.execute("delete from unit_reservations where id = $1 and settled = 0", &[id.into()])?;
                Ok(())
            })
            .await
    }

    async fn release_abandoned_units(&self, until: Timestamp) -> Result<u64, Fault> {
        self.database
            .write(move |t| {
                let sql = "delete from unit_reservations where expires_at <= $1";
                Ok(t.execute(sql, &[until.into()])? as u64)
            })
            .await
    }

    async fn balance(&self, account: Account, month: Month) -> Result<Balance, Fault> {
        Ok(self.database.read(|t| balance(t, account, month))?)
    }

    async fn usage(&self, user: UserId, month: Month) -> Result<Vec<UsageLine>, Fault> {
        let lines = self.database.scan(move |t| {
            // Days sort as texts, and no month has a day after its 31st.
            let (first, last) = (format!("{month}-01"), format!("{month}-31"));
            let sql = "select d.day, d.key_prefix, coalesce(k.name, ''), d.operation, d.calls, d.units
                       from unit_days d left join keys k on k.prefix = d.key_prefix
                       where d.user_id = $1 and d.day >= $2 and d.day <= $3
                       order by d.day, d.key_prefix, d.operation";
            t.all(sql, &[user.into(), first.into(), last.into()])?.iter().map(read_line).collect()
        });
        Ok(lines.await?)
    }
}

/// What is reserved and charged for one user takes turns; users do not wait for each other.
fn turn(user: UserId) -> Turn {
    Turn::Of(user.to_string())
}

fn reservation(id: ReservationId, new: &NewReservation) -> Reservation {
    Reservation { id, account: new.account, month: Month::of(new.now), most: new.most }
}

fn reserve(
    transaction: &Transaction<'_>,
    id: ReservationId,
    new: &NewReservation,
    node: String,
) -> Result<Reservation, Fault> {
    let (Account { user, .. }, month) = (new.account, Month::of(new.now));
    let balance = balance(transaction, new.account, month)?;
    if new.most > balance.free() {
        return Err(balance.too_little(new.most, new.now));
    }
    transaction.execute(
        "insert into unit_reservations
         (id, user_id, month, day, key_prefix, operation, units, settled, attempt_id, expires_at, node)
         values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10)",
        &[
            id.into(),
            user.into(),
            month.to_string().into(),
            new.now.to_zoned(TimeZone::UTC).date().to_string().into(),
            new.key.as_str().into(),
            new.operation.as_str().into(),
            number(new.most),
            new.attempt.into(),
            new.expires_at.into(),
            node.into(),
        ],
    )?;
    Ok(reservation(id, new))
}

/// Charges at once, or, within an attempt, leaves that to the attempt's end. `false` where the reservation is gone: it was
/// given back while its node was not heard of, or lost with the server it was on. Nothing is charged then, and the call
/// may be made again.
fn settle(transaction: &Transaction<'_>, id: ReservationId, actual: u64, again: bool) -> Result<bool, Fault> {
    let sql = "select settled from unit_reservations where id = $1";
    match transaction.first(sql, &[id.into()])?.map(|row| row.integer(0)).transpose()? {
        None => return Ok(false),
        Some(0) => {}
        Some(_) if again => return Ok(true),
        Some(_) => return Err(Fault::internal(format!("the reservation {id} has ended already"))),
    }
    let sql = "update unit_reservations set units = $1, settled = 1 where id = $2";
    transaction.execute(sql, &[number(actual), id.into()])?;
    let sql = "select 1 from unit_reservations r join attempts a on a.id = r.attempt_id
               where r.id = $1 and a.status is null";
    if transaction.first(sql, &[id.into()])?.is_none() {
        charge(transaction, "id", id.into())?;
    }
    Ok(true)
}

/// Charges what was settled within an attempt.
pub(super) fn charge_attempt(transaction: &Transaction<'_>, attempt: AttemptId) -> Result<(), Error> {
    charge(transaction, "attempt_id", attempt.into())
}

/// Moves settled reservations, named by one of their columns, to the account and the report.
fn charge(transaction: &Transaction<'_>, column: &str, value: Value) -> Result<(), Error> {
    let sql = format!(
        "select user_id, month, day, key_prefix, operation, units from unit_reservations
         where {column} = $1 and settled = 1"
    );
    for row in transaction.all(&sql, std::slice::from_ref(&value))? {
        let (user, charged) = (row.parse(0)?, row.integer(5)?);
        if charged > 0 {
            charge_month(transaction, user, row.text(1)?, charged)?;
            charge_day(transaction, user, &row, charged)?;
        }
    }
    // It stays for a while, for a caller that does not learn of this commit.
    let sql = format!(
        "update unit_reservations set settled = 2, expires_at = $2 where {column} = $1 and settled = 1"
    );
    let until = Timestamp::now().saturating_add(LOOKED_UP_FOR).unwrap_or(Timestamp::MAX);
    transaction.execute(&sql, &[value, until.into()])?;
    Ok(())
}

fn charge_month(transaction: &Transaction<'_>, user: UserId, month: &str, charged: i64) -> Result<(), Error> {
    transaction.execute(
        "insert into unit_months (user_id, month, used) values ($1, $2, $3)
         on conflict (user_id, month) do update set used = unit_months.used + excluded.used",
        &[user.into(), month.into(), charged.into()],
    )?;
    Ok(())
}

fn charge_day(transaction: &Transaction<'_>, user: UserId, row: &Row, charged: i64) -> Result<(), Error> {
    transaction.execute(
        "insert into unit_days (user_id, day, key_prefix, operation, calls, units) values ($1, $2, $3, $4, 1, $5)
         on conflict (user_id, day, key_prefix, operation)
         do update set calls = unit_days.calls + 1, units = unit_days.units + excluded.units",
        &[user.into(), row.text(2)?.into(), row.text(3)?.into(), row.text(4)?.into(), charged.into()],
    )?;
    Ok(())
}

fn balance(transaction: &Transaction<'_>, account: Account, month: Month) -> Result<Balance, Error> {
    let sql = "select coalesce(u.monthly_units, p.monthly_units),
               coalesce((select m.used from unit_months m where m.user_id = u.id and m.month = $1), 0),
               cast(coalesce(sum(case r.settled when 1 then r.units end), 0) as bigint),
               cast(coalesce(sum(case r.settled when 0 then r.units end), 0) as bigint)
               from users u join plans p on p.name = u.plan
               left join unit_reservations r on r.user_id = u.id and r.month = $1 and r.settled < 2
               where u.id = $2 group by u.id, u.monthly_units, p.monthly_units";
    let row = transaction.first(sql, &[month.to_string().into(), account.user.into()])?;
    let row = row.ok_or_else(|| Error::Corrupt(format!("no account {}", account.user)))?;
    Ok(Balance {
        month,
        monthly: row.optional(0, units)?.unwrap_or(account.unset_monthly),
        used: units(&row, 1)? + units(&row, 2)?,
        held: units(&row, 3)?,
    })
}

fn read_line(row: &Row) -> Result<UsageLine, Error> {
    Ok(UsageLine {
        day: row.text(0)?.to_string(),
        key: row.text(1)?.to_string(),
        key_name: row.text(2)?.to_string(),
        operation: row.parse(3)?,
        calls: units(row, 4)?,
        units: units(row, 5)?,
    })
}

fn number(units: u64) -> Value {
    i64::try_from(units).unwrap_or(i64::MAX).into()
}
