//! Holds the pages, chunks, vectors and full text of boxes, and recalls candidates from them.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Fault,
    access::{Reading, Writing},
    document::{Document, Page},
    ids::{ChunkId, FileId},
    layout::Layout,
};

/// A passage cut from a document, as the chunker gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// Exactly `page.text[start..end]` in code points where `page == page_end`.
    pub text: String,
    /// The page it starts on, from 1.
    pub page: u32,
    /// The page it ends on.
    pub page_end: u32,
    /// Code point offset into the text of `page`.
    pub start: u32,
    /// Code point offset into the text of `page_end`, exclusive.
    pub end: u32,
    /// The headings above it, outermost first; shared by all chunks under them.
    pub section: Arc<[String]>,
    /// What is further up and belongs to it: the caption and header row of a table whose later rows these are.
    /// Embedded and searched with the text, but no part of it. Mostly empty.
    pub lead: Arc<str>,
    /// ISO 639-1 code, where one could be detected.
    pub language: Option<String>,
}

impl Chunk {
    /// A text that is a page, without headings.
    #[cfg(test)]
    pub(crate) fn plain(text: &str) -> Self {
        Chunk {
            text: text.into(),
            page: 1,
            page_end: 1,
            start: 0,
            end: text.chars().count() as u32,
            section: [].into(),
            lead: "".into(),
            language: None,
        }
    }

    /// What models read of it: the title, unless that is empty, the headings above it that it does not itself begin with,
    /// what leads it, and its text.
    pub fn with_headings(&self, title: &str) -> String {
        let mut read = String::with_capacity(self.text.len() + 100);
        let headings = self.section.iter().map(String::as_str);
        for heading in [title].into_iter().chain(headings).filter(|heading| !heading.is_empty()) {
            if !self.text.contains(heading) && !read.contains(heading) {
                if !read.is_empty() {
                    read.push_str(" › ");
                }
                read.push_str(heading);
            }
        }
        for part in [&*self.lead, &self.text] {
            if !read.is_empty() && !part.is_empty() {
                read.push('\n');
            }
            read.push_str(part);
        }
        read
    }
}

/// A chunk with what the models made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedChunk {
    /// The passage.
    pub chunk: Chunk,
    /// Its unit vector.
    pub vector: Vec<f32>,
    /// Its packed token vectors for late interaction; empty where the model gives none.
    pub tokens: Vec<u8>,
}

/// What a `remove` took away; becomes part of the receipt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Pages that were stored.
    pub pages: u64,
    /// Chunks that were stored.
    pub chunks: u64,
    /// Vectors that were stored.
    pub vectors: u64,
}

/// What to recall.
#[derive(Debug, Clone)]
pub struct Recall<'a> {
    /// The query as text; `None` skips the text side.
    pub text: Option<&'a str>,
    /// The query as a vector; `None` skips the vector side.
    pub vector: Option<&'a [f32]>,
    /// The id of the model that made the vector. A box with vectors of another is refused with
    /// [`Reason::Conflict`](crate::Reason::Conflict).
    pub model: &'a str,
    /// Only chunks of these files; `None` is the whole box.
    pub only: Option<&'a HashSet<FileId>>,
    /// How many candidates per side.
    pub limit: usize,
    /// Chunks up to which each is compared with the vector. Among more, the nearest are found by what is quicker, which now and
    /// then misses one.
    pub exact_to: usize,
}

/// Up to here comparing each takes about as long as what is quicker.
pub const EXACT_TO: usize = 20_000;

/// One recalled candidate with its score on one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Which chunk.
    pub chunk: ChunkId,
    /// Cosine on the vector side, BM25 on the text side.
    pub score: f32,
}

/// Candidates of both sides, best first.
#[derive(Debug, Clone, Default)]
pub struct Recalled {
    /// By vector.
    pub semantic: Vec<Candidate>,
    /// By text.
    pub keyword: Vec<Candidate>,
    /// Words of the query that the box does not have, and what they were taken for.
    pub corrected: Vec<Correction>,
}

/// A word that was taken for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// As the query has it, in small letters.
    pub written: String,
    /// A word of the box that is spelt like it.
    pub taken_for: String,
}

/// The text of a page, and where its words stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaidOut {
    /// The whole text.
    pub text: String,
    /// The places of its words.
    pub layout: Layout,
}

/// How the pages of a file were read, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HowRead {
    /// All pages.
    pub pages: u32,
    /// Those without any text.
    pub blank: u32,
    /// Those of them with a warning: there may be text that could not be read.
    pub unread: u32,
    /// Those whose text was recognised from a picture.
    pub recognised: u32,
    /// Those with warnings.
    pub warned: u32,
}

