//! Boxes and their members.

use std::str::FromStr;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use super::{
    language::BoxLanguage,
    users::{Email, name_of},
};
use crate::{
    Fault,
    access::{Leaving, Managing, Operating, Owning, Reading, Role, Writing},
    ids::{BoxId, UserId},
};

/// What people call a box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoxName(String);

impl BoxName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BoxName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        name_of(text, 200).map(BoxName).ok_or_else(|| "a box name must have 1 to 200 characters".into())
    }
}

/// A box.
#[derive(Debug, Clone)]
pub struct BoxRecord {
    /// Identifies the box permanently.
    pub id: BoxId,
    /// Identifies the box to people; need not be unique.
    pub name: BoxName,
    /// When it was created.
    pub created_at: Timestamp,
    /// After how many days its files are deleted; `None`: never.
    pub retention_days: Option<u32>,
    /// What it is for.
    pub language: BoxLanguage,
    /// When it turned multilingual, if it was left to us.
    pub changed_over_at: Option<Timestamp>,
}

impl BoxRecord {
    /// Whether it is for any language, chosen or found to be so.
    pub fn is_multilingual(&self) -> bool {
        match self.language {
            BoxLanguage::Auto => self.changed_over_at.is_some(),
            BoxLanguage::English => false,
            BoxLanguage::Multilingual => true,
        }
    }
}

/// How much is in a box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BoxTotals {
    /// Files.
    pub files: u64,
    /// Of them, those that wait or are being read.
    pub under_way: u64,
    /// Of them, those that could not be read.
    pub failed: u64,
    /// Pages read.
    pub pages: u64,
    /// Bytes of the originals.
    pub bytes: u64,
    /// Members.
    pub members: u64,
}

/// A user's membership of a box.
#[derive(Debug, Clone)]
pub struct Member {
    /// Who.
    pub user: UserId,
    /// Who, to people.
    pub email: Email,
    /// Their role.
    pub role: Role,
    /// Whether an operator or a provider vouches for the address.
    pub vouched: bool,
}

/// Boxes and memberships.
#[async_trait]
pub trait Boxes: Send + Sync {
    /// Creates a box for what its documents turn out to be.
    async fn add_box(&self, name: BoxName, owner: UserId) -> Result<BoxRecord, Fault> {
        self.add_box_for(name, BoxLanguage::Auto, owner).await
    }

    /// Creates a box with its first owner.
    async fn add_box_for(
        &self,
        name: BoxName,
        language: BoxLanguage,
        owner: UserId,
    ) -> Result<BoxRecord, Fault>;

    /// All boxes, oldest first; for operators.
    async fn boxes(&self) -> Result<Vec<BoxRecord>, Fault>;

    /// The boxes that may be read, oldest first.
    async fn boxes_of(&self, readings: &[Reading]) -> Result<Vec<BoxRecord>, Fault>;

    /// Who has which role in a box, by address.
    async fn members(&self, reading: &Reading) -> Result<Vec<Member>, Fault>;

    /// Gives a user a role, in place of the one they had, if [`Managing::may_turn`] allows it. A box keeps at least one
    /// owner.
    async fn grant(&self, managing: &Managing, user: UserId, role: Role) -> Result<(), Fault>;

    /// Takes a user's role away, if [`Managing::may_turn`] allows it. A box keeps at least one owner.
    async fn revoke(&self, managing: &Managing, user: UserId) -> Result<(), Fault>;

    /// Ends the role of whoever leaves. A box keeps at least one owner.
    async fn leave(&self, leaving: &Leaving) -> Result<(), Fault>;

    /// Calls a box something else.
    async fn rename_box(&self, managing: &Managing, name: BoxName) -> Result<(), Fault>;

    /// Makes `to`, who is a member, the owner and `from` an admin, in one step.
    async fn hand_over(&self, owning: &Owning, from: UserId, to: UserId) -> Result<(), Fault>;

    /// How much is in each of these boxes, in the order asked.
    async fn totals(&self, readings: &[Reading]) -> Result<Vec<BoxTotals>, Fault>;

    /// How many boxes there are, and how much is in all of them.
    async fn totals_of_all(&self, operating: &Operating) -> Result<(u64, BoxTotals), Fault>;

    /// Which of several indexes has the box; `None` where it was never written to. Tells nothing else, so it asks for no
    /// permission.
    async fn shard_of(&self, box_id: BoxId) -> Result<Option<u32>, Fault>;

    /// Notes which index has the box, unless that is noted already; gives what is noted then.
    async fn place_box(&self, writing: &Writing, shard: u32) -> Result<u32, Fault>;

    /// Notes that another index has the box from now on.
    async fn move_box(&self, writing: &Writing, shard: u32) -> Result<(), Fault>;
}
