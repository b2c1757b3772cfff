//! What the readers of Office files share: the package, its links, charts, comments and numbers.
//!
//! The readers (`docx`, `pptx`, `xlsx`, `opendocument`) stand above this room and do not know each other.

pub(crate) mod charts;
pub(crate) mod comments;
pub(crate) mod numbers;
pub(crate) mod package;
pub(crate) mod relationships;
