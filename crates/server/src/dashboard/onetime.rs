//! One-time links at `/welcome`: setting the server up, joining, choosing a new password.
//!
//! A link's secret is in the query, which is never logged, and only its hash is stored.

use std::time::Duration;

use askama::Template;
use axum::extract::{Query, State};
use engine::{
    Fault, Reason,
    access::Role,
    ids::UserId,
    seams::catalog::{Action, Catalog, Email, Inviters, Newcomer, OneTimeLink, Purpose, User},
};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::Visiting,
    second_step,
    visit::{self, Visit},
};
use crate::{app::App, manage::members::new_link, passwords, sessions};

/// How long a set-up link works: it is printed again at every start.
const SET_UP_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a new password may wait to be chosen.
pub(super) const RESET_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// Creates a link and gives its address below `base`.
pub(super) async fn make(
    catalog: &dyn Catalog,
    base: impl std::fmt::Display,
    purpose: Purpose,
    made_by: Option<UserId>,
    life: Duration,
) -> Result<String, Fault> {
    let (link, address) = new_link(base, purpose, made_by, life);
    catalog.add_link(link).await?;
    Ok(address)
}

/// The link that makes the first operator, while there is none: of this account, or of a new one.
pub async fn set_up_link(
    catalog: &dyn Catalog,
    base: &str,
    user: Option<UserId>,
) -> Result<Option<String>, Fault> {
    if catalog.is_set_up().await? {
        return Ok(None);
    }
    make(catalog, base, Purpose::SetUp { user }, None, SET_UP_LIFE).await.map(Some)
}

#[derive(Template)]
#[template(path = "welcome.html")]
struct WelcomePage {
    frame: Frame,
    token: String,
    heading: String,
    explanation: String,
    button: String,
    /// The address, where the link says whose account it is.
    email: Option<String>,
    /// Whether to ask for address, name and password.
    asks_email: bool,
    asks_name: bool,
    asks_password: bool,
    /// Somebody with an account signs in first.
    sign_in: Option<String>,
    shortest: usize,
    wrong: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Token {
    token: Option<String>,
}

async fn find(app: &App, token: &str) -> Result<OneTimeLink, Fault> {
    let link = app.catalog.link(&sessions::hash(token), Timestamp::now()).await?;
    link.ok_or_else(|| {
        Fault::new(Reason::NotFound, "this link has already been used, has expired or is incomplete")
            .hint("ask the person who gave it to you for a new one")
    })
}

async fn user_with(app: &App, email: &Email) -> Result<Option<User>, Fault> {
    Ok(app.catalog.stored_sign_in(email).await?.map(|stored| stored.user))
}

async fn email_of(app: &App, user: UserId) -> Result<Option<Email>, Fault> {
    Ok(app.catalog.users().await?.into_iter().find(|known| known.id == user).map(|user| user.email))
}

/// What the page asks, depending on what the link does and who follows it.
async fn page_for(
    app: &App,
    visit: &Visit,
    link: &OneTimeLink,
    token: &str,
    wrong: Option<String>,
) -> Result<WelcomePage, Fault> {
    let words = visit.words;
    let mut page = WelcomePage {
        frame: Frame::new(app, visit, words.text("entry-welcome"), Place::Outside),
        token: token.to_string(),
        heading: words.plain("entry-welcome-to"),
        explanation: String::new(),
        button: words.plain("entry-create-account"),
        email: None,
        asks_email: false,
        asks_name: true,
        asks_password: true,
        sign_in: None,
        shortest: passwords::SHORTEST,
        wrong,
    };
    match &link.purpose {
        Purpose::SetUp { user } => {
            page.explanation = words.plain("entry-first-account");
            page.email = match user {
                Some(user) => email_of(app, *user).await?.map(|email| email.to_string()),
                None => None,
            };
            page.asks_email = page.email.is_none();
        }
        Purpose::Join { email, member, .. } => {
            page.explanation = match (member, &link.box_name) {
                (Some((_, role)), Some(name)) => words
                    .text("entry-invited-to-box")
                    .with("box", name)
                    .with("role", words.role(role))
                    .with("may", words.plain(what_may(*role)))
                    .plain(),
                _ => words.plain("entry-invited-to-server"),
            };
            page.email = Some(email.to_string());
            if let Some(user) = user_with(app, email).await? {
                let here = visit.user() == Some(user.id);
                (page.asks_name, page.asks_password, page.button) =
                    (false, false, words.plain("entry-accept"));
                let back: String =
                    form_urlencoded::byte_serialize(format!("/welcome?token={token}").as_bytes()).collect();
                page.sign_in = (!here).then(|| format!("/sign-in?next={back}"));
            } else if !link.by_operator && app.config.accounts.invitations == Inviters::Operators {
                return Err(Fault::new(
                    Reason::RoleInsufficient,
                    "there is no account with this address yet, and only operators of this server can create one",
                )
                .hint("ask an operator; the invitation stays open until then"));
            }
        }
        Purpose::Connect { .. } => {
            return Err(Fault::new(
                Reason::NotFound,
                "this link cannot be opened here; start again on your Profile page",
            ));
        }
        Purpose::Reset { email, .. } => {
            page.heading = words.plain("entry-new-password");
            page.explanation = words.plain("entry-ends-sign-ins");
            (page.email, page.asks_name) = (Some(email.to_string()), false);
            page.button = words.plain("entry-set-password");
        }
    }
    Ok(page)
}

/// The text that says what a role may do, in a few words.
pub(super) fn what_may(role: Role) -> &'static str {
    match role {
        Role::Viewer => "frame-may-viewer",
        Role::Editor => "frame-may-editor",
        Role::Admin => "frame-may-admin",
        Role::Owner => "frame-may-owner",
    }
}

