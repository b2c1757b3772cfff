//! Setting up, signing in, guessing, signing out.

use std::convert::Infallible;

use engine::{
    access::Role,
    seams::catalog::{NewSession, Subject},
};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use reqwest::Method;
use sha2::{Digest, Sha256};

use super::{Browser, PASSWORD, between, form};
use crate::support::{TestApp, roomy};

/// Settings under which whoever manages a box gets links that make accounts.
fn owners_invite() -> server::config::Config {
    let mut config = roomy();
    config.accounts.invitations = engine::seams::catalog::Inviters::Owners;
    config
}

async fn sign_in(browser: &mut Browser, email: &str, password: &str) -> super::Page {
    browser.post("/sign-in", &[("email", email), ("password", password)]).await
}

#[tokio::test]
async fn the_set_up_link_makes_the_first_account_once() {
    let app = TestApp::start().await;
    let link = server::dashboard::set_up_link(&*app.catalog, "", None).await.unwrap().unwrap();
    let mut browser = Browser::new(&app);
    assert!(browser.get("/sign-in").await.text.contains("set-up link"));
    let page = browser.get(&link).await;
    assert!(page.status == 200 && page.text.contains("Create account"), "{page:?}");
    let token = link.split('=').nth(1).unwrap();
    let fields = [("token", token), ("email", "ada@example.org"), ("name", "Ada"), ("password", "short")];
    let page = browser.post("/welcome", &fields).await;
    assert!(page.status == 400 && page.text.contains("at least 8 characters"), "{page:?}");
    let fields = [("token", token), ("email", "ada@example.org"), ("name", "Ada"), ("password", PASSWORD)];
    let page = browser.post("/welcome", &fields).await;
    assert_eq!((page.status, page.location()), (303, "/"));
    let page = browser.get("/").await;
    assert!(page.text.contains("Create your first box") && page.text.contains("/operator/users"), "{page:?}");
    let mut other = Browser::new(&app);
    assert_eq!(other.get(&link).await.status, 404, "once");
    let fields = [("token", token), ("email", "eve@example.org"), ("password", PASSWORD)];
    assert_eq!(other.post("/welcome", &fields).await.status, 404);
    assert_eq!(app.catalog.users().await.unwrap().len(), 1);
    assert!(server::dashboard::set_up_link(&*app.catalog, "", None).await.unwrap().is_none());
    assert_eq!(sign_in(&mut other, "ada@example.org", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn a_form_that_comes_too_slowly_is_not_called_too_large() {
    let mut config = roomy();
    config.deadlines.body_stall_s = 1;
    let app = TestApp::with(config).await;
    let mut browser = Browser::new(&app);
    let token = browser.csrf().await;
    let start = form(&[("csrf", token.as_str()), ("email", "ada@example.org")]);
    // As a page sends it, and as our script does: the token is looked for in the form or in a header.
    for header in [None, Some(token.as_str())] {
        let stalled = stream::iter([Ok::<_, Infallible>(start.clone())]).chain(stream::pending());
        let request = browser.request(Method::POST, "/sign-in");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = header.iter().fold(request, |request, token| request.header("x-csrf-token", *token));
        let page = browser.send(request.body(reqwest::Body::wrap_stream(stalled))).await;
        assert!(page.status == 400 && page.text.contains("too slowly"), "{page:?}");
    }
    let page = browser.post("/sign-in", &[("email", &"x".repeat(300 * 1024))]).await;
    assert!(page.status == 413 && page.text.contains("larger than 256 KB"), "{page:?}");
}

#[tokio::test]
async fn a_cookie_is_out_of_reach_of_scripts_other_sites_and_plain_http() {
    let app = TestApp::start().await;
    app.person("ada@example.org").await;
    let mut browser = Browser::new(&app);
    for page in [browser.get("/sign-in").await, sign_in(&mut browser, "ada@example.org", PASSWORD).await] {
        let cookie = page.header("set-cookie");
        assert!(cookie.starts_with("__Host-quire="), "{cookie}");
        for flag in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"] {
            assert!(cookie.contains(flag), "{cookie}");
        }
        assert!(!cookie.contains("Domain"), "{cookie}");
    }
}

#[tokio::test]
async fn a_token_foisted_on_somebody_never_becomes_a_sign_in() {
    let app = TestApp::start().await;
    app.person("ada@example.org").await;
    let planted = "planted-by-somebody-else".to_string();
    let mut browser = Browser { cookie: Some(planted.clone()), ..Browser::new(&app) };
    let page = sign_in(&mut browser, "ada@example.org", PASSWORD).await;
    assert_eq!((page.status, page.location()), (303, "/"));
    let given = browser.cookie.clone().unwrap();
    assert!(given != planted && given.len() >= 43, "256 bits of its own");
    assert_eq!(browser.get("/account/profile").await.status, 200);
    let mut attacker = Browser { cookie: Some(planted), ..Browser::new(&app) };
    assert!(attacker.get("/account/profile").await.is_refused());
    // Signing in anew gives a new token, and the old one ends.
    sign_in(&mut browser, "ada@example.org", PASSWORD).await;
    assert_ne!(browser.cookie.as_ref(), Some(&given));
    let mut old = Browser { cookie: Some(given), ..Browser::new(&app) };
    assert!(old.get("/account/profile").await.is_refused());
}

#[tokio::test]
async fn whoever_guesses_waits_and_learns_nothing() {
    let app = TestApp::start().await;
    app.person("ada@example.org").await;
    app.person("eve@example.org").await;
    let mut browser = Browser::new(&app);
    let wrong = sign_in(&mut browser, "ada@example.org", "wrong password").await;
    let nobody = sign_in(&mut browser, "nobody@example.org", "wrong password").await;
    assert_eq!((wrong.status, nobody.status), (401, 401));
    let said = |page: &super::Page| between(&page.text, "role=\"alert\">", "<").to_string();
    assert_eq!(said(&wrong), said(&nobody), "which of both was wrong is not told");
    let here = Subject::From("ada@example.org".parse().unwrap(), "127.0.0.1".into());
    app.guessed_at(&[here]).await;
    let locked = sign_in(&mut browser, "ada@example.org", PASSWORD).await;
    assert_eq!(locked.status, 429, "even the right one waits: {locked:?}");
    assert!(!locked.header("retry-after").is_empty() && said(&locked).contains("Too many attempts"));
    assert_eq!(sign_in(&mut browser, "eve@example.org", PASSWORD).await.status, 303, "others do not wait");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_guesses_at_once_are_a_hundred() {
    let app = TestApp::start().await;
    app.person("ada@example.org").await;
    let mut browser = Browser::new(&app);
    let token = browser.csrf().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let body =
            super::form(&[("csrf", &token), ("email", "ada@example.org"), ("password", "wrong guess")]);
        let request = browser.request(Method::POST, "/sign-in");
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        tasks.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let statuses = tasks.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 5, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 15, "{statuses:?}");
}

#[tokio::test]
async fn a_sign_in_ends_here_or_everywhere() {
    let app = TestApp::start().await;
    app.person("ada@example.org").await;
    let (mut one, mut two) = (Browser::new(&app), Browser::new(&app));
    sign_in(&mut one, "ada@example.org", PASSWORD).await;
    sign_in(&mut two, "ada@example.org", PASSWORD).await;
    let kept = one.cookie.clone();
    assert_eq!(one.post("/sign-out", &[]).await.location(), "/sign-in?done=signed-out");
    one.cookie = kept;
    assert!(one.get("/").await.is_refused(), "the token is of no use any more");
    assert_eq!(two.get("/").await.status, 200);
    sign_in(&mut one, "ada@example.org", PASSWORD).await;
    assert!(two.get("/account/profile").await.text.contains("Where you are signed in"));
    two.post("/account/sign-out-everywhere", &[]).await;
    assert!(one.get("/").await.is_refused() && two.get("/").await.is_refused());
}

#[tokio::test]
async fn a_new_password_ends_all_other_sign_ins() {
    let app = TestApp::start().await;
    app.person("ada@example.org").await;
    let (mut one, mut two) = (Browser::new(&app), Browser::new(&app));
    sign_in(&mut one, "ada@example.org", PASSWORD).await;
    sign_in(&mut two, "ada@example.org", PASSWORD).await;
    let wrong =
        one.post("/account/password", &[("current", "not it"), ("password", "another password")]).await;
    assert_eq!(wrong.status, 403);
    let fields = [("current", PASSWORD), ("password", "another password")];
    assert_eq!(one.post("/account/password", &fields).await.location(), "/account/profile?done=password");
    assert_eq!(one.get("/").await.status, 200);
    assert!(two.get("/").await.is_refused());
    assert_eq!(sign_in(&mut two, "ada@example.org", PASSWORD).await.status, 401);
    assert_eq!(sign_in(&mut two, "ada@example.org", "another password").await.status, 303);
}

#[tokio::test]
async fn an_invitation_works_once_and_only_for_whom_it_is() {
    let app = TestApp::with(owners_invite()).await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let fields = [("email", "eve@example.org"), ("role", "editor")];
    let page = browser.post_and_look(&format!("/boxes/{box_id}/members"), &fields).await;
    assert_eq!(page.status, 200, "{page:?}");
    let link = between(&page.text, "id=\"fresh-link\">", "<").replace("&#38;", "&");
    let path = link.strip_prefix(&app.url("")).unwrap().to_string();
    assert!(!browser.get(&format!("/boxes/{box_id}/members")).await.text.contains(&path), "shown once");
    let mut guest = Browser::new(&app);
    let page = guest.get(&path).await;
    assert!(page.text.contains("papers") && page.text.contains("eve@example.org"), "{page:?}");
    let token = path.split('=').nth(1).unwrap();
    // The address is the link's, whatever the form says.
    let fields = [("token", token), ("email", "mallory@example.org"), ("password", PASSWORD)];
    let page = guest.post("/welcome", &fields).await;
    assert_eq!(page.location(), format!("/boxes/{box_id}"));
    let page = guest.get(&format!("/boxes/{box_id}")).await;
    assert!(page.status == 200 && page.text.contains("Drop files"), "{page:?}");
    assert_eq!(Browser::new(&app).get(&path).await.status, 404, "once");
    let members = app.catalog.members(engine::access::Writing::for_operator(box_id).reading()).await.unwrap();
    assert!(
        members
            .iter()
            .any(|member| member.email.as_str() == "eve@example.org" && member.role == Role::Editor)
    );
}

#[tokio::test]
async fn an_invitation_for_an_account_that_is_there_asks_for_its_sign_in() {
    let app = TestApp::with(owners_invite()).await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let fields = [("email", "eve@example.org"), ("role", "viewer")];
    let page = browser.post_and_look(&format!("/boxes/{box_id}/members"), &fields).await;
    let link = between(&page.text, "id=\"fresh-link\">", "<").to_string();
    let path = link.strip_prefix(&app.url("")).unwrap().to_string();
    // She made her account meanwhile, with an invitation of somebody else.
    let other = app.user("other@example.org").await;
    let other_box = app.box_of(other).await;
    let members = format!("/boxes/{other_box}/members");
    let page = Browser::of(&app, other).await.post_and_look(&members, &fields).await;
    let link = between(&page.text, "id=\"fresh-link\">", "<").to_string();
    let mut hers = Browser::new(&app);
    let fields = [("token", link.split('=').nth(1).unwrap()), ("password", PASSWORD)];
    assert_eq!(hers.post("/welcome", &fields).await.status, 303);
    let mallory = app.user("mallory@example.org").await;
    let mut other = Browser::of(&app, mallory).await;
    assert!(other.get(&path).await.text.contains("Sign in to it"));
    let token = path.split('=').nth(1).unwrap();
    assert_eq!(other.post("/welcome", &[("token", token), ("password", PASSWORD)]).await.status, 403);
    assert_eq!(hers.post("/welcome", &[("token", token)]).await.location(), format!("/boxes/{box_id}"));
    assert_eq!(hers.get(&format!("/boxes/{box_id}")).await.status, 200);
}

#[tokio::test]
async fn a_sign_in_that_expired_is_none() {
    let app = TestApp::start().await;
    let user = app.user("ada@example.org").await;
    let now = Timestamp::now();
    let session = NewSession {
        user,
        token: Sha256::digest(b"old").into(),
        agent: String::new(),
        address: String::new(),
        now: Timestamp::from_second(now.as_second() - 8 * 24 * 60 * 60).unwrap(),
        expires_at: Timestamp::from_second(4_000_000_000).unwrap(),
    };
    app.catalog.begin_session(session).await.unwrap();
    let mut browser = Browser { cookie: Some("old".into()), ..Browser::new(&app) };
    assert!(browser.get("/").await.is_refused(), "a week unused is the end");
}
