//! `/signed-url` makes a link to an original; `/d/{token}` is that link.

use std::ops::Range;

use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason, access::Caller, ids::FileId, seams::catalog::FileRecord};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::pictures;
use crate::{
    app::App,
    http::{
        audience::Audience,
        auth::{self, Reader, ReadingFile, no_such_file},
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        links::Link,
        origin::Origin,
        query::Parameters,
        reply::{Envelope, Reply, Success},
    },
};

/// Seconds that a link lives, where nothing else is asked for.
const USUAL_LIFE: u64 = 900;
const LIVES: std::ops::RangeInclusive<u64> = 60..=3600;

/// What link to make.
#[derive(Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LinkQuery {
    /// The file.
    file_id: Option<String>,
    /// Seconds until the link expires, 60 to 3600; 900 if left out.
    #[schema(value_type = Option<u64>)]
    #[param(value_type = Option<u64>)]
    expires_in: Option<Seconds>,
    /// attachment (saved) or inline (shown).
    disposition: Option<String>,
}

/// A number, or a number as text: URLs have only texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(u64),
    Text(String),
    Other(serde::de::IgnoredAny),
}

/// A link to an original.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignedUrl {
    #[schema(value_type = String)]
    file_id: FileId,
    name: String,
    media_type: String,
    size: u64,
    sha256: String,
    signed_url: String,
    url: String,
    expires_in: u64,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

impl LinkQuery {
    pub(super) fn life(&self) -> Result<u64, Fault> {
        let seconds = match &self.expires_in {
            None => return Ok(USUAL_LIFE),
            Some(Seconds::Number(seconds)) => Some(*seconds),
            Some(Seconds::Text(text)) => text.parse().ok(),
            Some(Seconds::Other(_)) => None,
        };
        let wrong =
            || Fault::invalid("expires_in", "`expires_in` must be a number of seconds from 60 to 3600");
        seconds.filter(|seconds| LIVES.contains(seconds)).ok_or_else(wrong)
    }

    pub(super) fn inline(&self) -> Result<bool, Fault> {
        match self.disposition.as_deref() {
            None | Some("attachment") => Ok(false),
            Some("inline") => Ok(true),
            Some(_) => Err(Fault::invalid("disposition", "`disposition` must be attachment or inline")),
        }
    }
}

async fn make(
    app: &App,
    caller: &Caller,
    file: FileRecord,
    (query, warnings): (&LinkQuery, Vec<String>),
    origin: &Origin,
) -> Reply<SignedUrl> {
    let (expires_in, inline) = (query.life()?, query.inline()?);
    let expires_at =
        Timestamp::from_second(Timestamp::now().as_second() + expires_in as i64).map_err(Fault::internal)?;
    let link = Link { file: file.id, expires_at, prefix: caller.prefix.clone(), inline };
    let url = format!("{origin}/d/{}", link.sign(&app.link_secret));
    let made = SignedUrl {
        file_id: file.id,
        name: file.name.as_str().to_string(),
        media_type: file.media_type,
        size: file.size,
        sha256: file.sha256,
        signed_url: url.clone(),
        url,
        expires_in,
        expires_at,
    };
    Ok(Success::with_warnings(made, warnings))
}

async fn named(app: &App, caller: &Caller, query: &LinkQuery) -> Result<FileRecord, Fault> {
    let id =
        query.file_id.as_deref().ok_or_else(|| Fault::missing("file_id", "the id of the file to link to"))?;
    let id = id.parse().map_err(|_| no_such_file())?;
    Ok(auth::readable_file(app, caller, id).await?.record)
}

