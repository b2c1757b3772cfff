//! A node whose line to PostgreSQL, the bucket or Valkey is slow, cut into pieces or down: clear errors, nothing that was
//! acknowledged is lost, and it goes on by itself.

use std::{net::SocketAddr, sync::Arc};

use serde_json::json;
use server::config::Config;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{Duration, sleep},
};

use crate::{
    faults::on_servers,
    support::{Answer, TestApp, roomy, server},
};

/// How a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Good,
    /// Everything arrives late.
    Slow,
    /// Everything arrives in small pieces.
    InPieces,
    /// Connections break, and nobody is reached.
    Down,
}

/// A line to a server that can be made worse.
struct Proxy {
    address: SocketAddr,
    line: watch::Sender<Line>,
}

impl Proxy {
    async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (line, state) = watch::channel(Line::Good);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if *state.borrow() != Line::Down {
                    tokio::spawn(pass(client, server, state.clone()));
                }
            }
        });
        Proxy { address, line }
    }

    /// A proxy to the server that an address names, and the address with the proxy in its place.
    async fn before(url: &str) -> (Self, String) {
        let at = url.find("127.0.0.1:").expect("servers for tests are on this machine");
        let end = url[at + 10..].find(|c: char| !c.is_ascii_digit()).map_or(url.len(), |end| at + 10 + end);
        let proxy = Proxy::to(url[at..end].parse().unwrap()).await;
        let url = format!("{}{}{}", &url[..at], proxy.address, &url[end..]);
        (proxy, url)
    }

    fn is(&self, line: Line) {
        self.line.send_replace(line);
    }
}

async fn pass(client: TcpStream, server: SocketAddr, mut line: watch::Receiver<Line>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let (theirs, ours) = (client.into_split(), server.into_split());
    let (there, back) = (carry(theirs.0, ours.1, line.clone()), carry(ours.0, theirs.1, line.clone()));
    tokio::select! {
        _ = there => {}
        _ = back => {}
        _ = line.wait_for(|line| *line == Line::Down) => {}
    }
}

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    line: watch::Receiver<Line>,
) -> std::io::Result<()> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let read = from.read(&mut bytes).await?;
        if read == 0 {
            return Ok(());
        }
        let now = *line.borrow();
        if now == Line::Slow {
            sleep(Duration::from_millis(20)).await;
        }
        let piece = if now == Line::InPieces { read.div_ceil(3) } else { read };
        for piece in bytes[..read].chunks(piece) {
            to.write_all(piece).await?;
            tokio::task::yield_now().await;
        }
    }
}

/// Addresses of the servers for tests, with a part of each for this test alone; `None` where there are none.
struct Servers {
    database: String,
    bucket: String,
    valkey: String,
}

impl Servers {
    fn of_tests() -> Option<Self> {
        // Where all tests run on servers, their addresses are not ours to change.
        if on_servers() {
            return None;
        }
        let own = uuid::Uuid::now_v7().simple().to_string();
        Some(Servers {
            database: format!("{}?schema=p_{own}", server("QUIRE_TEST_POSTGRES")?),
            bucket: server("QUIRE_TEST_S3")?.replacen("/?", &format!("/test-{own}?"), 1),
            valkey: format!("{}-{own}", server("QUIRE_TEST_VALKEY_ALONE")?),
        })
    }

    fn config(&self) -> Config {
        let mut config = roomy();
        config.catalog.url = Some(self.database.clone().into());
        config.index.url = Some(self.database.clone().into());
        config.blobs.url = Some(self.bucket.clone().into());
        config.limiter.url = Some(self.valkey.clone().into());
        config
    }
}

async fn node(config: Config) -> TestApp {
    TestApp::on(Arc::new(tempfile::tempdir().unwrap()), config).await
}

