//! `POST /boxes/{box_id}/retrieve-documents` and `POST /retrieve-documents`: semantic search with reranking, in one box or several.

use std::collections::{BTreeSet, HashMap, HashSet};

use axum::extract::State;
use engine::{
    Fault,
    access::{Caller, Reading, no_such_box},
    cost,
    ids::{BoxId, ChunkId, FileId},
    layout::Region,
    seams::{
        catalog::{FileRecord, Metadata, Operation},
        index::Correction,
    },
    search::{Context, Highlight, Hit, Mode, Models, Ranks, Scores, SearchHits, SearchRequest, WhyNot},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    narrowing::{Narrowing, RecencyBody},
    sources,
};
use crate::{
    app::App,
    http::{
        BASE,
        auth::{Searcher, SearchingBox},
        body::JsonBody,
        error::ErrorEnvelope,
        origin::Origin,
        reply::{Envelope, Reply, Success},
        request_id::RequestId,
    },
    payer::{Payer, Usage},
};

/// What to search for and how.
#[derive(Deserialize, ToSchema)]
pub(super) struct SearchBody {
    /// The question, 1 to 4,000 characters.
    #[schema(example = "How long is the warranty?")]
    query: String,
    /// Only these files; the whole box if left out.
    sources: Option<Vec<String>>,
    /// The most passages to return, 1 to 50; 10 if left out.
    #[schema(minimum = 1, maximum = 50)]
    top_k: Option<usize>,
    /// The lowest score of a passage, 0 to 1; 0 if left out.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f32>,
    /// By meaning, by words, or by both.
    mode: Option<ModeName>,
    /// Whether to rerank the best candidates; true if left out.
    rerank: Option<bool>,
    /// A condition on the files: on their metadata, `{"year": {"$gte": 2020}}`, and on `$file.tags`, `$file.name`,
    /// `$file.mediaType`, `$file.language`, `$file.createdAt`, `$file.updatedAt`.
    #[schema(value_type = Option<Object>)]
    filter: Option<Value>,
    /// How much newer files are preferred.
    recency: Option<RecencyBody>,
    /// The boxes to search, 1 to 10; for `POST /retrieve-documents` only.
    boxes: Option<Vec<String>>,
    /// The most passages of one document.
    #[schema(minimum = 1)]
    max_chunks_per_document: Option<usize>,
    /// Neighbouring passages to return with each, 0 to 3 on either side.
    #[schema(maximum = 3)]
    context: Option<usize>,
    /// Whether to explain how each passage was found, and why a source has none.
    explain: Option<bool>,
    /// The most intelligence units that this search may cost; less work is done to stay within them.
    #[schema(minimum = 1)]
    max_units: Option<u64>,
    /// Whether to answer only what the search would cost.
    dry_run: Option<bool>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Hybrid,
    Semantic,
    Keyword,
}

/// What a search found.
#[derive(Serialize, ToSchema)]
pub(super) struct Found {
    /// One entry: the query with its passages.
    documents: [QueryResult; 1],
    usage: Usage,
}

#[derive(Serialize, ToSchema)]
struct QueryResult {
    query: String,
    count: usize,
    /// The passages, best first.
    documents: Vec<ChunkObject>,
    /// For each source without a passage, the stage at which it dropped out; with `explain` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<Vec<WhyNotObject>>,
    /// Words that the box does not have, and those of the box that were searched for instead; with `explain` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<Vec<CorrectedObject>>,
    /// What the boxes were searched with: the embedder that filled them, and the cross-encoder that read after it. Where that is
    /// null, late interaction alone reranked; with `explain` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    models: Option<Vec<Models>>,
}

/// A word that was taken for a misspelling of another.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CorrectedObject {
    written: String,
    taken_for: String,
}

