//! Filters on fields of files, recency and several boxes, in searches and in chat.

use engine::access::Role;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

fn hits(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let hits = answer.body["data"]["documents"][0]["documents"].as_array().unwrap();
    hits.iter().map(|hit| hit["fileName"].as_str().unwrap().to_string()).collect()
}

/// Whether an answer is from this file and not from the other: it cites it, or names it as the nearest.
fn is_from(answer: &Answer, file: &str, not: &str) -> bool {
    assert_eq!(answer.status, 200, "{answer:?}");
    let said = format!("{} {}", answer.body["choices"][0]["message"]["content"], answer.body["citations"]);
    said.contains(file) && !said.contains(not)
}

/// A text file with tags and metadata; gives its id once it was read.
async fn file(app: &TestApp, path: &str, key: &str, name: &str, text: &str, more: Value) -> String {
    let mut body = json!({"name": name, "text": text});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = app.post(path, key, body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.body["data"]["fileId"].as_str().unwrap().to_string();
    assert_eq!(app.settled(key, &id).await["status"], "ready");
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_filtered_by_their_fields_in_search_and_chat() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let (files, search) = (format!("/boxes/{box_id}/files"), format!("/boxes/{box_id}/retrieve-documents"));
    let text = "The warranty of the machine lasts two years from the day of purchase.";
    file(&app, &files, &key, "old.txt", text, json!({"tags": ["archive"], "metadata": {"year": 2001}})).await;
    file(&app, &files, &key, "new.txt", &format!("{text} All parts."), json!({"tags": ["manual", "public"]}))
        .await;
    let now = Timestamp::now().to_string();
    for (filter, expected) in [
        (json!({"$file.tags": "archive"}), vec!["old.txt"]),
        (json!({"$file.tags": {"$nin": ["archive"]}}), vec!["new.txt"]),
        (json!({"$file.name": {"$in": ["new.txt", "x"]}}), vec!["new.txt"]),
        (json!({"$file.mediaType": "application/pdf"}), vec![]),
        (json!({"$file.mediaType": "text/plain", "year": 2001}), vec!["old.txt"]),
        (json!({"$file.createdAt": {"$gt": now}}), vec![]),
        (
            json!({"$not": {"$file.createdAt": {"$lt": "2020-01-01"}}, "$file.tags": "public"}),
            vec!["new.txt"],
        ),
    ] {
        let answer =
            app.post(&search, &key, json!({"query": "warranty of the machine", "filter": filter})).await;
        assert_eq!(hits(&answer), expected, "{filter}");
    }
    let wrong = app.post(&search, &key, json!({"query": "x", "filter": {"$file.size": 1}})).await;
    assert_eq!(
        (wrong.status, &wrong.body["error"]["param"]),
        (400, &json!("filter.$file.size")),
        "{wrong:?}"
    );
    let chat = format!("/boxes/{box_id}/chat/completions");
    let question = json!([{"role": "user", "content": "How long does the warranty of the machine last?"}]);
    for (filter, name, other) in [
        (json!({"$file.tags": "archive"}), "old.txt", "new.txt"),
        (json!({"$file.tags": "manual"}), "new.txt", "old.txt"),
    ] {
        let ours = json!({"messages": question, "filter": filter});
        let extra = json!({"messages": question, "extra_body": {"filter": filter}});
        for body in [ours, extra] {
            let answer = app.post(&chat, &key, body).await;
            assert!(is_from(&answer, name, other), "{answer:?}");
        }
    }
    let wrong = app.post(&chat, &key, json!({"messages": question, "filter": {"year": {"$near": 1}}})).await;
    assert_eq!(wrong.verdict(), "400 B1004 invalid_parameter");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newer_files_are_preferred_where_that_is_asked_for() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let (files, search) = (format!("/boxes/{box_id}/files"), format!("/boxes/{box_id}/retrieve-documents"));
    let today = Timestamp::now().to_string();
    let dated = |date: &str| json!({"metadata": {"published": date}});
    // The older one says it better.
    file(&app, &files, &key, "old.txt", "The warranty of the kettle is two years.", dated("2010-01-01"))
        .await;
    file(
        &app,
        &files,
        &key,
        "new.txt",
        "Kettles come with a leaflet on the warranty and on descaling.",
        dated(&today),
    )
    .await;
    let query = json!({"query": "warranty of the kettle"});
    let plain = app.post(&search, &key, query.clone()).await;
    assert_eq!(hits(&plain)[0], "old.txt", "{plain:?}");
    let with = |recency: Value| {
        let mut body = query.clone();
        body["recency"] = recency;
        body
    };
    let fresh = with(json!({"field": "published", "half_life_days": 30, "weight": 1.0}));
    let preferred = app.post(&search, &key, fresh).await;
    assert_eq!(hits(&preferred)[0], "new.txt", "{preferred:?}");
    let score = |answer: &Answer, at: usize| {
        answer.body["data"]["documents"][0]["documents"][at]["score"].as_f64().unwrap()
    };
    assert!(score(&preferred, 0) >= score(&preferred, 1));
    assert!(score(&preferred, 1) < 1e-6, "sixteen years are many half-lives: {preferred:?}");
    // Both were added just now.
    let added = app.post(&search, &key, with(json!({"half_life_days": 30, "weight": 0.9}))).await;
    assert_eq!(hits(&added)[0], "old.txt");
    assert!((score(&added, 0) - score(&plain, 0)).abs() < 1e-3);
    for (recency, param) in [
        (json!({"half_life_days": 0}), "recency.half_life_days"),
        (json!({"half_life_days": 1, "weight": 2}), "recency.weight"),
        (json!({"half_life_days": 1, "field": "$file.name"}), "recency.field"),
        (json!({"weight": 1}), "recency.half_life_days"),
    ] {
        let wrong = app.post(&search, &key, with(recency)).await;
        assert_eq!((wrong.status, wrong.body["error"]["param"].as_str()), (400, Some(param)), "{wrong:?}");
    }
    let chat = json!({"messages": [{"role": "user", "content": "What about the warranty of the kettle?"}],
        "recency": {"field": "published", "half_life_days": 30, "weight": 1.0}, "max_sources": 1});
    let answer = app.post(&format!("/boxes/{box_id}/chat/completions"), &key, chat).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(is_from(&answer, "new.txt", "old.txt"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_boxes_are_searched_and_asked_as_one_and_charged_once() {
    let app = TestApp::start().await;
    let (owner, one, key) = app.owner().await;
    let two = app.catalog.add_box("Kitchen, old".parse().unwrap(), owner).await.unwrap().id;
    let kettle =
        "The warranty of the kettle lasts two years from the day of purchase. Batteries are not covered.";
    let kettle = app.text_file(one, &key, "kettle.txt", kettle).await;
    app.text_file(one, &key, "lyon.txt", "Repairs are made by the workshop in Lyon within three weeks.")
        .await;
    app.text_file(two, &key, "oslo.txt", "The revenue of the shop in Oslo was ten million francs.").await;
    let toaster =
        "The warranty of the toaster lasts five years from the day of purchase. Crumbs are not covered.";
    let toaster = app.text_file(two, &key, "toaster.txt", toaster).await;
    let boxes = json!([one.to_string(), two.to_string(), one.to_string()]);
    let before = app.get("/usage", &key).await.body["data"]["used"].as_u64().unwrap();
    let found = app
        .post("/retrieve-documents", &key, json!({"boxes": boxes, "query": "warranty of the toaster"}))
        .await;
    found.must_be_well_formed();
    assert_eq!(hits(&found)[..2], ["toaster.txt", "kettle.txt"], "{found:?}");
    let documents = &found.body["data"]["documents"][0]["documents"];
    assert_eq!(
        (&documents[0]["boxId"], &documents[1]["boxId"]),
        (&json!(two.to_string()), &json!(one.to_string()))
    );
    assert_eq!((&documents[0]["rank"], &documents[1]["rank"]), (&json!(1), &json!(2)));
    assert!(documents[0]["score"].as_f64() >= documents[1]["score"].as_f64());
    let cost = found.body["data"]["usage"]["intelligence_units_consumed"].as_u64().unwrap();
    let after = app.get("/usage", &key).await.body["data"].clone();
    assert_eq!(after["used"].as_u64().unwrap() - before, cost);
    assert_eq!(after["per_operation"][0]["calls"], 1, "{after}");
    let named = json!({"boxes": boxes, "query": "warranty", "sources": [kettle], "explain": true});
    assert_eq!(hits(&app.post("/retrieve-documents", &key, named).await), ["kettle.txt"]);
    let one_hit = json!({"boxes": boxes, "query": "warranty of the toaster", "top_k": 1, "explain": true, "sources": [kettle, toaster]});
    let cut = app.post("/retrieve-documents", &key, one_hit).await;
    assert_eq!(hits(&cut), ["toaster.txt"]);
    let why = &cut.body["data"]["documents"][0]["why_not"];
    assert_eq!(*why, json!([{"fileId": kettle, "stage": "top_k"}]), "{cut:?}");

    let messages = json!([{"role": "user", "content": "How long does the warranty of the toaster last?"}]);
    for body in [
        json!({"messages": messages, "boxes": boxes}),
        json!({"messages": messages, "extra_body": {"boxes": boxes}}),
        json!({"messages": messages, "model": format!("box:{one},{two}")}),
        json!({"messages": messages, "model": format!("box:papers, {two}")}),
        json!({"messages": messages, "model": "box:Kitchen, old"}),
    ] {
        let answer = app.post("/chat/completions", &key, body.clone()).await;
        assert_eq!(answer.status, 200, "{body}: {answer:?}");
        let text = answer.body["choices"][0]["message"]["content"].as_str().unwrap();
        assert!(text.contains("five years"), "{body}: {answer:?}");
        assert_eq!(answer.body["citations"][0]["fileId"], toaster.as_str(), "{body}: {answer:?}");
    }
    for (body, verdict) in [
        (json!({"query": "x"}), "400 B1004 missing_parameter"),
        (json!({"query": "x", "boxes": []}), "400 B1004 invalid_parameter"),
        (json!({"query": "x", "boxes": [one.to_string(), "box_nowhere"]}), "403 B3002 box_unknown"),
    ] {
        assert_eq!(app.post("/retrieve-documents", &key, body).await.verdict(), verdict);
    }
    let in_path = app
        .post(&format!("/boxes/{one}/retrieve-documents"), &key, json!({"query": "x", "boxes": boxes}))
        .await;
    assert_eq!(in_path.verdict(), "400 B1004 invalid_parameter");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_reaches_a_box_by_naming_it_among_others() {
    let app = TestApp::start().await;
    let (_, theirs, owners_key) = app.owner().await;
    app.text_file(theirs, &owners_key, "secret.txt", "The secret is kept in Lyon.").await;
    let eve = app.user("eve@example.org").await;
    let (mine, key) = (app.box_of(eve).await, app.key(eve).await);
    let boxes = json!([mine.to_string(), theirs.to_string()]);
    let messages = json!([{"role": "user", "content": "Where is the secret kept?"}]);
    let requests = [
        ("/retrieve-documents", json!({"boxes": boxes, "query": "secret"})),
        ("/chat/completions", json!({"boxes": boxes, "messages": messages})),
        ("/chat/completions", json!({"model": format!("box:{mine},{theirs}"), "messages": messages})),
    ];
    for (path, body) in &requests {
        let answer = app.post(path, &key, body.clone()).await;
        assert_eq!(answer.verdict(), "403 B3002 box_unknown", "{path}: {answer:?}");
    }
    app.grant(theirs, eve, Role::Editor).await;
    for (path, body) in &requests {
        assert_eq!(
            app.post(path, &key, body.clone()).await.verdict(),
            "403 B3002 role_insufficient",
            "{path}"
        );
    }
}
