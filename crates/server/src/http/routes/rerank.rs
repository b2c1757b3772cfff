//! `POST /rerank`: puts texts in the order in which they answer a query, in the shape of Cohere and Jina.

use axum::{Json, extract::State};
use engine::{
    Fault, blocking, cost,
    seams::{catalog::Operation, embedder::Role},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        auth::Searcher,
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        request_id::RequestId,
    },
    payer::{Payer, Usage},
};

/// Texts in one request, as many as Cohere takes.
const MOST_TEXTS: usize = 1_000;
/// Texts that the model is given at a time: it refuses more than its queue holds.
const TEXTS_AT_ONCE: usize = 50;
/// Characters of a query, as everywhere.
const LONGEST_QUERY: usize = 4_000;

/// What to put in order.
#[derive(Deserialize, ToSchema)]
pub(super) struct RerankBody {
    /// The question, 1 to 4,000 characters.
    #[schema(example = "How long is the warranty?")]
    query: String,
    /// Up to 1,000 texts, or objects with a `text`.
    #[schema(value_type = Vec<Object>)]
    documents: Vec<Value>,
    /// The most results to return; all if left out.
    #[schema(minimum = 1)]
    top_n: Option<usize>,
    /// Whether to return the texts too.
    return_documents: Option<bool>,
    /// Any name: there is one model.
    #[expect(dead_code, reason = "clients always send it")]
    #[serde(default)]
    model: Option<Value>,
}

/// The texts in their order.
#[derive(Serialize, ToSchema)]
pub(super) struct Reranked {
    id: String,
    /// The model that read them.
    model: String,
    /// Best first.
    results: Vec<RankedText>,
    usage: Usage,
}

#[derive(Serialize, ToSchema)]
struct RankedText {
    /// Its place in `documents`, from 0.
    index: usize,
    /// 0 to 1.
    relevance_score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<TextObject>,
}

#[derive(Serialize, ToSchema)]
struct TextObject {
    text: String,
}

/// Puts texts in the order in which they answer a query. Costs 1 intelligence unit per 20 texts;
/// a text that is too long to be read at once counts for each of its parts.
#[utoipa::path(post, path = "/rerank", operation_id = "rerank_texts", tag = "models", request_body = RerankBody, responses(
    (status = 200, description = "The texts, best first; the shape of Cohere and Jina, without the envelope", body = Reranked),
    (status = "4XX", description = "The key or the body is wrong, or units are used up", body = ErrorEnvelope)
))]
pub(super) async fn rerank(
    State(app): State<App>,
    _: Searcher,
    payer: Payer,
    id: RequestId,
    body: JsonBody<RerankBody>,
) -> Result<Json<Reranked>, Failure> {
    let RerankBody { query, documents, top_n, return_documents, .. } = body.value;
    check_query(&query)?;
    let texts = texts(documents)?;
    if top_n == Some(0) {
        return Err(Fault::invalid("top_n", "`top_n` must be 1 or more, not 0").into());
    }
    let turn = payer.turn().await?;
    let (cost, texts) = priced(&app, query.clone(), texts).await?;
    let charge = payer.reserve(Operation::Rerank, cost).await?;
    let (model, scores) = turn.serve(scores(&app, &query, &texts)).await?;
    let mut results: Vec<RankedText> = (0..)
        .zip(scores)
        .map(|(index, relevance_score)| RankedText { index, relevance_score, document: None })
        .collect();
    results.sort_by(|a, b| b.relevance_score.total_cmp(&a.relevance_score));
    results.truncate(top_n.unwrap_or(usize::MAX));
    if return_documents.unwrap_or(false) {
        for result in &mut results {
            result.document = Some(TextObject { text: texts[result.index].clone() });
        }
    }
    Ok(Json(Reranked { id: id.to_string(), model, results, usage: charge.settle(cost).await? }))
}

/// What it costs to read these texts, and the texts again.
async fn priced(app: &App, query: String, texts: Vec<String>) -> Result<(u64, Vec<String>), Fault> {
    let embedder = app.ingest.embedders.usual().clone();
    blocking::run(move |_| {
        let tokens: Vec<usize> = texts.iter().map(|text| embedder.count_tokens(text)).collect();
        (cost::rerank(embedder.count_tokens(&query), &tokens), texts)
    })
    .await
}

/// How likely each text is to answer the query, 0 to 1: by the cross-encoder, or by likeness where there is none.
async fn scores(app: &App, query: &str, texts: &[String]) -> Result<(String, Vec<f32>), Fault> {
    let mut scores = Vec::with_capacity(texts.len());
    if let Some(reranker) = app.search.reranker() {
        for some in texts.chunks(TEXTS_AT_ONCE) {
            let raw = reranker.score(query, some.to_vec()).await?;
            scores.extend(raw.into_iter().map(|raw| 1.0 / (1.0 + (-raw).exp())));
        }
        return Ok((reranker.id().to_string(), scores));
    }
    let embedder = app.ingest.embedders.usual();
    let question = embedder.embed(vec![query.to_string()], Role::Query, false).await?;
    let question = question.first().ok_or_else(|| Fault::internal("no vector for a query"))?;
    for some in texts.chunks(TEXTS_AT_ONCE) {
        for embedding in embedder.embed(some.to_vec(), Role::Passage, false).await? {
            let cosine: f32 = question.vector.iter().zip(&embedding.vector).map(|(a, b)| a * b).sum();
            scores.push(cosine.clamp(0.0, 1.0));
        }
    }
    Ok((embedder.id().to_string(), scores))
}

fn check_query(query: &str) -> Result<(), Fault> {
    let characters = query.chars().count();
    if query.trim().is_empty() {
        return Err(Fault::invalid("query", "`query` is empty; it needs 1 to 4,000 characters"));
    }
    if characters > LONGEST_QUERY {
        return Err(Fault::invalid(
            "query",
            format!("`query` has {characters} characters; the limit is 4,000"),
        ));
    }
    Ok(())
}

fn texts(documents: Vec<Value>) -> Result<Vec<String>, Fault> {
    if documents.is_empty() || documents.len() > MOST_TEXTS {
        return Err(Fault::invalid("documents", "`documents` must contain 1 to 1,000 texts"));
    }
    let read = |(at, document): (usize, Value)| match document {
        Value::String(text) => Ok(text),
        Value::Object(fields) if fields.get("text").is_some_and(Value::is_string) => {
            Ok(fields["text"].as_str().unwrap_or_default().to_string())
        }
        _ => {
            let name = format!("documents[{at}]");
            Err(Fault::invalid(&name, format!("`{name}` must be a string, or an object with a `text` field")))
        }
    };
    documents.into_iter().enumerate().map(read).collect()
}
