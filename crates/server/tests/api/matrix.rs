//! Every route × every method × everybody: status, code, category, reason, headers and shape.

use std::sync::Arc;

use engine::{
    access::Role,
    apikey::ApiKey,
    permissions::{Permission, Permissions},
};
use jiff::Timestamp;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

const METHODS: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS, Method::TRACE];

/// What each operation asks of a key. A route that is described and not listed here fails the test.
const NEEDS: &[(&str, Option<Permission>)] = {
    use Permission::{Manage, Read, Search, Write};
    &[
        ("GET /check", None),
        ("GET /usage", Some(Read)),
        ("GET /boxes", Some(Read)),
        ("POST /boxes", Some(Manage)),
        ("GET /boxes/{box_id}", Some(Read)),
        ("PATCH /boxes/{box_id}", Some(Manage)),
        ("DELETE /boxes/{box_id}", Some(Manage)),
        ("GET /boxes/{box_id}/members", Some(Manage)),
        ("POST /boxes/{box_id}/members", Some(Manage)),
        ("PATCH /boxes/{box_id}/members/{email}", Some(Manage)),
        ("DELETE /boxes/{box_id}/members/{email}", Some(Manage)),
        ("GET /keys", Some(Manage)),
        ("POST /keys", Some(Manage)),
        ("DELETE /keys/{prefix}", Some(Manage)),
        ("GET /webhooks", Some(Manage)),
        ("POST /webhooks", Some(Manage)),
        ("DELETE /webhooks/{webhook_id}", Some(Manage)),
        ("POST /webhooks/{webhook_id}/rotate-secret", Some(Manage)),
        ("GET /webhooks/{webhook_id}/attempts", Some(Manage)),
        ("POST /webhooks/{webhook_id}/attempts/{number}/replay", Some(Manage)),
        ("GET /boxes/{box_id}/sources", Some(Manage)),
        ("POST /boxes/{box_id}/sources", Some(Manage)),
        ("GET /boxes/{box_id}/sources/{source_id}", Some(Manage)),
        ("DELETE /boxes/{box_id}/sources/{source_id}", Some(Manage)),
        ("POST /boxes/{box_id}/sources/{source_id}/sync", Some(Manage)),
        ("GET /boxes/{box_id}/files", Some(Read)),
        ("POST /boxes/{box_id}/files", Some(Write)),
        ("GET /boxes/{box_id}/events", Some(Read)),
        ("GET /files", Some(Read)),
        ("GET /files/{file_id}", Some(Read)),
        ("PATCH /files/{file_id}", Some(Write)),
        ("DELETE /files/{file_id}", Some(Write)),
        ("GET /files/{file_id}/report", Some(Read)),
        ("GET /files/{file_id}/pages/{number}/image", Some(Read)),
        ("GET /files/{file_id}/signed-url", Some(Read)),
        ("GET /signed-url", Some(Read)),
        ("POST /signed-url", Some(Read)),
        ("POST /boxes/{box_id}/retrieve-documents", Some(Search)),
        ("POST /retrieve-documents", Some(Search)),
        ("POST /boxes/{box_id}/retrieve-full-documents", Some(Read)),
        ("POST /chat/completions", Some(Search)),
        ("POST /boxes/{box_id}/chat/completions", Some(Search)),
        ("POST /feedback", Some(Search)),
        ("GET /boxes/{box_id}/questions", Some(Manage)),
        ("GET /models", Some(Search)),
        ("GET /models/{box_id}", Some(Search)),
        ("POST /vector_stores/{box_id}/search", Some(Search)),
        ("POST /dify/retrieval", Some(Search)),
        ("POST /embeddings", Some(Search)),
        ("POST /rerank", Some(Search)),
        ("PUT /process", Some(Read)),
        // Each tool asks for itself.
        ("POST /mcp", None),
        ("POST /boxes/{box_id}/mcp", None),
        ("POST /openai/v1/chat/completions", Some(Search)),
        ("POST /openai/v1/responses", Some(Search)),
        ("POST /openai/v1/embeddings", Some(Search)),
        ("POST /openai/v1/rerank", Some(Search)),
        ("GET /openai/v1/models", Some(Search)),
        ("GET /openai/v1/models/{box_id}", Some(Search)),
        ("GET /openai/v1/files", Some(Read)),
        ("POST /openai/v1/files", Some(Write)),
        ("GET /openai/v1/files/{file_id}", Some(Read)),
        ("DELETE /openai/v1/files/{file_id}", Some(Write)),
        ("GET /openai/v1/files/{file_id}/content", Some(Read)),
        ("GET /openai/v1/vector_stores", Some(Read)),
        ("POST /openai/v1/vector_stores", Some(Manage)),
        ("GET /openai/v1/vector_stores/{box_id}", Some(Read)),
        ("POST /openai/v1/vector_stores/{box_id}", Some(Manage)),
        ("DELETE /openai/v1/vector_stores/{box_id}", Some(Manage)),
        ("POST /openai/v1/vector_stores/{box_id}/search", Some(Search)),
        ("GET /openai/v1/vector_stores/{box_id}/files", Some(Read)),
        ("POST /openai/v1/vector_stores/{box_id}/files", Some(Write)),
        ("GET /openai/v1/vector_stores/{box_id}/files/{file_id}", Some(Read)),
        ("POST /openai/v1/vector_stores/{box_id}/files/{file_id}", Some(Write)),
        ("DELETE /openai/v1/vector_stores/{box_id}/files/{file_id}", Some(Write)),
        ("GET /openai/v1/vector_stores/{box_id}/files/{file_id}/content", Some(Read)),
        ("POST /openai/v1/vector_stores/{box_id}/file_batches", Some(Write)),
        ("GET /openai/v1/vector_stores/{box_id}/file_batches/{batch_id}", Some(Read)),
        ("POST /openai/v1/vector_stores/{box_id}/file_batches/{batch_id}/cancel", Some(Write)),
        ("GET /openai/v1/vector_stores/{box_id}/file_batches/{batch_id}/files", Some(Read)),
    ]
};
/// What only an owner of the box may do.
const OWNERS: &[&str] = &["DELETE /boxes/{box_id}", "DELETE /openai/v1/vector_stores/{box_id}"];
/// What a key that is restricted to boxes may not do anywhere.
const UNRESTRICTED: &[&str] = &["POST /boxes", "POST /openai/v1/vector_stores"];

