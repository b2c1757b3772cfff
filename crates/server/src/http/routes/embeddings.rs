//! `POST /embeddings`: texts as vectors of the model that boxes are indexed with, in OpenAI's shape.

use std::sync::Arc;

use axum::{Json, extract::State};
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::{
    Fault, blocking, cost,
    seams::{
        catalog::Operation,
        embedder::{Embedder, Embedding, Role},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        auth::Searcher,
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
    },
    payer::{Payer, Usage},
};

/// Texts in one request, as many as OpenAI takes.
const MOST_TEXTS: usize = 2_048;
/// Texts that the model is given at a time: enough for full batches, and others get a turn in between.
const TEXTS_AT_ONCE: usize = 64;

/// What to turn into vectors.
#[derive(Deserialize, ToSchema)]
pub(super) struct EmbeddingsBody {
    /// A text, or up to 2,048 of them.
    #[schema(value_type = Object, example = json!(["How long is the warranty?"]))]
    input: Option<Value>,
    /// `quire-multi-2`, or what the server calls its model for other languages; any other name is the usual model.
    #[schema(value_type = Option<String>)]
    #[serde(default)]
    model: Option<Value>,
    /// float or base64
    encoding_format: Option<Encoding>,
    /// The length of the vectors; only the model's own is possible.
    dimensions: Option<usize>,
    /// query or passage: questions are marked as such. passage if left out.
    input_type: Option<InputType>,
    #[expect(dead_code, reason = "clients may send it")]
    #[serde(default)]
    user: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Float,
    Base64,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum InputType {
    #[serde(alias = "search_query")]
    Query,
    #[serde(alias = "search_document", alias = "document")]
    Passage,
}

/// Vectors, in the order of the texts.
#[derive(Serialize, ToSchema)]
pub(super) struct EmbeddingList {
    #[schema(example = "list")]
    object: &'static str,
    data: Vec<EmbeddingObject>,
    /// The model that made them.
    model: String,
    usage: EmbeddingsUsage,
}

#[derive(Serialize, ToSchema)]
struct EmbeddingObject {
    #[schema(example = "embedding")]
    object: &'static str,
    index: usize,
    /// Numbers; with `encoding_format` base64 a text of little-endian 32-bit floats.
    #[schema(value_type = Object)]
    embedding: Value,
}

#[derive(Serialize, ToSchema)]
struct EmbeddingsUsage {
    prompt_tokens: usize,
    total_tokens: usize,
    /// Texts that are longer than the model reads at once: each vector is the mean of those of its parts.
    truncated: usize,
    #[serde(flatten)]
    units: Usage,
}

/// Turns texts into vectors. Costs 1 intelligence unit per 20,000 tokens.
#[utoipa::path(post, path = "/embeddings", operation_id = "create_embeddings", tag = "models", request_body = EmbeddingsBody, responses(
    (status = 200, description = "The vectors, in the order of the texts; OpenAI's shape, without the envelope", body = EmbeddingList),
    (status = "4XX", description = "The key or the body is wrong, or units are used up", body = ErrorEnvelope)
))]
pub(super) async fn embed(
    State(app): State<App>,
    _: Searcher,
    payer: Payer,
    body: JsonBody<EmbeddingsBody>,
) -> Result<Json<EmbeddingList>, Failure> {
    let EmbeddingsBody { input, model, encoding_format, dimensions, input_type, .. } = body.value;
    let named = model.as_ref().and_then(Value::as_str);
    let embedder = app.ingest.embedders.of_model(named).await?;
    let own = embedder.dimensions();
    if let Some(wanted) = dimensions.filter(|&wanted| wanted != own) {
        let cause = format!(
            "`dimensions` must be {own}, not {wanted}: the vectors of this model have a fixed length"
        );
        return Err(Fault::invalid("dimensions", cause).into());
    }
    let texts = texts(input)?;
    let role = match input_type {
        Some(InputType::Query) => Role::Query,
        Some(InputType::Passage) | None => Role::Passage,
    };
    let turn = payer.turn().await?;
    let Counted { texts, tokens, truncated } = counted(embedder.clone(), texts).await?;
    let cost = cost::embeddings(tokens);
    let mut charge = payer.reserve(Operation::Embeddings, cost).await?;
    charge.say("gen_ai.operation.name", "embeddings");
    charge.say("gen_ai.request.model", embedder.id());
    charge.say("gen_ai.embeddings.dimension.count", embedder.dimensions());
    charge.say("gen_ai.usage.input_tokens", tokens);
    let mut data = Vec::with_capacity(texts.len());
    for some in texts.chunks(TEXTS_AT_ONCE) {
        for embedding in turn.serve(embedder.embed(some.to_vec(), role, false)).await? {
            data.push(EmbeddingObject {
                object: "embedding",
                index: data.len(),
                embedding: written(&embedding, encoding_format),
            });
        }
    }
    let units = charge.settle(cost).await?;
    let usage = EmbeddingsUsage { prompt_tokens: tokens, total_tokens: tokens, truncated, units };
    Ok(Json(EmbeddingList { object: "list", data, model: embedder.id().to_string(), usage }))
}

/// Texts, how many tokens the model reads, and how many of the texts it does not read at once.
struct Counted {
    texts: Vec<String>,
    tokens: usize,
    truncated: usize,
}

async fn counted(embedder: Arc<dyn Embedder>, texts: Vec<String>) -> Result<Counted, Fault> {
    let count = move || {
        let most = embedder.max_tokens();
        let counts: Vec<usize> = texts.iter().map(|text| embedder.count_tokens(text)).collect();
        // A long text is read to its end, in parts, so all of it counts.
        let tokens = counts.iter().sum();
        let truncated = counts.iter().filter(|&&count| count > most).count();
        Counted { texts, tokens, truncated }
    };
    blocking::run(move |_| count()).await
}

fn written(embedding: &Embedding, encoding: Option<Encoding>) -> Value {
    match encoding {
        Some(Encoding::Base64) => {
            let bytes: Vec<u8> = embedding.vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            json!(STANDARD.encode(bytes))
        }
        Some(Encoding::Float) | None => json!(embedding.vector),
    }
}

fn texts(input: Option<Value>) -> Result<Vec<String>, Fault> {
    let wrong = |cause: &str| Fault::invalid("input", cause);
    let texts: Vec<String> = match input {
        None | Some(Value::Null) => return Err(Fault::missing("input", "a string or an array of strings")),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) if items.iter().any(|item| item.is_number() || item.is_array()) => {
            return Err(wrong("`input` contains token numbers of another model; send texts")
                .hint("LangChain does with check_embedding_ctx_length=False"));
        }
        Some(Value::Array(items)) => items
            .into_iter()
            .map(|item| item.as_str().map(str::to_string))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("`input` must be a string or an array of strings"))?,
        Some(_) => return Err(wrong("`input` must be a string or an array of strings")),
    };
    if texts.is_empty() || texts.len() > MOST_TEXTS {
        return Err(wrong("`input` must contain 1 to 2,048 texts"));
    }
    if texts.iter().any(|text| text.trim().is_empty()) {
        return Err(wrong("`input` contains an empty text; remove it"));
    }
    Ok(texts)
}
