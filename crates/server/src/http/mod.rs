//! The HTTP side. A request goes `listener → layers → auth → limits → idempotency → routes`; errors come back through `error`.

mod activity;
pub mod actor;
pub mod aliases;
pub mod audience;
pub mod auth;
pub mod body;
pub(crate) mod compress;
mod cors;
mod door;
pub mod error;
pub(crate) mod form;
pub mod idempotency;
mod incoming;
pub mod layers;
pub mod limits;
pub mod links;
pub mod listener;
mod names;
pub(crate) mod oauth;
pub mod origin;
pub mod plain;
pub mod query;
pub mod reply;
pub mod request_id;
pub mod routes;
pub(crate) mod tagged;
pub mod tls;
pub mod token;
mod wording;

/// Where the API lives; carries its version.
pub const BASE: &str = "/api/public/v1";

/// Where the description of the API is, below the base path; the only route there that needs no key.
pub const OPENAPI: &str = "/openapi.json";
