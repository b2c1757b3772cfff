//! The files of a box: the list, actions on several at once, and their live status.

use std::convert::Infallible;

use askama::Template;
use axum::{
    extract::{Query, State},
    response::{
        IntoResponse,
        sse::{Event, Sse},
    },
};
use engine::{
    Fault,
    access::{Reading, Writing},
    ids::FileId,
    seams::catalog::{Action, FileChanges, FileCursor, FilePage, FileQuery, FileRecord, FileStatus, SortKey},
};
use futures::{Stream, stream};
use serde::Deserialize;
use serde_json::json;

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Shown},
    permit::{Here, InBox},
    said::{self, Said},
    show::{self, Moment},
    visit::Visit,
};
use crate::{
    app::App,
    http::{audience::Audience, error::Failure, reply, routes::labels, token},
    library::{Receipt, next_change},
    words::Words,
};

/// Files on a page: enough to work with, little enough to be there at once.
const PAGE: u32 = 50;
/// Files that are looked up at once where all of a list are meant.
const MANY: u32 = 500;

/// A file as a list shows it.
pub(super) struct Row {
    pub(super) id: FileId,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) size: String,
    pub(super) pages: String,
    pub(super) status: &'static str,
    pub(super) words: String,
    /// Why it could not be read, or what should be known.
    pub(super) reason: String,
    pub(super) tags: Vec<String>,
    /// The folder that it was uploaded from, where it came with one.
    pub(super) folder: String,
    pub(super) added: Moment,
    /// Pages read, of how many.
    pub(super) progress: Option<(u32, u32)>,
}

impl Row {
    pub(super) fn of(said: Words, file: &FileRecord) -> Self {
        let progress = match (file.status, file.progress.total) {
            (FileStatus::Processing, Some(total)) if total > 0 => Some((file.progress.done, total)),
            _ => None,
        };
        Row {
            id: file.id,
            name: file.name.as_str().to_string(),
            kind: show::kind(said, &file.media_type, file.name.as_str()),
            size: show::size(said, file.size),
            pages: if file.extent.pages == 0 { "–".into() } else { said.number(file.extent.pages.into()) },
            status: file.status.as_str(),
            words: said.plain(words(file.status)),
            reason: reason(said, file),
            tags: file.tags.clone(),
            folder: folder(file),
            added: Moment::of(file.created_at),
            progress,
        }
    }
}

/// The folder part of the path that an upload keeps.
fn folder(file: &FileRecord) -> String {
    let path = file.metadata.get("path").and_then(|path| path.as_str()).unwrap_or_default();
    path.rsplit_once('/').map_or("", |(folder, _)| folder).to_string()
}

/// The text that says how a file is.
fn words(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Queued => "files-status-queued",
        FileStatus::Processing => "files-status-processing",
        FileStatus::Ready => "files-status-ready",
        FileStatus::ReadyWithWarnings => "files-status-warnings",
        FileStatus::Failed => "files-status-failed",
        FileStatus::Deleting => "files-status-deleting",
    }
}

fn reason(said: Words, file: &FileRecord) -> String {
    match file.status {
        FileStatus::Failed => file.error.clone().unwrap_or_else(|| said.plain("files-not-processed")),
        FileStatus::ReadyWithWarnings => file.warnings.join("; "),
        _ => String::new(),
    }
}

/// What the list is asked for.
#[derive(Deserialize, Default)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    after: String,
}

impl Wanted {
    fn order(&self) -> (SortKey, bool) {
        let (descending, field) =
            self.sort.strip_prefix('-').map_or((false, &self.sort[..]), |field| (true, field));
        match field {
            "name" => (SortKey::Name, descending),
            "size" => (SortKey::Size, descending),
            "pages" => (SortKey::Pages, descending),
            "added" => (SortKey::CreatedAt, descending),
            _ => (SortKey::CreatedAt, true),
        }
    }

    fn query(&self) -> FileQuery {
        let (sort, descending) = self.order();
        let statuses = match self.status.as_str() {
            "ready" => vec![FileStatus::Ready, FileStatus::ReadyWithWarnings],
            "under-way" => vec![FileStatus::Queued, FileStatus::Processing],
            other => other.parse().into_iter().collect(),
        };
        let after: Option<FileCursor> =
            token::decode(&self.after).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        FileQuery {
            name_part: Some(self.q.trim().to_string()).filter(|part| !part.is_empty()),
            statuses,
            tags: Some(self.tag.trim().to_string()).filter(|tag| !tag.is_empty()).into_iter().collect(),
            sort,
            descending,
            after,
            limit: PAGE,
        }
    }

