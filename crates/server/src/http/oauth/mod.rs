//! Programs that people let in without giving them a key (OAuth 2.1): what they can ask for, and what they are told about it.
//!
//! quire is the authorisation server of its own people. [`asking`] is what a program asks of a person, who decides on a page of
//! the dashboard; [`clients`] is who the program is. `routes/oauth` has what programs call themselves. What was granted is a key
//! whose secret changes, valid at one address only: everything else about it is as with keys.

pub(crate) mod asking;
pub(crate) mod clients;

use engine::{
    ids::BoxId,
    permissions::{Permission, Permissions},
};
use serde_json::{Value, json};

use super::BASE;

/// Where a person is asked.
pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
/// Where codes and refresh tokens are exchanged.
pub(crate) const TOKEN: &str = "/oauth/token";
/// Where programs register.
pub(crate) const REGISTER: &str = "/oauth/register";
/// Where programs give their tokens back.
pub(crate) const REVOKE: &str = "/oauth/revoke";
/// Where it is said who lets programs in to what is behind an address; the address follows.
pub(crate) const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// What programs can be let in to do: what the tools of MCP need.
pub(crate) const SCOPES: [Permission; 2] = [Permission::Search, Permission::Read];

/// An address that programs can be let in to: `/mcp`, or `/mcp` of one box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Audience {
    /// The path of the route, whatever alias was asked for.
    pub(crate) path: String,
    /// The one box that it reaches.
    pub(crate) only: Option<BoxId>,
}

impl Audience {
    /// The one behind a path or an alias of it.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let path = path.strip_prefix(BASE).unwrap_or(path);
        let only = match path {
            "/mcp" => None,
            _ => Some(path.strip_prefix("/boxes/")?.strip_suffix("/mcp")?.parse().ok()?),
        };
        Some(Audience { path: format!("{BASE}{path}"), only })
    }

    /// The one that a whole address names, if it is on this server.
    pub(crate) fn of_address(address: &str, origin: &str) -> Option<Self> {
        let (start, path) = address.split_at_checked(origin.len())?;
        if start.eq_ignore_ascii_case(origin) { Self::of_path(path) } else { None }
    }
}

/// Scopes as they are written.
pub(crate) fn scope(permissions: Permissions) -> String {
    permissions.iter().map(Permission::as_str).collect::<Vec<_>>().join(" ")
}

/// What `WWW-Authenticate` says where a key or a token is needed: where to find out how to get one.
pub(crate) fn challenge(origin: &str, asked: &str, bad_token: bool) -> String {
    let wrong = if bad_token { r#", error="invalid_token""# } else { "" };
    let scopes = SCOPES.map(Permission::as_str).join(" ");
    format!(r#"Bearer realm="quire"{wrong}, resource_metadata="{origin}{RESOURCE}{asked}", scope="{scopes}""#)
}

/// Who lets programs in to an address of ours (RFC 9728).
pub(crate) fn resource_metadata(origin: &str, path: &str) -> Value {
    json!({
        "resource": format!("{origin}{path}"),
        "resource_name": "quire",
        "authorization_servers": [origin],
        "scopes_supported": SCOPES.map(Permission::as_str),
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{origin}/docs/integrations"),
    })
}

/// How programs are let in (RFC 8414).
pub(crate) fn server_metadata(origin: &str, documents: bool) -> Value {
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}{AUTHORIZE}"),
        "token_endpoint": format!("{origin}{TOKEN}"),
        "registration_endpoint": format!("{origin}{REGISTER}"),
        "revocation_endpoint": format!("{origin}{REVOKE}"),
        "scopes_supported": SCOPES.map(Permission::as_str),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": documents,
        "service_documentation": format!("{origin}/docs/integrations"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_mcp_can_be_asked_for() {
        let origin = "https://quire.example.org";
        let path = |address: &str| Audience::of_address(address, origin).map(|audience| audience.path);
        assert_eq!(path("https://quire.example.org/mcp").as_deref(), Some("/api/public/v1/mcp"));
        assert_eq!(
            path("HTTPS://Quire.example.org/api/public/v1/mcp").as_deref(),
            Some("/api/public/v1/mcp")
        );
        let id = BoxId::generate();
        let audience = Audience::of_address(&format!("{origin}/boxes/{id}/mcp"), origin).unwrap();
        assert_eq!((audience.path, audience.only), (format!("/api/public/v1/boxes/{id}/mcp"), Some(id)));
        for other in [
            "",
            "https://quire.example.org",
            "https://quire.example.org/",
            "https://quire.example.org/mcp/",
            "https://quire.example.org/mcp?x",
            "https://quire.example.org/check",
            "https://quire.example.org/boxes/x/mcp",
            "https://quire.example.org.evil.example/mcp",
            "https://evil.example/mcp",
            "/mcp",
            "é",
        ] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
