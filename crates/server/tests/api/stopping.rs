//! The end of the process: within its grace, whatever clients and workers are doing.

use std::{process::Command, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::multipart::{Form, Part};
use serde_json::Value;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    chat::{WARRANTY, question},
    commands::{Served, json, papers, quire},
    support::{Answer, client},
    upstream::{Act, Stub},
};

const GRACE_S: u64 = 4;

/// Ends by itself, or fails the test; gives the exit code.
async fn ends(server: &mut Served) -> Option<i32> {
    // Some seconds more than the grace, for a machine that is busy with other tests.
    for _ in 0..(GRACE_S + 10) * 20 {
        if let Some(status) = server.0.try_wait().unwrap() {
            return status.code();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it runs on after its grace");
}

fn terminate(server: &Served) {
    kill(Pid::from_raw(server.0.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
}

fn serve(data: &std::path::Path, stub: &Stub) -> Command {
    let mut command = quire(data, &["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("QUIRE__HTTP__SHUTDOWN_GRACE_S", GRACE_S.to_string())
        .env("QUIRE__ANSWERER__KIND", "upstream")
        .env("QUIRE__ANSWERER__URL", stub.url())
        .env("QUIRE__ANSWERER__MODEL", "stub");
    command
}

/// The server's client, and paths under its API.
struct Asker {
    client: reqwest::Client,
    base: String,
    key: String,
}

impl Asker {
    fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    async fn upload(&self, box_id: &str, name: &str, bytes: Vec<u8>) -> String {
        let form = Form::new().part("file", Part::bytes(bytes).file_name(name.to_string()));
        let request = self.post(&format!("/boxes/{box_id}/files")).multipart(form);
        let answer = Answer::of(request.send().await.unwrap()).await;
        answer.body["data"]["fileId"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_string()
    }

    async fn settled(&self, file: &str) {
        loop {
            let answer = Answer::of(self.get(&format!("/files/{file}")).send().await.unwrap()).await;
            if answer.body["data"]["status"] == "ready" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_ends_within_its_grace_whatever_holds_on_to_it() {
    let stub = Stub::start(vec![Act::Hang(vec!["The warranty lasts".into()])]).await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let key = papers(data, quire);
    let box_id = json(data, &["box", "list"])[0]["boxId"].as_str().unwrap().to_string();
    let mut server = Served::start(serve(data, &stub));
    let asker = Asker { client: client(data), base: format!("{}/api/public/v1", server.1), key };
    let file = asker.upload(&box_id, "warranty.md", WARRANTY.into()).await;
    asker.settled(&file).await;
    // A client that says nothing, an idle HTTP/2 connection (the asker's own), and one that sends half an upload.
    let address = server.1.trim_start_matches("https://").to_string();
    let mut silent = TcpStream::connect(&address).await.unwrap();
    silent.write_all(b"\x16\x03").await.unwrap();
    let half =
        futures::stream::once(async { Ok::<_, std::io::Error>("--x\r\nContent-Disposition: form-data") });
    let half = futures::StreamExt::chain(half, futures::stream::pending());
    let upload = asker.post(&format!("/boxes/{box_id}/files"));
    let upload = upload.header("content-type", "multipart/form-data; boundary=x");
    let upload = tokio::spawn(upload.body(reqwest::Body::wrap_stream(half)).send());
    // An event stream, an answer whose language model hangs, a download that nobody reads, and a file that is being read.
    let events = asker.get(&format!("/boxes/{box_id}/events")).send().await.unwrap();
    let large = asker.upload(&box_id, "large.txt", b"Many lines of text.\n".repeat(1_000_000)).await;
    let link = Answer::of(asker.get(&format!("/files/{large}/signed-url")).send().await.unwrap()).await;
    let unread = asker.client.get(link.body["data"]["url"].as_str().unwrap()).send().await.unwrap();
    let mut body = question("How long does the warranty last?");
    body["stream"] = true.into();
    let chat = tokio::spawn(asker.post(&format!("/boxes/{box_id}/chat/completions")).json(&body).send());
    stub.asked().await;

    terminate(&server);
    let last_words =
        tokio::time::timeout(Duration::from_secs(20), events.text()).await.expect("it ends").unwrap();
    assert!(last_words.contains("event: error") && last_words.contains("stopping"), "{last_words}");
    let chat = chat.await.unwrap().expect("told, not cut");
    assert_eq!(chat.status(), 503, "no word of it had been sent yet");
    assert_eq!(Answer::of(chat).await.body["error"]["reason"], Value::from("overloaded"));
    assert_eq!(ends(&mut server).await, Some(0));
    assert!(upload.await.unwrap().is_err());
    drop((silent, unread));
}
