//! User accounts and the plans they are on.

use std::{collections::HashMap, fmt, str::FromStr};

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    Fault,
    access::Operating,
    bounds::{Bound, Quota},
    ids::UserId,
    seams::catalog::Month,
};

/// An e-mail address in ASCII and lower case; it names an account.
///
/// Other letters are refused rather than folded: the Kelvin sign becomes a `k` in lower case, `é` has two spellings, and a
/// Cyrillic `а` looks like a Latin one, so that one person's address could be, or seem, another's. Hosts with such letters
/// have an ASCII form, `xn--…`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Email(String);

impl Email {
    /// An address as the catalog keeps it, which may be older than today's rules.
    pub fn stored(text: &str) -> Self {
        Email(text.to_string())
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Email {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.trim().to_ascii_lowercase();
        let plain = address.bytes().all(|byte| byte.is_ascii_graphic());
        let (name, host) = address.split_once('@').unwrap_or_default();
        // 254 is the longest address that mail can be sent to (RFC 5321).
        if !plain || name.is_empty() || host.is_empty() || host.contains('@') || address.len() > 254 {
            return Err(format!(
                "`{text}` is not an e-mail address; expected something like ada@example.org"
            ));
        }
        Ok(Email(address))
    }
}

/// The name of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct PlanName(String);

impl PlanName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for PlanName {
    /// The plan that every catalog starts with; its quota is the `units.monthly` setting.
    fn default() -> Self {
        PlanName("standard".into())
    }
}

impl FromStr for PlanName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        name_of(text, 40)
            .map(PlanName)
            .ok_or_else(|| format!("`{text}` is not a plan name of 1 to 40 characters"))
    }
}

/// A trimmed name of 1 to `longest` characters without control characters.
pub(super) fn name_of(text: &str, longest: usize) -> Option<String> {
    let name = text.trim();
    let fits = (1..=longest).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    fits.then(|| name.to_string())
}

/// An account to be created.
#[derive(Debug)]
pub struct NewUser {
    /// Identifies the account.
    pub email: Email,
    /// Argon2id hash in PHC form; `None` cannot sign in to the dashboard.
    pub password_hash: Option<String>,
    /// The plan it starts on.
    pub plan: PlanName,
}

/// What people are called, 1 to 100 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonName(String);

impl PersonName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PersonName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        name_of(text, 100).map(PersonName).ok_or_else(|| "a name must have 1 to 100 characters".into())
    }
}

/// A language that the dashboard speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UserLanguage {
    /// What everything else is translated from.
    #[default]
    English,
    /// Spanish.
    Spanish,
    /// Portuguese, as in Brazil.
    Portuguese,
    /// French.
    French,
    /// German.
    German,
}

impl UserLanguage {
    /// All of them.
    pub const ALL: [UserLanguage; 5] = [
        UserLanguage::English,
        UserLanguage::Spanish,
        UserLanguage::Portuguese,
        UserLanguage::French,
        UserLanguage::German,
    ];

    /// Its code, as in pages and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            UserLanguage::English => "en",
            UserLanguage::Spanish => "es",
            UserLanguage::Portuguese => "pt",
            UserLanguage::French => "fr",
            UserLanguage::German => "de",
        }
    }

    /// What its speakers call it.
    pub fn own_name(self) -> &'static str {
        match self {
            UserLanguage::English => "English",
            UserLanguage::Spanish => "Español",
            UserLanguage::Portuguese => "Português",
            UserLanguage::French => "Français",
            UserLanguage::German => "Deutsch",
        }
    }
}

impl FromStr for UserLanguage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = UserLanguage::ALL.into_iter().find(|language| language.as_str() == text);
        found.ok_or_else(|| format!("the dashboard does not speak `{text}`"))
    }
}

/// An account.
#[derive(Debug, Clone)]
pub struct User {
    /// Identifies the account permanently.
    pub id: UserId,
    /// Identifies the account to people.
    pub email: Email,
    /// What they are called, where they said so.
    pub name: Option<PersonName>,
    /// The language that they chose for the dashboard; `None` leaves it to the browser.
    pub language: Option<UserLanguage>,
    /// Whether they administer the whole server.
    pub operator: bool,
    /// The plan.
    pub plan: PlanName,
    /// Units per month, where set for this account or by its plan.
    pub monthly_units: Option<u64>,
    /// Whether the account was disabled.
    pub disabled: bool,
    /// Whether an operator or a provider vouches that the address belongs to whoever holds the account.
    pub vouched: bool,
    /// Whose invitation made the account, where that was no operator's.
    pub invited_by: Option<UserId>,
    /// Whether the next sign-in with a provider that vouches for the address takes the account over.
    pub awaits_identity: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A plan.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Identifies the plan.
    pub name: PlanName,
    /// Units per month; `None` leaves it to the `units.monthly` setting.
    pub monthly_units: Option<u64>,
    /// What it says about bounds; the settings decide the others.
    pub quota: Quota,
}

