//! Signing in with a password, and signing out.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use engine::seams::catalog::{Action, Email};
use serde::Deserialize;

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{SignedIn, Visiting},
    second_step,
    tries::{self, Tried, too_many},
    visit::{self, Visit},
};
use crate::{
    app::App,
    http::{error::Failure, origin::Origin},
    webauthn::Site,
};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Frame,
    email: String,
    next: String,
    wrong: Option<String>,
    /// Whether browsers have passkeys at this address.
    passkeys: bool,
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

async fn render(
    app: &App,
    visit: &Visit,
    origin: &Origin,
    (email, next): (&str, &str),
    wrong: Option<String>,
) -> Shown {
    page::show(&SignInPage {
        frame: Frame::new(app, visit, visit.words.text("entry-sign-in"), Place::Outside),
        email: email.to_string(),
        oidc_next: match page::safe(next).as_str() {
            "/" => String::new(),
            next => format!("?next={}", form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>()),
        },
        next: page::safe(next),
        wrong,
        passkeys: Site::of(&origin.to_string()).is_some(),
        oidc: app.oidc.as_ref().map(|provider| provider.label().to_string()),
        not_set_up: !app.catalog.is_set_up().await?,
    })
}

/// The form.
pub(super) async fn show(
    State(app): State<App>,
    Visiting(visit): Visiting,
    origin: Origin,
    Query(query): Query<Next>,
) -> Shown {
    let next = query.next.unwrap_or_default();
    if visit.session.is_some() {
        return Ok(page::go(page::safe(&next)));
    }
    render(&app, &visit, &origin, ("", &next), None).await
}

/// Signs in, or says that the address or the password is wrong, but not which of them.
pub(super) async fn sign_in(
    State(app): State<App>,
    Visiting(visit): Visiting,
    origin: Origin,
    fields: Fields,
) -> Shown {
    let (email, next) = (fields.text("email"), fields.text("next"));
    let tried = match email.parse::<Email>() {
        Ok(email) => tries::with_password(&app, &visit, &email, fields.raw("password")).await?,
        Err(_) => tries::of_nobody(&app, &visit).await?,
    };
    let (status, wrong, wait) = match tried {
        Tried::Right(user) => {
            let (response, inside) = second_step::enter(&app, &visit, user.id, &page::safe(next)).await?;
            if inside {
                audit::note_by(&app, &visit, &user, Action::SignedIn, "with a password").await?;
            }
            return Ok(response);
        }
        Tried::Wrong => {
            audit::note_failure(&app, &visit, email).await?;
            (StatusCode::UNAUTHORIZED, visit.words.plain("entry-wrong-password"), None)
        }
        Tried::TooMany(wait) => (StatusCode::TOO_MANY_REQUESTS, too_many(visit.words, wait), Some(wait)),
    };
    let mut response = render(&app, &visit, &origin, (email, next), Some(wrong)).await?;
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
