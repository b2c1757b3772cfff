//! Sends style sheets, script and icon.

use axum::{
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::app::App;

/// Where they are.
pub(super) const PATH: &str = "/assets/{name}";

/// Sends one.
pub(super) async fn send(State(app): State<App>, Path(name): Path<String>) -> Response {
    match app.assets.find(&format!("/assets/{name}")) {
        Some((kind, bytes)) => {
            let mut response = bytes.into_response();
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
            headers.insert(header::CACHE_CONTROL, forever);
            let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
            response
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// What browsers request on their own.
pub(super) async fn icon(State(app): State<App>) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, app.assets.icon.clone())]).into_response()
}
