//! What happens to files as a whole: receiving, deleting, tidying up. Keeps catalog, originals and index in step.

use std::sync::Arc;

use engine::{
    Fault,
    access::{Owning, Writing},
    ids::{BoxId, FileId},
    seams::{
        catalog::{Catalog, Deletion, FileRecord, FileStatus, NewFile, Uploaded},
        index::{Index, Removed},
    },
};
use stores::blobs::{Blobs, Staged};
use tokio::sync::{Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard, RwLockWriteGuard, broadcast};

/// Events kept for a listener that is slow; one that is slower misses some and is told so.
const EVENTS_KEPT: usize = 1024;
/// Files share locks by their id; enough that two workers seldom meet.
const LOCKS: usize = 64;

/// The files of all boxes.
pub struct Library {
    /// What is known of each file.
    pub catalog: Arc<dyn Catalog>,
    /// The originals.
    pub blobs: Blobs,
    /// Pages and chunks.
    pub index: Arc<dyn Index>,
    /// Tells workers that there is something to do.
    pub wake: Notify,
    events: broadcast::Sender<Arc<FileRecord>>,
    locks: [Mutex<()>; LOCKS],
    /// By box; held for writing while an index is exchanged.
    held: [RwLock<()>; LOCKS],
}

/// The lock that an id shares with some others: identifiers begin with the time, so the last byte spreads them evenly.
fn shared_by(id: &[u8; 16]) -> usize {
    usize::from(id[15]) % LOCKS
}

/// What a deletion removed.
pub struct Receipt {
    /// The file as it was.
    pub file: FileRecord,
    /// Originals removed: none while another file is of the same bytes.
    pub originals: u64,
    /// Pages, chunks and vectors removed.
    pub removed: Removed,
}

impl Library {
    /// A library over these stores.
    pub fn new(catalog: Arc<dyn Catalog>, blobs: Blobs, index: Arc<dyn Index>) -> Self {
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        let locks = std::array::from_fn(|_| Mutex::new(()));
        let held = std::array::from_fn(|_| RwLock::new(()));
        Library { catalog, blobs, index, wake: Notify::new(), events, locks, held }
    }

    /// Whoever changes the content of a file holds its lock, so that a deletion and a worker never overtake each other.
    pub async fn lock(&self, box_id: BoxId, file: FileId) -> (RwLockReadGuard<'_, ()>, MutexGuard<'_, ()>) {
        let changing = self.held[shared_by(box_id.as_bytes())].read().await;
        (changing, self.locks[shared_by(file.as_bytes())].lock().await)
    }

    /// Keeps everybody from changing the content of a box.
    pub async fn hold(&self, box_id: BoxId) -> RwLockWriteGuard<'_, ()> {
        self.held[shared_by(box_id.as_bytes())].write().await
    }

    /// Makes a file of a received original. When this returns, the file is on disk and in the queue.
    pub async fn add(
        &self,
        writing: &Writing,
        staged: Staged,
        describe: impl FnOnce(&Staged) -> NewFile,
    ) -> Result<Uploaded, Fault> {
        let new = describe(&staged);
        let sha256 = new.sha256.clone();
        let blobs = self.blobs.clone();
        tokio::task::spawn_blocking(move || blobs.keep(staged)).await.map_err(Fault::internal)??;
        let uploaded = match self.catalog.add_file(writing, new).await {
            Ok(uploaded) => uploaded,
            Err(fault) => {
                self.remove_original(&sha256).await?;
                return Err(fault);
            }
        };
        if let Some(superseded) = &uploaded.superseded {
            self.remove_original(superseded).await?;
        }
        self.tell(uploaded.file.clone());
        self.wake.notify_waiters();
        Ok(uploaded)
    }

    /// Deletes a file: when this returns, nothing of it can be read, searched, cited or downloaded.
    pub async fn delete(&self, writing: &Writing, file: FileId) -> Result<Option<Receipt>, Fault> {
        let _lock = self.lock(writing.box_id(), file).await;
        let Some(deletion) = self.catalog.begin_delete(writing, file).await? else { return Ok(None) };
        self.tell(FileRecord { status: FileStatus::Deleting, ..deletion.file.clone() });
        self.finish_delete(deletion).await.map(Some)
    }

    async fn finish_delete(&self, deletion: Deletion) -> Result<Receipt, Fault> {
        let Deletion { file, originals } = deletion;
        let writing = Writing::for_operator(file.box_id);
        let removed = self.index.remove(&writing, file.id).await?;
        // An earlier index of the box that is kept to go back to, or one under way, is not to keep it either.
        self.index.draft().remove(&writing, file.id).await?;
        let mut gone = 0;
        for sha256 in originals {
            gone += u64::from(self.remove_original(&sha256).await?);
        }
        self.catalog.finish_delete(&writing, file.id).await?;
        Ok(Receipt { file, originals: gone, removed })
    }

    /// Removes an original that no file refers to.
    pub async fn remove_original(&self, sha256: &str) -> Result<bool, Fault> {
        self.blobs.remove_unless(sha256, || self.catalog.original_is_wanted(sha256)).await
    }

    /// Deletes a whole box with everything in it. Access ends first, then what could have been accessed.
    pub async fn delete_box(&self, owning: &Owning) -> Result<(), Fault> {
        let writing = owning.managing().writing();
        let originals = self.catalog.originals_of_box(writing).await?;
        self.catalog.delete_box(owning).await?;
        self.index.drop_box(writing).await?;
        self.index.draft().drop_box(writing).await?;
        for sha256 in originals {
            self.remove_original(&sha256).await?;
        }
        Ok(())
    }

    /// After a crash: finishes what was begun, before anything new comes in.
    pub async fn recover(&self) -> Result<(), Fault> {
        self.blobs.recover(|sha256| async move { self.catalog.original_is_wanted(&sha256).await }).await?;
        for deletion in self.catalog.half_deleted().await? {
            self.finish_delete(deletion).await?;
        }
        Ok(())
    }

    /// Tells listeners that a file changed.
    pub fn tell(&self, file: FileRecord) {
        // Nobody listening is fine.
        let _ = self.events.send(Arc::new(file));
    }

    /// Every change from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<FileRecord>> {
        self.events.subscribe()
    }
}
