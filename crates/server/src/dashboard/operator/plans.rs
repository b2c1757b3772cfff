//! Plans: how many units a month.

use askama::Template;
use axum::extract::State;
use engine::seams::catalog::{Action, Plan, PlanName};

use crate::{
    app::App,
    dashboard::{
        audit,
        fields::Fields,
        page::{self, Frame, Place, Shown},
        permit::AsOperator,
        show,
    },
};

struct PlanRow {
    name: String,
    units: Option<u64>,
    words: String,
    accounts: String,
}

#[derive(Template)]
#[template(path = "operator_plans.html")]
struct PlansPage {
    frame: Frame,
    plans: Vec<PlanRow>,
    usual: String,
}

/// All plans.
pub(in crate::dashboard) async fn list(State(app): State<App>, by: AsOperator) -> Shown {
    let users = app.catalog.users().await?;
    let usual = show::number(app.config.units.monthly);
    let plans = app.catalog.plans().await?.into_iter().map(|plan| {
        let on_it = users.iter().filter(|user| user.plan == plan.name).count() as u64;
        PlanRow {
            name: plan.name.as_str().to_string(),
            units: plan.monthly_units,
            words: plan.monthly_units.map_or_else(|| format!("{usual} (setting)"), show::number),
            accounts: show::count(on_it, "account", "accounts"),
        }
    });
    let plans = plans.collect();
    page::show(&PlansPage { frame: Frame::new(&app, &by.who.0, "Plans", Place::Plans), plans, usual })
}

/// Makes a plan, or changes one.
pub(in crate::dashboard) async fn put(State(app): State<App>, by: AsOperator, fields: Fields) -> Shown {
    let plan = Plan { name: fields.parse::<PlanName>("name")?, monthly_units: fields.optional("units")? };
    let target = plan.name.as_str().to_string();
    app.catalog.put_plan(plan).await?;
    audit::note(&app, &by.who.0, Action::PlanChanged, None, target).await?;
    Ok(page::go("/operator/plans?done=plan"))
}
