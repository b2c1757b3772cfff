//! `POST /chat/completions`, `POST /boxes/{box_id}/chat/completions` and `GET /models`, answered by quoting.

use engine::ids::BoxId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp, roomy};

pub(crate) const WARRANTY: &str = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase. \
    Batteries are not covered by the warranty.\n\n# Repairs\n\nRepairs are made by the workshop in Lyon within three weeks.";
const REVENUE: &str = "# Figures\n\nThe revenue of Acme in 2022 was ten million francs. The revenue of Acme in 2023 was \
    eleven million francs. The revenue of Globex in 2022 was four million francs.";

/// A box with documents in it, and a key.
pub(crate) async fn papers(app: &TestApp) -> (BoxId, String, String) {
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "warranty.md", WARRANTY).await;
    app.text_file(box_id, &key, "figures.md", REVENUE).await;
    (box_id, key, file)
}

pub(crate) fn question(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": text}]})
}

fn with(mut body: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

pub(crate) async fn ask(app: &TestApp, key: &str, body: Value) -> Answer {
    let answer = app.post("/chat/completions", key, body).await;
    answer.must_be_well_formed();
    answer
}

pub(crate) fn content(answer: &Answer) -> &str {
    answer.body["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{answer:?}"))
}

/// Every quote stands on its page at its offsets, and every `[n]` of the text is there.
pub(crate) async fn must_be_verified(app: &TestApp, key: &str, box_id: BoxId, text: &str, citations: &Value) {
    for (citation, index) in citations.as_array().unwrap().iter().zip(1..) {
        assert_eq!(citation["index"], index);
        assert_eq!(citation["verified"], true);
        assert!(text.contains(&format!("[{index}]")), "{text}");
        let body = json!({"sources": [citation["fileId"]]});
        let full = app.post(&format!("/boxes/{box_id}/retrieve-full-documents"), key, body).await;
        let page =
            &full.body["data"]["documents"][0]["pages"][citation["page"].as_u64().unwrap() as usize - 1];
        let at = |name: &str| citation[name].as_u64().unwrap() as usize;
        let part: String =
            page["text"].as_str().unwrap().chars().skip(at("start")).take(at("end") - at("start")).collect();
        assert_eq!(part, citation["quote"].as_str().unwrap());
    }
}

