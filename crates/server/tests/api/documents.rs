//! Whole documents, page by page.

use serde_json::json;

use crate::support::TestApp;

/// Pages of a text are cut at form feeds.
const THREE_PAGES: &str = "first page\u{c}second page\u{c}third page";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_come_in_the_order_asked_with_all_their_pages() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let one = app.text_file(box_id, &key, "one.txt", THREE_PAGES).await;
    let two = app.text_file(box_id, &key, "two.txt", "only page: añ𝄞").await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let answer = app.post(&path, &key, json!({"sources": [two, one, two]})).await;
    answer.must_be_well_formed();
    let data = &answer.body["data"];
    assert_eq!(data["usage"], json!({"documents_retrieved": 2, "total_pages": 4}));
    let documents = data["documents"].as_array().unwrap();
    assert_eq!(documents[0]["fileName"], "two.txt");
    assert_eq!(documents[0]["fileId"], two);
    assert_eq!(documents[0]["charCount"], 14);
    let page = &documents[0]["pages"][0];
    assert_eq!(
        (&page["page"], &page["text"], &page["charCount"]),
        (&json!(1), &json!("only page: añ𝄞"), &json!(14))
    );
    for field in ["label", "format", "ocr", "confidence", "warnings"] {
        assert!(page.get(field).is_some(), "{field}");
    }
    for field in ["mediaType", "pageCount", "language", "createdAt", "metadata"] {
        assert!(documents[0].get(field).is_some(), "{field}");
    }
    let texts: Vec<_> = documents[1]["pages"].as_array().unwrap().iter().map(|page| &page["text"]).collect();
    assert_eq!(texts, ["first page", "second page", "third page"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_some_pages_can_be_asked_for() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "one.txt", THREE_PAGES).await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let answer = app.post(&path, &key, json!({"sources": [file], "pages": "3,1,7-9"})).await;
    let pages = answer.body["data"]["documents"][0]["pages"].as_array().unwrap();
    assert_eq!(pages.iter().map(|page| page["page"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(answer.body["data"]["usage"]["total_pages"], 2);
    let answer = app.post(&path, &key, json!({"sources": [file], "pages": "x"})).await;
    assert_eq!(
        (answer.verdict().as_str(), &answer.body["error"]["param"]),
        ("400 B1004 invalid_parameter", &json!("pages"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_source_is_named_or_listed_as_missing() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "one.txt", "here").await;
    let other_box = app.box_of(owner).await;
    let elsewhere = app.text_file(other_box, &key, "two.txt", "there").await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    for unknown in ["fil_00000000000000000000000000000000", "nonsense", &elsewhere] {
        let answer = app.post(&path, &key, json!({"sources": [file, unknown]})).await;
        assert_eq!(answer.verdict(), "404 B1004 not_found");
        assert!(answer.body["error"]["cause"].as_str().unwrap().contains(unknown));
        let answer = app.post(&path, &key, json!({"sources": [file, unknown], "partial": true})).await;
        assert_eq!(answer.body["data"]["missing"], json!([unknown]));
        assert_eq!(answer.body["data"]["usage"]["documents_retrieved"], 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_document_streams_whole() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let pages: Vec<String> =
        (1..=500).map(|n| format!("page {n} {}", "word ".repeat(200)).trim_end().to_string()).collect();
    let file = app.text_file(box_id, &key, "long.txt", &pages.join("\u{c}")).await;
    let answer =
        app.post(&format!("/boxes/{box_id}/retrieve-full-documents"), &key, json!({"sources": [file]})).await;
    let got = answer.body["data"]["documents"][0]["pages"].as_array().unwrap();
    assert_eq!(got.len(), 500);
    for (page, text) in got.iter().zip(&pages) {
        assert_eq!(page["text"], text.as_str());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_report_has_one_entry_a_page() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "one.txt", THREE_PAGES).await;
    let report = app.get(&format!("/files/{file}/report"), &key).await;
    let pages = report.body["data"]["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 3);
    assert_eq!(
        (&pages[1]["text"], &pages[1]["ocr"], &pages[1]["tables"]),
        (&json!(true), &json!(false), &json!(0))
    );
}
