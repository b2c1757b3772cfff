//! Makes a box of a bundle. The bundle is read to its end first, so nothing of a damaged one is used; then everything is
//! stored where nobody sees it; the last step makes it a box.

use std::{io::Read, sync::Arc, time::Duration};

use engine::{
    Fault, Reason,
    access::Writing,
    bundle::{Damaged, FileEntry, Head, Part, Reader, Totals},
    document::{Document, Page},
    ids::UserId,
    seams::{
        catalog::{ArrivingFile, BoxName, BoxRecord, Claim, Extent, FileStatus, NewArrival},
        index::IndexedChunk,
    },
};
use stores::blobs::Incoming;

use crate::library::Library;

/// How long the storing of one file may take, before the import counts as abandoned.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// What is to become of a bundle.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Another name for the box.
    pub name: Option<BoxName>,
    /// Whose box it is to be.
    pub owner: UserId,
    /// The embedder of this place: vectors of another are of no use here.
    pub model: &'a str,
    /// The length of its vectors.
    pub dimensions: usize,
}

/// What arrived.
#[derive(Debug)]
pub struct Imported {
    /// The box as it is here.
    pub record: BoxRecord,
    /// How much of everything, as it is here.
    pub totals: Totals,
}

/// Stores a bundle that was read to its end before. If anything goes wrong, nothing of it stays.
pub async fn import<R: Read + Send>(
    library: &Library,
    wanted: Wanted<'_>,
    from: R,
    seen: impl FnMut(u64) + Send,
) -> Result<Imported, Fault> {
    let (head, reader) = Reader::open(from).map_err(refused)?;
    let name = match wanted.name {
        Some(name) => name,
        None => head.box_name().map_err(|wrong| Fault::new(Reason::InvalidParameter, wrong))?,
    };
    let Head { box_id, created_at, notes, settings, .. } = head;
    let arrival = NewArrival { id: box_id, name, created_at, notes, settings };
    let record = library.catalog.begin_arrival(arrival, PATIENCE).await?;
    let writing = Writing::for_operator(record.id);
    let model = head.model.filter(|model| model == wanted.model);
    let dimensions = wanted.dimensions;
    let mut arriving =
        Arriving { library, writing, model, dimensions, file: None, totals: Totals::default() };
    let arrived = async {
        arriving.take_all(reader, seen).await?;
        library.catalog.finish_arrival(&writing, wanted.owner).await
    };
    match arrived.await {
        Ok(()) => {
            library.wake.notify_waiters();
            Ok(Imported { record, totals: arriving.totals })
        }
        Err(fault) => {
            // Why it failed matters more; what is left is removed by whoever looks for abandoned imports.
            let _ = library.give_up_arrival(&writing).await;
            Err(fault)
        }
    }
}

/// What is said of a bundle that cannot be used.
pub(super) fn refused(wrong: Damaged) -> Fault {
    Fault::new(Reason::InvalidParameter, wrong.to_string()).hint("nothing was imported")
}

struct Arriving<'a> {
    library: &'a Library,
    writing: Writing,
    /// The model of the bundle, where it is the one of this place.
    model: Option<String>,
    dimensions: usize,
    file: Option<File>,
    totals: Totals,
}

/// A file that is being read from the bundle.
struct File {
    entry: FileEntry,
    original: Incoming,
    pages: Vec<Page>,
    chunks: Vec<IndexedChunk>,
}

impl Arriving<'_> {
    async fn take_all<R: Read>(
        &mut self,
        mut bundle: Reader<R>,
        mut seen: impl FnMut(u64),
    ) -> Result<(), Fault> {
        loop {
            let part = bundle.next_part().map_err(refused)?;
            seen(bundle.position());
            match part {
                Part::File(entry) => {
                    self.store().await?;
                    let original = self.library.blobs.receive()?;
                    self.file = Some(File { entry: *entry, original, pages: Vec::new(), chunks: Vec::new() });
                }
                // The reader gives these of a file only.
                Part::Bytes(bytes) => {
                    if let Some(file) = &mut self.file {
                        file.original.write(&bytes)?;
                    }
                }
                Part::Page(page) => {
                    if let Some(file) = &mut self.file {
                        file.pages.push(page);
                    }
                }
                Part::Chunk(chunk) => {
                    if let Some(file) = &mut self.file {
                        file.chunks.push(*chunk);
                    }
                }
                Part::End => return self.store().await,
            }
        }
    }

    /// Stores the file that was read last: its record, then its original, then its content.
    async fn store(&mut self) -> Result<(), Fault> {
        let Some(File { entry, original, pages, chunks }) = self.file.take() else { return Ok(()) };
        let library = self.library;
        let usable = entry.is_read() && (self.model.is_some() || chunks.is_empty());
        if usable && chunks.iter().any(|chunk| chunk.vector.len() != self.dimensions) {
            let cause = format!("`{}` has vectors of another length than its model's", entry.name);
            return Err(Fault::new(Reason::InvalidParameter, cause));
        }
        let staged =
            tokio::task::spawn_blocking(move || original.finish()).await.map_err(Fault::internal)??;
        if staged.sha256 != entry.sha256 {
            return Err(Fault::new(
                Reason::InvalidParameter,
                "an original has other bytes than its hash says",
            ));
        }
        let arriving = arriving(&entry, usable, &pages)?;
        self.totals.files += 1;
        self.totals.unread += u64::from(arriving.status == FileStatus::Queued);
        self.totals.bytes += staged.size;
        // The record first: from then on nobody removes an original of these bytes.
        let claimed = library.catalog.claim(Claim::Original(entry.sha256.clone())).await?;
        let file = library.catalog.add_arriving(&self.writing, arriving, PATIENCE).await?;
        library.blobs.keep(staged).await?;
        drop(claimed);
        if usable {
            self.totals.pages += pages.len() as u64;
            self.totals.chunks += chunks.len() as u64;
            let document =
                Document { media_type: entry.media_type, title: entry.title, pages, warnings: Vec::new() };
            let model = self.model.as_deref().unwrap_or_default();
            library.index.replace(&self.writing, file, &Arc::new(document), &chunks.into(), model).await?;
        }
        Ok(())
    }
}

/// The record of a file; one whose content cannot be used here is to be read as if it were uploaded.
fn arriving(entry: &FileEntry, usable: bool, pages: &[Page]) -> Result<ArrivingFile, Fault> {
    let name = entry.file_name().map_err(|wrong| Fault::new(Reason::InvalidParameter, wrong))?;
    let status = match (entry.is_read(), usable) {
        (true, false) => FileStatus::Queued,
        _ => entry.status,
    };
    let characters = pages.iter().map(|page| page.text.chars().count() as u64).sum();
    let extent = Extent { pages: entry.pages, characters, chunks: entry.chunks };
    Ok(ArrivingFile {
        id: entry.id,
        name,
        external_id: entry.external_id.clone(),
        sha256: entry.sha256.clone(),
        size: entry.size,
        media_type: entry.media_type.clone(),
        status,
        error: entry.error.clone().filter(|_| status == FileStatus::Failed),
        warnings: if usable { entry.warnings.clone() } else { Vec::new() },
        language: entry.language.clone().filter(|_| usable),
        tags: entry.tags.clone(),
        metadata: entry.metadata.clone(),
        extent: if usable { extent } else { Extent::default() },
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        indexed_at: entry.indexed_at.filter(|_| usable),
        expires_at: entry.expires_at,
    })
}
