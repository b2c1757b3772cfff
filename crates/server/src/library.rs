//! What happens to files as a whole: receiving, deleting, tidying up. Keeps catalog, originals and index in step.

use std::{collections::HashSet, sync::Arc, time::Duration};

use engine::{
    Fault,
    access::{Owning, Writing},
    ids::{BoxId, FileId},
    seams::{
        catalog::{
            Action, BoxTotals, Catalog, Change, Claim, Deletion, FileQuery, FileRecord, FileStatus, Held,
            NewEntry, NewFile, SortKey, Upload, Uploaded,
        },
        index::{Index, Removed},
    },
    trace,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use stores::blobs::{Blobs, Staged};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

/// How often to check whether a deletion is to be finished.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After how many such looks originals are compared with what files want: once a day.
const SWEEP_AFTER: u32 = 24 * 60 * 60;
/// Expired files deleted in one go, before other deletions have their turn.
const EXPIRED_AT_ONCE: u32 = 100;
/// Files of a box listed at a time.
const FILES_AT_ONCE: u32 = 500;
/// Events kept for a listener that is slow; one that is slower misses some and is told so.
const EVENTS_KEPT: usize = 1024;

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
    /// Boxes whose documents may have turned out to be in languages other than English.
    languages: Mutex<HashSet<BoxId>>,
}

/// What the deletion of a box removed.
#[derive(Debug)]
pub struct DeletedBox {
    /// Files, with their pages and bytes.
    pub totals: BoxTotals,
}

/// What a deletion removed.
pub struct Receipt {
    /// The file as it was.
    pub file: FileRecord,
    /// Originals that the box no longer has: none while another of its files is of the same bytes.
    pub originals: u64,
    /// Pages, chunks and vectors removed.
    pub removed: Removed,
}

impl Library {
    /// A library over these stores.
    pub fn new(catalog: Arc<dyn Catalog>, blobs: Blobs, index: Arc<dyn Index>) -> Self {
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        Library { catalog, blobs, index, wake: Notify::new(), events, languages: Mutex::default() }
    }

    /// Has it looked whether a box is still for the right language.
    pub fn look_at_language(&self, box_id: BoxId) {
        self.languages.lock().insert(box_id);
    }

    /// The boxes to look at.
    pub(crate) fn languages_to_look_at(&self) -> HashSet<BoxId> {
        std::mem::take(&mut *self.languages.lock())
    }

    /// Whoever changes the content of a file claims it, so that a deletion and a worker never overtake each other.
    pub async fn claim(&self, box_id: BoxId, file: FileId) -> Result<Held, Fault> {
        self.catalog.claim(Claim::File(box_id, file)).await
    }

    /// Keeps everybody from changing the content of a box.
    pub async fn hold(&self, box_id: BoxId) -> Result<Held, Fault> {
        self.catalog.claim(Claim::Box(box_id)).await
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
        // Until a file refers to it, somebody who deletes another file of the same bytes could take it away.
        let claimed = self.catalog.claim(Claim::Original(sha256.clone())).await?;
        self.blobs.keep(staged).await?;
        let added = self.catalog.add_file(writing, new).await;
        drop(claimed);
        let uploaded = match added {
            Ok(uploaded) => uploaded,
            Err(fault) => {
                // Why it failed matters more than whether it could be tidied up after.
                let _ = self.remove_original(&sha256).await;
                return Err(fault);
            }
        };
        for superseded in &uploaded.superseded {
            self.remove_original(superseded).await?;
        }
        self.tell(uploaded.file.clone());
        self.wake.notify_waiters();
        Ok(uploaded)
    }

    /// Keeps a received original for a user who has not said yet which box it is for.
    pub async fn keep_upload(&self, staged: Staged, upload: Upload) -> Result<(), Fault> {
        let sha256 = upload.sha256.clone();
        let claimed = self.catalog.claim(Claim::Original(sha256.clone())).await?;
        self.blobs.keep(staged).await?;
        let added = self.catalog.add_upload(upload).await;
        drop(claimed);
        if added.is_err() {
            // Why it failed matters more than whether it could be tidied up after.
            let _ = self.remove_original(&sha256).await;
        }
        added
    }

    /// Makes a file of an original that is kept already; `None` where it has gone meanwhile.
    pub async fn add_upload(&self, writing: &Writing, new: NewFile) -> Result<Option<Uploaded>, Fault> {
        // Nobody removes the original between the look for it and the record that refers to it.
        let claimed = self.catalog.claim(Claim::Original(new.sha256.clone())).await?;
        if !self.blobs.has(&new.sha256).await? {
            return Ok(None);
        }
        let uploaded = self.catalog.add_file(writing, new).await?;
        drop(claimed);
        for superseded in &uploaded.superseded {
            self.remove_original(superseded).await?;
        }
        self.tell(uploaded.file.clone());
        self.wake.notify_waiters();
        Ok(Some(uploaded))
    }

