//! Indexes boxes again when an operator asks for it, or when their documents turn out to be in languages other than English:
//! beside the old index, without a gap, with a way back.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use engine::{
    Fault, Reason,
    access::{Writing, no_such_box},
    ids::{BoxId, FileId},
    ingest::{Draft, Ingest},
    seams::{
        catalog::{Action, Catalog, FileRecord, Held, NewEntry, RecentQuery, ReindexAction, ReindexState},
        embedder::Embedder,
        index::Contents,
    },
    search::{Search, SearchHits, SearchRequest},
};
use jiff::Timestamp;
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

/// Runs the reindexings that are requested, until shutdown.
pub async fn run(library: &Library, ingest: &Ingest, search: &Search, shutdown: CancellationToken) {
    // A server that had no model for other languages before, or stopped before it looked.
    match library.catalog.boxes().await {
        Ok(boxes) => boxes.iter().for_each(|record| library.look_at_language(record.id)),
        Err(fault) => tracing::error!(error = ?fault, "Could not look for boxes in other languages"),
    }
    loop {
        let worked = tokio::select! {
            worked = change_over_and_next(library, ingest, search) => worked,
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

async fn change_over_and_next(library: &Library, ingest: &Ingest, search: &Search) -> Result<bool, Fault> {
    change_over(library, ingest).await?;
    next(library, ingest, search).await
}

/// Turns boxes multilingual whose documents turned out to be, and says so in the audit log. Of several nodes that look at the same
/// box, the catalog lets one.
pub async fn change_over(library: &Library, ingest: &Ingest) -> Result<(), Fault> {
    let boxes = library.languages_to_look_at();
    if !ingest.embedders.turn_by_themselves() {
        return Ok(());
    }
    for box_id in boxes {
        match library.catalog.change_over(&Writing::for_operator(box_id)).await {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!(box.id = %box_id, "A box became multilingual");
                library.catalog.note(turned(box_id)).await?;
            }
            Err(fault) if fault.reason == Reason::BoxUnknown => {}
            // Being indexed already, or the catalog is away: it is looked at again.
            Err(fault) => {
                library.look_at_language(box_id);
                if fault.reason != Reason::Conflict {
                    return Err(fault);
                }
            }
        }
    }
    Ok(())
}

/// The line of the audit log.
fn turned(box_id: BoxId) -> NewEntry {
    let target = "auto: more than a tenth of the text is in languages other than English, so the index is rebuilt as \
                  multilingual";
    NewEntry {
        at: Timestamp::now(),
        user: None,
        who: "quire".into(),
        address: String::new(),
        box_id: Some(box_id),
        action: Action::BoxLanguageChanged,
        target: target.into(),
    }
}

/// Runs one that was requested; `false` where there is none.
pub async fn next(library: &Library, ingest: &Ingest, search: &Search) -> Result<bool, Fault> {
    let Some((box_id, action)) = library.catalog.take_reindex().await? else { return Ok(false) };
    let writing = Writing::for_operator(box_id);
    let done = match action {
        ReindexAction::Rebuild => rebuild(library, ingest, search, &writing).await,
        ReindexAction::GoBack => go_back(library, ingest, &writing).await,
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
    let record = library.catalog.boxes_of(&[*writing.reading()]).await?.pop().ok_or_else(no_such_box)?;
    let embedder = ingest.embedders.for_new(record.is_multilingual()).await?;
    let before = library.index.model(writing.reading()).await?;
    let (contents, compared, held) = match build(library, ingest, search, writing, &embedder).await {
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
        "modelBefore": before, "model": embedder.id(),
        "queriesCompared": compared.len(), "overlap": mean(&compared),
    }))
}

/// The draft with all that the box has, and the box held, so that nobody changes it until the draft is in place.
async fn build(
    library: &Library,
    ingest: &Ingest,
    search: &Search,
    writing: &Writing,
    embedder: &Arc<dyn Embedder>,
) -> Result<(Contents, Vec<f64>, Held), Fault> {
    let mut draft = Draft::default();
    catch_up(library, ingest, writing, embedder, &mut draft, false).await?;
    let compared = compare(library, search, writing).await?;
    let held = library.hold(writing.box_id()).await?;
    if !library.catalog.box_stays(writing.box_id()).await? {
        return Err(Fault::new(Reason::NotFound, "the box was deleted meanwhile"));
    }
    let contents = catch_up(library, ingest, writing, embedder, &mut draft, true).await?;
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
    embedder: &Arc<dyn Embedder>,
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
        let embedded = Draft::embed(ingest, writing, held, record.name.as_str(), embedder).await?;
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

/// Changes back. Files that came or changed since are not in the old index: they are read again. A box that goes back to another
/// language stays with that, or it would turn again.
async fn go_back(library: &Library, ingest: &Ingest, writing: &Writing) -> Result<Value, Fault> {
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
    if let Some(model) = &old.model {
        let multilingual = ingest.embedders.knows_many(model);
        library.catalog.keep_language(writing, multilingual).await?;
    }
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
