//! Turns the bytes of a file into pages of text.

use std::path::Path;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::document::Document;

/// Why a file could not be read, in words for its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ParseFailure {
    /// What kind of trouble it is.
    pub kind: FailureKind,
    /// One sentence for the owner of the file: what is wrong and what to do now.
    pub message: String,
}

/// What kind of trouble a file made; decides whether another try can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Nothing we can read: an unknown or unsupported kind of file.
    Unsupported,
    /// The file is damaged.
    Damaged,
    /// The file asks for a password.
    Locked,
    /// The file passed a limit on pages, size, time or memory.
    Limits,
    /// The parser itself failed to run; the file may be fine, so try again.
    Internal,
}

/// Which page to draw, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// The page, from 1.
    pub page: u32,
    /// Pixels across.
    pub width: u32,
}

/// Told how far a parse has come: pages done, and of how many where that is known.
pub type Progress<'a> = &'a (dyn Fn(u32, Option<u32>) + Send + Sync);

/// Reads files of every supported kind.
///
/// Implementations: `parsers::child::ChildParser` (a child process with limits, for real files).
#[async_trait]
pub trait Parser: Send + Sync {
    /// Reads the file at `path`. `name` is what its owner calls it: a hint only, the bytes decide the kind. `languages` are those
    /// of its box, for what is read from pictures.
    async fn parse(
        &self,
        path: &Path,
        name: &str,
        languages: &[String],
        progress: Progress<'_>,
    ) -> Result<Document, ParseFailure>;

    /// Whether what it reads depends on the languages of a box; where it does not, nobody need look them up.
    fn minds_languages(&self) -> bool;

    /// Draws a page of the file at `path`, as a PNG. Only PDFs and pictures have pages that can be drawn.
    async fn draw(&self, path: &Path, name: &str, drawing: Drawing) -> Result<Vec<u8>, ParseFailure>;
}
