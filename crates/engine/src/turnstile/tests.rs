//! The turnstile in every order of events, and with real waiting.

use std::{task::Poll, time::Duration};

use stateright::{Checker, Model, Property};

use super::*;

/// Calls of two accounts, each of which arrives, perhaps waits or gives up, works and leaves.
struct Calls {
    /// The account of each call.
    accounts: Vec<u8>,
    room: Room,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Where {
    Away,
    Waits(u64),
    /// Inside by the rules, but it has not noticed: it may still give up.
    Called(u64),
    Inside,
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    turns: Turns<u8>,
    calls: Vec<Where>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Arrives(usize),
    Notices(usize),
    GivesUp(usize),
    Leaves(usize),
}

impl Calls {
    fn leave(&self, seen: &mut Seen, call: usize) {
        seen.calls[call] = Where::Gone;
        if let Some(ticket) = seen.turns.leave(self.accounts[call])
            && let Some(next) = seen.calls.iter_mut().find(|call| **call == Where::Waits(ticket))
        {
            *next = Where::Called(ticket);
        }
    }

    fn inside(&self, seen: &Seen, account: Option<u8>) -> usize {
        let calls = self.accounts.iter().zip(&seen.calls);
        let of_account = calls.filter(|(own, _)| account.is_none_or(|account| account == **own));
        of_account.filter(|(_, call)| matches!(call, Where::Called(_) | Where::Inside)).count()
    }
}

impl Model for Calls {
    type State = Seen;
    type Action = Event;

    fn init_states(&self) -> Vec<Seen> {
        vec![Seen { turns: Turns::new(self.room), calls: vec![Where::Away; self.accounts.len()] }]
    }

    fn actions(&self, seen: &Seen, events: &mut Vec<Event>) {
        for (at, call) in seen.calls.iter().enumerate() {
            match call {
                Where::Away => events.push(Event::Arrives(at)),
                Where::Waits(_) => events.push(Event::GivesUp(at)),
                Where::Called(_) => events.extend([Event::Notices(at), Event::GivesUp(at)]),
                Where::Inside => events.push(Event::Leaves(at)),
                Where::Gone => {}
            }
        }
    }

    fn next_state(&self, seen: &Seen, event: Event) -> Option<Seen> {
        let mut seen = seen.clone();
        match event {
            Event::Arrives(at) => {
                seen.calls[at] = match seen.turns.arrive(self.accounts[at]) {
                    Arrival::Enter => Where::Inside,
                    Arrival::Wait(ticket) => Where::Waits(ticket),
                    Arrival::Full => Where::Gone,
                }
            }
            Event::Notices(at) => seen.calls[at] = Where::Inside,
            Event::Leaves(at) => self.leave(&mut seen, at),
            Event::GivesUp(at) => {
                let (Where::Waits(ticket) | Where::Called(ticket)) = seen.calls[at] else { return None };
                match seen.turns.give_up(self.accounts[at], ticket) {
                    true => seen.calls[at] = Where::Gone,
                    false => self.leave(&mut seen, at),
                }
            }
        }
        Some(seen)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no more are inside than there is room for", |model: &Calls, seen: &Seen| {
                let within = |account| model.inside(seen, Some(account)) <= model.room.of_one;
                model.inside(seen, None) <= model.room.of_all && model.accounts.iter().all(|&a| within(a))
            }),
            Property::always("the rules know who is inside", |model: &Calls, seen: &Seen| {
                let known = |&account: &u8| model.inside(seen, Some(account)) == seen.turns.inside(account);
                model.accounts.iter().all(known)
            }),
            Property::always("nobody waits where there is room for them", |model: &Calls, seen: &Seen| {
                let free = model.inside(seen, None) < model.room.of_all;
                let mut calls = model.accounts.iter().zip(&seen.calls);
                !calls.any(|(&account, call)| {
                    matches!(call, Where::Waits(_)) && free && !seen.turns.is_full(account)
                })
            }),
            Property::always("who has left leaves nothing behind", |_: &Calls, seen: &Seen| {
                let all_gone = seen.calls.iter().all(|call| *call == Where::Gone);
                !all_gone || seen.turns.inside_of_all() == 0
            }),
        ]
    }
}

