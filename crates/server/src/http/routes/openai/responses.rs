//! `POST /openai/v1/responses`: an answer from a box, with `file_search` and `file_citation` as OpenAI's clients read them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response, sse::Event},
};
use engine::{
    Fault,
    access::{Caller, Reading},
    chat::{Answering, Citation, Finish, Outcome},
    ids::FileId,
    seams::{
        answerer::Passage,
        catalog::{FileRecord, Filter, Operation},
    },
    trace,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    super::{
        chat::{
            self, ChatBody,
            sending::{Events, Script, Sending},
        },
        narrowing::Narrowing,
        search::several,
    },
    filters, named,
    search::RankingOptions,
};
use crate::{
    app::App,
    http::{
        audience::Audience,
        auth::Searcher,
        body::{self, JsonBody},
        error::{ErrorObject, Failure},
        request_id::RequestId,
    },
    payer::{Payer, Usage},
};

/// A question, in OpenAI's words.
#[derive(Deserialize)]
pub(super) struct ResponsesBody {
    model: Option<String>,
    input: Option<Value>,
    instructions: Option<String>,
    stream: Option<bool>,
    tools: Option<Vec<Value>>,
    include: Option<Vec<String>>,
    temperature: Option<f32>,
    top_p: Option<f32>,
    max_output_tokens: Option<u64>,
    text: Option<Value>,
    metadata: Option<Value>,
    previous_response_id: Option<Value>,
    conversation: Option<Value>,
    background: Option<bool>,
    max_units: Option<u64>,
}

/// The `file_search` tool of a request.
#[derive(Deserialize, Default)]
struct FileSearch {
    #[serde(default)]
    vector_store_ids: Vec<String>,
    filters: Option<Value>,
    max_num_results: Option<usize>,
    ranking_options: Option<RankingOptions>,
}

impl ResponsesBody {
    /// The one tool that there is, where it is asked for.
    fn file_search(&self) -> Result<Option<FileSearch>, Fault> {
        let mut found = None;
        for (at, tool) in self.tools.iter().flatten().enumerate() {
            let name = format!("tools[{at}]");
            if tool["type"] != "file_search" {
                let cause = format!("`{name}` must be file_search: quire answers from documents only");
                return Err(Fault::invalid(&name, cause));
            }
            if found.is_some() {
                return Err(Fault::invalid(&name, "there can be only one file_search; remove the others"));
            }
            found = Some(body::typed::<FileSearch>(tool)?);
        }
        Ok(found)
    }

    /// What nobody here remembers cannot be gone on with.
    fn refuse_memory(&self) -> Result<(), Fault> {
        for (name, value) in
            [("previous_response_id", &self.previous_response_id), ("conversation", &self.conversation)]
        {
            if value.as_ref().is_some_and(|value| !value.is_null()) {
                let cause = format!(
                    "`{name}` is not supported: responses are not kept; send the whole conversation as `input`"
                );
                return Err(Fault::invalid(name, cause));
            }
        }
        if self.background == Some(true) {
            return Err(Fault::invalid(
                "background",
                "`background` is not supported; wait for the answer, or stream it",
            ));
        }
        Ok(())
    }

    /// The same as a chat.
    fn chat(&self, search: &FileSearch) -> Result<ChatBody, Fault> {
        let mut messages = Vec::new();
        if let Some(instructions) = self.instructions.as_deref().filter(|text| !text.trim().is_empty()) {
            messages.push(json!({"role": "developer", "content": instructions}));
        }
        match &self.input {
            Some(Value::String(text)) => messages.push(json!({"role": "user", "content": text})),
            Some(Value::Array(items)) => {
                // Clients send back what they were given: of that, only what was said counts.
                let said = items.iter().filter(|item| item["type"].is_null() || item["type"] == "message");
                messages.extend(
                    said.map(|item| json!({"role": item["role"], "content": plain(&item["content"])})),
                );
            }
            _ => return Err(Fault::missing("input", "a string or an array of messages")),
        }
        let ranking = search.ranking_options.as_ref();
        let mut chat = json!({"messages": messages});
        let mut set = |name: &str, value: Value| {
            if !value.is_null() {
                chat[name] = value;
            }
        };
        set("model", json!(self.model));
        set("temperature", json!(self.temperature));
        set("top_p", json!(self.top_p));
        set("max_completion_tokens", json!(self.max_output_tokens));
        set("max_sources", json!(search.max_num_results));
        set("threshold", json!(ranking.and_then(|ranking| ranking.score_threshold)));
        set("max_units", json!(self.max_units));
        set("response_format", format(self.text.as_ref()));
        body::typed(&chat)
    }

