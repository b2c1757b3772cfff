//! Accounts: invite, change, disable.

use askama::Template;
use axum::{extract::State, response::Response};
use engine::{
    Fault, Reason,
    ids::{LinkKind, UserId, UserKind},
    seams::catalog::{Action, Email, Month, PlanName, Purpose, User},
};
use jiff::Timestamp;

use crate::{
    app::App,
    dashboard::{
        audit,
        fields::Fields,
        members::{Fresh, Waiting, fresh_link},
        onetime::{self, RESET_LIFE},
        page::{self, Frame, Place, Shown},
        permit::{AsOperator, Named},
        said::Said,
        second_step,
        show::{self, Moment},
    },
    http::origin::Origin,
    manage::members::JOIN_LIFE,
};

struct UserRow {
    id: UserId,
    email: String,
    name: String,
    plan: String,
    /// Units of this month, of those it has.
    units: String,
    /// What its boxes hold, and how many they are.
    stored: String,
    boxes: String,
    operator: bool,
    disabled: bool,
    since: Moment,
    me: bool,
    vouched: bool,
    /// Who invited them, where that was no operator.
    invited_by: String,
    awaits_identity: bool,
    second_step: bool,
}

#[derive(Template)]
#[template(path = "operator_users.html")]
struct UsersPage {
    frame: Frame,
    users: Vec<UserRow>,
    plans: Vec<String>,
    waiting: Vec<Waiting>,
    /// Addresses that are invited to boxes and have no account that somebody vouches for, and who invited them.
    wanted: Vec<(String, String)>,
    /// What the provider is called, where people can sign in with one.
    provider: Option<String>,
    fresh: Option<Fresh>,
}

/// All accounts.
pub(in crate::dashboard) async fn list(State(app): State<App>, by: AsOperator) -> Shown {
    let (app, fresh) = (&app, fresh_link(&by.who.0));
    let (secret, words) = (fresh.is_some(), by.who.0.words);
    let me = by.who.user().id;
    let usual = app.config.units.monthly;
    let all = app.catalog.users().await?;
    let second_steps = app.catalog.with_second_factor().await?;
    let used = app.catalog.use_of_accounts(&by.operating, Month::of(Timestamp::now())).await?;
    let used = |id: UserId| used.get(&id).copied().unwrap_or_default();
    let email_of = |id: Option<UserId>| all.iter().find(|user| Some(user.id) == id).map(|user| &user.email);
    let users = all.iter().cloned().map(|user| UserRow {
        me: user.id == me,
        vouched: user.vouched,
        invited_by: email_of(user.invited_by).map(ToString::to_string).unwrap_or_default(),
        awaits_identity: user.awaits_identity,
        second_step: second_steps.contains(&user.id),
        id: user.id,
        email: user.email.to_string(),
        name: user.name.map_or_else(String::new, |name| name.as_str().to_string()),
        plan: user.plan.as_str().to_string(),
        units: words
            .text("account-of")
            .with("used", words.number(used(user.id).units))
            .with("total", words.number(user.monthly_units.unwrap_or(usual)))
            .plain(),
        stored: show::size(words, used(user.id).bytes),
        boxes: words.count("frame-count-boxes", used(user.id).boxes),
        operator: user.operator,
        disabled: user.disabled,
        since: Moment::of(user.created_at),
    });
    let users = users.collect();
    let plans = app.catalog.plans().await?.into_iter().map(|plan| plan.name.as_str().to_string()).collect();
    let now = Timestamp::now();
    let waiting = app.catalog.links_to_server(&by.operating, now).await?;
    let wanted = app.catalog.wanted_accounts(&by.operating, now).await?;
    let shown = page::show(&UsersPage {
        frame: Frame::new(app, &by.who.0, words.text("frame-users"), Place::Users),
        users,
        plans,
        waiting: waiting.into_iter().map(|link| Waiting::of(words, link)).collect(),
        wanted: wanted.into_iter().map(|one| (one.email.to_string(), one.by.to_string())).collect(),
        provider: app.oidc.as_ref().map(|provider| provider.label().to_string()),
        fresh,
    })?;
    Ok(if secret { page::with_secret(shown) } else { shown })
}

