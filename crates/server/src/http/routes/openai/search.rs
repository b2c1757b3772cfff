//! `POST /vector_stores/{box_id}/search`: a search in OpenAI's shape.

use axum::{Json, extract::State};
use engine::{
    Fault,
    search::{Hit, SearchRequest},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{super::finding, filters, named};
use crate::{
    app::App,
    http::{
        auth::SearchingBox,
        body::{self, JsonBody},
        error::{ErrorEnvelope, Failure},
        request_id::RequestId,
    },
    payer::{Payer, Usage},
};

/// Queries in one request; each is a search of its own.
const MOST_QUERIES: usize = 8;

/// What to search for.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct StoreSearchBody {
    /// A question, or up to eight; each is charged as a search.
    #[schema(value_type = Object, example = "How long is the warranty?")]
    query: Option<Value>,
    /// A condition on the files' attributes, `{"type": "gte", "key": "year", "value": 2020}`, and on `$file.tags`,
    /// `$file.name` and the like.
    #[schema(value_type = Option<Object>)]
    filters: Option<Value>,
    /// The most results to return, 1 to 50; 10 if left out.
    #[schema(minimum = 1, maximum = 50)]
    max_num_results: Option<usize>,
    ranking_options: Option<RankingOptions>,
    /// Without effect: quire searches for what was asked.
    #[expect(dead_code, reason = "clients may send it")]
    #[serde(default)]
    rewrite_query: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
pub(super) struct RankingOptions {
    /// none for no reranking; every other name is ours.
    pub(super) ranker: Option<String>,
    /// The lowest score of a result, 0 to 1.
    pub(super) score_threshold: Option<f32>,
}

/// A page of results, which is also the last.
#[derive(Serialize, ToSchema)]
pub(in super::super) struct ResultPage {
    #[schema(example = "vector_store.search_results.page")]
    object: &'static str,
    search_query: Vec<String>,
    /// Best first.
    data: Vec<SearchResult>,
    has_more: bool,
    #[schema(value_type = Option<String>)]
    next_page: Option<()>,
    usage: Usage,
}

#[derive(Serialize, ToSchema)]
struct SearchResult {
    file_id: String,
    filename: String,
    /// 0 to 1.
    score: f32,
    /// The file's metadata.
    #[schema(value_type = Object)]
    attributes: Map<String, Value>,
    content: [TextPart; 1],
}

#[derive(Serialize, ToSchema)]
struct TextPart {
    #[schema(example = "text")]
    r#type: &'static str,
    text: String,
}

/// Searches a box. Costs 1 to 4 intelligence units per query.
#[utoipa::path(post, path = "/vector_stores/{box_id}/search", operation_id = "search_vector_store", tag = "documents",
    params(("box_id" = String, Path, description = "The box")),
    request_body = StoreSearchBody,
    responses(
        (status = 200, description = "The passages found, best first; OpenAI's shape, without the envelope", body = ResultPage),
        (status = "4XX", description = "The key, its role or the body is wrong, or units are used up", body = ErrorEnvelope)
    ))]
pub(in super::super) async fn search(
    State(app): State<App>,
    SearchingBox(reading): SearchingBox,
    payer: Payer,
    id: RequestId,
    body: JsonBody<StoreSearchBody>,
) -> Result<Json<ResultPage>, Failure> {
    let StoreSearchBody { query, filters, max_num_results, ranking_options, .. } = body.value;
    let queries = queries(query)?;
    let filter = filters.filter(|filters| !filters.is_null());
    let filter = filter.as_ref().map(filters::parse).transpose()?;
    let requests = queries.iter().map(|query| request(query, max_num_results, ranking_options.as_ref()));
    let requests = requests.collect::<Result<Vec<_>, Fault>>()?;
    let found = finding::search(&app, &payer, id, &[reading], requests, filter).await?;
    let data = found.hits.into_iter().map(|(hit, file)| SearchResult {
        file_id: named::id_of(&file),
        filename: file.name.as_str().to_string(),
        score: hit.score,
        attributes: filters::attributes(&file.metadata),
        content: [TextPart::of(hit)],
    });
    Ok(Json(ResultPage {
        object: "vector_store.search_results.page",
        search_query: queries,
        data: data.collect(),
        has_more: false,
        next_page: None,
        usage: found.usage,
    }))
}

/// What a body says, before anything is looked up.
pub(super) fn read(bytes: &[u8]) -> Result<(), Fault> {
    let body = body::parse::<StoreSearchBody>(bytes)?.value;
    let filters = body.filters.filter(|filters| !filters.is_null());
    filters.as_ref().map(filters::parse).transpose()?;
    for query in queries(body.query)? {
        request(&query, body.max_num_results, body.ranking_options.as_ref())?;
    }
    Ok(())
}

impl TextPart {
    fn of(hit: Hit) -> Self {
        TextPart { r#type: "text", text: hit.chunk.text }
    }
}

fn request(
    query: &str,
    most: Option<usize>,
    ranking: Option<&RankingOptions>,
) -> Result<SearchRequest, Fault> {
    let usual = SearchRequest::new(query);
    let top_k = most.unwrap_or(usual.top_k);
    if !(1..=50).contains(&top_k) {
        let cause = format!("`max_num_results` must be from 1 to 50, not {top_k}");
        return Err(Fault::invalid("max_num_results", cause));
    }
    let threshold = ranking.and_then(|options| options.score_threshold).unwrap_or(usual.threshold);
    if !(0.0..=1.0).contains(&threshold) {
        let cause = format!("`ranking_options.score_threshold` must be from 0 to 1, not {threshold}");
        return Err(Fault::invalid("ranking_options.score_threshold", cause));
    }
    let rerank = ranking.and_then(|options| options.ranker.as_deref()) != Some("none");
    Ok(SearchRequest { top_k, threshold, rerank, ..usual })
}

fn queries(query: Option<Value>) -> Result<Vec<String>, Fault> {
    let wrong = || Fault::invalid("query", "`query` must be a string or an array of 1 to 8 strings");
    match query {
        None | Some(Value::Null) => Err(Fault::missing("query", "what to search for")),
        Some(Value::String(query)) => Ok(vec![query]),
        Some(Value::Array(queries)) if (1..=MOST_QUERIES).contains(&queries.len()) => {
            queries.into_iter().map(|query| query.as_str().map(str::to_string).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}
