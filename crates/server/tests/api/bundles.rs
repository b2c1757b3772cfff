//! A box to a file and back: as it was, without reading anything again; whatever is done to the file, whole or not at all.

use std::{
    io::{self, Read},
    path::Path,
    process::Command,
};

use engine::{
    Fault,
    access::Writing,
    bundle,
    ids::{BoxId, UserId},
    seams::embedder::Embedder,
};
use models::FakeEmbedder;
use serde_json::{Value, json};
use server::{
    assemble,
    bundles::{self, Imported, Wanted},
};

use crate::{
    commands::{Served, json as run, papers, quire},
    support::TestApp,
};

/// The bundle of a box of this server, written as another process would.
async fn exported(app: &TestApp, box_id: BoxId) -> Vec<u8> {
    let open = async || Ok(assemble::open_library(app.folder.path(), &app.app.config).await.unwrap());
    let boxes = app.catalog.boxes().await.unwrap();
    let record = boxes.iter().find(|record| record.id == box_id).unwrap();
    bundles::export(open, record, Vec::new(), |_, _| {}).await.unwrap().1
}

fn wanted(owner: UserId, model: &str) -> Wanted<'_> {
    Wanted { name: None, owner, model, dimensions: FakeEmbedder.dimensions() }
}

async fn import(app: &TestApp, wanted: Wanted<'_>, from: impl Read + Send) -> Result<Imported, Fault> {
    bundles::import(&app.app.library, wanted, from, |_| {}).await
}

/// An answer without what is of this server and this request only.
async fn answer(app: &TestApp, key: &str, path: &str, body: Option<Value>) -> String {
    let answer = match body {
        Some(body) => app.post(path, key, body).await,
        None => app.get(path, key).await,
    };
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut body = answer.body.clone();
    body.as_object_mut().unwrap().remove("request_id");
    body.to_string().replace(&app.url(""), "https://here")
}

