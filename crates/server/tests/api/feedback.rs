//! What people think of answers, and the questions that the documents do not answer.

use serde_json::{Value, json};
use server::config::Keep;

use crate::support::{TestApp, roomy};

const WARRANTY: &str = "The warranty for this kettle is two years from the day of purchase.";

impl TestApp {
    async fn questions(&self, box_id: &str, key: &str, query: &str) -> Vec<Value> {
        let answer = self.get(&format!("/boxes/{box_id}/questions{query}"), key).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["data"]["questions"].as_array().unwrap().clone()
    }

    async fn asked(&self, box_id: &str, key: &str, question: &str, stream: bool) -> String {
        let body = json!({"messages": [{"role": "user", "content": question}], "stream": stream});
        let path = format!("/boxes/{box_id}/chat/completions");
        let request = self.request(reqwest::Method::POST, &path, Some(key)).json(&body);
        let text = request.send().await.unwrap().text().await.unwrap();
        let at = text.find("chatcmpl-").unwrap();
        text[at..at + "chatcmpl-".len() + 32].to_string()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_answered_or_disliked_is_listed_and_nothing_else() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let box_id = &box_id.to_string();
    // Nothing is in the box yet.
    let search =
        app.post(&format!("/boxes/{box_id}/retrieve-documents"), &key, json!({"query": "Pump?"})).await;
    let search_id = search.header("x-request-id").to_string();
    for stream in [false, true] {
        app.asked(box_id, &key, "Who repairs the pump?", stream).await;
    }
    app.asked(box_id, &key, "hello", false).await;
    let dry = json!({"query": "only a price", "dry_run": true});
    app.post(&format!("/boxes/{box_id}/retrieve-documents"), &key, dry).await;
    let found = app.questions(box_id, &key, "").await;
    let seen: Vec<_> = found.iter().map(|question| (&question["question"], &question["count"])).collect();
    assert_eq!(seen, [(&json!("Who repairs the pump?"), &json!(2)), (&json!("Pump?"), &json!(1))]);
    assert_eq!(found[1]["id"], search_id);
    assert_eq!((&found[0]["operation"], &found[0]["outcome"]), (&json!("chat"), &json!("unanswered")));
    for (name, _) in found[0].as_object().unwrap() {
        assert!(!name.contains("user") && !name.contains("key"), "{name}");
    }

    let parsed = box_id.parse().unwrap();
    app.text_file(parsed, &key, "warranty.txt", WARRANTY).await;
    let id = app.asked(box_id, &key, "How long is the warranty for the kettle?", false).await;
    let before = app.questions(box_id, &key, "").await.len();
    let rating = json!({"id": id, "rating": -1, "comment": "It is three years now."});
    let rated = app.post("/feedback", &key, rating).await;
    assert_eq!(rated.verdict(), "200 ok", "{rated:?}");
    let found = app.questions(box_id, &key, "?outcome=disliked").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["comment"], "It is three years now.");
    assert_eq!(found[0]["id"].as_str().unwrap()[4..], id["chatcmpl-".len()..], "one number names both");
    assert!(app.questions(box_id, &key, "").await.len() >= before);
    assert!(
        !json!(app.questions(box_id, &key, "").await).to_string().contains("two years"),
        "no text of files"
    );
    assert_eq!(app.questions(box_id, &key, "?outcome=unanswered&since=2200-01-01").await.len(), 0);
    let first = app.get(&format!("/boxes/{box_id}/questions?outcome=unanswered&limit=1"), &key).await;
    let cursor = first.body["data"]["next_cursor"].as_str().unwrap();
    let rest = app.questions(box_id, &key, &format!("?outcome=unanswered&cursor={cursor}")).await;
    assert_eq!(rest, app.questions(box_id, &key, "?outcome=unanswered").await[1..], "the next page goes on");
    assert_eq!(rest.last().unwrap()["question"], "Pump?");

    for (body, verdict) in [
        (json!({"id": id, "rating": 0}), "400 B1004 invalid_parameter"),
        (json!({"id": "x", "rating": 1}), "400 B1004 invalid_parameter"),
        (json!({"id": id, "rating": 1, "comment": "x".repeat(2_001)}), "400 B1004 invalid_parameter"),
        (json!({"id": format!("req_{}", "0".repeat(32)), "rating": 1}), "404 B1004 not_found"),
    ] {
        assert_eq!(app.post("/feedback", &key, body.clone()).await.verdict(), verdict, "{body}");
    }
    for query in ["?outcome=x", "?since=x", "?limit=0", "?cursor=x"] {
        let answer = app.get(&format!("/boxes/{box_id}/questions{query}"), &key).await;
        assert_eq!(answer.verdict(), "400 B1004 invalid_parameter", "{query}");
    }
    let stranger = app.user("stranger@example.org").await;
    let theirs = app.key(stranger).await;
    let answer = app.post("/feedback", &theirs, json!({"id": id, "rating": 1})).await;
    assert_eq!(answer.verdict(), "404 B1004 not_found", "an answer of somebody else's box is none");
    app.delete(&format!("/boxes/{box_id}"), &key).await;
    let answer = app.post("/feedback", &key, json!({"id": id, "rating": 1})).await;
    assert_eq!(answer.verdict(), "404 B1004 not_found", "it went with its box");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_decides_what_is_kept() {
    for (keep, listed, verdict) in [(Keep::All, 1, "200 ok"), (Keep::None, 0, "422 B1004 invalid_parameter")]
    {
        let mut config = roomy();
        config.questions.keep = keep;
        let app = TestApp::with(config).await;
        let (_, box_id, key) = app.owner().await;
        app.text_file(box_id, &key, "warranty.txt", WARRANTY).await;
        let box_id = &box_id.to_string();
        let id = app.asked(box_id, &key, "How long is the warranty for the kettle?", false).await;
        assert_eq!(app.questions(box_id, &key, "").await.len(), listed, "{keep:?}");
        let answer = app.post("/feedback", &key, json!({"id": id, "rating": 1})).await;
        assert_eq!(answer.verdict(), verdict, "{keep:?}");
        app.app.questions.forget(&*app.catalog, jiff::Timestamp::now()).await.unwrap();
        assert_eq!(app.questions(box_id, &key, "").await.len(), listed, "{keep:?}");
    }
}
