//! Who a program is: one that has registered, or one whose id is the address of a document about it.

use std::{net::IpAddr, time::Duration};

use engine::{Fault, Reason, ids::ClientId, seams::catalog::KeyName};
use futures::StreamExt;
use reqwest::{Response, Url, header};
use serde::Deserialize;

use crate::{app::App, outside::Outside};

/// Addresses that one program may have people sent back to.
const MOST_ADDRESSES: usize = 10;
/// Characters of such an address, and of the address of a document.
const LONGEST_ADDRESS: usize = 2_000;
/// Bytes of a document.
const LARGEST_DOCUMENT: usize = 16 * 1024;
/// How long fetching one may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a program is called that does not say.
const UNNAMED: &str = "A program without a name";
/// Schemes that browsers act on themselves, instead of handing them to a program.
const OF_BROWSERS: &[&str] = &[
    "about",
    "blob",
    "chrome",
    "content",
    "data",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "javascript",
    "mailto",
    "resource",
    "tel",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// What it is known by.
    pub(crate) id: String,
    /// What it calls itself: anything.
    pub(crate) name: KeyName,
    redirect_uris: Vec<String>,
}

/// What programs say about themselves, in a registration or in a document.
#[derive(Debug, Deserialize)]
pub(crate) struct Described {
    client_id: Option<String>,
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
}

