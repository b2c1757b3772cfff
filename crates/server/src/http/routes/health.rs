//! `/healthz` and `/readyz`: for whoever watches over the process; no key.

use axum::extract::State;
use engine::{Fault, Reason};
use serde::Serialize;
use std::time::Duration;

use crate::{
    app::App,
    http::reply::{Reply, Success},
};

#[derive(Serialize)]
pub(super) struct Health {
    status: &'static str,
}

/// The process is alive.
pub(super) async fn alive() -> Reply<Health> {
    Ok(Success::new(Health { status: "alive" }))
}

/// The store answers.
pub(super) async fn ready(State(app): State<App>) -> Reply<Health> {
    app.catalog.access_version().await.map_err(|fault| {
        let mut unready = Fault::new(Reason::Overloaded, "the database does not respond; try again shortly");
        unready.source = fault.source;
        unready.retry_after(Duration::from_secs(5))
    })?;
    Ok(Success::new(Health { status: "ready" }))
}
