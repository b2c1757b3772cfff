//! Signing in with an account elsewhere: `OpenID` Connect, authorization code with PKCE, state and nonce.
//!
//! The browser is sent to the provider and comes back with a code; we exchange it for an ID token, check that
//! ([`token`]), and let the account in that is tied to it. An address that the provider vouches for ties one.

mod token;

use std::time::Duration;

use axum::{
    extract::{Query, State},
    http::HeaderMap,
    response::Response,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use engine::{
    Fault, Reason,
    seams::catalog::{Action, Email, Identity, NewUser, PersonName, User},
};
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::RwLock;

use self::token::{Claims, KeySet};
use super::{
    audit,
    page::{self, Shown},
    permit::Visiting,
    signin,
    visit::{self, cookie, new_token, put_cookie},
};
use crate::{app::App, config::Oidc, http::origin::Origin};

/// Holds what we sent a browser away with.
const COOKIE: &str = "__Host-quire-oidc";
/// How long somebody may take at the provider.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long the provider may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer of the provider.
const LARGEST: usize = 1024 * 1024;

/// Where we send people, and whom we believe.
pub(super) struct Provider {
    settings: Oidc,
    issuer: String,
    http: reqwest::Client,
    /// What the provider says about itself; asked for when first needed.
    known: RwLock<Option<Discovered>>,
}

/// What a provider says about itself.
#[derive(Clone, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

#[derive(Clone)]
struct Discovered {
    metadata: Metadata,
    keys: KeySet,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    #[serde(default)]
    access_token: Option<String>,
}

/// What a provider says of somebody where it leaves that out of the ID token.
#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: bool,
    #[serde(default)]
    name: Option<String>,
}

impl Provider {
    /// The provider that the settings name.
    pub(super) fn of(settings: &Oidc) -> Option<Self> {
        let issuer = settings.issuer.clone()?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .inspect_err(|error| tracing::error!(%error, "No sign-in with OpenID Connect"))
            .ok()?;
        Some(Provider { settings: settings.clone(), issuer, http, known: RwLock::new(None) })
    }

    pub(super) fn label(&self) -> &str {
        &self.settings.label
    }

