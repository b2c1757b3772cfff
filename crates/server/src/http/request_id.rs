//! The name of a request, in answers and in the log.

use std::fmt;

use uuid::Uuid;

/// Identifies a request in answers and in the log.
#[derive(Clone, Copy)]
pub struct RequestId(Uuid);

impl RequestId {
    pub(super) fn new(id: Uuid) -> Self {
        RequestId(id)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req_{}", self.0.simple())
    }
}
