//! What every request passes on its way in and out, in order: [`frame`], then [`gate`] under the API's base path, then
//! [`idempotency::once`] where it carries an `Idempotency-Key`.

use std::{
    any::Any,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, HttpBody, to_bytes},
    extract::{FromRequestParts, MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason, access::Caller, ids::FileId, trace::Place};
use jiff::Timestamp;
use serde_json::json;
use tower_http::catch_panic::CatchPanicLayer;
use uuid::Uuid;

use super::{
    BASE, OPENAPI,
    aliases::Asked,
    auth, cors, error,
    error::{ErrorShape, Failure},
    idempotency, limits,
    oauth::{self, Audience},
    origin::Origin,
    request_id::RequestId,
};
use crate::{
    app::{
        App,
        spans::{Kind, Span},
    },
    config::Tls,
};

/// Bytes of a body that are read although nobody wants them, and for how long.
const MOST_UNREAD: usize = 64 << 10;
const UNREAD_FOR: Duration = Duration::from_secs(2);

/// The address at the other end of the connection.
#[derive(Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// The whole stack around the routes; a request passes it from the bottom up.
pub fn stack(app: &App, routes: Router) -> Router {
    routes
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), idempotency::once))
        .layer(from_fn_with_state(app.clone(), gate))
        .layer(from_fn_with_state(app.clone(), frame))
}

/// The outermost layer: request id, the headers that every response has, error bodies, metrics and the log line.
pub async fn frame(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = RequestId::new(Uuid::now_v7());
    let method = request.method().clone();
    let path = request.uri().path().to_string();
    request.extensions_mut().insert(id);
    let letting_in = LettingIn::of(&app, &request);
    let parent = request.headers().get("traceparent").and_then(|value| Place::parse(value.to_str().ok()?));
    let mut span = app.spans.below(parent, "request", Kind::Server);
    let response = span.around(next.run(request)).await;
    let route = response.extensions().get::<Route>().cloned();
    let mut response = error::render(response, &id, app.config.units.exhausted_status, ErrorShape::of(&path));
    if let Some(letting_in) = letting_in {
        letting_in.tell(&mut response);
    }
    finish(response.headers_mut(), &app, &id);
    let status = response.status().as_u16();
    let route = route.as_ref().map_or("other", |route| route.0.as_str());
    app.metrics.observe(&method, route, status, started.elapsed());
    tell(&mut span, &method, route, status, &id);
    log(&id, &method, &path, status, started);
    response
}

/// What a collector of traces is told of a request: nothing that names a person or a document.
fn tell(span: &mut Span, method: &Method, route: &str, status: u16, id: &RequestId) {
    span.rename(format!("{method} {route}"));
    span.set("http.request.method", method.as_str());
    span.set("http.route", route);
    span.set("http.response.status_code", status);
    span.set("quire.request_id", id.to_string());
    if status >= 500 {
        span.fail();
    }
}

/// An address that programs can be let in to by a person, as it was asked for.
struct LettingIn {
    origin: Origin,
    asked: String,
}

impl LettingIn {
    fn of(app: &App, request: &Request) -> Option<Self> {
        Audience::of_path(request.uri().path())?;
        let asked = request.extensions().get::<Asked>().map(|asked| asked.0.clone());
        Some(LettingIn {
            origin: Origin::of(app, request.uri(), request.headers()),
            asked: asked.unwrap_or_else(|| request.uri().path().to_string()),
        })
    }