/// Creates a link to the original of a file. Free.
#[utoipa::path(get, path = "/files/{file_id}/signed-url", operation_id = "get_file_signed_url", tag = "files",
    params(("file_id" = String, Path, description = "The file"), ("expires_in" = Option<u64>, Query), ("disposition" = Option<String>, Query)),
    responses(
        (status = 200, description = "The link", body = Envelope<SignedUrl>),
        (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn of_file(
    State(app): State<App>,
    Reader(caller): Reader,
    file: ReadingFile,
    origin: Origin,
    query: Parameters<LinkQuery>,
) -> Reply<SignedUrl> {
    let Parameters { value, warnings } = query;
    make(&app, &caller, file.record, (&value, warnings), &origin).await
}

/// Creates a link to the original of a file. Free.
#[utoipa::path(get, path = "/signed-url", operation_id = "get_signed_url", tag = "files", params(LinkQuery), responses(
    (status = 200, description = "The link", body = Envelope<SignedUrl>),
    (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
))]
pub(super) async fn by_query(
    State(app): State<App>,
    Reader(caller): Reader,
    origin: Origin,
    query: Parameters<LinkQuery>,
) -> Reply<SignedUrl> {
    let Parameters { value, warnings } = query;
    make(&app, &caller, named(&app, &caller, &value).await?, (&value, warnings), &origin).await
}

/// Creates a link to the original of a file. Free.
#[utoipa::path(post, path = "/signed-url", operation_id = "make_signed_url", tag = "files", request_body = LinkQuery, responses(
    (status = 200, description = "The link", body = Envelope<SignedUrl>),
    (status = "4XX", description = "The key, its role or the body is wrong", body = ErrorEnvelope)
))]
pub(super) async fn by_body(
    State(app): State<App>,
    Reader(caller): Reader,
    origin: Origin,
    body: JsonBody<LinkQuery>,
) -> Reply<SignedUrl> {
    let JsonBody { value, warnings } = body;
    make(&app, &caller, named(&app, &caller, &value).await?, (&value, warnings), &origin).await
}

/// What of a file a link is followed for: with a page, its picture instead of the original.
#[derive(Deserialize)]
pub(super) struct FollowedQuery {
    page: Option<String>,
    width: Option<String>,
}

/// Sends an original, or a picture of one of its pages. The link is the permission: it ends with its expiry, the file, the
/// key or the owner's role.
pub(super) async fn download(
    State(app): State<App>,
    Path(token): Path<String>,
    query: Parameters<FollowedQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let link = Link::verify(&token, &app.link_secret, Timestamp::now())?;
    let dead = |fault: Fault| match fault.reason {
        Reason::NotFound | Reason::Internal => fault,
        _ => Fault::new(
            Reason::KeyScope,
            "the key that created this link, or the role of its user, is no longer valid; create a new link",
        ),
    };
    let caller = auth::usable(&app, &link.prefix).await.map_err(dead)?;
    let file = auth::readable_file(&app, &caller, link.file).await.map_err(dead)?.record;
    if let Some(page) = query.value.page.as_deref() {
        let wanted = (page, query.value.width.as_deref());
        return Ok(pictures::picture(&app, caller.user, &file, wanted, &headers).await?);
    }
    let audience = Audience::of_key(&app, &caller, file.box_id).seated()?;
    let mut response = send(&app, &file, &headers, audience).await?;
    describe(response.headers_mut(), &file, link.inline);
    Ok(response)
}

