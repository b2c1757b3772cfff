//! One-time links: to set the server up, to join, to choose a new password. Only the hash of a link's secret is stored.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    sessions::TokenHash,
    users::{Email, PersonName, PlanName, User},
};
use crate::{
    Fault,
    access::{Managing, Operating, Role},
    ids::{BoxId, LinkId, UserId},
};

/// What a link is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Makes the first operator: of an account that is there already, or of a new one.
    SetUp {
        /// The account, where there is one.
        user: Option<UserId>,
    },
    /// Makes an account with this address, or takes one that is there, and perhaps makes it a member of a box.
    Join {
        /// Whose account.
        email: Email,
        /// The plan of a new account.
        plan: PlanName,
        /// As what in which box.
        member: Option<(BoxId, Role)>,
    },
    /// Sets a new password.
    Reset {
        /// Whose.
        user: UserId,
        /// Who that is to people.
        email: Email,
    },
}

/// A link to be made.
#[derive(Debug, Clone)]
pub struct NewOneTimeLink {
    /// What it is good for.
    pub purpose: Purpose,
    /// Stands for its secret.
    pub token: TokenHash,
    /// Who made it; `None` is the server itself.
    pub made_by: Option<UserId>,
    /// Now.
    pub now: Timestamp,
    /// When it dies.
    pub expires_at: Timestamp,
}

/// A link that was not used yet.
#[derive(Debug, Clone)]
pub struct OneTimeLink {
    /// Names it.
    pub id: LinkId,
    /// What it is good for.
    pub purpose: Purpose,
    /// What the box is called, where it is about one.
    pub box_name: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it dies.
    pub expires_at: Timestamp,
}

/// One-time links. Each works once, and dies with its expiry, its box and whoever withdraws it.
#[async_trait]
pub trait OneTimeLinks: Send + Sync {
    /// Makes a link. A new set-up link takes the place of older ones, a new link to reset a password that of older ones.
    async fn add_link(&self, link: NewOneTimeLink) -> Result<LinkId, Fault>;

    /// The link with this secret, if it can still be used.
    async fn link(&self, token: &TokenHash, now: Timestamp) -> Result<Option<OneTimeLink>, Fault>;

    /// Uses a link: in one transaction it is gone, the account is there with this password, and it is what the link makes it.
    /// Gives the account; `None` where the link cannot be used any more. An account that is there already keeps its password
    /// when it joins.
    async fn use_link(
        &self,
        token: &TokenHash,
        email: Email,
        name: Option<PersonName>,
        password_hash: Option<String>,
        now: Timestamp,
    ) -> Result<Option<User>, Fault>;

    /// Links to join a box that wait to be used, latest first.
    async fn links_to_box(&self, managing: &Managing, now: Timestamp) -> Result<Vec<OneTimeLink>, Fault>;

    /// Withdraws a link to join a box.
    async fn withdraw_from_box(&self, managing: &Managing, link: LinkId) -> Result<(), Fault>;

    /// Links to join the server that wait to be used, latest first.
    async fn links_to_server(&self, operating: &Operating, now: Timestamp)
    -> Result<Vec<OneTimeLink>, Fault>;

    /// Withdraws a link to join the server.
    async fn withdraw_from_server(&self, operating: &Operating, link: LinkId) -> Result<(), Fault>;
}
