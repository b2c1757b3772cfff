//! Backups of a data folder, taken while a server runs on it, and the way back.
//!
//! A backup is a folder that holds everything, named after the moment it was begun. What did not change since the one before
//! is a hard link to it, so each costs only what is new and any of them can be deleted without the others. The databases of
//! boxes are kept in pieces, of which a change replaces a few. A folder without its manifest is none: it is written under
//! another name and gets its own last.

mod copying;
mod manifest;
mod pieces;
mod restore;
mod take;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use manifest::{Entry, Manifest, check};
pub use restore::{Restored, restore};
pub use take::{Taken, take, tidy, unfinished};

/// What is being done, for whoever shows how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Copying originals.
    Originals,
    /// Copying boxes.
    Boxes,
    /// Comparing a backup with its manifest.
    Checking,
    /// Writing the data folder.
    Restoring,
}

/// The file in a data folder that says when it was last backed up.
const LAST: &str = "backup.json";

/// When a data folder was last backed up, and to where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Last {
    /// When that backup was begun: it holds what was acknowledged before.
    pub at: Timestamp,
    /// The folder.
    pub folder: PathBuf,
}

/// The last backup of a data folder, if there ever was one.
pub fn last(data: &Path) -> Option<Last> {
    serde_json::from_slice(&fs::read(data.join(LAST)).ok()?).ok()
}

fn note_last(data: &Path, last: &Last) -> Result<()> {
    let path = data.join(LAST);
    let text = serde_json::to_vec_pretty(last)?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The latest backup of a data folder that holds this original intact: where its copy is.
pub fn holding(data: &Path, sha256: &str) -> Option<PathBuf> {
    let mut backups = backups_in(last(data)?.folder.parent()?).ok()?;
    backups.reverse();
    let mut copies = backups.into_iter().map(|backup| backup.join(take::name_of_original(sha256)));
    copies.find(|copy| stores::blobs::hash_of(copy).is_ok_and(|hash| hash == sha256))
}

/// The whole backups in a folder, oldest first.
fn backups_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| !take::is_partial(path) && path.join(manifest::NAME).is_file())
        .collect();
    found.sort();
    Ok(found)
}

/// The backup that somebody means: this one, or the latest in a folder of backups.
pub fn latest(folder: &Path) -> Result<PathBuf> {
    if folder.join(manifest::NAME).is_file() {
        return Ok(folder.to_path_buf());
    }
    backups_in(folder)?.pop().with_context(|| format!("there is no backup in {}", folder.display()))
}
