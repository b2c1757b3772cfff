//! Sources, and which files came from them.

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Managing, Writing},
    ids::{BoxId, SourceId},
    seams::catalog::{EventKind, NewSource, Source, SourceItem, SourceReport, SourceSettings, Sources},
};
use jiff::Timestamp;

use super::{
    Sql,
    boxes::must_exist,
    sql::{Row, Transaction},
    users::units,
    webhooks::{Event, emit},
};
use crate::Error;

/// Sources of one box.
const MOST: u64 = 20;

const SELECT: &str =
    "select s.id, s.box_id, s.kind, s.settings, s.every_s, s.delete_missing, s.created_at, s.due_at,
    s.may_delete_many, s.taken_until, s.last_at, s.report,
    (select count(*) from source_items i where i.source_id = s.id) from sources s";

#[async_trait]
impl Sources for Sql {
    async fn add_source(&self, managing: &Managing, source: NewSource) -> Result<Source, Fault> {
        let box_id = managing.box_id();
        self.database.write(move |t| add(t, box_id, &source)).await
    }

    async fn sources(&self, managing: &Managing) -> Result<Vec<Source>, Fault> {
        let sql = format!("{SELECT} where s.box_id = $1 order by s.created_at, s.id");
        let found = self.database.read(|t| {
            t.all(&sql, &[managing.box_id().into()])?.iter().map(read).collect::<Result<_, Error>>()
        });
        Ok(found?)
    }

    async fn delete_source(&self, managing: &Managing, source: SourceId) -> Result<bool, Fault> {
        let box_id = managing.box_id();
        let sql = "delete from sources where id = $1 and box_id = $2";
        self.database.write_and_wipe(move |t| Ok(t.execute(sql, &[source.into(), box_id.into()])? > 0)).await
    }

    async fn ask_for_sync(
        &self,
        managing: &Managing,
        source: SourceId,
        may_delete_many: bool,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let box_id = managing.box_id();
        let sql = "update sources set due_at = $1, may_delete_many = $2 where id = $3 and box_id = $4";
        let values = [now.into(), may_delete_many.into(), source.into(), box_id.into()];
        self.database.write(move |t| Ok(t.execute(sql, &values)? > 0)).await
    }

    async fn take_source(&self, now: Timestamp, until: Timestamp) -> Result<Option<Source>, Fault> {
        // One source of an owner at a time, so that nobody's slow servers keep others waiting.
        let due = "select s.id from sources s join boxes b on b.id = s.box_id
                   where ((s.taken_until is null and s.due_at is not null and s.due_at <= $1) or s.taken_until <= $1)
                   and b.deleting_at is null and not exists (
                       select 1 from memberships mine
                       join memberships theirs on theirs.user_id = mine.user_id and theirs.role = 'owner'
                       join sources other on other.box_id = theirs.box_id
                       where mine.box_id = s.box_id and mine.role = 'owner' and other.taken_until > $1)
                   order by s.due_at, s.id limit 1";
        // Most of the time there is none, and finding that out should not wait for the disk.
        if self.database.read(|t| t.first(due, &[now.into()]))?.is_none() {
            return Ok(None);
        }
        self.database
            .write(move |t| {
                let Some(row) = t.first(due, &[now.into()])? else { return Ok(None) };
                let id: SourceId = row.parse(0)?;
                let source = find(t, id)?;
                // Asked for again while it is read, it is read once more. Whoever took it and died is known by the time that is over.
                let sql =
                    "update sources set taken_until = $1, due_at = null, may_delete_many = 0 where id = $2";
                t.execute(sql, &[until.into(), id.into()])?;
                Ok(source)
            })
            .await
    }

    async fn keep_source(&self, source: SourceId, until: Timestamp) -> Result<bool, Fault> {
        let sql = "update sources set taken_until = $1 where id = $2 and exists
                   (select 1 from boxes b where b.id = sources.box_id and b.deleting_at is null)";
        self.database.write(move |t| Ok(t.execute(sql, &[until.into(), source.into()])? > 0)).await
    }

    async fn finish_source(
        &self,
        source: SourceId,
        report: SourceReport,
        now: Timestamp,
    ) -> Result<(), Fault> {
        self.database.write(move |t| finish(t, source, &report, now)).await
    }

    async fn source_items(&self, writing: &Writing, source: SourceId) -> Result<Vec<SourceItem>, Fault> {
        let box_id = writing.box_id();
        let sql = "select i.name, i.file_id, i.version, i.sha256 from source_items i
                   join sources s on s.id = i.source_id where s.id = $1 and s.box_id = $2 order by i.name";
        let read = |row: &Row| {
            Ok(SourceItem {
                name: row.text(0)?.to_string(),
                file: row.parse(1)?,
                version: row.text(2)?.to_string(),
                sha256: row.text(3)?.to_string(),
            })
        };
        let found = self.database.scan(move |t| {
            t.all(sql, &[source.into(), box_id.into()])?.iter().map(read).collect::<Result<Vec<_>, Error>>()
        });
        Ok(found.await?)
    }

