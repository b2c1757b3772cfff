//! HTTPS and nothing else; certificates; proxies; bodies; health; shutdown.

use reqwest::{Client, Method, Version};
use serde_json::Value;
use server::config::Tls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, TestApp, client, roomy};

async fn plain(app: &TestApp, path: &str, key: Option<&str>) -> Answer {
    let request = Client::new().get(format!("http://{}{path}", app.address));
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test]
async fn plain_http_is_refused_and_the_key_it_carried_is_marked() {
    let app = TestApp::start().await;
    let (owner, _, key) = app.owner().await;
    let answer = plain(&app, "/api/public/v1/check", None).await;
    answer.must_be_well_formed();
    assert_eq!(answer.verdict(), "400 B1004 https_required");
    assert_eq!(answer.header("connection"), "close");
    assert!(app.catalog.keys(Some(owner)).await.unwrap()[0].exposed.is_none());
    assert_eq!(plain(&app, "/anything", Some(&key)).await.verdict(), "400 B1004 https_required");
    let exposed = app.catalog.keys(Some(owner)).await.unwrap().remove(0);
    assert_eq!(exposed.exposed.unwrap().1, "plain_http");
    assert_eq!(app.get("/check", &key).await.status, 200, "marked, not revoked, by default");
}

#[tokio::test]
async fn an_exposed_key_is_revoked_where_the_operator_wants_it() {
    let mut config = roomy();
    config.keys.revoke_exposed = true;
    let app = TestApp::with(config).await;
    let (owner, _, key) = app.owner().await;
    let other = app.key(owner).await;
    assert_eq!(app.get(&format!("/check?api_key={other}"), &key).await.status, 200);
    assert_eq!(app.get("/check", &other).await.verdict(), "401 B3002 key_revoked");
    plain(&app, "/", Some(&key)).await;
    assert_eq!(app.get("/check", &key).await.verdict(), "401 B3002 key_revoked");
}

/// A prefix is public: it must not be enough to have somebody's key revoked.
#[tokio::test]
async fn a_forged_key_exposes_nobody() {
    let mut config = roomy();
    config.keys.revoke_exposed = true;
    let app = TestApp::with(config).await;
    let (owner, _, key) = app.owner().await;
    let forged = engine::apikey::ApiKey::generate().reveal();
    plain(&app, "/", Some(&forged)).await;
    plain(&app, "/", Some(&format!("{}{}", &key[..15], &forged[15..]))).await;
    assert!(app.catalog.keys(Some(owner)).await.unwrap()[0].exposed.is_none());
    assert_eq!(app.get("/check", &key).await.status, 200);
}

/// Each of these requests used to be a write to the disk that made every node forget every key it had looked up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_sent_in_the_open_again_and_again_is_written_once_and_counted() {
    let app = TestApp::start().await;
    let (owner, _, revoked) = app.owner().await;
    let live = app.key(owner).await;
    app.catalog.revoke_key(revoked.split('_').nth(1).unwrap()).await.unwrap();
    let version = app.catalog.access_version().await.unwrap();
    for _ in 0..20 {
        let request = app.request(Method::GET, &format!("/check?key={revoked}"), None).send().await.unwrap();
        assert_eq!(request.status(), 401);
        assert_eq!(plain(&app, "/", Some(&revoked)).await.status, 400);
        assert_eq!(plain(&app, &format!("/?key={revoked}"), None).await.status, 400);
    }
    assert_eq!(app.catalog.access_version().await.unwrap(), version, "nobody's keys are looked up again");
    assert!(app.catalog.keys(Some(owner)).await.unwrap()[0].exposed.is_none());
    assert_eq!(app.app.guard.counted("127.0.0.1".parse().unwrap()), 60, "each is counted as a wrong key");
    for _ in 0..20 {
        plain(&app, "/", Some(&live)).await;
    }
    assert_eq!(app.catalog.access_version().await.unwrap(), version + 1, "marked once");
}

#[tokio::test]
async fn h2_and_http_1_1_are_both_spoken() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let response = app.request(Method::GET, "/check", Some(&key)).send().await.unwrap();
    assert_eq!(response.version(), Version::HTTP_2);
    let pem = std::fs::read(server::http::tls::certificate_path(app.folder.path())).unwrap();
    let old = Client::builder()
        .http1_only()
        .tls_certs_only([reqwest::Certificate::from_pem(&pem).unwrap()])
        .build()
        .unwrap();
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("https://{host}:{}/api/public/v1/check", app.address.port());
        let response = old.get(url).bearer_auth(&key).send().await.unwrap();
        assert_eq!((response.version(), response.status().as_u16()), (Version::HTTP_11, 200));
    }
}

#[tokio::test]
async fn the_certificate_is_made_once_and_its_key_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let app = TestApp::start().await;
    let certificate = server::http::tls::certificate_path(app.folder.path());
    let before = std::fs::read(&certificate).unwrap();
    let mode = std::fs::metadata(certificate.with_file_name("key.pem")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    let app = TestApp::on(app.stop().await, roomy()).await;
    assert_eq!(std::fs::read(&certificate).unwrap(), before);
    drop(client(app.folder.path()));
}

