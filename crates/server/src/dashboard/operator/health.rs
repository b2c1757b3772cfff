//! What `quire doctor` finds, worst first.

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;

use crate::{
    app::App,
    dashboard::{
        page::{self, Frame, Place, Shown},
        permit::AsOperator,
        show::Moment,
    },
    doctor::{self, Finding, State as Health},
};

#[derive(Template)]
#[template(path = "operator_health.html")]
struct HealthPage {
    frame: Frame,
    checked: Moment,
    wrong: usize,
    warnings: usize,
    findings: Vec<Finding>,
}

/// The page.
pub(in crate::dashboard) async fn show(State(app): State<App>, by: AsOperator) -> Shown {
    let mut findings = doctor::examine_running(&app).await.findings;
    findings.sort_by_key(|finding| match finding.state {
        Health::Wrong => 0,
        Health::Warning => 1,
        Health::Ok => 2,
    });
    let how_many = |state| findings.iter().filter(|finding| finding.state == state).count();
    page::show(&HealthPage {
        frame: Frame::new(&app, &by.who.0, by.who.0.words.text("operator-health"), Place::Health),
        checked: Moment::of(Timestamp::now()),
        wrong: how_many(Health::Wrong),
        warnings: how_many(Health::Warning),
        findings,
    })
}
