//! Requests of two keys of one user are counted, by two nodes on one server, by two nodes while that server is away, or by one
//! node that is started again; clocks differ, and one is set back (`stores/limiter/memory.rs`, `valkey.rs`, `take.lua`).
//!
//! Time goes in ticks. A tick stands for as much as clocks of nodes may differ by; windows are a few ticks long.

use stateright::{Checker, HasDiscoveries, Model, Property};

/// Precautions that can be taken out.
#[derive(Debug, Clone, Copy)]
struct Code {
    place: Place,
    /// Both windows are read and written in one step that nobody comes between.
    at_once: bool,
    /// Only who passes is counted, and then in both windows.
    refused_count_nowhere: bool,
    /// A window from the future is forgotten.
    forgets_the_future: bool,
    /// A window of a clock that is only a little ahead is not.
    bears_with_clocks: bool,
    /// A window is kept for as long as it is open.
    kept_while_open: bool,
    /// The user's window outlives the process.
    journal: bool,
    /// A node that counts alone counts up to its share.
    shares: bool,
}

const CODE: Code = Code {
    place: Place::Server,
    at_once: true,
    refused_count_nowhere: true,
    forgets_the_future: true,
    bears_with_clocks: true,
    kept_while_open: true,
    journal: true,
    shares: true,
};

/// Where requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On one server, by a script.
    Server,
    /// On each node, while that server is away.
    EachNode,
    /// In the memory of the only node; the user's window is on disk too.
    OneNode,
}

const NODES: usize = 2;
const KEYS: usize = 2;
/// Windows 0 and 1 are the keys', the last one is the user's.
const USER: usize = KEYS;
const WINDOWS: usize = KEYS + 1;
/// How many requests a window takes, and how long it is.
const LIMIT: [u8; WINDOWS] = [2, 2, 3];
const LENGTH: [i8; WINDOWS] = [3, 3, 4];
/// How far ahead of now a window may have opened.
const AHEAD: i8 = 1;
/// How far the second node's clock is behind the first one's.
const BEHIND: i8 = 1;
/// How far a clock is set back: a little, or much further than any window lasts.
const BACK: [i8; 2] = [1, 20];
/// How long all of it is looked at.
const END: i8 = 7;

/// A window as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Window {
    opened: i8,
    hits: u8,
    /// When it was last written, by the server's clock, which goes on evenly.
    written: i8,
}

/// What the model knows of a window beside that: when it really opened, and how many really passed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Truth {
    opened: i8,
    passed: u8,
}

type Windows = [Option<Window>; WINDOWS];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Tick,
    Ask {
        node: usize,
        key: usize,
    },
    /// The other half of a request, where reading and writing are two steps.
    Write(usize),
    /// All clocks are set back by one of [`BACK`].
    SetBack(usize),
    StartAgain,
}

/// Something that must not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Wrong {
    /// More passed than the window takes.
    TooMany,
    /// A window opened while the one before was still open.
    TooEarly,
    /// Somebody was refused whose window should have closed.
    Locked,
    /// A refused request was counted.
    Counted,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    now: i8,
    /// How far the clocks are off.
    off: i8,
    stores: [Windows; NODES],
    truths: [[Option<Truth>; WINDOWS]; NODES],
    /// What a node has read and not written yet: its windows, for which key.
    read: [Option<(Windows, usize)>; NODES],
    started_again: bool,
    wrong: Option<Wrong>,
}

impl State {
    fn clock(&self, code: Code, node: usize) -> i8 {
        let behind = if code.place == Place::OneNode { 0 } else { BEHIND * node as i8 };
        self.now + self.off - behind
    }
}

impl Code {
    fn store(self, node: usize) -> usize {
        if self.place == Place::EachNode { node } else { 0 }
    }

    fn limit(self, window: usize) -> u8 {
        let shared = self.place == Place::EachNode && self.shares;
        if shared { LIMIT[window] / NODES as u8 } else { LIMIT[window] }
    }
}

impl Model for Code {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            now: 0,
            off: 0,
            stores: [[None; WINDOWS]; NODES],
            truths: [[None; WINDOWS]; NODES],
            read: [None; NODES],
            started_again: false,
            wrong: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.wrong.is_some() {
            return;
        }
        if state.now < END && state.read.iter().all(Option::is_none) {
            actions.push(Action::Tick);
        }
        let nodes = if self.place == Place::OneNode { 1 } else { NODES };
        for node in 0..nodes {
            match state.read[node] {
                Some(_) => actions.push(Action::Write(node)),
                None => actions.extend((0..KEYS).map(|key| Action::Ask { node, key })),
            }
        }
        if state.off == 0 {
            actions.extend((0..BACK.len()).map(Action::SetBack));
        }
        if self.place == Place::OneNode && !state.started_again {
            actions.push(Action::StartAgain);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Tick => state.now += 1,
            Action::Ask { node, key } => {
                let windows = read(*self, &state, node);
                if self.at_once {
                    take(*self, &mut state, node, windows, key);
                } else {
                    state.read[node] = Some((windows, key));
                }
            }
            Action::Write(node) => {
                let (windows, key) = state.read[node].take()?;
                take(*self, &mut state, node, windows, key);
            }
            Action::SetBack(by) => state.off = -BACK[by],
            Action::StartAgain => {
                let user = state.stores[0][USER].filter(|_| self.journal);
                state.stores[0] = [None, None, user];
                // Keys' windows begin anew with the process, which is as it should be.
                state.truths[0] = [None, None, state.truths[0][USER]];
                state.started_again = true;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no window takes more than its limit", |_, state: &State| {
                state.wrong != Some(Wrong::TooMany)
            }),
            Property::always("no window opens before the one before it closed", |_, state: &State| {
                state.wrong != Some(Wrong::TooEarly)
            }),
            Property::always("nobody is refused beyond the window", |_, state: &State| {
                state.wrong != Some(Wrong::Locked)
            }),
            Property::always("who is refused is not counted", |_, state: &State| {
                state.wrong != Some(Wrong::Counted)
            }),
        ]
    }
}

