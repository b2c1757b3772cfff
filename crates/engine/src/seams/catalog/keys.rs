//! API keys as stored: everything but the secret.

use std::str::FromStr;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use super::users::{Email, name_of};
use crate::{
    Fault,
    access::Caller,
    apikey::{ApiKey, SecretHash},
    ids::{BoxId, UserId},
    origins::Origins,
    permissions::Permissions,
};

/// What its owner calls a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyName(String);

impl KeyName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        name_of(text, 100).map(KeyName).ok_or_else(|| "a key name must have 1 to 100 characters".into())
    }
}

/// A key to be stored.
#[derive(Debug)]
pub struct NewKey {
    /// The key itself; only its prefix and the hash of its secret are kept.
    pub key: ApiKey,
    /// Whose it is.
    pub user: UserId,
    /// What they call it.
    pub name: KeyName,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// What it may be used for.
    pub permissions: Permissions,
    /// The only boxes it is valid for; `None` is all boxes of the user.
    pub boxes: Option<Vec<BoxId>>,
    /// The only web sites whose pages may use it; none is a key for programs.
    pub origins: Origins,
}

/// How a key became visible to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// It was sent over plain HTTP.
    PlainHttp,
    /// It stood in a URL.
    Url,
}

impl Exposure {
    /// The word kept in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            Exposure::PlainHttp => "plain_http",
            Exposure::Url => "url",
        }
    }
}

/// A key as lists show it.
#[derive(Debug, Clone)]
pub struct KeyRecord {
    /// The public part.
    pub prefix: String,
    /// What its owner calls it.
    pub name: KeyName,
    /// Whose it is.
    pub email: Email,
    /// What it may be used for.
    pub permissions: Permissions,
    /// The only boxes it is valid for.
    pub boxes: Option<Vec<BoxId>>,
    /// The only web sites whose pages may use it.
    pub origins: Origins,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When and how it was first seen exposed.
    pub exposed: Option<(Timestamp, String)>,
    /// When it was last used, to within a few seconds.
    pub last_used_at: Option<Timestamp>,
    /// The program that its owner let in, where it is no key but what that program holds: its id.
    pub client: Option<String>,
}

/// Whether a key's record, apart from its expiry, lets it be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It may be used.
    Active,
    /// It was revoked.
    Revoked,
    /// Its user was disabled.
    UserDisabled,
}

/// What is stored of a secret.
#[derive(Debug, Clone)]
pub struct Secret {
    /// Its hash.
    pub hash: SecretHash,
    /// When it stops working, apart from the key.
    pub until: Option<Timestamp>,
}

/// What is needed to check a key and to act with it.
#[derive(Debug, Clone)]
pub struct StoredKey {
    /// What the hash of the secret sent is compared with: one, or the access tokens that a program has now.
    pub secrets: Vec<Secret>,
    /// Whether it may be used.
    pub state: KeyState,
    /// Whether it was seen exposed before.
    pub exposed: bool,
    /// What it may do if so.
    pub caller: Caller,
}

/// API keys.
#[async_trait]
pub trait Keys: Send + Sync {
    /// Stores a key. A box that its user has no role in is a fault.
    async fn add_key(&self, key: NewKey) -> Result<KeyRecord, Fault>;

    /// Keys of one user, or of all for operators; oldest first.
    async fn keys(&self, user: Option<UserId>) -> Result<Vec<KeyRecord>, Fault>;

    /// Revokes a key; an unknown one is a fault, revoking twice is not.
    async fn revoke_key(&self, prefix: &str) -> Result<(), Fault>;

    /// Marks a key exposed, and revokes it where told to. Says whether that changed anything: a key that was revoked or
    /// marked before stays as it is, and so does [`Keys::access_version`].
    async fn expose_key(&self, prefix: &str, how: Exposure, revoke: bool) -> Result<bool, Fault>;

    /// Notes when keys were last used.
    async fn touch_keys(&self, uses: Vec<(String, Timestamp)>) -> Result<(), Fault>;

    /// The key with this prefix and all that decides what it may do.
    async fn stored_key(&self, prefix: &str) -> Result<Option<StoredKey>, Fault>;

    /// A number that changes whenever anything changes that decides who may do what: a copy of a
    /// [`StoredKey`] is valid for as long as it stays the same. Cheap enough to ask on every request.
    async fn access_version(&self) -> Result<i64, Fault>;
}