#[tokio::test]
async fn behind_a_proxy_only_forwarded_https_passes() {
    let mut config = roomy();
    config.http.tls = Tls::Proxy;
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    // The test client wants a certificate to trust; in proxy mode nothing would make one.
    server::http::tls::server_config(&config.http, folder.path()).unwrap();
    let app = TestApp::on(folder.clone(), config.clone()).await;
    let (owner, _, key) = app.owner().await;
    let ask = async |app: &TestApp, proto: Option<&str>| {
        let request =
            Client::new().get(format!("http://{}/api/public/v1/check", app.address)).bearer_auth(&key);
        let request = match proto {
            Some(proto) => request.header("x-forwarded-proto", proto),
            None => request,
        };
        Answer::of(request.send().await.unwrap()).await
    };
    assert_eq!(ask(&app, Some("https")).await.verdict(), "200 ok");
    assert!(app.catalog.keys(Some(owner)).await.unwrap()[0].exposed.is_none());
    for proto in [None, Some("http"), Some("https, http"), Some("")] {
        let answer = ask(&app, proto).await;
        answer.must_be_well_formed();
        assert_eq!(answer.verdict(), "400 B1004 https_required", "{proto:?}");
    }
    assert!(app.catalog.keys(Some(owner)).await.unwrap()[0].exposed.is_some());
    app.stop().await;
    config.http.trusted_proxies = vec!["10.9.9.9".parse().unwrap()];
    let app = TestApp::on(folder, config).await;
    assert_eq!(ask(&app, Some("https")).await.verdict(), "400 B1004 https_required");
}

#[tokio::test]
async fn health_needs_no_key() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz"] {
        let answer = Answer::of(app.client.get(app.url(path)).send().await.unwrap()).await;
        answer.must_be_well_formed();
        assert_eq!(answer.status, 200);
    }
    // At `/` is the dashboard.
    for path in ["/nope", "/api", "/api/public/v2/check"] {
        let answer = Answer::of(app.client.get(app.url(path)).send().await.unwrap()).await;
        answer.must_be_well_formed();
        assert_eq!(answer.verdict(), "404 B1004 not_found", "{path}");
    }
}

#[tokio::test]
async fn metrics_count_requests_by_route() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    app.get("/check", &key).await;
    app.get("/no/such/path", &key).await;
    let metrics = app.app.metrics.render();
    let line = r#"quire_http_requests_total{method="GET",route="/api/public/v1/check",status="200"} 1"#;
    assert!(metrics.contains(line), "{metrics}");
    assert!(metrics.contains(r#"route="other",status="404""#) && !metrics.contains("/no/such"), "{metrics}");
}

#[tokio::test]
async fn bytes_that_are_no_http_get_no_server_down() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    for junk in
        [&b"\x00\x01\x02\x03"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01garbage", b"GET"]
    {
        let mut stream = tokio::net::TcpStream::connect(app.address).await.unwrap();
        stream.write_all(junk).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
    }
    assert_eq!(app.get("/check", &key).await.status, 200);
}

#[tokio::test]
async fn the_check_says_what_the_key_has() {
    let app = TestApp::start().await;
    let (_, _, key) = app.owner().await;
    let answer = app.get("/check", &key).await;
    let data = &answer.body["data"];
    assert_eq!(data["message"], "ok");
    assert_eq!(data["key"]["prefix"], key[6..14]);
    assert_eq!(data["units"]["monthly"], 1000);
    assert!(data["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    assert_eq!(data["version"], Value::from(env!("CARGO_PKG_VERSION")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_under_way_is_finished_before_the_server_stops() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(1);
    let body = reqwest::Body::wrap_stream(futures::stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|part| (part, receiver))
    }));
    let request = app.request(Method::POST, &format!("/boxes/{box_id}/files"), Some(&key));
    let request = request.header("content-type", "multipart/form-data; boundary=x").body(body);
    let answer = tokio::spawn(async move { Answer::of(request.send().await.unwrap()).await });
    let head = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhalf";
    sender.send(Ok(head.to_vec())).await.unwrap();
    // Once the file is being written, the request is under way.
    let staging = app.folder.path().join("blobs/staging");
    while std::fs::read_dir(&staging).unwrap().next().is_none() {
        tokio::task::yield_now().await;
    }
    let stopping = tokio::spawn(app.stop());
    sender.send(Ok(b" and half\r\n--x--\r\n".to_vec())).await.unwrap();
    drop(sender);
    assert_eq!(answer.await.unwrap().status, 201);
    stopping.await.unwrap();
}

/// What the HTTP library refuses by itself, before any route, is in the envelope too.
#[tokio::test]
async fn a_head_that_cannot_be_read_is_answered_in_the_envelope() {
    let mut config = roomy();
    config.http.tls = Tls::Proxy;
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    server::http::tls::server_config(&config.http, folder.path()).unwrap();
    let app = TestApp::on(folder, config).await;
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    for (head, status) in [
        ("GET / HTTP/1.1\r\nnot a header\r\n\r\n".to_string(), "400"),
        ("GET / HTTP/9.9\r\n\r\n".to_string(), "400"),
        (format!("GET / HTTP/1.1\r\n{many}\r\n"), "431"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(app.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        let (lines, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer:?}"));
        assert_eq!((&body["success"], &body["error"]["code"]), (&false.into(), &"B1004".into()), "{answer}");
        assert_eq!(&lines[9..12], status, "{lines}");
        for name in ["x-request-id", "x-ratelimit-hits", "x-ratelimit-reset-user"] {
            assert!(lines.contains(name), "{lines}");
        }
    }
}
