//! Counting in Valkey or Redis, for many nodes: one script per request, in one slot of a cluster.
//!
//! Where the server is away, each node counts by itself up to its share of the limits, or refuses, as the settings say.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    ids::UserId,
    seams::limiter::{Limit, Limiter, Limits, Refusal, Standing, Verdict},
};
use jiff::Timestamp;
use parking_lot::Mutex;
use redis::{
    AsyncConnectionConfig, Script, aio::MultiplexedConnection, cluster::ClusterClientBuilder,
    cluster_async::ClusterConnection,
};

use super::Memory;
use crate::Error;

/// How long to wait for an answer. One takes less than a millisecond; what takes longer is a node that gets too little processor time,
/// and if that gave up early, it would count alone and let more requests through than the limit allows.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a server that did not answer is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// What to do while the server is away.
pub enum Away {
    /// Count on this node alone, up to its share of the limits; the file is where users' windows are kept.
    Share {
        /// How many nodes share the limits.
        nodes: u32,
    },
    /// Refuse all requests.
    Refuse,
}

/// The limiter of many nodes.
pub struct Valkey {
    nodes: Vec<String>,
    prefix: String,
    limits: Limits,
    script: Script,
    link: tokio::sync::Mutex<Option<Link>>,
    /// Until when the server is left alone.
    paused: Mutex<Option<Instant>>,
    was_away: AtomicBool,
    alone: Option<Memory>,
}

#[derive(Clone)]
enum Link {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// What the script answers: who refused, and both windows as opening time and hits.
type Counted = (u8, i64, u32, i64, u32);

impl Valkey {
    /// A limiter on the server at `url`: `redis://host:6379`, `rediss://` for TLS; several hosts, separated by commas,
    /// are a cluster. `?prefix=` goes before the names of its keys. `journal` is where a node alone keeps its counts.
    pub fn new(url: &str, limits: Limits, away: Away, journal: &Path) -> Result<Self, Error> {
        let (scheme, rest) =
            url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "redis" | "rediss")).ok_or_else(
                || Error::Address("the limiter's address begins with redis:// or rediss://".into()),
            )?;
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let prefix = parameters.split('&').find_map(|parameter| parameter.strip_prefix("prefix="));
        let (who, hosts) = place.rsplit_once('@').map_or(("", place), |(who, hosts)| (who, hosts));
        let who = if who.is_empty() { String::new() } else { format!("{who}@") };
        let hosts = hosts.trim_end_matches('/').split(',');
        let nodes: Vec<String> = hosts.map(|host| format!("{scheme}://{who}{host}")).collect();
        for node in &nodes {
            // The address may hold a password: only what is wrong with it is said.
            redis::Client::open(node.as_str())
                .map_err(|error| Error::Address(format!("not an address of Valkey: {error}")))?;
        }
        let alone = match away {
            Away::Share { nodes } => Some(Memory::open(share(limits, nodes), journal)?),
            Away::Refuse => None,
        };
        Ok(Valkey {
            nodes,
            prefix: prefix.unwrap_or("quire").to_string(),
            limits,
            script: Script::new(include_str!("take.lua")),
            link: tokio::sync::Mutex::default(),
            paused: Mutex::default(),
            was_away: AtomicBool::new(false),
            alone,
        })
    }

    /// Asks the server, or gives nothing where it is away.
    async fn ask(&self, key: &str, user: UserId, now: Timestamp, count: bool) -> Option<Verdict> {
        if self.paused.lock().is_some_and(|until| until > Instant::now()) {
            return None;
        }
        match self.counted(key, user, now, count).await {
            Ok(counted) => {
                if self.was_away.swap(false, Ordering::Relaxed) {
                    tracing::info!(
                        "The rate limit server is available again: requests are counted over all nodes"
                    );
                }
                Some(self.verdict(counted))
            }
            Err(error) => {
                *self.link.lock().await = None;
                *self.paused.lock() = Some(Instant::now() + PAUSE);
                if !self.was_away.swap(true, Ordering::Relaxed) {
                    let instead = match self.alone {
                        Some(_) => "this node counts by itself, up to its share",
                        None => "all requests are refused",
                    };
                    tracing::error!(%error, "The rate limit server is unavailable: {instead}");
                }
                None
            }
        }
    }

    async fn counted(
        &self,
        key: &str,
        user: UserId,
        now: Timestamp,
        count: bool,
    ) -> redis::RedisResult<Counted> {
        // Both windows carry the user in braces, so that a cluster keeps them in one place.
        let mut call = self.script.prepare_invoke();
        call.key(format!("{}:{{{user}}}:key:{key}", self.prefix))
            .key(format!("{}:{{{user}}}:user", self.prefix))
            .arg(now.as_millisecond())
            .arg(self.limits.key.requests)
            .arg(i64::from(self.limits.key.window_s) * 1000)
            .arg(self.limits.user.requests)
            .arg(i64::from(self.limits.user.window_s) * 1000)
            .arg(u8::from(count));
        match self.link().await? {
            Link::Single(mut connection) => call.invoke_async(&mut connection).await,
            Link::Cluster(mut connection) => call.invoke_async(&mut connection).await,
        }
    }

    async fn link(&self) -> redis::RedisResult<Link> {
        let mut link = self.link.lock().await;
        if let Some(link) = &*link {
            return Ok(link.clone());
        }
        let made = if let [node] = &self.nodes[..] {
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(CONNECT_TIMEOUT))
                .set_response_timeout(Some(ANSWER_TIMEOUT));
            let client = redis::Client::open(node.as_str())?;
            Link::Single(client.get_multiplexed_async_connection_with_config(&config).await?)
        } else {
            let builder = ClusterClientBuilder::new(self.nodes.iter().map(String::as_str))
                .connection_timeout(CONNECT_TIMEOUT)
                .response_timeout(ANSWER_TIMEOUT)
                .retries(2);
            Link::Cluster(builder.build()?.get_async_connection().await?)
        };
        Ok(link.insert(made).clone())
    }

    fn verdict(&self, (refused, key_opened, key_hits, user_opened, user_hits): Counted) -> Verdict {
        let standing = |opened: i64, hits, limit: Limit| {
            let resets_at = Timestamp::from_millisecond(opened + i64::from(limit.window_s) * 1000);
            Standing { hits, resets_at: resets_at.unwrap_or(Timestamp::MAX) }
        };
        Verdict {
            refused: match refused {
                1 => Some(Refusal::Key),
                2 => Some(Refusal::User),
                _ => None,
            },
            key: standing(key_opened, key_hits, self.limits.key),
            user: standing(user_opened, user_hits, self.limits.user),
        }
    }
}

