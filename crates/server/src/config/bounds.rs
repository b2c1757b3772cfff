//! `[bounds]` and `[load]`: how much one account may hold, and how much is worked on at once.

use std::{num::NonZero, thread, time::Duration};

use engine::bounds::{Bound, Bounds};
use serde::Deserialize;

use super::Config;

/// `[bounds]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundSettings {
    /// Boxes of a user.
    pub boxes: u64,
    /// Files of a box.
    pub files: u64,
    /// Gigabytes of a user.
    pub storage_gb: u64,
    /// Files of a user that wait.
    pub queued_files: u64,
    /// Members of a box.
    pub members: u64,
    /// Keys of a user.
    pub keys: u64,
    /// Kilobytes of metadata of a file.
    pub metadata_kb: u64,
    /// Tags of a file.
    pub tags: u64,
}

/// `[load]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSettings {
    /// Searches and answers at once; 0: four per core.
    pub calls: usize,
    /// Of them, those of one account; 0: a quarter, which is one a core.
    pub calls_of_one: usize,
    /// How long a call waits for its turn.
    pub wait_s: u64,
    /// What uploads leave free on the disk.
    pub free_disk_mb: u64,
}

impl LoadSettings {
    /// Searches and answers at once.
    pub fn calls(&self) -> usize {
        match self.calls {
            // Waiting for the disk and for a remote model leaves cores free; four find enough to do for one.
            0 => 4 * thread::available_parallelism().map_or(1, NonZero::get),
            calls => calls,
        }
    }

    /// Of them, those of one account.
    pub fn calls_of_one(&self) -> usize {
        match self.calls_of_one {
            0 => (self.calls() / 4).max(1),
            calls => calls,
        }
    }

    /// How long a call waits for its turn.
    pub fn wait(&self) -> Duration {
        Duration::from_secs(self.wait_s)
    }
}

impl Config {
    /// Every bound with its value.
    pub fn bounds(&self) -> Bounds {
        let bounds = &self.bounds;
        Bound::ALL
            .into_iter()
            .map(|bound| {
                let limit = match bound {
                    Bound::Boxes => bounds.boxes,
                    Bound::Files => bounds.files,
                    Bound::StorageGb => bounds.storage_gb,
                    Bound::QueuedFiles => bounds.queued_files,
                    Bound::Members => bounds.members,
                    Bound::Keys => bounds.keys,
                    Bound::MetadataKb => bounds.metadata_kb,
                    Bound::Tags => bounds.tags,
                };
                (bound, limit)
            })
            .collect()
    }
}
