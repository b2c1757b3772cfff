//! Public texts that are part of the binary, each with the tag that names its content: browsers keep them and ask whether they changed.

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use stores::blobs::hexadecimal;

/// Something to send, with its tag.
#[derive(Clone)]
pub(crate) struct Tagged {
    pub(crate) kind: HeaderValue,
    pub(crate) body: Bytes,
    tag: HeaderValue,
}

impl Tagged {
    pub(crate) fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let hash = hexadecimal(&Sha256::digest(&body));
        let tag = HeaderValue::try_from(format!("\"{}\"", &hash[..16])).expect("hexadecimal");
        Tagged { kind: HeaderValue::from_static(kind), body, tag }
    }

    /// The text, or that it is the one the browser has; `caching` says for how long it need not ask.
    pub(crate) fn answer(&self, headers: &HeaderMap, caching: &'static str) -> Response {
        let known =
            headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
        let tag = self.tag.to_str().unwrap_or_default();
        let unchanged = known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag);
        let mut response = match unchanged {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, self.kind.clone())], self.body.clone()).into_response(),
        };
        response.headers_mut().insert(header::ETAG, self.tag.clone());
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        response
    }
}