/// All that a key for web pages may be used for, on pages of the site that it names.
const FOR_PAGES: &[&str] = &[
    "/chat/completions",
    "/boxes/{box_id}/chat/completions",
    "/retrieve-documents",
    "/boxes/{box_id}/retrieve-documents",
];
const SITE: &str = "https://www.example.org";

/// Somebody who asks, and what they are told before anything else is looked at.
struct Asker {
    who: &'static str,
    key: Option<String>,
    /// The verdict on every route, or `None` for a usable key.
    refused: Option<&'static str>,
    /// The verdict on routes of the box, or `None` for full access.
    in_box: Option<&'static str>,
    permissions: Permissions,
    owner: bool,
    restricted: bool,
    /// The site whose page asks.
    origin: Option<&'static str>,
}

async fn askers(app: &TestApp) -> (Vec<Asker>, String) {
    let (owner, box_id, owner_key) = app.owner().await;
    let mut askers = Vec::new();
    let mut add = |who, key, refused, in_box| {
        let (owner, restricted) = (who == "owner", who == "scoped elsewhere");
        let permissions = Permissions::ALL;
        askers.push(Asker { who, key, refused, in_box, permissions, owner, restricted, origin: None });
    };
    add("nobody", None, Some("401 B3002 key_missing"), None);
    add("mistyped", Some("quire_12345678_x".into()), Some("401 B3002 key_invalid"), None);
    add("unknown", Some(ApiKey::generate().reveal()), Some("401 B3002 key_invalid"), None);
    let past = Timestamp::from_second(1_700_000_000).unwrap();
    let expired = app.key_with(owner, Some(past), None).await;
    add("expired", Some(expired), Some("401 B3002 key_expired"), None);
    let revoked = app.key(owner).await;
    app.catalog.revoke_key(ApiKey::parse(&revoked).unwrap().prefix()).await.unwrap();
    add("revoked", Some(revoked), Some("401 B3002 key_revoked"), None);
    let disabled = app.user("disabled@example.org").await;
    app.grant(box_id, disabled, Role::Owner).await;
    let disabled_key = app.key(disabled).await;
    app.catalog.set_user_disabled(disabled, true).await.unwrap();
    add("disabled", Some(disabled_key), Some("401 B3002 key_revoked"), None);
    for (who, role) in [("viewer", Role::Viewer), ("editor", Role::Editor), ("admin", Role::Admin)] {
        let user = app.user(&format!("{who}@example.org")).await;
        app.grant(box_id, user, role).await;
        let in_box = (role < Role::Admin).then_some("403 B3002 role_insufficient");
        add(who, Some(app.key(user).await), None, in_box);
    }
    let stranger = app.user("stranger@example.org").await;
    let elsewhere = app.box_of(stranger).await;
    add("stranger", Some(app.key(stranger).await), None, Some("403 B3002 box_unknown"));
    app.grant(elsewhere, owner, Role::Owner).await;
    let scoped = app.key_with(owner, None, Some(vec![elsewhere])).await;
    add("scoped elsewhere", Some(scoped), None, Some("403 B3002 key_scope"));
    add("owner", Some(owner_key.clone()), None, None);
    let asker = || Asker {
        who: "",
        key: None,
        refused: None,
        in_box: None,
        permissions: Permissions::ALL,
        owner: true,
        restricted: false,
        origin: None,
    };
    for who in ["search", "read", "write", "manage", "search,read", "search,read,write"] {
        let (key, permissions) = (Some(app.key_for(owner, who).await), who.parse().unwrap());
        askers.push(Asker { who, key, permissions, ..asker() });
    }
    let for_pages = json!({"name": "site", "boxes": [box_id.to_string()], "origins": [SITE]});
    let made = app.post("/keys", &owner_key, for_pages).await;
    let key = Some(made.body["data"]["key"].as_str().unwrap().to_string());
    let permissions = Permissions::SEARCH;
    askers.push(Asker { who: "page", key: key.clone(), permissions, origin: Some(SITE), ..asker() });
    let (refused, elsewhere) = (Some("403 B3002 key_scope"), Some("https://evil.example"));
    askers.push(Asker { who: "page elsewhere", key: key.clone(), refused, origin: elsewhere, ..asker() });
    askers.push(Asker { who: "key of a page", key, refused, ..asker() });
    (askers, box_id.to_string())
}

