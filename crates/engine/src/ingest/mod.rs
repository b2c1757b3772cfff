//! The ingest path: upload → parse → chunk → embed → index.

pub mod chunk;

use std::{path::Path, sync::Arc};

use crate::{
    Fault,
    access::Writing,
    document::Document,
    ids::FileId,
    seams::{
        catalog::{Extent, FileStatus},
        index::Index,
        parser::{ParseFailure, Parser, Progress},
    },
};

/// Reads files into the index.
#[derive(Clone)]
pub struct Ingest {
    /// Bytes to pages.
    pub parser: Arc<dyn Parser>,
    /// Where pages and chunks are kept.
    pub index: Arc<dyn Index>,
}

/// A file that was read, before it is indexed.
pub struct ReadFile {
    document: Document,
}

/// What indexing a file came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingested {
    /// Ready, or ready with warnings.
    pub status: FileStatus,
    /// As sniffed from the bytes.
    pub media_type: String,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// The language most of it is in.
    pub language: Option<String>,
    /// The text in numbers.
    pub extent: Extent,
}

impl Ingest {
    /// The slow part, which changes nothing: bytes to pages.
    pub async fn read(
        &self,
        path: &Path,
        name: &str,
        progress: Progress<'_>,
    ) -> Result<ReadFile, ParseFailure> {
        let document = self.parser.parse(path, name, progress).await?;
        Ok(ReadFile { document })
    }

    /// The short part, in one transaction: from here on the file is found.
    pub async fn index(&self, writing: &Writing, file: FileId, read: &ReadFile) -> Result<Ingested, Fault> {
        self.index.replace(writing, file, &read.document, &[], "").await?;
        Ok(summary(&read.document))
    }
}

fn summary(document: &Document) -> Ingested {
    let flawed: Vec<u32> =
        document.pages.iter().filter(|page| !page.warnings.is_empty()).map(|page| page.number).collect();
    let mut warnings = document.warnings.clone();
    if !flawed.is_empty() {
        warnings.push(format!("{}; see the report for each", pages_with_warnings(&flawed)));
    }
    let empty = document.pages.iter().any(|page| page.text.trim().is_empty());
    if empty && warnings.is_empty() {
        warnings.push("some pages have no text".into());
    }
    let status = if warnings.is_empty() { FileStatus::Ready } else { FileStatus::ReadyWithWarnings };
    let characters = document.pages.iter().map(|page| page.text.chars().count() as u64).sum();
    let extent = Extent { pages: document.pages.len() as u32, characters, chunks: 0 };
    let language = chunk::language(document).map(str::to_string);
    Ingested { status, media_type: document.media_type.clone(), warnings, language, extent }
}

/// Names up to five pages, then counts.
fn pages_with_warnings(pages: &[u32]) -> String {
    let named = pages.iter().take(5).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match pages.len() {
        1 => format!("page {named} has warnings"),
        2..=5 => format!("pages {named} have warnings"),
        count => format!("pages {named} and {} more have warnings", count - 5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, Page};

    fn page(number: u32, text: &str, warnings: &[&str]) -> Page {
        Page {
            number,
            label: number.to_string(),
            text: text.into(),
            format: Format::Text,
            ocr: false,
            confidence: None,
            tables: 0,
            warnings: warnings.iter().map(ToString::to_string).collect(),
        }
    }

    fn document(pages: Vec<Page>) -> Document {
        Document { media_type: "text/plain".into(), title: None, pages, warnings: vec![] }
    }

    #[test]
    fn an_empty_page_is_never_plain_ready() {
        assert_eq!(summary(&document(vec![page(1, "text", &[])])).status, FileStatus::Ready);
        assert_eq!(summary(&document(vec![page(1, " \n", &[])])).status, FileStatus::ReadyWithWarnings);
        let flawed = summary(&document(vec![page(1, "a", &["blurred"]), page(2, "b", &["blurred"])]));
        assert_eq!(flawed.warnings, ["pages 1, 2 have warnings; see the report for each"]);
    }

    #[test]
    fn characters_are_code_points() {
        assert_eq!(summary(&document(vec![page(1, "añ𝄞", &[])])).extent.characters, 3);
    }
}
