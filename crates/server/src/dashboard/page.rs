//! Pages: what they have in common, how errors look, and their headers.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use engine::{Fault, Reason};
use serde_json::json;

use super::{
    csrf,
    visit::{self, Visit},
};
use crate::{
    app::App,
    http::{
        BASE,
        compress::Uncompressed,
        error::{ErrorEnvelope, ErrorObject, Failure},
        layers,
        request_id::RequestId,
    },
    words::{Text, Words},
};

/// What a page may load and do: what comes from here, no script or style inside a page, no frame in it or around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// What a handler of the dashboard returns.
pub(super) type Shown = Result<Response, Failure>;

/// What the menu shows as the place one is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Outside,
    Boxes,
    Search,
    Keys,
    Integrations,
    Playground,
    Webhooks,
    Notices,
    Usage,
    Profile,
    Users,
    Plans,
    Model,
    Health,
    System,
    Audit,
}

/// What every page has.
pub(super) struct Frame {
    pub(super) title: String,
    /// What it says, in the visitor's language.
    pub(super) words: Words,
    /// What its script says.
    pub(super) script_words: &'static str,
    pub(super) place: Place,
    pub(super) style: String,
    pub(super) script: String,
    pub(super) theme: String,
    pub(super) icon: String,
    pub(super) csrf: String,
    /// Who is signed in: what they are called, and their address.
    pub(super) who: Option<(String, String)>,
    pub(super) operator: bool,
    /// What was just done.
    pub(super) notice: Option<String>,
}

impl Frame {
    pub(super) fn new(app: &App, visit: &Visit, title: impl Into<String>, place: Place) -> Self {
        let assets = &app.assets;
        let user = visit.session.as_ref().map(|session| &session.user);
        Frame {
            title: title.into(),
            words: visit.words,
            script_words: visit.words.of_script(),
            place,
            style: assets.style.clone(),
            script: assets.script.clone(),
            theme: assets.theme.clone(),
            icon: assets.icon.clone(),
            csrf: csrf::token_of(visit),
            who: user.map(|user| {
                let email = user.email.to_string();
                (user.name.as_ref().map_or_else(|| email.clone(), |name| name.as_str().into()), email)
            }),
            operator: user.is_some_and(|user| user.operator),
            notice: visit.done.as_deref().and_then(notice).map(|key| visit.words.plain(key)),
        }
    }

    /// That of a page about a box: the text of this key, then what the box is called.
    pub(super) fn in_box(app: &App, visit: &Visit, key: &str, name: &str) -> Self {
        Frame::new(app, visit, format!("{} · {name}", visit.words.text(key)), Place::Boxes)
    }

    /// A text in the visitor's language.
    pub(super) fn text(&self, key: &str) -> Text {
        self.words.text(key)
    }

    pub(super) fn is(&self, place: &str) -> bool {
        format!("{:?}", self.place).eq_ignore_ascii_case(place)
    }
}

/// The text that is said after something was done; the address holds only the code.
fn notice(code: &str) -> Option<&'static str> {
    Some(match code {
        "renamed" => "frame-done-renamed",
        "language" => "frame-done-language",
        "box-deleted" => "frame-done-box-deleted",
        "handed-over" => "frame-done-handed-over",
        "member-added" => "frame-done-member-added",
        "member-changed" => "frame-done-member-changed",
        "member-removed" => "frame-done-member-removed",
        "shared" => "frame-done-shared",
        "unshared" => "frame-done-unshared",
        "conversation-deleted" => "frame-done-conversation-deleted",
        "expected" => "frame-done-expected",
        "question-removed" => "frame-done-question-removed",
        "left" => "frame-done-left",
        "withdrawn" => "frame-done-withdrawn",
        "file-changed" => "frame-done-file-changed",
        "added" => "frame-done-added",
        "read-again" => "frame-done-read-again",
        "key-revoked" => "frame-done-key-revoked",
        "program-revoked" => "frame-done-program-revoked",
        "webhook-deleted" => "frame-done-webhook-deleted",
        "replayed" => "frame-done-replayed",
        "profile" => "frame-done-profile",
        "password" => "frame-done-password",
        "second-step-removed" => "frame-done-second-step-removed",
        "passkey-added" => "frame-done-passkey-added",
        "passkey-removed" => "frame-done-passkey-removed",
        "session-ended" => "frame-done-session-ended",
        "connected" => "frame-done-connected",
        "confirmed" => "frame-done-confirmed",
        "offered" => "frame-done-offered",
        "kept" => "frame-done-kept",
        "unlocked" => "frame-done-unlocked",
        "user-changed" => "frame-done-user-changed",
        "plan" => "frame-done-plan",
        "model" => "frame-done-model",
        "undone" => "frame-done-undone",
        "signed-out" => "frame-done-signed-out",
        "signed-out-everywhere" => "frame-done-signed-out-everywhere",
        _ => return None,
    })
}

