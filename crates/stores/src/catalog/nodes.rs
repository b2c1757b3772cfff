//! The nodes that share the catalog: heartbeats, claims over all of them, and what they tell each other.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use engine::{
    Fault,
    ids::{BoxId, FileId},
    seams::catalog::{Change, Claim, Held, Nodes},
};
use futures::StreamExt;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::{
    sync::{Mutex as AsyncMutex, RwLock, broadcast},
    task::AbortHandle,
};
use tokio_postgres::AsyncMessage;

use super::{
    Sql,
    database::Turn,
    files::as_json,
    jobs::requeue_abandoned,
    migrations::KNOWN,
    postgres::Shared,
    sql::{Transaction, Value},
};
use crate::{Error, postgres::Connection};

/// Changes kept for a listener that is slow.
const CHANGES_KEPT: usize = 1024;
/// How long to wait before listening again, once a connection was lost.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// Bytes in one announcement: the server takes less than 8,000.
const MOST_SAID: usize = 7_900;
/// In one process, ids share locks by their last byte: enough that two workers rarely wait for each other.
const LOCKS: usize = 64;

/// This node, and its links to the others.
pub(super) struct Here {
    /// Identifies it: new at every start, so that a node never takes over from itself.
    pub(super) id: String,
    changes: broadcast::Sender<Change>,
    /// Listens to the other nodes, once somebody here wants to know.
    listening: Mutex<Option<AbortHandle>>,
    /// Claims where there is only this process.
    files: [Arc<AsyncMutex<()>>; LOCKS],
    boxes: [Arc<RwLock<()>>; LOCKS],
    originals: [Arc<AsyncMutex<()>>; LOCKS],
}

impl Default for Here {
    fn default() -> Self {
        Here {
            id: format!("node_{:016x}", rand::random::<u64>()),
            changes: broadcast::channel(CHANGES_KEPT).0,
            listening: Mutex::default(),
            files: std::array::from_fn(|_| Arc::default()),
            boxes: std::array::from_fn(|_| Arc::default()),
            originals: std::array::from_fn(|_| Arc::default()),
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        if let Some(listening) = self.listening.lock().take() {
            listening.abort();
        }
    }
}

#[async_trait]
impl Nodes for Sql {
    fn node(&self) -> &str {
        &self.nodes.id
    }

    async fn beat_node(&self) -> Result<(), Fault> {
        let node = self.nodes.id.clone();
        let sql = "insert into nodes (id, heard_at, knows) values ($1, $2, $3)
                   on conflict (id) do update set heard_at = excluded.heard_at";
        self.database
            .write_soon(Turn::Beside, move |t| {
                Ok(t.execute(sql, &[node.into(), t.now()?.into(), KNOWN.into()])?)
            })
            .await
            .map(drop)
    }

    async fn clock(&self) -> Result<Timestamp, Fault> {
        Ok(self.database.read(|t| t.now())?)
    }

    async fn bury_nodes(&self, silent_for: Duration) -> Result<u64, Fault> {
        // Most of the time all nodes are alive, and checking that should delay nobody.
        let dead = "select 1 from nodes where id <> $3 and (heard_at < $1 or heard_at > $2) union all
                    select 1 from jobs where worker is not null and (heard_at < $1 or heard_at > $2) limit 1";
        let (node, silent) = (self.nodes.id.clone(), silent_for);
        let found = self.database.read(|t| {
            let [since, until] = Alive::now(t, silent)?.bounds();
            t.first(dead, &[since, until, node.as_str().into()])
        })?;
        if found.is_none() {
            return Ok(0);
        }
        self.database
            .write(move |t| {
                let alive = Alive::now(t, silent)?;
                let [since, until] = alive.bounds();
                let sql = "delete from nodes where id <> $3 and (heard_at < $1 or heard_at > $2)";
                let buried = t.execute(sql, &[since, until, node.into()])?;
                for sql in [
                    "delete from unit_reservations where settled < 2 and node not in (select id from nodes)",
                    "delete from attempts where status is null and node not in (select id from nodes)",
                    "update reindexes set state = 'wanted' where state = 'running'
                     and node not in (select id from nodes)",
                ] {
                    t.execute(sql, &[])?;
                }
                requeue_abandoned(t, alive)?;
                Ok(buried as u64)
            })
            .await
    }

    async fn claim(&self, claim: Claim) -> Result<Held, Fault> {
        match self.database.server() {
            Some(server) => {
                let shared = server.shared().clone();
                let claimed = shared.runtime().spawn(claim_on_server(shared.clone(), claim));
                Ok(claimed.await.map_err(|_| Error::Closed)??)
            }
            None => Ok(self.nodes.claim_here(claim).await),
        }
    }

    async fn announce(&self, change: Change) -> Result<(), Fault> {
        let Some(server) = self.database.server() else { return Ok(()) };
        let said = write_change(change, &self.nodes.id);
        let channel = channel(server.shared());
        self.database.read(|t| t.execute("select pg_notify($1, $2)", &[channel.into(), said.into()]))?;
        Ok(())
    }

    fn announced(&self) -> broadcast::Receiver<Change> {
        let changes = self.nodes.changes.subscribe();
        let mut listening = self.nodes.listening.lock();
        if let (None, Some(server)) = (&*listening, self.database.server()) {
            let address = server.shared().address().clone();
            let (node, sender) = (self.nodes.id.clone(), self.nodes.changes.clone());
            let channel = channel(server.shared());
            let task = server.shared().runtime().spawn(async move {
                loop {
                    if let Err(error) = listen(&address, &channel, &node, &sender).await {
                        tracing::warn!(%error, "Lost the notifications of other nodes; reconnecting");
                    }
                    tokio::time::sleep(LISTEN_AGAIN).await;
                }
            });
            *listening = Some(task.abort_handle());
        }
        changes
    }
}

/// When somebody who is alive was last heard of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alive {
    since: Timestamp,
    until: Timestamp,
}

