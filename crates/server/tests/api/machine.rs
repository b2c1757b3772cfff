//! A machine that gives a server too little: no room, a disk that fails, no file handles, no memory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use reqwest::{
    Response,
    multipart::{Form, Part},
};
use serde_json::Value;

use crate::{
    commands::{Served, papers, quire},
    faults::{doctor, on_servers},
    support::{Answer, client},
};

/// A data folder with the box Papers, and servers on it one after the other.
struct Node {
    folder: tempfile::TempDir,
    key: String,
}

impl Node {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = papers(folder.path(), quire);
        let node = Node { folder, key };
        // A program without models beside it writes its own when it first starts, which the limits of these tests must not hit.
        drop(Served::start(node.line()));
        node
    }

    fn data(&self) -> &Path {
        self.folder.path()
    }

    /// The line that serves it.
    fn line(&self) -> Command {
        let mut line = quire(self.data(), &["serve", "--listen", "127.0.0.1:0"]);
        // These tests ask until something is done.
        line.env("QUIRE__LIMITS__KEY_REQUESTS", "1000000").stderr(Stdio::null());
        line
    }

    async fn start(&self, line: Command) -> Running<'_> {
        let served = Served::start(line);
        let mut running = Running { node: self, served, http: client(self.data()), box_id: String::new() };
        let boxes = running.get("/boxes").await;
        running.box_id = boxes.body["data"]["boxes"][0]["boxId"].as_str().unwrap().to_string();
        running
    }

    /// What a server that nothing is wrong with lists.
    async fn kept(&self) -> Vec<String> {
        self.start(self.line()).await.names().await
    }
}

/// A server as its own process, that things are done to.
struct Running<'a> {
    node: &'a Node,
    served: Served,
    http: reqwest::Client,
    box_id: String,
}

impl Running<'_> {
    async fn get(&self, path: &str) -> Answer {
        let request = self.http.get(format!("{}/api/public/v1{path}", self.served.1));
        Answer::of(request.bearer_auth(&self.node.key).send().await.unwrap()).await
    }

    async fn delete(&self, uploaded: &Answer) -> Answer {
        let file = uploaded.body["data"]["fileId"].as_str().unwrap();
        let request = self.http.delete(format!("{}/api/public/v1/files/{file}", self.served.1));
        Answer::of(request.bearer_auth(&self.node.key).send().await.unwrap()).await
    }

    /// An error where the server died of it.
    async fn send(&self, name: &str, text: impl Into<String>) -> reqwest::Result<Response> {
        let form = Form::new().part("file", Part::text(text.into()).file_name(name.to_string()));
        let url = format!("{}/api/public/v1/boxes/{}/files", self.served.1, self.box_id);
        self.http.post(url).bearer_auth(&self.node.key).multipart(form).send().await
    }

    async fn upload(&self, name: &str, text: &str) -> Answer {
        let answer = Answer::of(self.send(name, text).await.unwrap()).await;
        answer.must_be_well_formed();
        answer
    }

    async fn names(&self) -> Vec<String> {
        let listed = self.get(&format!("/boxes/{}/files?sort=name&limit=200", self.box_id)).await;
        let files = listed.body["data"]["files"].as_array().unwrap_or_else(|| panic!("{listed:?}"));
        files.iter().map(|file| file["name"].as_str().unwrap().to_string()).collect()
    }

    /// Waits until a file has one of these states; gives the file.
    async fn until(&self, answer: &Answer, wanted: &[&str]) -> Value {
        let path = format!("/files/{}", answer.body["data"]["fileId"].as_str().unwrap());
        loop {
            let file = self.get(&path).await.body["data"].clone();
            if wanted.contains(&file["status"].as_str().unwrap_or_default()) {
                return file;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A file that is there, and was read, before anything is wrong.
    async fn first(&self) -> Answer {
        let first = self.upload("first.txt", "Puppies need a walk.").await;
        self.until(&first, &["ready"]).await;
        first
    }

    /// Changes a limit of the running process, as `prlimit` names it.
    fn limit(&self, limit: &str) {
        let pid = self.served.0.id().to_string();
        assert!(Command::new("prlimit").args(["--pid", &pid, limit]).status().unwrap().success());
    }
}

/// A process that can write no file beyond a size is told what one on a full disk is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_and_nothing_acknowledged_is_lost() {
    if on_servers() {
        return;
    }
    let node = Node::new();
    let serve = node.line();
    let mut limited = Command::new("bash");
    // 16 MB, in blocks of 1,024 bytes: more than a log grows to before it is emptied.
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 16384; exec \"$@\"", "bash"])
        .arg(serve.get_program())
        .args(serve.get_args());
    limited.env("QUIRE__HTTP__METRICS_LISTEN", "").stderr(Stdio::null());
    let server = node.start(limited).await;
    assert_eq!(server.upload("first.txt", "Puppies need a walk.").await.status, 201);
    let refused = server.upload("large.txt", &"x".repeat(20 << 20)).await;
    assert_eq!(refused.verdict(), "503 B1000 overloaded", "{refused:?}");
    assert!(refused.body["error"]["cause"].as_str().unwrap().contains("disk"), "{refused:?}");
    assert_eq!(server.upload("second.txt", "The engine needs oil.").await.status, 201);
    drop(server);
    // Room again: what was acknowledged is there, and nothing is left of what was refused.
    let staging = || fs::read_dir(node.data().join("blobs/staging")).unwrap().map(Result::unwrap);
    assert!(staging().all(|entry| entry.metadata().unwrap().len() < 20 << 20));
    assert_eq!(node.kept().await, ["first.txt", "second.txt"]);
    assert_eq!(staging().count(), 0, "a start tidies up");
}

