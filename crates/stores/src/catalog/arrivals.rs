//! Boxes that are being brought in. Such a box is marked as being deleted, with a time until when it is not to be: so
//! everything that leaves out boxes on their way out leaves out this one too, and one that is abandoned goes the same way.

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Reading, Role, Writing, no_such_box},
    bounds::{Bound, Bounds},
    ids::{BoxId, FileId, UserId},
    seams::catalog::{
        Arrivals, ArrivingFile, BoxRecord, BoxSettings, Boxes as _, MOST_DAYS, NewArrival, WaitingVersion,
    },
};
use jiff::Timestamp;

use super::{
    Sql, bounds,
    boxes::set_role,
    files::{as_json, check_labels, set_tags},
    keys::bump_access_version,
    sql::{Row, Transaction, Value},
    versions::enqueue,
};
use crate::Error;

#[async_trait]
impl Arrivals for Sql {
    async fn settings_of(&self, reading: &Reading) -> Result<BoxSettings, Fault> {
        let record = self.boxes_of(&[*reading]).await?.pop().ok_or_else(no_such_box)?;
        Ok(BoxSettings { retention_days: record.retention_days, language: record.language })
    }

    async fn waiting_version(
        &self,
        writing: &Writing,
        file: FileId,
    ) -> Result<Option<WaitingVersion>, Fault> {
        let sql = "select next_sha256, coalesce(next_size, size), coalesce(next_name, name) from files
                   where id = $1 and box_id = $2 and next_sha256 is not null and status <> 'deleting'";
        let read = |row: Row| {
            let size = u64::try_from(row.integer(1)?).unwrap_or(0);
            Ok::<_, Error>(WaitingVersion { sha256: row.text(0)?.to_string(), size, name: row.parse(2)? })
        };
        let row = self.database.read(|t| t.first(sql, &[file.into(), writing.box_id().into()]))?;
        Ok(row.map(read).transpose()?)
    }

    async fn begin_arrival(&self, arrival: NewArrival, patience: Duration) -> Result<BoxRecord, Fault> {
        let limits = self.bounds.clone();
        self.database.write(move |t| begin(t, &limits, arrival, patience)).await
    }

    async fn add_arriving(
        &self,
        writing: &Writing,
        file: ArrivingFile,
        patience: Duration,
    ) -> Result<FileId, Fault> {
        let box_id = writing.box_id();
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                go_on(t, box_id, patience)?;
                check_labels(&limits, None, Some(&file.metadata), Some(&file.tags))?;
                insert(t, box_id, &file)
            })
            .await
    }

    async fn finish_arrival(&self, writing: &Writing, owner: UserId) -> Result<(), Fault> {
        let box_id = writing.box_id();
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                let sql = "update boxes set deleting_at = null, arriving_until = null
                           where id = $1 and arriving_until is not null";
                if t.execute(sql, &[box_id.into()])? == 0 {
                    return Err(gone());
                }
                set_role(t, box_id, owner, Role::Owner)?;
                bounds::check_user(t, &limits, owner, &[Bound::Boxes, Bound::StorageGb])?;
                bounds::check_box(t, &limits, box_id, Bound::Files)?;
                let now = Timestamp::now();
                for row in
                    t.all("select id from files where box_id = $1 and status = 'queued'", &[box_id.into()])?
                {
                    enqueue(t, box_id, row.parse(0)?, now)?;
                }
                bump_access_version(t)
            })
            .await
    }

    async fn give_up_arrival(&self, writing: &Writing) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database.write(move |t| give_up(t, box_id)).await
    }

    async fn give_up_abandoned_arrivals(&self) -> Result<(), Fault> {
        let sql = "select id from boxes where deleting_at is not null and arriving_until <= $1";
        // Most of the time there is none, and finding that out should not wait for the disk.
        if self.database.read(|t| t.first(sql, &[t.now()?.into()]))?.is_none() {
            return Ok(());
        }
        self.database
            .write(move |t| {
                for row in t.all(sql, &[t.now()?.into()])? {
                    give_up(t, row.parse(0)?)?;
                }
                Ok(())
            })
            .await
    }
}

