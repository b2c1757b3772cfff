//! Webhooks: whom to tell of what happens, and the queue of what is still to be told. A queued event outlives the process, and
//! any node may deliver it.

use std::{fmt, str::FromStr};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    Fault,
    access::Acting,
    ids::{BoxId, DeliveryId, EventId, WebhookId},
    trace::Place,
};

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A file can be read and searched.
    FileReady,
    /// The same, but something about it should be known.
    FileReadyWithWarnings,
    /// A file could not be read.
    FileFailed,
    /// A new version of a file was received; `FileReady` or one of the others follows once it was read.
    FileReplaced,
    /// A file was deleted.
    FileDeleted,
    /// A source of a box was read, or could not be.
    SourceSynced,
    /// An API key was sent over plain HTTP or in a URL.
    KeyExposed,
    /// A box is for other languages from now on: somebody set it, or its documents turned out to be in them.
    BoxLanguageChanged,
    /// A box was asked something that nothing in it answers.
    QuestionUnanswered,
}

impl EventKind {
    /// All of them.
    pub const ALL: [EventKind; 9] = [
        EventKind::FileReady,
        EventKind::FileReadyWithWarnings,
        EventKind::FileFailed,
        EventKind::FileReplaced,
        EventKind::FileDeleted,
        EventKind::SourceSynced,
        EventKind::KeyExposed,
        EventKind::BoxLanguageChanged,
        EventKind::QuestionUnanswered,
    ];

    /// The name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::FileReady => "file.ready",
            EventKind::FileReadyWithWarnings => "file.ready_with_warnings",
            EventKind::FileFailed => "file.failed",
            EventKind::FileReplaced => "file.replaced",
            EventKind::FileDeleted => "file.deleted",
            EventKind::SourceSynced => "source.synced",
            EventKind::KeyExposed => "key.exposed",
            EventKind::BoxLanguageChanged => "box.language_changed",
            EventKind::QuestionUnanswered => "question.unanswered",
        }
    }
}

impl FromStr for EventKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        EventKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let known = EventKind::ALL.map(EventKind::as_str).join(", ");
            format!("`{text}` is not an event; use {known}")
        })
    }
}

/// What a receiver checks signatures with. Unlike passwords and keys it is stored as it is, because we sign with it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(pub String);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A webhook to be stored.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// Where events are sent.
    pub url: String,
    /// Which events.
    pub events: Vec<EventKind>,
    /// Of which boxes only; `None` is all that its user may use the API on.
    pub boxes: Option<Vec<BoxId>>,
    /// What they are signed with.
    pub secret: WebhookSecret,
}

/// A webhook as lists show it.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Identifies it.
    pub id: WebhookId,
    /// Where events are sent.
    pub url: String,
    /// Which events.
    pub events: Vec<EventKind>,
    /// Of which boxes only.
    pub boxes: Option<Vec<BoxId>>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its receiver said that it is gone: nothing is sent any more.
    pub disabled_at: Option<Timestamp>,
    /// Events that are still to be delivered.
    pub waiting: u64,
}

/// An event to be sent to one receiver now.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Identifies it.
    pub id: DeliveryId,
    /// The event, the same over all attempts.
    pub event: EventId,
    /// Where to.
    pub url: String,
    /// What it is signed with; two while a secret is rotated.
    pub secrets: Vec<WebhookSecret>,
    /// What is sent.
    pub body: String,
    /// Attempts so far.
    pub tries: u32,
    /// The trace of what happened.
    pub trace: Option<Place>,
}

/// How an attempt to deliver an event went.
#[derive(Debug, Clone)]
pub struct Attempted {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// What the receiver answered, if it did.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
}

/// What comes after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it was delivered.
    Done,
    /// Another attempt at this time.
    Again(Timestamp),
    /// Nothing: it was tried often enough.
    GaveUp,
    /// Nothing, ever: the receiver is gone.
    Disable,
}

/// An attempt as lists show it.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    /// Its number among those of its webhook, from 1.
    pub number: u64,
    /// The event.
    pub event: EventId,
    /// What happened.
    pub kind: EventKind,
    /// How it went.
    pub attempted: Attempted,
}

/// Webhooks and what is still to be sent to them.
///
/// Events are put into the queue by the transaction that makes them happen: whoever sees a file that is ready can rely on
/// its event being sent.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Stores a webhook of whoever acts. A box that they have no role in is a fault.
    async fn add_webhook(&self, acting: &Acting, webhook: NewWebhook) -> Result<Webhook, Fault>;

    /// The webhooks of whoever acts, oldest first.
    async fn webhooks(&self, acting: &Acting) -> Result<Vec<Webhook>, Fault>;

    /// Deletes a webhook with what waits for it; says whether there was one.
    async fn delete_webhook(&self, acting: &Acting, webhook: WebhookId) -> Result<bool, Fault>;

    /// Gives a webhook another secret; until then the one before signs too. Also enables one that was disabled. Says whether there
    /// was one.
    async fn rotate_secret(
        &self,
        acting: &Acting,
        webhook: WebhookId,
        secret: WebhookSecret,
        until: Timestamp,
    ) -> Result<bool, Fault>;

    /// Takes events that are due, at most so many: nobody else gets them until `patience` has passed. Of the events of one file
    /// for one webhook only the oldest is given out.
    async fn take_deliveries(
        &self,
        now: Timestamp,
        patience: std::time::Duration,
        most: u32,
    ) -> Result<Vec<Delivery>, Fault>;

    /// Notes how an attempt went and what comes next.
    async fn finish_delivery(
        &self,
        delivery: DeliveryId,
        attempted: Attempted,
        next: Next,
    ) -> Result<(), Fault>;

    /// The last attempts of a webhook, latest first; `None` where there is no such webhook.
    async fn deliveries_tried(
        &self,
        acting: &Acting,
        webhook: WebhookId,
    ) -> Result<Option<Vec<AttemptRecord>>, Fault>;

    /// Puts the event of an attempt into the queue again, under the same identifier; says whether there was one.
    async fn replay(
        &self,
        acting: &Acting,
        webhook: WebhookId,
        number: u64,
        now: Timestamp,
    ) -> Result<bool, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_reads_back() {
        for kind in EventKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("file.vanished".parse::<EventKind>().is_err());
        assert_eq!(format!("{:?}", WebhookSecret("x".into())), "***");
    }
}
