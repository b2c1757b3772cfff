//! One-time links: to set the server up, to join, to choose a new password. Only the hash of a link's secret is stored.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    sessions::TokenHash,
    users::{Email, PersonName, PlanName, User},
};
use crate::{
    Fault,
    access::{Managing, Operating, Role},
    ids::{BoxId, LinkId, UserId},
};

/// What a link does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Makes the first operator: of an account that exists already, or of a new one.
    SetUp {
        /// The account, where there is one.
        user: Option<UserId>,
    },
    /// Creates an account with this address, or uses an existing one, and perhaps makes it a member of a box.
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
    /// Connects an identity at a provider to an account whose holder has just proven who they are.
    Connect {
        /// Whose.
        user: UserId,
        /// Who that is to people.
        email: Email,
    },
}

/// Whose invitations make accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inviters {
    /// Those of operators. Anybody else's wait until an operator or a provider vouches for the address.
    Operators,
    /// Also those of whoever manages a box. Nobody vouches for the address of such an account.
    Owners,
}

/// Whoever follows a link.
#[derive(Debug, Clone)]
pub struct Newcomer {
    /// Who they are, if they are signed in: a link for an existing account works for that account only.
    pub signed_in: Option<UserId>,
    /// The address of an account to be created, where the link names none.
    pub email: Email,
    /// What they are called.
    pub name: Option<PersonName>,
    /// The password that they chose.
    pub password_hash: Option<String>,
}

/// A link to be created.
#[derive(Debug, Clone)]
pub struct NewOneTimeLink {
    /// What it does.
    pub purpose: Purpose,
    /// The hash of its secret.
    pub token: TokenHash,
    /// Who created it; `None` is the server itself.
    pub made_by: Option<UserId>,
    /// Now.
    pub now: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// A link that was not used yet.
#[derive(Debug, Clone)]
pub struct OneTimeLink {
    /// Identifies it.
    pub id: LinkId,
    /// What it does.
    pub purpose: Purpose,
    /// What the box is called, where it is about one.
    pub box_name: Option<String>,
    /// Who created it; `None` is the server itself.
    pub made_by: Option<UserId>,
    /// Whether an operator made it, who may make accounts whatever [`Inviters`] says.
    pub by_operator: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// How many invitations to boxes there may be; operators' own are not counted.
#[derive(Debug, Clone, Copy)]
pub struct MostInvitations {
    /// Open ones of one box.
    pub of_box: u64,
    /// Open ones of one person, with the accounts that theirs have made.
    pub of_person: u64,
}

/// An account that somebody's invitation waits for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The address.
    pub email: Email,
    /// Who invited them.
    pub by: Email,
}

/// One-time links. Each works once, and only while its maker still may do what it does; it ends when it expires or is
/// withdrawn, when its box is deleted and when its maker loses the right.
#[async_trait]
pub trait OneTimeLinks: Send + Sync {
    /// Creates a link. It takes the place of older ones for the same: of all set-up links, of those to reset this password, of
    /// invitations of this address to this box.
    async fn add_link(&self, link: NewOneTimeLink) -> Result<LinkId, Fault>;

    /// Creates an invitation to a box, unless there are too many already.
    async fn invite(&self, link: NewOneTimeLink, most: MostInvitations) -> Result<LinkId, Fault>;

    /// The link with this secret, if it can still be used.
    async fn link(&self, token: &TokenHash, now: Timestamp) -> Result<Option<OneTimeLink>, Fault>;

    /// Uses a link: in one transaction it is gone, the account is there with this password, and it is what the link makes it.
    /// Gives the account; `None` where the link cannot be used any more. An account that exists already keeps its password
    /// when it joins, and only its holder can make it join. An account is made only where `inviters` lets the link's maker.
    async fn use_link(
        &self,
        token: &TokenHash,
        newcomer: Newcomer,
        inviters: Inviters,
        now: Timestamp,
    ) -> Result<Option<User>, Fault>;

    /// Links to join a box that wait to be used, latest first.
    async fn links_to_box(&self, managing: &Managing, now: Timestamp) -> Result<Vec<OneTimeLink>, Fault>;

    /// Withdraws a link to join a box.
    async fn withdraw_from_box(&self, managing: &Managing, link: LinkId) -> Result<(), Fault>;

    /// Links to join the server that wait to be used, latest first.
    async fn links_to_server(&self, operating: &Operating, now: Timestamp)
    -> Result<Vec<OneTimeLink>, Fault>;

    /// Addresses without an account that are invited to boxes, with who invited them.
    async fn wanted_accounts(&self, operating: &Operating, now: Timestamp) -> Result<Vec<Wanted>, Fault>;

    /// Withdraws a link to join the server.
    async fn withdraw_from_server(&self, operating: &Operating, link: LinkId) -> Result<(), Fault>;
}
