//! Files that expire, and old lines of the audit log.

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Managing, Writing},
    ids::FileId,
    seams::catalog::Retention,
};
use jiff::Timestamp;

use super::{
    Sql,
    boxes::must_exist,
    sql::{Row, Value},
};
use crate::Error;

/// By their own time, then by that of their box. Files of a box are looked for by the time of their creation, which has an
/// index; of those that old, some have newer bytes.
const EXPIRED: &str = "select f.box_id, f.id from files f join boxes b on b.id = f.box_id
    where f.expires_at <= $1 and f.status <> 'deleting' and b.deleting_at is null
    union select f.box_id, f.id from boxes b join files f on f.box_id = b.id
    where b.retention_days is not null and b.deleting_at is null and f.status <> 'deleting'
    and f.created_at <= $1 - b.retention_days * 86400000
    and coalesce(f.uploaded_at, f.created_at) <= $1 - b.retention_days * 86400000 limit $2";

#[async_trait]
impl Retention for Sql {
    async fn expired_files(&self, now: Timestamp, limit: u32) -> Result<Vec<(Writing, FileId)>, Fault> {
        let parameters = [now.into(), i64::from(limit).into()];
        let read = |row: &Row| Ok::<_, Error>((Writing::for_operator(row.parse(0)?), row.parse(1)?));
        Ok(self.database.read(|t| t.all(EXPIRED, &parameters)?.iter().map(read).collect())?)
    }

    async fn set_retention(&self, managing: &Managing, days: Option<u32>) -> Result<(), Fault> {
        let box_id = managing.box_id();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                let sql = "update boxes set retention_days = $1 where id = $2";
                t.execute(sql, &[days.map(i64::from).into(), box_id.into()])?;
                Ok(())
            })
            .await
    }

    async fn forget_audit(&self, before: Timestamp) -> Result<u64, Fault> {
        // Lines are numbered as they come. Most of the time the first is young enough, and that should delay nobody.
        let oldest = self.database.read(|t| t.first("select at from audit order by id limit 1", &[]))?;
        let oldest = oldest.map(|row| row.time(0)).transpose()?;
        if oldest.is_none_or(|oldest| oldest >= before) {
            return Ok(0);
        }
        let sql = "delete from audit where at < $1";
        let parameters: [Value; 1] = [before.into()];
        self.database.write_and_wipe(move |t| Ok(t.execute(sql, &parameters)? as u64)).await
    }
}
