//! Reads a bundle, part by part, and refuses what is out of order or past a bound.

use std::io::Read;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::{
    FileEntry, Head, MOST_DIMENSIONS, MOST_TOKEN_BYTES, Part,
    frames::{Damaged, FrameReader, Kind, damaged},
};
use crate::{
    document::Page,
    ingest,
    seams::{
        catalog::FileStatus,
        index::{Chunk, IndexedChunk},
    },
};

/// Characters that names from outside may have: as an upload's.
const LONGEST_EXTERNAL_ID: usize = 200;
const LONGEST_MEDIA_TYPE: usize = 100;

/// A bundle that is being read.
pub struct Reader<R> {
    frames: FrameReader<R>,
    file: Option<Current>,
    files: u64,
    /// The length of every vector, once the first was read.
    dimensions: Option<usize>,
}

/// The file that the next parts belong to.
struct Current {
    entry: FileEntry,
    bytes: u64,
    hash: Sha256,
    /// Code points on each page so far.
    pages: Vec<u32>,
    text: usize,
    chunks: u32,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    pub fn open(from: R) -> Result<(Head, Self), Damaged> {
        let mut frames = FrameReader::open(from)?;
        let (at, kind, content) = frames.next_frame()?;
        if kind != Kind::Head {
            return Err(damaged(at, "it does not begin with its head"));
        }
        let head: Head = parse(at, &content)?;
        head.box_name().map_err(|wrong| damaged(at, wrong))?;
        Ok((head, Reader { frames, file: None, files: 0, dimensions: None }))
    }

    /// Bytes read so far.
    pub fn position(&self) -> u64 {
        self.frames.position()
    }

    /// The next part. After [`Part::End`] there is none.
    pub fn next_part(&mut self) -> Result<Part, Damaged> {
        let read = self.read();
        read.map_err(|wrong| {
            let file = self.file.as_ref().map(|current| current.entry.name.chars().take(255).collect());
            Damaged { file, ..wrong }
        })
    }

    fn read(&mut self) -> Result<Part, Damaged> {
        let (at, kind, content) = self.frames.next_frame()?;
        match kind {
            Kind::Head => Err(damaged(at, "it has a second head")),
            Kind::File => {
                self.end_file(at)?;
                let entry: FileEntry = parse(at, &content)?;
                check(&entry).map_err(|wrong| damaged(at, wrong))?;
                self.files += 1;
                self.file = Some(Current {
                    entry: entry.clone(),
                    bytes: 0,
                    hash: Sha256::new(),
                    pages: Vec::new(),
                    text: 0,
                    chunks: 0,
                });
                Ok(Part::File(Box::new(entry)))
            }
            Kind::Bytes => {
                self.current(at)?.take_bytes(&content).map_err(|wrong| damaged(at, wrong))?;
                Ok(Part::Bytes(content))
            }
            Kind::Page => {
                let page: Page = parse(at, &content)?;
                self.current(at)?.take_page(&page).map_err(|wrong| damaged(at, wrong))?;
                Ok(Part::Page(page))
            }
            Kind::Chunk => {
                let chunk = read_chunk(at, &content)?;
                let dimensions = *self.dimensions.get_or_insert(chunk.vector.len());
                if chunk.vector.len() != dimensions {
                    return Err(damaged(at, "it has vectors of two lengths"));
                }
                self.current(at)?.take_chunk(&chunk.chunk).map_err(|wrong| damaged(at, wrong))?;
                Ok(Part::Chunk(Box::new(chunk)))
            }
            Kind::End => {
                self.end_file(at)?;
                if content != self.files.to_le_bytes() {
                    return Err(damaged(at, "it says that it has another number of files"));
                }
                self.frames.must_be_over()?;
                Ok(Part::End)
            }
        }
    }

    fn current(&mut self, at: u64) -> Result<&mut Current, Damaged> {
        self.file.as_mut().ok_or_else(|| damaged(at, "there is something that belongs to no file"))
    }

    /// Refuses a file that is not whole.
    fn end_file(&mut self, at: u64) -> Result<(), Damaged> {
        let Some(file) = &self.file else { return Ok(()) };
        let entry = &file.entry;
        let hash: String = file.hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if (file.bytes, hash) != (entry.size, entry.sha256.clone()) {
            return Err(damaged(at, "the original has other bytes than its hash says"));
        }
        if (file.pages.len() as u64, file.chunks) != (u64::from(entry.pages), entry.chunks) {
            return Err(damaged(at, "pages or passages are missing"));
        }
        self.file = None;
        Ok(())
    }
}

