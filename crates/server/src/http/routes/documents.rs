//! `POST /boxes/{box_id}/retrieve-full-documents` and `GET /files/{file_id}/report`: documents page by page.

use std::{ops::RangeInclusive, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use engine::{
    Fault, Reason,
    access::Reading,
    document::{Format, Page},
    ids::FileId,
    layout::{Placed, Region},
    seams::catalog::{FileRecord, FileStatus, Metadata},
};
use futures::stream;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::sources;
use crate::{
    app::App,
    http::{
        audience::Audience,
        auth::{Asking, ReadingBox, ReadingFile},
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
};

/// Pages read from the store at a time: keeps memory small and the connection busy.
const PAGES_AT_ONCE: u32 = 64;

/// When to ask again for a document that was replaced while it was read: the new version exists already.
const AGAIN: Duration = Duration::from_secs(1);

/// Which documents to return.
#[derive(Deserialize, ToSchema)]
pub(super) struct FullBody {
    /// File identifiers; at least one.
    #[schema(value_type = Vec<String>)]
    sources: Option<Vec<String>>,
    /// Only these pages, such as `1-3,7`.
    pages: Option<String>,
    /// Return what there is and list the rest in `missing`, rather than fail.
    #[serde(default)]
    partial: Option<bool>,
    /// Also tell where on its page each line of the text stands; PDFs and pictures only.
    #[serde(default)]
    regions: Option<bool>,
}

impl FullBody {
    /// The pages and the files asked for.
    pub(super) fn wanted(self) -> Result<(PageRanges, Vec<String>), Fault> {
        let pages = PageRanges::parse(self.pages.as_deref())?;
        let sources =
            self.sources.ok_or_else(|| Fault::missing("sources", "an array of at least one file id"))?;
        Ok((pages, sources))
    }
}

/// Documents with their pages.
#[derive(Serialize, ToSchema)]
pub(super) struct FullDocuments {
    documents: Vec<FullDocument>,
    /// Sources that are not in the box or cannot be read; with `partial` only.
    missing: Option<Vec<String>>,
    usage: FullUsage,
}

/// One document with its pages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FullDocument {
    #[serde(flatten)]
    head: DocumentHead,
    pages: Vec<PageObject>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DocumentHead {
    #[schema(value_type = String)]
    file_id: FileId,
    file_name: String,
    media_type: String,
    page_count: u32,
    char_count: u64,
    language: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Object)]
    metadata: Metadata,
}

/// One page.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PageObject {
    page: u32,
    label: String,
    text: String,
    /// markdown or text
    #[schema(value_type = String)]
    format: Format,
    char_count: usize,
    ocr: bool,
    confidence: Option<f32>,
    warnings: Vec<String>,
    /// Where the lines of the text stand on the page, if asked for with `regions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<Vec<PlacedLine>>,
}

/// A line of a page's text, and where it stands.
#[derive(Serialize, ToSchema)]
struct PlacedLine {
    /// Where it starts in the text, in characters.
    start: u32,
    /// Where it ends, exclusive.
    end: u32,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    region: Region,
}

#[derive(Serialize, ToSchema)]
struct FullUsage {
    documents_retrieved: usize,
    total_pages: u64,
}

impl DocumentHead {
    fn of(file: &FileRecord) -> Self {
        DocumentHead {
            file_id: file.id,
            file_name: file.name.as_str().to_string(),
            media_type: file.media_type.clone(),
            page_count: file.extent.pages,
            char_count: file.extent.characters,
            language: file.language.clone(),
            created_at: file.created_at,
            metadata: file.metadata.clone(),
        }
    }
}

impl PageObject {
    fn of(page: Page, regions: bool) -> Self {
        PageObject {
            regions: regions.then(|| placed_lines(&page)),
            page: page.number,
            char_count: page.text.chars().count(),
            label: page.label,
            text: page.text,
            format: page.format,
            ocr: page.ocr,
            confidence: page.confidence,
            warnings: page.warnings,
        }
    }
}

/// Where the lines of a page's text stand. A line that was broken on the page has several regions.
fn placed_lines(page: &Page) -> Vec<PlacedLine> {
    let Some(layout) = &page.layout else { return Vec::new() };
    let placed = Placed::new(page.number, &page.text, layout);
    let mut lines = Vec::new();
    let mut start = 0;
    for line in page.text.split('\n') {
        let end = start + u32::try_from(line.chars().count()).unwrap_or(u32::MAX);
        let regions = placed.regions(start..end).into_iter();
        lines.extend(regions.map(|region| PlacedLine { start, end, region }));
        start = end + 1;
    }
    lines
}

