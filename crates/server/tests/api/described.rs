//! Files that come as JSON: as text, as Markdown, or by their address.

use std::net::SocketAddr;

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, TestApp, roomy};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_and_markdown_become_files_that_are_found() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/files");
    let body = json!({"name": "Opening hours", "markdown": "# Hours\n\nThe library opens at nine.",
        "metadata": {"year": 2026}, "tags": ["hours", " public "], "externalId": "hours-1", "nonsense": 1});
    let made = app.post(&path, &key, body).await;
    made.must_be_well_formed();
    assert_eq!(made.status, 201, "{made:?}");
    let file = &made.body["data"];
    assert_eq!(file["name"], "Opening hours.md");
    assert_eq!((&file["tags"], &file["metadata"]["year"]), (&json!(["hours", "public"]), &json!(2026)));
    assert!(file["warnings"].to_string().contains("nonsense"), "{made:?}");
    let id = file["fileId"].as_str().unwrap();
    let read = app.settled(&key, id).await;
    assert_eq!((&read["status"], &read["mediaType"]), (&json!("ready"), &json!("text/markdown")), "{read}");
    let found = app
        .post(
            &format!("/boxes/{box_id}/retrieve-documents"),
            &key,
            json!({"query": "When does the library open?"}),
        )
        .await;
    let hit = &found.body["data"]["documents"][0]["documents"][0];
    assert_eq!((&hit["fileId"], &hit["section"]), (&json!(id), &json!(["Hours"])), "{found:?}");
    let again = app
        .post(&path, &key, json!({"name": "Opening hours", "text": "Closed.", "externalId": "hours-1"}))
        .await;
    assert_eq!(
        (&again.body["data"]["fileId"], &again.body["data"]["replaced"]),
        (&json!(id), &json!(true)),
        "{again:?}"
    );
    let plain = app.post(&path, &key, json!({"name": "notes.txt", "text": "# not a heading"})).await;
    assert_eq!(plain.body["data"]["name"], "notes.txt");
    for (body, param) in [
        (json!({"name": "x"}), "text"),
        (json!({"name": "x", "text": "a", "markdown": "b"}), "text"),
        (json!({"text": "a"}), "name"),
        (json!({"name": "x", "text": "  "}), "text"),
        (json!({"name": "x", "text": 5}), "text"),
        (json!({"name": "x", "text": "a", "metadata": []}), "metadata"),
        (json!({"name": "x", "text": "a", "externalId": ""}), "externalId"),
    ] {
        let wrong = app.post(&path, &key, body).await;
        assert_eq!((wrong.status, wrong.body["error"]["param"].as_str()), (400, Some(param)), "{wrong:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_fetched_unless_the_operator_allows_it() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/files");
    let refused = app.post(&path, &key, json!({"url": "https://example.org/a.pdf"})).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body["error"]["cause"].as_str().unwrap().contains("fetch.urls = true"), "{refused:?}");
}

/// A server that answers by path.
async fn server() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                let close = "connection: close\r\n";
                let answer = match head.split(' ').nth(1).unwrap_or_default() {
                    "/page" => format!(
                        "HTTP/1.1 200 OK\r\n{close}content-type: text/html; charset=utf-8\r\n\r\n<!doctype html><title>T</title><h1>Ferry</h1><p>The ferry leaves at noon.</p>"
                    ),
                    "/moved" => {
                        format!("HTTP/1.1 301 Moved\r\n{close}location: /page\r\ncontent-length: 0\r\n\r\n")
                    }
                    "/large" => {
                        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{close}\r\n").as_bytes()).await;
                        let megabyte = vec![b'x'; 1 << 20];
                        while stream.write_all(&megabyte).await.is_ok() {}
                        return;
                    }
                    "/slow" => {
                        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{close}\r\nx").as_bytes()).await;
                        std::future::pending::<()>().await;
                        return;
                    }
                    _ => format!("HTTP/1.1 404 Not Found\r\n{close}content-length: 0\r\n\r\n"),
                };
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_fetched_within_its_bounds() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = roomy();
    (config.fetch.urls, config.fetch.private_addresses, config.fetch.timeout_s) = (true, true, 10);
    config.limits.file_mb = 1;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let (path, server) = (format!("/boxes/{box_id}/files"), server().await);
    let fetched =
        app.post(&path, &key, json!({"url": format!("http://{server}/moved"), "name": "Ferries"})).await;
    assert_eq!((fetched.status, &fetched.body["data"]["name"]), (201, &json!("Ferries")), "{fetched:?}");
    let read = app.settled(&key, fetched.body["data"]["fileId"].as_str().unwrap()).await;
    assert_eq!((&read["status"], &read["mediaType"]), (&json!("ready"), &json!("text/html")), "{read}");
    let named = app.post(&path, &key, json!({"url": format!("http://{server}/page")})).await;
    assert_eq!((named.status, &named.body["data"]["deduplicated"]), (200, &json!(true)), "{named:?}");
    for (target, status, says) in [
        ("/nowhere", 422, "status 404"),
        ("/large", 413, "larger than 1 MB"),
        ("/slow", 422, "more than 10 seconds"),
    ] {
        let answer = app.post(&path, &key, json!({"url": format!("http://{server}{target}")})).await;
        assert_eq!(
            (answer.status, answer.body["error"]["param"].as_str()),
            (status, Some("url")),
            "{answer:?}"
        );
        assert!(answer.body["error"]["cause"].as_str().unwrap().contains(says), "{answer:?}");
    }
    let list = app.get(&path, &key).await;
    assert_eq!(list.body["data"]["total"], 1, "what was refused left nothing: {list:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_address_is_not_reached_however_it_is_written() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = roomy();
    config.fetch.urls = true;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let (path, server) = (format!("/boxes/{box_id}/files"), server().await);
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "169.254.169.254", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{host}:{}/page", server.port());
        let request = app.request(Method::POST, &path, Some(&key)).json(&json!({"url": url}));
        let answer = Answer::of(request.send().await.unwrap()).await;
        assert_eq!((answer.status, answer.body["error"]["param"].as_str()), (400, Some("url")), "{answer:?}");
        assert!(
            answer.body["error"]["cause"].as_str().unwrap().contains("fetch.private_addresses"),
            "{answer:?}"
        );
    }
}
