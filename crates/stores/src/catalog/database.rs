//! One database of either kind: many readers, and writers that take turns.
//!
//! Every table's code runs on both without knowing which: a `SQLite` file has one writer, and `PostgreSQL`, which has
//! many, keeps those apart with locks that this module asks for. So a write may look before it changes.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use engine::{
    Fault, Reason,
    blocking::{self, Stop},
    trace,
};
use tokio::sync::oneshot;

use super::{postgres, sql::Transaction, sqlite};
use crate::{Error, postgres::Address};

/// How long to retry work that was already done while the server is away: most failovers are over by then, and most
/// clients wait longer.
const FAILOVER: Duration = Duration::from_secs(10);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(250);

/// Called after the commit, with whether it succeeded.
pub(super) type Answer = Box<dyn FnOnce(Result<(), Error>) + Send>;
/// What a piece of work does in its transaction, or without one where none could begin; kept if it says so.
type Run = Box<dyn FnOnce(Result<&Transaction<'_>, Error>) -> (bool, Answer) + Send>;

/// A piece of work.
pub(super) struct Work {
    pub(super) run: Run,
    /// Whether it is answered only once it is on disk.
    pub(super) durable: bool,
    pub(super) turn: Turn,
    /// Whether it is answered only once what it deleted is gone from the disk too, as far as the database can say.
    pub(super) wipes: bool,
}

/// Which writes may run at the same time, where a database has many writers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Beside no other write. Right for everything, and the choice unless it happens with every request.
    Alone,
    /// Beside those of other names: for what touches one account only.
    Of(String),
    /// Beside all but those that run alone: for a statement that takes the rows it needs by itself.
    Beside,
}

/// An open database.
pub struct Database(Kind);

enum Kind {
    Sqlite(sqlite::File),
    Postgres(postgres::Server),
}

impl Database {
    /// Opens or creates the file, and brings its tables up to date.
    pub fn open(path: &std::path::Path) -> Result<Self, Error> {
        Ok(Database(Kind::Sqlite(sqlite::File::open(path)?)))
    }

    /// Connects to a server, and brings the tables there up to date.
    pub(crate) fn connect(address: Address) -> Result<Self, Error> {
        Ok(Database(Kind::Postgres(postgres::Server::connect(address)?)))
    }

    /// The server behind it, if there is one.
    pub(super) fn server(&self) -> Option<&postgres::Server> {
        match &self.0 {
            Kind::Sqlite(_) => None,
            Kind::Postgres(server) => Some(server),
        }
    }

    /// Reads, on the calling thread: for look-ups that take less than handing them over would.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &self.0 {
            Kind::Sqlite(file) => file.readers().read(read),
            Kind::Postgres(server) => server.shared().read(read),
        }
    }

    /// Reads off the async threads: for whatever may touch many rows.
    pub(crate) async fn scan<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.scan_until(|t, _| read(t)).await
    }

    /// The same for what may take long: `read` asks now and then whether anybody still waits for it.
    pub(crate) async fn scan_until<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Transaction<'_>, &Stop) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let done = match &self.0 {
            Kind::Sqlite(file) => {
                let readers = file.readers().clone();
                blocking::run(move |stop| readers.read(|t| read(t, stop))).await
            }
            Kind::Postgres(server) => {
                let shared = server.shared().clone();
                blocking::run(move |stop| shared.read(|t| read(t, stop))).await
            }
        };
        done.map_err(|_| Error::Closed)?
    }

    /// Writes in one transaction, alone; when this returns, the change is on disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.queue(Turn::Alone, true, false, write).await
    }

    /// The same for what deletes text: a file's log of changes is emptied too before this returns, unless somebody reads
    /// from the middle of it; then that is done as soon as they are finished. A server looks after its own log.
    pub(crate) async fn write_and_wipe<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.queue(Turn::Alone, true, true, write).await
    }

    /// The same beside others that do not get in its way.
    pub(crate) async fn write_beside<T: Send + 'static>(
        &self,
        turn: Turn,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.queue(turn, true, false, write).await
    }

    /// Writes in one transaction that outlives this process when this returns, but perhaps not a power cut: for what
    /// means nothing once the process is gone.
    pub(crate) async fn write_soon<T: Send + 'static>(
        &self,
        turn: Turn,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.queue(turn, false, false, write).await
    }

    /// Writes what means the same however often it is done, `soon` as [`write_soon`](Self::write_soon) has it: where the
    /// server went away it is done again, for as long as a failover takes. A connection that is lost at the commit does not
    /// say whether that held; whoever writes is told that this is not the first time, and looks.
    pub(crate) async fn write_again<T: Send + 'static>(
        &self,
        turn: Turn,
        soon: bool,
        write: impl Fn(&Transaction<'_>, bool) -> Result<T, Fault> + Clone + Send + 'static,
    ) -> Result<T, Fault> {
        let until = Instant::now() + FAILOVER;
        let mut again = false;
        loop {
            let (write, first_or_not) = (write.clone(), again);
            let written = self.queue(turn.clone(), !soon, false, move |t| write(t, first_or_not)).await;
            let away = matches!(&written, Err(fault) if fault.reason == Reason::UpstreamUnavailable);
            if !away || Instant::now() > until {
                return written;
            }
            again = true;
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn queue<T: Send + 'static>(
        &self,
        turn: Turn,
        durable: bool,
        wipes: bool,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (sender, receiver) = oneshot::channel();
        let here = trace::here();
        let run: Run = Box::new(move |transaction| {
            let result = transaction.map_err(Fault::from).and_then(|transaction| {
                let write = || match here {
                    Some(place) => place.within(|| write(transaction)),
                    None => write(transaction),
                };
                // One piece of work that panics is refused; the thread goes on with the others.
                let written = catch_unwind(AssertUnwindSafe(write));
                written.unwrap_or_else(|panic| Err(Fault::internal(said(&*panic))))
            });
            let keep = result.is_ok();
            let answer = move |committed: Result<(), Error>| {
                // The caller may be gone; the change remains.
                let _ = sender.send(result.and_then(|value| committed.map(|()| value).map_err(Fault::from)));
            };
            (keep, Box::new(answer))
        });
        let work = Work { run, durable, turn, wipes };
        match &self.0 {
            Kind::Sqlite(file) => file.queue(work)?,
            Kind::Postgres(server) => server.queue(work),
        }
        receiver.await.map_err(|_| Error::Closed)?
    }
}

/// The message of a panic, for the log.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a write to the catalog panicked: {}", text.unwrap_or_default())
}