    /// Whoever is told that they need a key is told how else to get in.
    fn tell(&self, response: &mut Response) {
        let Some(said) = response.headers().get(header::WWW_AUTHENTICATE) else { return };
        let bad_token = said.to_str().is_ok_and(|said| said.contains("invalid_token"));
        let challenge = oauth::challenge(&self.origin.to_string(), &self.asked, bad_token);
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
}

/// The pattern of the route that answered, for metrics: bounded, unlike paths.
#[derive(Clone)]
struct Route(MatchedPath);

/// The headers that every response has.
pub(super) fn finish(headers: &mut HeaderMap, app: &App, id: &RequestId) {
    headers.insert("x-request-id", HeaderValue::try_from(id.to_string()).expect("hexadecimal"));
    limits::write_default_headers(headers, &app.config.limits.requests(), Timestamp::now());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Paths never hold a key here: [`loggable`] cuts it out. Queries are not logged at all.
fn log(id: &RequestId, method: &Method, path: &str, status: u16, started: Instant) {
    let duration_ms = started.elapsed().as_secs_f64() * 1e3;
    match status {
        500.. => tracing::error!(request.id = %id, status, duration_ms, "{method} {}", loggable(path)),
        400.. => tracing::info!(request.id = %id, status, duration_ms, "{method} {}", loggable(path)),
        _ => tracing::debug!(request.id = %id, status, duration_ms, "{method} {}", loggable(path)),
    }
}

/// Paths whose rest is a secret: whoever has a download link may download.
const SECRET_BEHIND: &[&str] = &["/d/", "quire_"];

/// A path fit for the log and for errors: no secrets, no control characters, no flood.
fn loggable(path: &str) -> String {
    let secret = SECRET_BEHIND.iter().filter_map(|mark| Some(path.find(mark)? + mark.len())).min();
    let (shown, hidden) = secret.map_or((path, ""), |at| (&path[..at], "***"));
    let shown: String = shown.chars().take(200).collect();
    format!("{}{hidden}", shown.escape_debug())
}

/// Under the base path the key is checked and counted before anything else, on unknown routes and methods too.
pub async fn gate(State(app): State<App>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    if let Err(fault) = must_be_https(&app, &head).await {
        return close(Failure(fault).into_response());
    }
    if !needs_key(head.uri.path()) {
        return routed(Request::from_parts(head, body), next).await;
    }
    if let Some(page) = opened_in_browser(&head) {
        return page;
    }
    if let Some(answer) = cors::preflight(&head) {
        return unread(body, answer).await;
    }
    let now = Timestamp::now();
    let caller = match auth::authenticate(&app, &head.headers, head.uri.path(), now).await {
        Ok(caller) => caller,
        Err(fault) => {
            let refused = Failure(turned_away(&app, &head, fault).await);
            return unread(body, refused.into_response()).await;
        }
    };
    let site = cors::site(&caller, &head.headers);
    let mut response = counted(&app, caller, Request::from_parts(head, body), next, now).await;
    if let Some(site) = site {
        cors::let_read(response.headers_mut(), site);
    }
    response
}

/// Counts a request with a usable key, and hands it on if that is within the limits.
async fn counted(app: &App, caller: Arc<Caller>, request: Request, next: Next, now: Timestamp) -> Response {
    let (head, body) = request.into_parts();
    let verdict = match app.limiter.take(&caller.prefix, caller.user, now).await {
        Ok(verdict) => verdict,
        Err(fault) => return unread(body, Failure(fault).into_response()).await,
    };
    let request_limits = app.config.limits.requests();
    let mut response = match verdict.refused {
        Some(refusal) => {
            app.metrics.refused(refusal);
            let refused = Failure(limits::too_many(refusal, &request_limits, &verdict, now));
            unread(body, refused.into_response()).await
        }
        None => match admitted(app, &caller, &head).await {
            Ok(()) => {
                let mut request = Request::from_parts(head, body);
                request.extensions_mut().insert(caller);
                routed(request, next).await
            }
            Err(fault) => unread(body, Failure(fault).into_response()).await,
        },
    };
    limits::write_headers(response.headers_mut(), &request_limits, &verdict, now);
    response
}

async fn routed(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(Route(route));
    }
    response
}

/// Whether a path is under the base path and not the public description of it.
fn needs_key(path: &str) -> bool {
    let under_base = path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    under_base && path.strip_prefix(BASE) != Some(OPENAPI)
}

/// Where a person lands who opens the link of a file or a citation: on its page in the dashboard, after signing in. The
/// same for every id, so that it tells nothing; programs do not ask for HTML, and get what the key allows.
fn opened_in_browser(head: &Parts) -> Option<Response> {
    let asks_for_html = |value: &HeaderValue| value.to_str().is_ok_and(|accept| accept.contains("text/html"));
    let browser = head.method == Method::GET
        && !head.headers.contains_key(header::AUTHORIZATION)
        && head.headers.get(header::ACCEPT).is_some_and(asks_for_html);
    let id: FileId = head.uri.path().strip_prefix(BASE)?.strip_prefix("/files/")?.parse().ok()?;
    // A key in the address is for the gate, which marks it as exposed.
    if !browser || auth::holds_key(&head.uri) {
        return None;
    }
    let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let page = HeaderValue::try_from(format!("/files/{id}{query}")).ok()?;
    let body = axum::Json(json!({"success": true, "data": {"message": "this page is in the dashboard"}}));
    Some((StatusCode::SEE_OTHER, [(header::LOCATION, page)], body).into_response())
}

/// What is left to check of a request with a usable key: none of its keys is in the URL unnoticed, it comes from where the key may
/// be used, its body can be read.
async fn admitted(app: &App, caller: &Caller, head: &Parts) -> Result<(), Fault> {
    auth::expose_key_in_url(app, &head.uri).await?;
    cors::check(caller, head)?;
    must_be_uncompressed(&head.headers)
}

/// A compressed body would have to be unpacked before its size is known; nobody needs that for JSON of this size.
fn must_be_uncompressed(headers: &HeaderMap) -> Result<(), Fault> {
    let Some(encoding) = headers.get(header::CONTENT_ENCODING) else { return Ok(()) };
    match encoding.to_str().map(|text| text.trim().to_lowercase()).as_deref() {
        Ok("" | "identity") => Ok(()),
        other => {
            let name: String = other.unwrap_or("unreadable").chars().take(40).collect();
            let cause = format!("the body was sent with `Content-Encoding: {name}`");
            Err(Fault::new(Reason::UnsupportedMediaType, cause).hint("send it uncompressed"))
        }
    }
}

/// Only an answer that says so lists the methods of a route. The router adds them to every answer to a wrong method, also
/// where the key was not good: that would tell which routes exist.
pub fn keep_allow_to_405(mut response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().remove(header::ALLOW);
    }
    response
}

