//! Successful answers: the envelope around what a handler returns, and what streams have in common.

use std::time::Duration;

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response, sse::KeepAlive},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::error::Failure;

/// What a handler returns.
pub type Reply<T> = Result<Success<T>, Failure>;

/// The envelope of a successful request.
#[derive(Serialize, ToSchema)]
pub struct Envelope<T> {
    /// Always true.
    #[schema(example = true)]
    pub success: bool,
    /// The payload.
    pub data: T,
}

/// How a stream keeps proxies from closing a connection that is quiet.
pub fn pings() -> KeepAlive {
    KeepAlive::new().interval(Duration::from_secs(15)).text("ping")
}

/// A payload on its way out, with what the caller should know about their request.
pub struct Success<T> {
    data: T,
    warnings: Vec<String>,
}

impl<T> Success<T> {
    /// Nothing to add.
    pub fn new(data: T) -> Self {
        Success { data, warnings: Vec::new() }
    }

    /// Adds `data.warnings`, where there are any.
    pub fn with_warnings(data: T, warnings: Vec<String>) -> Self {
        Success { data, warnings }
    }
}

#[derive(Serialize)]
struct Warned<T> {
    #[serde(flatten)]
    data: T,
    warnings: Vec<String>,
}

impl<T: Serialize> IntoResponse for Success<T> {
    fn into_response(self) -> Response {
        let body = if self.warnings.is_empty() {
            serde_json::to_vec(&Envelope { success: true, data: self.data })
        } else {
            let data = Warned { data: self.data, warnings: self.warnings };
            serde_json::to_vec(&Envelope { success: true, data })
        };
        match body {
            Ok(body) => {
                let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                ([json], body).into_response()
            }
            Err(error) => Failure(engine::Fault::internal(error)).into_response(),
        }
    }
}
