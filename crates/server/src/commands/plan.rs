//! `quire plan`: how many intelligence units per month, and how much an account may hold.

use clap::{Args, Subcommand};
use engine::{
    Fault,
    bounds::{Bound, Quota},
    seams::catalog::{Email, Plan, PlanName},
};
use serde_json::{Map, Value, json};

use super::{Global, output};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Give one account its own monthly quota and bounds
    Set {
        /// The account's address
        email: Email,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// Create or change a plan, for `quire user add --plan`
    Put {
        /// The plan's name
        name: PlanName,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// List the plans
    List,
}

/// What is left out stays as it is.
#[derive(Args)]
#[group(required = true, multiple = true)]
pub(super) struct LimitArgs {
    /// Intelligence units per month
    #[arg(long)]
    units: Option<u64>,
    /// Gigabytes of files in all boxes that one user owns
    #[arg(long)]
    storage_gb: Option<u64>,
    /// Boxes that one user may own
    #[arg(long)]
    boxes: Option<u64>,
    /// Files in one box
    #[arg(long)]
    files: Option<u64>,
    /// Files of one owner that wait to be read
    #[arg(long)]
    queued_files: Option<u64>,
    /// Members of one box
    #[arg(long)]
    members: Option<u64>,
    /// API keys of one user
    #[arg(long)]
    keys: Option<u64>,
}

impl LimitArgs {
    /// The values given, merged over the earlier ones.
    fn over(&self, mut quota: Quota) -> Quota {
        for bound in Bound::IN_PLANS {
            let given = match bound {
                Bound::Boxes => self.boxes,
                Bound::Files => self.files,
                Bound::StorageGb => self.storage_gb,
                Bound::QueuedFiles => self.queued_files,
                Bound::Members => self.members,
                Bound::Keys => self.keys,
                Bound::MetadataKb | Bound::Tags => None,
            };
            if given.is_some() {
                quota.set(bound, given);
            }
        }
        quota
    }
}

pub(super) async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    match command {
        Command::Set { email, limits } => {
            let user = catalog.user(&email).await?;
            let quota = limits.over(catalog.user_quota(user.id).await?);
            catalog.set_user_quota(user.id, quota.clone()).await?;
            if let Some(units) = limits.units {
                catalog.set_user_units(user.id, units).await?;
            }
            let units = limits.units.or(user.monthly_units);
            let mut value = said(units, &quota);
            value.insert("userId".into(), json!(user.id));
            value.insert("email".into(), json!(email));
            let said =
                output::text("command-user-has").with("email", &email).with("limits", words(units, &quota));
            output::print(global.json, &value, &said.plain());
        }
        Command::Put { name, limits } => {
            let known = catalog.plans().await?.into_iter().find(|plan| plan.name == name);
            let before = known.unwrap_or(Plan { name, monthly_units: None, quota: Quota::default() });
            let plan = Plan {
                monthly_units: limits.units.or(before.monthly_units),
                quota: limits.over(before.quota),
                name: before.name,
            };
            catalog.put_plan(plan.clone()).await?;
            let limits = words(plan.monthly_units, &plan.quota);
            let said =
                output::text("command-plan-gives").with("plan", plan.name.as_str()).with("limits", &limits);
            output::print(global.json, &object(&plan), &said.plain());
        }
        Command::List => {
            let plans = catalog.plans().await?;
            let value: Vec<_> = plans.iter().map(object).collect();
            let row = |plan: &Plan| {
                let units = plan.monthly_units.map_or("units.monthly".into(), |units| units.to_string());
                vec![plan.name.as_str().to_string(), units, bounds_in_words(&plan.quota)]
            };
            let rows: Vec<_> = plans.iter().map(row).collect();
            let heads = ["command-head-plan", "command-head-units", "command-head-bounds"];
            output::print(global.json, &value, &output::table(&heads, &rows, ""));
        }
    }
    Ok(())
}

fn object(plan: &Plan) -> Map<String, Value> {
    let mut value = said(plan.monthly_units, &plan.quota);
    value.insert("plan".into(), json!(plan.name));
    value
}

/// The limits as JSON; what is left to the settings is null.
fn said(units: Option<u64>, quota: &Quota) -> Map<String, Value> {
    let bounds = Bound::IN_PLANS.map(|bound| (bound.as_str().to_string(), json!(quota.get(bound))));
    let units = ("monthlyUnits".to_string(), json!(units));
    [units, ("bounds".into(), Value::Object(bounds.into_iter().collect()))].into_iter().collect()
}

fn words(units: Option<u64>, quota: &Quota) -> String {
    let units = match units {
        Some(units) => output::words().count("command-units-a-month", units),
        None => output::plain("command-usual-units"),
    };
    match quota.is_empty() {
        true => units,
        false => format!("{units}; {}", bounds_in_words(quota)),
    }
}

fn bounds_in_words(quota: &Quota) -> String {
    quota.iter().map(|(bound, limit)| format!("{bound} = {limit}")).collect::<Vec<_>>().join(", ")
}