/// What is wrong with a description: the code and the sentence.
pub(crate) type Wrong = (&'static str, String);

impl Described {
    /// The name and the addresses, if people can be sent to all of them.
    pub(crate) fn checked(self) -> Result<(KeyName, Vec<String>), Wrong> {
        let wrong = |cause: &str| ("invalid_client_metadata", cause.to_string());
        if !(1..=MOST_ADDRESSES).contains(&self.redirect_uris.len()) {
            let cause = format!("`redirect_uris` must contain 1 to {MOST_ADDRESSES} addresses");
            return Err(("invalid_redirect_uri", cause));
        }
        for uri in &self.redirect_uris {
            must_lead_back(uri).map_err(|cause| ("invalid_redirect_uri", cause))?;
        }
        let lacks = |list: &Option<Vec<String>>, needed: &str| {
            list.as_ref().is_some_and(|list| !list.iter().any(|one| one == needed))
        };
        if lacks(&self.grant_types, "authorization_code") {
            return Err(wrong("`grant_types` must name authorization_code"));
        }
        if lacks(&self.response_types, "code") {
            return Err(wrong("`response_types` must name code"));
        }
        Ok((named(self.client_name.as_deref().unwrap_or_default()), self.redirect_uris))
    }
}

/// A name that is shown to people as it is: one short line.
fn named(said: &str) -> KeyName {
    // Marks that turn the direction of what follows would let a name rewrite the sentence around it.
    let plain = |c: &char| {
        !c.is_control()
            && !matches!(*c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    };
    let name: String = said.chars().filter(plain).take(100).collect();
    name.parse().unwrap_or_else(|_| UNNAMED.parse().expect("a name"))
}

/// Whether people may be sent to an address with what they allowed: over TLS, to their own machine, or to an app on it.
fn must_lead_back(uri: &str) -> Result<(), String> {
    let wrong =
        |cause: &str| Err(format!("`{}` {cause}", uri.chars().take(100).collect::<String>().escape_debug()));
    if uri.len() > LONGEST_ADDRESS {
        return wrong("is too long");
    }
    let Ok(url) = Url::parse(uri) else { return wrong("is not an address") };
    let as_written = uri.bytes().all(|byte| byte.is_ascii_graphic());
    if !as_written || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return wrong("must have no blanks, no fragment and no password");
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => wrong("must begin with https://; http:// is for the person's own machine"),
        scheme if OF_BROWSERS.contains(&scheme) => wrong("does not lead to a program"),
        _ => Ok(()),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Program {
    /// Whether the program may have people sent to this address: one of its own, letter by letter. On the person's own machine
    /// the port is whatever was free (RFC 8252).
    pub(crate) fn leads_back_to(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|own| own == uri || same_but_port(own, uri))
    }
}

fn same_but_port(own: &str, uri: &str) -> bool {
    let without_port = |text: &str| {
        let mut url = Url::parse(text).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
        url.set_port(None).ok()?;
        Some(url)
    };
    must_lead_back(uri).is_ok() && without_port(own).is_some_and(|own| without_port(uri) == Some(own))
}

/// The program with an id.
pub(crate) async fn find(app: &App, id: &str) -> Result<Program, Fault> {
    if id.starts_with("https://") {
        return described_at(app, id).await;
    }
    let unknown = || {
        Fault::invalid("client_id", "the program that sent you here is not registered with this server")
            .hint("remove its connection to this server, then connect it again")
    };
    let client: ClientId = id.parse().map_err(|_| unknown())?;
    let client = app.catalog.client(client).await?.ok_or_else(unknown)?;
    Ok(Program { id: id.to_string(), name: client.name, redirect_uris: client.redirect_uris })
}

fn refused(cause: impl Into<String>) -> Fault {
    Fault::new(Reason::Unprocessable, cause).param("client_id")
}

async fn described_at(app: &App, id: &str) -> Result<Program, Fault> {
    let Some(outside) = &app.programs else {
        return Err(Fault::invalid(
            "client_id",
            "this server does not fetch descriptions of programs; the operator can allow it with oauth.client_documents",
        ));
    };
    let url = document_address(outside, id)?;
    let fetched = tokio::time::timeout(PATIENCE, fetch(outside, url)).await;
    let bytes = fetched.map_err(|_| refused("the description of the program took too long to load"))??;
    read_document(id, &bytes)
}

/// The address of a document: a page of a host, which says what it is by its path.
fn document_address(outside: &Outside, id: &str) -> Result<Url, Fault> {
    let url = outside.parse(id)?;
    let plain =
        id.len() <= LONGEST_ADDRESS && url.as_str() == id && url.fragment().is_none() && url.path() != "/";
    if plain { Ok(url) } else { Err(refused("the id of the program is not the address of its description")) }
}

/// Gets the document; a redirect is not followed, since it could lead to what somebody else says.
async fn fetch(outside: &Outside, url: Url) -> Result<Vec<u8>, Fault> {
    let request = outside.client().get(url).header(header::ACCEPT, "application/json");
    let response = request.send().await.map_err(|error| outside.failed(&error))?;
    if response.status() != 200 {
        return Err(refused(format!(
            "the address of the program's description answered with the status {}",
            response.status().as_u16()
        )));
    }
    within(response).await
}

async fn within(response: Response) -> Result<Vec<u8>, Fault> {
    let (mut bytes, mut stream) = (Vec::new(), response.bytes_stream());
    while let Some(more) = stream.next().await {
        bytes.extend_from_slice(&more.map_err(|_| refused("the description of the program is incomplete"))?);
        if bytes.len() > LARGEST_DOCUMENT {
            return Err(refused(format!(
                "the description of the program is larger than {} KB",
                LARGEST_DOCUMENT / 1024
            )));
        }
    }
    Ok(bytes)
}

fn read_document(id: &str, bytes: &[u8]) -> Result<Program, Fault> {
    let described: Described =
        serde_json::from_slice(bytes).map_err(|_| refused("the description of the program is not valid"))?;
    if described.client_id.as_deref() != Some(id) {
        return Err(refused("the description at this address is of another program"));
    }
    let (name, redirect_uris) = described.checked().map_err(|(_, cause)| refused(cause))?;
    Ok(Program { id: id.to_string(), name, redirect_uris })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn program(uris: &[&str]) -> Program {
        let redirect_uris = uris.iter().map(ToString::to_string).collect();
        Program { id: "x".into(), name: named("x"), redirect_uris }
    }

    #[test]
    fn people_are_sent_to_programs_only() {
        for uri in [
            "https://claude.ai/api/mcp/auth_callback",
            "http://localhost:3000/callback",
            "http://127.0.0.1/",
            "http://[::1]:5/x?a=b",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "com.example.app:/back",
        ] {
            assert_eq!(must_lead_back(uri), Ok(()), "{uri}");
        }
        let long = format!("https://example.org/{}", "x".repeat(LONGEST_ADDRESS));
        for uri in [
            "",
            "/back",
            "http://example.org/back",
            "http://localhost.evil.example/",
            "https://me:secret@example.org/",
            "https://example.org/#here",
            "https://example.org/a b",
            "https://example.org/é",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://example.org/x",
            &long,
        ] {
            assert!(must_lead_back(uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn an_address_fits_letter_by_letter_but_for_the_port_of_ones_own_machine() {
        let program = program(&[
            "https://example.org/back?x=1",
            "http://127.0.0.1/cb",
            "http://localhost:9/cb",
            "app:/b",
        ]);
        for uri in [
            "https://example.org/back?x=1",
            "http://127.0.0.1/cb",
            "http://127.0.0.1:61234/cb",
            "http://localhost:5/cb",
            "app:/b",
        ] {
            assert!(program.leads_back_to(uri), "{uri}");
        }
        for uri in [
            "https://example.org/back",
            "https://example.org/back?x=1&y=2",
            "https://example.org:8443/back?x=1",
            "https://example.org/back/?x=1",
            "https://EXAMPLE.org/back?x=1",
            "http://127.0.0.1:5/cb/",
            "http://127.0.0.1:5/cb?x",
            "http://127.0.0.2:5/cb",
            "http://[::1]:5/cb",
            "http://user@127.0.0.1:5/cb",
            "http://127.0.0.1:5/cb#x",
            "app:/b/c",
            "",
        ] {
            assert!(!program.leads_back_to(uri), "{uri}");
        }
    }

    #[test]
    fn names_are_one_short_line() {
        assert_eq!(named(" Claude\n\u{202e} ").as_str(), "Claude");
        assert_eq!(named("").as_str(), UNNAMED);
        assert_eq!(named(&"x".repeat(500)).as_str().len(), 100);
    }

    #[test]
    fn a_document_is_about_the_address_that_it_is_at() {
        let id = "https://example.org/client.json";
        let document = |id: &str, uri: &str| {
            serde_json::to_vec(&json!({"client_id": id, "client_name": "A", "redirect_uris": [uri], "x": 1}))
                .unwrap()
        };
        let read = read_document(id, &document(id, "http://localhost/cb")).unwrap();
        assert_eq!((read.id.as_str(), read.name.as_str()), (id, "A"));
        assert!(
            read_document(id, &document("https://example.org/other.json", "http://localhost/cb")).is_err()
        );
        assert!(read_document(id, &document(id, "http://example.org/cb")).is_err());
        for wrong in [&b"{}"[..], b"[]", b"", br#"{"client_id": "https://example.org/client.json"}"#] {
            assert!(read_document(id, wrong).is_err());
        }
    }

    #[test]
    fn only_the_address_of_a_page_is_an_id() {
        let outside = Outside::new(false, "oauth.private_addresses").unwrap();
        assert!(document_address(&outside, "https://example.org/client.json").is_ok());
        for id in [
            "https://example.org",
            "https://example.org/",
            "https://example.org/a/../b",
            "https://example.org/a#b",
            "https://Example.org/a",
            "https://127.0.0.1/client.json",
            "https://me@example.org/client.json",
        ] {
            assert!(document_address(&outside, id).is_err(), "{id}");
        }
    }
}
