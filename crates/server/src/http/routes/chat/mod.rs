//! `POST /chat/completions` and `POST /boxes/{box_id}/chat/completions`: answers from the documents, in OpenAI's shape.

mod answer;
pub(super) mod body;
mod named;
pub(super) mod sending;

use answer::CompletionEnvelope;
pub(crate) use answer::Head;
pub(super) use answer::finished;
use axum::{
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
};
pub(crate) use body::ChatBody;
use engine::{
    Fault, Reason,
    access::{Caller, Reading},
    seams::catalog::Operation,
    trace,
};

use crate::{
    app::App,
    http::{
        BASE,
        audience::Audience,
        auth::{Asking, Searcher, SearchingBox},
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        origin::Origin,
        request_id::RequestId,
    },
    payer::Payer,
};

/// Answers a question from the documents of the box that the body, the header `X-Box-Id` or `model` names; of several
/// boxes with `boxes` or `box:a,b` as the model.
#[utoipa::path(post, path = "/chat/completions", operation_id = "complete_chat", tag = "chat",
    params(("X-Box-Id" = Option<String>, Header, description = "The box, where the body names none")),
    request_body = ChatBody,
    responses(
        (status = 200, description = "The answer; with `stream`, server-sent events of chat.completion.chunk", body = CompletionEnvelope),
        (status = "4XX", description = "The key, its role or the body is wrong, or too few units are left", body = ErrorEnvelope),
        (status = "5XX", description = "The language model cannot be reached", body = ErrorEnvelope)
    ))]
pub(super) async fn complete(
    State(app): State<App>,
    Searcher(caller): Searcher,
    payer: Payer,
    origin: Origin,
    id: RequestId,
    headers: HeaderMap,
    body: JsonBody<ChatBody>,
) -> Result<Response, Failure> {
    let header = headers.get("x-box-id").map(|value| value.to_str().unwrap_or(""));
    let readings = named::find(&app, &caller, body.value.named_box(header)).await?;
    let audience = Audience::of_boxes(&app, &caller, readings.iter().map(Reading::box_id).collect());
    Ok(Box::pin(reply(&app, readings, payer, Head::new(audience, origin, id), body.value)).await?)
}

/// Answers a question from the documents of a box.
#[utoipa::path(post, path = "/boxes/{box_id}/chat/completions", operation_id = "complete_chat_in_box", tag = "chat",
    params(("box_id" = String, Path, description = "The box")),
    request_body = ChatBody,
    responses(
        (status = 200, description = "The answer; with `stream`, server-sent events of chat.completion.chunk", body = CompletionEnvelope),
        (status = "4XX", description = "The key, its role or the body is wrong, or too few units are left", body = ErrorEnvelope),
        (status = "5XX", description = "The language model cannot be reached", body = ErrorEnvelope)
    ))]
pub(super) async fn complete_in_box(
    State(app): State<App>,
    Asking(caller): Asking,
    SearchingBox(reading): SearchingBox,
    payer: Payer,
    origin: Origin,
    id: RequestId,
    body: JsonBody<ChatBody>,
) -> Result<Response, Failure> {
    let head = Head::new(Audience::of_key(&app, &caller, reading.box_id()), origin, id);
    Ok(Box::pin(reply(&app, vec![reading], payer, head, body.value)).await?)
}

/// The boxes that a body names by itself.
pub(super) async fn boxes_of(app: &App, caller: &Caller, body: &ChatBody) -> Result<Vec<Reading>, Fault> {
    named::find(app, caller, body.named_box(None)).await
}

/// Answers, whole or as a stream, and charges whoever pays.
pub(crate) async fn reply(
    app: &App,
    readings: Vec<Reading>,
    payer: Payer,
    head: Head,
    body: ChatBody,
) -> Result<Response, Fault> {
    let (stream, usage) = (body.stream.unwrap_or(false), body.usage_in_stream());
    let (mut request, narrowing, dry_run) = body.request(app, &readings).await?;
    let bounds = app.chat().bounds(&request);
    if dry_run {
        return Ok(answer::estimated(head, payer.estimate(bounds).await?, stream));
    }
    let head = if stream { head.seated()? } else { head };
    let turn = payer.turn().await?;
    let mut charge = payer.reserve(Operation::Chat, bounds.max).await?;
    charge.about(&readings, request.turns.last().map_or("", |turn| &turn.text));
    request.only = narrowing.only(app, &readings, request.only.take()).await?;
    request.freshness = narrowing.freshness(app, &readings).await?;
    let chat = app.chat();
    let answering = trace::carried(async move { chat.ask_across(&readings, request, turn).await });
    match stream {
        true => Box::pin(answer::streamed(head, answering, charge, usage)).await,
        false => answer::whole(head, answering.await?, charge).await,
    }
}

/// The answer to requests for OpenAI's other endpoints.
pub(super) async fn elsewhere(uri: Uri) -> Failure {
    let name = uri.path().rsplit('/').next().unwrap_or_default();
    let cause = format!(
        "quire does not have the endpoint `{}`",
        if name == "responses" { "responses" } else { "completions" }
    );
    Failure(
        Fault::new(Reason::NotFound, cause)
            .hint(&format!(
                "send your prompt as `messages` to POST {BASE}/chat/completions, or use POST {BASE}/openai/v1/responses"
            )),
    )
}
