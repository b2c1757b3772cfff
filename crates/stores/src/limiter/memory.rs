//! Counting in memory under one lock; the users' windows are also kept in a [`Journal`].

use std::{collections::HashMap, path::Path};

use async_trait::async_trait;
use engine::{
    Fault,
    ids::UserId,
    seams::limiter::{Limit, Limiter, Limits, Refusal, Standing, Verdict},
};
use jiff::Timestamp;
use parking_lot::Mutex;

use super::journal::{Journal, Slotted};
use crate::Error;

/// How often closed windows are forgotten: often enough to bound memory, rarely enough to cost nothing.
const SWEEP_EVERY_MS: i64 = 60_000;

/// How far ahead of now a window may have opened: requests note the time before they are counted, and clocks of several
/// nodes differ by seconds. One that opened later was opened by a clock that has been set back since.
const AHEAD_MS: i64 = 60_000;

/// A window that was opened by its first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) opened_ms: i64,
    pub(super) hits: u32,
}

impl Window {
    /// The current window: `known` while it lasts, else a new one that would open now.
    fn current(known: Option<Window>, limit: Limit, now_ms: i64) -> Window {
        known.filter(|window| window.is_open(limit, now_ms)).unwrap_or_else(|| Window::opening(now_ms))
    }

    /// Whether it goes on. A window that opens in the future does not: the clock was set back, and whoever was refused
    /// then would be refused until that time comes again.
    fn is_open(self, limit: Limit, now_ms: i64) -> bool {
        self.closes_ms(limit) > now_ms && self.opened_ms <= now_ms + AHEAD_MS
    }

    /// A window with nothing in it. It opens on the whole second, so that the reset time we announce, which has no
    /// fraction, is exact: whoever waits until then is let in.
    fn opening(now_ms: i64) -> Window {
        Window { opened_ms: now_ms - now_ms.rem_euclid(1000), hits: 0 }
    }

    fn closes_ms(self, limit: Limit) -> i64 {
        self.opened_ms + i64::from(limit.window_s) * 1000
    }

    fn standing(self, limit: Limit) -> Standing {
        let resets_at = Timestamp::from_millisecond(self.closes_ms(limit)).unwrap_or(Timestamp::MAX);
        Standing { hits: self.hits, resets_at }
    }
}

/// The limiter of a single node.
pub struct Memory {
    limits: Limits,
    state: Mutex<State>,
}

struct State {
    keys: HashMap<String, Window>,
    users: Slotted,
    journal: Journal,
    swept_ms: i64,
}

impl Memory {
    /// Continues counting from the journal at `path`.
    pub fn open(limits: Limits, path: &Path) -> Result<Self, Error> {
        let (journal, users) = Journal::open(path)?;
        let state = State { keys: HashMap::new(), users, journal, swept_ms: 0 };
        Ok(Memory { limits, state: Mutex::new(state) })
    }
}

#[async_trait]
impl Limiter for Memory {
    async fn take(&self, key: &str, user: UserId, now: Timestamp) -> Result<Verdict, Fault> {
        Ok(self.state.lock().take(&self.limits, key, user, now.as_millisecond())?)
    }

    async fn look(&self, key: &str, user: UserId, now: Timestamp) -> Result<Verdict, Fault> {
        Ok(self.state.lock().verdict(&self.limits, key, user, now.as_millisecond()))
    }
}

impl State {
    fn take(&mut self, limits: &Limits, key: &str, user: UserId, now_ms: i64) -> Result<Verdict, Error> {
        if (now_ms - self.swept_ms).abs() >= SWEEP_EVERY_MS {
            self.sweep(limits, now_ms)?;
        }
        let mut verdict = self.verdict(limits, key, user, now_ms);
        if verdict.refused.is_some() {
            return Ok(verdict);
        }
        verdict.key.hits += 1;
        verdict.user.hits += 1;
        self.count_key(limits.key, key, now_ms);
        self.count_user(limits.user, user, now_ms)?;
        Ok(verdict)
    }

    /// What would be said of one more request; `refused` where it would be one too many.
    fn verdict(&self, limits: &Limits, key: &str, user: UserId, now_ms: i64) -> Verdict {
        let key = Window::current(self.keys.get(key).copied(), limits.key, now_ms);
        let user = Window::current(self.users.get(&user).map(|(window, _)| *window), limits.user, now_ms);
        let refused = if key.hits >= limits.key.requests {
            Some(Refusal::Key)
        } else if user.hits >= limits.user.requests {
            Some(Refusal::User)
        } else {
            None
        };
        Verdict { refused, key: key.standing(limits.key), user: user.standing(limits.user) }
    }

    fn count_key(&mut self, limit: Limit, key: &str, now_ms: i64) {
        let mut window = Window::current(self.keys.get(key).copied(), limit, now_ms);
        window.hits += 1;
        match self.keys.get_mut(key) {
            Some(known) => *known = window,
            None => {
                self.keys.insert(key.to_string(), window);
            }
        }
    }

    fn count_user(&mut self, limit: Limit, user: UserId, now_ms: i64) -> Result<(), Error> {
        let journal = &mut self.journal;
        let (window, slot) =
            self.users.entry(user).or_insert_with(|| (Window::opening(now_ms), journal.claim()));
        *window = Window::current(Some(*window), limit, now_ms);
        window.hits += 1;
        journal.write(*slot, user, *window)
    }

    /// Forgets windows that have closed.
    fn sweep(&mut self, limits: &Limits, now_ms: i64) -> Result<(), Error> {
        self.swept_ms = now_ms;
        self.keys.retain(|_, window| window.is_open(limits.key, now_ms));
        let closed = self.users.extract_if(|_, (window, _)| !window.is_open(limits.user, now_ms));
        let slots: Vec<u64> = closed.map(|(_, (_, slot))| slot).collect();
        slots.into_iter().try_for_each(|slot| self.journal.release(slot))
    }
}
