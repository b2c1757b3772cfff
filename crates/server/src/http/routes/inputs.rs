//! What bytes from outside become before anything is looked up, as functions of those bytes: fuzz targets call them, and a test that
//! replays their corpus. None may panic, whatever it is given.

use std::convert::Infallible;

use axum::http::Uri;
use bytes::Bytes;
use engine::{Fault, Reason};
use futures::{executor::block_on, stream};

use super::{
    chat::body::ChatBody,
    dify,
    documents::FullBody,
    files::{Changes, ListQuery},
    labels,
    links::LinkQuery,
    mcp, openai, received,
    search::SearchBody,
    usage::UsageQuery,
};
use crate::{
    http::{body, form::Form, query},
    webauthn::{self, Signed, Site},
};

/// The boundary of the forms that [`form`] reads.
const BOUNDARY: &str = "XB";

/// The body of a search.
pub fn search_body(bytes: &[u8]) {
    let _ = body::parse::<SearchBody>(bytes).and_then(|body| body.value.wanted().map(drop));
}

/// The body of a chat request.
pub fn chat_body(bytes: &[u8]) {
    let _ = body::parse::<ChatBody>(bytes).and_then(|body| body.value.wanted().map(drop));
}

/// The body of a change to a file.
pub fn changes_body(bytes: &[u8]) {
    let _ = body::parse::<Changes>(bytes).and_then(|body| body.value.read().map(drop));
}

/// The body of a request for whole documents.
pub fn documents_body(bytes: &[u8]) {
    let _ = body::parse::<FullBody>(bytes).and_then(|body| body.value.wanted().map(drop));
}

/// The body of a request for a link.
pub fn link_body(bytes: &[u8]) {
    let Ok(body) = body::parse::<LinkQuery>(bytes) else { return };
    let _ = (body.value.life(), body.value.inline());
}

/// A body in a shape of others: Dify's, OpenAI's, a message of an assistant.
pub fn wire_body(bytes: &[u8]) {
    let _ = dify::read(bytes);
    openai::read(bytes);
    mcp::read(bytes);
}

/// What a browser says of a passkey: of a new one, and of one that signed.
pub fn passkey(bytes: &[u8]) {
    let site = Site { host: "quire.example.org".into(), origin: "https://quire.example.org".into() };
    let asked = |kind: &str| {
        format!(r#"{{"type":"webauthn.{kind}","challenge":"","origin":"{}"}}"#, site.origin).into_bytes()
    };
    let _ = webauthn::register(&site, bytes, bytes, |_| Some(()));
    let Ok((made, ())) = webauthn::register(&site, &asked("create"), bytes, |_| Some(())) else { return };
    assert!((16..1024).contains(&made.credential.len()) && made.public_key.len() < bytes.len());
    let signed =
        Signed { client_data: asked("get"), authenticator_data: bytes.into(), signature: bytes.into() };
    let _ = webauthn::verify(&site, &made.public_key, &signed, |_| Some(()));
}

/// What stands behind the question mark of a URL, for each operation that takes something there.
pub fn parameters(bytes: &[u8]) {
    let Ok(uri) = Uri::try_from([b"/?", bytes].concat()) else { return };
    let _ = query::read::<ListQuery>(&uri).and_then(|query| query.value.wanted().map(drop));
    let _ = query::read::<UsageQuery>(&uri).and_then(|query| query.value.month().map(drop));
    if let Ok(query) = query::read::<LinkQuery>(&uri) {
        let _ = (query.value.life(), query.value.inline());
    }
}

/// A form: it reads the same whole, byte by byte and in pieces of some size, and its fields are read as an upload's are.
pub fn form(bytes: &[u8]) {
    let size = bytes.first().map_or(1, |first| usize::from(*first % 16) + 1);
    let whole = block_on(read_form(bytes, bytes.len().max(1)));
    for size in [1, size] {
        assert_eq!(block_on(read_form(bytes, size)), whole, "in pieces of {size}");
    }
    for (name, file_name, content) in whole.into_iter().flatten() {
        let _ = file_name.map(|name| labels::parse_name(&name).map(drop));
        let Ok(text) = String::from_utf8(content) else { continue };
        let _ = match name.as_str() {
            "name" => labels::parse_name(&text).map(drop),
            "metadata" => received::parse_metadata(&text).map(drop),
            "tags" => labels::parse_tags(&text).map(drop),
            _ => received::parse_external_id(&text).map(drop),
        };
    }
}

/// Name, file name and content of each part.
type Parts = Vec<(String, Option<String>, Vec<u8>)>;

async fn read_form(bytes: &[u8], size: usize) -> Result<Parts, Reason> {
    let pieces = bytes.chunks(size).map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)));
    let mut form = Form::new(stream::iter(pieces), BOUNDARY);
    let mut parts = Vec::new();
    let why = |fault: Fault| fault.reason;
    while let Some(part) = form.next_part().await.map_err(why)? {
        let mut content = Vec::new();
        while let Some(piece) = form.next_piece().await.map_err(why)? {
            content.extend_from_slice(&piece);
        }
        parts.push((part.name, part.file_name, content));
    }
    Ok(parts)
}
