//! The API as a client sees it: a real server, real HTTPS, one file a resource.

mod bodies;
mod bounds;
mod chat;
mod commands;
mod dashboard;
mod deletion;
mod documents;
mod errors;
mod files;
mod hostile;
mod idempotency;
mod keys;
mod limits;
mod links;
mod matrix;
mod newcomer;
mod openapi;
mod operator;
mod reindex;
mod scaled;
mod search;
mod stopping;
mod support;
mod transport;
mod units;
mod upstream;
