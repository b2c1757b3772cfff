//! Keys: what changes takes effect on the very next request.

use engine::{
    access::{Managing, Operating, Owning, Role},
    apikey::ApiKey,
};
use jiff::Timestamp;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{
    chat::papers,
    support::{Answer, TestApp, roomy},
};

#[tokio::test]
async fn changes_take_effect_on_the_very_next_request() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}");
    let (managing, owning) = (Managing::for_operator(box_id), Owning::for_operator(box_id));
    assert_eq!(app.get(&path, &key).await.verdict(), "200 ok");
    let second = app.user("second@example.org").await;
    app.grant(box_id, second, Role::Owner).await;
    app.grant(box_id, owner, Role::Viewer).await;
    assert_eq!(app.get(&path, &key).await.verdict(), "403 B3002 role_insufficient");
    app.grant(box_id, owner, Role::Admin).await;
    assert_eq!(app.get(&path, &key).await.verdict(), "200 ok");
    app.catalog.revoke(&managing, owner).await.unwrap();
    assert_eq!(app.get(&path, &key).await.verdict(), "403 B3002 box_unknown");
    app.grant(box_id, owner, Role::Owner).await;
    app.catalog.set_user_disabled(owner, true).await.unwrap();
    assert_eq!(app.get(&path, &key).await.verdict(), "401 B3002 key_revoked");
    app.catalog.set_user_disabled(owner, false).await.unwrap();
    let other = app.key(owner).await;
    app.catalog.revoke_key(ApiKey::parse(&key).unwrap().prefix()).await.unwrap();
    assert_eq!(app.get(&path, &key).await.verdict(), "401 B3002 key_revoked");
    assert_eq!(app.get(&path, &other).await.verdict(), "200 ok", "other keys are not affected");
    app.catalog.begin_delete_box(&owning).await.unwrap();
    assert_eq!(app.get(&path, &other).await.verdict(), "403 B3002 box_unknown");
}

/// An operator's command is another process with its own connection to the store.
#[tokio::test]
async fn a_change_by_another_process_is_seen_at_once() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    assert_eq!(app.get("/check", &key).await.status, 200);
    let beside = app.beside();
    beside.revoke_key(ApiKey::parse(&key).unwrap().prefix()).await.unwrap();
    assert_eq!(app.get("/check", &key).await.verdict(), "401 B3002 key_revoked");
}

#[tokio::test]
async fn a_key_expires_by_the_clock() {
    let app = TestApp::start().await;
    let (owner, _, _) = app.owner().await;
    let soon = Timestamp::now() + std::time::Duration::from_millis(1500);
    let key = app.key_with(owner, Some(soon), None).await;
    let answer = app.get("/check", &key).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body["data"]["key"]["expiresAt"].is_string());
    while Timestamp::now() <= soon {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.get("/check", &key).await.verdict(), "401 B3002 key_expired");
}

#[tokio::test]
async fn a_wrong_secret_is_the_same_as_an_unknown_key() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    // A right prefix with somebody else's well-formed secret.
    let forged = loop {
        let other = ApiKey::generate().reveal();
        let spliced = format!("{}{}", &key[..15], &other[15..]);
        if ApiKey::parse(&spliced).is_none() {
            break spliced;
        }
    };
    assert_eq!(app.get("/check", &forged).await.verdict(), "401 B3002 key_invalid");
    for header in ["Basic abc", "Bearer", "Bearer ", "bearer", ""] {
        let request = app.client.get(app.url("/api/public/v1/check")).header("authorization", header);
        let answer = crate::support::Answer::of(request.send().await.unwrap()).await;
        assert_eq!(answer.verdict(), "401 B3002 key_missing", "{header:?}");
    }
}

#[tokio::test]
async fn last_use_is_written_down() {
    let app = TestApp::start().await;
    let (owner, _, key) = app.owner().await;
    app.get("/check", &key).await;
    app.app.identities.write_down_uses(&*app.catalog).await.unwrap();
    let keys = app.catalog.keys(Some(owner)).await.unwrap();
    assert!(keys[0].last_used_at.is_some());
}

