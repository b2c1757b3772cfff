//! `quire sync`: the binary against a server, with a folder that changes.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::commands::{Served, papers, quire};

/// A folder, a server and the key to its box.
struct Stage {
    data: tempfile::TempDir,
    folder: PathBuf,
    server: Served,
    key: String,
}

impl Stage {
    fn set() -> Self {
        let data = tempfile::tempdir().unwrap();
        let key = papers(data.path(), quire);
        let mut serve = quire(data.path(), &["serve", "--listen", "127.0.0.1:0"]);
        serve.env("QUIRE__LIMITS__KEY_REQUESTS", "100000").env("QUIRE__LIMITS__USER_REQUESTS", "100000");
        let server = Served::start(serve);
        let folder = data.path().join("notes");
        fs::create_dir(&folder).unwrap();
        Stage { data, folder, server, key }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, more: &[&str]) -> Command {
        let folder = self.folder.to_str().unwrap().to_string();
        let mut command = quire(self.data.path(), &[&["sync", "Papers", folder.as_str()], more].concat());
        command.arg("--json").env("QUIRE_URL", &self.server.1).env("QUIRE_API_KEY", &self.key);
        command
    }

    fn sync(&self, more: &[&str]) -> Value {
        let output = self.command(more).stdin(Stdio::null()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// The files of the box: external id and name.
    fn held(&self) -> Vec<(String, String)> {
        let mut list = quire(self.data.path(), &["files", "Papers", "--json"]);
        let output = list.env("QUIRE_URL", &self.server.1).env("QUIRE_API_KEY", &self.key).output().unwrap();
        let files: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        let text = |file: &Value, name: &str| file[name].as_str().unwrap_or("").to_string();
        let mut held: Vec<_> =
            files.iter().map(|file| (text(file, "externalId"), text(file, "name"))).collect();
        held.sort();
        held
    }
}

/// How many of each, in this order: added, changed, renamed, removed, failed, unchanged.
fn counts(report: &Value) -> [usize; 6] {
    let count = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let unchanged = usize::try_from(report["unchanged"].as_u64().unwrap()).unwrap();
    [count("added"), count("changed"), count("renamed"), count("removed"), count("failed"), unchanged]
}

fn paths(report: &Value, name: &str) -> Vec<String> {
    let list = report[name].as_array().unwrap();
    list.iter().map(|file| file["path"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_box_follows_a_folder() {
    let stage = Stage::set();
    stage.write("a.txt", "one");
    stage.write("deep/b.txt", "two");
    stage.write("deep/c.txt", "three");
    stage.write(".hidden", "no");
    stage.write("deep/.DS_Store", "no");
    stage.write("empty.txt", "");
    fs::write(stage.folder.join("program"), b"\x7fELF\0\x01\x02\x03\0\0\0").unwrap();
    // Somebody else's file, which is none of the folder's business.
    let elsewhere = stage.data.path().join("other.txt");
    fs::write(&elsewhere, "another").unwrap();
    let mut add = quire(stage.data.path(), &["add", "Papers", elsewhere.to_str().unwrap(), "--no-wait"]);
    assert!(
        add.env("QUIRE_URL", &stage.server.1).env("QUIRE_API_KEY", &stage.key).status().unwrap().success()
    );

    let first = stage.sync(&[]);
    assert_eq!(counts(&first), [3, 0, 0, 0, 0, 0], "{first}");
    let mut skipped = paths(&first, "skipped");
    skipped.sort();
    assert_eq!(skipped, [".hidden", "deep/.DS_Store", "empty.txt", "program"]);
    assert_eq!(counts(&stage.sync(&[])), [0, 0, 0, 0, 0, 3], "the second time there is nothing to do");

    stage.write("a.txt", "one, changed");
    fs::create_dir(stage.folder.join("moved")).unwrap();
    fs::rename(stage.folder.join("deep/b.txt"), stage.folder.join("moved/new.txt")).unwrap();
    fs::remove_file(stage.folder.join("deep/c.txt")).unwrap();
    stage.write("d.txt", "four");
    let second = stage.sync(&[]);
    assert_eq!(counts(&second), [1, 1, 1, 1, 0, 0], "{second}");
    assert_eq!(second["renamed"][0]["from"], "deep/b.txt");
    let held = stage.held();
    let held: Vec<_> = held.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
    assert_eq!(
        held,
        [("", "other.txt"), ("a.txt", "a.txt"), ("d.txt", "d.txt"), ("moved/new.txt", "new.txt")],
        "the file of somebody else stays"
    );
}

#[test]
fn many_deletions_need_a_word_and_a_missing_folder_deletes_nothing() {
    let stage = Stage::set();
    for number in 0..12 {
        stage.write(&format!("{number}.txt"), &format!("text {number}"));
    }
    assert_eq!(counts(&stage.sync(&[]))[0], 12);
    for number in 1..12 {
        fs::remove_file(stage.folder.join(format!("{number}.txt"))).unwrap();
    }
    let refused = stage.sync(&[]);
    assert!(refused["cause"].as_str().unwrap().contains("11 files"), "{refused}");
    assert_eq!(stage.held().len(), 12, "nothing was done");
    let away = stage.data.path().join("away");
    fs::rename(&stage.folder, &away).unwrap();
    assert!(stage.sync(&["--yes"])["cause"].is_string(), "a folder that is not there is no empty folder");
    fs::rename(&away, &stage.folder).unwrap();
    assert_eq!(counts(&stage.sync(&["--yes"])), [0, 0, 0, 11, 0, 1]);
    assert_eq!(stage.held().len(), 1);
    stage.write("0.txt", "");
    assert_eq!(counts(&stage.sync(&["--yes"])), [0; 6]);
    assert_eq!(stage.held().len(), 1, "a file that cannot be read is not gone");
}

#[test]
fn a_watched_folder_is_followed_as_it_changes() {
    let stage = Stage::set();
    stage.write("a.txt", "one");
    let mut watching = stage.command(&["--watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut reports = Reports(BufReader::new(watching.stdout.take().unwrap()));
    assert_eq!(counts(&reports.next()), [1, 0, 0, 0, 0, 0]);
    stage.write("b.txt", "two");
    assert_eq!(counts(&reports.next()), [1, 0, 0, 0, 0, 1]);
    stage.write("b.txt", "two and a half");
    assert_eq!(counts(&reports.next()), [0, 1, 0, 0, 0, 1]);
    fs::rename(stage.folder.join("a.txt"), stage.folder.join("c.txt")).unwrap();
    assert_eq!(counts(&reports.next()), [0, 0, 1, 0, 0, 1]);
    fs::remove_file(stage.folder.join("b.txt")).unwrap();
    assert_eq!(counts(&reports.next()), [0, 0, 0, 1, 0, 1]);
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert_eq!(stage.held(), [("c.txt".to_string(), "c.txt".to_string())]);
}

/// Reports as they are printed, one after the other.
struct Reports<R>(R);

impl<R: BufRead> Reports<R> {
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[test]
fn a_folder_must_be_one() {
    let stage = Stage::set();
    let file = stage.folder.join("a.txt");
    fs::write(&file, "x").unwrap();
    let output = quire(stage.data.path(), &["sync", "Papers", file.to_str().unwrap(), "--json"])
        .env("QUIRE_URL", &stage.server.1)
        .env("QUIRE_API_KEY", &stage.key)
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["cause"].as_str().unwrap().contains("is not a folder"), "{said}");
}
