//! Conversations that somebody has had with a box: kept as they go, listed beside the newest, renamed, shown to the others in the box, and
//! deleted.

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    access::Reading,
    ids::{ConversationId, ConversationKind, FileId},
    seams::catalog::{ConversationRecord, NewTurn, Turn},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{Here, InBox, Named},
    show::Moment,
};
use crate::{
    app::App,
    http::{body::JsonBody, error::Failure},
};

/// Characters of a question, as everywhere.
const LONGEST_QUESTION: usize = 4_000;
/// Characters of an answer, and bytes of what it cites: more than the longest answer has.
const LONGEST_ANSWER: usize = 200_000;
/// Sources of one answer.
const MOST_SOURCES: usize = 100;

/// A conversation as the list shows it.
pub(super) struct Line {
    pub(super) id: ConversationId,
    pub(super) title: String,
    pub(super) changed: Moment,
    /// Whether it is shared, and whether all of it is.
    pub(super) shared: bool,
    pub(super) wholly: bool,
}

impl Line {
    pub(super) fn of(record: ConversationRecord) -> Self {
        Line {
            id: record.id,
            title: record.title,
            changed: Moment::of(record.changed_at),
            shared: record.shared.is_some(),
            wholly: record.shared == Some(record.turns),
        }
    }
}

/// Whether conversations are kept.
pub(super) fn are_kept(app: &App) -> bool {
    app.config.accounts.conversation_days > 0
}

/// Those that the visitor has had with the box, latest first.
pub(super) async fn of_visitor(app: &App, at: &InBox<Reading>) -> Result<Vec<ConversationRecord>, Fault> {
    if !are_kept(app) {
        return Ok(Vec::new());
    }
    let mut all = app.catalog.conversations(&at.right, at.who.user().id).await?;
    all.retain(|one| is_kept(app, one));
    Ok(all)
}

/// Whether a conversation is still kept: one in which nothing was said for long is as good as forgotten.
pub(super) fn is_kept(app: &App, record: &ConversationRecord) -> bool {
    are_kept(app) && record.changed_at >= app.config.accounts.oldest_conversation(Timestamp::now())
}

/// What an answer cites. The browser says so, and others may be shown it: nothing but this is kept.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cited {
    index: u32,
    file_id: FileId,
    file_name: String,
    page: u32,
    start: u32,
    end: u32,
    quote: String,
}

/// What was said, as the page's script reads it.
pub(super) fn said(turns: &[Turn]) -> String {
    let said = turns.iter().flat_map(|turn| {
        let citations: Vec<Cited> = serde_json::from_str(&turn.citations).unwrap_or_default();
        let answer = match &turn.answer {
            Some(answer) => json!({"role": "assistant", "content": answer, "citations": citations}),
            None => json!({"role": "assistant", "content": "", "gone": true}),
        };
        [json!({"role": "user", "content": turn.question}), answer]
    });
    Value::Array(said.collect()).to_string()
}

/// A question with its answer, as the page's script sends it.
#[derive(Deserialize)]
pub(super) struct Kept {
    conversation: Option<String>,
    question: String,
    answer: String,
    citations: Vec<Cited>,
}

impl Kept {
    fn turn(&self) -> Result<NewTurn, Fault> {
        let citations = serde_json::to_string(&self.citations).map_err(Fault::internal)?;
        let too_long = self.question.chars().count() > LONGEST_QUESTION
            || self.answer.chars().count() > LONGEST_ANSWER
            || self.citations.len() > MOST_SOURCES
            || citations.len() > LONGEST_ANSWER;
        if too_long || self.question.trim().is_empty() {
            return Err(Fault::invalid("answer", "this is too long to keep"));
        }
        let mut files: Vec<FileId> = self.citations.iter().map(|cited| cited.file_id).collect();
        files.sort();
        files.dedup();
        Ok(NewTurn {
            question: self.question.clone(),
            answer: self.answer.clone(),
            citations,
            files,
            at: Timestamp::now(),
        })
    }
}

