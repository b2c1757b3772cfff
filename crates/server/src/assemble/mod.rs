//! Puts a server together: the only place that names concrete backends.

mod answerer;
mod models;
mod stores;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

pub use answerer::{MODEL_CHILD, become_model};
use anyhow::{Context, Result, bail};
use engine::{
    chat::{Chat, Extractive},
    ingest::Ingest,
    seams::{answerer::Answerer, catalog::ChosenModel, parser::Parser},
    search::Search,
    turnstile::{Room, Turnstile},
};
use jiff::Timestamp;
pub use models::{Models, Place, built_in, can_speak, multilingual_name, place, places, verify_model};
use parsers::ChildParser;
pub use stores::{open_catalog, open_library, open_shards, open_sql};
use tokio_util::sync::CancellationToken;

use crate::{
    app::{
        App, Parts,
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
    },
    config::Config,
    library::Library,
    oidc::Provider,
    outside::Outside,
    passwords::Passwords,
    questions::Questions,
    reindex::RecentQueries,
};

/// The first word on the command line of a parser's child process.
pub const PARSE_CHILD: &str = "parse-child";

/// A server that is put together, and what it needs besides its requests.
pub struct Assembled {
    /// What requests reach.
    pub app: App,
    /// What workers run.
    pub ingest: Ingest,
    /// Held for as long as the server runs, where the data folder is all there is.
    _lock: Option<File>,
}

/// Everything that a server needs, from its data folder and settings.
pub async fn assemble(data: &Path, config: Config) -> Result<Assembled> {
    let (settings, folder) = (config.models.clone(), data.to_path_buf());
    let models = tokio::task::spawn_blocking(move || Models::load(&settings, &folder)).await??;
    assemble_with(data, config, models).await
}

/// The same with models that are loaded already.
pub async fn assemble_with(data: &Path, config: Config, models: Models) -> Result<Assembled> {
    let parser = Arc::new(parser(data, &config)?);
    assemble_from(data, config, models, parser).await
}

/// The same with a parser of the caller's own.
pub async fn assemble_from(
    data: &Path,
    config: Config,
    models: Models,
    parser: Arc<dyn Parser>,
) -> Result<Assembled> {
    let alone = !config.is_shared();
    let lock = if alone { Some(lock(data)?) } else { None };
    let library = Arc::new(open_library(data, &config).await?);
    library.recover().await?;
    let catalog = &library.catalog;
    if alone {
        // What a killed parser left behind may hold a document's text.
        let _ = std::fs::remove_dir_all(scratch(data));
        ::stores::make_private_folder(&scratch(data))?;
        // The folder is locked: whoever held work, units or an idempotency key before is gone.
        catalog.requeue_abandoned(Duration::ZERO).await?;
        catalog.release_abandoned_units(Timestamp::MAX).await?;
        catalog.free_abandoned_attempts(Timestamp::MAX).await?;
        catalog.resume_reindexes().await?;
        catalog.bury_nodes(Duration::ZERO).await?;
    }
    catalog.beat_node().await?;
    let limiter = stores::open_limiter(data, &config)?;
    let ingest = Ingest { parser, embedders: models.embedders.clone(), index: library.index.clone() };
    let search = Search::new(library.index.clone(), models.embedders.clone(), models.rerankers.clone())
        .exact_to(config.index.exact_to);
    let answers = answers(&config, &models, &search, &library)?;
    if let Err(fault) = Box::pin(answers.follow(&*library.catalog)).await {
        tracing::warn!(error = ?fault, "Could not open the chosen language model; answers quote");
    }
    let fetch = match config.fetch.urls {
        true => Some(Outside::new(config.fetch.private_addresses, "fetch.private_addresses")?),
        false => None,
    };
    let sources = match config.sources.enabled {
        true => Some(Outside::new(config.sources.private_addresses, "sources.private_addresses")?),
        false => None,
    };
    let webhooks = match config.webhooks.enabled {
        true => Some(Outside::new(config.webhooks.private_addresses, "webhooks.private_addresses")?),
        false => None,
    };
    let programs = match config.oauth.client_documents {
        true => Some(Outside::new(config.oauth.private_addresses, "oauth.private_addresses")?),
        false => None,
    };
    let app = App::new(Parts {
        ingest: ingest.clone(),
        catalog: library.catalog.clone(),
        link_secret: library.catalog.link_secret().await?,
        library,
        fetch,
        sources,
        webhooks,
        programs,
        search,
        answers,
        turnstile: turnstile(&config),
        recent_queries: RecentQueries::default(),
        questions: Questions::new(&config.questions),
        evaluations: Evaluations::default(),
        limiter,
        identities: Identities::default(),
        guard: Guard::default(),
        metrics: Metrics::default(),
        spans: match config.telemetry.address() {
            Some(_) => Spans::keeping(config.telemetry.sample, config.telemetry.queries),
            None => Spans::default(),
        },
        streams: Streams::default(),
        readers: Places::default(),
        pictures: Pictures::default(),
        shutdown: CancellationToken::new(),
        drained: CancellationToken::new(),
        passwords: Passwords::default(),
        oidc: Provider::of(&config.oidc),
        failures: Failures::default(),
        assets: Assets::new(),
        about: About::of(data, &models.embedders, &models.rerankers, &config),
        config,
    });
    Ok(Assembled { app, ingest, _lock: lock })
}

