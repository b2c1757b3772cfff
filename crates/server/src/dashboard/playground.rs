//! Account → Playground: requests to the API, filled in and sent from the page with a key that is typed there.

use askama::Template;
use axum::extract::{Query, State};
use engine::ids::BoxId;
use serde::Deserialize;

use super::{
    integrations,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
};
use crate::{
    app::App,
    http::BASE,
    reference::{TRIALS, Trial},
};

/// What is tried first.
const FIRST: &str = "retrieve_documents";

#[derive(Template)]
#[template(path = "playground.html")]
struct PlaygroundPage {
    frame: Frame,
    base: &'static str,
    /// The names of all requests, and what they do.
    requests: Vec<(&'static str, &'static str)>,
    /// The chosen one, with the box in it.
    trial: Trial,
    boxes: Vec<(BoxId, String)>,
    chosen: Option<BoxId>,
}

#[derive(Deserialize)]
pub(super) struct Chosen {
    operation: Option<String>,
    #[serde(rename = "box")]
    place: Option<String>,
}

/// Shows one request, for one of the visitor's boxes.
pub(super) async fn show(State(app): State<App>, who: SignedIn, Query(query): Query<Chosen>) -> Shown {
    let (boxes, chosen) = integrations::usable(&app, &who, query.place).await?;
    let place = chosen.map_or_else(|| integrations::NO_BOX.to_string(), |id| id.to_string());
    let requests = TRIALS.iter().map(|trial| (trial.id.as_str(), trial.summary.as_str())).collect();
    let find = |id: &str| TRIALS.iter().find(|trial| trial.id == id);
    let asked = query.operation.as_deref().and_then(find).or_else(|| find(FIRST));
    let mut trial = asked.unwrap_or(&TRIALS[0]).clone();
    for text in [Some(&mut trial.path), trial.body.as_mut()].into_iter().flatten() {
        *text = text.replace(integrations::NO_BOX, &place);
    }
    let frame = Frame::new(&app, &who.0, who.0.words.text("frame-playground"), Place::Playground);
    page::show(&PlaygroundPage { frame, base: BASE, requests, trial, boxes, chosen })
}
