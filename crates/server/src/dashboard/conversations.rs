//! Conversations that somebody has had with a box: kept as they go, listed beside the newest, renamed and deleted.

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
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    fields::Fields,
    page::{self, Shown},
    permit::{InBox, Named},
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
}

impl Line {
    pub(super) fn of(record: ConversationRecord) -> Self {
        Line { id: record.id, title: record.title, changed: Moment::of(record.changed_at) }
    }
}

/// Whether conversations are kept.
pub(super) fn are_kept(app: &App) -> bool {
    app.config.accounts.conversation_days > 0
}

/// Conversations in which nothing was said since then are as good as forgotten.
pub(super) fn oldest_kept(app: &App) -> Timestamp {
    app.config.accounts.oldest_conversation(Timestamp::now())
}

/// Those that the visitor has had with the box, latest first.
pub(super) async fn of_visitor(app: &App, at: &InBox<Reading>) -> Result<Vec<ConversationRecord>, Fault> {
    if !are_kept(app) {
        return Ok(Vec::new());
    }
    let oldest = oldest_kept(app);
    let mut all = app.catalog.conversations(&at.right, at.who.user().id).await?;
    all.retain(|one| one.changed_at >= oldest);
    Ok(all)
}

/// What was said, as the page's script reads it.
pub(super) fn said(turns: &[Turn]) -> String {
    let said = turns.iter().flat_map(|turn| {
        let citations: Value = serde_json::from_str(&turn.citations).unwrap_or_else(|_| json!([]));
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
    citations: Vec<Value>,
}

impl Kept {
    fn turn(&self) -> Result<NewTurn, Fault> {
        let citations = Value::Array(self.citations.clone()).to_string();
        let too_long = self.question.chars().count() > LONGEST_QUESTION
            || self.answer.chars().count() > LONGEST_ANSWER
            || self.citations.len() > MOST_SOURCES
            || citations.len() > LONGEST_ANSWER;
        if too_long || self.question.trim().is_empty() {
            return Err(Fault::invalid("answer", "this is too long to keep"));
        }
        let file = |citation: &Value| citation["fileId"].as_str()?.parse::<FileId>().ok();
        let files: Option<Vec<FileId>> = self.citations.iter().map(file).collect();
        let mut files = files.ok_or_else(|| Fault::invalid("citations", "a citation names no file"))?;
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

/// Keeps a question and its answer. They are the visitor's own and shown to nobody else, so it does not matter that the
/// browser says what was answered.
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