/// A disk that can be made to fail: a library before the system's, which reads from a file how.
struct Disk(tempfile::TempDir);

impl Disk {
    /// `None` where no compiler makes the library.
    fn new() -> Option<Self> {
        let disk = Disk(tempfile::tempdir().unwrap());
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/disk.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(disk.library()).arg(source).arg("-ldl");
        if compiler.status().is_ok_and(|made| made.success()) {
            return Some(disk);
        }
        eprintln!("skipped: no C compiler here, which makes the library that lets a disk fail");
        None
    }

    fn library(&self) -> PathBuf {
        self.0.path().join("disk.so")
    }

    fn fault(&self) -> PathBuf {
        self.0.path().join("fault")
    }

    /// A server with its data folder on this disk.
    async fn serving<'a>(&self, node: &'a Node) -> Running<'a> {
        let mut line = node.line();
        line.env("LD_PRELOAD", self.library());
        line.env("QUIRE_TEST_DISK", node.data()).env("QUIRE_TEST_DISK_FAULT", self.fault());
        node.start(line).await
    }

    fn fails(&self, how: &str) {
        fs::write(self.fault(), how).unwrap();
    }

    fn is_well(&self) {
        fs::remove_file(self.fault()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fails_is_told_and_nothing_acknowledged_is_lost() {
    if on_servers() {
        return;
    }
    let node = Node::new();
    let Some(disk) = Disk::new() else { return };
    let server = disk.serving(&node).await;
    let first = server.first().await;
    let mut kept = vec!["first.txt".to_string()];
    // What is not written through, and what cannot be written at all.
    for how in ["sync", "read-only"] {
        disk.fails(how);
        for name in ["lost.txt", "lost again.txt"] {
            let refused = server.upload(name, "Nobody is told that this was stored.").await;
            assert_eq!(refused.verdict(), "503 B1000 overloaded", "{how}: {refused:?}");
            assert!(refused.body["error"]["cause"].as_str().unwrap().contains("disk"), "{refused:?}");
            assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
        }
        let refused = server.delete(&first).await;
        assert_eq!(refused.verdict(), "503 B1000 overloaded", "{how}: {refused:?}");
        // Every request is counted on the disk; where that cannot be written at all, none is served.
        let listed = server.get(&format!("/boxes/{}/files", server.box_id)).await;
        assert_eq!(listed.status, if how == "sync" { 200 } else { 503 }, "{how}: {listed:?}");
        disk.is_well();
        // Without hands.
        let name = format!("{how}.txt");
        let later = server.upload(&name, &format!("The disk is well again after {how}.")).await;
        assert_eq!(later.status, 201, "{how}: {later:?}");
        server.until(&later, &["ready"]).await;
        kept.push(name);
        kept.sort();
        assert_eq!(server.names().await, kept, "{how}");
    }
    drop(server);
    assert_eq!(node.kept().await, kept);
    let (fine, report) = doctor(node.data(), &["--scrub"]);
    assert!(fine, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_waits_for_the_disk_is_read_once_it_is_back() {
    if on_servers() {
        return;
    }
    let node = Node::new();
    let Some(disk) = Disk::new() else { return };
    let server = disk.serving(&node).await;
    let answer = server.upload("first.txt", "Puppies need a walk.").await;
    // It is taken from the queue at this moment, before or after the disk fails.
    disk.fails("read-only");
    let refused = server.upload("second.txt", "The engine needs oil.").await;
    assert_eq!(refused.status, 503, "{refused:?}");
    disk.is_well();
    server.until(&answer, &["ready"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_file_handles_says_so_and_goes_on_once_it_has_some() {
    if on_servers() {
        return;
    }
    let node = Node::new();
    let server = node.start(node.line()).await;
    server.first().await;
    server.limit("--nofile=3:");
    let refused = server.upload("lost.txt", "Nobody is told that this was stored.").await;
    assert_eq!(refused.verdict(), "503 B1000 overloaded", "{refused:?}");
    assert_eq!(server.names().await, ["first.txt"], "the connection that there is goes on");
    server.limit("--nofile=1024:");
    // A connection of its own, and a file that a parser reads.
    let again = Running {
        http: client(node.data()),
        box_id: server.box_id.clone(),
        node: &node,
        served: server.served,
    };
    let second = again.upload("second.txt", "The engine needs oil.").await;
    again.until(&second, &["ready"]).await;
    assert_eq!(again.names().await, ["first.txt", "second.txt"]);
}

/// A process that gets no more memory cannot even start a thread: it refuses, or ends and is started again by whoever watches it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_memory_refuses_or_ends_and_loses_nothing_acknowledged() {
    if on_servers() {
        return;
    }
    let node = Node::new();
    let mut line = node.line();
    // No memory is put by at the start, and one request may need much of it.
    line.env("MIMALLOC_ARENA_RESERVE", "0").env("QUIRE__LIMITS__BODY_KB", "131072");
    let server = node.start(line).await;
    server.first().await;
    let (mut acknowledged, mut struck) = (vec!["first.txt".to_string()], false);
    server.limit("--data=1:");
    for number in 0..40 {
        let name = format!("{number}.txt");
        match server.send(&name, format!("Number {number}. ").repeat(20_000)).await {
            Ok(answer) if answer.status() == 201 => acknowledged.push(name),
            Ok(answer) => {
                assert!(answer.status().is_server_error(), "{answer:?}");
                struck = true;
            }
            Err(_) => {
                struck = true;
                break;
            }
        }
    }
    if !struck {
        // All of them made do with what the server had already.
        let body = serde_json::json!({"name": "large.txt", "text": "More than there is. ".repeat(3 << 20)});
        let url = format!("{}/api/public/v1/boxes/{}/files", server.served.1, server.box_id);
        let answer = server.http.post(url).bearer_auth(&node.key).json(&body).send().await;
        struck = answer.is_err() || answer.is_ok_and(|answer| answer.status().is_server_error());
    }
    assert!(struck, "the limit was felt");
    drop(server);
    let kept = node.kept().await;
    assert!(acknowledged.iter().all(|name| kept.contains(name)), "{acknowledged:?} {kept:?}");
    let (fine, report) = doctor(node.data(), &["--scrub"]);
    assert!(fine, "{report}");
}
