//! What is needed to let somebody in: passwords, identities elsewhere, and waits for those who guess.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::users::{Email, User};
use crate::{Fault, ids::UserId};

/// Whose guesses are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Guesses at one account, wherever they come from.
    Account(Email),
    /// Guesses from one network, whichever account they are at.
    Network(String),
}

impl Subject {
    /// The word kept in the catalog.
    pub fn as_text(&self) -> String {
        match self {
            Subject::Account(email) => format!("account {email}"),
            Subject::Network(network) => format!("network {network}"),
        }
    }

    /// Tries that cost no wait. A network may be a whole office, so it has more.
    fn free(&self) -> u32 {
        match self {
            Subject::Account(_) => 5,
            Subject::Network(_) => 20,
        }
    }

    /// How long to wait after so many tries that all failed: two seconds, four, eight … up to a quarter of an hour, which
    /// leaves a guesser a hundred tries a day.
    pub fn wait_after(&self, failures: u32) -> Duration {
        match failures.checked_sub(self.free()) {
            None => Duration::ZERO,
            Some(over) => Duration::from_secs(2u64.saturating_pow(over.saturating_add(1)).min(900)),
        }
    }
}

/// Who somebody is at another place that vouches for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who vouches.
    pub issuer: String,
    /// Names the person there, for good.
    pub subject: String,
}

/// What an account is let in with.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The account.
    pub user: User,
    /// Argon2id in PHC form; `None`: not with a password.
    pub password_hash: Option<String>,
}

/// Letting people in.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Counts a try at each subject before anything is compared, so that a hundred at once are a hundred. One that must wait
    /// is told how long, and then nothing is counted.
    async fn count_try(&self, subjects: &[Subject], now: Timestamp) -> Result<Option<Duration>, Fault>;

    /// A try was right: what was counted against the account is forgotten, and against the network this try, or else
    /// somebody with an account of their own could guess at others' for ever.
    async fn forgive_tries(&self, subjects: &[Subject]) -> Result<(), Fault>;

    /// The account with this address and what it is let in with.
    async fn stored_sign_in(&self, email: &Email) -> Result<Option<Stored>, Fault>;

    /// Sets an account's password; its other sign-ins are for the caller to end.
    async fn set_password(&self, user: UserId, password_hash: String) -> Result<(), Fault>;

    /// The account of an identity elsewhere.
    async fn user_of_identity(&self, identity: &Identity) -> Result<Option<User>, Fault>;

    /// Ties an identity elsewhere to an account.
    async fn add_identity(&self, user: UserId, identity: Identity) -> Result<(), Fault>;

    /// Whether there is an operator who can sign in: until then the set-up link works.
    async fn is_set_up(&self) -> Result<bool, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let account = Subject::Account("ada@example.org".parse().unwrap());
        let waits: Vec<u64> = (0..20).map(|failures| account.wait_after(failures).as_secs()).collect();
        assert_eq!(waits[..9], [0, 0, 0, 0, 0, 2, 4, 8, 16]);
        assert_eq!(waits[19], 900);
        let network = Subject::Network("10.0.0.1".into());
        assert!(network.wait_after(19).is_zero() && !network.wait_after(20).is_zero());
        assert_eq!(network.wait_after(u32::MAX).as_secs(), 900);
    }
}
