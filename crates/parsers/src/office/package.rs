//! Reads parts of zip packages (OOXML, `OpenDocument`, EPUB), counting the bytes that really come out.

use std::cell::Cell;
use std::io::{Cursor, Read};

use engine::seams::parser::ParseFailure;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::failure;

/// An open zip package and what it may still inflate to.
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    left: Cell<u64>,
}

impl<'a> Package<'a> {
    /// Opens the package in `bytes`; all parts together may inflate to `inflated_bytes`.
    pub(crate) fn open(bytes: &'a [u8], inflated_bytes: u64) -> Result<Self, ParseFailure> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| {
            failure::damaged("the file's zip archive is damaged; open and save it again in its own program")
        })?;
        Ok(Self { archive, left: Cell::new(inflated_bytes) })
    }

    /// Whether the package holds a part of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name.trim_start_matches('/')).is_some()
    }

    /// The names of all parts.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.archive.file_names().flatten().map(std::borrow::Cow::into_owned)
    }

    /// Reads one part whole; `None` where there is no such part.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, ParseFailure> {
        let name = name.trim_start_matches('/');
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(why)) if why.contains("assword") => {
                return Err(failure::locked("the file is protected by a password; save a copy without one"));
            }
            Err(_) => return Err(failure::damaged(format!("the part {name:?} of the file is damaged"))),
        };
        let left = self.left.get();
        let mut bytes = Vec::new();
        // A damaged end still leaves what came before it, which is worth reading.
        let _ = part.take(left.saturating_add(1)).read_to_end(&mut bytes);
        let read = bytes.len() as u64;
        if read > left {
            return Err(failure::limits("the file unpacks to more than the limit; it may be a zip bomb"));
        }
        self.left.set(left - read);
        Ok(Some(bytes))
    }

    /// Reads a part that is worth reading only if it has at most so many bytes, which do not count: pictures are not inflated much.
    pub(crate) fn read_aside(&mut self, name: &str, most: u64) -> Option<Vec<u8>> {
        let part = self.archive.by_name(name.trim_start_matches('/')).ok()?;
        let mut bytes = Vec::new();
        part.take(most + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= most).then_some(bytes)
    }

    /// Reads one part as text; damaged bytes become replacement characters.
    pub(crate) fn read_text(&mut self, name: &str) -> Result<Option<String>, ParseFailure> {
        Ok(self.read(name)?.map(|bytes| crate::text::decode(&bytes).text))
    }
}

/// Resolves `target`, as a relationship or link names it, against the folder of the part `base`.
pub(crate) fn resolve(base: &str, target: &str) -> String {
    let mut segments: Vec<&str> =
        if target.starts_with('/') { Vec::new() } else { base.split('/').rev().skip(1).collect::<Vec<_>>() };
    segments.reverse();
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_resolve_against_their_part() {
        assert_eq!(resolve("ppt/slides/slide1.xml", "../notesSlides/n.xml"), "ppt/notesSlides/n.xml");
        assert_eq!(resolve("word/document.xml", "styles.xml"), "word/styles.xml");
        assert_eq!(resolve("word/document.xml", "/word/styles.xml"), "word/styles.xml");
        assert_eq!(resolve("a.xml", "../../../x"), "x");
    }
}
