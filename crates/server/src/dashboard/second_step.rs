//! The second step of signing in: the code of an authenticator app after the password, and how an account comes to ask for it.
//!
//! Between the two steps the browser holds a ticket, which says whose password was right, until when, and for which browser. It is signed,
//! so nothing is stored.

use std::time::Duration;

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use engine::{
    Fault, Reason,
    ids::UserId,
    seams::catalog::{Action, SecondFactor, Subject, User},
};
use jiff::Timestamp;
use ring::hmac;
use serde::Deserialize;

use super::{
    audit,
    cookies::{cookie, put_cookie},
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{SignedIn, Visiting},
    qr::{self, Drawn},
    said::Said,
    tries::{counted_with, must_know_password, must_not_wait, too_many},
    visit::{self, Visit},
};
use crate::{app::App, http::token, sessions, totp};

const TICKET: &str = "__Host-quire-step";
/// How long somebody may look for their authenticator.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Signs somebody in whose password was right, or asks for the second step if the account has one.
pub(super) async fn enter(
    app: &App,
    visit: &Visit,
    user: UserId,
    next: &str,
) -> Result<(Response, bool), Fault> {
    if confirmed(app, user).await?.is_none() {
        let mut response = page::go(next);
        visit::begin(app, visit, user, &mut response).await?;
        return Ok((response, true));
    }
    let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let mut response = page::go(format!("/sign-in/code?next={next}"));
    let until = Timestamp::now().as_second() + PATIENCE.as_secs().cast_signed();
    let ticket = format!("{user}.{until}.{}", seal(app, visit, user, until));
    put_cookie(response.headers_mut(), TICKET, &ticket, Some(PATIENCE));
    Ok((response, false))
}

/// The second factor of an account that asks for it.
pub(super) async fn confirmed(app: &App, user: UserId) -> Result<Option<SecondFactor>, Fault> {
    Ok(app.catalog.second_factor(user).await?.filter(|factor| factor.confirmed))
}

fn sealed_with(app: &App) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &app.link_secret)
}

fn said_in_ticket(visit: &Visit, user: UserId, until: i64) -> String {
    format!("second step of {user} until {until} in {}", visit.token)
}

fn seal(app: &App, visit: &Visit, user: UserId, until: i64) -> String {
    let tag = hmac::sign(&sealed_with(app), said_in_ticket(visit, user, until).as_bytes());
    token::encode(tag.as_ref())
}

/// Whose password was right in this browser just now.
async fn ticket(app: &App, visit: &Visit, headers: &HeaderMap) -> Result<User, Fault> {
    let read = || {
        let ticket = cookie(headers, TICKET)?;
        let mut parts = ticket.split('.');
        let (user, until, seal) = (parts.next()?, parts.next()?, parts.next()?);
        let (user, until): (UserId, i64) = (user.parse().ok()?, until.parse().ok()?);
        let said = said_in_ticket(visit, user, until);
        hmac::verify(&sealed_with(app), said.as_bytes(), &token::decode(seal)?).ok()?;
        (until >= Timestamp::now().as_second()).then_some(user)
    };
    let user = match read() {
        Some(id) => app.catalog.users().await?.into_iter().find(|user| user.id == id && !user.disabled),
        None => None,
    };
    user.ok_or_else(|| Fault::new(Reason::KeyMissing, "sign in with your password first"))
}

#[derive(Template)]
#[template(path = "sign_in_code.html")]
struct CodePage {
    frame: Frame,
    next: String,
    wrong: Option<String>,
}

fn render(app: &App, visit: &Visit, next: &str, wrong: Option<String>) -> Shown {
    let frame = Frame::new(app, visit, visit.words.text("entry-sign-in"), Place::Outside);
    page::show(&CodePage { frame, next: page::safe(next), wrong })
}

#[derive(Deserialize)]
pub(super) struct Next {
    next: Option<String>,
}

/// Asks for the code.
pub(super) async fn show(
    State(app): State<App>,
    Visiting(visit): Visiting,
    headers: HeaderMap,
    Query(query): Query<Next>,
) -> Shown {
    ticket(&app, &visit, &headers).await?;
    render(&app, &visit, &query.next.unwrap_or_default(), None)
}

/// Whether what was typed is a code of the factor or a recovery code, each of which is used up.
async fn fits(app: &App, user: UserId, factor: &SecondFactor, typed: &str) -> Result<bool, Fault> {
    if let Some(step) = totp::step_of(&factor.secret, typed, Timestamp::now().as_second()) {
        return app.catalog.use_step(user, step).await;
    }
    app.catalog.use_recovery_code(user, &sessions::hash(&totp::recovery_code(typed))).await
}

/// Signs in, or says that the code is wrong. Tries are counted like those of passwords, and first.
pub(super) async fn sign_in(
    State(app): State<App>,
    Visiting(visit): Visiting,
    headers: HeaderMap,
    fields: Fields,
) -> Shown {
    let user = ticket(&app, &visit, &headers).await?;
    let next = page::safe(fields.text("next"));
    let subjects = counted_with(&app, &visit, &user.email).await?;
    if let Some(wait) = app.catalog.count_try(&subjects, Timestamp::now()).await? {
        let mut response = render(&app, &visit, &next, Some(too_many(visit.words, wait)))?;
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        return Ok(response);
    }
    let right = match confirmed(&app, user.id).await? {
        Some(factor) => fits(&app, user.id, &factor, fields.text("code")).await?,
        // An operator has just taken it away.
        None => true,
    };
    if !right {
        audit::note_failure(&app, &visit, user.email.as_str()).await?;
        let wrong = visit.words.plain("entry-wrong-code");
        let mut response = render(&app, &visit, &next, Some(wrong))?;
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        return Ok(response);
    }
    forgive_both(&app, &subjects).await?;
    let mut response = page::go(next);
    visit::begin(&app, &visit, user.id, &mut response).await?;
    put_cookie(response.headers_mut(), TICKET, "gone", Some(Duration::ZERO));
    audit::note_by(&app, &visit, &user, Action::SignedIn, "with a password and a code").await?;
    Ok(response)
}

