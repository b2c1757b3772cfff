//! Error answers: every fault becomes the one envelope here, and internal causes are logged here, once.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason, error::Code};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use utoipa::ToSchema;

use super::{BASE, oauth, request_id::RequestId};

/// A fault on its way out of a handler; [`render`] makes the answer of it once the request id is known.
pub struct Failure(pub Fault);

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure(fault)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() =
            StatusCode::from_u16(self.0.reason.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.extensions_mut().insert(Arc::new(self.0));
        response
    }
}

/// The error object of the API.
#[derive(Serialize, ToSchema)]
pub struct ErrorObject {
    /// `B3002`, `B3107`, `B1004` or `B1000`.
    #[schema(example = "B3002")]
    pub code: &'static str,
    /// `permissions`, `quota`, `validation` or `server`.
    #[schema(example = "permissions")]
    pub category: &'static str,
    /// Short title.
    pub summary: &'static str,
    /// What happened, and what to do now.
    pub cause: String,
    /// Summary and cause in one, for clients that show only this.
    pub message: String,
    /// The kind of error in OpenAI's words.
    pub r#type: &'static str,
    /// The parameter at fault.
    pub param: Option<String>,
    /// The exact reason; stable.
    pub reason: &'static str,
    /// Names this request in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Seconds to wait, where waiting helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// The envelope of a failed request.
#[derive(Serialize, ToSchema)]
pub struct ErrorEnvelope {
    /// Always false.
    #[schema(example = false)]
    pub success: bool,
    /// What went wrong.
    pub error: ErrorObject,
}

impl ErrorObject {
    /// The object for a fault; `request_id` where there was a request.
    pub fn of(fault: &Fault, request_id: Option<&RequestId>) -> Self {
        ErrorObject {
            code: fault.reason.code().as_str(),
            category: fault.reason.code().category(),
            summary: fault.reason.summary(),
            cause: fault.cause.clone(),
            message: fault.to_string(),
            r#type: fault.reason.kind(),
            param: fault.param.clone(),
            reason: fault.reason.as_str(),
            request_id: request_id.map(ToString::to_string),
            retry_after: fault.retry_after.map(|wait| wait.as_millis().div_ceil(1000) as u64),
        }
    }
}

/// Writes the fault that a response carries, if any, into its body and headers.
pub fn render(mut response: Response, id: &RequestId, exhausted_status: u16, shape: ErrorShape) -> Response {
    let Some(fault) = response.extensions_mut().remove::<Arc<Fault>>() else { return response };
    if let Some(source) = &fault.source {
        tracing::error!(request.id = %id, error = %source, "Request failed: {}", fault.reason.as_str());
    }
    if fault.reason == Reason::UnitsExhausted {
        *response.status_mut() =
            StatusCode::from_u16(exhausted_status).unwrap_or(StatusCode::PAYMENT_REQUIRED);
    }
    let body = shape.body(&fault, ErrorObject::of(&fault, Some(id)));
    set_headers(response.headers_mut(), &fault);
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    *response.body_mut() = Body::from(body);
    response
}

/// How an error is written: programs that speak a protocol of somebody else's expect its errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorShape {
    /// Our envelope, which is also what OpenAI's clients read.
    Envelope,
    /// `{"error_code", "error_msg"}`
    Dify,
    /// JSON-RPC, for MCP.
    JsonRpc,
    /// `{"error", "error_description"}`
    OAuth,
}

impl ErrorShape {
    /// The shape that a path calls for, whether or not there is anything at it.
    pub fn of(path: &str) -> Self {
        let Some(path) = path.strip_prefix(BASE) else {
            let for_programs = [oauth::TOKEN, oauth::REGISTER, oauth::REVOKE].contains(&path);
            return if for_programs { ErrorShape::OAuth } else { ErrorShape::Envelope };
        };
        let box_of_mcp = path.strip_prefix("/boxes/").and_then(|rest| rest.strip_suffix("/mcp"));
        if path == "/mcp" || box_of_mcp.is_some_and(|id| !id.contains('/')) {
            return ErrorShape::JsonRpc;
        }
        if path.starts_with("/dify/") { ErrorShape::Dify } else { ErrorShape::Envelope }
    }

    fn body(self, fault: &Fault, error: ErrorObject) -> Vec<u8> {
        let written = match self {
            ErrorShape::Envelope => serde_json::to_vec(&ErrorEnvelope { success: false, error }),
            ErrorShape::Dify => {
                let code = match fault.reason {
                    Reason::KeyMissing => 1001,
                    Reason::KeyInvalid | Reason::KeyExpired | Reason::KeyRevoked => 1002,
                    Reason::BoxUnknown | Reason::KeyScope => 2001,
                    other => other.status(),
                };
                serde_json::to_vec(
                    &json!({"error_code": code, "error_msg": error.message, "request_id": error.request_id}),
                )
            }
            ErrorShape::OAuth => {
                let code = match fault.reason.code() {
                    Code::Permissions => "access_denied",
                    Code::Quota => "temporarily_unavailable",
                    Code::Validation => "invalid_request",
                    Code::Server => "server_error",
                };
                let id = error.request_id;
                let object = json!({"error": code, "error_description": error.message, "request_id": id});
                serde_json::to_vec(&object)
            }
            ErrorShape::JsonRpc => {
                // What is wrong with the request itself has a code of its own in JSON-RPC.
                let code = if fault.reason.code() == Code::Validation { -32600 } else { -32000 };
                let error = json!({"code": code, "message": error.message, "data": error});
                serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": null, "error": error}))
            }
        };
        written.expect("an error object is plain JSON")
    }
}

fn set_headers(headers: &mut HeaderMap, fault: &Fault) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(wait) = fault.retry_after {
        let milliseconds = wait.as_millis() as u64;
        headers.insert(header::RETRY_AFTER, HeaderValue::from(milliseconds.div_ceil(1000)));
        headers.insert("retry-after-ms", HeaderValue::from(milliseconds));
        // Clients that retry on their own should not sit through more than a minute.
        if milliseconds > 60_000 {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
    }
    let challenge = match fault.reason {
        Reason::KeyMissing => r#"Bearer realm="quire""#,
        Reason::KeyInvalid | Reason::KeyExpired | Reason::KeyRevoked => {
            r#"Bearer realm="quire", error="invalid_token""#
        }
        _ => return,
    };
    headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_protocols_of_others_have_errors_of_their_own() {
        for (path, shape) in [
            ("/api/public/v1/check", ErrorShape::Envelope),
            ("/api/public/v1/openai/v1/files", ErrorShape::Envelope),
            ("/api/public/v1/dify/retrieval", ErrorShape::Dify),
            ("/api/public/v1/mcp", ErrorShape::JsonRpc),
            ("/api/public/v1/boxes/box_1/mcp", ErrorShape::JsonRpc),
            ("/api/public/v1/boxes/box_1/files/mcp", ErrorShape::Envelope),
            ("/mcp", ErrorShape::Envelope),
            ("/oauth/token", ErrorShape::OAuth),
            ("/oauth/authorize", ErrorShape::Envelope),
        ] {
            assert_eq!(ErrorShape::of(path), shape, "{path}");
        }
    }
}
