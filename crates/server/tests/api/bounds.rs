//! What one account cannot do: grow without end, and keep the server busy for nothing.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp, roomy};

async fn patch(app: &TestApp, key: &str, file: &str, body: &Value) -> Answer {
    let path = format!("/files/{file}");
    let answer = app.request(Method::PATCH, &path, Some(key)).json(body).send().await.unwrap();
    let answer = Answer::of(answer).await;
    answer.must_be_well_formed();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metadata_that_is_changed_again_and_again_does_not_grow_past_its_bound() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "a.txt", "Some text.").await;
    let mut refused = None;
    for n in 0..6 {
        let body = json!({"metadata": {format!("entry{n}"): "x".repeat(20_000)}});
        let answer = patch(&app, &key, &file, &body).await;
        if answer.status != 200 {
            refused.get_or_insert((n, answer));
        }
    }
    let (at, answer) = refused.expect("120 KB of metadata were taken");
    assert_eq!((at, answer.status), (3, 413), "{answer:?}");
    let error = &answer.body["error"];
    assert_eq!((&error["code"], &error["reason"]), (&json!("B1004"), &json!("quota_exceeded")), "{answer:?}");
    let text = error.to_string();
    assert!(text.contains("metadata_kb = 64") && text.contains("operator"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_past_a_bound_is_refused_and_leaves_no_original_behind() {
    let mut config = roomy();
    config.bounds.files = 1;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "Some text.").await;
    let answer = app.upload(box_id, &key, "b.txt", b"Other text.", &[]).await;
    answer.must_be_well_formed();
    assert_eq!(
        (answer.status, &answer.body["error"]["reason"]),
        (409, &json!("quota_exceeded")),
        "{answer:?}"
    );
    assert!(answer.body["error"].to_string().contains("files = 1"), "{answer:?}");
    let sha256 = stores::blobs::hexadecimal(&sha2_of(b"Other text."));
    assert!(!app.app.library.blobs.has(&sha256).await.unwrap());
}

fn sha2_of(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_applies_no_filter_and_a_filter_names_only_so_many_values() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let values: Vec<usize> = (0..20_000).collect();
    let body = json!({"query": "x", "dry_run": true, "filter": {"a": {"$nin": values}}});
    let answer = app.post(&path, &key, body).await;
    assert_eq!(
        (answer.status, &answer.body["error"]["reason"]),
        (400, &json!("invalid_parameter")),
        "{answer:?}"
    );
    assert!(answer.body["error"].to_string().contains("10000 values"), "{answer:?}");
    let body = json!({"query": "x", "dry_run": true, "filter": {"a": {"$nin": values[..9000]}}});
    assert_eq!(app.post(&path, &key, body).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_uploads_and_nothing_else() {
    let mut config = roomy();
    config.load.free_disk_mb = u64::MAX >> 20;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let answer = app.upload(box_id, &key, "a.txt", b"Some text.", &[]).await;
    answer.must_be_well_formed();
    assert_eq!((answer.status, &answer.body["error"]["reason"]), (503, &json!("overloaded")), "{answer:?}");
    assert!(!answer.header("retry-after").is_empty());
    let search = app.post(&format!("/boxes/{box_id}/retrieve-documents"), &key, json!({"query": "x"})).await;
    assert_eq!(search.status, 200, "{search:?}");
}
