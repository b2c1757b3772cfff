//! Which files of a box pass a filter on their metadata.

use std::collections::HashSet;

use engine::{
    Fault,
    blocking::Stop,
    ids::{BoxId, FileId},
    seams::catalog::Filter,
};

use super::sql::{Transaction, Value};
use crate::Error;

/// Rows of metadata that are in memory at once: a few megabytes where each is as large as it may be.
const ROWS_AT_ONCE: i64 = 64;

/// The searchable files of a box whose metadata pass a filter; ends early where nobody waits for it any more.
pub(super) fn passing(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    filter: &Filter,
    stop: &Stop,
) -> Result<HashSet<FileId>, Fault> {
    let sql = "select id, metadata, created_at from files
               where box_id = $1 and status <> 'deleting' and indexed_at is not null and (created_at, id) > ($2, $3)
               order by created_at, id limit $4";
    let mut matching = HashSet::new();
    let mut after = (Value::from(i64::MIN), Value::from(""));
    loop {
        let (created_at, id) = after.clone();
        let rows = transaction.all(sql, &[box_id.into(), created_at, id, ROWS_AT_ONCE.into()])?;
        for row in &rows {
            stop.check()?;
            let metadata = serde_json::from_str(row.text(1)?);
            let metadata = metadata.map_err(|wrong| Error::Corrupt(format!("metadata: {wrong}")))?;
            if filter.matches(&metadata) {
                matching.insert(row.parse(0)?);
            }
        }
        match rows.last().filter(|_| rows.len() as i64 == ROWS_AT_ONCE) {
            Some(last) => after = (last.integer(2)?.into(), last.text(0)?.into()),
            None => return Ok(matching),
        }
    }
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
