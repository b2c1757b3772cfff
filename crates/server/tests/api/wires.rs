//! Routes in shapes of others: a search as OpenAI has it, Dify's external knowledge, embeddings, reranking, a document loader.

use engine::ids::BoxId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp, roomy};

const WARRANTY: &str = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase.\n\n\
    # Repairs\n\nRepairs are made by the workshop in Lyon within three weeks.";
const HOLIDAYS: &str = "# Holidays\n\nEvery employee has thirty days of holidays a year.";

/// Two documents with metadata: the box, a key, and their ids.
pub(crate) async fn two_documents(app: &TestApp) -> (BoxId, String, String, String) {
    let (_, box_id, key) = app.owner().await;
    let mut ids = Vec::new();
    for (name, text, metadata) in [
        ("warranty.md", WARRANTY, r#"{"year": 2021, "team": "sales"}"#),
        ("holidays.md", HOLIDAYS, r#"{"year": 2023, "team": "hr", "nested": {"a": 1}}"#),
    ] {
        let answer = app.upload(box_id, &key, name, text.as_bytes(), &[("metadata", metadata)]).await;
        ids.push(answer.body["data"]["fileId"].as_str().unwrap().to_string());
        app.settled(&key, &ids[ids.len() - 1]).await;
    }
    let holidays = ids.pop().unwrap();
    (box_id, key, ids.pop().unwrap(), holidays)
}

/// Units charged this month.
pub(crate) async fn spent(app: &TestApp, key: &str) -> u64 {
    app.get("/usage", key).await.body["data"]["used"].as_u64().expect("a sum of units")
}

fn must_be_bare(answer: &Answer) {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.get("success").is_none(), "{answer:?}");
    assert!(answer.number("x-ratelimit-hits") > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_searched_in_openais_shape() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, holidays) = two_documents(&app).await;
    for base in ["", "/openai/v1"] {
        let path = format!("{base}/vector_stores/{box_id}/search");
        let answer = app.post(&path, &key, json!({"query": "How long does the warranty last?"})).await;
        must_be_bare(&answer);
        assert_eq!(answer.body["object"], "vector_store.search_results.page");
        assert_eq!(answer.body["search_query"], json!(["How long does the warranty last?"]));
        let first = &answer.body["data"][0];
        assert_eq!((&first["file_id"], &first["filename"]), (&json!(warranty), &json!("warranty.md")));
        assert_eq!(first["attributes"], json!({"year": 2021, "team": "sales"}));
        assert_eq!(first["content"][0]["type"], "text");
        assert!(first["content"][0]["text"].as_str().unwrap().contains("two years"));
        assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 1);

        let filters = json!({"type": "and", "filters": [{"type": "gt", "key": "year", "value": 2022}]});
        let body = json!({"query": ["warranty", "holidays"], "filters": filters, "max_num_results": 3,
            "ranking_options": {"ranker": "none", "score_threshold": 0.0}, "rewrite_query": false});
        let answer = app.post(&path, &key, body).await;
        must_be_bare(&answer);
        let data = answer.body["data"].as_array().unwrap();
        assert!(!data.is_empty() && data.iter().all(|found| found["file_id"] == json!(holidays)), "{data:?}");
        assert_eq!(data[0]["attributes"]["nested"], r#"{"a":1}"#, "attributes are plain values");
        let texts: Vec<_> = data.iter().map(|found| found["content"][0]["text"].as_str().unwrap()).collect();
        assert!(
            texts.iter().all(|text| texts.iter().filter(|other| other == &text).count() == 1),
            "each once"
        );
        assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 2, "each query is a search");

        let filters = json!({"type": "eq", "key": "$file.name", "value": "holidays.md"});
        let answer = app.post(&path, &key, json!({"query": "warranty", "filters": filters})).await;
        let data = answer.body["data"].as_array().unwrap();
        assert!(!data.is_empty() && data.iter().all(|found| found["filename"] == "holidays.md"), "{data:?}");
    }
}

