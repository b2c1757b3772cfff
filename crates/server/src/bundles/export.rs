//! Writes a box into a bundle, while it is in use.
//!
//! Each file is written as it is at one moment: what its record, its pages and its original say is compared before
//! anything of it is written, and read again where the file changed meanwhile.

use std::io::Write;

use engine::{
    Fault, Reason,
    access::{Role, Writing},
    bundle::{FileEntry, Head, Totals, Writer},
    document::Document,
    ids::FileId,
    ingest::stored_whole,
    seams::{
        catalog::{BoxRecord, FileRecord, FileStatus},
        index::{Contents, IndexedChunk},
    },
};
use futures::StreamExt;
use jiff::Timestamp;

use crate::library::{Library, files_of};

/// How often a file that changes while it is read is read again.
const TRIES: usize = 5;

/// What was written.
#[derive(Debug, Default)]
pub struct Exported {
    /// How much of everything.
    pub totals: Totals,
}

/// Writes a box. `open` opens the stores: again where somebody else changed the box meanwhile, because what is in memory of
/// an index is of the moment when it was opened.
pub async fn export<W: Write + Send>(
    open: impl AsyncFn() -> Result<Library, Fault>,
    record: &BoxRecord,
    to: W,
    mut seen: impl FnMut(usize, usize),
) -> Result<(Exported, W), Fault> {
    let writing = Writing::for_operator(record.id);
    let mut source = Source::new(open().await?, writing).await?;
    let head = source.head(record).await?;
    let mut bundle = Writer::start(to, &head).map_err(unwritten)?;
    let files = files_of(&*source.library.catalog, &writing).await?;
    let mut exported = Exported::default();
    for (at, file) in files.iter().map(|file| file.id).enumerate() {
        seen(at, files.len());
        let mut tries = 0;
        let found = loop {
            match source.read(file).await? {
                Look::Changed if tries < TRIES => {
                    tries += 1;
                    source = Source::new(open().await?, writing).await?;
                }
                Look::Changed => return Err(restless(file)),
                Look::Gone => break None,
                Look::Found(found) => break Some(found),
            }
        };
        // A box that another model indexed meanwhile has vectors that the head does not speak of.
        if source.contents.model != head.model && source.contents.model.is_some() && head.model.is_some() {
            let cause = "the box was reindexed with another model while it was exported";
            return Err(Fault::new(Reason::Conflict, cause).hint("export it again"));
        }
        if let Some(found) = found {
            source.write(&mut bundle, *found, &mut exported.totals).await?;
        }
    }
    let to = bundle.finish().map_err(unwritten)?;
    Ok((exported, to))
}

/// The box as it is read.
struct Source {
    library: Library,
    writing: Writing,
    contents: Contents,
}

/// A file with all that is known of it.
struct Found {
    entry: FileEntry,
    content: Option<(Document, Vec<IndexedChunk>)>,
}

enum Look {
    Found(Box<Found>),
    /// Deleted since it was listed.
    Gone,
    Changed,
}

impl Source {
    async fn new(library: Library, writing: Writing) -> Result<Self, Fault> {
        let contents = library.index.contents(writing.reading()).await?;
        Ok(Source { library, writing, contents })
    }

    async fn head(&self, record: &BoxRecord) -> Result<Head, Fault> {
        let (catalog, reading) = (&self.library.catalog, self.writing.reading());
        let owner = catalog.members(reading).await?.into_iter().find(|member| member.role == Role::Owner);
        Ok(Head {
            written_by: env!("CARGO_PKG_VERSION").into(),
            written_at: Timestamp::now(),
            box_id: record.id,
            name: record.name.as_str().into(),
            created_at: record.created_at,
            owner: owner.map(|owner| owner.email.to_string()),
            model: self.contents.model.clone(),
            notes: catalog.notes(&[*reading]).await?.pop().unwrap_or_default(),
            settings: catalog.settings_of(reading).await?,
        })
    }

    /// One file as it is at one moment.
    async fn read(&self, file: FileId) -> Result<Look, Fault> {
        let Some(record) = self.record(file).await? else { return Ok(Look::Gone) };
        let found = match record.status {
            FileStatus::Ready | FileStatus::ReadyWithWarnings => self.read_content(&record).await?,
            FileStatus::Failed => Some(Found { entry: entry(&record), content: None }),
            FileStatus::Queued | FileStatus::Processing => Some(self.unread(&record).await?),
            FileStatus::Deleting => return Ok(Look::Gone),
        };
        let Some(found) = found else { return Ok(Look::Changed) };
        let same = self.record(file).await?.is_some_and(|now| {
            (now.status, &now.sha256, now.indexed_at) == (record.status, &record.sha256, record.indexed_at)
        });
        Ok(if same { Look::Found(Box::new(found)) } else { Look::Changed })
    }

