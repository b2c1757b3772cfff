//! Programs that people let in (OAuth 2.1): those that registered themselves, codes on their way, and what was granted.
//!
//! A grant is a key whose secret changes: its record, limits, usage and revocation are those of [`Keys`](super::Keys).

use async_trait::async_trait;
use jiff::Timestamp;

use super::{KeyName, sessions::TokenHash};
use crate::{
    Fault,
    apikey::{ApiKey, RefreshToken},
    ids::{BoxId, ClientId, UserId},
    permissions::Permissions,
};

/// A program that wants to be known.
#[derive(Debug, Clone)]
pub struct NewClient {
    /// What it calls itself.
    pub name: KeyName,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// The network that it registers from.
    pub network: String,
    /// When.
    pub now: Timestamp,
    /// Programs that one network may register within an hour.
    pub most_each: u64,
    /// Programs that may be registered in all. Those that nobody has let in for a day make room.
    pub most: u64,
}

/// A program that has registered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// What it is known by.
    pub id: ClientId,
    /// What it calls itself.
    pub name: KeyName,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
}

/// What somebody has just allowed, to be exchanged once for tokens.
#[derive(Debug, Clone)]
pub struct NewCode {
    /// Hash of the code.
    pub code: TokenHash,
    /// Who allows it.
    pub user: UserId,
    /// Which program.
    pub client: String,
    /// What it calls itself.
    pub name: KeyName,
    /// Where the person is sent back to.
    pub redirect_uri: String,
    /// The hash of what the program will prove itself with (PKCE, S256).
    pub challenge: String,
    /// The only path that the tokens are valid at.
    pub audience: String,
    /// The only box that they are valid for.
    pub only: Option<BoxId>,
    /// What they may be used for.
    pub permissions: Permissions,
    /// When the code was made.
    pub now: Timestamp,
    /// Until when it can be exchanged.
    pub expires_at: Timestamp,
}

/// What a program is to get.
#[derive(Debug)]
pub struct NewTokens {
    /// What it asks with.
    pub access: ApiKey,
    /// Until when that works.
    pub access_until: Timestamp,
    /// What it gets the next ones with.
    pub refresh: RefreshToken,
    /// Until when that works, and the grant with it.
    pub refresh_until: Timestamp,
}

/// A code that a program exchanges.
#[derive(Debug)]
pub struct Exchange {
    /// Hash of the code.
    pub code: TokenHash,
    /// Which program it says it is.
    pub client: String,
    /// Where it says the person was sent back to, where it says.
    pub redirect_uri: Option<String>,
    /// What its proof hashes to.
    pub challenge: String,
    /// The path that it wants tokens for, where it says.
    pub audience: Option<String>,
    /// When.
    pub now: Timestamp,
}

/// A program that renews its tokens.
#[derive(Debug)]
pub struct Refresh {
    /// What it was given.
    pub sent: RefreshToken,
    /// Which program it says it is.
    pub client: String,
    /// The path that it wants tokens for, where it says.
    pub audience: Option<String>,
    /// When.
    pub now: Timestamp,
}

/// How renewing went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// The new tokens work, for this.
    Done(Permissions),
    /// There is nothing to renew, or it is not this program's.
    Refused,
    /// The token was used before, so somebody else has it too: the grant is revoked.
    Reused,
}

/// Programs and what they were granted.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Registers a program; `None` where there are too many already.
    async fn register_client(&self, client: NewClient) -> Result<Option<Client>, Fault>;

    /// The program with this id.
    async fn client(&self, id: ClientId) -> Result<Option<Client>, Fault>;

    /// Keeps a code until it is exchanged or expires.
    async fn add_code(&self, code: NewCode) -> Result<(), Fault>;

    /// Makes a grant of a code; `None` where the code is not valid for this. A code that was exchanged before has been seen by
    /// others: what was made of it is revoked.
    async fn exchange_code(
        &self,
        exchange: Exchange,
        tokens: NewTokens,
    ) -> Result<Option<Permissions>, Fault>;

    /// Replaces the tokens of a grant. The access token before stays valid for its time.
    async fn refresh_grant(&self, refresh: Refresh, tokens: NewTokens) -> Result<Refreshed, Fault>;

    /// Revokes the grant that a token belongs to, old or new; says whether there was one.
    async fn end_grant(&self, sent: &RefreshToken) -> Result<bool, Fault>;
}
