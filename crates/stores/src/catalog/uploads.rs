//! Uploads that are in no box yet, batches of files, and notes on boxes.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Managing, Reading, Uploading, Writing},
    bounds::Bound,
    ids::{BatchId, UploadId},
    seams::catalog::{Batch, FileRecord, Metadata, Upload, UploadQuery, Uploads},
};
use jiff::Timestamp;

use super::{
    Sql, bounds,
    boxes::must_exist,
    files::{self, as_json},
    sql::{Row, Transaction, Value},
    users::units,
};
use crate::Error;

/// Uploads of one user that wait for a box.
const MOST_UPLOADS: u64 = 10_000;
/// Batches that are remembered of each box; the oldest is forgotten first.
const MOST_BATCHES: i64 = 1_000;

const SELECT: &str =
    "select id, user_id, name, purpose, sha256, size, media_type, created_at, expires_at, key_prefix
     from uploads";

#[async_trait]
impl Uploads for Sql {
    async fn add_upload(&self, upload: Upload) -> Result<(), Fault> {
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                t.execute(
                    "insert into uploads (id, user_id, name, purpose, sha256, size, media_type, created_at, expires_at,
                     key_prefix) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                    &[
                        upload.id.into(),
                        upload.user.into(),
                        upload.name.as_str().into(),
                        upload.purpose.as_str().into(),
                        upload.sha256.as_str().into(),
                        i64::try_from(upload.size).unwrap_or(i64::MAX).into(),
                        upload.media_type.as_str().into(),
                        upload.created_at.into(),
                        upload.expires_at.into(),
                        upload.key.as_str().into(),
                    ],
                )?;
                let row = t.first("select count(*) from uploads where user_id = $1", &[upload.user.into()])?;
                if row.map_or(Ok(0), |row| units(&row, 0))? > MOST_UPLOADS {
                    let cause = format!("there can be at most {MOST_UPLOADS} uploads that are not in a box");
                    return Err(Fault::new(Reason::QuotaExceeded, cause).hint("delete some, or add them to a box"));
                }
                bounds::check_user(t, &limits, upload.user, &[Bound::StorageGb])
            })
            .await
    }

    async fn upload(&self, uploading: &Uploading, id: UploadId) -> Result<Option<Upload>, Fault> {
        let sql = format!(
            "{SELECT} where id = $1 and user_id = $2 and expires_at > $3 and ($4 = '' or key_prefix = $4)"
        );
        let (user, key) = whose(uploading);
        let parameters = [id.into(), user, Timestamp::now().into(), key];
        let row = self.database.read(|t| t.first(&sql, &parameters))?;
        Ok(row.map(|row| read(&row)).transpose()?)
    }

    async fn uploads(&self, uploading: &Uploading, query: UploadQuery) -> Result<Vec<Upload>, Fault> {
        let (beyond, order) = if query.descending { ("<", "desc") } else { (">", "asc") };
        let sql = format!(
            "{SELECT} where user_id = $1 and expires_at > $2 and ($3 = '' or id {beyond} $3) and ($4 = '' or purpose = $4)
             and ($6 = '' or key_prefix = $6) order by id {order} limit $5"
        );
        let after = query.after.map(|id| id.to_string()).unwrap_or_default();
        let purpose = query.purpose.unwrap_or_default();
        let limit = i64::from(query.limit);
        let (user, key) = whose(uploading);
        let parameters = [user, Timestamp::now().into(), after.into(), purpose.into(), limit.into(), key];
        Ok(self
            .database
            .read(|t| t.all(&sql, &parameters)?.iter().map(read).collect::<Result<_, Error>>())?)
    }

    async fn remove_upload(&self, uploading: &Uploading, id: UploadId) -> Result<Option<String>, Fault> {
        let (user, key) = whose(uploading);
        self.database
            .write_and_wipe(move |t| {
                let sql = "select sha256 from uploads where id = $1 and user_id = $2
                           and ($3 = '' or key_prefix = $3)";
                let Some(row) = t.first(sql, &[id.into(), user, key])? else { return Ok(None) };
                t.execute("delete from uploads where id = $1", &[id.into()])?;
                Ok(Some(row.text(0)?.to_string()))
            })
            .await
    }

    async fn remove_expired_uploads(&self, now: Timestamp) -> Result<Vec<String>, Fault> {
        let sql = "select sha256 from uploads where expires_at <= $1";
        // Most of the time there is none, and finding that out should not wait for the disk.
        if self.database.read(|t| t.first(sql, &[now.into()]))?.is_none() {
            return Ok(Vec::new());
        }
        self.database
            .write_and_wipe(move |t| {
                let rows = t.all(sql, &[now.into()])?;
                t.execute("delete from uploads where expires_at <= $1", &[now.into()])?;
                let originals = rows.iter().map(|row| Ok(row.text(0)?.to_string()));
                Ok(originals.collect::<Result<_, Error>>()?)
            })
            .await
    }

    async fn files_named(
        &self,
        reading: &Reading,
        external_ids: &[String],
    ) -> Result<Vec<Option<FileRecord>>, Fault> {
        let sql = format!(
            "{} where f.box_id = $1 and f.external_id = $2 and f.status <> 'deleting'",
            files::SELECT
        );
        let one = |t: &Transaction<'_>, name: &String| {
            let row = t.first(&sql, &[reading.box_id().into(), name.as_str().into()])?;
            row.map(|row| files::read(t, &row)).transpose()
        };
        Ok(self.database.read(|t| external_ids.iter().map(|name| one(t, name)).collect())?)
    }

    async fn add_batch(&self, writing: &Writing, files: Vec<String>) -> Result<Batch, Fault> {
        let created_at = Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap_or_default();
        let (id, box_id) = (BatchId::generate(), writing.box_id());
        let batch = Batch { id, box_id, files, created_at, cancelled: false };
        let added = batch.clone();
        self.database
            .write(move |t| {
                must_exist(t, batch.box_id)?;
                t.execute(
                    "insert into batches (id, box_id, files, created_at) values ($1, $2, $3, $4)",
                    &[
                        batch.id.into(),
                        batch.box_id.into(),
                        as_json(&batch.files).into(),
                        batch.created_at.into(),
                    ],
                )?;
                let sql = "delete from batches where box_id = $1 and id not in
                           (select id from batches where box_id = $1 order by id desc limit $2)";
                t.execute(sql, &[batch.box_id.into(), MOST_BATCHES.into()])?;
                Ok(())
            })
            .await?;
        Ok(added)
    }

    async fn batch(&self, reading: &Reading, id: BatchId) -> Result<Option<Batch>, Fault> {
        let sql =
            "select id, box_id, files, created_at, cancelled from batches where id = $1 and box_id = $2";
        let parameters = [id.into(), reading.box_id().into()];
        let row = self.database.read(|t| t.first(sql, &parameters))?;
        Ok(row.map(|row| read_batch(&row)).transpose()?)
    }

    async fn cancel_batch(&self, writing: &Writing, id: BatchId) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let sql = "update batches set cancelled = 1 where id = $1 and box_id = $2";
                t.execute(sql, &[id.into(), box_id.into()])?;
                Ok(())
            })
            .await
    }

    async fn notes(&self, readings: &[Reading]) -> Result<Vec<Metadata>, Fault> {
        let one = |t: &Transaction<'_>, reading: &Reading| {
            let sql = "select notes from box_notes where box_id = $1";
            let Some(row) = t.first(sql, &[reading.box_id().into()])? else { return Ok(Metadata::new()) };
            serde_json::from_str(row.text(0)?).map_err(|wrong| Error::Corrupt(format!("notes: {wrong}")))
        };
        Ok(self.database.read(|t| readings.iter().map(|reading| one(t, reading)).collect())?)
    }

    async fn set_notes(&self, managing: &Managing, notes: Metadata) -> Result<(), Fault> {
        let box_id = managing.box_id();
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                let json = as_json(&notes);
                bounds::check_labels(&limits, Bound::MetadataKb, 0, json.len())?;
                let sql = "insert into box_notes (box_id, notes) values ($1, $2)
                           on conflict (box_id) do update set notes = excluded.notes";
                t.execute(sql, &[box_id.into(), json.into()])?;
                Ok(())
            })
            .await
    }
}

/// The account, and the key that is asked for; no key is all of them.
fn whose(uploading: &Uploading) -> (Value, Value) {
    (uploading.user().into(), uploading.only_of().unwrap_or_default().into())
}

fn read(row: &Row) -> Result<Upload, Error> {
    let text = |column: usize| row.text(column).map(str::to_string);
    Ok(Upload {
        id: row.parse(0)?,
        user: row.parse(1)?,
        name: row.parse(2)?,
        purpose: text(3)?,
        sha256: text(4)?,
        size: u64::try_from(row.integer(5)?).unwrap_or(0),
        media_type: text(6)?,
        created_at: row.time(7)?,
        expires_at: row.time(8)?,
        key: text(9)?,
    })
}

fn read_batch(row: &Row) -> Result<Batch, Error> {
    let files = serde_json::from_str(row.text(2)?);
    Ok(Batch {
        id: row.parse(0)?,
        box_id: row.parse(1)?,
        files: files.map_err(|wrong| Error::Corrupt(format!("a batch: {wrong}")))?,
        created_at: row.time(3)?,
        cancelled: row.integer(4)? == 1,
    })
}
