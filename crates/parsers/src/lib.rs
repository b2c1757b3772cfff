//! Files in, pages out: one parser per kind of file, run in a child process with limits.
//!
//! Layout, in reading order:
//! - [`parse`]: sniffs the [`kind`] of a file and reads it; synchronous and pure, meant for the child.
//! - `pdf`, `docx`, `pptx`, `xlsx`, `html`, …: one reader a kind; most give `blocks`, which `pages` cuts into pages.
//! - `drawing`: pages as they look.
//! - `placing`: text that knows where on the page its words stand, for kinds whose pages have a look of their own.
//! - `office`: what the readers of Office files share.
//! - `embedded`: the text in pictures that stand in documents; `likely` tells sentences from labels and noise.
//! - `ocr`: what pictures and scanned pages say, by networks of our own or by `tesseract`.
//! - [`child`]: runs [`parse`] in a child process, which the parent watches and the kernel limits.

mod blocks;
pub mod child;
mod clean;
mod delimited;
mod docx;
mod drawing;
mod email;
mod embedded;
mod epub;
mod failure;
mod html;
pub mod kind;
mod likely;
mod limits;
mod markdown;
mod math;
mod ocr;
mod office;
mod opendocument;
mod packs;
mod pages;
mod pdf;
mod picture;
mod placing;
mod pptx;
mod programs;
mod rtf;
mod text;
mod tiff;
mod xlsx;
mod xml;

use std::path::Path;
use std::sync::atomic::AtomicU32;

use engine::document::{Document, Page};
use engine::seams::parser::{ParseFailure, Progress};

pub use crate::child::{ChildParser, Missing, Sandbox, child_main};
pub use crate::limits::{Limits, Ocr};

use crate::kind::Kind;

/// What a reader of one kind gives back.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) title: Option<String>,
    pub(crate) pages: Vec<Page>,
    pub(crate) warnings: Vec<String>,
}

/// What every reader is handed beside the bytes.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) progress: Progress<'a>,
    /// How many mails this file lies within.
    pub(crate) depth: u32,
    /// Counts pages recognised from pictures, which take longer than others.
    pub(crate) recognised: &'a AtomicU32,
}

/// Reads the file at `path`. `name` is what its owner calls it: a hint only, the bytes decide the kind.
///
/// `progress` is told pages done and of how many. It runs whatever the file makes it run, so files that are not
/// trusted belong in [`ChildParser`].
pub fn parse(
    path: &Path,
    name: &str,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<Document, ParseFailure> {
    parse_bytes(std::fs::read(path).map_err(unreadable)?, name, limits, progress)
}

/// Why a file's bytes could not be had.
pub(crate) fn unreadable(error: std::io::Error) -> ParseFailure {
    match error.kind() {
        std::io::ErrorKind::OutOfMemory => {
            failure::limits("reading the file needs more memory than the limit")
        }
        _ => failure::internal(format!("the file cannot be opened: {error}")),
    }
}

/// Reads a file that is in memory already, as [`parse`] does.
pub fn parse_bytes(
    bytes: Vec<u8>,
    name: &str,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<Document, ParseFailure> {
    read(bytes, name, &Job { limits, progress, depth: 0, recognised: &AtomicU32::new(0) })
}

pub(crate) fn read(bytes: Vec<u8>, name: &str, job: &Job<'_>) -> Result<Document, ParseFailure> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let mut document = finish(Kind::Text, text::parse(&bytes), job.limits)?;
        document.warnings.push("the file is empty".into());
        return Ok(document);
    }
    let kind = kind::sniff(&bytes, name)?;
    let parsed = match kind {
        Kind::Pdf => pdf::parse(bytes, job)?,
        Kind::Docx => docx::parse(&bytes, job)?,
        Kind::Pptx => pptx::parse(&bytes, job)?,
        Kind::Workbook(_) => xlsx::parse(&bytes, kind, job)?,
        Kind::Delimited(delimiter) => delimited::parse(&bytes, delimiter, job.limits)?,
        Kind::Html => html::parse(&bytes, job),
        Kind::Markdown => markdown::parse(&bytes),
        Kind::Text => text::parse(&bytes),
        Kind::Email => email::parse(&bytes, job)?,
        Kind::Rtf => rtf::parse(&bytes, job),
        Kind::Odt | Kind::Odp => opendocument::parse(&bytes, kind, job)?,
        Kind::Epub => epub::parse(&bytes, job)?,
        Kind::Image(_) => picture::parse(&bytes, job),
    };
    finish(kind, parsed, job.limits)
}

fn finish(kind: Kind, parsed: Parsed, limits: &Limits) -> Result<Document, ParseFailure> {
    let Parsed { title, mut pages, warnings } = parsed;
    if pages.is_empty() {
        pages.push(pages::page("", "", 0));
    }
    if pages.len() > limits.pages as usize {
        return Err(failure::limits(format!(
            "the file has {} pages; the limit is {}",
            pages.len(),
            limits.pages
        )));
    }
    limits.allow_text(pages.iter().map(|page| page.text.len()).sum())?;
    pages::number(&mut pages);
    for page in &mut pages {
        if page.text.is_empty() && page.warnings.is_empty() {
            page.warnings.push(pages::NO_TEXT.into());
        }
    }
    let title = title.map(|title| clean::label(&title)).filter(|title| !title.is_empty());
    Ok(Document { media_type: kind.media_type().into(), title, pages, warnings })
}
