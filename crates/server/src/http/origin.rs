//! What links in answers start with.

use std::fmt;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, Uri, header, request::Parts},
};

use super::error::Failure;
use crate::app::App;

/// `https://` and the name under which the client reached us, or the configured public address.
#[derive(Clone)]
pub struct Origin(String);

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Origin {
    /// What a request was sent to.
    pub(crate) fn of(app: &App, uri: &Uri, headers: &HeaderMap) -> Self {
        if let Some(url) = &app.config.http.public_url {
            return Origin(url.trim_end_matches('/').to_string());
        }
        // HTTP/2 carries the name in the URI, HTTP/1.1 in a header.
        let named = uri.authority().map(|authority| authority.as_str());
        let named = named.or_else(|| headers.get(header::HOST).and_then(|host| host.to_str().ok()));
        let plain = |name: &&str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]_".contains(c))
        };
        let fallback = app.config.http.listen.to_string();
        Origin(format!("https://{}", named.filter(plain).unwrap_or(&fallback)))
    }
}

impl FromRequestParts<App> for Origin {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        Ok(Origin::of(app, &parts.uri, &parts.headers))
    }
}
