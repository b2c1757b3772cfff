//! `POST /boxes/{box_id}/retrieve-documents`.

use engine::ids::BoxId;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

const WARRANTY: &str = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase.\n\n\
    # Repairs\n\nRepairs are made by the workshop in Lyon within three weeks.";
const HOLIDAYS: &str = "# Holidays\n\nEvery employee has thirty days of holidays a year. Error E4021 means that the \
    request was sent too late.";

async fn search(app: &TestApp, box_id: BoxId, key: &str, body: Value) -> Answer {
    let answer = app.post(&format!("/boxes/{box_id}/retrieve-documents"), key, body).await;
    answer.must_be_well_formed();
    answer
}

fn chunks(answer: &Answer) -> &Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let found = &answer.body["data"]["documents"];
    assert_eq!(found.as_array().unwrap().len(), 1, "documents[0] is the only one");
    let chunks = found[0]["documents"].as_array().unwrap();
    assert_eq!(found[0]["count"], chunks.len());
    chunks
}

/// Two documents and where they are.
async fn two_documents(app: &TestApp) -> (BoxId, String, String, String) {
    let (_, box_id, key) = app.owner().await;
    let upload = |name: &'static str, text: &'static str, metadata: &'static str| {
        let key = key.clone();
        async move {
            let answer = app.upload(box_id, &key, name, text.as_bytes(), &[("metadata", metadata)]).await;
            let id = answer.body["data"]["fileId"].as_str().unwrap().to_string();
            app.settled(&key, &id).await;
            id
        }
    };
    let warranty = upload("warranty.md", WARRANTY, r#"{"year": 2021, "team": "sales"}"#).await;
    let holidays = upload("holidays.md", HOLIDAYS, r#"{"year": 2023, "team": "hr"}"#).await;
    (box_id, key, warranty, holidays)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_passage_that_answers_comes_first_and_stands_on_its_page() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, _) = two_documents(&app).await;
    let answer = search(&app, box_id, &key, json!({"query": "How long does the warranty last?"})).await;
    let found = chunks(&answer);
    let first = &found[0];
    assert_eq!((&first["fileId"], &first["fileName"]), (&json!(warranty), &json!("warranty.md")));
    assert_eq!((&first["rank"], &first["page"], &first["pageEnd"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(first["section"], json!(["Warranty"]));
    assert_eq!(first["metadata"], json!({"year": 2021, "team": "sales"}));
    assert!(first["id"].as_str().unwrap().starts_with("chk_"));
    assert!(first["link"].as_str().unwrap().ends_with("#page=1"));
    assert_eq!(answer.body["data"]["documents"][0]["query"], "How long does the warranty last?");
    let scores: Vec<f64> = found.iter().map(|chunk| chunk["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));

    let full = json!({"sources": [warranty]});
    let pages = app.post(&format!("/boxes/{box_id}/retrieve-full-documents"), &key, full).await;
    let page = pages.body["data"]["documents"][0]["pages"][0]["text"].as_str().unwrap().to_string();
    let part = |object: &Value| {
        let at = |name: &str| object[name].as_u64().unwrap() as usize;
        page.chars().skip(at("start")).take(at("end") - at("start")).collect::<String>()
    };
    assert_eq!(part(first), first["text"].as_str().unwrap());
    let marked: Vec<String> = first["highlights"].as_array().unwrap().iter().map(part).collect();
    assert!(marked.iter().any(|word| word == "warranty"), "{marked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_and_filter_restrict_exactly() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, holidays) = two_documents(&app).await;
    for (restriction, expected) in [
        (json!({"sources": [holidays]}), vec![&holidays]),
        (json!({"filter": {"year": {"$lt": 2022}}}), vec![&warranty]),
        (json!({"filter": {"$or": [{"team": "hr"}, {"year": 1999}]}}), vec![&holidays]),
        (json!({"sources": [warranty], "filter": {"team": "hr"}}), vec![]),
        (json!({"filter": {"team": "nobody"}}), vec![]),
    ] {
        let mut body = restriction.clone();
        body["query"] = json!("days of warranty and holidays");
        let answer = search(&app, box_id, &key, body).await;
        let mut files: Vec<&str> =
            chunks(&answer).iter().map(|chunk| chunk["fileId"].as_str().unwrap()).collect();
        files.dedup();
        assert_eq!(files, expected, "{restriction}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_requests_are_named() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, _) = two_documents(&app).await;
    let elsewhere = app.box_of(app.user("else@example.org").await).await;
    let long = "x".repeat(4001);
    for (body, param) in [
        (json!({}), "query"),
        (json!({"query": ""}), "query"),
        (json!({"query": "  \n"}), "query"),
        (json!({"query": 7}), "query"),
        (json!({"query": long}), "query"),
        (json!({"query": "x", "sources": []}), "sources"),
        (json!({"query": "x", "sources": "fil_1"}), "sources"),
        (json!({"query": "x", "sources": [warranty, 5]}), "sources[1]"),
        (json!({"query": "x", "sources": ["fil_nothing"]}), "sources"),
        (json!({"query": "x", "top_k": 0}), "top_k"),
        (json!({"query": "x", "top_k": 51}), "top_k"),
        (json!({"query": "x", "top_k": 2.5}), "top_k"),
        (json!({"query": "x", "threshold": 1.5}), "threshold"),
        (json!({"query": "x", "mode": "magic"}), "mode"),
        (json!({"query": "x", "context": 4}), "context"),
        (json!({"query": "x", "max_chunks_per_document": 0}), "max_chunks_per_document"),
        (json!({"query": "x", "filter": {"a": {"$like": "b"}}}), "filter.a.$like"),
    ] {
        let answer = search(&app, box_id, &key, body.clone()).await;
        assert!(matches!(answer.status, 400 | 404), "{body}: {answer:?}");
        assert_eq!(answer.body["error"]["code"], "B1004", "{body}");
        assert_eq!(answer.body["error"]["param"], param, "{body}: {answer:?}");
    }
    let named = search(&app, box_id, &key, json!({"query": "x", "sources": ["fil_nothing"]})).await;
    assert!(named.body["error"]["cause"].as_str().unwrap().contains("fil_nothing"));
    assert_eq!(search(&app, elsewhere, &key, json!({"query": "x"})).await.verdict(), "403 B3002 box_unknown");
    let unknown = search(&app, box_id, &key, json!({"query": "x", "topk": 3})).await;
    assert!(unknown.body["data"]["warnings"][0].as_str().unwrap().contains("top_k"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_shape_the_answer() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, holidays) = two_documents(&app).await;
    let ask = |body: Value| search(&app, box_id, &key, body);

    let one = ask(json!({"query": "warranty", "top_k": 1, "context": 1})).await;
    assert_eq!(chunks(&one).len(), 1);
    assert!(chunks(&one)[0]["context"]["after"][0]["text"].as_str().unwrap().contains("Lyon"));
    let none = ask(json!({"query": "warranty", "threshold": 1})).await;
    assert!(chunks(&none).is_empty());
    let keyword = ask(json!({"query": "E4021", "mode": "keyword", "rerank": false})).await;
    assert_eq!(chunks(&keyword).len(), 1);
    assert_eq!(chunks(&keyword)[0]["fileId"], json!(holidays));
    assert_eq!(chunks(&keyword)[0]["scores"]["semantic"], Value::Null);
    let semantic = ask(json!({"query": "employee holidays", "mode": "semantic"})).await;
    assert_eq!(chunks(&semantic)[0]["fileId"], json!(holidays));
    let crowded = ask(json!({"query": "warranty repairs", "max_chunks_per_document": 1})).await;
    let of_warranty = chunks(&crowded).iter().filter(|chunk| chunk["fileId"] == json!(warranty)).count();
    assert_eq!(of_warranty, 1);

    let body = json!({"query": "E4021", "mode": "keyword", "rerank": false, "explain": true,
                      "sources": [warranty, holidays]});
    let explained = ask(body).await;
    let result = &explained.body["data"]["documents"][0];
    assert_eq!(result["documents"][0]["explain"]["ranks"]["keyword"], 1);
    assert_eq!(result["why_not"], json!([{"fileId": warranty, "stage": "recall"}]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_or_replaced_file_is_found_no_more() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let fields = [("externalId", "handbook")];
    let first = app.upload(box_id, &key, "h.txt", b"The canteen serves zebras.", &fields).await;
    let id = first.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &id).await;
    let query = json!({"query": "zebras", "mode": "keyword"});
    assert_eq!(chunks(&search(&app, box_id, &key, query.clone()).await).len(), 1);
    app.upload(box_id, &key, "h.txt", b"The canteen serves okapis.", &fields).await;
    let file = app.settled(&key, &id).await;
    assert_eq!(file["chunks"], 1);
    assert!(chunks(&search(&app, box_id, &key, query).await).is_empty());
    let query = json!({"query": "okapis"});
    assert_eq!(chunks(&search(&app, box_id, &key, query.clone()).await).len(), 1);
    let deleted =
        app.request(reqwest::Method::DELETE, &format!("/files/{id}"), Some(&key)).send().await.unwrap();
    let receipt = Answer::of(deleted).await;
    assert_eq!(receipt.body["data"]["removed"]["chunks"], 1, "{receipt:?}");
    assert!(chunks(&search(&app, box_id, &key, query).await).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_without_files_answers_with_nothing() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let answer = search(&app, box_id, &key, json!({"query": "anything"})).await;
    assert!(chunks(&answer).is_empty());
}