    /// Removes uploads that have expired, with their originals.
    async fn end_uploads(&self) -> Result<(), Fault> {
        for sha256 in self.catalog.remove_expired_uploads(Timestamp::now()).await? {
            self.remove_original(&sha256).await?;
        }
        Ok(())
    }

    /// Deletes a file: when this returns, nothing of it can be read, searched, cited or downloaded, and nothing is left
    /// of it on the disk. Once begun it is done to its end, also where whoever asked for it has gone.
    pub async fn delete(self: &Arc<Self>, writing: &Writing, file: FileId) -> Result<Option<Receipt>, Fault> {
        let (library, writing) = (self.clone(), *writing);
        let deleting = trace::carried(async move {
            let _claimed = library.claim(writing.box_id(), file).await?;
            let Some(deletion) = library.catalog.begin_delete(&writing, file).await? else { return Ok(None) };
            library.tell(FileRecord { status: FileStatus::Deleting, ..deletion.file.clone() });
            library.finish_delete(deletion).await.map(Some)
        });
        tokio::spawn(deleting).await.map_err(Fault::internal)?
    }

    /// The rest of a deletion that was begun, by whoever has claimed the file; done twice it does nothing.
    async fn finish_delete(&self, deletion: Deletion) -> Result<Receipt, Fault> {
        let Deletion { file, originals, last_of_box } = deletion;
        let writing = Writing::for_operator(file.box_id);
        let removed = self.index.remove(&writing, file.id).await?;
        // An earlier index of the box that is kept to go back to, or one in progress, is not to keep it either.
        self.index.draft().remove(&writing, file.id).await?;
        for sha256 in originals {
            self.remove_original(&sha256).await?;
        }
        self.catalog.finish_delete(&writing, file.id).await?;
        Ok(Receipt { file, originals: last_of_box, removed })
    }

    /// Deletes files whose time is over, each with its line in the audit log. Another node may be at the same one: then it
    /// is gone when we come to it.
    pub async fn end_files(self: &Arc<Self>, now: Timestamp) -> Result<(), Fault> {
        for (writing, file) in self.catalog.expired_files(now, EXPIRED_AT_ONCE).await? {
            let Some(Receipt { file, originals, removed }) = self.delete(&writing, file).await? else {
                continue;
            };
            let name: String = file.name.as_str().chars().take(150).collect();
            let target = format!(
                "{name}: {originals} originals, {} pages, {} chunks, {} vectors removed",
                removed.pages, removed.chunks, removed.vectors
            );
            let entry = NewEntry {
                at: Timestamp::now(),
                user: None,
                who: "retention".into(),
                address: String::new(),
                box_id: Some(file.box_id),
                action: Action::FileExpired,
                target,
            };
            self.catalog.note(entry).await?;
        }
        Ok(())
    }

    /// Removes an original that no file refers to.
    pub async fn remove_original(&self, sha256: &str) -> Result<bool, Fault> {
        let _claimed = self.catalog.claim(Claim::Original(sha256.to_string())).await?;
        self.blobs.remove_unless(sha256, || self.catalog.original_is_wanted(sha256)).await
    }

    /// Deletes a whole box with everything in it. Access ends first, then what could have been accessed. Once begun it is
    /// done to its end: by this, or by whoever looks for deletions to finish.
    pub async fn delete_box(self: &Arc<Self>, owning: &Owning) -> Result<DeletedBox, Fault> {
        let (library, owning) = (self.clone(), *owning);
        let deleting = trace::carried(async move {
            let totals =
                library.catalog.totals(&[*owning.managing().reading()]).await?.pop().unwrap_or_default();
            library.catalog.begin_delete_box(&owning).await?;
            library.finish_delete_box(owning.box_id()).await?;
            Ok(DeletedBox { totals })
        });
        tokio::spawn(deleting).await.map_err(Fault::internal)?
    }

    /// Whoever changes the content of the box has claimed it, and is waited for; whoever comes later sees that it is going
    /// away. The record goes last: until then a crash leaves something to go on from.
    async fn finish_delete_box(&self, box_id: BoxId) -> Result<(), Fault> {
        let writing = Writing::for_operator(box_id);
        let _held = self.hold(box_id).await?;
        self.index.drop_box(&writing).await?;
        self.index.draft().drop_box(&writing).await?;
        for sha256 in self.catalog.originals_of_box(&writing).await? {
            self.remove_original(&sha256).await?;
        }
        self.catalog.finish_delete_box(&writing).await
    }

    /// Removes what was brought so far of a box that will not arrive.
    pub async fn give_up_arrival(&self, writing: &Writing) -> Result<(), Fault> {
        self.catalog.give_up_arrival(writing).await?;
        self.finish_delete_box(writing.box_id()).await
    }

