//! Reads queued files, a few at a time: claims a job, runs the ingest path, records the result.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use engine::{
    Fault, Reason,
    document::Document,
    ingest::{EmbeddedFile, Ingest},
    seams::{
        catalog::{FileProgress, Job, JobOutcome},
        parser::{FailureKind, ParseFailure},
    },
    trace,
};
use futures::FutureExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::{
    app::spans::{Kind, Spans},
    library::Library,
};

/// How long an idle worker waits before it looks for work that nobody told it of (a retry that came due).
const IDLE: Duration = Duration::from_secs(1);
/// How often a worker says that it is still there, and how far it is.
const BEAT: Duration = Duration::from_secs(1);
/// Tries of a file whose reading fails for no fault of its own.
const TRIES: u32 = 4;
/// How often the server may die while it reads a file before the file is blamed. A server that is told to stop gives its
/// files back, and that does not count; but one that is killed thrice with the same file open is not risked again.
const DEATHS: u32 = 3;

/// Works until shutdown; what is in progress then is given back to the queue.
pub async fn run(
    library: Arc<Library>,
    ingest: Ingest,
    spans: Spans,
    name: String,
    shutdown: CancellationToken,
) {
    while !shutdown.is_cancelled() {
        let woken = library.wake.notified();
        // Reading a file makes its index grow: it waits, like uploads, for room on the disk.
        let claimed = match library.blobs.has_room() {
            true => library.catalog.claim_job(&name, Timestamp::now()).await,
            false => Ok(None),
        };
        let worked = match claimed {
            Ok(Some(job)) => {
                let mut span = spans.below(job.trace, "ingest", Kind::Internal);
                span.set("gen_ai.data_source.id", job.box_id.to_string());
                tokio::select! {
                    () = span.around(work_or_panic(&library, &ingest, &job, &name)) => true,
                    () = shutdown.cancelled() => return give_back(&library, &job, &name).await,
                }
            }
            Ok(None) => false,
            Err(fault) => {
                tracing::error!(error = ?fault, "Could not look for work");
                false
            }
        };
        if !worked {
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(IDLE) => {}
                () = shutdown.cancelled() => {}
            }
        }
    }
}

async fn give_back(library: &Library, job: &Job, worker: &str) {
    if let Err(fault) = library.catalog.give_job_back(job, worker).await {
        tracing::warn!(file.id = %job.file, error = ?fault, "Could not return a file to the queue; another worker will take it over");
    }
}

/// A file that makes its reading panic must not take the worker along: nobody would read the others.
async fn work_or_panic(library: &Arc<Library>, ingest: &Ingest, job: &Job, worker: &str) {
    if AssertUnwindSafe(work(library, ingest, job, worker)).catch_unwind().await.is_err() {
        tracing::error!(file.id = %job.file, "Processing a file panicked");
        put_back(library, job, worker, retry_or_fail(job, None)).await;
        tell(library, job).await;
    }
}

async fn work(library: &Arc<Library>, ingest: &Ingest, job: &Job, worker: &str) {
    let started = std::time::Instant::now();
    match process(library, ingest, job, worker).await {
        Ok(true) => {
            let duration_ms = started.elapsed().as_millis() as u64;
            tracing::info!(file.id = %job.file, box.id = %job.box_id, duration_ms, "Processed a file");
        }
        Ok(false) => {
            tracing::info!(file.id = %job.file, "Stopped processing a file that was deleted or replaced")
        }
        Err(fault) => {
            tracing::error!(file.id = %job.file, error = ?fault, "Could not process a file");
            let outcome = match passes(&fault) {
                true => JobOutcome::Retry { after: pause(job) },
                false => retry_or_fail(job, None),
            };
            put_back(library, job, worker, outcome).await;
        }
    }
    tell(library, job).await;
}

/// Whether a store is away or a disk refuses: the file is read once that is over, however long it takes.
fn passes(fault: &Fault) -> bool {
    matches!(fault.reason, Reason::UpstreamUnavailable | Reason::Overloaded)
}

