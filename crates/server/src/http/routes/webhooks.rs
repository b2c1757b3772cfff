//! `/webhooks`: where the events of a user's boxes are sent, and how that went.

use axum::{
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    ids::{BoxId, EventId, WebhookId},
    seams::catalog::{AttemptRecord, EventKind, Webhook},
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
    manage::webhooks::{self, no_such_webhook},
};

/// A webhook as the API shows it.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookObject {
    #[schema(value_type = String)]
    webhook_id: WebhookId,
    url: String,
    #[schema(example = json!(["file.ready", "file.failed"]))]
    events: Vec<&'static str>,
    /// Only events of these boxes; null is all boxes that the user may use the API on.
    #[schema(value_type = Option<Vec<String>>)]
    boxes: Option<Vec<BoxId>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When the receiver answered 410: nothing is sent since.
    #[schema(value_type = Option<String>, format = DateTime)]
    disabled_at: Option<Timestamp>,
    /// Events that are still to be delivered.
    waiting: u64,
}

impl WebhookObject {
    fn of(webhook: Webhook) -> Self {
        WebhookObject {
            webhook_id: webhook.id,
            url: webhook.url,
            events: webhook.events.into_iter().map(EventKind::as_str).collect(),
            boxes: webhook.boxes,
            created_at: webhook.created_at,
            disabled_at: webhook.disabled_at,
            waiting: webhook.waiting,
        }
    }
}

/// Webhooks as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookList {
    webhooks: Vec<WebhookObject>,
    total: usize,
}

/// Lists the webhooks of the user. The key needs the permission `manage`.
#[utoipa::path(get, path = "/webhooks", operation_id = "list_webhooks", tag = "webhooks", responses(
    (status = 200, description = "The webhooks, oldest first", body = Envelope<WebhookList>),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn list(
    State(app): State<App>,
    InOwnName(acting): InOwnName,
    query: Parameters<Nothing>,
) -> Reply<WebhookList> {
    let webhooks: Vec<_> = app.catalog.webhooks(&acting).await?.into_iter().map(WebhookObject::of).collect();
    Ok(Success::with_warnings(WebhookList { total: webhooks.len(), webhooks }, query.warnings))
}

/// A webhook to be created.
#[derive(Deserialize, ToSchema)]
pub(super) struct NewWebhookObject {
    /// Where events are sent; https.
    #[schema(example = "https://example.org/quire")]
    url: String,
    /// file.ready, `file.ready_with_warnings`, file.failed, file.replaced, file.deleted, source.synced,
    /// `box.language_changed`, question.unanswered, key.exposed
    #[schema(example = json!(["file.ready", "file.failed"]))]
    events: Vec<String>,
    /// Only events of these boxes; all boxes that the user may use the API on if left out.
    boxes: Option<Vec<String>>,
}

/// A webhook with its secret.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookWithSecret {
    /// What signatures are checked with, shown only once; null in the answer to a retry.
    #[schema(value_type = Option<String>, example = "whsec_…")]
    secret: Option<String>,
    #[serde(flatten)]
    webhook: WebhookObject,
}

/// Has events sent to an address. The key needs the permission `manage`, and the operator must allow it (setting `webhooks.enabled`).
#[utoipa::path(post, path = "/webhooks", operation_id = "make_webhook", tag = "webhooks", request_body = NewWebhookObject, responses(
    (status = 201, description = "The webhook with its secret", body = Envelope<WebhookWithSecret>),
    (status = "4XX", description = "The key or the body is wrong, or the address is in a private network", body = ErrorEnvelope)
))]
pub(super) async fn add(
    InOwnName(acting): InOwnName,
    actor: Actor,
    body: JsonBody<NewWebhookObject>,
) -> Result<Response, Failure> {
    let events: Result<Vec<EventKind>, String> = body.value.events.iter().map(|name| name.parse()).collect();
    let events = events.map_err(|wrong| Fault::invalid("events", wrong))?;
    let box_id = |id: &String| {
        id.parse::<BoxId>().map_err(|_| Fault::invalid("boxes", format!("`{id}` is not the id of a box")))
    };
    let boxes = body.value.boxes.as_ref().map(|ids| ids.iter().map(box_id).collect()).transpose()?;
    let (secret, webhook) = webhooks::add(&actor.by(), &acting, &body.value.url, events, boxes).await?;
    let webhook = WebhookObject::of(webhook);
    let answer = |secret| {
        let made = WebhookWithSecret { secret, webhook: webhook.clone() };
        (StatusCode::CREATED, Success::with_warnings(made, body.warnings.clone())).into_response()
    };
    Ok(with_secret(answer(Some(secret.0)), answer(None)).await?)
}

/// The webhook in the path.
pub(super) struct Named(WebhookId);

impl FromRequestParts<App> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let text = in_path(parts, app, "webhook_id").await;
        Ok(Named(text.and_then(|text| text.parse().ok()).ok_or_else(no_such_webhook)?))
    }
}

/// What was deleted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeletedWebhook {
    #[schema(value_type = String)]
    webhook_id: WebhookId,
    deleted: bool,
}

/// Deletes a webhook, with the events that wait for it. The key needs the permission `manage`.
#[utoipa::path(delete, path = "/webhooks/{webhook_id}", operation_id = "delete_webhook", tag = "webhooks",
    params(("webhook_id" = String, Path, description = "The webhook")),
    responses(
        (status = 200, description = "Nothing more is sent there", body = Envelope<DeletedWebhook>),
        (status = "4XX", description = "The key does not allow it, or there is no such webhook", body = ErrorEnvelope)
    ))]
