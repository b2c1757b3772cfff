//! What the conformance suite of MCP calls: tools, prompts and resources that show each part of the protocol, at `/mcp/fixtures` of
//! builds for development. A release has none of it. What is not answered here is answered as at `/mcp`.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{Stream, StreamExt, stream};
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use rand::Rng;
use serde_json::{Map, Value, json};
use sha2::Sha256;
use tokio::sync::oneshot;

use super::{Call, Era, INVALID_PARAMS, Message, Refusal, completed, discovered, initialized};
use crate::{
    app::App,
    http::{auth::Asking, error::Failure, origin::Origin, request_id::RequestId},
    payer::Payer,
};

const MISSING_CAPABILITY: i64 = -32021;
/// Where a request of the era of 2026 says what its client can do, and whether it wants to be told what is logged.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A gray pixel, and a quarter of a millisecond of silence.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";
const SOUND: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// Tools of both eras, and those of one.
const TOOLS: [&str; 7] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
];
const OF_2025: [&str; 5] = [
    "test_tool_with_logging",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];
const OF_2026: [&str; 11] = [
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

pub(super) fn router() -> Router<App> {
    let fixtures = Arc::new(Fixtures { key: rand::rng().random(), asked: Mutex::default() });
    let handler = async move |State(app): State<App>,
                              Asking(caller): Asking,
                              payer: Payer,
                              origin: Origin,
                              id: RequestId,
                              request: Request| {
        let call = Call { app, caller, payer, origin, request: id, only: None };
        let (headers, bytes) = call.read(request).await?;
        Ok::<_, Failure>(match fixtures.answer(&headers, &bytes) {
            Some(answer) => answer,
            None => call.reply(&headers, &bytes).await,
        })
    };
    Router::new().route("/mcp/fixtures", post(handler))
}

/// What outlives a message.
struct Fixtures {
    /// What states are sealed with, which clients keep for us.
    key: [u8; 32],
    /// Questions that clients of the era of 2025 were asked, by id.
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
}

/// What a message gets.
enum Said {
    Result(Value),
    /// Messages on the way to a result, and the result.
    Stream(Vec<Value>, Value),
    /// The result of what the client answers to a question.
    Question(Value),
}

impl Fixtures {
    fn answer(self: &Arc<Self>, headers: &HeaderMap, bytes: &[u8]) -> Option<Response> {
        if self.hears(bytes) {
            return Some(StatusCode::ACCEPTED.into_response());
        }
        let message = Message::parse(bytes).ok()?;
        let (id, era) = (message.id.clone()?, Era::of(headers, &message).ok()?);
        let said = match self.said(era, &message)? {
            Ok(said) => said,
            Err(refusal) => return Some(refusal.respond(&id)),
        };
        Some(match said {
            Said::Result(result) if message.method == "initialize" => {
                let session = [("mcp-session-id", HeaderValue::from_static("fixtures"))];
                (session, Json(completed(&id, &result))).into_response()
            }
            Said::Result(result) => Json(completed(&id, &result)).into_response(),
            Said::Stream(on_the_way, result) => {
                streamed(stream::iter(on_the_way.into_iter().chain([completed(&id, &result)])))
            }
            Said::Question(question) => streamed(self.asking(&question, id)),
        })
    }

    /// Whether this is the answer to a question.
    fn hears(&self, bytes: &[u8]) -> bool {
        let Ok(mut answer) = serde_json::from_slice::<Value>(bytes) else { return false };
        let id = answer["id"].as_str().unwrap_or_default().to_string();
        let asked = self.asked.lock().remove(&id);
        asked.is_some_and(|asked| asked.send(answer["result"].take()).is_ok())
    }

    /// A question, and then the result of the tool that asks it.
    fn asking(self: &Arc<Self>, question: &Value, id: Value) -> impl Stream<Item = Value> + use<> {
        let (sender, receiver) = oneshot::channel();
        let name = format!("question-{}", rand::rng().random::<u64>());
        let mut question = question.clone();
        (question["jsonrpc"], question["id"]) = (json!("2.0"), json!(name));
        self.asked.lock().insert(name, sender);
        let answered = async move {
            let answer = receiver.await.unwrap_or_default();
            completed(&id, &content(&json!([text(&format!("The client answered: {answer}"))])))
        };
        stream::iter([question]).chain(stream::once(answered))
    }

    /// What is answered here, if it is.
    fn said(&self, era: Era, message: &Message) -> Option<Result<Said, Refusal>> {
        let params = &message.params;
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let result = match (message.method.as_str(), era) {
            ("initialize", Era::Legacy) => initialized(
                params,
                json!({"tools": {}, "prompts": {}, "completions": {}, "logging": {},
                    "resources": {"subscribe": true}}),
            ),
            ("server/discover", Era::Modern) => {
                discovered(era, json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}}))
            }
            ("tools/list", _) => era.cached(json!({"tools": tools(era)})),
            ("tools/call", _) => return self.call(era, name, params),
            ("prompts/list", _) => era.cached(json!({"prompts": prompts()})),
            ("prompts/get", Era::Modern) if name == "test_input_required_result_prompt" => {
                let rounds = [json!({"user_context": elicit(&["context"])})];
                return Some(self.proceed(&rounds, false, params, |said| messages(&[said])));
            }
            ("prompts/get", _) => era.complete(prompt(name, params)?),
            ("resources/list", _) => era.cached(json!({"resources": resources()})),
            ("resources/templates/list", _) => {
                let template = json!({"uriTemplate": "test://template/{id}/data", "name": "template",
                    "mimeType": "application/json"});
                era.cached(json!({"resourceTemplates": [template]}))
            }
            ("resources/read", _) => {
                era.cached(json!({"contents": [resource(params.get("uri")?.as_str()?)?]}))
            }
            ("completion/complete", _) => {
                let start = params.get("argument")?.get("value")?.as_str()?;
                let values = ["paris", "park", "party"].into_iter().filter(|value| value.starts_with(start));
                era.complete(json!({"completion": {"values": values.collect::<Vec<_>>(), "hasMore": false}}))
            }
            ("resources/subscribe" | "resources/unsubscribe" | "logging/setLevel", Era::Legacy) => json!({}),
            _ => return None,
        };
        Some(Ok(Said::Result(result)))
    }

    fn call(&self, era: Era, name: &str, params: &Map<String, Value>) -> Option<Result<Said, Refusal>> {
        if let Some(shown) = shown(name) {
            return Some(Ok(Said::Result(era.complete(content(&shown)))));
        }
        let meta = params.get("_meta").unwrap_or(&Value::Null);
        let done = || era.complete(content(&json!([text("Done.")])));
        let said = match (name, era) {
            ("test_error_handling", _) => {
                let mut result = content(&json!([text("This tool always fails.")]));
                result["isError"] = json!(true);
                Said::Result(era.complete(result))
            }
            ("test_tool_with_progress", _) | ("test_streaming_elicitation", Era::Modern) => {
                let token = meta.get("progressToken").cloned().unwrap_or_else(|| json!("no token"));
                let told = [0, 50, 100].map(|progress| {
                    notification(
                        "progress",
                        &json!({"progressToken": token, "progress": progress, "total": 100}),
                    )
                });
                Said::Stream(told.to_vec(), done())
            }
            ("test_tool_with_logging", Era::Legacy) => Said::Stream(logged().to_vec(), done()),
            ("test_logging_tool", Era::Modern) if meta.get(LOG_LEVEL).is_some() => {
                Said::Stream(logged().to_vec(), done())
            }
            ("test_logging_tool", Era::Modern) => Said::Result(done()),
            (_, Era::Legacy) => Said::Question(question(name)?),
            ("test_missing_capability", Era::Modern) => {
                if meta.get(CAPABILITIES)?.get("sampling").is_none() {
                    let refusal =
                        Refusal::new(StatusCode::BAD_REQUEST, MISSING_CAPABILITY, "the client cannot sample");
                    let data = Some(json!({"requiredCapabilities": {"sampling": {}}}));
                    return Some(Err(Refusal { data, ..refusal }));
                }
                Said::Result(done())
            }
            (_, Era::Modern) => {
                let (rounds, keeps_state) = rounds(name, meta.get(CAPABILITIES)?)?;
                return Some(self.proceed(&rounds, keeps_state, params, |said| content(&json!([said]))));
            }
        };
        Some(Ok(said))
    }

    /// Asks, round by round, for all that a result needs. Which round it is, the client keeps for us, if we give it anything to keep.
    fn proceed(
        &self,
        rounds: &[Value],
        keeps_state: bool,
        params: &Map<String, Value>,
        result: impl Fn(Value) -> Value,
    ) -> Result<Said, Refusal> {
        let state = params.get("requestState").map(|state| self.opened(state)).transpose()?;
        let round = state.unwrap_or(0).min(rounds.len() - 1);
        let answers = params.get("inputResponses").unwrap_or(&Value::Null);
        let is_answered = |key: &String| answers.get(key).is_some_and(Value::is_object);
        let asked = rounds[round].as_object().is_some_and(|asked| asked.keys().all(is_answered));
        let next = round + usize::from(asked && (state.is_some() || !keeps_state));
        let Some(questions) = rounds.get(next) else {
            let said = if keeps_state { "state-ok" } else { "The client answered" };
            return Ok(Said::Result(Era::Modern.complete(result(text(&format!("{said}: {answers}"))))));
        };
        let mut result = json!({"resultType": "input_required", "inputRequests": questions});
        if keeps_state {
            result["requestState"] = json!(self.sealed(next));
        }
        Ok(Said::Result(result))
    }

    fn sealed(&self, round: usize) -> String {
        let seal = Hmac::<Sha256>::new_from_slice(&self.key).expect("any length will do");
        let seal = seal.chain_update(round.to_string()).finalize().into_bytes();
        format!("{round}.{}", engine::trace::hex(&seal))
    }

    fn opened(&self, state: &Value) -> Result<usize, Refusal> {
        let round = state.as_str().and_then(|state| state.split_once('.')?.0.parse().ok());
        round.filter(|&round| state == &json!(self.sealed(round))).ok_or_else(|| {
            Refusal::new(StatusCode::OK, INVALID_PARAMS, "`requestState` is not what this server gave out")
        })
    }
}

