//! Settings of what reaches addresses that users name: nothing, unless the operator says so.

use std::time::Duration;

use serde::Deserialize;

/// `[fetch]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchSettings {
    /// Whether a file may be given by its address.
    pub urls: bool,
    /// Whether such an address may be in a private network.
    pub private_addresses: bool,
    /// How long fetching one may take.
    pub timeout_s: u64,
}

impl FetchSettings {
    /// How long fetching one may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s)
    }
}

/// `[sources]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSettings {
    /// Whether boxes may follow places elsewhere.
    pub enabled: bool,
    /// Whether such a place may be in a private network, and without TLS.
    pub private_addresses: bool,
    /// How long reading one may take.
    pub timeout_s: u64,
    /// The least pause between two pages of a web site.
    pub pause_ms: u64,
    /// The program that fetches repositories.
    pub git: String,
}

impl SourceSettings {
    /// How long reading one may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s)
    }

    /// The least pause between two pages of a web site.
    pub fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }
}

/// `[webhooks]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Whether events are sent to addresses that users name.
    pub enabled: bool,
    /// Whether such an address may be in a private network, and without TLS.
    pub private_addresses: bool,
    /// How long one attempt may take.
    pub timeout_s: u64,
}

impl WebhookSettings {
    /// How long one attempt may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s)
    }
}

/// `[oauth]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthSettings {
    /// Whether the id of a program may be the address of a document about it, which is then fetched.
    pub client_documents: bool,
    /// Whether such an address may be in a private network.
    pub private_addresses: bool,
}