/// `Window::current` of each window, as `take.lua` has it too; `None` where a new one would open.
fn read(code: Code, state: &State, node: usize) -> Windows {
    let clock = state.clock(code, node);
    let ahead = if code.bears_with_clocks { AHEAD } else { 0 };
    let mut windows = state.stores[code.store(node)];
    for (at, window) in windows.iter_mut().enumerate() {
        let lives = |window: &Window| {
            // The server forgets what was not written for so long; memory sweeps only what is closed.
            let kept = if code.kept_while_open { LENGTH[at] + AHEAD } else { 1 };
            let forgotten = code.place == Place::Server && state.now >= window.written + kept;
            let from_the_future = code.forgets_the_future && window.opened > clock + ahead;
            !forgotten && window.opened + LENGTH[at] > clock && !from_the_future
        };
        *window = window.filter(lives);
    }
    windows
}

/// `State::take`, and `take.lua`.
fn take(code: Code, state: &mut State, node: usize, windows: Windows, key: usize) {
    let asked = [key, USER];
    let full = |window: usize| windows[window].is_some_and(|known| known.hits >= code.limit(window));
    let refused = asked.into_iter().find(|&window| full(window));
    if let Some(refusing) = refused {
        let opened = state.truths[code.store(node)][refusing].map_or(i8::MIN / 2, |truth| truth.opened);
        // As long as it is open, and as much longer as a clock may be set back unnoticed or be behind another.
        if state.now - opened >= LENGTH[refusing] + AHEAD + BEHIND {
            state.wrong = Some(Wrong::Locked);
        }
        if !code.refused_count_nowhere {
            let counted = asked.into_iter().find(|&window| !full(window));
            if let Some(counted) = counted {
                count(code, state, node, windows, counted, false);
            }
        }
        return;
    }
    for window in asked {
        count(code, state, node, windows, window, true);
    }
}

fn count(code: Code, state: &mut State, node: usize, windows: Windows, at: usize, passes: bool) {
    let (now, clock, store) = (state.now, state.clock(code, node), code.store(node));
    let mut window = windows[at].unwrap_or(Window { opened: clock, hits: 0, written: now });
    let truth = state.truths[store][at].filter(|_| window.hits > 0);
    let mut truth = truth.unwrap_or_else(|| {
        let before = state.truths[store][at];
        let early = before.is_some_and(|before| now - before.opened < LENGTH[at] - BEHIND);
        // What was set back by much is forgotten, and opens anew at once.
        if early && state.off == 0 {
            state.wrong = Some(Wrong::TooEarly);
        }
        Truth { opened: now, passed: 0 }
    });
    window.hits += 1;
    window.written = now;
    truth.passed += u8::from(passes);
    state.stores[store][at] = Some(window);
    state.truths[store][at] = Some(truth);
    let open = state.truths.iter().filter_map(|truths| truths[at]);
    let open = open.filter(|truth| now - truth.opened < LENGTH[at]);
    if open.map(|truth| truth.passed).sum::<u8>() > LIMIT[at] {
        state.wrong = Some(Wrong::TooMany);
    } else if window.hits > truth.passed {
        state.wrong = Some(Wrong::Counted);
    }
}

fn holds(code: Code) -> bool {
    let checker = code.checker().threads(1).finish_when(HasDiscoveries::Any).spawn_bfs().join();
    let (holds, states) = (checker.discoveries().is_empty(), checker.unique_state_count());
    assert!(!holds || states > 500, "{states} states are too few");
    holds
}

const AWAY: Code = Code { place: Place::EachNode, ..CODE };
const ALONE: Code = Code { place: Place::OneNode, ..CODE };

#[test]
fn a_window_takes_its_limit_and_locks_nobody_out_longer_however_clocks_go() {
    assert!(holds(CODE));
    assert!(holds(AWAY));
    assert!(holds(ALONE));
}

#[test]
fn the_model_fails_without_any_one_precaution() {
    for (taken_out, code) in [
        ("single step", Code { at_once: false, ..CODE }),
        ("rule that who is refused counts nowhere", Code { refused_count_nowhere: false, ..CODE }),
        ("forgetting of the future", Code { forgets_the_future: false, ..CODE }),
        ("same, in memory", Code { forgets_the_future: false, ..ALONE }),
        ("patience with clocks", Code { bears_with_clocks: false, ..CODE }),
        ("keeping of open windows", Code { kept_while_open: false, ..CODE }),
        ("journal", Code { journal: false, ..ALONE }),
        ("share", Code { shares: false, ..AWAY }),
    ] {
        assert!(!holds(code), "it holds without the {taken_out}");
    }
}