/// Returns whole documents, page by page. Free.
#[utoipa::path(post, path = "/boxes/{box_id}/retrieve-full-documents", operation_id = "retrieve_full_documents", tag = "documents",
    params(("box_id" = String, Path, description = "The box")),
    request_body = FullBody,
    responses(
        (status = 200, description = "The documents, in the order of `sources`", body = Envelope<FullDocuments>),
        (status = "4XX", description = "The key, its role or the body is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn retrieve_full(
    State(app): State<App>,
    Asking(caller): Asking,
    ReadingBox(reading): ReadingBox,
    body: JsonBody<FullBody>,
) -> Result<Response, Failure> {
    let partial = body.value.partial.unwrap_or(false);
    let regions = body.value.regions.unwrap_or(false);
    let (wanted, sources) = body.value.wanted()?;
    let (files, missing) = sources::find(&app, &[reading], sources, partial).await?;
    let missing = partial.then_some(missing);
    let answer = Answer { files, wanted, regions, missing, warnings: body.warnings };
    let audience = Audience::of_key(&app, &caller, reading.box_id()).seated()?;
    Ok(answer.stream(app, reading, audience))
}

/// Ranges of pages in one request: each is looked up in every document.
const MOST_RANGES: usize = 100;

/// Pages asked for: `1-3,7`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PageRanges(pub(super) Vec<RangeInclusive<u32>>);

impl PageRanges {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Fault> {
        let Some(text) = text else { return Ok(PageRanges(vec![1..=u32::MAX])) };
        let mut ranges = Vec::new();
        if text.split(',').count() > MOST_RANGES {
            let cause = format!("`pages` can have at most {MOST_RANGES} ranges");
            return Err(Fault::invalid("pages", cause));
        }
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let numbers = (first.trim().parse::<u32>(), last.trim().parse::<u32>());
            match numbers {
                (Ok(first), Ok(last)) if 1 <= first && first <= last => ranges.push(first..=last),
                _ => {
                    return Err(Fault::invalid(
                        "pages",
                        format!("`pages`: `{part}` is not a page range; use the form 1-3,7"),
                    ));
                }
            }
        }
        Ok(PageRanges(merged(ranges)))
    }
}

/// In page order, without overlaps: a page is returned once.
fn merged(mut ranges: Vec<RangeInclusive<u32>>) -> Vec<RangeInclusive<u32>> {
    ranges.sort_by_key(|range| *range.start());
    let mut merged: Vec<RangeInclusive<u32>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => merged.push(range),
        }
    }
    merged
}

/// An answer that is written as it is read from the store, never whole in memory.
struct Answer {
    files: Vec<FileRecord>,
    wanted: PageRanges,
    regions: bool,
    missing: Option<Vec<String>>,
    warnings: Vec<String>,
}

type Part = Result<Bytes, std::io::Error>;

