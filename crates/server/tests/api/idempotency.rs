//! `Idempotency-Key`: a request sent again is answered again, not done again.

use engine::{access::Role, ids::BoxId};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

const ONCE: &str = "idempotency-key";

async fn post(app: &TestApp, path: &str, key: &str, name: &str, body: Value) -> Answer {
    let request = app.request(Method::POST, path, Some(key)).header(ONCE, name).json(&body);
    let answer = Answer::of(request.send().await.unwrap()).await;
    answer.must_be_well_formed();
    answer
}

fn replayed(answer: &Answer) -> bool {
    answer.headers.get("idempotency-replayed").is_some_and(|value| value == "true")
}

fn search_path(box_id: BoxId) -> String {
    format!("/boxes/{box_id}/retrieve-documents")
}

fn plain(query: &str) -> Value {
    json!({"query": query, "mode": "keyword", "rerank": false})
}

#[tokio::test]
async fn the_same_request_is_answered_again_and_not_charged_again() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let path = search_path(box_id);
    let first = post(&app, &path, &key, "a", plain("x")).await;
    let again = post(&app, &path, &key, "a", plain("x")).await;
    assert_eq!((first.status, replayed(&first), again.status, replayed(&again)), (200, false, 200, true));
    assert_eq!(first.body, again.body);
    assert_ne!(first.header("x-request-id"), again.header("x-request-id"));
    assert_eq!(again.number("x-ratelimit-hits"), 2, "rate limits still count");
    assert_eq!(app.get("/check", &key).await.body["data"]["units"]["used"], 1);
    for (path, body) in [
        (path.clone(), plain("y")),
        (format!("{path}?x=1"), plain("x")),
        (format!("/boxes/{box_id}/retrieve-full-documents"), plain("x")),
    ] {
        let other = post(&app, &path, &key, "a", body).await;
        assert_eq!(other.verdict(), "422 B1004 idempotency_mismatch", "{path}");
    }
    assert!(!replayed(&post(&app, &path, &key, "b", plain("x")).await), "another name is another request");
    let second = app.key(owner).await;
    assert!(!replayed(&post(&app, &path, &second, "a", plain("x")).await), "so is another API key's");
    let app = TestApp::on(app.stop().await, crate::support::roomy()).await;
    assert!(replayed(&post(&app, &path, &key, "a", plain("x")).await), "also after a restart");
    let headerless = app.post(&path, &key, plain("x")).await;
    assert!(!replayed(&headerless) && headerless.status == 200);
}

#[tokio::test]
async fn a_failed_request_may_be_tried_again() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let path = search_path(box_id);
    app.catalog.set_user_units(owner, 0).await.unwrap();
    assert_eq!(post(&app, &path, &key, "a", plain("x")).await.status, 402);
    app.catalog.set_user_units(owner, 10).await.unwrap();
    assert_eq!(post(&app, &path, &key, "a", json!({"query": 5})).await.status, 400, "nothing was kept");
    let done = post(&app, &path, &key, "a", plain("x")).await;
    assert_eq!((done.status, replayed(&done)), (200, false));
    assert!(replayed(&post(&app, &path, &key, "a", plain("x")).await));
}

#[tokio::test]
async fn only_a_visible_name_of_reasonable_length_is_taken() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let long = "x".repeat(256);
    for name in ["", "a b", &long] {
        let answer = post(&app, &search_path(box_id), &key, name, plain("x")).await;
        assert_eq!(answer.verdict(), "400 B1004 invalid_parameter", "{name:?}");
        assert_eq!(answer.body["error"]["param"], "Idempotency-Key");
    }
    assert_eq!(post(&app, &search_path(box_id), &key, &long[..255], plain("x")).await.status, 200);
    let read = app.request(Method::GET, "/check", Some(&key)).header(ONCE, "a b").send().await.unwrap();
    assert_eq!(read.status(), 200, "it means nothing on a GET");
}

