//! Passkeys: public keys of authenticators, each of which signs its holder in.

use std::{fmt, str::FromStr};

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    TokenHash,
    users::{User, name_of},
};
use crate::{
    Fault,
    ids::{PasskeyId, UserId},
};

/// Passkeys that an account can have.
pub const MOST_PASSKEYS: usize = 20;

/// What its holder calls a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyName(String);

impl PasskeyName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PasskeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PasskeyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        name_of(text, 60)
            .map(PasskeyName)
            .ok_or_else(|| "a passkey's name must have 1 to 60 characters".into())
    }
}

/// A passkey to be kept.
#[derive(Debug, Clone)]
pub struct NewPasskey {
    /// Whom it signs in.
    pub user: UserId,
    /// What they call it.
    pub name: PasskeyName,
    /// The name of the host at which it works.
    pub host: String,
    /// What its authenticator calls it: no two passkeys are called the same.
    pub credential: Vec<u8>,
    /// The key that its signatures are checked with (COSE).
    pub public_key: Vec<u8>,
    /// How often it has signed, as far as its authenticator counts.
    pub sign_count: u32,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A passkey that is kept.
#[derive(Debug, Clone)]
pub struct Passkey {
    /// Names it.
    pub id: PasskeyId,
    /// What it was made of.
    pub made: NewPasskey,
    /// When somebody last signed in with it.
    pub used_at: Option<Timestamp>,
}

/// A challenge that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// Tells it from others.
    pub hash: TokenHash,
    /// Until when it could be answered.
    pub expires_at: Timestamp,
}

/// Passkeys. They go with their account.
#[async_trait]
pub trait Passkeys: Send + Sync {
    /// Those of an account, oldest first.
    async fn passkeys_of(&self, user: UserId) -> Result<Vec<Passkey>, Fault>;

    /// The one that its authenticator calls so, and whose it is.
    async fn passkey(&self, credential: &[u8]) -> Result<Option<(Passkey, User)>, Fault>;

    /// Keeps one, and uses up the challenge. A fault where that was used before, where the passkey is kept already, or where the account
    /// has as many as it can have.
    async fn add_passkey(&self, passkey: NewPasskey, challenge: Challenge) -> Result<PasskeyId, Fault>;

    /// Notes that one has signed, and uses up the challenge. False, if the challenge was used before, if the passkey is gone, or if its count
    /// has not gone forward: then there are two of it. Authenticators that do not count always say zero.
    async fn use_passkey(
        &self,
        passkey: PasskeyId,
        sign_count: u32,
        challenge: Challenge,
        now: Timestamp,
    ) -> Result<bool, Fault>;

    /// Forgets one of an account; says what it was called.
    async fn remove_passkey(&self, user: UserId, passkey: PasskeyId) -> Result<Option<PasskeyName>, Fault>;
}
