//! Signing in with a password, and signing out.

use std::time::Duration;

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use engine::{
    Fault, Reason,
    seams::catalog::{self, Action, Email, Subject, User},
};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{SignedIn, Visiting},
    visit::{self, Visit},
};
use crate::{app::App, http::error::Failure, sessions};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Frame,
    email: String,
    next: String,
    wrong: Option<String>,
    /// What the button for another way in says.
    oidc: Option<String>,
    /// What its address ends with.
    oidc_next: String,
    /// Whether nobody can sign in yet.
    not_set_up: bool,
}

#[derive(Deserialize)]
pub(super) struct Next {
    next: Option<String>,
}

/// A path of ours to go on to; anything else is the start.
pub(super) fn safe(next: &str) -> String {
    let ours = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains(|c: char| c == '\\' || c.is_control())
        && !next.starts_with("/sign-");
    if ours { next.to_string() } else { "/".into() }
}

async fn render(app: &App, visit: &Visit, email: &str, next: &str, wrong: Option<String>) -> Shown {
    page::show(&SignInPage {
        frame: Frame::new(app, visit, "Sign in", Place::Outside),
        email: email.to_string(),
        oidc_next: match safe(next).as_str() {
            "/" => String::new(),
            next => format!("?next={}", form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>()),
        },
        next: safe(next),
        wrong,
        oidc: app.oidc.as_ref().map(|provider| provider.label().to_string()),
        not_set_up: !app.catalog.is_set_up().await?,
    })
}

/// The form.
pub(super) async fn show(
    State(app): State<App>,
    Visiting(visit): Visiting,
    Query(query): Query<Next>,
) -> Shown {
    let next = query.next.unwrap_or_default();
    if visit.session.is_some() {
        return Ok(page::go(safe(&next)));
    }
    render(&app, &visit, "", &next, None).await
}

/// The result of a try.
enum Tried {
    Right(Box<User>),
    Wrong,
    TooMany(Duration),
}

/// Refuses whoever is signed in to an account with a password and does not know it. Tries are counted like those to sign in.
pub(super) async fn must_know_password(app: &App, who: &SignedIn, password: &str) -> Result<(), Fault> {
    let email = &who.user().email;
    let stored = app.catalog.stored_sign_in(email).await?;
    if stored.is_none_or(|stored| stored.password_hash.is_none()) {
        return Ok(());
    }
    match tried(app, &who.0, email, password).await? {
        Tried::Right(_) => Ok(()),
        Tried::Wrong => Err(Fault::new(Reason::RoleInsufficient, "the current password is wrong")),
        Tried::TooMany(wait) => Err(Fault::new(Reason::RateLimitUser, too_many(wait)).retry_after(wait)),
    }
}

/// Whose tries this one is counted with. Nobody can make the owner of an account wait in a browser in which they have signed
/// in before, nor, from elsewhere, in a network from which they have.
async fn counted_with(app: &App, visit: &Visit, email: &Email) -> Result<Vec<Subject>, Fault> {
    if let Some(browser) = visit.browser.as_deref().map(sessions::hash)
        && app.catalog.is_known_place(email, &catalog::Place::Browser(browser)).await?
    {
        return Ok(vec![Subject::Browser(email.clone(), browser)]);
    }
    let network = visit.network.clone();
    let known = app.catalog.is_known_place(email, &catalog::Place::Network(network.clone())).await?;
    let mut subjects = vec![Subject::From(email.clone(), network.clone()), Subject::Network(network)];
    if !known {
        subjects.push(Subject::Account(email.clone()));
    }
    Ok(subjects)
}

/// An attempt with something that is not an address: it can mean no account, but it counts against the network.
async fn tried_nobody(app: &App, visit: &Visit) -> Result<Tried, Fault> {
    let network = [Subject::Network(visit.network.clone())];
    let wait = app.catalog.count_try(&network, Timestamp::now()).await?;
    Ok(wait.map_or(Tried::Wrong, Tried::TooMany))
}

/// Counts the try first, then compares: however many come at once, each is counted.
async fn tried(app: &App, visit: &Visit, email: &Email, password: &str) -> Result<Tried, Fault> {
    let subjects = counted_with(app, visit, email).await?;
    if let Some(wait) = app.catalog.count_try(&subjects, Timestamp::now()).await? {
        return Ok(Tried::TooMany(wait));
    }
    let stored = app.catalog.stored_sign_in(email).await?;
    let hash = stored.as_ref().and_then(|stored| stored.password_hash.clone());
    let fits = app.passwords.verify(password, hash).await?;
    match stored.filter(|stored| fits && !stored.user.disabled) {
        Some(stored) => {
            app.catalog.forgive_tries(&subjects).await?;
            Ok(Tried::Right(Box::new(stored.user)))
        }
        None => Ok(Tried::Wrong),
    }
}

fn too_many(wait: Duration) -> String {
    let seconds = wait.as_secs() + 1;
    let wait = if seconds < 120 {
        format!("{seconds} seconds")
    } else {
        format!("{} minutes", seconds.div_ceil(60))
    };
    format!("Too many attempts. Wait {wait}, then try again.")
}

/// Signs in, or says that the address or the password is wrong, but not which of them.
pub(super) async fn sign_in(State(app): State<App>, Visiting(visit): Visiting, fields: Fields) -> Shown {
    let (email, next) = (fields.text("email"), fields.text("next"));
    let tried = match email.parse::<Email>() {
        Ok(email) => tried(&app, &visit, &email, fields.raw("password")).await?,
        Err(_) => tried_nobody(&app, &visit).await?,
    };
    let (status, wrong, wait) = match tried {
        Tried::Right(user) => {
            let mut response = page::go(safe(next));
            visit::begin(&app, &visit, user.id, &mut response).await?;
            audit::note_by(&app, &visit, &user, Action::SignedIn, "with a password").await?;
            return Ok(response);
        }
        Tried::Wrong => {
            audit::note_failure(&app, &visit, email).await?;
            (StatusCode::UNAUTHORIZED, "The address or the password is wrong.".to_string(), None)
        }
        Tried::TooMany(wait) => (StatusCode::TOO_MANY_REQUESTS, too_many(wait), Some(wait)),
    };
    let mut response = render(&app, &visit, email, next, Some(wrong)).await?;
    *response.status_mut() = status;
    if let Some(wait) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    }
    Ok(response)
}

/// Signs out, here.
pub(super) async fn sign_out(State(app): State<App>, who: SignedIn) -> Result<Response, Failure> {
    app.catalog.end_session(who.user().id, who.session().id).await?;
    audit::note(&app, &who.0, Action::SignedOut, None, "").await?;
    let mut response = page::go("/sign-in?done=signed-out");
    visit::forget(&mut response);
    Ok(response)
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
    fn waits_are_said_in_words() {
        assert!(too_many(Duration::from_millis(1500)).contains("2 seconds"));
        assert!(too_many(Duration::from_secs(900)).contains("16 minutes"));
    }
}
