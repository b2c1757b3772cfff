//! One file: the picture of a page beside the text that was read from it, how each page was read, and what can be done to it.

use askama::Template;
use axum::{
    extract::{FromRequestParts, Path, Query, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::Response,
};
use engine::{
    Fault,
    access::{Reading, Writing},
    document::{Format, Page},
    layout::{Placed, Region},
    seams::{
        catalog::{Action, FileChanges, FileRecord, Metadata},
        index::HowRead,
    },
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    audit,
    fields::Fields,
    files::{self, Row},
    page::{self, Frame, Place, Shown},
    permit::{AtFile, Here, no_such_file},
    rendered,
    said::{self, Before, Said},
    show::Moment,
};
use crate::{
    app::App,
    http::{
        error::Failure,
        routes::{labels, links, pictures},
    },
    words::Words,
};

/// Pages of the report on one page of ours.
const REPORTED: u32 = 200;

/// How a page was read.
struct PageNotes {
    number: u32,
    label: String,
    characters: String,
    how: String,
    tables: u32,
    warnings: Vec<String>,
}

impl PageNotes {
    fn of(words: Words, page: &Page) -> Self {
        let how = match (page.ocr, page.confidence) {
            (true, Some(sure)) => {
                let percent = format!("{:.0}", sure * 100.0);
                words.text("files-recognised-sure").with("percent", percent).plain()
            }
            (true, None) => words.plain("files-recognised"),
            (false, _) => match page.format {
                Format::Markdown => words.plain("files-with-structure"),
                Format::Text => words.plain("files-as-text"),
            },
        };
        PageNotes {
            number: page.number,
            label: page.label.clone(),
            characters: words.number(page.text.chars().count() as u64),
            how,
            tables: page.tables,
            warnings: page.warnings.clone(),
        }
    }
}

/// How the original is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// In the browser's own reader.
    Pdf,
    Picture,
    /// In a frame without any rights.
    Frame,
    /// Not at all: to be downloaded.
    Nothing,
}

fn view_of(file: &FileRecord) -> View {
    let kind = file.media_type.split(';').next().unwrap_or_default().trim();
    match kind {
        "application/pdf" => View::Pdf,
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/svg+xml" | "image/bmp" => {
            View::Picture
        }
        "application/json" => View::Frame,
        kind if kind.starts_with("text/") => View::Frame,
        _ => View::Nothing,
    }
}

/// A page as it is read: its picture with the quote marked on it, and its text.
struct Sheet {
    words: Words,
    /// Where its file is.
    file: String,
    file_name: String,
    notes: PageNotes,
    /// Whether it has a look of its own.
    drawn: bool,
    /// Where the quote stands on the picture.
    regions: Vec<Region>,
    /// As HTML, with the quote marked.
    text: String,
    count: u32,
    previous: Option<u32>,
    next: Option<u32>,
}

impl Sheet {
    fn of(words: Words, here: &Here, file: &FileRecord, page: &Page, quote: Option<(u32, u32)>) -> Self {
        let (number, count) = (page.number, file.extent.pages);
        let place = |layout, (start, end): (u32, u32)| {
            Placed::new(number, &page.text, layout).regions(start..end.max(start))
        };
        let drawn = pictures::has_any(file);
        Sheet {
            words,
            file: address(here, file),
            file_name: file.name.as_str().to_string(),
            notes: PageNotes::of(words, page),
            drawn,
            regions: page
                .layout
                .as_ref()
                .zip(quote)
                .map(|(layout, quote)| place(layout, quote))
                .unwrap_or_default(),
            text: rendered::render(&page.text, page.format, quote),
            count,
            previous: (number > 1).then(|| number - 1),
            next: (number < count).then_some(number + 1),
        }
    }
}

#[derive(Template)]
#[template(path = "file.html")]
struct FilePage {
    frame: Frame,
    here: Here,
    row: Row,
    file_tags: String,
    /// Metadata: the key and the value as text.
    entries: Vec<(String, String)>,
    /// Whether browsers can display the original.
    shown: bool,
    sheet: Option<Sheet>,
    language: String,
    indexed: Option<Moment>,
    passages: String,
    sha256: String,
    warnings: Vec<String>,
    /// Name, labels and metadata as they were before they were just changed.
    before: Option<Before>,
}

