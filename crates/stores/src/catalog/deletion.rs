//! Files and boxes that are being deleted.

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Owning, Writing},
    ids::{BoxId, FileId},
    seams::catalog::{Deletion, Deletions, EventKind},
};
use jiff::Timestamp;

use super::{
    Sql,
    attempts::forget_answers,
    boxes::must_exist,
    conversations::forget_answers_citing,
    files::{SELECT, find, read, tell},
    keys::bump_access_version,
    sql::{Row, Transaction},
};
use crate::Error;

/// The originals of files that stay, of versions of them that are in progress, and of uploads that are in no box.
const WANTED: &str = "select sha256 from files where status <> 'deleting'
    union select next_sha256 from files where next_sha256 is not null and status <> 'deleting'
    union select sha256 from uploads";

#[async_trait]
impl Deletions for Sql {
    async fn begin_delete(&self, writing: &Writing, file: FileId) -> Result<Option<Deletion>, Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let Some(record) = find(t, box_id, file)? else { return Ok(None) };
                // Its owner's name for it is free again at once; its job has nothing left to do.
                let sql = "update files set status = 'deleting', external_id = null where id = $1";
                t.execute(sql, &[file.into()])?;
                t.execute("delete from jobs where file_id = $1", &[file.into()])?;
                forget_answers(t, box_id)?;
                forget_answers_citing(t, file)?;
                let originals = originals(t, file)?;
                let last_of_box = last_of_box(t, box_id, &originals)?;
                Ok(Some(Deletion { originals, last_of_box, file: record }))
            })
            .await
    }

    async fn finish_delete(&self, writing: &Writing, file: FileId) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database
            .write_and_wipe(move |t| {
                let going = format!("{SELECT} where f.id = $1 and f.box_id = $2 and f.status = 'deleting'");
                if let Some(row) = t.first(&going, &[file.into(), box_id.into()])? {
                    tell(t, EventKind::FileDeleted, &read(t, &row)?)?;
                }
                let sql = "delete from files where id = $1 and box_id = $2 and status = 'deleting'";
                t.execute(sql, &[file.into(), box_id.into()])?;
                Ok(())
            })
            .await
    }

    async fn half_deleted(&self) -> Result<Vec<Deletion>, Fault> {
        let sql = format!(
            "{SELECT} join boxes b on b.id = f.box_id where f.status = 'deleting' and b.deleting_at is null"
        );
        let found = self.database.read(|t| {
            let rows = t.all(&sql, &[])?;
            let deletion = |row: &Row| {
                let file = read(t, row)?;
                Ok(Deletion { originals: originals(t, file.id)?, last_of_box: 0, file })
            };
            rows.iter().map(deletion).collect::<Result<_, Error>>()
        });
        Ok(found?)
    }

    async fn begin_delete_box(&self, owning: &Owning) -> Result<(), Fault> {
        let box_id = owning.box_id();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                // While it is known who its members are.
                forget_answers(t, box_id)?;
                let sql = "update boxes set deleting_at = $1 where id = $2";
                t.execute(sql, &[Timestamp::now().into(), box_id.into()])?;
                let sql = "update files set status = 'deleting', external_id = null where box_id = $1";
                t.execute(sql, &[box_id.into()])?;
                for table in [
                    "jobs",
                    "memberships",
                    "key_boxes",
                    "one_time_links",
                    "reindexes",
                    "recent_queries",
                    "conversations",
                ] {
                    t.execute(&format!("delete from {table} where box_id = $1"), &[box_id.into()])?;
                }
                bump_access_version(t)
            })
            .await
    }

    async fn finish_delete_box(&self, writing: &Writing) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database
            .write_and_wipe(move |t| {
                let sql =
                    "delete from boxes where id = $1 and deleting_at is not null and arriving_until is null";
                t.execute(sql, &[box_id.into()])?;
                Ok(())
            })
            .await
    }

    async fn half_deleted_boxes(&self) -> Result<Vec<BoxId>, Fault> {
        let sql = "select id from boxes where deleting_at is not null and arriving_until is null order by id";
        Ok(self.database.read(|t| t.all(sql, &[])?.iter().map(|row| row.parse(0)).collect())?)
    }

    async fn box_stays(&self, box_id: BoxId) -> Result<bool, Fault> {
        let sql = "select 1 from boxes where id = $1 and deleting_at is null";
        Ok(self.database.read(|t| t.first(sql, &[box_id.into()]))?.is_some())
    }

    async fn original_is_wanted(&self, sha256: &str) -> Result<bool, Fault> {
        let sql = "select 1 from files where sha256 = $1 and status <> 'deleting'
                   union all select 1 from files where next_sha256 = $1 and status <> 'deleting'
                   union all select 1 from uploads where sha256 = $1 limit 1";
        Ok(self.database.read(|t| t.first(sql, &[sha256.into()]))?.is_some())
    }

    async fn originals_of_box(&self, writing: &Writing) -> Result<Vec<String>, Fault> {
        let sql = "select sha256 from files where box_id = $1
                   union select next_sha256 from files where box_id = $1 and next_sha256 is not null";
        let parameters = [writing.box_id().into()];
        Ok(self.database.read(|t| t.all(sql, &parameters)?.iter().map(text).collect::<Result<_, Error>>())?)
    }

    async fn wanted_originals(&self) -> Result<Vec<String>, Fault> {
        Ok(self.database.read(|t| t.all(WANTED, &[])?.iter().map(text).collect::<Result<_, Error>>())?)
    }
}

fn text(row: &Row) -> Result<String, Error> {
    Ok(row.text(0)?.to_string())
}

/// The originals of a file: the one in place, and that of a version in progress.
fn originals(transaction: &Transaction<'_>, file: FileId) -> Result<Vec<String>, Error> {
    let sql = "select sha256 from files where id = $1
               union select next_sha256 from files where id = $1 and next_sha256 is not null";
    transaction.all(sql, &[file.into()])?.iter().map(text).collect()
}

/// How many of these no file of the box uses any more.
fn last_of_box(transaction: &Transaction<'_>, box_id: BoxId, originals: &[String]) -> Result<u64, Error> {
    let sql = "select 1 from files where box_id = $1 and (sha256 = $2 or next_sha256 = $2)
               and status <> 'deleting' limit 1";
    let mut last = 0;
    for sha256 in originals {
        let another = transaction.first(sql, &[box_id.into(), sha256.as_str().into()])?;
        last += u64::from(another.is_none());
    }
    Ok(last)
}
