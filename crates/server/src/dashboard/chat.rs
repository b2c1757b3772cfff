//! Asking a box: answers come as they are made, with quotes that lead to their pages.

use askama::Template;
use axum::{extract::State, response::Response};
use engine::access::Reading;

use super::{
    page::{self, Frame, Place, Shown},
    permit::{Here, InBox},
};
use crate::{
    app::App,
    http::{
        body::JsonBody,
        error::Failure,
        origin::Origin,
        request_id::RequestId,
        routes::chat::{ChatBody, Head, reply},
    },
    payer::Payer,
};

#[derive(Template)]
#[template(path = "chat.html")]
struct ChatPage {
    frame: Frame,
    here: Here,
}

/// The conversation, empty.
pub(super) async fn show(State(app): State<App>, at: InBox<Reading>) -> Shown {
    let frame = Frame::new(&app, &at.who.0, format!("Chat · {}", at.here.name), Place::Boxes);
    page::show(&ChatPage { frame, here: at.here })
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