/// Every path of the description with the methods it has, and some paths that do not exist.
async fn paths(app: &TestApp) -> Vec<(String, Vec<String>)> {
    let url = app.url("/api/public/v1/openapi.json");
    let document: Value = app.client.get(url).send().await.unwrap().json().await.unwrap();
    let described = document["paths"].as_object().unwrap().iter();
    let mut paths: Vec<(String, Vec<String>)> = described
        .map(|(path, operations)| {
            let methods =
                operations.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
            (path.strip_prefix("/api/public/v1").unwrap().to_string(), methods)
        })
        .collect();
    assert!(paths.iter().any(|(path, _)| path == "/check"));
    // Routes in shapes of others are described by them.
    let of_others = NEEDS.iter().filter_map(|(operation, _)| operation.split_once(' '));
    for (method, path) in of_others.filter(|(_, path)| path.starts_with("/openai/") || path.ends_with("/mcp"))
    {
        match paths.iter_mut().find(|(known, _)| known == path) {
            Some((_, methods)) => methods.push(method.to_string()),
            None => paths.push((path.to_string(), vec![method.to_string()])),
        }
    }
    for nowhere in ["", "/", "/nope", "/check/", "/boxes/x/nope", "/%00", "/..%2fcheck"] {
        paths.push((nowhere.to_string(), Vec::new()));
    }
    paths
}

