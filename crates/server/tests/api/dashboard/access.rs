//! Everybody at every route: who may not is refused each time, and nothing has changed afterwards.

use engine::{
    access::{Managing, Role, Writing},
    ids::WebhookId,
    seams::catalog::{NewEvaluationQuestion, NewOneTimeLink, NewTurn, Purpose},
};
use jiff::Timestamp;
use reqwest::Method;
use server::dashboard::{Needs, ROUTES};

use super::{Browser, Page};
use crate::support::TestApp;

/// Somebody who tries every route.
struct Trier {
    who: &'static str,
    browser: Browser,
    role: Option<Role>,
    signed_in: bool,
    operator: bool,
}

impl Trier {
    fn may(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::SignedIn => self.signed_in,
            Needs::Reading => self.role.is_some(),
            Needs::Writing => self.role >= Some(Role::Editor),
            Needs::Managing => self.role >= Some(Role::Admin),
            Needs::Owning => self.role == Some(Role::Owner),
            Needs::Operating => self.operator,
        }
    }
}

/// What the paths name: things that are really there.
struct Things {
    replacements: Vec<(&'static str, String)>,
}

impl Things {
    fn path(&self, pattern: &str) -> String {
        let mut path = pattern.to_string();
        for (name, value) in &self.replacements {
            path = path.replace(name, value);
        }
        assert!(!path.contains('{'), "{path} names something that this test does not have");
        path
    }
}

async fn fixture(app: &TestApp) -> (Things, Vec<Trier>) {
    let (owner, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "secret.txt", "The secret is kept in Lyon.").await;
    let (victim, _) = app.member(box_id, "victim@example.org", Role::Editor).await;
    let link = NewOneTimeLink {
        purpose: Purpose::Join {
            email: "guest@example.org".parse().unwrap(),
            plan: Default::default(),
            member: Some((box_id, Role::Viewer)),
        },
        token: [5; 32],
        made_by: Some(owner),
        now: Timestamp::now(),
        expires_at: Timestamp::from_second(4_000_000_000).unwrap(),
    };
    let link = app.catalog.add_link(link).await.unwrap();
    let session = app.catalog.sessions_of(victim, Timestamp::now()).await.unwrap()[0].id;
    let prefix = key.split('_').nth(1).unwrap().to_string();
    let turn = NewTurn {
        question: "Where is the secret kept?".into(),
        answer: "In Lyon.".into(),
        citations: "[]".into(),
        files: Vec::new(),
        at: Timestamp::now(),
    };
    let reading = *Writing::for_operator(box_id).reading();
    let conversation = app.catalog.add_turn(&reading, owner, None, turn).await.unwrap().unwrap().id;
    app.catalog.share_conversation(&reading, owner, conversation, true).await.unwrap();
    let managing = Managing::for_operator(box_id);
    let measured =
        NewEvaluationQuestion { text: "Is the secret kept in Lyon?".into(), expected: "{}".into() };
    app.catalog.add_evaluation_questions(&managing, vec![measured]).await.unwrap();
    let measured = app.catalog.evaluation_set(&managing).await.unwrap()[0].id;
    let things = Things {
        replacements: vec![
            ("{conversation_id}", conversation.to_string()),
            ("{question_id}", measured.to_string()),
            ("{box_id}", box_id.to_string()),
            ("{file_id}", file),
            ("{number}", "1".into()),
            ("{user_id}", victim.to_string()),
            ("{link_id}", link.to_string()),
            ("{session_id}", session.to_string()),
            ("{prefix}", prefix),
            ("{webhook_id}", WebhookId::generate().to_string()),
        ],
    };
    let mut triers = Vec::new();
    let mut add = |who, browser, role, operator| {
        let signed_in = who != "nobody";
        triers.push(Trier { who, browser, role, signed_in, operator });
    };
    add("nobody", Browser::new(app), None, false);
    let outsider = app.user("outsider@example.org").await;
    app.box_of(outsider).await;
    add("outsider", Browser::of(app, outsider).await, None, false);
    let operator = app.user("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    add("operator", Browser::of(app, operator).await, None, true);
    for role in Role::ALL {
        let user = match role {
            Role::Owner => owner,
            other => {
                let user = app.user(&format!("{other}@example.org")).await;
                app.grant(box_id, user, other).await;
                user
            }
        };
        add(role.as_str(), Browser::of(app, user).await, Some(role), false);
    }
    (things, triers)
}

/// All that a forged request could have changed.
async fn state(app: &TestApp) -> String {
    let mut text = String::new();
    for record in app.catalog.boxes().await.unwrap() {
        let managing = Managing::for_operator(record.id);
        let members = app.catalog.members(managing.reading()).await.unwrap();
        let links = app.catalog.links_to_box(&managing, Timestamp::now()).await.unwrap();
        let totals = app.catalog.totals(&[*Writing::for_operator(record.id).reading()]).await.unwrap();
        let measured = app.catalog.evaluation_set(&managing).await.unwrap();
        let runs = app.catalog.evaluation_runs(&managing).await.unwrap();
        text += &format!("{record:?} {members:?} {} {totals:?} {measured:?} {runs:?}\n", links.len());
    }
    for user in app.catalog.users().await.unwrap() {
        let stored = app.catalog.stored_sign_in(&user.email).await.unwrap();
        let keys = app.catalog.keys(Some(user.id)).await.unwrap();
        let keys: Vec<_> = keys.iter().map(|key| (&key.prefix, key.revoked_at)).collect();
        let sessions = app.catalog.sessions_of(user.id, Timestamp::now()).await.unwrap().len();
        let passkeys = app.catalog.passkeys_of(user.id).await.unwrap();
        text += &format!("{stored:?} {keys:?} {sessions} {passkeys:?}\n");
    }
    text + &format!("{:?}", app.catalog.plans().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_forges_a_route_of_somebody_with_more_rights_is_refused_each_time() {
    let app = TestApp::start().await;
    let (things, mut triers) = fixture(&app).await;
    let before = state(&app).await;
    let mut refused = 0;
    for trier in &mut triers {
        let token = trier.browser.csrf().await;
        for route in ROUTES.iter().filter(|route| route.needs != Needs::Nothing) {
            let may = trier.may(route.needs);
            let path = things.path(route.path);
            let context = format!("{} {} as {}", route.method, route.path, trier.who);
            if may && route.method != Method::GET {
                // What they may do is for other tests: here nothing shall change.
                continue;
            }
            let page = if route.method == Method::GET {
                trier.browser.get(&path).await
            } else {
                // With the right token: it is the role that must refuse, not the missing form.
                trier.browser.post_as_is(&path, &forged(&token)).await
            };
            assert_eq!(page.is_refused(), !may, "{context}: {page:?}");
            assert!(page.status < 500, "{context}: {page:?}");
            if !may {
                assert_eq!(page.status, if trier.signed_in { 403 } else { 303 }, "{context}");
                assert!(
                    !page.text.contains("Lyon") && !page.text.contains("secret.txt"),
                    "{context}: {page:?}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused} tries");
    assert_eq!(state(&app).await, before, "something has changed");
}

/// Fields that would do something on every form.
fn forged(token: &str) -> Vec<(&str, &str)> {
    vec![
        ("csrf", token),
        ("name", "forged"),
        ("email", "forged@example.org"),
        ("role", "owner"),
        ("plan", "standard"),
        ("units", "1000000"),
        ("operator", "1"),
        ("active", "1"),
        ("action", "delete"),
        ("confirm", "papers"),
        ("query", "secret"),
        ("question", "Where is it?"),
        ("facts", "Paris"),
        ("lines", "{\"question\": \"Where is it?\", \"answer\": \"Paris\"}"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_form_is_taken_that_does_not_come_from_a_page_of_ours() {
    let app = TestApp::start().await;
    let (things, mut triers) = fixture(&app).await;
    let before = state(&app).await;
    let others = triers.iter_mut().find(|trier| trier.who == "viewer").unwrap().browser.csrf().await;
    for who in ["owner", "operator"] {
        let trier = triers.iter_mut().find(|trier| trier.who == who).unwrap();
        let own = trier.browser.csrf().await;
        for route in ROUTES.iter().filter(|route| route.method == Method::POST) {
            let path = things.path(route.path);
            let refused = |page: Page, what: &str| {
                assert_eq!(page.status, 403, "{path} {what}: {page:?}");
            };
            let without = forged("")[1..].to_vec();
            refused(trier.browser.post_as_is(&path, &without).await, "without a token");
            refused(trier.browser.post_as_is(&path, &forged(&others)).await, "with somebody else's token");
            refused(trier.browser.post_as_is(&path, &forged("x")).await, "with nonsense");
            let body = super::form(&forged(&own));
            let request = trier.browser.request(Method::POST, &path).header("content-type", "text/plain");
            refused(trier.browser.send(request.body(body.clone())).await, "as plain text");
            let form = "application/x-www-form-urlencoded";
            let request = trier.browser.request(Method::POST, &path).header("content-type", form);
            let request = request.header("origin", "https://evil.example").body(body.clone());
            refused(trier.browser.send(request).await, "from another site");
            let request = trier.browser.request(Method::POST, &path).header("content-type", form);
            let request = request.header("sec-fetch-site", "cross-site").body(body);
            refused(trier.browser.send(request).await, "across sites");
        }
    }
    assert_eq!(state(&app).await, before, "something has changed");
}

#[tokio::test]
async fn what_belongs_to_somebody_else_is_not_found() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "secret.txt", "The secret is kept in Lyon.").await;
    let prefix = key.split('_').nth(1).unwrap();
    let eve = app.user("eve@example.org").await;
    let own_box = app.box_of(eve).await;
    let mut browser = Browser::of(&app, eve).await;
    assert_eq!(browser.post(&format!("/account/keys/{prefix}/revoke"), &[]).await.status, 404);
    assert!(app.catalog.keys(None).await.unwrap()[0].revoked_at.is_none());
    // A file of another box, below a box of one's own.
    for path in ["", "/report", "/original", "/download", "/pages/1", "/pages/1/image"] {
        let page = browser.get(&format!("/boxes/{own_box}/files/{file}{path}")).await;
        assert_eq!(page.status, 404, "{path}");
    }
    assert_eq!(browser.post(&format!("/boxes/{own_box}/files/{file}/delete"), &[]).await.status, 404);
    let fields = [("action", "delete"), ("file", file.as_str())];
    browser.post(&format!("/boxes/{own_box}/files/selected"), &fields).await;
    assert_eq!(app.get(&format!("/files/{file}"), &key).await.status, 200, "it is still there");
}

#[tokio::test]
async fn every_page_goes_out_with_a_strict_policy_and_nothing_inline() {
    let app = TestApp::start().await;
    let (things, mut triers) = fixture(&app).await;
    let owner = app.catalog.users().await.unwrap()[0].id;
    app.catalog.set_user_operator(owner, true).await.unwrap();
    let browser = &mut triers.iter_mut().find(|trier| trier.who == "owner").unwrap().browser;
    for route in ROUTES.iter().filter(|route| route.method == Method::GET) {
        let page = browser.get(&things.path(route.path)).await;
        let policy = page.header("content-security-policy");
        let own_rules = route.path.ends_with("/original") || route.path.ends_with("/download");
        if own_rules {
            assert!(policy.contains("sandbox") && !policy.contains("script-src"), "{}: {policy}", route.path);
        } else {
            assert!(
                policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
                "{}",
                route.path
            );
            assert!(
                !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"),
                "{}",
                route.path
            );
        }
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{}", route.path);
        assert!(!page.header("referrer-policy").is_empty(), "{}", route.path);
        assert!(page.header("strict-transport-security").contains("max-age"), "{}", route.path);
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin", "{}", route.path);
        assert!(["no-store", "no-cache"].contains(&page.header("cache-control")), "{}", route.path);
        if page.header("content-type").starts_with("text/html") && !own_rules {
            // An example of an address is nothing that a browser asks for.
            let text = page.text.replace("placeholder=\"http://127.0.0.1", "");
            for inline in
                [" style=\"", "<style", "<script>", " onclick=", " onload=", "javascript:", "http://"]
            {
                assert!(!text.contains(inline), "{inline} in {}", route.path);
            }
        }
    }
}

#[tokio::test]
async fn an_original_can_run_nothing_in_our_name() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let html =
        "<!doctype html><html><body><h1>Hello</h1><script>alert(1)</script><p>Some words.</p></body></html>";
    let file = app.text_file(box_id, &key, "page.html", html).await;
    let mut browser = Browser::of(&app, owner).await;
    let page = browser.get(&format!("/boxes/{box_id}/files/{file}/original")).await;
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
    assert!(!policy.contains("allow-scripts") && !policy.contains("allow-same-origin"));
    assert!(page.text.contains("alert(1)"), "it is the original all the same");
    let page = browser.get(&format!("/boxes/{box_id}/files/{file}")).await;
    assert!(page.text.contains(&format!("/files/{file}/original")), "{}", page.text);
    assert!(!page.text.contains("<script>alert") && !page.text.contains("<iframe"));
    let page = browser.get(&format!("/boxes/{box_id}/files/{file}/download")).await;
    assert!(page.header("content-disposition").starts_with("attachment"));
}

#[tokio::test]
async fn assets_are_kept_for_good_and_named_by_their_content() {
    let app = TestApp::start().await;
    let mut browser = Browser::new(&app);
    let page = browser.get("/sign-in").await;
    for (before, kind) in [("href=\"/assets/style.", "text/css"), ("src=\"/assets/app.", "text/javascript")] {
        let rest = super::between(&page.text, before, "\"");
        let path = format!("{}{rest}", before.split('"').nth(1).unwrap());
        let asset = browser.get(&path).await;
        assert_eq!(asset.status, 200);
        assert!(asset.header("content-type").starts_with(kind));
        assert!(asset.header("cache-control").contains("immutable"));
        assert!(asset.headers.get("set-cookie").is_none());
    }
    assert_eq!(browser.get("/assets/app.000000000000.js").await.status, 404);
    assert_eq!(browser.get("/assets/..%2fCargo.toml").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_script_for_other_sites_is_the_same_for_everybody_and_sets_no_cookie() {
    let app = TestApp::start().await;
    let (_, mut triers) = fixture(&app).await;
    let first = Browser::new(&app).get("/widget.js").await;
    assert!(first.text.contains("attachShadow") && !first.text.contains("innerHTML"), "{first:?}");
    for word in ["document.cookie", "localStorage", "sessionStorage", "indexedDB", "eval(", "new Function"] {
        assert!(!first.text.contains(word), "{word}");
    }
    for trier in &mut triers {
        let script = trier.browser.get("/widget.js").await;
        assert_eq!((script.status, &script.text), (200, &first.text), "as {}", trier.who);
        assert_eq!(script.header("set-cookie"), "", "as {}", trier.who);
        assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
        assert_eq!(script.header("cache-control"), "public, max-age=3600");
        assert_eq!(script.header("cross-origin-resource-policy"), "cross-origin");
        let page = trier.browser.post_as_is("/widget.js", &[("x", "y")]).await;
        assert_eq!(page.status, 405, "as {}: {page:?}", trier.who);
    }
    let browser = Browser::new(&app);
    let request = browser.request(Method::GET, "/widget.js");
    let known = request.header("if-none-match", first.header("etag")).send().await.unwrap();
    assert_eq!(known.status(), 304);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documentation_is_the_same_for_everybody_and_sets_no_cookie() {
    let app = TestApp::start().await;
    let (_, mut triers) = fixture(&app).await;
    for path in server::docs::ROUTES {
        let path = path.replace("{page}", "search");
        let first = Browser::new(&app).get(&path).await;
        assert_eq!(first.status, 200, "{path}: {first:?}");
        assert_eq!(first.header("content-type"), "text/html; charset=utf-8");
        for trier in &mut triers {
            let page = trier.browser.get(&path).await;
            assert_eq!((page.status, &page.text), (200, &first.text), "{path} as {}", trier.who);
            assert_eq!(page.header("set-cookie"), "", "{path} as {}", trier.who);
            let policy = page.header("content-security-policy");
            assert!(
                policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"),
                "{policy}"
            );
            assert_eq!(page.header("x-content-type-options"), "nosniff");
        }
    }
}

#[tokio::test]
async fn a_page_of_the_documentation_that_a_browser_has_already_is_not_sent_again() {
    let app = TestApp::start().await;
    let mut browser = Browser::new(&app);
    let page = browser.get("/docs/settings").await;
    assert!(page.text.contains("QUIRE__HTTP__LISTEN"), "{page:?}");
    let tag = page.header("etag").to_string();
    assert!(tag.len() > 8 && page.header("cache-control") == "public, no-cache", "{page:?}");
    for (sent, status) in [(tag.as_str(), 304), ("\"other\"", 200)] {
        let request = browser.request(Method::GET, "/docs/settings").header("if-none-match", sent);
        let again = browser.send(request).await;
        assert_eq!((again.status, again.header("etag")), (status, tag.as_str()), "{again:?}");
        assert_eq!(again.text.is_empty(), status == 304);
    }
    let markdown = browser.get("/docs/api.md").await;
    assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8");
    assert!(markdown.text.contains("### `GET /check`"));
    for missing in ["/docs/nowhere", "/docs/../Cargo.toml", "/docs/search.md.md"] {
        assert_eq!(browser.get(missing).await.status, 404, "{missing}");
    }
    let post = browser.request(Method::POST, "/docs");
    assert_eq!(browser.send(post).await.status, 405);
}
