//! The versions of a file: which one can be read, which one waits next to it, and what becomes of both.
//!
//! A version waits beside another only where that one can be read (`indexed_at` is set). So there are four states: a first
//! version that is to be read, one that could not be, one that can, and one that can with a newer one beside it, which is to
//! be read or was given up.

use engine::{
    Fault,
    bounds::{Bound, Bounds},
    ids::{BoxId, FileId, JobId},
    seams::catalog::{EventKind, FileRecord, FileStatus, Job, JobOutcome, NewFile, UploadOutcome, Uploaded},
    trace,
};
use jiff::Timestamp;

use super::{
    bounds,
    boxes::must_exist,
    files::{as_json, check_labels, find, must_find, set_tags, size, tell},
    sql::{Transaction, Value},
};
use crate::Error;

/// Which file an upload is, if the box has it already: the one with the same outside name, else, for an upload that
/// names none, one with the same bytes.
fn existing(transaction: &Transaction<'_>, box_id: BoxId, new: &NewFile) -> Result<Option<FileId>, Error> {
    if let Some(external_id) = &new.external_id {
        let sql = "select id from files where box_id = $1 and external_id = $2 and status <> 'deleting'";
        let row = transaction.first(sql, &[box_id.into(), external_id.as_str().into()])?;
        if row.is_some() {
            return row.map(|row| row.parse(0)).transpose();
        }
    }
    // Two outside names are two files even where their bytes are the same.
    let sql = "select id from files where box_id = $1 and sha256 = $2 and status <> 'deleting'
               and next_sha256 is null and (external_id is null or $3 = 1) order by created_at limit 1";
    let anonymous = new.external_id.is_none();
    let row = transaction.first(sql, &[box_id.into(), new.sha256.as_str().into(), anonymous.into()])?;
    row.map(|row| row.parse(0)).transpose()
}

/// Makes a file of an upload, or a version of the file that it is.
pub(super) fn add(
    transaction: &Transaction<'_>,
    limits: &Bounds,
    box_id: BoxId,
    new: &NewFile,
) -> Result<Uploaded, Fault> {
    must_exist(transaction, box_id)?;
    let known = match existing(transaction, box_id, new)? {
        Some(id) => Some(must_find(transaction, box_id, id)?),
        None => None,
    };
    check_labels(limits, known.as_ref(), new.metadata.as_ref(), new.tags.as_deref())?;
    let (id, outcome, superseded) = match &known {
        None => (insert(transaction, box_id, new)?, UploadOutcome::Added, Vec::new()),
        Some(known) => {
            let (outcome, superseded) = update(transaction, known, new)?;
            (known.id, outcome, superseded)
        }
    };
    match outcome {
        UploadOutcome::Added => {
            bounds::check_box(transaction, limits, box_id, Bound::Files)?;
            let bounds = &[Bound::StorageGb, Bound::QueuedFiles];
            bounds::check_owners(transaction, limits, box_id, bounds)?;
        }
        // An owner who is over a bound that was lowered may still upload something smaller.
        UploadOutcome::Replaced if known.is_some_and(|known| new.size > known.size) => {
            bounds::check_owners(transaction, limits, box_id, &[Bound::StorageGb])?;
        }
        UploadOutcome::Replaced | UploadOutcome::Known => {}
    }
    set_tags(transaction, id, new.tags.as_deref())?;
    let file = must_find(transaction, box_id, id)?;
    if outcome == UploadOutcome::Replaced {
        tell(transaction, EventKind::FileReplaced, &file)?;
    }
    Ok(Uploaded { file, outcome, superseded })
}

fn insert(transaction: &Transaction<'_>, box_id: BoxId, new: &NewFile) -> Result<FileId, Fault> {
    let (id, now) = (FileId::generate(), Timestamp::now());
    let metadata = new.metadata.clone().unwrap_or_default();
    transaction.execute(
        "insert into files (id, box_id, name, external_id, sha256, size, media_type, status, progress_done, warnings,
         metadata, pages, characters, chunks, created_at, updated_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, 'queued', 0, '[]', $8, 0, 0, 0, $9, $9, $10)",
        &[
            id.into(),
            box_id.into(),
            new.name.as_str().into(),
            new.external_id.clone().into(),
            new.sha256.as_str().into(),
            size(new),
            new.media_type.as_str().into(),
            as_json(&metadata).into(),
            now.into(),
            new.expires_at.into(),
        ],
    )?;
    enqueue(transaction, box_id, id, now)?;
    Ok(id)
}

