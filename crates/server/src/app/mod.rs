//! What every request can reach: the one state of a running server.
//!
//! It stands below the API ([`crate::http`]) and the dashboard ([`crate::dashboard`]) and knows nothing of either.

pub mod about;
pub mod answers;
pub mod assets;
pub mod evaluations;
pub mod failures;
pub mod guard;
pub mod identities;
pub mod metrics;
pub mod pictures;
pub mod places;
pub mod spans;

use std::{ops::Deref, sync::Arc};

use engine::{
    chat::Chat,
    ids::UserId,
    ingest::Ingest,
    seams::{catalog::Catalog, limiter::Limiter},
    search::Search,
    turnstile::Turnstile,
};
use tokio_util::sync::CancellationToken;

use self::{
    about::About,
    answers::Answers,
    assets::Assets,
    evaluations::Evaluations,
    failures::Failures,
    guard::Guard,
    identities::Identities,
    metrics::Metrics,
    pictures::Pictures,
    places::{Places, Streams},
    spans::Spans,
};
use crate::{
    config::Config, library::Library, oidc::Provider, outside::Outside, passwords::Passwords,
    questions::Questions, reindex::RecentQueries,
};

/// A handle on the server's parts; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of a running server.
pub struct Parts {
    /// The current settings.
    pub config: Config,
    /// Users, boxes, keys.
    pub catalog: Arc<dyn Catalog>,
    /// Files: originals, pages and the queue.
    pub library: Arc<Library>,
    /// Fetches files from addresses that users name, where the operator allows it.
    pub(crate) fetch: Option<Outside>,
    /// Reads sources that users name, where the operator allows it.
    pub(crate) sources: Option<Outside>,
    /// Sends events to addresses that users name, where the operator allows it.
    pub(crate) webhooks: Option<Outside>,
    /// Fetches documents about programs that ask to be let in, where the operator allows it.
    pub(crate) programs: Option<Outside>,
    /// Reads files and embeds texts.
    pub ingest: Ingest,
    /// Files that are read while their sender waits, by user.
    pub readers: Places<UserId>,
    /// Pictures of pages.
    pub pictures: Pictures,
    /// Finds passages.
    pub search: Search,
    /// Where searches and answers wait for their turn.
    pub turnstile: Turnstile,
    /// Who answers questions.
    pub answers: Answers,
    /// Recent queries.
    pub recent_queries: RecentQueries,
    /// Questions that went wrong, and those that can be rated.
    pub questions: Questions,
    /// Evaluations in progress.
    pub evaluations: Evaluations,
    /// Signs download links.
    pub link_secret: Vec<u8>,
    /// Counts requests.
    pub limiter: Arc<dyn Limiter>,
    /// Keys looked up before, and when each was last used.
    pub identities: Identities,
    /// Slows down whoever guesses keys.
    pub guard: Guard,
    /// Answers under way that take long.
    pub streams: Streams,
    /// Cancelled when the server is told to stop; answers that go on for long end then.
    pub shutdown: CancellationToken,
    /// Cancelled when requests under way have had their time after that: what still goes on ends with an error now.
    pub drained: CancellationToken,
    /// What `/metrics` shows.
    pub metrics: Metrics,
    /// What a collector of traces is told.
    pub spans: Spans,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// Sign-in with an account at a provider, where that is set.
    pub oidc: Option<Provider>,
    /// Failed sign-ins that were recorded.
    pub failures: Failures,
    /// Style sheets, script and icon.
    pub assets: Assets,
    /// What the server is made of.
    pub about: About,
}

impl App {
    /// The app made of these parts.
    pub fn new(parts: Parts) -> Self {
        App(Arc::new(parts))
    }

    /// What answers questions now.
    pub(crate) fn chat(&self) -> Chat {
        self.answers.chat()
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
