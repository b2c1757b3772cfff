//! The two ways of the protocol: since 2026 each request says which version it is of, in its body and its headers; before that
//! a connection began with `initialize`.

use axum::http::{HeaderMap, StatusCode};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{INVALID_PARAMS, Message, Refusal, server_info};

/// The version whose requests stand for themselves.
const MODERN: &str = "2026-07-28";
/// The versions that begin with `initialize`, newest first.
pub(super) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// All versions, newest first.
pub(super) const SUPPORTED: [&str; 4] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2]];

const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Where a request of this era says which version it is of.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// How long lists may be kept: they change with the program only.
const KEPT_MS: u64 = 300_000;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Modern,
    Legacy,
}

impl Era {
    /// The version that the era is known by: its newest.
    pub(super) fn version(self) -> &'static str {
        match self {
            Era::Modern => MODERN,
            Era::Legacy => LEGACY[0],
        }
    }

    /// The era of a message, once its headers say the same as its body.
    pub(super) fn of(headers: &HeaderMap, message: &Message) -> Result<Self, Refusal> {
        let header = text(headers, "mcp-protocol-version");
        let meta = message.params.get("_meta").and_then(|meta| meta.get(VERSION));
        let Some(meta) = meta else {
            return match header {
                // One that speaks of this era in its header has left out what the era is about.
                Some(MODERN) => Err(Refusal::new(
                    StatusCode::BAD_REQUEST,
                    INVALID_PARAMS,
                    format!("`params._meta` must have `{VERSION}`"),
                )),
                Some(version) if !LEGACY.contains(&version) => Err(unsupported(version)),
                _ => Ok(Era::Legacy),
            };
        };
        let version = meta.as_str().unwrap_or_default();
        must_match("MCP-Protocol-Version", header, version)?;
        if version != MODERN {
            return Err(unsupported(version));
        }
        must_have_meta(message)?;
        must_match("Mcp-Method", text(headers, "mcp-method"), &message.method)?;
        if let "tools/call" | "prompts/get" | "resources/read" = message.method.as_str() {
            let source = if message.method == "resources/read" { "uri" } else { "name" };
            let name = message.params.get(source).and_then(Value::as_str).unwrap_or_default();
            let header = text(headers, "mcp-name").map(decoded);
            must_match("Mcp-Name", header.as_deref(), name)?;
        }
        Ok(Era::Modern)
    }

    /// A result, with what every one of its era has.
    pub(super) fn complete(self, mut result: Value) -> Value {
        if self == Era::Modern {
            result["resultType"] = json!("complete");
            result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
        }
        result
    }

    /// A result that clients may keep.
    pub(super) fn cached(self, mut result: Value) -> Value {
        if self == Era::Modern {
            result["ttlMs"] = json!(KEPT_MS);
            result["cacheScope"] = json!("private");
        }
        self.complete(result)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default().trim())
}

fn must_have_meta(message: &Message) -> Result<(), Refusal> {
    let meta = &message.params["_meta"];
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    if meta.get(capabilities).is_some_and(Value::is_object) {
        return Ok(());
    }
    let cause = format!("`params._meta` must have `{capabilities}`, an object");
    Err(Refusal::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, cause))
}

/// A header that says the same as the body, so that whoever routes by one and whoever works by the other agree.
fn must_match(name: &str, header: Option<&str>, body: &str) -> Result<(), Refusal> {
    let shown = |text: &str| text.chars().take(100).collect::<String>();
    let message = match header {
        Some(header) if header == body => return Ok(()),
        Some(header) => {
            format!("Header mismatch: {name} is '{}', the body says '{}'", shown(header), shown(body))
        }
        None => format!("Header mismatch: the header {name} is missing; the body says '{}'", shown(body)),
    };
    Err(Refusal::new(StatusCode::BAD_REQUEST, HEADER_MISMATCH, message))
}

fn unsupported(version: &str) -> Refusal {
    let requested: String = version.chars().take(100).collect();
    let data = json!({"supported": SUPPORTED, "requested": requested});
    Refusal {
        data: Some(data),
        ..Refusal::new(StatusCode::BAD_REQUEST, UNSUPPORTED_VERSION, "Unsupported protocol version")
    }
}

/// A header value, which is `=?base64?…?=` where it could not be written plainly.
fn decoded(value: &str) -> String {
    let inside = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = inside.and_then(|inside| STANDARD.decode(inside).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn era(headers: &[(&str, &str)], body: Value) -> Result<Era, i64> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let message = Message::parse(body.to_string().as_bytes()).unwrap_or_else(|_| panic!("{body}"));
        Era::of(&headers, &message).map_err(|refusal| refusal.code)
    }

    fn modern(version: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sürch",
            "_meta": {VERSION: version, "io.modelcontextprotocol/clientCapabilities": {}}}})
    }

    #[test]
    fn headers_and_body_must_agree() {
        let version = ("mcp-protocol-version", MODERN);
        let method = ("mcp-method", "tools/call");
        let name = ("mcp-name", "=?base64?c8O8cmNo?=");
        assert_eq!(era(&[version, method, name], modern(MODERN)), Ok(Era::Modern));
        assert_eq!(era(&[method, name], modern(MODERN)), Err(HEADER_MISMATCH));
        assert_eq!(era(&[version, name], modern(MODERN)), Err(HEADER_MISMATCH));
        assert_eq!(era(&[version, method], modern(MODERN)), Err(HEADER_MISMATCH));
        assert_eq!(era(&[version, method, ("mcp-name", "other")], modern(MODERN)), Err(HEADER_MISMATCH));
        let old = ("mcp-protocol-version", "1900-01-01");
        assert_eq!(era(&[old, method, name], modern(MODERN)), Err(HEADER_MISMATCH));
        assert_eq!(era(&[old, method, name], modern("1900-01-01")), Err(UNSUPPORTED_VERSION));
    }

    #[test]
    fn who_says_nothing_of_2026_is_of_2025() {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        assert_eq!(era(&[], ping.clone()), Ok(Era::Legacy));
        assert_eq!(era(&[("mcp-protocol-version", "2025-06-18")], ping.clone()), Ok(Era::Legacy));
        assert_eq!(era(&[("mcp-protocol-version", "1999-01-01")], ping.clone()), Err(UNSUPPORTED_VERSION));
        assert_eq!(era(&[("mcp-protocol-version", MODERN)], ping), Err(INVALID_PARAMS));
    }
}
