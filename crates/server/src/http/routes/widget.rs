//! `/widget.js`: the script that puts a chat into pages of other web sites. Public, and the same for everybody.

use std::future::ready;

use axum::{
    Router,
    http::{HeaderMap, HeaderValue},
    middleware::from_fn,
    routing::get,
};

use crate::{
    app::App,
    http::{compress::compress, tagged::Tagged},
};

/// Pages ask again after an hour, so that an upgrade reaches them soon.
const CACHING: &str = "public, max-age=3600";

/// The script's own route.
pub(super) fn router() -> Router<App> {
    let script = Tagged::new("text/javascript; charset=utf-8", include_str!("../../../assets/widget.js"));
    let send = move |headers: HeaderMap| {
        let mut response = script.answer(&headers, CACHING);
        // Pages that isolate themselves load only what says that it is for others.
        let for_others = HeaderValue::from_static("cross-origin");
        response.headers_mut().insert("cross-origin-resource-policy", for_others);
        ready(response)
    };
    Router::new().route("/widget.js", get(send)).layer(from_fn(compress))
}