/// A page.
pub(super) fn show(template: &impl Template) -> Shown {
    Ok(Html(template.render().map_err(Fault::internal)?).into_response())
}

/// A page that shows a secret.
pub(super) fn with_secret(mut page: Response) -> Response {
    page.extensions_mut().insert(Uncompressed);
    page
}

/// To another page, with GET.
pub(super) fn go(path: impl AsRef<str>) -> Response {
    let location = HeaderValue::try_from(path.as_ref()).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// A path of ours to go on to; anything else is the start.
pub(super) fn safe(next: &str) -> String {
    let ours = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains(|c: char| c == '\\' || c.is_control())
        && !next.starts_with("/sign-");
    if ours { next.to_string() } else { "/".into() }
}

/// A redirect to another server as the answer to a form. The policy lets forms lead to this server alone, and browsers hold
/// redirects to that as well; so the page that comes back goes on by itself.
pub(super) fn after_form(mut redirect: Response) -> Response {
    let location = redirect.headers_mut().remove(header::LOCATION);
    let refresh =
        location.map(|location| HeaderValue::from_bytes(&[b"0;url=", location.as_bytes()].concat()));
    if let Some(Ok(refresh)) = refresh {
        redirect.headers_mut().insert(header::REFRESH, refresh);
        *redirect.status_mut() = StatusCode::OK;
    }
    redirect
}

/// The layer that makes pages of faults and gives all answers their headers.
pub(super) async fn present(State(app): State<App>, request: Request, next: Next) -> Response {
    let visit = request.extensions().get::<Arc<Visit>>().cloned();
    let id = request.extensions().get::<RequestId>().copied();
    let reading = *request.method() == Method::GET;
    let mut response = next.run(request).await;
    let fault = response.extensions_mut().remove::<Arc<Fault>>();
    let for_script = visit.as_ref().is_some_and(|visit| visit.script);
    if let (Some(fault), Some(visit)) = (fault, visit) {
        if let (Some(source), Some(id)) = (&fault.source, id) {
            tracing::error!(request.id = %id, error = %source, "A page failed: {}", fault.reason.as_str());
        }
        response = failed(&app, &visit, &fault, id.as_ref(), reading);
        if let Some(wait) = fault.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        }
    }
    if for_script && response.status() == StatusCode::SEE_OTHER {
        response = told_where(response);
    }
    dress(response.headers_mut());
    response
}

/// A redirect for our script, which goes there itself: a request of its own would follow it and show nothing.
fn told_where(mut redirect: Response) -> Response {
    let location = redirect.headers_mut().remove(header::LOCATION);
    let location = location.as_ref().and_then(|location| location.to_str().ok()).unwrap_or("/");
    let mut answer = axum::Json(json!({"go": location})).into_response();
    for cookie in redirect.headers().get_all(header::SET_COOKIE) {
        answer.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    answer
}

/// What is told where nothing is: people get a page, programs the error object.
pub(crate) async fn nowhere(State(app): State<App>, id: RequestId, headers: HeaderMap, uri: Uri) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok()).unwrap_or_default();
    let failure = layers::unknown_route(uri.clone()).await;
    if !accepted.contains("text/html") || uri.path().starts_with(BASE) {
        return failure.into_response();
    }
    let fault = Fault::new(Reason::NotFound, "there is nothing at this address");
    let visit = Visit { words: visit::accepted(&headers), ..Visit::nobody() };
    let mut response = failed(&app, &visit, &fault, Some(&id), true);
    dress(response.headers_mut());
    response
}