/// Shows a link on the list, once.
fn shown_once(by: &AsOperator, email: &Email, link: String) -> Response {
    let said = Said::Link { email: email.to_string(), link: Some(link) };
    by.who.0.say(&said, page::go("/operator/users"))
}

/// Creates a link by which somebody makes their account.
pub(in crate::dashboard) async fn invite(
    State(app): State<App>,
    by: AsOperator,
    origin: Origin,
    fields: Fields,
) -> Shown {
    let (email, plan): (Email, PlanName) = (fields.parse("email")?, fields.parse("plan")?);
    if app.catalog.stored_sign_in(&email).await?.is_some() {
        return Err(Fault::new(Reason::Conflict, format!("{email} already has an account")).into());
    }
    if !app.catalog.plans().await?.iter().any(|known| known.name == plan) {
        return Err(Fault::invalid("plan", "there is no such plan").into());
    }
    let purpose = Purpose::Join { email: email.clone(), plan, member: None };
    let link = onetime::make(&*app.catalog, origin, purpose, Some(by.who.user().id), JOIN_LIFE).await?;
    audit::note(&app, &by.who.0, Action::AccountInvited, None, email.to_string()).await?;
    Ok(shown_once(&by, &email, link))
}

async fn find(app: &App, id: UserId) -> Result<User, Fault> {
    let user = app.catalog.users().await?.into_iter().find(|user| user.id == id);
    user.ok_or_else(|| Fault::new(Reason::NotFound, "there is no such account"))
}

/// Takes the second step from somebody who has lost their authenticator and their codes.
pub(in crate::dashboard) async fn remove_second_step(
    State(app): State<App>,
    by: AsOperator,
    Named(id): Named<UserKind>,
) -> Shown {
    let user = find(&app, id).await?;
    second_step::gone(&app, &by.who.0, &user).await?;
    Ok(page::go("/operator/users?done=second-step-removed"))
}

/// Changes the plan, the operator right, or whether the account is enabled.
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

/// Creates a link by which somebody chooses a new password.
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
    Ok(shown_once(&by, &user.email, link))
}

/// Says that an address belongs to whoever holds the account.
pub(in crate::dashboard) async fn confirm(
    State(app): State<App>,
    by: AsOperator,
    Named(id): Named<UserKind>,
) -> Shown {
    let user = find(&app, id).await?;
    app.catalog.vouch_for(&by.operating, id).await?;
    let target = format!("{}: address confirmed", user.email);
    audit::note(&app, &by.who.0, Action::AccountChanged, None, target).await?;
    Ok(page::go("/operator/users?done=confirmed"))
}

/// Lets the next sign-in at the provider with this address take the account over, or no longer.
pub(in crate::dashboard) async fn hand_over(
    State(app): State<App>,
    by: AsOperator,
    Named(id): Named<UserKind>,
    fields: Fields,
) -> Shown {
    let (user, awaits) = (find(&app, id).await?, fields.ticked("offer"));
    app.catalog.set_awaits_identity(&by.operating, id, awaits).await?;
    let what = if awaits { "offered to its address at the provider" } else { "no longer offered" };
    let target = format!("{}: {what}", user.email);
    audit::note(&app, &by.who.0, Action::AccountChanged, None, target).await?;
    Ok(page::go(format!("/operator/users?done={}", if awaits { "offered" } else { "kept" })))
}

/// Forgets wrong passwords, so that nobody waits because of them.
pub(in crate::dashboard) async fn unlock(
    State(app): State<App>,
    by: AsOperator,
    Named(id): Named<UserKind>,
) -> Shown {
    let user = find(&app, id).await?;
    app.catalog.unlock(&by.operating, &user.email).await?;
    let target = format!("{}: unlocked", user.email);
    audit::note(&app, &by.who.0, Action::AccountChanged, None, target).await?;
    Ok(page::go("/operator/users?done=unlocked"))
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