#[tokio::test]
async fn a_wrong_store_search_is_refused_in_words_and_costs_nothing() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    for (body, param) in [
        (json!({}), "query"),
        (json!({"query": 5}), "query"),
        (json!({"query": []}), "query"),
        (json!({"query": "x", "max_num_results": 51}), "max_num_results"),
        (json!({"query": "x", "filters": {"type": "like"}}), "filters"),
        (json!({"query": "x", "ranking_options": {"score_threshold": 2}}), "ranking_options.score_threshold"),
    ] {
        let answer = app.post(&format!("/vector_stores/{box_id}/search"), &key, body.clone()).await;
        answer.must_be_well_formed();
        assert_eq!((answer.status, answer.body["error"]["param"].as_str()), (400, Some(param)), "{body}");
    }
    assert_eq!(spent(&app, &key).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dify_finds_passages_with_its_conditions() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, _) = two_documents(&app).await;
    let ask = |condition: Value| {
        let body = json!({"knowledge_id": box_id, "query": "warranty", "retrieval_setting": {"top_k": 3,
            "score_threshold": 0.0}, "metadata_condition": condition});
        let (app, key) = (&app, &key);
        async move { app.post("/dify/retrieval", key, body).await }
    };
    let answer = ask(Value::Null).await;
    must_be_bare(&answer);
    let first = &answer.body["records"][0];
    assert_eq!((&first["title"], &first["metadata"]["year"]), (&json!("warranty.md"), &json!(2021)));
    assert_eq!(first["metadata"]["file_id"], json!(warranty));
    assert!(first["metadata"]["path"].as_str().unwrap().ends_with("#page=1"), "{first}");
    assert!(first["content"].as_str().unwrap().contains("warranty"));
    assert!(first["score"].as_f64().is_some_and(|score| (0.0..=1.0).contains(&score)));
    let condition = json!({"logical_operator": "and", "conditions": [
        {"name": ["team"], "comparison_operator": "start with", "value": "H"},
        {"name": "year", "comparison_operator": "≥", "value": "2022"}]});
    let answer = ask(condition).await;
    let records = answer.body["records"].as_array().unwrap();
    assert!(
        !records.is_empty() && records.iter().all(|record| record["title"] == "holidays.md"),
        "{answer:?}"
    );
    let named = json!({"conditions": [{"name": "$file.name", "comparison_operator": "end with", "value": "DAYS.md"}]});
    let answer = ask(named).await;
    let records = answer.body["records"].as_array().unwrap();
    assert!(
        !records.is_empty() && records.iter().all(|record| record["title"] == "holidays.md"),
        "{answer:?}"
    );
    let refused =
        ask(json!({"conditions": [{"name": "year", "comparison_operator": "like", "value": 1}]})).await;
    assert_eq!((refused.status, &refused.body["error_code"]), (400, &json!(400)), "{refused:?}");
}

#[tokio::test]
async fn difys_probe_is_answered_and_its_errors_are_its_own() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let probe =
        json!({"knowledge_id": "", "query": "", "retrieval_setting": {"top_k": 2, "score_threshold": 0.5}});
    let answer = app.post("/dify/retrieval", &key, probe.clone()).await;
    must_be_bare(&answer);
    assert_eq!(answer.body, json!({"records": []}));
    assert_eq!(spent(&app, &key).await, 0);
    let missing =
        Answer::of(app.request(Method::POST, "/dify/retrieval", None).json(&probe).send().await.unwrap());
    let wrong = app.post("/dify/retrieval", "quire_12345678_x", probe);
    let unknown = json!({"knowledge_id": BoxId::generate(), "query": "x"});
    let unknown = app.post("/dify/retrieval", &key, unknown);
    for (answer, status, code) in
        [(missing.await, 401, 1001), (wrong.await, 401, 1002), (unknown.await, 403, 2001)]
    {
        assert_eq!((answer.status, &answer.body["error_code"]), (status, &json!(code)), "{answer:?}");
        assert!(!answer.body["error_msg"].as_str().unwrap().is_empty());
        assert!(answer.body.get("success").is_none());
    }
}

