//! Settings: read once, in one place, into types. `defaults.toml` documents and supplies every key.

mod bounds;
mod load;
mod outside;
mod questions;
mod telemetry;
mod transport;

pub use bounds::{BoundSettings, LoadSettings};
pub(crate) use load::{DEFAULTS, nearest};
pub use outside::{FetchSettings, OAuthSettings, SourceSettings, WebhookSettings};
pub use questions::{Keep, QuestionSettings};
pub use telemetry::TelemetrySettings;
pub use transport::{Connections, Deadlines};

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use engine::seams::{
    catalog::{Inviters, MostInvitations},
    limiter::{Limit, Limits},
};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

/// Everything that can be set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Listening and TLS.
    pub http: Http,
    /// How many may be connected.
    pub connections: Connections,
    /// How long each wait lasts at most.
    pub deadlines: Deadlines,
    /// Limits on requests.
    pub limits: LimitSettings,
    /// How much one account, box or file may hold.
    pub bounds: BoundSettings,
    /// How much is worked on at once.
    pub load: LoadSettings,
    /// Reading files.
    pub ingest: IngestSettings,
    /// Fetching files from addresses that users name.
    pub fetch: FetchSettings,
    /// Following places elsewhere that users name.
    pub sources: SourceSettings,
    /// Sending events to addresses that users name.
    pub webhooks: WebhookSettings,
    /// Which models are run.
    pub models: ModelSettings,
    /// Who answers questions.
    pub answerer: AnswererSettings,
    /// Where everything is on this machine.
    pub storage: StorageSettings,
    /// Where accounts, boxes and files are recorded.
    pub catalog: CatalogSettings,
    /// Where pages and chunks are.
    pub index: IndexSettings,
    /// Where originals are.
    pub blobs: BlobSettings,
    /// Where requests are counted.
    pub limiter: LimiterSettings,
    /// The monthly quota.
    pub units: Units,
    /// What is remembered of questions.
    pub questions: QuestionSettings,
    /// API keys.
    pub keys: Keys,
    /// Programs that people let in.
    pub oauth: OAuthSettings,
    /// Traces and metrics for a collector.
    pub telemetry: TelemetrySettings,
    /// Who can create accounts.
    pub accounts: Accounts,
    /// Signing in to the dashboard with an account at a provider.
    pub oidc: Oidc,
    /// What is kept for a time only.
    pub retention: RetentionSettings,
    /// What is logged, and how.
    pub log: Log,
}

/// `[http]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Address of the HTTPS listener.
    pub listen: SocketAddr,
    /// Who speaks TLS.
    pub tls: Tls,
    /// PEM file of the certificate chain.
    #[serde(deserialize_with = "empty_is_none")]
    pub certificate: Option<PathBuf>,
    /// PEM file of its key.
    #[serde(deserialize_with = "empty_is_none")]
    pub private_key: Option<PathBuf>,
    /// Further names and addresses in a self-signed certificate.
    pub certificate_names: Vec<String>,
    /// Proxies that are trusted.
    pub trusted_proxies: Vec<IpAddr>,
    /// What links start with.
    #[serde(deserialize_with = "empty_is_none")]
    pub public_url: Option<String>,
    /// Address of the metrics.
    #[serde(deserialize_with = "empty_is_none")]
    pub metrics_listen: Option<SocketAddr>,
    /// How long a shutdown may take.
    pub shutdown_grace_s: u64,
}

/// Who speaks TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tls {
    /// This server.
    Auto,
    /// A proxy before it.
    Proxy,
}

/// `[limits]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// Requests per key.
    pub key_requests: u32,
    /// Length of the window in seconds.
    pub key_window_s: u32,
    /// Requests per user.
    pub user_requests: u32,
    /// Length of the window in seconds.
    pub user_window_s: u32,
    /// Largest JSON body.
    pub body_kb: usize,
    /// Largest upload.
    pub file_mb: u64,
}

impl LimitSettings {
    /// The request limits, for the limiter.
    pub fn requests(&self) -> Limits {
        Limits {
            key: Limit { requests: self.key_requests, window_s: self.key_window_s },
            user: Limit { requests: self.user_requests, window_s: self.user_window_s },
        }
    }
}

/// `[ingest]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestSettings {
    /// Files read at the same time; 0: one per core.
    pub workers: usize,
    /// What reads pictures and scanned pages.
    pub ocr: parsers::Ocr,
    /// Languages for text recognition by tesseract.
    pub ocr_languages: String,
    /// What to do where the kernel cannot confine the parser.
    pub sandbox: parsers::Sandbox,
}