/// A passage as the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChunkObject {
    #[schema(value_type = String)]
    id: ChunkId,
    rank: usize,
    /// How likely the passage is to be relevant, 0 to 1.
    score: f32,
    #[schema(value_type = Object)]
    scores: Scores,
    text: String,
    #[schema(value_type = String)]
    box_id: BoxId,
    #[schema(value_type = String)]
    file_id: FileId,
    file_name: String,
    media_type: String,
    page: u32,
    page_end: u32,
    /// Code point offsets into the text of the page.
    start: u32,
    end: u32,
    /// Where the query's words are, on the same page.
    #[schema(value_type = Vec<Object>)]
    highlights: Vec<Highlight>,
    /// Where the passage stands on its pages: `page`, `x`, `y`, `w`, `h`, shares of the page's width and height from the top
    /// left corner. PDFs and pictures only; highlights have them too.
    #[schema(value_type = Option<Vec<Object>>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<Region>,
    /// The headings above it, outermost first.
    section: Vec<String>,
    language: Option<String>,
    #[schema(value_type = Object)]
    metadata: Metadata,
    link: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<ExplainObject>,
}

/// The passages around one.
#[derive(Serialize, ToSchema)]
struct ContextObject {
    before: Vec<NeighbourObject>,
    after: Vec<NeighbourObject>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NeighbourObject {
    #[schema(value_type = String)]
    id: ChunkId,
    text: String,
    page: u32,
    page_end: u32,
    start: u32,
    end: u32,
}

/// How a passage was found.
#[derive(Serialize, ToSchema)]
struct ExplainObject {
    /// Its rank in each stage, from 1; null where the stage did not see it.
    #[schema(value_type = Object)]
    ranks: Ranks,
    /// Passages that say the same and are not shown.
    #[schema(value_type = Vec<String>)]
    copies: Vec<ChunkId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WhyNotObject {
    #[schema(value_type = String)]
    file_id: FileId,
    /// recall, fuse, rerank, threshold, group or `top_k`
    #[schema(value_type = String)]
    stage: engine::search::Stage,
}

/// Searches a box. Costs 1 to 4 intelligence units.
#[utoipa::path(post, path = "/boxes/{box_id}/retrieve-documents", operation_id = "retrieve_documents", tag = "documents",
    params(("box_id" = String, Path, description = "The box")),
    request_body = SearchBody,
    responses(
        (status = 200, description = "The passages found, best first", body = Envelope<Found>),
        (status = "4XX", description = "The key, its role or the body is wrong, or units are used up", body = ErrorEnvelope)
    ))]
pub(super) async fn retrieve(
    State(app): State<App>,
    SearchingBox(reading): SearchingBox,
    payer: Payer,
    origin: Origin,
    id: RequestId,
    body: JsonBody<SearchBody>,
) -> Reply<Found> {
    if body.value.boxes.is_some() {
        let cause = "`boxes` cannot be used when the path names the box; use POST /retrieve-documents";
        return Err(Fault::invalid("boxes", cause).into());
    }
    answer(&app, vec![reading], payer, (&origin, id), body).await
}

/// Searches several boxes at once; their passages are ranked together. Costs 1 to 4 intelligence units, whatever their number.
#[utoipa::path(post, path = "/retrieve-documents", operation_id = "retrieve_documents_across_boxes", tag = "documents",
    request_body = SearchBody,
    responses(
        (status = 200, description = "The passages found, best first", body = Envelope<Found>),
        (status = "4XX", description = "The key, its role or the body is wrong, or units are used up", body = ErrorEnvelope)
    ))]
pub(super) async fn retrieve_across(
    State(app): State<App>,
    Searcher(caller): Searcher,
    payer: Payer,
    origin: Origin,
    id: RequestId,
    mut body: JsonBody<SearchBody>,
) -> Reply<Found> {
    let boxes = body.value.boxes.take();
    let boxes = boxes.ok_or_else(|| Fault::missing("boxes", "the ids of the boxes to search"))?;
    let readings = several(&caller, &boxes)?;
    answer(&app, readings, payer, (&origin, id), body).await
}

