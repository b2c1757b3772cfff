//! The ingest path: upload → parse → chunk → embed → index.

mod bounds;
pub mod chunk;
mod reindex;
mod relocate;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

pub use bounds::{MOST_PAGES, MOST_PASSAGES, MOST_TEXT, MOST_TEXT_ON_A_PAGE};
pub use reindex::Draft;
pub use relocate::{Relocation, compare, stored_whole};

use crate::{
    Fault, Reason,
    access::Writing,
    blocking,
    document::Document,
    embedders::Embedders,
    ids::FileId,
    seams::{
        catalog::{BoxLanguage, BoxRecord, Extent, FileStatus, SHORT_TEXT},
        embedder::{Embedder, Role},
        index::{Chunk, Index, IndexedChunk},
        parser::{ParseFailure, Parser, Progress},
    },
    search::late,
};

/// Chunks embedded at a time: enough for full batches, few enough that their token vectors take 20 MB at most.
const CHUNKS_AT_ONCE: usize = 64;
/// How long to wait before a busy model is asked again.
const BUSY: Duration = Duration::from_millis(250);

/// Reads files into the index.
#[derive(Clone)]
pub struct Ingest {
    /// Bytes to pages.
    pub parser: Arc<dyn Parser>,
    /// Chunks to vectors: which model for which box.
    pub embedders: Embedders,
    /// Where pages and chunks are kept.
    pub index: Arc<dyn Index>,
}

/// A file that was read, cut and embedded, before it is indexed.
///
/// Shared rather than copied by whoever stores it, because there may be 350 MB of it.
pub struct EmbeddedFile {
    document: Arc<Document>,
    chunks: Arc<[IndexedChunk]>,
    /// The embedder that made the vectors.
    model: String,
}

impl EmbeddedFile {
    /// The embedder that made the vectors.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The file as it was before it was cut and embedded.
    pub fn into_document(self) -> Document {
        Arc::unwrap_or_clone(self.document)
    }
}

/// The result of indexing a file.
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
    /// The slow part, which changes nothing: bytes to pages. `languages` are those of the box.
    pub async fn read(
        &self,
        path: &Path,
        name: &str,
        languages: &[String],
        progress: Progress<'_>,
    ) -> Result<Document, ParseFailure> {
        bounds::admit(self.parser.parse(path, name, languages, progress).await?)
    }

    /// The embedder for a file: what filled its box, else what the box is for, else what the file is in.
    pub async fn embedder_for(
        &self,
        writing: &Writing,
        record: &BoxRecord,
        document: &Document,
    ) -> Result<Arc<dyn Embedder>, Fault> {
        if !self.embedders.several() {
            return Ok(self.embedders.usual().clone());
        }
        if let Some(model) = self.index.model(writing.reading()).await? {
            return self.embedders.of_model(Some(&model)).await;
        }
        let by_content = record.language == BoxLanguage::Auto && self.embedders.turn_by_themselves();
        let foreign = || {
            let characters =
                document.pages.iter().flat_map(|page| page.text.chars()).take(SHORT_TEXT).count();
            let language = chunk::main_language(document).filter(|_| characters == SHORT_TEXT);
            language.is_some_and(|language| language != "en")
        };
        let multilingual = record.is_multilingual() || by_content && foreign();
        self.embedders.for_new(multilingual).await
    }

    /// The other slow part: pages to chunks with vectors, for this box. `progress` is told the page it has come to.
    pub async fn embed(
        &self,
        writing: &Writing,
        mut document: Document,
        name: &str,
        embedder: Arc<dyn Embedder>,
        progress: Progress<'_>,
    ) -> Result<EmbeddedFile, Fault> {
        let cutter = embedder.clone();
        let (document, mut chunks) = blocking::compute(move || {
            let mut chunks = cut(&document, &*cutter);
            if chunks.len() > MOST_PASSAGES {
                chunks.truncate(MOST_PASSAGES);
                document.warnings.push(beyond(&chunks));
            }
            (document, chunks)
        })
        .await?;
        if chunks.iter().any(|chunk| chunk.language.is_none())
            && let Some(usual) = self.index.usual_language(writing.reading()).await?
        {
            chunk::assume(&mut chunks, &usual);
        }
        let title = chunk::title(document.title.as_deref(), name);
        let mut indexed = Vec::with_capacity(chunks.len());
        let mut waiting = chunks.into_iter();
        loop {
            let batch: Vec<Chunk> = waiting.by_ref().take(CHUNKS_AT_ONCE).collect();
            let Some(last) = batch.last() else { break };
            progress(last.page, Some(document.pages.len() as u32));
            indexed.extend(embed_batch(&*embedder, batch, &title).await?);
        }
        let model = embedder.id().to_string();
        Ok(EmbeddedFile { document: Arc::new(document), chunks: indexed.into(), model })
    }

    /// The short part, in one transaction: from here on the file is found.
    pub async fn index(
        &self,
        writing: &Writing,
        file: FileId,
        embedded: &EmbeddedFile,
    ) -> Result<Ingested, Fault> {
        let EmbeddedFile { document, chunks, model } = embedded;
        self.index.replace(writing, file, document, chunks, model).await?;
        let summary = summary(document, chunks.len());
        Ok(Ingested { language: main_language(chunks), ..summary })
    }
}