#[derive(Template)]
#[template(path = "second_step.html")]
struct SetUpPage {
    frame: Frame,
    /// What an app is to be told, while it waits to be confirmed.
    offered: Option<Offered>,
    /// Recovery codes that are left, where the step is asked for.
    left: Option<u64>,
    /// New recovery codes, once.
    fresh: Vec<String>,
}

/// A secret as an app can be told it.
struct Offered {
    /// In groups of four.
    groups: String,
    /// Opens an app with it.
    link: String,
    /// The same for a camera.
    picture: Option<Drawn>,
}

impl Offered {
    fn of(user: &User, factor: &SecondFactor) -> Self {
        let secret = totp::written(&factor.secret);
        let label: String = form_urlencoded::byte_serialize(user.email.as_str().as_bytes()).collect();
        let groups: Vec<&str> = (0..secret.len()).step_by(4).map(|at| &secret[at..at + 4]).collect();
        let link = format!("otpauth://totp/quire:{label}?secret={secret}&issuer=quire");
        Offered { groups: groups.join(" "), picture: qr::drawn(&link), link }
    }
}

/// The page of one's account on which it is set up.
pub(super) async fn account(State(app): State<App>, who: SignedIn) -> Shown {
    let user = who.user();
    let factor = app.catalog.second_factor(user.id).await?;
    let left = factor.as_ref().filter(|factor| factor.confirmed).map(|factor| factor.recovery_codes);
    let offered = factor.filter(|factor| !factor.confirmed).map(|factor| Offered::of(user, &factor));
    let fresh = match who.0.brought.take(|said| matches!(said, Said::Codes(_))) {
        Some(Said::Codes(codes)) => codes,
        _ => Vec::new(),
    };
    let secret = offered.is_some() || !fresh.is_empty();
    let frame = Frame::new(&app, &who.0, who.0.words.text("account-second-step"), Place::Profile);
    let shown = page::show(&SetUpPage { frame, offered, left, fresh })?;
    Ok(if secret { page::with_secret(shown) } else { shown })
}

const HERE: &str = "/account/second-step";

/// Offers a secret.
pub(super) async fn begin(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    must_know_password(&app, &who, fields.raw("current")).await?;
    if !app.catalog.offer_second_factor(who.user().id, totp::new_secret()).await? {
        return Err(Fault::new(Reason::Conflict, "your account already asks for a code").into());
    }
    Ok(page::go(HERE))
}

/// Asks for codes from now on, once one was shown; the next page has the recovery codes.
pub(super) async fn confirm(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let user = who.user();
    let factor = app.catalog.second_factor(user.id).await?.filter(|factor| !factor.confirmed);
    let factor =
        factor.ok_or_else(|| Fault::new(Reason::Conflict, "there is nothing to confirm; start again"))?;
    let step = totp::step_of(&factor.secret, fields.text("code"), Timestamp::now().as_second());
    let wrong = || Fault::invalid("code", "this is not the code that the app should show now");
    let step = step.ok_or_else(wrong)?;
    let codes = totp::new_recovery_codes();
    let hashes = codes.iter().map(|code| sessions::hash(code)).collect();
    if !app.catalog.confirm_second_factor(user.id, step, hashes).await? {
        return Err(Fault::new(Reason::Conflict, "your account already asks for a code").into());
    }
    let target = format!("{}: asks for a second step", user.email);
    audit::note(&app, &who.0, Action::AccountChanged, None, target).await?;
    Ok(who.0.say(&Said::Codes(codes), page::go(HERE)))
}

/// No longer asks for codes. It takes the password and a code, counted like tries to sign in.
pub(super) async fn remove(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    must_prove(&app, &who, &fields).await?;
    gone(&app, &who.0, who.user()).await?;
    Ok(page::go(format!("{HERE}?done=second-step-removed")))
}

/// Refuses whoever is signed in and does not know the password, or has no code where the account asks for one.
pub(super) async fn must_prove(app: &App, who: &SignedIn, fields: &Fields) -> Result<(), Fault> {
    let user = who.user();
    must_know_password(app, who, fields.raw("current")).await?;
    let Some(factor) = confirmed(app, user.id).await? else { return Ok(()) };
    let subjects = counted_with(app, &who.0, &user.email).await?;
    must_not_wait(app, &who.0, &subjects).await?;
    if !fits(app, user.id, &factor, fields.text("code")).await? {
        return Err(Fault::invalid("code", "the code is wrong, or has already been used"));
    }
    forgive_both(app, &subjects).await
}

/// Forgives the try of the password and that of the code.
async fn forgive_both(app: &App, subjects: &[Subject]) -> Result<(), Fault> {
    app.catalog.forgive_tries(subjects).await?;
    app.catalog.forgive_tries(subjects).await
}

/// Turns it off, and notes that.
pub(super) async fn gone(app: &App, visit: &Visit, user: &User) -> Result<(), Fault> {
    if app.catalog.remove_second_factor(user.id).await? {
        let target = format!("{}: no longer asks for a second step", user.email);
        audit::note(app, visit, Action::AccountChanged, None, target).await?;
    }
    Ok(())
}
