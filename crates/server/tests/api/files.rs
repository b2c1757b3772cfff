//! Files: in, listed, changed, replaced, deleted.

use engine::access::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp, roomy};

fn names(answer: &Answer) -> Vec<String> {
    let files = answer.body["data"]["files"].as_array().unwrap().iter();
    files.map(|file| file["name"].as_str().unwrap().to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_goes_in_and_is_described_in_full() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let fields = [("metadata", r#"{"year":2024}"#), ("tags", "b,a"), ("externalId", "doc-1")];
    let answer = app.upload(box_id, &key, "folder/note.md", b"# Title\n\nSome text.", &fields).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let id = answer.body["data"]["fileId"].as_str().unwrap();
    let file = app.settled(&key, id).await;
    assert_eq!(file["status"], "ready", "{file}");
    assert_eq!(file["name"], "note.md");
    assert_eq!(file["fileName"], "note.md");
    assert_eq!(file["mediaType"], "text/markdown");
    assert_eq!(file["storageSize"], 19);
    assert_eq!(file["pages"], 1);
    assert_eq!(file["tags"], json!(["a", "b"]));
    assert_eq!(file["metadata"], json!({"year": 2024}));
    assert_eq!(file["externalId"], "doc-1");
    assert_eq!(file["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(file["progress"], json!({"pagesDone": 1, "pages": 1}));
    assert!(file["indexedAt"].is_string() && file["error"].is_null());
    let link = file["link"].as_str().unwrap();
    let linked = Answer::of(app.client.get(link).bearer_auth(&key).send().await.unwrap()).await;
    assert_eq!(linked.body["data"]["fileId"], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_bytes_twice_are_one_file() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let first = app.text_file(box_id, &key, "a.txt", "the same").await;
    let again = app.upload(box_id, &key, "b.txt", b"the same", &[]).await;
    assert_eq!(again.status, 200);
    assert_eq!(again.body["data"]["deduplicated"], true);
    assert_eq!(again.body["data"]["fileId"], first);
    assert_eq!(app.get(&format!("/boxes/{box_id}/files"), &key).await.body["data"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_external_id_replaces_in_place() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let fields = [("externalId", "doc-1")];
    let first = app.upload(box_id, &key, "a.txt", b"version one", &fields).await;
    let id = first.body["data"]["fileId"].as_str().unwrap().to_string();
    let one = app.settled(&key, &id).await;
    let second = app.upload(box_id, &key, "a2.txt", b"version two", &fields).await;
    assert_eq!((second.status, &second.body["data"]["replaced"]), (201, &json!(true)));
    assert_eq!(second.body["data"]["fileId"], id.as_str());
    let two = app.settled(&key, &id).await;
    assert_eq!((two["status"].as_str(), two["name"].as_str()), (Some("ready"), Some("a2.txt")));
    assert_ne!(one["sha256"], two["sha256"]);
    let body = json!({"sources": [id]});
    let full = app.post(&format!("/boxes/{box_id}/retrieve-full-documents"), &key, body).await;
    assert_eq!(full.body["data"]["documents"][0]["pages"][0]["text"], "version two");
    assert!(
        !app.app.library.blobs.has(one["sha256"].as_str().unwrap()).await.unwrap(),
        "the old original is gone"
    );
    assert!(app.app.library.blobs.has(two["sha256"].as_str().unwrap()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_version_that_cannot_be_read_leaves_the_old_one() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let fields = [("externalId", "doc-1")];
    let first = app.upload(box_id, &key, "a.txt", b"version one", &fields).await;
    let id = first.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &id).await;
    app.upload(box_id, &key, "a.pdf", b"%PDF-1.7 broken beyond repair", &fields).await;
    let file = app.settled(&key, &id).await;
    assert_eq!(file["status"], "ready_with_warnings", "{file}");
    assert!(file["warnings"][0].as_str().unwrap().contains("newer version"));
    let body = json!({"sources": [id]});
    let full = app.post(&format!("/boxes/{box_id}/retrieve-full-documents"), &key, body).await;
    assert_eq!(full.body["data"]["documents"][0]["pages"][0]["text"], "version one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_read_says_why() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let answer = app.upload(box_id, &key, "x.pdf", b"%PDF-1.7 broken beyond repair", &[]).await;
    let id = answer.body["data"]["fileId"].as_str().unwrap();
    let file = app.settled(&key, id).await;
    assert_eq!(file["status"], "failed");
    assert!(!file["error"].as_str().unwrap().is_empty());
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let answer = app.post(&path, &key, json!({"sources": [id]})).await;
    assert_eq!(answer.verdict(), "409 B1004 not_ready");
    let report = app.get(&format!("/files/{id}/report"), &key).await;
    assert_eq!(report.body["data"]["status"], "failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_file_is_never_plain_ready() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    for (name, bytes) in
        [("empty.txt", &b""[..]), ("blank.txt", b" \n \n"), ("blank.html", b"<html><body></body></html>")]
    {
        let answer = app.upload(box_id, &key, name, bytes, &[]).await;
        let id = answer.body["data"]["fileId"].as_str().unwrap();
        let file = app.settled(&key, id).await;
        assert!(matches!(file["status"].as_str(), Some("ready_with_warnings" | "failed")), "{name}: {file}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listing_pages_filters_and_sorts() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let other_box = app.box_of(owner).await;
    for n in 0..7 {
        let tags = if n % 2 == 0 { "even" } else { "odd,special" };
        let text = format!("text {}", "x".repeat(n * 10));
        app.upload(box_id, &key, &format!("file{n}.txt"), text.as_bytes(), &[("tags", tags)]).await;
    }
    app.text_file(other_box, &key, "elsewhere.txt", "elsewhere").await;
    let list = async |query: &str| app.get(&format!("/boxes/{box_id}/files{query}"), &key).await;
    assert_eq!(names(&list("?sort=name&limit=3").await), ["file0.txt", "file1.txt", "file2.txt"]);
    assert_eq!(names(&list("").await)[0], "file6.txt", "newest first");
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = list(&format!("?sort=-storageSize&limit=2{cursor}")).await;
        assert_eq!(page.body["data"]["total"], 7);
        seen.extend(names(&page));
        let next = page.body["data"]["next_cursor"].as_str();
        assert_eq!(page.body["data"]["has_more"], next.is_some());
        match next {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, (0..7).rev().map(|n| format!("file{n}.txt")).collect::<Vec<_>>());
    assert_eq!(names(&list("?tags=odd,special&sort=name").await), ["file1.txt", "file3.txt", "file5.txt"]);
    assert_eq!(names(&list("?query=FILE3").await), ["file3.txt"]);
    assert_eq!(list("?status=failed").await.body["data"]["total"], 0);
    let everywhere = app.get("/files", &key).await;
    assert_eq!(everywhere.body["data"]["total"], 8);
    assert_eq!(app.get(&format!("/files?box_id={other_box}"), &key).await.body["data"]["usage"]["files"], 1);
    for wrong in ["?limit=0", "?limit=201", "?limit=x", "?sort=colour", "?status=lost", "?cursor=xyz"] {
        let answer = list(wrong).await;
        answer.must_be_well_formed();
        assert_eq!(answer.verdict(), "400 B1004 invalid_parameter", "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metadata_tags_and_name_can_be_changed() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let answer = app.upload(box_id, &key, "a.txt", b"x", &[("metadata", r#"{"a":1,"b":2}"#)]).await;
    let path = format!("/files/{}", answer.body["data"]["fileId"].as_str().unwrap());
    let patch = async |body: Value| {
        Answer::of(app.request(Method::PATCH, &path, Some(&key)).json(&body).send().await.unwrap()).await
    };
    let changed = patch(json!({"metadata": {"b": null, "c": [3]}, "tags": ["x"], "name": "b.txt"})).await;
    assert_eq!(changed.body["data"]["metadata"], json!({"a": 1, "c": [3]}));
    assert_eq!(changed.body["data"]["tags"], json!(["x"]));
    assert_eq!(changed.body["data"]["name"], "b.txt");
    assert_eq!(patch(json!({"tags": "x"})).await.verdict(), "400 B1004 invalid_parameter");
    assert_eq!(patch(json!({"tag": ["y"]})).await.body["data"]["tags"], json!(["x"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_file_is_gone_at_once_and_the_receipt_says_what_went() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let text = "Something that must go. ".repeat(30);
    let id = app.text_file(box_id, &key, "a.txt", &text).await;
    let other_box = app.box_of(owner).await;
    let twin = app.text_file(other_box, &key, "twin.txt", &text).await;
    let sha256 = app.settled(&key, &id).await["sha256"].as_str().unwrap().to_string();
    let link = app.get(&format!("/files/{id}/signed-url"), &key).await.body["data"]["signedUrl"].clone();
    let delete = async |id: &str| {
        Answer::of(app.request(Method::DELETE, &format!("/files/{id}"), Some(&key)).send().await.unwrap())
            .await
    };
    let receipt = delete(&id).await;
    assert_eq!(receipt.status, 200);
    let removed = &receipt.body["data"]["removed"];
    assert_eq!(
        (&removed["originals"], &removed["pages"]),
        (&json!(1), &json!(1)),
        "its box has no other file of these bytes, whoever else has"
    );
    assert_eq!(app.get(&format!("/files/{id}"), &key).await.verdict(), "404 B1004 not_found");
    assert_eq!(delete(&id).await.verdict(), "404 B1004 not_found");
    assert_eq!(app.get(&format!("/boxes/{box_id}/files"), &key).await.body["data"]["total"], 0);
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    assert_eq!(app.post(&path, &key, json!({"sources": [id]})).await.verdict(), "404 B1004 not_found");
    let download = Answer::of(app.client.get(link.as_str().unwrap()).send().await.unwrap()).await;
    assert_eq!(download.verdict(), "404 B1004 not_found");
    assert!(app.app.library.blobs.has(&sha256).await.unwrap());
    assert_eq!(delete(&twin).await.body["data"]["removed"]["originals"], 1);
    assert!(!app.app.library.blobs.has(&sha256).await.unwrap());
    let again = app.text_file(box_id, &key, "a.txt", &text).await;
    assert_ne!(again, id, "a file that comes back is a new file");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_find_no_file_and_members_without_the_role_are_told() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let id = app.text_file(box_id, &key, "a.txt", "mine").await;
    let stranger = app.user("stranger@example.org").await;
    let stranger = app.key(stranger).await;
    let viewer = app.user("viewer@example.org").await;
    app.grant(box_id, viewer, Role::Viewer).await;
    let viewer = app.key(viewer).await;
    for (method, path) in [
        (Method::GET, format!("/files/{id}")),
        (Method::PATCH, format!("/files/{id}")),
        (Method::DELETE, format!("/files/{id}")),
        (Method::GET, format!("/files/{id}/report")),
        (Method::GET, format!("/files/{id}/signed-url")),
        (Method::GET, format!("/signed-url?file_id={id}")),
    ] {
        for (who, verdict) in [(&stranger, "404 B1004 not_found"), (&viewer, "403 B3002 role_insufficient")] {
            let answer =
                Answer::of(app.request(method.clone(), &path, Some(who)).send().await.unwrap()).await;
            answer.must_be_well_formed();
            assert_eq!(answer.verdict(), verdict, "{method} {path}");
        }
    }
    assert_eq!(app.get("/files", &stranger).await.body["data"]["total"], 0);
    assert_eq!(app.get("/files", &viewer).await.body["data"]["total"], 0);
    let other = app.get("/boxes", &stranger).await;
    assert_eq!(other.body["data"]["total"], 0);
    assert_eq!(app.get(&format!("/files/{id}"), &key).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_uploads_are_refused() {
    let mut config = roomy();
    config.limits.file_mb = 1;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let large = app.upload(box_id, &key, "large.txt", &vec![b'x'; (1 << 20) + 1], &[]).await;
    assert_eq!(large.verdict(), "413 B1004 too_large");
    let just = app.upload(box_id, &key, "just.txt", &vec![b'x'; 1 << 20], &[]).await;
    assert_eq!(just.status, 201);
    for fields in [[("metadata", "[]")], [("metadata", "{")], [("tags", "[1]")], [("externalId", "")]] {
        let answer = app.upload(box_id, &key, "a.txt", b"x", &fields).await;
        assert_eq!(answer.verdict(), "400 B1004 invalid_parameter", "{fields:?}");
    }
    let path = format!("/boxes/{box_id}/files");
    let no_file = reqwest::multipart::Form::new().text("metadata", "{}");
    let request = app.request(Method::POST, &path, Some(&key)).multipart(no_file);
    assert_eq!(Answer::of(request.send().await.unwrap()).await.verdict(), "400 B1004 missing_parameter");
    let request = app.request(Method::POST, &path, Some(&key)).header("content-type", "text/plain").body("x");
    assert_eq!(Answer::of(request.send().await.unwrap()).await.verdict(), "415 B1004 invalid_parameter");
    let request = app
        .request(Method::POST, &path, Some(&key))
        .header("content-type", "multipart/form-data; boundary=x");
    let cut = request.body("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc");
    assert_eq!(Answer::of(cut.send().await.unwrap()).await.verdict(), "400 B1004 invalid_parameter");
    assert_eq!(app.get(&path, &key).await.body["data"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_tell_how_a_file_stands() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let request = app.request(Method::GET, &format!("/boxes/{box_id}/events"), Some(&key));
    let mut stream = request.send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert!(stream.headers().contains_key("x-ratelimit-hits"));
    app.text_file(box_id, &key, "a.txt", "hello").await;
    let mut text = String::new();
    while !text.contains(r#""status":"ready""#) {
        text.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(text.starts_with("data: {") && text.contains(r#""status":"queued""#), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_a_box_deletes_its_files() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let id = app.text_file(box_id, &key, "a.txt", "soon gone").await;
    let sha256 = app.settled(&key, &id).await["sha256"].as_str().unwrap().to_string();
    app.app.library.delete_box(&engine::access::Owning::for_operator(box_id)).await.unwrap();
    assert_eq!(app.get(&format!("/files/{id}"), &key).await.verdict(), "404 B1004 not_found");
    assert_eq!(app.get(&format!("/boxes/{box_id}"), &key).await.verdict(), "403 B3002 box_unknown");
    assert!(!app.app.library.blobs.has(&sha256).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_after_a_restart() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let mut ids = Vec::new();
    for n in 0..20 {
        let answer =
            app.upload(box_id, &key, &format!("f{n}.txt"), format!("text {n}").as_bytes(), &[]).await;
        ids.push(answer.body["data"]["fileId"].as_str().unwrap().to_string());
    }
    let app = TestApp::on(app.stop().await, roomy()).await;
    for id in ids {
        assert_eq!(app.settled(&key, &id).await["status"], "ready");
    }
    assert_eq!(app.catalog.queue_length().await.unwrap(), 0);
}
