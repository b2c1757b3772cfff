//! The catalog on a `PostgreSQL` server: reads on a few connections, and a few threads that write.
//!
//! The code of the tables is synchronous and counts on one writer. So connections live on a small runtime of their own,
//! whoever reads waits for its answer in place, and writers take advisory locks as their [`Turn`] says: alone, all that
//! wait are committed together, as in a file; beside others, each in a transaction of its own.

use std::{cell::RefCell, collections::VecDeque, error::Error as StdError, sync::Arc, thread::JoinHandle};

use bytes::BytesMut;
use parking_lot::{Condvar, Mutex};
use tokio::runtime::{Handle, Runtime, RuntimeFlavor};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use super::{
    database::{Answer, Turn, Work},
    migrations,
    sql::{self, Transaction, Value},
};
use crate::{
    Error,
    postgres::{Address, Connection, Pool, is_away},
};

/// Connections that read, per node: more only queue up inside the server.
const READERS: usize = 16;
/// Connections that write, per node; see [`Turn`] for what runs beside what.
const WRITERS: usize = 6;
/// Connections that hold locks, per node: one for each file that is being stored or deleted.
const LOCKS: usize = 32;
/// Pieces of work in one commit: bounds how long the first waits for the last.
const MOST_PER_COMMIT: usize = 256;

/// A server that holds a catalog.
pub(super) struct Server {
    shared: Arc<Shared>,
    queue: Arc<Queue>,
    writers: Vec<JoinHandle<()>>,
}

/// What readers, writers and whoever holds a lock share.
pub(super) struct Shared {
    address: Address,
    pool: Pool,
    /// Claims of files and boxes, and those of originals: whoever has one of the first may want one of the second.
    locks: [Pool; 2],
    /// Where connections live; `None` only while closing.
    runtime: Option<Runtime>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    closed: bool,
}

impl Server {
    pub(super) fn connect(address: Address) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("catalog")
            .enable_all()
            .build()
            .map_err(Error::io("starting the catalog's connections"))?;
        let pool = Pool::new(address.clone(), READERS + WRITERS);
        let locks = [Pool::new(address.clone(), LOCKS), Pool::new(address.clone(), LOCKS)];
        let shared = Arc::new(Shared { address, pool, locks, runtime: Some(runtime) });
        shared.wait(shared.prepare())?;
        let queue = Arc::new(Queue::default());
        let writers = (0..WRITERS).map(|number| {
            let (shared, queue) = (shared.clone(), queue.clone());
            std::thread::Builder::new()
                .name(format!("catalog-writer-{number}"))
                .spawn(move || {
                    while let Some(work) = queue.take() {
                        shared.commit(work);
                    }
                })
                .map_err(Error::io("starting a thread that writes the catalog"))
        });
        let writers = writers.collect::<Result<_, _>>()?;
        Ok(Server { shared, queue, writers })
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn queue(&self, work: Work) {
        self.queue.waiting.lock().work.push_back(work);
        self.queue.came.notify_one();
    }
}

impl Drop for Server {
    /// Lets queued work finish before the connections are closed.
    fn drop(&mut self) {
        self.queue.waiting.lock().closed = true;
        self.queue.came.notify_all();
        for writer in self.writers.drain(..) {
            let _ = writer.join();
        }
    }
}

impl Queue {
    /// The next work: all that waits in a row to run alone, or one piece of any other kind.
    fn take(&self) -> Option<Vec<Work>> {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(first) = waiting.work.pop_front() {
                let alone = first.turn == Turn::Alone;
                let mut batch = vec![first];
                while alone && batch.len() < MOST_PER_COMMIT {
                    let next = waiting.work.pop_front_if(|work| work.turn == Turn::Alone);
                    let Some(work) = next else { break };
                    batch.push(work);
                }
                return Some(batch);
            }
            if waiting.closed {
                return None;
            }
            self.came.wait(&mut waiting);
        }
    }
}

