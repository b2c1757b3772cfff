//! Traces and metrics as a collector receives them, and `traceparent` on its way through.

use std::sync::{Arc, Mutex};

use axum::{Json, Router, extract::State, http::HeaderMap, routing::post};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use server::{config::AnswererKind, webhooks::deliver};
use tokio_util::sync::CancellationToken;

use crate::{
    chat::WARRANTY,
    support::{Answer, TestApp, roomy},
};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A collector, and beside it a language model and the receiver of a webhook, that remember what they are sent.
#[derive(Clone, Default)]
struct Receiver {
    traces: Arc<Mutex<Vec<Value>>>,
    metrics: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Vec<HeaderMap>>>,
    told: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
}

impl Receiver {
    async fn start() -> (Self, String) {
        let receiver = Receiver::default();
        let model = |State(receiver): State<Receiver>, headers: HeaderMap| async move {
            receiver.asked.lock().unwrap().push(headers);
            let said = json!({"choices": [{"index": 0, "delta": {"content": "Two years [1: \"lasts two years\"]."}}]});
            format!("data: {said}\n\ndata: [DONE]\n\n")
        };
        let routes = Router::new()
            .route(
                "/v1/traces",
                post(|State(receiver): State<Receiver>, headers: HeaderMap, Json(body): Json<Value>| async move {
                    assert_eq!(headers["x-collector-key"], "secret");
                    receiver.traces.lock().unwrap().push(body);
                }),
            )
            .route(
                "/v1/metrics",
                post(|State(receiver): State<Receiver>, Json(body): Json<Value>| async move {
                    receiver.metrics.lock().unwrap().push(body);
                }),
            )
            .route("/v1/chat/completions", post(model))
            .route(
                "/hook",
                post(|State(receiver): State<Receiver>, headers: HeaderMap, Json(body): Json<Value>| async move {
                    receiver.told.lock().unwrap().push((headers, body));
                }),
            )
            .with_state(receiver.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (receiver, format!("http://{address}"))
    }

    fn spans(&self) -> Vec<Value> {
        let lists =
            |body: &Value| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
        self.traces.lock().unwrap().iter().flat_map(lists).collect()
    }
}

/// Sends all that is waiting, as the end of a server does.
async fn flush(app: &TestApp) {
    let ended = CancellationToken::new();
    ended.cancel();
    server::telemetry::run(app.app.clone(), ended).await;
}

fn attribute<'a>(of: &'a Value, name: &str) -> &'a Value {
    let found = of["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == name);
    let value = &found.unwrap_or_else(|| panic!("no {name} in {of}"))["value"];
    value.as_object().unwrap().values().next().unwrap()
}

