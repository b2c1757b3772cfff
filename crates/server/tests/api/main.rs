//! The API as a client sees it: a real server, real HTTPS, one file a resource.

mod commands;
mod keys;
mod limits;
mod matrix;
mod openapi;
mod support;
mod transport;
