//! Keys: what changes takes effect on the very next request.

use engine::{
    access::{Managing, Owning, Role},
    apikey::ApiKey,
};
use jiff::Timestamp;

use crate::support::TestApp;

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