/// An original or a part of it, as `Range` and `If-None-Match` want it.
pub(crate) async fn send(
    app: &App,
    file: &FileRecord,
    headers: &HeaderMap,
    audience: Audience,
) -> Result<Response, Fault> {
    let tag = format!("\"{}\"", file.sha256);
    let same = |name: HeaderName| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.map(|value| value.split(',').any(|known| known.trim() == tag || known.trim() == "*"))
    };
    if same(header::IF_NONE_MATCH) == Some(true) {
        return Ok(StatusCode::NOT_MODIFIED.into_response());
    }
    let asked = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    // A part of another version is of no use to anybody.
    let asked = asked.filter(|_| same(header::IF_RANGE).unwrap_or(true));
    let (status, range) = match asked.map(|asked| part(asked, file.size)) {
        None | Some(Part::Whole) => (StatusCode::OK, 0..file.size),
        Some(Part::Some(range)) => (StatusCode::PARTIAL_CONTENT, range),
        Some(Part::Nothing) => return Ok(unsatisfiable(file.size)),
    };
    let length = range.end - range.start;
    let body = if length == 0 {
        Body::empty()
    } else {
        Body::from_stream(audience.guard(app.library.blobs.read(&file.sha256, range.clone()).await?))
    };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if status == StatusCode::PARTIAL_CONTENT {
        let text = format!("bytes {}-{}/{}", range.start, range.end - 1, file.size);
        headers.insert(header::CONTENT_RANGE, HeaderValue::try_from(text).expect("digits"));
    }
    Ok(response)
}

fn unsatisfiable(size: u64) -> Response {
    let cause =
        format!("the requested range is outside the file, which has {size} bytes; request a range within it");
    let mut response = Failure(Fault::new(Reason::InvalidParameter, cause).param("Range")).into_response();
    *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
    let range = HeaderValue::try_from(format!("bytes */{size}")).expect("digits");
    response.headers_mut().insert(header::CONTENT_RANGE, range);
    response
}

/// What a `Range` header asks for. Several ranges at once get the whole file, as they may.
#[derive(Debug, PartialEq)]
enum Part {
    Whole,
    Some(Range<u64>),
    Nothing,
}

fn part(asked: &str, size: u64) -> Part {
    let Some((first, last)) = asked.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Part::Whole;
    };
    let range = match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Ok(first), Err(_)) if last.trim().is_empty() => first..size,
        (Err(_), Ok(count)) if first.trim().is_empty() => size.saturating_sub(count)..size,
        _ => return Part::Whole,
    };
    if range.start >= range.end { Part::Nothing } else { Part::Some(range) }
}

/// An original may be anything, a page with scripts too: it is sent so that a browser gives it no rights.
pub(crate) fn describe(headers: &mut HeaderMap, file: &FileRecord, inline: bool) {
    let fixed = [
        (header::ACCEPT_RANGES, "bytes"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if headers.contains_key(header::CONTENT_TYPE) {
        return;
    }
    let plain = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, HeaderValue::try_from(&file.media_type).unwrap_or(plain));
    if let Ok(tag) = HeaderValue::try_from(format!("\"{}\"", file.sha256)) {
        headers.insert(header::ETAG, tag);
    }
    let kind = if inline { "inline" } else { "attachment" };
    if let Ok(value) = HeaderValue::try_from(format!("{kind}; {}", disposition_name(file.name.as_str()))) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
}

/// The name for old clients in plain letters, and for others as it is (RFC 6266).
fn disposition_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || " ._-()".contains(c) { c } else { '_' })
        .collect();
    let exact: String = name
        .bytes()
        .map(|byte| match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'.' | b'_' | b'-' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("filename=\"{plain}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (asked, expected) in [
            ("bytes=0-4", Part::Some(0..5)),
            ("bytes=5-", Part::Some(5..10)),
            ("bytes=-3", Part::Some(7..10)),
            ("bytes=-30", Part::Some(0..10)),
            ("bytes=8-99", Part::Some(8..10)),
            ("bytes=10-", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            ("bytes=4-2", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("pages=1-2", Part::Whole),
            ("nonsense", Part::Whole),
        ] {
            assert_eq!(part(asked, 10), expected, "{asked}");
        }
    }

    #[test]
    fn names_are_safe_in_headers() {
        assert_eq!(
            disposition_name("a\"b\r\n.pdf"),
            "filename=\"a_b__.pdf\"; filename*=UTF-8''a%22b%0D%0A.pdf"
        );
        assert!(disposition_name("höhe.pdf").ends_with("h%C3%B6he.pdf"));
    }
}