/// How much the index holds of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Which file.
    pub file: FileId,
    /// Grows whenever the file is stored again.
    pub revision: i64,
    /// Its title, or nothing.
    pub title: Option<String>,
    /// Its pages.
    pub pages: u64,
    /// Its chunks, each with one vector.
    pub chunks: u64,
}

/// What a box holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The embedder whose vectors these are; `None` while there are none.
    pub model: Option<String>,
    /// Every file, in the order of first storing.
    pub files: Vec<Held>,
}

/// The index of all boxes. A box that nothing was ever stored in reads as empty.
///
/// Implementations: `stores::index::Embedded` (one `SQLite` file a box; vector codes and tantivy derive from it) and
/// `stores::index::Postgres` (pgvector and postings in tables, for many nodes).
#[async_trait]
pub trait Index: Send + Sync {
    /// Makes this the file's content in one transaction: what was there before is gone when it returns.
    /// `model` is the id of the embedder that made the vectors; a box holds those of one model only, and another is
    /// refused with [`Reason::Conflict`](crate::Reason::Conflict) while other files have vectors of the first.
    async fn replace(
        &self,
        writing: &Writing,
        file: FileId,
        document: &Arc<Document>,
        chunks: &Arc<[IndexedChunk]>,
        model: &str,
    ) -> Result<(), Fault>;

    /// Removes everything of the file; nothing of it can be found once this returns. Removing what is not there
    /// removes nothing and is no failure.
    async fn remove(&self, writing: &Writing, file: FileId) -> Result<Removed, Fault>;

    /// Removes a whole box.
    async fn drop_box(&self, writing: &Writing) -> Result<(), Fault>;

    /// Up to `limit` pages from page number `from` on, in order.
    async fn pages(&self, reading: &Reading, file: FileId, from: u32, limit: u32)
    -> Result<Vec<Page>, Fault>;

    /// Counts how the pages of a file were read.
    async fn how_read(&self, reading: &Reading, file: FileId) -> Result<HowRead, Fault>;

    /// These pages of files with where their words stand, in the order asked; `None` where one is gone or has no look of
    /// its own.
    async fn laid_out(
        &self,
        reading: &Reading,
        pages: &[(FileId, u32)],
    ) -> Result<Vec<Option<LaidOut>>, Fault>;

    /// Which storing of the file is in place; `None` where nothing of it is. Grows whenever the file is stored again, so
    /// that whoever reads a document in parts can tell whether all of them are of one version.
    async fn revision(&self, reading: &Reading, file: FileId) -> Result<Option<i64>, Fault>;

    /// Recalls candidates by vector and by text.
    async fn recall(&self, reading: &Reading, recall: Recall<'_>) -> Result<Recalled, Fault>;

    /// How near these chunks are to a vector, in the order asked; `None` where one is gone.
    async fn cosines(
        &self,
        reading: &Reading,
        ids: &[ChunkId],
        vector: &[f32],
    ) -> Result<Vec<Option<f32>>, Fault>;

    /// The chunks of these ids, in the order asked; one that is gone is `None`. The neighbours of a chunk are those
    /// with the next lower and higher ordinals.
    async fn chunks(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault>;

    /// The packed token vectors of these chunks, in the order asked; empty where a chunk is gone or has none.
    async fn tokens(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<u8>>, Fault>;

    /// The vectors of these chunks, in the order asked; empty where one is gone. For copies to another index.
    async fn vectors(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>, Fault>;

    /// What the box holds, file by file.
    async fn contents(&self, reading: &Reading) -> Result<Contents, Fault>;

    /// The id of the embedder that filled the box; `None` while it has no vectors.
    async fn model(&self, reading: &Reading) -> Result<Option<String>, Fault>;

    /// The language that most of the box is in, as ISO 639-1 has it: that of a text too short to tell by. `None` where it
    /// could not be told of anything yet.
    async fn usual_language(&self, reading: &Reading) -> Result<Option<String>, Fault>;

    /// A second index of the same boxes, beside this one: what is built there is not found here until it is adopted.
    fn draft(&self) -> Arc<dyn Index>;

    /// Makes the draft of a box its content in one step, and what was its content its draft: adopting again goes back.
    async fn adopt(&self, writing: &Writing) -> Result<(), Fault>;

    /// What answers searches and how words are ranked, in a line for operators.
    async fn describe(&self) -> Result<String, Fault>;
}
