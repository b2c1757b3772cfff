//! Whatever changes something must come from a page of ours: it carries a token that only such a page knows.
//!
//! The token is a hash of the one in the cookie, which no other site can read. It comes in a form's field `csrf` or, from our
//! script, in a header. A layer checks it, so that no handler can forget to.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{fields, visit::Visit};
use crate::{
    app::App,
    http::{error::Failure, token},
};

/// The header that our script sends it in.
pub(super) const HEADER: &str = "x-csrf-token";
/// The field that our forms send it in.
pub(super) const FIELD: &str = "csrf";

/// What a page of this visit carries.
pub(super) fn token_of(visit: &Visit) -> String {
    let mut hash = Sha256::new();
    hash.update(b"quire form ");
    hash.update(visit.token.as_bytes());
    token::encode(&hash.finalize())
}

/// The layer.
pub(super) async fn check(State(_): State<App>, request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    match genuine(request).await {
        Ok(request) => next.run(request).await,
        Err(fault) => Failure(fault).into_response(),
    }
}

async fn genuine(request: Request) -> Result<Request, Fault> {
    let visit = request.extensions().get::<Arc<Visit>>().cloned();
    let visit = visit.ok_or_else(|| Fault::internal("a form without a visit"))?;
    let expected = token_of(&visit);
    if comes_from_elsewhere(request.headers(), request.uri()) {
        return Err(forged());
    }
    let fits = |sent: &str| bool::from(sent.as_bytes().ct_eq(expected.as_bytes()));
    if let Some(sent) = request.headers().get(HEADER) {
        let fits = sent.to_str().is_ok_and(fits);
        return if fits { Ok(request) } else { Err(forged()) };
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
        return Err(forged());
    }
    let (head, body) = request.into_parts();
    let bytes = fields::read(body).await?;
    let sent = form_urlencoded::parse(&bytes).find(|(name, _)| name == FIELD).map(|(_, sent)| sent);
    if sent.is_some_and(|sent| fits(&sent)) {
        Ok(Request::from_parts(head, Body::from(bytes)))
    } else {
        Err(forged())
    }
}

/// What browsers say about where a request comes from, where they do.
fn comes_from_elsewhere(headers: &HeaderMap, uri: &Uri) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return true;
    }
    let host = uri.authority().map(|authority| authority.as_str()).or_else(|| text("host"));
    match (text("origin"), host) {
        (Some(origin), Some(host)) => origin.split_once("://").is_none_or(|(_, from)| from != host),
        _ => false,
    }
}

fn forged() -> Fault {
    Fault::new(Reason::RoleInsufficient, "this form is out of date or was not sent from this page")
        .hint("go back, load the page again and try once more")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn other_sites_are_told_by_what_the_browser_says() {
        for (name, value, elsewhere) in [
            ("sec-fetch-site", "same-origin", false),
            ("sec-fetch-site", "none", false),
            ("sec-fetch-site", "same-site", true),
            ("sec-fetch-site", "cross-site", true),
            ("origin", "https://quire.example.org", false),
            ("origin", "https://quire.example.org.evil.example", true),
            ("origin", "null", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("host", HeaderValue::from_static("quire.example.org"));
            headers.insert(name, HeaderValue::from_static(value));
            assert_eq!(comes_from_elsewhere(&headers, &Uri::from_static("/x")), elsewhere, "{name}: {value}");
        }
    }
}
