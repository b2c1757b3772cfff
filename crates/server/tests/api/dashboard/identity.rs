//! Nobody gets into an account in another person's name: invitations, accounts elsewhere, links that outlive a role.

use engine::{
    access::{Operating, Role, Writing},
    ids::BoxId,
    seams::catalog::{Email, Inviters, Subject},
};
use sha2::{Digest, Sha256};

use super::{Browser, PASSWORD, between, provider::Provider};
use crate::{
    commands,
    support::{TestApp, roomy},
};

/// The link that a page shows, as a path.
fn fresh_link(app: &TestApp, page: &super::Page) -> String {
    let link = between(&page.text, "id=\"fresh-link\">", "<").replace("&#38;", "&");
    link.strip_prefix(&app.url("")).unwrap_or_else(|| panic!("no link in {page:?}")).to_string()
}

async fn invite(browser: &mut Browser, box_id: BoxId, email: &str, role: &str) -> super::Page {
    let fields = [("email", email), ("role", role)];
    browser.post_and_look(&format!("/boxes/{box_id}/members"), &fields).await
}

async fn accept(browser: &mut Browser, path: &str, password: &str) -> super::Page {
    let token = path.split('=').nth(1).unwrap();
    browser.post("/welcome", &[("token", token), ("password", password)]).await
}

async fn role_of(app: &TestApp, box_id: BoxId, email: &str) -> Option<Role> {
    let members = app.catalog.members(Writing::for_operator(box_id).reading()).await.unwrap();
    members.into_iter().find(|member| member.email.as_str() == email).map(|member| member.role)
}

fn email(text: &str) -> Email {
    text.parse().unwrap()
}

#[tokio::test]
async fn whoever_manages_a_box_makes_no_account_in_another_persons_name() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let page = invite(&mut browser, box_id, "victim@example.org", "viewer").await;
    assert_eq!(page.status, 200);
    assert!(!page.text.contains("/welcome?token="), "there is no link to follow: {page:?}");
    assert!(page.text.contains("operator of this server"), "{page:?}");
    assert_eq!(app.catalog.users().await.unwrap().len(), 1);
    // The operator sees who waits, and makes the account.
    let operator = app.person("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    let mut office = Browser::of(&app, operator).await;
    let page = office.get("/operator/users").await;
    assert!(page.text.contains("victim@example.org") && page.text.contains("owner@example.org"), "{page:?}");
    let fields = [("email", "victim@example.org"), ("plan", "standard")];
    let page = office.post_and_look("/operator/users", &fields).await;
    let path = fresh_link(&app, &page);
    let mut victim = Browser::new(&app);
    assert_eq!(accept(&mut victim, &path, PASSWORD).await.status, 303);
    assert_eq!(victim.get(&format!("/boxes/{box_id}")).await.status, 200, "she is a member at once");
}

