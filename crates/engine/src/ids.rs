//! Identifiers: what each thing is called on the wire, one type per kind, so that they cannot be mixed up.

use std::{cmp::Ordering, fmt, hash, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use uuid::Uuid;

/// What an identifier names; gives the prefix that people and logs can tell it by.
pub trait Kind {
    /// The part before the underscore, such as `box`.
    const PREFIX: &'static str;
}

/// A time-ordered 128-bit identifier, written `<prefix>_<32 hex digits>`.
pub struct Id<K>(Uuid, PhantomData<fn() -> K>);

/// Identifies a box.
pub type BoxId = Id<BoxKind>;
/// Identifies a file in a box.
pub type FileId = Id<FileKind>;
/// Identifies a user account.
pub type UserId = Id<UserKind>;
/// Names one durable piece of background work.
pub type JobId = Id<JobKind>;
/// Identifies units that are held for one call.
pub type ReservationId = Id<ReservationKind>;
/// Identifies one attempt at a request that carries an `Idempotency-Key`.
pub type AttemptId = Id<AttemptKind>;

/// Identifies a sign-in to the dashboard.
pub type SessionId = Id<SessionKind>;
/// Identifies a passkey.
pub type PasskeyId = Id<PasskeyKind>;
/// Identifies a one-time link.
pub type LinkId = Id<LinkKind>;
/// Identifies a line of the audit log.
pub type EntryId = Id<EntryKind>;
/// Identifies a webhook.
pub type WebhookId = Id<WebhookKind>;
/// Identifies something that happened, over all attempts to tell of it.
pub type EventId = Id<EventKind>;
/// Identifies an event on its way to one webhook.
pub type DeliveryId = Id<DeliveryKind>;

/// Identifies a source that a box follows.
pub type SourceId = Id<SourceKind>;

/// Identifies an upload that is in no box yet.
pub type UploadId = Id<UploadKind>;
/// Identifies a conversation with a box.
pub type ConversationId = Id<ConversationKind>;
/// Identifies a question of an evaluation set.
pub type EvaluationQuestionId = Id<EvaluationQuestionKind>;
/// Identifies an evaluation of a box.
pub type EvaluationRunId = Id<EvaluationRunKind>;
/// Identifies a program that has registered itself.
pub type ClientId = Id<ClientKind>;
/// Identifies files that were put into a box together.
pub type BatchId = Id<BatchKind>;

/// Marks [`BoxId`].
pub enum BoxKind {}
/// Marks [`FileId`].
pub enum FileKind {}
/// Marks [`UserId`].
pub enum UserKind {}
/// Marks [`JobId`].
pub enum JobKind {}
/// Marks [`ReservationId`].
pub enum ReservationKind {}
/// Marks [`AttemptId`].
pub enum AttemptKind {}
/// Marks [`SessionId`].
pub enum SessionKind {}
/// Marks [`PasskeyId`].
pub enum PasskeyKind {}
/// Marks [`LinkId`].
pub enum LinkKind {}
/// Marks [`EntryId`].
pub enum EntryKind {}
/// See [`WebhookId`].
pub enum WebhookKind {}
/// See [`EventId`].
pub enum EventKind {}
/// See [`DeliveryId`].
pub enum DeliveryKind {}
/// Marks [`SourceId`].
pub enum SourceKind {}
/// Marks [`UploadId`].
pub enum UploadKind {}
/// Marks [`ConversationId`].
pub enum ConversationKind {}
/// Marks [`EvaluationQuestionId`].
pub enum EvaluationQuestionKind {}
/// Marks [`EvaluationRunId`].
pub enum EvaluationRunKind {}
/// Marks [`ClientId`].
pub enum ClientKind {}
/// Marks [`BatchId`].
pub enum BatchKind {}

impl Kind for BoxKind {
    const PREFIX: &'static str = "box";
}
impl Kind for FileKind {
    const PREFIX: &'static str = "fil";
}
impl Kind for UserKind {
    const PREFIX: &'static str = "usr";
}
impl Kind for JobKind {
    const PREFIX: &'static str = "job";
}
impl Kind for ReservationKind {
    const PREFIX: &'static str = "rsv";
}
impl Kind for AttemptKind {
    const PREFIX: &'static str = "att";
}
impl Kind for SessionKind {
    const PREFIX: &'static str = "ses";
}
impl Kind for PasskeyKind {
    const PREFIX: &'static str = "psk";
}
impl Kind for LinkKind {
    const PREFIX: &'static str = "lnk";
}
impl Kind for EntryKind {
    const PREFIX: &'static str = "log";
}
impl Kind for WebhookKind {
    const PREFIX: &'static str = "whk";
}
impl Kind for EventKind {
    const PREFIX: &'static str = "evt";
}
impl Kind for DeliveryKind {
    const PREFIX: &'static str = "dlv";
}
impl Kind for SourceKind {
    const PREFIX: &'static str = "src";
}
impl Kind for UploadKind {
    const PREFIX: &'static str = "upl";
}
impl Kind for ConversationKind {
    const PREFIX: &'static str = "cnv";
}
impl Kind for EvaluationQuestionKind {
    const PREFIX: &'static str = "evq";
}
impl Kind for EvaluationRunKind {
    const PREFIX: &'static str = "evr";
}
impl Kind for ClientKind {
    const PREFIX: &'static str = "cli";
}
impl Kind for BatchKind {
    const PREFIX: &'static str = "bat";
}

/// The text is not an identifier of the wanted kind.
#[derive(Debug, thiserror::Error)]
#[error("expected an identifier of the form {0}_<32 hex digits>")]
pub struct NotAnId(&'static str);

impl<K: Kind> Id<K> {
    /// A new identifier, greater than every one made before it on this machine.
    pub fn generate() -> Self {
        Id(Uuid::now_v7(), PhantomData)
    }

    /// The 16 bytes behind the text form.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The identifier whose [`as_bytes`](Self::as_bytes) these are.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Id(Uuid::from_bytes(bytes), PhantomData)
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", K::PREFIX, self.0.simple())
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Kind> FromStr for Id<K> {
    type Err = NotAnId;

    /// Accepts exactly what `Display` writes, so that one thing has one name.
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let hex = text.strip_prefix(K::PREFIX).and_then(|rest| rest.strip_prefix('_')).unwrap_or("");
        let canonical = hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !canonical {
            return Err(NotAnId(K::PREFIX));
        }
        Uuid::try_parse(hex).map(|id| Id(id, PhantomData)).map_err(|_| NotAnId(K::PREFIX))
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> hash::Hash for Id<K> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// Identifies a chunk: its file and its place in the file, so that the same chunk keeps its name when re-read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId {
    /// The file it was cut from.
    pub file: FileId,
    /// Its position among the file's chunks, from 0.
    pub ordinal: u32,
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chk_{}_{}", self.file.0.simple(), self.ordinal)
    }
}

impl FromStr for ChunkId {
    type Err = NotAnId;

    /// Accepts exactly what `Display` writes.
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let read = || {
            let (file, ordinal) = text.strip_prefix("chk_")?.split_once('_')?;
            let id = ChunkId { file: format!("fil_{file}").parse().ok()?, ordinal: ordinal.parse().ok()? };
            (id.to_string() == text).then_some(id)
        };
        read().ok_or(NotAnId("chk"))
    }
}

impl Serialize for ChunkId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_what_it_writes() {
        let id = BoxId::generate();
        assert_eq!(id.to_string().parse::<BoxId>().unwrap(), id);
    }

    #[test]
    fn a_chunk_id_reads_back_what_it_writes() {
        let id = ChunkId { file: FileId::generate(), ordinal: 17 };
        assert_eq!(id.to_string().parse::<ChunkId>().unwrap(), id);
        let text = id.to_string();
        for wrong in
            [text.replace("chk", "fil"), format!("{text}x"), text.replace("_17", "_017"), "chk_".into()]
        {
            assert!(wrong.parse::<ChunkId>().is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn only_the_canonical_spelling_is_accepted() {
        let id = BoxId::generate().to_string();
        for wrong in [
            id.to_uppercase(),
            id.replace("box_", "fil_"),
            id.replace("box_", ""),
            format!("{id} "),
            id[..id.len() - 1].to_string(),
            String::new(),
            "box_".to_string(),
        ] {
            assert!(wrong.parse::<BoxId>().is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn later_ids_sort_after_earlier_ones() {
        let ids: Vec<FileId> = (0..100).map(|_| FileId::generate()).collect();
        assert!(ids.is_sorted());
    }
}
