//! The name of a request, in answers and in the log.

use std::fmt;

use engine::seams::catalog::QuestionId;
use uuid::Uuid;

/// Identifies a request in answers and in the log.
#[derive(Clone, Copy)]
pub struct RequestId(Uuid);

impl RequestId {
    pub(super) fn new(id: Uuid) -> Self {
        RequestId(id)
    }

    /// Names what the request asks.
    pub fn question(self) -> QuestionId {
        QuestionId(self.0)
    }

    /// An id of what the request is answered with, by which the same question is known.
    pub fn answer(self, prefix: &str) -> String {
        format!("{prefix}{}", self.0.simple())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req_{}", self.0.simple())
    }
}
