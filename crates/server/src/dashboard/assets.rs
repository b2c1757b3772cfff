//! Style sheets, script and icon: part of the binary, named by their content, so that a browser keeps each for good.

use axum::{
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use stores::blobs::hexadecimal;

use crate::app::App;

/// Where they are.
pub(super) const PATH: &str = "/assets/{name}";

const STYLE: &[u8] = include_bytes!("../../assets/style.css");
const DOCS_STYLE: &[u8] = include_bytes!("../../assets/docs.css");
const SCRIPT: &[u8] = include_bytes!("../../assets/app.js");
const ICON: &[u8] = include_bytes!("../../assets/icon.svg");

/// All of them, with the addresses that pages use.
pub(super) struct Assets {
    pub(super) style: String,
    pub(super) docs_style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

impl Assets {
    pub(super) fn new() -> Self {
        Assets {
            style: address("style", "css", STYLE),
            docs_style: address("docs", "css", DOCS_STYLE),
            script: address("app", "js", SCRIPT),
            icon: address("icon", "svg", ICON),
        }
    }
}

/// Addresses of what gives the documentation its look.
pub(crate) struct Look {
    pub(crate) style: String,
    pub(crate) docs_style: String,
    pub(crate) icon: String,
}

impl Look {
    pub(super) fn of(assets: &Assets) -> Self {
        Look { style: assets.style.clone(), docs_style: assets.docs_style.clone(), icon: assets.icon.clone() }
    }
}

fn address(name: &str, kind: &str, bytes: &[u8]) -> String {
    let hash = hexadecimal(&Sha256::digest(bytes));
    format!("/assets/{name}.{}.{kind}", &hash[..12])
}

/// Sends one; an address with another hash is that of another version.
pub(super) async fn send(State(app): State<App>, Path(name): Path<String>) -> Response {
    let assets = &app.dashboard.assets;
    let asked = format!("/assets/{name}");
    let known = [
        (&assets.style, "text/css; charset=utf-8", STYLE),
        (&assets.docs_style, "text/css; charset=utf-8", DOCS_STYLE),
        (&assets.script, "text/javascript; charset=utf-8", SCRIPT),
        (&assets.icon, "image/svg+xml", ICON),
    ];
    match known.into_iter().find(|(address, ..)| **address == asked) {
        Some((_, kind, bytes)) => {
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

/// What browsers ask for unasked.
pub(super) async fn icon(State(app): State<App>) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, app.dashboard.assets.icon.clone())]).into_response()
}