/// `[models]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Where models are kept.
    #[serde(deserialize_with = "empty_is_none")]
    pub dir: Option<PathBuf>,
    /// Name, folder or address of the embedder.
    pub embedder: String,
    /// Name or folder of the embedder for languages other than English; empty: none.
    pub multilingual: String,
    /// Name, folder or address of the reranker; empty: none.
    pub reranker: String,
    /// Name or folder of the reranker for boxes in many languages; empty: none.
    pub multilingual_reranker: String,
    /// Name or folder of the answer picker; empty: none.
    pub picker: String,
    /// Name or folder of the answer picker for languages other than English; empty: none.
    pub multilingual_picker: String,
    /// Threads for one batch; 0: one per core.
    pub threads: usize,
    /// A remote embedder's name there.
    pub embedder_model: String,
    /// Its key.
    #[serde(deserialize_with = "empty_is_none")]
    pub embedder_key: Option<String>,
    /// The length of its vectors.
    pub embedder_dimensions: usize,
    /// The most tokens it reads at once.
    pub embedder_max_tokens: usize,
    /// A remote reranker's name there.
    pub reranker_model: String,
    /// Its key.
    #[serde(deserialize_with = "empty_is_none")]
    pub reranker_key: Option<String>,
}

impl fmt::Debug for ModelSettings {
    /// Without the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("dir", &self.dir)
            .field("embedder", &self.embedder)
            .field("reranker", &self.reranker)
            .field("multilingual_reranker", &self.multilingual_reranker)
            .field("picker", &self.picker)
            .field("multilingual_picker", &self.multilingual_picker)
            .finish_non_exhaustive()
    }
}

/// `[answerer]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswererSettings {
    /// How answers are made.
    pub kind: AnswererKind,
    /// Address of the language model.
    pub url: String,
    /// Its name there.
    pub model: String,
    /// The key for it.
    #[serde(deserialize_with = "empty_is_none")]
    pub api_key: Option<String>,
    /// How long one answer may take.
    pub timeout_s: u64,
    /// What runs a model from a file.
    pub program: String,
    /// How much such a model reads and writes.
    pub context_tokens: u32,
}

/// How answers are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswererKind {
    /// As an operator chose in the dashboard, and by quoting until then.
    Dashboard,
    /// By quoting, in process.
    Extractive,
    /// By a language model behind an OpenAI-compatible server.
    Upstream,
    /// By a language model in a file, run by a child process.
    Gguf,
}

impl fmt::Debug for AnswererSettings {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswererSettings")
            .field("kind", &self.kind)
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// The address of a server, which may hold a password: it is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// The address itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<String> for ServerUrl {
    fn from(url: String) -> Self {
        ServerUrl(url)
    }
}

impl FromStr for ServerUrl {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(ServerUrl(text.to_string()))
    }
}

impl<'de> Deserialize<'de> for ServerUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(ServerUrl)
    }
}

/// `[storage]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageSettings {
    /// The data folder, where neither `--data` nor `QUIRE_DATA` names one.
    #[serde(deserialize_with = "empty_is_none")]
    pub folder: Option<PathBuf>,
}

/// `[catalog]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogSettings {
    /// A `PostgreSQL` database; `None`: a file in the data folder.
    #[serde(deserialize_with = "empty_is_none")]
    pub url: Option<ServerUrl>,
}

/// `[index]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// A `PostgreSQL` database with pgvector; `None`: files in the data folder.
    #[serde(deserialize_with = "empty_is_none")]
    pub url: Option<ServerUrl>,
    /// Read replicas of it.
    pub read_urls: Vec<ServerUrl>,
    /// More clusters, which share the boxes with the first.
    pub shards: Vec<ServerUrl>,
    /// Passages up to which all of a box are compared with a query.
    pub exact_to: usize,
}

/// `[blobs]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobSettings {
    /// A bucket; `None`: files in the data folder.
    #[serde(deserialize_with = "empty_is_none")]
    pub url: Option<ServerUrl>,
}

/// `[limiter]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimiterSettings {
    /// A Valkey or Redis server; `None`: in memory.
    #[serde(deserialize_with = "empty_is_none")]
    pub url: Option<ServerUrl>,
    /// What to do while it is away.
    pub when_away: WhenAway,
    /// Nodes that share the limits then.
    pub nodes: u32,
}

/// What a limiter does whose server is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenAway {
    /// Counts by itself, up to the node's share.
    Share,
    /// Refuses all requests.
    Refuse,
}

/// `[units]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// Units per month.
    pub monthly: u64,
    /// Status when they are used up.
    pub exhausted_status: u16,
}

/// `[keys]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// Revoke what was exposed.
    pub revoke_exposed: bool,
}

/// `[accounts]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounts {
    /// Whose invitations make accounts.
    pub invitations: Inviters,
    /// Open invitations of one box.
    pub open_invitations: u64,
    /// Invitations of one person.
    pub invitations_each: u64,
    /// Days that conversations are kept.
    pub conversation_days: u32,
}