    /// After a crash: finishes what was begun, before anything new comes in.
    pub async fn recover(&self) -> Result<(), Fault> {
        self.blobs.recover(|sha256| async move { self.catalog.original_is_wanted(&sha256).await }).await?;
        self.finish_deletions().await
    }

    /// Finishes deletions that were begun: by a node that died, or by a command that left them to this server. What an
    /// import that died has brought goes the same way.
    pub async fn finish_deletions(&self) -> Result<(), Fault> {
        self.catalog.give_up_abandoned_arrivals().await?;
        for box_id in self.catalog.half_deleted_boxes().await? {
            self.finish_delete_box(box_id).await?;
        }
        for deletion in self.catalog.half_deleted().await? {
            let _claimed = self.claim(deletion.file.box_id, deletion.file.id).await?;
            self.finish_delete(deletion).await?;
        }
        Ok(())
    }

    /// Removes originals that no file refers to: of uploads that a crash cut short before they became files, and of
    /// versions that were replaced right before one.
    pub async fn sweep_originals(&self) -> Result<(), Fault> {
        let wanted: HashSet<String> = self.catalog.wanted_originals().await?.into_iter().collect();
        for sha256 in self.blobs.names().await?.iter().filter(|name| !wanted.contains(*name)) {
            self.remove_original(sha256).await?;
        }
        Ok(())
    }

    /// Finishes deletions and removes what a crash left behind, until shutdown. The server answers requests meanwhile: to
    /// list a large bucket takes minutes.
    pub async fn tend(self: &Arc<Self>, shutdown: CancellationToken) {
        let mut looks: u32 = 0;
        loop {
            if let Err(fault) = self.finish_deletions().await {
                tracing::warn!(error = ?fault, "Could not finish a deletion; it will be tried again");
            }
            if let Err(fault) = self.end_files(Timestamp::now()).await {
                tracing::warn!(error = ?fault, "Could not delete files that have expired; it will be tried again");
            }
            if let Err(fault) = self.end_uploads().await {
                tracing::warn!(error = ?fault, "Could not remove uploads that have expired; it will be tried again");
            }
            if looks.is_multiple_of(SWEEP_AFTER)
                && let Err(fault) = self.sweep_originals().await
            {
                tracing::warn!(error = ?fault, "Could not look for originals that no file refers to");
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => looks = looks.wrapping_add(1),
                () = shutdown.cancelled() => return,
            }
        }
    }

    /// Tells listeners, on all nodes, that a file changed.
    pub fn tell(&self, file: FileRecord) {
        let change = Change::of(&file);
        let catalog = self.catalog.clone();
        self.tell_here(file);
        tokio::spawn(async move {
            if let Err(fault) = catalog.announce(change).await {
                tracing::debug!(error = ?fault, "Could not tell other nodes of a change");
            }
        });
    }

    fn tell_here(&self, file: FileRecord) {
        // Nobody listening is fine.
        let _ = self.events.send(Arc::new(file));
    }

    /// Passes on what other nodes tell, for as long as it runs: listeners hear of it, and workers look for work.
    pub async fn hear_others(&self) {
        let mut announced = self.catalog.announced();
        loop {
            match announced.recv().await {
                Ok(change) => {
                    if change.status == FileStatus::Queued {
                        self.wake.notify_waiters();
                    }
                    if self.events.receiver_count() > 0 {
                        self.pass_on(change).await;
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    async fn pass_on(&self, change: Change) {
        if let Some(last) = change.last {
            return self.tell_here(*last);
        }
        let reading = Writing::for_operator(change.box_id);
        let found = self.catalog.files(reading.reading(), &[change.file]).await.unwrap_or_default();
        found.into_iter().flatten().for_each(|file| self.tell_here(file));
    }

    /// Every change from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<FileRecord>> {
        self.events.subscribe()
    }
}

/// All files of a box, oldest first.
pub(crate) async fn files_of(catalog: &dyn Catalog, writing: &Writing) -> Result<Vec<FileRecord>, Fault> {
    let mut files = Vec::new();
    let mut after = None;
    loop {
        let query = FileQuery {
            name_part: None,
            statuses: Vec::new(),
            tags: Vec::new(),
            sort: SortKey::CreatedAt,
            descending: false,
            after: after.take(),
            limit: FILES_AT_ONCE,
        };
        let page = catalog.list_files(&[*writing.reading()], query).await?;
        files.extend(page.files);
        after = page.next;
        if after.is_none() {
            return Ok(files);
        }
    }
}

/// The next change of a file of this box; `None` once nothing is told any more. Whoever fell behind goes on with what is
/// newest.
pub async fn next_change(
    listener: &mut broadcast::Receiver<Arc<FileRecord>>,
    box_id: BoxId,
) -> Option<Arc<FileRecord>> {
    loop {
        match listener.recv().await {
            Ok(file) if file.box_id == box_id => return Some(file),
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return None,
        }
    }
}