/// Messages as they come, as server-sent events.
fn streamed(messages: impl Stream<Item = Value> + Send + 'static) -> Response {
    let events = messages
        .map(|message| Ok::<_, std::convert::Infallible>(format!("event: message\ndata: {message}\n\n")));
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

fn notification(name: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{name}"), "params": params})
}

fn logged() -> [Value; 3] {
    ["begun", "at work", "done"].map(|what| notification("message", &json!({"level": "info", "data": what})))
}

fn tools(era: Era) -> Vec<Value> {
    let own: &[&str] = if era == Era::Modern { &OF_2026 } else { &OF_2025 };
    let described = |name: &&str| json!({"name": name, "description": "For the conformance suite.", "inputSchema": {"type": "object"}});
    TOOLS.iter().chain(own).map(described).collect()
}

fn content(content: &Value) -> Value {
    json!({"content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn picture() -> Value {
    json!({"type": "image", "data": PICTURE, "mimeType": "image/png"})
}

fn embedded(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

/// What tools return that only show something.
fn shown(tool: &str) -> Option<Value> {
    Some(match tool {
        "test_simple_text" => json!([text("A text.")]),
        "test_image_content" => json!([picture()]),
        "test_audio_content" => json!([{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([embedded("test://embedded-resource", "text/plain", "A resource.")])
        }
        "test_multiple_content_types" => {
            let resource = embedded("test://mixed-content-resource", "application/json", "{\"value\": 123}");
            json!([text("Several things:"), picture(), resource])
        }
        _ => return None,
    })
}

fn prompts() -> Value {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|name| json!({"name": name, "required": true}));
        json!({"name": name, "description": "For the conformance suite.", "arguments": arguments.collect::<Vec<_>>()})
    };
    json!([
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ])
}

/// What a prompt is.
fn prompt(name: &str, params: &Map<String, Value>) -> Option<Value> {
    let argument = |name: &str| params.get("arguments")?.get(name)?.as_str();
    let said: Vec<Value> = match name {
        "test_simple_prompt" => vec![text("A prompt.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!("With {} and {}.", argument("arg1")?, argument("arg2")?))]
        }
        "test_prompt_with_embedded_resource" => {
            vec![embedded(argument("resourceUri")?, "text/plain", "A resource."), text("Read the above.")]
        }
        "test_prompt_with_image" => vec![picture(), text("Look at the above.")],
        _ => return None,
    };
    Some(messages(&said))
}

fn messages(said: &[Value]) -> Value {
    let messages = said.iter().map(|said| json!({"role": "user", "content": said}));
    json!({"messages": messages.collect::<Vec<_>>()})
}

fn resources() -> Value {
    json!([
        {"uri": "test://static-text", "name": "text", "description": "A text.", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "picture", "description": "A pixel.", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched", "description": "A text.", "mimeType": "text/plain"},
    ])
}

/// What is at the address of a resource.
fn resource(uri: &str) -> Option<Value> {
    if uri == "test://static-binary" {
        return Some(json!({"uri": uri, "mimeType": "image/png", "blob": PICTURE}));
    }
    let (kind, text) = match uri {
        "test://static-text" | "test://watched-resource" => ("text/plain", "A text.".to_string()),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            ("application/json", json!({"id": id}).to_string())
        }
    };
    Some(json!({"uri": uri, "mimeType": kind, "text": text}))
}

/// A question to the person in front of the client, who is to give these texts.
fn elicit(wanted: &[&str]) -> Value {
    let texts: Map<String, Value> =
        wanted.iter().map(|name| (name.to_string(), json!({"type": "string"}))).collect();
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": "Please answer.",
        "requestedSchema": {"type": "object", "properties": texts, "required": wanted}}})
}

/// A question to the client's language model.
fn sample() -> Value {
    json!({"method": "sampling/createMessage", "params": {"maxTokens": 100,
        "messages": [{"role": "user", "content": text("What is the capital of France?")}]}})
}

/// What a tool of the era of 2025 asks the client.
fn question(tool: &str) -> Option<Value> {
    let properties = match tool {
        "test_sampling" => return Some(sample()),
        "test_elicitation" => return Some(elicit(&["username", "email"])),
        "test_elicitation_sep1034_defaults" => json!({
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        }),
        "test_elicitation_sep1330_enums" => {
            let named = json!([{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"},
                {"const": "value3", "title": "Third"}]);
            json!({
                "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
                "titledSingle": {"type": "string", "oneOf": named},
                "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
                "titledMulti": {"type": "array", "items": {"anyOf": named}},
            })
        }
        _ => return None,
    };
    let mut question = elicit(&[]);
    question["params"]["requestedSchema"]["properties"] = properties;
    Some(question)
}

/// What a tool of the era of 2026 asks the client, round by round, and whether the client keeps a state for it.
fn rounds(tool: &str, capabilities: &Value) -> Option<(Vec<Value>, bool)> {
    let roots = || json!({"method": "roots/list", "params": {}});
    Some(match tool.strip_prefix("test_input_required_result_")? {
        "elicitation" => (vec![json!({"user_name": elicit(&["name"])})], false),
        "sampling" => (vec![json!({"capital_question": sample()})], false),
        "list_roots" => (vec![json!({"client_roots": roots()})], false),
        "request_state" | "tampered_state" => (vec![json!({"confirm": elicit(&["ok"])})], true),
        "multiple_inputs" => {
            let asked =
                json!({"user_name": elicit(&["name"]), "greeting": sample(), "client_roots": roots()});
            (vec![asked], true)
        }
        "multi_round" => {
            (vec![json!({"step1": elicit(&["name"])}), json!({"step2": elicit(&["color"])})], true)
        }
        "capabilities" => {
            let all = [("elicitation", elicit(&["name"])), ("sampling", sample()), ("roots", roots())];
            let able = all.into_iter().filter(|(ability, _)| capabilities.get(ability).is_some());
            (vec![able.map(|(ability, question)| (ability.to_string(), question)).collect()], false)
        }
        _ => return None,
    })
}
