//! Lets a few calls work at a time and serves waiting accounts in turn, so that one account with many calls leaves the
//! others as quick as they were.

#[cfg(test)]
mod tests;
mod turns;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;
pub use turns::{Arrival, Room, Turns};

use crate::{Fault, Reason, ids::UserId};

tokio::task_local! {
    static SERVED: UserId;
}

/// The account that the current task works for; `None` for the server's own work. Whatever serves many accounts at once, such
/// as a model, shares its time among them by this.
pub fn served() -> Option<UserId> {
    SERVED.try_with(|account| *account).ok()
}

/// How long a refused call should wait before it tries again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Where calls wait for their turn. Cheap to clone.
#[derive(Clone)]
pub struct Turnstile {
    shared: Arc<Mutex<Shared>>,
    wait: Duration,
}

struct Shared {
    turns: Turns<UserId>,
    /// Who waits outside, by ticket.
    calls: HashMap<u64, oneshot::Sender<()>>,
}

/// The right to work; dropping it lets the next one in.
#[must_use = "dropped at once it is somebody else's turn"]
pub struct Pass {
    turnstile: Turnstile,
    account: UserId,
}

/// A place outside; dropping it gives the place up.
struct Place<'a> {
    turnstile: &'a Turnstile,
    account: UserId,
    ticket: u64,
}

impl Turnstile {
    /// A turnstile before so much room; nobody waits for longer than `wait`.
    pub fn new(room: Room, wait: Duration) -> Self {
        let shared = Shared { turns: Turns::new(room), calls: HashMap::new() };
        Turnstile { shared: Arc::new(Mutex::new(shared)), wait }
    }

    /// Waits for the account's turn. Too many calls of its own are the account's fault
    /// ([`OverloadedKey`](Reason::OverloadedKey)), too many of all are not ([`Overloaded`](Reason::Overloaded)).
    pub async fn enter(&self, account: UserId) -> Result<Pass, Fault> {
        let (ticket, called) = {
            let mut shared = self.lock();
            match shared.turns.arrive(account) {
                Arrival::Enter => return Ok(self.pass(account)),
                Arrival::Full => return Err(too_many_of_your_own()),
                Arrival::Wait(ticket) => {
                    let (call, called) = oneshot::channel();
                    shared.calls.insert(ticket, call);
                    (ticket, called)
                }
            }
        };
        let place = Place { turnstile: self, account, ticket };
        let in_time = tokio::time::timeout(self.wait, called).await;
        if matches!(in_time, Ok(Ok(()))) {
            // It is inside now, so there is no place to give up.
            std::mem::forget(place);
            return Ok(self.pass(account));
        }
        let own_fault = self.lock().turns.is_full(account);
        drop(place);
        Err(if own_fault { too_many_of_your_own() } else { too_many_of_all() })
    }

    fn pass(&self, account: UserId) -> Pass {
        Pass { turnstile: self.clone(), account }
    }

    fn leave(&self, account: UserId) {
        let mut shared = self.lock();
        if let Some(ticket) = shared.turns.leave(account)
            && let Some(call) = shared.calls.remove(&ticket)
        {
            // Whoever stopped listening gives the place up themselves, finds that they were called, and leaves.
            let _ = call.send(());
        }
    }

    /// Every change under the lock is complete at any point where it could panic.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    /// Works for the account.
    pub async fn serve<T>(&self, work: impl Future<Output = T>) -> T {
        SERVED.scope(self.account, work).await
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.turnstile.leave(self.account);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut shared = self.turnstile.lock();
        shared.calls.remove(&self.ticket);
        let waited = shared.turns.give_up(self.account, self.ticket);
        drop(shared);
        if !waited {
            self.turnstile.leave(self.account);
        }
    }
}

fn too_many_of_your_own() -> Fault {
    let cause = "this account has more searches and answers in progress than it can have at once";
    Fault::new(Reason::OverloadedKey, cause)
        .hint("wait until some are complete, or ask the operator to raise load.calls_of_one")
        .retry_after(RETRY_AFTER)
}

fn too_many_of_all() -> Fault {
    Fault::new(Reason::Overloaded, "the server has more searches and answers in progress than it can serve")
        .hint("try again shortly")
        .retry_after(RETRY_AFTER)
}
