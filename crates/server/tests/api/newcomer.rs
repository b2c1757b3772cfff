//! What a newcomer stumbles over: names in place of ids, wrong types, unknown parameters, links opened in a browser.

use std::sync::Arc;

use reqwest::{Method, header};
use serde_json::{Value, json};
use server::assemble;

use crate::{
    dashboard::Browser,
    support::{Answer, TestApp, roomy},
};

fn question(model: Option<&str>) -> Value {
    let mut body = json!({"messages": [{"role": "user", "content": "Where is the lighthouse?"}]});
    if let Some(model) = model {
        body["model"] = json!(model);
    }
    body
}

#[tokio::test]
async fn a_box_is_asked_by_its_name_and_a_strange_model_says_which_boxes_there_are() {
    let app = TestApp::start().await;
    let (user, papers, key) = app.owner().await;
    let ask = async |model| app.post("/chat/completions", &key, question(model)).await;
    assert_eq!(ask(Some("gpt-4o")).await.status, 200, "the key has one box: whatever the model is called");
    assert_eq!(ask(None).await.status, 200);
    let notes = app.catalog.add_box("Notes".parse().unwrap(), user).await.unwrap().id;
    let strange = ask(Some("gpt-4o")).await;
    assert_eq!(strange.verdict(), "400 B1004 invalid_parameter");
    let cause = strange.body["error"]["cause"].as_str().unwrap();
    let (first, second) = (format!("papers ({papers})"), format!("Notes ({notes})"));
    for part in ["`model` is `gpt-4o`, which is not a box", "X-Box-Id", &first, &second] {
        assert!(cause.contains(part), "{part}: {cause}");
    }
    let missing = ask(None).await;
    assert_eq!(missing.verdict(), "400 B1004 missing_parameter");
    assert!(missing.body["error"]["cause"].as_str().unwrap().contains(&second), "{missing:?}");
    let by_id = notes.to_string();
    for name in ["Notes", "box:Notes", "notes", " box: Notes ", by_id.as_str(), "papers"] {
        assert_eq!(ask(Some(name)).await.status, 200, "{name}");
    }
    for unknown in ["box:Nothing", "box_00000000000000000000000000000000"] {
        assert_eq!(ask(Some(unknown)).await.verdict(), "403 B3002 box_unknown", "{unknown}");
    }
    app.catalog.add_box("Notes".parse().unwrap(), user).await.unwrap();
    let twice = ask(Some("Notes")).await;
    assert!(twice.body["error"]["cause"].as_str().unwrap().contains("several boxes are called"), "{twice:?}");
}

#[tokio::test]
async fn a_wrong_type_is_said_in_plain_words() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let search = format!("/boxes/{box_id}/retrieve-documents");
    for (path, body, says) in [
        (
            search.as_str(),
            json!({"query": "x", "top_k": "ten"}),
            "`top_k` must be a whole number, 0 or more, not \"ten\"",
        ),
        (&search, json!({"query": "x", "top_k": -1}), "`top_k` must be a whole number, 0 or more, not -1"),
        (
            &search,
            json!({"query": "x", "mode": "loud"}),
            "`mode` must be hybrid, semantic or keyword, not \"loud\"",
        ),
        (&search, json!({"query": "x", "sources": "a"}), "`sources` must be an array, not \"a\""),
        (&search, json!({"query": "   "}), "`query` is empty; it needs 1 to 4,000 characters"),
        (
            "/chat/completions",
            json!({"stream_options": true}),
            "`stream_options` must be an object, not true",
        ),
        ("/chat/completions", json!({"stream": "yes"}), "`stream` must be true or false, not \"yes\""),
        ("/chat/completions", json!({"extra_body": 5}), "`extra_body` must be an object, not 5"),
        ("/signed-url", json!({"file_id": ["a"]}), "`file_id` must be a string, not an array"),
    ] {
        let answer = app.post(path, &key, body).await;
        assert_eq!(answer.verdict(), "400 B1004 invalid_parameter");
        assert_eq!(answer.body["error"]["cause"], says);
    }
    let broken = app.request(Method::POST, &search, Some(&key)).header("content-type", "application/json");
    let broken = Answer::of(broken.body("{\"query\": }").send().await.unwrap()).await;
    assert_eq!(broken.body["error"]["cause"], "the body is not valid JSON: see line 1, column 11");
    let twice = app.get("/files?limit=1&limit=2", &key).await;
    assert_eq!(twice.body["error"]["cause"], "`limit` is in the URL more than once; send it once");
}

#[tokio::test]
async fn unknown_query_parameters_are_warned_of_everywhere() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "a.txt", "alpha").await;
    for path in [
        "/check".to_string(),
        "/usage".into(),
        "/boxes".into(),
        format!("/boxes/{box_id}"),
        format!("/boxes/{box_id}/files"),
        "/files".into(),
        format!("/files/{file}"),
        format!("/files/{file}/report"),
        format!("/files/{file}/signed-url"),
    ] {
        let plain = app.get(&path, &key).await;
        assert!(plain.status == 200 && plain.body["data"]["warnings"][0].is_null(), "{path}: {plain:?}");
        let answer = app.get(&format!("{path}?colour=blue"), &key).await;
        let warning = "unknown query parameter `colour` was ignored";
        assert_eq!((answer.status, &answer.body["data"]["warnings"][0]), (200, &json!(warning)), "{path}");
    }
    let near = app.get("/files?limt=3", &key).await;
    assert_eq!(
        near.body["data"]["warnings"][0],
        "unknown query parameter `limt` was ignored; did you mean `limit`?"
    );
    let path = format!("/boxes/{box_id}/retrieve-documents?top_k=3");
    let search = app.post(&path, &key, json!({"query": "alpha"})).await;
    let warning = search.body["data"]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("`top_k`") && warning.contains("in the body"), "{warning}");
}

