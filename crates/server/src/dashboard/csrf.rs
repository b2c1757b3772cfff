//! Whatever changes something must come from a page of ours: it carries a token that only such a page knows.
//!
//! The token is a hash of the one in the cookie, which no other site can read. It comes in a form's field `csrf` or, from our
//! script, in a header. A layer checks it, so that no handler can forget to. It looks different on every page: pages are
//! compressed, and what stays the same in compressed pages can be guessed from their lengths.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason};
use rand::Rng;
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

/// Bytes of the hash.
const BYTES: usize = 32;

/// What a page of this visit carries: a mask, and the hash under it.
pub(super) fn token_of(visit: &Visit) -> String {
    let mask: [u8; BYTES] = rand::rng().random();
    let masked = under(&mask, &hash_of(visit));
    token::encode(&[mask, masked].concat())
}

fn hash_of(visit: &Visit) -> [u8; BYTES] {
    let mut hash = Sha256::new();
    hash.update(b"quire form ");
    hash.update(visit.token.as_bytes());
    hash.finalize().into()
}

fn under(mask: &[u8], bytes: &[u8; BYTES]) -> [u8; BYTES] {
    std::array::from_fn(|at| bytes[at] ^ mask[at])
}

/// Whether a page of this visit carried the token.
fn fits(visit: &Visit, sent: &str) -> bool {
    let Some(sent) = token::decode(sent).filter(|sent| sent.len() == 2 * BYTES) else { return false };
    let (mask, masked) = sent.split_at(BYTES);
    bool::from(under(mask, &hash_of(visit)).ct_eq(masked))
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
    if comes_from_elsewhere(request.headers(), request.uri()) {
        return Err(forged());
    }
    let fits = |sent: &str| fits(&visit, sent);
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
    fn a_token_looks_different_each_time_and_fits_only_its_visit() {
        let ours = Visit { token: "a".into(), ..Visit::nobody() };
        let (one, two) = (token_of(&ours), token_of(&ours));
        assert_ne!(one, two);
        assert!(fits(&ours, &one) && fits(&ours, &two));
        assert!(!fits(&Visit::nobody(), &one));
        assert!(!fits(&ours, "") && !fits(&ours, &one[1..]) && !fits(&ours, &token::encode(&[0; 64])));
    }

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
