//! Short ways to say why a file could not be read.

use engine::seams::parser::{FailureKind, ParseFailure};

/// The file is damaged; `what` ends a sentence that starts with the kind of file.
pub(crate) fn damaged(what: impl Into<String>) -> ParseFailure {
    ParseFailure { kind: FailureKind::Damaged, message: what.into() }
}

/// The file passed one of the limits.
pub(crate) fn limits(what: impl Into<String>) -> ParseFailure {
    ParseFailure { kind: FailureKind::Limits, message: what.into() }
}

/// The file asks for a password.
pub(crate) fn locked(what: impl Into<String>) -> ParseFailure {
    ParseFailure { kind: FailureKind::Locked, message: what.into() }
}

/// The kind of file is not one we read.
pub(crate) fn unsupported(what: impl Into<String>) -> ParseFailure {
    ParseFailure { kind: FailureKind::Unsupported, message: what.into() }
}

/// The parser could not run.
pub(crate) fn internal(what: impl Into<String>) -> ParseFailure {
    ParseFailure { kind: FailureKind::Internal, message: what.into() }
}
