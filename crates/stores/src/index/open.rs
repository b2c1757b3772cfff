//! One open box: its file, and what is derived from it in memory and beside it.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use engine::{
    Fault, Reason,
    document::{Document, Page},
    ids::{ChunkId, FileId},
    seams::index::{Candidate, Chunk, Contents, Correction, HowRead, IndexedChunk, LaidOut, Removed},
};
use parking_lot::{Mutex, MutexGuard, RwLock};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{
    Wanted,
    rows::Rows,
    schema,
    text::{Matches, Text},
    truth, vectors,
};
use crate::{error::fault, scrub};

/// A file to be stored.
pub(super) struct Incoming {
    pub(super) file: FileId,
    pub(super) document: Arc<Document>,
    pub(super) chunks: Arc<[IndexedChunk]>,
    pub(super) model: String,
}

/// An open box. Locks are taken in the order writer, text, rows.
pub(super) struct OpenBox {
    folder: PathBuf,
    /// The one that may change the box; nothing where the box was never changed since it was opened.
    writer: Mutex<Writer>,
    /// Connections that nobody reads through now.
    readers: Mutex<Vec<Connection>>,
    /// Derived: loaded by the first search.
    rows: RwLock<Option<Rows>>,
    /// Derived: the full text.
    text: Text,
    bytes: AtomicUsize,
}

#[derive(Default)]
struct Writer {
    connection: Option<Connection>,
    retired: bool,
}

/// The box was removed while someone waited to change it.
pub(super) struct Retired;

impl OpenBox {
    /// The name of the file that holds the truth.
    pub(super) const FILE: &str = "box.db";