/// A model that is busy with others is waited for: whoever uploads has no need to hurry.
async fn embed_batch(
    embedder: &dyn Embedder,
    batch: Vec<Chunk>,
    title: &str,
) -> Result<Vec<IndexedChunk>, Fault> {
    let texts: Vec<String> = batch.iter().map(|chunk| chunk.with_headings(title)).collect();
    let embeddings = loop {
        match embedder.embed(texts.clone(), Role::Passage, embedder.gives_tokens()).await {
            Err(fault) if fault.reason == Reason::Overloaded => tokio::time::sleep(BUSY).await,
            answer => break answer?,
        }
    };
    let indexed = batch.into_iter().zip(embeddings).map(|(chunk, embedding)| IndexedChunk {
        chunk,
        tokens: late::pack(&embedding.tokens, &embedding.token_ids),
        vector: embedding.vector,
    });
    Ok(indexed.collect())
}

/// Cuts a document to what the embedder reads at once.
fn cut(document: &Document, embedder: &dyn Embedder) -> Vec<Chunk> {
    let usual = chunk::Chunking::default();
    // Headings go before the text, so a quarter is left to them.
    let max_tokens = usual.max_tokens.min(embedder.max_tokens() * 3 / 4);
    chunk::split(document, &chunk::Chunking { max_tokens, ..usual }, &|text| embedder.count_tokens(text))
}

/// What is said of a file with more passages than are kept.
fn beyond(kept: &[Chunk]) -> String {
    let last = kept.last().map_or(0, |chunk| chunk.page);
    format!(
        "the file has more than {MOST_PASSAGES} passages: what comes after page {last} can be read, but is not found by \
         searches; split the file"
    )
}

fn summary(document: &Document, chunks: usize) -> Ingested {
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
    let extent = Extent { pages: document.pages.len() as u32, characters, chunks: chunks as u32 };
    Ingested { status, media_type: document.media_type.clone(), warnings, language: None, extent }
}

/// The language that most of the chunks are in.
fn main_language(chunks: &[IndexedChunk]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for language in chunks.iter().filter_map(|indexed| indexed.chunk.language.as_deref()) {
        *counts.entry(language).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(language, _)| language.to_string())
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
            layout: None,
        }
    }

    fn document(pages: Vec<Page>) -> Document {
        Document { media_type: "text/plain".into(), title: None, pages, warnings: vec![] }
    }

    #[test]
    fn an_empty_page_is_never_plain_ready() {
        assert_eq!(summary(&document(vec![page(1, "text", &[])]), 1).status, FileStatus::Ready);
        assert_eq!(summary(&document(vec![page(1, " \n", &[])]), 0).status, FileStatus::ReadyWithWarnings);
        let flawed = summary(&document(vec![page(1, "a", &["blurred"]), page(2, "b", &["blurred"])]), 2);
        assert_eq!(flawed.warnings, ["pages 1, 2 have warnings; see the report for each"]);
    }

    #[test]
    fn characters_are_code_points() {
        assert_eq!(summary(&document(vec![page(1, "añ𝄞", &[])]), 1).extent.characters, 3);
    }
}
