//! Files and their labels.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Reading, Writing},
    bounds::{Bound, Bounds},
    ids::{BoxId, FileId},
    seams::catalog::{
        CursorValue, DateField, EventKind, Extent, FileChanges, FileCursor, FilePage, FileProgress,
        FileQuery, FileRecord, FileStatus, Files, Filter, Metadata, NewFile, SortKey, Uploaded,
    },
};
use jiff::Timestamp;

use super::{
    Sql, bounds, filtered,
    sql::{Row, Transaction, Value},
    versions,
    webhooks::{Event, emit},
};
use crate::{Error, blobs::hexadecimal};

pub(super) const SELECT: &str = "select f.id, f.box_id, f.name, f.external_id, f.sha256, f.size, f.media_type, f.status,
    f.progress_done, f.progress_total, f.error, f.warnings, f.language, f.metadata, f.pages, f.characters, f.chunks,
    f.created_at, f.updated_at, f.indexed_at, f.expires_at from files f";

#[async_trait]
impl Files for Sql {
    async fn add_file(&self, writing: &Writing, file: NewFile) -> Result<Uploaded, Fault> {
        let box_id = writing.box_id();
        let limits = self.bounds.clone();
        self.database.write(move |t| versions::add(t, &limits, box_id, &file)).await
    }

    async fn box_of_file(&self, file: FileId) -> Result<Option<BoxId>, Fault> {
        let sql = "select box_id from files where id = $1 and status <> 'deleting'";
        let row = self.database.read(|t| t.first(sql, &[file.into()]))?;
        Ok(row.map(|row| row.parse(0)).transpose()?)
    }

    async fn files(&self, reading: &Reading, ids: &[FileId]) -> Result<Vec<Option<FileRecord>>, Fault> {
        let found = self.database.read(|t| ids.iter().map(|&id| find(t, reading.box_id(), id)).collect());
        Ok(found?)
    }

    async fn files_where(&self, reading: &Reading, filter: Filter) -> Result<HashSet<FileId>, Fault> {
        let box_id = reading.box_id();
        self.database.scan_until(move |t, stop| Ok(filtered::passing(t, box_id, &filter, stop))).await?
    }

    async fn dates_of_files(
        &self,
        reading: &Reading,
        field: DateField,
    ) -> Result<HashMap<FileId, Timestamp>, Fault> {
        let box_id = reading.box_id();
        self.database.scan_until(move |t, stop| Ok(filtered::dates(t, box_id, &field, stop))).await?
    }

    async fn list_files(&self, readings: &[Reading], query: FileQuery) -> Result<FilePage, Fault> {
        if query.after.as_ref().is_some_and(|cursor| cursor.value.is_text() != (query.sort == SortKey::Name))
        {
            return Err(Fault::invalid(
                "cursor",
                "the cursor belongs to a list with a different `sort`; start again without it",
            ));
        }
        let boxes: Vec<Value> = readings.iter().map(|reading| reading.box_id().into()).collect();
        if boxes.is_empty() {
            return Ok(FilePage { files: Vec::new(), total: 0, next: None });
        }
        Ok(self.database.scan(move |t| list(t, &boxes, &query)).await?)
    }

    async fn change_file(
        &self,
        writing: &Writing,
        file: FileId,
        changes: FileChanges,
    ) -> Result<Option<FileRecord>, Fault> {
        let box_id = writing.box_id();
        let limits = self.bounds.clone();
        self.database.write(move |t| change(t, &limits, box_id, file, &changes)).await
    }

    async fn read_again(&self, writing: &Writing, file: FileId) -> Result<Option<FileRecord>, Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let Some(known) = find(t, box_id, file)? else { return Ok(None) };
                versions::requeue(t, &known, Timestamp::now())?;
                Ok(find(t, box_id, file)?)
            })
            .await
    }

    async fn link_secret(&self) -> Result<Vec<u8>, Fault> {
        let mut fresh = [0; 32];
        rand::Rng::fill(&mut rand::rng(), &mut fresh);
        self.database
            .write(move |t| {
                let sql =
                    "insert into secrets (name, value) values ('links', $1) on conflict (name) do nothing";
                t.execute(sql, &[hexadecimal(&fresh).into()])?;
                let row = t.first("select value from secrets where name = 'links'", &[])?;
                let row = row.ok_or_else(|| Error::Corrupt("the secret is not there".into()))?;
                Ok(row.text(0)?.as_bytes().to_vec())
            })
            .await
    }
}

/// The file with this id in this box, unless it is being deleted.
pub(super) fn find(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    file: FileId,
) -> Result<Option<FileRecord>, Error> {
    let sql = format!("{SELECT} where f.id = $1 and f.box_id = $2 and f.status <> 'deleting'");
    let row = transaction.first(&sql, &[file.into(), box_id.into()])?;
    row.map(|row| read(transaction, &row)).transpose()
}

pub(super) fn must_find(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    file: FileId,
) -> Result<FileRecord, Error> {
    find(transaction, box_id, file)?.ok_or_else(|| Error::Corrupt(format!("{file} has just been there")))
}

