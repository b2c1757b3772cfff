//! `GET /openapi.json`: the description of the API, in the envelope or as it is.
//!
//! Every JSON answer carries `success` and `data`, so this one does too: beside the members of the OpenAPI document, which
//! ordinary tools read at the top level. Validators that refuse unknown members ask for the media type of OpenAPI and get
//! the document alone, as `quire openapi` prints it.

use axum::{
    http::{HeaderMap, header},
    response::IntoResponse,
    routing::{MethodRouter, get},
};
use serde_json::{Value, json};

use crate::app::App;

/// The media types of OpenAPI documents, registered and customary.
const OWN_TYPES: [&str; 2] = ["application/openapi+json", "application/vnd.oai.openapi+json"];

/// Answers with the document, made once.
pub(super) fn route(document: &utoipa::openapi::OpenApi) -> MethodRouter<App> {
    let document = serde_json::to_value(document).expect("an OpenAPI document is plain JSON");
    let bare = document.to_string();
    let mut enveloped = document.clone();
    if let Value::Object(members) = &mut enveloped {
        members.insert("success".into(), json!(true));
        members.insert("data".into(), document);
    }
    let enveloped = enveloped.to_string();
    get(async move |headers: HeaderMap| {
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        match OWN_TYPES.iter().find(|own| accept.contains(*own)) {
            Some(own) => ([(header::CONTENT_TYPE, *own)], bare).into_response(),
            None => ([(header::CONTENT_TYPE, "application/json")], enveloped).into_response(),
        }
    })
}
