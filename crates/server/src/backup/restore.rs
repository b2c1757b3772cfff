//! Puts a backup into an empty data folder.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;

use super::{Doing, copying, manifest, pieces};

/// In a data folder that is being restored, until all is there.
const UNFINISHED: &str = "restoring";
/// What makes a folder a data folder; it comes last.
const CATALOG: &str = "catalog.db";

/// What was restored.
#[derive(Debug)]
pub struct Restored {
    /// When the backup was begun.
    pub at: Timestamp,
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: u64,
}

/// Reads the whole backup and compares it with its manifest; only then copies it.
pub fn restore(backup: &Path, data: &Path, mut seen: impl FnMut(Doing, usize, usize)) -> Result<Restored> {
    must_be_empty(data)?;
    let manifest = manifest::check(backup, |done, all| seen(Doing::Checking, done, all))?;
    if !manifest.files.contains_key(CATALOG) {
        bail!("there is no {CATALOG} in {}", backup.display());
    }
    stores::make_private_folder(data)?;
    let marker = data.join(UNFINISHED);
    fs::write(&marker, b"").with_context(|| format!("cannot write {}", marker.display()))?;
    let mut bytes = 0;
    let (last, first): (Vec<_>, Vec<_>) = manifest.files.iter().partition(|(name, _)| *name == CATALOG);
    for (done, (name, entry)) in first.into_iter().chain(last).enumerate() {
        seen(Doing::Restoring, done, manifest.files.len());
        let (size, hash) = match entry.pieces.is_empty() {
            true => copying::copy(&backup.join(name), &data.join(name))?,
            false => pieces::join(&entry.pieces, backup, &data.join(name))?,
        };
        if hash != entry.sha256 {
            bail!("{name} changed while it was restored; use another backup");
        }
        bytes += size;
    }
    fs::remove_file(&marker).context("cannot finish")?;
    Ok(Restored { at: manifest.at, files: manifest.files.len(), bytes })
}

/// A restore that was cut short is begun again; anything else in the folder stays as it is, and is in the way.
fn must_be_empty(data: &Path) -> Result<()> {
    if !data.exists() {
        return Ok(());
    }
    if data.join(UNFINISHED).is_file() {
        for entry in fs::read_dir(data)? {
            let path = entry?.path();
            if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
        }
        return Ok(());
    }
    if fs::read_dir(data).with_context(|| format!("cannot read {}", data.display()))?.next().is_some() {
        bail!("{} is not empty; a backup is restored into an empty folder only", data.display());
    }
    Ok(())
}
