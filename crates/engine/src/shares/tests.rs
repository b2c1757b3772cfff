//! Accounts that share a machine with a simulated clock: a piece of work takes as many milliseconds as it costs.

use proptest::prelude::*;

use super::*;

const HEAD_START: f64 = 50.0;
const PATIENCE: u64 = 200;
const LONGEST: usize = 20;
const RULES: Rules = Rules {
    half_life: Duration::from_secs(10),
    head_start: HEAD_START,
    patience: Duration::from_millis(PATIENCE),
};

/// A machine that works for accounts.
struct Machine {
    shares: Shares<u32, u32>,
    now: Instant,
}

impl Machine {
    fn new(rules: Rules) -> Self {
        let now = Instant::now();
        Machine { shares: Shares::new(rules, now), now }
    }

    fn ask(&mut self, account: u32, pieces: usize, cost: usize) {
        self.shares.add(account, std::iter::repeat_n((cost, account), pieces), self.now);
    }

    /// Works on the next piece: for whom, and how long it took.
    fn work(&mut self) -> Option<(u32, usize)> {
        let (cost, &next) = self.shares.next(self.now)?;
        assert_eq!(self.shares.take(self.now), Some(next));
        self.now += Duration::from_millis(cost as u64);
        Some((next, cost))
    }

    /// Works on so many pieces.
    fn work_on(&mut self, pieces: usize) {
        (0..pieces).for_each(|_| {
            self.work();
        });
    }

    /// For whom it works until all is done.
    fn order(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| Some(self.work()?.0)).collect()
    }
}

#[test]
fn accounts_take_turns_however_much_one_has_waiting() {
    let mut machine = Machine::new(RULES);
    machine.ask(1, 5, 10);
    machine.ask(2, 2, 10);
    machine.ask(3, 1, 10);
    assert_eq!(machine.order(), [1, 2, 3, 1, 2, 1, 1, 1]);
}

#[test]
fn turns_are_of_equal_cost_not_of_equal_number() {
    let mut machine = Machine::new(RULES);
    machine.ask(1, 3, 30);
    machine.ask(2, 6, 10);
    let order = machine.order();
    assert_eq!(order[..8].iter().filter(|account| **account == 2).count(), 6, "{order:?}");
}

#[test]
fn who_comes_seldom_goes_first_and_for_no_longer_than_its_head_start() {
    let mut machine = Machine::new(Rules { patience: Duration::from_secs(60), ..RULES });
    machine.ask(1, 100, 10);
    machine.work_on(20);
    machine.ask(2, 10, 10);
    let order = machine.order();
    assert_eq!(order[..5], [2; 5]);
    assert_eq!(order[5..15].iter().filter(|account| **account == 2).count(), 5, "{order:?}");
}

#[test]
fn what_was_used_while_nobody_else_asked_is_forgiven() {
    let mut machine = Machine::new(RULES);
    machine.ask(1, 1, 5_000);
    machine.work();
    machine.ask(2, 12, 10);
    machine.ask(1, 1, 10);
    let order = machine.order();
    let turn = order.iter().position(|account| *account == 1);
    assert!(turn.is_some_and(|turn| turn <= 1), "{order:?}");
}

#[test]
fn what_was_used_fades() {
    let mut machine = Machine::new(RULES);
    machine.ask(1, 1, 40);
    machine.work();
    machine.now += RULES.half_life * 10;
    machine.ask(1, 1, 10);
    machine.ask(2, 1, 10);
    assert_eq!(machine.order(), [1, 2], "they have used nothing, and the first one came first");
    machine.now += RULES.half_life * 10;
    machine.ask(3, 1, 10);
    assert_eq!(machine.shares.accounts.len(), 1, "who used nothing lately is not remembered");
}

#[test]
fn what_nobody_waits_for_any_more_costs_nothing() {
    let mut machine = Machine::new(RULES);
    machine.ask(1, 3, 10);
    machine.ask(2, 1, 10);
    assert_eq!(machine.shares.next(machine.now), Some((10, &1)));
    machine.shares.skip(machine.now);
    assert_eq!((machine.shares.cost_of(1), machine.shares.cost_of(2)), (20, 10));
    assert_eq!(machine.order(), [1, 2, 1]);
    assert_eq!((machine.shares.cost_of(1), machine.work()), (0, None));
    assert!(machine.shares.is_empty());
}

