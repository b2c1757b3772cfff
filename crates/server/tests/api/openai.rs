//! `/openai/v1`: files, vector stores and responses, as OpenAI's clients use them.

use std::time::Duration;

use engine::{access::Role, ids::BoxId};
use jiff::Timestamp;
use reqwest::{Method, multipart};
use serde_json::{Value, json};

use crate::{
    chat::WARRANTY,
    support::{Answer, TestApp},
    wires::spent,
};

async fn upload(app: &TestApp, key: &str, name: &str, text: &str) -> Value {
    let part = multipart::Part::bytes(text.as_bytes().to_vec()).file_name(name.to_string());
    let form = multipart::Form::new().text("purpose", "assistants").part("file", part);
    let request = app.request(Method::POST, "/openai/v1/files", Some(key)).multipart(form);
    let answer = Answer::of(request.send().await.unwrap()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

async fn delete(app: &TestApp, key: &str, path: &str) -> Answer {
    Answer::of(app.request(Method::DELETE, path, Some(key)).send().await.unwrap()).await
}

/// Waits until a file of a store was read, by listening to the library.
async fn settled(app: &TestApp, key: &str, path: &str) -> Value {
    let mut changes = app.app.library.listen();
    loop {
        let answer = app.get(path, key).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        if answer.body["status"] != "in_progress" {
            return answer.body;
        }
        let _ = tokio::time::timeout(Duration::from_secs(1), changes.recv()).await;
    }
}

/// A store with the warranty in it: its id, the file's, and a key.
async fn store(app: &TestApp) -> (String, String, String) {
    let (_, _, key) = app.owner().await;
    let file = upload(app, &key, "warranty.md", WARRANTY).await["id"].as_str().unwrap().to_string();
    let body = json!({"name": "Manuals", "metadata": {"team": "support"}});
    let store = app.post("/openai/v1/vector_stores", &key, body).await.body;
    let id = store["id"].as_str().unwrap_or_else(|| panic!("{store}")).to_string();
    let body = json!({"file_id": file, "attributes": {"year": 2021}});
    let added = app.post(&format!("/openai/v1/vector_stores/{id}/files"), &key, body).await;
    assert_eq!((added.status, &added.body["id"]), (200, &json!(file)), "{added:?}");
    let done = settled(app, &key, &format!("/openai/v1/vector_stores/{id}/files/{file}")).await;
    assert_eq!(done["status"], "completed", "{done}");
    (id, file, key)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_goes_from_upload_to_search_under_one_id() {
    let app = TestApp::start().await;
    let (id, file, key) = store(&app).await;
    let shown = app.get(&format!("/openai/v1/vector_stores/{id}"), &key).await.body;
    assert_eq!(
        (&shown["name"], &shown["object"], &shown["status"]),
        (&json!("Manuals"), &json!("vector_store"), &json!("completed"))
    );
    assert_eq!(
        shown["file_counts"],
        json!({"in_progress": 0, "completed": 1, "failed": 0, "cancelled": 0, "total": 1})
    );
    assert_eq!(shown["metadata"], json!({"team": "support"}));
    let found =
        app.post(&format!("/openai/v1/vector_stores/{id}/search"), &key, json!({"query": "warranty"})).await;
    assert_eq!(found.body["data"][0]["file_id"], json!(file));
    assert_eq!(found.body["data"][0]["attributes"], json!({"year": 2021}));
    let listed = app.get(&format!("/openai/v1/vector_stores/{id}/files?filter=completed"), &key).await.body;
    assert_eq!((&listed["data"][0]["id"], &listed["has_more"]), (&json!(file), &json!(false)));
    let text = app.get(&format!("/openai/v1/vector_stores/{id}/files/{file}/content"), &key).await.body;
    assert!(text["data"][0]["text"].as_str().unwrap().contains("two years"), "{text}");
    let changed = json!({"attributes": {"team": "hr"}});
    let changed = app.post(&format!("/openai/v1/vector_stores/{id}/files/{file}"), &key, changed).await.body;
    assert_eq!(changed["attributes"], json!({"team": "hr"}), "in place of those it had");
    let original = app
        .request(Method::GET, &format!("/openai/v1/files/{file}/content"), Some(&key))
        .send()
        .await
        .unwrap();
    assert_eq!(original.text().await.unwrap(), WARRANTY);
    // The same file at our own addresses.
    let ours = app.get(&format!("/boxes/{id}/files"), &key).await.body;
    assert_eq!((&ours["data"]["files"][0]["externalId"], &ours["data"]["total"]), (&json!(file), &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_leaves_a_store_and_then_altogether() {
    let app = TestApp::start().await;
    let (id, file, key) = store(&app).await;
    let gone = delete(&app, &key, &format!("/openai/v1/vector_stores/{id}/files/{file}")).await;
    assert_eq!(gone.body, json!({"id": file, "object": "vector_store.file.deleted", "deleted": true}));
    assert_eq!(app.get(&format!("/openai/v1/vector_stores/{id}/files/{file}"), &key).await.status, 404);
    assert_eq!(app.get(&format!("/openai/v1/files/{file}"), &key).await.body["filename"], "warranty.md");
    let again = json!({"file_id": file});
    assert_eq!(app.post(&format!("/openai/v1/vector_stores/{id}/files"), &key, again).await.status, 200);
    let gone = delete(&app, &key, &format!("/openai/v1/files/{file}")).await;
    assert_eq!(gone.body, json!({"id": file, "object": "file", "deleted": true}));
    assert_eq!(app.get(&format!("/openai/v1/files/{file}"), &key).await.status, 404);
    let files = app.get(&format!("/openai/v1/vector_stores/{id}/files"), &key).await.body;
    assert_eq!(files["data"], json!([]), "it is gone from its stores, too");
    assert_eq!(app.app.library.blobs.names().await.unwrap(), Vec::<String>::new());
    let gone = delete(&app, &key, &format!("/openai/v1/vector_stores/{id}")).await;
    assert_eq!(gone.body["object"], "vector_store.deleted", "{gone:?}");
    assert_eq!(app.get(&format!("/openai/v1/vector_stores/{id}"), &key).await.status, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_watched_until_all_of_it_was_read() {
    let app = TestApp::start().await;
    let (id, _, key) = store(&app).await;
    let mut files = Vec::new();
    for (name, text) in [("a.md", "The boat is blue."), ("b.bin", "\u{0}\u{1}\u{2}\u{3}\u{0}")] {
        files.push(upload(&app, &key, name, text).await["id"].clone());
    }
    let body = json!({"file_ids": files, "attributes": {"kind": "boat"}});
    let batch = app.post(&format!("/openai/v1/vector_stores/{id}/file_batches"), &key, body).await;
    assert_eq!((batch.status, &batch.body["object"]), (200, &json!("vector_store.files_batch")), "{batch:?}");
    let path = format!("/openai/v1/vector_stores/{id}/file_batches/{}", batch.body["id"].as_str().unwrap());
    let done = settled(&app, &key, &path).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(
        (&done["file_counts"]["total"], &done["file_counts"]["in_progress"]),
        (&json!(2), &json!(0)),
        "{done}"
    );
    assert!(done["file_counts"]["completed"].as_u64().unwrap() >= 1, "{done}");
    let listed = app.get(&format!("{path}/files"), &key).await.body;
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
    assert!(listed["data"].as_array().unwrap().iter().all(|file| file["attributes"]["kind"] == "boat"));
    let called_off = app.post(&format!("{path}/cancel"), &key, json!({})).await.body;
    assert_eq!(called_off["status"], "cancelled", "{called_off}");
    let wrong = json!({"file_ids": [files[0], "upl_00000000000000000000000000000000"]});
    let refused = app.post(&format!("/openai/v1/vector_stores/{id}/file_batches"), &key, wrong).await;
    assert_eq!(refused.verdict(), "404 B1004 not_found");
}

#[tokio::test]
async fn a_list_of_ids_has_an_end() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let ids = vec!["x"; 2_001];
    for (path, name) in [
        ("/openai/v1/vector_stores".to_string(), "file_ids"),
        (format!("/openai/v1/vector_stores/{box_id}/file_batches"), "file_ids"),
    ] {
        let body = json!({"name": "Many", name: ids, "attributes": {"a": "x".repeat(100_000)}});
        let refused = app.post(&path, &key, body).await;
        assert_eq!((refused.status, &refused.body["error"]["param"]), (400, &json!(name)), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_cites_the_files_it_rests_on() {
    let app = TestApp::start().await;
    let (id, file, key) = store(&app).await;
    let tools = json!([{"type": "file_search", "vector_store_ids": [id], "max_num_results": 4,
        "filters": {"type": "eq", "key": "year", "value": 2021}}]);
    let body = json!({"model": "gpt-any", "input": "How long does the warranty last?", "tools": tools,
        "include": ["file_search_call.results"], "instructions": "Be short."});
    let answer = app.post("/openai/v1/responses", &key, body.clone()).await;
    assert_eq!(
        (answer.status, &answer.body["object"], &answer.body["status"]),
        (200, &json!("response"), &json!("completed")),
        "{answer:?}"
    );
    let (call, message) = (&answer.body["output"][0], &answer.body["output"][1]);
    assert_eq!((&call["type"], &call["results"][0]["file_id"]), (&json!("file_search_call"), &json!(file)));
    let part = &message["content"][0];
    assert!(part["text"].as_str().unwrap().contains("two years"), "{part}");
    assert_eq!(
        (&part["annotations"][0]["type"], &part["annotations"][0]["file_id"]),
        (&json!("file_citation"), &json!(file))
    );
    assert!(answer.body["usage"]["intelligence_units_consumed"].as_u64().unwrap() >= 1);

    let mut streamed = body;
    streamed["stream"] = json!(true);
    let request = app.request(Method::POST, "/openai/v1/responses", Some(&key)).json(&streamed);
    let text = request.send().await.unwrap().text().await.unwrap();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("response.created", "response.completed"), "{kinds:?}");
    assert!(events.iter().zip(0..).all(|(event, number)| event["sequence_number"] == number));
    let said: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    let last = &events[events.len() - 1]["response"];
    assert_eq!(last["output"][1]["content"][0]["text"], json!(said));
    assert_eq!(last["output"][0]["results"][0]["file_id"], json!(file));
    assert!(kinds.contains(&"response.output_text.annotation.added"), "{kinds:?}");
    // Two stores are asked together.
    let second = app.post("/openai/v1/vector_stores", &key, json!({"name": "Others"})).await.body;
    let tools = json!([{"type": "file_search", "vector_store_ids": [second["id"], id]}]);
    let body = json!({"model": "any", "input": "How long does the warranty last?", "tools": tools});
    let answer = app.post("/openai/v1/responses", &key, body).await;
    assert_eq!(
        answer.body["output"][1]["content"][0]["annotations"][0]["file_id"],
        json!(file),
        "{answer:?}"
    );
    for (wrong, param) in [
        (json!({"input": "x", "previous_response_id": "resp_1"}), "previous_response_id"),
        (json!({"input": "x", "tools": [{"type": "web_search"}]}), "tools[0]"),
        (json!({"model": id}), "input"),
    ] {
        let refused = app.post("/openai/v1/responses", &key, wrong).await;
        assert_eq!(
            (refused.status, refused.body["error"]["param"].as_str()),
            (400, Some(param)),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn stores_are_listed_renamed_and_refused_to_those_who_may_not() {
    let app = TestApp::start().await;
    let (owner, first, key) = app.owner().await;
    for name in ["two", "three"] {
        assert_eq!(app.post("/openai/v1/vector_stores", &key, json!({"name": name})).await.status, 200);
    }
    let page = app.get("/openai/v1/vector_stores?limit=2", &key).await.body;
    let names = |page: &Value| -> Vec<String> {
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|store| store["name"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!((names(&page), &page["has_more"]), (vec!["three".into(), "two".into()], &json!(true)));
    let rest = app
        .get(&format!("/openai/v1/vector_stores?limit=2&after={}", page["last_id"].as_str().unwrap()), &key)
        .await
        .body;
    assert_eq!((names(&rest), &rest["has_more"]), (vec!["papers".into()], &json!(false)));
    let renamed = json!({"name": "one", "metadata": {"a": "b"}});
    let renamed = app.post(&format!("/openai/v1/vector_stores/{first}"), &key, renamed).await.body;
    assert_eq!((&renamed["name"], &renamed["metadata"]["a"]), (&json!("one"), &json!("b")));
    let expiring = json!({"name": "x", "expires_after": {"anchor": "last_active_at", "days": 1}});
    assert_eq!(
        app.post("/openai/v1/vector_stores", &key, expiring).await.body["error"]["param"],
        "expires_after"
    );

    let admin = app.user("admin@example.org").await;
    app.grant(first, admin, Role::Admin).await;
    let refused = delete(&app, &app.key(admin).await, &format!("/openai/v1/vector_stores/{first}")).await;
    assert_eq!(refused.verdict(), "403 B3002 role_insufficient");
    let usual = app.key_for(owner, "search,read,write").await;
    let refused = app.post("/openai/v1/vector_stores", &usual, json!({"name": "x"})).await;
    assert_eq!(refused.verdict(), "403 B3002 key_scope");
    let manager = app.key_for(owner, "manage").await;
    let upload = upload(&app, &key, "a.md", "# A").await;
    let refused = json!({"name": "not made", "file_ids": [upload["id"]]});
    let refused = app.post("/openai/v1/vector_stores", &manager, refused).await;
    assert_eq!(refused.verdict(), "403 B3002 key_scope", "files take the permission to write");
    let wrong = json!({"name": "not made", "file_ids": ["upl_00000000000000000000000000000000"]});
    assert_eq!(app.post("/openai/v1/vector_stores", &key, wrong).await.status, 404);
    let all = app.get("/openai/v1/vector_stores", &key).await.body;
    assert!(!names(&all).contains(&"not made".to_string()), "{all}");
    let scoped = app.key_with(owner, None, Some(vec![first])).await;
    let refused = app.post("/openai/v1/vector_stores", &scoped, json!({"name": "x"})).await;
    assert_eq!(refused.verdict(), "403 B3002 key_scope");
    let unknown = BoxId::generate();
    assert_eq!(
        app.get(&format!("/openai/v1/vector_stores/{unknown}"), &key).await.verdict(),
        "403 B3002 box_unknown"
    );
    assert_eq!(spent(&app, &key).await, 0);
}

/// What was uploaded for one box can be read until it expires: not by a key for another box.
#[tokio::test]
async fn a_key_for_some_boxes_sees_no_uploads_of_others() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let file = upload(&app, &key, "secret.txt", "for the other box").await;
    let id = file["id"].as_str().unwrap();
    let restricted = app.key_with(owner, None, Some(vec![box_id])).await;
    assert_eq!(app.get("/openai/v1/files", &restricted).await.body["data"], json!([]));
    for path in [format!("/openai/v1/files/{id}"), format!("/openai/v1/files/{id}/content")] {
        assert_eq!(app.get(&path, &restricted).await.verdict(), "404 B1004 not_found");
    }
    let path = format!("/openai/v1/vector_stores/{box_id}/files");
    let taken = app.post(&path, &restricted, json!({"file_id": id})).await;
    assert_eq!(taken.verdict(), "404 B1004 not_found");
    assert_eq!(delete(&app, &restricted, &format!("/openai/v1/files/{id}")).await.status, 404);
    let own = upload(&app, &restricted, "own.txt", "for this box").await;
    let listed = app.get("/openai/v1/files", &restricted).await.body;
    assert_eq!((listed["data"].as_array().unwrap().len(), &listed["data"][0]["id"]), (1, &own["id"]));
    let put = app.post(&path, &restricted, json!({"file_id": own["id"]})).await;
    assert_eq!(put.status, 200, "{put:?}");
    assert_eq!(app.get("/openai/v1/files", &key).await.body["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn uploads_are_private_and_expire() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = upload(&app, &key, "secret.txt", "a secret").await;
    let id = file["id"].as_str().unwrap();
    let week = file["expires_at"].as_i64().unwrap() - Timestamp::now().as_second();
    assert!((6 * 86_400..=7 * 86_400).contains(&week), "{file}");
    let listed = app.get("/openai/v1/files?limit=1&purpose=assistants", &key).await.body;
    assert_eq!((&listed["data"][0]["id"], &listed["data"][0]["status"]), (&json!(id), &json!("processed")));
    let stranger = app.user("stranger@example.org").await;
    let theirs = app.key(stranger).await;
    let elsewhere = app.box_of(stranger).await;
    for path in [format!("/openai/v1/files/{id}"), format!("/openai/v1/files/{id}/content")] {
        assert_eq!(app.get(&path, &theirs).await.verdict(), "404 B1004 not_found");
    }
    let stolen = app
        .post(&format!("/openai/v1/vector_stores/{elsewhere}/files"), &theirs, json!({"file_id": id}))
        .await;
    assert_eq!(stolen.verdict(), "404 B1004 not_found");
    assert_eq!(delete(&app, &theirs, &format!("/openai/v1/files/{id}")).await.status, 404);
    assert_eq!(app.get("/openai/v1/files", &theirs).await.body["data"], json!([]));

    let later = Timestamp::now() + Duration::from_secs(8 * 86_400);
    let originals = app.catalog.remove_expired_uploads(later).await.unwrap();
    for sha256 in &originals {
        app.app.library.remove_original(sha256).await.unwrap();
    }
    assert_eq!((originals.len(), app.app.library.blobs.names().await.unwrap().len()), (1, 0));
    let late =
        app.post(&format!("/openai/v1/vector_stores/{box_id}/files"), &key, json!({"file_id": id})).await;
    assert_eq!(late.verdict(), "404 B1004 not_found");
}