/// The frames of a stream, as they came.
pub(crate) async fn frames(app: &TestApp, key: &str, body: Value) -> Vec<String> {
    let response =
        app.request(Method::POST, "/chat/completions", Some(key)).json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(response.headers().contains_key("x-ratelimit-hits"));
    let text = response.text().await.unwrap();
    let lines = text.split("\n\n").filter(|frame| !frame.is_empty() && !frame.starts_with(':'));
    lines.map(|frame| frame.strip_prefix("data: ").unwrap_or_else(|| panic!("{frame}")).to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_openai_s_object_with_proof() {
    let app = TestApp::start().await;
    let (box_id, key, file) = papers(&app).await;
    let answer = ask(&app, &key, question("How long does the warranty of the machine last?")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = &answer.body;
    assert_eq!(body["object"], "chat.completion");
    assert!(body["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert_eq!(body["model"], box_id.to_string());
    assert!(body["created"].as_i64().unwrap() > 1_700_000_000);
    let choice = &body["choices"][0];
    assert_eq!((&choice["index"], &choice["finish_reason"]), (&json!(0), &json!("stop")));
    assert_eq!(choice["message"]["role"], "assistant");
    let text = content(&answer);
    assert!(
        text.starts_with("The warranty of the machine lasts two years from the day of purchase. [1]"),
        "{text}"
    );
    let citation = &body["citations"][0];
    assert_eq!(
        (citation["fileId"].as_str(), citation["fileName"].as_str()),
        (Some(file.as_str()), Some("warranty.md"))
    );
    assert!(citation["url"].as_str().unwrap().ends_with(&format!("/files/{file}?page=1#page=1")));
    assert!(citation["chunkId"].as_str().unwrap().starts_with("chk_"));
    must_be_verified(&app, &key, box_id, text, &body["citations"]).await;
    let annotation = &choice["message"]["annotations"][0];
    assert_eq!(annotation["type"], "url_citation");
    let at = |name: &str| annotation["url_citation"][name].as_u64().unwrap() as usize;
    assert_eq!(
        text.chars().skip(at("start_index")).take(at("end_index") - at("start_index")).collect::<String>(),
        "[1]"
    );
    let usage = &body["usage"];
    let tokens = |name: &str| usage[name].as_u64().unwrap();
    assert_eq!(tokens("prompt_tokens") + tokens("completion_tokens"), tokens("total_tokens"));
    assert_eq!((tokens("intelligence_units_consumed"), tokens("intelligence_units_remaining")), (1, 999));
    let mut same = body.clone();
    let data = same.as_object_mut().unwrap().remove("data").unwrap();
    same.as_object_mut().unwrap().remove("success");
    assert_eq!(same, data);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_openai_s_frames_with_proof_at_the_end() {
    let app = TestApp::start().await;
    let (box_id, key, _) = papers(&app).await;
    let body = with(question("How long does the warranty of the machine last?"), json!({"stream": true}));
    let plain = frames(&app, &key, body.clone()).await;
    assert_eq!(plain.last().unwrap(), "[DONE]");
    let values: Vec<Value> =
        plain[..plain.len() - 1].iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    assert!(
        values.iter().all(|frame| frame["success"] == true && frame["object"] == "chat.completion.chunk")
    );
    assert!(values.iter().all(|frame| frame["id"] == values[0]["id"] && frame.get("usage").is_none()));
    assert_eq!(values[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    let (last, before) = values.split_last().unwrap();
    assert!(
        before
            .iter()
            .all(|frame| frame["choices"][0]["finish_reason"].is_null() && frame.get("citations").is_none())
    );
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    let text: String =
        values.iter().filter_map(|frame| frame["choices"][0]["delta"]["content"].as_str()).collect();
    assert!(text.contains("two years"), "{text}");
    must_be_verified(&app, &key, box_id, &text, &last["citations"]).await;
    assert_eq!(last["choices"][0]["delta"]["annotations"][0]["type"], "url_citation");

    let asked = with(body, json!({"stream_options": {"include_usage": true}}));
    let frames = frames(&app, &key, asked).await;
    let usage: Value = serde_json::from_str(&frames[frames.len() - 2]).unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["intelligence_units_consumed"], 1);
    assert!(usage["usage"]["completion_tokens"].as_u64().unwrap() > 5);
    let first: Value = serde_json::from_str(&frames[0]).unwrap();
    assert!(first["usage"].is_null() && first.as_object().unwrap().contains_key("usage"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_documents_do_not_say_is_not_answered() {
    let app = TestApp::start().await;
    let (_, key, _) = papers(&app).await;
    let answer = ask(&app, &key, question("Which volcano erupted near Naples?")).await;
    assert_eq!(answer.body["citations"], json!([]));
    assert!(content(&answer).starts_with("I found nothing in the documents"), "{answer:?}");
    assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 1);
    let german =
        ask(&app, &key, question("Welcher Vulkan ist in der Nähe von Neapel ausgebrochen und wann war das?"))
            .await;
    assert!(content(&german).starts_with("Dazu habe ich"), "{german:?}");
    let strict = with(question("How long does the warranty last?"), json!({"threshold": 1}));
    let none = ask(&app, &key, strict).await;
    assert_eq!(content(&none), "I found nothing in the documents that answers this.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follow_up_is_understood_in_context() {
    let app = TestApp::start().await;
    let (_, key, _) = papers(&app).await;
    let turns = json!({"messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "What was the revenue of Acme in 2022?"}]},
        {"role": "assistant", "content": "Ten million francs. [1]"},
        {"role": "user", "content": "and in 2023?"}]});
    let answer = ask(&app, &key, turns).await;
    assert!(content(&answer).contains("eleven million"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_box_is_named_in_many_ways() {
    let app = TestApp::start().await;
    let (user, first, key) = app.owner().await;
    app.text_file(first, &key, "warranty.md", WARRANTY).await;
    let asked = question("How long does the warranty last?");
    let only = ask(&app, &key, with(asked.clone(), json!({"model": "gpt-4o"}))).await;
    assert_eq!(only.body["model"], first.to_string());
    let second = app.box_of(user).await;
    let unnamed = ask(&app, &key, asked.clone()).await;
    assert_eq!(unnamed.verdict(), "400 B1004 missing_parameter");
    for way in ["`model`", "`box_id`", "X-Box-Id", "/boxes/{box_id}/chat/completions"] {
        assert!(unnamed.body["error"]["cause"].as_str().unwrap().contains(way), "{way}");
    }
    for named in [
        json!({"model": first.to_string()}),
        json!({"model": format!("box:{first}")}),
        json!({"box_id": first, "model": second.to_string()}),
        json!({"extra_body": {"box_id": first}}),
    ] {
        let answer = ask(&app, &key, with(asked.clone(), named.clone())).await;
        assert_eq!(answer.body["model"], first.to_string(), "{named}: {answer:?}");
    }
    let request = app.request(Method::POST, "/chat/completions", Some(&key)).json(&asked);
    let answer = Answer::of(request.header("X-Box-Id", first.to_string()).send().await.unwrap()).await;
    assert_eq!(answer.body["model"], first.to_string());
    let answer = app
        .post(
            &format!("/boxes/{first}/chat/completions"),
            &key,
            with(asked.clone(), json!({"model": second.to_string()})),
        )
        .await;
    assert_eq!(answer.body["model"], first.to_string());
    for unknown in [BoxId::generate().to_string(), "box:nonsense".into()] {
        let answer = ask(&app, &key, with(asked.clone(), json!({"model": unknown}))).await;
        assert_eq!(answer.verdict(), "403 B3002 box_unknown");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_of_openai_are_honoured_or_harmless() {
    let app = TestApp::start().await;
    let (_, key, file) = papers(&app).await;
    let asked = question("How long does the warranty of the machine last?");
    let harmless = json!({"temperature": 0.3, "top_p": 1, "seed": 7, "n": 1, "user": "u", "tools": [], "tool_choice": "none",
        "response_format": {"type": "text"}, "logit_bias": {}, "parallel_tool_calls": true, "store": false, "metadata": {},
        "max_sources": 3, "nonsense": 1, "stop": null, "frequency_penalty": 0, "sources": [file]});
    let answer = ask(&app, &key, with(asked.clone(), harmless)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.get("warnings").is_none(), "{answer:?}");
    let short = ask(&app, &key, with(asked.clone(), json!({"max_tokens": 4}))).await;
    assert_eq!(short.body["choices"][0]["finish_reason"], "length");
    assert_eq!(content(&short), "The warranty of the");
    assert_eq!(short.body["citations"], json!([]));
    let stopped = ask(&app, &key, with(asked.clone(), json!({"stop": ["lasts", "x"]}))).await;
    assert_eq!(content(&stopped), "The warranty of the machine ");
    assert_eq!(stopped.body["choices"][0]["finish_reason"], "stop");
    let whole = ask(
        &app,
        &key,
        with(asked, json!({"extra_body": {"full_context": true, "source_file_ids": [file]}})),
    )
    .await;
    assert!(content(&whole).contains("two years"), "{whole:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_is_named() {
    let app = TestApp::start().await;
    let (_, key, _) = papers(&app).await;
    let asked = question("How long?");
    let picture =
        json!([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:"}}]);
    for (more, param) in [
        (json!({"messages": null}), "messages"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": "hi"}), "messages"),
        (json!({"messages": [{"role": "user", "content": " "}]}), "messages"),
        (json!({"messages": [{"role": "assistant", "content": "hi"}]}), "messages"),
        (json!({"messages": [{"role": "wizard", "content": "hi"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "tool", "content": "hi"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "user", "content": 7}]}), "messages[0].content"),
        (json!({"messages": [{"role": "user", "content": picture}]}), "messages[0].content[1]"),
        (json!({"tools": [{"type": "function"}]}), "tools"),
        (json!({"functions": [{"name": "f"}]}), "functions"),
        (json!({"modalities": ["text", "audio"]}), "modalities"),
        (json!({"n": 2}), "n"),
        (json!({"temperature": 3}), "temperature"),
        (json!({"top_p": -1}), "top_p"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"stop": [1]}), "stop"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"response_format": {"type": "xml"}}), "response_format"),
        (json!({"response_format": {"type": "json_object"}}), "response_format"),
        (json!({"sources": []}), "sources"),
        (json!({"sources": ["fil_nothing"]}), "sources"),
        (json!({"sources": [5]}), "sources[0]"),
        (json!({"threshold": 2}), "threshold"),
        (json!({"max_sources": 0}), "max_sources"),
        (json!({"max_units": 0}), "max_units"),
    ] {
        for stream in [false, true] {
            let answer =
                ask(&app, &key, with(with(asked.clone(), json!({"stream": stream})), more.clone())).await;
            assert_eq!(answer.body["error"]["code"], "B1004", "{more}: {answer:?}");
            assert_eq!(answer.body["error"]["param"], param, "{more}: {answer:?}");
        }
    }
    for path in ["/completions", "/responses"] {
        let answer = app.post(path, &key, json!({"prompt": "x"})).await;
        assert_eq!(answer.verdict(), "404 B1004 not_found");
        assert!(answer.body["error"]["cause"].as_str().unwrap().contains("/chat/completions"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_are_estimated_capped_and_charged() {
    let mut config = roomy();
    config.units.monthly = 4;
    let app = TestApp::with(config).await;
    let (_, key, _) = papers(&app).await;
    let asked = question("How long does the warranty of the machine last?");
    let dry = ask(&app, &key, with(asked.clone(), json!({"dry_run": true}))).await;
    assert_eq!(dry.body["usage"]["estimate"]["min"], 1);
    assert!(dry.body["usage"]["estimate"]["max"].as_u64().unwrap() <= 4);
    assert_eq!((content(&dry), &dry.body["usage"]["intelligence_units_consumed"]), ("", &json!(0)));
    let dry = frames(&app, &key, with(asked.clone(), json!({"dry_run": true, "stream": true}))).await;
    assert!(dry[dry.len() - 2].contains("estimate"), "{dry:?}");
    let capped = with(asked.clone(), json!({"max_units": 1}));
    for left in [3, 2, 1, 0] {
        let answer = ask(&app, &key, capped.clone()).await;
        assert_eq!(answer.body["usage"]["intelligence_units_remaining"], left, "{answer:?}");
    }
    for stream in [false, true] {
        let answer = ask(&app, &key, with(capped.clone(), json!({"stream": stream}))).await;
        assert_eq!(answer.verdict(), "402 B3107 units_exhausted");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boxes_are_listed_as_models() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let list = app.get("/models", &key).await;
    list.must_be_well_formed();
    assert_eq!(list.body["object"], "list");
    assert_eq!(list.body["data"][0]["id"], box_id.to_string());
    assert_eq!(list.body["data"][0]["object"], "model");
    let one = app.get(&format!("/models/{box_id}"), &key).await;
    assert_eq!((&one.body["id"], &one.body["data"]["id"]), (&json!(box_id), &json!(box_id)));
    assert_eq!(
        app.get(&format!("/models/{}", BoxId::generate()), &key).await.verdict(),
        "403 B3002 box_unknown"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_file_is_quoted_no_more() {
    let app = TestApp::start().await;
    let (_, key, file) = papers(&app).await;
    let asked = question("How long does the warranty of the machine last?");
    assert!(content(&ask(&app, &key, asked.clone()).await).contains("two years"));
    app.request(Method::DELETE, &format!("/files/{file}"), Some(&key)).send().await.unwrap();
    let answer = ask(&app, &key, asked).await;
    assert!(!answer.body.to_string().contains("two years"), "{answer:?}");
}
