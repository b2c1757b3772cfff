//! Signed download links.

use engine::{access::Role, apikey::ApiKey};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::support::{Answer, TestApp};

const BYTES: &[u8] = b"0123456789 an original of some length";

async fn linked(app: &TestApp) -> (engine::ids::UserId, engine::ids::BoxId, String, String, String) {
    let (owner, box_id, key) = app.owner().await;
    let answer = app.upload(box_id, &key, "häng \"it\".txt", BYTES, &[]).await;
    let id = answer.body["data"]["fileId"].as_str().unwrap().to_string();
    let link = app.get(&format!("/files/{id}/signed-url"), &key).await;
    let url = link.body["data"]["signedUrl"].as_str().unwrap().to_string();
    (owner, box_id, key, id, url)
}

#[tokio::test]
async fn a_link_works_without_a_header_and_with_ranges() {
    let app = TestApp::start().await;
    let (.., url) = linked(&app).await;
    let whole = app.client.get(&url).send().await.unwrap();
    assert_eq!(whole.status(), StatusCode::OK);
    let headers = whole.headers().clone();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(headers[name], value);
    }
    assert!(headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename="));
    assert!(headers.contains_key("x-request-id") && headers.contains_key("x-ratelimit-hits"));
    assert_eq!(whole.bytes().await.unwrap(), BYTES);
    for (range, expected, content_range) in [
        ("bytes=0-9", &BYTES[..10], "bytes 0-9/37"),
        ("bytes=10-", &BYTES[10..], "bytes 10-36/37"),
        ("bytes=-6", &BYTES[31..], "bytes 31-36/37"),
    ] {
        let part = app.client.get(&url).header("range", range).send().await.unwrap();
        assert_eq!(
            (part.status(), part.headers()["content-range"].to_str().unwrap()),
            (StatusCode::PARTIAL_CONTENT, content_range)
        );
        assert_eq!(part.bytes().await.unwrap(), expected);
    }
    let outside = Answer::of(app.client.get(&url).header("range", "bytes=99-").send().await.unwrap()).await;
    assert_eq!((outside.status, outside.header("content-range")), (416, "bytes */37"));
    assert_eq!(outside.body["success"], false);
    let tag = headers["etag"].to_str().unwrap();
    let same = app.client.get(&url).header("if-none-match", tag).send().await.unwrap();
    assert_eq!(same.status(), StatusCode::NOT_MODIFIED);
    let head = app.client.head(&url).send().await.unwrap();
    assert_eq!((head.status(), head.headers()["content-length"].to_str().unwrap()), (StatusCode::OK, "37"));
}

#[tokio::test]
async fn all_three_ways_give_a_link() {
    let app = TestApp::start().await;
    let (_, _, key, id, _) = linked(&app).await;
    for answer in [
        app.get(&format!("/files/{id}/signed-url?expires_in=60&disposition=inline"), &key).await,
        app.get(&format!("/signed-url?file_id={id}&expires_in=60&disposition=inline"), &key).await,
        app.post("/signed-url", &key, json!({"file_id": id, "expires_in": 60, "disposition": "inline"}))
            .await,
    ] {
        let data = &answer.body["data"];
        assert_eq!(
            (&data["expiresIn"], &data["size"], &data["fileId"]),
            (&json!(60), &json!(37), &json!(id)),
            "{answer:?}"
        );
        assert_eq!(data["url"], data["signedUrl"]);
        let response = app.client.get(data["url"].as_str().unwrap()).send().await.unwrap();
        assert!(response.headers()["content-disposition"].to_str().unwrap().starts_with("inline"));
    }
    for (body, verdict) in [
        (json!({}), "400 B1004 missing_parameter"),
        (json!({"file_id": id, "expires_in": 59}), "400 B1004 invalid_parameter"),
        (json!({"file_id": id, "expires_in": 3601}), "400 B1004 invalid_parameter"),
        (json!({"file_id": id, "expires_in": "soon"}), "400 B1004 invalid_parameter"),
        (json!({"file_id": id, "expires_in": -5}), "400 B1004 invalid_parameter"),
        (json!({"file_id": id, "disposition": "upside down"}), "400 B1004 invalid_parameter"),
        (json!({"file_id": "fil_x"}), "404 B1004 not_found"),
    ] {
        assert_eq!(app.post("/signed-url", &key, body.clone()).await.verdict(), verdict, "{body}");
    }
}

#[tokio::test]
async fn any_changed_byte_kills_a_link() {
    let app = TestApp::start().await;
    let (.., url) = linked(&app).await;
    let (base, token) = url.rsplit_once('/').unwrap();
    for at in (0..token.len()).step_by(5).chain([token.len() - 1]) {
        let mut changed = token.as_bytes().to_vec();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = format!("{base}/{}", String::from_utf8(changed).unwrap());
        let answer = Answer::of(app.client.get(changed).send().await.unwrap()).await;
        answer.must_be_well_formed();
        assert_eq!(answer.verdict(), "403 B3002 key_scope", "byte {at}");
    }
}

#[tokio::test]
async fn a_link_dies_with_the_key_and_the_role() {
    let app = TestApp::start().await;
    let (owner, box_id, key, id, url) = linked(&app).await;
    let other_key = app.key(owner).await;
    let other = app.get(&format!("/files/{id}/signed-url"), &other_key).await;
    let other = other.body["data"]["url"].as_str().unwrap().to_string();
    let fetch = async |url: &str| {
        let response = app.client.get(url).send().await.unwrap();
        if response.status().is_success() { "ok".to_string() } else { Answer::of(response).await.verdict() }
    };
    assert_eq!(fetch(&url).await, "ok");
    app.catalog.revoke_key(ApiKey::parse(&key).unwrap().prefix()).await.unwrap();
    assert_eq!(fetch(&url).await, "403 B3002 key_scope");
    assert_eq!(fetch(&other).await, "ok", "another key's link lives on");
    let second = app.user("second@example.org").await;
    app.grant(box_id, second, Role::Owner).await;
    app.grant(box_id, owner, Role::Viewer).await;
    assert_eq!(fetch(&other).await, "403 B3002 key_scope");
    app.grant(box_id, owner, Role::Admin).await;
    assert_eq!(fetch(&other).await, "ok");
    let gone = app.request(Method::DELETE, &format!("/files/{id}"), Some(&other_key)).send().await.unwrap();
    assert!(gone.status().is_success());
    assert_eq!(fetch(&other).await, "404 B1004 not_found");
}