/// Returns a file to the queue or gives it up, as soon as the catalog is there to note it.
async fn put_back(library: &Library, job: &Job, worker: &str, outcome: JobOutcome) {
    loop {
        match library.catalog.finish_job(job, worker, outcome.clone(), Timestamp::now()).await {
            Ok(_) => return,
            Err(fault) if passes(&fault) => tokio::time::sleep(BEAT).await,
            Err(fault) => {
                tracing::warn!(file.id = %job.file, error = ?fault, "Could not return a file to the queue; it is taken over in a while");
                return;
            }
        }
    }
}

/// Reads one file and records the result; `false` where the job was no longer ours.
async fn process(library: &Arc<Library>, ingest: &Ingest, job: &Job, worker: &str) -> Result<bool, Fault> {
    tell(library, job).await;
    if job.deaths() >= DEATHS {
        let error = format!(
            "the server died {DEATHS} times while reading this file, so it is not read again by itself; if the server \
             was stopped for another reason, upload the file again or choose \"Reprocess\""
        );
        return write(library, job, worker, JobOutcome::GaveUp { error }).await;
    }
    let progress = Progress::default();
    let read = tokio::select! {
        read = read(library, ingest, job, &progress) => read?,
        lost = beat_until_lost(library, job, worker, &progress) => return lost.map(|()| false),
    };
    let mut document = match read {
        Ok(document) => document,
        Err(failure) => return write(library, job, worker, retry_or_fail(job, Some(&failure))).await,
    };
    loop {
        let embedded = tokio::select! {
            embedded = embed(library, ingest, job, document, &progress) => embedded?,
            lost = beat_until_lost(library, job, worker, &progress) => return lost.map(|()| false),
        };
        let Some(embedded) = embedded else { return Ok(false) };
        // Not to be cut short by a shutdown: the index goes on writing when nobody waits for it any more, and the claim must
        // last as long as that, or a deletion could come first and leave what is written after it.
        let indexing = {
            let (library, ingest, job) = (library.clone(), ingest.clone(), job.clone());
            let (worker, progress) = (worker.to_string(), progress.get());
            let indexing = async move { index(&library, &ingest, &job, &worker, embedded, progress).await };
            tokio::spawn(trace::carried(indexing))
        };
        let (fault, embedded) = match indexing.await.map_err(Fault::internal)?? {
            Indexing::Done(written) => return Ok(written),
            Indexing::Refused(fault, embedded) => (fault, embedded),
        };
        let filled = library.index.model(job.writing().reading()).await?;
        let right = ingest.embedders.of_model(filled.as_deref()).await?;
        if right.id() == embedded.model() {
            // Another model than the server has: trying again will not help, and the cause says what will.
            return write(library, job, worker, JobOutcome::Failed { error: fault.cause }).await;
        }
        // The box was filled or changed over by our other model meanwhile.
        document = embedded.into_document();
    }
}

/// Bytes to pages, which changes nothing.
async fn read(
    library: &Library,
    ingest: &Ingest,
    job: &Job,
    progress: &Progress,
) -> Result<Result<Document, ParseFailure>, Fault> {
    let read = |done, total| progress.note(&progress.read, done, total);
    let original = library.blobs.local(&job.sha256).await?;
    let languages = match ingest.parser.minds_languages() {
        true => library.catalog.languages_of(&job.writing()).await?,
        false => Vec::new(),
    };
    Ok(ingest.read(original.path(), job.name.as_str(), &languages, &read).await)
}

/// Pages to vectors of the model that the box is filled with, which changes nothing of it; `None` where it was deleted.
async fn embed(
    library: &Library,
    ingest: &Ingest,
    job: &Job,
    document: Document,
    progress: &Progress,
) -> Result<Option<EmbeddedFile>, Fault> {
    let writing = job.writing();
    let record = library.catalog.boxes_of(&[*writing.reading()]).await?.pop();
    let Some(record) = record else { return Ok(None) };
    let embedder = ingest.embedder_for(&writing, &record, &document).await?;
    if ingest.embedders.knows_many(embedder.id()) && !record.is_multilingual() {
        library.catalog.begin_multilingual(&writing).await?;
    }
    let embedded = |done, total| progress.note(&progress.embedded, done, total);
    ingest.embed(&writing, document, job.name.as_str(), embedder, &embedded).await.map(Some)
}