const PETS: &str =
    "# Pets\n\nPuppies need a walk twice a day. Kittens sleep a lot.\n\n# Cars\n\nThe engine needs new oil.";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_arrives_as_it_was_and_nothing_is_read_again() {
    let (here, there) = (TestApp::start().await, TestApp::start().await);
    let (_, box_id, key) = here.owner().await;
    let labels = [("tags", "animals,2026"), ("metadata", r#"{"year": 2026}"#), ("externalId", "crm-7")];
    let uploaded = here.upload(box_id, &key, "pets.md", PETS.as_bytes(), &labels).await;
    let pets = uploaded.body["data"]["fileId"].as_str().unwrap().to_string();
    here.settled(&key, &pets).await;
    here.text_file(box_id, &key, "boats.txt", "A boat needs paint every spring.").await;
    let broken = here.upload(box_id, &key, "broken.pdf", b"%PDF-1.7 nothing", &[]).await;
    let broken = broken.body["data"]["fileId"].as_str().unwrap().to_string();
    assert_eq!(here.settled(&key, &broken).await["status"], "failed");
    let bytes = exported(&here, box_id).await;

    let ada = there.user("ada@example.org").await;
    let arrived = import(&there, wanted(ada, FakeEmbedder.id()), &bytes[..]).await.unwrap();
    assert_eq!((arrived.record.id, arrived.totals.files, arrived.totals.unread), (box_id, 3, 0));
    let new_key = there.key(ada).await;
    let search = format!("/boxes/{box_id}/retrieve-documents");
    let mut asked: Vec<(String, Option<Value>)> = ["walk a puppy", "new oil", "paint", "kitens"]
        .map(|query| (search.clone(), Some(json!({"query": query}))))
        .into();
    asked.push((format!("/files/{pets}"), None));
    asked.push((format!("/files/{broken}"), None));
    asked.push((format!("/files/{pets}/report"), None));
    asked.push((format!("/files?box_id={box_id}&sort=name"), None));
    let sources = json!({"sources": [pets]});
    asked.push((format!("/boxes/{box_id}/retrieve-full-documents"), Some(sources)));
    for (path, body) in asked {
        let before = answer(&here, &key, &path, body.clone()).await;
        assert_eq!(before, answer(&there, &new_key, &path, body).await, "{path}");
    }
    let index = &there.app.library.index;
    let writing = Writing::for_operator(box_id);
    engine::ingest::compare(&*here.app.library.index, &**index, &writing).await.unwrap();

    // A second time it is another box with other files, and the first stays.
    let again = import(&there, wanted(ada, FakeEmbedder.id()), &bytes[..]).await.unwrap();
    assert_ne!(again.record.id, box_id);
    let found = answer(&there, &new_key, &search, Some(json!({"query": "paint"}))).await;
    assert!(found.contains("boats.txt"), "{found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vectors_of_another_model_are_made_again() {
    let (here, there) = (TestApp::start().await, TestApp::start().await);
    let (_, box_id, key) = here.owner().await;
    here.text_file(box_id, &key, "pets.md", PETS).await;
    let bytes = exported(&here, box_id).await;
    let ada = there.user("ada@example.org").await;
    let new_key = there.key(ada).await;
    let arrived = import(&there, wanted(ada, "another@1"), &bytes[..]).await.unwrap();
    assert_eq!((arrived.totals.files, arrived.totals.unread, arrived.totals.chunks), (1, 1, 0));
    let files = there.get(&format!("/boxes/{box_id}/files"), &new_key).await;
    let file = files.body["data"]["files"][0]["fileId"].as_str().unwrap().to_string();
    assert_eq!(there.settled(&new_key, &file).await["status"], "ready");
    let search = json!({"query": "new oil"});
    let found = answer(&there, &new_key, &format!("/boxes/{box_id}/retrieve-documents"), Some(search)).await;
    assert!(found.contains("engine needs new oil"), "{found}");
}

/// Gives some bytes, then fails as a disk does.
struct Breaking<'a>(&'a [u8]);

impl Read for Breaking<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_is_cut_short_leaves_nothing() {
    let (here, there) = (TestApp::start().await, TestApp::start().await);
    let (_, box_id, key) = here.owner().await;
    for number in 0..3 {
        here.text_file(box_id, &key, &format!("{number}.txt"), &format!("Text number {number}.")).await;
    }
    let bytes = exported(&here, box_id).await;
    let ada = there.user("ada@example.org").await;
    let writing = Writing::for_operator(box_id);
    for share in [30, 60, 99] {
        let half = &bytes[..bytes.len() * share / 100];
        let wrong = import(&there, wanted(ada, FakeEmbedder.id()), Breaking(half)).await.unwrap_err();
        assert!(wrong.cause.contains("the disk is gone") && wrong.cause.contains("at byte"), "{wrong}");
        assert!(there.catalog.boxes().await.unwrap().is_empty());
        assert!(there.catalog.half_deleted_boxes().await.unwrap().is_empty());
        assert!(there.app.library.blobs.names().await.unwrap().is_empty(), "no original stays");
        assert!(there.app.library.index.contents(writing.reading()).await.unwrap().files.is_empty());
    }
    // One whose process died is found by whoever tends the store.
    let head = bundle::verify(&bytes[..], |_| {}).unwrap().0;
    let arrival = engine::seams::catalog::NewArrival {
        id: head.box_id,
        name: head.box_name().unwrap(),
        created_at: head.created_at,
        notes: head.notes,
        settings: head.settings,
    };
    there.catalog.begin_arrival(arrival, std::time::Duration::ZERO).await.unwrap();
    there.app.library.finish_deletions().await.unwrap();
    import(&there, wanted(ada, FakeEmbedder.id()), &bytes[..]).await.unwrap();
    assert_eq!(there.catalog.boxes().await.unwrap()[0].id, box_id);
}

/// Everything under a folder that is not a database's log, with its size.
fn files_under(folder: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.metadata().unwrap() {
            metadata if metadata.is_dir() => found.extend(files_under(&entry.path())),
            metadata => found.push((entry.path().display().to_string(), metadata.len())),
        }
    }
    found.sort();
    found
}

fn said(mut command: Command) -> (bool, String) {
    let output = command.output().unwrap();
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_is_exported_and_imported_beside_a_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let key = papers(&data, quire);
    let texts = folder.path().join("texts");
    std::fs::create_dir(&texts).unwrap();
    std::fs::write(texts.join("pets.md"), PETS).unwrap();
    let server = Served::start(quire(&data, &["serve", "--listen", "127.0.0.1:0"]));
    let client = |line: &[&str]| {
        let mut command = quire(&data, line);
        command.env("QUIRE_URL", &server.1).env("QUIRE_API_KEY", &key);
        command
    };
    let (added, text) = said(client(&["add", "Papers", texts.to_str().unwrap()]));
    assert!(added, "{text}");
    let bundle = folder.path().join("papers.quire");
    let file = bundle.to_str().unwrap();
    let exported = run(&data, &["export", "Papers", file]);
    assert_eq!((&exported["contents"]["files"], &exported["contents"]["unread"]), (&json!(1), &json!(0)));
    let (again, text) = said(quire(&data, &["export", "Papers", file]));
    assert!(!again && text.contains("exists already"), "{text}");

    // A flipped bit anywhere: refused with the place, and nothing stays.
    let sound = std::fs::read(&bundle).unwrap();
    let before = files_under(&data.join("blobs"));
    for at in [3, 40, sound.len() / 2, sound.len() - 2] {
        let mut flipped = sound.clone();
        flipped[at] ^= 4;
        let bad = folder.path().join("bad.quire");
        std::fs::write(&bad, &flipped).unwrap();
        let (imported, text) = said(quire(&data, &["import", bad.to_str().unwrap()]));
        assert!(!imported && text.contains("at byte "), "{at}: {text}");
    }
    assert_eq!(run(&data, &["box", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(files_under(&data.join("blobs")), before);

    let imported = run(&data, &["import", file, "--name", "Copies"]);
    assert_eq!((&imported["owner"], &imported["embeddedAgain"]), (&json!("ada@example.org"), &json!(0)));
    let (found, text) = said(client(&["search", "Copies", "how often does a puppy need a walk"]));
    assert!(found && text.contains("pets.md"), "{text}");
    let (_, audit) = said(client(&["files", "Copies"]));
    assert!(audit.contains("pets.md"), "{audit}");
    let (refused, text) = said(quire(&data, &["import", file, "--owner", "nobody@example.org"]));
    assert!(!refused && text.contains("nobody@example.org"), "{text}");
}
