//! The table of routes; also the source of the `OpenAPI` document.

mod boxes;
pub(crate) mod chat;
mod check;
pub(crate) mod described;
mod dify;
mod documents;
mod embeddings;
mod events;
pub(crate) mod feedback;
mod files;
pub(crate) mod finding;
mod followed;
mod health;
pub mod inputs;
mod keys;
pub(crate) mod labels;
pub(crate) mod links;
mod loader;
mod mcp;
mod members;
mod models;
mod narrowing;
mod oauth;
mod openai;
mod openapi;
pub(crate) mod pictures;
pub(crate) mod received;
mod rerank;
pub(crate) mod search;
mod sources;
mod upload;
mod usage;
mod webhooks;
mod widget;

use std::collections::HashSet;

use axum::{
    Router,
    routing::{get, post},
};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        Ref, RefOr, Schema,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{BASE, OPENAPI, error::ErrorEnvelope};
use crate::app::App;

/// The head of the `OpenAPI` document; the routes fill in the rest.
#[derive(OpenApi)]
#[openapi(
    info(title = "quire", description = "Search documents in boxes, read them page by page, ask them questions."),
    components(schemas(ErrorEnvelope)),
    modifiers(&BearerKey),
    servers((url = "/", description = "The server that this document comes from")),
    security(("apiKey" = []))
)]
struct Description;

struct BearerKey;

impl Modify for BearerKey {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("quire_<prefix>_<secret>")
            .description(Some("An API key, created in the dashboard under Account, API Keys."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("apiKey", SecurityScheme::Http(scheme));
    }
}

/// Every route of the API, with its description.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(check::check))
        .routes(routes!(usage::usage))
        .routes(routes!(boxes::list, boxes::add))
        .routes(routes!(boxes::show, boxes::change, boxes::delete))
        .routes(routes!(members::list, members::add))
        .routes(routes!(members::change, members::remove))
        .routes(routes!(keys::list, keys::add))
        .routes(routes!(keys::revoke))
        .routes(routes!(webhooks::list, webhooks::add))
        .routes(routes!(webhooks::delete))
        .routes(routes!(webhooks::rotate))
        .routes(routes!(webhooks::attempts))
        .routes(routes!(webhooks::replay))
        .routes(routes!(followed::list, followed::add))
        .routes(routes!(followed::show, followed::delete))
        .routes(routes!(followed::sync))
        .routes(routes!(files::list_box, upload::upload))
        .routes(routes!(files::list_all))
        .routes(routes!(files::show, files::change, files::delete))
        .routes(routes!(documents::report))
        .routes(routes!(pictures::of_page))
        .routes(routes!(search::retrieve))
        .routes(routes!(search::retrieve_across))
        .routes(routes!(documents::retrieve_full))
        .routes(routes!(chat::complete))
        .routes(routes!(chat::complete_in_box))
        .routes(routes!(feedback::rate))
        .routes(routes!(feedback::list))
        .routes(routes!(models::list))
        .routes(routes!(models::show))
        .routes(routes!(links::of_file))
        .routes(routes!(links::by_query, links::by_body))
        .routes(routes!(events::events))
        .routes(routes!(openai::search::search))
        .routes(routes!(dify::retrieve))
        .routes(routes!(embeddings::embed))
        .routes(routes!(rerank::rerank))
        .routes(routes!(loader::process))
}

/// The description of the API, as served and as kept in `docs/openapi.json`.
pub fn description() -> utoipa::openapi::OpenApi {
    let nested = OpenApiRouter::new().nest(BASE, api());
    let mut document = nested.into_openapi();
    let own = Description::openapi();
    (document.info, document.security, document.servers) = (own.info, own.security, own.servers);
    name_data(&mut document);
    document
}

/// Lets envelopes refer to what they carry by its name, which would otherwise be written out in each.
fn name_data(document: &mut utoipa::openapi::OpenApi) {
    let schemas = &mut document.components.get_or_insert_default().schemas;
    let known: HashSet<String> = schemas.keys().cloned().collect();
    for (name, schema) in schemas {
        let carried = name.strip_prefix("Envelope_").filter(|carried| known.contains(*carried));
        if let (Some(carried), RefOr::T(Schema::Object(envelope))) = (carried, schema) {
            envelope.properties.insert("data".into(), Ref::from_schema_name(carried).into());
        }
    }
}

/// The API, download links, health and the script for other pages.
pub(crate) fn router() -> Router<App> {
    let (api, _) = api().split_for_parts();
    let api = api.route(OPENAPI, openapi::route(&description()));
    // What OpenAI clients look for and will not find.
    let api = ["/completions", "/responses"]
        .into_iter()
        .fold(api, |api, path| api.route(path, post(chat::elsewhere)));
    let api = api.merge(mcp::router()).nest("/openai/v1", openai::router());
    Router::new()
        .nest(BASE, api)
        .merge(oauth::router())
        .merge(widget::router())
        .route("/d/{token}", get(links::download))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
}

/// The metrics, for a loopback listener of their own.
pub fn metrics_router(app: App) -> Router {
    Router::new().route("/metrics", get(async move || app.metrics.render()))
}
