//! Compresses what people look at: pages, style sheets, scripts. Streams and originals are sent as they are.
//!
//! Whoever can have a browser request pages that repeat what they chose, and sees how long the answers are, can guess at the
//! rest of a page. Three things stand against that: the token of forms looks different on every page, pages that show a secret
//! are not compressed, and every answer is longer by a random number of bytes.

use std::io::Write;

use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use bytes::Bytes;
use flate2::{Compression, GzBuilder};
use rand::Rng;

/// Fewer bytes than this fit into one packet anyway.
const FEWEST: u64 = 1_000;
/// More than this is no page.
const MOST: u64 = 8_000_000;
/// From here on it takes so long that other requests would notice.
const LONG: usize = 200_000;
/// Up to so many bytes are added.
const PADDING: usize = 96;

/// Marks an answer that shows a secret.
#[derive(Clone, Copy)]
pub(crate) struct Uncompressed;

/// The layer.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let accepted = accepts(request.headers());
    let mut response = next.run(request).await;
    if !worth_it(&response) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !accepted {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(plain) = to_bytes(body, MOST as usize).await else {
        // A body of a known length that ends early was cut off on purpose.
        return Response::from_parts(head, Body::empty());
    };
    let packed = match plain.len() {
        LONG.. => {
            let bytes = plain.clone();
            tokio::task::spawn_blocking(move || pack(&bytes)).await.ok().flatten()
        }
        _ => pack(&plain),
    };
    let Some(packed) = packed else { return Response::from_parts(head, Body::from(plain)) };
    let headers = &mut head.headers;
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(packed.len()));
    weaken_tag(headers);
    Response::from_parts(head, Body::from(packed))
}

fn accepts(headers: &HeaderMap) -> bool {
    let all = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight.trim(), "q=0" | "q=0.0")
    })
}

/// Whole texts only: what has no known length is a stream, and what can be asked for in parts is an original.
fn worth_it(response: &Response) -> bool {
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let text =
        ["text/html", "text/css", "text/javascript", "text/markdown", "application/json", "image/svg+xml"];
    let as_it_is = [header::CONTENT_ENCODING, header::ACCEPT_RANGES, header::CONTENT_RANGE];
    text.iter().any(|start| kind.starts_with(start))
        && !as_it_is.iter().any(|name| headers.contains_key(name))
        && response.extensions().get::<Uncompressed>().is_none()
        && response.body().size_hint().exact().is_some_and(|bytes| (FEWEST..=MOST).contains(&bytes))
}

/// The bytes packed. Their name, which nobody reads, makes the length unsure.
fn pack(plain: &Bytes) -> Option<Vec<u8>> {
    let mut random = rand::rng();
    let name: Vec<u8> =
        (0..random.random_range(0..PADDING)).map(|_| random.random_range(b'a'..=b'z')).collect();
    let mut packer =
        GzBuilder::new().filename(name).write(Vec::with_capacity(plain.len() / 3), Compression::default());
    packer.write_all(plain).ok()?;
    packer.finish().ok()
}

/// Packed and plain are not the same bytes, so they are only alike.
fn weaken_tag(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()) else { return };
    if !tag.starts_with("W/")
        && let Ok(weak) = HeaderValue::try_from(format!("W/{tag}"))
    {
        headers.insert(header::ETAG, weak);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(accepted: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted))])
    }

    #[test]
    fn only_browsers_that_say_so_get_packed_answers() {
        for (accepted, expected) in [
            ("gzip, deflate, br", true),
            ("br;q=1, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(accepts(&asking(accepted)), expected, "{accepted}");
        }
        assert!(!accepts(&HeaderMap::new()));
    }

    fn answer(kind: &'static str, body: Body) -> Response {
        Response::builder().header(header::CONTENT_TYPE, kind).body(body).unwrap()
    }

    #[test]
    fn streams_originals_secrets_and_short_answers_are_sent_as_they_are() {
        let long = || Body::from("x".repeat(5000));
        assert!(worth_it(&answer("text/html; charset=utf-8", long())));
        assert!(!worth_it(&answer("text/html", Body::from("short"))));
        assert!(!worth_it(&answer("application/pdf", long())));
        assert!(!worth_it(&answer("text/event-stream", long())));
        let stream = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 5000]))]);
        assert!(!worth_it(&answer("text/html", Body::from_stream(stream))));
        let mut secret = answer("text/html", long());
        secret.extensions_mut().insert(Uncompressed);
        assert!(!worth_it(&secret));
        let mut original = answer("text/html", long());
        original.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        assert!(!worth_it(&original));
    }

    #[test]
    fn the_length_of_what_is_packed_varies() {
        let plain = Bytes::from("the same ".repeat(500));
        let lengths: std::collections::BTreeSet<usize> =
            (0..50).map(|_| pack(&plain).unwrap().len()).collect();
        assert!(lengths.len() > 5, "{lengths:?}");
        assert!(lengths.iter().all(|length| *length < plain.len() / 5), "{lengths:?}");
    }
}
