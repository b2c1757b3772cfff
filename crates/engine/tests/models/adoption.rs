//! A box is reindexed and changed over to its draft while files of it are replaced and deleted (`server/reindex.rs`,
//! `engine/ingest/reindex.rs`, `server/worker.rs`, `server/library.rs`).

use stateright::{Checker, Model, Property};

/// Precautions that can be taken out.
#[derive(Debug, Clone, Copy)]
struct Code {
    /// The box is held from the last catching up until the draft is in place.
    holds: bool,
    /// What changed since a file was copied is copied again under that hold.
    catches_up: bool,
    /// A copy is stored under a claim on its file, and only where the file is still there.
    looks: bool,
    /// A deletion removes the file from the draft too.
    deletes_from_draft: bool,
}

const CODE: Code = Code { holds: true, catches_up: true, looks: true, deletes_from_draft: true };

/// Two files: one is replaced by its second version, the other deleted.
const REPLACED: usize = 0;
const DELETED: usize = 1;

/// What an index has of each file: its version.
type Index = [Option<u8>; 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rebuild {
    /// Reads the pages of a file; what was read is kept in the process.
    Embeds(usize),
    /// Stores them, under a claim.
    Stores(usize, Option<u8>),
    Holds,
    CatchesUp,
    Adopts,
    Done,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Change {
    Claims,
    ChangesLive,
    ChangesDraft,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Actor {
    Rebuild,
    Replace,
    Delete,
    /// The reindexing fails: a model is away, a disk is full.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    live: Index,
    draft: Index,
    /// Which versions the rebuilding knows to be in its draft.
    copied: Index,
    /// Whether the catalog says that the file is going away.
    deleting: bool,
    rebuild: Rebuild,
    replace: Change,
    delete: Change,
    held: bool,
}

impl State {
    /// Somebody has claimed a file of the box.
    fn claimed(&self) -> bool {
        let within = |change| matches!(change, Change::ChangesLive | Change::ChangesDraft);
        within(self.replace) || within(self.delete)
    }

    fn claimed_file(&self, file: usize) -> bool {
        let change = if file == REPLACED { self.replace } else { self.delete };
        matches!(change, Change::ChangesLive | Change::ChangesDraft)
    }
}

impl Model for Code {
    type State = State;
    type Action = Actor;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            live: [Some(1), Some(1)],
            draft: [None, None],
            copied: [None, None],
            deleting: false,
            rebuild: Rebuild::Embeds(0),
            replace: Change::Claims,
            delete: Change::Claims,
            held: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Actor>) {
        let waits = match state.rebuild {
            Rebuild::Stores(file, _) => self.looks && state.claimed_file(file),
            Rebuild::Holds => self.holds && state.claimed(),
            Rebuild::Done | Rebuild::Failed => true,
            _ => false,
        };
        if !waits {
            actions.push(Actor::Rebuild);
        }
        if !matches!(state.rebuild, Rebuild::Adopts | Rebuild::Done | Rebuild::Failed) {
            actions.push(Actor::Fail);
        }
        for (actor, change) in [(Actor::Replace, state.replace), (Actor::Delete, state.delete)] {
            if change != Change::Done && !(change == Change::Claims && state.held) {
                actions.push(actor);
            }
        }
    }

    fn next_state(&self, last: &State, action: Actor) -> Option<State> {
        let mut state = last.clone();
        match action {
            Actor::Rebuild => rebuild(*self, &mut state),
            Actor::Replace => replace(&mut state),
            Actor::Delete => delete(*self, &mut state),
            Actor::Fail => (state.held, state.rebuild) = (false, Rebuild::Failed),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("what was stored last is found", |_, state: &State| {
                let done =
                    state.replace == Change::Done && matches!(state.rebuild, Rebuild::Done | Rebuild::Failed);
                !done || state.live[REPLACED] == Some(2)
            }),
            // At once, not only when the reindexing is over: it may never be.
            Property::always("what was deleted is nowhere", |_, state: &State| {
                let done = state.delete == Change::Done;
                !done || (state.live[DELETED].is_none() && state.draft[DELETED].is_none())
            }),
            Property::always("nothing of a file goes missing", |_, state: &State| {
                state.live[REPLACED].is_some()
            }),
        ]
    }
}

/// `reindex::rebuild`, `build` and `adopt`.
fn rebuild(code: Code, state: &mut State) {
    state.rebuild = match state.rebuild {
        Rebuild::Embeds(file) => Rebuild::Stores(file, state.live[file]),
        Rebuild::Stores(file, version) => {
            let gone = file == DELETED && state.deleting;
            if version.is_some() && !(code.looks && gone) {
                (state.draft[file], state.copied[file]) = (version, version);
            }
            if file == REPLACED { Rebuild::Embeds(DELETED) } else { Rebuild::Holds }
        }
        Rebuild::Holds => {
            state.held = code.holds;
            Rebuild::CatchesUp
        }
        Rebuild::CatchesUp => {
            for file in [REPLACED, DELETED] {
                if code.catches_up && state.copied[file] != state.live[file] {
                    // `Draft::forget` and `Draft::lacks`.
                    (state.draft[file], state.copied[file]) = (state.live[file], state.live[file]);
                }
            }
            Rebuild::Adopts
        }
        Rebuild::Adopts => {
            std::mem::swap(&mut state.live, &mut state.draft);
            state.held = false;
            Rebuild::Done
        }
        over @ (Rebuild::Done | Rebuild::Failed) => over,
    };
}

/// `worker::index`: the new version goes into the index, and the old one out of the draft.
fn replace(state: &mut State) {
    state.replace = match state.replace {
        Change::Claims => Change::ChangesLive,
        Change::ChangesLive => {
            state.live[REPLACED] = Some(2);
            Change::ChangesDraft
        }
        Change::ChangesDraft => {
            state.draft[REPLACED] = None;
            Change::Done
        }
        Change::Done => Change::Done,
    };
}

/// `Library::delete`.
fn delete(code: Code, state: &mut State) {
    state.delete = match state.delete {
        Change::Claims => {
            state.deleting = true;
            Change::ChangesLive
        }
        Change::ChangesLive => {
            state.live[DELETED] = None;
            Change::ChangesDraft
        }
        Change::ChangesDraft => {
            if code.deletes_from_draft {
                state.draft[DELETED] = None;
            }
            Change::Done
        }
        Change::Done => Change::Done,
    };
}

fn holds(code: Code) -> bool {
    let checker = code.checker().threads(1).spawn_bfs().join();
    let (holds, states) = (checker.discoveries().is_empty(), checker.unique_state_count());
    assert!(!holds || states > 100, "{states} states are too few");
    holds
}

#[test]
fn a_box_that_changes_over_to_its_draft_has_what_came_last_and_nothing_that_was_deleted() {
    assert!(holds(CODE));
}

#[test]
fn the_model_fails_without_any_one_precaution() {
    for (taken_out, code) in [
        ("hold", Code { holds: false, ..CODE }),
        ("catching up", Code { catches_up: false, ..CODE }),
        ("look", Code { looks: false, ..CODE }),
        ("deletion from the draft", Code { deletes_from_draft: false, ..CODE }),
    ] {
        assert!(!holds(code), "it holds without the {taken_out}");
    }
}