#[tokio::test]
async fn guessing_is_slowed_down_but_a_good_key_is_not() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let before = std::time::Instant::now();
    for _ in 0..53 {
        let answer = app.get("/check", &ApiKey::generate().reveal()).await;
        assert_eq!(answer.verdict(), "401 B3002 key_invalid");
    }
    // 10 + 20 + 30 ms for the three over the free fifty: a lower bound, which no slow machine can break.
    assert!(before.elapsed() >= std::time::Duration::from_millis(60));
    assert_eq!(app.get("/check", &key).await.status, 200);
}

const SITE: &str = "https://www.example.org";
const OTHERS: &[&str] = &[
    "https://example.org",
    "http://www.example.org",
    "https://www.example.org:8443",
    "https://www.example.org.evil.example",
    "https://WWW.example.org",
    "null",
    "",
];

/// A box with documents in it, and a key for pages of [`SITE`].
async fn on_a_site(app: &TestApp) -> (String, String) {
    let (box_id, key, _) = papers(app).await;
    let body = json!({"name": "site", "boxes": [box_id.to_string()], "origins": [SITE]});
    let made = app.post("/keys", &key, body).await;
    assert_eq!(made.status, 201, "{made:?}");
    (box_id.to_string(), made.body["data"]["key"].as_str().unwrap().to_string())
}

fn question(stream: bool) -> Value {
    json!({"messages": [{"role": "user", "content": "How long does the warranty of the machine last?"}],
           "stream": stream})
}

fn asked(app: &TestApp, key: &str, origin: Option<&str>, path: &str, body: &Value) -> RequestBuilder {
    let request = app.request(Method::POST, path, Some(key)).json(body);
    match origin {
        Some(origin) => request.header("origin", origin),
        None => request,
    }
}

/// Everything that an answer says to browsers about pages of other sites.
fn cors(answer: &Answer) -> Vec<&str> {
    let all = answer.headers.keys().map(|name| name.as_str());
    all.filter(|name| name.starts_with("access-control-") || *name == "vary").collect()
}