    async fn record(&self, file: FileId) -> Result<Option<FileRecord>, Fault> {
        Ok(self.library.catalog.files(self.writing.reading(), &[file]).await?.pop().flatten())
    }

    /// A file that can be read, with its pages and chunks; `None` where it is being stored again.
    async fn read_content(&self, record: &FileRecord) -> Result<Option<Found>, Fault> {
        let Some(held) = self.contents.files.iter().find(|held| held.file == record.id) else {
            return Ok(None);
        };
        let content = stored_whole(&*self.library.index, &self.writing, held).await?;
        let told = (u64::from(record.extent.pages), u64::from(record.extent.chunks));
        Ok(content.filter(|_| told == (held.pages, held.chunks)).map(|(document, chunks)| {
            let entry = FileEntry {
                title: document.title.clone(),
                pages: record.extent.pages,
                chunks: record.extent.chunks,
                ..entry(record)
            };
            Found { entry, content: Some((document, chunks)) }
        }))
    }

    /// A file that waits to be read: its newest version, which is read where it arrives.
    async fn unread(&self, record: &FileRecord) -> Result<Found, Fault> {
        let mut entry = FileEntry {
            status: FileStatus::Queued,
            error: None,
            warnings: Vec::new(),
            indexed_at: None,
            ..entry(record)
        };
        if let Some(newest) = self.library.catalog.waiting_version(&self.writing, record.id).await? {
            entry.name = newest.name.as_str().into();
            (entry.sha256, entry.size) = (newest.sha256, newest.size);
        }
        Ok(Found { entry, content: None })
    }

    async fn write<W: Write>(
        &self,
        bundle: &mut Writer<W>,
        found: Found,
        totals: &mut Totals,
    ) -> Result<(), Fault> {
        let Found { entry, content } = found;
        bundle.file(&entry).map_err(unwritten)?;
        let mut original = self.library.blobs.read(&entry.sha256, 0..entry.size).await?;
        let mut size = 0;
        while let Some(bytes) = original.next().await {
            let bytes = bytes.map_err(|error| lost(&entry, error))?;
            size += bytes.len() as u64;
            bundle.bytes(&bytes).map_err(unwritten)?;
        }
        if size != entry.size {
            return Err(lost(&entry, format!("it has {size} bytes instead of {}", entry.size)));
        }
        for page in content.iter().flat_map(|(document, _)| &document.pages) {
            bundle.page(page).map_err(unwritten)?;
        }
        for chunk in content.iter().flat_map(|(_, chunks)| chunks) {
            bundle.chunk(chunk).map_err(unwritten)?;
        }
        totals.files += 1;
        totals.unread += u64::from(entry.status == FileStatus::Queued);
        totals.bytes += entry.size;
        totals.pages += u64::from(entry.pages);
        totals.chunks += u64::from(entry.chunks);
        Ok(())
    }
}

/// What is said of a file, without its content.
fn entry(record: &FileRecord) -> FileEntry {
    FileEntry {
        id: record.id,
        name: record.name.as_str().into(),
        external_id: record.external_id.clone(),
        sha256: record.sha256.clone(),
        size: record.size,
        media_type: record.media_type.clone(),
        status: record.status,
        error: record.error.clone(),
        warnings: record.warnings.clone(),
        language: record.language.clone(),
        tags: record.tags.clone(),
        metadata: record.metadata.clone(),
        created_at: record.created_at,
        updated_at: record.updated_at,
        indexed_at: record.indexed_at,
        expires_at: record.expires_at,
        title: None,
        pages: 0,
        chunks: 0,
    }
}

fn unwritten(error: std::io::Error) -> Fault {
    Fault::new(Reason::Internal, format!("the bundle could not be written: {error}"))
}

fn lost(entry: &FileEntry, why: impl std::fmt::Display) -> Fault {
    Fault::new(Reason::Internal, format!("the original of `{}` cannot be read: {why}", entry.name))
        .hint("`quire doctor --scrub` lists damaged originals")
}

fn restless(file: FileId) -> Fault {
    Fault::new(Reason::Conflict, format!("{file} is changed again and again while it is read"))
        .hint("export the box again when less is uploaded")
}
