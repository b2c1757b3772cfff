//! What programs call to be let in: the documents that say how, registration, tokens, and giving them back.
//!
//! Shapes and errors are those of OAuth (RFC 6749, 7009, 7591, 8414, 9728). The page on which a person decides is in the dashboard.

use std::time::Duration;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{FromRequest, Path, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use engine::{
    Fault, Reason,
    apikey::{ApiKey, RefreshToken},
    permissions::Permissions,
    seams::catalog::{Action, Exchange, NewClient, NewTokens, Refresh, Refreshed},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    app::{App, guard},
    http::{
        auth, body,
        error::Failure,
        layers,
        oauth::{self, Audience, clients::Described},
        origin::Origin,
    },
    manage::By,
    sessions,
};

/// How long an access token works.
const ACCESS: Duration = Duration::from_secs(60 * 60);
/// How long a program may stay away before a person has to let it in again.
const REFRESH: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Bytes of what a program sends here, and fields of a form.
const LARGEST: usize = 32 * 1024;
const MOST_FIELDS: usize = 32;
/// Programs that one network may register within an hour.
const MOST_EACH: u64 = 30;
/// Programs that may be registered in all.
const MOST: u64 = 10_000;

/// The routes, outside the base path.
pub(super) fn router() -> Router<App> {
    Router::new()
        .route(oauth::RESOURCE, get(resource_root))
        .route(&format!("{}/{{*path}}", oauth::RESOURCE), get(resource))
        .route("/.well-known/oauth-authorization-server", get(server))
        .route("/.well-known/openid-configuration", get(server))
        .route(oauth::REGISTER, post(register))
        .route(oauth::TOKEN, post(token))
        .route(oauth::REVOKE, post(revoke))
}

async fn resource_root(origin: Origin) -> Json<Value> {
    Json(oauth::resource_metadata(&origin.to_string(), "/mcp"))
}

/// Says nothing of which boxes there are.
async fn resource(origin: Origin, Path(path): Path<String>) -> Result<Json<Value>, Failure> {
    let path = format!("/{path}");
    if Audience::of_path(&path).is_none() {
        return Err(Fault::new(
            Reason::NotFound,
            "this address does not accept access tokens; use an API key",
        )
        .into());
    }
    Ok(Json(oauth::resource_metadata(&origin.to_string(), &path)))
}

async fn server(State(app): State<App>, origin: Origin) -> Json<Value> {
    Json(oauth::server_metadata(&origin.to_string(), app.programs.is_some()))
}

/// Why a program gets nothing, in the words of OAuth.
struct Refusal {
    status: StatusCode,
    error: &'static str,
    why: String,
}

impl Refusal {
    fn new(error: &'static str, why: impl Into<String>) -> Self {
        Refusal { status: StatusCode::BAD_REQUEST, error, why: why.into() }
    }

    fn missing(name: &str) -> Self {
        Refusal::new("invalid_request", format!("{name} is required"))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.error, "error_description": self.why}))).into_response()
    }
}

/// What a handler here returns: what the program did wrong is told in OAuth's words, what we did by [`Failure`].
type Told = Result<Result<Response, Refusal>, Failure>;

/// A body of bounded size, and where it comes from.
struct Sent {
    app: App,
    head: Parts,
    bytes: Bytes,
}

impl FromRequest<App> for Sent {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let (head, body) = request.into_parts();
        let too_large =
            || Fault::new(Reason::TooLarge, format!("the body is larger than {} KB", LARGEST / 1024));
        Ok(Sent { app: app.clone(), bytes: body::read(body, LARGEST, too_large).await?, head })
    }
}