#[derive(Deserialize)]
pub(super) struct Spot {
    page: Option<u32>,
    start: Option<u32>,
    end: Option<u32>,
}

impl Spot {
    fn span(&self) -> Option<(u32, u32)> {
        self.start.zip(self.end)
    }
}

async fn read_page(
    app: &App,
    reading: &Reading,
    file: &FileRecord,
    number: u32,
) -> Result<Option<Page>, Fault> {
    let found = app.library.index.pages(reading, file.id, number.max(1), 1).await?.into_iter().next();
    Ok(found.filter(|page| page.number == number))
}

/// A page of it: the picture beside the text.
pub(super) async fn show(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Reading>,
    Query(spot): Query<Spot>,
) -> Shown {
    let words = at.who.0.words;
    let number = spot.page.unwrap_or(1).clamp(1, file.extent.pages.max(1));
    let page = read_page(&app, &at.right, &file, number).await?;
    page::show(&FilePage {
        frame: Frame::new(
            &app,
            &at.who.0,
            format!("{} · {}", file.name.as_str(), at.here.name),
            Place::Boxes,
        ),
        row: Row::of(words, &file),
        file_tags: file.tags.join(", "),
        entries: file.metadata.iter().map(|(key, value)| (key.clone(), as_text(value))).collect(),
        before: match at.who.0.brought.take(|said| matches!(said, Said::FileChanged(_))) {
            Some(Said::FileChanged(before)) => Some(before),
            _ => None,
        },
        shown: view_of(&file) != View::Nothing,
        sheet: page.map(|page| Sheet::of(words, &at.here, &file, &page, spot.span())),
        language: file.language.clone().unwrap_or_default(),
        indexed: file.indexed_at.map(Moment::of),
        passages: words.count("frame-count-passages", file.extent.chunks.into()),
        sha256: file.sha256.clone(),
        warnings: file.warnings.clone(),
        here: at.here,
    })
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage {
    frame: Frame,
    here: Here,
    row: Row,
    pages: Vec<PageNotes>,
    /// All pages counted, one sentence for each thing there is to say.
    summary: Vec<String>,
    next: Option<u32>,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct From {
    from: Option<u32>,
}

/// How a whole file was read, in a few sentences.
fn summary(words: Words, read: HowRead) -> Vec<String> {
    let HowRead { pages, blank, unread, recognised, warned } = read;
    let all = words.text("files-read-of").with("read", words.number((pages - unread).into()));
    let all = all.with("total", words.count("frame-count-pages", pages.into())).plain();
    let more = [
        ("files-read-recognised", recognised),
        ("files-read-blank", blank - unread),
        ("files-read-warned", warned),
    ];
    let more = more.into_iter().filter(|(_, count)| *count > 0);
    std::iter::once(all).chain(more.map(|(text, count)| words.count(text, count.into()))).collect()
}

/// How each page was read.
pub(super) async fn report(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Reading>,
    Query(query): Query<From>,
) -> Shown {
    let words = at.who.0.words;
    let from = query.from.unwrap_or(1).max(1);
    let pages = app.library.index.pages(&at.right, file.id, from, REPORTED).await?;
    let next = pages.last().map(|last| last.number + 1).filter(|&next| next <= file.extent.pages);
    page::show(&ReportPage {
        frame: Frame::in_box(&app, &at.who.0, "files-report", file.name.as_str()),
        row: Row::of(words, &file),
        pages: pages.iter().map(|page| PageNotes::of(words, page)).collect(),
        summary: summary(words, app.library.index.how_read(&at.right, file.id).await?),
        next,
        warnings: file.warnings.clone(),
        here: at.here,
    })
}

#[derive(Template)]
#[template(path = "page_text.html")]
struct PageText {
    sheet: Sheet,
    start: Option<u32>,
    end: Option<u32>,
}

/// The page that a path names.
pub(super) struct InPath(String);

impl FromRequestParts<App> for InPath {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let segments = Path::<Vec<(String, String)>>::from_request_parts(parts, app).await;
        let segments = segments.map(|Path(segments)| segments).unwrap_or_default();
        let number = segments.into_iter().find(|(name, _)| name == "number");
        Ok(InPath(number.map(|(_, text)| text).unwrap_or_default()))
    }
}

/// One page, for the panel beside hits and answers.
pub(super) async fn one_page(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Reading>,
    InPath(number): InPath,
    Query(spot): Query<Spot>,
) -> Shown {
    let words = at.who.0.words;
    let number = number.parse().unwrap_or(0);
    let page = read_page(&app, &at.right, &file, number).await?.ok_or_else(no_such_file)?;
    let sheet = Sheet::of(words, &at.here, &file, &page, spot.span());
    page::show(&PageText { sheet, start: spot.start, end: spot.end })
}

#[derive(Deserialize)]
pub(super) struct Width {
    width: Option<String>,
}

/// One page as it looks, as the API draws it.
pub(super) async fn picture(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Reading>,
    InPath(number): InPath,
    Query(query): Query<Width>,
    headers: HeaderMap,
) -> Shown {
    let wanted = (number.as_str(), query.width.as_deref());
    Ok(pictures::picture(&app, at.who.user().id, &file, wanted, &headers).await?)
}

/// The original, to be looked at: without any rights, whatever it holds.
pub(super) async fn original(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Reading>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let view = view_of(&file);
    let mut response = links::send(&app, &file, &headers, at.audience(&app).seated()?).await?;
    let headers = response.headers_mut();
    let (kind, policy) = match view {
        // The browser's reader draws it, and no page of ours; a sandbox would keep even that from working.
        View::Pdf => (
            Some("application/pdf"),
            "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'",
        ),
        View::Frame if !file.media_type.starts_with("text/html") => {
            (Some("text/plain; charset=utf-8"), "sandbox; default-src 'none'; frame-ancestors 'self'")
        }
        View::Frame | View::Picture => (
            None,
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
        ),
        View::Nothing => (Some("application/octet-stream"), "sandbox; default-src 'none'"),
    };
    if let Some(kind) = kind {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    } else {
        links::describe(headers, &file, view != View::Nothing);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert("x-frame-options", HeaderValue::from_static("SAMEORIGIN"));
    let disposition = if view == View::Nothing { "attachment" } else { "inline" };
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
    Ok(response)
}

/// The original, to be kept.
pub(super) async fn download(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Reading>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let mut response = links::send(&app, &file, &headers, at.audience(&app).seated()?).await?;
    links::describe(response.headers_mut(), &file, false);
    audit::note(&app, &at.who.0, Action::FileDownloaded, Some(at.here.id), file.name.as_str()).await?;
    Ok(response)
}

fn address(here: &Here, file: &FileRecord) -> String {
    format!("/boxes/{}/files/{}", here.id, file.id)
}

/// A value as people type it: texts as they are, everything else as JSON.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// What is typed, as a value: numbers, truths, lists and objects as JSON has them, everything else as a text.
fn as_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_))) => value,
        _ => Value::String(text.to_string()),
    }
}

