//! `Idempotency-Key`: a POST that is sent again is answered again, not done again.
//!
//! - Kept for 24 hours, the last thousand of each API key: successful answers of up to 256 KiB, event streams included once they were sent to their end. A
//!   kept answer is on disk, together with its charge, before the last byte of it is sent.
//! - Not kept: failures, which cost nothing and which a retry may get past, also those that a stream ends with ([`Failed`]);
//!   answers above 256 KiB. The idempotency key is free again, and a retry does the work again.
//! - Never kept: secrets. A retry of what made a key is told which key it made, without its text.
//! - Separate for each API key, and forgotten when that key's rights change or anything is deleted from a box of its
//!   user: a retry shows nobody what they may no longer see.
//! - Same body means the same bytes; of a form, whatever its boundary is, because clients draw a new one each time.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody as _},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    access::Caller,
    ids::{AttemptId, BoxId},
    seams::catalog::{Begun, IdempotencyKey, KeptAnswer, NewAttempt},
};
use futures::{Stream, StreamExt, stream};
use jiff::Timestamp;
use memchr::memmem::Finder;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use stores::blobs::hexadecimal;

use super::{body, error::Failure, form::boundary, incoming};
use crate::app::App;

const NAME: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The one header besides the body that decides what a request does.
const BOX: HeaderName = HeaderName::from_static("x-box-id");
/// How long an answer is kept.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// The largest answer that is kept.
const MOST_BYTES: usize = 256 * 1024;
/// When a retry that came too early may come again.
const RUNNING_WAIT: Duration = Duration::from_secs(1);

/// Says of an answer that it went wrong after its head was sent; whoever sends a stream puts it into the response's extensions.
#[derive(Debug, Clone, Default)]
pub(super) struct Failed(Arc<AtomicBool>);