impl Accounts {
    /// Conversations in which nothing was said since then are forgotten.
    pub fn oldest_conversation(&self, now: Timestamp) -> Timestamp {
        let days = Duration::from_secs(u64::from(self.conversation_days) * 24 * 60 * 60);
        now.saturating_sub(days).unwrap_or(Timestamp::MIN)
    }

    /// How many invitations there may be.
    pub fn most(&self) -> MostInvitations {
        MostInvitations { of_box: self.open_invitations, of_person: self.invitations_each }
    }
}

/// `[oidc]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    /// Address of the provider; `None`: no such sign-in.
    #[serde(deserialize_with = "empty_is_none")]
    pub issuer: Option<String>,
    /// Our client id there.
    pub client_id: String,
    /// Our client secret there.
    #[serde(deserialize_with = "empty_is_none")]
    pub client_secret: Option<String>,
    /// What the button says.
    pub label: String,
    /// Whether everybody whom the provider knows gets an account.
    pub create_accounts: bool,
}

impl Oidc {
    /// A provider is reached over HTTPS; only one on this machine may use plain HTTP.
    fn issuer_is_safe(&self) -> bool {
        let Some(issuer) = &self.issuer else { return true };
        let Some(rest) = issuer.strip_prefix("http://") else { return issuer.starts_with("https://") };
        let host = rest.split('/').next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
    }
}

impl fmt::Debug for Oidc {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oidc")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// `[retention]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionSettings {
    /// Days that lines of the audit log are kept; 0: for ever.
    pub audit_days: u32,
}

impl RetentionSettings {
    /// Lines of the audit log that are older than this go; `None`: none does.
    pub fn audit_since(&self, now: Timestamp) -> Option<Timestamp> {
        let days = i64::from(self.audit_days);
        (days > 0).then(|| now.checked_sub(SignedDuration::from_hours(24 * days)).unwrap_or(Timestamp::MIN))
    }
}

/// `[log]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Level or filter.
    pub level: String,
    /// Text or JSON lines.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// A wrong setting, described so that it can be fixed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    fn new(text: impl fmt::Display) -> Self {
        ConfigError(text.to_string())
    }
}

impl Config {
    /// Defaults, then the file, then the environment.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        let file = file.map(load::read_file).transpose()?;
        load::layered(file, std::env::vars())?.checked()
    }

    /// The defaults alone.
    pub fn defaults() -> Self {
        load::layered(None, std::iter::empty()).expect("the built-in defaults are valid")
    }

    /// Whether the stores are on servers, which other nodes share.
    pub fn is_shared(&self) -> bool {
        self.catalog.url.is_some()
    }

    /// What types cannot say.
    fn checked(self) -> Result<Self, ConfigError> {
        if !matches!(self.units.exhausted_status, 402 | 429) {
            return Err(ConfigError::new("units.exhausted_status must be 402 or 429"));
        }
        if self.http.certificate.is_some() != self.http.private_key.is_some() {
            return Err(ConfigError::new(
                "http.certificate and http.private_key go together: set both or neither",
            ));
        }
        if self.http.metrics_listen.is_some_and(|address| !address.ip().is_loopback()) {
            return Err(ConfigError::new(
                "http.metrics_listen must be a loopback address: metrics carry no key",
            ));
        }
        if let Some(wrong) = self.telemetry.wrong() {
            return Err(ConfigError::new(wrong));
        }
        if !self.oidc.issuer_is_safe() {
            return Err(ConfigError::new(
                "oidc.issuer must be an https:// address; http:// is for providers on this machine only",
            ));
        }
        if self.oidc.issuer.is_some() && self.oidc.client_id.is_empty() {
            return Err(ConfigError::new(
                "oidc.client_id must say what this server is called at oidc.issuer",
            ));
        }
        let shared = [&self.catalog.url, &self.index.url, &self.blobs.url].map(Option::is_some);
        if shared != [shared[0]; 3] {
            return Err(ConfigError::new(
                "catalog.url, index.url and blobs.url go together: set all three, or none and keep everything in --data",
            ));
        }
        if !self.index.shards.is_empty() && !self.index.read_urls.is_empty() {
            return Err(ConfigError::new(
                "index.read_urls are replicas of one cluster: with index.shards, leave them out",
            ));
        }
        if self.limiter.nodes == 0 {
            return Err(ConfigError::new("limiter.nodes must be at least 1"));
        }
        self.check_transport()?;
        let limits = &self.limits;
        if [limits.key_requests, limits.key_window_s, limits.user_requests, limits.user_window_s].contains(&0)
        {
            return Err(ConfigError::new(
                "the request limits and their windows in [limits] must be at least 1",
            ));
        }
        Ok(self)
    }
}

/// TOML has no null; an empty text stands for "not set".
fn empty_is_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(serde::de::Error::custom)
}
