//! The evaluation set of a box, evaluations, and how they went.

use std::time::Duration;

use engine::access::{Managing, Role};
use serde_json::{Value, json};

use super::{Browser, Page, between};
use crate::{
    chat::{WARRANTY, papers},
    support::TestApp,
};

impl Browser {
    /// The page once no evaluation of the box is in progress.
    async fn evaluated(&mut self, here: &str) -> Page {
        for _ in 0..1_200 {
            let page = self.get(&format!("{here}/evaluation")).await;
            if !page.text.contains("data-running") {
                return page;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the evaluation does not end")
    }

    /// Evaluates the box, and gives the page after that.
    async fn evaluate(&mut self, here: &str) -> Page {
        let begun = self.post(&format!("{here}/evaluation/run"), &[]).await;
        assert_eq!(
            (begun.status, begun.location()),
            (303, format!("{here}/evaluation").as_str()),
            "{begun:?}"
        );
        self.evaluated(here).await
    }
}

const LINES: &str = r#"{"question": "How long does the warranty of the machine last?", "facts": [["two years", "24 months"]], "relevant": ["warranty.md#page=1"]}
{"question": "Within how many weeks are repairs made?", "answer": "nine weeks", "relevant": ["figures.md"]}
{"question": "Which volcano erupted near Naples?", "unanswerable": true}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_is_evaluated_and_its_history_is_shown() {
    let app = TestApp::start().await;
    let (box_id, key, _) = papers(&app).await;
    let owner = app.catalog.users().await.unwrap()[0].id;
    let mut browser = Browser::of(&app, owner).await;
    let here = format!("/boxes/{box_id}");
    let empty = browser.get(&format!("{here}/evaluation")).await;
    assert!(
        empty.text.contains("No questions yet.") && !empty.text.contains("<svg class=\"chart\""),
        "{empty:?}"
    );
    assert_eq!(browser.post(&format!("{here}/evaluation/run"), &[]).await.status, 409, "nothing to ask");

    let page = browser.post_and_look(&format!("{here}/evaluation/import"), &[("lines", LINES)]).await;
    assert!(page.text.contains("3 questions have been put into the evaluation set."), "{page:?}");
    assert!(page.text.contains("3 questions are asked. That costs 5 to "), "{page:?}");
    let page = browser.evaluate(&here).await;
    let managing = Managing::for_operator(box_id);
    let runs = app.catalog.evaluation_runs(&managing).await.unwrap();
    let figures = runs[0].figures;
    assert_eq!((figures.questions, figures.searched, figures.unanswerable), (3, 2, 1), "{figures:?}");
    assert_eq!((figures.right, figures.refused), (2, 1), "{figures:?}");
    assert_eq!(figures.found[2], 2, "both files are in the box: {figures:?}");
    let results: Value = serde_json::from_str(runs[0].results.as_ref().unwrap()).unwrap();
    assert_eq!(results[0]["wrong"], json!([]));
    assert_eq!(results[1]["wrong"], json!([{"lacks": "nine weeks"}, "uncited"]));
    assert!(page.text.contains("does not say “nine weeks”") && page.text.contains("67%"), "{page:?}");
    assert!(page.text.contains("2 questions went well"), "{page:?}");
    assert!(!page.text.contains("<svg class=\"chart\""), "one evaluation is no history");

    // Whoever began it paid for it.
    let usage = app.get("/usage", &key).await;
    let used = usage.body["data"]["used"].as_u64();
    assert_eq!(used, Some(figures.units), "{usage:?}");

    // With the right expectation all is well, and the plot leads from one to the other.
    let set = app.catalog.evaluation_set(&managing).await.unwrap();
    let change = format!("{here}/evaluation/questions/{}/change", set[1].id);
    let fields = [("facts", "three weeks | 21 days\nLyon"), ("files", "warranty.md")];
    let page = browser.post_and_look(&change, &fields).await;
    assert!(page.text.contains("three weeks | 21 days"), "{page:?}");
    let page = browser.evaluate(&here).await;
    assert!(page.text.contains("Every question was answered rightly"), "{page:?}");
    let plot = between(&page.text, "<svg class=\"chart\"", "</svg>");
    assert_eq!((plot.matches("<polyline").count(), plot.matches("<circle").count()), (2, 4), "{plot}");
    assert!(plot.contains("<desc") && plot.contains("answered 100% rightly"), "{plot}");
    let first = browser.get(&format!("{here}/evaluation?run={}", runs[0].id)).await;
    assert!(first.text.contains("does not say “nine weeks”"), "earlier ones can still be looked at");

    // What is asked to evaluate is not among what people asked.
    let asked = browser.get(&format!("{here}/questions")).await;
    assert!(asked.text.contains("No such questions.") && !asked.text.contains("Naples"), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_goes_from_what_was_asked_into_the_set_once() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "warranty.md", WARRANTY).await;
    let body = json!({"messages": [{"role": "user", "content": "Which volcano erupted near Naples?"}]});
    assert_eq!(app.post(&format!("/boxes/{box_id}/chat/completions"), &key, body).await.status, 200);
    let mut browser = Browser::of(&app, owner).await;
    let here = format!("/boxes/{box_id}");
    let page = browser.get(&format!("{here}/questions?outcome=unanswered")).await;
    assert!(
        page.text.contains("Add to evaluation set") && page.text.contains("name=\"unanswerable\""),
        "{page:?}"
    );
    let fields = [
        ("question", "Which volcano erupted near Naples?"),
        ("outcome", "unanswered"),
        ("unanswerable", "1"),
    ];
    let added = browser.post(&format!("{here}/evaluation"), &fields).await;
    assert_eq!(added.location(), format!("{here}/questions?outcome=unanswered"));
    let page = browser.get(&format!("{here}/questions?outcome=unanswered")).await;
    assert!(page.text.contains("One question has been put into the evaluation set."), "{page:?}");
    assert!(page.text.contains("in the evaluation set</span>"), "{page:?}");
    assert!(!page.text.contains("Add to evaluation set"), "{page:?}");
    let again = browser.get(&format!("{here}/questions")).await;
    assert!(!again.text.contains("has been put into"), "it is said once");
    let page = browser.post_and_look(&format!("{here}/evaluation"), &fields).await;
    assert!(page.text.contains("The evaluation set had that already."), "{page:?}");

    let page = browser.post_and_look(&format!("{here}/evaluation"), &[("question", "Why?")]).await;
    assert!(page.text.contains("to be completed"), "{page:?}");
    let lines = browser.get(&format!("{here}/evaluation/export")).await;
    assert_eq!(lines.header("content-disposition"), "attachment; filename=\"questions.jsonl\"");
    assert_eq!(lines.text, "{\"question\":\"Which volcano erupted near Naples?\",\"unanswerable\":true}\n");
    let set = app.catalog.evaluation_set(&Managing::for_operator(box_id)).await.unwrap();
    let remove = format!("{here}/evaluation/questions/{}/remove", set[0].id);
    let page = browser.post_and_look(&remove, &[]).await;
    assert!(page.text.contains("has been removed from the evaluation set") && !page.text.contains("Naples"));
    assert_eq!(browser.post(&remove, &[]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_meant_is_refused_and_grades_stay() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let here = format!("/boxes/{box_id}/evaluation");
    for (path, fields) in [
        ("", vec![("question", " ")]),
        ("", vec![("question", "Why?"), ("facts", "yes\n|")]),
        ("", vec![("question", "Why?"), ("files", "#page=3")]),
        ("", vec![("question", "Why?"), ("files", "a.md"), ("unanswerable", "1")]),
        ("", vec![("question", "Why?"), ("outcome", "//elsewhere.example")]),
        ("/import", vec![("lines", "")]),
        ("/import", vec![("lines", "{\"question\": \"Why?\"}")]),
        ("/import", vec![("lines", "nonsense")]),
    ] {
        let page = browser.post(&format!("{here}{path}"), &fields).await;
        assert_eq!(page.status, 400, "{path} {fields:?}: {page:?}");
    }
    let managing = Managing::for_operator(box_id);
    assert!(app.catalog.evaluation_set(&managing).await.unwrap().is_empty(), "nothing of it is kept");
    let line = r#"{"question": "Who?", "relevant": [{"file": "a.md", "grade": 2}, "b.md"]}"#;
    browser.post_and_look(&format!("{here}/import"), &[("lines", line)]).await;
    let id = app.catalog.evaluation_set(&managing).await.unwrap()[0].id;
    let fields = [("facts", "<b>Ada</b>"), ("files", "a.md\nb.md#page=2")];
    let page = browser.post_and_look(&format!("{here}/questions/{id}/change"), &fields).await;
    assert!(page.text.contains("&#60;b&#62;Ada"), "{page:?}");
    let expected = app.catalog.evaluation_set(&managing).await.unwrap()[0].expected.clone();
    let wanted =
        json!({"facts": ["<b>Ada</b>"], "relevant": [{"file": "a.md", "grade": 2.0}, "b.md#page=2"]});
    assert_eq!(serde_json::from_str::<Value>(&expected).unwrap(), wanted);

    // An evaluation that cannot be paid for is not begun.
    app.catalog.set_user_units(owner, 1).await.unwrap();
    assert_eq!(browser.post(&format!("{here}/run"), &[]).await.status, 402);
    // An admin may do all of this, with units of their own.
    let (_, mut admin) = app.member(box_id, "admin@example.org", Role::Admin).await;
    let page = admin.evaluate(&format!("/boxes/{box_id}")).await;
    assert!(page.text.contains("Question by question"), "{page:?}");
}
