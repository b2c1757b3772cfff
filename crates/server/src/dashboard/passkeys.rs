//! Passkeys: signing in with one, and Account → Profile → Passkeys.
//!
//! A challenge is signed and says until when it may be answered, so nothing is stored of one that nobody answers; the catalog remembers the
//! answered ones, so none is answered twice.

use std::time::Duration;

use askama::Template;
use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    ids::{PasskeyId, UserId},
    seams::catalog::{Action, Challenge, MOST_PASSKEYS, NewPasskey, Passkey, PasskeyName, Subject, User},
};
use jiff::Timestamp;
use rand::Rng;
use ring::hmac;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{SignedIn, Visiting},
    second_step,
    show::Moment,
    tries,
    visit::{self, Visit},
};
use crate::{
    app::App,
    http::{origin::Origin, token},
    webauthn::{self, ALGORITHMS, Signed, Site},
};

/// How long a challenge may be answered.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Bytes of a challenge before its seal: at random, and the second until which it is good.
const RANDOM: usize = 32;
const SAID: usize = RANDOM + 8;

const HERE: &str = "/account/passkeys";

/// What a challenge is answered for.
#[derive(Clone, Copy)]
enum Purpose {
    SignIn,
    Add(UserId),
}

impl Purpose {
    fn sealed(self, browser: &str, said: &[u8]) -> Vec<u8> {
        let what = match self {
            Purpose::SignIn => "to sign in".to_string(),
            Purpose::Add(user) => format!("to add one to {user}"),
        };
        [format!("passkey challenge {what} in {browser}:").as_bytes(), said].concat()
    }

    /// A new challenge for the browser that holds this token.
    fn challenge(self, key: &hmac::Key, browser: &str, now: Timestamp) -> Vec<u8> {
        let random: [u8; RANDOM] = rand::rng().random();
        let until = now.as_second() + PATIENCE.as_secs().cast_signed();
        let said = [&random[..], &until.to_be_bytes()].concat();
        let seal = hmac::sign(key, &self.sealed(browser, &said));
        [&said[..], seal.as_ref()].concat()
    }

    /// What is to be remembered of an answered challenge, if it was made for this and for this browser, and not too long ago.
    fn answered(self, key: &hmac::Key, browser: &str, challenge: &[u8], now: Timestamp) -> Option<Challenge> {
        let (said, seal) = challenge.split_at_checked(SAID)?;
        hmac::verify(key, &self.sealed(browser, said), seal).ok()?;
        let until = i64::from_be_bytes(said[RANDOM..].try_into().ok()?);
        let expires_at = Timestamp::from_second(until).ok().filter(|until| *until >= now)?;
        Some(Challenge { hash: Sha256::digest(said).into(), expires_at })
    }
}

fn key(app: &App) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &app.link_secret)
}

/// A new challenge, as our script gets it.
fn new_challenge(app: &App, visit: &Visit, purpose: Purpose) -> String {
    token::encode(&purpose.challenge(&key(app), &visit.token, Timestamp::now()))
}

fn site(origin: &Origin) -> Result<Site, Fault> {
    let none =
        || Fault::new(Reason::Conflict, "passkeys need HTTPS and a host name instead of an IP address");
    Site::of(&origin.to_string()).ok_or_else(none)
}

/// Bytes that our script sends as text; what is none is read as nothing, which is refused like any other nonsense.
fn sent(fields: &Fields, name: &str) -> Vec<u8> {
    token::decode(fields.text(name)).unwrap_or_default()
}

/// What authenticators know an account by.
fn handle(user: UserId) -> Vec<u8> {
    user.to_string().into_bytes()
}

/// What a browser needs to have a challenge signed by a passkey that it finds itself.
pub(super) async fn ask(State(app): State<App>, Visiting(visit): Visiting, origin: Origin) -> Shown {
    Ok(Json(json!({
        "challenge": new_challenge(&app, &visit, Purpose::SignIn),
        "rpId": site(&origin)?.host,
        "timeout": PATIENCE.as_secs() * 1000,
        "userVerification": "required",
    }))
    .into_response())
}

