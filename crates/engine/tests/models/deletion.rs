//! A box is deleted while a file of it is read, another is uploaded, and it is reindexed; the server may be killed at any
//! moment, and starts again (`server/library.rs`, `server/worker.rs`, `server/reindex.rs`).

use stateright::{Checker, Model, Property};

/// Precautions that can be taken out.
#[derive(Debug, Clone, Copy)]
struct Code {
    /// The deletion is written down before anything is removed, and forgotten last.
    recorded: bool,
    /// Whoever changes the content claims it.
    claims: bool,
    /// A worker looks, under its claim, whether its job is still there.
    worker_looks: bool,
    /// A reindexing looks, under its claim, whether the file is still there.
    reindexing_looks: bool,
    /// A box that is going away takes no files.
    refuses_files: bool,
    /// Originals that no file refers to are looked for at the start.
    sweeps: bool,
}

const CODE: Code = Code {
    recorded: true,
    claims: true,
    worker_looks: true,
    reindexing_looks: true,
    refuses_files: true,
    sweeps: true,
};

/// How often the server is killed.
const KILLS: u8 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Worker {
    Reads,
    Claims,
    Looks,
    Replaces,
    Finishes,
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Deleter {
    Marks,
    Claims,
    DropsIndex,
    DropsDraft,
    RemovesOriginals,
    Forgets,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Reindexing {
    Embeds,
    Claims,
    Looks,
    Stores,
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Upload {
    KeepsOriginal,
    AddsFile,
    TidiesUp,
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Actor {
    Worker,
    Deleter,
    Reindexing,
    Upload,
    /// The process dies, and starts again.
    Kill,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    // What is on disk.
    record: bool,
    marked: bool,
    job: bool,
    wish: bool,
    second_file: bool,
    index: bool,
    draft: bool,
    original: bool,
    second_original: bool,
    // What is in the process.
    worker: Worker,
    deleter: Deleter,
    reindexing: Reindexing,
    upload: Upload,
    shared_claims: u8,
    box_claim: bool,
    kills: u8,
}

impl State {
    fn file_stays(&self) -> bool {
        self.record && !self.marked
    }

    fn can_share(&self, code: Code) -> bool {
        !code.claims || !self.box_claim
    }

    fn share(&mut self, code: Code) {
        self.shared_claims += u8::from(code.claims);
    }

    fn unshare(&mut self, code: Code) {
        self.shared_claims -= u8::from(code.claims);
    }
}

impl Model for Code {
    type State = State;
    type Action = Actor;

    fn init_states(&self) -> Vec<State> {
        // A file was uploaded and is in the index; a newer version of it is being read.
        vec![State {
            record: true,
            marked: false,
            job: true,
            wish: true,
            second_file: false,
            index: true,
            draft: false,
            original: true,
            second_original: false,
            worker: Worker::Reads,
            deleter: Deleter::Marks,
            reindexing: Reindexing::Embeds,
            upload: Upload::KeepsOriginal,
            shared_claims: 0,
            box_claim: false,
            kills: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Actor>) {
        let waits = |claims: bool| claims && !state.can_share(*self);
        if state.worker != Worker::Idle && !waits(state.worker == Worker::Claims) {
            actions.push(Actor::Worker);
        }
        if state.reindexing != Reindexing::Idle && !waits(state.reindexing == Reindexing::Claims) {
            actions.push(Actor::Reindexing);
        }
        let claimed = self.claims && state.deleter == Deleter::Claims && state.shared_claims > 0;
        if state.deleter != Deleter::Done && !claimed {
            actions.push(Actor::Deleter);
        }
        if state.upload != Upload::Over {
            actions.push(Actor::Upload);
        }
        if state.kills < KILLS {
            actions.push(Actor::Kill);
        }
    }

    fn next_state(&self, last: &State, action: Actor) -> Option<State> {
        let mut state = last.clone();
        match action {
            Actor::Worker => work(*self, &mut state),
            Actor::Deleter => delete(*self, &mut state),
            Actor::Reindexing => reindex(*self, &mut state),
            Actor::Upload => upload(*self, &mut state),
            Actor::Kill => start_again(*self, &mut state),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Once nobody has anything left to do and the deletion was acknowledged or written down.
        vec![Property::always("nothing is left of a deleted box", |_, state: &State| {
            let quiet = state.worker == Worker::Idle
                && state.reindexing == Reindexing::Idle
                && state.upload == Upload::Over
                && state.deleter == Deleter::Done;
            let left = state.record
                || state.index
                || state.draft
                || state.original
                || state.second_original
                || state.second_file;
            !quiet || !left
        })]
    }
}

/// `worker::process` and `worker::index`.
fn work(code: Code, state: &mut State) {
    state.worker = match state.worker {
        Worker::Reads => Worker::Claims,
        Worker::Claims => {
            state.share(code);
            Worker::Looks
        }
        Worker::Looks if code.worker_looks && !state.job => {
            state.unshare(code);
            Worker::Idle
        }
        Worker::Looks => Worker::Replaces,
        Worker::Replaces => {
            state.index = true;
            state.draft = false;
            Worker::Finishes
        }
        Worker::Finishes => {
            state.job = false;
            state.unshare(code);
            Worker::Idle
        }
        Worker::Idle => Worker::Idle,
    };
}

/// `Library::delete_box` and `Library::finish_delete_box`.
fn delete(code: Code, state: &mut State) {
    state.deleter = match state.deleter {
        Deleter::Marks => {
            // One transaction: the box, its files, its jobs and its wish to be reindexed.
            (state.marked, state.job, state.wish) = (true, false, false);
            state.record &= code.recorded;
            Deleter::Claims
        }
        Deleter::Claims => {
            state.box_claim = code.claims;
            Deleter::DropsIndex
        }
        Deleter::DropsIndex => {
            state.index = false;
            Deleter::DropsDraft
        }
        Deleter::DropsDraft => {
            state.draft = false;
            Deleter::RemovesOriginals
        }
        Deleter::RemovesOriginals => {
            state.original = false;
            // One that came too late to become a file is tidied up by its upload, or at the next start.
            state.second_original &= !state.second_file;
            Deleter::Forgets
        }
        Deleter::Forgets => {
            (state.record, state.second_file, state.box_claim) = (false, false, false);
            Deleter::Done
        }
        Deleter::Done => Deleter::Done,
    };
}

/// `reindex::catch_up`.
fn reindex(code: Code, state: &mut State) {
    state.reindexing = match state.reindexing {
        Reindexing::Embeds => Reindexing::Claims,
        Reindexing::Claims => {
            state.share(code);
            Reindexing::Looks
        }
        Reindexing::Looks if code.reindexing_looks && !state.file_stays() => {
            state.unshare(code);
            Reindexing::Idle
        }
        Reindexing::Looks => Reindexing::Stores,
        Reindexing::Stores => {
            state.draft = true;
            state.unshare(code);
            Reindexing::Idle
        }
        Reindexing::Idle => Reindexing::Idle,
    };
}

/// `Library::add`.
fn upload(code: Code, state: &mut State) {
    state.upload = match state.upload {
        Upload::KeepsOriginal => {
            state.second_original = true;
            Upload::AddsFile
        }
        Upload::AddsFile if code.refuses_files && !state.file_stays() => Upload::TidiesUp,
        Upload::AddsFile => {
            state.second_file = true;
            Upload::Over
        }
        Upload::TidiesUp => {
            state.second_original = false;
            Upload::Over
        }
        Upload::Over => Upload::Over,
    };
}

/// `Library::recover` and what the server does next; an upload that was cut short was not acknowledged.
fn start_again(code: Code, state: &mut State) {
    state.kills += 1;
    (state.shared_claims, state.box_claim) = (0, false);
    state.worker = if state.job { Worker::Reads } else { Worker::Idle };
    state.reindexing = if state.wish { Reindexing::Embeds } else { Reindexing::Idle };
    state.upload = Upload::Over;
    if code.sweeps {
        state.second_original &= state.second_file;
    }
    state.deleter = match (state.marked, state.record) {
        (false, _) => Deleter::Marks,
        (true, true) => Deleter::Claims,
        // Nothing says that there is anything to go on with.
        (true, false) => Deleter::Done,
    };
}

fn holds(code: Code) -> bool {
    let checker = code.checker().threads(1).spawn_bfs().join();
    let (holds, states) = (checker.discoveries().is_empty(), checker.unique_state_count());
    assert!(!holds || states > 500, "{states} states are too few");
    holds
}

#[test]
fn nothing_is_left_of_a_box_however_its_deletion_meets_reading_uploading_reindexing_and_kills() {
    assert!(holds(CODE));
}

#[test]
fn the_model_fails_without_any_one_precaution() {
    for (taken_out, code) in [
        ("record", Code { recorded: false, ..CODE }),
        ("claims", Code { claims: false, ..CODE }),
        ("the worker's look", Code { worker_looks: false, ..CODE }),
        ("the reindexing's look", Code { reindexing_looks: false, ..CODE }),
        ("refusal of files", Code { refuses_files: false, ..CODE }),
        ("sweep", Code { sweeps: false, ..CODE }),
    ] {
        assert!(!holds(code), "it holds without the {taken_out}");
    }
}