impl Answer {
    /// Pages are read one batch ahead, and each batch is sent only while the key may still read them.
    fn stream(self, app: App, reading: Reading, audience: Audience) -> Response {
        let (sender, mut receiver) = mpsc::channel::<Part>(1);
        tokio::spawn(async move {
            if let Err(fault) = self.write(&app, &reading, &sender).await {
                tracing::error!(error = ?fault, "A document could not be read completely");
                // Cuts the connection, so that nobody takes half an answer for a whole one.
                let _ = sender.send(Err(std::io::Error::other("reading failed"))).await;
            }
        });
        let parts = stream::poll_fn(move |context| receiver.poll_recv(context));
        let mut response = Response::new(Body::from_stream(audience.guard(parts)));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    async fn write(self, app: &App, reading: &Reading, sender: &mpsc::Sender<Part>) -> Result<(), Fault> {
        let mut total_pages = 0;
        let mut text = String::from(r#"{"success":true,"data":{"documents":["#);
        for (at, file) in self.files.iter().enumerate() {
            let head = json(&DocumentHead::of(file));
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(head.strip_suffix('}').unwrap_or(&head));
            text.push_str(r#","pages":["#);
            let mut pages = Pages::of(app, reading, file.id, self.wanted.0.clone()).await?;
            let mut separator = "";
            while let Some(some) = pages.next().await? {
                total_pages += some.len() as u64;
                for page in some {
                    text.push_str(separator);
                    text.push_str(&json(&PageObject::of(page, self.regions)));
                    separator = ",";
                }
                if !send(sender, &mut text).await {
                    return Ok(());
                }
            }
            text.push_str("]}");
        }
        let usage = FullUsage { documents_retrieved: self.files.len(), total_pages };
        text.push_str(&format!(r#"],"usage":{}"#, json(&usage)));
        if let Some(missing) = &self.missing {
            text.push_str(&format!(r#","missing":{}"#, json(missing)));
        }
        if !self.warnings.is_empty() {
            text.push_str(&format!(r#","warnings":{}"#, json(&self.warnings)));
        }
        text.push_str("}}");
        send(sender, &mut text).await;
        Ok(())
    }
}

/// The pages of a file, some at a time, all of one version.
pub(super) struct Pages<'a> {
    app: &'a App,
    reading: &'a Reading,
    file: FileId,
    /// What is still wanted, in page order.
    ranges: Vec<RangeInclusive<u32>>,
    /// The storing of the file that they are read from.
    revision: Option<i64>,
}

impl<'a> Pages<'a> {
    pub(super) async fn of(
        app: &'a App,
        reading: &'a Reading,
        file: FileId,
        ranges: Vec<RangeInclusive<u32>>,
    ) -> Result<Self, Fault> {
        let revision = app.library.index.revision(reading, file).await?;
        Ok(Pages { app, reading, file, ranges, revision })
    }

    /// The next pages, or `None` when there are no more. Fails where the file was replaced or deleted since the first:
    /// pages of two versions never stand in one answer.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Page>>, Fault> {
        while let Some(range) = self.ranges.first().cloned() {
            let limit = PAGES_AT_ONCE.min((range.end() - range.start()).saturating_add(1));
            let pages = self.app.library.index.pages(self.reading, self.file, *range.start(), limit).await?;
            if self.app.library.index.revision(self.reading, self.file).await? != self.revision {
                let cause = "the document was replaced or deleted while it was being read; request it again";
                return Err(Fault::new(Reason::NotReady, cause).retry_after(AGAIN));
            }
            match pages.last().map(|page| page.number) {
                Some(last) if last < *range.end() => self.ranges[0] = last + 1..=*range.end(),
                _ => drop(self.ranges.remove(0)),
            }
            // The store gives the pages from a number on: some may lie beyond what was asked for.
            let pages: Vec<Page> = pages.into_iter().filter(|page| range.contains(&page.number)).collect();
            if !pages.is_empty() {
                return Ok(Some(pages));
            }
        }
        Ok(None)
    }
}

/// Sends what has gathered; `false` where nobody is listening any more.
async fn send(sender: &mpsc::Sender<Part>, text: &mut String) -> bool {
    sender.send(Ok(Bytes::from(std::mem::take(text)))).await.is_ok()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain JSON")
}

/// How each page of a file was read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    #[schema(value_type = String)]
    file_id: FileId,
    name: String,
    media_type: String,
    /// queued, processing, ready, `ready_with_warnings`, failed or deleting
    #[schema(value_type = String)]
    status: FileStatus,
    error: Option<String>,
    warnings: Vec<String>,
    page_count: u32,
    char_count: u64,
    pages: Vec<PageReport>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PageReport {
    page: u32,
    label: String,
    char_count: usize,
    /// Whether any text was found.
    text: bool,
    ocr: bool,
    confidence: Option<f32>,
    tables: u32,
    warnings: Vec<String>,
}

/// Tells how each page of a file was read.
#[utoipa::path(get, path = "/files/{file_id}/report", operation_id = "get_file_report", tag = "files",
    params(("file_id" = String, Path, description = "The file")),
    responses(
        (status = 200, description = "One entry a page", body = Envelope<Report>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such file", body = ErrorEnvelope)
    ))]
pub(super) async fn report(
    State(app): State<App>,
    file: ReadingFile,
    query: Parameters<Nothing>,
) -> Reply<Report> {
    let record = file.record;
    let mut pages = Vec::new();
    let mut all = Pages::of(&app, &file.reading, record.id, vec![1..=u32::MAX]).await?;
    while let Some(some) = all.next().await? {
        pages.extend(some.into_iter().map(|page| PageReport {
            page: page.number,
            char_count: page.text.chars().count(),
            text: !page.text.trim().is_empty(),
            label: page.label,
            ocr: page.ocr,
            confidence: page.confidence,
            tables: page.tables,
            warnings: page.warnings,
        }));
    }
    let report = Report {
        file_id: record.id,
        name: record.name.as_str().to_string(),
        media_type: record.media_type,
        status: record.status,
        error: record.error,
        warnings: record.warnings,
        page_count: record.extent.pages,
        char_count: record.extent.characters,
        pages,
    };
    Ok(Success::with_warnings(report, query.warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_ranges_are_sorted_and_merged() {
        let ranges = |text| PageRanges::parse(Some(text)).unwrap().0;
        assert_eq!(ranges("1-3,7"), [1..=3, 7..=7]);
        assert_eq!(ranges("7, 2-4 ,3-5,6"), [2..=7]);
        let odd = |count: u32| (0..count).map(|n| (2 * n + 1).to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(ranges(&odd(100)).len(), 100);
        assert!(PageRanges::parse(Some(&odd(101))).unwrap_err().cause.contains("at most 100"));
        assert_eq!(PageRanges::parse(None).unwrap().0, [1..=u32::MAX]);
        for wrong in ["", "0", "3-1", "a", "1-", "-2", "1,,2", "99999999999"] {
            assert!(PageRanges::parse(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
