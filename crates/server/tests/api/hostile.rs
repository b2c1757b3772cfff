//! Clients that send too much, too slowly or nothing at all, or do not read what they asked for: they end, others are served.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use engine::apikey::ApiKey;
use futures::StreamExt;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use server::config::{Config, Tls};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::{
    chat::{papers, question},
    support::{Answer, TestApp, roomy},
    upstream::{Act, Stub},
};

/// Separates what ends from what hangs; far above every deadline that these tests set.
const HANGS: Duration = Duration::from_secs(30);

/// Settings under which every wait is over after a second.
fn impatient() -> Config {
    let mut config = roomy();
    let deadlines = &mut config.deadlines;
    (deadlines.handshake_s, deadlines.head_s, deadlines.idle_s) = (1, 1, 1);
    (deadlines.body_stall_s, deadlines.answer_stall_s) = (1, 1);
    config
}

/// A server that believes to be behind a proxy on this machine, so that tests can write HTTP by hand.
async fn behind_proxy(mut config: Config) -> TestApp {
    config.http.tls = Tls::Proxy;
    let folder = Arc::new(tempfile::tempdir().unwrap());
    server::http::tls::server_config(&config.http, folder.path()).unwrap();
    TestApp::on(folder, config).await
}

async fn send(app: &TestApp, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// What comes until the other side closes.
async fn until_closed(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let closed = tokio::time::timeout(HANGS, stream.read_to_end(&mut bytes)).await;
    assert!(closed.is_ok(), "still open; came so far: {}", String::from_utf8_lossy(&bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn over_plain_http(app: &TestApp, method: Method, path: &str, key: &str) -> reqwest::RequestBuilder {
    let url = format!("http://{}/api/public/v1{path}", app.address);
    Client::new().request(method, url).bearer_auth(key).header("x-forwarded-proto", "https")
}

async fn tls(app: &TestApp, protocol: &[u8]) -> tokio_rustls::client::TlsStream<TcpStream> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let certificate = server::http::tls::certificate_path(app.folder.path());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(app.address).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    connector.connect("localhost".try_into().unwrap(), stream).await.unwrap()
}

#[tokio::test]
async fn a_form_whose_boundary_never_comes_is_refused() {
    let mut config = roomy();
    config.limits.file_mb = 1;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let request = app.request(Method::POST, &format!("/boxes/{box_id}/files"), Some(&key));
    let request = request.header("content-type", "multipart/form-data; boundary=never");
    let answer = Answer::of(request.body(vec![b'-'; 8 << 20]).send().await.unwrap()).await;
    answer.must_be_well_formed();
    assert_eq!(answer.verdict(), "413 B1004 too_large");
    let head = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
    let body = [head.as_bytes(), &vec![b'-'; 8 << 20]].concat();
    let request = app.request(Method::POST, &format!("/boxes/{box_id}/files"), Some(&key));
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    assert_eq!(Answer::of(request.body(body).send().await.unwrap()).await.verdict(), "413 B1004 too_large");
    let staging = app.folder.path().join("blobs/staging");
    assert_eq!(std::fs::read_dir(staging).unwrap().count(), 0, "nothing of it stays");
}

#[tokio::test]
async fn a_million_parts_are_refused_before_they_are_counted() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let part = "--x\r\nContent-Disposition: form-data; name=\"y\"\r\n\r\nz\r\n";
    let request = app.request(Method::POST, &format!("/boxes/{box_id}/files"), Some(&key));
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    let answer = Answer::of(request.body(part.repeat(100_000)).send().await.unwrap()).await;
    assert_eq!(answer.verdict(), "413 B1004 too_large");
    assert!(
        answer.body["error"]["cause"].as_str().unwrap().contains("64 parts"),
        "not by their bytes: {answer:?}"
    );
}

#[tokio::test]
async fn fields_that_are_sent_again_and_again_do_not_pass_their_limits() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let tags = "t,".repeat(60);
    let two = app.upload(box_id, &key, "a.txt", b"a", &[("tags", &tags), ("tags", &tags)]).await;
    assert_eq!(two.verdict(), "400 B1004 invalid_parameter");
    let list = app.upload(box_id, &key, "a.txt", b"a", &[("tags", "one"), ("tags", "two")]).await;
    assert_eq!(list.body["data"]["tags"], json!(["one", "two"]), "a list may come one by one");
    for field in ["name", "metadata", "externalId"] {
        let twice = app.upload(box_id, &key, "b.txt", b"b", &[(field, "{}"), (field, "{}")]).await;
        assert_eq!(twice.verdict(), "400 B1004 invalid_parameter", "{field}");
        assert_eq!(twice.body["error"]["param"], field);
    }
}

/// Many clients send the head of a request and its body in two pieces, and use the connection again.
#[tokio::test]
async fn a_request_that_is_refused_before_its_body_comes_leaves_the_connection_open() {
    let app = behind_proxy(roomy()).await;
    let head = "POST /api/public/v1/boxes/x/retrieve-documents HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\
                Content-Type: application/json\r\n";
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    for _ in 0..2 {
        stream.write_all(format!("{head}Content-Length: 13\r\n\r\n").as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(br#"{"query":"x"}"#).await.unwrap();
        let mut answer = vec![0; 4096];
        let came = tokio::time::timeout(HANGS, stream.read(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8_lossy(&answer[..came]).to_lowercase();
        assert!(answer.starts_with("http/1.1 401 ") && !answer.contains("connection: close"), "{answer}");
    }
    // A long body is not waited for; then the answer says that the connection ends.
    stream.write_all(format!("{head}Content-Length: 99999\r\n\r\n").as_bytes()).await.unwrap();
    let answer = until_closed(&mut stream).await.to_lowercase();
    assert!(answer.starts_with("http/1.1 401 ") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_announced_too_large_is_refused_at_once() {
    let app = behind_proxy(roomy()).await;
    let (_, box_id, key) = app.owner().await;
    for (path, kind) in [
        (format!("/boxes/{box_id}/files"), "multipart/form-data; boundary=x"),
        (format!("/boxes/{box_id}/retrieve-documents"), "application/json"),
        ("/chat/completions".to_string(), "application/json"),
    ] {
        let mut stream = send(
            &app,
            &format!(
                "POST /api/public/v1{path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\
                 Authorization: Bearer {key}\r\nContent-Type: {kind}\r\nContent-Length: 99999999999999\r\n\r\nthirteen byte"
            ),
        )
        .await;
        let answer = until_closed(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("too_large"), "{path}: {answer}");
        assert!(answer.contains("connection: close"), "a client must not send on: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_stalls_is_answered_and_its_connection_closed() {
    let app = behind_proxy(impatient()).await;
    let (_, box_id, key) = app.owner().await;
    for (path, kind, start) in [
        (format!("/boxes/{box_id}/files"), "multipart/form-data; boundary=x", "--x\r\nContent-D"),
        (format!("/boxes/{box_id}/retrieve-documents"), "application/json", "{\"query\":"),
    ] {
        let mut stream = send(
            &app,
            &format!(
                "POST /api/public/v1{path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\
                 Authorization: Bearer {key}\r\nContent-Type: {kind}\r\nContent-Length: 5000\r\n\r\n{start}"
            ),
        )
        .await;
        let answer = until_closed(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("too slowly"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn connections_that_say_nothing_end_and_take_nobody_s_place() {
    let mut config = impatient();
    config.deadlines.handshake_s = 2;
    (config.connections.most, config.connections.per_network) = (40, 8);
    let app = TestApp::with(config).await;
    let (_, _, key) = app.owner().await;
    let mut silent = Vec::new();
    // Another address of this machine is another network to the server; the last is that of the client below.
    for last in [2, 1] {
        for _ in 0..60 {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
            silent.push(socket.connect(app.address).await.unwrap());
        }
        assert_eq!(app.get("/check", &key).await.status, 200, "whoever asks is served meanwhile");
    }
    for mut stream in silent {
        until_closed(&mut stream).await;
    }
}

#[tokio::test]
async fn every_stage_of_a_connection_has_its_end() {
    let app = TestApp::with(impatient()).await;
    // TLS, then nothing; half a head; an HTTP/2 connection on which nothing is asked.
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    for (protocol, start) in [
        (&b"http/1.1"[..], &b""[..]),
        (b"h2", b""),
        (b"http/1.1", b"GET / HTTP/1.1\r\nX-Slow: "),
        (b"h2", b"PRI * HTTP"),
        (b"h2", preface),
    ] {
        let mut stream = tls(&app, protocol).await;
        stream.write_all(start).await.unwrap();
        until_closed(&mut stream).await;
    }
    // Plain HTTP on the TLS port, and half a handshake.
    for start in [&b"GET / HT"[..], b"\x16\x03\x01\x02\x00\x01"] {
        let mut stream = TcpStream::connect(app.address).await.unwrap();
        stream.write_all(start).await.unwrap();
        until_closed(&mut stream).await;
    }
}

/// Uploads bytes and gives the link to them.
async fn linked(app: &TestApp, bytes: Vec<u8>) -> (String, String) {
    let (_, box_id, key) = app.owner().await;
    let part = reqwest::multipart::Part::bytes(bytes).file_name("a.bin");
    let form = reqwest::multipart::Form::new().part("file", part);
    let upload = over_plain_http(app, Method::POST, &format!("/boxes/{box_id}/files"), &key).await;
    let uploaded = Answer::of(upload.multipart(form).send().await.unwrap()).await;
    let id = uploaded.body["data"]["fileId"].as_str().unwrap_or_else(|| panic!("{uploaded:?}")).to_string();
    let link = over_plain_http(app, Method::GET, &format!("/files/{id}/signed-url"), &key).await;
    let link = Answer::of(link.send().await.unwrap()).await;
    let url = link.body["data"]["url"].as_str().unwrap().to_string();
    (key, url[url.find("/d/").unwrap()..].to_string())
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_loses_the_connection() {
    let mut config = roomy();
    config.deadlines.answer_stall_s = 1;
    config.connections.streams_per_key = 1;
    let app = behind_proxy(config).await;
    let (_, path) = linked(&app, vec![b'x'; 40 << 20]).await;
    let download = format!("GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n");
    let mut stalled = send(&app, &download).await;
    let mut start = [0; 12];
    stalled.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    // Its place is free once it has ended.
    let again = async {
        loop {
            let url = format!("http://{}{path}", app.address);
            let request =
                Client::new().get(url).header("x-forwarded-proto", "https").header("range", "bytes=0-9");
            let response = request.send().await.unwrap();
            if response.status() == 206 {
                return;
            }
            assert_eq!(Answer::of(response).await.verdict(), "429 B3107 overloaded_key");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(HANGS, again).await.expect("the stalled download ends");
}

/// One answer on a connection that is kept open: its head, and the body that the head announces.
async fn read_answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(tokio::time::timeout(HANGS, stream.read_u8()).await.expect("an answer").unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    tokio::time::timeout(HANGS, stream.read_exact(&mut body)).await.expect("a whole body").unwrap();
    (head, body)
}

/// Such a file looks like a refusal of the HTTP library's own.
#[tokio::test]
async fn a_file_that_is_a_saved_http_answer_comes_out_as_it_went_in() {
    let app = behind_proxy(roomy()).await;
    // 64 bytes, so that wherever the file is cut into pieces, a piece begins with it.
    let saved = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nx-filler: 12345678\r\n\r\n";
    let saved = [&saved[..], b"--"].concat();
    let saved = &saved[..64];
    let (_, path) = linked(&app, saved.repeat(4096)).await;
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    for range in ["0-63", "0-262143", "64-", "63-65535", "128-191"] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nRange: bytes={range}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let (head, body) = read_answer(&mut stream).await;
        assert!(head.starts_with("HTTP/1.1 206 "), "{head}");
        let from: usize = range.split('-').next().unwrap().parse().unwrap();
        let expected: Vec<u8> = saved.repeat(4096)[from..][..body.len()].to_vec();
        assert!(body == expected, "bytes {range} came out changed");
    }
    // A refusal of the library's own on the same connection is worded, though answers went before it.
    stream.write_all(b"GET / HTTP/1.1\r\nno header\r\n\r\n").await.unwrap();
    let (head, body) = read_answer(&mut stream).await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{head}"));
    assert_eq!(body["error"]["reason"], "invalid_parameter");
}

/// A client with a window so small that little is on its way when it stops reading.
fn narrow(app: &TestApp, window: u32) -> Client {
    let pem = std::fs::read(server::http::tls::certificate_path(app.folder.path())).unwrap();
    Client::builder()
        .tls_certs_only([reqwest::Certificate::from_pem(&pem).unwrap()])
        .http2_initial_stream_window_size(window)
        .http2_initial_connection_window_size(window.max(65_535))
        .build()
        .unwrap()
}

/// Reads the first piece, lets `revoke` happen, and gives how much comes after that until the answer is cut.
async fn rest_after(response: reqwest::Response, revoke: impl Future<Output = ()>) -> usize {
    let mut pieces = response.bytes_stream();
    pieces.next().await.unwrap().unwrap();
    revoke.await;
    let mut rest = 0;
    loop {
        match tokio::time::timeout(HANGS, pieces.next()).await.expect("it goes on or ends") {
            Some(Ok(piece)) => rest += piece.len(),
            Some(Err(_)) => return rest,
            None => panic!("came to its end after {rest} bytes more"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_ends_what_is_being_sent_for_it() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let text: String = (0..40_000).map(|line| format!("Line {line} of a long document.\n")).collect();
    let id = app.text_file(box_id, &key, "long.txt", &text).await;
    let client = narrow(&app, 65_535);
    let body = json!({"sources": [id]});
    let url = app.url(&format!("/api/public/v1/boxes/{box_id}/retrieve-full-documents"));
    let document = client.post(url).bearer_auth(&key).json(&body).send().await.unwrap();
    let link = app.get(&format!("/files/{id}/signed-url"), &key).await;
    // On a connection of its own: what is not read of one answer leaves no window for another.
    let download = narrow(&app, 65_535).get(link.body["data"]["url"].as_str().unwrap()).send().await.unwrap();
    let prefix = ApiKey::parse(&key).unwrap().prefix().to_string();
    let revoke = async { app.catalog.revoke_key(&prefix).await.map(drop).unwrap() };
    let rest = rest_after(document, revoke).await;
    assert!(rest < 1 << 20, "{rest} bytes of the document were sent after the key was revoked");
    let rest = rest_after(download, async {}).await;
    assert!(rest < 1 << 20, "{rest} bytes of the original were sent after the key was revoked");
    let other = app.key(owner).await;
    assert_eq!(app.get("/check", &other).await.status, 200);
}

#[tokio::test]
async fn an_event_stream_ends_with_its_key_and_says_why() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let events =
        app.request(Method::GET, &format!("/boxes/{box_id}/events"), Some(&key)).send().await.unwrap();
    app.catalog.revoke_key(ApiKey::parse(&key).unwrap().prefix()).await.unwrap();
    let text = tokio::time::timeout(HANGS, events.text()).await.expect("it ends").unwrap();
    assert!(text.starts_with("event: error\n") && text.contains("key_revoked"), "{text}");
}

#[tokio::test]
async fn streams_of_one_key_and_of_one_user_are_bounded() {
    let mut config = roomy();
    (config.connections.streams_per_key, config.connections.streams_per_user) = (2, 3);
    let app = TestApp::with(config).await;
    let (owner, box_id, first) = app.owner().await;
    let second = app.key(owner).await;
    let open = async |key: &str| {
        app.request(Method::GET, &format!("/boxes/{box_id}/events"), Some(key)).send().await.unwrap()
    };
    let mut streams = vec![open(&first).await, open(&first).await];
    let refused = Answer::of(open(&first).await).await;
    refused.must_be_well_formed();
    assert_eq!(refused.verdict(), "429 B3107 overloaded_key");
    streams.push(open(&second).await);
    assert_eq!(
        Answer::of(open(&second).await).await.verdict(),
        "429 B3107 overloaded_key",
        "the user's are taken"
    );
    streams.clear();
    let again = async {
        while open(&first).await.status() != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANGS, again).await.expect("places are free again");
}

/// With a window of nothing the answer stays on the server until its deadline; the work is charged all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_stream_that_nobody_reads_ends_and_is_charged() {
    let mut config = roomy();
    config.deadlines.answer_stall_s = 1;
    let app = TestApp::with(config).await;
    let (_, key, _) = papers(&app).await;
    let mut body = question("How long does the warranty of the machine last?");
    body["stream"] = true.into();
    let url = app.url("/api/public/v1/chat/completions");
    let response = narrow(&app, 0).post(url).bearer_auth(&key).json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let read = tokio::time::timeout(HANGS, response.bytes()).await.expect("it ends");
    assert!(read.is_err(), "{read:?}");
    let charged = async {
        while app.get("/usage", &key).await.body["data"]["used"].as_u64().unwrap_or(0) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANGS, charged).await.expect("the work is charged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_ends_its_chat_stream_with_an_error_and_pays_for_what_it_got() {
    let sentence = "The warranty lasts two years [1: \"lasts two years from the day of purchase\"]. And then";
    let stub = Stub::start(vec![Act::Hang(vec![sentence.into()])]).await;
    let app = stub.app(60).await;
    let (_, key, _) = papers(&app).await;
    let user = app.catalog.users().await.unwrap()[0].id;
    let mut body = question("How long does the warranty of the machine last?");
    body["stream"] = true.into();
    let request = app.request(Method::POST, "/chat/completions", Some(&key)).json(&body);
    let mut pieces = request.send().await.unwrap().bytes_stream();
    pieces.next().await.unwrap().unwrap();
    app.catalog.revoke_key(ApiKey::parse(&key).unwrap().prefix()).await.unwrap();
    let mut text = String::new();
    while let Some(piece) = tokio::time::timeout(HANGS, pieces.next()).await.expect("it ends") {
        text.push_str(&String::from_utf8_lossy(&piece.unwrap()));
    }
    assert!(text.contains("key_revoked") && !text.contains("[DONE]"), "{text}");
    let other = app.key(user).await;
    assert!(app.get("/usage", &other).await.body["data"]["used"].as_u64().unwrap() > 0, "{text}");
}