impl Failed {
    /// The answer that ends now is no answer.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The layer: answers a retry from what was kept, and keeps what is answered.
pub async fn once(State(app): State<App>, request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Arc<Caller>>().cloned();
    let Some(caller) = caller.filter(|_| request.method() == Method::POST) else {
        return next.run(request).await;
    };
    let name = match name(request.headers()) {
        Ok(Some(name)) => name,
        Ok(None) => return next.run(request).await,
        Err(fault) => return refuse(request.into_body(), fault).await,
    };
    let (head, body) = request.into_parts();
    let begun = app.catalog.begin_attempt(new_attempt(&app, &caller, name, &head)).await;
    match begun {
        Ok(Begun::First(id)) => first(app, &caller, id, head, body, next).await,
        Ok(Begun::Running) => refuse(body, still_running()).await,
        Ok(Begun::Answered { request, answer }) if request == request_hash(&head) => {
            again(&app, &head, body, answer).await
        }
        Ok(Begun::Answered { .. }) => refuse(body, mismatch()).await,
        Err(fault) => Failure(fault).into_response(),
    }
}

fn name(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Fault> {
    let mut values = headers.get_all(NAME).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let invalid = |cause: String| Fault::invalid("Idempotency-Key", cause);
    if values.next().is_some() {
        return Err(invalid("the request has more than one Idempotency-Key header; send one".into()));
    }
    value.to_str().unwrap_or_default().parse().map(Some).map_err(invalid)
}

fn new_attempt(app: &App, caller: &Caller, name: IdempotencyKey, head: &Parts) -> NewAttempt {
    let now = Timestamp::now();
    NewAttempt {
        key: caller.prefix.clone(),
        name,
        request: request_hash(head),
        rights: rights(caller.reach()),
        now,
        expires_at: now.saturating_add(app.config.longest_call()).unwrap_or(Timestamp::MAX),
    }
}

/// A fingerprint of the boxes that a key reaches.
fn rights(boxes: impl Iterator<Item = BoxId>) -> String {
    let mut rights = Sha256::new();
    for box_id in boxes {
        rights.update(box_id.as_bytes());
    }
    hexadecimal(&rights.finalize())
}

/// Put on an answer that gives its reader a box: what is kept of it is for a key that reaches that box too.
#[derive(Clone, Copy)]
pub struct Founded(pub BoxId);

/// Put on an answer that shows a secret this once: what is kept of it, and so what a retry gets. Secrets are not stored.
#[derive(Clone)]
struct KeptInstead(Bytes);

/// An answer that shows a secret, of which only the one without is kept for retries.
pub async fn with_secret(mut shown: Response, kept: Response) -> Result<Response, Fault> {
    let kept = axum::body::to_bytes(kept.into_body(), MOST_BYTES).await.map_err(Fault::internal)?;
    shown.extensions_mut().insert(KeptInstead(kept));
    Ok(shown)
}

/// A fingerprint of everything that decides what a POST does, apart from its body.
fn request_hash(head: &Parts) -> String {
    let mut hash = Sha256::new();
    hash.update(head.uri.path_and_query().map_or("", |asked| asked.as_str()));
    hash.update([0]);
    hash.update(head.headers.get(BOX).map_or(&b""[..], HeaderValue::as_bytes));
    hexadecimal(&hash.finalize())
}

fn still_running() -> Fault {
    let cause =
        "a request with this Idempotency-Key is still in progress; try again shortly to get its answer";
    Fault::new(Reason::NotReady, cause).retry_after(RUNNING_WAIT)
}

fn mismatch() -> Fault {
    Fault::new(Reason::IdempotencyMismatch, "this Idempotency-Key was used for another request")
        .param("Idempotency-Key")
        .hint("use a new Idempotency-Key for a new request")
}

/// Refuses a request after listening to the rest of it, so that its sender hears why.
async fn refuse(body: Body, fault: Fault) -> Response {
    body::drain(&mut body.into_data_stream()).await;
    Failure(fault).into_response()
}

/// An attempt in progress; dropped (its client went away) it frees its idempotency key.
struct Attempt {
    app: App,
    /// `None` once it has ended.
    id: Option<AttemptId>,
}

impl Attempt {
    async fn finish(mut self, answer: Option<KeptAnswer>) -> Result<(), Fault> {
        let Some(id) = self.id.take() else { return Ok(()) };
        let expires_at = Timestamp::now().saturating_add(KEPT_FOR).unwrap_or(Timestamp::MAX);
        self.app.catalog.finish_attempt(id, answer, expires_at).await
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        // Without a runtime the process is ending, and its next start frees the key.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let attempt = Attempt { app: self.app.clone(), id: Some(id) };
        runtime.spawn(async move {
            if let Err(fault) = attempt.finish(None).await {
                tracing::error!(error = ?fault, "Could not release an idempotency key");
            }
        });
    }
}

/// Does the work, hashing the body on its way to whoever reads it, and keeps the answer.
async fn first(
    app: App,
    caller: &Caller,
    id: AttemptId,
    mut head: Parts,
    body: Body,
    next: Next,
) -> Response {
    let attempt = Attempt { app, id: Some(id) };
    head.extensions.insert(id);
    let watched = Watched::new(body, BodyHash::of(&head.headers));
    let response = next.run(Request::from_parts(head, Body::from_stream(watched.clone()))).await;
    let request_body = if response.status().is_success() { watched.finish().await } else { None };
    match request_body {
        Some(request_body) => {
            let founded = response.extensions().get::<Founded>().copied();
            let rights = founded.map(|Founded(box_id)| {
                rights(caller.reach().chain([box_id]).collect::<BTreeSet<_>>().into_iter())
            });
            keep(attempt, request_body, rights, response).await
        }
        None => after(attempt.finish(None).await, response),
    }
}

/// The response, unless what must happen before it failed.
fn after(done: Result<(), Fault>, response: Response) -> Response {
    match done {
        Ok(()) => response,
        Err(fault) => Failure(fault).into_response(),
    }
}

/// Keeps an answer: one that is there whole before it is sent, one that is still being made while it is.
async fn keep(
    attempt: Attempt,
    request_body: String,
    rights: Option<String>,
    response: Response,
) -> Response {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_string);
    let answer = KeptAnswer {
        request_body,
        status: response.status().as_u16(),
        content_type,
        body: String::new(),
        rights,
    };
    let instead = response.extensions().get::<KeptInstead>().cloned();
    let failed = response.extensions().get::<Failed>().cloned().unwrap_or_default();
    let size = response.body().size_hint().exact();
    let (head, body) = response.into_parts();
    match size {
        Some(size) if size > MOST_BYTES as u64 => {
            after(attempt.finish(None).await, Response::from_parts(head, body))
        }
        Some(_) => match axum::body::to_bytes(body, MOST_BYTES).await {
            Ok(bytes) => {
                let kept = instead.map_or_else(|| bytes.clone(), |KeptInstead(instead)| instead);
                let kept = attempt.finish(with_body(answer, &kept)).await;
                after(kept, Response::from_parts(head, Body::from(bytes)))
            }
            Err(error) => Failure(Fault::internal(error)).into_response(),
        },
        None => {
            let stream = body.into_data_stream();
            let copy = Copy { stream, attempt: Some(attempt), answer, bytes: Vec::new(), failed };
            Response::from_parts(head, Body::from_stream(stream::unfold(copy, Copy::next)))
        }
    }
}

/// The answer with its body; `None` where that is no text.
fn with_body(answer: KeptAnswer, bytes: &[u8]) -> Option<KeptAnswer> {
    let body = std::str::from_utf8(bytes).ok()?.to_string();
    Some(KeptAnswer { body, ..answer })
}

/// An answer that is copied while it is sent.
struct Copy {
    stream: BodyDataStream,
    /// `None` once it has ended: the answer is complete, has failed, or is too large to be kept.
    attempt: Option<Attempt>,
    answer: KeptAnswer,
    bytes: Vec<u8>,
    failed: Failed,
}

impl Copy {
    /// The next piece. What cannot be ended properly breaks off: it was not charged, and its reader must not take it for whole.
    async fn next(mut self) -> Option<(Result<Bytes, axum::Error>, Self)> {
        let next = self.stream.next().await;
        let fits = |bytes: &Bytes| self.bytes.len() + bytes.len() <= MOST_BYTES;
        match &next {
            Some(Ok(bytes)) if fits(bytes) => self.bytes.extend_from_slice(bytes),
            None => {
                let answer = with_body(self.answer.clone(), &self.bytes);
                let answer = answer.filter(|_| !self.failed.is_set());
                if let Err(error) = self.finish(answer).await {
                    return Some((Err(error), self));
                }
            }
            Some(_) => {
                self.bytes = Vec::new();
                if let Err(error) = self.finish(None).await {
                    return Some((Err(error), self));
                }
            }
        }
        next.map(|next| (next, self))
    }

