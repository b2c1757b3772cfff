//! What is in a backup, with the hash of each file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use anyhow::{Context, Result, bail};
use engine::ids::FileId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stores::blobs::hash_of;

use super::pieces;

/// The name of the file that makes a folder a backup.
pub(super) const NAME: &str = "manifest.json";
/// The layout of backups that this program writes; it reads those before too, which had no pieces.
const FORMAT: u32 = 2;

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
    /// The hashes of its pieces, in order, where it is kept in pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<String>,
    /// The files that a box's database holds, with their pages and passages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<(FileId, u64, u64)>,
}

impl Entry {
    /// A file that is kept as it is.
    pub(super) fn whole(size: u64, sha256: String) -> Self {
        Entry { size, sha256, looked: Vec::new(), pieces: Vec::new(), holds: Vec::new() }
    }

    /// Where it is in the backup, with the hash of what is there: at its own name, or in pieces.
    pub fn places(&self, name: &str) -> Vec<(String, String)> {
        if self.pieces.is_empty() {
            return vec![(name.to_string(), self.sha256.clone())];
        }
        self.pieces.iter().map(|sha256| (pieces::name_of(sha256), sha256.clone())).collect()
    }
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
        if manifest.format > FORMAT {
            bail!("{} has the format {}: use a newer quire", path.display(), manifest.format);
        }
        for name in manifest.files.keys() {
            let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            if !plain || name.is_empty() {
                bail!("{} names a file outside of the backup: {name}", path.display());
            }
        }
        let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !manifest.files.values().flat_map(|entry| &entry.pieces).all(is_hash) {
            bail!("{} is damaged: it names a piece that is none", path.display());
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
        for (place, sha256) in entry.places(name) {
            let path = backup.join(place);
            let hash = hash_of(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if hash != sha256 {
                bail!("{name} is damaged: {} is not what was backed up; use another backup", path.display());
            }
        }
    }
    Ok(manifest)
}
