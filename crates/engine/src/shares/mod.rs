//! Shares something that many accounts wait for, such as a model: whoever has used least of it lately goes first.
//!
//! What an account uses is forgotten again, half of it after a while. Whoever comes is at most a head start before those who wait, and
//! never behind them: nobody is paid for a long absence or blamed for what they used before, and whoever asks seldom is served a little
//! sooner. And whoever was passed over for too long goes first, so that nobody waits for ever, however many others come.
//!
//! Nothing here looks at a clock: callers say what time it is.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

/// How something is shared.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// After this time half of what an account has used is forgotten.
    pub half_life: Duration,
    /// How far before the others an account may be when it begins to wait, in what it has used.
    pub head_start: f64,
    /// How long an account may be passed over.
    pub patience: Duration,
}

/// What waits, by account.
#[derive(Debug)]
pub struct Shares<A, T> {
    rules: Rules,
    accounts: BTreeMap<A, Share<T>>,
    /// When what was used was last brought up to date.
    aged: Instant,
}

/// One account's part.
#[derive(Debug)]
struct Share<T> {
    /// What it has used lately.
    used: f64,
    /// In order of arrival, each with its cost.
    waiting: VecDeque<(usize, T)>,
    /// What that costs.
    cost: usize,
    /// When it was last served, or began to wait.
    since: Instant,
}

impl<A: Copy + Ord, T> Shares<A, T> {
    /// Nobody waits yet.
    pub fn new(rules: Rules, now: Instant) -> Self {
        Shares { rules, accounts: BTreeMap::new(), aged: now }
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting().next().is_none()
    }

    /// What all wait for costs.
    pub fn cost(&self) -> usize {
        self.accounts.values().map(|share| share.cost).sum()
    }

    /// What an account waits for costs.
    pub fn cost_of(&self, account: A) -> usize {
        self.accounts.get(&account).map_or(0, |share| share.cost)
    }

    /// Somebody waits for these, each with its cost.
    pub fn add(&mut self, account: A, work: impl IntoIterator<Item = (usize, T)>, now: Instant) {
        self.forget(now);
        let least = self.waiting().map(|(_, share)| share.used).reduce(f64::min);
        let new = || Share { used: 0.0, waiting: VecDeque::new(), cost: 0, since: now };
        let share = self.accounts.entry(account).or_insert_with(new);
        if share.waiting.is_empty() {
            share.since = now;
            if let Some(least) = least {
                share.used = share.used.clamp((least - self.rules.head_start).max(0.0), least);
            }
        }
        for (cost, work) in work {
            share.cost += cost;
            share.waiting.push_back((cost, work));
        }
    }

    /// What is to be done next, and what it costs.
    pub fn next(&self, now: Instant) -> Option<(usize, &T)> {
        let (cost, work) = self.accounts.get(&self.turn(now)?)?.waiting.front()?;
        Some((*cost, work))
    }

    /// Takes what is [`next`](Self::next), at its account's expense.
    pub fn take(&mut self, now: Instant) -> Option<T> {
        self.forget(now);
        let account = self.turn(now)?;
        let share = self.accounts.get_mut(&account)?;
        let (cost, work) = share.waiting.pop_front()?;
        share.cost -= cost;
        share.used += cost as f64;
        share.since = now;
        Some(work)
    }

    /// Drops what is [`next`](Self::next), at nobody's expense.
    pub fn skip(&mut self, now: Instant) {
        let share = self.turn(now).and_then(|account| self.accounts.get_mut(&account));
        if let Some(share) = share {
            share.cost -= share.waiting.pop_front().map_or(0, |(cost, _)| cost);
        }
    }

    fn waiting(&self) -> impl Iterator<Item = (A, &Share<T>)> {
        let accounts = self.accounts.iter().map(|(account, share)| (*account, share));
        accounts.filter(|(_, share)| !share.waiting.is_empty())
    }

    /// Whose turn it is.
    fn turn(&self, now: Instant) -> Option<A> {
        let passed_over = |share: &Share<T>| now.saturating_duration_since(share.since) > self.rules.patience;
        let longest =
            self.waiting().filter(|(_, share)| passed_over(share)).min_by_key(|(_, share)| share.since);
        let least =
            || self.waiting().min_by(|(_, a), (_, b)| a.used.total_cmp(&b.used).then(a.since.cmp(&b.since)));
        longest.or_else(least).map(|(account, _)| account)
    }

    /// What was used fades, and with it who used it.
    fn forget(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.aged).as_secs_f64();
        self.aged = now;
        let left = 0.5f64.powf(passed / self.rules.half_life.as_secs_f64());
        self.accounts.values_mut().for_each(|share| share.used *= left);
        self.accounts.retain(|_, share| share.used >= 1.0 || !share.waiting.is_empty());
    }
}