/// A server that tells a collector everything, and asks the language model beside it where `upstream` says so.
async fn started(queries: bool, upstream: bool) -> (TestApp, Receiver) {
    let (receiver, url) = Receiver::start().await;
    let mut config = roomy();
    config.telemetry.endpoint = url.clone();
    config.telemetry.headers = "x-collector-key=secret".into();
    config.telemetry.queries = queries;
    (config.webhooks.enabled, config.webhooks.private_addresses) = (true, true);
    if upstream {
        config.answerer.kind = AnswererKind::Upstream;
        config.answerer.url = format!("{url}/v1");
        config.answerer.model = "stub".into();
    }
    (TestApp::with(config).await, receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_is_told_of_requests_and_what_was_done_in_them() {
    let (app, receiver) = started(false, false).await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "warranty.md", "The warranty lasts two years.").await;
    let body = json!({"query": "How long is the warranty?", "top_k": 3});
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let request = app.request(Method::POST, &path, Some(&key)).header("traceparent", PARENT).json(&body);
    assert_eq!(Answer::of(request.send().await.unwrap()).await.status, 200);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"traceparent": PARENT}}});
    app.post("/mcp", &key, call).await;
    flush(&app).await;
    let spans = receiver.spans();
    let find = |name: &str| {
        spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name} in {spans:?}"))
    };
    let request = find("POST /api/public/v1/boxes/{box_id}/retrieve-documents");
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!("00f067aa0ba902b7")));
    assert_eq!(
        (&request["kind"], attribute(request, "http.response.status_code")),
        (&json!(2), &json!("200"))
    );
    let retrieval = find(&format!("retrieval {box_id}"));
    assert_eq!(
        (&retrieval["traceId"], &retrieval["parentSpanId"]),
        (&request["traceId"], &request["spanId"])
    );
    for (name, value) in [
        ("gen_ai.operation.name", json!("retrieval")),
        ("gen_ai.data_source.id", json!(box_id)),
        ("gen_ai.retrieval.top_k", json!("3")),
        ("quire.units", json!("1")),
    ] {
        assert_eq!(attribute(retrieval, name), &value, "{retrieval}");
    }
    assert_eq!(attribute(find("tools/list"), "mcp.method.name"), "tools/list");
    assert_eq!(find("tools/list")["traceId"], TRACE);
    let told = format!("{:?}", receiver.traces.lock().unwrap());
    assert!(!told.contains("How long") && !told.contains("warranty.md") && !told.contains(&key), "{told}");

    let metrics = receiver.metrics.lock().unwrap().last().unwrap().clone();
    let metrics = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
    let metric =
        |name: &str| metrics.iter().find(|metric| metric["name"] == name).cloned().unwrap_or_default();
    let units = metric("quire_units_charged")["sum"]["dataPoints"][0].clone();
    assert_eq!(
        (attribute(&units, "operation"), &units["asDouble"]),
        (&json!("search"), &json!(1.0)),
        "{metrics:?}"
    );
    let durations = metric("quire_operation_duration_seconds")["histogram"]["dataPoints"][0].clone();
    assert_eq!(durations["count"], "1", "{metrics:?}");
    assert_eq!(metric("quire_store_ready")["gauge"]["dataPoints"][0]["asDouble"], 1.0, "{metrics:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_language_model_is_told_which_trace_it_works_for() {
    let (app, receiver) = started(true, true).await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "warranty.md", WARRANTY).await;
    for stream in [false, true] {
        let question =
            json!([{"role": "user", "content": "How long does the warranty of the machine last?"}]);
        let body = json!({"messages": question, "stream": stream});
        let path = format!("/boxes/{box_id}/chat/completions");
        let request = app.request(Method::POST, &path, Some(&key)).header("traceparent", PARENT).json(&body);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let said = answer.text().await.unwrap();
        let asked =
            receiver.asked.lock().unwrap().pop().unwrap_or_else(|| panic!("the model was not asked: {said}"));
        let sent = asked["traceparent"].to_str().unwrap().to_string();
        assert!(sent.starts_with(&format!("00-{TRACE}-")) && sent != PARENT, "{sent}");
    }
    flush(&app).await;
    let spans = receiver.spans();
    let chat = spans.iter().find(|span| span["name"] == format!("chat {box_id}"));
    let chat = chat.unwrap_or_else(|| panic!("{spans:?}"));
    assert_eq!(attribute(chat, "gen_ai.operation.name"), "chat");
    assert_eq!(attribute(chat, "gen_ai.input.messages"), "How long does the warranty of the machine last?");
    assert!(attribute(chat, "gen_ai.usage.output_tokens").is_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_told_which_trace_its_event_comes_from() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (app, receiver) = started(false, false).await;
    let (_, box_id, key) = app.owner().await;
    let hook = format!("{}/hook", app.app.config.telemetry.endpoint);
    let made =
        app.post("/webhooks", &key, json!({"url": hook, "events": ["file.ready", "file.deleted"]})).await;
    assert_eq!(made.status, 201, "{made:?}");
    let traced =
        |method: Method, path: &str| app.request(method, path, Some(&key)).header("traceparent", PARENT);
    let body = json!({"name": "warranty.txt", "text": WARRANTY});
    let upload = traced(Method::POST, &format!("/boxes/{box_id}/files")).json(&body).send().await.unwrap();
    let id = Answer::of(upload).await.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &id).await;
    traced(Method::DELETE, &format!("/files/{id}")).send().await.unwrap();
    // What nobody else's trace is about begins one of its own.
    app.text_file(box_id, &key, "other.md", "Some text.").await;
    while deliver(&app.app, Timestamp::now()).await.unwrap() > 0 {}
    // A file is ready a moment before the span of its reading ends.
    while receiver.spans().iter().filter(|span| span["name"] == "ingest").count() < 2 {
        flush(&app).await;
    }
    let (told, spans) = (receiver.told.lock().unwrap().clone(), receiver.spans());
    let span = |id: &Value| {
        spans.iter().find(|span| &span["spanId"] == id).unwrap_or_else(|| panic!("no {id} in {spans:?}"))
    };
    for (file, event, above, of_caller) in [
        ("warranty.txt", "file.ready", "ingest", true),
        ("warranty.txt", "file.deleted", "DELETE /api/public/v1/files/{file_id}", true),
        ("other.md", "file.ready", "ingest", false),
    ] {
        let is_it = |body: &Value| body["type"] == event && body["data"]["name"] == file;
        let (headers, _) = told.iter().find(|(_, body)| is_it(body)).unwrap_or_else(|| panic!("{told:?}"));
        let sent: Vec<_> = headers["traceparent"].to_str().unwrap().split('-').collect();
        let webhook = span(&json!(sent[2]));
        assert_eq!((&webhook["name"], &webhook["traceId"]), (&json!("webhook"), &json!(sent[1])));
        assert_eq!(sent[1] == TRACE, of_caller, "{event} of {file}: {sent:?}");
        assert_eq!(span(&webhook["parentSpanId"])["name"], above, "{webhook}");
    }
}
