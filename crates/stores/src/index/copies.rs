//! Copies of a box's file that are kept elsewhere, for backups: read and mended without opening the box.

use std::path::{Path, PathBuf};

use engine::{
    ids::{BoxId, FileId},
    seams::index::Contents,
};
use rusqlite::{Connection, TransactionBehavior};

use super::{boxes, open::OpenBox, schema, truth};
use crate::Error;

/// Where the file of a box is below the folder of the index.
pub fn file_of(root: &Path, box_id: BoxId) -> PathBuf {
    boxes::folder_of(root, box_id).join(OpenBox::FILE)
}

/// What a copy holds.
pub fn contents(path: &Path) -> Result<Contents, Error> {
    Ok(truth::contents(&schema::open_for_reading(path)?)?)
}

/// Takes files out of a copy, and what is left of them.
pub fn forget(path: &Path, files: &[FileId]) -> Result<(), Error> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for &file in files {
        truth::remove(&transaction, file)?;
    }
    transaction.commit()?;
    Ok(connection.execute_batch("vacuum")?)
}