/// Who answers questions.
fn answers(config: &Config, models: &Models, search: &Search, library: &Library) -> Result<Answers> {
    let quoting = Arc::new(Extractive::new(models.embedders.clone(), models.pickers.clone()));
    let chat = Chat::new(
        search.clone(),
        library.index.clone(),
        library.catalog.clone(),
        models.embedders.clone(),
        answerer::choose(&config.answerer, &quoting)?,
        quoting,
    );
    Ok(answerer::answers(&config.answerer, chat))
}

/// The answerer that the settings name or an operator chose, by itself. Reads files and packs weights, so it is not for the
/// async threads.
pub fn open_answerer(config: &Config, data: &Path, chosen: Option<ChosenModel>) -> Result<Arc<dyn Answerer>> {
    if let Some(chosen) = chosen {
        return answerer::open(&config.answerer, &chosen);
    }
    let models = Models::load(&config.models, data)?;
    answerer::choose(&config.answerer, &Arc::new(Extractive::new(models.embedders, models.pickers)))
}

/// Calls of one account that may wait for their turn. Each holds some 30 KB, so an account holds 30 MB at most.
const WAITING_OF_ONE: usize = 1_000;

/// Where searches and answers wait.
fn turnstile(config: &Config) -> Turnstile {
    let load = &config.load;
    let (of_all, of_one) = (load.calls(), load.calls_of_one());
    Turnstile::new(Room { of_all, of_one, waiting_of_one: WAITING_OF_ONE }, load.wait())
}

/// One server a data folder: two would take each other's work for abandoned.
pub fn lock(data: &Path) -> Result<File> {
    ::stores::make_private_folder(data)?;
    let path = data.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        bail!("another quire server runs on {}; stop it, or use another --data folder", data.display());
    }
    Ok(file)
}

/// Whether a server runs on a data folder.
pub fn is_served(data: &Path) -> bool {
    File::open(data.join("lock")).is_ok_and(|file| file.try_lock().is_err())
}

/// Where parsers work.
pub fn scratch(data: &Path) -> PathBuf {
    data.join("scratch")
}

/// Files are read by children of this very binary.
fn parser(data: &Path, config: &Config) -> Result<ChildParser> {
    let scratch = scratch(data);
    ::stores::make_private_folder(&scratch)?;
    let ocr_languages = config.ingest.ocr_languages.clone();
    let limits = parsers::Limits { ocr: config.ingest.ocr, ocr_languages, ..Default::default() };
    Ok(ChildParser::of_this_binary(vec![PARSE_CHILD.into()], limits, scratch, config.ingest.sandbox)?)
}

/// What the sandbox of parsers lacks on this machine.
pub async fn missing_of_sandbox(data: &Path, config: &Config) -> Result<Vec<parsers::Missing>> {
    Ok(parser(data, config)?.missing().await?)
}