/// An upload of a file that exists already: the same bytes change nothing but what is said about them, other bytes
/// wait beside the old ones until they were read.
fn update(
    transaction: &Transaction<'_>,
    known: &FileRecord,
    new: &NewFile,
) -> Result<(UploadOutcome, Vec<String>), Fault> {
    let now = Timestamp::now();
    let metadata = new.metadata.clone().unwrap_or_else(|| known.metadata.clone());
    transaction.execute(
        "update files set external_id = coalesce($1, external_id), metadata = $2, updated_at = $3, expires_at = $4
         where id = $5",
        &[
            new.external_id.clone().into(),
            as_json(&metadata).into(),
            now.into(),
            new.expires_at.or(known.expires_at).into(),
            known.id.into(),
        ],
    )?;
    let waiting = waiting(transaction, known.id)?;
    let newest = waiting.as_ref().unwrap_or(&known.sha256);
    if *newest == new.sha256 {
        // Also one that was given up beside the version that can be read.
        let idle = !matches!(known.status, FileStatus::Queued | FileStatus::Processing);
        if known.status == FileStatus::Failed || (idle && waiting.is_some()) {
            requeue(transaction, known, now)?;
        }
        return Ok((UploadOutcome::Known, Vec::new()));
    }
    let sql = "update files set uploaded_at = $1 where id = $2";
    transaction.execute(sql, &[now.into(), known.id.into()])?;
    if known.indexed_at.is_some() {
        transaction.execute(
            "update files set next_sha256 = $1, next_size = $2, next_name = $3 where id = $4",
            &[new.sha256.as_str().into(), size(new), new.name.as_str().into(), known.id.into()],
        )?;
        requeue(transaction, known, now)?;
        return Ok((UploadOutcome::Replaced, waiting.into_iter().collect()));
    }
    // Nothing of the old version can be read yet, so there is nothing to keep in place, and nothing waits beside it.
    transaction.execute(
        "update files set sha256 = $1, size = $2, name = $3, media_type = $4,
         next_sha256 = null, next_size = null, next_name = null where id = $5",
        &[
            new.sha256.as_str().into(),
            size(new),
            new.name.as_str().into(),
            new.media_type.as_str().into(),
            known.id.into(),
        ],
    )?;
    requeue(transaction, known, now)?;
    Ok((UploadOutcome::Replaced, waiting.into_iter().chain([known.sha256.clone()]).collect()))
}

/// The original of the version that waits beside the one that can be read.
fn waiting(transaction: &Transaction<'_>, file: FileId) -> Result<Option<String>, Error> {
    let row = transaction.first("select next_sha256 from files where id = $1", &[file.into()])?;
    row.map_or(Ok(None), |row| row.optional(0, |row, column| row.text(column).map(str::to_string)))
}

/// Has the newest version of a file read. What can be read of the file now stays until then.
pub(super) fn requeue(transaction: &Transaction<'_>, file: &FileRecord, now: Timestamp) -> Result<(), Fault> {
    let sql = "update files set status = 'queued', error = null, progress_done = 0, progress_total = null where id = $1";
    transaction.execute(sql, &[file.id.into()])?;
    enqueue(transaction, file.box_id, file.id, now)
}

/// Has a file read of which the index has nothing any more: its newest version is the only one there is. Gives the original
/// of the one before.
pub(super) fn start_over(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    file: FileId,
    now: Timestamp,
) -> Result<Vec<String>, Fault> {
    let Some(known) = find(transaction, box_id, file)? else { return Ok(Vec::new()) };
    let newest = waiting(transaction, file)?.filter(|newest| *newest != known.sha256);
    transaction.execute(
        "update files set indexed_at = null, sha256 = coalesce(next_sha256, sha256),
         size = coalesce(next_size, size), name = coalesce(next_name, name),
         next_sha256 = null, next_size = null, next_name = null where id = $1",
        &[file.into()],
    )?;
    requeue(transaction, &known, now)?;
    Ok(newest.map(|_| known.sha256).into_iter().collect())
}

/// A new job in place of any older one: a worker still at that finds its job gone and stops. Where work on the older one
/// had begun, that is noted.
pub(super) fn enqueue(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    file: FileId,
    now: Timestamp,
) -> Result<(), Fault> {
    let begun = "update files set interrupted = 1
                 where id = $1 and exists (select 1 from jobs where file_id = $1 and starts > failures)";
    transaction.execute(begun, &[file.into()])?;
    transaction.execute("delete from jobs where file_id = $1", &[file.into()])?;
    transaction.execute(
        "insert into jobs (id, file_id, box_id, due_at, failures, starts, created_at, trace)
         values ($1, $2, $3, $4, 0, 0, $4, $5)",
        &[JobId::generate().into(), file.into(), box_id.into(), now.into(), trace::here().into()],
    )?;
    Ok(())
}

