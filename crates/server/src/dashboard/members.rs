//! Who has which role in a box.

use askama::Template;
use axum::extract::State;
use engine::{
    Fault, Reason,
    access::{Managing, Reading, Role},
    ids::{LinkId, LinkKind, UserId, UserKind},
    seams::catalog::{Action, Email, Inviters, OneTimeLink, Purpose, User},
};
use jiff::Timestamp;

use super::{
    audit,
    fields::Fields,
    onetime::{self, JOIN_LIFE, what_may},
    page::{self, Frame, Place, Shown},
    permit::{Here, InBox, Named, SignedIn},
    show::Moment,
};
use crate::{app::App, http::origin::Origin};

/// A member as the page shows them.
struct MemberRow {
    user: UserId,
    email: String,
    role: Role,
    /// Whether it is whoever looks at the page.
    me: bool,
    /// Whether whoever looks may change them.
    open: bool,
    /// Whether somebody vouches for the address.
    vouched: bool,
}

/// An invitation that waits.
pub(super) struct Waiting {
    pub(super) id: LinkId,
    pub(super) email: String,
    pub(super) what: String,
    pub(super) until: Moment,
}

impl Waiting {
    pub(super) fn of(link: OneTimeLink) -> Self {
        let (email, what) = match link.purpose {
            Purpose::Join { email, member, plan } => {
                let what = member.map_or(plan.as_str().to_string(), |(_, role)| role.to_string());
                (email.to_string(), what)
            }
            Purpose::SetUp { .. } | Purpose::Reset { .. } | Purpose::Connect { .. } => {
                (String::new(), String::new())
            }
        };
        Waiting { id: link.id, email, what, until: Moment::of(link.expires_at) }
    }
}

/// An invitation that was just created.
pub(super) struct Fresh {
    pub(super) email: String,
    /// Its link, shown this once; `None` where it waits for somebody to vouch for the address.
    pub(super) link: Option<String>,
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    frame: Frame,
    here: Here,
    members: Vec<MemberRow>,
    waiting: Vec<Waiting>,
    fresh: Option<Fresh>,
    roles: Vec<(Role, &'static str)>,
    /// What the provider is called, where people can sign in with one.
    provider: Option<String>,
    /// Whether whoever looks gets links that make accounts.
    makes_accounts: bool,
}

async fn render(
    app: &App,
    who: &SignedIn,
    here: Here,
    reading: &Reading,
    managing: Option<&Managing>,
    fresh: Option<Fresh>,
) -> Shown {
    let members = app.catalog.members(reading).await?;
    let waiting = match managing {
        Some(managing) => app.catalog.links_to_box(managing, Timestamp::now()).await?,
        None => Vec::new(),
    };
    let members = members.into_iter().map(|member| MemberRow {
        open: managing.is_some_and(|managing| managing.may_turn(Some(member.role), None).is_ok()),
        me: member.user == who.user().id,
        user: member.user,
        email: member.email.to_string(),
        role: member.role,
        vouched: member.vouched,
    });
    page::show(&MembersPage {
        frame: Frame::new(app, &who.0, format!("Members · {}", here.name), Place::Boxes),
        members: members.collect(),
        waiting: waiting.into_iter().map(Waiting::of).collect(),
        fresh,
        provider: app.oidc.as_ref().map(|provider| provider.label().to_string()),
        makes_accounts: who.user().operator || app.config.accounts.invitations == Inviters::Owners,
        roles: Role::ALL.map(|role| (role, what_may(role))).into(),
        here,
    })
}

/// All members, and what each role may do.
pub(super) async fn list(State(app): State<App>, at: InBox<Reading>) -> Shown {
    let managing = at.who.person().may_manage(at.here.id).ok();
    render(&app, &at.who, at.here, &at.right, managing.as_ref(), None).await
}

/// Adds somebody who has an account, and invites everybody else. An account whose address nobody vouches for may be held by
/// anybody, so only an operator and whoever invited its holder add it at once.
pub(super) async fn add(
    State(app): State<App>,
    at: InBox<Managing>,
    origin: Origin,
    fields: Fields,
) -> Shown {
    let (email, role): (Email, Role) = (fields.parse("email")?, fields.parse("role")?);
    at.right.may_turn(None, Some(role))?;
    let (me, target) = (at.who.user(), format!("{email} as {role}"));
    let known = app.catalog.stored_sign_in(&email).await?.map(|stored| stored.user);
    let trusted = |user: &&User| user.vouched || me.operator || user.invited_by == Some(me.id);
    if let Some(user) = known.as_ref().filter(trusted) {
        let members = app.catalog.members(at.right.reading()).await?;
        if members.iter().any(|member| member.user == user.id) {
            return Err(Fault::new(Reason::Conflict, format!("{email} is a member already")).into());
        }
        app.catalog.grant(&at.right, user.id, role).await?;
        audit::note(&app, &at.who.0, Action::MemberAdded, Some(at.here.id), target).await?;
        return Ok(page::go(format!("/boxes/{}/members?done=member-added", at.here.id)));
    }
    let purpose =
        Purpose::Join { email: email.clone(), plan: Default::default(), member: Some((at.here.id, role)) };
    let (link, address) = onetime::new_link(origin, purpose, Some(me.id), JOIN_LIFE);
    app.catalog.invite(link, app.config.accounts.most()).await?;
    audit::note(&app, &at.who.0, Action::MemberInvited, Some(at.here.id), target).await?;
    let makes_account = me.operator || app.config.accounts.invitations == Inviters::Owners;
    let fresh =
        Fresh { email: email.to_string(), link: (makes_account && known.is_none()).then_some(address) };
    render(&app, &at.who, at.here, at.right.reading(), Some(&at.right), Some(fresh)).await
}

async fn email_of(app: &App, reading: &Reading, user: UserId) -> Result<String, Fault> {
    let member = app.catalog.members(reading).await?.into_iter().find(|member| member.user == user);
    let nobody = || Fault::new(Reason::NotFound, "there is no such member in this box");
    Ok(member.ok_or_else(nobody)?.email.to_string())
}

/// Gives a member another role.
pub(super) async fn change(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(user): Named<UserKind>,
    fields: Fields,
) -> Shown {
    let role: Role = fields.parse("role")?;
    let email = email_of(&app, at.right.reading(), user).await?;
    app.catalog.grant(&at.right, user, role).await?;
    audit::note(&app, &at.who.0, Action::MemberChanged, Some(at.here.id), format!("{email} to {role}"))
        .await?;
    // Somebody who gave up managing can no longer see this page.
    let path = if user == at.who.user().id { "" } else { "/members" };
    Ok(page::go(format!("/boxes/{}{path}?done=member-changed", at.here.id)))
}

/// Takes a member's role away.
pub(super) async fn remove(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(user): Named<UserKind>,
) -> Shown {
    let email = email_of(&app, at.right.reading(), user).await?;
    app.catalog.revoke(&at.right, user).await?;
    audit::note(&app, &at.who.0, Action::MemberRemoved, Some(at.here.id), email).await?;
    if user == at.who.user().id {
        return Ok(page::go("/?done=member-removed"));
    }
    Ok(page::go(format!("/boxes/{}/members?done=member-removed", at.here.id)))
}

/// Takes an invitation back.
pub(super) async fn withdraw(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(link): Named<LinkKind>,
) -> Shown {
    app.catalog.withdraw_from_box(&at.right, link).await?;
    audit::note(&app, &at.who.0, Action::InvitationWithdrawn, Some(at.here.id), "").await?;
    Ok(page::go(format!("/boxes/{}/members?done=withdrawn", at.here.id)))
}
