//! A few connections, kept for whoever comes next.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, Statement};

use super::Address;
use crate::Error;

/// How long a statement may take: longer than any of ours, so that a stuck one does not hold its connection for ever.
const STATEMENT_TIMEOUT_S: u32 = 60;
/// Has the server notice within seconds that a node's machine is gone: until then it keeps what that node had locked.
const NOTICE_THE_DEAD: &str = "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2;
    set tcp_keepalives_count = 3; set tcp_user_timeout = 10000; set idle_in_transaction_session_timeout = '20s'";
/// How long to wait for a connection while all are in use, before whoever asked is told to come back later.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// Statements kept prepared on a connection.
const MOST_STATEMENTS: usize = 256;

/// Connections to one database.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    address: Address,
    /// Run on every new connection.
    greeting: &'static str,
    idle: Mutex<Vec<Session>>,
    turns: Arc<Semaphore>,
}

/// An open connection with what was prepared on it.
struct Session {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
}

/// A connection on loan; goes back when dropped.
pub(crate) struct Connection {
    /// `None` only while it goes back.
    session: Option<Session>,
    pool: Arc<Shared>,
    _turn: OwnedSemaphorePermit,
    /// Set while its state is not known: dropped then, it is closed.
    spoilt: AtomicBool,
}

impl Pool {
    /// Up to `most` connections, made as they are needed.
    pub(crate) fn new(address: Address, most: usize) -> Self {
        Pool::greeting(address, most, "")
    }

    /// The same, with statements that every new connection begins with.
    pub(crate) fn greeting(address: Address, most: usize, greeting: &'static str) -> Self {
        Pool(Arc::new(Shared {
            address,
            greeting,
            idle: Mutex::default(),
            turns: Arc::new(Semaphore::new(most)),
        }))
    }

    /// A connection: an idle one, else a new one, else the next that is given back.
    pub(crate) async fn get(&self) -> Result<Connection, Error> {
        let turn = tokio::time::timeout(TURN_TIMEOUT, self.0.turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| Error::Busy)?.map_err(|_| Error::Closed)?;
        let idle =
            std::iter::from_fn(|| self.0.idle.lock().pop()).find(|session| !session.client.is_closed());
        let session = match idle {
            Some(session) => session,
            None => connect(&self.0.address, self.0.greeting).await?,
        };
        Ok(Connection {
            session: Some(session),
            pool: self.0.clone(),
            _turn: turn,
            spoilt: AtomicBool::new(false),
        })
    }

    /// Forgets idle connections: after a failure they are probably as dead as the one that failed.
    pub(crate) fn forget_idle(&self) {
        self.0.idle.lock().clear();
    }
}

impl Connection {
    /// The statement, prepared once a connection.
    pub(crate) async fn prepared(&self, sql: &str) -> Result<Statement, tokio_postgres::Error> {
        let session = self.session.as_ref().expect("on loan");
        if let Some(statement) = session.statements.lock().get(sql) {
            return Ok(statement.clone());
        }
        let statement = session.client.prepare(sql).await?;
        let mut statements = session.statements.lock();
        if statements.len() >= MOST_STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_string(), statement.clone());
        Ok(statement)
    }

    /// Closes the connection when it is dropped, rather than lending it out again.
    pub(crate) fn spoil(&self) {
        self.spoilt.store(true, Ordering::Relaxed);
    }

    /// Its state is known again.
    pub(crate) fn mend(&self) {
        self.spoilt.store(false, Ordering::Relaxed);
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.session.as_ref().expect("on loan").client
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(session) = self.session.take()
            && !self.spoilt.load(Ordering::Relaxed)
            && !session.client.is_closed()
        {
            self.pool.idle.lock().push(session);
        }
    }
}

async fn connect(address: &Address, greeting: &str) -> Result<Session, Error> {
    let (client, connection) = address.config.connect(address.tls.clone()).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "A connection to the database ended");
        }
    });
    let path = address.schema.as_ref().map(|name| format!("set search_path = {name}, public; "));
    let settings = format!(
        "{}set client_min_messages = warning; set statement_timeout = '{STATEMENT_TIMEOUT_S}s'; {NOTICE_THE_DEAD}; {greeting}",
        path.unwrap_or_default()
    );
    client.batch_execute(&settings).await?;
    Ok(Session { client, statements: Mutex::default() })
}
