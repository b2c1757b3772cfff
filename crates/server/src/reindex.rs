//! Indexes boxes again when an operator asks for it: beside the old index, without a gap, with a way back.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use engine::{
    Fault, Reason,
    access::Writing,
    ids::{BoxId, FileId},
    ingest::{Draft, Ingest},
    seams::{
        catalog::{Catalog, FileRecord, Held, RecentQuery, ReindexAction, ReindexState},
        index::Contents,
    },
    search::{Search, SearchHits, SearchRequest},
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::library::Library;

/// How often to check whether one is wanted.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Hits that are compared.
const COMPARED: usize = 10;
/// Queries of one box that wait to be recorded.
const WAITING: usize = 50;

/// Recent queries, until they are recorded.
#[derive(Default)]
pub struct RecentQueries(Mutex<HashMap<BoxId, VecDeque<RecentQuery>>>);

impl RecentQueries {
    /// Notes a query and where its hits were.
    pub fn note(&self, box_id: BoxId, query: &str, hits: &SearchHits) {
        let found = places(hits);
        let mut waiting = self.0.lock();
        let queries = waiting.entry(box_id).or_default();
        if queries.len() >= WAITING {
            queries.pop_front();
        }
        queries.push_back(RecentQuery { box_id, query: query.to_string(), found });
    }

    /// Records them.
    pub async fn write_down(&self, catalog: &dyn Catalog) -> Result<(), Fault> {
        let waiting = std::mem::take(&mut *self.0.lock());
        if waiting.is_empty() {
            return Ok(());
        }
        catalog.note_queries(waiting.into_values().flatten().collect()).await
    }
}

fn places(hits: &SearchHits) -> Vec<(FileId, u32)> {
    hits.hits.iter().take(COMPARED).map(|hit| (hit.id.file, hit.chunk.page)).collect()
}