/// How much an account has of something bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The bound.
    pub bound: Bound,
    /// What there is: a count, or bytes.
    pub used: u64,
    /// What there may be, in the same unit.
    pub allowed: u64,
}

/// What one account used in a month, and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountUse {
    /// Units charged in the month.
    pub units: u64,
    /// Boxes that it owns.
    pub boxes: u64,
    /// Bytes of files in them, and of uploads under way.
    pub bytes: u64,
}

/// Accounts and plans.
#[async_trait]
pub trait Users: Send + Sync {
    /// Creates an account on behalf of an operator, who vouches for its address; invitations that waited for it take
    /// effect. An address that has one is a conflict.
    async fn add_user(&self, user: NewUser) -> Result<User, Fault>;

    /// All accounts, oldest first.
    async fn users(&self) -> Result<Vec<User>, Fault>;

    /// The account with this address; not found is a fault.
    async fn user(&self, email: &Email) -> Result<User, Fault>;

    /// Disables or enables an account; its keys and sign-ins follow on the next request. The last operator stays on.
    async fn set_user_disabled(&self, user: UserId, disabled: bool) -> Result<(), Fault>;

    /// Gives an account its own monthly quota, above its plan's.
    async fn set_user_units(&self, user: UserId, monthly_units: u64) -> Result<(), Fault>;

    /// Gives an account bounds of its own in place of its plan's.
    async fn set_user_quota(&self, user: UserId, quota: Quota) -> Result<(), Fault>;

    /// The bounds that an account has of its own.
    async fn user_quota(&self, user: UserId) -> Result<Quota, Fault>;

    /// How much an account has of what is counted by account, and how much it may have.
    async fn holdings(&self, user: UserId) -> Result<Vec<Holding>, Fault>;

    /// What each account used in a month and holds now, for operators.
    async fn use_of_accounts(
        &self,
        operating: &Operating,
        month: Month,
    ) -> Result<HashMap<UserId, AccountUse>, Fault>;

    /// Puts an account on another plan; a quota and bounds of its own are gone.
    async fn set_user_plan(&self, user: UserId, plan: PlanName) -> Result<(), Fault>;

    /// Says what somebody is called.
    async fn set_user_name(&self, user: UserId, name: Option<PersonName>) -> Result<(), Fault>;

    /// Says which language somebody wants the dashboard in.
    async fn set_user_language(&self, user: UserId, language: Option<UserLanguage>) -> Result<(), Fault>;

    /// Makes somebody an operator, or no longer. One operator who can sign in stays.
    async fn set_user_operator(&self, user: UserId, operator: bool) -> Result<(), Fault>;

    /// An operator says that the address belongs to whoever holds the account; invitations that waited for it take
    /// effect.
    async fn vouch_for(&self, operating: &Operating, user: UserId) -> Result<(), Fault>;

    /// Whether the next sign-in with a provider that vouches for the address takes the account over, see [`super::SignIns::admit`].
    async fn set_awaits_identity(
        &self,
        operating: &Operating,
        user: UserId,
        awaits: bool,
    ) -> Result<(), Fault>;

    /// Creates or changes a plan.
    async fn put_plan(&self, plan: Plan) -> Result<(), Fault>;

    /// All plans, by name.
    async fn plans(&self) -> Result<Vec<Plan>, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_lowered_and_checked() {
        assert_eq!("  Ada@Example.org ".parse::<Email>().unwrap().as_str(), "ada@example.org");
        for wrong in ["", "ada", "@x", "ada@", "a b@c", "a@b@c", "a\n@b"] {
            assert!(wrong.parse::<Email>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn no_spelling_of_an_address_passes_for_another() {
        // Kelvin sign, dotted capital I, Cyrillic a, long s, e with an accent in one letter and in two, full width.
        for other in
            ["\u{212A}im", "\u{130}da", "\u{430}da", "\u{17F}am", "ren\u{e9}", "rene\u{301}", "\u{FF41}da"]
        {
            assert!(format!("{other}@example.org").parse::<Email>().is_err(), "{other}");
            assert!(format!("ada@{other}.example").parse::<Email>().is_err(), "{other}");
        }
        assert_eq!(
            "ADA@XN--BCHER-KVA.example".parse::<Email>().unwrap().as_str(),
            "ada@xn--bcher-kva.example"
        );
    }
}