/// The whole attack: an account in the victim's name with the attacker's password, into which the victim then signs in.
#[tokio::test]
async fn an_account_that_somebody_made_in_my_name_is_not_mine_when_i_sign_in_elsewhere() {
    let provider = Provider::start().await;
    let mut config = provider.config();
    config.accounts.invitations = Inviters::Owners;
    let app = TestApp::with(config).await;
    let (attacker, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, attacker).await;
    let page = invite(&mut browser, box_id, "victim@example.org", "viewer").await;
    let mut trap = Browser::new(&app);
    let path = fresh_link(&app, &page);
    assert_eq!(accept(&mut trap, &path, PASSWORD).await.status, 303);
    let mut victim = Browser::new(&app);
    let page = provider.sign_in(&mut victim, "victim", "victim@example.org").await;
    assert_eq!(page.status, 403, "{page:?}");
    assert!(page.text.contains("it is not confirmed as yours"), "{page:?}");
    assert!(victim.get("/").await.is_refused());
    // Nor is that account added to a box of somebody else, who means the victim.
    let other = app.user("other@example.org").await;
    let their_box = app.box_of(other).await;
    let mut theirs = Browser::of(&app, other).await;
    let page = invite(&mut theirs, their_box, "victim@example.org", "admin").await;
    assert!(page.status == 200 && !page.text.contains("/welcome?token="), "{page:?}");
    assert_eq!(role_of(&app, their_box, "victim@example.org").await, None);
    // An operator hands the account over: whoever made it is out of it.
    let trapped = app.catalog.user(&email("victim@example.org")).await.unwrap();
    let key = app.key(trapped.id).await;
    let operator = app.person("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    let mut office = Browser::of(&app, operator).await;
    assert!(office.get("/operator/users").await.text.contains("address not confirmed"));
    office.post(&format!("/operator/users/{}/hand-over", trapped.id), &[("offer", "1")]).await;
    let page = provider.sign_in(&mut victim, "victim", "victim@example.org").await;
    assert_eq!((page.status, page.location()), (303, "/"), "{page:?}");
    assert_eq!(victim.get("/").await.status, 200);
    assert!(trap.get("/").await.is_refused(), "the earlier holder's sign-in ended");
    let fields = [("email", "victim@example.org"), ("password", PASSWORD)];
    assert_eq!(Browser::new(&app).post("/sign-in", &fields).await.status, 401, "and the password");
    assert_eq!(app.get("/check", &key).await.verdict(), "401 B3002 key_revoked", "and the keys");
    assert_eq!(role_of(&app, their_box, "victim@example.org").await, Some(Role::Admin), "what waited holds");
}

#[tokio::test]
async fn an_address_that_passed_to_somebody_else_opens_nothing() {
    let provider = Provider::start().await;
    let app = TestApp::with(provider.config()).await;
    let mut browser = Browser::new(&app);
    assert_eq!(provider.sign_in(&mut browser, "first", "desk@example.org").await.status, 303);
    assert_eq!(provider.sign_in(&mut Browser::new(&app), "second", "desk@example.org").await.status, 403);
    let mut moved = Browser::new(&app);
    assert_eq!(provider.sign_in(&mut moved, "first", "moved@example.org").await.status, 303);
    assert!(moved.get("/account/profile").await.text.contains("desk@example.org"), "the same person");
}

#[tokio::test]
async fn a_password_account_is_connected_by_whoever_knows_the_password() {
    let provider = Provider::start().await;
    let app = TestApp::with(provider.config()).await;
    let ada = app.person("ada@example.org").await;
    let mut browser = Browser::of(&app, ada).await;
    let page = browser.get("/account/profile").await;
    assert!(page.text.contains("Connect the provider"), "{page:?}");
    let page = browser.post("/account/connect", &[("current", "not the password")]).await;
    assert_eq!(page.status, 403, "a browser left open is not enough");
    let leaving = browser.post("/account/connect", &[("current", PASSWORD)]).await;
    let mut stranger = Browser::of(&app, app.user("eve@example.org").await).await;
    let page = provider.back(&mut stranger, &leaving, "eve", "eve@example.org").await;
    assert_eq!(page.status, 400, "not in somebody else's browser: {page:?}");
    let page = provider.back(&mut browser, &leaving, "ada", "ada@elsewhere.example").await;
    assert_eq!(page.location(), "/account/profile?done=connected", "{page:?}");
    let mut again = Browser::new(&app);
    assert_eq!(provider.sign_in(&mut again, "ada", "ada@elsewhere.example").await.status, 303);
    assert!(again.get("/account/profile").await.text.contains("ada@example.org"));
    assert_eq!(browser.get("/").await.status, 200, "her own sign-ins stay");
}

#[tokio::test]
async fn a_removed_admin_does_not_come_back_by_a_link_she_made() {
    let mut config = roomy();
    config.accounts.invitations = Inviters::Owners;
    let app = TestApp::with(config).await;
    let (owner, box_id, _) = app.owner().await;
    let (eve, mut hers) = app.member(box_id, "eve@example.org", Role::Admin).await;
    let page = invite(&mut hers, box_id, "second@example.org", "admin").await;
    let path = fresh_link(&app, &page);
    let mut browser = Browser::of(&app, owner).await;
    browser.post(&format!("/boxes/{box_id}/members/{eve}/remove"), &[]).await;
    let mut second = Browser::new(&app);
    assert_eq!(second.get(&path).await.status, 404);
    assert_eq!(accept(&mut second, &path, PASSWORD).await.status, 404);
    assert_eq!(role_of(&app, box_id, "second@example.org").await, None);
    assert_eq!(app.catalog.users().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_link_signs_nobody_in_to_an_account_that_came_to_be_meanwhile() {
    let mut config = roomy();
    config.accounts.invitations = Inviters::Owners;
    let app = TestApp::with(config).await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let page = invite(&mut browser, box_id, "victim@example.org", "viewer").await;
    let path = fresh_link(&app, &page);
    let token = path.split('=').nth(1).unwrap();
    app.person("victim@example.org").await;
    let mut attacker = Browser::new(&app);
    assert_ne!(attacker.post("/welcome", &[("token", token), ("password", PASSWORD)]).await.status, 303);
    assert!(attacker.get("/").await.is_refused());
}

#[tokio::test]
async fn whoever_types_no_address_is_counted_too_and_the_log_stays_small() {
    let app = TestApp::start().await;
    let mut browser = Browser::new(&app);
    let token = browser.csrf().await;
    let mut refused = 0;
    for number in 0..60 {
        let email = format!("no address {number}");
        let fields = [("csrf", token.as_str()), ("email", &email), ("password", "x")];
        let page = browser.post_as_is("/sign-in", &fields).await;
        refused += usize::from(page.status == 429);
    }
    assert!((30..=40).contains(&refused), "twenty are free, then waits grow: {refused}");
    let log = app.catalog.audit_of_all(&Operating::for_operator(), None, 1000).await.unwrap();
    assert_eq!(log.entries.len(), 60 - refused, "what is refused is not written down");
}

#[tokio::test]
async fn the_owner_of_an_account_signs_in_however_many_others_guess() {
    let app = TestApp::start().await;
    let ada = app.person("ada@example.org").await;
    let right = [("email", "ada@example.org"), ("password", PASSWORD)];
    let wrong = [("email", "ada@example.org"), ("password", "a wrong guess")];
    let mut own = Browser::new(&app);
    assert_eq!(own.post("/sign-in", &right).await.status, 303);
    own.post("/sign-out", &[]).await;
    // Somebody in the very same network guesses, for so long that everybody there waits for a quarter of an hour.
    let mut guesser = Browser::new(&app);
    assert_eq!(guesser.post("/sign-in", &wrong).await.status, 401);
    let network = || "127.0.0.1".to_string();
    let here = [Subject::From(email("ada@example.org"), network()), Subject::Network(network())];
    app.guessed_at(&here).await;
    assert_eq!(guesser.post("/sign-in", &right).await.status, 429);
    assert_eq!(own.post("/sign-in", &right).await.status, 303, "her browser is known");
    // In hers, too, guesses are counted.
    own.post("/sign-out", &[]).await;
    assert_eq!(own.post("/sign-in", &wrong).await.status, 401);
    let browser = Sha256::digest(own.known.as_ref().unwrap()).into();
    app.guessed_at(&[Subject::Browser(email("ada@example.org"), browser)]).await;
    assert_eq!(own.post("/sign-in", &right).await.status, 429);
    // An operator ends the wait at this account; that of the network is not about her.
    let operator = app.person("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    let page = Browser::of(&app, operator).await.post(&format!("/operator/users/{ada}/unlock"), &[]).await;
    assert_eq!(page.location(), "/operator/users?done=unlocked");
    assert_eq!(own.post("/sign-in", &right).await.status, 303);
}

#[tokio::test]
async fn an_account_is_confirmed_and_unlocked_on_the_command_line() {
    let mut config = roomy();
    config.accounts.invitations = Inviters::Owners;
    let app = TestApp::with(config).await;
    let (owner, box_id, _) = app.owner().await;
    let page = invite(&mut Browser::of(&app, owner).await, box_id, "eve@example.org", "viewer").await;
    let path = fresh_link(&app, &page);
    assert_eq!(accept(&mut Browser::new(&app), &path, PASSWORD).await.status, 303);
    // Nobody vouches for the address, so an invitation by somebody else waits.
    let other = app.user("other@example.org").await;
    let their_box = app.box_of(other).await;
    invite(&mut Browser::of(&app, other).await, their_box, "eve@example.org", "admin").await;
    assert_eq!(role_of(&app, their_box, "eve@example.org").await, None);
    let data = app.folder.path();
    let confirmed = || {
        let users = commands::json(data, &["user", "list"]);
        users.as_array().unwrap().iter().find(|user| user["email"] == "eve@example.org").unwrap()["confirmed"]
            .clone()
    };
    assert_eq!(confirmed(), false);
    commands::json(data, &["user", "confirm", "eve@example.org"]);
    assert_eq!(confirmed(), true);
    assert_eq!(role_of(&app, their_box, "eve@example.org").await, Some(Role::Admin), "what waited holds");
    let right = [("email", "eve@example.org"), ("password", PASSWORD)];
    app.guessed_at(&[Subject::From(email("eve@example.org"), "127.0.0.1".into())]).await;
    assert_eq!(Browser::new(&app).post("/sign-in", &right).await.status, 429);
    commands::json(data, &["user", "unlock", "eve@example.org"]);
    assert_eq!(Browser::new(&app).post("/sign-in", &right).await.status, 303);
}

#[tokio::test]
async fn a_password_that_everybody_tries_first_is_refused() {
    let app = TestApp::start().await;
    let link = server::dashboard::set_up_link(&*app.catalog, "", None).await.unwrap().unwrap();
    let token = link.split('=').nth(1).unwrap();
    let mut browser = Browser::new(&app);
    for password in ["password1234", "ada.lovelace@example.org"] {
        let fields = [("token", token), ("email", "ada.lovelace@example.org"), ("password", password)];
        let page = browser.post("/welcome", &fields).await;
        assert!(page.status == 400 && page.text.contains("first that others would try"), "{page:?}");
    }
}

#[tokio::test]
async fn a_letter_that_only_looks_like_another_names_nobody() {
    let app = TestApp::start().await;
    app.person("kim@example.org").await;
    let mut browser = Browser::new(&app);
    let fields = [("email", "\u{212A}im@example.org"), ("password", PASSWORD)];
    assert_eq!(browser.post("/sign-in", &fields).await.status, 401, "the Kelvin sign is no k");
    let fields = [("email", "KIM@Example.org"), ("password", PASSWORD)];
    assert_eq!(browser.post("/sign-in", &fields).await.status, 303);
}
