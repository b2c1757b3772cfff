//! The audit log: writing it, showing it, handing it out.

use std::time::Instant;

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use engine::{
    Fault,
    access::Managing,
    ids::{BoxId, EntryId},
    seams::catalog::{Action, AuditPage, Entry, NewEntry, User},
};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    page::{self, Frame, Place, Shown},
    permit::{AsOperator, Here, InBox},
    show::Moment,
    visit::Visit,
};
use crate::{app::App, words::Words};

/// Lines on a page.
const PAGE: u32 = 100;
/// Lines read at a time for an export.
const BATCH: u32 = 1000;
/// Lines in an export: some 30 MB.
const MOST: usize = 200_000;
/// Writes what the visitor did.
pub(super) async fn note(
    app: &App,
    visit: &Visit,
    action: Action,
    box_id: Option<BoxId>,
    target: impl Into<String>,
) -> Result<(), Fault> {
    visit.by(app).note(action, box_id, target).await
}

/// Writes that somebody could not sign in, while there is room.
pub(super) async fn note_failure(app: &App, visit: &Visit, what: &str) -> Result<(), Fault> {
    let Some(left_out) = app.failures.take(Instant::now()) else { return Ok(()) };
    if left_out > 0 {
        let sum = format!("{left_out} more, too many to record");
        note(app, &Visit::nobody(), Action::SignInFailed, None, sum).await?;
    }
    note(app, visit, Action::SignInFailed, None, what).await
}

/// Writes what somebody did who is about to be signed in.
pub(super) async fn note_by(
    app: &App,
    visit: &Visit,
    user: &User,
    action: Action,
    target: &str,
) -> Result<(), Fault> {
    let entry = NewEntry {
        at: Timestamp::now(),
        user: Some(user.id),
        who: user.email.to_string(),
        address: visit.address.clone(),
        box_id: None,
        action,
        target: target.into(),
    };
    app.catalog.note(entry).await
}

/// The same, in a box.
pub(super) async fn note_in(
    app: &App,
    visit: &Visit,
    user: &User,
    action: Action,
    box_id: BoxId,
    target: String,
) -> Result<(), Fault> {
    let entry = NewEntry {
        at: Timestamp::now(),
        user: Some(user.id),
        who: user.email.to_string(),
        address: visit.address.clone(),
        box_id: Some(box_id),
        action,
        target,
    };
    app.catalog.note(entry).await
}

/// A line as pages show it.
struct Line {
    at: Moment,
    who: String,
    what: String,
    target: String,
    address: String,
}

impl Line {
    fn of(words: Words, entry: Entry) -> Self {
        let who = if entry.who.is_empty() { words.plain("boxes-somebody") } else { entry.who };
        Line {
            at: Moment::of(entry.at),
            who,
            what: words.action(entry.action),
            target: entry.target,
            address: entry.address,
        }
    }
}

#[derive(Template)]
#[template(path = "box_audit.html")]
struct BoxAudit {
    frame: Frame,
    here: Here,
    lines: Vec<Line>,
    older: Option<EntryId>,
}

#[derive(Template)]
#[template(path = "operator_audit.html")]
struct WholeAudit {
    frame: Frame,
    lines: Vec<Line>,
    older: Option<EntryId>,
}

#[derive(Deserialize)]
pub(super) struct Before {
    before: Option<String>,
    format: Option<String>,
}

impl Before {
    fn entry(&self) -> Option<EntryId> {
        self.before.as_deref().and_then(|text| text.parse().ok())
    }
}

fn lines(words: Words, page: AuditPage) -> (Vec<Line>, Option<EntryId>) {
    let older = page.entries.last().filter(|_| page.more).map(|last| last.id);
    (page.entries.into_iter().map(|entry| Line::of(words, entry)).collect(), older)
}

/// What was done in a box.
pub(super) async fn of_box(
    State(app): State<App>,
    at: InBox<Managing>,
    Query(query): Query<Before>,
) -> Shown {
    let found = app.catalog.audit_of_box(&at.right, query.entry(), PAGE).await?;
    let (lines, older) = lines(at.who.0.words, found);
    let frame = Frame::in_box(&app, &at.who.0, "frame-audit", &at.here.name);
    page::show(&BoxAudit { frame, here: at.here, lines, older })
}

/// What was done on the server.
pub(super) async fn of_all(State(app): State<App>, by: AsOperator, Query(query): Query<Before>) -> Shown {
    let found = app.catalog.audit_of_all(&by.operating, query.entry(), PAGE).await?;
    let (lines, older) = lines(by.who.0.words, found);
    let frame = Frame::new(&app, &by.who.0, by.who.0.words.text("frame-audit"), Place::Audit);
    page::show(&WholeAudit { frame, lines, older })
}

/// All lines that an export may hold, read part by part: `older` gives those before one.
async fn whole<P: Future<Output = Result<AuditPage, Fault>>>(
    older: impl Fn(Option<EntryId>) -> P,
) -> Result<Vec<Entry>, Fault> {
    let mut all: Vec<Entry> = Vec::new();
    loop {
        let page = older(all.last().map(|last| last.id)).await?;
        all.extend(page.entries);
        if !page.more || all.len() >= MOST {
            return Ok(all);
        }
    }
}

/// A box's log as a file.
pub(super) async fn export_of_box(
    State(app): State<App>,
    at: InBox<Managing>,
    Query(query): Query<Before>,
) -> Shown {
    let all = whole(|before| app.catalog.audit_of_box(&at.right, before, BATCH)).await?;
    note(&app, &at.who.0, Action::AuditExported, Some(at.here.id), "").await?;
    Ok(export(&all, query.format.as_deref())?)
}

/// The server's log as a file.
pub(super) async fn export_of_all(
    State(app): State<App>,
    by: AsOperator,
    Query(query): Query<Before>,
) -> Shown {
    let all = whole(|before| app.catalog.audit_of_all(&by.operating, before, BATCH)).await?;
    note(&app, &by.who.0, Action::AuditExported, None, "").await?;
    Ok(export(&all, query.format.as_deref())?)
}

fn export(entries: &[Entry], format: Option<&str>) -> Result<Response, Fault> {
    let (kind, name, text) = match format {
        Some("json") => (
            "application/json",
            "audit.json",
            serde_json::to_string_pretty(entries).map_err(Fault::internal)?,
        ),
        _ => ("text/csv; charset=utf-8", "audit.csv", csv(entries)),
    };
    let mut response = text.into_response();
    let disposition = format!("attachment; filename=\"{name}\"");
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let disposition = HeaderValue::try_from(disposition).map_err(Fault::internal)?;
    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

fn csv(entries: &[Entry]) -> String {
    let mut text = String::from("time,who,action,target,address,box\r\n");
    for entry in entries {
        let box_id = entry.box_id.map(|id| id.to_string()).unwrap_or_default();
        let cells = [
            entry.at.to_string(),
            cell(&entry.who),
            entry.action.as_str().into(),
            cell(&entry.target),
            cell(&entry.address),
            box_id,
        ];
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

/// Quoted, and kept from being taken for a formula: names of files are anybody's to choose.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_neither_a_formula_nor_two() {
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
        assert_eq!(cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
