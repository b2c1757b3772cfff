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
};

/// Less free space than this is worth a look: a few hundred uploads.
const LITTLE: u64 = 1_000_000_000;

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
    let about = &app.about;
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
        .map_or("does not respond".into(), |took| format!("responds in {:.2} ms", took.as_secs_f64() * 1e3));
    let queue = match failed {
        0 => "no file failed".into(),
        failed => show::count(failed, "file could not be read", "files could not be read"),
    };
    let recognition = match about.ocr {
        Ocr::BuiltIn => "by the built-in models",
        Ocr::Tesseract => "by tesseract",
        Ocr::Off => "off: scans have no text",
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
        Check { name: "Text recognition", good: about.ocr != Ocr::Off, words: recognition.into() },
    ]
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}
