//! Puts a server together: the only place that names concrete backends.

mod answerer;
mod bundled;
mod models;

use std::{fs::File, path::Path, sync::Arc};

pub use answerer::{MODEL_CHILD, become_model};
use anyhow::{Context, Result, bail};
use engine::{chat::Chat, ingest::Ingest, seams::catalog::Catalog, search::Search};
use jiff::Timestamp;
pub use models::{Models, places};
use parsers::ChildParser;
use stores::{
    blobs::Blobs,
    catalog,
    index::{Bounds, Embedded},
    limiter,
};
use tokio_util::sync::CancellationToken;

use crate::{
    app::{App, Parts},
    config::Config,
    dashboard::{About, Dashboard},
    http::{auth::Identities, guard::Guard, metrics::Metrics},
    library::Library,
    reindex::RecentQueries,
};

/// The first word on the command line of a parser's child process.
pub const PARSE_CHILD: &str = "parse-child";

/// Opens the catalog in a data folder, making both where there is none.
pub fn open_catalog(data: &Path) -> Result<Arc<dyn Catalog>, stores::Error> {
    stores::make_private_folder(data)?;
    Ok(Arc::new(catalog::Sqlite::open(&data.join("catalog.db"))?))
}

/// Opens the files of all boxes in a data folder.
pub fn open_library(data: &Path) -> Result<Library> {
    let index = Embedded::open(data.join("index"), Bounds::default())?;
    Ok(Library::new(open_catalog(data)?, Blobs::open(&data.join("blobs"))?, Arc::new(index)))
}

/// A server that is put together, and what it needs beside its requests.
pub struct Assembled {
    /// What requests reach.
    pub app: App,
    /// What workers run.
    pub ingest: Ingest,
    /// Held for as long as the server runs.
    _lock: File,
}

/// Everything that a server needs, from its data folder and settings.
pub async fn assemble(data: &Path, config: Config) -> Result<Assembled> {
    let (settings, folder) = (config.models.clone(), data.to_path_buf());
    let models = tokio::task::spawn_blocking(move || Models::load(&settings, &folder)).await??;
    assemble_with(data, config, models).await
}

/// The same with models that are loaded already.
pub async fn assemble_with(data: &Path, config: Config, models: Models) -> Result<Assembled> {
    let lock = lock(data)?;
    let library = Arc::new(open_library(data)?);
    library.recover().await?;
    // The folder is locked: whoever held work, units or an idempotency key before is gone.
    library.catalog.requeue_abandoned(Timestamp::MAX).await?;
    library.catalog.release_abandoned_units(Timestamp::MAX).await?;
    library.catalog.free_abandoned_attempts(Timestamp::MAX).await?;
    library.catalog.resume_reindexes().await?;
    let limiter = limiter::Memory::open(config.limits.requests(), &data.join("limits"))?;
    let ingest = Ingest {
        parser: Arc::new(parser(data, &config)?),
        embedder: models.embedder.clone(),
        index: library.index.clone(),
    };
    let search = Search::new(library.index.clone(), models.embedder.clone(), models.reranker.clone());
    let chat = Chat::new(
        search.clone(),
        library.index.clone(),
        library.catalog.clone(),
        models.embedder.clone(),
        answerer::choose(&config.answerer, &models)?,
    );
    let app = App::new(Parts {
        catalog: library.catalog.clone(),
        link_secret: library.catalog.link_secret().await?,
        library,
        search,
        chat,
        recent_queries: RecentQueries::default(),
        limiter: Arc::new(limiter),
        identities: Identities::default(),
        guard: Guard::default(),
        metrics: Metrics::default(),
        shutdown: CancellationToken::new(),
        dashboard: Dashboard::new(&config, About::of(data, &models, &config)),
        config,
    });
    Ok(Assembled { app, ingest, _lock: lock })
}

/// One server a data folder: two would take each other's work for abandoned.
fn lock(data: &Path) -> Result<File> {
    stores::make_private_folder(data)?;
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

/// Files are read by children of this very binary.
fn parser(data: &Path, config: &Config) -> Result<ChildParser> {
    let scratch = data.join("scratch");
    stores::make_private_folder(&scratch)?;
    let limits = parsers::Limits { ocr_languages: config.ingest.ocr_languages.clone(), ..Default::default() };
    Ok(ChildParser::of_this_binary(vec![PARSE_CHILD.into()], limits, scratch)?)
}