async fn upload(app: &TestApp, box_id: BoxId, key: &str, name: &str, bytes: Vec<u8>) -> Answer {
    // Every form has a boundary of its own, as with any client that tries again.
    let form = reqwest::multipart::Form::new()
        .part("file", reqwest::multipart::Part::bytes(bytes).file_name("a.txt"))
        .text("externalId", "doc");
    let request = app.request(Method::POST, &format!("/boxes/{box_id}/files"), Some(key)).header(ONCE, name);
    Answer::of(request.multipart(form).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_is_received_once_and_compared_to_its_last_byte() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let mut bytes = b"word ".repeat(1_000_000);
    let first = upload(&app, box_id, &key, "a", bytes.clone()).await;
    assert_eq!((first.status, replayed(&first)), (201, false), "{first:?}");
    let again = upload(&app, box_id, &key, "a", bytes.clone()).await;
    assert_eq!((again.status, replayed(&again)), (201, true), "{again:?}");
    assert_eq!(first.body, again.body);
    *bytes.last_mut().unwrap() = b'!';
    let other = upload(&app, box_id, &key, "a", bytes).await;
    assert_eq!(other.verdict(), "422 B1004 idempotency_mismatch");
    assert_eq!(app.get("/files", &key).await.body["data"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_one_runs_the_other_is_told_to_wait() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    // A body that does not end until told to: the first request is surely under way.
    let begin = async || {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(1);
        let body =
            futures::stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
        let slow = app
            .request(Method::POST, &path, Some(&key))
            .header(ONCE, "a")
            .header("content-type", "application/json")
            .body(reqwest::Body::wrap_stream(body));
        let slow = tokio::spawn(async move { Answer::of(slow.send().await.unwrap()).await });
        sender.send(Ok(b"{\"sources\":".to_vec())).await.unwrap();
        (sender, slow)
    };
    let (mut sender, mut slow) = begin().await;
    let waiting = loop {
        // Leaves the name free for a while: a slow request that finds it taken is refused itself, and begun again.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        if slow.is_finished() {
            (sender, slow) = begin().await;
            continue;
        }
        let answer = post(&app, &path, &key, "a", json!({"sources": ["x"]})).await;
        // The second may have come first; then it has failed and left the name free.
        if answer.status != 404 {
            break answer;
        }
    };
    assert_eq!(waiting.verdict(), "409 B1004 not_ready");
    assert_eq!(waiting.header("retry-after"), "1");
    sender.send(Ok(b"[\"x\"]}".to_vec())).await.unwrap();
    drop(sender);
    assert_eq!(slow.await.unwrap().status, 404);
    assert_eq!(post(&app, &path, &key, "a", json!({"sources": ["x"]})).await.status, 404, "free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_at_once_one_is_done() {
    let app = std::sync::Arc::new(TestApp::start().await);
    let (_, box_id, key) = app.owner().await;
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (app, key) = (app.clone(), key.clone());
            tokio::spawn(async move { post(&app, &search_path(box_id), &key, "a", plain("x")).await })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        let answer = task.await.unwrap();
        assert!(matches!(answer.status, 200 | 409), "{answer:?}");
        done += usize::from(answer.status == 200 && !replayed(&answer));
    }
    assert_eq!(done, 1);
    assert_eq!(app.get("/check", &key).await.body["data"]["units"]["used"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_streamed_answer_is_kept_once_sent_and_a_large_one_is_not() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let small = app.text_file(box_id, &key, "small.txt", "one").await;
    let large = app.text_file(box_id, &key, "large.txt", &"many words ".repeat(120_000)).await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    for (file, kept) in [(small, true), (large, false)] {
        let first = post(&app, &path, &key, &file, json!({"sources": [file]})).await;
        let again = post(&app, &path, &key, &file, json!({"sources": [file]})).await;
        assert_eq!((first.status, again.status, replayed(&again)), (200, 200, kept), "{file}");
        assert_eq!(first.body, again.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_shows_nobody_what_they_may_no_longer_see() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "a.txt", "secret words").await;
    let admin = app.user("admin@example.org").await;
    app.grant(box_id, admin, Role::Admin).await;
    let theirs = app.key(admin).await;
    let path = search_path(box_id);
    for key in [&key, &theirs] {
        let found = post(&app, &path, key, "a", plain("secret")).await;
        assert_eq!(found.body["data"]["documents"][0]["count"], 1, "{found:?}");
    }
    app.grant(box_id, admin, Role::Viewer).await;
    assert_eq!(
        post(&app, &path, &theirs, "a", plain("secret")).await.verdict(),
        "403 B3002 role_insufficient"
    );
    assert!(replayed(&post(&app, &path, &key, "a", plain("secret")).await));
    let deleted = app.request(Method::DELETE, &format!("/files/{file}"), Some(&key)).send().await.unwrap();
    assert_eq!(deleted.status(), 200);
    let found = post(&app, &path, &key, "a", plain("secret")).await;
    assert!(!replayed(&found));
    assert_eq!(found.body["data"]["documents"][0]["count"], 0, "deleted is deleted");
}