#[test]
fn in_every_order_of_events_nobody_is_forgotten_and_nobody_gets_past_the_bounds() {
    let room = Room { of_all: 2, of_one: 1, waiting_of_one: 2 };
    let calls = Calls { accounts: vec![1, 1, 1, 2, 2, 3], room };
    let checked = calls.checker().spawn_bfs().join();
    assert!(checked.unique_state_count() > 1_000, "{}", checked.unique_state_count());
    checked.assert_properties();
}

#[test]
fn waiting_accounts_are_served_in_turn_however_many_calls_one_has() {
    let mut turns = Turns::new(Room { of_all: 1, of_one: 1, waiting_of_one: 100 });
    assert_eq!(turns.arrive('a'), Arrival::Enter);
    let mut owners = HashMap::new();
    for account in ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'c'] {
        let Arrival::Wait(ticket) = turns.arrive(account) else { panic!("there is room for one") };
        owners.insert(ticket, account);
    }
    let (mut inside, mut order) = ('a', String::new());
    while let Some(ticket) = turns.leave(inside) {
        inside = owners[&ticket];
        order.push(inside);
    }
    assert_eq!(order, "abcabaaa");
}

fn turnstile(of_all: usize, of_one: usize, wait: Duration) -> Turnstile {
    Turnstile::new(Room { of_all, of_one, waiting_of_one: 2 }, wait)
}

#[tokio::test]
async fn who_waits_too_long_is_told_whose_fault_it_is() {
    let turnstile = turnstile(2, 1, Duration::from_millis(20));
    let (ada, eve, bob) = (UserId::generate(), UserId::generate(), UserId::generate());
    let first = turnstile.enter(ada).await.unwrap();
    let own = turnstile.enter(ada).await.err().unwrap();
    assert_eq!((own.reason, own.retry_after), (Reason::OverloadedKey, Some(RETRY_AFTER)));
    let second = turnstile.enter(eve).await.unwrap();
    assert_eq!(turnstile.enter(bob).await.err().unwrap().reason, Reason::Overloaded);
    drop(first);
    let third = turnstile.enter(bob).await.unwrap();
    drop((second, third));
    assert_eq!(turnstile.lock().turns.inside_of_all(), 0);
}

#[tokio::test]
async fn more_calls_of_one_account_than_may_wait_are_refused_at_once() {
    let turnstile = turnstile(1, 1, Duration::from_secs(60));
    let ada = UserId::generate();
    let inside = turnstile.enter(ada).await.unwrap();
    let waiting = [turnstile.enter(ada), turnstile.enter(ada)];
    let mut waiting = waiting.map(Box::pin);
    for waits in &mut waiting {
        let first = std::future::poll_fn(|context| Poll::Ready(waits.as_mut().poll(context)));
        assert!(first.await.is_pending());
    }
    assert_eq!(turnstile.enter(ada).await.err().unwrap().reason, Reason::OverloadedKey);
    drop(waiting);
    drop(inside);
    assert!(turnstile.lock().calls.is_empty(), "who left is not called");
    drop(turnstile.enter(ada).await.unwrap());
}

#[tokio::test]
async fn of_many_at_once_each_gets_in_and_never_too_many_together() {
    let turnstile =
        Turnstile::new(Room { of_all: 3, of_one: 2, waiting_of_one: 100 }, Duration::from_secs(60));
    let accounts = [UserId::generate(), UserId::generate()];
    let calls = (0..100).map(|n| {
        let turnstile = turnstile.clone();
        let account = accounts[usize::from(n % 10 == 0)];
        tokio::spawn(async move {
            let pass = turnstile.enter(account).await.unwrap();
            let inside = turnstile.lock().turns.inside_of_all();
            tokio::task::yield_now().await;
            drop(pass);
            inside
        })
    });
    for call in futures::future::join_all(calls.collect::<Vec<_>>()).await {
        assert!((1..=3).contains(&call.unwrap()));
    }
    assert_eq!(turnstile.lock().turns.inside_of_all(), 0);
}
