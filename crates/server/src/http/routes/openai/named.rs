//! The id under which OpenAI's clients know a file: its own, or that of the upload it was.

use engine::{
    ids::{FileId, UploadId},
    seams::catalog::FileRecord,
};

/// The id under which clients know a file.
pub(super) fn id_of(file: &FileRecord) -> String {
    let known = |id: &&str| id.parse::<UploadId>().is_ok() || id.parse::<FileId>().is_ok();
    match file.external_id.as_deref().filter(known) {
        Some(id) => id.to_string(),
        None => file.id.to_string(),
    }
}