impl Sent {
    /// The fields of a form.
    fn form(&self) -> Result<Form, Refusal> {
        if !is(&self.head.headers, "application/x-www-form-urlencoded") {
            return Err(Refusal::new("invalid_request", "send a form: application/x-www-form-urlencoded"));
        }
        let fields: Vec<(String, String)> =
            form_urlencoded::parse(&self.bytes).into_owned().take(MOST_FIELDS + 1).collect();
        if fields.len() > MOST_FIELDS {
            return Err(Refusal::new("invalid_request", "the form has too many fields"));
        }
        let twice =
            fields.iter().enumerate().find(|(at, (name, _))| fields[..*at].iter().any(|(n, _)| n == name));
        match twice {
            Some((_, (name, _))) => {
                Err(Refusal::new("invalid_request", format!("{name:.40} is sent more than once")))
            }
            None => Ok(Form(fields)),
        }
    }

    /// Slows down whoever keeps sending what is not good.
    async fn guess(&self) -> Result<(), Fault> {
        self.app.guard.wrong_key(layers::client_address(&self.app, &self.head)).await
    }

    /// Records what a program ended.
    async fn note_ended(&self, prefix: &str, why: &str) -> Result<(), Fault> {
        let address = layers::client_address(&self.app, &self.head).to_canonical().to_string();
        let by = By { app: self.app.clone(), user: None, who: format!("the program with {prefix}"), address };
        by.note(Action::ProgramRevoked, None, format!("{prefix}: {why}")).await
    }
}

struct Form(Vec<(String, String)>);

impl Form {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    fn needed(&self, name: &str) -> Result<&str, Refusal> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| Refusal::missing(name))
    }

    /// The path that tokens are wanted for, where that is said.
    fn audience(&self, origin: &str) -> Result<Option<String>, Refusal> {
        let Some(resource) = self.get("resource") else { return Ok(None) };
        let audience = Audience::of_address(resource, origin);
        let elsewhere =
            || Refusal::new("invalid_target", "resource is no address that programs are let in to here");
        audience.map(|audience| Some(audience.path)).ok_or_else(elsewhere)
    }
}

fn is(headers: &HeaderMap, kind: &str) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    sent.split(';').next().is_some_and(|sent| sent.trim().eq_ignore_ascii_case(kind))
}

