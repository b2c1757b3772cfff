//! Answers in OpenAI's shape, whole or as a stream, with what is ours beside it.

use axum::{
    Json,
    response::{IntoResponse, Response, sse::Event},
};
use engine::{
    Fault,
    chat::{Answering, ChatWorkDone, Citation, Finish, Outcome},
    ids::{BoxId, ChunkId, FileId},
    layout::Region,
    seams::answerer::Tokens,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::sending::{Events, Script, Sending, price};
use crate::{
    http::{
        BASE,
        audience::Audience,
        error::{ErrorEnvelope, ErrorObject},
        origin::Origin,
        request_id::RequestId,
    },
    payer::{Charge, Usage},
};

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
    /// Where the quote stands on the page: `page`, `x`, `y`, `w`, `h`, shares of the page's width and height from the top
    /// left corner. PDFs and pictures only.
    #[schema(value_type = Option<Vec<Object>>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<Region>,
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
            regions: citation.regions,
            score: citation.score,
            verified: true,
        }
    }
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
        Head {
            id: request.answer("chatcmpl-"),
            created: Timestamp::now().as_second(),
            audience,
            origin,
            request,
        }
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
        question: None,
        answered: true,
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
    let (frames, audience) = Frames::new(head, true);
    let request = frames.request;
    let mut sending = Sending::new(frames, audience, request);
    sending.script.close(unanswered(), usage, &mut sending.events);
    sending.end()
}

/// Reads an answer to its end and sends it whole.
pub(super) async fn whole(head: Head, answering: Answering, charge: Charge) -> Result<Response, Fault> {
    let (text, outcome, usage) = finished(&head.audience, head.request, answering, charge).await?;
    Ok(head.completion(text, outcome, usage).into_response())
}

/// Reads an answer to its end, and charges for it.
pub(in super::super) async fn finished(
    audience: &Audience,
    request: RequestId,
    mut answering: Answering,
    mut charge: Charge,
) -> Result<(String, Outcome, Usage), Fault> {
    let mut text = String::new();
    loop {
        let more = tokio::select! {
            more = answering.next() => more,
            fault = audience.ended() => {
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
    if let Err(fault) = audience.check().await {
        charge.stop().await?;
        return Err(fault);
    }
    let outcome = answering.outcome();
    charge.tokens(outcome.tokens);
    let usage = charge.settle(price(outcome.work)).await?;
    audience.note(request, &outcome);
    Ok((text, outcome, usage))
}

/// Sends an answer while it is made.
pub(super) async fn streamed(
    head: Head,
    answering: impl Future<Output = Result<Answering, Fault>> + Send + 'static,
    charge: Charge,
    usage: bool,
) -> Result<Response, Fault> {
    let (frames, audience) = Frames::new(head, usage);
    let request = frames.request;
    Sending::new(frames, audience, request).stream(answering, charge).await
}

/// Frames in OpenAI's shape.
struct Frames {
    id: String,
    created: i64,
    model: BoxId,
    origin: Origin,
    request: RequestId,
    usage: bool,
    text: String,
}

impl Frames {
    fn new(head: Head, usage: bool) -> (Self, Audience) {
        let model = head.model();
        let Head { id, created, audience, origin, request } = head;
        (Frames { id, created, model, origin, request, usage, text: String::new() }, audience)
    }

    /// A frame with this choice.
    fn frame(&self, choices: Value) -> Value {
        let mut frame = json!({"id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices, "success": true});
        if self.usage {
            frame["usage"] = Value::Null;
        }
        frame
    }

    fn push(&self, delta: Value, finish: Option<&str>, events: &mut Events) {
        let choice = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        events.push_back(data(self.frame(choice).to_string()));
    }
}

fn data(text: String) -> Event {
    Event::default().data(text)
}

impl Script for Frames {
    fn open(&mut self, events: &mut Events) {
        self.push(json!({"role": "assistant", "content": ""}), None, events);
    }

    fn text(&mut self, text: &str, events: &mut Events) {
        self.text.push_str(text);
        self.push(json!({"content": text}), None, events);
    }

    fn close(&mut self, outcome: Outcome, units: Usage, events: &mut Events) {
        let citations: Vec<CitationObject> = outcome
            .citations
            .into_iter()
            .map(|citation| CitationObject::of(citation, &self.origin))
            .collect();
        let annotations = annotations(&self.text, &citations);
        let delta = if annotations.is_empty() { json!({}) } else { json!({"annotations": annotations}) };
        let choice = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason(outcome.finish)}]);
        let mut frame = self.frame(choice);
        frame["citations"] = json!(citations);
        if !outcome.warnings.is_empty() {
            frame["warnings"] = json!(outcome.warnings);
        }
        events.push_back(data(frame.to_string()));
        if self.usage {
            let mut frame = self.frame(json!([]));
            frame["usage"] = json!(ChatUsage::of(outcome.tokens, units));
            events.push_back(data(frame.to_string()));
        }
        events.push_back(data("[DONE]".into()));
    }

    fn fail(&mut self, fault: &Fault, events: &mut Events) {
        let error = ErrorObject::of(fault, Some(&self.request));
        events.push_back(data(json!(ErrorEnvelope { success: false, error }).to_string()));
    }
}
