//! `/boxes/{box_id}/members`: who has which role in a box, and who is invited to one.

use axum::{
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    access::{Caller, Managing, Role},
    ids::LinkId,
    seams::catalog::{Email, Member, Purpose, User},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{Asking, ManagingBox, in_path},
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        idempotency::with_secret,
        origin::Origin,
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
    manage::members::{self, Added},
};

/// A member of a box, or somebody who is invited to be one.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MemberObject {
    #[schema(example = "eve@example.org")]
    email: String,
    #[schema(value_type = String, example = "editor")]
    role: Role,
    /// member or invited
    #[schema(value_type = String)]
    status: Standing,
    /// When the invitation ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Member,
    Invited,
}

impl MemberObject {
    fn member(email: &Email, role: Role) -> Self {
        MemberObject { email: email.to_string(), role, status: Standing::Member, expires_at: None }
    }

    fn invited(email: &Email, role: Role, until: Timestamp) -> Self {
        MemberObject { email: email.to_string(), role, status: Standing::Invited, expires_at: Some(until) }
    }
}

/// Members as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct MemberList {
    members: Vec<MemberObject>,
    total: usize,
}

/// Whoever is invited to the box and has not come yet.
async fn invitations(app: &App, managing: &Managing) -> Result<Vec<(LinkId, Email, Role, Timestamp)>, Fault> {
    let links = app.catalog.links_to_box(managing, Timestamp::now()).await?;
    let invited = links.into_iter().filter_map(|link| match link.purpose {
        Purpose::Join { email, member: Some((_, role)), .. } => Some((link.id, email, role, link.expires_at)),
        Purpose::Join { .. } | Purpose::SetUp { .. } | Purpose::Reset { .. } | Purpose::Connect { .. } => {
            None
        }
    });
    Ok(invited.collect())
}

/// Lists the members of a box, and who is invited. The key needs the permission `manage`.
#[utoipa::path(get, path = "/boxes/{box_id}/members", operation_id = "list_members", tag = "boxes",
    params(("box_id" = String, Path, description = "The box")),
    responses(
        (status = 200, description = "The members by address, then the invited", body = Envelope<MemberList>),
        (status = "4XX", description = "The key or its role does not allow it", body = ErrorEnvelope)
    ))]
pub(super) async fn list(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    query: Parameters<Nothing>,
) -> Reply<MemberList> {
    let members = app.catalog.members(managing.reading()).await?;
    let invited = invitations(&app, &managing).await?;
    let members: Vec<_> = members
        .iter()
        .map(|member| MemberObject::member(&member.email, member.role))
        .chain(invited.iter().map(|(_, email, role, until)| MemberObject::invited(email, *role, *until)))
        .collect();
    Ok(Success::with_warnings(MemberList { total: members.len(), members }, query.warnings))
}

/// Somebody to be added.
#[derive(Deserialize, ToSchema)]
pub(super) struct NewMember {
    /// The address of their account.
    #[schema(example = "eve@example.org")]
    email: String,
    /// viewer, editor, admin or owner
    #[schema(example = "editor")]
    role: String,
}

fn parse_role(role: &str) -> Result<Role, Fault> {
    role.parse().map_err(|wrong: String| Fault::invalid("role", wrong))
}

/// Somebody who was added.
#[derive(Serialize, ToSchema)]
pub(super) struct NewMemberObject {
    #[serde(flatten)]
    member: MemberObject,
    /// What to send to somebody who has no account yet, shown only once; null where there is nothing to send, and in the
    /// answer to a retry.
    link: Option<String>,
}

/// Adds somebody to a box who has an account, and invites everybody else. The key needs the permission `manage`.
#[utoipa::path(post, path = "/boxes/{box_id}/members", operation_id = "add_member", tag = "boxes",
    params(("box_id" = String, Path, description = "The box")),
    request_body = NewMember,
    responses(
        (status = 201, description = "The member, or the invitation", body = Envelope<NewMemberObject>),
        (status = "4XX", description = "The key, its role or the body is wrong, or the person is already a member", body = ErrorEnvelope)
    ))]
