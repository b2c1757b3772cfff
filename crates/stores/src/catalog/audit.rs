//! The audit log.

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Managing, Operating},
    ids::EntryId,
    seams::catalog::{Audit, AuditPage, Entry, NewEntry},
};

use super::{
    Sql,
    database::Turn,
    sql::{Row, Transaction, Value},
};
use crate::Error;

/// Greater than every identifier: letters sort after digits.
const NEWEST: &str = "log_g";

#[async_trait]
impl Audit for Sql {
    async fn note(&self, entry: NewEntry) -> Result<(), Fault> {
        self.database
            .write_soon(Turn::Beside, move |t| {
                t.execute(
                    "insert into audit (id, at, user_id, who, address, box_id, action, target)
                     values ($1, $2, $3, $4, $5, $6, $7, $8)",
                    &[
                        EntryId::generate().into(),
                        entry.at.into(),
                        entry.user.into(),
                        entry.who.as_str().into(),
                        entry.address.as_str().into(),
                        entry.box_id.into(),
                        entry.action.as_str().into(),
                        entry.target.as_str().into(),
                    ],
                )?;
                Ok(())
            })
            .await
    }

    async fn audit_of_box(
        &self,
        managing: &Managing,
        before: Option<EntryId>,
        limit: u32,
    ) -> Result<AuditPage, Fault> {
        let sql = "select id, at, who, address, box_id, action, target from audit
                   where box_id = $3 and id < $1 order by id desc limit $2";
        let parameters = [older_than(before), one_more(limit), managing.box_id().into()];
        Ok(self.database.scan(move |t| page(t, sql, &parameters, limit)).await?)
    }

    async fn audit_of_all(
        &self,
        _: &Operating,
        before: Option<EntryId>,
        limit: u32,
    ) -> Result<AuditPage, Fault> {
        let sql = "select id, at, who, address, box_id, action, target from audit
                   where id < $1 order by id desc limit $2";
        let parameters = [older_than(before), one_more(limit)];
        Ok(self.database.scan(move |t| page(t, sql, &parameters, limit)).await?)
    }
}

fn older_than(before: Option<EntryId>) -> Value {
    before.map_or_else(|| NEWEST.into(), Into::into)
}

/// One more than asked for tells whether there is more.
fn one_more(limit: u32) -> Value {
    i64::from(limit.saturating_add(1)).into()
}

fn page(
    transaction: &Transaction<'_>,
    sql: &str,
    parameters: &[Value],
    limit: u32,
) -> Result<AuditPage, Error> {
    let rows = transaction.all(sql, parameters)?;
    let mut entries: Vec<Entry> = rows.iter().map(read).collect::<Result<_, Error>>()?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    Ok(AuditPage { entries, more })
}

fn read(row: &Row) -> Result<Entry, Error> {
    Ok(Entry {
        id: row.parse(0)?,
        at: row.time(1)?,
        who: row.text(2)?.to_string(),
        address: row.text(3)?.to_string(),
        box_id: row.optional(4, |row, column| row.parse(column))?,
        action: row.parse(5)?,
        target: row.text(6)?.to_string(),
    })
}
