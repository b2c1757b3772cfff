//! Picks, wires and listens: configuration, commands, the HTTP side. Nobody depends on this crate.

pub mod app;
pub mod assemble;
pub mod backup;
pub mod bundles;
pub mod commands;
pub mod config;
pub mod dashboard;
pub mod docs;
mod following;
mod html;
pub mod http;
pub mod library;
pub mod logging;
mod manage;
pub mod oidc;
mod outside;
pub mod passwords;
pub mod payer;
pub mod questions;
pub mod reindex;
pub mod sessions;
pub mod site;
pub mod sources;
pub mod telemetry;
mod totp;
pub mod webhooks;
pub mod worker;
