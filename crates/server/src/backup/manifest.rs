//! What is in a backup, with the hash of each file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stores::blobs::hash_of;

/// The name of the file that makes a folder a backup.
pub(super) const NAME: &str = "manifest.json";
/// The layout of backups that this program writes and reads.
const FORMAT: u32 = 1;

/// Everything in a backup.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The layout.
    format: u32,
    /// The version of quire that wrote it.
    pub written_by: String,
    /// When it was begun.
    pub at: Timestamp,
    /// Each file by its path in the folder.
    pub files: BTreeMap<String, Entry>,
    /// Originals that were damaged where they came from.
    #[serde(default)]
    pub damaged: Vec<String>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Bytes.
    pub size: u64,
    /// SHA-256, in hexadecimal.
    pub sha256: String,
    /// What the database that it is a copy of looked like right before; the same again means that it did not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looked: Vec<i128>,
}

impl Manifest {
    pub(super) fn new(at: Timestamp) -> Self {
        let (files, damaged) = (BTreeMap::new(), Vec::new());
        Manifest { format: FORMAT, written_by: env!("CARGO_PKG_VERSION").into(), at, files, damaged }
    }

    /// Reads the manifest of a backup.
    pub fn read(backup: &Path) -> Result<Self> {
        let path = backup.join(NAME);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Manifest =
            serde_json::from_slice(&bytes).with_context(|| format!("{} is damaged", path.display()))?;
        if manifest.format != FORMAT {
            bail!("{} has the format {}: use a newer quire", path.display(), manifest.format);
        }
        for name in manifest.files.keys() {
            let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            if !plain || name.is_empty() {
                bail!("{} names a file outside of the backup: {name}", path.display());
            }
        }
        Ok(manifest)
    }

    pub(super) fn write(&self, backup: &Path) -> Result<()> {
        let path = backup.join(NAME);
        let text = serde_json::to_vec_pretty(self)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(fs::File::open(&path)?.sync_all()?)
    }
}

/// Reads every file of a backup and compares it with the manifest; `seen` is told how many are done.
pub fn check(backup: &Path, mut seen: impl FnMut(usize, usize)) -> Result<Manifest> {
    let manifest = Manifest::read(backup)?;
    for (done, (name, entry)) in manifest.files.iter().enumerate() {
        seen(done, manifest.files.len());
        let path = backup.join(name);
        let hash = hash_of(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if hash != entry.sha256 {
            bail!("{} is damaged: it is not what was backed up; use another backup", path.display());
        }
    }
    Ok(manifest)
}