/// Signs in with a passkey. It is in somebody's hand and has made sure of who that is, so no code is asked for. Tries are counted like those
/// with passwords, and first.
pub(super) async fn sign_in(
    State(app): State<App>,
    Visiting(visit): Visiting,
    origin: Origin,
    fields: Fields,
) -> Shown {
    let site = site(&origin)?;
    let found = app.catalog.passkey(&sent(&fields, "credential")).await?;
    let subjects = match &found {
        Some((_, user)) => tries::counted_with(&app, &visit, &user.email).await?,
        None => vec![Subject::Network(visit.network.clone())],
    };
    tries::must_not_wait(&app, &visit, &subjects).await?;
    let whose = found
        .as_ref()
        .map_or_else(|| "with a passkey".into(), |(_, user)| format!("{} with a passkey", user.email));
    let fitting = match found {
        Some(found) => fits(&app, &visit, &site, &found, &fields).await?.then_some(found.1),
        None => None,
    };
    let Some(user) = fitting else {
        audit::note_failure(&app, &visit, &whose).await?;
        return Err(Fault::new(Reason::RoleInsufficient, visit.words.plain("entry-wrong-passkey")).into());
    };
    app.catalog.forgive_tries(&subjects).await?;
    let mut response: Response = page::go(page::safe(fields.text("next")));
    visit::begin(&app, &visit, user.id, &mut response).await?;
    audit::note_by(&app, &visit, &user, Action::SignedIn, "with a passkey").await?;
    Ok(response)
}

/// Whether a passkey has signed our challenge, for this host and for whom it was made; then the challenge is used up.
async fn fits(
    app: &App,
    visit: &Visit,
    site: &Site,
    (passkey, user): &(Passkey, User),
    fields: &Fields,
) -> Result<bool, Fault> {
    let signed = Signed {
        client_data: sent(fields, "client_data"),
        authenticator_data: sent(fields, "authenticator_data"),
        signature: sent(fields, "signature"),
    };
    let theirs = passkey.made.host == site.host && sent(fields, "user") == handle(user.id) && !user.disabled;
    let (key, now) = (key(app), Timestamp::now());
    let known = |challenge: &[u8]| Purpose::SignIn.answered(&key, &visit.token, challenge, now);
    match webauthn::verify(site, &passkey.made.public_key, &signed, known) {
        Ok((count, challenge)) if theirs => app.catalog.use_passkey(passkey.id, count, challenge, now).await,
        Ok(_) => Ok(false),
        Err(refused) => {
            tracing::info!(user.id = %user.id, "Refused a passkey: {refused}");
            Ok(false)
        }
    }
}

/// A passkey as the page shows it.
struct PasskeyRow {
    id: PasskeyId,
    name: String,
    host: String,
    since: Moment,
    used: Option<Moment>,
}

#[derive(Template)]
#[template(path = "passkeys.html")]
struct PasskeysPage {
    frame: Frame,
    passkeys: Vec<PasskeyRow>,
    /// Whether browsers have passkeys at this address.
    possible: bool,
    has_password: bool,
    second_step: bool,
    most: usize,
}

/// The passkeys of one's account.
pub(super) async fn list(State(app): State<App>, who: SignedIn, origin: Origin) -> Shown {
    let user = who.user();
    let stored = app.catalog.stored_sign_in(&user.email).await?;
    let row = |passkey: Passkey| PasskeyRow {
        id: passkey.id,
        name: passkey.made.name.to_string(),
        host: passkey.made.host,
        since: Moment::of(passkey.made.created_at),
        used: passkey.used_at.map(Moment::of),
    };
    page::show(&PasskeysPage {
        frame: Frame::new(&app, &who.0, who.0.words.text("account-passkeys"), Place::Profile),
        passkeys: app.catalog.passkeys_of(user.id).await?.into_iter().map(row).collect(),
        possible: site(&origin).is_ok(),
        has_password: stored.is_some_and(|stored| stored.password_hash.is_some()),
        second_step: second_step::confirmed(&app, user.id).await?.is_some(),
        most: MOST_PASSKEYS,
    })
}