    async fn finish(&mut self, answer: Option<KeptAnswer>) -> Result<(), axum::Error> {
        let Some(attempt) = self.attempt.take() else { return Ok(()) };
        attempt.finish(answer).await.map_err(|fault| {
            tracing::error!(error = ?fault, "Could not store an answer for retries");
            axum::Error::new(fault)
        })
    }
}

/// Answers a retry from what was kept, if its body is the same.
async fn again(app: &App, head: &Parts, body: Body, answer: KeptAnswer) -> Response {
    // No request with more than this was ever answered.
    let most = incoming::most_bytes(&app.config);
    let mut hash = BodyHash::of(&head.headers);
    let mut stream = body.into_data_stream();
    let mut size = 0;
    while let Some(bytes) = stream.next().await {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return Failure(body::cut_off(&error)).into_response(),
        };
        size += bytes.len() as u64;
        if size > most {
            body::drain(&mut stream).await;
            return Failure(mismatch()).into_response();
        }
        hash.update(&bytes);
    }
    if hash.finish() != answer.request_body {
        return Failure(mismatch()).into_response();
    }
    replay(answer)
}

fn replay(answer: KeptAnswer) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    if let Some(content_type) = answer.content_type.and_then(|text| HeaderValue::try_from(text).ok()) {
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    }
    response
}

/// The hash of a body as it comes in. The boundary of a form is left out: it means nothing and is new each time.
struct BodyHash {
    hash: Sha256,
    boundary: Option<Finder<'static>>,
    /// What may still turn out to be the begin of a boundary.
    tail: Vec<u8>,
}

impl BodyHash {
    fn of(headers: &HeaderMap) -> Self {
        let boundary = boundary(headers).map(|boundary| Finder::new(boundary).into_owned());
        BodyHash { hash: Sha256::new(), boundary, tail: Vec::new() }
    }

