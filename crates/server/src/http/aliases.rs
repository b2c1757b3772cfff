//! Short addresses of what programs of others are pointed at: `/mcp` is `/api/public/v1/mcp`.

use axum::{
    extract::Request,
    http::{Uri, uri::PathAndQuery},
};

use super::BASE;

/// The path that was asked for, where it was an alias.
#[derive(Clone)]
pub(super) struct Asked(pub(super) String);

/// Puts the base path before an address that is an alias.
pub fn resolve(mut request: Request) -> Request {
    if is_alias(request.uri().path()) {
        let mut parts = request.uri().clone().into_parts();
        let asked = parts.path_and_query.as_ref().map_or("/", PathAndQuery::as_str);
        parts.path_and_query = format!("{BASE}{asked}").parse().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            let asked = Asked(request.uri().path().to_string());
            request.extensions_mut().insert(asked);
            *request.uri_mut() = uri;
        }
    }
    request
}

fn is_alias(path: &str) -> bool {
    let box_of_mcp = path.strip_prefix("/boxes/").and_then(|rest| rest.strip_suffix("/mcp"));
    path == "/mcp" || box_of_mcp.is_some_and(|id| !id.contains('/')) || path.starts_with("/openai/v1/")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_aliases_are_moved() {
        for (asked, found) in [
            ("/mcp", "/api/public/v1/mcp"),
            ("/mcp?x=1", "/api/public/v1/mcp?x=1"),
            ("/boxes/box_1/mcp", "/api/public/v1/boxes/box_1/mcp"),
            ("/openai/v1/files?limit=2", "/api/public/v1/openai/v1/files?limit=2"),
            ("/boxes/box_1", "/boxes/box_1"),
            ("/boxes/a/b/mcp", "/boxes/a/b/mcp"),
            ("/mcpx", "/mcpx"),
            ("/api/public/v1/mcp", "/api/public/v1/mcp"),
        ] {
            let request = Request::builder().uri(asked).body(Body::empty()).unwrap();
            assert_eq!(resolve(request).uri().path_and_query().unwrap().as_str(), found, "{asked}");
        }
    }
}
