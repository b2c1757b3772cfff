//! What is deleted is gone, from the disk too, whatever was happening to it at that moment.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{
    access::{Owning, Role, Writing},
    document::{Document, Format, Page},
    ids::{BoxId, FileId},
    seams::catalog::{Job, JobOutcome, ReindexAction},
};
use reqwest::Method;
use serde_json::json;
use server::reindex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::{Answer, Intruding, TestApp, roomy};

/// All files under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files under a folder that hold these bytes.
fn holding(folder: &Path, marker: &str) -> Vec<PathBuf> {
    let holds = |bytes: Vec<u8>| bytes.windows(marker.len()).any(|part| part == marker.as_bytes());
    files(folder).into_iter().filter(|path| std::fs::read(path).is_ok_and(holds)).collect()
}

/// Whether the data folder is where everything is kept.
fn in_a_folder() -> bool {
    std::env::var("QUIRE_TEST_STORES").is_err()
}

fn own(box_id: BoxId) -> Owning {
    Owning::for_operator(box_id)
}

async fn delete(app: &TestApp, key: &str, file: &str) -> Answer {
    let request = app.request(Method::DELETE, &format!("/files/{file}"), Some(key));
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn boxes_deleted_while_files_are_read_into_them_leave_nothing() {
    let app = TestApp::start().await;
    let user = app.user("owner@example.org").await;
    let key = app.key(user).await;
    let mut deletions = Vec::new();
    for number in 0..40 {
        let box_id = app.box_of(user).await;
        for file in 0..2 {
            let text = format!("MARKER stands in file {file} of box {number}");
            app.upload(box_id, &key, "a.txt", text.as_bytes(), &[]).await;
        }
        let library = app.app.library.clone();
        deletions.push(tokio::spawn(async move { library.delete_box(&own(box_id)).await }));
    }
    for deletion in deletions {
        deletion.await.unwrap().unwrap();
    }
    // A worker may be at a file yet whose box is gone: it gives it up.
    let folder = app.stop().await;
    assert_eq!(holding(folder.path(), "MARKER"), Vec::<PathBuf>::new());
    if in_a_folder() {
        assert_eq!(files(&folder.path().join("blobs/originals")), Vec::<PathBuf>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_answer_on_nothing_of_a_deleted_file_is_in_the_data_folder() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let kept = app.text_file(box_id, &key, "kept.txt", "PRECIOUS words that stay").await;
    let gone = app.text_file(box_id, &key, "gone.txt", "VANISHING words about warranties").await;
    // An answer that quotes it is kept for retries.
    let search = app.request(Method::POST, &format!("/boxes/{box_id}/retrieve-documents"), Some(&key));
    let search = search.header("idempotency-key", "one").json(&json!({"query": "warranties"}));
    let answer = Answer::of(search.send().await.unwrap()).await;
    assert!(answer.body.to_string().contains("VANISHING"), "{answer:?}");
    let folder = app.folder.clone();
    assert!(!in_a_folder() || !holding(folder.path(), "VANISHING").is_empty());
    assert_eq!(delete(&app, &key, &gone).await.status, 200);
    assert_eq!(holding(folder.path(), "VANISHING"), Vec::<PathBuf>::new());
    assert!(!in_a_folder() || !holding(folder.path(), "PRECIOUS").is_empty());
    assert_eq!(app.get(&format!("/files/{kept}"), &key).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_that_was_cut_short_is_finished_at_the_next_start() {
    let app = TestApp::start().await;
    let (user, box_id, key) = app.owner().await;
    let other = app.box_of(user).await;
    let file = app.text_file(box_id, &key, "a.txt", "VANISHING words").await;
    app.text_file(other, &key, "b.txt", "LEAVING words").await;
    let writing = Writing::for_operator(box_id);
    let file: FileId = file.parse().unwrap();
    app.catalog.begin_delete(&writing, file).await.unwrap().unwrap();
    app.catalog.begin_delete_box(&own(other)).await.unwrap();
    // Killed after the index was changed, before its log was emptied.
    app.app.library.index.remove(&writing, file).await.unwrap();
    // An upload that was cut short before it became a file.
    let mut staged = app.app.library.blobs.receive().unwrap();
    staged.write(b"ORPHANED words").unwrap();
    app.app.library.blobs.keep(staged.finish().unwrap()).await.unwrap();
    let app = TestApp::on(app.stop().await, roomy()).await;
    for marker in ["VANISHING", "LEAVING"] {
        assert_eq!(holding(app.folder.path(), marker), Vec::<PathBuf>::new(), "{marker}");
    }
    // An original without a file is looked for while the server answers already.
    let (library, shutdown) = (app.app.library.clone(), CancellationToken::new());
    let tending = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { library.tend(shutdown).await }
    });
    let gone = async {
        while !holding(app.folder.path(), "ORPHANED").is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .expect("the original without a file is removed");
    shutdown.cancel();
    tending.await.unwrap();
    assert!(app.catalog.half_deleted().await.unwrap().is_empty());
    assert!(app.catalog.half_deleted_boxes().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_tells_nothing_about_other_tenants() {
    let app = TestApp::start().await;
    let (_, mine, key) = app.owner().await;
    let stranger = app.user("stranger@example.org").await;
    let (theirs, their_key) = (app.box_of(stranger).await, app.key(stranger).await);
    let shared = app.text_file(mine, &key, "a.txt", "the same bytes").await;
    app.text_file(theirs, &their_key, "b.txt", "the same bytes").await;
    let alone = app.text_file(mine, &key, "c.txt", "bytes of our own").await;
    let receipts = [delete(&app, &key, &shared).await, delete(&app, &key, &alone).await];
    for receipt in &receipts {
        assert_eq!(receipt.body["data"]["removed"]["originals"], 1, "{receipt:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_kills_the_server_three_times_is_not_read_again() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let catalog = app.beside();
    // The worker of the test is stopped, so that the deaths can be staged.
    let folder = app.stop().await;
    let writing = Writing::for_operator(box_id);
    let new = engine::seams::catalog::NewFile {
        name: "bomb.txt".parse().unwrap(),
        external_id: None,
        sha256: "0".repeat(64),
        size: 1,
        media_type: "text/plain".into(),
        tags: None,
        metadata: None,
        expires_at: None,
    };
    let file = catalog.add_file(&writing, new).await.unwrap().file.id;
    for deaths in 0..3 {
        let job: Job = catalog.claim_job("dies", jiff::Timestamp::now()).await.unwrap().unwrap();
        assert_eq!(job.deaths(), deaths);
        catalog.requeue_abandoned(std::time::Duration::ZERO).await.unwrap();
    }
    drop(catalog);
    let app = TestApp::on(folder, roomy()).await;
    let settled = app.settled(&key, &file.to_string()).await;
    assert_eq!(settled["status"], "failed");
    assert!(settled["error"].as_str().unwrap().starts_with("the server died 3 times"), "{settled}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tries_that_failed_for_another_reason_are_no_deaths() {
    let app = TestApp::start().await;
    let (_, box_id, _) = app.owner().await;
    let beside = app.beside();
    // The worker of the test is stopped, so that the tries can be staged.
    let _folder = app.stop().await;
    let writing = Writing::for_operator(box_id);
    let new = engine::seams::catalog::NewFile {
        name: "slow.txt".parse().unwrap(),
        external_id: None,
        sha256: "1".repeat(64),
        size: 1,
        media_type: "text/plain".into(),
        tags: None,
        metadata: None,
        expires_at: None,
    };
    beside.add_file(&writing, new).await.unwrap();
    for _ in 0..3 {
        let now = jiff::Timestamp::now();
        let job = beside.claim_job("tries", now).await.unwrap().unwrap();
        assert_eq!(job.deaths(), 0);
        let again = JobOutcome::Retry { after: std::time::Duration::ZERO };
        beside.finish_job(&job, "tries", again, now).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reindexing_of_a_box_that_is_deleted_meanwhile_leaves_nothing() {
    let app = TestApp::start().await;
    let (user, _, key) = app.owner().await;
    // Nobody knows when reindexing comes to which step, so the box is deleted at many moments.
    for moment in 0..12 {
        let box_id = app.box_of(user).await;
        for number in 0..4 {
            app.text_file(box_id, &key, &format!("{number}.txt"), &format!("VANISHING words {number}")).await;
        }
        let writing = Writing::for_operator(box_id);
        app.catalog.request_reindex(&writing, ReindexAction::Rebuild).await.unwrap();
        let (library, ingest, search) = (app.app.library.clone(), app.ingest.clone(), app.app.search.clone());
        let reindexing = tokio::spawn(async move { reindex::next(&library, &ingest, &search).await });
        tokio::time::sleep(Duration::from_millis(moment * 4)).await;
        app.app.library.delete_box(&own(box_id)).await.unwrap();
        assert!(reindexing.await.unwrap().is_ok());
        assert_eq!(holding(app.folder.path(), "VANISHING"), Vec::<PathBuf>::new(), "at moment {moment}");
    }
}

fn version(word: &str) -> Arc<Document> {
    let page = |number| Page {
        number,
        label: number.to_string(),
        text: word.repeat(2_000),
        format: Format::Text,
        ocr: false,
        confidence: None,
        tables: 0,
        warnings: vec![],
        layout: None,
    };
    let pages = (1..=2_000).map(page).collect();
    Arc::new(Document { media_type: "text/plain".into(), title: None, pages, warnings: vec![] })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_is_replaced_while_it_is_sent_is_cut_and_never_mixed() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "a.txt", "first").await;
    let (writing, id, index) =
        (Writing::for_operator(box_id), file.parse().unwrap(), app.app.library.index.clone());
    index.replace(&writing, id, &version("OLDER "), &Arc::from([]), "none").await.unwrap();
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let request = app.request(Method::POST, &path, Some(&key)).json(&json!({"sources": [file]}));
    let mut response = request.send().await.unwrap();
    let mut received = response.chunk().await.unwrap().unwrap().to_vec();
    index.replace(&writing, id, &version("NEWER "), &Arc::from([]), "none").await.unwrap();
    let cut = loop {
        match response.chunk().await {
            Ok(Some(more)) => received.extend(more),
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    let text = String::from_utf8_lossy(&received);
    assert!(cut, "24 MB do not fit between the two, so the rest was of another version");
    assert!(text.contains("OLDER") && !text.contains("NEWER"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_who_is_let_in_again_is_not_shown_what_was_deleted_meanwhile() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let member = app.user("member@example.org").await;
    app.grant(box_id, member, Role::Admin).await;
    let their_key = app.key(member).await;
    let file = app.text_file(box_id, &key, "a.txt", "VANISHING words about warranties").await;
    let ask = async || {
        let path = format!("/boxes/{box_id}/retrieve-documents");
        let request = app.request(Method::POST, &path, Some(&their_key)).header("idempotency-key", "one");
        Answer::of(request.json(&json!({"query": "warranties"})).send().await.unwrap()).await.body.to_string()
    };
    assert!(ask().await.contains("VANISHING"));
    let managing = engine::access::Managing::for_operator(box_id);
    app.catalog.revoke(&managing, member).await.unwrap();
    assert_eq!(delete(&app, &key, &file).await.status, 200);
    app.grant(box_id, member, Role::Admin).await;
    assert!(!ask().await.contains("VANISHING"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_of_another_type_is_the_callers_fault() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    for number in 0..3 {
        app.text_file(box_id, &key, &format!("{number}.txt"), &format!("words {number}")).await;
    }
    let page = app.get(&format!("/boxes/{box_id}/files?limit=1&sort=name"), &key).await;
    let cursor = page.body["data"]["next_cursor"].as_str().unwrap();
    let bytes = server::http::token::decode(cursor).unwrap();
    let forged = String::from_utf8(bytes).unwrap().replace(r#""sort":"name""#, r#""sort":"size""#);
    let forged = server::http::token::encode(forged.as_bytes());
    let answer = app.get(&format!("/boxes/{box_id}/files?limit=1&sort=size&cursor={forged}"), &key).await;
    assert_eq!(answer.verdict(), "400 B1004 invalid_parameter");
}

/// Stops a reindexing where a text with this marker is embedded, until it may go on.
#[derive(Default)]
struct Gate {
    marker: Mutex<Option<&'static str>>,
    reached: Notify,
    go: Notify,
}

impl Gate {
    async fn pass(self: Arc<Self>, closed: bool) {
        if closed {
            self.reached.notify_one();
            self.go.notified().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_is_replaced_while_the_box_is_reindexed_is_in_no_index() {
    let gate = Arc::new(Gate::default());
    let gated = gate.clone();
    let gated = Intruding(move |texts: &[String]| {
        let marker = *gated.marker.lock().unwrap();
        gated.clone().pass(marker.is_some_and(|marker| texts.iter().any(|text| text.contains(marker))))
    });
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let app = TestApp::with_embedders(folder, roomy(), Arc::new(gated).into()).await;
    let (_, box_id, key) = app.owner().await;
    let named = [("externalId", "doc")];
    let file = app.upload(box_id, &key, "a.txt", b"OLDER words", &named).await;
    let file = file.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &file).await;
    let writing = Writing::for_operator(box_id);
    app.catalog.request_reindex(&writing, ReindexAction::Rebuild).await.unwrap();
    *gate.marker.lock().unwrap() = Some("OLDER");
    let (library, ingest, search) = (app.app.library.clone(), app.ingest.clone(), app.app.search.clone());
    let reindexing = tokio::spawn(async move { reindex::next(&library, &ingest, &search).await });
    gate.reached.notified().await;
    *gate.marker.lock().unwrap() = None;
    app.upload(box_id, &key, "a.txt", b"NEWER words", &named).await;
    app.settled(&key, &file).await;
    // The next stop is where the reindexing catches up with what changed.
    *gate.marker.lock().unwrap() = Some("NEWER");
    gate.go.notify_one();
    gate.reached.notified().await;
    assert_eq!(holding(app.folder.path(), "OLDER"), Vec::<PathBuf>::new());
    gate.go.notify_one();
    assert!(reindexing.await.unwrap().unwrap());
    assert_eq!(holding(app.folder.path(), "OLDER"), Vec::<PathBuf>::new());
}