    /// The address of the same list with another order or place.
    fn address(&self, here: &Here, sort: &str, after: Option<&FileCursor>) -> String {
        let after = after.map(|after| token::encode(&serde_json::to_vec(after).unwrap_or_default()));
        listed(here, &self.parameters(sort, &after.unwrap_or_default()))
    }

    fn parameters(&self, sort: &str, after: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("q", &self.q[..]),
            ("status", &self.status),
            ("tag", &self.tag),
            ("sort", sort),
            ("after", after),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}

/// The address of a list with these parameters.
fn listed(here: &Here, parameters: &str) -> String {
    format!("/boxes/{}{}{parameters}", here.id, if parameters.is_empty() { "" } else { "?" })
}

/// A column that the list can be sorted by.
struct Column {
    /// The text above it.
    title: &'static str,
    address: String,
    /// ascending, descending or none, as screen readers want it.
    order: &'static str,
    class: &'static str,
}

#[derive(Template)]
#[template(path = "files.html")]
struct FilesPage {
    frame: Frame,
    here: Here,
    rows: Vec<Row>,
    wanted: Wanted,
    columns: Vec<Column>,
    total: String,
    /// Whether the box has no file at all.
    empty: bool,
    filtered: bool,
    first: Option<String>,
    next: Option<String>,
    /// The most that a file may have, in words and in bytes.
    largest: String,
    largest_bytes: u64,
    /// Whether addresses can be fetched from.
    fetches: bool,
    /// What was just done to several files.
    done: String,
    receipts: Vec<said::Receipt>,
    /// How many were deleted beside those.
    further: usize,
    /// Labels that can be taken off again.
    undo: Vec<(FileId, String)>,
    /// How many files there are, of which the page shows a part; 0 where it shows all.
    everything: u64,
    /// The list's own query, so that what is done to files leads back to it.
    back: String,
}

/// What was removed with a file.
pub(super) fn receipt_of(words: Words, receipt: Receipt) -> said::Receipt {
    let removed = receipt.removed;
    let original = match receipt.originals {
        0 => "files-original-kept",
        _ => "files-original-gone",
    };
    said::Receipt {
        words: words
            .text(original)
            .with("pages", words.count("frame-count-pages", removed.pages))
            .with("passages", words.count("frame-count-passages", removed.chunks))
            .with("vectors", words.count("frame-count-vectors", removed.vectors))
            .plain(),
        name: receipt.file.name.as_str().to_string(),
        sha256: receipt.file.sha256,
    }
}

fn columns(wanted: &Wanted, here: &Here) -> Vec<Column> {
    let (now, descending) = wanted.order();
    let known = [
        ("files-column-name", "name", SortKey::Name, ""),
        ("files-column-pages", "pages", SortKey::Pages, "number wide"),
        ("files-column-size", "size", SortKey::Size, "number wide"),
        ("files-column-added", "added", SortKey::CreatedAt, "wide"),
    ];
    let column = |(title, field, key, class): (&'static str, &str, SortKey, &'static str)| {
        let current = key == now;
        let sort = if current && !descending { format!("-{field}") } else { field.to_string() };
        let order = match (current, descending) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        Column { title, address: wanted.address(here, &sort, None), order, class }
    };
    known.map(column).into()
}

/// The list.
pub(super) async fn list(State(app): State<App>, at: InBox<Reading>, Query(wanted): Query<Wanted>) -> Shown {
    let found = app.catalog.list_files(&[at.right], wanted.query()).await?;
    page::show(&files_page(&app, at.who.0.as_ref(), at.here, wanted, found))
}

fn files_page(app: &App, visit: &Visit, here: Here, wanted: Wanted, found: FilePage) -> FilesPage {
    let filtered = !(wanted.q.is_empty() && wanted.status.is_empty() && wanted.tag.is_empty());
    let Done { words: done, receipts, further, undo } = just_done(visit);
    let parted = found.next.is_some() || !wanted.after.is_empty();
    FilesPage {
        frame: Frame::in_box(app, visit, "frame-files", &here.name),
        fetches: app.fetch.is_some(),
        done,
        receipts,
        further,
        undo,
        everything: if parted { found.total } else { 0 },
        back: wanted.parameters(&wanted.sort, &wanted.after),
        rows: found.files.iter().map(|file| Row::of(visit.words, file)).collect(),
        columns: columns(&wanted, &here),
        total: visit.words.count("frame-count-files", found.total),
        empty: found.total == 0 && !filtered,
        filtered,
        first: (!wanted.after.is_empty()).then(|| wanted.address(&here, &wanted.sort, None)),
        next: found.next.as_ref().map(|after| wanted.address(&here, &wanted.sort, Some(after))),
        largest: visit
            .words
            .text("frame-size-mb")
            .with("size", app.config.limits.file_mb.to_string())
            .plain(),
        largest_bytes: app.config.limits.file_mb.saturating_mul(1024 * 1024),
        wanted,
        here,
    }
}

/// What the visitor has just done to files.
#[derive(Default)]
struct Done {
    words: String,
    receipts: Vec<said::Receipt>,
    /// How many more were deleted than are listed.
    further: usize,
    undo: Vec<(FileId, String)>,
}

fn just_done(visit: &Visit) -> Done {
    let about_files =
        |said: &Said| matches!(said, Said::Labelled { .. } | Said::ReadAgain(_) | Said::Deleted { .. });
    let say = |key, count: usize| visit.words.count(key, count as u64);
    match visit.brought.take(about_files) {
        Some(Said::Labelled { count, undo }) => {
            Done { words: say("files-labelled", count), undo, ..Done::default() }
        }
        Some(Said::ReadAgain(count)) => Done { words: say("files-reprocessed", count), ..Done::default() },
        Some(Said::Deleted { count, receipts }) => {
            let further = count.saturating_sub(receipts.len());
            Done { words: say("files-deleted", count), receipts, further, ..Done::default() }
        }
        _ => Done::default(),
    }
}

/// Does something to all selected files, and goes back to the list that they were selected in.
pub(super) async fn selected(State(app): State<App>, at: InBox<Writing>, fields: Fields) -> Shown {
    // Parsed and written again: what is not of the list's own does not come back.
    let back: Wanted = wanted_in(fields.text("back"));
    let ids: Vec<FileId> = match fields.ticked("everything") {
        true => everything(&app, at.right.reading(), &back).await?,
        false => fields.all("file").filter_map(|id| id.parse().ok()).collect(),
    };
    if ids.is_empty() {
        return Err(Fault::invalid("file", "no file is selected").into());
    }
    let visit = &at.who.0;
    let (mut receipts, mut undo, mut count) = (Vec::new(), Vec::new(), 0);
    let tags = labels::parse_tags(fields.text("tags"))?;
    let action = fields.text("action");
    if action == "tag" && tags.is_empty() {
        return Err(Fault::invalid("tags", "type the labels to add").into());
    }
    for id in ids {
        let Some(file) = app.catalog.files(at.right.reading(), &[id]).await?.pop().flatten() else {
            continue;
        };
        let name = file.name.as_str().to_string();
        count += 1;
        match action {
            "delete" => {
                if let Some(receipt) = app.library.delete(&at.right, id).await? {
                    audit::note(&app, visit, Action::FileDeleted, Some(at.here.id), name).await?;
                    receipts.push(receipt_of(visit.words, receipt));
                }
            }
            "read-again" => {
                read_again(&app, &at.right, &file).await?;
                audit::note(&app, visit, Action::FileReadAgain, Some(at.here.id), name).await?;
            }
            "tag" => {
                let added: Vec<&str> =
                    tags.iter().filter(|tag| !file.tags.contains(tag)).map(String::as_str).collect();
                if !added.is_empty() {
                    undo.push((id, added.join(",")));
                }
                let all: Vec<String> = file.tags.iter().chain(&tags).cloned().collect();
                let changes = FileChanges { tags: Some(all), ..FileChanges::default() };
                app.catalog.change_file(&at.right, id, changes).await?;
                audit::note(&app, visit, Action::FileChanged, Some(at.here.id), name).await?;
            }
            other => {
                return Err(Fault::invalid("action", format!("`{other}` is not an action for files")).into());
            }
        }
    }
    let said = match action {
        "delete" => Said::deleted(receipts),
        "tag" => Said::labelled(count, undo),
        _ => Said::ReadAgain(count),
    };
    Ok(visit.say(&said, page::go(listed(&at.here, &back.parameters(&back.sort, &back.after)))))
}

/// All files of the list, on whatever page of it.
async fn everything(app: &App, reading: &Reading, wanted: &Wanted) -> Result<Vec<FileId>, Fault> {
    let mut query = FileQuery { after: None, limit: MANY, ..wanted.query() };
    let mut ids = Vec::new();
    loop {
        let found = app.catalog.list_files(&[*reading], query.clone()).await?;
        ids.extend(found.files.iter().map(|file| file.id));
        let Some(next) = found.next else { return Ok(ids) };
        query.after = Some(next);
    }
}

/// Takes labels off again that were just added.
pub(super) async fn undo_labels(State(app): State<App>, at: InBox<Writing>, fields: Fields) -> Shown {
    for (id, tags) in fields.all("file").zip(fields.all("tags")) {
        let Ok(id) = id.parse() else { continue };
        let Some(file) = app.catalog.files(at.right.reading(), &[id]).await?.pop().flatten() else {
            continue;
        };
        let added: Vec<&str> = tags.split(',').collect();
        let before = file.tags.iter().filter(|tag| !added.contains(&tag.as_str())).cloned().collect();
        let changes = FileChanges { tags: Some(before), ..FileChanges::default() };
        app.catalog.change_file(&at.right, id, changes).await?;
        audit::note(&app, &at.who.0, Action::FileChanged, Some(at.here.id), file.name.as_str()).await?;
    }
    let back: Wanted = wanted_in(fields.text("back"));
    let list = listed(&at.here, &back.parameters(&back.sort, &back.after));
    let mark = if list.contains('?') { '&' } else { '?' };
    Ok(page::go(format!("{list}{mark}done=undone")))
}

/// Puts all files of the box that could not be read into the queue again.
pub(super) async fn retry_failed(State(app): State<App>, at: InBox<Writing>) -> Shown {
    let failed = Wanted { status: "failed".into(), ..Wanted::default() };
    let ids = everything(&app, at.right.reading(), &failed).await?;
    let mut count = 0;
    for file in app.catalog.files(at.right.reading(), &ids).await?.iter().flatten() {
        read_again(&app, &at.right, file).await?;
        count += 1;
    }
    let what = format!("{} that had failed", Words::default().count("frame-count-files", count as u64));
    audit::note(&app, &at.who.0, Action::FileReadAgain, Some(at.here.id), what).await?;
    Ok(at.who.0.say(&Said::ReadAgain(count), page::go(listed(&at.here, ""))))
}

/// The parameters of a list as a form carries them.
fn wanted_in(text: &str) -> Wanted {
    let mut wanted = Wanted::default();
    for (name, value) in form_urlencoded::parse(text.as_bytes()).into_owned() {
        match name.as_str() {
            "q" => wanted.q = value,
            "status" => wanted.status = value,
            "tag" => wanted.tag = value,
            "sort" => wanted.sort = value,
            "after" => wanted.after = value,
            _ => {}
        }
    }
    wanted
}

/// Puts a file into the queue again.
pub(super) async fn read_again(app: &App, writing: &Writing, file: &FileRecord) -> Result<(), Fault> {
    if let Some(now) = app.catalog.read_again(writing, file.id).await? {
        app.library.tell(now);
    }
    app.library.wake.notify_waiters();
    Ok(())
}

/// Every change of a file of the box, as it happens.
pub(super) async fn events(State(app): State<App>, at: InBox<Reading>) -> Result<impl IntoResponse, Failure> {
    let audience = at.audience(&app).seated()?;
    let stream = changes(app, audience, at.who.0.words);
    Ok(Sse::new(stream).keep_alive(reply::pings()))
}

fn changes(app: App, audience: Audience, words: Words) -> impl Stream<Item = Result<Event, Infallible>> {
    let receiver = app.library.listen();
    stream::unfold((app, receiver, audience), move |(app, mut receiver, audience)| async move {
        let file = tokio::select! {
            file = next_change(&mut receiver, audience.box_id()) => file?,
            // The sign-in has ended since, or the role was taken away.
            _ = audience.ended() => return None,
            () = app.shutdown.cancelled() => return None,
        };
        audience.check().await.ok()?;
        let row = Row::of(words, &file);
        let event = json!({"id": row.id, "name": row.name, "kind": row.kind, "folder": row.folder, "size": row.size, "pages": row.pages,
            "status": row.status, "words": row.words, "reason": row.reason, "progress": row.progress});
        Some((Ok(Event::default().data(event.to_string())), (app, receiver, audience)))
    })
}