pub(super) async fn delete(
    InOwnName(acting): InOwnName,
    Named(webhook_id): Named,
    actor: Actor,
    query: Parameters<Nothing>,
) -> Reply<DeletedWebhook> {
    webhooks::delete(&actor.by(), &acting, webhook_id).await?;
    Ok(Success::with_warnings(DeletedWebhook { webhook_id, deleted: true }, query.warnings))
}

/// A new secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RotatedSecret {
    #[schema(value_type = String)]
    webhook_id: WebhookId,
    /// The new secret, shown only once; null in the answer to a retry.
    secret: Option<String>,
    /// Until then events are signed with the secret before, too.
    #[schema(value_type = String, format = DateTime)]
    both_until: Timestamp,
}

/// Gives a webhook a new secret; for a day events are signed with both. Also enables a webhook that was disabled. The key needs the
/// permission `manage`.
#[utoipa::path(post, path = "/webhooks/{webhook_id}/rotate-secret", operation_id = "rotate_webhook_secret", tag = "webhooks",
    params(("webhook_id" = String, Path, description = "The webhook")),
    responses(
        (status = 200, description = "The new secret", body = Envelope<RotatedSecret>),
        (status = "4XX", description = "The key does not allow it, or there is no such webhook", body = ErrorEnvelope)
    ))]
pub(super) async fn rotate(
    InOwnName(acting): InOwnName,
    Named(webhook_id): Named,
    actor: Actor,
) -> Result<Response, Failure> {
    let (secret, both_until) = webhooks::rotate(&actor.by(), &acting, webhook_id).await?;
    let answer = |secret| Success::new(RotatedSecret { webhook_id, secret, both_until }).into_response();
    Ok(with_secret(answer(Some(secret.0)), answer(None)).await?)
}

/// An attempt to deliver an event.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptObject {
    /// Its number, for a replay.
    number: u64,
    /// The event, which `webhook-id` named.
    #[schema(value_type = String)]
    event_id: EventId,
    #[serde(rename = "type")]
    kind: &'static str,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    duration_ms: u64,
    /// What the receiver answered; null where it did not.
    status: Option<u16>,
    error: Option<String>,
    /// Whether the receiver took it.
    delivered: bool,
}

impl AttemptObject {
    fn of(attempt: AttemptRecord) -> Self {
        let AttemptRecord { number, event, kind, attempted } = attempt;
        AttemptObject {
            number,
            event_id: event,
            kind: kind.as_str(),
            at: attempted.at,
            duration_ms: attempted.duration_ms,
            status: attempted.status,
            error: attempted.error,
            delivered: attempted.status.is_some_and(|status| (200..300).contains(&status)),
        }
    }
}

/// Attempts as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct AttemptList {
    attempts: Vec<AttemptObject>,
    total: usize,
}

/// Lists the last 200 attempts to deliver events to a webhook. The key needs the permission `manage`.
#[utoipa::path(get, path = "/webhooks/{webhook_id}/attempts", operation_id = "list_webhook_attempts", tag = "webhooks",
    params(("webhook_id" = String, Path, description = "The webhook")),
    responses(
        (status = 200, description = "The attempts, latest first", body = Envelope<AttemptList>),
        (status = "4XX", description = "The key does not allow it, or there is no such webhook", body = ErrorEnvelope)
    ))]
pub(super) async fn attempts(
    State(app): State<App>,
    InOwnName(acting): InOwnName,
    Named(webhook_id): Named,
    query: Parameters<Nothing>,
) -> Reply<AttemptList> {
    let attempts = app.catalog.deliveries_tried(&acting, webhook_id).await?.ok_or_else(no_such_webhook)?;
    let attempts: Vec<_> = attempts.into_iter().map(AttemptObject::of).collect();
    Ok(Success::with_warnings(AttemptList { total: attempts.len(), attempts }, query.warnings))
}

/// The number of an attempt in the path.
pub(super) struct Numbered(u64);

impl FromRequestParts<App> for Numbered {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let text = in_path(parts, app, "number").await;
        Ok(Numbered(text.and_then(|text| text.parse().ok()).ok_or_else(no_such_attempt)?))
    }
}

fn no_such_attempt() -> Fault {
    Fault::new(Reason::NotFound, "there is no such delivery attempt; old attempts are deleted")
        .param("number")
}

/// An event that is sent again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replayed {
    #[schema(value_type = String)]
    webhook_id: WebhookId,
    number: u64,
    queued: bool,
}

/// Sends the event of an attempt again, under the same identifier. The key needs the permission `manage`.
#[utoipa::path(post, path = "/webhooks/{webhook_id}/attempts/{number}/replay", operation_id = "replay_webhook_attempt", tag = "webhooks",
    params(("webhook_id" = String, Path, description = "The webhook"), ("number" = u64, Path, description = "The attempt")),
    responses(
        (status = 202, description = "It is sent at once", body = Envelope<Replayed>),
        (status = "4XX", description = "The key does not allow it, or there is no such attempt", body = ErrorEnvelope)
    ))]
pub(super) async fn replay(
    State(app): State<App>,
    InOwnName(acting): InOwnName,
    Named(webhook_id): Named,
    Numbered(number): Numbered,
) -> Result<Response, Failure> {
    if !app.catalog.replay(&acting, webhook_id, number, Timestamp::now()).await? {
        return Err(no_such_attempt().into());
    }
    let queued = Success::new(Replayed { webhook_id, number, queued: true });
    Ok((StatusCode::ACCEPTED, queued).into_response())
}
