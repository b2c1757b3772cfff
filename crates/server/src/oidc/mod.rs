//! Signing in with an account elsewhere: `OpenID` Connect, authorization code with PKCE, state and nonce.
//!
//! The browser is sent to the provider and comes back with a code (`dashboard/oidc`); we exchange it for an ID token and check
//! that ([`token`]). The catalog decides which account that opens: the one that is tied to the identity, and never one that
//! somebody else may hold under the same address.

mod token;

use std::time::Duration;

use engine::{
    Fault, Reason,
    seams::catalog::{Guest, Identity},
};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::sync::RwLock;

use self::token::{Claims, KeySet};
use crate::config::Oidc;

/// How long the provider may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer of the provider.
const LARGEST: usize = 1024 * 1024;

/// Where we send people, and whom we believe.
pub struct Provider {
    pub(crate) settings: Oidc,
    pub(crate) issuer: String,
    http: reqwest::Client,
    /// What the provider says about itself; asked for when first needed.
    known: RwLock<Option<Discovered>>,
}

/// What a provider says about itself.
#[derive(Clone, Deserialize)]
pub(crate) struct Metadata {
    issuer: String,
    pub(crate) authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

/// What is known of a provider.
#[derive(Clone)]
pub(crate) struct Discovered {
    pub(crate) metadata: Metadata,
    keys: KeySet,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    #[serde(default)]
    access_token: Option<String>,
}

/// What a provider says of somebody where it leaves that out of the ID token.
#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: bool,
    #[serde(default)]
    name: Option<String>,
}

impl Provider {
    /// The provider that the settings name.
    pub(crate) fn of(settings: &Oidc) -> Option<Self> {
        let issuer = settings.issuer.clone()?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .inspect_err(|error| tracing::error!(%error, "OpenID Connect sign-in is not available"))
            .ok()?;
        Some(Provider { settings: settings.clone(), issuer, http, known: RwLock::new(None) })
    }

    /// What the button says.
    pub(crate) fn label(&self) -> &str {
        &self.settings.label
    }

    /// What is known of the provider, asked again if nothing is known or `again` says so.
    pub(crate) async fn discovered(&self, again: bool) -> Result<Discovered, Fault> {
        if let Some(known) = self.known.read().await.clone().filter(|_| !again) {
            return Ok(known);
        }
        let base = self.issuer.trim_end_matches('/');
        let metadata: Metadata = self.get(&format!("{base}/.well-known/openid-configuration")).await?;
        if metadata.issuer != self.issuer {
            return Err(trouble(format!("the provider calls itself {}", metadata.issuer)));
        }
        let keys = self.get(&metadata.jwks_uri).await?;
        let discovered = Discovered { metadata, keys };
        *self.known.write().await = Some(discovered.clone());
        Ok(discovered)
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, Fault> {
        read(self.http.get(url).send().await).await
    }

    /// A code for what it stands for.
    async fn exchange(&self, code: &str, verifier: &str, redirect: &str) -> Result<Tokens, Fault> {
        let metadata = self.discovered(false).await?.metadata;
        let methods = &metadata.token_endpoint_auth_methods_supported;
        // Where nothing is said, the standard says basic.
        let basic = methods.is_empty() || methods.iter().any(|method| method == "client_secret_basic");
        let Oidc { client_id, client_secret, .. } = &self.settings;
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ];
        let mut request = self.http.post(&metadata.token_endpoint);
        match client_secret {
            Some(secret) if basic => {
                let encoded =
                    |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                request = request.basic_auth(encoded(client_id), Some(encoded(secret)));
            }
            Some(secret) => fields.extend([("client_id", &client_id[..]), ("client_secret", secret)]),
            None => fields.push(("client_id", client_id)),
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        read(request.send().await).await
    }

    /// Who comes back with a code. An address counts only where the provider has seen them prove it.
    pub(crate) async fn guest(
        &self,
        code: &str,
        verifier: &str,
        nonce: &str,
        redirect: &str,
    ) -> Result<Guest, Fault> {
        let tokens = self.exchange(code, verifier, redirect).await?;
        let claims = self.claims(&tokens.id_token, nonce).await?;
        let claims = self.completed(claims, tokens.access_token).await?;
        let email = claims.email.filter(|_| claims.email_verified);
        Ok(Guest {
            identity: Identity { issuer: self.issuer.clone(), subject: claims.sub },
            email: email.and_then(|email| email.parse().ok()),
            name: claims.name.and_then(|name| name.parse().ok()),
        })
    }

    /// What an ID token says, once it is checked. Keys change: an unknown one is looked for once more.
    async fn claims(&self, id_token: &str, nonce: &str) -> Result<Claims, Fault> {
        let mut keys = self.discovered(false).await?.keys;
        if !keys.knows(id_token) {
            keys = self.discovered(true).await?.keys;
        }
        let now = jiff::Timestamp::now().as_second();
        let claims = keys.verify(id_token).and_then(|claims| {
            claims.check(&self.issuer, &self.settings.client_id, nonce, now)?;
            Ok(claims)
        });
        claims.map_err(|wrong| trouble(format!("the ID token is not valid: {wrong}")))
    }

    /// The claims with an address and a name in them, asked for where the ID token has none.
    async fn completed(&self, mut claims: Claims, access_token: Option<String>) -> Result<Claims, Fault> {
        let endpoint = self.discovered(false).await?.metadata.userinfo_endpoint;
        let (Some(endpoint), Some(access), None) = (endpoint, access_token, &claims.email) else {
            return Ok(claims);
        };
        let info: UserInfo = read(self.http.get(endpoint).bearer_auth(access).send().await).await?;
        // Only the ID token is signed: what is said of anybody else is of no use.
        if info.sub == claims.sub {
            (claims.email, claims.email_verified) = (info.email, info.email_verified);
            claims.name = info.name.or(claims.name);
        }
        Ok(claims)
    }
}

async fn read<T: DeserializeOwned>(response: reqwest::Result<reqwest::Response>) -> Result<T, Fault> {
    let mut response = response.map_err(|error| trouble(error.without_url().to_string()))?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(more) = response.chunk().await.map_err(|error| trouble(error.without_url().to_string()))? {
        if bytes.len() + more.len() > LARGEST {
            return Err(trouble("the answer is too large".into()));
        }
        bytes.extend_from_slice(&more);
    }
    if !status.is_success() {
        return Err(trouble(format!("HTTP {status}")));
    }
    serde_json::from_slice(&bytes).map_err(|error| trouble(format!("the answer is malformed: {error}")))
}

/// The caller hears that it did not work, the log hears why.
fn trouble(source: String) -> Fault {
    let mut fault = Fault::new(Reason::UpstreamUnavailable, "signing in with the provider failed; try again");
    fault.source = Some(source.into());
    fault
}
