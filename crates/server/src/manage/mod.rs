//! Boxes, members and keys: how each is added, changed and removed, and noted in the audit log. The dashboard and the API
//! differ in how they ask and answer, not in what they do.

pub(crate) mod boxes;
pub(crate) mod keys;
pub(crate) mod members;
pub(crate) mod webhooks;

use engine::{
    Fault,
    ids::{BoxId, UserId},
    seams::catalog::{Action, NewEntry},
};
use jiff::Timestamp;

use crate::app::App;

/// Characters kept of what something was done to.
const LONGEST_TARGET: usize = 300;

/// Who does something, and where from.
pub(crate) struct By {
    /// The server it is done on.
    pub(crate) app: App,
    /// Who, where an account does it.
    pub(crate) user: Option<UserId>,
    /// Who, to people.
    pub(crate) who: String,
    /// From where.
    pub(crate) address: String,
}

impl By {
    /// Records what was done, in which box if in any, and to what.
    pub(crate) async fn note(
        &self,
        action: Action,
        box_id: Option<BoxId>,
        target: impl Into<String>,
    ) -> Result<(), Fault> {
        let target = target.into().chars().filter(|c| !c.is_control()).take(LONGEST_TARGET).collect();
        let entry = NewEntry {
            at: Timestamp::now(),
            user: self.user,
            who: self.who.clone(),
            address: self.address.clone(),
            box_id,
            action,
            target,
        };
        self.app.catalog.note(entry).await
    }
}
