//! What breaks under a server: it says so, loses nothing that it acknowledged, and goes on once the cause is gone.

use std::{fs, os::unix::fs::FileExt, path::Path, sync::Arc};

use engine::{
    ids::BoxId,
    seams::catalog::{Action, NewEntry},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use server::backup;
use stores::index::copies;

use crate::{
    commands::quire,
    support::{Answer, Intruding, TestApp, roomy, scaled},
};

/// These are of data folders: servers have disks of their own.
pub(crate) fn on_servers() -> bool {
    !scaled(Path::new("/")).is_empty()
}

pub(crate) fn doctor(data: &Path, line: &[&str]) -> (bool, Value) {
    let line: Vec<&str> = ["doctor", "--json"].iter().chain(line).copied().collect();
    let output = quire(data, &line).output().unwrap();
    (output.status.success(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

/// What the doctor says of one thing: its state and its words.
pub(crate) fn said<'a>(report: &'a Value, what: &str) -> (&'a str, &'a str) {
    let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["what"] == what);
    let found = found.unwrap_or_else(|| panic!("nothing about {what}: {report}"));
    (found["state"].as_str().unwrap(), found["text"].as_str().unwrap())
}

pub(crate) async fn found(app: &TestApp, box_id: BoxId, key: &str, query: &str) -> Answer {
    app.post(&format!("/boxes/{box_id}/retrieve-documents"), key, json!({"query": query})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_box_is_named_and_leaves_the_others_alone() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (user, sick, key) = app.owner().await;
    let well = app.box_of(user).await;
    let long: String =
        (0..400).map(|line| format!("Line {line} tells of puppies and their walks.\n\n")).collect();
    app.text_file(sick, &key, "sick.txt", &long).await;
    app.text_file(well, &key, "well.txt", "A text about apples.").await;
    let backups = tempfile::tempdir().unwrap();
    backup::take(app.folder.path(), backups.path(), 7, |_, _, _| {}).await.unwrap();
    let folder = app.stop().await;

    damage(folder.path(), sick);
    let app = TestApp::on(folder.clone(), roomy()).await;
    let broken = found(&app, sick, &key, "walks of puppies").await;
    assert_eq!(broken.verdict(), "500 B1000 internal", "{broken:?}");
    let answer = found(&app, well, &key, "apples").await;
    assert!(answer.status == 200 && answer.body.to_string().contains("well.txt"), "{answer:?}");
    let (fine, report) = doctor(folder.path(), &["--scrub"]);
    let (state, text) = said(&report, "boxes");
    assert!(!fine && state == "wrong" && text.contains(&sick.to_string()), "{report}");
    let refused =
        backup::take(folder.path(), &backups.path().join("more"), 7, |_, _, _| {}).await.unwrap_err();
    assert!(format!("{refused:#}").contains(&sick.to_string()), "{refused:#}");
    app.stop().await;

    let again = Arc::new(tempfile::tempdir().unwrap());
    backup::restore(&backup::latest(backups.path()).unwrap(), again.path(), |_, _, _| {}).unwrap();
    let app = TestApp::on(again, roomy()).await;
    let answer = found(&app, sick, &key, "walks of puppies").await;
    assert!(answer.status == 200 && answer.body.to_string().contains("sick.txt"), "{answer:?}");
}

/// Overwrites every other page of a box's database.
pub(crate) fn damage(data: &Path, box_id: BoxId) {
    let path = copies::file_of(&data.join("index"), box_id);
    // What is in the log only comes into the file when it is emptied; a copy is all in one file.
    let copy = path.with_extension("copy");
    stores::snapshot(&path, &copy).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", path.display()));
    }
    fs::rename(copy, &path).unwrap();
    let size = fs::metadata(&path).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for page in (2..size / 4096).step_by(2) {
        file.write_all_at(&[0xa5; 4096], page * 4096).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_whose_reading_panics_keeps_no_other_from_being_read() {
    let fragile = Intruding(|texts: &[String]| {
        assert!(!texts.iter().any(|text| text.contains("unbearable")), "this text is unbearable");
        std::future::ready(())
    });
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let app = TestApp::with_embedders(folder, roomy(), Arc::new(fragile).into()).await;
    let (_, box_id, key) = app.owner().await;
    let bad = app.upload(box_id, &key, "bad.txt", b"An unbearable text.", &[]).await;
    app.text_file(box_id, &key, "good.txt", "A text about apples.").await;
    let file = app.get(&format!("/files/{}", bad.body["data"]["fileId"].as_str().unwrap()), &key).await;
    let status = file.body["data"]["status"].as_str().unwrap();
    assert!(["queued", "processing"].contains(&status), "it is tried again later: {file:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_power_cut_leaves_of_an_original_is_named_or_tidied_up() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "A text about apples.").await;
    let original = app.app.library.blobs.names().await.unwrap().pop().unwrap();
    let folder = app.stop().await;
    let path = folder.path().join("blobs/originals").join(&original[..2]).join(&original);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(5).unwrap();
    fs::write(folder.path().join("blobs/staging/.tmpHALF"), b"half an upload").unwrap();
    let app = TestApp::on(folder.clone(), roomy()).await;
    assert!(!folder.path().join("blobs/staging/.tmpHALF").exists());
    let answer = found(&app, box_id, &key, "apples").await;
    assert!(answer.body.to_string().contains("a.txt"), "what was read of it is still found: {answer:?}");
    let (fine, report) = doctor(folder.path(), &["--scrub"]);
    assert!(!fine && report["damaged"] == json!([original]), "{report}");
    let backups = tempfile::tempdir().unwrap();
    let taken = backup::take(folder.path(), backups.path(), 7, |_, _, _| {}).await.unwrap();
    assert_eq!(taken.manifest.damaged, [original]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_says_how_everything_is() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "A text about apples.").await;
    let data = app.folder.path().to_path_buf();
    let parsing = data.join("scratch/parse-now");
    fs::create_dir_all(&parsing).unwrap();
    let (fine, report) = doctor(&data, &[]);
    assert!(fine, "{report}");
    assert!(parsing.exists(), "a server that runs keeps what its parsers work on");
    for what in [
        "settings",
        "disk",
        "backup",
        "certificate",
        "clock",
        "catalog",
        "queue",
        "quota",
        "originals",
        "index",
        "embedder",
    ] {
        assert_ne!(said(&report, what).0, "wrong", "{report}");
    }
    if on_servers() {
        return;
    }
    assert!(["ok", "warning"].contains(&said(&report, "encryption").0));
    assert!(said(&report, "backup").1.contains("quire backup DIR"), "{report}");
    assert!(!doctor(&data, &["--strict"]).0, "a warning counts then");
    let backups = tempfile::tempdir().unwrap();
    backup::take(&data, backups.path(), 7, |_, _, _| {}).await.unwrap();
    assert_eq!(said(&doctor(&data, &[]).1, "backup").0, "ok");

    // A clock that was put back is told by what was recorded.
    let entry = NewEntry {
        at: Timestamp::now() + SignedDuration::from_hours(2),
        user: None,
        who: String::new(),
        address: String::new(),
        box_id: None,
        action: Action::SignedIn,
        target: String::new(),
    };
    app.catalog.note(entry).await.unwrap();
    let (fine, report) = doctor(&data, &[]);
    assert!(!fine && said(&report, "clock").1.contains("set back"), "{report}");

    // A catalog that cannot be read is said, and the rest is looked at all the same.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut bytes = vec![0xa5; 8192];
    bytes[..16].copy_from_slice(b"SQLite format 3\0");
    fs::write(elsewhere.path().join("catalog.db"), bytes).unwrap();
    let (fine, report) = doctor(elsewhere.path(), &[]);
    assert!(!fine && said(&report, "catalog").1.contains("damaged"), "{report}");
    assert_ne!(said(&report, "disk").0, "wrong");
}