/// What an answer must be, as far as who asked decides it.
fn expected(asker: &Asker, path: &str, methods: &[String], method: &Method) -> Option<String> {
    if let Some(refused) = asker.refused {
        return Some(refused.to_string());
    }
    if asker.origin.is_some() && !FOR_PAGES.contains(&path) {
        return Some("403 B3002 key_scope".into());
    }
    if methods.is_empty() {
        return Some("404 B1004 not_found".into());
    }
    if !methods.contains(&method.to_string()) {
        return Some("405 B1004 invalid_parameter".into());
    }
    let operation = format!("{method} {path}");
    let needs = NEEDS.iter().find(|(known, _)| *known == operation);
    let (_, needed) = needs.unwrap_or_else(|| panic!("{operation} is not in the table"));
    let lacks = needed.is_some_and(|needed| !asker.permissions.has(needed));
    if lacks || (asker.restricted && UNRESTRICTED.contains(&operation.as_str())) {
        return Some("403 B3002 key_scope".into());
    }
    let in_box = if path.contains("{box_id}") { asker.in_box } else { None };
    let owners = OWNERS.contains(&operation.as_str()) && !asker.owner;
    in_box.or(owners.then_some("403 B3002 role_insufficient")).map(str::to_string)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_and_method_answers_everybody_in_the_envelope() {
    let app = TestApp::start().await;
    let (askers, box_id) = askers(&app).await;
    let askers = Arc::new(askers);
    let mut tasks = tokio::task::JoinSet::new();
    for (path, methods) in paths(&app).await {
        let concrete = path
            .replace("{box_id}", &box_id)
            .replace("{file_id}", "fil_00000000000000000000000000000000")
            .replace("{email}", "nobody@example.org")
            .replace("{prefix}", "00000000")
            .replace("{webhook_id}", "whk_00000000000000000000000000000000")
            .replace("{number}", "1")
            .replace("{source_id}", "src_00000000000000000000000000000000")
            .replace("{batch_id}", "bat_00000000000000000000000000000000");
        for method in METHODS {
            for at in 0..askers.len() {
                let mut request = app.request(method.clone(), &concrete, askers[at].key.as_deref());
                if let Some(origin) = askers[at].origin {
                    request = request.header("origin", origin);
                }
                let expected = expected(&askers[at], &path, &methods, &method);
                // The box is there for everybody else, too.
                if expected.is_none() && OWNERS.contains(&format!("{method} {path}").as_str()) {
                    continue;
                }
                let context = format!("{method} {path} as {}", askers[at].who);
                let counted = askers[at].refused.is_none_or(|refused| refused.starts_with("403"));
                let shape = Shape::of(&path);
                tasks.spawn(async move { check(request, shape, expected, counted, &context).await });
                // Wrong keys are answered slowly: many at once, but fewer than the guard lets wait.
                if tasks.len() >= 100 {
                    tasks.join_next().await.unwrap().unwrap();
                }
            }
        }
    }
    assert!(askers.len() * METHODS.len() > 50);
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

/// What an answer looks like.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Ours,
    /// As OpenAI has it; errors are in our envelope, which is a wider form of OpenAI's.
    OpenAi,
    Dify,
    JsonRpc,
}

impl Shape {
    fn of(path: &str) -> Self {
        match path {
            path if path.starts_with("/openai/") => Shape::OpenAi,
            path if path.starts_with("/dify/") => Shape::Dify,
            path if path.ends_with("/mcp") => Shape::JsonRpc,
            _ => Shape::Ours,
        }
    }

    /// Status, code and reason in one line, as far as the shape has them.
    fn verdict(self, mut answer: Answer, expected: &str) -> String {
        match self {
            Shape::Ours | Shape::OpenAi => answer.verdict(),
            Shape::Dify => {
                assert!(
                    answer.body["error_code"].is_u64() && answer.body["error_msg"].is_string(),
                    "{answer:?}"
                );
                format!("{} {}", answer.status, expected.split_once(' ').unwrap().1)
            }
            Shape::JsonRpc => {
                assert_eq!(answer.body["jsonrpc"], "2.0", "{answer:?}");
                answer.body["error"] = answer.body["error"]["data"].take();
                answer.verdict()
            }
        }
    }
}

async fn check(
    request: RequestBuilder,
    shape: Shape,
    expected: Option<String>,
    counted: bool,
    context: &str,
) {
    let response = request.send().await.unwrap();
    // An event stream has no end to wait for; its head is all there is to check.
    if response.headers()["content-type"] == "text/event-stream" {
        assert!(response.headers().contains_key("x-ratelimit-hits") && expected.is_none(), "{context}");
        return;
    }
    let answer = Answer::of(response).await;
    let context = format!("{context}: {answer:?}");
    if shape == Shape::Ours || (shape == Shape::OpenAi && answer.status >= 400) {
        answer.must_be_well_formed();
    }
    assert_eq!(answer.number("x-ratelimit-hits") > 0, counted, "{context}");
    assert_eq!(answer.number("x-ratelimit-remaining-user") > 0, counted, "{context}");
    match expected {
        Some(verdict) => assert_eq!(shape.verdict(answer, &verdict), verdict, "{context}"),
        None => assert!(!matches!(answer.status, 401 | 403 | 405 | 429 | 500..), "{context}"),
    }
}

#[tokio::test]
async fn the_table_lists_only_what_there_is() {
    let app = TestApp::start().await;
    let described = paths(&app).await;
    for (operation, _) in NEEDS {
        let (method, path) = operation.split_once(' ').unwrap();
        let known =
            described.iter().any(|(known, methods)| known == path && methods.iter().any(|m| m == method));
        assert!(known, "{operation}");
    }
}

#[tokio::test]
async fn unknown_and_foreign_boxes_are_told_apart_by_nobody() {
    let app = TestApp::start().await;
    let (_, foreign, _) = app.owner().await;
    let stranger = app.user("stranger@example.org").await;
    let key = app.key(stranger).await;
    let unknown = engine::ids::BoxId::generate().to_string();
    let mut answers = Vec::new();
    for id in [foreign.to_string(), unknown, "nonsense".into()] {
        let mut answer = app.get(&format!("/boxes/{id}"), &key).await;
        assert_eq!(answer.verdict(), "403 B3002 box_unknown");
        answer.body["error"]["request_id"] = Value::Null;
        answers.push(answer.body);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn boxes_are_listed_for_those_who_may_use_them() {
    let app = TestApp::start().await;
    let (owner, mine, key) = app.owner().await;
    let other = app.user("other@example.org").await;
    let theirs = app.box_of(other).await;
    app.grant(theirs, owner, Role::Editor).await;
    let answer = app.get("/boxes", &key).await;
    assert_eq!(answer.body["data"]["total"], 1);
    assert_eq!(answer.body["data"]["boxes"][0]["boxId"], mine.to_string());
    assert_eq!(answer.body["data"]["boxes"][0]["role"], "owner");
    let answer = app.get(&format!("/boxes/{mine}"), &key).await;
    assert_eq!(answer.body["data"]["name"], "papers");
}
