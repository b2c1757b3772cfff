//! Boxes for English and for any language side by side, and boxes that turn from one into the other.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Managing, Writing},
    embedders::Embedders,
    ids::BoxId,
    seams::{
        catalog::{ReindexAction, ReindexState},
        embedder::{Embedder, Embedding, Role},
        reranker::Reranker,
        weighing::Weighing,
    },
    search::Rerankers,
};
use reqwest::Method;
use serde_json::{Value, json};
use server::{assemble::Models, reindex};

use crate::support::{Answer, TestApp, roomy};

const MULTI: &str = "quire-multi-2";
/// The cross-encoder that reads what it found.
const READER: &str = "quire-rerank-multi-1";

/// Half a page of each.
const ENGLISH: &str = "The warranty of the machine lasts for two years from the day on which it was delivered. Whoever \
    opens the case without our written consent loses it, and so does whoever uses parts that are not our own. Repairs \
    under warranty are free of charge and take no longer than three weeks.";
const SPANISH: &str = "La garantía de la máquina dura dos años desde el día en que fue entregada. Quien abra la carcasa sin \
    nuestro consentimiento por escrito la pierde, y también quien utilice piezas que no sean nuestras. Las reparaciones \
    en garantía son gratuitas y no tardan más de tres semanas.";

/// In a script of its own, so that its language is told surely.
const GREEK: &str = "Η εγγύηση του μηχανήματος διαρκεί δύο χρόνια από την ημέρα που παραδόθηκε. Όποιος ανοίξει το περίβλημα \
    χωρίς τη γραπτή συγκατάθεσή μας τη χάνει, το ίδιο και όποιος χρησιμοποιεί ανταλλακτικά που δεν είναι δικά μας. Οι επισκευές \
    με εγγύηση είναι δωρεάν και δεν διαρκούν περισσότερο από τρεις εβδομάδες.";

/// The test model as one that knows every language: it takes some words of Spanish for those of English.
struct Multilingual(Weighing);

impl Multilingual {
    fn new() -> Self {
        Multilingual(Weighing { least_trust: 1.0, ..Weighing::USUAL })
    }
}

#[async_trait]
impl Embedder for Multilingual {
    fn id(&self) -> &str {
        MULTI
    }
    fn dimensions(&self) -> usize {
        models::FakeEmbedder.dimensions()
    }
    fn max_tokens(&self) -> usize {
        models::FakeEmbedder.max_tokens()
    }
    fn count_tokens(&self, text: &str) -> usize {
        models::FakeEmbedder.count_tokens(text)
    }
    fn weighing(&self) -> &Weighing {
        &self.0
    }
    async fn embed(&self, texts: Vec<String>, role: Role, tokens: bool) -> Result<Vec<Embedding>, Fault> {
        let translated = |text: String| {
            let text = text.to_lowercase().replace("garantía", "warranty").replace("máquina", "machine");
            text.replace("años", "years")
        };
        models::FakeEmbedder.embed(texts.into_iter().map(translated).collect(), role, tokens).await
    }
}

/// A server with both, and how often the second was loaded.
async fn start() -> (TestApp, Arc<AtomicUsize>) {
    let loads = Arc::new(AtomicUsize::new(0));
    let counted = loads.clone();
    let load = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Multilingual::new()) as Arc<dyn Embedder>)
    });
    let embedders = Embedders::from(Arc::new(models::FakeEmbedder)).with_multilingual(MULTI.into(), load);
    let usual: Arc<dyn Reranker> = Arc::new(models::FakeReranker);
    let reader = usual.clone();
    let rerankers = Rerankers::from(Some(usual))
        .apart_from(vec![MULTI.into()])
        .with_multilingual(READER.into(), Arc::new(move || Ok(reader.clone())));
    let models = Models { embedders, rerankers, pickers: engine::chat::Pickers::default() };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    (TestApp::with_models(folder, roomy(), models).await, loads)
}

impl TestApp {
    async fn box_for(&self, key: &str, language: &str) -> BoxId {
        let made = self.post("/boxes", key, json!({"name": language, "language": language})).await;
        assert_eq!((made.status, &made.body["data"]["language"]), (201, &json!(language)), "{made:?}");
        made.body["data"]["boxId"].as_str().unwrap().parse().unwrap()
    }

