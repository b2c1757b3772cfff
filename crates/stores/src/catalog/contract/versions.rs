//! A file's versions against a small model, over random sequences of what can happen to them.

use std::{collections::BTreeSet, time::Duration};

use engine::{access::Writing, ids::FileId, seams::catalog::*};
use proptest::{prelude::*, test_runner::Config};

use super::{Fresh, at, fresh, indexed, upload};

/// What happens to a file.
#[derive(Debug, Clone)]
enum Step {
    /// A version of it is uploaded.
    Upload(u8),
    /// It is read, with this result.
    Work(End),
    /// A version is uploaded while the one before is being read, with this result.
    Overtaken(u8, End),
    /// Somebody asks for it to be read again.
    ReadAgain,
    /// The index of the box went back to one that does not have the file.
    StartOver,
    /// It is deleted.
    Delete,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Read,
    Unreadable,
    GivenUp,
    TryAgain,
    Died,
}

/// All that matters of a file: the newest version that was uploaded, the one that can be read, and whether one is to be.
#[derive(Debug, Default, Clone, PartialEq)]
struct Model {
    newest: Option<u8>,
    readable: Option<u8>,
    queued: bool,
    /// Work on it was cut off since it was last read, so the index may hold another version than the one that can be read.
    begun: bool,
}

impl Model {
    fn upload(&mut self, version: u8) {
        let given_up = self.readable != self.newest && !self.queued;
        if self.newest != Some(version) || given_up {
            (self.newest, self.queued) = (Some(version), true);
        }
    }

    fn end(&mut self, end: End) {
        match end {
            End::Read => (self.readable, self.queued, self.begun) = (self.newest, false, false),
            // What can be read is then the newest there is, and is put back; where nothing can, the file has failed.
            End::Unreadable => {
                self.queued = self.begun && self.readable.is_some() && self.readable != self.newest;
                self.newest = self.readable.or(self.newest);
            }
            End::GivenUp => self.queued = false,
            End::TryAgain => {}
            End::Died => self.begun = true,
        }
    }

    fn wanted(&self) -> BTreeSet<String> {
        [self.newest, self.readable].into_iter().flatten().map(sha256).collect()
    }
}

fn sha256(version: u8) -> String {
    format!("{version:0>64}")
}

/// The catalog under test, with the one file that the steps are about.
struct Subject<'a> {
    fresh: &'a Fresh,
    writing: Writing,
    file: Option<FileId>,
    /// Originals that were said to be unneeded.
    superseded: BTreeSet<String>,
}

impl Subject<'_> {
    async fn upload(&mut self, version: u8) {
        let new = upload("a.txt", &version.to_string(), Some("doc"));
        let uploaded = self.fresh.file(&self.writing, new).await;
        self.superseded.remove(&sha256(version));
        self.superseded.extend(uploaded.superseded);
        self.file = Some(uploaded.file.id);
    }

    async fn end(&mut self, job: &Job, end: End) -> bool {
        let outcome = match end {
            End::Read => indexed(1),
            End::Unreadable => JobOutcome::Failed { error: "damaged".into() },
            End::GivenUp => JobOutcome::GaveUp { error: "died".into() },
            End::TryAgain => JobOutcome::Retry { after: Duration::ZERO },
            End::Died => return self.fresh.catalog.requeue_abandoned(Duration::ZERO).await.unwrap() > 0,
        };
        let finished = self.fresh.catalog.finish_job(job, "one", outcome, at(0)).await.unwrap();
        self.superseded.extend(finished.superseded);
        finished.written
    }

    async fn take(&mut self, step: &Step, model: &mut Model) {
        let catalog = &self.fresh.catalog;
        match *step {
            Step::Upload(version) => {
                self.upload(version).await;
                model.upload(version);
            }
            Step::Work(end) => {
                let Some(job) = self.claimed(model).await else { return };
                assert!(self.end(&job, end).await);
                model.end(end);
            }
            Step::Overtaken(version, end) => {
                let Some(job) = self.claimed(model).await else { return };
                let known = model.newest == Some(version);
                self.upload(version).await;
                model.upload(version);
                model.begun |= !known;
                let written = self.end(&job, end).await;
                assert_eq!(written, known, "a job that was overtaken writes nothing");
                if known {
                    model.end(end);
                }
            }
            Step::ReadAgain => {
                let Some(file) = self.file else { return };
                assert!(catalog.read_again(&self.writing, file).await.unwrap().is_some());
                model.queued = true;
            }
            Step::StartOver => {
                let Some(file) = self.file else { return };
                self.superseded.extend(catalog.requeue_file(&self.writing, file).await.unwrap());
                (model.readable, model.queued) = (None, true);
            }
            Step::Delete => {
                let Some(file) = self.file.take() else { return };
                let deletion = catalog.begin_delete(&self.writing, file).await.unwrap().unwrap();
                self.superseded.extend(deletion.originals);
                catalog.finish_delete(&self.writing, file).await.unwrap();
                *model = Model::default();
            }
        }
    }

    /// The job, which is always to read the newest version; none where nothing is to be read.
    async fn claimed(&self, model: &Model) -> Option<Job> {
        let job = self.fresh.claim("one").await;
        let wanted = model.newest.filter(|_| model.queued).map(sha256);
        assert_eq!(job.as_ref().map(|job| job.sha256.clone()), wanted, "what is read is what came last");
        job
    }

    async fn check(&self, model: &Model, before: &Model) {
        let catalog = &self.fresh.catalog;
        let wanted: BTreeSet<String> = catalog.wanted_originals().await.unwrap().into_iter().collect();
        assert_eq!(wanted, model.wanted(), "originals");
        let left: BTreeSet<String> = before.wanted().difference(&wanted).cloned().collect();
        assert!(left.is_subset(&self.superseded), "nobody would remove {left:?}");
        assert_eq!(catalog.queue_length().await.unwrap(), u64::from(model.queued));
        let Some(file) = self.file else { return };
        let record = self.fresh.find(&self.writing, file).await.unwrap();
        let (readable, newest) = (model.readable.map(sha256), model.newest.map(sha256));
        assert_eq!(record.indexed_at.is_some(), readable.is_some(), "what could be read can be read still");
        assert_eq!(Some(record.sha256), readable.clone().or(newest), "the version in place");
        let expected: &[FileStatus] = match (model.queued, readable) {
            (true, _) => &[FileStatus::Queued],
            (false, Some(_)) => &[FileStatus::Ready, FileStatus::ReadyWithWarnings],
            (false, None) => &[FileStatus::Failed],
        };
        assert!(expected.contains(&record.status), "{:?}", record.status);
        assert!(record.warnings.len() <= 1, "{:?}", record.warnings);
    }
}

