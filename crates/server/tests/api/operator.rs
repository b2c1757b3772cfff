//! The command line for people who run a server: what it creates, what it asks, and what it says.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::{
    commands::{Served, json, papers, quire},
    support::scaled,
};

/// A command in a folder of its own, that nobody told where the data is.
fn bare(folder: &Path, line: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quire"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUIRE")) {
        command.env_remove(name);
    }
    command.args(line).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn no_operator_command_creates_a_data_folder_silently() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        &["box", "list"][..],
        &["user", "list"],
        &["key", "list"],
        &["plan", "list"],
        &["doctor"],
        &["box", "delete", "Papers", "--yes"],
        &["reindex", "Papers"],
        &["key", "add", "--user", "ada@example.org"],
        &["user", "add", "ada@example.org"],
        &["box", "list", "--data", "elsewhere"],
    ] {
        let output = bare(folder.path(), line);
        assert_eq!(output.status.code(), Some(1), "{line:?}: {output:?}");
        let said = said(&output);
        assert!(
            said.contains("there is no quire data in /") && said.contains("--data DIR"),
            "{line:?}: {said}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{line:?} created something");
    }
    let output = bare(folder.path(), &["user", "add", "ada@example.org", "--data", "named"]);
    assert!(output.status.success() && said(&output).contains("Created /"), "{output:?}");
    let output = bare(folder.path(), &["user", "list", "--data", "named"]);
    assert!(said(&output).contains("ada@example.org") && !said(&output).contains("Created"), "{output:?}");
    std::fs::rename(folder.path().join("named"), folder.path().join("quire-data")).unwrap();
    let output = bare(folder.path(), &["user", "list"]);
    assert!(
        said(&output).contains("ada@example.org"),
        "quire-data of the current folder is used: {output:?}"
    );
}

#[test]
fn the_data_folder_can_be_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("quire.toml"), "[storage]\nfolder = \"set\"\n").unwrap();
    let output = bare(folder.path(), &["user", "add", "ada@example.org", "--config", "quire.toml"]);
    assert!(output.status.success() && folder.path().join("set/catalog.db").exists(), "{output:?}");
}

#[test]
fn a_box_is_deleted_only_by_somebody_who_confirms_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    papers(data, quire);
    let output = quire(data, &["box", "delete", "Papers"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said(&output).contains("--yes"), "{output:?}");
    assert_eq!(json(data, &["box", "list"])[0]["name"], "Papers", "it is still there");
    json(data, &["box", "delete", "Papers", "--yes"]);
    assert_eq!(json(data, &["box", "list"]), Value::Array(vec![]));
}

