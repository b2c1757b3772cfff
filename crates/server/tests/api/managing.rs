//! Boxes, members and keys over the API: what the dashboard does, with a key.

use engine::{
    access::{Managing, Operating, Role},
    apikey::ApiKey,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp, roomy};

/// The last lines of a box's audit log: who, what, to what; latest first.
async fn lines(app: &TestApp, box_id: &str) -> Vec<(String, String, String)> {
    let managing = Managing::for_operator(box_id.parse().unwrap());
    let page = app.catalog.audit_of_box(&managing, None, 20).await.unwrap();
    page.entries.into_iter().map(|line| (line.who, line.action.as_str().into(), line.target)).collect()
}

async fn with_idempotency(app: &TestApp, path: &str, key: &str, name: &str, body: &Value) -> Answer {
    let request = app.request(Method::POST, path, Some(key)).header("idempotency-key", name).json(body);
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_is_founded_renamed_filled_and_deleted_with_a_receipt() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let made = app.post("/boxes", &key, json!({"name": " Manuals ", "colour": "red"})).await;
    made.must_be_well_formed();
    assert_eq!(made.status, 201, "{made:?}");
    let data = &made.body["data"];
    assert_eq!(
        (&data["name"], &data["role"], &data["files"]),
        (&json!("Manuals"), &json!("owner"), &json!(0))
    );
    assert!(data["warnings"][0].as_str().unwrap().contains("colour"), "{made:?}");
    let id = data["boxId"].as_str().unwrap().to_string();
    let path = format!("/boxes/{id}");
    app.text_file(id.parse().unwrap(), &key, "a.txt", "Some text.").await;
    let renamed = app.send(Method::PATCH, &path, &key, json!({"name": "Handbooks"})).await;
    assert_eq!((renamed.status, &renamed.body["data"]["name"]), (200, &json!("Handbooks")), "{renamed:?}");
    assert_eq!(renamed.body["data"]["files"], 1);
    let wrong = app.send(Method::PATCH, &path, &key, json!({"name": " "})).await;
    assert_eq!((wrong.status, &wrong.body["error"]["param"]), (400, &json!("name")), "{wrong:?}");
    let log = lines(&app, &id).await;
    assert_eq!(log[0].1, "box_renamed");
    assert_eq!(log[0].2, "Manuals to Handbooks");
    assert!(log[0].0.starts_with("API key test ("), "{log:?}");
    assert_eq!(log.last().unwrap().1, "box_made");
    let receipt = app.delete(&path, &key).await;
    receipt.must_be_well_formed();
    let removed = &receipt.body["data"]["removed"];
    assert_eq!((&removed["files"], &removed["pages"], &removed["bytes"]), (&json!(1), &json!(1), &json!(10)));
    assert_eq!(app.get(&path, &key).await.verdict(), "403 B3002 box_unknown");
    assert_eq!(app.delete(&path, &key).await.verdict(), "403 B3002 box_unknown");
    let all = app.catalog.audit_of_all(&Operating::for_operator(), None, 5).await.unwrap();
    assert!(
        all.entries.iter().any(|line| line.action.as_str() == "box_deleted" && line.target == "Handbooks")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_founds_no_second_box_and_a_bound_is_named() {
    let mut config = roomy();
    config.bounds.boxes = 2;
    let app = TestApp::with(config).await;
    let (_, _, key) = app.owner().await;
    let body = json!({"name": "Once"});
    let first = with_idempotency(&app, "/boxes", &key, "one", &body).await;
    let again = with_idempotency(&app, "/boxes", &key, "one", &body).await;
    assert_eq!((first.status, again.status), (201, 201), "{again:?}");
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(first.body["data"]["boxId"], again.body["data"]["boxId"]);
    assert_eq!(app.get("/boxes", &key).await.body["data"]["total"], 2);
    let third = app.post("/boxes", &key, json!({"name": "Third"})).await;
    assert_eq!(third.verdict(), "409 B1004 quota_exceeded");
    assert!(third.body["error"]["cause"].as_str().unwrap().contains("boxes = 2"), "{third:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_are_added_changed_and_removed_by_their_address() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let (eve, eves) = {
        let eve = app.user("eve@example.org").await;
        (eve, app.key(eve).await)
    };
    let path = format!("/boxes/{box_id}/members");
    let added = app.post(&path, &key, json!({"email": "Eve@example.org", "role": "admin"})).await;
    added.must_be_well_formed();
    assert_eq!((added.status, &added.body["data"]["status"]), (201, &json!("member")), "{added:?}");
    assert_eq!(app.get(&format!("/boxes/{box_id}"), &eves).await.verdict(), "200 ok");
    let twice = app.post(&path, &key, json!({"email": "eve@example.org", "role": "viewer"})).await;
    assert_eq!(twice.verdict(), "409 B1004 invalid_parameter");
    // An admin manages, but neither makes owners nor deletes.
    let own =
        app.send(Method::PATCH, &format!("{path}/eve@example.org"), &eves, json!({"role": "owner"})).await;
    assert_eq!(own.verdict(), "403 B3002 role_insufficient");
    assert_eq!(
        app.delete(&format!("{path}/owner@example.org"), &eves).await.verdict(),
        "403 B3002 role_insufficient"
    );
    assert_eq!(app.delete(&format!("/boxes/{box_id}"), &eves).await.verdict(), "403 B3002 role_insufficient");
    let changed =
        app.send(Method::PATCH, &format!("{path}/EVE%40example.org"), &key, json!({"role": "viewer"})).await;
    assert_eq!((changed.status, &changed.body["data"]["role"]), (200, &json!("viewer")), "{changed:?}");
    assert_eq!(app.get(&format!("/boxes/{box_id}"), &eves).await.verdict(), "403 B3002 role_insufficient");
    let listed = app.get(&path, &key).await.body["data"]["members"].clone();
    let emails: Vec<_> = listed.as_array().unwrap().iter().map(|m| m["email"].as_str().unwrap()).collect();
    assert_eq!(emails, ["eve@example.org", "owner@example.org"]);
    assert_eq!(app.delete(&format!("{path}/eve@example.org"), &key).await.verdict(), "200 ok");
    assert!(
        !app.catalog
            .members(Managing::for_operator(box_id).reading())
            .await
            .unwrap()
            .iter()
            .any(|m| m.user == eve)
    );
    assert_eq!(app.delete(&format!("{path}/eve@example.org"), &key).await.verdict(), "404 B1004 not_found");
    // The last owner stays.
    let last = app.delete(&format!("{path}/owner@example.org"), &key).await;
    assert_eq!(last.verdict(), "409 B1004 invalid_parameter");
    let log: Vec<_> = lines(&app, &box_id.to_string()).await.into_iter().map(|(_, what, _)| what).collect();
    assert_eq!(log, ["member_removed", "member_changed", "member_added"]);
    for (body, param) in [
        (json!({"email": "x@example.org", "role": "king"}), "role"),
        (json!({"email": "nobody", "role": "viewer"}), "email"),
        (json!({"email": "x@example.org"}), "role"),
    ] {
        let wrong = app.post(&path, &key, body).await;
        assert_eq!((wrong.status, wrong.body["error"]["param"].as_str()), (400, Some(param)), "{wrong:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_without_an_account_is_invited_and_the_invitation_can_be_taken_back() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    app.catalog.set_user_operator(owner, true).await.unwrap();
    let path = format!("/boxes/{box_id}/members");
    let body = json!({"email": "new@example.org", "role": "editor"});
    let invited = with_idempotency(&app, &path, &key, "invite", &body).await;
    assert_eq!((invited.status, &invited.body["data"]["status"]), (201, &json!("invited")), "{invited:?}");
    let link = invited.body["data"]["link"].as_str().unwrap();
    assert!(link.contains("/welcome?token="), "{invited:?}");
    // What lets somebody in is stored nowhere, so a retry cannot show it.
    let again = with_idempotency(&app, &path, &key, "invite", &body).await;
    assert_eq!((again.status, &again.body["data"]["link"]), (201, &Value::Null), "{again:?}");
    let listed = app.get(&path, &key).await;
    assert_eq!(listed.body["data"]["members"][1]["status"], "invited");
    let one = format!("{path}/new@example.org");
    let changed = app.send(Method::PATCH, &one, &key, json!({"role": "viewer"})).await;
    assert_eq!(changed.verdict(), "409 B1004 invalid_parameter");
    assert_eq!(app.delete(&one, &key).await.verdict(), "200 ok");
    assert_eq!(app.get(&path, &key).await.body["data"]["total"], 1);
    assert_eq!(app.delete(&one, &key).await.verdict(), "404 B1004 not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_made_shown_once_used_listed_and_revoked() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let body = json!({"name": "Web page", "boxes": [box_id.to_string()], "permissions": ["search"],
                      "expiresAt": "2099-01-01T00:00:00Z"});
    let made = with_idempotency(&app, "/keys", &key, "web", &body).await;
    made.must_be_well_formed();
    assert_eq!(made.status, 201, "{made:?}");
    let web = made.body["data"]["key"].as_str().unwrap().to_string();
    let again = with_idempotency(&app, "/keys", &key, "web", &body).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(
        (&again.body["data"]["key"], &again.body["data"]["prefix"]),
        (&Value::Null, &made.body["data"]["prefix"])
    );
    assert_eq!(app.catalog.keys(Some(owner)).await.unwrap().len(), 2, "a retry makes no second key");
    let search = format!("/boxes/{box_id}/retrieve-documents");
    assert_eq!(app.post(&search, &web, json!({"query": "x"})).await.verdict(), "200 ok");
    assert_eq!(app.get(&format!("/boxes/{box_id}/files"), &web).await.verdict(), "403 B3002 key_scope");
    assert_eq!(app.get("/check", &web).await.body["data"]["key"]["permissions"], json!(["search"]));
    let listed = app.get("/keys", &key).await;
    let first = &listed.body["data"]["keys"][0];
    assert_eq!(
        (&first["name"], &first["permissions"], &first["state"]),
        (&json!("Web page"), &json!(["search"]), &json!("active"))
    );
    assert_eq!(first["boxes"], json!([box_id.to_string()]));
    assert!(first["lastUsedAt"].is_string());
    assert!(!listed.body.to_string().contains(&web[15..]), "a secret is listed");
    let usual = app.post("/keys", &key, json!({"name": "usual"})).await;
    assert_eq!(usual.body["data"]["permissions"], json!(["search", "read", "write"]));
    assert_eq!(
        (&usual.body["data"]["boxes"], &usual.body["data"]["expiresAt"]),
        (&Value::Null, &Value::Null)
    );
    let prefix = ApiKey::parse(&web).unwrap().prefix().to_string();
    assert_eq!(app.delete(&format!("/keys/{prefix}"), &key).await.verdict(), "200 ok");
    assert_eq!(app.get("/check", &web).await.verdict(), "401 B3002 key_revoked");
    let log = app.catalog.audit_of_all(&Operating::for_operator(), None, 10).await.unwrap();
    let revoked = log.entries.iter().find(|line| line.action.as_str() == "key_revoked").unwrap();
    assert_eq!(revoked.target, format!("Web page ({prefix}): search"));
    for (body, param) in [
        (json!({}), "name"),
        (json!({"name": "x", "permissions": ["fly"]}), "permissions"),
        (json!({"name": "x", "permissions": []}), "permissions"),
        (json!({"name": "x", "boxes": []}), "boxes"),
        (json!({"name": "x", "boxes": ["papers"]}), "boxes"),
        (json!({"name": "x", "expiresAt": "soon"}), "expiresAt"),
        (json!({"name": "x", "expiresAt": "2001-01-01T00:00:00Z"}), "expiresAt"),
    ] {
        let wrong = app.post("/keys", &key, body).await;
        assert_eq!((wrong.status, wrong.body["error"]["param"].as_str()), (400, Some(param)), "{wrong:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_further_with_a_key_than_the_key_that_made_it() {
    let app = TestApp::start().await;
    let (owner, mine, _) = app.owner().await;
    let other = app.box_of(owner).await;
    let eve = app.user("eve@example.org").await;
    let (eves_box, eves) = (app.box_of(eve).await, app.key(eve).await);
    let manager = app.key_for(owner, "search,manage").await;
    let refused = app.post("/keys", &manager, json!({"name": "x", "permissions": ["write"]})).await;
    assert_eq!(refused.verdict(), "403 B3002 key_scope");
    let restricted = app.key_with(owner, None, Some(vec![mine])).await;
    for body in [
        json!({"name": "x", "boxes": [other.to_string()]}),
        json!({"name": "x", "boxes": [eves_box.to_string()]}),
    ] {
        assert_eq!(app.post("/keys", &restricted, body).await.verdict(), "403 B3002 key_scope");
    }
    let own = app.post("/keys", &restricted, json!({"name": "x"})).await;
    assert_eq!(own.body["data"]["boxes"], json!([mine.to_string()]));
    assert_eq!(app.post("/boxes", &restricted, json!({"name": "x"})).await.verdict(), "403 B3002 key_scope");
    let listed = app.get("/keys", &restricted).await;
    assert_eq!(listed.body["data"]["total"], 2, "itself and what it made: {listed:?}");
    for (key, target) in [(&restricted, &manager), (&eves, &manager)] {
        let prefix = ApiKey::parse(target).unwrap().prefix().to_string();
        assert_eq!(app.delete(&format!("/keys/{prefix}"), key).await.verdict(), "404 B1004 not_found");
    }
    assert_eq!(app.get("/check", &manager).await.status, 200);
    let foreign = app.post("/keys", &manager, json!({"name": "x", "boxes": [eves_box.to_string()]})).await;
    assert_eq!(foreign.verdict(), "404 B1004 not_found");
    app.grant(mine, eve, Role::Viewer).await;
    let members = format!("/boxes/{mine}/members");
    assert_eq!(app.get(&members, &eves).await.verdict(), "403 B3002 role_insufficient");
}
