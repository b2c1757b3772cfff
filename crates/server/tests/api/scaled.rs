//! From a data folder to servers and back, and from one index cluster to another.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::commands::{Served, papers, quire};

/// A settings file that names parts of the test servers of its own; `None` where there are none.
fn settings(folder: &Path) -> Option<String> {
    let server = |name: &str| {
        let found = std::env::var(name).ok();
        if found.is_none() {
            eprintln!("skipped: {name} is not set; tests/servers/servers.py starts what it names");
        }
        found
    };
    let own = uuid::Uuid::now_v7().simple().to_string();
    let (database, bucket) = (server("QUIRE_TEST_POSTGRES")?, server("QUIRE_TEST_S3")?);
    let bucket = bucket.replacen("/?", &format!("/test-{own}?"), 1);
    let text = format!(
        "[catalog]\nurl = \"{database}?schema=c_{own}\"\n[index]\nurl = \"{database}?schema=i_{own}\"\n\
         shards = [\"{database}?schema=j_{own}\"]\n[blobs]\nurl = \"{bucket}\"\n\
         [limiter]\nurl = \"{}-{own}\"\n",
        server("QUIRE_TEST_VALKEY")?
    );
    let path = folder.join("quire.toml");
    std::fs::write(&path, text).unwrap();
    Some(path.to_str().unwrap().to_string())
}

/// The binary on stores that its own line names, whatever the other tests run on.
fn plain(data: &Path, line: &[&str]) -> Command {
    let mut command = quire(data, line);
    for store in ["CATALOG", "INDEX", "BLOBS", "LIMITER"] {
        command.env_remove(format!("QUIRE__{store}__URL"));
    }
    command
}

fn said(mut command: Command) -> Value {
    let output = command.arg("--json").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a search in Papers finds, on a server of its own.
fn found(data: &Path, more: &[&str], key: &str, query: &str) -> Vec<String> {
    let line: Vec<&str> = ["serve", "--listen", "127.0.0.1:0"].iter().chain(more).copied().collect();
    let server = Served::start(plain(data, &line));
    let mut command = plain(data, &["search", "Papers", query]);
    command.env("QUIRE_URL", &server.1).env("QUIRE_API_KEY", key);
    let answer = said(command);
    let hits = answer["documents"][0]["documents"].as_array().unwrap_or_else(|| panic!("{answer}"));
    hits.iter().map(|hit| hit["fileName"].as_str().unwrap_or_default().to_string()).collect()
}

/// Starts a server, adds two files through it, and stops it again.
fn fill(data: &Path, more: &[&str], key: &str) {
    let texts = tempfile::tempdir().unwrap();
    std::fs::write(texts.path().join("pets.txt"), "Puppies need a walk twice a day.").unwrap();
    std::fs::write(texts.path().join("cars.txt"), "The engine needs new oil.").unwrap();
    let line: Vec<&str> = ["serve", "--listen", "127.0.0.1:0"].iter().chain(more).copied().collect();
    let server = Served::start(plain(data, &line));
    let mut add = plain(data, &["add", "Papers", texts.path().to_str().unwrap(), "--json"]);
    let output = add.env("QUIRE_URL", &server.1).env("QUIRE_API_KEY", key).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_folder_is_moved_to_servers_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(config) = settings(folder.path()) else { return };
    let (before, node, after) =
        (folder.path().join("before"), folder.path().join("node"), folder.path().join("after"));
    let key = papers(&before, plain);
    fill(&before, &[], &key);
    let path = |path: &Path| path.to_str().unwrap().to_string();
    for round in 0..2 {
        // A second time there is nothing left to do, and nothing is doubled.
        let moved = said(plain(&node, &["migrate-store", "--from", &path(&before), "--to", &config]));
        assert_eq!((&moved["originals"], &moved["files"]), (&2.into(), &2.into()), "round {round}: {moved}");
        assert_eq!(moved["rows"]["keys"], 1);
    }
    let on_servers = ["--config", config.as_str()];
    assert_eq!(found(&node, &on_servers, &key, "walking a puppy")[0], "pets.txt");
    let moved = said(plain(&node, &["migrate-store", "--from", &config, "--to", &path(&after)]));
    assert_eq!((&moved["originals"], &moved["files"]), (&2.into(), &2.into()), "{moved}");
    assert_eq!(found(&after, &[], &key, "engine oil")[0], "cars.txt");
    let doctor = said(plain(&after, &["doctor", "--scrub"]));
    assert_eq!(doctor["ok"], true, "{doctor}");
}

#[test]
fn a_box_goes_to_servers_and_back_as_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let Some(config) = settings(folder.path()) else { return };
    let on_servers = ["--config", config.as_str()];
    let (before, node, after) =
        (folder.path().join("before"), folder.path().join("node"), folder.path().join("after"));
    let with_config = |data: &Path, line: &[&str]| {
        let line: Vec<&str> = line.iter().chain(&on_servers).copied().collect();
        plain(data, &line)
    };
    let key = papers(&before, plain);
    fill(&before, &[], &key);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (out, back) = (path("out.quire"), path("back.quire"));
    let made = said(plain(&before, &["export", "Papers", &out]));
    said(with_config(&node, &["user", "add", "ada@example.org"]));
    let moved = said(with_config(&node, &["import", &out]));
    assert_eq!((&moved["boxId"], &moved["embeddedAgain"]), (&made["boxId"], &0.into()), "{moved}");
    let key = said(with_config(&node, &["key", "add", "--user", "ada@example.org"]));
    let found_there = found(&node, &on_servers, key["key"].as_str().unwrap(), "walking a puppy");
    assert_eq!(found_there[0], "pets.txt");
    let again = said(with_config(&node, &["export", "Papers", &back]));
    assert_eq!(made["contents"], again["contents"], "nothing was lost on the way");
    said(plain(&after, &["user", "add", "ada@example.org"]));
    said(plain(&after, &["import", &back]));
    let key = said(plain(&after, &["key", "add", "--user", "ada@example.org"]));
    assert_eq!(found(&after, &[], key["key"].as_str().unwrap(), "engine oil")[0], "cars.txt");
}

#[test]
fn a_box_moves_to_another_cluster_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(config) = settings(folder.path()) else { return };
    let on_servers = ["--config", config.as_str()];
    let with_config = |data: &Path, line: &[&str]| {
        let line: Vec<&str> = line.iter().chain(&on_servers).copied().collect();
        plain(data, &line)
    };
    let data = folder.path().join("node");
    let key = papers(&data, with_config);
    fill(&data, &on_servers, &key);
    let catalog = said(with_config(&data, &["doctor"]));
    assert_eq!(catalog["ok"], true, "{catalog}");
    // Chance decided where it is: to the one, or, where it is there already, first to the other.
    let mut moves = vec![0, 1, 0];
    if !with_config(&data, &["box", "move", "Papers", "1"]).status().unwrap().success() {
        moves = vec![0, 1];
    }
    for shard in moves {
        let moved = said(with_config(&data, &["box", "move", "Papers", &shard.to_string()]));
        assert_eq!((&moved["to"], &moved["files"]), (&shard.into(), &2.into()), "{moved}");
        assert_eq!(found(&data, &on_servers, &key, "walking a puppy")[0], "pets.txt");
    }
    let nowhere = with_config(&data, &["box", "move", "Papers", "7", "--json"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(1));
}
