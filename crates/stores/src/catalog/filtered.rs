//! Which files of a box pass a filter, and which date each of them has.

use std::collections::{HashMap, HashSet};

use engine::{
    Fault,
    blocking::Stop,
    ids::{BoxId, FileId},
    seams::catalog::{DateField, FileFields, Filter, Metadata, entry, moment},
};
use jiff::Timestamp;

use super::sql::{Row, Transaction, Value};
use crate::Error;

/// Rows of metadata that are in memory at once: a few megabytes where each is as large as it may be.
const ROWS_AT_ONCE: i64 = 64;

/// The searchable files of a box whose metadata and fields pass a filter; ends early where nobody waits for it any more.
pub(super) fn passing(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    filter: &Filter,
    stop: &Stop,
) -> Result<HashSet<FileId>, Fault> {
    let mut matching = HashSet::new();
    let asks_for_fields = filter.asks_for_fields();
    each(transaction, box_id, stop, |row| {
        let mut metadata = metadata(row)?;
        if asks_for_fields {
            metadata = fields(transaction, row)?.beside(metadata);
        }
        if filter.matches(&metadata) {
            matching.insert(row.parse(0)?);
        }
        Ok(())
    })?;
    Ok(matching)
}

/// The dates of the searchable files of a box.
pub(super) fn dates(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    field: &DateField,
    stop: &Stop,
) -> Result<HashMap<FileId, Timestamp>, Fault> {
    let mut dates = HashMap::new();
    each(transaction, box_id, stop, |row| {
        let date = match field {
            DateField::Created => Some(row.time(2)?),
            DateField::Updated => Some(row.time(3)?),
            DateField::Entry(name) => entry(&metadata(row)?, name).and_then(|value| moment(value.as_str()?)),
        };
        dates.extend(date.map(|date| Ok::<_, Error>((row.parse(0)?, date))).transpose()?);
        Ok(())
    })?;
    Ok(dates)
}

/// Visits every searchable file of a box, a few at a time.
fn each(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    stop: &Stop,
    mut visit: impl FnMut(&Row) -> Result<(), Error>,
) -> Result<(), Fault> {
    let sql = "select id, metadata, created_at, updated_at, name, media_type, language from files
               where box_id = $1 and status <> 'deleting' and indexed_at is not null and (created_at, id) > ($2, $3)
               order by created_at, id limit $4";
    let mut after = (Value::from(i64::MIN), Value::from(""));
    loop {
        let (created_at, id) = after.clone();
        let rows = transaction.all(sql, &[box_id.into(), created_at, id, ROWS_AT_ONCE.into()])?;
        for row in &rows {
            stop.check()?;
            visit(row)?;
        }
        match rows.last().filter(|_| rows.len() as i64 == ROWS_AT_ONCE) {
            Some(last) => after = (last.integer(2)?.into(), last.text(0)?.into()),
            None => return Ok(()),
        }
    }
}

fn metadata(row: &Row) -> Result<Metadata, Error> {
    serde_json::from_str(row.text(1)?).map_err(|wrong| Error::Corrupt(format!("metadata: {wrong}")))
}

fn fields(transaction: &Transaction<'_>, row: &Row) -> Result<FileFields, Error> {
    let text = |row: &Row, column: usize| row.text(column).map(str::to_string);
    let sql = "select tag from file_tags where file_id = $1";
    let tags = transaction.all(sql, &[row.text(0)?.into()])?;
    Ok(FileFields {
        tags: tags.iter().map(|row| text(row, 0)).collect::<Result<_, _>>()?,
        name: text(row, 4)?,
        media_type: text(row, 5)?,
        language: row.optional(6, text)?,
        created_at: row.time(2)?,
        updated_at: row.time(3)?,
    })
}

#[cfg(test)]
mod tests {
    use engine::{
        Reason,
        seams::catalog::{Boxes, NewUser, Users},
    };
    use serde_json::json;

    use super::*;
    use crate::catalog::Sql;

    /// A scan that goes on after its client left holds a thread, and keeps the server from ending.
    #[tokio::test]
    async fn a_filter_is_looked_for_only_while_somebody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Sql::open(&folder.path().join("catalog.db")).unwrap();
        let user = NewUser {
            email: "a@example.org".parse().unwrap(),
            password_hash: None,
            plan: Default::default(),
        };
        let user = catalog.add_user(user).await.unwrap();
        let record = catalog.add_box("b".parse().unwrap(), user.id).await.unwrap();
        let insert = format!(
            "with recursive n(i) as (select 0 union all select i + 1 from n where i < 199)
             insert into files (id, box_id, name, sha256, size, media_type, status, progress_done, warnings, metadata,
             pages, characters, chunks, created_at, updated_at, indexed_at)
             select 'fil_' || printf('%032x', i), '{}', 'n', 's', 1, 't', 'ready', 0, '[]',
             '{{\"even\": ' || (1 - i % 2) || '}}', 0, 0, 0, i / 7, 0, 0 from n",
            record.id
        );
        catalog.database.write(move |t| Ok(t.execute(&insert, &[])?)).await.unwrap();
        let filter = Filter::parse(&json!({"even": 1})).unwrap();
        let (box_id, stop) = (record.id, Stop::never());
        let found = catalog.database.read(|t| Ok(passing(t, box_id, &filter, &stop))).unwrap().unwrap();
        assert_eq!(found.len(), 100, "over all parts");
        stop.leave();
        let ended = catalog.database.read(|t| Ok(passing(t, box_id, &filter, &stop))).unwrap();
        assert_eq!(ended.unwrap_err().reason, Reason::Timeout);
    }
}