    async fn put_source_item(
        &self,
        writing: &Writing,
        source: SourceId,
        item: SourceItem,
    ) -> Result<(), Fault> {
        let box_id = writing.box_id();
        // Nothing is noted of a source or a file that was deleted meanwhile.
        let sql = "insert into source_items (source_id, name, file_id, version, sha256)
                   select s.id, $2, f.id, $4, $5 from sources s, files f
                   where s.id = $1 and s.box_id = $6 and f.id = $3 and f.box_id = $6 and f.status <> 'deleting'
                   on conflict (source_id, name) do update set file_id = excluded.file_id,
                   version = excluded.version, sha256 = excluded.sha256";
        let values = [
            source.into(),
            item.name.into(),
            item.file.into(),
            item.version.into(),
            item.sha256.into(),
            box_id.into(),
        ];
        self.database.write(move |t| Ok(t.execute(sql, &values)?)).await.map(drop)
    }
}

fn add(transaction: &Transaction<'_>, box_id: BoxId, source: &NewSource) -> Result<Source, Fault> {
    must_exist(transaction, box_id)?;
    let row = transaction.first("select count(*) from sources where box_id = $1", &[box_id.into()])?;
    if row.map_or(Ok(0), |row| units(&row, 0))? >= MOST {
        let cause = format!("a box can have at most {MOST} sources; delete one first");
        return Err(Fault::new(Reason::QuotaExceeded, cause));
    }
    let (id, now) = (SourceId::generate(), Timestamp::now());
    let every = source.every.map(|every| i64::try_from(every.as_secs()).unwrap_or(i64::MAX));
    transaction.execute(
        "insert into sources (id, box_id, kind, settings, every_s, delete_missing, created_at, due_at, may_delete_many)
         values ($1, $2, $3, $4, $5, $6, $7, $7, 0)",
        &[
            id.into(),
            box_id.into(),
            source.kind.as_str().into(),
            source.settings.0.as_str().into(),
            every.into(),
            source.delete_missing.into(),
            now.into(),
        ],
    )?;
    Ok(find(transaction, id)?.ok_or_else(|| Error::Corrupt("the new source is not there".into()))?)
}

fn find(transaction: &Transaction<'_>, id: SourceId) -> Result<Option<Source>, Error> {
    let row = transaction.first(&format!("{SELECT} where s.id = $1"), &[id.into()])?;
    row.map(|row| read(&row)).transpose()
}

fn read(row: &Row) -> Result<Source, Error> {
    let report = row.optional(11, |row, column| {
        let wrong = |wrong: serde_json::Error| Error::Corrupt(format!("report of a source: {wrong}"));
        serde_json::from_str(row.text(column)?).map_err(wrong)
    })?;
    Ok(Source {
        id: row.parse(0)?,
        box_id: row.parse(1)?,
        kind: row.parse(2)?,
        settings: SourceSettings(row.text(3)?.to_string()),
        every: row.optional(4, |row, column| units(row, column).map(Duration::from_secs))?,
        delete_missing: row.integer(5)? == 1,
        created_at: row.time(6)?,
        due_at: row.optional(7, Row::time)?,
        may_delete_many: row.integer(8)? == 1,
        running: !row.is_null(9),
        last: row.optional(10, Row::time)?.zip(report),
        files: units(row, 12)?,
    })
}

fn finish(
    transaction: &Transaction<'_>,
    id: SourceId,
    report: &SourceReport,
    now: Timestamp,
) -> Result<(), Fault> {
    // It was deleted meanwhile.
    let Some(source) = find(transaction, id)? else { return Ok(()) };
    let next = source.every.and_then(|every| now.saturating_add(every).ok());
    // Somebody asked for it again while it was read.
    let due = source.due_at.or(next);
    transaction.execute(
        "update sources set taken_until = null, due_at = $1, last_at = $2, report = $3 where id = $4",
        &[due.into(), now.into(), serde_json::to_string(report).map_err(Fault::internal)?.into(), id.into()],
    )?;
    let data = serde_json::json!({
        "boxId": source.box_id, "sourceId": id, "kind": source.kind.as_str(), "added": report.added,
        "changed": report.changed, "removed": report.removed, "unchanged": report.unchanged,
        "heldBack": report.held_back, "failed": report.failed.len(), "error": report.error,
    });
    let subject = id.to_string();
    let kind = EventKind::SourceSynced;
    emit(transaction, &Event { kind, box_id: Some(source.box_id), user: None, subject: &subject, data })?;
    Ok(())
}
