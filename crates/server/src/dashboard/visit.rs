//! Who a request comes from: the cookie, the sign-in behind it, the address.
//!
//! Every browser holds one random token in a cookie that scripts cannot read. Signing in always makes a new one, so a token
//! that was planted on somebody never becomes a sign-in; the catalog knows only its hash.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::{
    Fault,
    ids::UserId,
    seams::catalog::{NewSession, Place, Session},
};
use jiff::Timestamp;

use crate::{
    app::{App, guard},
    http::{error::Failure, layers},
    manage::By,
    sessions::{self, LONGEST, ago, hash, new_token},
    words::Words,
};

use super::{
    cookies::{cookie, put_cookie},
    said::{self, Brought, Said},
};

/// The prefix makes browsers hold it to HTTPS, this host and every path.
const COOKIE: &str = "__Host-quire";
/// Tells that somebody has signed in to an account in this browser before; lets nobody in.
const KNOWN_COOKIE: &str = "__Host-quire-known";
/// How long a browser keeps it.
const KNOWN_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How exact "last used" is: one write per minute, not one per click.
const TOUCH_AFTER: Duration = Duration::from_secs(60);
/// Characters kept of what a browser says it is.
const LONGEST_AGENT: usize = 200;

/// One request to the dashboard, and who it comes from.
pub(super) struct Visit {
    /// What the browser's cookie holds, or will.
    pub(super) token: String,
    /// Who it is, if they are signed in.
    pub(super) session: Option<Session>,
    /// Where they are.
    pub(super) address: String,
    /// The network that guesses are counted by.
    pub(super) network: String,
    /// What tells this browser from others, where somebody has signed in before.
    pub(super) browser: Option<String>,
    /// The language that they chose, or that their browser asks for.
    pub(super) words: Words,
    /// What the browser says it is.
    pub(super) agent: String,
    /// Whether our script asks, rather than the browser itself.
    pub(super) script: bool,
    /// The path with its query, for the way back after signing in.
    pub(super) path: String,
    /// The code of a message about what was just done.
    pub(super) done: Option<String>,
    /// What the page is to say once.
    pub(super) brought: Brought,
}

impl Visit {
    /// A visitor about whom nothing is known.
    pub(super) fn nobody() -> Self {
        Visit {
            token: String::new(),
            session: None,
            address: String::new(),
            network: String::new(),
            browser: None,
            words: Words::default(),
            agent: String::new(),
            script: false,
            path: String::new(),
            done: None,
            brought: Brought::default(),
        }
    }

    /// Who, to people.
    pub(super) fn who(&self) -> String {
        self.session.as_ref().map_or_else(String::new, |session| session.user.email.to_string())
    }

    /// The same for the audit log.
    pub(super) fn by(&self, app: &App) -> By {
        By { app: app.clone(), user: self.user(), who: self.who(), address: self.address.clone() }
    }

    /// Has the page that a redirect leads to say something, once.
    pub(super) fn say(&self, said: &Said, response: Response) -> Response {
        said::say(&self.token, said, response)
    }

    pub(super) fn user(&self) -> Option<UserId> {
        self.session.as_ref().map(|session| session.user.id)
    }
}

/// The outermost layer: finds out who it is, and gives a newcomer a token.
pub(super) async fn enter(State(app): State<App>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let (visit, newcomer) = match visit(&app, &head).await {
        Ok(visit) => visit,
        Err(fault) => return Failure(fault).into_response(),
    };
    let visit = Arc::new(visit);
    let mut request = Request::from_parts(head, body);
    request.extensions_mut().insert(visit.clone());
    let mut response = next.run(request).await;
    if newcomer && !response.headers().contains_key(header::SET_COOKIE) {
        set_cookie(response.headers_mut(), &visit.token, None);
    }
    visit.brought.forget(response.headers_mut());
    response
}

async fn visit(app: &App, head: &Parts) -> Result<(Visit, bool), Fault> {
    let now = Timestamp::now();
    let sent = cookie(&head.headers, COOKIE);
    let session = match &sent {
        Some(sent) => sessions::find(&*app.catalog, sent, now).await?,
        None => None,
    };
    if let Some(session) = session.as_ref().filter(|session| session.seen_at < ago(now, TOUCH_AFTER)) {
        app.catalog.touch_session(session.id, now).await?;
    }
    let address = layers::client_address(app, head);
    let header = |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let agent = header(header::USER_AGENT).unwrap_or_default().chars().take(LONGEST_AGENT).collect();
    let query = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
    let done = query.into_owned().find(|(name, _)| name == "done").map(|(_, code)| code);
    let newcomer = sent.is_none();
    let token = sent.unwrap_or_else(new_token);
    let script = head.headers.contains_key("x-quire-script");
    let chosen = session.as_ref().and_then(|session| session.user.language);
    let visit = Visit {
        words: chosen.map_or_else(|| accepted(&head.headers), Words::of),
        // Our script looks at pages that nobody sees.
        brought: if script { Brought::default() } else { Brought::by(&head.headers, &token) },
        token,
        session,
        address: address.to_canonical().to_string(),
        network: guard::network(address).to_string(),
        browser: cookie(&head.headers, KNOWN_COOKIE),
        agent,
        script,
        path: head.uri.path_and_query().map_or("/", |path| path.as_str()).to_string(),
        done,
    };
    Ok((visit, newcomer))
}

/// The language that a browser asks for.
pub(super) fn accepted(headers: &HeaderMap) -> Words {
    let header = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Words::accepted(header.unwrap_or_default())
}

/// Sets the browser's token; without `life` it goes with the browser.
fn set_cookie(headers: &mut HeaderMap, token: &str, life: Option<Duration>) {
    put_cookie(headers, COOKIE, token, life);
}

/// Signs somebody in: a new token, whatever the browser held before.
pub(super) async fn begin(
    app: &App,
    visit: &Visit,
    user: UserId,
    response: &mut Response,
) -> Result<(), Fault> {
    let (token, now) = (new_token(), Timestamp::now());
    let session = NewSession {
        user,
        token: hash(&token),
        agent: visit.agent.clone(),
        address: visit.address.clone(),
        now,
        expires_at: now.saturating_add(LONGEST).unwrap_or(Timestamp::MAX),
    };
    app.catalog.begin_session(session).await?;
    // Whoever was signed in here before no longer is.
    if let Some(before) = &visit.session {
        app.catalog.end_session(before.user.id, before.id).await?;
    }
    set_cookie(response.headers_mut(), &token, Some(LONGEST));
    let browser = visit.browser.clone().unwrap_or_else(new_token);
    let places = [Place::Network(visit.network.clone()), Place::Browser(hash(&browser))];
    app.catalog.remember_places(user, &places, now).await?;
    put_cookie(response.headers_mut(), KNOWN_COOKIE, &browser, Some(KNOWN_FOR));
    Ok(())
}

/// Takes the token away from a browser.
pub(super) fn forget(response: &mut Response) {
    set_cookie(response.headers_mut(), "gone", Some(Duration::ZERO));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_out_of_reach_of_scripts_and_plain_http() {
        let mut headers = HeaderMap::new();
        set_cookie(&mut headers, "t", Some(LONGEST));
        assert_eq!(
            headers[header::SET_COOKIE],
            "__Host-quire=t; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000"
        );
    }
}
