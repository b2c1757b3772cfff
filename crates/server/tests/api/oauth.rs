//! Programs that people let in: a client that knows only the address of `/mcp`, and all that must not get it in.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use engine::{
    access::Role,
    ids::{BoxId, UserId},
};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    dashboard::{Browser, Page},
    support::{Answer, TestApp, roomy},
};

const VERIFIER: &str = "a-verifier-that-is-long-enough-for-anybody-1234";
const BACK: &str = "http://127.0.0.1:6123/back";

/// A program on its way in.
struct Program<'a> {
    app: &'a TestApp,
    id: String,
    /// The address that it wants to use.
    address: String,
}

impl<'a> Program<'a> {
    async fn registered(app: &'a TestApp, path: &str) -> Self {
        let body = json!({"client_name": "A desk", "redirect_uris": ["http://127.0.0.1/back"],
            "token_endpoint_auth_method": "client_secret_post", "grant_types": ["authorization_code", "refresh_token"]});
        let answer = register(app, &body).await;
        assert_eq!(
            (answer.status, &answer.body["token_endpoint_auth_method"]),
            (201, &json!("none")),
            "{answer:?}"
        );
        Program { app, id: answer.body["client_id"].as_str().unwrap().into(), address: app.url(path) }
    }

    /// What it sends a browser away with.
    fn asked(&self) -> Vec<(&'static str, String)> {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        [
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", BACK),
            ("state", "its state"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &self.address),
        ]
        .map(|(name, value)| (name, value.to_string()))
        .into()
    }

    /// The same with something changed, or left out where it is empty.
    fn asked_with(&self, name: &str, value: &str) -> Vec<(&'static str, String)> {
        let mut asked = self.asked();
        asked.iter_mut().filter(|(found, _)| *found == name).for_each(|(_, old)| *old = value.to_string());
        asked.retain(|(_, value)| !value.is_empty());
        asked
    }

    /// The code that a person's decision brings.
    async fn code(&self, browser: &mut Browser) -> String {
        let page = decide(browser, &self.asked(), "allow").await;
        let back = sent_to(&page);
        assert!(back.starts_with(&format!("{BACK}?code=")), "{page:?}");
        let query = form(&back);
        assert_eq!((&query["state"], &query["iss"]), (&json!("its state"), &json!(self.app.url(""))));
        query["code"].as_str().unwrap().to_string()
    }

    async fn exchange(&self, code: &str, changed: &[(&str, &str)]) -> Answer {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &self.id),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
            ("resource", &self.address),
        ];
        for (name, value) in changed {
            fields.retain(|(found, _)| found != name);
            fields.push((name, value));
        }
        fields.retain(|(_, value)| !value.is_empty());
        send(self.app, "/oauth/token", &fields).await
    }

    async fn refresh(&self, token: &str) -> Answer {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", &self.id)];
        send(self.app, "/oauth/token", &fields).await
    }

    /// Goes the whole way.
    async fn let_in(&self, browser: &mut Browser) -> (String, String) {
        let code = self.code(browser).await;
        tokens(&self.exchange(&code, &[]).await)
    }

    /// Lists the tools, as a token allows.
    async fn tools(&self, token: &str) -> Answer {
        tools(self.app, &self.address, token).await
    }
}

async fn tools(app: &TestApp, address: &str, token: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    Answer::of(app.client.post(address).bearer_auth(token).json(&body).send().await.unwrap()).await
}

async fn register(app: &TestApp, body: &Value) -> Answer {
    Answer::of(app.client.post(app.url("/oauth/register")).json(body).send().await.unwrap()).await
}

async fn send(app: &TestApp, path: &str, fields: &[(&str, &str)]) -> Answer {
    let url = reqwest::Url::parse_with_params("https://x/", fields).unwrap();
    let kind = "application/x-www-form-urlencoded";
    let request =
        app.client.post(app.url(path)).header("content-type", kind).body(url.query().unwrap().to_string());
    Answer::of(request.send().await.unwrap()).await
}

