//! The way to the provider and back, to sign in or to tie an identity to an account.

use std::time::Duration;

use axum::{
    extract::{Query, State},
    http::HeaderMap,
    response::Response,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use engine::{
    Fault, Reason,
    ids::UserId,
    seams::catalog::{Action, Guest, NewOneTimeLink, OneTimeLink, Purpose, TokenHash},
};
use jiff::Timestamp;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{
    audit,
    cookies::{cookie, put_cookie},
    fields::Fields,
    page::{self, Shown},
    permit::{SignedIn, Visiting},
    tries,
    visit::{self, Visit},
};
use crate::{app::App, http::origin::Origin, oidc::Provider, sessions, sessions::new_token};

/// Holds what we sent a browser away with.
const COOKIE: &str = "__Host-quire-oidc";
/// How long somebody may take at the provider.
const PATIENCE: Duration = Duration::from_secs(600);

fn provider(app: &App) -> Result<&Provider, Fault> {
    let none = || Fault::new(Reason::NotFound, "this server has no sign-in provider");
    app.oidc.as_ref().ok_or_else(none)
}

fn redirect_address(origin: &Origin) -> String {
    format!("{origin}/sign-in/oidc/callback")
}

fn lost() -> Fault {
    Fault::new(Reason::InvalidParameter, "this sign-in was not started here, or took too long; start again")
}

#[derive(Deserialize)]
pub(super) struct Leaving {
    next: Option<String>,
}

/// Sends the browser to the provider, to sign in.
pub(super) async fn leave(State(app): State<App>, origin: Origin, Query(query): Query<Leaving>) -> Shown {
    send(&app, &origin, &new_token(), query.next.as_deref().unwrap_or("/")).await
}

/// Sends somebody who is signed in to the provider, to tie who they are there to their account. Whoever has a password must
/// know it: a browser left open is not enough to give an account a second way in.
pub(super) async fn connect(State(app): State<App>, who: SignedIn, origin: Origin, fields: Fields) -> Shown {
    provider(&app)?;
    tries::must_know_password(&app, &who, fields.raw("current")).await?;
    let (state, now, user) = (new_token(), Timestamp::now(), who.user());
    let link = NewOneTimeLink {
        purpose: Purpose::Connect { user: user.id, email: user.email.clone() },
        token: sessions::hash(&state),
        made_by: Some(user.id),
        now,
        expires_at: now.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX),
    };
    app.catalog.add_link(link).await?;
    let away = send(&app, &origin, &state, "/account/profile").await?;
    Ok(if who.0.script { away } else { page::after_form(away) })
}

async fn send(app: &App, origin: &Origin, state: &str, next: &str) -> Shown {
    let provider = provider(app)?;
    let metadata = provider.discovered(false).await?.metadata;
    let (nonce, verifier) = (new_token(), new_token());
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let mut query_text = form_urlencoded::Serializer::new(String::new());
    query_text
        .append_pair("response_type", "code")
        .append_pair("client_id", &provider.settings.client_id)
        .append_pair("redirect_uri", &redirect_address(origin))
        .append_pair("scope", "openid email profile")
        .append_pair("state", state)
        .append_pair("nonce", &nonce)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    let separator = if metadata.authorization_endpoint.contains('?') { '&' } else { '?' };
    let mut response =
        page::go(format!("{}{separator}{}", metadata.authorization_endpoint, query_text.finish()));
    let next = URL_SAFE_NO_PAD.encode(page::safe(next));
    let kept = format!("{state}.{nonce}.{verifier}.{next}");
    put_cookie(response.headers_mut(), COOKIE, &kept, Some(PATIENCE));
    Ok(response)
}

#[derive(Deserialize)]
pub(super) struct Returning {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// What we sent a browser away with.
struct Kept {
    state: String,
    nonce: String,
    verifier: String,
    next: String,
}

fn kept(headers: &HeaderMap) -> Option<Kept> {
    let text = cookie(headers, COOKIE)?;
    let mut parts = text.split('.').map(str::to_string);
    let (state, nonce, verifier) = (parts.next()?, parts.next()?, parts.next()?);
    let next = String::from_utf8(URL_SAFE_NO_PAD.decode(parts.next()?).ok()?).ok()?;
    Some(Kept { state, nonce, verifier, next })
}

/// Whoever comes back from the provider is let in, or has their account tied to who they are there.
pub(super) async fn come_back(
    State(app): State<App>,
    Visiting(visit): Visiting,
    origin: Origin,
    Query(query): Query<Returning>,
    headers: HeaderMap,
) -> Shown {
    let provider = provider(&app)?;
    let kept = kept(&headers).ok_or_else(lost)?;
    let state = query.state.unwrap_or_default();
    if !bool::from(state.as_bytes().ct_eq(kept.state.as_bytes())) {
        return Err(lost().into());
    }
    if query.iss.is_some_and(|issuer| issuer != provider.issuer) {
        return Err(lost().into());
    }
    let refused = || Fault::new(Reason::RoleInsufficient, "the provider refused the sign-in");
    let code = query.code.filter(|_| query.error.is_none()).ok_or_else(refused)?;
    let redirect = redirect_address(&origin);
    let guest = provider.guest(&code, &kept.verifier, &kept.nonce, &redirect).await?;
    let token = sessions::hash(&kept.state);
    let mut response = match app.catalog.link(&token, Timestamp::now()).await? {
        Some(OneTimeLink { purpose: Purpose::Connect { user, .. }, .. }) => {
            tie(&app, &visit, &token, user, guest).await?
        }
        _ => admit(&app, &visit, guest, &kept.next).await?,
    };
    put_cookie(response.headers_mut(), COOKIE, "gone", Some(Duration::ZERO));
    Ok(response)
}

/// Only in the browser of whoever began it: else somebody could have another person tie their own identity to a stranger's
/// account.
async fn tie(app: &App, visit: &Visit, token: &TokenHash, user: UserId, guest: Guest) -> Shown {
    let theirs = visit.user() == Some(user);
    if !theirs || !app.catalog.connect(token, user, guest, Timestamp::now()).await? {
        return Err(lost().into());
    }
    audit::note(app, visit, Action::IdentityConnected, None, "").await?;
    Ok(page::go("/account/profile?done=connected"))
}

async fn admit(app: &App, visit: &Visit, guest: Guest, next: &str) -> Shown {
    let provider = provider(app)?;
    let (everybody, inviters) = (provider.settings.create_accounts, app.config.accounts.invitations);
    let said = guest.email.as_ref().map_or_else(|| guest.identity.subject.clone(), ToString::to_string);
    let user = match app.catalog.admit(guest, everybody, inviters, Timestamp::now()).await {
        Ok(user) => user,
        Err(fault) => {
            if fault.reason == Reason::RoleInsufficient {
                audit::note_failure(app, visit, &format!("{said} with OpenID Connect")).await?;
            }
            return Err(fault.into());
        }
    };
    let mut response: Response = page::go(page::safe(next));
    visit::begin(app, visit, user.id, &mut response).await?;
    audit::note_by(app, visit, &user, Action::SignedIn, "with OpenID Connect").await?;
    Ok(response)
}