/// What a browser needs to make a passkey, for whoever proves that the account is theirs.
pub(super) async fn begin(State(app): State<App>, who: SignedIn, origin: Origin, fields: Fields) -> Shown {
    let (site, user) = (site(&origin)?, who.user());
    let _: PasskeyName = fields.parse("name")?;
    second_step::must_prove(&app, &who, &fields).await?;
    let known = app.catalog.passkeys_of(user.id).await?;
    let here = known.iter().filter(|passkey| passkey.made.host == site.host);
    let email = user.email.as_str();
    Ok(Json(json!({
        "challenge": new_challenge(&app, &who.0, Purpose::Add(user.id)),
        "rp": {"id": site.host, "name": "quire"},
        "user": {
            "id": token::encode(&handle(user.id)),
            "name": email,
            "displayName": user.name.as_ref().map_or(email, |name| name.as_str()),
        },
        "pubKeyCredParams": ALGORITHMS.map(|algorithm| json!({"type": "public-key", "alg": algorithm})),
        "excludeCredentials": here
            .map(|passkey| json!({"type": "public-key", "id": token::encode(&passkey.made.credential)}))
            .collect::<Vec<_>>(),
        "authenticatorSelection":
            {"residentKey": "required", "requireResidentKey": true, "userVerification": "required"},
        "attestation": "none",
        "timeout": PATIENCE.as_secs() * 1000,
    }))
    .into_response())
}

/// Keeps the passkey that the browser made. That whoever made it proved who they are is what the challenge says.
pub(super) async fn add(State(app): State<App>, who: SignedIn, origin: Origin, fields: Fields) -> Shown {
    let (site, user) = (site(&origin)?, who.user());
    let name: PasskeyName = fields.parse("name")?;
    let (key, now) = (key(&app), Timestamp::now());
    let known = |challenge: &[u8]| Purpose::Add(user.id).answered(&key, &who.0.token, challenge, now);
    let (client_data, attestation) = (sent(&fields, "client_data"), sent(&fields, "attestation"));
    let (made, challenge) =
        webauthn::register(&site, &client_data, &attestation, known).map_err(|refused| {
            Fault::new(Reason::Conflict, format!("this passkey cannot be added: {refused}; start again"))
        })?;
    let passkey = NewPasskey {
        user: user.id,
        name: name.clone(),
        host: site.host,
        credential: made.credential,
        public_key: made.public_key,
        sign_count: made.sign_count,
        created_at: now,
    };
    app.catalog.add_passkey(passkey, challenge).await?;
    let target = format!("{}: can sign in with the passkey {name}", user.email);
    audit::note(&app, &who.0, Action::AccountChanged, None, target).await?;
    Ok(page::go(format!("{HERE}?done=passkey-added")))
}

/// Forgets a passkey. It takes what adding one takes.
pub(super) async fn remove(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let (user, passkey): (_, PasskeyId) = (who.user(), fields.parse("passkey")?);
    second_step::must_prove(&app, &who, &fields).await?;
    let gone = app.catalog.remove_passkey(user.id, passkey).await?;
    let name = gone.ok_or_else(|| Fault::new(Reason::NotFound, "there is no such passkey"))?;
    let target = format!("{}: no longer signs in with the passkey {name}", user.email);
    audit::note(&app, &who.0, Action::AccountChanged, None, target).await?;
    Ok(page::go(format!("{HERE}?done=passkey-removed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_of_one_browser_and_one_purpose_and_good_for_five_minutes() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        let (user, other) = (UserId::generate(), UserId::generate());
        let at = |second: i64| Timestamp::from_second(1_000_000 + second).unwrap();
        let made = Purpose::Add(user).challenge(&key, "browser", at(0));
        assert_ne!(made, Purpose::Add(user).challenge(&key, "browser", at(0)), "at random");
        let good =
            |purpose: Purpose, browser, second| purpose.answered(&key, browser, &made, at(second)).is_some();
        assert!(good(Purpose::Add(user), "browser", 0) && good(Purpose::Add(user), "browser", 300));
        assert!(!good(Purpose::Add(user), "browser", 301));
        assert!(!good(Purpose::Add(user), "another", 0));
        assert!(!good(Purpose::Add(other), "browser", 0) && !good(Purpose::SignIn, "browser", 0));
        for at_byte in 0..made.len() {
            let mut changed = made.clone();
            changed[at_byte] ^= 1;
            assert_eq!(Purpose::Add(user).answered(&key, "browser", &changed, at(0)), None, "{at_byte}");
            assert_eq!(Purpose::Add(user).answered(&key, "browser", &made[..at_byte], at(0)), None);
        }
    }
}
