//! What is wanted besides answers to questions: talk, summaries, lists of documents, comparisons, follow-ups; and tables.

use engine::ids::BoxId;
use serde_json::{Value, json};

use crate::{
    chat::{ask, content, must_be_verified, papers, question},
    support::{Answer, TestApp},
};

const DEVICES: &str = "# Devices\n\nAll devices are made in Porto.\n\n| Model | Weight (kg) | Price |\n|---|---|---|\n\
    | K2-35 | 4.2 | 310 EUR |\n| K2-40 | 5.1 | 340 EUR |\n";
const ORDERS: &str =
    "order,customer,shipped\n1002,Miller,2024-03-01\n1003,Wong,2024-03-05\n1004,Diaz,2024-03-09\n";
const STEPS: &str =
    "# Rice\n\n1. Wash the rice in cold water.\n2. Boil the rice in salted water.\n3. Drain the rice.\n";

async fn asked(app: &TestApp, key: &str, box_id: BoxId, text: &str) -> Answer {
    let answer = ask(app, key, question(text)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(!content(&answer).contains("| "), "no bars: {answer:?}");
    must_be_verified(app, key, box_id, content(&answer), &answer.body["citations"]).await;
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn talk_and_sums_are_plain_sentences_for_one_unit() {
    let app = TestApp::start().await;
    let (_, key, _) = papers(&app).await;
    for (text, reply) in [
        ("What is 2+2?", "2 + 2 = 4."),
        ("thank you!", "You’re welcome!"),
        ("Vielen Dank!", "Gern geschehen!"),
        ("¿Cuánto es 7 por 6?", "7 × 6 = 42."),
    ] {
        let answer = ask(&app, &key, question(text)).await;
        assert_eq!(content(&answer), reply);
        assert_eq!(answer.body["citations"], json!([]));
        assert_eq!(answer.body["usage"]["intelligence_units_consumed"], 1);
    }
    let mut dry = question("What is 2+2?");
    dry["dry_run"] = json!(true);
    assert_eq!(ask(&app, &key, dry).await.body["usage"]["estimate"], json!({"min": 1, "max": 1}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_listed_and_searched_by_topic() {
    let app = TestApp::start().await;
    let (box_id, key, _) = papers(&app).await;
    let all = asked(&app, &key, box_id, "Which documents do you have?").await;
    assert_eq!(
        content(&all),
        "There are 2 documents:\n- figures.md (1 page): Figures\n- warranty.md (1 page): Warranty"
    );
    assert_eq!(all.body["usage"]["intelligence_units_consumed"], 1);
    let some = asked(&app, &key, box_id, "What documents are there about batteries?").await;
    assert!(content(&some).contains("- warranty.md: ") && !content(&some).contains("figures.md"), "{some:?}");
    assert_eq!(some.body["citations"][0]["fileName"], "warranty.md");
    let none = asked(&app, &key, box_id, "Do you have documents about submarines?").await;
    assert!(content(&none).starts_with("I found nothing"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_summarised_by_their_own_sentences() {
    let app = TestApp::start().await;
    let (box_id, key, file) = papers(&app).await;
    let mut body = question("Summarise this document");
    body["sources"] = json!([file]);
    for full in [false, true] {
        body["full_context"] = json!(full);
        let one = ask(&app, &key, body.clone()).await;
        assert!(
            content(&one).starts_with("Outline: Warranty; Repairs.\n\nThe warranty of the machine"),
            "{one:?}"
        );
        assert!(content(&one).contains("Lyon") && !content(&one).contains("francs"), "{one:?}");
        must_be_verified(&app, &key, box_id, content(&one), &one.body["citations"]).await;
    }
    let named = asked(&app, &key, box_id, "Give me a summary of figures.md").await;
    assert!(content(&named).contains("francs") && !content(&named).contains("Lyon"), "{named:?}");
    let all = asked(&app, &key, box_id, "Fasse alle Dokumente zusammen").await;
    assert!(
        content(&all).contains("- figures.md: ") && content(&all).contains("\n- warranty.md: "),
        "{all:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cells_are_answered_by_row_and_column_and_compared() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "devices.md", DEVICES).await;
    app.text_file(box_id, &key, "orders.csv", ORDERS).await;
    let weight = asked(&app, &key, box_id, "What does the K2-35 weigh?").await;
    assert!(content(&weight).ends_with("K2-35, Weight (kg): 4.2 [1]"), "{weight:?}");
    assert!(weight.body["citations"][0]["quote"].as_str().unwrap().starts_with("K2-35 | 4.2"), "{weight:?}");
    let shipped = asked(&app, &key, box_id, "When was order 1003 shipped?").await;
    assert_eq!(content(&shipped), "order 1003, shipped: 2024-03-05 [1]");
    let unknown = asked(&app, &key, box_id, "When was order 1009 shipped?").await;
    assert_eq!(unknown.body["citations"], json!([]), "{unknown:?}");
    let both = asked(&app, &key, box_id, "Compare the price of the K2-35 and the K2-40").await;
    assert!(content(&both).contains("310 EUR") && content(&both).contains("340 EUR"), "{both:?}");
    let one = asked(&app, &key, box_id, "Compare the price of the K2-35 and the K2-90").await;
    assert!(content(&one).contains("310 EUR"), "{one:?}");
    assert!(content(&one).ends_with("- K2-90: I found nothing in the documents."), "{one:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follow_up_goes_on_from_the_answer() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "rice.md", STEPS).await;
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let mut messages: Vec<Value> = vec![said("user", "How is the rice washed?")];
    let mut answers = Vec::new();
    for next in ["What comes after it?", "and then?", ""] {
        let answer = ask(&app, &key, json!({"messages": messages})).await;
        must_be_verified(&app, &key, box_id, content(&answer), &answer.body["citations"]).await;
        messages.extend([said("assistant", content(&answer)), said("user", next)]);
        answers.push(content(&answer).to_string());
    }
    assert!(answers[0].contains("Wash the rice"), "{answers:?}");
    assert_eq!(answers[1..], ["Boil the rice in salted water. [1]", "Drain the rice. [1]"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_in_the_language_of_the_question() {
    let app = TestApp::start().await;
    let (box_id, key, _) = papers(&app).await;
    for (text, refusal) in [
        ("Wer malte die Mona Lisa?", "Dazu habe ich"),
        ("¿Quién pintó la Mona Lisa?", "No encontré nada"),
        ("Qui a peint la Joconde ?", "Je n’ai rien trouvé"),
        ("Quem pintou a Mona Lisa?", "Não encontrei nada"),
        ("Chi ha dipinto la Gioconda?", "Non ho trovato nulla"),
    ] {
        let answer = asked(&app, &key, box_id, text).await;
        assert!(content(&answer).starts_with(refusal), "{answer:?}");
    }
}