/// Keeps a question and its answer. They are the visitor's own, and whoever else is shown them is told whose they are, so it does not
/// matter that the browser says what was answered.
pub(super) async fn keep(
    State(app): State<App>,
    at: InBox<Reading>,
    body: JsonBody<Kept>,
) -> Result<Response, Failure> {
    if !are_kept(&app) {
        return Err(Fault::new(Reason::NotFound, "this server does not keep conversations").into());
    }
    let turn = body.value.turn()?;
    let into = match &body.value.conversation {
        Some(id) => Some(id.parse::<ConversationId>().map_err(|_| no_such_conversation())?),
        None => None,
    };
    let found = app.catalog.files(&at.right, &turn.files).await?;
    if found.len() != turn.files.len() || found.iter().any(Option::is_none) {
        return Err(Fault::new(Reason::NotFound, "a file that the answer cites has been deleted").into());
    }
    let record = app.catalog.add_turn(&at.right, at.who.user().id, into, turn).await?;
    let record = record.ok_or_else(no_such_conversation)?;
    Ok(axum::Json(json!({"id": record.id, "title": record.title})).into_response())
}

/// Calls one something else.
pub(super) async fn rename(
    State(app): State<App>,
    at: InBox<Reading>,
    Named(id): Named<ConversationKind>,
    fields: Fields,
) -> Shown {
    let title = fields.text("title");
    if title.is_empty() {
        return Err(Fault::invalid("title", "type a title for the conversation").into());
    }
    let renamed = app.catalog.rename_conversation(&at.right, at.who.user().id, id, title.to_string()).await?;
    must_be_there(renamed)?;
    Ok(page::go(format!("/boxes/{}/chat/{id}", at.here.id)))
}

/// Lets everybody in the box read what was said so far.
pub(super) async fn share(
    State(app): State<App>,
    at: InBox<Reading>,
    Named(id): Named<ConversationKind>,
) -> Shown {
    set_shared(&app, &at, id, true).await
}

/// Lets nobody else read it any more.
pub(super) async fn unshare(
    State(app): State<App>,
    at: InBox<Reading>,
    Named(id): Named<ConversationKind>,
) -> Shown {
    set_shared(&app, &at, id, false).await
}

async fn set_shared(app: &App, at: &InBox<Reading>, id: ConversationId, shared: bool) -> Shown {
    must_be_there(app.catalog.share_conversation(&at.right, at.who.user().id, id, shared).await?)?;
    let done = if shared { "shared" } else { "unshared" };
    Ok(page::go(format!("/boxes/{}/chat/{id}?done={done}", at.here.id)))
}

#[derive(Template)]
#[template(path = "shared.html")]
struct SharedPage {
    frame: Frame,
    here: Here,
    title: String,
    by: String,
    changed: Moment,
    /// What was said, as JSON.
    said: String,
    /// Whether it is the visitor's own.
    own: Option<ConversationId>,
}

/// One that somebody in the box has shared, to read.
pub(super) async fn shared(
    State(app): State<App>,
    at: InBox<Reading>,
    Named(id): Named<ConversationKind>,
) -> Shown {
    let found = app.catalog.shared_conversation(&at.right, id).await?;
    let found = found.filter(|found| is_kept(&app, &found.record)).ok_or_else(no_such_conversation)?;
    page::show(&SharedPage {
        frame: Frame::new(
            &app,
            &at.who.0,
            format!("{} · {}", found.record.title, at.here.name),
            Place::Boxes,
        ),
        own: (found.by == at.who.user().email).then_some(id),
        by: found.by.to_string(),
        changed: Moment::of(found.record.changed_at),
        said: said(&found.turns),
        title: found.record.title,
        here: at.here,
    })
}

/// Deletes one.
pub(super) async fn delete(
    State(app): State<App>,
    at: InBox<Reading>,
    Named(id): Named<ConversationKind>,
) -> Shown {
    must_be_there(app.catalog.delete_conversation(&at.right, at.who.user().id, id).await?)?;
    Ok(page::go(format!("/boxes/{}/chat?done=conversation-deleted", at.here.id)))
}

fn must_be_there(found: bool) -> Result<(), Fault> {
    if found { Ok(()) } else { Err(no_such_conversation()) }
}

pub(super) fn no_such_conversation() -> Fault {
    Fault::new(Reason::NotFound, "there is no such conversation; it may have been deleted or have expired")
}
