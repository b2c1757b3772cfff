//! Sign-ins to the dashboard. A browser holds a random token; the catalog knows only its hash.

use async_trait::async_trait;
use jiff::Timestamp;

use super::users::User;
use crate::{
    Fault,
    access::Person,
    ids::{SessionId, UserId},
};

/// SHA-256 of a secret that somebody else keeps: all that is stored of it.
pub type TokenHash = [u8; 32];

/// A sign-in to be remembered.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Who signed in.
    pub user: UserId,
    /// The hash of the token in the browser's cookie; a new one for every sign-in, so that none can be planted on
    /// anybody.
    pub token: TokenHash,
    /// What the browser says it is, shortened.
    pub agent: String,
    /// Where from.
    pub address: String,
    /// Now.
    pub now: Timestamp,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
}

/// A valid sign-in, and its account.
#[derive(Debug, Clone)]
pub struct Session {
    /// Identifies it; tells nothing of its token.
    pub id: SessionId,
    /// When it was last used, approximately.
    pub seen_at: Timestamp,
    /// The account.
    pub user: User,
    /// What they may do, as of now.
    pub person: Person,
}

/// A sign-in as its owner sees it.
#[derive(Debug, Clone)]
pub struct SessionRecord {
    /// Identifies it.
    pub id: SessionId,
    /// What the browser said it is.
    pub agent: String,
    /// Where from.
    pub address: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, approximately.
    pub seen_at: Timestamp,
}

/// Sign-ins.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Remembers a sign-in.
    async fn begin_session(&self, session: NewSession) -> Result<SessionId, Fault>;

    /// The sign-in behind a token; `None` where it has ended, has not been used since `idle_since`, or its account is disabled.
    async fn session(
        &self,
        token: &TokenHash,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<Option<Session>, Fault>;

    /// Notes that a sign-in is in use. May be lost in a power cut.
    async fn touch_session(&self, session: SessionId, now: Timestamp) -> Result<(), Fault>;

    /// The valid sign-ins of a user, latest first.
    async fn sessions_of(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionRecord>, Fault>;

    /// Ends one sign-in of a user; one that is not theirs or not there stays as it is.
    async fn end_session(&self, user: UserId, session: SessionId) -> Result<(), Fault>;

    /// Ends all sign-ins of a user, but perhaps one. Says how many.
    async fn end_sessions(&self, user: UserId, except: Option<SessionId>) -> Result<u64, Fault>;

    /// Forgets sign-ins that have ended.
    async fn forget_old_sessions(&self, now: Timestamp, idle_since: Timestamp) -> Result<u64, Fault>;
}