#[test]
fn a_role_for_somebody_without_an_account_says_how_to_add_them() {
    let folder = tempfile::tempdir().unwrap();
    papers(folder.path(), quire);
    let line = ["box", "grant", "Papers", "eve@example.org", "admin"];
    let output = quire(folder.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("`quire user add eve@example.org`"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_holder_lists_boxes_wherever_the_address_ends() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let key = papers(data, quire);
    let server = Served::start(quire(data, &["serve", "--listen", "127.0.0.1:0"]));
    let elsewhere = tempfile::tempdir().unwrap();
    for end in ["", "/", "/api/public/v1", "/api/public/v1/"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quire"));
        command.args(["box", "list", "--json"]).current_dir(elsewhere.path()).env_remove("QUIRE_DATA");
        command.env("QUIRE_API_KEY", &key).env("QUIRE_URL", format!("{}{end}", server.1));
        let output = command.env("QUIRE_CA", data.join("tls/cert.pem")).output().unwrap();
        let boxes: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!((&boxes[0]["name"], &boxes[0]["role"]), (&"Papers".into(), &"owner".into()), "{end}");
    }
}

/// Starts a quickstart, waits until it serves, and gives what it printed.
fn quickstart(data: &Path) -> String {
    let mut command = quire(data, &["quickstart", "--listen", "127.0.0.1:0"]);
    let mut child = Served(command.stdout(Stdio::piped()).spawn().unwrap(), String::new());
    let mut lines = Vec::new();
    for line in BufReader::new(child.0.stdout.take().unwrap()).lines() {
        lines.push(line.unwrap());
        if lines.last().is_some_and(|line| line.contains("Ctrl-C stops")) {
            return lines.join("\n");
        }
    }
    panic!("it ended: {lines:?}");
}

#[test]
fn every_quickstart_replaces_the_key_of_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (first, second) = (quickstart(data), quickstart(data));
    let key =
        |text: &str| text.split_whitespace().find(|word| word.starts_with("quire_")).map(str::to_string);
    assert_ne!(key(&first), key(&second));
    let keys = json(data, &["key", "list"]);
    let active: Vec<_> = keys.as_array().unwrap().iter().filter(|key| key["state"] == "active").collect();
    assert_eq!(active.len(), 1, "{keys}");
    assert!(active[0]["expiresAt"].is_string(), "it expires: {keys}");
    assert!(second.contains("works until 2"), "{second}");
}

#[test]
fn the_answerer_is_tried_and_quoting_answers_from_prose_tables_and_in_german_and_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let output = bare(folder.path(), &["answerer", "test", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let tried: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(tried["answerer"], "extractive");
    for trial in 0..4 {
        assert_eq!(tried["trials"][trial]["right"], true, "{tried}");
    }
    assert_eq!(tried["trials"][4]["right"], false, "it cannot write JSON");
}

#[test]
fn models_are_shown_listed_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let models = |line: &[&str]| -> Value {
        let output = bare(folder.path(), &[&["models", "--json"], line].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["models"].take()
    };
    let current = models(&[]);
    let used_as = |role: &str| {
        let entries = current.as_array().unwrap();
        entries.iter().find(|entry| entry["inUse"] == role).map(|entry| entry["name"].clone())
    };
    assert_eq!(used_as("embedder"), Some("quire-embed-2".into()));
    assert_eq!(used_as("reranker"), Some("quire-rerank-2".into()));
    assert_eq!(used_as("reranker for other languages"), Some("quire-rerank-multi-1".into()));
    assert_eq!(used_as("picker"), Some("quire-pick-2".into()));
    assert_eq!(used_as("picker for other languages"), Some("quire-pick-multi-1".into()));
    assert_eq!(used_as("embedder for other languages"), Some("quire-multi-2".into()));
    let listed = models(&["list"]);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|model| model["name"].clone()).collect();
    assert!(
        names.len() > 2 && names[0] == "quire-embed-2" && names.contains(&"quire-embed-1".into()),
        "{names:?}"
    );
    let verified = models(&["verify"]);
    assert!(verified.as_array().unwrap().len() >= 2, "{verified}");
    assert!(verified[0]["text"].as_str().unwrap().starts_with("intact"), "{verified}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written for it");
}

#[test]
fn a_missing_helper_is_a_warning_and_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    papers(folder.path(), quire);
    let output = quire(folder.path(), &["doctor"]).env("PATH", "/nowhere").output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    let line = text.lines().find(|line| line.contains("pdftotext")).unwrap();
    assert!(line.starts_with("warning") && line.contains("not installed (such pages stay blank)"), "{line}");
}

#[test]
fn what_reads_scans_is_told() {
    let folder = tempfile::tempdir().unwrap();
    papers(folder.path(), quire);
    let line = |setting: &str| {
        let mut command = quire(folder.path(), &["doctor"]);
        let output = command.env("PATH", "/nowhere").env("QUIRE__INGEST__OCR", setting).output().unwrap();
        said(&output).lines().find(|line| line.contains("recognition")).unwrap().to_owned()
    };
    assert!(line("built-in").starts_with("ok") && line("built-in").contains("built-in models"));
    let instead = line("tesseract");
    assert!(instead.starts_with("warning") && instead.contains("tesseract is not installed"), "{instead}");
    assert!(line("off").starts_with("warning"));
}

#[test]
fn quire_alone_says_what_to_do_next() {
    let folder = tempfile::tempdir().unwrap();
    let output = bare(folder.path(), &[]);
    assert!(output.status.success(), "{output:?}");
    let text = said(&output);
    assert!(text.lines().filter(|line| !line.is_empty()).count() <= 10, "{text}");
    for word in ["quire quickstart", "quire serve --data DIR", "quire ask BOX QUESTION", "--help"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn stores_on_servers_need_no_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let stores = scaled(folder.path());
    if stores.is_empty() {
        return; // Only where the servers run.
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_quire"));
    command.args(["user", "add", "ada@example.org"]).current_dir(folder.path()).env_remove("QUIRE_DATA");
    let output = command.envs(stores).output().unwrap();
    assert!(output.status.success() && !folder.path().join("quire-data").exists(), "{output:?}");
}