/// Begins the warning about a version that could not be read; the last one is the one that counts.
const STAYS: &str = "what was read before stays, because ";

/// A first version that cannot be read is a failed file. One that cannot be read beside an older one leaves that in
/// place, with a warning; where the index may hold something else, the older one is read again.
pub(super) fn write_failure(
    transaction: &Transaction<'_>,
    job: &Job,
    error: &str,
    now: Timestamp,
) -> Result<Vec<String>, Fault> {
    let Some(file) = note_failure(transaction, job, error, now)? else { return Ok(Vec::new()) };
    let sql = "update files set next_sha256 = null, next_size = null, next_name = null where id = $1";
    transaction.execute(sql, &[job.file.into()])?;
    let superseded = file.indexed_at.is_some() && job.sha256 != file.sha256;
    if superseded && job.interrupted {
        requeue(transaction, &file, now)?;
    }
    Ok(superseded.then(|| job.sha256.clone()).into_iter().collect())
}

/// The same, but the version stays where it waits: nothing says that it cannot be read. It is read when somebody uploads
/// it again or chooses "Reprocess".
pub(super) fn give_up(
    transaction: &Transaction<'_>,
    job: &Job,
    error: &str,
    now: Timestamp,
) -> Result<Vec<String>, Fault> {
    note_failure(transaction, job, error, now)?;
    Ok(Vec::new())
}

/// Says of a file why its newest version was not read; gives the file as it was.
fn note_failure(
    transaction: &Transaction<'_>,
    job: &Job,
    error: &str,
    now: Timestamp,
) -> Result<Option<FileRecord>, Fault> {
    let Some(file) = find(transaction, job.box_id, job.file)? else { return Ok(None) };
    if job.interrupted {
        transaction.execute("update files set interrupted = 1 where id = $1", &[job.file.into()])?;
    }
    if file.indexed_at.is_none() {
        let sql = "update files set status = 'failed', error = $1, updated_at = $2 where id = $3";
        transaction.execute(sql, &[error.into(), now.into(), job.file.into()])?;
        return Ok(Some(file));
    }
    let again = job.sha256 == file.sha256;
    let what = if again { "reading it again failed" } else { "a newer version could not be processed" };
    let mut warnings = file.warnings.clone();
    warnings.retain(|warning| !warning.starts_with(STAYS));
    warnings.push(format!("{STAYS}{what}: {error}"));
    transaction.execute(
        "update files set status = 'ready_with_warnings', warnings = $1, updated_at = $2 where id = $3",
        &[as_json(&warnings).into(), now.into(), job.file.into()],
    )?;
    Ok(Some(file))
}

/// A version that was read again because a newer one failed keeps what was said about that.
fn with_failure(
    transaction: &Transaction<'_>,
    job: &Job,
    mut warnings: Vec<String>,
) -> Result<Vec<String>, Fault> {
    if let Some(file) = find(transaction, job.box_id, job.file)?
        && job.interrupted
        && file.sha256 == job.sha256
    {
        warnings.extend(file.warnings.into_iter().filter(|warning| warning.starts_with(STAYS)));
    }
    Ok(warnings)
}

/// The version that was read is the one in place.
pub(super) fn write_success(
    transaction: &Transaction<'_>,
    job: &Job,
    outcome: JobOutcome,
    now: Timestamp,
) -> Result<Vec<String>, Fault> {
    let JobOutcome::Indexed { status, media_type, warnings, language, extent } = outcome else {
        return Ok(Vec::new());
    };
    let before = transaction.first("select sha256 from files where id = $1", &[job.file.into()])?;
    let before = before.map(|row| row.text(0).map(str::to_string)).transpose()?;
    let warnings = with_failure(transaction, job, warnings)?;
    let pages = Value::from(i64::from(extent.pages));
    transaction.execute(
        "update files set status = $1, media_type = $2, warnings = $3, language = $4, pages = $5, characters = $6,
         chunks = $7, progress_done = $5, progress_total = $5, error = null, indexed_at = $8, updated_at = $8,
         sha256 = coalesce(next_sha256, sha256), size = coalesce(next_size, size), name = coalesce(next_name, name),
         next_sha256 = null, next_size = null, next_name = null, interrupted = 0 where id = $9",
        &[
            status.as_str().into(),
            media_type.into(),
            as_json(&warnings).into(),
            language.into(),
            pages,
            i64::try_from(extent.characters).unwrap_or(i64::MAX).into(),
            i64::from(extent.chunks).into(),
            now.into(),
            job.file.into(),
        ],
    )?;
    Ok(before.filter(|sha256| *sha256 != job.sha256).into_iter().collect())
}