    fn update(&mut self, bytes: &[u8]) {
        let Some(boundary) = &self.boundary else { return self.hash.update(bytes) };
        self.tail.extend_from_slice(bytes);
        let mut from = 0;
        while let Some(at) = boundary.find(&self.tail[from..]) {
            self.hash.update(&self.tail[from..from + at]);
            from += at + boundary.needle().len();
        }
        let certain = self.tail.len().saturating_sub(boundary.needle().len() - 1).max(from);
        self.hash.update(&self.tail[from..certain]);
        self.tail.drain(..certain);
    }

    fn finish(mut self) -> String {
        self.hash.update(&self.tail);
        hexadecimal(&self.hash.finalize())
    }
}

/// A body that is hashed while somebody else reads it.
#[derive(Clone)]
struct Watched(Arc<Mutex<Option<Watch>>>);

struct Watch {
    stream: BodyDataStream,
    hash: BodyHash,
    ended: bool,
}

impl Watched {
    fn new(body: Body, hash: BodyHash) -> Self {
        let stream = body.into_data_stream();
        Watched(Arc::new(Mutex::new(Some(Watch { stream, hash, ended: false }))))
    }

    /// The hash of the whole body, also where its reader had heard enough; `None` where it does not end.
    async fn finish(self) -> Option<String> {
        let mut watch = self.0.lock().take()?;
        let rest = async {
            while !watch.ended {
                futures::future::poll_fn(|context| watch.poll(context)).await.transpose().ok()?;
            }
            Some(watch.hash.finish())
        };
        tokio::time::timeout(body::PATIENCE, rest).await.ok().flatten()
    }
}

impl Watch {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, axum::Error>>> {
        let next = ready!(Pin::new(&mut self.stream).poll_next(context));
        match &next {
            Some(Ok(bytes)) => self.hash.update(bytes),
            Some(Err(_)) => {}
            None => self.ended = true,
        }
        Poll::Ready(next)
    }
}

impl Stream for Watched {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut *self.0.lock() {
            Some(watch) => watch.poll(context),
            None => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(content_type: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap())])
    }

    fn hash(content_type: &str, body: &str, piece: usize) -> String {
        let mut hash = BodyHash::of(&headers(content_type));
        body.as_bytes().chunks(piece).for_each(|piece| hash.update(piece));
        hash.finish()
    }

    #[test]
    fn a_form_is_the_same_whatever_its_boundary_and_pieces() {
        let form = |boundary: &str, text: &str| {
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n{text}\r\n--{boundary}--\r\n"
            )
        };
        let first = hash("multipart/form-data; boundary=XYZ", &form("XYZ", "XYXYtext"), 1);
        for piece in [1, 2, 3, 7, 1000] {
            let other = form("a-longer-one", "XYXYtext");
            let quoted = "multipart/form-data; charset=utf-8; Boundary=\"a-longer-one\"";
            assert_eq!(hash(quoted, &other, piece), first, "{piece}");
            assert_ne!(hash(quoted, &form("a-longer-one", "XYXYtexT"), piece), first);
        }
    }

    #[test]
    fn any_other_body_is_its_bytes() {
        for content_type in ["application/json", "application/json; boundary=b", "multipart/form-data"] {
            assert_ne!(hash(content_type, "abc", 1), hash(content_type, "ac", 1), "{content_type}");
            assert_eq!(hash(content_type, "abc", 1), hash(content_type, "abc", 3), "{content_type}");
        }
    }

    #[test]
    fn only_one_visible_name_is_taken() {
        let mut headers = HeaderMap::new();
        assert_eq!(name(&headers).unwrap(), None);
        headers.insert(NAME, HeaderValue::from_static("order-7"));
        assert_eq!(name(&headers).unwrap().unwrap().as_str(), "order-7");
        headers.append(NAME, HeaderValue::from_static("order-8"));
        assert_eq!(name(&headers).unwrap_err().reason, Reason::InvalidParameter);
        for wrong in [&b""[..], b"a b", b"\xff"] {
            headers.insert(NAME, HeaderValue::from_bytes(wrong).unwrap());
            assert_eq!(name(&headers).unwrap_err().param.as_deref(), Some("Idempotency-Key"));
        }
    }
}