    async fn found(&self, box_id: BoxId, key: &str, query: &str) -> Value {
        let body = json!({"query": query, "explain": true});
        let answer = self.post(&format!("/boxes/{box_id}/retrieve-documents"), key, body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["data"]["documents"][0].clone()
    }

    async fn model(&self, box_id: BoxId) -> Option<String> {
        self.app.library.index.model(Writing::for_operator(box_id).reading()).await.unwrap()
    }

    /// What the server does once a second.
    async fn look(&self) -> bool {
        reindex::change_over(&self.app.library, &self.ingest).await.unwrap();
        reindex::next(&self.app.library, &self.ingest, &self.app.search).await.unwrap()
    }

    async fn lines(&self, box_id: BoxId) -> Vec<(String, String, String)> {
        let log = self.catalog.audit_of_box(&Managing::for_operator(box_id), None, 20).await.unwrap();
        let line =
            |line: engine::seams::catalog::Entry| (line.who, line.action.as_str().to_string(), line.target);
        log.entries.into_iter().map(line).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boxes_of_both_kinds_are_filled_searched_and_asked_together() {
    let (app, loads) = start().await;
    let (_, _, key) = app.owner().await;
    let (english, multi) = (app.box_for(&key, "english").await, app.box_for(&key, "multilingual").await);
    app.text_file(english, &key, "warranty.txt", ENGLISH).await;
    let found = app.found(english, &key, "How long is the warranty?").await;
    assert_eq!(found["models"], json!([{"embedder": "fake@1", "reranker": "fake@1"}]));
    assert_eq!(loads.load(Ordering::Relaxed), 0, "nobody needed it yet");
    app.text_file(multi, &key, "garantia.txt", SPANISH).await;
    assert_eq!(
        (app.model(english).await.as_deref(), app.model(multi).await.as_deref()),
        (Some("fake@1"), Some(MULTI))
    );
    let found = app.found(multi, &key, "How long is the warranty of the machine, in years?").await;
    assert_eq!(found["count"], 1);
    assert_eq!(found["models"], json!([{"embedder": MULTI, "reranker": READER}]));
    assert!(found["documents"][0]["scores"]["rerank"].is_number(), "{found}");
    // Both at once: each hit with the score of its own model.
    let body = json!({"boxes": [english, multi], "query": "warranty of the machine", "explain": true});
    let both = app.post("/retrieve-documents", &key, body).await;
    let both = &both.body["data"]["documents"][0];
    assert_eq!(both["count"], 2, "{both}");
    assert_eq!(both["models"].as_array().unwrap().len(), 2);
    let scores: Vec<f64> =
        both["documents"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let asked = json!({"messages": [{"role": "user", "content": "¿Cuántos años dura la garantía?"}]});
    let answer = app.post(&format!("/boxes/{multi}/chat/completions"), &key, asked).await;
    let said = answer.body["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains("garantia.txt") || said.contains("dos años"), "{answer:?}");
    let body = json!({"input": "garantía", "model": MULTI});
    let embedded = app.post("/embeddings", &key, body).await;
    assert_eq!(embedded.body["model"], MULTI, "{embedded:?}");
    assert_eq!(
        app.post("/embeddings", &key, json!({"input": "a", "model": "any"})).await.body["model"],
        "fake@1"
    );
    assert_eq!(loads.load(Ordering::Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_begins_as_what_its_first_document_is() {
    let (app, _) = start().await;
    let (user, english, key) = app.owner().await;
    let greek = app.box_of(user).await;
    app.text_file(english, &key, "a.txt", ENGLISH).await;
    app.text_file(greek, &key, "a.txt", GREEK).await;
    let short = app.box_of(user).await;
    app.text_file(short, &key, "a.txt", "Η εγγύηση του μηχανήματος διαρκεί δύο χρόνια.").await;
    assert_eq!(app.model(english).await.as_deref(), Some("fake@1"));
    assert_eq!(app.model(greek).await.as_deref(), Some(MULTI));
    assert_eq!(app.model(short).await.as_deref(), Some("fake@1"), "too short to count");
    assert!(!app.look().await, "nothing is to be indexed again");
    // It never goes back by itself.
    for number in 0..20 {
        app.text_file(greek, &key, &format!("{number}.txt"), &format!("{number}. {ENGLISH}")).await;
    }
    assert!(!app.look().await);
    assert_eq!(app.model(greek).await.as_deref(), Some(MULTI));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_turns_when_its_documents_do_and_an_operator_takes_it_back() {
    let (app, _) = start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", ENGLISH).await;
    assert!(!app.look().await);
    app.text_file(box_id, &key, "b.txt", GREEK).await;
    assert_eq!(app.model(box_id).await.as_deref(), Some("fake@1"), "until it was indexed again");
    assert!(app.look().await);
    assert_eq!(app.model(box_id).await.as_deref(), Some(MULTI));
    let state = app.catalog.reindex_state(Writing::for_operator(box_id).reading()).await.unwrap();
    let Some(ReindexState::Done(report)) = state else { panic!("{state:?}") };
    assert!(report.contains(r#""modelBefore":"fake@1""#), "{report}");
    let log = app.lines(box_id).await;
    assert_eq!((log[0].0.as_str(), log[0].1.as_str()), ("quire", "box_language_changed"), "{log:?}");
    assert_eq!(app.found(box_id, &key, "εγγύηση").await["models"][0]["embedder"], MULTI);
    assert_eq!(app.get(&format!("/boxes/{box_id}"), &key).await.body["data"]["language"], "auto");
    assert!(!app.look().await, "once");

    let writing = Writing::for_operator(box_id);
    app.catalog.request_reindex(&writing, ReindexAction::GoBack).await.unwrap();
    assert!(app.look().await);
    assert_eq!(app.model(box_id).await.as_deref(), Some("fake@1"));
    assert_eq!(app.get(&format!("/boxes/{box_id}"), &key).await.body["data"]["language"], "english");
    app.text_file(box_id, &key, "c.txt", &format!("{GREEK} Τέλος.")).await;
    assert!(!app.look().await, "what an operator took back stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn setting_the_language_changes_the_model_without_a_gap() {
    let (app, _) = start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}");
    app.text_file(box_id, &key, "a.txt", ENGLISH).await;
    let set =
        async |language: Value| app.send(Method::PATCH, &path, &key, json!({"language": language})).await;
    let wrong = set(json!("german")).await;
    assert_eq!(
        (wrong.verdict().as_str(), &wrong.body["error"]["param"]),
        ("400 B1004 invalid_parameter", &json!("language"))
    );
    let changed = set(json!("multilingual")).await;
    assert_eq!(
        (changed.status, &changed.body["data"]["language"]),
        (200, &json!("multilingual")),
        "{changed:?}"
    );
    assert_eq!(app.found(box_id, &key, "warranty").await["models"][0]["embedder"], "fake@1", "meanwhile");
    // What is uploaded before the box was changed over is there afterwards too.
    app.text_file(box_id, &key, "b.txt", SPANISH).await;
    assert!(app.look().await);
    let found = app.found(box_id, &key, "warranty").await;
    assert_eq!((&found["models"][0]["embedder"], &found["count"]), (&json!(MULTI), &json!(2)));
    assert_eq!(set(json!("auto")).await.body["data"]["language"], "auto");
    assert!(!app.look().await, "it is multilingual already");
    assert_eq!(set(json!("english")).await.status, 200);
    assert!(app.look().await);
    assert_eq!(app.model(box_id).await.as_deref(), Some("fake@1"));
    let log: Vec<String> = app.lines(box_id).await.into_iter().map(|line| line.2).collect();
    assert_eq!(log[0], "auto to english; the index is rebuilt", "{log:?}");
    assert_eq!(log[1], "multilingual to auto");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_the_model_refuses_and_keeps_to_english() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let refused = |answer: Answer| {
        assert_eq!(answer.verdict(), "400 B1004 invalid_parameter");
        assert!(
            answer.body["error"]["cause"].as_str().unwrap().contains("no multilingual model"),
            "{answer:?}"
        );
    };
    refused(app.post("/boxes", &key, json!({"name": "a", "language": "multilingual"})).await);
    let body = json!({"name": "other", "language": "multilingual"});
    refused(app.send(Method::PATCH, &format!("/boxes/{box_id}"), &key, body).await);
    let shown = app.get(&format!("/boxes/{box_id}"), &key).await;
    assert_eq!(
        (&shown.body["data"]["language"], &shown.body["data"]["name"]),
        (&json!("auto"), &json!("papers"))
    );
    app.text_file(box_id, &key, "a.txt", GREEK).await;
    assert!(!app.look().await);
    assert_eq!(app.model(box_id).await.as_deref(), Some("fake@1"));
}
