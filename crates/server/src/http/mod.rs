//! The HTTP side. A request goes `listener → layers → auth → limits → idempotency → routes`; errors come back through `error`.

pub mod actor;
pub mod auth;
pub mod body;
pub mod error;
pub mod guard;
pub mod idempotency;
pub mod layers;
pub mod limits;
pub mod links;
pub mod listener;
pub mod metrics;
pub mod origin;
pub mod plain;
pub mod reply;
pub mod routes;
pub mod tls;
pub mod token;
pub mod units;
mod wording;

/// Where the API lives; carries its version.
pub const BASE: &str = "/api/public/v1";