/// Runs the reindexings that operators request, until shutdown.
pub async fn run(library: &Library, ingest: &Ingest, search: &Search, shutdown: CancellationToken) {
    loop {
        let worked = tokio::select! {
            worked = next(library, ingest, search) => worked,
            () = shutdown.cancelled() => return,
        };
        match worked {
            Ok(true) => {}
            Ok(false) => tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = shutdown.cancelled() => return,
            },
            Err(fault) => {
                tracing::error!(error = ?fault, "Could not look for boxes to reindex");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

/// Runs one that was requested; `false` where there is none.
pub async fn next(library: &Library, ingest: &Ingest, search: &Search) -> Result<bool, Fault> {
    let Some((box_id, action)) = library.catalog.take_reindex().await? else { return Ok(false) };
    let writing = Writing::for_operator(box_id);
    let done = match action {
        ReindexAction::Rebuild => rebuild(library, ingest, search, &writing).await,
        ReindexAction::GoBack => go_back(library, &writing).await,
    };
    let state = match done {
        Ok(report) => {
            tracing::info!(box.id = %box_id, %report, "Reindexed a box");
            ReindexState::Done(report.to_string())
        }
        Err(fault) => {
            tracing::error!(box.id = %box_id, error = ?fault, "Could not reindex a box");
            ReindexState::Failed(fault.cause)
        }
    };
    library.catalog.note_reindex(&writing, state).await?;
    Ok(true)
}

/// Builds a draft while the box goes on as it is, catches up with the changes made meanwhile, and changes over. A draft
/// that fails is removed, with all its text.
async fn rebuild(
    library: &Library,
    ingest: &Ingest,
    search: &Search,
    writing: &Writing,
) -> Result<Value, Fault> {
    library.index.draft().drop_box(writing).await?;
    let before = library.index.contents(writing.reading()).await?.model;
    let (contents, compared, held) = match build(library, ingest, search, writing).await {
        Ok(built) => built,
        Err(fault) => {
            let _held = library.hold(writing.box_id()).await?;
            library.index.draft().drop_box(writing).await?;
            return Err(fault);
        }
    };
    let _held = adopt(library, writing, held).await?;
    let after = library.index.contents(writing.reading()).await?;
    for held in &after.files {
        library.catalog.note_chunks(writing, held.file, held.chunks as u32).await?;
    }
    let chunks: u64 = after.files.iter().map(|held| held.chunks).sum();
    Ok(json!({
        "files": contents.files.len(), "chunks": chunks,
        "modelBefore": before, "model": ingest.embedder.id(),
        "queriesCompared": compared.len(), "overlap": mean(&compared),
    }))
}

/// The draft with all that the box has, and the box held, so that nobody changes it until the draft is in place.
async fn build(
    library: &Library,
    ingest: &Ingest,
    search: &Search,
    writing: &Writing,
) -> Result<(Contents, Vec<f64>, Held), Fault> {
    let mut draft = Draft::default();
    catch_up(library, ingest, writing, &mut draft, false).await?;
    let compared = compare(library, search, writing).await?;
    let held = library.hold(writing.box_id()).await?;
    if !library.catalog.box_stays(writing.box_id()).await? {
        return Err(Fault::new(Reason::NotFound, "the box was deleted meanwhile"));
    }
    let contents = catch_up(library, ingest, writing, &mut draft, true).await?;
    Ok((contents, compared, held))
}

/// Changes over, to the end: the index does so also when nobody waits for it any more, and the box stays held that long.
async fn adopt(library: &Library, writing: &Writing, held: Held) -> Result<Held, Fault> {
    let (index, writing) = (library.index.clone(), *writing);
    let adopting = tokio::spawn(async move { index.adopt(&writing).await.map(|()| held) });
    adopting.await.map_err(Fault::internal)?
}

/// Copies what the draft lacks and takes out what the box no longer has. Unless the whole box is held, each file is claimed
/// while it is stored, and left out where it was deleted or replaced meanwhile.
async fn catch_up(
    library: &Library,
    ingest: &Ingest,
    writing: &Writing,
    draft: &mut Draft,
    box_held: bool,
) -> Result<Contents, Fault> {
    let contents = library.index.contents(writing.reading()).await?;
    draft.forget(ingest, writing, &contents).await?;
    let lacking = draft.lacks(&contents);
    for (at, held) in lacking.iter().enumerate() {
        let state = ReindexState::Running(at as u32, lacking.len() as u32);
        library.catalog.note_reindex(writing, state).await?;
        let Some(record) = record_of(library, writing, held.file).await? else { continue };
        let embedded = Draft::embed(ingest, writing, held, record.name.as_str()).await?;
        let claimed = match box_held {
            true => None,
            false => Some(library.claim(writing.box_id(), held.file).await?),
        };
        // One that was replaced meanwhile is copied the next time; its old text is not to be anywhere any more.
        let unchanged = library.index.revision(writing.reading(), held.file).await? == Some(held.revision);
        if unchanged && record_of(library, writing, held.file).await?.is_some() {
            draft.store(ingest, writing, held, embedded, claimed).await?;
        }
    }
    Ok(contents)
}

async fn record_of(library: &Library, writing: &Writing, file: FileId) -> Result<Option<FileRecord>, Fault> {
    Ok(library.catalog.files(writing.reading(), &[file]).await?.pop().flatten())
}

/// For each recent query, the share of its hits then that the draft finds too.
async fn compare(library: &Library, search: &Search, writing: &Writing) -> Result<Vec<f64>, Fault> {
    let search = search.over(library.index.draft());
    let mut shares = Vec::new();
    for recent in library.catalog.recent_queries(writing.reading()).await? {
        let request = SearchRequest { top_k: COMPARED, ..SearchRequest::new(recent.query) };
        let now: HashSet<_> = places(&search.run(writing.reading(), request).await?).into_iter().collect();
        if !recent.found.is_empty() {
            let kept = recent.found.iter().filter(|place| now.contains(place)).count();
            shares.push(kept as f64 / recent.found.len() as f64);
        }
    }
    Ok(shares)
}

fn mean(shares: &[f64]) -> Option<f64> {
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// Changes back. Files that came or changed since are not in the old index: they are read again.
async fn go_back(library: &Library, writing: &Writing) -> Result<Value, Fault> {
    let (index, draft) = (&library.index, library.index.draft());
    let held = library.hold(writing.box_id()).await?;
    if !library.catalog.box_stays(writing.box_id()).await? {
        return Err(Fault::new(Reason::NotFound, "the box was deleted meanwhile"));
    }
    let now = index.contents(writing.reading()).await?;
    let old = draft.contents(writing.reading()).await?;
    if old.files.is_empty() && !now.files.is_empty() {
        let cause = "there is no earlier index of this box to go back to";
        return Err(Fault::new(Reason::NotFound, cause));
    }
    let _held = adopt(library, writing, held).await?;
    let kept: HashSet<FileId> = old.files.iter().map(|held| held.file).collect();
    let lacking: Vec<FileId> =
        now.files.iter().map(|held| held.file).filter(|file| !kept.contains(file)).collect();
    for &file in &lacking {
        for superseded in library.catalog.requeue_file(writing, file).await? {
            library.remove_original(&superseded).await?;
        }
    }
    for held in &old.files {
        library.catalog.note_chunks(writing, held.file, held.chunks as u32).await?;
    }
    library.wake.notify_waiters();
    Ok(json!({"files": old.files.len(), "model": old.model, "readAgain": lacking.len()}))
}
