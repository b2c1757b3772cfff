//! Calls of one account, on two nodes, are paid for: units are held, charged or given back; a node may be killed or fall
//! silent at any moment, an acknowledgement may be lost, and a month ends (`stores/catalog/units.rs`, `attempts.rs`, `nodes.rs`,
//! `server/http/units.rs`, `idempotency.rs`).
//!
//! The first call is a plain one. The second carries an `Idempotency-Key`; the third is the same, sent again to any node by
//! somebody who has waited for long or was told that it failed.

use stateright::{Checker, HasDiscoveries, Model, Property};

/// Precautions that can be taken out.
#[derive(Debug, Clone, Copy)]
struct Code {
    /// The balance is looked at and units are held in one transaction, an account's one after the other.
    takes_turns: bool,
    /// A call costs no more than was held for it.
    caps: bool,
    /// A call is charged to the month that it was held in.
    keeps_month: bool,
    /// A charge whose reservation is gone is refused, and so is the answer.
    settling_looks: bool,
    /// Whoever does not hear of a commit looks first whether it was done.
    trying_again_looks: bool,
    /// What was charged can be looked up for longer than anybody tries.
    remembers: bool,
    /// An answer is kept for retries and charged in one transaction.
    keeps_and_charges: bool,
    /// An answer is sent only if its attempt was still there to be ended.
    finishing_looks: bool,
    /// A call ends before what is held for it expires.
    ends_in_time: bool,
    /// What expired is given back.
    sweeps: bool,
}

const CODE: Code = Code {
    takes_turns: true,
    caps: true,
    keeps_month: true,
    settling_looks: true,
    trying_again_looks: true,
    remembers: true,
    keeps_and_charges: true,
    finishing_looks: true,
    ends_in_time: true,
    sweeps: true,
};

/// Units a month.
const QUOTA: u8 = 3;
/// The most that a call can cost: two at once are too much.
const MOST: u8 = 2;
/// What the work of each call comes to; the first one's would be more than was held.
const COST: [u8; CALLS] = [3, 1, 1];
const CALLS: usize = 3;
const NODES: usize = 2;
/// The call that carries an `Idempotency-Key`, and its retry.
const FIRST_TRY: usize = 1;
const RETRY: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// Nobody asked yet.
    Unsent,
    /// Nothing was done yet.
    Sent,
    /// Looked at the balance, where that is a step of its own.
    Looked,
    /// Units are held; the work is under way.
    Works,
    /// The work is done and is to be charged; `again` where the acknowledgement of a commit was lost.
    Settles {
        again: bool,
    },
    /// The amount is fixed; the answer is to be kept and charged.
    Finishes,
    /// The answer is kept, but not charged, where those are two steps.
    Charges,
    Answered,
    /// Its sender was told that it failed.
    Failed,
    /// Its sender heard nothing.
    Lost,
}

/// A row of `unit_reservations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Reservation {
    month: usize,
    units: u8,
    stage: Stage,
    node: usize,
}

/// Its column `settled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Held,
    /// The amount is fixed; an attempt's end charges it.
    Fixed,
    Charged,
}

/// A row of `attempts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Attempt {
    None,
    Running { by: usize },
    Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Alive,
    /// It does nothing for a while, and does not know it.
    Silent,
    /// The others took over from it, and it goes on all the same.
    SilentAndBuried,
    Dead,
    Buried,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    /// The next step of a call.
    Step(usize),
    /// The same, but nobody hears that it was committed.
    StepUnheard(usize),
    /// The work of a call fails, and its units are given back.
    Fail(usize),
    /// The same, but giving them back does not work either.
    FailUnreleased(usize),
    /// The retry is sent to this node.
    Retry(usize),
    Kill(usize),
    FallSilent(usize),
    Wake(usize),
    Bury(usize),
    /// `release_abandoned_units` finds this reservation expired.
    Sweep(usize),
    NextMonth,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    // What is in the catalog.
    used: [u8; 2],
    reservations: [Option<Reservation>; CALLS],
    attempt: Attempt,
    // What is elsewhere.
    calls: [Call; CALLS],
    on: [usize; CALLS],
    nodes: [Node; NODES],
    month: usize,
    unheard: bool,
    /// How often each call was charged.
    charges: [u8; CALLS],
}

impl State {
    fn is_under_way(&self, call: usize) -> bool {
        !matches!(self.calls[call], Call::Unsent | Call::Answered | Call::Failed | Call::Lost)
    }

    /// What is charged or held in a month.
    fn taken(&self, month: usize) -> u8 {
        let open = self.reservations.iter().flatten();
        let open = open.filter(|row| row.month == month && row.stage != Stage::Charged);
        self.used[month] + open.map(|row| row.units).sum::<u8>()
    }

