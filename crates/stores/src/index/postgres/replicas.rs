//! Replicas to read from, and which of them has all that is asked of it.
//!
//! A replica follows its primary by some milliseconds, or by minutes where it is in trouble; but a file that says `ready`
//! must be found by the next search. So the primary is asked for the revision of the box, which is one row, and a replica
//! that has not seen that much yet is passed over. Replicas only go forward: what one was seen to have it keeps.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use engine::ids::BoxId;
use parking_lot::Mutex;

use crate::{Error, postgres::Pool};

/// How long a replica that failed is not asked again: connecting to a dead one takes seconds.
const REST: Duration = Duration::from_secs(5);
/// Boxes of which it is remembered what a replica has.
const MOST_SEEN: usize = 50_000;

/// The replicas of one database, asked in turn.
pub(super) struct Replicas {
    all: Vec<Replica>,
    turn: AtomicUsize,
}

/// One of them.
pub(super) struct Replica {
    pub(super) pool: Pool,
    /// The newest revision of each name that it was seen to have.
    seen: Mutex<HashMap<(BoxId, bool), i64>>,
    rests_until: Mutex<Option<Instant>>,
}

impl Replicas {
    pub(super) fn new(pools: Vec<Pool>) -> Self {
        let replica = |pool| Replica { pool, seen: Mutex::default(), rests_until: Mutex::default() };
        Replicas { all: pools.into_iter().map(replica).collect(), turn: AtomicUsize::new(0) }
    }

    /// The next replica that has all that the primary has of a box; `None` where none has, or nothing is there to have.
    pub(super) async fn with(&self, primary: &Pool, name: (BoxId, bool)) -> Result<Option<&Replica>, Error> {
        if self.all.is_empty() {
            return Ok(None);
        }
        let wanted = match revision(primary, name).await {
            Err(Error::Away(_)) => {
                primary.forget_idle();
                revision(primary, name).await?
            }
            asked => asked?,
        };
        let Some(wanted) = wanted else { return Ok(None) };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        for place in 0..self.all.len() {
            let replica = &self.all[(turn + place) % self.all.len()];
            if replica.has(name, wanted).await {
                return Ok(Some(replica));
            }
        }
        Ok(None)
    }
}

impl Replica {
    async fn has(&self, name: (BoxId, bool), wanted: i64) -> bool {
        if self.rests_until.lock().is_some_and(|until| Instant::now() < until) {
            return false;
        }
        if self.seen.lock().get(&name).is_some_and(|&seen| seen >= wanted) {
            return true;
        }
        match revision(&self.pool, name).await {
            Ok(found) => {
                let found = found.unwrap_or(-1);
                let mut seen = self.seen.lock();
                if seen.len() >= MOST_SEEN {
                    seen.clear();
                }
                seen.insert(name, found);
                found >= wanted
            }
            Err(error) => {
                self.rest(&error);
                false
            }
        }
    }

    /// Does not ask it for a while after it failed.
    pub(super) fn rest(&self, error: &Error) {
        tracing::warn!(%error, "A replica of the index failed; using the primary instead");
        self.pool.forget_idle();
        *self.rests_until.lock() = Some(Instant::now() + REST);
    }
}

/// The revision of what a name leads to; `None` where it leads nowhere.
async fn revision(pool: &Pool, (box_id, draft): (BoxId, bool)) -> Result<Option<i64>, Error> {
    let connection = pool.get().await?;
    let statement =
        connection.prepared("select revision from index_names where box_id = $1 and draft = $2").await?;
    let row = connection.query_opt(&statement, &[&box_id.to_string(), &draft]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}
