//! The durable queue of files to be read.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::files::{Extent, FileName, FileProgress, FileStatus};
use crate::{
    Fault,
    access::Writing,
    ids::{BoxId, FileId, JobId},
    trace::Place,
};

/// A file to be read, claimed by one worker.
#[derive(Debug, Clone)]
pub struct Job {
    /// Names this piece of work.
    pub id: JobId,
    /// The box that the file is in.
    pub box_id: BoxId,
    /// The file.
    pub file: FileId,
    /// What its owner calls it: a hint for parsers.
    pub name: FileName,
    /// The original to read.
    pub sha256: String,
    /// How often it was tried before, and failed in a way that another try may fix.
    pub failures: u32,
    /// How often work on it has started, this time included.
    pub starts: u32,
    /// Work on the file was cut off since it was last read, so the index may hold a version that the catalog does not
    /// know of.
    pub interrupted: bool,
    /// The trace of whoever asked for it.
    pub trace: Option<Place>,
}

impl Job {
    /// How often work on it ended with its process: it was started, and neither finished nor given back.
    pub fn deaths(&self) -> u32 {
        self.starts.saturating_sub(self.failures).saturating_sub(1)
    }

    /// The worker's right to change the file's box.
    pub fn writing(&self) -> Writing {
        Writing::for_operator(self.box_id)
    }
}

/// The result of reading a file.
#[derive(Debug, Clone)]
pub enum JobOutcome {
    /// It was read and indexed.
    Indexed {
        /// Ready, or ready with warnings.
        status: FileStatus,
        /// As sniffed from the bytes.
        media_type: String,
        /// What a reader should know.
        warnings: Vec<String>,
        /// The language most of it is in.
        language: Option<String>,
        /// The text in numbers.
        extent: Extent,
    },
    /// It cannot be read; trying again will not help.
    Failed {
        /// Why, for its owner.
        error: String,
    },
    /// It was tried often enough for now. What it would have read stays, to be read when somebody asks for it.
    GaveUp {
        /// Why, for its owner.
        error: String,
    },
    /// Something else went wrong; try again after a while.
    Retry {
        /// How long to wait.
        after: Duration,
    },
}

/// Jobs. Every job is worked on by one worker at a time, and its end is written in one transaction with its result.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Takes the next job that is due, from the box whose turn it is, and marks its file as being read.
    async fn claim_job(&self, worker: &str, now: Timestamp) -> Result<Option<Job>, Fault>;

    /// Says that the work is still going on, and how far it is. `false`: the job is no longer this worker's (the file
    /// was deleted or replaced), so stop.
    async fn beat(&self, job: &Job, worker: &str, progress: FileProgress) -> Result<bool, Fault>;

    /// Records the result of the work; `false` where the job is no longer this worker's, and then nothing is
    /// written. Gives the original that a new version made unneeded.
    async fn finish_job(
        &self,
        job: &Job,
        worker: &str,
        outcome: JobOutcome,
        now: Timestamp,
    ) -> Result<Finished, Fault>;

    /// Gives a job back as if it had not been taken: whoever had it is about to end, and is not to blame.
    async fn give_job_back(&self, job: &Job, worker: &str) -> Result<(), Fault>;

    /// Gives jobs back to the queue whose worker has said nothing for so long; no time at all means every job that is
    /// in progress.
    async fn requeue_abandoned(&self, silent_for: Duration) -> Result<u64, Fault>;

    /// Jobs waiting and in progress.
    async fn queue_length(&self) -> Result<u64, Fault>;
}

/// The result of recording a job's end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// Whether the job was still this worker's.
    pub written: bool,
    /// Originals that nobody may need any more.
    pub superseded: Vec<String>,
}
