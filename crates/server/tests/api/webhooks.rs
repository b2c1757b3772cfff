//! Webhooks: what is sent, to whom, in which order, and what happens when nobody takes it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use engine::access::{Managing, Role};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use server::webhooks::deliver;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
};

use crate::support::{TestApp, roomy};

/// A request as a receiver sees it.
#[derive(Debug)]
struct Received {
    head: String,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    fn event(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Whether one of the signatures is by this secret.
    fn is_signed_by(&self, secret: &str) -> bool {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let text =
            format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body);
        let mac = Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap().chain_update(text);
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        self.header("webhook-signature").split(' ').any(|signature| signature == expected)
    }
}

/// Somebody who takes events, with the status that is set.
struct Receiver {
    address: SocketAddr,
    status: Arc<AtomicU16>,
    requests: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, status) = (listener.local_addr().unwrap(), Arc::new(AtomicU16::new(200)));
        let (sender, requests) = mpsc::unbounded_channel();
        let answers = status.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (sender, answers) = (sender.clone(), answers.clone());
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    let request = loop {
                        let mut more = [0; 4096];
                        let read = stream.read(&mut more).await.unwrap_or(0);
                        if read == 0 {
                            return;
                        }
                        bytes.extend_from_slice(&more[..read]);
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                            break Received { head: head.to_string(), body: body.to_string() };
                        }
                    };
                    let _ = sender.send(request);
                    let status = answers.load(Ordering::Relaxed);
                    let answer = format!(
                        "HTTP/1.1 {status} X\r\nlocation: /x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Receiver { address, status, requests }
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn set(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    fn got(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }
}

fn config() -> server::config::Config {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = roomy();
    (config.webhooks.enabled, config.webhooks.private_addresses) = (true, true);
    config
}

/// A webhook for these events; gives its path and its secret.
async fn hook(app: &TestApp, key: &str, url: &str, events: &[&str]) -> (String, String) {
    let made = app.post("/webhooks", key, json!({"url": url, "events": events})).await;
    made.must_be_well_formed();
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.body["data"]["webhookId"].as_str().unwrap();
    (format!("/webhooks/{id}"), made.body["data"]["secret"].as_str().unwrap().to_string())
}

fn later(seconds: u64) -> Timestamp {
    Timestamp::now() + Duration::from_secs(seconds)
}

const ALL: &[&str] =
    &["file.ready", "file.ready_with_warnings", "file.failed", "file.replaced", "file.deleted"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_to_a_file_is_told_in_order_and_signed() {
    let app = TestApp::with(config()).await;
    let (_, box_id, key) = app.owner().await;
    let mut receiver = Receiver::start().await;
    let (path, secret) = hook(&app, &key, &receiver.url(), ALL).await;
    let id =
        app.upload(box_id, &key, "a.txt", b"Some text.", &[("externalId", "a")]).await.body["data"]["fileId"]
            .clone();
    let id = id.as_str().unwrap();
    app.settled(&key, id).await;
    app.upload(box_id, &key, "a.txt", b"Other text.", &[("externalId", "a")]).await;
    app.settled(&key, id).await;
    app.upload(box_id, &key, "b.pdf", b"%PDF-1.7 not really", &[]).await;
    app.delete(&format!("/files/{id}"), &key).await;
    let failed = app.get(&format!("/boxes/{box_id}/files?query=b.pdf"), &key).await;
    app.settled(&key, failed.body["data"]["files"][0]["fileId"].as_str().unwrap()).await;
    while deliver(&app.app, later(0)).await.unwrap() > 0 {}
    let got = receiver.got();
    let of_file: Vec<Value> =
        got.iter().map(Received::event).filter(|event| event["data"]["fileId"] == id).collect();
    let types: Vec<_> = of_file.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["file.ready", "file.replaced", "file.ready", "file.deleted"]);
    assert_eq!(of_file[0]["data"]["boxId"], box_id.to_string());
    assert_eq!(
        (&of_file[0]["data"]["name"], &of_file[0]["data"]["status"]),
        (&json!("a.txt"), &json!("ready"))
    );
    assert!(of_file[0]["timestamp"].as_str().unwrap().parse::<Timestamp>().is_ok());
    let other = got.iter().map(Received::event).find(|event| event["data"]["name"] == "b.pdf").unwrap();
    assert_eq!(other["type"], "file.failed", "{other}");
    for request in &got {
        assert!(request.is_signed_by(&secret) && !request.body.contains("text."), "{request:?}");
        let sent: i64 = request.header("webhook-timestamp").parse().unwrap();
        assert!((Timestamp::now().as_second() - sent).abs() < 60);
    }
    let attempts = app.get(&format!("{path}/attempts"), &key).await;
    assert_eq!(attempts.body["data"]["total"], got.len(), "{attempts:?}");
    assert_eq!(
        (&attempts.body["data"]["attempts"][0]["delivered"], &attempts.body["data"]["attempts"][0]["status"]),
        (&json!(true), &json!(200))
    );
    // Again, under the same name.
    let first = attempts.body["data"]["attempts"].as_array().unwrap().last().unwrap().clone();
    let replayed = app.post(&format!("{path}/attempts/1/replay"), &key, json!({})).await;
    assert_eq!(replayed.status, 202, "{replayed:?}");
    assert_eq!(deliver(&app.app, later(0)).await.unwrap(), 1);
    let again = receiver.got();
    assert_eq!(again[0].header("webhook-id"), first["eventId"].as_str().unwrap());
    assert_eq!(
        app.post(&format!("{path}/attempts/99/replay"), &key, json!({})).await.verdict(),
        "404 B1004 not_found"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_down_for_an_hour_misses_nothing_over_a_restart() {
    let app = TestApp::with(config()).await;
    let (_, box_id, key) = app.owner().await;
    let mut receiver = Receiver::start().await;
    receiver.set(503);
    let (path, _) = hook(&app, &key, &receiver.url(), ALL).await;
    let id = app.text_file(box_id, &key, "a.txt", "Some text.").await;
    app.delete(&format!("/files/{id}"), &key).await;
    let start = Timestamp::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    assert_eq!(deliver(&app.app, at(1)).await.unwrap(), 1, "the deletion waits for what came before it");
    assert_eq!(deliver(&app.app, at(2)).await.unwrap(), 0, "not yet");
    assert_eq!(deliver(&app.app, at(10)).await.unwrap(), 1);
    assert_eq!(deliver(&app.app, at(200)).await.unwrap(), 0);
    assert_eq!(deliver(&app.app, at(400)).await.unwrap(), 1);
    let folder = app.stop().await;
    let app = TestApp::on(folder, config()).await;
    receiver.set(200);
    assert_eq!(deliver(&app.app, at(3_600)).await.unwrap(), 1);
    assert_eq!(deliver(&app.app, at(3_601)).await.unwrap(), 1);
    assert_eq!(deliver(&app.app, at(100_000)).await.unwrap(), 0);
    let got = receiver.got();
    let types: Vec<_> =
        got.iter().map(|request| request.event()["type"].as_str().unwrap().to_string()).collect();
    assert_eq!(types, ["file.ready", "file.ready", "file.ready", "file.ready", "file.deleted"]);
    let names: std::collections::HashSet<_> =
        got[..4].iter().map(|request| request.header("webhook-id")).collect();
    assert_eq!(names.len(), 1, "one event, one name");
    assert_ne!(got[0].header("webhook-timestamp"), got[3].header("webhook-timestamp"));
    let attempts = app.get(&format!("{path}/attempts"), &key).await;
    let statuses: Vec<_> = attempts.body["data"]["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].clone())
        .collect();
    assert_eq!(statuses, [200, 200, 503, 503, 503]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_nobody_takes_is_given_up_after_three_days() {
    let app = TestApp::with(config()).await;
    let (_, box_id, key) = app.owner().await;
    let mut receiver = Receiver::start().await;
    receiver.set(302);
    let (path, _) = hook(&app, &key, &receiver.url(), &["file.ready"]).await;
    app.text_file(box_id, &key, "a.txt", "Some text.").await;
    for day in 0..12 {
        deliver(&app.app, later(day * 2 * 86_400 + 5)).await.unwrap();
    }
    assert_eq!(receiver.got().len(), 10);
    assert_eq!(app.get("/webhooks", &key).await.body["data"]["webhooks"][0]["waiting"], 0);
    assert_eq!(app.get(&format!("{path}/attempts"), &key).await.body["data"]["total"], 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_send_an_event_once_and_a_dead_ones_are_taken_over() {
    let app = TestApp::with(config()).await;
    let (_, box_id, key) = app.owner().await;
    let mut receiver = Receiver::start().await;
    hook(&app, &key, &receiver.url(), &["file.ready"]).await;
    for number in 0..5 {
        app.text_file(box_id, &key, &format!("{number}.txt"), &format!("Text {number}.")).await;
    }
    let beside = app.beside();
    let patience = Duration::from_secs(100);
    // Another node takes two, and dies.
    assert_eq!(beside.take_deliveries(later(0), patience, 2).await.unwrap().len(), 2);
    let (one, two) = tokio::join!(deliver(&app.app, later(1)), deliver(&app.app, later(1)));
    assert_eq!(one.unwrap() + two.unwrap(), 3);
    assert_eq!(receiver.got().len(), 3);
    assert_eq!(deliver(&app.app, later(50)).await.unwrap(), 0);
    assert_eq!(deliver(&app.app, later(200)).await.unwrap(), 2);
    assert_eq!(receiver.got().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_rotated_and_410_disables() {
    let app = TestApp::with(config()).await;
    let (_, box_id, key) = app.owner().await;
    let mut receiver = Receiver::start().await;
    let (path, old) = hook(&app, &key, &receiver.url(), &["file.ready"]).await;
    let rotated = app.post(&format!("{path}/rotate-secret"), &key, json!({})).await;
    let new = rotated.body["data"]["secret"].as_str().unwrap().to_string();
    assert_ne!(old, new);
    app.text_file(box_id, &key, "a.txt", "Some text.").await;
    deliver(&app.app, later(0)).await.unwrap();
    let got = receiver.got().pop().unwrap();
    assert!(got.is_signed_by(&old) && got.is_signed_by(&new), "{got:?}");
    app.text_file(box_id, &key, "b.txt", "More text.").await;
    deliver(&app.app, later(25 * 3600)).await.unwrap();
    let got = receiver.got().pop().unwrap();
    assert!(!got.is_signed_by(&old) && got.is_signed_by(&new), "{got:?}");
    receiver.set(410);
    app.text_file(box_id, &key, "c.txt", "Yet more text.").await;
    deliver(&app.app, later(26 * 3600)).await.unwrap();
    app.text_file(box_id, &key, "d.txt", "Still more text.").await;
    deliver(&app.app, later(60 * 3600)).await.unwrap();
    assert_eq!(receiver.got().len(), 1);
    let listed = app.get("/webhooks", &key).await;
    assert!(listed.body["data"]["webhooks"][0]["disabledAt"].is_string(), "{listed:?}");
    assert!(!listed.body.to_string().contains("whsec_"), "{listed:?}");
    receiver.set(200);
    app.post(&format!("{path}/rotate-secret"), &key, json!({})).await;
    app.text_file(box_id, &key, "e.txt", "The last text.").await;
    deliver(&app.app, later(61 * 3600)).await.unwrap();
    assert_eq!(receiver.got().len(), 1);
    assert_eq!(app.delete(&path, &key).await.verdict(), "200 ok");
    assert_eq!(app.delete(&path, &key).await.verdict(), "404 B1004 not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_those_are_told_who_may_know() {
    let app = TestApp::with(config()).await;
    let (_, box_id, key) = app.owner().await;
    let eve = app.user("eve@example.org").await;
    app.grant(box_id, eve, Role::Admin).await;
    let eves = app.key(eve).await;
    let (mut owners, mut hers) = (Receiver::start().await, Receiver::start().await);
    hook(&app, &key, &owners.url(), &["file.ready"]).await;
    let (path, _) = hook(&app, &eves, &hers.url(), &["file.ready", "key.exposed"]).await;
    assert_eq!(app.get("/webhooks", &key).await.body["data"]["total"], 1, "nobody sees another's");
    assert_eq!(app.delete(&path, &key).await.verdict(), "404 B1004 not_found");
    assert_eq!(app.get(&format!("{path}/attempts"), &key).await.verdict(), "404 B1004 not_found");
    app.text_file(box_id, &key, "a.txt", "Some text.").await;
    // Between the event and its delivery, one of them loses her role.
    app.catalog.revoke(&Managing::for_operator(box_id), eve).await.unwrap();
    app.text_file(box_id, &key, "b.txt", "Other text.").await;
    while deliver(&app.app, later(0)).await.unwrap() > 0 {}
    assert_eq!((owners.got().len(), hers.got().len()), (2, 0));
    app.request(Method::GET, &format!("/check?key={eves}"), Some(&eves)).send().await.unwrap();
    while deliver(&app.app, later(1)).await.unwrap() > 0 {}
    assert_eq!(owners.got().len(), 0);
    let exposed = hers.got().pop().unwrap().event();
    assert_eq!(
        (&exposed["type"], &exposed["data"]["how"]),
        (&json!("key.exposed"), &json!("url")),
        "{exposed}"
    );
    assert!(!exposed.to_string().contains(&eves[15..]), "a secret was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_where_the_operator_did_not_allow_it_and_never_into_private_networks() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let good = json!({"url": "https://example.org/", "events": ["file.ready"]});
    let refused = app.post("/webhooks", &key, good.clone()).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(
        refused.body["error"]["cause"].as_str().unwrap().contains("webhooks.enabled = true"),
        "{refused:?}"
    );
    let mut public_only = config();
    public_only.webhooks.private_addresses = false;
    let folder = app.stop().await;
    let app = TestApp::on(folder, public_only).await;
    for (body, param) in [
        (json!({"url": "https://127.0.0.1/", "events": ["file.ready"]}), "url"),
        (json!({"url": "https://169.254.169.254/", "events": ["file.ready"]}), "url"),
        (json!({"url": "http://example.org/", "events": ["file.ready"]}), "url"),
        (json!({"url": "nonsense", "events": ["file.ready"]}), "url"),
        (json!({"url": "https://example.org/", "events": []}), "events"),
        (json!({"url": "https://example.org/", "events": ["file.eaten"]}), "events"),
        (json!({"url": "https://example.org/", "events": ["file.ready"], "boxes": ["x"]}), "boxes"),
    ] {
        let wrong = app.post("/webhooks", &key, body).await;
        assert_eq!((wrong.status, wrong.body["error"]["param"].as_str()), (400, Some(param)), "{wrong:?}");
    }
    // A name says nothing yet; where it leads to is seen when something is sent.
    let made =
        app.post("/webhooks", &key, json!({"url": "https://localhost:1/", "events": ["file.ready"]})).await;
    assert_eq!(made.status, 201, "{made:?}");
    app.text_file(box_id, &key, "a.txt", "Some text.").await;
    assert_eq!(deliver(&app.app, later(0)).await.unwrap(), 1);
    let path = format!("/webhooks/{}/attempts", made.body["data"]["webhookId"].as_str().unwrap());
    let attempt = app.get(&path, &key).await.body["data"]["attempts"][0].clone();
    assert!(attempt["error"].as_str().unwrap().contains("webhooks.private_addresses"), "{attempt}");
}
