//! Requests that carry an `Idempotency-Key`, and the answers that are kept for their retries.

use std::str::FromStr;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{Fault, ids::AttemptId};

/// What a client calls a request that it may send again: 1–255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !(1..=255).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(
                "an Idempotency-Key must have 1 to 255 visible ASCII characters without spaces".into()
            );
        }
        Ok(IdempotencyKey(text.to_string()))
    }
}

/// A request about to be worked on.
#[derive(Debug, Clone)]
pub struct NewAttempt {
    /// The prefix of the API key. Each API key has idempotency keys of its own, so that it never sees another's
    /// answers.
    pub key: String,
    /// What the client calls the request.
    pub name: IdempotencyKey,
    /// A fingerprint of everything but the body: a different one is a different request.
    pub request: String,
    /// A fingerprint of what the API key may reach: an answer is kept only for as long as that stays the same.
    pub rights: String,
    /// Now.
    pub now: Timestamp,
    /// After this time its process must have died: later than any request can take.
    pub expires_at: Timestamp,
}

/// An answer kept for retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// A fingerprint of the body of the request that it answers.
    pub request_body: String,
    /// HTTP status.
    pub status: u16,
    /// The `Content-Type`, if any.
    pub content_type: Option<String>,
    /// The body.
    pub body: String,
    /// A fingerprint of what the API key may reach from this answer on, where the request has changed that.
    pub rights: Option<String>,
}

/// What is known of a request about to be worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// Nothing; it is this attempt's to work on.
    First(AttemptId),
    /// Another attempt is in progress.
    Running,
    /// It was answered.
    Answered {
        /// Everything but the body of the request that was.
        request: String,
        /// The answer.
        answer: KeptAnswer,
    },
}

/// Attempts. Of all with one idempotency key, one at a time runs; its answer is kept for the others.
#[async_trait]
pub trait Attempts: Send + Sync {
    /// Begins an attempt, or says why not. May be lost in a power cut, like the work itself.
    async fn begin_attempt(&self, new: NewAttempt) -> Result<Begun, Fault>;

    /// Ends an attempt, with the answer to keep until `expires_at`, or with none: then the idempotency key is free
    /// again. Charges in the same transaction what was settled within it. Ending one again whose answer is kept changes
    /// nothing. One that is gone, because its node was taken for dead and what it held was given back, is an
    /// [`UpstreamUnavailable`](crate::Reason::UpstreamUnavailable) fault: nothing was charged, so the answer must not be sent.
    async fn finish_attempt(
        &self,
        attempt: AttemptId,
        answer: Option<KeptAnswer>,
        expires_at: Timestamp,
    ) -> Result<(), Fault>;

    /// Frees the idempotency keys of attempts whose process has died: all that expire by `until`. Where one process
    /// has the store for itself, that is everything at its start.
    async fn free_abandoned_attempts(&self, until: Timestamp) -> Result<u64, Fault>;

    /// Forgets answers that have been kept for long enough.
    async fn forget_old_answers(&self, now: Timestamp) -> Result<u64, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_is_visible_and_not_too_long() {
        for good in ["a", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "~!", &"x".repeat(255)] {
            assert!(good.parse::<IdempotencyKey>().is_ok(), "{good}");
        }
        for wrong in ["", " ", "a b", "\u{7f}", "é", "a\t", &"x".repeat(256)] {
            assert!(wrong.parse::<IdempotencyKey>().is_err(), "{wrong}");
        }
    }
}