    /// What is known of the provider, asked anew where nothing is or `again` says so.
    async fn discovered(&self, again: bool) -> Result<Discovered, Fault> {
        if let Some(known) = self.known.read().await.clone().filter(|_| !again) {
            return Ok(known);
        }
        let base = self.issuer.trim_end_matches('/');
        let metadata: Metadata = self.get(&format!("{base}/.well-known/openid-configuration")).await?;
        if metadata.issuer != self.issuer {
            return Err(trouble(format!("the provider calls itself {}", metadata.issuer)));
        }
        let keys = self.get(&metadata.jwks_uri).await?;
        let discovered = Discovered { metadata, keys };
        *self.known.write().await = Some(discovered.clone());
        Ok(discovered)
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, Fault> {
        read(self.http.get(url).send().await).await
    }

    /// A code for what it stands for.
    async fn exchange(&self, code: &str, verifier: &str, redirect: &str) -> Result<Tokens, Fault> {
        let metadata = self.discovered(false).await?.metadata;
        let methods = &metadata.token_endpoint_auth_methods_supported;
        // Where nothing is said, the standard says basic.
        let basic = methods.is_empty() || methods.iter().any(|method| method == "client_secret_basic");
        let Oidc { client_id, client_secret, .. } = &self.settings;
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ];
        let mut request = self.http.post(&metadata.token_endpoint);
        match client_secret {
            Some(secret) if basic => {
                let encoded =
                    |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                request = request.basic_auth(encoded(client_id), Some(encoded(secret)));
            }
            Some(secret) => fields.extend([("client_id", &client_id[..]), ("client_secret", secret)]),
            None => fields.push(("client_id", client_id)),
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        read(request.send().await).await
    }

    /// What an ID token says, once it is checked. Keys change: an unknown one is looked for anew, once.
    async fn claims(&self, id_token: &str, nonce: &str) -> Result<Claims, Fault> {
        let mut keys = self.discovered(false).await?.keys;
        if !keys.knows(id_token) {
            keys = self.discovered(true).await?.keys;
        }
        let now = jiff::Timestamp::now().as_second();
        let claims = keys.verify(id_token).and_then(|claims| {
            claims.check(&self.issuer, &self.settings.client_id, nonce, now)?;
            Ok(claims)
        });
        claims.map_err(|wrong| trouble(format!("the ID token is no good: {wrong}")))
    }

    /// The claims with an address and a name in them, asked for where the ID token has none.
    async fn completed(&self, mut claims: Claims, access_token: Option<String>) -> Result<Claims, Fault> {
        let endpoint = self.discovered(false).await?.metadata.userinfo_endpoint;
        let (Some(endpoint), Some(access), None) = (endpoint, access_token, &claims.email) else {
            return Ok(claims);
        };
        let info: UserInfo = read(self.http.get(endpoint).bearer_auth(access).send().await).await?;
        // Only the ID token is signed: what is said of anybody else is of no use.
        if info.sub == claims.sub {
            (claims.email, claims.email_verified) = (info.email, info.email_verified);
            claims.name = info.name.or(claims.name);
        }
        Ok(claims)
    }
}

async fn read<T: DeserializeOwned>(response: reqwest::Result<reqwest::Response>) -> Result<T, Fault> {
    let mut response = response.map_err(|error| trouble(error.without_url().to_string()))?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(more) = response.chunk().await.map_err(|error| trouble(error.without_url().to_string()))? {
        if bytes.len() + more.len() > LARGEST {
            return Err(trouble("an answer without end".into()));
        }
        bytes.extend_from_slice(&more);
    }
    if !status.is_success() {
        return Err(trouble(format!("HTTP {status}")));
    }
    serde_json::from_slice(&bytes).map_err(|error| trouble(format!("an answer of another shape: {error}")))
}

/// The caller hears that it did not work, the log hears why.
fn trouble(source: String) -> Fault {
    let mut fault = Fault::new(Reason::UpstreamUnavailable, "signing in there did not work; try again");
    fault.source = Some(source.into());
    fault
}

fn provider(app: &App) -> Result<&Provider, Fault> {
    let none = || Fault::new(Reason::NotFound, "this server has no sign-in with another account");
    app.dashboard.oidc.as_ref().ok_or_else(none)
}

fn redirect_address(origin: &Origin) -> String {
    format!("{origin}/sign-in/oidc/callback")
}

#[derive(Deserialize)]
pub(super) struct Leaving {
    next: Option<String>,
}

/// Sends the browser to the provider.
pub(super) async fn leave(State(app): State<App>, origin: Origin, Query(query): Query<Leaving>) -> Shown {
    let provider = provider(&app)?;
    let metadata = provider.discovered(false).await?.metadata;
    let (state, nonce, verifier) = (new_token(), new_token(), new_token());
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let mut query_text = form_urlencoded::Serializer::new(String::new());
    query_text
        .append_pair("response_type", "code")
        .append_pair("client_id", &provider.settings.client_id)
        .append_pair("redirect_uri", &redirect_address(&origin))
        .append_pair("scope", "openid email profile")
        .append_pair("state", &state)
        .append_pair("nonce", &nonce)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    let separator = if metadata.authorization_endpoint.contains('?') { '&' } else { '?' };
    let mut response =
        page::go(format!("{}{separator}{}", metadata.authorization_endpoint, query_text.finish()));
    let next = URL_SAFE_NO_PAD.encode(signin::safe(query.next.as_deref().unwrap_or("/")));
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

/// Lets somebody in who comes back from the provider.
pub(super) async fn come_back(
    State(app): State<App>,
    Visiting(visit): Visiting,
    origin: Origin,
    Query(query): Query<Returning>,
    headers: HeaderMap,
) -> Shown {
    let provider = provider(&app)?;
    let lost = || Fault::new(Reason::InvalidParameter, "this way in was not begun here, or took too long");
    let kept = kept(&headers).ok_or_else(lost)?;
    let state = query.state.unwrap_or_default();
    if !bool::from(state.as_bytes().ct_eq(kept.state.as_bytes())) {
        return Err(lost().into());
    }
    if query.iss.is_some_and(|issuer| issuer != provider.issuer) {
        return Err(lost().into());
    }
    let refused = || Fault::new(Reason::RoleInsufficient, "the provider did not let you in");
    let code = query.code.filter(|_| query.error.is_none()).ok_or_else(refused)?;
    let tokens = provider.exchange(&code, &kept.verifier, &redirect_address(&origin)).await?;
    let claims = provider.claims(&tokens.id_token, &kept.nonce).await?;
    let claims = provider.completed(claims, tokens.access_token).await?;
    let user = account(&app, provider, claims).await?;
    let mut response: Response = page::go(signin::safe(&kept.next));
    put_cookie(response.headers_mut(), COOKIE, "gone", Some(Duration::ZERO));
    visit::begin(&app, &visit, user.id, &mut response).await?;
    audit::note_by(&app, &visit, &user, Action::SignedIn, "with OpenID Connect").await?;
    Ok(response)
}

/// The account that an identity stands for: tied before, or of an address that the provider vouches for.
async fn account(app: &App, provider: &Provider, claims: Claims) -> Result<User, Fault> {
    let identity = Identity { issuer: provider.issuer.clone(), subject: claims.sub.clone() };
    let known = match app.catalog.user_of_identity(&identity).await? {
        Some(user) => Some(user),
        None => {
            let user = by_address(app, provider, &claims).await?;
            app.catalog.add_identity(user.id, identity).await?;
            Some(user)
        }
    };
    let off = || Fault::new(Reason::RoleInsufficient, "this account is switched off");
    known.filter(|user| !user.disabled).ok_or_else(off)
}

async fn by_address(app: &App, provider: &Provider, claims: &Claims) -> Result<User, Fault> {
    let unknown = |cause: &str| Fault::new(Reason::RoleInsufficient, cause).hint("ask for an invitation");
    let email = claims.email.as_deref().filter(|_| claims.email_verified);
    let email = email.ok_or_else(|| unknown("the provider vouches for no e-mail address of yours"))?;
    let email: Email = email.parse().map_err(|_| unknown("the provider gives no usable e-mail address"))?;
    if let Some(stored) = app.catalog.stored_sign_in(&email).await? {
        return Ok(stored.user);
    }
    if !provider.settings.create_accounts {
        return Err(unknown("there is no account here for your address"));
    }
    let user = app.catalog.add_user(NewUser { email, password_hash: None, plan: Default::default() }).await?;
    let name = claims.name.as_deref().and_then(|name| name.parse::<PersonName>().ok());
    app.catalog.set_user_name(user.id, name).await?;
    Ok(user)
}