impl Current {
    fn take_bytes(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
        match self.pages.is_empty() && self.bytes <= self.entry.size {
            true => Ok(()),
            false => Err("the original has more bytes than it says"),
        }
    }

    fn take_page(&mut self, page: &Page) -> Result<(), &'static str> {
        self.text += page.text.len();
        if self.pages.len() as u64 >= u64::from(self.entry.pages) || self.chunks > 0 {
            return Err("it has more pages than it says");
        }
        if page.number as usize != self.pages.len() + 1 {
            return Err("a page has another number than its place");
        }
        if page.text.len() > ingest::MOST_TEXT_ON_A_PAGE || self.text > ingest::MOST_TEXT {
            return Err("it has more text than a file may have");
        }
        self.pages.push(page.text.chars().count() as u32);
        Ok(())
    }

    /// What is cited from a chunk is cut from its pages, so it must lie on them.
    fn take_chunk(&mut self, chunk: &Chunk) -> Result<(), &'static str> {
        self.chunks += 1;
        if self.chunks > self.entry.chunks || self.pages.len() as u64 != u64::from(self.entry.pages) {
            return Err("it has more passages than it says");
        }
        let on = |page: u32| self.pages.get((page as usize).wrapping_sub(1)).copied();
        let on_pages = on(chunk.page).is_some_and(|length| chunk.start <= length)
            && on(chunk.page_end).is_some_and(|length| chunk.end <= length)
            && (chunk.page, chunk.start) <= (chunk.page_end, chunk.end);
        if on_pages { Ok(()) } else { Err("a passage is not on the pages of its file") }
    }
}

fn parse<T: DeserializeOwned>(at: u64, content: &[u8]) -> Result<T, Damaged> {
    serde_json::from_slice(content)
        .map_err(|wrong| damaged(at, format!("it is not written as usual: {wrong}")))
}

/// Whoever wrote the bundle may have written anything: what is kept must pass as what an upload brings.
fn check(entry: &FileEntry) -> Result<(), String> {
    entry.file_name()?;
    let hash =
        entry.sha256.len() == 64 && entry.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !hash {
        return Err("an original is not named by a SHA-256".into());
    }
    let named =
        entry.external_id.as_ref().is_none_or(|id| (1..=LONGEST_EXTERNAL_ID).contains(&id.chars().count()));
    let kind =
        entry.media_type.len() <= LONGEST_MEDIA_TYPE && !entry.media_type.chars().any(char::is_control);
    if !named || !kind {
        return Err("an external id or a media type is too long".into());
    }
    let empty = entry.pages == 0 && entry.chunks == 0;
    let fits = match entry.status {
        FileStatus::Ready | FileStatus::ReadyWithWarnings => {
            entry.pages as usize <= ingest::MOST_PAGES && entry.chunks as usize <= ingest::MOST_PASSAGES
        }
        FileStatus::Queued | FileStatus::Failed => empty,
        FileStatus::Processing | FileStatus::Deleting => false,
    };
    if fits { Ok(()) } else { Err("a file has a status that its content does not fit".into()) }
}

fn read_chunk(at: u64, content: &[u8]) -> Result<IndexedChunk, Damaged> {
    let wrong = || damaged(at, "a passage is not written as usual");
    let (lengths, rest) = content.split_first_chunk::<8>().ok_or_else(wrong)?;
    let length = |from: usize| {
        u32::from_le_bytes([lengths[from], lengths[from + 1], lengths[from + 2], lengths[from + 3]]) as usize
    };
    let (json, dimensions) = (length(0), length(4));
    let (json, rest) = rest.split_at_checked(json).ok_or_else(wrong)?;
    if dimensions == 0 || dimensions > MOST_DIMENSIONS {
        return Err(damaged(at, format!("a vector has {dimensions} numbers")));
    }
    let (vector, tokens) = rest.split_at_checked(4 * dimensions).ok_or_else(wrong)?;
    let vector: Vec<f32> = vector.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    if tokens.len() > MOST_TOKEN_BYTES || vector.iter().any(|number| !number.is_finite()) {
        return Err(wrong());
    }
    Ok(IndexedChunk { chunk: parse(at, json)?, vector, tokens: tokens.to_vec() })
}
