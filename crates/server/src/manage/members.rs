//! Members of a box: adding or inviting somebody, giving them another role, taking it away.

use std::{fmt::Display, time::Duration};

use engine::{
    Fault, Reason,
    access::{Leaving, Managing, Reading, Role},
    ids::{LinkId, UserId},
    seams::catalog::{Action, Email, Inviters, Member, NewOneTimeLink, Purpose, User},
};
use jiff::Timestamp;

use super::By;
use crate::sessions;

/// How long an invitation waits: over a holiday.
pub(crate) const JOIN_LIFE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// What became of somebody who was to be a member.
pub(crate) enum Added {
    /// They are one.
    Member,
    /// They are invited.
    Invited {
        /// The link for them, given out this once; `None` where the invitation waits for somebody to vouch for the address.
        link: Option<String>,
        /// When the invitation ends.
        until: Timestamp,
    },
}

/// A link that is still to be stored, and its address below `base`.
pub(crate) fn new_link(
    base: impl Display,
    purpose: Purpose,
    made_by: Option<UserId>,
    life: Duration,
) -> (NewOneTimeLink, String) {
    let (token, now) = (sessions::new_token(), Timestamp::now());
    let expires_at = now.saturating_add(life).unwrap_or(Timestamp::MAX);
    let link = NewOneTimeLink { purpose, token: sessions::hash(&token), made_by, now, expires_at };
    (link, format!("{base}/welcome?token={token}"))
}

/// Adds somebody who has an account, and invites everybody else. An account whose address nobody vouches for may be held by
/// anybody, so only an operator and whoever invited its holder add it at once.
pub(crate) async fn add(
    by: &By,
    me: &User,
    managing: &Managing,
    (email, role): (Email, Role),
    base: impl Display,
) -> Result<Added, Fault> {
    managing.may_turn(None, Some(role))?;
    let (app, box_id, target) = (&by.app, managing.box_id(), format!("{email} as {role}"));
    let known = app.catalog.stored_sign_in(&email).await?.map(|stored| stored.user);
    let trusted = |user: &&User| user.vouched || me.operator || user.invited_by == Some(me.id);
    if let Some(user) = known.as_ref().filter(trusted) {
        let members = app.catalog.members(managing.reading()).await?;
        if members.iter().any(|member| member.user == user.id) {
            return Err(Fault::new(Reason::Conflict, format!("{email} is already a member of the box")));
        }
        app.catalog.grant(managing, user.id, role).await?;
        by.note(Action::MemberAdded, Some(box_id), target).await?;
        return Ok(Added::Member);
    }
    let purpose = Purpose::Join { email, plan: Default::default(), member: Some((box_id, role)) };
    let (link, address) = new_link(base, purpose, Some(me.id), JOIN_LIFE);
    let until = link.expires_at;
    app.catalog.invite(link, app.config.accounts.most()).await?;
    by.note(Action::MemberInvited, Some(box_id), target).await?;
    let makes_account = me.operator || app.config.accounts.invitations == Inviters::Owners;
    Ok(Added::Invited { link: (makes_account && known.is_none()).then_some(address), until })
}

/// The member that `is` them.
pub(crate) async fn find(
    by: &By,
    reading: &Reading,
    is: impl Fn(&Member) -> bool,
) -> Result<Option<Member>, Fault> {
    Ok(by.app.catalog.members(reading).await?.into_iter().find(is))
}

/// The answer where somebody is no member.
pub(crate) fn no_such_member() -> Fault {
    Fault::new(Reason::NotFound, "this account is not a member of the box")
}

/// Gives a member another role.
pub(crate) async fn change(by: &By, managing: &Managing, member: &Member, role: Role) -> Result<(), Fault> {
    by.app.catalog.grant(managing, member.user, role).await?;
    let target = format!("{} to {role}", member.email);
    by.note(Action::MemberChanged, Some(managing.box_id()), target).await
}

/// Takes a member's role away.
pub(crate) async fn remove(by: &By, managing: &Managing, member: &Member) -> Result<(), Fault> {
    by.app.catalog.revoke(managing, member.user).await?;
    by.note(Action::MemberRemoved, Some(managing.box_id()), member.email.to_string()).await
}

/// Ends the membership of whoever leaves.
pub(crate) async fn leave(by: &By, leaving: &Leaving) -> Result<(), Fault> {
    by.app.catalog.leave(leaving).await?;
    by.note(Action::MemberRemoved, Some(leaving.box_id()), format!("{} left", by.who)).await
}

/// Takes an invitation back.
pub(crate) async fn withdraw(by: &By, managing: &Managing, link: LinkId, whose: &str) -> Result<(), Fault> {
    by.app.catalog.withdraw_from_box(managing, link).await?;
    by.note(Action::InvitationWithdrawn, Some(managing.box_id()), whose).await
}