impl Alive {
    /// Within `silent_for` before now. A time that far in the future was recorded by a clock that has been set back
    /// since; a node that is alive corrects it with its next beat. Where `silent_for` is zero, no node counts as alive.
    pub(super) fn now(transaction: &Transaction<'_>, silent_for: Duration) -> Result<Self, Error> {
        if silent_for.is_zero() {
            return Ok(Alive { since: Timestamp::MAX, until: Timestamp::MAX });
        }
        let now = transaction.now()?;
        let since = now.saturating_sub(silent_for).unwrap_or(Timestamp::MIN);
        Ok(Alive { since, until: now.saturating_add(silent_for).unwrap_or(Timestamp::MAX) })
    }

    /// The first and the last moment.
    pub(super) fn bounds(self) -> [Value; 2] {
        [self.since.into(), self.until.into()]
    }
}

impl Here {
    async fn claim_here(&self, claim: Claim) -> Held {
        // Identifiers begin with the time, so the last byte spreads them evenly.
        let place = |id: &[u8; 16]| usize::from(id[15]) % LOCKS;
        match claim {
            Claim::Box(box_id) => Held::by(self.boxes[place(box_id.as_bytes())].clone().write_owned().await),
            Claim::File(box_id, file) => {
                let beside = self.boxes[place(box_id.as_bytes())].clone().read_owned().await;
                Held::by((beside, self.files[place(file.as_bytes())].clone().lock_owned().await))
            }
            Claim::Original(sha256) => {
                let place = usize::from_str_radix(sha256.get(..2).unwrap_or("0"), 16).unwrap_or(0) % LOCKS;
                Held::by(self.originals[place].clone().lock_owned().await)
            }
        }
    }
}

/// Locks of the server, held by a connection and gone with it.
struct Locked {
    connection: Option<Connection>,
    shared: Arc<Shared>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        self.shared.runtime().spawn(async move {
            if connection.batch_execute("select pg_advisory_unlock_all()").await.is_err() {
                connection.spoil();
            }
        });
    }
}

async fn claim_on_server(shared: Arc<Shared>, claim: Claim) -> Result<Held, Error> {
    let lock = |how: &str, what: String| {
        format!("select pg_advisory_lock{how}(hashtextextended(current_schema() || '/{what}', 0));")
    };
    let sql = match &claim {
        Claim::Box(box_id) => lock("", box_id.to_string()),
        Claim::File(box_id, file) => lock("_shared", box_id.to_string()) + &lock("", file.to_string()),
        Claim::Original(sha256) => lock("", sha256.replace('\'', "")),
    };
    let connections = shared.locks(matches!(claim, Claim::Original(_))).clone();
    let locked = Locked { connection: Some(connections.get().await?), shared };
    let connection = locked.connection.as_ref().expect("just taken");
    if let Err(error) = connection.batch_execute(&sql).await {
        connection.spoil();
        return Err(error.into());
    }
    Ok(Held::by(locked))
}

/// Where the nodes of one catalog hear each other.
fn channel(shared: &Shared) -> String {
    format!("quire_{}", shared.address().schema.as_deref().unwrap_or("changes"))
}

/// Hears what other nodes say until the connection is lost.
async fn listen(
    address: &crate::postgres::Address,
    channel: &str,
    node: &str,
    heard: &broadcast::Sender<Change>,
) -> Result<(), Error> {
    let (client, mut connection) = address.config.connect(address.tls.clone()).await?;
    let mut messages = futures::stream::poll_fn(move |context| connection.poll_message(context));
    let sql = format!("listen \"{channel}\"");
    let listening = client.batch_execute(&sql);
    tokio::pin!(listening);
    let mut asked = false;
    loop {
        let message = tokio::select! {
            done = &mut listening, if !asked => {
                done?;
                asked = true;
                continue;
            }
            message = messages.next() => message,
        };
        match message {
            Some(Ok(AsyncMessage::Notification(said))) => {
                if let Some(change) = read_change(said.payload(), node) {
                    let _ = heard.send(change);
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.into()),
            None => return Ok(()),
        }
    }
}

/// A change as it is announced: the node, the box, the file, its status, and what it was where it is being deleted. What is
/// too long to be said is left out, the longest first.
fn write_change(change: Change, own: &str) -> String {
    let Change { box_id, file, status, last } = change;
    let head = format!("{own} {box_id} {file} {}", status.as_str());
    let Some(mut last) = last else { return head };
    let mut said = format!("{head} {}", as_json(&last));
    if said.len() > MOST_SAID {
        last.metadata.clear();
        last.warnings.clear();
        last.error = None;
        said = format!("{head} {}", as_json(&last));
    }
    if said.len() > MOST_SAID {
        last.tags.clear();
        last.external_id = None;
        said = format!("{head} {}", as_json(&last));
    }
    said
}

/// A change that another node announced; a node of an older version says nothing of what it was.
fn read_change(said: &str, own: &str) -> Option<Change> {
    let mut words = said.splitn(5, ' ');
    let node = words.next()?;
    let (box_id, file): (BoxId, FileId) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let status = words.next()?.parse().ok()?;
    let last = words.next().and_then(|last| serde_json::from_str(last).ok());
    (node != own).then_some(Change { box_id, file, status, last })
}
