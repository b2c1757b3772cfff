//! Backups of a running server: consistent, incremental, checked; and restored into an empty folder as they were.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::access::Writing;
use serde_json::{Value, json};
use server::backup::{self, Entry, Manifest, Taken};

use crate::support::{TestApp, roomy, scaled};

/// Backups are of data folders; stores on servers have their own tools.
fn on_servers() -> bool {
    !scaled(Path::new("/")).is_empty()
}

async fn take(app: &TestApp, to: &Path) -> Taken {
    backup::take(app.folder.path(), to, 7, |_, _, _| {}).await.unwrap()
}

/// A server on what was restored from a folder of backups.
async fn restored(from: &Path) -> TestApp {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    backup::restore(&backup::latest(from).unwrap(), folder.path(), |_, _, _| {}).unwrap();
    TestApp::on(folder, roomy()).await
}

async fn found(app: &TestApp, box_id: impl std::fmt::Display, key: &str, query: &str) -> Value {
    let answer = app.post(&format!("/boxes/{box_id}/retrieve-documents"), key, json!({"query": query})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let text = answer.body["data"].to_string().replace(&app.url(""), "https://here");
    serde_json::from_str(&text).unwrap()
}

/// The backups' names differ by the second that they were begun in.
fn renamed(taken: &Taken, name: &str) -> PathBuf {
    let to = taken.folder.with_file_name(name);
    std::fs::rename(&taken.folder, &to).unwrap();
    to
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_server_is_backed_up_and_restored_as_it_was() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    for number in 0..5 {
        let text = format!("The garden of house {number} has {} trees.", number * 7);
        app.text_file(box_id, &key, &format!("{number}.txt"), &text).await;
    }
    let queries = ["trees in the garden", "house 3", "gardn"];
    let to = tempfile::tempdir().unwrap();
    let first = take(&app, to.path()).await;
    assert_eq!((first.read_again, first.manifest.damaged.len()), (0, 0));
    renamed(&first, "2026-01-01T00-00-00");
    // Nothing changed: everything but the catalog, which is written each time, is a link.
    let second = take(&app, to.path()).await;
    assert_eq!(second.copied, 1, "{second:?}");
    let second_at = renamed(&second, "2026-01-02T00-00-00");

    app.text_file(box_id, &key, "late.txt", "A late text about boats.").await;
    let third = take(&app, to.path()).await;
    assert_eq!(third.copied, 3, "the catalog, the box and one original: {third:?}");
    assert!(!third.folder.join("index").exists(), "boxes are in pieces");
    backup::check(&third.folder, |_, _| {}).unwrap();
    renamed(&third, "2026-01-03T00-00-00");

    let before: Vec<Value> = {
        let mut answers = Vec::new();
        for query in queries {
            answers.push(found(&app, box_id, &key, query).await);
        }
        answers
    };
    let again = restored(to.path()).await;
    for (query, before) in queries.iter().zip(&before) {
        assert_eq!(&found(&again, box_id, &key, query).await, before, "{query}");
    }
    let (one, other) = (&app.app.library.index, &again.app.library.index);
    engine::ingest::compare(&**one, &**other, &Writing::for_operator(box_id)).await.unwrap();

    // An older one still is what it was: nothing of a later one came into it.
    let folder = Arc::new(tempfile::tempdir().unwrap());
    backup::restore(&second_at, folder.path(), |_, _, _| {}).unwrap();
    let older = TestApp::on(folder, roomy()).await;
    assert!(!found(&older, box_id, &key, "boats").await.to_string().contains("late.txt"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_while_a_backup_is_taken_is_not_lost() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let mut ids = Vec::new();
    for number in 0..12 {
        ids.push(app.text_file(box_id, &key, &format!("{number}.txt"), &format!("Letter {number}.")).await);
    }
    let to = tempfile::tempdir().unwrap();
    // Uploads, new versions and deletions go on until the backup is done.
    let changing = async {
        for (round, gone) in ids.iter().take(6).enumerate() {
            app.delete(&format!("/files/{gone}"), &key).await;
            let text = format!("Version {round} of the moving text.");
            app.upload(box_id, &key, "moving.txt", text.as_bytes(), &[("externalId", "moving")]).await;
            app.upload(box_id, &key, &format!("new{round}.txt"), format!("New {round}.").as_bytes(), &[])
                .await;
        }
    };
    let (taken, ()) = tokio::join!(take(&app, to.path()), changing);
    assert!(taken.manifest.damaged.is_empty());
    let again = restored(to.path()).await;
    let listed = again.get(&format!("/boxes/{box_id}/files?limit=200"), &key).await;
    let mut names = Vec::new();
    for file in listed.body["data"]["files"].as_array().unwrap() {
        let file = again.settled(&key, file["fileId"].as_str().unwrap()).await;
        assert!(file["status"].as_str().unwrap().starts_with("ready"), "{file}");
        names.push(file["name"].as_str().unwrap().to_string());
    }
    for number in 6..12 {
        assert!(
            names.contains(&format!("{number}.txt")),
            "{number}.txt was there before and after: {names:?}"
        );
    }
    // What is ready has its text, and the index has nothing else.
    let writing = Writing::for_operator(box_id);
    let held = again.app.library.index.contents(writing.reading()).await.unwrap().files.len();
    assert_eq!(held, names.len());
    for sha256 in again.catalog.wanted_originals().await.unwrap() {
        assert!(again.app.library.blobs.has(&sha256).await.unwrap(), "{sha256} is missing");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_backup_is_not_restored_and_a_used_folder_is_left_alone() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "A text about apples.").await;
    let to = tempfile::tempdir().unwrap();
    let taken = take(&app, to.path()).await;
    let used = backup::restore(&taken.folder, app.folder.path(), |_, _, _| {}).unwrap_err();
    assert!(used.to_string().contains("not empty"), "{used}");
    let manifest = Manifest::read(&taken.folder).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let places = |(name, entry): (&String, &Entry)| -> Vec<(String, String)> {
        entry.places(name).into_iter().map(|(place, _)| (name.clone(), place)).collect()
    };
    for (name, place) in manifest.files.iter().flat_map(places) {
        let path = taken.folder.join(place);
        let sound = std::fs::read(&path).unwrap();
        let mut flipped = sound.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        let wrong = backup::restore(&taken.folder, empty.path(), |_, _, _| {}).unwrap_err().to_string();
        assert!(wrong.contains(&name) && wrong.contains("damaged"), "{name}: {wrong}");
        assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was written");
        std::fs::write(&path, sound).unwrap();
    }
    // One that was cut short is begun again.
    std::fs::write(empty.path().join("restoring"), b"").unwrap();
    std::fs::write(empty.path().join("half"), b"half").unwrap();
    backup::restore(&taken.folder, empty.path(), |_, _, _| {}).unwrap();
    assert!(!empty.path().join("half").exists() && empty.path().join("catalog.db").exists());
    assert_eq!(backup::last(app.folder.path()).unwrap().folder, taken.folder);
    let inside = backup::take(app.folder.path(), &app.folder.path().join("backups"), 7, |_, _, _| {}).await;
    assert!(inside.unwrap_err().to_string().contains("another disk"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_backups_are_kept_as_wanted() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "A text about apples.").await;
    let to = tempfile::tempdir().unwrap();
    for name in ["2026-01-01T00-00-00", "2026-01-02T00-00-00", "2026-01-03T00-00-00"] {
        renamed(&take(&app, to.path()).await, name);
    }
    std::fs::create_dir(to.path().join(".partial-2026-01-04T00-00-00")).unwrap();
    std::fs::create_dir(to.path().join("of somebody else")).unwrap();
    let last = backup::take(app.folder.path(), to.path(), 2, |_, _, _| {}).await.unwrap();
    assert_eq!(last.removed, 2);
    let mut left: Vec<String> = std::fs::read_dir(to.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    let newest = last.folder.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(left, ["2026-01-03T00-00-00".to_string(), newest, "of somebody else".into()]);
    backup::check(&last.folder, |_, _| {}).unwrap();
}
