//! One `SQLite` file: many readers, and one writing thread that commits waiting work together.
//!
//! A commit waits for the disk, so under load the thread takes everything that queued up meanwhile into one
//! transaction (each piece in its own savepoint) and answers all of it after one commit. Where nothing in it needs to
//! outlive a power cut, it does not wait for the disk: the next commit that does takes it along.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::Connection;

use super::{
    database::{Answer, Work},
    migrations,
    sql::{Session, Transaction},
};
use crate::{Error, scrub};

/// How long to wait for another process (an operator's command beside the server) to finish its write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the emptying of the log waits for readers, and how long until it is tried again: reads take milliseconds.
const WIPE_WAIT: Duration = Duration::from_millis(250);
/// Pieces of work in one commit: bounds how long the first waits for the last.
const MOST_PER_COMMIT: usize = 256;

/// Connections that only read, made as they are needed.
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let connection = connect(&self.path)?;
                connection.pragma_update(None, "query_only", true)?;
                connection
            }
        };
        let result = read(&Transaction(Session::Sqlite(&connection)));
        self.idle.lock().push(connection);
        result
    }
}

/// An open file.
pub(super) struct File {
    readers: Arc<Readers>,
    /// `None` only while closing.
    work: Option<Sender<Work>>,
    writer: Option<JoinHandle<()>>,
}

impl File {
    /// Opens or creates the file, and brings its tables up to date.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let mut connection = connect(path)?;
        migrations::run_on_file(&mut connection)?;
        let (work, queue) = channel();
        let file = path.to_path_buf();
        let writer = std::thread::Builder::new()
            .name("catalog-writer".into())
            .spawn(move || keep_writing(&connection, &file, &queue))
            .map_err(Error::io("starting the catalog's writing thread"))?;
        let readers = Arc::new(Readers { path: path.to_path_buf(), idle: Mutex::default() });
        Ok(File { readers, work: Some(work), writer: Some(writer) })
    }

    pub(super) fn readers(&self) -> &Arc<Readers> {
        &self.readers
    }

    /// Hands a piece of work to the writing thread.
    pub(super) fn queue(&self, work: Work) -> Result<(), Error> {
        self.work.as_ref().ok_or(Error::Closed)?.send(work).map_err(|_| Error::Closed)
    }
}

impl Drop for File {
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
    // What is deleted must not remain in free pages.
    connection.pragma_update(None, "secure_delete", true)?;
    scrub::keep_log(&connection)?;
    Ok(connection)
}

/// Writes until the queue is closed, whatever happens to a commit: without this thread nothing could be written until the
/// next start. Whoever waited for a commit that panicked is told that it failed.
fn keep_writing(connection: &Connection, path: &Path, queue: &Receiver<Work>) {
    while catch_unwind(AssertUnwindSafe(|| write_until_closed(connection, path, queue))).is_err() {
        tracing::error!("Writing to the catalog panicked; it goes on with what comes next");
        let _ = connection.execute_batch("rollback");
    }
}

fn write_until_closed(connection: &Connection, path: &Path, queue: &Receiver<Work>) {
    // What was deleted right before a crash may still be in the log.
    let mut wiped = wipe(connection, path);
    loop {
        let first = match wiped {
            true => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => queue.recv_timeout(WIPE_WAIT),
        };
        match first {
            Ok(first) => {
                let more = queue.try_iter().take(MOST_PER_COMMIT - 1);
                wiped &= commit_together(connection, path, std::iter::once(first).chain(more).collect());
            }
            Err(RecvTimeoutError::Timeout) => wiped = wipe(connection, path),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Empties the log of changes, which still holds what was deleted; `false` where a reader is in the middle of it.
fn wipe(connection: &Connection, path: &Path) -> bool {
    let emptied =
        connection.busy_timeout(WIPE_WAIT).map_err(Error::from).and_then(|()| scrub::wipe(connection, path));
    let _ = connection.busy_timeout(BUSY_TIMEOUT);
    emptied.unwrap_or_else(|error| {
        tracing::warn!(%error, "Could not empty the catalog's log");
        true
    })
}

/// Runs all of `waiting` in one transaction and answers each piece; `false` where what it deleted is still in the log.
fn commit_together(connection: &Connection, path: &Path, waiting: Vec<Work>) -> bool {
    let mut answers = Vec::with_capacity(waiting.len());
    let wipes = waiting.iter().any(|work| work.wipes);
    let synchronous = if waiting.iter().any(|work| work.durable) { "full" } else { "normal" };
    let prepared = connection.pragma_update(None, "synchronous", synchronous);
    let mut waiting = waiting.into_iter();
    let outcome = prepared.and_then(|()| connection.execute_batch("begin immediate")).and_then(|()| {
        for work in waiting.by_ref() {
            answers.push(run_in_savepoint(connection, work)?);
        }
        connection.execute_batch("commit")
    });
    if let Err(error) = &outcome {
        let _ = connection.execute_batch("rollback");
        // Work that never ran is told why.
        answers.extend(waiting.map(|work| (work.run)(Err(Error::of_commit(error))).1));
    }
    let wiped = !(wipes || scrub::is_due(path)) || wipe(connection, path);
    for answer in answers {
        answer(outcome.as_ref().map(|_| ()).map_err(Error::of_commit));
    }
    wiped
}

fn run_in_savepoint(connection: &Connection, work: Work) -> rusqlite::Result<Answer> {
    connection.execute_batch("savepoint piece")?;
    let (keep, answer) = (work.run)(Ok(&Transaction(Session::Sqlite(connection))));
    if !keep {
        connection.execute_batch("rollback to piece")?;
    }
    connection.execute_batch("release piece")?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::database::Turn;

    /// Queues an insert; the answer says what became of the commit.
    fn insert(file: &File, panics: bool) -> Receiver<Result<(), Error>> {
        let (sender, receiver) = channel();
        let work = Work {
            run: Box::new(move |transaction| {
                let written = transaction.and_then(|t| t.execute("insert into kept values (1)", &[]));
                assert!(!panics, "the thread that writes is struck");
                let answer: Answer = Box::new(move |committed| drop(sender.send(committed)));
                (written.is_ok(), answer)
            }),
            durable: true,
            turn: Turn::Alone,
            wipes: false,
        };
        file.queue(work).unwrap();
        receiver
    }

    #[test]
    fn a_writing_thread_that_panics_goes_on_and_keeps_nothing_of_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let file = File::open(&path).unwrap();
        connect(&path).unwrap().execute_batch("create table kept (x)").unwrap();
        assert!(insert(&file, true).recv().is_err(), "whoever waited is told");
        insert(&file, false).recv().unwrap().unwrap();
        drop(file);
        let rows: i64 =
            connect(&path).unwrap().query_row("select count(*) from kept", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1);
    }
}