fn ends() -> impl Strategy<Value = End> {
    use End::{Died, GivenUp, Read, TryAgain, Unreadable};
    prop::sample::select(vec![Read, Read, Unreadable, Unreadable, GivenUp, TryAgain, Died])
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u8..5).prop_map(Step::Upload),
        4 => ends().prop_map(Step::Work),
        2 => ((1u8..5), ends()).prop_map(|(version, end)| Step::Overtaken(version, end)),
        2 => Just(Step::ReadAgain),
        2 => Just(Step::StartOver),
        1 => Just(Step::Delete),
    ]
}

/// Runs the steps in a box of their own and compares after each.
async fn follow(fresh: &Fresh, owner: &User, steps: &[Step]) {
    let writing = fresh.box_of(owner).await;
    let mut subject = Subject { fresh, writing, file: None, superseded: BTreeSet::new() };
    let mut model = Model::default();
    for step in steps {
        let before = model.clone();
        subject.take(step, &mut model).await;
        subject.check(&model, &before).await;
    }
    subject.take(&Step::Delete, &mut model).await;
}

#[test]
fn whatever_happens_to_a_file_the_last_upload_is_read_and_what_could_be_read_stays() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let _entered = runtime.enter();
    // On a server each case makes a schema of its own, which takes a second.
    let cases = if crate::scaled::wanted() { 8 } else { 96 };
    proptest!(Config { cases, ..Config::default() }, |(steps in prop::collection::vec(steps(), 1..25))| {
        runtime.block_on(async {
            let fresh = fresh();
            let ada = fresh.user("ada@example.org").await;
            follow(&fresh, &ada, &steps).await;
        });
    });
}

/// A damaged second version waits, "Reprocess" is chosen, then a third and a fourth come.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_uploaded_after_a_damaged_version_was_read_again_is_read() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let story = [
        Step::Upload(1),
        Step::Work(End::Read),
        Step::Upload(2),
        Step::ReadAgain,
        Step::Work(End::Unreadable),
        Step::Upload(2),
        Step::StartOver,
        Step::Upload(3),
        Step::Upload(4),
        Step::Work(End::Read),
    ];
    follow(&fresh, &ada, &story).await;
}

/// A crash comes right after the second version was put into the index, and the third turns out to be damaged: the index
/// then holds text of the second, whose original is gone, so the first is read again.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_and_a_damaged_version_the_one_in_place_is_read_again() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let story = [
        Step::Upload(1),
        Step::Work(End::Read),
        Step::Upload(2),
        Step::Work(End::Died),
        Step::Upload(3),
        Step::Work(End::Unreadable),
        Step::Work(End::Read),
    ];
    follow(&fresh, &ada, &story).await;
}