/// The right to search each of these boxes, each once.
pub(super) fn several(caller: &Caller, boxes: &[String]) -> Result<Vec<Reading>, Fault> {
    let distinct: BTreeSet<&str> = boxes.iter().map(|id| id.trim()).collect();
    if !(1..=MOST_BOXES).contains(&distinct.len()) {
        let cause = format!("`boxes` must name 1 to {MOST_BOXES} boxes, not {}", distinct.len());
        return Err(Fault::invalid("boxes", cause));
    }
    let one = |id: &str| caller.may_search(id.parse().map_err(|_| no_such_box())?);
    distinct.into_iter().map(|id| one(id).map_err(|fault| fault.param("boxes"))).collect()
}

/// Boxes in one search: each is asked for candidates, in one turn.
pub(super) const MOST_BOXES: usize = 10;

async fn answer(
    app: &App,
    readings: Vec<Reading>,
    payer: Payer,
    (origin, id): (&Origin, RequestId),
    body: JsonBody<SearchBody>,
) -> Reply<Found> {
    let (explain, dry_run) = (body.value.explain.unwrap_or(false), body.value.dry_run.unwrap_or(false));
    let (mut request, narrowing) = body.value.request(app, &readings).await?;
    let (query, bounds) = (request.query.clone(), app.search.bounds(&request));
    if dry_run {
        let usage = payer.estimate(bounds).await?;
        let found = Found { documents: [QueryResult::nothing(query)], usage };
        return Ok(Success::with_warnings(found, body.warnings));
    }
    let turn = payer.turn().await?;
    let mut charge = payer.reserve(Operation::Search, bounds.max).await?;
    charge.about(&readings, &query);
    charge.say("gen_ai.retrieval.top_k", request.top_k);
    request.only = narrowing.only(app, &readings, request.only.take()).await?;
    request.freshness = narrowing.freshness(app, &readings).await?;
    let found = turn.serve(app.search.across(&readings, request)).await?;
    if let [reading] = &readings[..] {
        app.recent_queries.note(reading.box_id(), &query, &found);
    }
    app.questions.searched(id.question(), &readings, &query, &found.hits);
    let cost = cost::search(&found.work, found.hits.len());
    let result = present(app, &readings, origin, query, found, explain).await?;
    let found = Found { documents: [result], usage: charge.settle(cost).await? };
    Ok(Success::with_warnings(found, body.warnings))
}

impl QueryResult {
    fn nothing(query: String) -> Self {
        QueryResult { query, count: 0, documents: Vec::new(), why_not: None, corrected: None, models: None }
    }
}

impl SearchBody {
    /// What the engine is asked, and the filter that still has to be applied: that takes work, which waits for its turn and
    /// is paid for. Names files that are not there or not ready.
    async fn request(self, app: &App, readings: &[Reading]) -> Result<(SearchRequest, Narrowing), Fault> {
        let Wanted { mut request, narrowing, sources } = self.wanted()?;
        if let Some(sources) = sources {
            let (files, _) = sources::find(app, readings, sources, false).await?;
            request.only = Some(files.into_iter().map(|file| file.id).collect());
        }
        Ok((request, narrowing))
    }

    /// What the body says by itself, before anything is looked up.
    pub(super) fn wanted(self) -> Result<Wanted, Fault> {
        if self.max_units == Some(0) {
            return Err(Fault::invalid(
                "max_units",
                "`max_units` must be 1 or more; a search costs at least 1",
            ));
        }
        let usual = SearchRequest::new(self.query);
        let request = SearchRequest {
            top_k: self.top_k.unwrap_or(usual.top_k),
            threshold: self.threshold.unwrap_or(usual.threshold),
            mode: self.mode.map_or(usual.mode, ModeName::mode),
            rerank: self.rerank.unwrap_or(usual.rerank),
            max_chunks_per_document: self.max_chunks_per_document,
            context: self.context.unwrap_or(usual.context),
            explain: self.explain.unwrap_or(usual.explain),
            regions: true,
            most: self.max_units.map_or(usual.most, cost::search_within),
            ..usual
        };
        request.check()?;
        let narrowing = Narrowing::parse(self.filter.as_ref(), self.recency)?;
        Ok(Wanted { request, narrowing, sources: self.sources })
    }
}