#[tokio::test]
async fn a_compressed_body_is_refused_as_what_it_is() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let request = app.request(Method::POST, &path, Some(&key)).header("content-type", "application/json");
    let request = request.header("content-encoding", "gzip").body(vec![0x1f, 0x8b, 8, 0]);
    let answer = Answer::of(request.send().await.unwrap()).await;
    answer.must_be_well_formed();
    assert_eq!(answer.status, 415, "{answer:?}");
    let cause = answer.body["error"]["cause"].as_str().unwrap();
    assert_eq!(cause, "the body was sent with `Content-Encoding: gzip`; send it uncompressed");
}

#[tokio::test]
async fn without_a_key_a_known_route_answers_like_an_unknown_one() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    for path in ["/boxes/x/retrieve-documents", "/check", "/nope", "/signed-url", "/openapi.json/x"] {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
            let answer = Answer::of(app.request(method.clone(), path, None).send().await.unwrap()).await;
            assert_eq!(answer.verdict(), "401 B3002 key_missing", "{method} {path}");
            assert!(!answer.headers.contains_key(header::ALLOW), "{method} {path} tells of a route");
        }
    }
    let with_key = Answer::of(app.request(Method::PUT, "/check", Some(&key)).send().await.unwrap()).await;
    assert_eq!((with_key.status, with_key.header("allow")), (405, "GET,HEAD"));
}

#[tokio::test]
async fn the_link_of_a_citation_opens_in_a_browser_after_signing_in() {
    let app = TestApp::start().await;
    let (user, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "tower.txt", "The lighthouse is in Lyon.").await;
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let found = app.post(&path, &key, json!({"query": "lighthouse"})).await;
    let link = found.body["data"]["documents"][0]["documents"][0]["link"].as_str().unwrap().to_string();
    assert!(link.ends_with("?page=1#page=1"), "{link}");
    let path = link.split_once("/api/public/v1").map(|(_, rest)| format!("/api/public/v1{rest}")).unwrap();
    let path = path.split('#').next().unwrap().to_string();
    let program = app.get(path.strip_prefix("/api/public/v1").unwrap(), &key).await;
    assert_eq!(
        (program.status, &program.body["data"]["warnings"][0]),
        (200, &Value::Null),
        "a program reads it"
    );
    let bare = Answer::of(app.client.get(app.url(&path)).send().await.unwrap()).await;
    assert_eq!(bare.verdict(), "401 B3002 key_missing", "who does not ask for a page gets the error");

    let mut stranger = Browser::new(&app);
    let page = stranger.open(&path).await;
    assert_eq!((page.status, page.location()), (303, format!("/files/{file}?page=1").as_str()));
    let page = stranger.open(page.location()).await;
    assert_eq!(page.location(), format!("/sign-in?next=%2Ffiles%2F{file}%3Fpage%3D1"), "and back after that");
    let mut owner = Browser::of(&app, user).await;
    let page = owner.open(&format!("/files/{file}?page=1")).await;
    assert_eq!(page.location(), format!("/boxes/{box_id}/files/{file}?page=1"));
    assert_eq!(owner.open(page.location()).await.status, 200);
    let eve = app.user("eve@example.org").await;
    let mut eve = Browser::of(&app, eve).await;
    assert_eq!(
        eve.open(&format!("/files/{file}?page=1")).await.status,
        404,
        "somebody else's file is no file"
    );
}

#[tokio::test]
async fn explain_has_the_rank_after_reranking() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "tower.txt", "The lighthouse is in Lyon.").await;
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let ranks = async |rerank: bool| {
        let body = json!({"query": "lighthouse", "explain": true, "rerank": rerank});
        let found = app.post(&path, &key, body).await;
        found.body["data"]["documents"][0]["documents"][0]["explain"]["ranks"].clone()
    };
    assert_eq!(ranks(true).await["rerank"], 1);
    assert_eq!(ranks(false).await["rerank"], Value::Null);
}

#[tokio::test]
async fn an_ordinary_reranked_search_costs_at_most_two_units() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let models = assemble::Models {
        embedders: Arc::new(models::FakeEmbedder).into(),
        rerankers: Some(Arc::new(models::FakeReranker) as Arc<dyn engine::seams::reranker::Reranker>).into(),
        pickers: engine::chat::Pickers::default(),
    };
    let app = TestApp::with_models(folder, roomy(), models).await;
    let (_, box_id, key) = app.owner().await;
    for number in 0..18 {
        let text = format!("Note {number}: the warranty of part {number} is two years.");
        app.text_file(box_id, &key, &format!("{number}.txt"), &text).await;
    }
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let cost = async |more: Value| {
        let mut body = json!({"query": "warranty"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = app.post(&path, &key, body).await;
        (
            found.body["data"]["usage"]["intelligence_units_consumed"].as_u64().unwrap(),
            found.body["data"]["documents"][0]["count"].as_u64().unwrap(),
        )
    };
    assert_eq!(cost(json!({})).await, (2, 10), "18 candidates are read by the cross-encoder");
    assert_eq!(cost(json!({"max_units": 1})).await, (1, 10), "less is read, as much is shown");
    assert_eq!(cost(json!({"rerank": false})).await, (1, 10));
    let chat = app.post("/chat/completions", &key, question(None)).await;
    let units = chat.body["usage"]["intelligence_units_consumed"].as_u64().unwrap();
    assert!(units <= 2, "{chat:?}");
}
