//! Counts requests against the limits of keys and users.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{Fault, ids::UserId};

/// How many requests a window allows and how long it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Requests that pass in one window.
    pub requests: u32,
    /// Length of the window in seconds.
    pub window_s: u32,
}

/// The current limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For each key.
    pub key: Limit,
    /// For each user, over all their keys.
    pub user: Limit,
}

/// The state of a window after a request was counted or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Requests counted so far.
    pub hits: u32,
    /// When the window ends and counting starts again.
    pub resets_at: Timestamp,
}

/// The verdict on one request. Only a request that passes is counted, and then in both windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Which limit refused the request, if any.
    pub refused: Option<Refusal>,
    /// The key's window.
    pub key: Standing,
    /// The user's window.
    pub user: Standing,
}

/// Which limit a request ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key's.
    Key,
    /// The user's.
    User,
}

/// Fixed windows that open at the first counted request; exact under concurrency.
///
/// Implementations: `stores::limiter::Memory` (one node; the users' windows are also kept on disk) and
/// `stores::limiter::Valkey` (many nodes).
#[async_trait]
pub trait Limiter: Send + Sync {
    /// Counts one request of a key and its user, or refuses it.
    async fn take(&self, key: &str, user: UserId, now: Timestamp) -> Result<Verdict, Fault>;

    /// The state of the windows, without counting.
    async fn look(&self, key: &str, user: UserId, now: Timestamp) -> Result<Verdict, Fault>;
}
