//! Evaluations in progress on this node, by box: how far each is, and why the last one did not get to its end.

use std::{collections::HashMap, sync::Arc};

use engine::ids::BoxId;
use parking_lot::Mutex;

/// How the latest evaluation of a box is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// So many of so many questions were asked.
    Running(usize, usize),
    /// It ended before its end, for this reason.
    Failed(String),
}

/// Evaluations in progress, and those that failed since another one was begun.
#[derive(Default)]
pub struct Evaluations(Arc<Mutex<HashMap<BoxId, Progress>>>);

impl Evaluations {
    /// Begins one with so many questions; `None` where one of the box is in progress.
    pub fn begin(&self, box_id: BoxId, questions: usize) -> Option<Running> {
        let mut all = self.0.lock();
        if let Some(Progress::Running(..)) = all.get(&box_id) {
            return None;
        }
        all.insert(box_id, Progress::Running(0, questions));
        Some(Running { all: self.0.clone(), box_id })
    }

    /// How that of a box is; `None` where none is in progress and the last one went well.
    pub fn of(&self, box_id: BoxId) -> Option<Progress> {
        self.0.lock().get(&box_id).cloned()
    }
}

/// An evaluation in progress; it is over when this is dropped.
pub struct Running {
    all: Arc<Mutex<HashMap<BoxId, Progress>>>,
    box_id: BoxId,
}

impl Running {
    /// One more question was asked.
    pub fn step(&self) {
        if let Some(Progress::Running(asked, _)) = self.all.lock().get_mut(&self.box_id) {
            *asked += 1;
        }
    }

    /// It ends here, for this reason.
    pub fn fail(self, cause: String) {
        self.all.lock().insert(self.box_id, Progress::Failed(cause));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(Progress::Running(..)) = all.get(&self.box_id) {
            all.remove(&self.box_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_evaluated_once_at_a_time_and_a_failure_is_told_until_the_next_time() {
        let (all, papers, other) = (Evaluations::default(), BoxId::generate(), BoxId::generate());
        let running = all.begin(papers, 2).unwrap();
        assert!(all.begin(papers, 2).is_none() && all.begin(other, 1).is_some());
        running.step();
        assert_eq!(all.of(papers), Some(Progress::Running(1, 2)));
        running.fail("no units".into());
        assert_eq!(all.of(papers), Some(Progress::Failed("no units".into())));
        drop(all.begin(papers, 2).unwrap());
        assert_eq!(all.of(papers), None);
    }
}