/// Gives pages that are shown without a visit, such as the documentation, the same headers.
pub(crate) async fn with_page_headers(mut response: Response) -> Response {
    dress(response.headers_mut());
    response
}

/// The headers of everything that is shown.
fn dress(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // Not "no-referrer": then browsers keep from us where a form comes from.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    status: u16,
    summary: String,
    cause: String,
    request: String,
}

/// How errors look: our script gets the error object, people get a page, and visitors who are not signed in get the
/// sign-in page.
fn failed(app: &App, visit: &Visit, fault: &Fault, id: Option<&RequestId>, reading: bool) -> Response {
    let status = StatusCode::from_u16(fault.reason.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if visit.script {
        let mut error = ErrorObject::of(fault, id);
        error.message = sentence(&told(fault));
        let envelope = ErrorEnvelope { success: false, error };
        return (status, axum::Json(envelope)).into_response();
    }
    if fault.reason == Reason::KeyMissing {
        let next: String = form_urlencoded::byte_serialize(visit.path.as_bytes()).collect();
        return go(if reading && visit.path != "/" {
            format!("/sign-in?next={next}")
        } else {
            "/sign-in".into()
        });
    }
    let summary = heading(visit.words, fault.reason);
    let page = ErrorPage {
        frame: Frame::new(app, visit, summary.clone(), Place::Outside),
        status: status.as_u16(),
        summary,
        cause: sentence(&told(fault)),
        request: id.map(ToString::to_string).unwrap_or_default(),
    };
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(_) => status.into_response(),
    }
}

/// A title for people who have never seen the API.
fn heading(words: Words, reason: Reason) -> String {
    words.plain(match reason {
        Reason::RoleInsufficient | Reason::BoxUnknown => "frame-refused",
        Reason::RateLimitUser => "frame-too-many",
        Reason::KeyMissing => "frame-sign-in-first",
        Reason::UnitsExhausted => "frame-no-units",
        Reason::Conflict => "frame-not-now",
        Reason::MethodNotAllowed => "frame-no-page",
        Reason::UpstreamUnavailable => "frame-no-model",
        Reason::MissingParameter | Reason::InvalidParameter => "frame-wrong-request",
        other => return other.summary().to_string(),
    })
}

/// What went wrong, for people who have never seen the API: without what only a program could do about it.
fn told(fault: &Fault) -> String {
    let cause = match fault.reason {
        Reason::KeyMissing => "your sign-in has ended; sign in again",
        _ => &fault.cause,
    };
    let for_people = |part: &&str| !PROGRAMS.iter().any(|word| part.contains(word));
    let parts: Vec<&str> = cause.split("; ").filter(for_people).collect();
    let text = if parts.is_empty() { cause.to_string() } else { parts.join("; ") };
    text.replace('`', "")
}

/// Words that only programs know.
const PROGRAMS: &[&str] = &["max_units", "`Authorization`", "X-Box-Id", "the Allow header", "openapi.json"];

/// A cause as a sentence of its own.
pub(super) fn sentence(cause: &str) -> String {
    let mut letters = cause.chars();
    let first = letters.next().map(char::to_uppercase);
    let end = if cause.ends_with(['.', '!', '?']) { "" } else { "." };
    first.into_iter().flatten().chain(letters).chain(end.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere_after_signing_in() {
        assert_eq!(safe("/boxes/box_1?page=2"), "/boxes/box_1?page=2");
        for elsewhere in
            ["", "https://evil.example", "//evil.example", "/\\evil.example", "/a\nb", "/sign-in"]
        {
            assert_eq!(safe(elsewhere), "/", "{elsewhere}");
        }
    }

    #[test]
    fn people_are_not_told_what_only_programs_can_do() {
        let fault = Fault::new(Reason::UnitsExhausted, "an answer can cost up to 10 units, and 2 are left")
            .hint("send \"max_units\": 2 to limit the call to that");
        assert_eq!(sentence(&told(&fault)), "An answer can cost up to 10 units, and 2 are left.");
        assert_eq!(
            told(&Fault::missing("name", "what the box is called")),
            "name is required: what the box is called"
        );
        assert!(told(&Fault::new(Reason::KeyMissing, "send `Authorization`")).contains("sign in again"));
    }
}
