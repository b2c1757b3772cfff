//! The layout of a bundle: a magic word and a version, then frames of kind, length, content and checksum.
//!
//! A checksum covers its frame and the checksum before it, so that a frame that is changed, moved, left out or put in is
//! noticed where it happened.

use std::{
    fmt,
    io::{self, ErrorKind, Read, Write},
};

use sha2::{Digest, Sha256};

/// The first bytes of every bundle.
const MAGIC: &[u8; 8] = b"quirebox";
/// The version of the layout that this code writes, and the latest that it reads.
pub const VERSION: u32 = 1;
/// Bytes of the checksum that are kept of each frame.
const SUM: usize = 16;
/// Bytes of a frame before its content: kind and length.
const HEADER: usize = 5;
/// Bytes of content in one frame: a page of 2 MB takes six times as much where every character is escaped.
pub(super) const MOST_CONTENT: usize = 16 << 20;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Head = 1,
    File = 2,
    Bytes = 3,
    Page = 4,
    Chunk = 5,
    End = 6,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        [Kind::Head, Kind::File, Kind::Bytes, Kind::Page, Kind::Chunk, Kind::End]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// A bundle that cannot be read, and where.
#[derive(Debug, thiserror::Error)]
pub struct Damaged {
    /// Bytes before the frame that is wrong.
    pub at: u64,
    /// The file that it belongs to, where one had begun.
    pub file: Option<String>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bundle cannot be used: at byte {}", self.at)?;
        if let Some(file) = &self.file {
            write!(f, " (in the file `{file}`)")?;
        }
        write!(f, ", {}", self.what)
    }
}

/// Reads frames and checks them.
pub(super) struct FrameReader<R> {
    from: R,
    sum: [u8; 32],
    /// Where the next frame begins.
    at: u64,
}

impl<R: Read> FrameReader<R> {
    pub(super) fn open(mut from: R) -> Result<Self, Damaged> {
        let mut start = [0; MAGIC.len() + 4];
        let no_bundle = || damaged(0, "this is no bundle that `quire export` wrote");
        from.read_exact(&mut start).map_err(|_| no_bundle())?;
        let (magic, version) = start.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(no_bundle());
        }
        let version = u32::from_le_bytes([version[0], version[1], version[2], version[3]]);
        if version != VERSION {
            let what = format!(
                "it has the format {version}, and this quire reads {VERSION}: use the quire that wrote it, or newer"
            );
            return Err(damaged(MAGIC.len() as u64, what));
        }
        Ok(FrameReader { from, sum: Sha256::digest(start).into(), at: start.len() as u64 })
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    /// The next frame, with the place that it began at.
    pub(super) fn next_frame(&mut self) -> Result<(u64, Kind, Vec<u8>), Damaged> {
        let at = self.at;
        let mut header = [0; HEADER];
        self.fill(at, &mut header)?;
        let [byte, length @ ..] = header;
        let length = u32::from_le_bytes(length) as usize;
        let kind = Kind::of(byte).filter(|_| length <= MOST_CONTENT);
        let kind = kind.ok_or_else(|| damaged(at, "its content was changed"))?;
        let mut content = Vec::new();
        let read = (&mut self.from).take(length as u64).read_to_end(&mut content);
        if read.map_err(|error| unreadable(at, &error))? < length {
            return Err(ends_early(at));
        }
        let mut sum = [0; SUM];
        self.fill(at, &mut sum)?;
        self.sum = summed(&self.sum, &header, &content);
        if sum != self.sum[..SUM] {
            return Err(damaged(at, "its content was changed: the checksum is another"));
        }
        self.at += (HEADER + length + SUM) as u64;
        Ok((at, kind, content))
    }

    /// Refuses anything after the last frame.
    pub(super) fn must_be_over(&mut self) -> Result<(), Damaged> {
        let mut more = [0; 1];
        match self.from.read(&mut more) {
            Ok(0) => Ok(()),
            Ok(_) => Err(damaged(self.at, "there is something after its end")),
            Err(error) => Err(unreadable(self.at, &error)),
        }
    }

    fn fill(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Damaged> {
        self.from.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => ends_early(at),
            _ => unreadable(at, &error),
        })
    }
}

pub(super) fn damaged(at: u64, what: impl Into<String>) -> Damaged {
    Damaged { at, file: None, what: what.into() }
}

fn ends_early(at: u64) -> Damaged {
    damaged(at, "it ends too early: a part of it is missing")
}

fn unreadable(at: u64, error: &io::Error) -> Damaged {
    damaged(at, format!("it cannot be read: {error}"))
}

/// Writes frames with their checksums.
pub(super) struct FrameWriter<W> {
    to: W,
    sum: [u8; 32],
}

impl<W: Write> FrameWriter<W> {
    pub(super) fn start(mut to: W) -> io::Result<Self> {
        let start = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
        to.write_all(&start)?;
        Ok(FrameWriter { to, sum: Sha256::digest(start).into() })
    }

    pub(super) fn write(&mut self, kind: Kind, content: &[u8]) -> io::Result<()> {
        self.write_raw(kind as u8, content)
    }

    fn write_raw(&mut self, kind: u8, content: &[u8]) -> io::Result<()> {
        if content.len() > MOST_CONTENT {
            return Err(io::Error::other(format!("{} bytes are too much for one frame", content.len())));
        }
        let mut header = [kind; HEADER];
        header[1..].copy_from_slice(&(content.len() as u32).to_le_bytes());
        self.sum = summed(&self.sum, &header, content);
        self.to.write_all(&header)?;
        self.to.write_all(content)?;
        self.to.write_all(&self.sum[..SUM])
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}

/// A bundle of any frames with right checksums, as somebody hostile would write it; for tests that go past the checksums.
pub fn sealed<'a>(frames: impl IntoIterator<Item = (u8, &'a [u8])>) -> io::Result<Vec<u8>> {
    let mut writer = FrameWriter::start(Vec::new())?;
    for (kind, content) in frames {
        writer.write_raw(kind, content)?;
    }
    writer.finish()
}

fn summed(before: &[u8; 32], header: &[u8; HEADER], content: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(before).chain_update(header).chain_update(content).finalize().into()
}