    fn is_over_quota(&self) -> bool {
        self.taken(self.month) + MOST > QUOTA
    }

    fn hold(&mut self, call: usize) -> Call {
        let (month, node) = (self.month, self.on[call]);
        self.reservations[call] = Some(Reservation { month, units: MOST, stage: Stage::Held, node });
        Call::Works
    }

    fn charge(&mut self, call: usize, code: Code) {
        let Some(row) = &mut self.reservations[call] else { return };
        let month = if code.keeps_month { row.month } else { self.month };
        row.stage = Stage::Charged;
        self.used[month] += row.units;
        self.charges[call] += 1;
    }
}

impl Model for Code {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            used: [0, 0],
            reservations: [None; CALLS],
            attempt: Attempt::None,
            calls: [Call::Sent, Call::Sent, Call::Unsent],
            on: [0, 1, 0],
            nodes: [Node::Alive; NODES],
            month: 0,
            unheard: false,
            charges: [0; CALLS],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for call in 0..CALLS {
            let works = state.is_under_way(call) && state.nodes[state.on[call]] == Node::Alive;
            // Whoever finds another attempt running is told to come again: as good as not being sent yet.
            let waits = is_tried(call)
                && state.calls[call] == Call::Sent
                && matches!(state.attempt, Attempt::Running { .. });
            if works && !waits {
                actions.push(Action::Step(call));
                if matches!(state.calls[call], Call::Settles { again: false }) && !state.unheard {
                    actions.push(Action::StepUnheard(call));
                }
            }
            if works && state.calls[call] == Call::Works {
                actions.extend([Action::Fail(call), Action::FailUnreleased(call)]);
            }
            if let Some(row) = state.reservations[call].filter(|_| self.sweeps) {
                let looked_up = matches!(state.calls[call], Call::Settles { again: true });
                let expired = match row.stage {
                    Stage::Charged => !self.remembers || !looked_up,
                    Stage::Held | Stage::Fixed => !self.ends_in_time || !state.is_under_way(call),
                };
                if expired {
                    actions.push(Action::Sweep(call));
                }
            }
        }
        if state.calls[RETRY] == Call::Unsent && state.calls[FIRST_TRY] != Call::Answered {
            actions.extend((0..NODES).filter(|&node| state.nodes[node] == Node::Alive).map(Action::Retry));
        }
        let all_well = state.nodes == [Node::Alive; NODES];
        for node in 0..NODES {
            match state.nodes[node] {
                // One of them goes on, and takes over.
                Node::Alive if all_well => actions.extend([Action::Kill(node), Action::FallSilent(node)]),
                Node::Silent => actions.extend([Action::Wake(node), Action::Bury(node)]),
                Node::SilentAndBuried => actions.push(Action::Wake(node)),
                Node::Dead => actions.push(Action::Bury(node)),
                Node::Alive | Node::Buried => {}
            }
        }
        if state.month == 0 {
            actions.push(Action::NextMonth);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Step(call) => state.calls[call] = step(*self, &mut state, call),
            Action::StepUnheard(call) => {
                step(*self, &mut state, call);
                (state.calls[call], state.unheard) = (Call::Settles { again: true }, true);
            }
            Action::Fail(call) => {
                state.reservations[call] = None;
                fail(&mut state, call);
            }
            Action::FailUnreleased(call) => fail(&mut state, call),
            Action::Retry(node) => (state.calls[RETRY], state.on[RETRY]) = (Call::Sent, node),
            Action::Kill(node) => {
                state.nodes[node] = Node::Dead;
                for call in 0..CALLS {
                    if state.on[call] == node && state.is_under_way(call) {
                        state.calls[call] = Call::Lost;
                    }
                }
            }
            Action::FallSilent(node) => state.nodes[node] = Node::Silent,
            Action::Wake(node) => state.nodes[node] = Node::Alive,
            Action::Bury(node) => bury(&mut state, node),
            Action::Sweep(call) => state.reservations[call] = None,
            Action::NextMonth => state.month = 1,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("never over the allowance", |_, state: &State| {
                [0, 1].iter().all(|&month| state.taken(month) <= QUOTA)
            }),
            Property::always("charged once at most", |_, state: &State| {
                let [plain, first, retry] = state.charges;
                plain <= 1 && first + retry <= 1
            }),
            Property::always("what is answered is charged, and what failed is not", |_, state: &State| {
                let [plain, first, retry] = state.charges;
                (0..CALLS).all(|call| match state.calls[call] {
                    Call::Answered if is_tried(call) => first + retry == 1,
                    Call::Answered => plain == 1,
                    Call::Failed => state.charges[call] == 0,
                    _ => true,
                })
            }),
            Property::always("nothing is held and nobody waits for ever", |code: &Code, state: &State| {
                let mut actions = Vec::new();
                code.actions(state, &mut actions);
                let held = state.reservations.iter().flatten().any(|row| row.stage != Stage::Charged);
                let waits = (0..CALLS).any(|call| state.is_under_way(call));
                // A new month gives nothing back.
                actions.iter().any(|action| *action != Action::NextMonth) || !(held || waits)
            }),
        ]
    }
}

