//! What a program asks of a person: read from the address that it sends their browser to.

use engine::Fault;
use engine::permissions::{Permission, Permissions};

use super::{
    Audience, SCOPES,
    clients::{self, Program},
};
use crate::app::App;

/// Characters of what a program wants back as it is.
const LONGEST_STATE: usize = 2_000;
/// What a request may say; each at most once.
pub(crate) const FIELDS: [&str; 8] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "resource",
    "code_challenge",
    "code_challenge_method",
];

/// A request that can be put to a person.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Who asks.
    pub(crate) program: Program,
    /// Where the person goes afterwards.
    pub(crate) redirect_uri: String,
    /// What for.
    pub(crate) audience: Audience,
    /// What to do there.
    pub(crate) permissions: Permissions,
    /// What the program will have to prove.
    pub(crate) challenge: String,
    state: Option<String>,
    issuer: String,
}

/// A request that is not put to anybody.
pub(crate) enum Unasked {
    /// It is not known where the person could be sent back to; so they are told.
    Told(Fault),
    /// The program is told, at this address.
    Sent(String),
}

impl From<Fault> for Unasked {
    fn from(fault: Fault) -> Self {
        Unasked::Told(fault)
    }
}

/// Reads a request.
pub(crate) async fn read(app: &App, sent: &[(String, String)], origin: &str) -> Result<Asked, Unasked> {
    for name in FIELDS {
        if sent.iter().filter(|(found, _)| found == name).count() > 1 {
            return Err(
                Fault::invalid(name, format!("`{name}` is in the URL more than once; send it once")).into()
            );
        }
    }
    let get = |name: &str| sent.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
    let needed = |name: &str| {
        get(name).ok_or_else(|| Fault::missing(name, "the program that sent you here must send it"))
    };
    let program = clients::find(app, needed("client_id")?).await?;
    let redirect_uri = needed("redirect_uri")?.to_string();
    if !program.leads_back_to(&redirect_uri) {
        let cause = "the program that sent you here asks to send you on to an address that it has not registered; tell the people who run it";
        return Err(Fault::invalid("redirect_uri", cause).into());
    }
    let state = get("state").map(str::to_string);
    if state.as_ref().is_some_and(|state| state.len() > LONGEST_STATE) {
        return Err(Fault::invalid(
            "state",
            "`state` is too long; the program that sent you here must send less",
        )
        .into());
    }
    let sorry = |error: &str, why: &str| {
        let fields = [("error", error), ("error_description", why)];
        Unasked::Sent(back(&redirect_uri, &fields, state.as_deref(), origin))
    };
    if get("response_type") != Some("code") {
        return Err(sorry("unsupported_response_type", "response_type must be code"));
    }
    // A proof that the person's browser carries in the clear proves nothing.
    let challenge = get("code_challenge").filter(|_| get("code_challenge_method") == Some("S256"));
    let Some(challenge) = challenge.filter(|challenge| is_challenge(challenge)) else {
        return Err(sorry("invalid_request", "code_challenge is required, with code_challenge_method=S256"));
    };
    let Some(permissions) = permissions(get("scope").unwrap_or_default()) else {
        return Err(sorry("invalid_scope", "scope must name search, read or both"));
    };
    let audience = match get("resource") {
        Some(resource) => Audience::of_address(resource, origin),
        None => Audience::of_path("/mcp"),
    };
    let Some(audience) = audience else {
        return Err(sorry(
            "invalid_target",
            "resource must be the address of /mcp or /boxes/{box_id}/mcp on this server",
        ));
    };
    let challenge = challenge.to_string();
    let issuer = origin.to_string();
    Ok(Asked { program, redirect_uri, audience, permissions, challenge, state, issuer })
}

impl Asked {
    /// Where the person goes who has allowed it.
    pub(crate) fn allowed(&self, code: &str) -> String {
        back(&self.redirect_uri, &[("code", code)], self.state.as_deref(), &self.issuer)
    }

    /// Where the person goes who has not.
    pub(crate) fn denied(&self) -> String {
        let fields = [("error", "access_denied"), ("error_description", "the person has declined")];
        back(&self.redirect_uri, &fields, self.state.as_deref(), &self.issuer)
    }
}

/// What is wanted of what can be granted; all of it where nothing is named. Other words are for other servers.
fn permissions(scope: &str) -> Option<Permissions> {
    let words: Vec<&str> = scope.split_ascii_whitespace().collect();
    let wanted = |permission: &Permission| words.is_empty() || words.contains(&permission.as_str());
    Permissions::of(SCOPES.into_iter().filter(wanted)).ok()
}

/// A SHA-256 in URL-safe base64.
fn is_challenge(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn back(redirect_uri: &str, fields: &[(&str, &str)], state: Option<&str>, issuer: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(
        fields.iter().copied().chain(state.map(|state| ("state", state))).chain([("iss", issuer)]),
    );
    let separator = if redirect_uri.contains('?') { '&' } else { '?' };
    format!("{redirect_uri}{separator}{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_other_servers_are_not_granted() {
        let granted = |scope: &str| permissions(scope).map(|permissions| permissions.to_string());
        assert_eq!(granted("").as_deref(), Some("search,read"));
        assert_eq!(granted("read search").as_deref(), Some("search,read"));
        assert_eq!(granted("search offline_access").as_deref(), Some("search"));
        assert_eq!(granted("write manage"), None);
    }

    #[test]
    fn an_answer_is_added_to_the_address() {
        assert_eq!(
            back("app:/b?x=1", &[("code", "a b")], Some("s&t"), "https://q"),
            "app:/b?x=1&code=a+b&state=s%26t&iss=https%3A%2F%2Fq"
        );
        assert_eq!(back("https://a/", &[], None, "i"), "https://a/?iss=i");
    }
}
