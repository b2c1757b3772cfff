//! Answers in OpenAI's shape, whole or as a stream, with what is ours beside it.

use std::{collections::VecDeque, convert::Infallible, future::ready, pin::Pin, time::Duration};

use axum::{
    Json,
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use engine::{
    Fault,
    chat::{Answering, ChatWorkDone, Citation, Finish, Outcome},
    cost,
    ids::{BoxId, ChunkId, FileId},
    seams::answerer::Tokens,
};
use futures::stream;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    http::{
        BASE,
        audience::Audience,
        error::{ErrorEnvelope, ErrorObject},
        idempotency::Failed,
        origin::Origin,
        reply,
        request_id::RequestId,
    },
    payer::{Charge, Usage},
};

/// How long an answer may take to begin before the stream is opened without it. Until then trouble is a plain error.
const PATIENCE: Duration = Duration::from_secs(10);

/// The object of an answer, in OpenAI's shape.
#[derive(Clone, Serialize, ToSchema)]
pub(in super::super) struct Completion {
    id: String,
    #[schema(example = "chat.completion")]
    object: &'static str,
    created: i64,
    /// The box that answered.
    model: String,
    choices: [Choice; 1],
    usage: ChatUsage,
    /// What the answer rests on; `[1]` in the text is the one with index 1.
    citations: Vec<CitationObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The object at top level, and the same in the envelope.
#[derive(Serialize, ToSchema)]
pub(in super::super) struct CompletionEnvelope {
    success: bool,
    #[serde(flatten)]
    completion: Completion,
    data: Completion,
}

#[derive(Clone, Serialize, ToSchema)]
struct Choice {
    index: u32,
    message: MessageObject,
    #[schema(value_type = Option<Object>)]
    logprobs: Option<()>,
    /// stop or length
    finish_reason: &'static str,
}

#[derive(Clone, Serialize, ToSchema)]
struct MessageObject {
    role: &'static str,
    content: String,
    refusal: Option<String>,
    #[schema(value_type = Vec<Object>)]
    annotations: Vec<Value>,
}

#[derive(Clone, Serialize, ToSchema)]
struct ChatUsage {
    prompt_tokens: usize,
    completion_tokens: usize,
    total_tokens: usize,
    #[serde(flatten)]
    units: Usage,
}

/// A quote that is on a stored page.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CitationObject {
    index: usize,
    #[schema(value_type = String)]
    chunk_id: ChunkId,
    #[schema(value_type = String)]
    file_id: FileId,
    file_name: String,
    page: u32,
    /// Code point offsets into the page's text.
    start: u32,
    end: u32,
    quote: String,
    score: f32,
    /// Always true: what is not there is not cited.
    verified: bool,
    url: String,
}

impl ChatUsage {
    fn of(tokens: Tokens, units: Usage) -> Self {
        ChatUsage {
            prompt_tokens: tokens.prompt,
            completion_tokens: tokens.completion,
            total_tokens: tokens.prompt + tokens.completion,
            units,
        }
    }
}

impl CitationObject {
    fn of(citation: Citation, origin: &Origin) -> Self {
        CitationObject {
            index: citation.index,
            chunk_id: citation.chunk,
            file_id: citation.file,
            url: format!(
                "{origin}{BASE}/files/{}?page={page}#page={page}",
                citation.file,
                page = citation.page
            ),
            file_name: citation.file_name,
            page: citation.page,
            start: citation.start,
            end: citation.end,
            quote: citation.quote,
            score: citation.score,
            verified: true,
        }
    }
}