pub(super) async fn add(
    State(app): State<App>,
    Asking(caller): Asking,
    ManagingBox(managing): ManagingBox,
    actor: Actor,
    origin: Origin,
    body: JsonBody<NewMember>,
) -> Result<Response, Failure> {
    let email: Email = body.value.email.parse().map_err(|wrong: String| Fault::invalid("email", wrong))?;
    let role = parse_role(&body.value.role)?;
    let me = account(&app, &caller, &managing).await?;
    let added = members::add(&actor.by(), &me, &managing, (email.clone(), role), origin).await?;
    let (member, link) = match added {
        Added::Member => (MemberObject::member(&email, role), None),
        Added::Invited { link, until } => (MemberObject::invited(&email, role, until), link),
    };
    let answer = |link| {
        let object = NewMemberObject { member: member.clone(), link };
        (StatusCode::CREATED, Success::with_warnings(object, body.warnings.clone())).into_response()
    };
    Ok(with_secret(answer(link), answer(None)).await?)
}

/// The account behind the key, as a member of the box that it manages.
async fn account(app: &App, caller: &Caller, managing: &Managing) -> Result<User, Fault> {
    let members = app.catalog.members(managing.reading()).await?;
    let me = members.into_iter().find(|member| member.user == caller.user);
    app.catalog.user(&me.ok_or_else(members::no_such_member)?.email).await
}

/// The address in the path.
pub(super) struct Named(String);

impl FromRequestParts<App> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        Ok(Named(in_path(parts, app, "email").await.unwrap_or_default()))
    }
}

impl Named {
    fn is(&self, email: &Email) -> bool {
        email.to_string().eq_ignore_ascii_case(self.0.trim())
    }

    async fn member(&self, actor: &Actor, managing: &Managing) -> Result<Option<Member>, Fault> {
        members::find(&actor.by(), managing.reading(), |member| self.is(&member.email)).await
    }
}

/// What can be changed about a member.
#[derive(Deserialize, ToSchema)]
pub(super) struct MemberChanges {
    /// viewer, editor, admin or owner
    #[schema(example = "admin")]
    role: String,
}

/// Gives a member another role. The key needs the permission `manage`; only owners add and remove owners.
#[utoipa::path(patch, path = "/boxes/{box_id}/members/{email}", operation_id = "change_member", tag = "boxes",
    params(("box_id" = String, Path, description = "The box"), ("email" = String, Path, description = "The member's address")),
    request_body = MemberChanges,
    responses(
        (status = 200, description = "The member as they are now", body = Envelope<MemberObject>),
        (status = "4XX", description = "The key, its role or the body is wrong, or there is no such member", body = ErrorEnvelope)
    ))]
pub(super) async fn change(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    named: Named,
    actor: Actor,
    body: JsonBody<MemberChanges>,
) -> Reply<MemberObject> {
    let role = parse_role(&body.value.role)?;
    let Some(member) = named.member(&actor, &managing).await? else {
        let invited = invitations(&app, &managing).await?.iter().any(|(_, email, ..)| named.is(email));
        return Err(if invited { still_invited() } else { members::no_such_member().param("email") }.into());
    };
    members::change(&actor.by(), &managing, &member, role).await?;
    Ok(Success::with_warnings(MemberObject::member(&member.email, role), body.warnings))
}

fn still_invited() -> Fault {
    Fault::new(Reason::Conflict, "this person is invited and has not accepted yet")
        .hint("delete the invitation, then invite them with the new role")
        .param("email")
}

/// What was taken away.
#[derive(Serialize, ToSchema)]
pub(super) struct RemovedMember {
    email: String,
    removed: bool,
}

/// Takes a member's role or an invitation away. The key needs the permission `manage`; only owners add and remove owners.
#[utoipa::path(delete, path = "/boxes/{box_id}/members/{email}", operation_id = "remove_member", tag = "boxes",
    params(("box_id" = String, Path, description = "The box"), ("email" = String, Path, description = "The member's address")),
    responses(
        (status = 200, description = "They have no role in the box any more", body = Envelope<RemovedMember>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such member", body = ErrorEnvelope)
    ))]
pub(super) async fn remove(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    named: Named,
    actor: Actor,
    query: Parameters<Nothing>,
) -> Reply<RemovedMember> {
    let email = match named.member(&actor, &managing).await? {
        Some(member) => {
            members::remove(&actor.by(), &managing, &member).await?;
            member.email.to_string()
        }
        None => {
            let invited = invitations(&app, &managing).await?;
            let mine = invited.into_iter().find(|(_, email, ..)| named.is(email));
            let (link, email, ..) = mine.ok_or_else(|| members::no_such_member().param("email"))?;
            members::withdraw(&actor.by(), &managing, link, &email.to_string()).await?;
            email.to_string()
        }
    };
    Ok(Success::with_warnings(RemovedMember { email, removed: true }, query.warnings))
}
