//! `GET /check`: the key works, and what it has left.

use axum::extract::State;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        auth::Asking,
        error::ErrorEnvelope,
        reply::{Envelope, Reply, Success},
    },
};

/// What `/check` says.
#[derive(Serialize, ToSchema)]
pub(super) struct Check {
    #[schema(example = "ok")]
    message: &'static str,
    version: &'static str,
    #[schema(value_type = String, format = DateTime)]
    time: Timestamp,
    key: Key,
    limits: Limits,
    units: Units,
}

#[derive(Serialize, ToSchema)]
struct Key {
    prefix: String,
    name: String,
    #[serde(rename = "expiresAt")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize, ToSchema)]
struct Limits {
    key: Limit,
    user: Limit,
}

#[derive(Serialize, ToSchema)]
struct Limit {
    requests: u32,
    window_s: u32,
}

#[derive(Serialize, ToSchema)]
struct Units {
    monthly: u64,
    #[schema(value_type = String, format = DateTime)]
    resets_at: Timestamp,
}

/// Tells whether the service runs and the key works.
#[utoipa::path(get, path = "/check", tag = "service", responses(
    (status = 200, description = "All is well", body = Envelope<Check>),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn check(State(app): State<App>, Asking(caller): Asking) -> Reply<Check> {
    let limit =
        |limit: engine::seams::limiter::Limit| Limit { requests: limit.requests, window_s: limit.window_s };
    let limits = app.config.limits.requests();
    let now = Timestamp::now();
    Ok(Success::new(Check {
        message: "ok",
        version: env!("CARGO_PKG_VERSION"),
        time: now,
        key: Key {
            prefix: caller.prefix.clone(),
            name: caller.key_name.clone(),
            expires_at: caller.expires_at,
        },
        limits: Limits { key: limit(limits.key), user: limit(limits.user) },
        units: Units {
            monthly: caller.monthly_units.unwrap_or(app.config.units.monthly),
            resets_at: next_month(now),
        },
    }))
}

/// When the calendar month of `now` ends, in UTC.
fn next_month(now: Timestamp) -> Timestamp {
    let today: Zoned = now.to_zoned(TimeZone::UTC);
    let next = today.first_of_month().and_then(|first| first.checked_add(jiff::Span::new().months(1)));
    next.and_then(|day| day.start_of_day()).map(|day| day.timestamp()).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_reset_at_the_first_of_the_next_month() {
        for (now, reset) in [
            ("2026-11-15T14:00:00Z", "2026-12-01T00:00:00Z"),
            ("2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
            ("2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
        ] {
            assert_eq!(next_month(now.parse().unwrap()), reset.parse().unwrap());
        }
    }
}
