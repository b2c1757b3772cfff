//! Whose turn it is: the rules of a [`Turnstile`](super::Turnstile) without its clock and its threads, so that a model
//! checker can try every order of events.

use std::collections::{BTreeMap, VecDeque};

/// How many may be inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Room {
    /// Of all accounts together.
    pub of_all: usize,
    /// Of one account.
    pub of_one: usize,
    /// Of one account that wait outside.
    pub waiting_of_one: usize,
}

/// Who is inside, and who waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turns<A> {
    room: Room,
    inside: BTreeMap<A, usize>,
    /// Tickets by account, each in the order of arrival; no account without one.
    waiting: BTreeMap<A, VecDeque<u64>>,
    /// The accounts that wait, the next one first.
    round: VecDeque<A>,
    next_ticket: u64,
}

/// The answer to somebody who arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Come in.
    Enter,
    /// Wait until this ticket is called.
    Wait(u64),
    /// Too many of the account wait already.
    Full,
}

impl<A: Copy + Ord> Turns<A> {
    /// Nobody is there yet.
    pub fn new(room: Room) -> Self {
        let (inside, waiting) = (BTreeMap::new(), BTreeMap::new());
        Turns { room, inside, waiting, round: VecDeque::new(), next_ticket: 0 }
    }

    /// Somebody wants to come in. Where there is room for them, nobody who waits could use it: each of those has as many
    /// inside as one account may have.
    pub fn arrive(&mut self, account: A) -> Arrival {
        if self.has_room(account) {
            *self.inside.entry(account).or_default() += 1;
            return Arrival::Enter;
        }
        let queue = self.waiting.entry(account).or_default();
        if queue.len() >= self.room.waiting_of_one {
            return Arrival::Full;
        }
        if queue.is_empty() {
            self.round.push_back(account);
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        queue.push_back(ticket);
        Arrival::Wait(ticket)
    }

    /// Somebody leaves; says whose ticket is called now. They are inside from here on.
    pub fn leave(&mut self, account: A) -> Option<u64> {
        if let Some(inside) = self.inside.get_mut(&account) {
            *inside -= 1;
            if *inside == 0 {
                self.inside.remove(&account);
            }
        }
        let at = self.round.iter().position(|&account| self.has_room(account))?;
        let next = self.round.remove(at)?;
        let queue = self.waiting.get_mut(&next)?;
        let ticket = queue.pop_front()?;
        match queue.is_empty() {
            true => drop(self.waiting.remove(&next)),
            false => self.round.push_back(next),
        }
        *self.inside.entry(next).or_default() += 1;
        Some(ticket)
    }

    /// Somebody waits no longer. `false` where their ticket was called meanwhile: then they are inside, and leave.
    pub fn give_up(&mut self, account: A, ticket: u64) -> bool {
        let Some(queue) = self.waiting.get_mut(&account) else { return false };
        let Some(at) = queue.iter().position(|&waiting| waiting == ticket) else { return false };
        queue.remove(at);
        if queue.is_empty() {
            self.waiting.remove(&account);
            self.round.retain(|&waiting| waiting != account);
        }
        true
    }

    /// How many of an account are inside.
    pub fn inside(&self, account: A) -> usize {
        self.inside.get(&account).copied().unwrap_or(0)
    }

    /// How many are inside.
    pub fn inside_of_all(&self) -> usize {
        self.inside.values().sum()
    }

    /// Whether an account has as many inside as one may have.
    pub fn is_full(&self, account: A) -> bool {
        self.inside(account) >= self.room.of_one
    }

    fn has_room(&self, account: A) -> bool {
        self.inside_of_all() < self.room.of_all && !self.is_full(account)
    }
}
