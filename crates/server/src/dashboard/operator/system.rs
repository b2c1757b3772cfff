//! How the server is doing: version, models, queue, storage, health.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    app::App,
    assemble::Models,
    config::{AnswererKind, Config},
    dashboard::{
        page::{self, Frame, Place, Shown},
        permit::AsOperator,
        show::{self, Moment},
    },
};

/// How long a measured size is shown: a folder of many files takes a while to go through.
const KEPT: Duration = Duration::from_secs(60);

/// Less free space than this is worth a look: a few hundred uploads.
const LITTLE: u64 = 1_000_000_000;

/// What the server is made of, known from its start.
pub struct About {
    data: PathBuf,
    started: Timestamp,
    embedder: String,
    reranker: String,
    answerer: String,
    tesseract: bool,
    index_size: Mutex<Option<(Instant, u64)>>,
}

impl About {
    /// What a server with this data folder, these models and these settings is made of.
    pub fn of(data: &Path, models: &Models, config: &Config) -> Self {
        let answerer = match config.answerer.kind {
            AnswererKind::Extractive => "by quoting, in process".to_string(),
            AnswererKind::Upstream => format!("{}, at a language model server", config.answerer.model),
            AnswererKind::Gguf => "a language model in process".to_string(),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        About {
            data: data.to_path_buf(),
            started: Timestamp::now(),
            embedder: models.embedder.id().to_string(),
            reranker: models.reranker.as_ref().map_or("none", |reranker| reranker.id()).to_string(),
            answerer,
            tesseract: std::env::split_paths(&path).any(|folder| folder.join("tesseract").is_file()),
            index_size: Mutex::new(None),
        }
    }

    fn index_size(&self) -> u64 {
        if let Some((at, bytes)) = *self.index_size.lock()
            && at.elapsed() < KEPT
        {
            return bytes;
        }
        let bytes = size_below(&self.data.join("index"));
        *self.index_size.lock() = Some((Instant::now(), bytes));
        bytes
    }
}

fn size_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// Something that is looked after, and how it is.
struct Check {
    name: &'static str,
    good: bool,
    words: String,
}

#[derive(Template)]
#[template(path = "operator_system.html")]
struct SystemPage {
    frame: Frame,
    version: &'static str,
    started: Moment,
    data: String,
    embedder: String,
    reranker: String,
    answerer: String,
    queue: String,
    boxes: String,
    files: String,
    failed: String,
    pages: String,
    users: String,
    originals: String,
    index: String,
    catalog: String,
    free: String,
    checks: Vec<Check>,
}

/// The page.
pub(in crate::dashboard) async fn show(State(app): State<App>, by: AsOperator) -> Shown {
    let about = &app.dashboard.about;
    let started = Instant::now();
    let version = app.catalog.access_version().await;
    let answered = started.elapsed();
    let queue = app.catalog.queue_length().await?;
    let (boxes, totals) = app.catalog.totals_of_all(&by.operating).await?;
    let failed = totals.failed;
    let free = free_bytes(&about.data);
    let index = {
        let app = app.clone();
        let measured = tokio::task::spawn_blocking(move || app.dashboard.about.index_size()).await;
        measured.map_err(engine::Fault::internal)?
    };
    let checks = checks(about, version.is_ok().then_some(answered), failed, free);
    let file_size = |name: &str| fs::metadata(about.data.join(name)).map_or(0, |found| found.len());
    page::show(&SystemPage {
        frame: Frame::new(&app, &by.who.0, "System", Place::System),
        version: env!("CARGO_PKG_VERSION"),
        started: Moment::of(about.started),
        data: about.data.display().to_string(),
        embedder: about.embedder.clone(),
        reranker: about.reranker.clone(),
        answerer: about.answerer.clone(),
        queue: show::count(queue, "file", "files"),
        boxes: show::number(boxes),
        files: show::number(totals.files),
        failed: show::number(failed),
        pages: show::number(totals.pages),
        users: show::number(app.catalog.users().await?.len() as u64),
        originals: show::size(totals.bytes),
        index: show::size(index),
        catalog: show::size(file_size("catalog.db") + file_size("catalog.db-wal")),
        free: free.map_or("unknown".into(), show::size),
        checks,
    })
}

/// What is looked after. `answered` is how long the store took, where it did.
fn checks(about: &About, answered: Option<Duration>, failed: u64, free: Option<u64>) -> Vec<Check> {
    let store = answered
        .map_or("does not answer".into(), |took| format!("answers in {:.2} ms", took.as_secs_f64() * 1e3));
    let queue = match failed {
        0 => "no file failed".into(),
        failed => show::count(failed, "file could not be read", "files could not be read"),
    };
    let recognition = match about.tesseract {
        true => "tesseract is there",
        false => "tesseract is not installed: scans stay without text",
    };
    vec![
        Check { name: "Store", good: answered.is_some(), words: store },
        Check { name: "Models", good: true, words: "loaded".into() },
        Check { name: "Queue", good: failed == 0, words: queue },
        Check {
            name: "Disk",
            good: free.is_none_or(|free| free > LITTLE),
            words: free.map_or("unknown".into(), |free| format!("{} free", show::size(free))),
        },
        Check { name: "Text recognition", good: about.tesseract, words: recognition.into() },
    ]
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}
