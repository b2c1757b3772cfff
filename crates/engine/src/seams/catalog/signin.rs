//! What is needed to let somebody in: passwords, identities at providers, and waits for those who guess.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    onetime::Inviters,
    sessions::TokenHash,
    users::{Email, PersonName, User},
};
use crate::{
    Fault,
    access::Operating,
    ids::{SessionId, UserId},
};

/// Whose guesses are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Guesses at one account from one network.
    From(Email, String),
    /// Guesses from one network, whichever account they are at.
    Network(String),
    /// Guesses at one account from places that are not known for it, whichever those are.
    Account(Email),
    /// Guesses at one account from a browser that is known for it.
    Browser(Email, TokenHash),
}

impl Subject {
    /// The word kept in the catalog.
    pub fn as_text(&self) -> String {
        match self {
            Subject::From(email, network) => format!("account {email} from {network}"),
            Subject::Network(network) => format!("network {network}"),
            Subject::Account(email) => format!("account {email}"),
            Subject::Browser(email, browser) => format!("account {email} in {}", hexadecimal(browser)),
        }
    }

    /// Tries that cost no wait. A network may be a whole office, and all networks together are the world.
    fn free(&self) -> u32 {
        match self {
            Subject::From(..) | Subject::Browser(..) => 5,
            Subject::Network(_) => 20,
            Subject::Account(_) => 100,
        }
    }

    /// The longest wait in seconds. A quarter of an hour leaves a guesser a hundred tries per day. Guesses from everywhere make
    /// everybody wait who is not known, the owner on a new machine too, so they cost a minute at most.
    fn longest(&self) -> u64 {
        match self {
            Subject::From(..) | Subject::Network(_) | Subject::Browser(..) => 900,
            Subject::Account(_) => 60,
        }
    }

    /// How long to wait after this many failed attempts: two seconds, four, eight … up to the longest wait.
    pub fn wait_after(&self, failures: u32) -> Duration {
        match failures.checked_sub(self.free()) {
            None => Duration::ZERO,
            Some(over) => {
                Duration::from_secs(2u64.saturating_pow(over.saturating_add(1)).min(self.longest()))
            }
        }
    }
}

/// Somewhere that an account is used from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// A network.
    Network(String),
    /// A browser, by the hash of a secret that it keeps.
    Browser(TokenHash),
}

impl Place {
    /// The word kept in the catalog.
    pub fn as_text(&self) -> String {
        match self {
            Place::Network(network) => format!("network {network}"),
            Place::Browser(browser) => format!("browser {}", hexadecimal(browser)),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Who somebody is at a provider that vouches for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider.
    pub issuer: String,
    /// The person's permanent id there.
    pub subject: String,
}

/// Somebody who comes from a provider, and what it says of them.
#[derive(Debug, Clone)]
pub struct Guest {
    /// Who they are there.
    pub identity: Identity,
    /// The address that the provider has seen them prove.
    pub email: Option<Email>,
    /// What they are called.
    pub name: Option<PersonName>,
}

/// The credentials of an account.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The account.
    pub user: User,
    /// Argon2id in PHC form; `None`: it cannot sign in with a password.
    pub password_hash: Option<String>,
}

/// Signing in.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Counts a try at each subject before anything is compared, so that a hundred at the same time count as a hundred.
    /// One that must wait is told how long, and then nothing is counted.
    async fn count_try(&self, subjects: &[Subject], now: Timestamp) -> Result<Option<Duration>, Fault>;

    /// A try was right. What was counted against the account where it was made is forgotten; against a whole network and
    /// against the account everywhere only this try, or else somebody could go on guessing whenever somebody else signs
    /// in.
    async fn forgive_tries(&self, subjects: &[Subject]) -> Result<(), Fault>;

    /// Forgets all tries at an account, wherever they came from.
    async fn unlock(&self, operating: &Operating, email: &Email) -> Result<(), Fault>;

    /// Whether somebody signed in to the account of this address from this place before.
    async fn is_known_place(&self, email: &Email, place: &Place) -> Result<bool, Fault>;

    /// Remembers the places that somebody has just signed in from.
    async fn remember_places(&self, user: UserId, places: &[Place], now: Timestamp) -> Result<(), Fault>;

    /// The account with this address and what it is let in with.
    async fn stored_sign_in(&self, email: &Email) -> Result<Option<Stored>, Fault>;

    /// Sets an account's password. All its sign-ins but `here` end, and so do links to choose a password and what was known
    /// about the places that it is used from.
    async fn set_password(&self, user: UserId, password_hash: String, here: SessionId) -> Result<(), Fault>;

    /// The account of an identity at a provider.
    async fn user_of_identity(&self, identity: &Identity) -> Result<Option<User>, Fault>;

    /// Whether an account is connected to an identity at a provider.
    async fn has_identity(&self, user: UserId) -> Result<bool, Fault>;

    /// Lets somebody in whom a provider knows: into the account of the identity; else, where the provider vouches for an
    /// address, into an account of that address that nobody holds yet, or that an operator lets them take over, in which
    /// case its password, sign-ins, keys and other identities end; else into a new one, where `everybody` gets one or an
    /// invitation that `inviters` lets make accounts waits for the address. An account that somebody holds is never
    /// given away by its address.
    async fn admit(
        &self,
        guest: Guest,
        everybody: bool,
        inviters: Inviters,
        now: Timestamp,
    ) -> Result<User, Fault>;

    /// Connects an identity to the account of whoever is signed in, once they proved who they are: that made the link of this
    /// secret ([`super::Purpose::Connect`]), which is used up. `false` where there is no such link of theirs.
    async fn connect(
        &self,
        token: &TokenHash,
        user: UserId,
        guest: Guest,
        now: Timestamp,
    ) -> Result<bool, Fault>;

    /// Whether there is an operator who can sign in: until then the set-up link works.
    async fn is_set_up(&self) -> Result<bool, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let ada: Email = "ada@example.org".parse().unwrap();
        let here = Subject::From(ada.clone(), "10.0.0.1".into());
        let waits: Vec<u64> = (0..20).map(|failures| here.wait_after(failures).as_secs()).collect();
        assert_eq!(waits[..9], [0, 0, 0, 0, 0, 2, 4, 8, 16]);
        assert_eq!(waits[19], 900);
        let network = Subject::Network("10.0.0.1".into());
        assert!(network.wait_after(19).is_zero() && !network.wait_after(20).is_zero());
        assert_eq!(network.wait_after(u32::MAX).as_secs(), 900);
        let anywhere = Subject::Account(ada);
        assert!(anywhere.wait_after(99).is_zero() && !anywhere.wait_after(100).is_zero());
        assert_eq!(anywhere.wait_after(u32::MAX).as_secs(), 60, "nobody is kept out for long");
    }
}