impl Shared {
    /// Where connections live.
    pub(super) fn runtime(&self) -> &Handle {
        self.runtime.as_ref().expect("open").handle()
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Connections to hold locks with.
    pub(super) fn locks(&self, of_originals: bool) -> &Pool {
        &self.locks[usize::from(of_originals)]
    }

    /// Creates the schema where it is named and missing, then the tables.
    async fn prepare(&self) -> Result<(), Error> {
        let connection = self.pool.get().await?;
        if let Some(schema) = &self.address.schema {
            let made = connection.batch_execute(&format!("create schema if not exists {schema}")).await;
            // Two nodes may create it at once: one of them fails, and it exists all the same.
            made.or_else(|error| if error.code().is_some() { Ok(()) } else { Err(error) })?;
        }
        let done = migrations::run_on_server(&connection).await;
        // A failed step leaves a transaction open.
        connection.spoil();
        done
    }

    /// Waits for a connection's answer on the calling thread: the other tasks of an async thread are handed to another
    /// one first.
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let wait = || {
            let _inside = self.runtime().enter();
            futures::executor::block_on(future)
        };
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
            _ => wait(),
        }
    }

    /// Reads, each statement for itself.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let session = Session { shared: self, held: RefCell::new(None), writing: false };
        read(&Transaction(sql::Session::Postgres(&session)))
    }

    /// Runs all of `batch` in one transaction and answers each piece.
    fn commit(&self, batch: Vec<Work>) {
        let connection = match self.begin(&batch) {
            Ok(connection) => connection,
            Err(error) => {
                for work in batch {
                    let (_, answer) = (work.run)(Err(error.again()));
                    answer(Ok(()));
                }
                return;
            }
        };
        let several = batch.len() > 1;
        let session = Session { shared: self, held: RefCell::new(Some(connection)), writing: true };
        let mut answers = Vec::with_capacity(batch.len());
        let mut outcome = Ok(());
        for work in batch {
            let answer = if several { session.run_in_savepoint(work) } else { session.run_whole(work) };
            match answer {
                Ok(answer) => answers.push(answer),
                Err((error, answer)) => {
                    answers.push(answer);
                    outcome = outcome.and(Err(error));
                }
            }
        }
        let outcome = outcome.and_then(|()| session.batch("commit"));
        if let (Err(_), Some(connection)) = (&outcome, session.held.borrow().as_ref()) {
            connection.spoil();
        }
        for answer in answers {
            answer(outcome.as_ref().map(|&()| ()).map_err(Error::again));
        }
    }

    /// Begins the transaction and takes its turn. Nothing was done yet, so a connection that turns out dead is replaced.
    fn begin(&self, batch: &[Work]) -> Result<Connection, Error> {
        let mut sql = "begin".to_string();
        if !batch.iter().any(|work| work.durable) {
            sql.push_str("; set local synchronous_commit = off");
        }
        let lock = |how: &str, name: &str| {
            let name = name.replace('\'', "''");
            format!("; select pg_advisory_xact_lock{how}(hashtextextended(current_schema() || '/{name}', 0))")
        };
        match &batch[0].turn {
            Turn::Alone => sql.push_str(&lock("", "catalog")),
            Turn::Of(name) => sql.push_str(&(lock("_shared", "catalog") + &lock("", name))),
            Turn::Beside => sql.push_str(&lock("_shared", "catalog")),
        }
        let begun = |connection: Connection| {
            let begun = self.wait(connection.batch_execute(&sql));
            begun.map_err(|error| (is_away(&error), error, connection.spoil())).map(|()| connection)
        };
        match begun(self.wait(self.pool.get())?) {
            Ok(connection) => Ok(connection),
            Err((true, ..)) => {
                self.pool.forget_idle();
                Ok(begun(self.wait(self.pool.get())?).map_err(|(_, error, ())| error)?)
            }
            Err((false, error, ())) => Err(error.into()),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Whoever drops the catalog may be on an async thread, which must not wait.
            runtime.shutdown_background();
        }
    }
}