    fn wants_results(&self) -> bool {
        self.include.iter().flatten().any(|wanted| wanted == "file_search_call.results")
    }
}

/// The parts of a message that hold text, under the names that a chat has for them.
fn plain(content: &Value) -> Value {
    let Value::Array(parts) = content else { return content.clone() };
    let part = |part: &Value| match part["type"].as_str() {
        Some("input_text" | "output_text" | "text") => json!({"type": "text", "text": part["text"]}),
        _ => part.clone(),
    };
    Value::Array(parts.iter().map(part).collect())
}

/// `text.format` as a chat has it.
fn format(text: Option<&Value>) -> Value {
    let Some(format) = text.map(|text| &text["format"]).filter(|format| format.is_object()) else {
        return Value::Null;
    };
    if format["type"] != "json_schema" {
        return format.clone();
    }
    let mut schema = format.clone();
    if let Value::Object(fields) = &mut schema {
        fields.remove("type");
    }
    json!({"type": "json_schema", "json_schema": schema})
}

/// Answers a question from a box. Costs as a chat does.
pub(super) async fn create(
    State(app): State<App>,
    Searcher(caller): Searcher,
    payer: Payer,
    id: RequestId,
    body: JsonBody<ResponsesBody>,
) -> Result<Response, Failure> {
    let body = body.value;
    body.refuse_memory()?;
    let search = body.file_search()?;
    let filter =
        search.as_ref().and_then(|search| search.filters.as_ref()).filter(|filters| !filters.is_null());
    let filter = filter.map(filters::parse).transpose()?;
    let chat = body.chat(search.as_ref().unwrap_or(&FileSearch::default()))?;
    let readings = boxes_of(&app, &caller, search.as_ref(), &chat).await?;
    let audience = Audience::of_boxes(&app, &caller, readings.iter().map(Reading::box_id).collect());
    Ok(answer(Asked { app, readings, payer, audience, id, body, chat, filter }).await?)
}

/// What a body says, before anything is looked up.
pub(super) fn read(bytes: &[u8]) -> Result<(), Fault> {
    let body = body::parse::<ResponsesBody>(bytes)?.value;
    body.refuse_memory()?;
    let search = body.file_search()?.unwrap_or_default();
    let filter = search.filters.as_ref().filter(|filters| !filters.is_null());
    filter.map(filters::parse).transpose()?;
    body.chat(&search)?.wanted().map(drop)
}

/// The stores of the tool, else the boxes that the model names.
async fn boxes_of(
    app: &App,
    caller: &Caller,
    search: Option<&FileSearch>,
    chat: &ChatBody,
) -> Result<Vec<Reading>, Fault> {
    match search.map(|search| &search.vector_store_ids[..]) {
        None | Some([]) => chat::boxes_of(app, caller, chat).await,
        Some(ids) => several(caller, ids)
            .map_err(|fault| Fault { param: Some("tools[0].vector_store_ids".into()), ..fault }),
    }
}

/// A request that was understood.
struct Asked {
    app: App,
    readings: Vec<Reading>,
    payer: Payer,
    audience: Audience,
    id: RequestId,
    body: ResponsesBody,
    chat: ChatBody,
    filter: Option<Filter>,
}

async fn answer(asked: Asked) -> Result<Response, Fault> {
    let Asked { app, readings, payer, audience, id, body, chat, filter } = asked;
    let (mut request, ..) = chat.request(&app, &readings).await?;
    let bounds = app.chat().bounds(&request);
    let stream = body.stream.unwrap_or(false);
    let audience = if stream { audience.seated()? } else { audience };
    let turn = payer.turn().await?;
    let mut charge = payer.reserve(Operation::Chat, bounds.max).await?;
    let question = request.turns.last().map(|turn| turn.text.clone()).unwrap_or_default();
    charge.about(&readings, &question);
    request.only = Narrowing::by(filter).only(&app, &readings, request.only.take()).await?;
    let found = Arc::new(Mutex::new(Found::default()));
    let mut written = Written::new(&readings, body, question, id, found.clone());
    let answering = trace::carried(Box::pin(async move {
        let answering = app.chat().ask_across(&readings, request, turn).await?;
        let files = files_of(&app, &readings, answering.passages()).await?;
        *found.lock() = Found::of(answering.passages(), &files);
        Ok::<_, Fault>(answering)
    }));
    if stream {
        return Sending::new(written, audience, id).stream(answering, charge).await;
    }
    let (text, outcome, usage) = chat::finished(&audience, id, answering.await?, charge).await?;
    written.text = text;
    Ok(Json(written.finished(&outcome, usage)).into_response())
}