/// What the form changes of the metadata: entries that are no longer there are taken away.
fn changed_entries(before: &Metadata, fields: &Fields) -> Metadata {
    let mut changes: Metadata = before.keys().map(|key| (key.clone(), Value::Null)).collect();
    for (key, text) in fields.all("key").zip(fields.all("value")) {
        let (key, text) = (key.trim(), text.trim());
        if key.is_empty() {
            continue;
        }
        // What was not touched stays what it was, also a text that looks like a number.
        let same = before.get(key).filter(|value| as_text(value) == text);
        changes.insert(key.to_string(), same.cloned().unwrap_or_else(|| as_value(text)));
    }
    changes
}

/// The metadata as it was before a change, whose notice carries the values as JSON.
fn restored_entries(now: &Metadata, fields: &Fields) -> Metadata {
    let mut changes: Metadata = now.keys().map(|key| (key.clone(), Value::Null)).collect();
    let before = fields.all("key").zip(fields.all("value"));
    changes
        .extend(before.filter_map(|(key, value)| Some((key.to_string(), serde_json::from_str(value).ok()?))));
    changes
}

/// Another name, other labels, other metadata.
pub(super) async fn change(
    State(app): State<App>,
    AtFile { at, file }: AtFile<Writing>,
    fields: Fields,
) -> Shown {
    let before = Said::FileChanged(Before {
        name: file.name.as_str().to_string(),
        tags: file.tags.join(", "),
        entries: file.metadata.iter().map(|(key, value)| (key.clone(), value.to_string())).collect(),
    });
    let undone = fields.ticked("undone");
    let changes = FileChanges {
        name: Some(labels::parse_name(fields.text("name"))?),
        tags: Some(labels::parse_tags(fields.text("tags"))?),
        metadata: fields.has("key").then(|| match undone {
            true => restored_entries(&file.metadata, &fields),
            false => changed_entries(&file.metadata, &fields),
        }),
        ..FileChanges::default()
    };
    app.catalog.change_file(&at.right, file.id, changes).await?.ok_or_else(no_such_file)?;
    audit::note(&app, &at.who.0, Action::FileChanged, Some(at.here.id), file.name.as_str()).await?;
    if undone || !said::is_short(&before) {
        let done = if undone { "undone" } else { "file-changed" };
        return Ok(page::go(format!("{}?done={done}", address(&at.here, &file))));
    }
    Ok(at.who.0.say(&before, page::go(address(&at.here, &file))))
}

