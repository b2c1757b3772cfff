//! `quire doctor --repair`: mends what can be mended without hands, says what it did, and leaves alone what it cannot bring back.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use engine::ids::BoxId;
use serde_json::Value;
use server::backup;
use stores::{blobs::hexadecimal, index::copies};

use crate::{
    commands::quire,
    faults::{damage, doctor, found, on_servers, said},
    support::{TestApp, roomy},
};

/// What was done about one thing.
fn done(report: &Value, what: &str) -> String {
    let finding = report["findings"].as_array().unwrap().iter().find(|finding| finding["what"] == what);
    let done =
        finding.unwrap_or_else(|| panic!("nothing about {what}: {report}"))["done"].as_array().unwrap();
    done.iter().map(|done| done.as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

/// Where the original of a text is.
fn original(data: &Path, text: &str) -> PathBuf {
    let sha256 = hexadecimal(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref());
    data.join("blobs/originals").join(&sha256[..2]).join(&sha256)
}

/// A text of many passages, so that the database of its box has many pages and its words a folder of their own.
fn long() -> String {
    let line = |number| format!("Line {number} tells of puppies and of their walks in the park.\n\n");
    (0..400).map(line).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_be_mended_is_and_everything_is_found_again() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (user, sick, key) = app.owner().await;
    let (apples, pears) = ("A text about apples.", "A text about pears.");
    let well = app.box_of(user).await;
    let ill = app.text_file(sick, &key, "sick.txt", &long()).await;
    app.text_file(well, &key, "apples.txt", apples).await;
    app.text_file(well, &key, "pears.txt", pears).await;
    let backups = tempfile::tempdir().unwrap();
    backup::take(app.folder.path(), backups.path(), 7, |_, _, _| {}).await.unwrap();
    let data = app.folder.path().to_path_buf();

    // A server at work looks like a crash: it is left alone.
    let beside = quire(&data, &["doctor", "--repair", "--json"]).output().unwrap();
    let refusal: Value = serde_json::from_slice(&beside.stdout).unwrap();
    assert_eq!(beside.status.code(), Some(1), "{refusal}");
    assert!(refusal["cause"].as_str().unwrap().contains("a server is running"), "{refusal}");

    let folder = app.stop().await;
    damage(&data, sick);
    fs::write(data.join("blobs/staging/.tmpHALF"), b"half an upload").unwrap();
    fs::create_dir_all(data.join("scratch/parse-killed")).unwrap();
    let orphan = original(&data, "Nobody refers to this.");
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    fs::write(&orphan, "Nobody refers to this.").unwrap();
    fs::write(original(&data, apples), "A text ab").unwrap();
    fs::remove_file(original(&data, pears)).unwrap();
    fs::set_permissions(data.join("tls/key.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::create_dir(backups.path().join(".partial-2026-01-01T00-00-00")).unwrap();

    // Looking changes nothing.
    let (fine, report) = doctor(&data, &["--scrub"]);
    assert!(!fine, "{report}");
    for (what, state) in [
        ("leftovers", "warning"),
        ("originals", "wrong"),
        ("scrub", "wrong"),
        ("boxes", "wrong"),
        ("permissions", "warning"),
    ] {
        assert_eq!(said(&report, what).0, state, "{report}");
        assert_eq!(done(&report, what), "");
    }
    assert!(orphan.exists() && said(&report, "originals").1.contains("pears.txt"), "{report}");

    let (fine, report) = doctor(&data, &["--repair"]);
    assert!(fine, "{report}");
    for (what, words) in [
        ("leftovers", "removed 2 files"),
        ("originals", "removed 1 original that no file refers to"),
        ("originals", "back from"),
        ("scrub", "back from"),
        ("boxes", "1 file is queued to be read again"),
        ("permissions", "key.pem"),
        ("backup", "removed 1 backup"),
    ] {
        assert!(done(&report, what).contains(words), "{what}: {report}");
        assert_ne!(said(&report, what).0, "wrong", "{report}");
    }
    assert!(!orphan.exists());
    assert_eq!(fs::metadata(data.join("tls/key.pem")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(original(&data, apples)).unwrap(), apples);
    let (_, again) = doctor(&data, &["--repair"]);
    assert!(
        again["findings"].as_array().unwrap().iter().all(|finding| finding["done"] == Value::Array(vec![]))
    );

    let app = TestApp::on(folder, roomy()).await;
    assert_eq!(app.settled(&key, &ill).await["status"], "ready");
    for (box_id, query, name) in [(sick, "walks of puppies", "sick.txt"), (well, "pears", "pears.txt")] {
        let answer = found(&app, box_id, &key, query).await;
        assert!(answer.status == 200 && answer.body.to_string().contains(name), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_is_not_given_up_while_its_original_is_lost() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (_, sick, key) = app.owner().await;
    app.text_file(sick, &key, "sick.txt", &long()).await;
    let folder = app.stop().await;
    let data = folder.path();
    damage(data, sick);
    fs::remove_file(original(data, &long())).unwrap();
    let (fine, report) = doctor(data, &["--repair"]);
    assert!(!fine, "{report}");
    let (state, text) = said(&report, "boxes");
    assert!(state == "wrong" && text.contains("sick.txt") && text.contains("no backup"), "{report}");
    assert!(copies::file_of(&data.join("index"), sick).exists(), "what is left of it stays");
    assert!(said(&report, "originals").1.contains("sick.txt in papers"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_is_gone_or_has_too_much_is_brought_in_line() {
    if on_servers() {
        return;
    }
    let app = TestApp::start().await;
    let (user, gone, key) = app.owner().await;
    let other = app.box_of(user).await;
    let file = app.text_file(gone, &key, "gone.txt", "A text about apples.").await;
    app.text_file(other, &key, "other.txt", "A text about pears.").await;
    let folder = app.stop().await;
    let data = folder.path();
    let place = |box_id: BoxId| copies::file_of(&data.join("index"), box_id).parent().unwrap().to_path_buf();
    // The one is gone, and the other has what only the first should have.
    fs::remove_dir_all(place(other)).unwrap();
    fs::rename(place(gone), place(other)).unwrap();
    let (fine, report) = doctor(data, &["--repair"]);
    assert!(fine, "{report}");
    let mended = done(&report, "boxes");
    assert_eq!(mended.matches("1 file is not in its index").count(), 2, "{report}");
    assert!(mended.contains("1 file too many"), "{report}");
    let app = TestApp::on(folder.clone(), roomy()).await;
    assert_eq!(app.settled(&key, &file).await["status"], "ready");
    let answer = found(&app, gone, &key, "apples").await;
    assert!(answer.body.to_string().contains("gone.txt"), "{answer:?}");
    let answer = found(&app, other, &key, "apples").await;
    assert!(!answer.body.to_string().contains("gone.txt"), "{answer:?}");
}
