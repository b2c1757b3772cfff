//! Takes a backup of a data folder, whether or not a server runs on it.
//!
//! The catalog is copied first, as of one moment. Then its originals: where one is gone already, the catalog is copied once
//! more. Then the file of each box, which may be of a later moment: a file of the box that was stored again or deleted in
//! between is put into the queue of the copied catalog, to be read from its original once the backup is restored. So
//! whatever a backup says is ready is there, and nothing that was acknowledged before it began is missing.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use engine::{
    Fault,
    access::Writing,
    ids::{BoxId, FileId},
    seams::catalog::{Boxes as _, Deletions as _, FileRecord, Reindexing as _},
};
use jiff::{Timestamp, tz::TimeZone};
use stores::{catalog::Sql, index::copies, mirror, snapshot};

use super::{
    Doing, Last, backups_in, copying,
    manifest::{Entry, Manifest},
    note_last, pieces,
};
use crate::library::files_of;

/// How often the catalog is copied again because an original was deleted meanwhile.
const ROUNDS: usize = 20;
/// Begins the name of a backup that is being written.
const PARTIAL: &str = ".partial-";

/// What a backup took.
#[derive(Debug)]
pub struct Taken {
    /// The folder of the backup.
    pub folder: PathBuf,
    /// Everything in it.
    pub manifest: Manifest,
    /// Files that were copied; the others are links to the backup before.
    pub copied: u64,
    /// Bytes that were written for those; of a database, the pieces that changed.
    pub bytes_copied: u64,
    /// Files of boxes that changed while they were copied: they are read again once the backup is restored.
    pub read_again: u64,
    /// Older backups that were removed.
    pub removed: usize,
}

/// Where an original is in a data folder and in a backup.
pub(super) fn name_of_original(sha256: &str) -> String {
    format!("blobs/originals/{}/{sha256}", &sha256[..2])
}

/// Whether a folder is a backup that was not finished.
pub(super) fn is_partial(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PARTIAL))
}

/// Takes a backup into a new folder below `to` and keeps the latest `keep` of them. `seen` is told what is done and how far.
pub async fn take(
    data: &Path,
    to: &Path,
    keep: usize,
    mut seen: impl FnMut(Doing, usize, usize),
) -> Result<Taken> {
    stores::make_private_folder(to)?;
    if inside(data, to)? {
        bail!("{} is inside the data folder: a backup belongs on another disk", to.display());
    }
    let _alone = hold(to)?;
    remove_unfinished(to)?;
    let before = backups_in(to)?.pop();
    let at = Timestamp::now();
    let name = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let (folder, partial) = (to.join(&name), to.join(format!("{PARTIAL}{name}")));
    if folder.exists() {
        bail!("{} exists already", folder.display());
    }
    stores::make_private_folder(&partial)?;
    let known = before.as_deref().map(Manifest::read).transpose()?;
    let mut backup = Backup {
        data,
        folder: partial.clone(),
        before: before.zip(known),
        manifest: Manifest::new(at),
        copied: 0,
        bytes_copied: 0,
        read_again: 0,
    };
    if let Err(error) = backup.fill(&mut seen).await {
        let _ = copying::remove(&partial);
        return Err(error);
    }
    backup.manifest.write(&partial)?;
    fs::rename(&partial, &folder).with_context(|| format!("cannot name {}", folder.display()))?;
    fs::File::open(to)?.sync_all()?;
    note_last(data, &Last { at, folder: folder.clone() })?;
    let removed = prune(to, keep)?;
    let Backup { manifest, copied, bytes_copied, read_again, .. } = backup;
    Ok(Taken { folder, manifest, copied, bytes_copied, read_again, removed })
}

fn inside(data: &Path, to: &Path) -> Result<bool> {
    Ok(to.canonicalize()?.starts_with(data.canonicalize()?))
}

/// Keeps other backups out of a folder: what one is writing looks like what a crash leaves. A file system without locks keeps
/// nobody out.
fn hold(to: &Path) -> Result<fs::File> {
    let folder = fs::File::open(to).with_context(|| format!("cannot read {}", to.display()))?;
    match folder.try_lock() {
        Err(fs::TryLockError::WouldBlock) => bail!("another backup is being written to {}", to.display()),
        _ => Ok(folder),
    }
}

fn partial_in(to: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(to).into_iter().flatten();
    listed.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_partial(path)).collect()
}

fn remove_unfinished(to: &Path) -> Result<usize> {
    let partial = partial_in(to);
    partial.iter().try_for_each(|path| copying::remove(path))?;
    Ok(partial.len())
}

/// How many backups in a folder were not finished, or are being written.
pub fn unfinished(to: &Path) -> usize {
    partial_in(to).len()
}

/// Removes those that were not finished, unless one is being written; gives how many.
pub fn tidy(to: &Path) -> Result<usize> {
    if partial_in(to).is_empty() {
        return Ok(0);
    }
    let _alone = hold(to)?;
    remove_unfinished(to)
}

