//! `/keys`: the API keys of whoever asks with one.

use axum::{
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use engine::{
    Fault,
    ids::BoxId,
    origins::{Origins, WebOrigin},
    permissions::{Permission, Permissions},
    seams::catalog::KeyRecord,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{InOwnName, in_path},
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        idempotency::with_secret,
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
    manage::keys::{self, WantedKey},
};

/// A key as the API shows it: everything but its secret.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeyObject {
    prefix: String,
    name: String,
    /// active, expired or revoked
    state: &'static str,
    #[schema(value_type = Vec<String>, example = json!(["search", "read"]))]
    permissions: Permissions,
    /// The only boxes it is valid for; null is all boxes of the user.
    #[schema(value_type = Option<Vec<String>>)]
    boxes: Option<Vec<BoxId>>,
    /// The only web sites whose pages may use it; none is a key for programs.
    #[schema(value_type = Vec<String>, example = json!(["https://www.example.org"]))]
    origins: Origins,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// When it was first seen over plain HTTP or in a URL.
    #[schema(value_type = Option<String>, format = DateTime)]
    exposed_at: Option<Timestamp>,
    /// The program that holds it, where the user let one in (OAuth) instead of creating a key; else null.
    client: Option<String>,
}

impl KeyObject {
    fn of(key: KeyRecord) -> Self {
        let state = match (key.revoked_at, key.expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(end)) if end <= Timestamp::now() => "expired",
            (None, _) => "active",
        };
        KeyObject {
            prefix: key.prefix,
            name: key.name.as_str().to_string(),
            state,
            permissions: key.permissions,
            boxes: key.boxes,
            origins: key.origins,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            exposed_at: key.exposed.map(|(at, _)| at),
            client: key.client,
        }
    }
}

/// Keys as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct KeyList {
    keys: Vec<KeyObject>,
    total: usize,
}

/// Lists the keys of the user. The key needs the permission `manage`; one that is restricted to boxes sees those of the same boxes.
#[utoipa::path(get, path = "/keys", operation_id = "list_keys", tag = "keys", responses(
    (status = 200, description = "The keys, latest first", body = Envelope<KeyList>),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn list(
    State(app): State<App>,
    InOwnName(acting): InOwnName,
    query: Parameters<Nothing>,
) -> Reply<KeyList> {
    let keys: Vec<_> = keys::list(&app, &acting).await?.into_iter().map(KeyObject::of).collect();
    Ok(Success::with_warnings(KeyList { total: keys.len(), keys }, query.warnings))
}

/// A key to be created.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WantedKeyObject {
    /// What it is for, 1 to 100 characters.
    #[schema(example = "Web page")]
    name: String,
    /// The only boxes it is valid for; all boxes of the user if left out.
    boxes: Option<Vec<String>>,
    /// search, read, write, manage; all but manage if left out, only search with `origins`.
    #[schema(example = json!(["search"]))]
    permissions: Option<Vec<String>>,
    /// When it stops working; never if left out.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// For a key that stands in web pages: the only web sites whose pages may use it, up to 10, as scheme, host and port. Such a
    /// key can only search, in the boxes that it names.
    #[schema(example = json!(["https://www.example.org"]))]
    origins: Option<Vec<String>>,
}

impl WantedKeyObject {
    fn read(self) -> Result<WantedKey, Fault> {
        let wrong = |field: &'static str| move |wrong: String| Fault::invalid(field, wrong);
        let box_id = |id: String| {
            id.parse::<BoxId>().map_err(|_| Fault::invalid("boxes", format!("`{id}` is not the id of a box")))
        };
        let permissions = self.permissions.map(|words| {
            let words: Result<Vec<Permission>, String> = words.iter().map(|word| word.parse()).collect();
            words.and_then(Permissions::of).map_err(wrong("permissions"))
        });
        let origins = self.origins.unwrap_or_default();
        let origins: Result<Vec<WebOrigin>, String> = origins.iter().map(|origin| origin.parse()).collect();
        let expires_at = self.expires_at.map(|text| {
            let hint = "`expiresAt` must be a time such as 2027-01-31T12:00:00Z";
            text.parse().map_err(|_| Fault::invalid("expiresAt", hint))
        });
        Ok(WantedKey {
            name: self.name.parse().map_err(wrong("name"))?,
            boxes: self.boxes.map(|ids| ids.into_iter().map(box_id).collect()).transpose()?,
            permissions: permissions.transpose()?,
            expires_at: expires_at.transpose()?,
            origins: origins.and_then(Origins::of).map_err(wrong("origins"))?,
        })
    }
}

/// A key that was just created.
#[derive(Serialize, ToSchema)]
pub(super) struct NewKeyObject {
    /// The key itself, shown only once; null in the answer to a retry.
    #[schema(value_type = Option<String>)]
    key: Option<String>,
    #[serde(flatten)]
    object: KeyObject,
}

/// Creates a key of the same user. The key needs the permission `manage`, and cannot create one that can do more than itself.
#[utoipa::path(post, path = "/keys", operation_id = "make_key", tag = "keys", request_body = WantedKeyObject, responses(
    (status = 201, description = "The key, shown only once", body = Envelope<NewKeyObject>),
    (status = "4XX", description = "The key or the body is wrong, or the account has as many keys as it may", body = ErrorEnvelope)
))]
pub(super) async fn add(
    InOwnName(acting): InOwnName,
    actor: Actor,
    body: JsonBody<WantedKeyObject>,
) -> Result<Response, Failure> {
    let (key, record) = keys::add(&actor.by(), &acting, body.value.read()?).await?;
    let object = KeyObject::of(record);
    let answer = |key| {
        let made = NewKeyObject { key, object: object.clone() };
        (StatusCode::CREATED, Success::with_warnings(made, body.warnings.clone())).into_response()
    };
    Ok(with_secret(answer(Some(key)), answer(None)).await?)
}

/// The prefix in the path. A whole key pasted by mistake is a key in a URL, which the gate has marked.
pub(super) struct Named(String);

impl FromRequestParts<App> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        Ok(Named(in_path(parts, app, "prefix").await.unwrap_or_default()))
    }
}

/// What was revoked.
#[derive(Serialize, ToSchema)]
pub(super) struct RevokedKey {
    prefix: String,
    name: String,
    revoked: bool,
}

/// Revokes a key of the same user, from the next request on. The key needs the permission `manage`.
#[utoipa::path(delete, path = "/keys/{prefix}", operation_id = "revoke_key", tag = "keys",
    params(("prefix" = String, Path, description = "The part of the key between the underscores")),
    responses(
        (status = 200, description = "The key was revoked", body = Envelope<RevokedKey>),
        (status = "4XX", description = "The key does not allow it, or there is no such key", body = ErrorEnvelope)
    ))]
pub(super) async fn revoke(
    InOwnName(acting): InOwnName,
    Named(prefix): Named,
    actor: Actor,
    query: Parameters<Nothing>,
) -> Reply<RevokedKey> {
    let key = keys::revoke(&actor.by(), &acting, &prefix).await?;
    let revoked = RevokedKey { prefix: key.prefix, name: key.name.as_str().to_string(), revoked: true };
    Ok(Success::with_warnings(revoked, query.warnings))
}
