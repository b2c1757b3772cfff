//! Sources: places elsewhere that a box follows, read on a schedule.
//!
//! Each kind is a [`Reader`] in a file of its own; what it finds goes into a [`Sink`], which knows what changed. Which source is due is in the
//! catalog, so any node reads it.

mod git;
mod s3;
mod sink;
mod web;

use std::time::Duration;

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::Writing,
    seams::catalog::{Source, SourceKind, SourceReport, SourceSettings},
};
pub use git::GitSettings;
use jiff::Timestamp;
pub use s3::S3Settings;
use serde::{Serialize, de::DeserializeOwned};
use sink::Sink;
use tokio_util::sync::CancellationToken;
pub use web::WebSettings;

use crate::{app::App, outside::Outside};

/// Sources that are read at a time: most of the time is spent waiting for somebody else's server.
const READERS: usize = 4;
/// How often to look for a source that is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it is said that a source is still being read, and when whoever does not say so counts as dead.
const BEAT_EVERY: Duration = Duration::from_secs(20);
const DEAD_AFTER: Duration = Duration::from_secs(90);

/// Reads one kind of source.
#[async_trait]
trait Reader: Send + Sync {
    /// Gives everything that is there to the sink: each file whole, or only its name where it is known to be the same. An error means
    /// that the source could not be read; then nothing is deleted.
    async fn read(&self, sink: &mut Sink<'_>) -> Result<(), Fault>;
}

/// What a source is told, as it is stored.
pub fn stored(settings: &impl Serialize) -> Result<SourceSettings, Fault> {
    serde_json::to_string(settings).map(SourceSettings).map_err(Fault::internal)
}

/// The same read back.
pub fn told<T: DeserializeOwned>(settings: &SourceSettings) -> Result<T, Fault> {
    serde_json::from_str(&settings.0).map_err(Fault::internal)
}

/// The client for sources, where the operator allows them.
pub(crate) fn outside(app: &App) -> Result<&Outside, Fault> {
    app.sources.as_ref().ok_or_else(|| {
        Fault::new(Reason::Unprocessable, "this server reads no sources")
            .hint("ask the operator to set sources.enabled = true")
    })
}

/// Reads sources that are due, several at a time but never two of one owner, until shutdown.
pub async fn run(app: App, shutdown: CancellationToken) {
    if app.sources.is_some() {
        let readers = (0..READERS).map(|_| read_due(&app, &shutdown));
        futures::future::join_all(readers).await;
    }
}

/// Reads one source after the other.
async fn read_due(app: &App, shutdown: &CancellationToken) {
    loop {
        let worked = tokio::select! {
            worked = next(app, Timestamp::now()) => worked,
            () = shutdown.cancelled() => return,
        };
        match worked {
            Ok(true) => continue,
            Ok(false) => {}
            Err(fault) => tracing::warn!(error = ?fault, "Could not look for sources to read"),
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Reads one source that is due at `now`; `false` where none is.
pub async fn next(app: &App, now: Timestamp) -> Result<bool, Fault> {
    let Some(source) = app.catalog.take_source(now, after(now, DEAD_AFTER)).await? else { return Ok(false) };
    let report = tokio::select! {
        report = sync(app, &source) => report,
        () = ended(app, &source) => return Ok(true),
    };
    let (added, changed, removed) = (report.added, report.changed, report.removed);
    tracing::info!(box.id = %source.box_id, source.id = %source.id, added, changed, removed, "Read a source");
    app.catalog.finish_source(source.id, report, now.max(Timestamp::now())).await?;
    Ok(true)
}

fn after(now: Timestamp, wait: Duration) -> Timestamp {
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

/// Says from time to time that the source is being read; ends when it was deleted.
async fn ended(app: &App, source: &Source) {
    loop {
        tokio::time::sleep(BEAT_EVERY).await;
        match app.catalog.keep_source(source.id, after(Timestamp::now(), DEAD_AFTER)).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(fault) => tracing::warn!(error = ?fault, "Could not record that a source is being read"),
        }
    }
}

/// Reads a source from beginning to end.
async fn sync(app: &App, source: &Source) -> SourceReport {
    let mut sink = match Sink::new(app, source).await {
        Ok(sink) => sink,
        Err(fault) => return SourceReport { error: Some(fault.cause), ..SourceReport::default() },
    };
    let timeout = app.config.sources.timeout();
    let read = tokio::time::timeout(timeout, async {
        reader(app, source)?.read(&mut sink).await?;
        sink.delete_missing().await
    });
    let error = match read.await {
        Ok(Ok(())) => None,
        Ok(Err(fault)) => {
            if let Some(cause) = &fault.source {
                tracing::warn!(source.id = %source.id, error = %cause, "Could not read a source");
            }
            Some(fault.cause)
        }
        Err(_) => Some(format!("reading it took more than {} seconds", timeout.as_secs())),
    };
    SourceReport { error, ..sink.report() }
}

fn reader(app: &App, source: &Source) -> Result<Box<dyn Reader>, Fault> {
    let outside = outside(app)?.clone();
    let settings = &app.config.sources;
    Ok(match source.kind {
        SourceKind::Web => Box::new(web::Site::new(outside, told(&source.settings)?, settings.pause())),
        SourceKind::Git => Box::new(git::Repository::new(outside, told(&source.settings)?, settings)),
        SourceKind::S3 => Box::new(s3::Bucket::new(&outside, told(&source.settings)?)?),
    })
}

/// The right of the server itself to change the box that follows a source.
fn writing(source: &Source) -> Writing {
    Writing::for_operator(source.box_id)
}
