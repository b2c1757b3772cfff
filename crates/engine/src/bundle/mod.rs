//! A box in one file: its settings, and of each file the original, what is said about it, its pages, passages and vectors.
//!
//! The layout is a sequence of frames ([`frames`]), each with a checksum over everything before it. [`Reader`] gives them as
//! [`Part`]s in the only order that is allowed: the head, then each file with its original, pages and chunks, then the end.
//! Whatever it gives has passed its checksum and the bounds below, so a bundle from elsewhere costs no more than a file
//! that is uploaded. Reading needs memory for one frame.
//!
//! Who may use the box is not part of it: that is for the place where it arrives to decide.

mod frames;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::io::Read;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use frames::{Damaged, VERSION, sealed};
pub use reader::Reader;
pub use writer::Writer;

use crate::{
    document::Page,
    ids::{BoxId, FileId},
    seams::{
        catalog::{BoxName, BoxSettings, FileName, FileStatus, Metadata},
        index::IndexedChunk,
    },
};

/// Bytes of an original in one frame.
pub const PIECE: usize = 1 << 20;
/// Numbers in one vector: several times what any model gives.
const MOST_DIMENSIONS: usize = 16_384;
/// Bytes of the packed token vectors of one passage: several times what [`late`](crate::search::late) makes.
const MOST_TOKEN_BYTES: usize = 64 << 10;

/// What a bundle begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The version of quire that wrote it.
    pub written_by: String,
    /// When it was written.
    pub written_at: Timestamp,
    /// The box where it was.
    pub box_id: BoxId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// The address of an owner, where there was one.
    pub owner: Option<String>,
    /// The embedder whose vectors these are; `None` where there are none.
    pub model: Option<String>,
    /// What clients noted about the box.
    #[serde(default)]
    pub notes: Metadata,
    /// How it is set up.
    #[serde(default)]
    pub settings: BoxSettings,
}

impl Head {
    /// The name, if it is one.
    pub fn box_name(&self) -> Result<BoxName, String> {
        self.name.parse()
    }
}

/// What is said of a file, before its original, pages and chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// The file where it was.
    pub id: FileId,
    /// Its name.
    pub name: String,
    /// The owner's own name for it.
    pub external_id: Option<String>,
    /// SHA-256 of the original, in hexadecimal.
    pub sha256: String,
    /// Bytes of the original.
    pub size: u64,
    /// Its media type.
    pub media_type: String,
    /// Ready, ready with warnings, failed, or queued: then it is to be read where it arrives.
    pub status: FileStatus,
    /// Why it could not be read.
    pub error: Option<String>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// The language most of it is in.
    pub language: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// What the owner says about it.
    pub metadata: Metadata,
    /// When it was first uploaded.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
    /// When its content last became searchable.
    pub indexed_at: Option<Timestamp>,
    /// When it is deleted.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The document's own title.
    pub title: Option<String>,
    /// How many pages follow.
    pub pages: u32,
    /// How many chunks follow.
    pub chunks: u32,
}

impl FileEntry {
    /// Whether its pages and chunks are there, so that it need not be read again.
    pub fn is_read(&self) -> bool {
        matches!(self.status, FileStatus::Ready | FileStatus::ReadyWithWarnings)
    }

    /// The name, if it is one.
    pub fn file_name(&self) -> Result<FileName, String> {
        self.name.parse()
    }
}

/// The next thing in a bundle.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A file begins; what follows belongs to it.
    File(Box<FileEntry>),
    /// The next bytes of its original; all of them together have its hash.
    Bytes(Vec<u8>),
    /// Its next page.
    Page(Page),
    /// Its next chunk.
    Chunk(Box<IndexedChunk>),
    /// That was all, and it was whole.
    End,
}

/// What a whole bundle holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Files.
    pub files: u64,
    /// Of them, those that are to be read where they arrive.
    pub unread: u64,
    /// Bytes of originals.
    pub bytes: u64,
    /// Pages.
    pub pages: u64,
    /// Chunks, each with its vector.
    pub chunks: u64,
}

/// Reads a bundle to its end, so that nothing of a damaged one is used. `seen` is told how many bytes were read.
pub fn verify(from: impl Read, mut seen: impl FnMut(u64)) -> Result<(Head, Totals), Damaged> {
    let (head, mut reader) = Reader::open(from)?;
    let mut totals = Totals::default();
    loop {
        match reader.next_part()? {
            Part::File(file) => {
                totals.files += 1;
                totals.unread += u64::from(file.status == FileStatus::Queued);
            }
            Part::Bytes(bytes) => totals.bytes += bytes.len() as u64,
            Part::Page(_) => totals.pages += 1,
            Part::Chunk(_) => totals.chunks += 1,
            Part::End => return Ok((head, totals)),
        }
        seen(reader.position());
    }
}
