//! An operator chooses the language model, unless the settings do.

use engine::{access::Operating, seams::catalog::Action};
use server::config::AnswererKind;

use super::Browser;
use crate::{
    chat::{ask, papers, question},
    support::{TestApp, roomy},
    upstream::{Act, Stub},
};

async fn operator(app: &TestApp) -> Browser {
    let operator = app.person("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    Browser::of(app, operator).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chosen_model_answers_from_the_next_question_on_and_after_a_restart() {
    let stub = Stub::start(vec![Act::Say(vec!["Two years [1].".into()])]).await;
    let app = TestApp::start().await;
    let mut browser = operator(&app).await;
    let (_, key, _) = papers(&app).await;
    let asked = question("How long is the warranty?");
    ask(&app, &key, asked.clone()).await;
    assert_eq!(stub.count(), 0, "it quotes");

    let model = [("by", "server"), ("url", stub.url()), ("model", "stub"), ("key", "a secret key")];
    let page = browser.post_and_look("/operator/model", &model).await;
    assert!(
        page.text.contains("stub at http://127.0.0.1") && !page.text.contains("a secret key"),
        "{page:?}"
    );
    ask(&app, &key, asked.clone()).await;
    assert_eq!(stub.count(), 1, "the chosen model was asked");
    let log = app.catalog.audit_of_all(&Operating::for_operator(), None, 5).await.unwrap().entries;
    let line = log.iter().find(|line| line.action == Action::ModelChosen).unwrap();
    assert_eq!(line.target, format!("stub at {}", stub.url()));

    let app = TestApp::on(app.stop().await, roomy()).await;
    ask(&app, &key, asked).await;
    assert_eq!(stub.count(), 2, "it is still chosen");
}

#[tokio::test]
async fn where_the_settings_decide_nobody_chooses() {
    let mut config = roomy();
    config.answerer.kind = AnswererKind::Extractive;
    let app = TestApp::with(config).await;
    let mut browser = operator(&app).await;
    let page = browser.get("/operator/model").await;
    assert!(page.text.contains("<code>extractive</code>") && !page.text.contains("name=\"url\""), "{page:?}");
    let model = [("by", "server"), ("url", "http://127.0.0.1:1/v1"), ("model", "stub")];
    let page = browser.post("/operator/model", &model).await;
    assert_eq!(page.status, 409, "{page:?}");
    assert_eq!(app.catalog.chosen_model().await.unwrap(), None);
}
