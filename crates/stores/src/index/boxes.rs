//! The boxes that are open now: few enough to keep memory and file handles bounded however many boxes there are.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engine::{Fault, ids::BoxId};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::open::OpenBox;
use crate::Error;

/// How much may be kept open.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Boxes kept open at most; each holds up to about ten file handles.
    pub boxes: usize,
    /// Bytes of vectors and codes kept in memory at most, except that a box in use is never closed.
    pub bytes: usize,
}

impl Default for Bounds {
    /// 64 boxes stay well below the usual limit of 1,024 file handles; half a gigabyte holds the codes of ten million
    /// chunks or the whole vectors of 700,000 in small boxes.
    fn default() -> Self {
        Bounds { boxes: 64, bytes: 512 << 20 }
    }
}

/// All boxes under one folder, opened on demand, the least recently used closed first.
pub(super) struct Boxes {
    root: PathBuf,
    bounds: Bounds,
    open: Mutex<Open>,
    /// Told when a box is no longer closing.
    closed: Condvar,
}

#[derive(Default)]
struct Open {
    clock: u64,
    boxes: HashMap<BoxId, Entry>,
    /// Boxes that are being moved: whoever wants one waits.
    closing: HashSet<BoxId>,
}

struct Entry {
    used: u64,
    state: Arc<OpenBox>,
}

impl Boxes {
    /// Takes charge of the boxes under `root`, and finishes removals that a crash cut short.
    pub(super) fn new(root: PathBuf, bounds: Bounds) -> io::Result<Self> {
        fs::create_dir_all(root.join("boxes"))?;
        let dropped = root.join("dropped");
        if dropped.exists() {
            fs::remove_dir_all(&dropped)?;
        }
        fs::create_dir_all(dropped)?;
        Ok(Boxes { root, bounds, open: Mutex::default(), closed: Condvar::new() })
    }

    /// The box, if anything was ever stored in it.
    pub(super) fn existing(&self, id: BoxId) -> Option<Arc<OpenBox>> {
        let mut open = self.lock(id);
        if !open.boxes.contains_key(&id) && !self.folder(id).join(OpenBox::FILE).exists() {
            return None;
        }
        Some(self.take(&mut open, id))
    }

    /// The box, created where it is missing.
    pub(super) fn made(&self, id: BoxId) -> Result<Arc<OpenBox>, Fault> {
        fs::create_dir_all(self.folder(id)).map_err(Error::io("making the folder of a box"))?;
        Ok(self.take(&mut self.lock(id), id))
    }

    /// The open boxes, once this one is not being moved.
    fn lock(&self, id: BoxId) -> MutexGuard<'_, Open> {
        let mut open = self.open.lock();
        while open.closing.contains(&id) {
            self.closed.wait(&mut open);
        }
        open
    }

    /// Removes a box. What is being read from it right now may still be read to its end.
    pub(super) fn drop_box(&self, id: BoxId) -> Result<(), Fault> {
        let state = self.take(&mut self.lock(id), id);
        let aside = self.root.join("dropped").join(id.to_string());
        remove_folder(&aside)?;
        state.retire(|| {
            self.open.lock().boxes.remove(&id);
            match fs::rename(self.folder(id), &aside) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Fault::internal(error)),
                _ => Ok(()),
            }
        })?;
        drop(state);
        remove_folder(&aside)
    }

    /// Exchanges a box's folder with the one that `other` has of it. Nobody sees anything between: whoever uses the box
    /// finishes first, whoever comes meanwhile waits.
    pub(super) fn exchange(&self, id: BoxId, other: &Boxes) -> Result<(), Fault> {
        self.close_while(id, || {
            other.close_while(id, || {
                let (mine, theirs) = (self.folder(id), other.folder(id));
                for folder in [&mine, &theirs] {
                    fs::create_dir_all(folder).map_err(Fault::internal)?;
                }
                renameat2(AT_FDCWD, &mine, AT_FDCWD, &theirs, RenameFlags::RENAME_EXCHANGE)
                    .map_err(Fault::internal)
            })
        })
    }

    /// Runs `work` while the box is closed. A connection that is closed later would take the new folder's log for its
    /// own, so every user is waited for.
    fn close_while(&self, id: BoxId, work: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
        let mut open = self.open.lock();
        while !open.closing.insert(id) {
            self.closed.wait(&mut open);
        }
        while open.boxes.get(&id).is_some_and(|entry| Arc::strong_count(&entry.state) > 1) {
            parking_lot::MutexGuard::unlocked(&mut open, || std::thread::sleep(Duration::from_millis(1)));
        }
        open.boxes.remove(&id);
        drop(open);
        let done = work();
        self.open.lock().closing.remove(&id);
        self.closed.notify_all();
        done
    }

    /// How many boxes are open now.
    pub(super) fn count(&self) -> usize {
        self.open.lock().boxes.len()
    }

    fn take(&self, open: &mut Open, id: BoxId) -> Arc<OpenBox> {
        open.clock += 1;
        let used = open.clock;
        if let Some(entry) = open.boxes.get_mut(&id) {
            entry.used = used;
            return entry.state.clone();
        }
        self.make_room(open);
        let state = Arc::new(OpenBox::new(self.folder(id)));
        open.boxes.insert(id, Entry { used, state: state.clone() });
        state
    }

    /// Closes idle boxes until another fits. One that someone holds stays: two states of one box would disagree.
    fn make_room(&self, open: &mut Open) {
        loop {
            let bytes: usize = open.boxes.values().map(|entry| entry.state.bytes()).sum();
            if open.boxes.len() < self.bounds.boxes && bytes < self.bounds.bytes {
                return;
            }
            let idle = open.boxes.iter().filter(|(_, entry)| Arc::strong_count(&entry.state) == 1);
            let Some(oldest) = idle.min_by_key(|(_, entry)| entry.used).map(|(&id, _)| id) else { return };
            open.boxes.remove(&oldest);
        }
    }

    fn folder(&self, id: BoxId) -> PathBuf {
        folder_of(&self.root, id)
    }
}

/// Identifiers begin with the time they were made at, so their last byte spreads them evenly over 256 folders.
pub(super) fn folder_of(root: &Path, id: BoxId) -> PathBuf {
    let [.., last] = *id.as_bytes();
    root.join("boxes").join(format!("{last:02x}")).join(id.to_string())
}

/// Removes a folder with all in it, if it is there.
fn remove_folder(folder: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Fault::internal(error)),
        _ => Ok(()),
    }
}
