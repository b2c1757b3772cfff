//! Account → Profile: name, password, language, sign-ins.

use askama::Template;
use axum::extract::State;
use engine::{
    ids::{SessionId, SessionKind},
    seams::catalog::{Action, UserLanguage},
};
use jiff::Timestamp;

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{Named, SignedIn},
    second_step,
    show::{self, Moment},
    tries, visit,
};
use crate::{app::App, passwords};

/// A sign-in as the page shows it.
struct SessionRow {
    id: SessionId,
    browser: String,
    address: String,
    since: Moment,
    seen: Moment,
    here: bool,
}

#[derive(Template)]
#[template(path = "profile.html")]
struct ProfilePage {
    frame: Frame,
    email: String,
    name: String,
    plan: String,
    since: Moment,
    has_password: bool,
    second_step: bool,
    passkeys: usize,
    /// What the provider is called, where people can sign in with one, and whether this account can.
    provider: Option<(String, bool)>,
    shortest: usize,
    /// The languages that there are: code, name, and whether it is the one that was chosen.
    languages: Vec<(&'static str, &'static str, bool)>,
    sessions: Vec<SessionRow>,
}

/// The page.
pub(super) async fn show(State(app): State<App>, who: SignedIn) -> Shown {
    let (user, words) = (who.user(), who.0.words);
    let sessions = app.catalog.sessions_of(user.id, Timestamp::now()).await?;
    let stored = app.catalog.stored_sign_in(&user.email).await?;
    let provider = match &app.oidc {
        Some(provider) => Some((provider.label().to_string(), app.catalog.has_identity(user.id).await?)),
        None => None,
    };
    page::show(&ProfilePage {
        frame: Frame::new(&app, &who.0, words.text("frame-profile"), Place::Profile),
        email: user.email.to_string(),
        name: user.name.as_ref().map_or_else(String::new, |name| name.as_str().to_string()),
        plan: user.plan.as_str().to_string(),
        since: Moment::of(user.created_at),
        has_password: stored.is_some_and(|stored| stored.password_hash.is_some()),
        second_step: second_step::confirmed(&app, user.id).await?.is_some(),
        passkeys: app.catalog.passkeys_of(user.id).await?.len(),
        provider,
        shortest: passwords::SHORTEST,
        languages: UserLanguage::ALL
            .map(|one| (one.as_str(), one.own_name(), user.language == Some(one)))
            .into(),
        sessions: sessions
            .into_iter()
            .map(|session| SessionRow {
                here: session.id == who.session().id,
                id: session.id,
                browser: show::browser(words, &session.agent),
                address: session.address,
                since: Moment::of(session.created_at),
                seen: Moment::of(session.seen_at),
            })
            .collect(),
    })
}

/// What one is called.
pub(super) async fn rename(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    app.catalog.set_user_name(who.user().id, fields.optional("name")?).await?;
    Ok(page::go("/account/profile?done=profile"))
}

/// The language of the dashboard; without one it is the browser's.
pub(super) async fn set_language(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let language: Option<UserLanguage> = fields.optional("language")?;
    app.catalog.set_user_language(who.user().id, language).await?;
    Ok(page::go("/account/profile?done=profile"))
}

/// Another password. Whoever has one must know it; all other sign-ins end.
pub(super) async fn change_password(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let user = who.user();
    tries::must_know_password(&app, &who, fields.raw("current")).await?;
    let hash = app.passwords.hash(fields.raw("password"), &user.email).await?;
    app.catalog.set_password(user.id, hash, who.session().id).await?;
    audit::note(&app, &who.0, Action::PasswordChanged, None, "").await?;
    // A new token here too: whoever had copied the old one is out.
    let mut response = page::go("/account/profile?done=password");
    visit::begin(&app, &who.0, user.id, &mut response).await?;
    Ok(response)
}

/// Ends one sign-in.
pub(super) async fn end_session(
    State(app): State<App>,
    who: SignedIn,
    Named(session): Named<SessionKind>,
) -> Shown {
    app.catalog.end_session(who.user().id, session).await?;
    Ok(page::go("/account/profile?done=session-ended"))
}

/// Ends all sign-ins, this one too.
pub(super) async fn sign_out_everywhere(State(app): State<App>, who: SignedIn) -> Shown {
    app.catalog.end_sessions(who.user().id, None).await?;
    audit::note(&app, &who.0, Action::SignedOutEverywhere, None, "").await?;
    let mut response = page::go("/sign-in?done=signed-out-everywhere");
    visit::forget(&mut response);
    Ok(response)
}