/// What a body asks for; its sources are names still, and its filter has matched nothing yet.
pub(super) struct Wanted {
    request: SearchRequest,
    narrowing: Narrowing,
    sources: Option<Vec<String>>,
}

impl ModeName {
    fn mode(self) -> Mode {
        match self {
            ModeName::Hybrid => Mode::Hybrid,
            ModeName::Semantic => Mode::Semantic,
            ModeName::Keyword => Mode::Keyword,
        }
    }
}

/// Hits with what the catalog knows of their files. A file that was deleted meanwhile takes its hits with it.
async fn present(
    app: &App,
    readings: &[Reading],
    origin: &Origin,
    query: String,
    found: SearchHits,
    explain: bool,
) -> Result<QueryResult, Fault> {
    let ids: Vec<FileId> =
        found.hits.iter().map(|hit| hit.id.file).collect::<HashSet<_>>().into_iter().collect();
    let mut files: HashMap<FileId, FileRecord> = HashMap::new();
    for reading in readings {
        let records = app.catalog.files(reading, &ids).await?;
        files.extend(records.into_iter().flatten().map(|record| (record.id, record)));
    }
    let mut documents: Vec<ChunkObject> = Vec::with_capacity(found.hits.len());
    for hit in found.hits {
        if let Some(file) = files.get(&hit.id.file) {
            let rank = documents.len() + 1;
            documents.push(ChunkObject::of(hit, file, rank, origin, explain));
        }
    }
    let why_not = explain.then(|| found.why_not.iter().map(WhyNotObject::of).collect());
    let corrected = explain.then(|| found.corrected.into_iter().map(CorrectedObject::of).collect());
    let models = explain.then_some(found.models);
    Ok(QueryResult { query, count: documents.len(), documents, why_not, corrected, models })
}

impl ChunkObject {
    fn of(hit: Hit, file: &FileRecord, rank: usize, origin: &Origin, explain: bool) -> Self {
        let context = ContextObject::of(hit.id, hit.around);
        let chunk = hit.chunk;
        ChunkObject {
            id: hit.id,
            rank,
            score: hit.score,
            scores: hit.scores,
            text: chunk.text,
            box_id: file.box_id,
            file_id: file.id,
            file_name: file.name.as_str().to_string(),
            media_type: file.media_type.clone(),
            // Programs read the file's record here; a browser is taken to this page of it in the dashboard.
            link: format!("{origin}{BASE}/files/{}?page={page}#page={page}", file.id, page = chunk.page),
            page: chunk.page,
            page_end: chunk.page_end,
            start: chunk.start,
            end: chunk.end,
            highlights: hit.highlights,
            regions: hit.regions,
            section: chunk.section.to_vec(),
            language: chunk.language,
            metadata: file.metadata.clone(),
            context,
            explain: explain.then_some(ExplainObject { ranks: hit.ranks, copies: hit.copies }),
        }
    }
}

impl ContextObject {
    fn of(id: ChunkId, around: Vec<Context>) -> Option<Self> {
        if around.is_empty() {
            return None;
        }
        let (before, after) = around.into_iter().partition(|context| context.id < id);
        let objects = |contexts: Vec<Context>| contexts.into_iter().map(NeighbourObject::of).collect();
        Some(ContextObject { before: objects(before), after: objects(after) })
    }
}

impl NeighbourObject {
    fn of(context: Context) -> Self {
        let Context { id, chunk } = context;
        NeighbourObject {
            id,
            text: chunk.text,
            page: chunk.page,
            page_end: chunk.page_end,
            start: chunk.start,
            end: chunk.end,
        }
    }
}

impl CorrectedObject {
    fn of(correction: Correction) -> Self {
        CorrectedObject { written: correction.written, taken_for: correction.taken_for }
    }
}

impl WhyNotObject {
    fn of(why: &WhyNot) -> Self {
        WhyNotObject { file_id: why.file, stage: why.stage }
    }
}