fn must_be_away(answer: &Answer) {
    assert_eq!(answer.verdict(), "503 B1000 upstream_unavailable", "{answer:?}");
    assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_its_database_says_so_and_loses_nothing() {
    let Some(mut servers) = Servers::of_tests() else { return };
    let (proxy, database) = Proxy::before(&servers.database).await;
    servers.database = database;
    let app = node(servers.config()).await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "pets.txt", "Puppies need a walk twice a day.").await;
    let search = async || {
        let path = format!("/boxes/{box_id}/retrieve-documents");
        app.post(&path, &key, json!({"query": "puppies"})).await
    };
    let before = search().await;
    assert!(before.body.to_string().contains("pets.txt"), "{before:?}");
    for line in [Line::Slow, Line::InPieces] {
        proxy.is(line);
        assert_eq!(search().await.body["data"]["documents"], before.body["data"]["documents"], "{line:?}");
    }
    proxy.is(Line::Down);
    must_be_away(&search().await);
    must_be_away(&app.upload(box_id, &key, "lost.txt", b"Nobody is told that this was stored.", &[]).await);
    proxy.is(Line::Good);
    assert_eq!(search().await.body["data"]["documents"], before.body["data"]["documents"], "without hands");

    // The line breaks while files come in, again and again: what was acknowledged is there, and nothing is there twice.
    let mut kept = vec!["pets.txt".to_string()];
    for round in 0..3 {
        let files = (0..6).map(|number| {
            let (app, key) = (&app, &key);
            async move {
                let name = format!("{round}-{number}.txt");
                let answer =
                    app.upload(box_id, key, &name, name.as_bytes(), &[("externalId", name.as_str())]).await;
                (name, answer)
            }
        });
        let breaking = async {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            proxy.is(Line::Down);
        };
        let (answers, ()) = tokio::join!(futures::future::join_all(files), breaking);
        proxy.is(Line::Good);
        for (name, answer) in answers {
            if answer.status != 201 {
                must_be_away(&answer);
                // As a client does that was told to.
                let again =
                    app.upload(box_id, &key, &name, name.as_bytes(), &[("externalId", name.as_str())]).await;
                assert!([200, 201].contains(&again.status), "{again:?}");
            }
            kept.push(name);
        }
    }
    kept.sort();
    let listed = app.get(&format!("/boxes/{box_id}/files?sort=name&limit=200"), &key).await;
    let files = listed.body["data"]["files"].as_array().unwrap();
    let names: Vec<&str> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, kept);
    // A worker whose claim was committed but never confirmed does not know of it: nodes take such files over.
    app.catalog.requeue_abandoned(Duration::ZERO).await.unwrap();
    for file in files {
        assert_eq!(app.settled(&key, file["fileId"].as_str().unwrap()).await["status"], "ready");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_its_bucket_says_so_and_loses_nothing() {
    let Some(mut servers) = Servers::of_tests() else { return };
    let (proxy, bucket) = Proxy::before(&servers.bucket).await;
    servers.bucket = bucket;
    let app = node(servers.config()).await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "pets.txt", "Puppies need a walk twice a day.").await;
    for line in [Line::Slow, Line::InPieces] {
        proxy.is(line);
        let text = format!("The line is {line:?}.");
        app.text_file(box_id, &key, &format!("{line:?}.txt"), &text).await;
    }
    proxy.is(Line::Down);
    must_be_away(&app.upload(box_id, &key, "lost.txt", b"Nobody is told that this was stored.", &[]).await);
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let search = app.post(&path, &key, json!({"query": "puppies"})).await;
    assert!(search.body.to_string().contains("pets.txt"), "what was read is searched: {search:?}");
    proxy.is(Line::Good);
    app.text_file(box_id, &key, "later.txt", "The bucket is back.").await;
    let listed = app.get(&format!("/boxes/{box_id}/files?sort=name"), &key).await;
    assert_eq!(listed.body["data"]["files"].as_array().unwrap().len(), 4, "{listed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_valkey_counts_alone_and_then_with_the_others_again() {
    let Some(mut servers) = Servers::of_tests() else { return };
    let (proxy, valkey) = Proxy::before(&servers.valkey).await;
    servers.valkey = valkey;
    let app = node(servers.config()).await;
    let (_, _, key) = app.owner().await;
    let hits = async || {
        let answer = app.get("/check", &key).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.number("x-ratelimit-hits")
    };
    for number in 1..=50 {
        assert_eq!(hits().await, number);
    }
    for (line, number) in [(Line::Slow, 51), (Line::InPieces, 52)] {
        proxy.is(line);
        assert_eq!(hits().await, number, "{line:?}");
    }
    proxy.is(Line::Down);
    let mut last = hits().await;
    assert_eq!(last, 1, "the node counts by itself");
    proxy.is(Line::Good);
    // Valkey is left alone for a second, then asked again: its count goes on where it was.
    loop {
        let next = hits().await;
        if next != last + 1 {
            assert_eq!(next, 53);
            return;
        }
        last = next;
        sleep(Duration::from_millis(50)).await;
    }
}