fn begin(
    transaction: &Transaction<'_>,
    limits: &Bounds,
    arrival: NewArrival,
    patience: Duration,
) -> Result<BoxRecord, Fault> {
    let known = transaction.first("select 1 from boxes where id = $1", &[arrival.id.into()])?;
    let id = if known.is_some() { BoxId::generate() } else { arrival.id };
    let now = Timestamp::now();
    let retention_days = arrival.settings.retention_days.map(|days| days.clamp(1, MOST_DAYS));
    let language = arrival.settings.language;
    transaction.execute(
        "insert into boxes (id, name, created_at, retention_days, language, deleting_at, arriving_until)
         values ($1, $2, $3, $4, $5, $6, $7)",
        &[
            id.into(),
            arrival.name.as_str().into(),
            arrival.created_at.into(),
            retention_days.map(i64::from).into(),
            language.as_str().into(),
            now.into(),
            lasting(transaction, patience)?,
        ],
    )?;
    if !arrival.notes.is_empty() {
        let json = as_json(&arrival.notes);
        bounds::check_labels(limits, Bound::MetadataKb, 0, json.len())?;
        let sql = "insert into box_notes (box_id, notes) values ($1, $2)";
        transaction.execute(sql, &[id.into(), json.into()])?;
    }
    let (name, created_at) = (arrival.name, arrival.created_at);
    Ok(BoxRecord { id, name, created_at, retention_days, language, changed_over_at: None })
}

/// A time so far from now, by the clock that all nodes share.
fn lasting(transaction: &Transaction<'_>, patience: Duration) -> Result<Value, Error> {
    let until = transaction.now()?.as_millisecond().saturating_add(patience.as_millis() as i64);
    Ok(Value::Integer(until))
}

/// Notes that somebody is at work on the box.
fn go_on(transaction: &Transaction<'_>, box_id: BoxId, patience: Duration) -> Result<(), Fault> {
    let sql = "update boxes set arriving_until = $1 where id = $2 and arriving_until is not null";
    match transaction.execute(sql, &[lasting(transaction, patience)?, box_id.into()])? {
        0 => Err(gone()),
        _ => Ok(()),
    }
}

fn gone() -> Fault {
    Fault::new(Reason::Conflict, "the import seemed abandoned, so what it had brought in was removed")
        .hint("start it again")
}

fn insert(transaction: &Transaction<'_>, box_id: BoxId, file: &ArrivingFile) -> Result<FileId, Fault> {
    if let Some(external_id) = &file.external_id {
        let sql = "select 1 from files where box_id = $1 and external_id = $2";
        if transaction.first(sql, &[box_id.into(), external_id.as_str().into()])?.is_some() {
            let cause = format!("two files in the bundle have the external id `{external_id}`");
            return Err(Fault::new(Reason::InvalidParameter, cause));
        }
    }
    let known = transaction.first("select 1 from files where id = $1", &[file.id.into()])?;
    let id = if known.is_some() { FileId::generate() } else { file.id };
    let pages = Value::from(i64::from(file.extent.pages));
    transaction.execute(
        "insert into files (id, box_id, name, external_id, sha256, size, media_type, status, progress_done,
         progress_total, error, warnings, language, metadata, pages, characters, chunks, created_at, updated_at, indexed_at,
         expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $9, $15, $16, $17, $18, $19, $20)",
        &[
            id.into(),
            box_id.into(),
            file.name.as_str().into(),
            file.external_id.clone().into(),
            file.sha256.as_str().into(),
            i64::try_from(file.size).unwrap_or(i64::MAX).into(),
            file.media_type.as_str().into(),
            file.status.as_str().into(),
            pages.clone(),
            file.indexed_at.map_or(Value::Null, |_| pages),
            file.error.clone().into(),
            as_json(&file.warnings).into(),
            file.language.clone().into(),
            as_json(&file.metadata).into(),
            i64::try_from(file.extent.characters).unwrap_or(i64::MAX).into(),
            i64::from(file.extent.chunks).into(),
            file.created_at.into(),
            file.updated_at.into(),
            file.indexed_at.into(),
            file.expires_at.into(),
        ],
    )?;
    set_tags(transaction, id, Some(&file.tags))?;
    Ok(id)
}

/// From now on the box is one that is being deleted, and so are its files.
fn give_up(transaction: &Transaction<'_>, box_id: BoxId) -> Result<(), Fault> {
    let sql = "update boxes set arriving_until = null where id = $1 and arriving_until is not null";
    if transaction.execute(sql, &[box_id.into()])? > 0 {
        let sql = "update files set status = 'deleting', external_id = null where box_id = $1";
        transaction.execute(sql, &[box_id.into()])?;
    }
    Ok(())
}
