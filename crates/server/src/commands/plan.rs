//! `quire plan`: how many intelligence units a month.

use clap::Subcommand;
use engine::{
    Fault,
    seams::catalog::{Email, Plan, PlanName},
};
use serde_json::json;

use super::{Global, output};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Give one account its own monthly quota
    Set {
        /// The account's address
        email: Email,
        /// Intelligence units a month
        #[arg(long)]
        units: u64,
    },
    /// Make or change a plan, for `quire user add --plan`
    Put {
        /// The plan's name
        name: PlanName,
        /// Intelligence units a month
        #[arg(long)]
        units: u64,
    },
    /// List the plans
    List,
}

pub(super) async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    match command {
        Command::Set { email, units } => {
            let user = catalog.user(&email).await?;
            catalog.set_user_units(user.id, units).await?;
            let value = json!({"userId": user.id, "email": email, "monthlyUnits": units});
            output::print(global.json, &value, &format!("{email} has {units} units a month from now on"));
        }
        Command::Put { name, units } => {
            let value = json!({"plan": name, "monthlyUnits": units});
            let text = format!("The plan {} gives {units} units a month", name.as_str());
            catalog.put_plan(Plan { name, monthly_units: Some(units) }).await?;
            output::print(global.json, &value, &text);
        }
        Command::List => {
            let plans = catalog.plans().await?;
            let value: Vec<_> = plans
                .iter()
                .map(|plan| json!({"plan": plan.name, "monthlyUnits": plan.monthly_units}))
                .collect();
            let units =
                |plan: &Plan| plan.monthly_units.map_or("units.monthly".into(), |units| units.to_string());
            let rows: Vec<_> =
                plans.iter().map(|plan| vec![plan.name.as_str().into(), units(plan)]).collect();
            output::print(global.json, &value, &output::table(&["PLAN", "UNITS/MONTH"], &rows, ""));
        }
    }
    Ok(())
}