/// The files that passages are from.
async fn files_of(
    app: &App,
    readings: &[Reading],
    passages: &[Passage],
) -> Result<HashMap<FileId, FileRecord>, Fault> {
    let ids: HashSet<FileId> = passages.iter().map(|passage| passage.id.file).collect();
    let ids: Vec<FileId> = ids.into_iter().collect();
    let mut files = HashMap::new();
    for reading in readings {
        let records = app.catalog.files(reading, &ids).await?;
        files.extend(records.into_iter().flatten().map(|file| (file.id, file)));
    }
    Ok(files)
}

/// What the search found, once it has.
#[derive(Default)]
struct Found {
    results: Vec<Value>,
    /// The ids that clients know the files by.
    ids: HashMap<FileId, String>,
}

impl Found {
    fn of(passages: &[Passage], files: &HashMap<FileId, FileRecord>) -> Self {
        let result = |passage: &Passage| {
            let file = files.get(&passage.id.file)?;
            Some(
                json!({"file_id": named::id_of(file), "filename": file.name.as_str(), "score": passage.score,
                "text": passage.chunk.text, "attributes": filters::attributes(&file.metadata)}),
            )
        };
        let ids = files.iter().map(|(id, file)| (*id, named::id_of(file))).collect();
        Found { results: passages.iter().filter_map(result).collect(), ids }
    }
}

/// A response as it is written.
struct Written {
    id: String,
    search_id: String,
    message_id: String,
    created_at: i64,
    model: String,
    body: ResponsesBody,
    question: String,
    request: RequestId,
    found: Arc<Mutex<Found>>,
    text: String,
    /// The number of the next event.
    sequence: u64,
}

impl Written {
    fn new(
        readings: &[Reading],
        body: ResponsesBody,
        question: String,
        request: RequestId,
        found: Arc<Mutex<Found>>,
    ) -> Self {
        let id = |prefix: &str| format!("{prefix}_{}", Uuid::now_v7().simple());
        Written {
            id: request.answer("resp_"),
            search_id: id("fs"),
            message_id: id("msg"),
            created_at: Timestamp::now().as_second(),
            model: readings.first().map(|reading| reading.box_id().to_string()).unwrap_or_default(),
            body,
            question,
            request,
            found,
            text: String::new(),
            sequence: 0,
        }
    }

    /// The object around what is answered.
    fn object(&self, status: &str, output: Vec<Value>) -> Value {
        json!({"id": self.id, "object": "response", "created_at": self.created_at, "status": status,
            "background": false, "error": null, "incomplete_details": null,
            "instructions": self.body.instructions, "max_output_tokens": self.body.max_output_tokens,
            "metadata": self.body.metadata.clone().unwrap_or_else(|| json!({})), "model": self.model,
            "output": output, "parallel_tool_calls": false, "previous_response_id": null, "store": false,
            "temperature": self.body.temperature, "top_p": self.body.top_p,
            "text": self.body.text.clone().unwrap_or_else(|| json!({"format": {"type": "text"}})),
            "tool_choice": "auto", "tools": self.body.tools.clone().unwrap_or_default(),
            "truncation": "disabled", "usage": null})
    }

    fn search_call(&self, status: &str) -> Value {
        let results = match status == "completed" && self.body.wants_results() {
            true => json!(self.found.lock().results),
            false => Value::Null,
        };
        json!({"id": self.search_id, "type": "file_search_call", "status": status, "queries": [self.question],
            "results": results})
    }

    fn message(&self, status: &str, content: Vec<Value>) -> Value {
        json!({"id": self.message_id, "type": "message", "role": "assistant", "status": status, "content": content})
    }

    fn part(&self, annotations: &[Value]) -> Value {
        json!({"type": "output_text", "text": self.text, "annotations": annotations, "logprobs": []})
    }

