//! One `SQLite` file: many readers, and one writing thread that commits waiting work together.
//!
//! A commit waits for the disk, so under load the thread takes everything that queued up meanwhile into one
//! transaction (each piece in its own savepoint) and answers all of it after one commit. Where nothing in it needs to
//! outlive a power cut, it does not wait for the disk: the next commit that does takes it along.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use engine::Fault;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{migrations, sql::Transaction};
use crate::Error;

/// How long to wait for another process (an operator's command beside the server) to finish its write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Pieces of work in one commit: bounds how long the first waits for the last.
const MOST_PER_COMMIT: usize = 256;

/// Told after the commit whether it held.
type Answer = Box<dyn FnOnce(Result<(), Error>) + Send>;
/// What a piece of work does: runs in a savepoint that is kept if it says so.
type Run = Box<dyn FnOnce(&Transaction<'_>) -> (bool, Answer) + Send>;

/// A piece of work.
struct Work {
    run: Run,
    /// Whether it is answered only once it is on disk.
    durable: bool,
}

/// Connections that only read, made as they are needed.
struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    fn read<T>(&self, read: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let connection = connect(&self.path)?;
                connection.pragma_update(None, "query_only", true)?;
                connection
            }
        };
        let result = read(&Transaction(&connection));
        self.idle.lock().push(connection);
        result
    }
}

/// An open database.
pub struct Database {
    readers: Arc<Readers>,
    /// `None` only while closing.
    work: Option<Sender<Work>>,
    writer: Option<JoinHandle<()>>,
}

impl Database {
    /// Opens or makes the file, and brings its tables up to date.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut connection = connect(path)?;
        migrations::run(&mut connection)?;
        let (work, queue) = channel();
        let writer = std::thread::Builder::new()
            .name("catalog-writer".into())
            .spawn(move || write_until_closed(&connection, &queue))
            .map_err(Error::io("starting the catalog's writing thread"))?;
        let readers = Arc::new(Readers { path: path.to_path_buf(), idle: Mutex::default() });
        Ok(Database { readers, work: Some(work), writer: Some(writer) })
    }

    /// Reads, on the calling thread: for look-ups of a few microseconds.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.readers.read(read)
    }

    /// Reads off the async threads: for whatever may touch many rows.
    pub(crate) async fn scan<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let readers = self.readers.clone();
        tokio::task::spawn_blocking(move || readers.read(read)).await.map_err(|_| Error::Closed)?
    }

    /// Writes in one transaction; when this returns, the change is on disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.queue(true, write).await
    }

    /// Writes in one transaction that outlives this process when this returns, but perhaps not a power cut: for what
    /// means nothing once the process is gone.
    pub(crate) async fn write_soon<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.queue(false, write).await
    }

    async fn queue<T: Send + 'static>(
        &self,
        durable: bool,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (sender, receiver) = oneshot::channel();
        let run: Run = Box::new(move |transaction| {
            let result = write(transaction);
            let keep = result.is_ok();
            let answer = move |committed: Result<(), Error>| {
                // The asker may be gone; the change stands all the same.
                let _ = sender.send(result.and_then(|value| committed.map(|()| value).map_err(Fault::from)));
            };
            (keep, Box::new(answer))
        });
        self.work.as_ref().ok_or(Error::Closed)?.send(Work { run, durable }).map_err(|_| Error::Closed)?;
        receiver.await.map_err(|_| Error::Closed)?
    }
}

impl Drop for Database {
    /// Lets queued work finish before the file is closed.
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn connect(path: &Path) -> Result<Connection, Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(128);
    // WAL lets readers go on beside the writer; FULL makes every commit survive a power cut.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What is deleted shall not linger in free pages.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

fn write_until_closed(connection: &Connection, queue: &Receiver<Work>) {
    while let Ok(first) = queue.recv() {
        let waiting = std::iter::once(first).chain(queue.try_iter().take(MOST_PER_COMMIT - 1)).collect();
        commit_together(connection, waiting);
    }
}

/// Runs all of `waiting` in one transaction and answers each piece.
fn commit_together(connection: &Connection, waiting: Vec<Work>) {
    let mut answers = Vec::with_capacity(waiting.len());
    let synchronous = if waiting.iter().any(|work| work.durable) { "full" } else { "normal" };
    let prepared = connection.pragma_update(None, "synchronous", synchronous);
    let outcome = prepared.and_then(|()| connection.execute_batch("begin immediate")).and_then(|()| {
        for work in waiting {
            answers.push(run_in_savepoint(connection, work)?);
        }
        connection.execute_batch("commit")
    });
    if outcome.is_err() {
        let _ = connection.execute_batch("rollback");
    }
    // Work that never ran drops its sender, which its asker sees as a closed store.
    let failure = outcome.err().map(|error| error.to_string());
    for answer in answers {
        answer(match &failure {
            None => Ok(()),
            Some(text) => Err(Error::Corrupt(format!("commit failed: {text}"))),
        });
    }
}

fn run_in_savepoint(connection: &Connection, work: Work) -> rusqlite::Result<Answer> {
    connection.execute_batch("savepoint piece")?;
    let (keep, answer) = (work.run)(&Transaction(connection));
    if !keep {
        connection.execute_batch("rollback to piece")?;
    }
    connection.execute_batch("release piece")?;
    Ok(answer)
}