pub(super) fn read(transaction: &Transaction<'_>, row: &Row) -> Result<FileRecord, Error> {
    let json = |column: usize| row.text(column).map(str::to_string);
    let wrong = |error: serde_json::Error| Error::Corrupt(error.to_string());
    let number = |column: usize| row.integer(column).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let text = |row: &Row, column: usize| row.text(column).map(str::to_string);
    let id: FileId = row.parse(0)?;
    let tags = transaction.all("select tag from file_tags where file_id = $1 order by tag", &[id.into()])?;
    Ok(FileRecord {
        id,
        box_id: row.parse(1)?,
        name: row.parse(2)?,
        external_id: row.optional(3, text)?,
        sha256: text(row, 4)?,
        size: u64::try_from(row.integer(5)?).unwrap_or(0),
        media_type: text(row, 6)?,
        status: row.parse(7)?,
        progress: FileProgress { done: number(8)?, total: row.optional(9, |_, column| number(column))? },
        error: row.optional(10, text)?,
        warnings: serde_json::from_str(&json(11)?).map_err(wrong)?,
        language: row.optional(12, text)?,
        tags: tags.iter().map(|row| text(row, 0)).collect::<Result<_, _>>()?,
        metadata: serde_json::from_str(&json(13)?).map_err(wrong)?,
        extent: Extent {
            pages: number(14)?,
            characters: u64::try_from(row.integer(15)?).unwrap_or(0),
            chunks: number(16)?,
        },
        created_at: row.time(17)?,
        updated_at: row.time(18)?,
        indexed_at: row.optional(19, Row::time)?,
        expires_at: row.optional(20, Row::time)?,
    })
}

/// What happened to a file, for those who want to know: nothing of its text.
pub(super) fn tell(transaction: &Transaction<'_>, kind: EventKind, file: &FileRecord) -> Result<(), Error> {
    let data = serde_json::json!({
        "boxId": file.box_id, "fileId": file.id, "name": file.name.as_str(), "externalId": file.external_id,
        "status": file.status.as_str(), "error": file.error, "warnings": file.warnings, "sha256": file.sha256,
        "pages": file.extent.pages,
    });
    let subject = file.id.to_string();
    emit(transaction, &Event { kind, box_id: Some(file.box_id), user: None, subject: &subject, data })
}

/// That a file was read, or could not be.
pub(super) fn tell_read(transaction: &Transaction<'_>, file: &FileRecord) -> Result<(), Error> {
    match file.status {
        FileStatus::Ready => tell(transaction, EventKind::FileReady, file),
        FileStatus::ReadyWithWarnings => tell(transaction, EventKind::FileReadyWithWarnings, file),
        FileStatus::Failed => tell(transaction, EventKind::FileFailed, file),
        FileStatus::Queued | FileStatus::Processing | FileStatus::Deleting => Ok(()),
    }
}

pub(super) fn set_tags(
    transaction: &Transaction<'_>,
    file: FileId,
    tags: Option<&[String]>,
) -> Result<(), Fault> {
    let Some(tags) = tags else { return Ok(()) };
    transaction.execute("delete from file_tags where file_id = $1", &[file.into()])?;
    for tag in tags {
        let sql = "insert into file_tags (file_id, tag) values ($1, $2) on conflict do nothing";
        transaction.execute(sql, &[file.into(), tag.as_str().into()])?;
    }
    Ok(())
}

/// Checks what an owner says about a file against its bounds.
pub(super) fn check_labels(
    limits: &Bounds,
    known: Option<&FileRecord>,
    metadata: Option<&Metadata>,
    tags: Option<&[String]>,
) -> Result<(), Fault> {
    if let Some(metadata) = metadata {
        let before = known.map_or(0, |known| as_json(&known.metadata).len());
        bounds::check_labels(limits, Bound::MetadataKb, before, as_json(metadata).len())?;
    }
    if let Some(tags) = tags {
        let before = known.map_or(0, |known| known.tags.len());
        bounds::check_labels(limits, Bound::Tags, before, tags.len())?;
    }
    Ok(())
}

fn change(
    transaction: &Transaction<'_>,
    limits: &Bounds,
    box_id: BoxId,
    file: FileId,
    changes: &FileChanges,
) -> Result<Option<FileRecord>, Fault> {
    let Some(known) = find(transaction, box_id, file)? else { return Ok(None) };
    let mut metadata: Metadata = known.metadata.clone();
    for (name, value) in changes.metadata.iter().flatten() {
        match value {
            serde_json::Value::Null => metadata.remove(name),
            value => metadata.insert(name.clone(), value.clone()),
        };
    }
    check_labels(limits, Some(&known), Some(&metadata), changes.tags.as_deref())?;
    if let Some(external_id) = &changes.external_id {
        let taken = "select 1 from files where box_id = $1 and external_id = $2 and id <> $3";
        if transaction.first(taken, &[box_id.into(), external_id.as_str().into(), file.into()])?.is_some() {
            let cause =
                "another file in this box has this `externalId`; use a different one, or update that file";
            return Err(Fault::new(Reason::Conflict, cause).param("externalId"));
        }
        let sql = "update files set external_id = $1 where id = $2";
        transaction.execute(sql, &[external_id.as_str().into(), file.into()])?;
    }
    let name = changes.name.as_ref().unwrap_or(&known.name);
    let expires_at = changes.expires_at.unwrap_or(known.expires_at);
    transaction.execute(
        "update files set name = $1, metadata = $2, updated_at = $3, expires_at = $4 where id = $5",
        &[
            name.as_str().into(),
            as_json(&metadata).into(),
            Timestamp::now().into(),
            expires_at.into(),
            file.into(),
        ],
    )?;
    set_tags(transaction, file, changes.tags.as_deref())?;
    Ok(find(transaction, box_id, file)?)
}