    /// Where in the text each citation stands: `index` counts code points up to its mark.
    fn annotations(&self, citations: &[Citation]) -> Vec<Value> {
        let mut annotations = Vec::new();
        for citation in citations {
            let id = self
                .found
                .lock()
                .ids
                .get(&citation.file)
                .cloned()
                .unwrap_or_else(|| citation.file.to_string());
            for (at, _) in self.text.match_indices(&format!("[{}]", citation.index)) {
                annotations.push(json!({"type": "file_citation", "file_id": id, "filename": citation.file_name,
                    "index": self.text[..at].chars().count(), "page": citation.page, "quote": citation.quote}));
            }
        }
        annotations
    }

    /// The whole response, once its text is known.
    fn finished(&self, outcome: &Outcome, units: Usage) -> Value {
        let part = self.part(&self.annotations(&outcome.citations));
        self.completed(part, outcome, units)
    }

    fn completed(&self, part: Value, outcome: &Outcome, units: Usage) -> Value {
        let status = match outcome.finish {
            Finish::Stop => "completed",
            Finish::Length => "incomplete",
        };
        let output = vec![self.search_call("completed"), self.message(status, vec![part])];
        let mut object = self.object(status, output);
        if outcome.finish == Finish::Length {
            object["incomplete_details"] = json!({"reason": "max_output_tokens"});
        }
        let (input, output) = (outcome.tokens.prompt, outcome.tokens.completion);
        let mut usage = json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0}});
        if let (Value::Object(usage), Value::Object(units)) = (&mut usage, json!(units)) {
            usage.extend(units);
        }
        object["usage"] = usage;
        object
    }

    fn push(&mut self, name: &str, mut fields: Value, events: &mut Events) {
        fields["type"] = json!(name);
        fields["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        events.push_back(Event::default().event(name).data(fields.to_string()));
    }
}

impl Script for Written {
    fn open(&mut self, events: &mut Events) {
        let response = self.object("in_progress", Vec::new());
        self.push("response.created", json!({"response": response}), events);
        self.push("response.in_progress", json!({"response": response}), events);
        let item = self.search_call("in_progress");
        self.push("response.output_item.added", json!({"output_index": 0, "item": item}), events);
        for step in ["in_progress", "searching"] {
            let name = format!("response.file_search_call.{step}");
            self.push(&name, json!({"output_index": 0, "item_id": self.search_id}), events);
        }
    }

    fn begun(&mut self, _: &Answering, events: &mut Events) {
        let found = json!({"output_index": 0, "item_id": self.search_id});
        self.push("response.file_search_call.completed", found, events);
        let item = self.search_call("completed");
        self.push("response.output_item.done", json!({"output_index": 0, "item": item}), events);
        let item = self.message("in_progress", Vec::new());
        self.push("response.output_item.added", json!({"output_index": 1, "item": item}), events);
        let part = self.part(&[]);
        let added = json!({"output_index": 1, "item_id": self.message_id, "content_index": 0, "part": part});
        self.push("response.content_part.added", added, events);
    }

    fn text(&mut self, text: &str, events: &mut Events) {
        self.text.push_str(text);
        let delta = json!({"output_index": 1, "item_id": self.message_id, "content_index": 0, "delta": text,
            "logprobs": []});
        self.push("response.output_text.delta", delta, events);
    }

    fn close(&mut self, outcome: Outcome, units: Usage, events: &mut Events) {
        let place = json!({"output_index": 1, "item_id": self.message_id, "content_index": 0});
        let with = |name: &str, value: Value| {
            let mut fields = place.clone();
            fields[name] = value;
            fields
        };
        let annotations = self.annotations(&outcome.citations);
        for (at, annotation) in annotations.iter().enumerate() {
            let mut fields = with("annotation", annotation.clone());
            fields["annotation_index"] = json!(at);
            self.push("response.output_text.annotation.added", fields, events);
        }
        let mut done = with("text", json!(self.text));
        done["logprobs"] = json!([]);
        self.push("response.output_text.done", done, events);
        let part = self.part(&annotations);
        self.push("response.content_part.done", with("part", part.clone()), events);
        let response = self.completed(part, &outcome, units);
        let item = response["output"][1].clone();
        self.push("response.output_item.done", json!({"output_index": 1, "item": item}), events);
        let name = match outcome.finish {
            Finish::Stop => "response.completed",
            Finish::Length => "response.incomplete",
        };
        self.push(name, json!({"response": response}), events);
    }

    fn fail(&mut self, fault: &Fault, events: &mut Events) {
        let error = ErrorObject::of(fault, Some(&self.request));
        let mut response = self.object("failed", Vec::new());
        response["error"] = json!({"code": "server_error", "message": error.message});
        self.push("response.failed", json!({"response": response}), events);
    }
}