/// With two calls at once an account finds none of its own waiting each time it comes. It goes behind those who waited before it.
#[test]
fn an_account_with_two_calls_at_once_leaves_another_its_turn() {
    let mut machine = Machine::new(Rules { patience: Duration::from_secs(60), ..RULES });
    machine.ask(1, 1, 10);
    machine.ask(2, 20, 10);
    let mut served = [0; 3];
    for _ in 0..20 {
        let (account, _) = machine.work().expect("somebody always waits");
        served[account as usize] += 1;
        // The other call of this account arrives while none of its own waits.
        if account == 1 {
            machine.ask(1, 1, 10);
        }
    }
    assert!(served[2] >= 9, "{served:?}");
}

#[test]
fn an_endless_row_of_newcomers_leaves_an_account_its_turn() {
    let mut machine = Machine::new(RULES);
    machine.ask(0, 1_000, 10);
    machine.work_on(100);
    let order = (1..=200).map(|newcomer| {
        machine.ask(newcomer, 1, 10);
        machine.work().map(|(account, _)| account)
    });
    let own = order.filter(|account| *account == Some(0)).count();
    assert!(own >= 5, "{own} of 200");
}

/// What happens to the machine.
#[derive(Debug, Clone)]
enum Event {
    /// An account asks for pieces of this cost.
    Asks(u32, usize, usize),
    /// It works on a piece.
    Works,
    /// The next piece is given up by whoever asked for it.
    GivesUp,
    /// For so long nothing happens.
    Rests(u64),
}

const ACCOUNTS: u32 = 5;

fn event() -> impl Strategy<Value = Event> {
    let asks = (0..ACCOUNTS, 1usize..8, 1..=LONGEST);
    prop_oneof![
        3 => asks.prop_map(|(account, pieces, cost)| Event::Asks(account, pieces, cost)),
        6 => Just(Event::Works),
        1 => Just(Event::GivesUp),
        1 => (0u64..50).prop_map(Event::Rests),
    ]
}

proptest! {
    /// However the others ask, nobody is passed over for longer than the patience and a piece of each of the others. And nothing is
    /// lost or done twice.
    #[test]
    fn no_account_starves(events in prop::collection::vec(event(), 1..500), head_start in 0.0..10_000f64) {
        let mut machine = Machine::new(Rules { head_start, ..RULES });
        let mut waits = [0usize; ACCOUNTS as usize];
        // The work that was done for others since an account was last served or began to wait.
        let mut passed_over = [0usize; ACCOUNTS as usize];
        for event in events {
            match event {
                Event::Asks(account, pieces, cost) => {
                    let account_at = account as usize;
                    if waits[account_at] == 0 {
                        passed_over[account_at] = 0;
                    }
                    waits[account_at] += pieces;
                    machine.ask(account, pieces, cost);
                }
                Event::Works => {
                    let Some((account, cost)) = machine.work() else { continue };
                    waits[account as usize] -= 1;
                    for other in 0..ACCOUNTS as usize {
                        passed_over[other] += if waits[other] > 0 { cost } else { 0 };
                    }
                    passed_over[account as usize] = 0;
                    let most = PATIENCE as usize + LONGEST * (ACCOUNTS as usize + 1);
                    prop_assert!(passed_over.iter().all(|over| *over <= most), "{passed_over:?}");
                }
                Event::GivesUp => {
                    if let Some((_, &account)) = machine.shares.next(machine.now) {
                        waits[account as usize] -= 1;
                        machine.shares.skip(machine.now);
                    }
                }
                Event::Rests(milliseconds) => machine.now += Duration::from_millis(milliseconds),
            }
        }
        let order = machine.order();
        for account in 0..ACCOUNTS {
            let done = order.iter().filter(|done| **done == account).count();
            prop_assert_eq!(done, waits[account as usize]);
        }
        prop_assert!(machine.shares.is_empty() && (0..ACCOUNTS).all(|one| machine.shares.cost_of(one) == 0));
    }

    /// Who asks for little waits for the piece that is being worked on, whatever the others have waiting.
    #[test]
    fn who_asks_for_little_is_served_as_if_alone(
        others in prop::collection::vec((1u32..8, 1..=LONGEST), 1..100),
        before in 30usize..500,
        pieces in 1usize..5,
    ) {
        let mut machine = Machine::new(Rules { patience: Duration::from_secs(3_600), ..RULES });
        for (account, cost) in others {
            machine.ask(account, 1_000, cost);
        }
        machine.work_on(before);
        machine.ask(0, pieces, 10);
        let least = machine.shares.waiting().filter(|(account, _)| *account > 0);
        let least = least.map(|(_, share)| share.used).fold(f64::INFINITY, f64::min);
        let ahead = ((least.min(HEAD_START) / 10.0) as usize).min(pieces);
        for _ in 0..ahead {
            prop_assert_eq!(machine.work().map(|(account, _)| account), Some(0));
        }
    }
}
