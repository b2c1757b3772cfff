//! What people do in the dashboard, from the first box to the last owner.

use engine::access::{Role, Writing};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, between};
use crate::{chat::papers, support::TestApp};

#[tokio::test]
async fn a_box_is_made_renamed_and_deleted_by_its_typed_name() {
    let app = TestApp::start().await;
    let ada = app.user("ada@example.org").await;
    let mut browser = Browser::of(&app, ada).await;
    let page = browser.post("/boxes", &[("name", "Contracts & more")]).await;
    let path = page.location().to_string();
    assert!(browser.get("/").await.text.contains("Contracts &#38; more"));
    browser.post(&format!("{path}/rename"), &[("name", "Letters")]).await;
    assert!(browser.get(&path).await.text.contains("Letters"));
    let page = browser.post(&format!("{path}/delete"), &[("confirm", "letters")]).await;
    assert_eq!(page.status, 400, "the name as it is, not nearly");
    assert_eq!(app.catalog.boxes().await.unwrap().len(), 1);
    let page = browser.post(&format!("{path}/delete"), &[("confirm", "Letters")]).await;
    assert_eq!(page.location(), "/?done=box-deleted");
    assert!(app.catalog.boxes().await.unwrap().is_empty());
}

async fn upload(browser: &mut Browser, box_id: impl std::fmt::Display, name: &str, text: &str) -> Value {
    let token = browser.csrf().await;
    let part = reqwest::multipart::Part::bytes(text.as_bytes().to_vec()).file_name(name.to_string());
    let form = reqwest::multipart::Form::new().part("file", part);
    let request = browser.request(Method::POST, &format!("/boxes/{box_id}/files"));
    let request = request.header("x-csrf-token", token).header("x-quire-script", "1").multipart(form);
    let page = browser.send(request).await;
    assert_eq!(page.status, 200, "{page:?}");
    serde_json::from_str(&page.text).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_uploads_and_a_viewer_searches_and_pays() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let (_, mut editor) = app.member(box_id, "editor@example.org", Role::Editor).await;
    let (viewer, mut browser) = app.member(box_id, "viewer@example.org", Role::Viewer).await;
    let text = "# Warranty\n\nThe warranty lasts two years.\n\nRepairs are made in Lyon.";
    let file = upload(&mut editor, box_id, "warranty.md", text).await;
    let id = file["id"].as_str().unwrap().to_string();
    assert_eq!(upload(&mut editor, box_id, "again.md", text).await["known"], true);
    app.settled(&key, &id).await;
    let page = browser.get(&format!("/boxes/{box_id}")).await;
    assert!(page.text.contains("warranty.md") && !page.text.contains("Drop files"), "{page:?}");
    let page = browser
        .post(&format!("/boxes/{box_id}/search"), &[("query", "how long is the warranty?"), ("rerank", "1")])
        .await;
    assert!(page.status == 200 && page.text.contains("<mark>warranty</mark>"), "{page:?}");
    assert!(page.text.contains("Copy as curl") && page.text.contains("Why this rank"));
    let month = engine::seams::catalog::Month::of(jiff::Timestamp::now());
    let lines = app.catalog.usage(viewer, month).await.unwrap();
    assert_eq!((lines.len(), lines[0].key.as_str()), (1, "dashboard"));
    assert!(lines[0].units >= 1);
    let page = browser.get("/account/usage").await;
    assert!(page.text.contains("Dashboard") && page.text.contains("<svg"), "{page:?}");
    // Page by page, with a quote marked.
    let page = browser.get(&format!("/boxes/{box_id}/files/{id}?page=1&start=2&end=10")).await;
    assert!(page.text.contains("<mark data-quote>Warranty</mark>"), "{page:?}");
    let page = browser.get(&format!("/boxes/{box_id}/files/{id}/report")).await;
    assert!(page.text.contains("Characters") && page.text.contains("Read"), "{page:?}");
    let page = browser.get(&format!("/boxes/{box_id}/files/{id}/download")).await;
    assert_eq!(page.text, text);
    // Deleting gives a receipt.
    let page = editor.post_and_look(&format!("/boxes/{box_id}/files/{id}/delete"), &[]).await;
    assert!(page.text.contains("1 file deleted.") && page.text.contains("1 page"), "{page:?}");
    let page = editor.get(&format!("/boxes/{box_id}")).await;
    assert!(!page.text.contains("deleted."), "what was said is said once: {page:?}");
    assert_eq!(browser.get(&format!("/boxes/{box_id}/files/{id}")).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_asks_and_the_answer_cites() {
    let app = TestApp::start().await;
    let (box_id, ..) = papers(&app).await;
    let (viewer, mut browser) = app.member(box_id, "viewer@example.org", Role::Viewer).await;
    let token = browser.csrf().await;
    let body =
        json!({"messages": [{"role": "user", "content": "How long does the warranty of the machine last?"}]});
    let request = browser.request(Method::POST, &format!("/boxes/{box_id}/chat"));
    let page =
        browser.send(request.header("x-csrf-token", &token).header("x-quire-script", "1").json(&body)).await;
    let answer: Value = serde_json::from_str(&page.text).unwrap();
    assert_eq!(answer["citations"][0]["fileName"], "warranty.md", "{answer}");
    // With nothing left, it says so, in the shape that the page's script reads.
    app.catalog.set_user_units(viewer, 0).await.unwrap();
    let request = browser.request(Method::POST, &format!("/boxes/{box_id}/chat"));
    let page =
        browser.send(request.header("x-csrf-token", token).header("x-quire-script", "1").json(&body)).await;
    assert_eq!(page.status, 402, "{page:?}");
    assert!(page.text.contains("units_exhausted"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_are_kept_for_whoever_had_them_and_go_with_what_they_cite() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let file = app.text_file(box_id, &key, "warranty.txt", "The warranty lasts two years.").await;
    let mut browser = Browser::of(&app, owner).await;
    let (_, mut other) = app.member(box_id, "viewer@example.org", Role::Viewer).await;
    let keep = async |browser: &mut Browser, body: Value| {
        let token = browser.csrf().await;
        let request = browser.request(Method::POST, &format!("/boxes/{box_id}/conversations"));
        let request = request.header("x-csrf-token", token).header("x-quire-script", "1").json(&body);
        browser.send(request).await
    };
    let turn = |conversation: Option<&str>, question: &str| {
        json!({"conversation": conversation, "question": question, "answer": "Two <b>years</b> [1].",
            "citations": [{"index": 1, "fileId": file, "fileName": "warranty.txt", "page": 1, "start": 0, "end": 12,
                "quote": "The warranty"}]})
    };
    let page = keep(&mut browser, turn(None, "How long?")).await;
    let id = serde_json::from_str::<Value>(&page.text).unwrap()["id"].as_str().unwrap().to_string();
    assert_eq!(keep(&mut browser, turn(Some(&id), "Really?")).await.status, 200);
    let path = format!("/boxes/{box_id}/chat/{id}");
    let page = browser.get(&path).await;
    assert!(page.text.contains("Really?") && page.text.contains("Two &#60;b&#62;years"), "{page:?}");
    assert!(page.text.contains("No language model is set up"), "{page:?}");
    // Nobody else sees, continues, renames or deletes it, and no file of elsewhere can be cited.
    assert_eq!(other.get(&path).await.status, 404);
    assert_eq!(keep(&mut other, turn(Some(&id), "Mine?")).await.status, 404);
    for action in ["rename", "delete"] {
        let path = format!("/boxes/{box_id}/conversations/{id}/{action}");
        assert_eq!(other.post(&path, &[("title", "mine")]).await.status, 404, "{action}");
    }
    let eve = app.user("eve@example.org").await;
    let (elsewhere, mut hers) = (app.box_of(eve).await, Browser::of(&app, eve).await);
    let token = hers.csrf().await;
    let request = hers.request(Method::POST, &format!("/boxes/{elsewhere}/conversations"));
    let request = request.header("x-csrf-token", token).header("x-quire-script", "1");
    let page = hers.send(request.json(&turn(None, "Theirs?"))).await;
    assert_eq!(page.status, 404, "{page:?}");
    browser.post(&format!("/boxes/{box_id}/conversations/{id}/rename"), &[("title", "Warranty")]).await;
    assert!(browser.get(&path).await.text.contains("<h2 dir=\"auto\">Warranty</h2>"));
    // Shared, it can be read in the box as it was then, by nobody outside it, and changed by nobody.
    let (action, link) =
        (format!("/boxes/{box_id}/conversations/{id}"), format!("/boxes/{box_id}/shared/{id}"));
    assert_eq!(other.get(&link).await.status, 404);
    for act in ["share", "unshare"] {
        assert_eq!(other.post(&format!("{action}/{act}"), &[]).await.status, 404, "{act}");
    }
    let page = browser.post_and_look(&format!("{action}/share"), &[]).await;
    assert!(page.text.contains(&link) && page.text.contains("Stop sharing"), "{page:?}");
    keep(&mut browser, turn(Some(&id), "Between us?")).await;
    let page = other.get(&link).await;
    assert!(page.text.contains("Really?") && page.text.contains("owner@example.org"), "{page:?}");
    assert!(!page.text.contains("Between us?") && !page.text.contains("data-ask"), "{page:?}");
    assert_eq!(other.get(&path).await.status, 404, "still not theirs");
    assert_eq!(hers.get(&link).await.status, 403, "not of the box");
    assert_eq!(hers.get(&format!("/boxes/{elsewhere}/shared/{id}")).await.status, 404, "not of another box");
    // What a browser says that it cites is taken apart before others see it.
    let mut forged = turn(Some(&id), "Forged?");
    forged["citations"][0]["page"] = json!("1/../../../evil");
    assert_eq!(keep(&mut browser, forged).await.status, 400);
    // What is cited goes, and so does the answer.
    browser.post(&format!("/boxes/{box_id}/files/{file}/delete"), &[]).await;
    for page in [browser.get(&path).await, other.get(&link).await] {
        assert!(page.text.contains("Really?") && !page.text.contains("Two &#60;b"), "{page:?}");
    }
    browser.post(&format!("{action}/unshare"), &[]).await;
    assert_eq!(other.get(&link).await.status, 404);
    let page = browser.post(&format!("/boxes/{box_id}/conversations/{id}/delete"), &[]).await;
    assert!(page.location().ends_with("done=conversation-deleted"), "{page:?}");
    assert_eq!(browser.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_files_are_labelled_read_again_and_deleted_at_once() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let one = app.text_file(box_id, &key, "one.txt", "The first text.").await;
    let two = app.text_file(box_id, &key, "two.txt", "The second text.").await;
    let mut browser = Browser::of(&app, owner).await;
    let path = format!("/boxes/{box_id}/files/selected");
    let both = [("file", one.as_str()), ("file", two.as_str())];
    let with = |more: &[(&'static str, &'static str)]| [&both[..], more].concat();
    browser.post(&path, &with(&[("action", "tag"), ("tags", "a, b")])).await;
    let page = browser.get(&format!("/boxes/{box_id}?tag=b")).await;
    assert!(page.text.contains("one.txt") && page.text.contains("two.txt"));
    browser.post(&path, &with(&[("action", "read-again")])).await;
    for id in [&one, &two] {
        assert_eq!(app.settled(&key, id).await["status"], "ready");
    }
    assert_eq!(browser.post(&path, &with(&[("action", "nonsense")])).await.status, 400);
    assert_eq!(browser.post(&path, &[("action", "delete")]).await.status, 400, "nothing is selected");
    let page = browser.post(&path, &with(&[("action", "tag"), ("tags", " ")])).await;
    assert_eq!(page.status, 400, "no labels");
    let page = browser.post(&path, &with(&[("action", "read-again"), ("back", "sort=-name&evil=1")])).await;
    assert_eq!(page.location(), format!("/boxes/{box_id}?sort=-name"), "back to the list as it was");
    assert!(browser.get(page.location()).await.text.contains("2 files are being processed again."));
    let bad =
        app.upload(box_id, &key, "bad.pdf", b"%PDF-1.7 not really", &[]).await.body["data"]["fileId"].clone();
    let bad = bad.as_str().unwrap();
    assert_eq!(app.settled(&key, bad).await["status"], "failed");
    assert!(!browser.get(&format!("/boxes/{box_id}")).await.text.contains("retry-failed"));
    assert!(browser.get(&format!("/boxes/{box_id}?status=failed")).await.text.contains("retry-failed"));
    let page = browser.post_and_look(&format!("/boxes/{box_id}/files/retry-failed"), &[]).await;
    assert!(page.text.contains("1 file is being processed again."), "{page:?}");
    assert_eq!(app.settled(&key, bad).await["status"], "failed");
    browser.post(&format!("/boxes/{box_id}/files/{bad}/delete"), &[]).await;
    let page = browser.post_and_look(&path, &with(&[("action", "delete")])).await;
    assert!(page.text.contains("Receipt") && page.text.contains("one.txt"), "{page:?}");
    assert!(browser.get(&format!("/boxes/{box_id}")).await.text.contains("No files yet"));
    let page = browser.get(&format!("/boxes/{box_id}/audit")).await;
    assert_eq!(page.text.matches("File deleted").count(), 3, "{page:?}");
    assert_eq!(
        page.text.matches("API key test").count(),
        3,
        "what is done with a key is known too: {page:?}"
    );
}

#[tokio::test]
async fn the_last_owner_stays_and_a_box_is_handed_over() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let me = format!("/boxes/{box_id}/members/{owner}");
    assert_eq!(browser.post(&format!("{me}/remove"), &[]).await.status, 409);
    assert_eq!(browser.post(&format!("{me}/role"), &[("role", "admin")]).await.status, 409);
    let (eve, mut hers) = app.member(box_id, "eve@example.org", Role::Admin).await;
    // An admin makes no owner of herself, nor unmakes the one there is.
    let page = hers.post(&format!("/boxes/{box_id}/members/{eve}/role"), &[("role", "owner")]).await;
    assert_eq!(page.status, 403);
    assert_eq!(hers.post(&format!("{me}/remove"), &[]).await.status, 403);
    let page = hers
        .post(&format!("/boxes/{box_id}/members"), &[("email", "x@example.org"), ("role", "owner")])
        .await;
    assert_eq!(page.status, 403, "not by an invitation either");
    let fields = [("user", eve.to_string())];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let page = browser.post(&format!("/boxes/{box_id}/hand-over"), &fields).await;
    assert!(page.location().ends_with("done=handed-over"), "{page:?}");
    let members = app.catalog.members(Writing::for_operator(box_id).reading()).await.unwrap();
    let role = |user| members.iter().find(|member| member.user == user).map(|member| member.role);
    assert_eq!((role(owner), role(eve)), (Some(Role::Admin), Some(Role::Owner)));
    assert!(browser.post(&format!("/boxes/{box_id}/delete"), &[("confirm", "papers")]).await.is_refused());
}

#[tokio::test]
async fn a_key_is_shown_once_works_and_is_revoked() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let id = box_id.to_string();
    let fields = [("name", "ci"), ("days", "30"), ("scope", "some"), ("box", id.as_str())];
    assert_eq!(browser.post("/account/keys", &fields).await.status, 400, "it must be good for something");
    let may = [("permission", "search"), ("permission", "read")];
    let every = [("name", "ci"), ("scope", "all"), ("box", id.as_str()), ("permission", "read")];
    assert_eq!(
        browser.post("/account/keys", &every).await.status,
        400,
        "all boxes, or those that are ticked?"
    );
    let page = browser.post_and_look("/account/keys", &[&fields[..], &may[..]].concat()).await;
    let key = between(&page.text, "id=\"fresh-key\">", "<").to_string();
    assert_eq!(app.get(&format!("/boxes/{box_id}"), &key).await.status, 200);
    let page = browser.get("/account/keys").await;
    assert!(!page.text.contains(&key) && page.text.contains("papers"), "{page:?}");
    assert!(page.text.contains(">search, read</td>"), "{page:?}");
    assert_eq!(app.delete(&format!("/boxes/{box_id}"), &key).await.verdict(), "403 B3002 key_scope");
    let stored = app.catalog.keys(Some(owner)).await.unwrap().pop().unwrap();
    assert!(stored.expires_at.is_some() && stored.last_used_at.is_some());
    let prefix = key.split('_').nth(1).unwrap();
    // A key in a URL is marked.
    let exposed = app.request(Method::GET, &format!("/check?key={key}"), Some(&key)).send().await.unwrap();
    assert_eq!(exposed.status(), 200);
    assert!(browser.get("/account/keys").await.text.contains("inside a URL"));
    browser.post(&format!("/account/keys/{prefix}/revoke"), &[]).await;
    assert_eq!(app.get("/check", &key).await.status, 401);
    assert_eq!(browser.post("/account/keys", &[("name", "x"), ("scope", "some")]).await.status, 400);
}

#[tokio::test]
async fn a_key_for_a_web_site_is_made_and_listed_with_it() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let id = box_id.to_string();
    let sites = ("origins", "https://www.example.org\r\nhttp://localhost:3000");
    let search = ("permission", "search");
    for wrong in [
        &[("scope", "all"), search, sites][..],
        &[("scope", "some"), ("box", id.as_str()), search, ("permission", "read"), sites],
        &[("scope", "some"), ("box", id.as_str()), search, ("origins", "www.example.org")],
    ] {
        let page = browser.post("/account/keys", &[&[("name", "site")], wrong].concat()).await;
        assert_eq!(page.status, 400, "{wrong:?}: {page:?}");
    }
    let fields = [("name", "site"), ("scope", "some"), ("box", id.as_str()), search, sites];
    let page = browser.post_and_look("/account/keys", &fields).await;
    assert!(page.text.contains("on pages of http://localhost:3000 https://www.example.org"), "{page:?}");
    let page = browser.get("/account/integrations").await;
    let tag = format!("data-key=&#34;quire_…&#34; data-box=&#34;{box_id}&#34;");
    assert!(page.text.contains("/widget.js") && page.text.contains(&tag), "{page:?}");
}

#[tokio::test]
async fn operators_look_after_accounts_and_plans() {
    let app = TestApp::start().await;
    let operator = app.person("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    let mut browser = Browser::of(&app, operator).await;
    browser.post("/operator/plans", &[("name", "big"), ("units", "9000")]).await;
    let fields = [("email", "eve@example.org"), ("plan", "big")];
    let page = browser.post_and_look("/operator/users", &fields).await;
    let link = between(&page.text, "id=\"fresh-link\">", "<").to_string();
    let token = link.split('=').nth(1).unwrap();
    let mut guest = Browser::new(&app);
    guest.post("/welcome", &[("token", token), ("name", "Eve"), ("password", super::PASSWORD)]).await;
    let eve = app.catalog.user(&"eve@example.org".parse().unwrap()).await.unwrap();
    assert_eq!((eve.monthly_units, eve.operator), (Some(9000), false));
    assert_eq!(guest.get("/").await.status, 200);
    let change = format!("/operator/users/{}/change", eve.id);
    browser.post(&change, &[("plan", "standard")]).await;
    let eve = app.catalog.user(&eve.email).await.unwrap();
    assert!(eve.disabled && eve.plan.as_str() == "standard");
    assert!(guest.get("/").await.is_refused(), "switched off is signed out");
    browser.post(&change, &[("plan", "standard"), ("active", "1")]).await;
    let page = browser.post_and_look(&format!("/operator/users/{}/password-link", eve.id), &[]).await;
    let link = between(&page.text, "id=\"fresh-link\">", "<").to_string();
    let token = link.split('=').nth(1).unwrap();
    guest.post("/welcome", &[("token", token), ("password", "a new password")]).await;
    assert_eq!(guest.get("/").await.status, 200);
    // The last operator stays one.
    let me = format!("/operator/users/{operator}/change");
    assert_eq!(browser.post(&me, &[("plan", "standard"), ("active", "1")]).await.status, 409);
    let page = browser.get("/operator/system").await;
    assert!(page.text.contains("Embedder") && page.text.contains("Originals"), "{page:?}");
    let page = browser.get("/operator/health").await;
    for what in ["disk", "backup", "certificate", "clock", "queue", "originals", "leftovers", "limits"] {
        assert!(page.text.contains(&format!("<strong>{what}</strong>")), "{what}: {page:?}");
    }
    assert!(page.text.contains("quire backup DIR"), "what the doctor says of a missing backup: {page:?}");
    assert!(browser.get("/operator/audit").await.text.contains("Account disabled"));
}

#[tokio::test]
async fn the_audit_log_is_handed_out_as_csv_and_json() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    upload(&mut browser, box_id, "=cmd.txt", "words").await;
    let page = browser.get(&format!("/boxes/{box_id}/audit/export?format=csv")).await;
    assert!(page.header("content-disposition").contains("audit.csv"));
    assert!(
        page.text.contains("\"owner@example.org\",file_uploaded,\"'=cmd.txt\",\"127.0.0.1\""),
        "{page:?}"
    );
    let page = browser.get(&format!("/boxes/{box_id}/audit/export?format=json")).await;
    let entries: Vec<Value> = serde_json::from_str(&page.text).unwrap();
    assert_eq!(entries[0]["action"], "audit_exported");
    assert_eq!(entries[1]["target"], "=cmd.txt");
}

#[tokio::test]
async fn members_leave_and_the_last_owner_does_not() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let (viewer, mut browser) = app.member(box_id, "viewer@example.org", Role::Viewer).await;
    let page = browser.post(&format!("/boxes/{box_id}/leave"), &[]).await;
    assert_eq!(page.location(), "/?done=left");
    assert!(browser.get(&format!("/boxes/{box_id}")).await.is_refused());
    let members = app.catalog.members(Writing::for_operator(box_id).reading()).await.unwrap();
    assert!(members.iter().all(|member| member.user != viewer));
    let mut browser = Browser::of(&app, owner).await;
    assert_eq!(browser.post(&format!("/boxes/{box_id}/leave"), &[]).await.status, 409);
    assert_eq!(browser.get(&format!("/boxes/{box_id}")).await.status, 200);
    let page = browser.get(&format!("/boxes/{box_id}/audit")).await;
    assert!(page.text.contains("viewer@example.org left"), "{page:?}");
}

#[tokio::test]
async fn our_script_is_told_where_to_go_and_what_is_wrong() {
    let app = TestApp::start().await;
    let (owner, ..) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let token = browser.csrf().await;
    let mut send = async |fields: &[(&str, &str)]| {
        let request = browser.request(Method::POST, "/boxes").header("x-csrf-token", &token);
        let kind = "application/x-www-form-urlencoded";
        let request = request.header("x-quire-script", "1").header("content-type", kind);
        browser.send(request.body(super::form(fields))).await
    };
    let page = send(&[("name", "Letters")]).await;
    let answer: Value = serde_json::from_str(&page.text).unwrap();
    assert!(page.status == 200 && answer["go"].as_str().unwrap().starts_with("/boxes/box_"), "{page:?}");
    let page = send(&[("name", "")]).await;
    let answer: Value = serde_json::from_str(&page.text).unwrap();
    assert_eq!((page.status, answer["error"]["param"].as_str()), (400, Some("name")), "{page:?}");
}

#[tokio::test]
async fn pages_are_compressed_unless_they_show_a_secret() {
    let app = TestApp::start().await;
    let (owner, ..) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let token = browser.csrf().await;
    let fields = [("csrf", token.as_str()), ("name", "ci"), ("permission", "read")];
    browser.post_as_is("/account/keys", &fields).await;
    // The page with the new key, then the same page without it.
    for expected in ["", "gzip"] {
        let request = browser.request(Method::GET, "/account/keys").header("accept-encoding", "gzip");
        let response = request.send().await.unwrap();
        assert_eq!(
            response.headers().get("content-encoding").map_or("", |value| value.to_str().unwrap()),
            expected
        );
        browser.said = None;
    }
    let page = browser.get("/docs").await;
    assert_eq!((page.header("vary"), page.header("content-encoding")), ("accept-encoding", ""));
}

#[tokio::test]
async fn searching_a_box_without_text_costs_nothing() {
    let app = TestApp::start().await;
    let (owner, box_id, _) = app.owner().await;
    let mut browser = Browser::of(&app, owner).await;
    let page = browser.post(&format!("/boxes/{box_id}/search"), &[("query", "anything")]).await;
    assert_eq!(page.status, 409, "{page:?}");
    assert!(page.text.contains("no text yet"), "{page:?}");
    let month = engine::seams::catalog::Month::of(jiff::Timestamp::now());
    assert!(app.catalog.usage(owner, month).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_playground_fills_in_only_boxes_that_the_visitor_can_use() {
    let app = TestApp::start().await;
    let (_, other, _) = app.owner().await;
    let (ada, mut browser) = app.member(other, "ada@example.org", Role::Viewer).await;
    let page = browser.get(&format!("/account/playground?box={other}")).await;
    assert!(page.text.contains("/boxes/BOX_ID/retrieve-documents"), "{page:?}");
    let own = app.box_of(ada).await;
    let page = browser.get(&format!("/account/playground?box={other}&operation=complete_chat")).await;
    assert!(page.text.contains(&own.to_string()) && !page.text.contains(&other.to_string()), "{page:?}");
    assert!(page.text.contains("data-trial=\"POST\"") && page.text.contains("messages"), "{page:?}");
    let page = browser.get("/account/playground?operation=nonsense").await;
    assert_eq!(page.status, 200, "an unknown request is the first one: {page:?}");
}

#[tokio::test]
async fn set_ups_name_the_server_and_only_boxes_that_the_visitor_can_use() {
    let app = TestApp::start().await;
    let (_, other, key) = app.owner().await;
    let (ada, mut browser) = app.member(other, "ada@example.org", Role::Viewer).await;
    let page = browser.get(&format!("/account/integrations?box={other}")).await;
    assert!(page.text.contains("BOX_ID") && !page.text.contains(&other.to_string()), "{page:?}");
    let own = app.box_of(ada).await;
    let page = browser.get(&format!("/account/integrations?box={other}")).await;
    assert!(page.text.contains(&own.to_string()) && !page.text.contains(&other.to_string()), "{page:?}");
    assert!(page.text.contains(&format!("{}/mcp", app.url(""))), "{page:?}");
    assert!(!page.text.contains(&key) && page.text.contains("quire_…"), "{page:?}");
}
