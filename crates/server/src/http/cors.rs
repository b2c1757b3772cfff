//! What pages of other web sites may ask for: to search and to be answered, with a key that names their site. Keys that name
//! none are not for pages, and nothing here happens for them.

use axum::{
    extract::MatchedPath,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason, access::Caller, origins::WebOrigin};

use super::BASE;

/// All that a key for pages opens, below the base path; each is asked with POST.
const FOR_PAGES: [&str; 4] = [
    "/chat/completions",
    "/boxes/{box_id}/chat/completions",
    "/retrieve-documents",
    "/boxes/{box_id}/retrieve-documents",
];
/// What scripts may read of an answer beside its body.
const READABLE: HeaderValue = HeaderValue::from_static(
    "retry-after, x-request-id, x-ratelimit-hits, x-ratelimit-remaining-key, x-ratelimit-remaining-user, \
     x-ratelimit-reset-key, x-ratelimit-reset-user, ratelimit, ratelimit-policy",
);
/// Seconds for which a browser need not ask again whether it may ask.
const ASKED_FOR: HeaderValue = HeaderValue::from_static("600");

/// The answer to a browser that asks whether a page may send a request. It sends no key along, so this says only what a page with
/// one can ask for; whether its key names the page's site is looked at when the request itself comes.
pub(super) fn preflight(head: &Parts) -> Option<Response> {
    let wanted = head.headers.get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    let origin = origin(&head.headers)?;
    let a_site = origin.parse::<WebOrigin>().is_ok_and(|site| site.as_str() == origin);
    if head.method != Method::OPTIONS || wanted != "POST" || !a_site || !is_for_pages(head) {
        return None;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_str(origin).ok()?);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    let allowed = HeaderValue::from_static("authorization, content-type");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, ASKED_FOR);
    headers.append(header::VARY, HeaderValue::from_static("origin, access-control-request-method"));
    Some(response)
}

/// Refuses what a key for pages is not for; other keys pass.
pub(super) fn check(caller: &Caller, head: &Parts) -> Result<(), Fault> {
    caller.may_come_from(origin(&head.headers))?;
    if caller.origins.is_empty() || is_for_pages(head) {
        return Ok(());
    }
    let cause = "this key is for web pages, which can search and ask questions, and nothing else";
    Err(Fault::new(Reason::KeyScope, cause).hint("use a key without origins in programs"))
}

/// The site that an answer is for, if the key names it: scripts of its pages may read the answer.
pub(super) fn site(caller: &Caller, headers: &HeaderMap) -> Option<HeaderValue> {
    let named = origin(headers).filter(|origin| caller.origins.names(origin))?;
    HeaderValue::from_str(named).ok()
}

/// Lets scripts of a site read an answer.
pub(super) fn let_read(headers: &mut HeaderMap, site: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, site);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READABLE);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

/// Where a request says it comes from. Browsers say it once.
fn origin(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::ORIGIN).iter();
    match (all.next(), all.next()) {
        (Some(origin), None) => origin.to_str().ok(),
        _ => None,
    }
}

fn is_for_pages(head: &Parts) -> bool {
    let route = head.extensions.get::<MatchedPath>().and_then(|route| route.as_str().strip_prefix(BASE));
    route.is_some_and(|route| FOR_PAGES.contains(&route))
}
