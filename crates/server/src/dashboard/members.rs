//! Who has which role in a box.

use askama::Template;
use axum::extract::State;
use engine::{
    Fault,
    access::{Managing, Reading, Role},
    ids::{LinkId, LinkKind, UserId, UserKind},
    seams::catalog::{Email, Inviters, Member, OneTimeLink, Purpose},
};
use jiff::Timestamp;

use super::{
    fields::Fields,
    onetime::what_may,
    page::{self, Frame, Shown},
    permit::{Here, InBox, Named, SignedIn},
    said::Said,
    show::Moment,
    visit::Visit,
};
use crate::{
    app::App,
    http::origin::Origin,
    manage::members::{self, Added},
    words::Words,
};

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
    pub(super) fn of(words: Words, link: OneTimeLink) -> Self {
        let (email, what) = match link.purpose {
            Purpose::Join { email, member, plan } => {
                let what = member.map_or(plan.as_str().to_string(), |(_, role)| words.role(&role));
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
    /// Its link, shown only once; `None` where it waits for somebody to vouch for the address.
    pub(super) link: Option<String>,
}

/// The invitation that the visitor has just created.
pub(super) fn fresh_link(visit: &Visit) -> Option<Fresh> {
    match visit.brought.take(|said| matches!(said, Said::Link { .. }))? {
        Said::Link { email, link } => Some(Fresh { email, link }),
        _ => None,
    }
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    frame: Frame,
    here: Here,
    members: Vec<MemberRow>,
    waiting: Vec<Waiting>,
    fresh: Option<Fresh>,
    roles: Vec<(Role, String)>,
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
) -> Shown {
    let fresh = fresh_link(&who.0);
    let secret = fresh.is_some();
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
    let words = who.0.words;
    let shown = page::show(&MembersPage {
        frame: Frame::in_box(app, &who.0, "frame-members", &here.name),
        members: members.collect(),
        waiting: waiting.into_iter().map(|link| Waiting::of(words, link)).collect(),
        fresh,
        provider: app.oidc.as_ref().map(|provider| provider.label().to_string()),
        makes_accounts: who.user().operator || app.config.accounts.invitations == Inviters::Owners,
        roles: Role::ALL.map(|role| (role, words.plain(what_may(role)))).into(),
        here,
    })?;
    Ok(if secret { page::with_secret(shown) } else { shown })
}

/// All members, and what each role may do.
pub(super) async fn list(State(app): State<App>, at: InBox<Reading>) -> Shown {
    let managing = at.who.person().may_manage(at.here.id).ok();
    render(&app, &at.who, at.here, &at.right, managing.as_ref()).await
}

/// Adds or invites somebody.
pub(super) async fn add(
    State(app): State<App>,
    at: InBox<Managing>,
    origin: Origin,
    fields: Fields,
) -> Shown {
    let (email, role): (Email, Role) = (fields.parse("email")?, fields.parse("role")?);
    let shown = email.to_string();
    match members::add(&at.who.0.by(&app), at.who.user(), &at.right, (email, role), origin).await? {
        Added::Member => Ok(page::go(format!("/boxes/{}/members?done=member-added", at.here.id))),
        Added::Invited { link, .. } => {
            let said = Said::Link { email: shown, link };
            Ok(at.who.0.say(&said, page::go(format!("/boxes/{}/members", at.here.id))))
        }
    }
}

async fn named(app: &App, at: &InBox<Managing>, user: UserId) -> Result<Member, Fault> {
    let found = members::find(&at.who.0.by(app), at.right.reading(), |member| member.user == user).await?;
    found.ok_or_else(members::no_such_member)
}

/// Gives a member another role.
pub(super) async fn change(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(user): Named<UserKind>,
    fields: Fields,
) -> Shown {
    let role: Role = fields.parse("role")?;
    let member = named(&app, &at, user).await?;
    members::change(&at.who.0.by(&app), &at.right, &member, role).await?;
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
    let member = named(&app, &at, user).await?;
    members::remove(&at.who.0.by(&app), &at.right, &member).await?;
    if user == at.who.user().id {
        return Ok(page::go("/?done=member-removed"));
    }
    Ok(page::go(format!("/boxes/{}/members?done=member-removed", at.here.id)))
}

/// Gives up one's own role.
pub(super) async fn leave(State(app): State<App>, at: InBox<Reading>) -> Shown {
    let leaving = at.who.person().may_leave(at.here.id)?;
    members::leave(&at.who.0.by(&app), &leaving).await?;
    Ok(page::go("/?done=left"))
}

/// Takes an invitation back.
pub(super) async fn withdraw(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(link): Named<LinkKind>,
) -> Shown {
    members::withdraw(&at.who.0.by(&app), &at.right, link, "").await?;
    Ok(page::go(format!("/boxes/{}/members?done=withdrawn", at.here.id)))
}