/// What a transaction runs its statements through.
pub(super) struct Session<'a> {
    shared: &'a Shared,
    held: RefCell<Option<Connection>>,
    /// In a transaction: then a lost connection is a lost transaction.
    writing: bool,
}

impl Session<'_> {
    pub(super) fn execute(&self, sql: &str, parameters: &[Value]) -> Result<usize, Error> {
        let changed = self.run(async |connection| {
            let statement = connection.prepared(sql).await?;
            connection.execute(&statement, &borrowed(parameters)).await
        });
        Ok(changed? as usize)
    }

    pub(super) fn all(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        let rows = self.run(async |connection| {
            let statement = connection.prepared(sql).await?;
            connection.query(&statement, &borrowed(parameters)).await
        });
        let read =
            |row: &tokio_postgres::Row| (0..row.len()).map(|column| Ok(row.try_get(column)?)).collect();
        rows?.iter().map(read).collect()
    }

    fn batch(&self, sql: &str) -> Result<(), Error> {
        self.run(async |connection| connection.batch_execute(sql).await)
    }

    /// Runs a piece of work that has the transaction for itself.
    fn run_whole(&self, work: Work) -> Result<Answer, (Error, Answer)> {
        let (keep, answer) = (work.run)(Ok(&Transaction(sql::Session::Postgres(self))));
        match if keep { Ok(()) } else { self.batch("rollback; begin") } {
            Ok(()) => Ok(answer),
            Err(error) => Err((error, answer)),
        }
    }

    /// Runs a piece of work that shares the transaction with others.
    fn run_in_savepoint(&self, work: Work) -> Result<Answer, (Error, Answer)> {
        if let Err(error) = self.batch("savepoint piece") {
            let (_, answer) = (work.run)(Err(error.again()));
            return Err((error, answer));
        }
        let (keep, answer) = (work.run)(Ok(&Transaction(sql::Session::Postgres(self))));
        let end = if keep { "release piece" } else { "rollback to piece; release piece" };
        match self.batch(end) {
            Ok(()) => Ok(answer),
            Err(error) => Err((error, answer)),
        }
    }

    /// Runs one statement. One that reads is tried again on a new connection where the old one turns out dead.
    fn run<T>(
        &self,
        work: impl AsyncFn(&Connection) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Error> {
        for may_try_again in [!self.writing, false] {
            let connection = match self.held.take() {
                Some(connection) => connection,
                None => self.shared.wait(self.shared.pool.get())?,
            };
            let done = self.shared.wait(work(&connection));
            let lost = done.as_ref().is_err_and(is_away);
            if lost {
                connection.spoil();
                self.shared.pool.forget_idle();
            }
            if self.writing || !lost {
                self.held.replace(Some(connection));
            }
            if !(lost && may_try_again) {
                return Ok(done?);
            }
        }
        Err(Error::Closed)
    }
}

fn borrowed(parameters: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(integer) => match *kind {
                Type::INT4 => i32::try_from(*integer)?.to_sql(kind, out),
                Type::BOOL => (*integer != 0).to_sql(kind, out),
                _ => integer.to_sql(&Type::INT8, out),
            },
            // There is no NUL in its texts.
            Value::Text(text) if text.contains('\0') => {
                text.replace('\0', "\u{FFFD}").to_sql(&Type::TEXT, out)
            }
            Value::Text(text) => text.to_sql(&Type::TEXT, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::INT4, Type::BOOL, Type::TEXT, Type::VARCHAR, Type::UNKNOWN].contains(kind)
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        match *kind {
            Type::INT8 => i64::from_sql(kind, raw).map(Value::Integer),
            Type::INT4 => i32::from_sql(kind, raw).map(|integer| Value::Integer(integer.into())),
            Type::BOOL => bool::from_sql(kind, raw).map(|truth| Value::Integer(truth.into())),
            _ => String::from_sql(&Type::TEXT, raw).map(Value::Text),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Value::Null)
    }

    fn accepts(kind: &Type) -> bool {
        <Value as ToSql>::accepts(kind)
    }
}
