//! Second factors: what an account asks for after its password.

use async_trait::async_trait;

use super::TokenHash;
use crate::{Fault, ids::UserId};

/// Bytes of the secret that an authenticator shares with the server.
pub const SECRET_BYTES: usize = 20;

/// The second factor of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// What codes are made of.
    pub secret: [u8; SECRET_BYTES],
    /// Whether it is asked for. Until then its holder has not shown that their authenticator has the secret.
    pub confirmed: bool,
    /// Recovery codes that were not used yet.
    pub recovery_codes: u64,
}

/// Second factors. They go with their account.
#[async_trait]
pub trait SecondFactors: Send + Sync {
    /// That of an account, if it has one.
    async fn second_factor(&self, user: UserId) -> Result<Option<SecondFactor>, Fault>;

    /// The accounts that ask for one.
    async fn with_second_factor(&self) -> Result<Vec<UserId>, Fault>;

    /// Offers a secret, in place of one that was not confirmed. False, if one is confirmed already.
    async fn offer_second_factor(&self, user: UserId, secret: [u8; SECRET_BYTES]) -> Result<bool, Fault>;

    /// Asks for it from now on. The step that proved it is used up, and these are its recovery codes. False, if none waits to be
    /// confirmed.
    async fn confirm_second_factor(
        &self,
        user: UserId,
        step: i64,
        recovery: Vec<TokenHash>,
    ) -> Result<bool, Fault>;

    /// Uses up the code of a step of time. False, if that of this step or a later one was used before.
    async fn use_step(&self, user: UserId, step: i64) -> Result<bool, Fault>;

    /// Uses up a recovery code. False, if there is no such code, or no longer.
    async fn use_recovery_code(&self, user: UserId, code: &TokenHash) -> Result<bool, Fault>;

    /// No longer asks for one. False, if it did not.
    async fn remove_second_factor(&self, user: UserId) -> Result<bool, Fault>;
}
