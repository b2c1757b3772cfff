//! Writes a bundle, part by part.

use std::io::{self, Write};

use super::{
    FileEntry, Head, PIECE,
    frames::{FrameWriter, Kind},
};
use crate::{document::Page, seams::index::IndexedChunk};

/// A bundle that is being written. Whoever writes keeps the order: a file, its bytes, its pages, its chunks.
pub struct Writer<W> {
    frames: FrameWriter<W>,
    files: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a bundle.
    pub fn start(to: W, head: &Head) -> io::Result<Self> {
        let mut frames = FrameWriter::start(to)?;
        frames.write(Kind::Head, &as_json(head))?;
        Ok(Writer { frames, files: 0 })
    }

    /// Begins a file.
    pub fn file(&mut self, entry: &FileEntry) -> io::Result<()> {
        self.files += 1;
        self.frames.write(Kind::File, &as_json(entry))
    }

    /// The next bytes of its original.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(PIECE).try_for_each(|piece| self.frames.write(Kind::Bytes, piece))
    }

    /// Its next page.
    pub fn page(&mut self, page: &Page) -> io::Result<()> {
        self.frames.write(Kind::Page, &as_json(page))
    }

    /// Its next chunk: the length of what is JSON and the length of the vector, then those, then the packed tokens.
    pub fn chunk(&mut self, chunk: &IndexedChunk) -> io::Result<()> {
        let json = as_json(&chunk.chunk);
        let mut content = Vec::with_capacity(8 + json.len() + 4 * chunk.vector.len() + chunk.tokens.len());
        content.extend((json.len() as u32).to_le_bytes());
        content.extend((chunk.vector.len() as u32).to_le_bytes());
        content.extend(json);
        chunk.vector.iter().for_each(|number| content.extend(number.to_le_bytes()));
        content.extend(&chunk.tokens);
        self.frames.write(Kind::Chunk, &content)
    }

    /// That was all.
    pub fn finish(mut self) -> io::Result<W> {
        self.frames.write(Kind::End, &self.files.to_le_bytes())?;
        self.frames.finish()
    }
}

fn as_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers are plain JSON")
}