    pub(super) fn new(folder: PathBuf) -> Self {
        let text = Text::new(Self::text_folder(&folder));
        OpenBox {
            folder,
            text,
            writer: Mutex::default(),
            readers: Mutex::default(),
            rows: RwLock::default(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Where the text index of a box in this folder is.
    pub(super) fn text_folder(folder: &Path) -> PathBuf {
        folder.join("text")
    }

    /// Bytes of memory held by what is derived.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Stores a file. Searches see the box either before or after, never between.
    pub(super) fn replace(&self, incoming: &Incoming) -> Result<Result<(), Retired>, Fault> {
        let mut writer = self.writer.lock();
        let Some(connection) = self.connection(&mut writer)? else { return Ok(Err(Retired)) };
        refuse_other_model(connection, incoming)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        let Incoming { file, document, chunks, model } = incoming;
        vectors::settle(&transaction).map_err(fault)?;
        let change = truth::replace(&transaction, *file, document, chunks, model).map_err(fault)?;
        let pending = self.text.prepare(&transaction, &change)?;
        vectors::settle(&transaction).map_err(fault)?;
        let centre = vectors::centre(&transaction).map_err(fault)?;
        let mut rows = self.rows.write();
        self.commit(transaction)?;
        if let Some(rows) = rows.as_mut() {
            rows.remove(*file);
            rows.add(*file, change.first_chunk, chunks);
            if let Some(centre) = centre {
                rows.code_around(centre);
            }
            self.bytes.store(rows.bytes(), Ordering::Relaxed);
        }
        self.text.publish(pending)?;
        drop(rows);
        if change.before.is_some() || scrub::is_due(&self.folder.join(Self::FILE)) {
            self.wipe(connection)?;
        }
        Ok(Ok(()))
    }

    /// Removes a file.
    pub(super) fn remove(&self, file: FileId) -> Result<Result<Removed, Retired>, Fault> {
        let mut writer = self.writer.lock();
        let Some(connection) = self.connection(&mut writer)? else { return Ok(Err(Retired)) };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        vectors::settle(&transaction).map_err(fault)?;
        let Some(change) = truth::remove(&transaction, file).map_err(fault)? else {
            drop(transaction);
            // A crash may have come right after it was removed, before it was wiped.
            self.wipe(connection)?;
            self.text.rewrite(connection)?;
            return Ok(Ok(Removed::default()));
        };
        let pending = self.text.prepare(&transaction, &change)?;
        let mut rows = self.rows.write();
        self.commit(transaction)?;
        if let Some(rows) = rows.as_mut() {
            rows.remove(file);
            self.bytes.store(rows.bytes(), Ordering::Relaxed);
        }
        self.text.publish(pending)?;
        drop(rows);
        self.wipe(connection)?;
        self.text.rewrite(connection)?;
        Ok(Ok(change.removed))
    }

    /// Ends the box: whoever waits to change it finds it retired, and `aside` puts its folder out of reach.
    pub(super) fn retire(&self, aside: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
        let mut writer = self.writer.lock();
        let mut rows = self.rows.write();
        aside()?;
        *writer = Writer { connection: None, retired: true };
        *rows = Some(Rows::default());
        self.readers.lock().clear();
        self.text.retire();
        Ok(())
    }

    pub(super) fn pages(&self, file: FileId, from: u32, limit: u32) -> Result<Vec<Page>, Fault> {
        self.read(|connection| match truth::file_number(connection, file)? {
            Some(number) => truth::pages(connection, number, from, limit),
            None => Ok(Vec::new()),
        })
    }

    pub(super) fn how_read(&self, file: FileId) -> Result<HowRead, Fault> {
        self.read(|connection| match truth::file_number(connection, file)? {
            Some(number) => truth::how_read(connection, number),
            None => Ok(HowRead::default()),
        })
    }

    pub(super) fn laid_out(&self, pages: &[(FileId, u32)]) -> Result<Vec<Option<LaidOut>>, Fault> {
        self.read(|connection| {
            let page = |&(file, number): &(FileId, u32)| match truth::file_number(connection, file)? {
                Some(file) => truth::laid_out(connection, file, number),
                None => Ok(None),
            };
            pages.iter().map(page).collect()
        })
    }

    pub(super) fn revision(&self, file: FileId) -> Result<Option<i64>, Fault> {
        self.read(|connection| truth::file_number(connection, file))
    }

    pub(super) fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault> {
        self.read_each(ids, truth::chunk)
    }

    pub(super) fn tokens(&self, ids: &[ChunkId]) -> Result<Vec<Vec<u8>>, Fault> {
        let found = self.read_each(ids, truth::tokens)?;
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    }

    pub(super) fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>, Fault> {
        let found = self.read_each(ids, truth::vector)?;
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// What `read` finds under the number of each chunk, in order.
    fn read_each<T>(
        &self,
        ids: &[ChunkId],
        read: fn(&Connection, i64) -> rusqlite::Result<Option<T>>,
    ) -> Result<Vec<Option<T>>, Fault> {
        self.with_rows(|connection, rows| {
            // One look at a moment for all, and one lock of the file instead of one for each.
            let snapshot = connection.unchecked_transaction()?;
            let found = ids.iter().map(|&id| match rows.number_of(id) {
                Some(number) => read(connection, number),
                None => Ok(None),
            });
            let found = found.collect::<rusqlite::Result<_>>()?;
            snapshot.commit()?;
            Ok(found)
        })
    }

    pub(super) fn contents(&self) -> Result<Contents, Fault> {
        self.read(truth::contents)
    }

    /// The candidates of the vector side.
    pub(super) fn by_vector(
        &self,
        query: &[f32],
        model: &str,
        wanted: &Wanted,
    ) -> Result<Vec<Candidate>, Fault> {
        self.with_rows(|connection, rows| {
            let stored = truth::model(connection)?.filter(|stored| stored != model && !rows.is_empty());
            if let Some(stored) = stored {
                return Ok(Err(other_model(&stored, model)));
            }
            let found = rows.nearest(connection, query, wanted)?;
            Ok(Ok(found.into_iter().map(|(chunk, score)| Candidate { chunk, score }).collect()))
        })?
    }

    /// The candidates of the text side. Each is looked up among the live rows, so that one removed since the text
    /// index was last written cannot come through.
    pub(super) fn by_text(
        &self,
        query: &str,
        wanted: &Wanted,
    ) -> Result<(Vec<Candidate>, Vec<Correction>), Fault> {
        let (found, corrections) = self.read_text(query, wanted)?;
        let live = self.with_rows(|_, rows| {
            let live = found.iter().filter_map(|&(number, score)| {
                rows.chunk_of_number(number).map(|chunk| Candidate { chunk, score })
            });
            Ok(live.take(wanted.limit).collect())
        })?;
        Ok((live, corrections))
    }

    /// The language that most of what was stored last is in.
    /// The embedder that filled the box.
    pub(super) fn model(&self) -> Result<Option<String>, Fault> {
        self.read(truth::filled_by)
    }

    pub(super) fn usual_language(&self) -> Result<Option<String>, Fault> {
        self.read(truth::usual_language)
    }

    pub(super) fn cosines(&self, ids: &[ChunkId], vector: &[f32]) -> Result<Vec<Option<f32>>, Fault> {
        self.with_rows(|connection, rows| rows.cosines(connection, vector, ids))
    }

    fn read_text(&self, query: &str, wanted: &Wanted) -> Result<Matches, Fault> {
        self.with_reader(|connection| {
            let files = wanted.files(connection).map_err(fault)?;
            self.text.search(connection, query, files.as_deref(), wanted.limit)
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        self.with_reader(|connection| work(connection).map_err(fault))
    }

    /// Reads through a connection of its own, so that readers wait neither for each other nor for the writer.
    fn with_reader<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let connection = match self.idle_reader() {
            Some(connection) => connection,
            None => self.new_reader().map_err(fault)?,
        };
        let result = work(&connection);
        let mut readers = self.readers.lock();
        // Two cores' worth of readers is kept; more are opened in a rush and closed after it.
        if readers.len() < 2 {
            readers.push(connection);
        }
        result
    }

    fn idle_reader(&self) -> Option<Connection> {
        self.readers.lock().pop()
    }

    /// A layout of an older version is brought up to date before anything is read.
    fn new_reader(&self) -> rusqlite::Result<Connection> {
        let path = self.folder.join(Self::FILE);
        let connection = schema::open_for_reading(&path)?;
        if schema::is_current(&connection)? {
            return Ok(connection);
        }
        drop(connection);
        schema::open_for_writing(&path)?;
        schema::open_for_reading(&path)
    }

    fn with_rows<T>(&self, work: impl FnOnce(&Connection, &Rows) -> rusqlite::Result<T>) -> Result<T, Fault> {
        self.read(|connection| {
            if let Some(rows) = self.rows.read().as_ref() {
                return work(connection, rows);
            }
            let mut rows = self.rows.write();
            if rows.is_none() {
                let loaded = Rows::load(connection)?;
                self.bytes.store(loaded.bytes(), Ordering::Relaxed);
                *rows = Some(loaded);
            }
            let rows = parking_lot::RwLockWriteGuard::downgrade(rows);
            work(connection, rows.as_ref().unwrap_or(&Rows::default()))
        })
    }

    fn connection<'a>(
        &self,
        writer: &'a mut MutexGuard<'_, Writer>,
    ) -> Result<Option<&'a mut Connection>, Fault> {
        if writer.retired {
            return Ok(None);
        }
        if writer.connection.is_none() {
            let opened = schema::open_for_writing(&self.folder.join(Self::FILE)).map_err(fault)?;
            writer.connection = Some(opened);
        }
        Ok(writer.connection.as_mut())
    }

    /// The text index was written first, so that both sides show the change at the same moment; a truth that refuses the
    /// change leaves a text index that cannot be kept.
    fn commit(&self, transaction: Transaction<'_>) -> Result<(), Fault> {
        transaction.commit().map_err(|error| {
            self.text.withdraw();
            fault(error)
        })
    }

    /// Overwritten pages remain in the write-ahead log until it is checkpointed and cut; a reader in the middle
    /// of the log only puts that off until the next change.
    fn wipe(&self, connection: &Connection) -> Result<(), Fault> {
        scrub::wipe(connection, &self.folder.join(Self::FILE)).map(drop).map_err(fault)
    }
}

/// Vectors of two models must not be compared, so a box keeps to one until its other files are gone.
fn refuse_other_model(connection: &Connection, incoming: &Incoming) -> Result<(), Fault> {
    let stored = truth::model(connection).map_err(fault)?;
    let Some(stored) = stored.filter(|stored| *stored != incoming.model) else { return Ok(()) };
    if incoming.chunks.is_empty() || !truth::others_have_chunks(connection, incoming.file).map_err(fault)? {
        return Ok(());
    }
    Err(other_model(&stored, &incoming.model))
}

/// What is said of vectors that cannot be compared.
pub(super) fn other_model(stored: &str, other: &str) -> Fault {
    let cause = format!("the box was indexed with the model {stored}, but the server uses {other}");
    Fault::new(Reason::Conflict, cause)
        .hint("the operator can run `quire reindex BOX`, or set models.embedder back")
}