/// Registers a program (RFC 7591). Anybody can, so all that it brings is the chance to ask a person.
async fn register(sent: Sent) -> Told {
    let wrong = |(error, why): oauth::clients::Wrong| Refusal::new(error, why);
    let described = match serde_json::from_slice::<Described>(&sent.bytes) {
        Ok(described) => described.checked().map_err(wrong),
        Err(_) => {
            Err(Refusal::new("invalid_client_metadata", "the body must be a JSON object about the program"))
        }
    };
    let (name, redirect_uris) = match described {
        Ok(described) => described,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (now, address) = (Timestamp::now(), layers::client_address(&sent.app, &sent.head));
    let network = guard::network(address).to_string();
    let new = NewClient { name, redirect_uris, network, now, most_each: MOST_EACH, most: MOST };
    let Some(client) = sent.app.catalog.register_client(new).await? else {
        let why = "too many programs have registered lately; try again in an hour";
        return Ok(Err(Refusal {
            status: StatusCode::TOO_MANY_REQUESTS,
            ..Refusal::new("temporarily_unavailable", why)
        }));
    };
    let answer = json!({
        "client_id": client.id,
        "client_id_issued_at": now.as_second(),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": oauth::SCOPES.map(|scope| scope.as_str()).join(" "),
    });
    Ok(Ok((StatusCode::CREATED, Json(answer)).into_response()))
}

/// Gives tokens for a code or for a refresh token.
async fn token(origin: Origin, sent: Sent) -> Told {
    let form = match sent.form() {
        Ok(form) => form,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let given = match form.get("grant_type") {
        Some("authorization_code") => exchange(&sent, &form, &origin).await?,
        Some("refresh_token") => refresh(&sent, &form, &origin).await?,
        Some(_) => Err(Refusal::new("unsupported_grant_type", "use authorization_code or refresh_token")),
        None => Err(Refusal::missing("grant_type")),
    };
    if given.as_ref().is_err_and(|refusal| refusal.error == "invalid_grant") {
        sent.guess().await?;
    }
    Ok(given)
}

async fn exchange(sent: &Sent, form: &Form, origin: &Origin) -> Told {
    let now = Timestamp::now();
    let exchange = match read_exchange(form, &origin.to_string(), now) {
        Ok(exchange) => exchange,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let access = ApiKey::generate();
    let refresh = RefreshToken::beside(&access);
    let given = given(&access, &refresh);
    let made = sent.app.catalog.exchange_code(exchange, new_tokens(access, refresh, now)).await?;
    Ok(made
        .map(given)
        .ok_or_else(|| Refusal::new("invalid_grant", "the code is not valid for this, or no longer")))
}

fn read_exchange(form: &Form, origin: &str, now: Timestamp) -> Result<Exchange, Refusal> {
    let verifier = form.needed("code_verifier")?;
    Ok(Exchange {
        code: sessions::hash(form.needed("code")?),
        client: form.needed("client_id")?.to_string(),
        redirect_uri: form.get("redirect_uri").map(str::to_string),
        challenge: URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
        audience: form.audience(origin)?,
        now,
    })
}

async fn refresh(sent: &Sent, form: &Form, origin: &Origin) -> Told {
    let now = Timestamp::now();
    let invalid = || Refusal::new("invalid_grant", "the refresh token is not valid, or no longer");
    let read = || -> Result<Refresh, Refusal> {
        let token = form.needed("refresh_token")?;
        Ok(Refresh {
            sent: RefreshToken::parse(token).ok_or_else(invalid)?,
            client: form.needed("client_id")?.to_string(),
            audience: form.audience(&origin.to_string())?,
            now,
        })
    };
    let refresh = match read() {
        Ok(refresh) => refresh,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let prefix = refresh.sent.prefix().to_string();
    let (access, next) = (refresh.sent.access(), refresh.sent.next());
    let given = given(&access, &next);
    Ok(match sent.app.catalog.refresh_grant(refresh, new_tokens(access, next, now)).await? {
        Refreshed::Done(permissions) => Ok(given(permissions)),
        Refreshed::Refused => Err(invalid()),
        Refreshed::Reused => {
            tracing::warn!(
                key.prefix = prefix,
                "A refresh token was used twice; the program no longer has access"
            );
            sent.note_ended(&prefix, "a refresh token was used twice").await?;
            Err(invalid())
        }
    })
}

fn new_tokens(access: ApiKey, refresh: RefreshToken, now: Timestamp) -> NewTokens {
    let after = |span: Duration| now.saturating_add(span).unwrap_or(Timestamp::MAX);
    NewTokens { access, access_until: after(ACCESS), refresh, refresh_until: after(REFRESH) }
}

/// The answer that gives tokens out, this once.
fn given(access: &ApiKey, refresh: &RefreshToken) -> impl FnOnce(Permissions) -> Response + use<> {
    let (access, refresh) = (access.reveal(), refresh.reveal());
    move |permissions| {
        let answer = json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": ACCESS.as_secs(),
            "refresh_token": refresh,
            "scope": oauth::scope(permissions),
        });
        ([(header::PRAGMA, "no-cache")], Json(answer)).into_response()
    }
}

/// Takes tokens back (RFC 7009): whichever is sent, the program no longer has access. Whether it was good is not told.
async fn revoke(sent: Sent) -> Told {
    let form = match sent.form() {
        Ok(form) => form,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let token = match form.needed("token") {
        Ok(token) => token,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let ended = match (RefreshToken::parse(token), ApiKey::parse(token)) {
        (Some(refresh), _) => {
            let ended = sent.app.catalog.end_grant(&refresh).await?;
            ended.then(|| refresh.prefix().to_string())
        }
        (None, Some(access)) if auth::is_token(&sent.app, &access).await? => {
            sent.app.catalog.revoke_key(access.prefix()).await?;
            Some(access.prefix().to_string())
        }
        _ => None,
    };
    match ended {
        Some(prefix) => sent.note_ended(&prefix, "given back").await?,
        None => sent.guess().await?,
    }
    Ok(Ok(Json(json!({})).into_response()))
}