/// Whether a call carries the `Idempotency-Key`.
fn is_tried(call: usize) -> bool {
    call == FIRST_TRY || call == RETRY
}

/// `Payer::reserve`, the work, `Charge::settle`, and for an attempt `begin_attempt` and `finish_attempt`.
fn step(code: Code, state: &mut State, call: usize) -> Call {
    match state.calls[call] {
        Call::Sent if is_tried(call) && state.attempt == Attempt::Answered => Call::Answered,
        Call::Sent => {
            if is_tried(call) {
                state.attempt = Attempt::Running { by: call };
            }
            match (state.is_over_quota(), code.takes_turns) {
                (true, _) => failed(state, call),
                (false, true) => state.hold(call),
                (false, false) => Call::Looked,
            }
        }
        Call::Looked => state.hold(call),
        Call::Works => Call::Settles { again: false },
        Call::Settles { again } => settle(code, state, call, again),
        Call::Finishes => finish(code, state, call),
        Call::Charges => {
            state.charge(call, code);
            Call::Answered
        }
        over @ (Call::Unsent | Call::Answered | Call::Failed | Call::Lost) => over,
    }
}

/// `units::settle`.
fn settle(code: Code, state: &mut State, call: usize, again: bool) -> Call {
    let then = if is_tried(call) { Call::Finishes } else { Call::Answered };
    let Some(row) = &mut state.reservations[call] else {
        return if code.settling_looks { failed(state, call) } else { then };
    };
    if again && code.trying_again_looks && row.stage != Stage::Held {
        return then;
    }
    row.units = if code.caps { COST[call].min(MOST) } else { COST[call] };
    if is_tried(call) {
        row.stage = Stage::Fixed;
    } else {
        state.charge(call, code);
    }
    then
}

/// `finish_attempt`.
fn finish(code: Code, state: &mut State, call: usize) -> Call {
    let there = state.attempt == Attempt::Running { by: call };
    if code.finishing_looks && !there {
        return Call::Failed;
    }
    if there {
        state.attempt = Attempt::Answered;
    }
    if !code.keeps_and_charges {
        return Call::Charges;
    }
    state.charge(call, code);
    Call::Answered
}

/// A call that fails frees its idempotency key.
fn fail(state: &mut State, call: usize) {
    state.calls[call] = failed(state, call);
}

fn failed(state: &mut State, call: usize) -> Call {
    if state.attempt == (Attempt::Running { by: call }) {
        state.attempt = Attempt::None;
    }
    Call::Failed
}

/// `bury_nodes`.
fn bury(state: &mut State, node: usize) {
    state.nodes[node] = if state.nodes[node] == Node::Dead { Node::Buried } else { Node::SilentAndBuried };
    for row in &mut state.reservations {
        *row = row.filter(|row| row.node != node || row.stage == Stage::Charged);
    }
    if matches!(state.attempt, Attempt::Running { by } if state.on[by] == node) {
        state.attempt = Attempt::None;
    }
}

fn holds(code: Code) -> bool {
    let checker = code.checker().threads(1).finish_when(HasDiscoveries::Any).spawn_bfs().join();
    let (holds, states) = (checker.discoveries().is_empty(), checker.unique_state_count());
    assert!(!holds || states > 1_000, "{states} states are too few");
    holds
}

#[test]
fn units_are_charged_once_and_never_held_for_ever_whatever_is_killed_silent_or_lost() {
    assert!(holds(CODE));
}

#[test]
fn the_model_fails_without_any_one_precaution() {
    for (taken_out, code) in [
        ("turns", Code { takes_turns: false, ..CODE }),
        ("cap", Code { caps: false, ..CODE }),
        ("month of the reservation", Code { keeps_month: false, ..CODE }),
        ("look before charging", Code { settling_looks: false, ..CODE }),
        ("look before trying again", Code { trying_again_looks: false, ..CODE }),
        ("memory of charges", Code { remembers: false, ..CODE }),
        ("one transaction for answer and charge", Code { keeps_and_charges: false, ..CODE }),
        ("look before an attempt ends", Code { finishing_looks: false, ..CODE }),
        ("end in time", Code { ends_in_time: false, ..CODE }),
        ("sweep", Code { sweeps: false, ..CODE }),
    ] {
        assert!(!holds(code), "it holds without the {taken_out}");
    }
}
