//! Which file an id of OpenAI's clients means: an upload, or a file of a box by its own id or by that of the upload it was.

use engine::{
    Fault,
    access::{Caller, Reading, Writing},
    ids::{FileId, UploadId},
    seams::catalog::{FileRecord, Upload},
};

use crate::{
    app::App,
    http::auth::{self, no_such_file},
};

/// What an id names.
pub(super) enum Named {
    /// In no box yet, or still kept apart from those it is in.
    Upload(Upload),
    /// In a box.
    File(Box<FileRecord>, Reading),
}

/// The id under which clients know a file.
pub(super) fn id_of(file: &FileRecord) -> String {
    let known = |id: &&str| id.parse::<UploadId>().is_ok() || id.parse::<FileId>().is_ok();
    match file.external_id.as_deref().filter(known) {
        Some(id) => id.to_string(),
        None => file.id.to_string(),
    }
}

/// What an id names, among all that the key may read.
pub(super) async fn find(app: &App, caller: &Caller, id: &str) -> Result<Named, Fault> {
    if let Ok(upload) = id.parse() {
        if let Some(upload) = app.catalog.upload(&caller.uploads(), upload).await? {
            return Ok(Named::Upload(upload));
        }
        for reading in caller.readable()? {
            if let Some(file) = called(app, &reading, id).await? {
                return Ok(Named::File(Box::new(file), reading));
            }
        }
        return Err(no_such_file());
    }
    let id = id.parse().map_err(|_| no_such_file())?;
    let found = auth::readable_file(app, caller, id).await?;
    Ok(Named::File(Box::new(found.record), found.reading))
}

/// The file of a box that was this upload.
async fn called(app: &App, reading: &Reading, id: &str) -> Result<Option<FileRecord>, Fault> {
    Ok(app.catalog.files_named(reading, &[id.to_string()]).await?.pop().flatten())
}

/// The file of one box that an id names.
pub(super) async fn in_box(app: &App, reading: &Reading, id: &str) -> Result<FileRecord, Fault> {
    all_in_box(app, reading, &[id.to_string()]).await?.pop().ok_or_else(no_such_file)
}

/// The files of one box that some ids name; what is not there is left out.
pub(super) async fn all_in_box(
    app: &App,
    reading: &Reading,
    ids: &[String],
) -> Result<Vec<FileRecord>, Fault> {
    let mut files = app.catalog.files_named(reading, ids).await?;
    let own = |(at, id): (usize, &String)| match &files[at] {
        Some(_) => None,
        None => Some((at, id.parse::<FileId>().ok()?)),
    };
    let (places, own): (Vec<usize>, Vec<FileId>) = ids.iter().enumerate().filter_map(own).unzip();
    for (at, file) in places.into_iter().zip(app.catalog.files(reading, &own).await?) {
        files[at] = file;
    }
    Ok(files.into_iter().flatten().collect())
}

/// Every copy of a file in a box that the key may change.
pub(super) async fn copies(
    app: &App,
    caller: &Caller,
    id: &str,
) -> Result<Vec<(FileRecord, Writing)>, Fault> {
    let mut copies = Vec::new();
    for box_id in caller.reach() {
        let writing = caller.may_write(box_id)?;
        if let Some(file) = called(app, writing.reading(), id).await? {
            copies.push((file, writing));
        }
    }
    Ok(copies)
}
