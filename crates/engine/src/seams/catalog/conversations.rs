//! Conversations that people have with a box, each its own person's, who may show it to the others in the box. What is deleted from the
//! box is deleted from them too.

use async_trait::async_trait;
use jiff::Timestamp;

use super::users::Email;
use crate::{
    Fault,
    access::Reading,
    ids::{ConversationId, FileId, UserId},
};

/// A question and its answer, to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    /// What was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
    /// What the answer cites: a JSON array, as it was sent.
    pub citations: String,
    /// The files that it cites.
    pub files: Vec<FileId>,
    /// When.
    pub at: Timestamp,
}

/// A question and its answer, as kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What was asked.
    pub question: String,
    /// What was answered; `None` once a file that it cites was deleted.
    pub answer: Option<String>,
    /// What the answer cites: a JSON array.
    pub citations: String,
    /// When.
    pub at: Timestamp,
}

/// A conversation without what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRecord {
    /// Identifies it.
    pub id: ConversationId,
    /// What it is called; its first question unless it was renamed.
    pub title: String,
    /// When something was last said.
    pub changed_at: Timestamp,
    /// Turns so far.
    pub turns: u64,
    /// How many of them everybody in the box may read, where it is shared.
    pub shared: Option<u64>,
}

/// A conversation that everybody in the box may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedConversation {
    /// The conversation.
    pub record: ConversationRecord,
    /// Whose it is.
    pub by: Email,
    /// What was said until it was shared.
    pub turns: Vec<Turn>,
}

/// Conversations by person and box.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Adds a turn to a conversation of the person, or begins one with it. `None` where they have no such conversation. A box
    /// keeps a bounded number for each person: the oldest are forgotten.
    async fn add_turn(
        &self,
        reading: &Reading,
        user: UserId,
        into: Option<ConversationId>,
        turn: NewTurn,
    ) -> Result<Option<ConversationRecord>, Fault>;

    /// The person's conversations with the box, latest first.
    async fn conversations(&self, reading: &Reading, user: UserId) -> Result<Vec<ConversationRecord>, Fault>;

    /// One of them, with what was said.
    async fn conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
    ) -> Result<Option<(ConversationRecord, Vec<Turn>)>, Fault>;

    /// Calls one something else; whether there is such a one.
    async fn rename_conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
        title: String,
    ) -> Result<bool, Fault>;

    /// Lets everybody in the box read what was said in one so far, or nobody any more; whether there is such a one.
    async fn share_conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
        shared: bool,
    ) -> Result<bool, Fault>;

    /// One of the box that is shared, whoever's it is.
    async fn shared_conversation(
        &self,
        reading: &Reading,
        id: ConversationId,
    ) -> Result<Option<SharedConversation>, Fault>;

    /// Deletes one; whether there was such a one.
    async fn delete_conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
    ) -> Result<bool, Fault>;

    /// Deletes those in which nothing was said since then, and says how many.
    async fn forget_conversations(&self, before: Timestamp) -> Result<u64, Fault>;
}
