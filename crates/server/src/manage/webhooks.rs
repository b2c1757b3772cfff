//! Webhooks: making and deleting one, and giving it another secret.

use std::time::Duration;

use engine::{
    Fault, Reason,
    access::Acting,
    ids::{BoxId, WebhookId},
    seams::catalog::{Action, EventKind, NewWebhook, Webhook, WebhookSecret},
};
use jiff::Timestamp;

use super::By;
use crate::{app::App, webhooks::new_secret};

/// How long the old secret signs beside the new one: receivers take the new one meanwhile.
const BOTH_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes one; its secret is given out this once.
pub(crate) async fn add(
    by: &By,
    acting: &Acting,
    url: &str,
    mut events: Vec<EventKind>,
    boxes: Option<Vec<BoxId>>,
) -> Result<(WebhookSecret, Webhook), Fault> {
    let url = checked_url(&by.app, url)?;
    events.sort_by_key(|kind| kind.as_str());
    events.dedup();
    if events.is_empty() {
        return Err(Fault::invalid("events", "`events` must name at least one event"));
    }
    let secret = new_secret();
    let new = NewWebhook { url, events, boxes: acting.boxes(boxes)?, secret: secret.clone() };
    let webhook = by.app.catalog.add_webhook(acting, new).await?;
    by.note(Action::WebhookMade, None, webhook.url.as_str()).await?;
    Ok((secret, webhook))
}

/// Deletes one of whoever acts.
pub(crate) async fn delete(by: &By, acting: &Acting, webhook: WebhookId) -> Result<(), Fault> {
    if !by.app.catalog.delete_webhook(acting, webhook).await? {
        return Err(no_such_webhook());
    }
    by.note(Action::WebhookDeleted, None, webhook.to_string()).await
}

/// Gives one another secret, and says until when both sign.
pub(crate) async fn rotate(
    by: &By,
    acting: &Acting,
    webhook: WebhookId,
) -> Result<(WebhookSecret, Timestamp), Fault> {
    let (secret, now) = (new_secret(), Timestamp::now());
    let both_until = now.saturating_add(BOTH_FOR).unwrap_or(Timestamp::MAX);
    if !by.app.catalog.rotate_secret(acting, webhook, secret.clone(), both_until).await? {
        return Err(no_such_webhook());
    }
    by.note(Action::WebhookSecretRotated, None, webhook.to_string()).await?;
    Ok((secret, both_until))
}

/// The answer where there is none.
pub(crate) fn no_such_webhook() -> Fault {
    Fault::new(Reason::NotFound, "you have no webhook with this id").param("webhook_id")
}

fn checked_url(app: &App, url: &str) -> Result<String, Fault> {
    let outside = app.webhooks.as_ref().ok_or_else(|| {
        Fault::new(Reason::Unprocessable, "this server does not send events")
            .hint("ask the operator to set webhooks.enabled = true")
    })?;
    let url = outside.parse(url)?;
    if url.scheme() != "https" && !app.config.webhooks.private_addresses {
        return Err(Fault::invalid("url", "`url` must begin with https://"));
    }
    Ok(url.to_string())
}