/// The `where` clause of a listing, without its cursor, and what its parameters are.
fn conditions(transaction: &Transaction<'_>, boxes: &[Value], query: &FileQuery) -> (String, Vec<Value>) {
    let mut parameters = boxes.to_vec();
    let mut clause = format!("where f.status <> 'deleting' and f.box_id in ({})", places(1, boxes.len()));
    if let Some(part) = &query.name_part {
        let name = transaction.ascii_lowercase("f.name");
        let mut matches = Vec::new();
        for spelling in spellings(part) {
            parameters.push(spelling.into());
            // Whether a text is part of another has no name that both databases know.
            matches.push(format!("replace({name}, ${}, '') <> {name}", parameters.len()));
        }
        clause.push_str(&format!(" and ({})", matches.join(" or ")));
    }
    if !query.statuses.is_empty() {
        let first = parameters.len() + 1;
        parameters.extend(query.statuses.iter().map(|status| Value::from(status.as_str())));
        clause.push_str(&format!(" and f.status in ({})", places(first, query.statuses.len())));
    }
    for tag in &query.tags {
        parameters.push(tag.as_str().into());
        let place = parameters.len();
        clause.push_str(&format!(
            " and exists (select 1 from file_tags g where g.file_id = f.id and g.tag = ${place})"
        ));
    }
    (clause, parameters)
}

/// How a part of a name may be written in a name whose ASCII letters are lower case. Databases agree on the case of ASCII
/// letters alone, so other letters are looked for in both cases.
fn spellings(part: &str) -> BTreeSet<String> {
    let cases = [part.to_string(), part.to_lowercase(), part.to_uppercase()];
    cases.into_iter().map(|spelling| spelling.to_ascii_lowercase()).collect()
}

fn places(first: usize, count: usize) -> String {
    (first..first + count).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

fn list(transaction: &Transaction<'_>, boxes: &[Value], query: &FileQuery) -> Result<FilePage, Error> {
    let (clause, mut parameters) = conditions(transaction, boxes, query);
    let counted = transaction.first(&format!("select count(*) from files f {clause}"), &parameters)?;
    let total = counted.map_or(Ok(0), |row| row.integer(0))?;
    let column = match query.sort {
        SortKey::Name => "f.name",
        SortKey::CreatedAt => "f.created_at",
        SortKey::UpdatedAt => "f.updated_at",
        SortKey::Size => "f.size",
        SortKey::Pages => "f.pages",
    };
    let (comparison, direction) = if query.descending { ("<", "desc") } else { (">", "asc") };
    let mut after = String::new();
    if let Some(cursor) = &query.after {
        parameters.push(match &cursor.value {
            CursorValue::Number(number) => Value::Integer(*number),
            CursorValue::Text(text) => Value::Text(text.clone()),
        });
        parameters.push(cursor.id.into());
        let place = parameters.len();
        after = format!(" and ({column}, f.id) {comparison} (${}, ${place})", place - 1);
    }
    // One more than asked for tells whether there is more.
    parameters.push(i64::from(query.limit + 1).into());
    let sql = format!(
        "{SELECT} {clause}{after} order by {column} {direction}, f.id {direction} limit ${}",
        parameters.len()
    );
    let rows = transaction.all(&sql, &parameters)?;
    let mut files: Vec<FileRecord> =
        rows.iter().map(|row| read(transaction, row)).collect::<Result<_, _>>()?;
    let more = files.len() > query.limit as usize;
    files.truncate(query.limit as usize);
    let next = files.last().filter(|_| more).map(|last| cursor_at(last, query.sort));
    Ok(FilePage { files, total: u64::try_from(total).unwrap_or(0), next })
}

fn cursor_at(file: &FileRecord, sort: SortKey) -> FileCursor {
    let value = match sort {
        SortKey::Name => CursorValue::Text(file.name.as_str().to_string()),
        SortKey::CreatedAt => CursorValue::Number(file.created_at.as_millisecond()),
        SortKey::UpdatedAt => CursorValue::Number(file.updated_at.as_millisecond()),
        SortKey::Size => CursorValue::Number(i64::try_from(file.size).unwrap_or(i64::MAX)),
        SortKey::Pages => CursorValue::Number(i64::from(file.extent.pages)),
    };
    FileCursor { value, id: file.id }
}

pub(super) fn size(new: &NewFile) -> Value {
    Value::Integer(i64::try_from(new.size).unwrap_or(i64::MAX))
}

pub(super) fn as_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("texts and JSON values are plain JSON")
}
