//! `GET /check`: the key works, and what it has left.

use axum::extract::State;
use engine::permissions::Permissions;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        auth::Asking,
        error::ErrorEnvelope,
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
    payer,
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
    /// What the key may be used for.
    #[schema(value_type = Vec<String>, example = json!(["search", "read", "write"]))]
    permissions: Permissions,
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
    used: u64,
    remaining: u64,
    #[schema(value_type = String, format = DateTime)]
    resets_at: Timestamp,
}

/// Tells whether the service runs and the key works.
#[utoipa::path(get, path = "/check", operation_id = "check", tag = "service", responses(
    (status = 200, description = "All is well", body = Envelope<Check>),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn check(
    State(app): State<App>,
    Asking(caller): Asking,
    query: Parameters<Nothing>,
) -> Reply<Check> {
    let limit =
        |limit: engine::seams::limiter::Limit| Limit { requests: limit.requests, window_s: limit.window_s };
    let limits = app.config.limits.requests();
    let balance = payer::balance(&app, caller.user).await?;
    let check = Check {
        message: "ok",
        version: env!("CARGO_PKG_VERSION"),
        time: Timestamp::now(),
        key: Key {
            prefix: caller.prefix.clone(),
            name: caller.key_name.clone(),
            expires_at: caller.expires_at,
            permissions: caller.permissions,
        },
        limits: Limits { key: limit(limits.key), user: limit(limits.user) },
        units: Units {
            monthly: balance.monthly,
            used: balance.used,
            remaining: balance.remaining(),
            resets_at: balance.resets_at(),
        },
    };
    Ok(Success::with_warnings(check, query.warnings))
}
