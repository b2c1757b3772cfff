//! Plans: how many units per month, and how much an account on it may hold.

use askama::Template;
use axum::extract::State;
use engine::{
    bounds::{Bound, Quota},
    seams::catalog::{Action, Plan, PlanName},
};

use crate::{
    app::App,
    dashboard::{
        audit,
        fields::Fields,
        page::{self, Frame, Place, Shown},
        permit::AsOperator,
    },
    words::Words,
};

struct PlanRow {
    name: String,
    units: Option<u64>,
    words: String,
    accounts: String,
    bounds: Vec<BoundField>,
}

/// A bound as a field of a plan's form.
struct BoundField {
    name: &'static str,
    label: String,
    value: Option<u64>,
    /// What the settings say.
    usual: u64,
}

#[derive(Template)]
#[template(path = "operator_plans.html")]
struct PlansPage {
    frame: Frame,
    plans: Vec<PlanRow>,
    usual: String,
    bounds: Vec<BoundField>,
}

fn bound_fields(words: Words, app: &App, quota: &Quota) -> Vec<BoundField> {
    let settings = app.config.bounds();
    let field = |bound: Bound| BoundField {
        name: bound.as_str(),
        label: words.bound(bound),
        value: quota.get(bound),
        usual: settings.limit(bound),
    };
    Bound::IN_PLANS.map(field).into()
}

/// All plans.
pub(in crate::dashboard) async fn list(State(app): State<App>, by: AsOperator) -> Shown {
    let users = app.catalog.users().await?;
    let words = by.who.0.words;
    let usual = words.number(app.config.units.monthly);
    let plans = app.catalog.plans().await?.into_iter().map(|plan| {
        let on_it = users.iter().filter(|user| user.plan == plan.name).count() as u64;
        PlanRow {
            name: plan.name.as_str().to_string(),
            units: plan.monthly_units,
            words: match plan.monthly_units {
                Some(units) => words.number(units),
                None => words.text("operator-by-setting").with("units", &usual).plain(),
            },
            accounts: words.count("operator-count-accounts", on_it),
            bounds: bound_fields(words, &app, &plan.quota),
        }
    });
    let plans = plans.collect();
    let bounds = bound_fields(words, &app, &Quota::default());
    page::show(&PlansPage {
        frame: Frame::new(&app, &by.who.0, words.text("frame-plans"), Place::Plans),
        plans,
        usual,
        bounds,
    })
}

/// Creates a plan, or changes one.
pub(in crate::dashboard) async fn put(State(app): State<App>, by: AsOperator, fields: Fields) -> Shown {
    let mut quota = Quota::default();
    for bound in Bound::IN_PLANS {
        quota.set(bound, fields.optional(bound.as_str())?);
    }
    let plan =
        Plan { name: fields.parse::<PlanName>("name")?, monthly_units: fields.optional("units")?, quota };
    let target = plan.name.as_str().to_string();
    app.catalog.put_plan(plan).await?;
    audit::note(&app, &by.who.0, Action::PlanChanged, None, target).await?;
    Ok(page::go("/operator/plans?done=plan"))
}