/// What an answer costs.
fn price(work: ChatWorkDone) -> u64 {
    cost::chat(work.search_units, work.context_tokens, work.generated_tokens)
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

/// Where in the text each citation is, in OpenAI's format; offsets are in code points.
fn annotations(text: &str, citations: &[CitationObject]) -> Vec<Value> {
    let mut annotations = Vec::new();
    for citation in citations {
        let mark = format!("[{}]", citation.index);
        for (at, _) in text.match_indices(&mark) {
            let start = text[..at].chars().count();
            annotations.push(json!({"type": "url_citation", "url_citation": {
                "start_index": start, "end_index": start + mark.len(), "title": citation.file_name, "url": citation.url}}));
        }
    }
    annotations
}

/// What the frames and the whole answer have in common.
pub(crate) struct Head {
    id: String,
    created: i64,
    audience: Audience,
    origin: Origin,
    request: RequestId,
}

impl Head {
    pub(crate) fn new(audience: Audience, origin: Origin, request: RequestId) -> Self {
        let id = format!("chatcmpl-{}", Uuid::now_v7().simple());
        Head { id, created: Timestamp::now().as_second(), audience, origin, request }
    }

    /// Takes a place for a stream.
    pub(super) fn seated(self) -> Result<Self, Fault> {
        Ok(Head { audience: self.audience.seated()?, ..self })
    }

    /// The box that answers.
    fn model(&self) -> BoxId {
        self.audience.box_id()
    }

    fn completion(self, text: String, outcome: Outcome, units: Usage) -> Json<CompletionEnvelope> {
        let citations: Vec<CitationObject> = outcome
            .citations
            .into_iter()
            .map(|citation| CitationObject::of(citation, &self.origin))
            .collect();
        let annotations = annotations(&text, &citations);
        let message = MessageObject { role: "assistant", content: text, refusal: None, annotations };
        let finish_reason = finish_reason(outcome.finish);
        let model = self.model().to_string();
        let completion = Completion {
            id: self.id,
            object: "chat.completion",
            created: self.created,
            model,
            choices: [Choice { index: 0, message, logprobs: None, finish_reason }],
            usage: ChatUsage::of(outcome.tokens, units),
            citations,
            warnings: outcome.warnings,
        };
        Json(CompletionEnvelope { success: true, data: completion.clone(), completion })
    }
}

/// What is said of an answer that is only asked the price of.
fn unanswered() -> Outcome {
    Outcome {
        finish: Finish::Stop,
        citations: Vec::new(),
        warnings: Vec::new(),
        tokens: Tokens::default(),
        work: ChatWorkDone::default(),
    }
}

/// The answer to a dry run: no words, only the price.
pub(super) fn estimated(head: Head, usage: Usage, stream: bool) -> Response {
    if !stream {
        return head.completion(String::new(), unanswered(), usage).into_response();
    }
    let mut frames = Frames::new(head, true);
    frames.open();
    frames.close(unanswered(), usage);
    frames.respond(None)
}

/// Reads an answer to its end and sends it whole.
pub(super) async fn whole(
    head: Head,
    mut answering: Answering,
    mut charge: Charge,
) -> Result<Response, Fault> {
    let mut text = String::new();
    loop {
        let more = tokio::select! {
            more = answering.next() => more,
            fault = head.audience.ended() => {
                charge.stop().await?;
                return Err(fault);
            }
        };
        let more = match more {
            Ok(Some(more)) => more,
            Ok(None) => break,
            Err(fault) => {
                charge.release().await?;
                return Err(fault);
            }
        };
        text.push_str(&more);
        // Whoever goes away now pays for what was done.
        charge.spent(price(answering.work()));
    }
    // Work was done for somebody who may no longer see it: it is charged, and not sent.
    if let Err(fault) = head.audience.check().await {
        charge.stop().await?;
        return Err(fault);
    }
    let outcome = answering.outcome();
    let usage = charge.settle(price(outcome.work)).await?;
    Ok(head.completion(text, outcome, usage).into_response())
}

/// The next part of an answer on its way, and the answer to go on with.
type Step = Pin<Box<dyn Future<Output = Result<(Answering, Option<String>), Fault>> + Send>>;

fn step(mut answering: Answering) -> Step {
    Box::pin(async move {
        let text = answering.next().await?;
        Ok((answering, text))
    })
}

/// Sends an answer while it is made.
pub(super) async fn streamed(
    head: Head,
    answering: impl Future<Output = Result<Answering, Fault>> + Send + 'static,
    mut charge: Charge,
    usage: bool,
) -> Result<Response, Fault> {
    let mut frames = Frames::new(head, usage);
    frames.open();
    let mut first: Step = Box::pin(async move { step(answering.await?).await });
    let begun = tokio::select! {
        begun = tokio::time::timeout(PATIENCE, &mut first) => begun,
        fault = frames.head.audience.ended() => return Err(fault),
    };
    let next: Step = match begun {
        Ok(begun) => {
            let begun = begun?;
            charge.spent(price(begun.0.work()));
            Box::pin(ready(Ok(begun)))
        }
        Err(_) => first,
    };
    Ok(frames.respond(Some(UnderWay { next, charge })))
}

/// An answer that is being sent.
struct UnderWay {
    next: Step,
    charge: Charge,
}

/// The frames of a stream that are not sent yet.
struct Frames {
    head: Head,
    usage: bool,
    text: String,
    waiting: VecDeque<String>,
    /// Whether they end with an error.
    failed: Failed,
}

impl Frames {
    fn new(head: Head, usage: bool) -> Self {
        Frames { head, usage, text: String::new(), waiting: VecDeque::new(), failed: Failed::default() }
    }

    /// A frame with this choice.
    fn frame(&self, choices: Value) -> Value {
        let mut frame = json!({"id": self.head.id, "object": "chat.completion.chunk", "created": self.head.created,
            "model": self.head.model(), "choices": choices, "success": true});
        if self.usage {
            frame["usage"] = Value::Null;
        }
        frame
    }

    fn push(&mut self, delta: Value, finish: Option<&str>) {
        let choice = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        let frame = self.frame(choice);
        self.waiting.push_back(frame.to_string());
    }

    fn open(&mut self) {
        self.push(json!({"role": "assistant", "content": ""}), None);
    }

    fn text(&mut self, text: &str) {
        self.text.push_str(text);
        self.push(json!({"content": text}), None);
    }

    /// The last frames of an answer that went well.
    fn close(&mut self, outcome: Outcome, units: Usage) {
        let citations: Vec<CitationObject> = outcome
            .citations
            .into_iter()
            .map(|citation| CitationObject::of(citation, &self.head.origin))
            .collect();
        let annotations = annotations(&self.text, &citations);
        let delta = if annotations.is_empty() { json!({}) } else { json!({"annotations": annotations}) };
        let choice = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason(outcome.finish)}]);
        let mut frame = self.frame(choice);
        frame["citations"] = json!(citations);
        if !outcome.warnings.is_empty() {
            frame["warnings"] = json!(outcome.warnings);
        }
        self.waiting.push_back(frame.to_string());
        if self.usage {
            let mut frame = self.frame(json!([]));
            frame["usage"] = json!(ChatUsage::of(outcome.tokens, units));
            self.waiting.push_back(frame.to_string());
        }
        self.waiting.push_back("[DONE]".into());
    }

    /// The last frame of an answer that went wrong.
    fn fail(&mut self, fault: &Fault) {
        if let Some(source) = &fault.source {
            tracing::error!(request.id = %self.head.request, error = %source, "A stream failed: {}", fault.reason.as_str());
        }
        self.failed.set();
        let error = ErrorObject::of(fault, Some(&self.head.request));
        self.waiting.push_back(json!(ErrorEnvelope { success: false, error }).to_string());
    }

    /// Goes on with the answer until there is something to send; nothing when all was sent.
    async fn go_on(&mut self, waiting: &mut Option<UnderWay>) {
        let Some(UnderWay { next, mut charge }) = waiting.take() else { return };
        let gone_on = tokio::select! {
            gone_on = next => gone_on,
            fault = self.head.audience.ended() => return self.stop(charge, &fault).await,
        };
        if let Err(fault) = self.head.audience.check().await {
            return self.stop(charge, &fault).await;
        }
        match gone_on {
            Ok((answering, Some(text))) => {
                charge.spent(price(answering.work()));
                self.text(&text);
                *waiting = Some(UnderWay { next: step(answering), charge });
            }
            Ok((answering, None)) => {
                let outcome = answering.outcome();
                match charge.settle(price(outcome.work)).await {
                    Ok(usage) => self.close(outcome, usage),
                    Err(fault) => self.fail(&fault),
                }
            }
            Err(fault) => {
                // A failed call costs nothing.
                if let Err(fault) = charge.release().await {
                    tracing::error!(error = ?fault, "Could not settle the charge for a stream");
                }
                self.fail(&fault);
            }
        }
    }

    /// Ends an answer that was going well: what was done is charged.
    async fn stop(&mut self, charge: Charge, fault: &Fault) {
        if let Err(fault) = charge.stop().await {
            tracing::error!(error = ?fault, "Could not charge for a stream that was ended");
        }
        self.fail(fault);
    }

    /// The stream. Whoever goes away drops it, and with it the work and the charge.
    fn respond(self, under_way: Option<UnderWay>) -> Response {
        let failed = self.failed.clone();
        let frames = stream::unfold((self, under_way), |(mut frames, mut under_way)| async move {
            if frames.waiting.is_empty() {
                frames.go_on(&mut under_way).await;
            }
            let data = frames.waiting.pop_front()?;
            Some((Ok::<_, Infallible>(Event::default().data(data)), (frames, under_way)))
        });
        let mut response = Sse::new(frames).keep_alive(reply::pings()).into_response();
        response.extensions_mut().insert(failed);
        response
    }
}