/// What came of storing a file.
enum Indexing {
    /// Whether the job was still ours.
    Done(bool),
    /// The box has vectors of another model.
    Refused(Fault, EmbeddedFile),
}

/// Under the file's lock: a deletion that came first is seen, and one that comes now waits.
async fn index(
    library: &Library,
    ingest: &Ingest,
    job: &Job,
    worker: &str,
    embedded: EmbeddedFile,
    progress: FileProgress,
) -> Result<Indexing, Fault> {
    let _claimed = library.claim(job.box_id, job.file).await?;
    if !library.catalog.beat(job, worker, progress).await? {
        return Ok(Indexing::Done(false));
    }
    let ingested = match ingest.index(&job.writing(), job.file, &embedded).await {
        Err(fault) if fault.reason == Reason::Conflict => return Ok(Indexing::Refused(fault, embedded)),
        ingested => ingested?,
    };
    let foreign = ingested.language.as_deref().is_some_and(|language| language != "en");
    // What an earlier index of the box has of the file is of an older version now.
    library.index.draft().remove(&job.writing(), job.file).await?;
    let outcome = JobOutcome::Indexed {
        status: ingested.status,
        media_type: ingested.media_type,
        warnings: ingested.warnings,
        language: ingested.language,
        extent: ingested.extent,
    };
    let written = write(library, job, worker, outcome).await?;
    if foreign {
        library.look_at_language(job.box_id);
    }
    Ok(Indexing::Done(written))
}

async fn write(library: &Library, job: &Job, worker: &str, outcome: JobOutcome) -> Result<bool, Fault> {
    let finished = library.catalog.finish_job(job, worker, outcome, Timestamp::now()).await?;
    for superseded in &finished.superseded {
        library.remove_original(superseded).await?;
    }
    Ok(finished.written)
}

/// Only a failure of ours is worth another try, and only a few times.
fn retry_or_fail(job: &Job, failure: Option<&ParseFailure>) -> JobOutcome {
    let ours = failure.is_none_or(|failure| failure.kind == FailureKind::Internal);
    if ours && job.failures + 1 < TRIES {
        return JobOutcome::Retry { after: pause(job) };
    }
    let error = failure.map_or("reading it failed on our side, several times".into(), ToString::to_string);
    JobOutcome::Failed { error }
}

/// 2, 10, 50 seconds: a passing shortage passes, a lasting one is not hammered.
fn pause(job: &Job) -> Duration {
    Duration::from_secs(2 * 5u64.pow(job.failures.min(2)))
}

/// Ends when the job is no longer ours; dropping the reading then stops the parser.
async fn beat_until_lost(
    library: &Library,
    job: &Job,
    worker: &str,
    progress: &Progress,
) -> Result<(), Fault> {
    loop {
        tokio::time::sleep(BEAT).await;
        match library.catalog.beat(job, worker, progress.get()).await {
            Ok(true) => tell(library, job).await,
            Ok(false) => return Ok(()),
            // Whether the job is still ours will be known when the catalog is back.
            Err(fault) if fault.reason == Reason::UpstreamUnavailable => {}
            Err(fault) => return Err(fault),
        }
    }
}

async fn tell(library: &Library, job: &Job) {
    if let Ok(files) = library.catalog.files(job.writing().reading(), &[job.file]).await {
        files.into_iter().flatten().for_each(|file| library.tell(file));
    }
}

/// How far a file has come, in pages; written by whoever works on it, read by ours.
#[derive(Default)]
struct Progress {
    read: AtomicU32,
    embedded: AtomicU32,
    /// 0: not known.
    total: AtomicU32,
}

impl Progress {
    fn note(&self, stage: &AtomicU32, done: u32, total: Option<u32>) {
        stage.store(done, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
    }

    fn get(&self) -> FileProgress {
        let total = Some(self.total.load(Ordering::Relaxed)).filter(|&total| total > 0);
        // A page is done when it was read and embedded; of two pages that are half done, one counts.
        let done = (self.read.load(Ordering::Relaxed) + self.embedded.load(Ordering::Relaxed)) / 2;
        FileProgress { done, total }
    }
}
