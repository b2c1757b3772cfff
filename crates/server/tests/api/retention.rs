//! Files that are kept for a time: by their own, or by their box's; then deleted, with a receipt in the audit log.

use engine::access::Operating;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

fn in_days(days: i64) -> Timestamp {
    let moment = Timestamp::now() + SignedDuration::from_hours(24 * days);
    Timestamp::from_second(moment.as_second()).unwrap()
}

async fn patched(app: &TestApp, key: &str, path: &str, body: Value) -> Answer {
    app.send(Method::PATCH, path, key, body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_expires_as_it_says() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let (soon, text) = (in_days(3), in_days(3).to_string());
    let upload = app.upload(box_id, &key, "a.txt", b"A text about apples.", &[("expiresAt", &text)]).await;
    assert_eq!((upload.status, &upload.body["data"]["expiresAt"]), (201, &json!(text)), "{upload:?}");
    let file = upload.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &file).await;
    let body = json!({"name": "b.txt", "text": "A text about bees.", "expiresAt": text});
    let described = app.post(&format!("/boxes/{box_id}/files"), &key, body).await;
    assert_eq!(
        (described.status, &described.body["data"]["expiresAt"]),
        (201, &json!(text)),
        "{described:?}"
    );
    let bees = described.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &bees).await;

    for wrong in ["yesterday", "2020-01-01T00:00:00Z", ""] {
        let answer = patched(&app, &key, &format!("/files/{file}"), json!({"expiresAt": wrong})).await;
        assert_eq!((answer.status, &answer.body["error"]["param"]), (400, &json!("expiresAt")), "{answer:?}");
        let answer = app.upload(box_id, &key, "c.txt", b"c", &[("expiresAt", wrong)]).await;
        assert_eq!((answer.status, &answer.body["error"]["param"]), (400, &json!("expiresAt")), "{answer:?}");
    }
    let renamed = patched(&app, &key, &format!("/files/{bees}"), json!({"name": "bees.txt"})).await;
    assert_eq!(renamed.body["data"]["expiresAt"], text, "a change of something else leaves it");
    let kept = patched(&app, &key, &format!("/files/{bees}"), json!({"expiresAt": null})).await;
    assert_eq!(kept.body["data"]["expiresAt"], Value::Null);

    let library = &app.app.library;
    library.end_files(Timestamp::now()).await.unwrap();
    assert_eq!(app.get(&format!("/files/{file}"), &key).await.status, 200, "not yet");
    let mut told = library.listen();
    library.end_files(soon).await.unwrap();
    assert_eq!(told.recv().await.unwrap().status.as_str(), "deleting");
    assert_eq!(app.get(&format!("/files/{file}"), &key).await.status, 404);
    assert_eq!(app.get(&format!("/files/{bees}"), &key).await.status, 200, "it was told to stay");
    let search = json!({"query": "apples"});
    let found = app.post(&format!("/boxes/{box_id}/retrieve-documents"), &key, search).await;
    assert!(!found.body.to_string().contains("about apples"), "{found:?}");
    let log = app.catalog.audit_of_all(&Operating::for_operator(), None, 50).await.unwrap().entries;
    let line = log.iter().find(|entry| entry.action.as_str() == "file_expired").expect("a line");
    assert_eq!((line.who.as_str(), line.box_id), ("retention", Some(box_id)));
    assert!(line.target.starts_with("a.txt: 1 originals, 1 pages, 1 chunks, 1 vectors"), "{}", line.target);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_says_how_long_its_files_are_kept() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}");
    assert_eq!(app.get(&path, &key).await.body["data"]["retentionDays"], Value::Null);
    let file = app.text_file(box_id, &key, "a.txt", "A text about apples.").await;
    for wrong in [json!(0), json!(36_501), json!("ten"), json!(-1), json!(1.5)] {
        let answer = patched(&app, &key, &path, json!({"retentionDays": wrong})).await;
        assert_eq!(
            (answer.status, &answer.body["error"]["param"]),
            (400, &json!("retentionDays")),
            "{wrong}"
        );
    }
    let set = patched(&app, &key, &path, json!({"retentionDays": 10})).await;
    assert_eq!((set.status, &set.body["data"]["retentionDays"]), (200, &json!(10)), "{set:?}");
    let renamed = patched(&app, &key, &path, json!({"name": "Kept"})).await;
    assert_eq!(renamed.body["data"]["retentionDays"], 10, "a new name leaves it");
    let library = &app.app.library;
    library.end_files(in_days(9)).await.unwrap();
    assert_eq!(app.get(&format!("/files/{file}"), &key).await.status, 200);
    library.end_files(in_days(11)).await.unwrap();
    assert_eq!(app.get(&format!("/files/{file}"), &key).await.status, 404);
    let reset = patched(&app, &key, &path, json!({"retentionDays": null})).await;
    assert_eq!(reset.body["data"]["retentionDays"], Value::Null);
}