/// Reads it again.
pub(super) async fn read_again(State(app): State<App>, AtFile { at, file }: AtFile<Writing>) -> Shown {
    files::read_again(&app, &at.right, &file).await?;
    audit::note(&app, &at.who.0, Action::FileReadAgain, Some(at.here.id), file.name.as_str()).await?;
    Ok(page::go(format!("{}?done=read-again", address(&at.here, &file))))
}

/// Deletes it permanently; the list then says what went.
pub(super) async fn delete(State(app): State<App>, AtFile { at, file }: AtFile<Writing>) -> Shown {
    let receipt = app.library.delete(&at.right, file.id).await?.ok_or_else(no_such_file)?;
    audit::note(&app, &at.who.0, Action::FileDeleted, Some(at.here.id), file.name.as_str()).await?;
    let said = Said::deleted(vec![files::receipt_of(at.who.0.words, receipt)]);
    Ok(at.who.0.say(&said, page::go(format!("/boxes/{}", at.here.id))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_metadata_is_taken_back_exactly() {
        use serde_json::json;
        let now: Metadata = [("a".to_string(), json!(42)), ("new".to_string(), json!("x"))].into();
        let sent =
            [("key", ""), ("value", ""), ("key", "a"), ("value", "\"42\""), ("key", "b"), ("value", "[1]")];
        let fields = Fields::of(sent.map(|(name, value)| (name.to_string(), value.to_string())).into());
        let expected: Metadata = [("a", json!("42")), ("b", json!([1])), ("new", json!(null))]
            .map(|(key, value)| (key.to_string(), value))
            .into();
        assert_eq!(restored_entries(&now, &fields), expected);
    }

    #[test]
    fn metadata_that_is_not_touched_stays_what_it_was() {
        use serde_json::json;
        let before: Metadata =
            [("a".to_string(), json!("42")), ("b".to_string(), json!(7)), ("c".to_string(), json!(["x"]))]
                .into();
        let typed = [
            ("key", "a"),
            ("value", "42"),
            ("key", "b"),
            ("value", "8"),
            ("key", "d"),
            ("value", "true"),
            ("key", ""),
            ("value", "x"),
        ];
        let fields =
            Fields::of(typed.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect());
        let expected: Metadata =
            [("a", json!("42")), ("b", json!(8)), ("c", json!(null)), ("d", json!(true))]
                .map(|(key, value)| (key.to_string(), value))
                .into();
        assert_eq!(changed_entries(&before, &fields), expected);
    }
}
