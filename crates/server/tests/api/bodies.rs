//! Bodies that are wrong, in every way: always the envelope, always the caller's fault.

use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, TestApp};

#[tokio::test]
async fn wrong_bodies_are_answered_in_the_envelope() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let json = Some("application/json");
    let large = format!(r#"{{"sources":["{}"]}}"#, "x".repeat(2 << 20));
    for (content_type, body, verdict) in [
        (json, &b"{"[..], "400 B1004 invalid_parameter"),
        (json, b"", "400 B1004 invalid_parameter"),
        (json, b"[1,2]", "400 B1004 invalid_parameter"),
        (json, b"{\"sources\":[\"\xff\"]}", "400 B1004 invalid_parameter"),
        (json, b"{\"sources\":5}", "400 B1004 invalid_parameter"),
        (json, b"{\"sources\":[5]}", "400 B1004 invalid_parameter"),
        (json, b"{\"sources\":[]}", "400 B1004 invalid_parameter"),
        (json, b"{}", "400 B1004 missing_parameter"),
        (json, b"{\"sources\":[\"nope\"]}", "404 B1004 not_found"),
        (json, large.as_bytes(), "413 B1004 too_large"),
        (Some("text/plain"), b"{\"sources\":[\"x\"]}", "415 B1004 invalid_parameter"),
        (None, b"{\"sources\":[\"x\"]}", "415 B1004 invalid_parameter"),
    ] {
        let mut request = app.request(Method::POST, &path, Some(&key)).body(body.to_vec());
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let answer = Answer::of(request.send().await.unwrap()).await;
        answer.must_be_well_formed();
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(answer.verdict(), verdict, "{content_type:?} {shown}");
    }
}

#[tokio::test]
async fn an_unknown_field_is_ignored_and_named() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "a.txt", "one").await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let answer = app.post(&path, &key, json!({"sources": [file], "page": "1"})).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body["data"]["warnings"][0].as_str().unwrap().contains("`pages`"));
}
