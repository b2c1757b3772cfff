//! Says at which stage a file dropped out.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::{Candidate, Hit, SearchRequest};
use crate::ids::FileId;

/// The stages at which a file can drop out, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Neither side found a chunk of it.
    Recall,
    /// Its chunks were not among those that are looked at closer.
    Fuse,
    /// As before, after the closer look.
    Rerank,
    /// Its chunks are less likely relevant than the threshold asks for.
    Threshold,
    /// Its chunks say what better ones of other files say.
    Group,
    /// Others were better.
    TopK,
}

/// Why a file has no hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WhyNot {
    /// Which file.
    pub file: FileId,
    /// The stage that its last chunk did not get through.
    pub stage: Stage,
}

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
