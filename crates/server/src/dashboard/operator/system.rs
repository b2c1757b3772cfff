//! How the server is doing: version, models, queue, storage, health.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use askama::Template;
use axum::extract::State;
use parsers::Ocr;

use crate::{
    app::{App, about::About},
    dashboard::{
        page::{self, Frame, Place, Shown},
        permit::AsOperator,
        show::{self, Moment},
    },
    words::Words,
};

/// Less free space than this is worth a look: a few hundred uploads.
const LITTLE: u64 = 1_000_000_000;

/// Something that is looked after, and how it is.
struct Check {
    /// The text of what it is.
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
    let (about, words) = (&app.about, by.who.0.words);
    let started = Instant::now();
    let version = app.catalog.access_version().await;
    let answered = started.elapsed();
    let queue = app.catalog.queue_length().await?;
    let (boxes, totals) = app.catalog.totals_of_all(&by.operating).await?;
    let failed = totals.failed;
    let free = free_bytes(&about.data);
    let index = {
        let app = app.clone();
        let measured = tokio::task::spawn_blocking(move || app.about.index_size()).await;
        measured.map_err(engine::Fault::internal)?
    };
    let checks = checks(words, about, version.is_ok().then_some(answered), failed, free);
    let file_size = |name: &str| fs::metadata(about.data.join(name)).map_or(0, |found| found.len());
    page::show(&SystemPage {
        frame: Frame::new(&app, &by.who.0, words.text("frame-system"), Place::System),
        version: env!("CARGO_PKG_VERSION"),
        started: Moment::of(about.started),
        data: about.data.display().to_string(),
        embedder: about.embedder.clone(),
        reranker: about.reranker.clone(),
        answerer: super::model::answerer(&app, words),
        queue: words.count("frame-count-files", queue),
        boxes: words.number(boxes),
        files: words.number(totals.files),
        failed: words.number(failed),
        pages: words.number(totals.pages),
        users: words.number(app.catalog.users().await?.len() as u64),
        originals: show::size(words, totals.bytes),
        index: show::size(words, index),
        catalog: show::size(words, file_size("catalog.db") + file_size("catalog.db-wal")),
        free: free.map_or_else(|| words.plain("operator-unknown"), |free| show::size(words, free)),
        checks,
    })
}

/// What is looked after. `answered` is how long the store took, where it did.
fn checks(
    words: Words,
    about: &About,
    answered: Option<Duration>,
    failed: u64,
    free: Option<u64>,
) -> Vec<Check> {
    let store = match answered {
        Some(took) => {
            let took = words.fraction(took.as_secs_f64() * 1e3, 2);
            words.text("operator-responds").with("took", took).plain()
        }
        None => words.plain("operator-silent"),
    };
    let queue = match failed {
        0 => words.plain("operator-none-failed"),
        failed => words.count("operator-unread", failed),
    };
    let recognition = match about.ocr {
        Ocr::BuiltIn => "operator-ocr-built-in",
        Ocr::Tesseract => "operator-ocr-tesseract",
        Ocr::Off => "operator-ocr-off",
    };
    let disk = match free {
        Some(free) => words.text("operator-size-free").with("size", show::size(words, free)).plain(),
        None => words.plain("operator-unknown"),
    };
    vec![
        Check { name: "operator-store", good: answered.is_some(), words: store },
        Check { name: "operator-models", good: true, words: words.plain("operator-loaded") },
        Check { name: "operator-queue", good: failed == 0, words: queue },
        Check { name: "operator-disk", good: free.is_none_or(|free| free > LITTLE), words: disk },
        Check { name: "operator-recognition", good: about.ocr != Ocr::Off, words: words.plain(recognition) },
    ]
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}