fn prune(to: &Path, keep: usize) -> Result<usize> {
    let backups = backups_in(to)?;
    let old = &backups[..backups.len().saturating_sub(keep.max(1))];
    old.iter().try_for_each(|backup| copying::remove(backup))?;
    Ok(old.len())
}

/// A backup in progress.
struct Backup<'a> {
    data: &'a Path,
    folder: PathBuf,
    /// The one before, to link to.
    before: Option<(PathBuf, Manifest)>,
    manifest: Manifest,
    copied: u64,
    bytes_copied: u64,
    read_again: u64,
}

impl Backup<'_> {
    async fn fill(&mut self, seen: &mut impl FnMut(Doing, usize, usize)) -> Result<()> {
        let work = self.folder.join("catalog.work");
        let catalog = self.take_originals(&work, seen).await?;
        self.take_boxes(&catalog, seen).await?;
        drop(catalog);
        let copy = self.folder.join("catalog.db");
        snapshot(&work, &copy)?;
        for end in ["", "-wal", "-shm"] {
            copying::remove_file(&with_end(&work, end))?;
        }
        let (size, sha256) = read_back("catalog.db", &copy)?;
        self.copied += 1;
        self.bytes_copied += size;
        self.manifest.files.insert("catalog.db".into(), Entry::whole(size, sha256));
        self.take_certificate()
    }

    /// Copies the catalog, and every original that it refers to.
    async fn take_originals(
        &mut self,
        work: &Path,
        seen: &mut impl FnMut(Doing, usize, usize),
    ) -> Result<Sql> {
        for _ in 0..ROUNDS {
            for end in ["", "-wal", "-shm"] {
                copying::remove_file(&with_end(work, end))?;
            }
            snapshot(&self.data.join("catalog.db"), work)?;
            let catalog = Sql::open(work)?;
            let wanted: HashSet<String> =
                catalog.wanted_originals().await.map_err(told)?.into_iter().collect();
            let mut missing = 0;
            for (done, sha256) in wanted.iter().enumerate() {
                seen(Doing::Originals, done, wanted.len());
                missing += usize::from(!self.take_original(sha256)?);
            }
            if missing == 0 {
                self.drop_unwanted(&wanted)?;
                return Ok(catalog);
            }
        }
        bail!(
            "originals are missing from the store, or deleted faster than they can be copied: see `quire doctor`, \
             and try again"
        )
    }

    /// `false` where it is not there any more.
    fn take_original(&mut self, sha256: &str) -> Result<bool> {
        let name = name_of_original(sha256);
        if self.manifest.files.contains_key(&name) || self.link(&name)? {
            return Ok(true);
        }
        let from = self.data.join(&name);
        if !from.is_file() {
            return Ok(false);
        }
        let to = self.folder.join(&name);
        let (size, found) = match copying::copy(&from, &to) {
            Ok(copied) => copied,
            // Deleted at this moment.
            Err(_) if !from.exists() => return Ok(false),
            Err(error) => return Err(error),
        };
        self.copied += 1;
        self.bytes_copied += size;
        if found != sha256 {
            self.manifest.damaged.push(sha256.to_string());
        }
        self.manifest.files.insert(name, Entry::whole(size, found));
        Ok(true)
    }

    /// Removes originals that were copied for an earlier round only.
    fn drop_unwanted(&mut self, wanted: &HashSet<String>) -> Result<()> {
        let name_of = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
        let unwanted: Vec<String> =
            self.manifest.files.keys().filter(|path| !wanted.contains(&name_of(path))).cloned().collect();
        for path in unwanted {
            copying::remove_file(&self.folder.join(&path))?;
            self.manifest.files.remove(&path);
        }
        Ok(())
    }

    async fn take_boxes(&mut self, catalog: &Sql, seen: &mut impl FnMut(Doing, usize, usize)) -> Result<()> {
        let live = Sql::open(&self.data.join("catalog.db"))?;
        let boxes = catalog.boxes().await.map_err(told)?;
        for (done, record) in boxes.iter().enumerate() {
            seen(Doing::Boxes, done, boxes.len());
            self.take_box(catalog, &live, record.id).await?;
        }
        Ok(())
    }

    async fn take_box(&mut self, catalog: &Sql, live: &Sql, box_id: BoxId) -> Result<()> {
        let source = copies::file_of(&self.data.join("index"), box_id);
        let name = source.strip_prefix(self.data)?.to_string_lossy().into_owned();
        let copy = self.folder.join("box.work");
        let looked = look(&source);
        let fresh = !looked.is_empty() && !self.link_unchanged(&name, &looked)?;
        let damaged = || format!("{} is damaged; see `quire doctor --scrub`", source.display());
        let holds = match self.manifest.files.get(&name) {
            Some(linked) => linked.holds.clone(),
            None if fresh => {
                mirror(&source, &copy).with_context(|| format!("cannot copy {}", source.display()))?;
                let held = copies::contents(&copy).with_context(damaged)?.files;
                held.iter().map(|held| (held.file, held.pages, held.chunks)).collect()
            }
            None => Vec::new(),
        };
        let there: HashMap<FileId, (u64, u64)> =
            holds.iter().map(|&(file, pages, chunks)| (file, (pages, chunks))).collect();
        let writing = Writing::for_operator(box_id);
        let (recorded, now) =
            (files_of(catalog, &writing).await.map_err(told)?, files_of(live, &writing).await.map_err(told)?);
        let now: HashMap<FileId, &FileRecord> = now.iter().map(|file| (file.id, file)).collect();
        let mut sound = HashSet::new();
        for file in recorded.iter().filter(|file| file.indexed_at.is_some()) {
            let extent = (u64::from(file.extent.pages), u64::from(file.extent.chunks));
            let unchanged = now
                .get(&file.id)
                .is_some_and(|now| (&now.sha256, now.indexed_at) == (&file.sha256, file.indexed_at));
            match unchanged && there.get(&file.id) == Some(&extent) {
                true => drop(sound.insert(file.id)),
                false => {
                    catalog.requeue_file(&writing, file.id).await.map_err(told)?;
                    self.read_again += 1;
                }
            }
        }
        let odd: Vec<FileId> = there.keys().filter(|file| !sound.contains(file)).copied().collect();
        if fresh {
            if !odd.is_empty() {
                copies::forget(&copy, &odd).with_context(damaged)?;
            }
            // A copy without something is not what the box was: the next backup copies it again.
            let looked = if odd.is_empty() { looked } else { Vec::new() };
            self.keep_pieces(name, &copy, looked, holds)?;
        }
        Ok(())
    }

    /// Links a box's file that looks as it did when it was last copied.
    fn link_unchanged(&mut self, name: &str, looked: &[i128]) -> Result<bool> {
        let same = self.before.as_ref().is_some_and(|(_, before)| {
            let unchanged = |entry: &Entry| !entry.pieces.is_empty() && entry.looked == looked;
            before.files.get(name).is_some_and(unchanged)
        });
        Ok(same && self.link(name)?)
    }

    /// Links a file of the backup before; `false` where it has none.
    fn link(&mut self, name: &str) -> Result<bool> {
        let Some((folder, before)) = &self.before else { return Ok(false) };
        let Some(entry) = before.files.get(name) else { return Ok(false) };
        for (place, _) in entry.places(name) {
            let (from, to) = (folder.join(&place), self.folder.join(&place));
            copying::make_folder_of(&to)?;
            // A disk that cannot link, or a file that somebody removed: it is copied from the store.
            if !to.exists() && fs::hard_link(&from, &to).is_err() {
                return Ok(false);
            }
        }
        self.manifest.files.insert(name.to_string(), entry.clone());
        Ok(true)
    }

    /// Cuts the copy of a box's database into pieces, and takes it away.
    fn keep_pieces(
        &mut self,
        name: String,
        copy: &Path,
        looked: Vec<i128>,
        holds: Vec<(FileId, u64, u64)>,
    ) -> Result<()> {
        let (size, sha256) = read_back(&name, copy)?;
        let before = self.before.as_ref().map(|(folder, _)| folder.as_path());
        let (pieces, written) = pieces::cut(copy, &self.folder, before)?;
        copying::remove_file(copy)?;
        self.copied += 1;
        self.bytes_copied += written;
        self.manifest.files.insert(name, Entry { size, sha256, looked, pieces, holds });
        Ok(())
    }

    fn take_certificate(&mut self) -> Result<()> {
        for name in ["tls/cert.pem", "tls/key.pem"] {
            let from = self.data.join(name);
            if from.is_file() {
                let (size, sha256) = copying::copy(&from, &self.folder.join(name))?;
                self.manifest.files.insert(name.into(), Entry::whole(size, sha256));
            }
        }
        Ok(())
    }
}

/// The size and hash of a database that was copied, which must be sound.
fn read_back(name: &str, copy: &Path) -> Result<(u64, String)> {
    stores::check(copy).map_err(|wrong| anyhow::anyhow!("the copy of {name} is damaged: {wrong}"))?;
    Ok((fs::metadata(copy)?.len(), stores::blobs::hash_of(copy)?))
}

/// What tells whether a database changed: its file and its log; nothing where there is none.
fn look(path: &Path) -> Vec<i128> {
    let Ok(file) = fs::metadata(path) else { return Vec::new() };
    let log = fs::metadata(with_end(path, "-wal")).map_or((0, 0), |log| (log.len(), modified(&log)));
    vec![file.ino().into(), file.len().into(), modified(&file), log.0.into(), log.1]
}

fn modified(metadata: &fs::Metadata) -> i128 {
    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec())
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
    name.push(end);
    path.with_file_name(name)
}

fn told(fault: Fault) -> anyhow::Error {
    match fault.source {
        Some(source) => anyhow::anyhow!("{}: {source}", fault.cause),
        None => anyhow::anyhow!("{}", fault.cause),
    }
}
