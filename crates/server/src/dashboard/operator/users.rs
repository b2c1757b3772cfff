//! Accounts: invite, change, switch off.

use askama::Template;
use axum::extract::State;
use engine::{
    Fault, Reason,
    ids::{LinkKind, UserId, UserKind},
    seams::catalog::{Action, Email, PlanName, Purpose, User},
};
use jiff::Timestamp;

use crate::{
    app::App,
    dashboard::{
        audit,
        fields::Fields,
        members::{Fresh, Waiting},
        onetime::{self, JOIN_LIFE, RESET_LIFE},
        page::{self, Frame, Place, Shown},
        permit::{AsOperator, Named},
        show::{self, Moment},
    },
    http::origin::Origin,
};

struct UserRow {
    id: UserId,
    email: String,
    name: String,
    plan: String,
    units: String,
    operator: bool,
    disabled: bool,
    since: Moment,
    me: bool,
}

#[derive(Template)]
#[template(path = "operator_users.html")]
struct UsersPage {
    frame: Frame,
    users: Vec<UserRow>,
    plans: Vec<String>,
    waiting: Vec<Waiting>,
    fresh: Option<Fresh>,
}

async fn render(app: &App, by: &AsOperator, fresh: Option<Fresh>) -> Shown {
    let me = by.who.user().id;
    let usual = app.config.units.monthly;
    let users = app.catalog.users().await?.into_iter().map(|user| UserRow {
        me: user.id == me,
        id: user.id,
        email: user.email.to_string(),
        name: user.name.map_or_else(String::new, |name| name.as_str().to_string()),
        plan: user.plan.as_str().to_string(),
        units: show::number(user.monthly_units.unwrap_or(usual)),
        operator: user.operator,
        disabled: user.disabled,
        since: Moment::of(user.created_at),
    });
    let users = users.collect();
    let plans = app.catalog.plans().await?.into_iter().map(|plan| plan.name.as_str().to_string()).collect();
    let waiting = app.catalog.links_to_server(&by.operating, Timestamp::now()).await?;
    page::show(&UsersPage {
        frame: Frame::new(app, &by.who.0, "Users", Place::Users),
        users,
        plans,
        waiting: waiting.into_iter().map(Waiting::of).collect(),
        fresh,
    })
}

/// All accounts.
pub(in crate::dashboard) async fn list(State(app): State<App>, by: AsOperator) -> Shown {
    render(&app, &by, None).await
}

/// Makes a link by which somebody makes their account.
pub(in crate::dashboard) async fn invite(
    State(app): State<App>,
    by: AsOperator,
    origin: Origin,
    fields: Fields,
) -> Shown {
    let (email, plan): (Email, PlanName) = (fields.parse("email")?, fields.parse("plan")?);
    if app.catalog.stored_sign_in(&email).await?.is_some() {
        return Err(Fault::new(Reason::Conflict, format!("{email} has an account already")).into());
    }
    if !app.catalog.plans().await?.iter().any(|known| known.name == plan) {
        return Err(Fault::invalid("plan", "there is no such plan").into());
    }
    let purpose = Purpose::Join { email: email.clone(), plan, member: None };
    let link = onetime::make(&*app.catalog, origin, purpose, Some(by.who.user().id), JOIN_LIFE).await?;
    audit::note(&app, &by.who.0, Action::AccountInvited, None, email.to_string()).await?;
    render(&app, &by, Some(Fresh { email: email.to_string(), link })).await
}

async fn find(app: &App, id: UserId) -> Result<User, Fault> {
    let user = app.catalog.users().await?.into_iter().find(|user| user.id == id);
    user.ok_or_else(|| Fault::new(Reason::NotFound, "there is no such account"))
}

/// Another plan, operator or not, on or off.
pub(in crate::dashboard) async fn change(
    State(app): State<App>,
    by: AsOperator,
    Named(id): Named<UserKind>,
    fields: Fields,
) -> Shown {
    let user = find(&app, id).await?;
    let plan: PlanName = fields.parse("plan")?;
    let (operator, disabled) = (fields.ticked("operator"), !fields.ticked("active"));
    let visit = &by.who.0;
    if plan != user.plan {
        app.catalog.set_user_plan(id, plan).await?;
        audit::note(&app, visit, Action::AccountChanged, None, format!("{}: plan", user.email)).await?;
    }
    if operator != user.operator {
        app.catalog.set_user_operator(id, operator).await?;
        let what = if operator { "now operator" } else { "no longer operator" };
        audit::note(&app, visit, Action::AccountChanged, None, format!("{}: {what}", user.email)).await?;
    }
    if disabled != user.disabled {
        app.catalog.set_user_disabled(id, disabled).await?;
        let action = if disabled { Action::AccountDisabled } else { Action::AccountEnabled };
        audit::note(&app, visit, action, None, user.email.to_string()).await?;
    }
    Ok(page::go("/operator/users?done=user-changed"))
}

/// Makes a link by which somebody chooses a new password.
pub(in crate::dashboard) async fn password_link(
    State(app): State<App>,
    by: AsOperator,
    Named(id): Named<UserKind>,
    origin: Origin,
) -> Shown {
    let user = find(&app, id).await?;
    let purpose = Purpose::Reset { user: id, email: user.email.clone() };
    let link = onetime::make(&*app.catalog, origin, purpose, Some(by.who.user().id), RESET_LIFE).await?;
    audit::note(&app, &by.who.0, Action::PasswordLinkMade, None, user.email.to_string()).await?;
    render(&app, &by, Some(Fresh { email: user.email.to_string(), link })).await
}

/// Takes an invitation back.
pub(in crate::dashboard) async fn withdraw(
    State(app): State<App>,
    by: AsOperator,
    Named(link): Named<LinkKind>,
) -> Shown {
    app.catalog.withdraw_from_server(&by.operating, link).await?;
    audit::note(&app, &by.who.0, Action::InvitationWithdrawn, None, "").await?;
    Ok(page::go("/operator/users?done=withdrawn"))
}