/// A node's share of the limits, and at least one request.
fn share(limits: Limits, nodes: u32) -> Limits {
    let part = |limit: Limit| Limit { requests: (limit.requests / nodes.max(1)).max(1), ..limit };
    Limits { key: part(limits.key), user: part(limits.user) }
}

fn away() -> Fault {
    Fault::new(Reason::UpstreamUnavailable, "the rate limit server cannot be reached; try again shortly")
        .retry_after(PAUSE)
}

#[async_trait]
impl Limiter for Valkey {
    async fn take(&self, key: &str, user: UserId, now: Timestamp) -> Result<Verdict, Fault> {
        match (self.ask(key, user, now, true).await, &self.alone) {
            (Some(verdict), _) => Ok(verdict),
            (None, Some(alone)) => alone.take(key, user, now).await,
            (None, None) => Err(away()),
        }
    }

    async fn look(&self, key: &str, user: UserId, now: Timestamp) -> Result<Verdict, Fault> {
        match (self.ask(key, user, now, false).await, &self.alone) {
            (Some(verdict), _) => Ok(verdict),
            (None, Some(alone)) => alone.look(key, user, now).await,
            (None, None) => Err(away()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { key: Limit { requests: 9, window_s: 60 }, user: Limit { requests: 90, window_s: 3600 } };

    /// Nobody listens there.
    const NOWHERE: &str = "redis://127.0.0.1:1";

    #[tokio::test]
    async fn alone_a_node_counts_up_to_its_share() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("limits");
        let limiter = Valkey::new(NOWHERE, LIMITS, Away::Share { nodes: 3 }, &journal).unwrap();
        let (user, now) = (UserId::generate(), Timestamp::now());
        let mut passed = 0;
        for _ in 0..9 {
            passed += u32::from(limiter.take("k", user, now).await.unwrap().refused.is_none());
        }
        assert_eq!(passed, 3);
    }

    #[tokio::test]
    async fn where_settings_say_so_requests_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let limiter = Valkey::new(NOWHERE, LIMITS, Away::Refuse, &folder.path().join("limits")).unwrap();
        let refused = limiter.take("k", UserId::generate(), Timestamp::now()).await.unwrap_err();
        assert_eq!(refused.reason, Reason::UpstreamUnavailable);
        assert!(refused.retry_after.is_some());
    }

    #[test]
    fn addresses_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let open = |url: &str| {
            Valkey::new(url, LIMITS, Away::Refuse, &folder.path().join("x")).map(|v| (v.nodes, v.prefix))
        };
        let several = open("rediss://user:secret@a:1,b:2/?prefix=other").unwrap();
        assert_eq!(several.0, ["rediss://user:secret@a:1", "rediss://user:secret@b:2"]);
        assert_eq!(several.1, "other");
        assert_eq!(open("redis://a").unwrap(), (vec!["redis://a".to_string()], "quire".to_string()));
        assert!(open("http://a").is_err() && open("a:1").is_err());
    }
}