#[tokio::test]
async fn texts_become_vectors_as_numbers_and_as_base64() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let answer = app.post("/embeddings", &key, json!({"input": ["one", "two"], "model": "any"})).await;
    must_be_bare(&answer);
    assert_eq!((&answer.body["object"], &answer.body["data"][1]["index"]), (&json!("list"), &json!(1)));
    let numbers: Vec<f32> = serde_json::from_value(answer.body["data"][0]["embedding"].clone()).unwrap();
    assert!((numbers.iter().map(|number| number * number).sum::<f32>() - 1.0).abs() < 1e-3);
    assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 1);
    assert!(answer.body["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    let body = json!({"input": "one", "encoding_format": "base64", "dimensions": numbers.len()});
    let answer = app.post("/openai/v1/embeddings", &key, body).await;
    use base64::{Engine, engine::general_purpose::STANDARD};
    let bytes = STANDARD.decode(answer.body["data"][0]["embedding"].as_str().unwrap()).unwrap();
    let same: Vec<f32> = bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    assert_eq!(same, numbers);
    for wrong in [
        json!({}),
        json!({"input": []}),
        json!({"input": [1, 2]}),
        json!({"input": ""}),
        json!({"input": "x", "dimensions": 3}),
    ] {
        assert_eq!(app.post("/embeddings", &key, wrong.clone()).await.status, 400, "{wrong}");
    }
    assert_eq!(spent(&app, &key).await, 2);
}

#[tokio::test]
async fn texts_are_put_in_order() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let documents =
        json!(["The workshop is in Lyon.", {"text": "The warranty lasts two years."}, "Holidays."]);
    let body = json!({"model": "any", "query": "warranty two years", "documents": documents, "top_n": 2,
        "return_documents": true});
    for base in ["", "/openai/v1"] {
        let answer = app.post(&format!("{base}/rerank"), &key, body.clone()).await;
        must_be_bare(&answer);
        let results = answer.body["results"].as_array().unwrap();
        assert_eq!((results.len(), &results[0]["index"]), (2, &json!(1)), "{results:?}");
        assert_eq!(results[0]["document"]["text"], "The warranty lasts two years.");
        let scores: Vec<f64> = results.iter().map(|one| one["relevance_score"].as_f64().unwrap()).collect();
        assert!(scores[0] >= scores[1] && scores.iter().all(|score| (0.0..=1.0).contains(score)));
        assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 1);
    }
    let many = json!({"query": "x", "documents": vec!["a text"; 41]});
    let answer = app.post("/rerank", &key, many).await;
    assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 3, "20 texts a unit");
    for wrong in [
        json!({"query": "", "documents": ["a"]}),
        json!({"query": "x", "documents": []}),
        json!({"query": "x", "documents": [5]}),
        json!({"query": "x", "documents": ["a"], "top_n": 0}),
    ] {
        assert_eq!(app.post("/rerank", &key, wrong.clone()).await.status, 400, "{wrong}");
    }
}

/// However long a text is, it is read to its end: a megabyte in one text costs what it costs in many.
#[tokio::test]
async fn long_texts_are_charged_for_all_that_is_read_of_them() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let long = "word ".repeat(50_000);
    let answer = app.post("/embeddings", &key, json!({"input": long})).await;
    assert_eq!(answer.body["usage"]["prompt_tokens"], 50_000, "{}", answer.body["usage"]);
    assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 3, "20,000 tokens a unit");
    assert_eq!(answer.body["usage"]["truncated"], 1);
    let answer = app.post("/rerank", &key, json!({"query": "x", "documents": [long]})).await;
    let units = answer.body["usage"]["intelligence_units_consumed"].as_u64().unwrap();
    assert!((5..=6).contains(&units), "about a hundred parts, not one text: {units}");
}

#[tokio::test]
async fn models_by_themselves_stop_when_units_are_used_up() {
    let mut config = roomy();
    config.units.monthly = 1;
    let app = TestApp::with(config).await;
    let (_, _, key) = app.owner().await;
    assert_eq!(app.post("/embeddings", &key, json!({"input": "x"})).await.status, 200);
    for (path, body) in
        [("/embeddings", json!({"input": "x"})), ("/rerank", json!({"query": "x", "documents": ["a"]}))]
    {
        assert_eq!(app.post(path, &key, body).await.verdict(), "402 B3107 units_exhausted", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_read_for_somebody_else_and_nothing_is_kept() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let send = |name: &str, bytes: &'static [u8]| {
        let request = app.request(Method::PUT, "/process", Some(&key));
        request.header("x-filename", name).header("content-type", "text/markdown").body(bytes).send()
    };
    let answer = Answer::of(send("J%C3%A4nner.md", WARRANTY.as_bytes()).await.unwrap()).await;
    must_be_bare(&answer);
    let page = &answer.body[0];
    assert!(page["page_content"].as_str().unwrap().contains("two years"), "{page}");
    assert_eq!((&page["metadata"]["source"], &page["metadata"]["page"]), (&json!("Jänner.md"), &json!(0)));
    assert_eq!(page["metadata"]["total_pages"], 1);
    assert_eq!(app.get("/files", &key).await.body["data"]["total"], 0);
    assert_eq!(app.app.library.blobs.names().await.unwrap(), Vec::<String>::new());
    let empty = Answer::of(send("a.md", b"").await.unwrap()).await;
    assert_eq!(empty.verdict(), "400 B1004 invalid_parameter");
    let unreadable =
        Answer::of(send("a.bin", b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00").await.unwrap()).await;
    assert!(matches!(unreadable.status, 415 | 422), "{unreadable:?}");
    assert_eq!(spent(&app, &key).await, 0);
}
