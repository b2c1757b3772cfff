//! `GET /usage`: the units of a month, by day, by key and by operation.

use std::collections::BTreeMap;

use axum::extract::State;
use engine::{
    Fault,
    seams::catalog::{Month, UsageLine},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    http::{
        auth::Reader,
        error::ErrorEnvelope,
        query::Parameters,
        reply::{Envelope, Reply, Success},
    },
    payer,
};

/// Which month.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UsageQuery {
    /// A calendar month in UTC, such as `2026-11`; this month if left out.
    month: Option<String>,
}

impl UsageQuery {
    pub(super) fn month(&self) -> Result<Month, Fault> {
        match &self.month {
            Some(text) => text.parse().map_err(|wrong: String| Fault::invalid("month", wrong)),
            None => Ok(Month::of(Timestamp::now())),
        }
    }
}

/// A month's units of the account that the key belongs to, over all its keys.
#[derive(Serialize, ToSchema)]
pub(super) struct UsageReport {
    #[schema(example = "2026-11")]
    month: String,
    /// Units per month, as of now.
    quota: u64,
    used: u64,
    remaining: u64,
    #[schema(value_type = String, format = DateTime)]
    resets_at: Timestamp,
    /// Days on which units were charged, in order.
    per_day: Vec<PerDay>,
    per_key: Vec<PerKey>,
    per_operation: Vec<PerOperation>,
}

/// Calls charged for, and what they cost.
#[derive(Default, Serialize, ToSchema)]
struct Sum {
    calls: u64,
    units: u64,
}

#[derive(Serialize, ToSchema)]
struct PerDay {
    #[schema(example = "2026-11-15")]
    day: String,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Serialize, ToSchema)]
struct PerKey {
    prefix: String,
    name: String,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Serialize, ToSchema)]
struct PerOperation {
    /// search or chat
    operation: &'static str,
    #[serde(flatten)]
    sum: Sum,
}

/// Reports what was charged in a month.
#[utoipa::path(get, path = "/usage", operation_id = "get_usage", tag = "service", params(UsageQuery), responses(
    (status = 200, description = "The month's units", body = Envelope<UsageReport>),
    (status = "4XX", description = "The month is not one, the key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn usage(
    State(app): State<App>,
    Reader(caller): Reader,
    query: Parameters<UsageQuery>,
) -> Reply<UsageReport> {
    let month = query.value.month()?;
    let balance = payer::balance_in(&app, caller.user, month).await?;
    let lines = app.catalog.usage(caller.user, month).await?;
    let per_day = sums(&lines, |line| line.day.clone());
    let per_key = sums(&lines, |line| (line.key.clone(), key_name(line)));
    let per_operation = sums(&lines, |line| line.operation);
    let report = UsageReport {
        month: month.to_string(),
        quota: balance.monthly,
        used: balance.used,
        remaining: balance.remaining(),
        resets_at: balance.resets_at(),
        per_day: per_day.into_iter().map(|(day, sum)| PerDay { day, sum }).collect(),
        per_key: per_key.into_iter().map(|((prefix, name), sum)| PerKey { prefix, name, sum }).collect(),
        per_operation: per_operation
            .into_iter()
            .map(|(operation, sum)| PerOperation { operation: operation.as_str(), sum })
            .collect(),
    };
    Ok(Success::with_warnings(report, query.warnings))
}

/// What is charged in the dashboard has no key, and so no name of one.
fn key_name(line: &UsageLine) -> String {
    if line.key == payer::DASHBOARD { "Dashboard".into() } else { line.key_name.clone() }
}

/// The lines summed by what `by` makes of each.
fn sums<K: Ord>(lines: &[UsageLine], by: impl Fn(&UsageLine) -> K) -> BTreeMap<K, Sum> {
    let mut sums = BTreeMap::<K, Sum>::new();
    for line in lines {
        let sum = sums.entry(by(line)).or_default();
        sum.calls += line.calls;
        sum.units += line.units;
    }
    sums
}
