//! Another model: boxes keep theirs where the server still has it, and refuse the other until they are indexed anew, which
//! leaves no gap and can be undone.

use std::sync::Arc;

use async_trait::async_trait;
use engine::{
    Fault,
    access::Writing,
    embedders::Embedders,
    ids::BoxId,
    seams::{
        catalog::{ReindexAction, ReindexState},
        embedder::{Embedder, Embedding, Role},
    },
};
use serde_json::{Value, json};
use server::reindex;

use crate::support::{Answer, TestApp, roomy};

/// The test model under another name: its vectors must not be compared with those of the first.
struct Renamed(models::FakeEmbedder);

#[async_trait]
impl Embedder for Renamed {
    fn id(&self) -> &str {
        "renamed@2"
    }
    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }
    fn max_tokens(&self) -> usize {
        self.0.max_tokens()
    }
    fn count_tokens(&self, text: &str) -> usize {
        self.0.count_tokens(text)
    }
    async fn embed(&self, texts: Vec<String>, role: Role, tokens: bool) -> Result<Vec<Embedding>, Fault> {
        self.0.embed(texts, role, tokens).await
    }
}

async fn search(app: &TestApp, box_id: BoxId, key: &str, body: Value) -> Answer {
    app.post(&format!("/boxes/{box_id}/retrieve-documents"), key, body).await
}

fn count(answer: &Answer) -> u64 {
    answer.body["data"]["documents"][0]["count"].as_u64().unwrap_or_else(|| panic!("{answer:?}"))
}

async fn reindexed(app: &TestApp, box_id: BoxId, action: ReindexAction) -> Value {
    let writing = Writing::for_operator(box_id);
    app.app.recent_queries.write_down(&*app.catalog).await.unwrap();
    app.catalog.request_reindex(&writing, action).await.unwrap();
    assert!(reindex::next(&app.app.library, &app.ingest, &app.app.search).await.unwrap());
    match app.catalog.reindex_state(writing.reading()).await.unwrap() {
        Some(ReindexState::Done(report)) => serde_json::from_str(&report).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_changes_over_to_another_model_and_back() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let kept = app.text_file(box_id, &key, "a.txt", "Zebras live in Africa.").await;
    let gone = app.text_file(box_id, &key, "b.txt", "Zebras are striped.").await;
    let question = json!({"query": "zebras"});
    assert_eq!(count(&search(&app, box_id, &key, question.clone()).await), 2);
    app.app.recent_queries.write_down(&*app.catalog).await.unwrap();
    let folder = app.stop().await;

    let renamed = Arc::new(Renamed(models::FakeEmbedder));
    let app = TestApp::with_embedders(folder, roomy(), renamed.into()).await;
    let refused = search(&app, box_id, &key, question.clone()).await;
    assert_eq!(refused.verdict(), "409 B1004 invalid_parameter");
    assert!(refused.body["error"]["cause"].as_str().unwrap().contains("quire reindex"), "{refused:?}");
    let words = json!({"query": "zebras", "mode": "keyword", "rerank": false});
    assert_eq!(count(&search(&app, box_id, &key, words).await), 2);
    let upload = app.upload(box_id, &key, "c.txt", b"Zebras again.", &[]).await;
    let file = app.settled(&key, upload.body["data"]["fileId"].as_str().unwrap()).await;
    assert_eq!(file["status"], "failed");
    assert!(file["error"].as_str().unwrap().contains("quire reindex"), "{file}");

    let report = reindexed(&app, box_id, ReindexAction::Rebuild).await;
    assert_eq!(
        report,
        json!({"files": 2, "chunks": 2, "modelBefore": "fake@1", "model": "renamed@2",
               "queriesCompared": 1, "overlap": 1.0})
    );
    assert_eq!(count(&search(&app, box_id, &key, question.clone()).await), 2);
    let new = app.text_file(box_id, &key, "d.txt", "Zebras run fast.").await;
    app.request(reqwest::Method::DELETE, &format!("/files/{gone}"), Some(&key)).send().await.unwrap();

    let report = reindexed(&app, box_id, ReindexAction::GoBack).await;
    assert_eq!(report, json!({"files": 1, "model": "fake@1", "readAgain": 1}));
    let contents = app.app.library.index.contents(Writing::for_operator(box_id).reading()).await.unwrap();
    assert_eq!(contents.files[0].file.to_string(), kept, "what was deleted since does not come back");
    // The file that came since is read again, and refused by the old model's box until the old model runs again.
    assert_eq!(app.settled(&key, &new).await["status"], "failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_keeps_its_model_until_it_is_indexed_again() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "Zebras live in Africa.").await;
    let folder = app.stop().await;

    let earlier = Arc::new(|| Ok(Arc::new(models::FakeEmbedder) as Arc<dyn Embedder>));
    let embedders =
        Embedders::one(Arc::new(Renamed(models::FakeEmbedder))).with_earlier("fake@1".into(), earlier);
    let app = TestApp::with_embedders(folder, roomy(), embedders).await;
    app.text_file(box_id, &key, "b.txt", "Zebras are striped.").await;
    let asked = json!({"query": "zebras", "explain": true});
    let found = search(&app, box_id, &key, asked.clone()).await;
    let by = |found: &Answer| found.body["data"]["documents"][0]["models"][0]["embedder"].clone();
    assert_eq!((count(&found), by(&found)), (2, json!("fake@1")));

    let report = reindexed(&app, box_id, ReindexAction::Rebuild).await;
    assert_eq!((&report["modelBefore"], &report["model"]), (&json!("fake@1"), &json!("renamed@2")));
    let found = search(&app, box_id, &key, asked).await;
    assert_eq!((count(&found), by(&found)), (2, json!("renamed@2")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_must_be_something_to_go_back_to() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "Zebras live in Africa.").await;
    let writing = Writing::for_operator(box_id);
    app.catalog.request_reindex(&writing, ReindexAction::GoBack).await.unwrap();
    reindex::next(&app.app.library, &app.ingest, &app.app.search).await.unwrap();
    let state = app.catalog.reindex_state(writing.reading()).await.unwrap().unwrap();
    assert!(matches!(state, ReindexState::Failed(why) if why.contains("no earlier index")));
}
