//! What a child tells its parent: one JSON value a line. The parent trusts none of it.

use engine::document::Page;
use engine::seams::parser::ParseFailure;
use serde::{Deserialize, Serialize};

use crate::Limits;

/// What the parent asks for, on the child's standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) path: std::path::PathBuf,
    pub(super) name: String,
    /// The folder the child may write to.
    pub(super) scratch: std::path::PathBuf,
    pub(super) limits: Limits,
}

/// What the child answers, on its standard output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Frame {
    /// How far it has come; recognised pages are counted because they take longer.
    Progress { done: u32, total: Option<u32>, recognised: u32 },
    /// The next page.
    Page(Page),
    /// All pages are sent.
    Done { media_type: String, title: Option<String>, warnings: Vec<String> },
    /// The file could not be read.
    Failed(ParseFailure),
}
