//! The files of a box as such, without opening the box: copied for backups, and checked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use engine::{
    ids::{BoxId, FileId},
    seams::index::Contents,
};
use rusqlite::{Connection, TransactionBehavior};

use super::{boxes, open::OpenBox, schema, text::Text, truth};
use crate::Error;

/// Where the file of a box is below the folder of the index.
pub fn file_of(root: &Path, box_id: BoxId) -> PathBuf {
    boxes::folder_of(root, box_id).join(OpenBox::FILE)
}

/// Whether the text index beside a box's file is whole; what is wrong, where it is not.
pub fn check_text(root: &Path, box_id: BoxId) -> Result<(), String> {
    Text::check(&OpenBox::text_folder(&boxes::folder_of(root, box_id)))
}

/// Removes the text index beside a box's file, which nobody may have open; the next search makes it again.
pub fn drop_text(root: &Path, box_id: BoxId) -> Result<(), Error> {
    let folder = OpenBox::text_folder(&boxes::folder_of(root, box_id));
    fs::remove_dir_all(&folder).map_err(Error::io(format!("removing {}", folder.display())))
}

/// What a copy holds.
pub fn contents(path: &Path) -> Result<Contents, Error> {
    Ok(truth::contents(&schema::open_for_reading(path)?)?)
}

/// Takes files out of a copy and overwrites what they leave; everything else stays where it is.
pub fn forget(path: &Path, files: &[FileId]) -> Result<(), Error> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("pragma secure_delete = on")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for &file in files {
        truth::remove(&transaction, file)?;
    }
    Ok(transaction.commit()?)
}
