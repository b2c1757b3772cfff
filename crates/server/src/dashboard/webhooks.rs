//! Account → Webhooks: where events are sent, how that went, and sending one again.

use askama::Template;
use axum::{
    extract::{Path, State},
    response::Response,
};
use engine::{
    Fault, Reason,
    ids::{BoxId, WebhookId, WebhookKind},
    seams::catalog::{AttemptRecord, EventKind, Webhook, WebhookSecret},
};
use jiff::Timestamp;

use super::{
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{Named, SignedIn},
    said::Said,
    show::Moment,
};
use crate::{
    app::App,
    manage::webhooks::{self, no_such_webhook},
    words::Words,
};

/// Attempts of each webhook that the page shows.
const SHOWN: usize = 10;

/// A webhook as the page shows it.
struct Row {
    id: WebhookId,
    url: String,
    events: String,
    boxes: String,
    created: Moment,
    disabled: bool,
    waiting: String,
    attempts: Vec<Attempt>,
}

/// An attempt to deliver an event.
struct Attempt {
    number: u64,
    /// The text of what happened.
    event: &'static str,
    at: Moment,
    good: bool,
    words: String,
}

impl Attempt {
    fn of(said: Words, record: AttemptRecord) -> Self {
        let AttemptRecord { number, kind, attempted, .. } = record;
        let good = attempted.status.is_some_and(|status| (200..300).contains(&status));
        let words = match (attempted.status, attempted.error) {
            (Some(status), _) if good => said
                .text("account-attempt-delivered")
                .with("status", status.to_string())
                .with("took", attempted.duration_ms.to_string())
                .plain(),
            (Some(status), _) => {
                said.text("account-attempt-refused").with("status", status.to_string()).plain()
            }
            (None, error) => error.unwrap_or_else(|| said.plain("account-attempt-silent")),
        };
        Attempt { number, event: words_of(kind), at: Moment::of(attempted.at), good, words }
    }
}

/// The text that says what happened.
fn words_of(kind: EventKind) -> &'static str {
    match kind {
        EventKind::FileReady => "account-event-ready",
        EventKind::FileReadyWithWarnings => "account-event-warnings",
        EventKind::FileFailed => "account-event-failed",
        EventKind::FileReplaced => "account-event-replaced",
        EventKind::FileDeleted => "account-event-deleted",
        EventKind::KeyExposed => "account-event-exposed",
        EventKind::SourceSynced => "account-event-synced",
        EventKind::BoxLanguageChanged => "account-event-language",
        EventKind::QuestionUnanswered => "account-event-unanswered",
    }
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    frame: Frame,
    /// Whether the operator lets events be sent.
    enabled: bool,
    rows: Vec<Row>,
    events: Vec<(&'static str, &'static str)>,
    boxes: Vec<(BoxId, String)>,
    /// The secret that was just made; shown only once.
    fresh: Option<String>,
}

/// All webhooks of the visitor.
pub(super) async fn list(State(app): State<App>, who: SignedIn) -> Shown {
    let (acting, words) = (who.person().may_act(), who.0.words);
    let records = app.catalog.boxes_of(&who.person().readable()).await?;
    let boxes: Vec<(BoxId, String)> =
        records.into_iter().map(|record| (record.id, record.name.as_str().to_string())).collect();
    let mut rows = Vec::new();
    for webhook in app.catalog.webhooks(&acting).await? {
        let attempts = app.catalog.deliveries_tried(&acting, webhook.id).await?.unwrap_or_default();
        rows.push(row(words, webhook, attempts, &boxes));
    }
    let fresh = match who.0.brought.take(|said| matches!(said, Said::Secret(_))) {
        Some(Said::Secret(secret)) => Some(secret),
        _ => None,
    };
    let secret = fresh.is_some();
    let shown = page::show(&WebhooksPage {
        frame: Frame::new(&app, &who.0, words.text("frame-webhooks"), Place::Webhooks),
        enabled: app.webhooks.is_some(),
        rows,
        events: EventKind::ALL.map(|kind| (kind.as_str(), words_of(kind))).into(),
        boxes,
        fresh,
    })?;
    Ok(if secret { page::with_secret(shown) } else { shown })
}

fn row(words: Words, webhook: Webhook, attempts: Vec<AttemptRecord>, boxes: &[(BoxId, String)]) -> Row {
    let name_of = |id: &BoxId| {
        boxes.iter().find(|(known, _)| known == id).map_or_else(|| id.to_string(), |(_, name)| name.clone())
    };
    Row {
        id: webhook.id,
        url: webhook.url,
        events: webhook
            .events
            .into_iter()
            .map(|kind| words.plain(words_of(kind)))
            .collect::<Vec<_>>()
            .join(", "),
        boxes: webhook.boxes.map_or_else(
            || words.plain("account-webhook-all"),
            |ids| ids.iter().map(name_of).collect::<Vec<_>>().join(", "),
        ),
        created: Moment::of(webhook.created_at),
        disabled: webhook.disabled_at.is_some(),
        waiting: words.count("account-events-waiting", webhook.waiting),
        attempts: attempts.into_iter().take(SHOWN).map(|one| Attempt::of(words, one)).collect(),
    }
}

/// Makes one; the next page shows its secret, once.
pub(super) async fn add(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let events: Result<Vec<EventKind>, String> = fields.all("event").map(str::parse).collect();
    let events = events.map_err(|wrong| Fault::invalid("event", wrong))?;
    if events.is_empty() {
        return Err(Fault::invalid("event", "choose at least one event").into());
    }
    let boxes: Vec<BoxId> = fields.all("box").filter_map(|id| id.parse().ok()).collect();
    let some = fields.text("scope") == "some";
    if some == boxes.is_empty() {
        return Err(Fault::invalid("scope", "choose all boxes, or tick at least one").into());
    }
    let by = who.0.by(&app);
    let (secret, _) =
        webhooks::add(&by, &who.person().may_act(), fields.text("url"), events, some.then_some(boxes))
            .await?;
    Ok(shown_once(&who, secret))
}

fn shown_once(who: &SignedIn, secret: WebhookSecret) -> Response {
    who.0.say(&Said::Secret(secret.0), page::go("/account/webhooks"))
}

/// Deletes one.
pub(super) async fn delete(State(app): State<App>, who: SignedIn, Named(id): Named<WebhookKind>) -> Shown {
    webhooks::delete(&who.0.by(&app), &who.person().may_act(), id).await?;
    Ok(page::go("/account/webhooks?done=webhook-deleted"))
}

/// Gives one another secret.
pub(super) async fn rotate(State(app): State<App>, who: SignedIn, Named(id): Named<WebhookKind>) -> Shown {
    let (secret, _) = webhooks::rotate(&who.0.by(&app), &who.person().may_act(), id).await?;
    Ok(shown_once(&who, secret))
}

/// Sends the event of an attempt again.
pub(super) async fn replay(
    State(app): State<App>,
    who: SignedIn,
    Named(id): Named<WebhookKind>,
    Path(segments): Path<Vec<(String, String)>>,
) -> Shown {
    let number = segments.iter().find(|(name, _)| name == "number").and_then(|(_, text)| text.parse().ok());
    let number = number.ok_or_else(|| Fault::new(Reason::NotFound, "there is no such attempt"))?;
    if !app.catalog.replay(&who.person().may_act(), id, number, Timestamp::now()).await? {
        return Err(no_such_webhook().into());
    }
    Ok(page::go("/account/webhooks?done=replayed"))
}
