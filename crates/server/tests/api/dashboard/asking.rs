//! Rating answers in the dashboard, and the page of questions that were not answered well.

use engine::access::Role;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, Page};
use crate::support::TestApp;

impl Browser {
    /// Sends JSON as our script does.
    async fn script(&mut self, path: &str, body: &Value) -> Page {
        let token = self.csrf().await;
        let request = self.request(Method::POST, path).header("x-csrf-token", token);
        self.send(request.header("x-quire-script", "1").json(body)).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disliked_answer_is_listed_for_owners_with_its_comment_and_without_its_author() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "warranty.txt", "The warranty for this kettle is two years.").await;
    let (_, mut viewer) = app.member(box_id, "viewer@example.org", Role::Viewer).await;
    let mut owner = Browser::of(&app, owner).await;
    let here = format!("/boxes/{box_id}");
    let mut last = String::new();
    for question in
        ["How long is the warranty for the kettle?", "how long does the warranty for the kettle last"]
    {
        let body = json!({"messages": [{"role": "user", "content": question}]});
        let answer = viewer.script(&format!("{here}/chat"), &body).await;
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        last = answer["id"].as_str().unwrap().to_string();
        let rating = json!({"id": last, "rating": -1, "comment": "Three, <b>now</b>."});
        let rated = viewer.script(&format!("{here}/rate"), &rating).await;
        assert_eq!(rated.status, 200, "{rated:?}");
    }
    let page = owner.get(&format!("{here}/questions?outcome=disliked")).await;
    assert_eq!(page.text.matches("<tr>").count(), 2, "the head and one line for both: {page:?}");
    assert!(page.text.contains("2 times") && page.text.contains("Also asked as"), "{page:?}");
    assert!(page.text.contains("Three, &#60;b&#62;now"), "{page:?}");
    assert!(!page.text.contains("viewer@example.org"), "{page:?}");
    assert!(
        page.text.contains("&#34;answer&#34;:&#34;&#34;,&#34;asked&#34;:2"),
        "as an evaluation set: {page:?}"
    );
    let none = owner.get(&format!("{here}/questions?outcome=low")).await;
    assert!(none.text.contains("No such questions."), "{none:?}");
    assert_eq!(owner.get(&format!("{here}/questions?outcome=x")).await.status, 400);
    assert!(!viewer.get(&here).await.text.contains("/questions"));

    // An answer of this box cannot be rated through another.
    let eve = app.user("eve@example.org").await;
    let own = app.box_of(eve).await;
    let mut eve = Browser::of(&app, eve).await;
    let rating = json!({"id": last, "rating": 1});
    assert_eq!(eve.script(&format!("/boxes/{own}/rate"), &rating).await.status, 404);
    assert_eq!(viewer.script(&format!("{here}/rate"), &json!({"id": last, "rating": 5})).await.status, 400);
}
