//! `quire user`: accounts.

use std::{
    io::{BufRead, stdin},
    sync::Arc,
};

use clap::Subcommand;
use engine::{
    Fault, Reason,
    access::Operating,
    seams::catalog::{Catalog, Email, NewUser, PlanName, User},
};
use serde_json::json;

use super::{
    Global, local,
    output::{self, moment},
};
use crate::{assemble, passwords};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add an account
    Add {
        /// Email address of the account
        email: Email,
        /// Read the password for the dashboard from standard input
        #[arg(long)]
        password_stdin: bool,
        /// Plan that sets the monthly intelligence units [default: standard]
        #[arg(long, value_name = "PLAN")]
        plan: Option<PlanName>,
        /// Let the account administer the whole server in the dashboard
        #[arg(long)]
        operator: bool,
    },
    /// List all accounts
    List,
    /// Disable an account; its keys stop working at once
    Disable {
        /// The account's address
        email: Email,
    },
    /// Enable a disabled account again
    Enable {
        /// The account's address
        email: Email,
    },
    /// Unlock an account after wrong passwords: the next sign-in need not wait
    Unlock {
        /// The account's address
        email: Email,
    },
    /// Confirm that an address belongs to the person who holds its account; open invitations for it take effect
    Confirm {
        /// The account's address
        email: Email,
    },
}

pub(super) async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    match command {
        Command::Add { email, password_stdin, plan, operator } => {
            add(global, email, password_stdin, plan, operator).await
        }
        Command::List => list(global).await,
        Command::Disable { email } => set_disabled(global, &email, true).await,
        Command::Enable { email } => set_disabled(global, &email, false).await,
        Command::Unlock { email } => unlock(global, &email).await,
        Command::Confirm { email } => confirm(global, &email).await,
    }
}

async fn add(
    global: &Global,
    email: Email,
    password_stdin: bool,
    plan: Option<PlanName>,
    operator: bool,
) -> Result<(), Fault> {
    let password_hash = if password_stdin { Some(read_password(&email)?) } else { None };
    let user = NewUser { email, password_hash, plan: plan.unwrap_or_default() };
    let catalog = catalog_for_first(global)?;
    let user = catalog.add_user(user).await?;
    if operator {
        catalog.set_user_operator(user.id, true).await?;
    }
    let value = json!({"userId": user.id, "email": user.email});
    let said = output::text("command-user-added").with("email", &user.email).with("id", user.id.to_string());
    output::print(global.json, &value, &said.plain());
    Ok(())
}

/// The first account may come before the first `serve`: a data folder that is named is created then.
fn catalog_for_first(global: &Global) -> Result<Arc<dyn Catalog>, Fault> {
    let config = global.settings()?;
    let folder = match global.names_data(&config) {
        true => global.created(&config)?,
        false => global.existing(&config)?,
    };
    assemble::open_catalog(&folder, &config).map_err(local)
}

fn read_password(email: &Email) -> Result<String, Fault> {
    let wrong = |cause: String| Fault::new(Reason::InvalidParameter, cause);
    let mut line = String::new();
    stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| wrong(format!("cannot read the password: {error}")))?;
    passwords::hash(line.trim_end_matches(['\r', '\n']), &[email.as_str()]).map_err(wrong)
}

async fn list(global: &Global) -> Result<(), Fault> {
    let users = global.catalog()?.users().await?;
    let value: Vec<_> = users.iter().map(as_json).collect();
    let rows: Vec<_> = users.iter().map(as_row).collect();
    let heads = [
        "command-head-email",
        "command-head-plan",
        "command-head-units",
        "command-head-state",
        "command-head-created",
    ];
    let text = output::table(&heads, &rows, &output::plain("command-no-users"));
    output::print(global.json, &value, &text);
    Ok(())
}

fn as_json(user: &User) -> serde_json::Value {
    json!({
        "userId": user.id, "email": user.email, "plan": user.plan, "monthlyUnits": user.monthly_units,
        "disabled": user.disabled, "confirmed": user.vouched, "createdAt": user.created_at,
    })
}

fn as_row(user: &User) -> Vec<String> {
    let units =
        user.monthly_units.map_or_else(|| output::plain("command-default"), |units| units.to_string());
    let state = match (user.disabled, user.vouched) {
        (true, _) => "command-user-disabled",
        (false, false) => "command-user-unconfirmed",
        (false, true) => "command-user-active",
    };
    vec![
        user.email.to_string(),
        user.plan.as_str().to_string(),
        units,
        output::plain(state),
        moment(Some(user.created_at)),
    ]
}

async fn set_disabled(global: &Global, email: &Email, disabled: bool) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let user = catalog.user(email).await?;
    catalog.set_user_disabled(user.id, disabled).await?;
    let said = output::text(if disabled { "command-disabled" } else { "command-enabled" });
    let value = json!({"userId": user.id, "email": user.email, "disabled": disabled});
    output::print(global.json, &value, &said.with("email", email).plain());
    Ok(())
}

async fn unlock(global: &Global, email: &Email) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let user = catalog.user(email).await?;
    catalog.unlock(&Operating::for_operator(), &user.email).await?;
    let value = json!({"userId": user.id, "email": user.email, "unlocked": true});
    output::print(global.json, &value, &output::text("command-unlocked").with("email", email).plain());
    Ok(())
}

async fn confirm(global: &Global, email: &Email) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let user = catalog.user(email).await.map_err(|fault| match fault.reason {
        Reason::NotFound => Fault::new(Reason::NotFound, format!("there is no account {email}"))
            .hint(&format!("`quire user add {email}` adds one whose address is confirmed")),
        _ => fault,
    })?;
    catalog.vouch_for(&Operating::for_operator(), user.id).await?;
    let value = json!({"userId": user.id, "email": user.email, "confirmed": true});
    output::print(global.json, &value, &output::text("command-confirmed").with("email", email).plain());
    Ok(())
}