/// Clients that keep sending invalid keys are answered more and more slowly, wherever in the request the key was. A
/// missing key is not a guess.
async fn turned_away(app: &App, head: &Parts, fault: Fault) -> Fault {
    let useless = matches!(fault.reason, Reason::KeyInvalid | Reason::KeyRevoked | Reason::KeyExpired);
    if !useless && !auth::holds_key(&head.uri) {
        return fault;
    }
    if let Err(too_many) = app.guard.wrong_key(client_address(app, head)).await {
        return too_many;
    }
    auth::expose_key_in_url(app, &head.uri).await.err().unwrap_or(fault)
}

/// Behind a proxy, only a listed proxy is trusted, and only when it says that the client used HTTPS.
async fn must_be_https(app: &App, head: &Parts) -> Result<(), Fault> {
    if app.config.http.tls != Tls::Proxy {
        return Ok(());
    }
    let said = head.headers.get("x-forwarded-proto").is_some_and(|proto| proto.as_bytes() == b"https");
    if said && from_trusted_proxy(app, head) {
        return Ok(());
    }
    auth::expose_plain_key(app, client_address(app, head), &head.headers, &head.uri).await?;
    Err(https_required(&head.uri))
}

/// The answer to plain HTTP.
pub fn https_required(uri: &Uri) -> Fault {
    let hint = "use https://, and replace the key if you sent one";
    Fault::new(Reason::HttpsRequired, format!("`{}` was requested over plain HTTP", loggable(uri.path())))
        .hint(hint)
}

/// Finishes an answer that was given without the request's body. A short one is read to its end, so that the connection can stay open.
async fn unread(body: Body, response: Response) -> Response {
    if body.size_hint().lower() <= MOST_UNREAD as u64 {
        let _ = tokio::time::timeout(UNREAD_FOR, to_bytes(body, MOST_UNREAD)).await;
    }
    response
}

/// Marks the connection to be closed after the answer.
pub fn close(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn from_trusted_proxy(app: &App, head: &Parts) -> bool {
    let peer = head.extensions.get::<Peer>().map(|peer| peer.0.ip().to_canonical());
    peer.is_some_and(|peer| app.config.http.trusted_proxies.contains(&peer))
}

/// The client's own address: the last one that a trusted proxy added, else the peer's.
pub(crate) fn client_address(app: &App, head: &Parts) -> IpAddr {
    let peer = head.extensions.get::<Peer>().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
    if app.config.http.tls != Tls::Proxy || !from_trusted_proxy(app, head) {
        return peer;
    }
    let forwarded = head.headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let addresses: Vec<IpAddr> =
        forwarded.flat_map(|value| value.split(',')).filter_map(|a| a.trim().parse().ok()).collect();
    let trusted = &app.config.http.trusted_proxies;
    addresses.into_iter().rev().find(|address| !trusted.contains(address)).unwrap_or(peer)
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
    Failure(Fault::internal(format!("panic: {text}"))).into_response()
}

/// An unknown path.
pub async fn unknown_route(uri: Uri) -> Failure {
    let cause = format!("there is no endpoint at {}", loggable(uri.path()));
    Failure(Fault::new(Reason::NotFound, cause).hint(&format!("GET {BASE}{OPENAPI} lists every path")))
}

/// A known path with a method it does not have.
pub async fn unknown_method(method: Method, uri: Uri) -> Failure {
    let cause = format!("{} does not support {method}", loggable(uri.path()));
    Failure(
        Fault::new(Reason::MethodNotAllowed, cause)
            .hint("the Allow header lists the methods that it supports"),
    )
}

/// Shares the request id with handlers that need it.
impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let id = parts.extensions.get::<RequestId>().copied();
        id.ok_or_else(|| Failure(Fault::internal("a request without an id")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_under_the_base_path_needs_a_key() {
        for (path, expected) in [
            ("/api/public/v1", true),
            ("/api/public/v1/", true),
            ("/api/public/v1/check", true),
            ("/api/public/v1/openapi.json", false),
            ("/api/public/v1/openapi.json/x", true),
            ("/api/public/v12", false),
            ("/healthz", false),
            ("/", false),
        ] {
            assert_eq!(needs_key(path), expected, "{path}");
        }
    }

    #[test]
    fn the_log_never_sees_a_key_in_a_path() {
        assert_eq!(loggable("/x/quire_AAAAAAAA_secret/y"), "/x/quire_***");
        assert_eq!(loggable("/a\nb"), "/a\\nb");
    }

    #[test]
    fn the_log_never_sees_a_download_link() {
        assert_eq!(loggable("/d/AAECAwQ"), "/d/***");
        assert_eq!(loggable("/d/quire_AAAAAAAA_secret"), "/d/***");
        assert_eq!(loggable("/x/quire_AAAAAAAA_/d/AAECAwQ"), "/x/quire_***");
        assert_eq!(loggable("/boxes/d/x"), "/boxes/d/***", "rather too little than too much");
    }
}