async fn answered(request: RequestBuilder) -> Answer {
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_a_web_site_works_on_its_pages_and_nowhere_else() {
    let app = TestApp::start().await;
    let (box_id, key) = on_a_site(&app).await;
    let search = (format!("/boxes/{box_id}/retrieve-documents"), json!({"query": "warranty"}));
    let across = ("/retrieve-documents".into(), json!({"query": "warranty", "boxes": [box_id]}));
    let chats = ["/chat/completions".to_string(), format!("/boxes/{box_id}/chat/completions")];
    let chats = chats.map(|path| (path, question(false)));
    for (path, body) in [search, across].into_iter().chain(chats) {
        let answer = answered(asked(&app, &key, Some(SITE), &path, &body)).await;
        assert_eq!(answer.verdict(), "200 ok", "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), SITE);
        assert_eq!(answer.header("vary"), "origin");
        let readable = answer.header("access-control-expose-headers");
        for name in answer.headers.keys().filter(|name| name.as_str().contains("ratelimit")) {
            assert!(readable.split(", ").any(|one| one == name.as_str()), "{name} in {readable}");
        }
        assert!(answer.headers.get("access-control-allow-credentials").is_none(), "no cookie plays a part");
        for origin in OTHERS.iter().map(|origin| Some(*origin)).chain([None]) {
            let refused = answered(asked(&app, &key, origin, &path, &body)).await;
            assert_eq!(refused.verdict(), "403 B3002 key_scope", "{path} from {origin:?}");
            assert!(cors(&refused).is_empty(), "{path} from {origin:?}: {refused:?}");
            assert!(!refused.body.to_string().contains("example.org"), "which sites it is for is not told");
        }
        let twice = asked(&app, &key, Some(SITE), &path, &body).header("origin", "https://evil.example");
        assert_eq!(answered(twice).await.verdict(), "403 B3002 key_scope", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_streams_to_a_page() {
    let app = TestApp::start().await;
    let (_, key) = on_a_site(&app).await;
    let request = asked(&app, &key, Some(SITE), "/chat/completions", &question(true));
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["access-control-allow-origin"], SITE);
    let text = response.text().await.unwrap();
    assert!(text.contains("two years") && text.contains("warranty.md") && text.contains("[DONE]"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_is_refused_it_can_read() {
    let mut config = roomy();
    config.limits.key_requests = 2;
    let app = TestApp::with(config).await;
    let (owner, _, _) = app.owner().await;
    let (mine, other) = (app.box_of(owner).await, app.box_of(owner).await);
    let body = json!({"name": "site", "boxes": [mine.to_string()], "origins": [SITE]});
    let manager = app.key(owner).await;
    let key = app.post("/keys", &manager, body).await.body["data"]["key"].as_str().unwrap().to_string();
    let path = format!("/boxes/{other}/chat/completions");
    for verdict in ["403 B3002 key_scope", "403 B3002 key_scope", "429 B3107 rate_limit_key"] {
        let refused = answered(asked(&app, &key, Some(SITE), &path, &question(false))).await;
        assert_eq!(refused.verdict(), verdict);
        assert_eq!(refused.header("access-control-allow-origin"), SITE, "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_a_web_site_opens_nothing_but_its_boxes() {
    let app = TestApp::start().await;
    let (box_id, key) = on_a_site(&app).await;
    let owner = app.catalog.users().await.unwrap()[0].id;
    let other = app.catalog.add_box("other".parse().unwrap(), owner).await.unwrap().id.to_string();
    for (path, more) in [
        (format!("/boxes/{other}/chat/completions"), json!({})),
        (format!("/boxes/{other}/retrieve-documents"), json!({"query": "x"})),
        ("/chat/completions".into(), json!({"box_id": other})),
        ("/chat/completions".into(), json!({"model": other})),
        ("/chat/completions".into(), json!({"model": format!("box:{box_id},{other}")})),
        ("/chat/completions".into(), json!({"boxes": [box_id, other]})),
        ("/retrieve-documents".into(), json!({"query": "x", "boxes": [box_id, other]})),
    ] {
        let mut body = question(false);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = answered(asked(&app, &key, Some(SITE), &path, &body)).await;
        assert_eq!(refused.verdict(), "403 B3002 key_scope", "{path} {body}");
    }
    for (method, path) in [
        (Method::GET, "/check".to_string()),
        (Method::GET, "/usage".into()),
        (Method::GET, "/boxes".into()),
        (Method::GET, "/models".into()),
        (Method::GET, "/keys".into()),
        (Method::GET, "/nowhere".into()),
        (Method::GET, format!("/boxes/{box_id}/files")),
        (Method::POST, format!("/boxes/{box_id}/retrieve-full-documents")),
        (Method::POST, "/feedback".into()),
        (Method::POST, "/embeddings".into()),
        (Method::POST, "/rerank".into()),
        (Method::POST, "/openai/v1/chat/completions".into()),
        (Method::POST, format!("/vector_stores/{box_id}/search")),
    ] {
        let request = app.request(method, &path, Some(&key)).header("origin", SITE);
        assert_eq!(answered(request).await.verdict(), "403 B3002 key_scope", "{path}");
    }
    let mcp = app.request(Method::POST, "/mcp", Some(&key)).header("origin", SITE);
    assert_eq!(answered(mcp.json(&json!({}))).await.status, 403);
}

#[tokio::test]
async fn browsers_are_told_what_pages_may_ask_for_and_no_more() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let preflight = |path: &str, origin: Option<&str>, wanted: Option<&str>| {
        let mut request = app.request(Method::OPTIONS, path, None);
        for (name, value) in [("origin", origin), ("access-control-request-method", wanted)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        answered(request.header("access-control-request-headers", "authorization,content-type,x-other"))
    };
    let in_box = |rest: &str| format!("/boxes/{box_id}/{rest}");
    let open = ["/chat/completions".to_string(), "/retrieve-documents".into(), in_box("chat/completions")];
    for path in open.into_iter().chain([in_box("retrieve-documents")]) {
        let answer = preflight(&path, Some(SITE), Some("POST")).await;
        assert_eq!(answer.status, 204, "{path}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), SITE);
        assert_eq!(answer.header("access-control-allow-methods"), "POST");
        assert_eq!(answer.header("access-control-allow-headers"), "authorization, content-type");
        assert_eq!(answer.header("access-control-max-age"), "600");
        assert!(answer.header("vary").contains("origin"));
        assert!(answer.headers.get("access-control-allow-credentials").is_none());
    }
    for (path, origin, wanted) in [
        ("/check".to_string(), Some(SITE), Some("GET")),
        ("/check".into(), Some(SITE), Some("POST")),
        ("/keys".into(), Some(SITE), Some("POST")),
        ("/openai/v1/chat/completions".into(), Some(SITE), Some("POST")),
        (in_box("files"), Some(SITE), Some("POST")),
        (in_box("retrieve-full-documents"), Some(SITE), Some("POST")),
        ("/chat/completions".into(), Some(SITE), Some("DELETE")),
        ("/chat/completions".into(), Some(SITE), None),
        ("/chat/completions".into(), None, Some("POST")),
        ("/chat/completions".into(), Some("null"), Some("POST")),
        ("/chat/completions".into(), Some("nonsense"), Some("POST")),
        ("/chat/completions/more".into(), Some(SITE), Some("POST")),
    ] {
        let answer = preflight(&path, origin, wanted).await;
        assert_eq!(answer.verdict(), "401 B3002 key_missing", "{path} from {origin:?} for {wanted:?}");
        assert!(cors(&answer).is_empty(), "{answer:?}");
    }
    let body = question(false);
    let answer = answered(asked(&app, &key, Some(SITE), "/chat/completions", &body)).await;
    assert_eq!(answer.verdict(), "200 ok", "a key for programs works whatever the header says");
    assert!(cors(&answer).is_empty(), "but no page of another site reads what it is answered: {answer:?}");
}

#[tokio::test]
async fn a_key_for_web_sites_can_only_search_in_boxes_that_it_names() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let with = |more: Value| {
        let mut body = json!({"name": "site", "boxes": [box_id.to_string()], "origins": [SITE]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let many: Vec<String> = (0..11).map(|number| format!("https://{number}.example")).collect();
    for (more, param) in [
        (json!({"permissions": ["search", "read"]}), "permissions"),
        (json!({"permissions": ["read"]}), "permissions"),
        (json!({"permissions": ["search", "write"]}), "permissions"),
        (json!({"permissions": ["search", "manage"]}), "permissions"),
        (json!({"boxes": null}), "boxes"),
        (json!({"boxes": []}), "boxes"),
        (json!({"origins": ["*"]}), "origins"),
        (json!({"origins": ["null"]}), "origins"),
        (json!({"origins": ["https://*.example.org"]}), "origins"),
        (json!({"origins": ["https://example.org/docs"]}), "origins"),
        (json!({"origins": many}), "origins"),
        (json!({"origins": SITE}), "origins"),
    ] {
        let wrong = app.post("/keys", &key, with(more.clone())).await;
        assert_eq!((wrong.status, wrong.body["error"]["param"].as_str()), (400, Some(param)), "{more}");
    }
    let more = json!({"origins": ["https://WWW.Example.org:443/", SITE, "http://localhost:3000"]});
    let made = app.post("/keys", &key, with(more)).await;
    let sites = json!(["http://localhost:3000", SITE]);
    assert_eq!((made.status, &made.body["data"]["origins"]), (201, &sites), "{made:?}");
    assert_eq!(made.body["data"]["permissions"], json!(["search"]));
    let listed = app.get("/keys", &key).await.body;
    let origins = |at: usize| &listed["data"]["keys"][at]["origins"];
    assert_eq!((origins(0), origins(1)), (&sites, &json!([])));
    let log = app.catalog.audit_of_all(&Operating::for_operator(), None, 5).await.unwrap();
    let line = &log.entries.iter().find(|line| line.action.as_str() == "key_made").unwrap().target;
    assert!(line.ends_with(": search, from http://localhost:3000 https://www.example.org"), "{line}");
}