fn tokens(answer: &Answer) -> (String, String) {
    assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{answer:?}");
    assert_eq!((&answer.body["token_type"], &answer.body["expires_in"]), (&json!("Bearer"), &json!(3600)));
    let text = |name: &str| answer.body[name].as_str().unwrap().to_string();
    (text("access_token"), text("refresh_token"))
}

/// The query of an address.
fn form(address: &str) -> Value {
    let url = reqwest::Url::parse(address).unwrap();
    url.query_pairs()
        .map(|(name, value)| (name.to_string(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn path_of(asked: &[(&str, String)]) -> String {
    let url = reqwest::Url::parse_with_params("https://x/oauth/authorize", asked).unwrap();
    format!("/oauth/authorize?{}", url.query().unwrap())
}

async fn decide(browser: &mut Browser, asked: &[(&str, String)], decision: &str) -> Page {
    let mut fields: Vec<(&str, &str)> = asked.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.push(("decision", decision));
    browser.post("/oauth/authorize", &fields).await
}

/// Where a browser goes from a page that goes on by itself.
fn sent_to(page: &Page) -> String {
    page.header("refresh").strip_prefix("0;url=").unwrap_or_else(|| panic!("{page:?}")).to_string()
}

async fn owner(app: &TestApp) -> (UserId, BoxId, String, Browser) {
    let (owner, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "warranty.md", "The warranty lasts two years.").await;
    (owner, box_id, key, Browser::of(app, owner).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_knows_only_the_address_finds_its_way_in() {
    let app = TestApp::start().await;
    let (_, box_id, _, mut browser) = owner(&app).await;
    for path in ["/mcp".to_string(), "/api/public/v1/mcp".into(), format!("/boxes/{box_id}/mcp")] {
        // From the refusal to the documents …
        let refused = Answer::of(app.client.post(app.url(&path)).send().await.unwrap()).await;
        assert_eq!(refused.status, 401, "{refused:?}");
        let challenge = refused.header("www-authenticate");
        let document = challenge.split("resource_metadata=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(challenge.contains("scope=\"search read\""), "{challenge}");
        let resource = Answer::of(app.client.get(document).send().await.unwrap()).await.body;
        assert_eq!(resource["resource"], app.url(&path));
        let issuer = resource["authorization_servers"][0].as_str().unwrap();
        let mut documents = Vec::new();
        for name in ["oauth-authorization-server", "openid-configuration"] {
            let address = format!("{issuer}/.well-known/{name}");
            documents.push(Answer::of(app.client.get(address).send().await.unwrap()).await.body);
        }
        assert_eq!(documents[0], documents[1]);
        let server = &documents[0];
        assert_eq!(
            (&server["issuer"], &server["code_challenge_methods_supported"]),
            (&json!(issuer), &json!(["S256"]))
        );
        for (name, path) in [
            ("authorization_endpoint", "/oauth/authorize"),
            ("token_endpoint", "/oauth/token"),
            ("registration_endpoint", "/oauth/register"),
            ("revocation_endpoint", "/oauth/revoke"),
        ] {
            assert_eq!(server[name], app.url(path));
        }
        // … to the person, who sees who asks and for what …
        let program = Program::registered(&app, &path).await;
        let address = path_of(&program.asked());
        let page = Browser::new(&app).get(&address).await;
        assert!(page.location().starts_with("/sign-in?next=%2Foauth%2Fauthorize%3F"), "{page:?}");
        let page = browser.get(&address).await;
        for said in ["A desk", BACK, "papers", "search and ask questions", "a program on your own machine"] {
            assert!(page.text.contains(said), "{said}: {page:?}");
        }
        assert!(!page.text.contains("add, change and delete files</li>"), "{page:?}");
        assert_eq!(page.header("x-frame-options"), "DENY");
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
        // … to the tools.
        let (access, refresh) = program.let_in(&mut browser).await;
        let answer = program.tools(&access).await;
        assert_eq!(answer.body["result"]["tools"].as_array().map(Vec::len), Some(6), "{answer:?}");
        assert_eq!(answer.number("x-ratelimit-hits"), 1);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "How long does the warranty last?"}}});
        let found = app.client.post(&program.address).bearer_auth(&access).json(&call).send().await.unwrap();
        let found = Answer::of(found).await;
        assert_eq!(
            found.body["result"]["structuredContent"]["results"][0]["title"], "warranty.md",
            "{found:?}"
        );
        let (again, _) = tokens(&program.refresh(&refresh).await);
        for token in [&again, &access] {
            assert_eq!(program.tools(token).await.status, 200, "the one before works on for its time");
        }
    }
    let unknown = Answer::of(
        app.client.get(app.url("/.well-known/oauth-protected-resource/check")).send().await.unwrap(),
    );
    assert_eq!(unknown.await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_worth_nothing_anywhere_else() {
    let app = TestApp::start().await;
    let (owner, box_id, key, mut browser) = owner(&app).await;
    let second = app.catalog.add_box("more".parse().unwrap(), owner).await.unwrap().id;
    let for_all = Program::registered(&app, "/mcp").await;
    let for_one = Program::registered(&app, &format!("/boxes/{box_id}/mcp")).await;
    let (all, refresh) = for_all.let_in(&mut browser).await;
    let (one, _) = for_one.let_in(&mut browser).await;
    assert_eq!(
        tools(&app, &app.url("/api/public/v1/mcp"), &all).await.status,
        200,
        "an alias is the same address"
    );
    for (token, path) in [
        (&all, format!("/boxes/{box_id}/mcp")),
        (&one, "/mcp".into()),
        (&one, format!("/boxes/{second}/mcp")),
        (&all, "/openai/v1/models".into()),
    ] {
        let answer = tools(&app, &app.url(&path), token).await;
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
        assert!(answer.header("www-authenticate").contains("invalid_token"));
    }
    for (method, path) in [
        (Method::GET, "/check".to_string()),
        (Method::GET, "/boxes".into()),
        (Method::GET, "/keys".into()),
        (Method::DELETE, format!("/boxes/{box_id}")),
        (Method::POST, format!("/boxes/{box_id}/retrieve-documents")),
    ] {
        for token in [&all, &one, &refresh] {
            let answer =
                Answer::of(app.request(method.clone(), &path, Some(token)).send().await.unwrap()).await;
            assert_eq!(answer.verdict(), "401 B3002 key_invalid", "{method} {path}");
        }
    }
    assert_eq!(for_all.tools(&refresh).await.status, 401, "a refresh token asks nothing");
    assert_eq!(app.get("/check", &key).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_sent_anywhere_without_a_program_that_named_the_address() {
    let app = TestApp::start().await;
    let (_, _, _, mut browser) = owner(&app).await;
    let program = Program::registered(&app, "/mcp").await;
    for (name, value) in [
        ("client_id", ""),
        ("client_id", "cli_00000000000000000000000000000000"),
        ("client_id", "nonsense"),
        ("client_id", "https://127.0.0.1/client.json"),
        ("redirect_uri", ""),
        ("redirect_uri", "https://evil.example/back"),
        ("redirect_uri", "http://127.0.0.1:6123/back/more"),
        ("redirect_uri", "http://127.0.0.1:6123/back?more"),
        ("redirect_uri", "http://evil.example:6123/back"),
        ("redirect_uri", "javascript:alert(1)"),
    ] {
        let asked = program.asked_with(name, value);
        for page in [browser.get(&path_of(&asked)).await, decide(&mut browser, &asked, "allow").await] {
            assert_eq!(page.status, 400, "{name}={value}: {page:?}");
            assert!(page.location().is_empty() && page.header("refresh").is_empty(), "{page:?}");
        }
    }
    let twice = format!("{}&redirect_uri=https://evil.example/", path_of(&program.asked()));
    assert_eq!(browser.get(&twice).await.status, 400);
    // What else is wrong, the program is told.
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "unsupported_response_type"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("resource", "https://evil.example/mcp", "invalid_target"),
        ("resource", &app.url("/check"), "invalid_target"),
    ] {
        let asked = program.asked_with(name, value);
        let page = browser.get(&path_of(&asked)).await;
        let answer = form(page.location());
        assert_eq!((page.status, &answer["error"]), (303, &json!(error)), "{name}={value}: {page:?}");
        assert_eq!((&answer["state"], &answer["iss"]), (&json!("its state"), &json!(app.url(""))));
        let answer = form(&sent_to(&decide(&mut browser, &asked, "allow").await));
        assert_eq!(answer["error"], error, "{name}={value}");
    }
    let mut unknown = program.asked();
    unknown.push(("scope", "write manage".into()));
    assert_eq!(form(browser.get(&path_of(&unknown)).await.location())["error"], "invalid_scope");
    let page = decide(&mut browser, &program.asked(), "deny").await;
    assert_eq!(form(&sent_to(&page))["error"], "access_denied");
    assert_eq!(app.catalog.keys(None).await.unwrap().len(), 1, "only the owner's key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_bind_what_a_person_can_let_in() {
    let app = TestApp::start().await;
    let (_, box_id, _, mut browser) = owner(&app).await;
    let for_all = Program::registered(&app, "/mcp").await;
    let for_one = Program::registered(&app, &format!("/boxes/{box_id}/mcp")).await;
    for role in [None, Some(Role::Viewer), Some(Role::Editor)] {
        let user = app.user(&format!("{}@example.org", role.map_or("nobody", Role::as_str))).await;
        if let Some(role) = role {
            app.grant(box_id, user, role).await;
        }
        let mut browser = Browser::of(&app, user).await;
        for program in [&for_all, &for_one] {
            assert_eq!(browser.get(&path_of(&program.asked())).await.status, 403, "{role:?}");
            assert_eq!(decide(&mut browser, &program.asked(), "allow").await.status, 403, "{role:?}");
        }
    }
    // Whoever stops being an admin takes their programs with them.
    let admin = app.user("admin@example.org").await;
    app.grant(box_id, admin, Role::Admin).await;
    let (token, _) = for_one.let_in(&mut Browser::of(&app, admin).await).await;
    assert_eq!(for_one.tools(&token).await.status, 200);
    app.grant(box_id, admin, Role::Editor).await;
    assert_eq!(for_one.tools(&token).await.status, 403);
    app.catalog.set_user_disabled(admin, true).await.unwrap();
    assert_eq!(for_one.tools(&token).await.status, 401);
    // A program that asked for less has less.
    let mut asked = for_all.asked();
    asked.push(("scope", "search".into()));
    let page = decide(&mut browser, &asked, "allow").await;
    let code = form(&sent_to(&page))["code"].as_str().unwrap().to_string();
    let answer = for_all.exchange(&code, &[]).await;
    assert_eq!(answer.body["scope"], "search");
    let listed = for_all.tools(answer.body["access_token"].as_str().unwrap()).await;
    assert_eq!(listed.body["result"]["tools"].as_array().map(Vec::len), Some(2), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codes_and_refresh_tokens_are_good_once() {
    let app = TestApp::start().await;
    let (_, _, _, mut browser) = owner(&app).await;
    let program = Program::registered(&app, "/mcp").await;
    let other = Program::registered(&app, "/mcp").await;
    let code = program.code(&mut browser).await;
    for changed in [
        [("client_id", other.id.as_str())],
        [("code_verifier", "another-verifier-that-is-long-enough-1234567")],
        [("redirect_uri", "http://127.0.0.1:6124/back")],
        [("code", "nonsense")],
    ] {
        let answer = program.exchange(&code, &changed).await;
        assert_eq!(
            (answer.status, &answer.body["error"]),
            (400, &json!("invalid_grant")),
            "{changed:?}: {answer:?}"
        );
        assert!(
            answer.headers.contains_key("x-request-id") && answer.headers.contains_key("x-ratelimit-hits")
        );
    }
    for (changed, error) in [
        ([("code_verifier", "")], "invalid_request"),
        ([("client_id", "")], "invalid_request"),
        ([("grant_type", "password")], "unsupported_grant_type"),
        ([("grant_type", "")], "invalid_request"),
        ([("resource", "https://evil.example/mcp")], "invalid_target"),
    ] {
        let answer = program.exchange(&code, &changed).await;
        assert_eq!((answer.status, &answer.body["error"]), (400, &json!(error)), "{changed:?}");
    }
    let (access, first) = tokens(&program.exchange(&code, &[]).await);
    assert_eq!(program.exchange(&code, &[]).await.status, 400);
    assert_eq!(program.tools(&access).await.status, 401, "a code seen twice ends what it brought");
    assert_eq!(program.refresh(&first).await.body["error"], "invalid_grant");

    let (access, first) = program.let_in(&mut browser).await;
    assert_eq!(other.refresh(&first).await.status, 400, "it is another program's");
    let (_, second) = tokens(&program.refresh(&first).await);
    assert_eq!(program.refresh(&first).await.body["error"], "invalid_grant");
    assert_eq!(program.tools(&access).await.status, 401, "a refresh token seen twice ends everything");
    assert_eq!(program.refresh(&second).await.status, 400);

    // Whichever token is given back, the program is out; nobody learns whether one was good.
    for which in [0, 1] {
        let (access, refresh) = program.let_in(&mut browser).await;
        let token = if which == 0 { &access } else { &refresh };
        for _ in 0..2 {
            let answer = send(&app, "/oauth/revoke", &[("token", token), ("client_id", &program.id)]).await;
            assert_eq!((answer.status, &answer.body), (200, &json!({})), "{answer:?}");
        }
        assert_eq!(program.tools(&access).await.status, 401);
        assert_eq!(program.refresh(&refresh).await.status, 400);
    }
    let key = app.catalog.keys(None).await.unwrap().into_iter().find(|key| key.client.is_none()).unwrap();
    assert!(key.revoked_at.is_none(), "keys are not given back here");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sees_and_ends_what_they_let_in() {
    let app = TestApp::start().await;
    let (owner, _, key, mut browser) = owner(&app).await;
    let program = Program::registered(&app, "/mcp").await;
    let (access, refresh) = program.let_in(&mut browser).await;
    assert_eq!(program.tools(&access).await.status, 200);
    let page = browser.get("/account/keys").await;
    assert!(page.text.contains("Programs with access") && page.text.contains("A desk"), "{page:?}");
    let listed = app.get("/keys", &key).await;
    let granted = &listed.body["data"]["keys"][0];
    assert_eq!(
        (&granted["client"], &granted["permissions"]),
        (&json!(program.id), &json!(["search", "read"]))
    );
    let prefix = access.split('_').nth(1).unwrap();
    let eve = app.user("eve@example.org").await;
    let path = format!("/account/keys/{prefix}/revoke");
    assert_eq!(Browser::of(&app, eve).await.post(&path, &[]).await.status, 404);
    assert_eq!(browser.post(&path, &[]).await.location(), "/account/keys?done=program-revoked");
    assert_eq!(program.tools(&access).await.status, 401);
    assert_eq!(program.refresh(&refresh).await.status, 400);
    let operating = engine::access::Operating::for_operator();
    let lines = app.catalog.audit_of_all(&operating, None, 50).await.unwrap().entries;
    let actions: Vec<_> = lines.iter().map(|line| (line.action.as_str(), line.target.as_str())).collect();
    assert!(
        actions.iter().any(|(action, target)| *action == "program_let_in" && target.contains(BACK)),
        "{actions:?}"
    );
    assert!(actions.iter().any(|(action, _)| *action == "program_revoked"), "{actions:?}");
    for line in &lines {
        assert!(!line.target.contains(&access) && !line.target.contains(&refresh));
    }
    // What is stored is of no use to whoever reads it.
    let stored = app.catalog.stored_key(prefix).await.unwrap().unwrap();
    assert!(stored.caller.user == owner && !format!("{stored:?}").contains(&access[15..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registrations_are_checked_and_bounded() {
    let app = TestApp::start().await;
    for (body, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["http://example.org/back"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": vec!["https://example.org/"; 11]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": "https://example.org/"}), "invalid_client_metadata"),
        (
            json!({"redirect_uris": ["https://example.org/"], "grant_types": ["implicit"]}),
            "invalid_client_metadata",
        ),
        (json!([]), "invalid_client_metadata"),
    ] {
        let answer = register(&app, &body).await;
        assert_eq!((answer.status, &answer.body["error"]), (400, &json!(error)), "{body}: {answer:?}");
    }
    let large =
        register(&app, &json!({"redirect_uris": ["https://example.org/"], "x": "x".repeat(40_000)})).await;
    assert_eq!((large.status, &large.body["error"]), (413, &json!("invalid_request")), "{large:?}");
    let many: String = (0..5_000).map(|number| format!("&f{number}")).collect();
    let kind = "application/x-www-form-urlencoded";
    let many = app.client.post(app.url("/oauth/token")).header("content-type", kind).body(many);
    let many = Answer::of(many.send().await.unwrap()).await;
    assert_eq!((many.status, &many.body["error"]), (400, &json!("invalid_request")), "{many:?}");
    assert!(many.body["error_description"].as_str().unwrap().contains("too many"), "{many:?}");
    let body = json!({"redirect_uris": ["https://example.org/back"]});
    let mut registered = 0;
    while register(&app, &body).await.status == 201 {
        registered += 1;
        assert!(registered <= 30);
    }
    assert_eq!(registered, 30);
    let answer = register(&app, &body).await;
    assert_eq!((answer.status, &answer.body["error"]), (429, &json!("temporarily_unavailable")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_about_programs_come_from_the_internet_only() {
    let mut config = roomy();
    config.oauth.client_documents = true;
    let app = TestApp::with(config).await;
    let (_, _, _, mut browser) = owner(&app).await;
    let server = app.client.get(app.url("/.well-known/oauth-authorization-server")).send().await.unwrap();
    assert_eq!(Answer::of(server).await.body["client_id_metadata_document_supported"], true);
    let program = Program::registered(&app, "/mcp").await;
    for id in
        ["https://127.0.0.1:1/client.json", "https://localhost:1/client.json", "https://[::1]/client.json"]
    {
        let page = browser.get(&path_of(&program.asked_with("client_id", id))).await;
        assert_eq!(page.status, 400, "{id}: {page:?}");
        assert!(page.text.contains("private or reserved network"), "{id}: {page:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_access_token_ends_with_its_hour() {
    let app = TestApp::start().await;
    let (owner, _, _, mut browser) = owner(&app).await;
    let program = Program::registered(&app, "/mcp").await;
    let code = program.code(&mut browser).await;
    // As the server does it, an hour ago.
    let access = engine::apikey::ApiKey::generate();
    let refresh = engine::apikey::RefreshToken::beside(&access);
    let (now, shown) = (Timestamp::now(), (access.reveal(), refresh.reveal()));
    let exchange = engine::seams::catalog::Exchange {
        code: Sha256::digest(&code).into(),
        client: program.id.clone(),
        redirect_uri: None,
        challenge: URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER)),
        audience: None,
        now,
    };
    let later = Timestamp::from_second(now.as_second() + 1000).unwrap();
    let tokens_of =
        engine::seams::catalog::NewTokens { access, access_until: now, refresh, refresh_until: later };
    app.catalog.exchange_code(exchange, tokens_of).await.unwrap().unwrap();
    let answer = program.tools(&shown.0).await;
    assert_eq!(
        (answer.status, &answer.body["error"]["data"]["reason"]),
        (401, &json!("key_expired")),
        "{answer:?}"
    );
    assert!(answer.header("www-authenticate").contains("invalid_token"));
    let (again, _) = tokens(&program.refresh(&shown.1).await);
    assert_eq!(program.tools(&again).await.status, 200);
    assert!(app.catalog.keys(Some(owner)).await.unwrap().iter().any(|key| key.client.is_some()));
}
