//! Says at which stage a file dropped out.

use std::collections::{BTreeMap, HashSet};

use super::{Candidate, Hit, SearchRequest, Stage, WhyNot};
use crate::ids::FileId;

/// Follows the files that were asked about through the stages.
pub(super) struct Log {
    /// The stage that each file did not get through, as far as known.
    dropped: BTreeMap<FileId, Stage>,
    on: bool,
}

impl Log {
    pub(super) fn new(request: &SearchRequest, recalled: &[Candidate]) -> Self {
        let on = request.explain && request.only.is_some();
        let asked = request.only.iter().flatten().filter(|_| on);
        let mut log = Log { dropped: asked.map(|file| (*file, Stage::Recall)).collect(), on };
        log.passed(Stage::Fuse, recalled);
        log
    }

    /// Notes which candidates came through a stage.
    pub(super) fn note<'a>(&mut self, stage: Stage, left: impl IntoIterator<Item = &'a Candidate>) {
        let next = match stage {
            Stage::Recall => Stage::Fuse,
            Stage::Fuse => Stage::Rerank,
            Stage::Rerank => Stage::Threshold,
            Stage::Threshold => Stage::Group,
            Stage::Group | Stage::TopK => Stage::TopK,
        };
        self.passed(next, left);
    }

    fn passed<'a>(&mut self, next: Stage, left: impl IntoIterator<Item = &'a Candidate>) {
        if self.on {
            for candidate in left {
                self.dropped.entry(candidate.id.file).and_modify(|stage| *stage = next);
            }
        }
    }

    pub(super) fn why_not(self, hits: &[Hit]) -> Vec<WhyNot> {
        let shown: HashSet<FileId> = hits.iter().map(|hit| hit.id.file).collect();
        let unseen = self.dropped.into_iter().filter(|(file, _)| !shown.contains(file));
        unseen.map(|(file, stage)| WhyNot { file, stage }).collect()
    }
}
