//! Asking a box: answers come as they are made, with quotes that lead to their pages.

use askama::Template;
use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    access::Reading,
    ids::ConversationKind,
    seams::catalog::{ConversationRecord, Turn},
};

use super::{
    conversations::{self, Line},
    page::{self, Frame, Shown},
    permit::{Here, InBox, Named},
};
use crate::{
    app::App,
    http::{
        body::JsonBody,
        error::Failure,
        origin::Origin,
        request_id::RequestId,
        routes::{
            chat::{ChatBody, Head, reply},
            feedback::{self, FeedbackBody},
        },
    },
    payer::Payer,
};

#[derive(Template)]
#[template(path = "chat.html")]
struct ChatPage {
    frame: Frame,
    here: Here,
    /// Whether conversations are kept, and for how many days.
    kept: Option<u32>,
    /// Those that the visitor has had, latest first.
    past: Vec<Line>,
    /// Where this server is reached.
    address: Origin,
    /// The one that goes on.
    current: Option<Line>,
    /// What was said in it, as JSON.
    said: String,
    /// Whether answers are quotes because no language model is set up.
    quotes: bool,
    /// Whether answers can be rated.
    rated: bool,
    /// Whether there is nothing to ask about yet.
    empty: bool,
}

async fn render(
    app: &App,
    address: Origin,
    at: InBox<Reading>,
    current: Option<(ConversationRecord, Vec<Turn>)>,
) -> Shown {
    let past = conversations::of_visitor(app, &at).await?;
    let totals = app.catalog.totals(&[at.right]).await?;
    let said = current.as_ref().map_or_else(String::new, |(_, turns)| conversations::said(turns));
    page::show(&ChatPage {
        frame: Frame::in_box(app, &at.who.0, "frame-chat", &at.here.name),
        kept: conversations::are_kept(app).then_some(app.config.accounts.conversation_days),
        past: past.into_iter().map(Line::of).collect(),
        address,
        current: current.map(|(record, _)| Line::of(record)),
        said,
        quotes: app.chat().quotes(),
        rated: app.questions.are_kept(),
        empty: totals.iter().all(|totals| totals.pages == 0),
        here: at.here,
    })
}

/// A new conversation.
pub(super) async fn show(State(app): State<App>, address: Origin, at: InBox<Reading>) -> Shown {
    render(&app, address, at, None).await
}

/// An earlier one, to continue.
pub(super) async fn continued(
    State(app): State<App>,
    address: Origin,
    at: InBox<Reading>,
    Named(id): Named<ConversationKind>,
) -> Shown {
    let found = app.catalog.conversation(&at.right, at.who.user().id, id).await?;
    let found = found.filter(|(record, _)| conversations::is_kept(&app, record));
    render(&app, address, at, Some(found.ok_or_else(conversations::no_such_conversation)?)).await
}

/// Answers as the API does, and charges whoever is signed in.
pub(super) async fn ask(
    State(app): State<App>,
    at: InBox<Reading>,
    origin: Origin,
    id: RequestId,
    body: JsonBody<ChatBody>,
) -> Result<Response, Failure> {
    let payer = Payer::signed_in(&app, at.who.user().id);
    let head = Head::new(at.audience(&app), origin, id);
    Ok(Box::pin(reply(&app, vec![at.right], payer, head, body.value)).await?)
}

/// Notes what the visitor thinks of an answer from this box. It is not kept who thought so.
pub(super) async fn rate(
    State(app): State<App>,
    at: InBox<Reading>,
    body: JsonBody<FeedbackBody>,
) -> Result<Response, Failure> {
    let here = |box_id| (box_id == at.here.id).then_some(at.right);
    Ok(Json(feedback::note(&app, body.value, here).await?).into_response())
}
