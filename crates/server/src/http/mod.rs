//! The HTTP side. A request goes `listener → layers → auth → limits → idempotency → routes`; errors come back through `error`.

mod activity;
pub mod actor;
pub mod audience;
pub mod auth;
pub mod body;
mod door;
pub mod error;
pub(crate) mod form;
pub mod guard;
pub mod idempotency;
mod incoming;
pub mod layers;
pub mod limits;
pub mod links;
pub mod listener;
pub mod metrics;
pub mod origin;
pub mod places;
pub mod plain;
pub mod query;
pub mod reply;
pub mod routes;
pub mod tls;
pub mod token;
pub mod units;
mod wording;

/// Where the API lives; carries its version.
pub const BASE: &str = "/api/public/v1";
