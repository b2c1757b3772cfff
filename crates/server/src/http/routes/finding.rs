//! Searches for routes that have a shape of somebody else's: the same search, charged in the same way.

use std::collections::{HashMap, HashSet};

use engine::{
    Fault,
    access::Reading,
    cost,
    ids::FileId,
    seams::catalog::{FileRecord, Filter, Operation},
    search::{Hit, SearchRequest},
};

use super::narrowing::Narrowing;
use crate::{
    app::App,
    http::request_id::RequestId,
    payer::{Payer, Usage},
};

/// What was found: passages, best first, each with its file.
pub(crate) struct Found {
    pub(crate) hits: Vec<(Hit, FileRecord)>,
    pub(crate) usage: Usage,
}

/// Runs every request in all of the boxes together, and puts what was found in one order. `top_k` of the first request holds for
/// all of them, and its query for all that is remembered.
pub(crate) async fn search(
    app: &App,
    payer: &Payer,
    id: RequestId,
    readings: &[Reading],
    requests: Vec<SearchRequest>,
    filter: Option<Filter>,
) -> Result<Found, Fault> {
    requests.iter().try_for_each(SearchRequest::check)?;
    let top_k = requests.first().map_or(0, |request| request.top_k);
    let most = requests.iter().map(|request| app.search.bounds(request).max).sum();
    let turn = payer.turn().await?;
    let mut charge = payer.reserve(Operation::Search, most).await?;
    let asked = requests.first().map(|request| request.query.clone()).unwrap_or_default();
    charge.about(readings, &asked);
    charge.say("gen_ai.retrieval.top_k", top_k);
    let only = Narrowing::by(filter).only(app, readings, None).await?;
    let (mut hits, mut spent) = (Vec::new(), 0);
    for request in requests {
        let query = request.query.clone();
        let request = SearchRequest { only: only.clone(), ..request };
        let found = turn.serve(app.search.across(readings, request)).await?;
        if let [reading] = readings {
            app.recent_queries.note(reading.box_id(), &query, &found);
        }
        spent += cost::search(&found.work, found.hits.len());
        hits.extend(found.hits);
    }
    let hits = best(hits, top_k);
    app.questions.searched(id.question(), readings, &asked, &hits);
    let hits = with_files(app, readings, hits).await?;
    Ok(Found { hits, usage: charge.settle(spent).await? })
}

/// Each passage once, by its best score.
fn best(mut hits: Vec<Hit>, most: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = HashSet::new();
    hits.retain(|hit| seen.insert(hit.id));
    hits.truncate(most);
    hits
}

/// A file that was deleted meanwhile takes its hits with it.
async fn with_files(
    app: &App,
    readings: &[Reading],
    hits: Vec<Hit>,
) -> Result<Vec<(Hit, FileRecord)>, Fault> {
    let ids: Vec<FileId> = hits.iter().map(|hit| hit.id.file).collect::<HashSet<_>>().into_iter().collect();
    let mut files: HashMap<FileId, FileRecord> = HashMap::new();
    for reading in readings {
        let records = app.catalog.files(reading, &ids).await?;
        files.extend(records.into_iter().flatten().map(|record| (record.id, record)));
    }
    Ok(hits.into_iter().filter_map(|hit| files.get(&hit.id.file).cloned().map(|file| (hit, file))).collect())
}