/// The form behind a link.
pub(super) async fn show(
    State(app): State<App>,
    Visiting(visit): Visiting,
    Query(query): Query<Token>,
) -> Shown {
    let token = query.token.unwrap_or_default();
    let link = find(&app, &token).await?;
    page::show(&page_for(&app, &visit, &link, &token, None).await?)
}

/// Uses the link, and signs whoever did in.
pub(super) async fn accept(State(app): State<App>, Visiting(visit): Visiting, fields: Fields) -> Shown {
    let token = fields.text("token");
    let link = find(&app, token).await?;
    let page = page_for(&app, &visit, &link, token, None).await?;
    if page.sign_in.is_some() {
        return Err(Fault::new(
            Reason::RoleInsufficient,
            "this invitation is for another account; sign in to that account first",
        )
        .into());
    }
    let newcomer = match read(&app, &visit, &page, &fields).await {
        Ok(newcomer) => newcomer,
        Err(fault) if fault.reason == Reason::InvalidParameter && !visit.script => {
            let wrong = Some(page::sentence(&fault.cause));
            let mut response = page::show(&page_for(&app, &visit, &link, token, wrong).await?)?;
            *response.status_mut() = axum::http::StatusCode::BAD_REQUEST;
            return Ok(response);
        }
        Err(fault) => return Err(fault.into()),
    };
    let inviters = app.config.accounts.invitations;
    let used = app.catalog.use_link(&sessions::hash(token), newcomer, inviters, Timestamp::now()).await?;
    let user = used
        .ok_or_else(|| Fault::new(Reason::NotFound, "this link has already been used; ask for a new one"))?;
    let next = match &link.purpose {
        Purpose::Join { member: Some((box_id, _)), .. } => format!("/boxes/{box_id}"),
        _ => "/".into(),
    };
    note(&app, &visit, &link.purpose, &user).await?;
    // Whoever accepts an invitation has signed in before.
    if visit.user() == Some(user.id) {
        let mut response = page::go(next);
        visit::begin(&app, &visit, user.id, &mut response).await?;
        return Ok(response);
    }
    let (response, _) = second_step::enter(&app, &visit, user.id, &next).await?;
    Ok(response)
}

async fn read(app: &App, visit: &Visit, page: &WelcomePage, fields: &Fields) -> Result<Newcomer, Fault> {
    let email: Email = match &page.email {
        Some(email) => Email::stored(email),
        None => fields.parse("email")?,
    };
    if page.asks_email && user_with(app, &email).await?.is_some() {
        return Err(Fault::invalid("email", "there is already an account with this address"));
    }
    let name = if page.asks_name { fields.optional("name")? } else { None };
    let password_hash = match page.asks_password {
        true => Some(app.passwords.hash(fields.raw("password"), &email).await?),
        false => None,
    };
    Ok(Newcomer { signed_in: visit.user(), email, name, password_hash })
}

async fn note(app: &App, visit: &Visit, purpose: &Purpose, user: &User) -> Result<(), Fault> {
    match purpose {
        Purpose::SetUp { .. } => audit::note_by(app, visit, user, Action::ServerSetUp, "").await,
        Purpose::Join { member: None, .. } => audit::note_by(app, visit, user, Action::AccountMade, "").await,
        Purpose::Join { member: Some((box_id, role)), .. } => {
            let target = format!("{} as {role}", user.email);
            audit::note_in(app, visit, user, Action::MemberAdded, *box_id, target).await
        }
        Purpose::Reset { .. } => {
            audit::note_by(app, visit, user, Action::PasswordChanged, "with a link").await
        }
        Purpose::Connect { .. } => Ok(()),
    }
}
