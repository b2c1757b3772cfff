//! `[connections]` and `[deadlines]`: how many may be connected, and how long each wait lasts at most.

use std::time::Duration;

use serde::Deserialize;

use super::{Config, ConfigError, Http};

/// `[connections]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// Open connections over all.
    pub most: usize,
    /// Of one network; 0: no bound.
    pub per_network: usize,
    /// Long answers in progress to one API key.
    pub streams_per_key: usize,
    /// Long answers in progress to one user.
    pub streams_per_user: usize,
}

/// `[deadlines]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadlines {
    /// From the connection to the end of the TLS handshake.
    pub handshake_s: u64,
    /// For the head of a request.
    pub head_s: u64,
    /// For a connection without a request.
    pub idle_s: u64,
    /// For more of a request's body.
    pub body_stall_s: u64,
    /// How fast a body must come on average.
    pub body_kb_per_s: u64,
    /// For a client to take a piece of its answer.
    pub answer_stall_s: u64,
    /// For an event or chat stream as a whole.
    pub stream_s: u64,
}

impl Deadlines {
    pub fn handshake(&self) -> Duration {
        Duration::from_secs(self.handshake_s)
    }

    pub fn head(&self) -> Duration {
        Duration::from_secs(self.head_s)
    }

    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_s)
    }

    pub fn body_stall(&self) -> Duration {
        Duration::from_secs(self.body_stall_s)
    }

    /// How long a body of this many bytes may take in all.
    pub fn body(&self, bytes: u64) -> Duration {
        self.body_stall() + Duration::from_millis(bytes.saturating_mul(1000) / (self.body_kb_per_s * 1024))
    }

    pub fn answer_stall(&self) -> Duration {
        Duration::from_secs(self.answer_stall_s)
    }

    pub fn stream(&self) -> Duration {
        Duration::from_secs(self.stream_s)
    }
}

/// What the time between the signal to stop and the end of the process is for.
pub struct Grace {
    /// Requests in progress finish.
    pub drain: Duration,
    /// What is left of them says that it ends, and is cut.
    pub ending: Duration,
}

impl Http {
    /// How long the process may take to end.
    pub fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace_s)
    }

    /// The parts of that; the rest is for recording what is only in memory.
    pub fn grace(&self) -> Grace {
        /// A second for each: telling, cutting, recording.
        const LAST: Duration = Duration::from_secs(3);
        let grace = self.shutdown_grace();
        let last = LAST.min(grace / 2);
        Grace { drain: grace - last, ending: last * 2 / 3 }
    }
}

impl Config {
    /// Longer than any call can take: whoever has held units or an idempotency key for longer has died. A call is its
    /// body, its work, its answer, and the last frames of that, each of which may wait for the client.
    pub fn longest_call(&self) -> Duration {
        const WORK: Duration = Duration::from_secs(60 * 60);
        const LAST_FRAMES: u32 = 8;
        let deadlines = &self.deadlines;
        WORK + deadlines.body(self.limits.file_mb * 1024 * 1024)
            + deadlines.stream()
            + deadlines.answer_stall() * LAST_FRAMES
            + Duration::from_secs(self.answerer.timeout_s) * 2
    }

    /// What types cannot say of these sections.
    pub(super) fn check_transport(&self) -> Result<(), ConfigError> {
        let (connections, deadlines) = (&self.connections, &self.deadlines);
        if [connections.most, connections.streams_per_key, connections.streams_per_user].contains(&0) {
            return Err(ConfigError::new("the bounds in [connections] must be at least 1"));
        }
        let seconds = [
            deadlines.handshake_s,
            deadlines.head_s,
            deadlines.idle_s,
            deadlines.body_stall_s,
            deadlines.body_kb_per_s,
            deadlines.answer_stall_s,
            deadlines.stream_s,
        ];
        // A day: what is longer is no deadline, and would not fit a clock one day.
        if seconds.iter().any(|seconds| !(1..=86_400).contains(seconds)) {
            return Err(ConfigError::new("the settings in [deadlines] are from 1 to 86400"));
        }
        Ok(())
    }
}
