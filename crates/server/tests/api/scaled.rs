//! From a data folder to servers and back, and from one index cluster to another.

use std::{path::Path, process::Command};

use serde_json::Value;
use stores::blobs::Blobs;

use crate::{
    commands::{Served, papers, quire},
    support::server,
};

/// A settings file that names parts of the test servers of its own; `None` where there are none.
fn settings(folder: &Path) -> Option<String> {
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

/// What docs/backup.md says of stores on servers: the database first, then the bucket, both with their own tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_on_servers_are_restored_from_their_own_backups() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(programs), Some(server), Some(s3)) = (
        variable("QUIRE_TEST_POSTGRES_PROGRAMS"),
        variable("QUIRE_TEST_POSTGRES"),
        variable("QUIRE_TEST_S3"),
    ) else {
        return eprintln!("skipped: tests/servers/servers.py starts the servers that this needs");
    };
    let own = uuid::Uuid::now_v7().simple().to_string();
    let postgres = |program: &str, line: &[&str]| {
        let output = Command::new(Path::new(&programs).join(program)).args(line).output().unwrap();
        assert!(output.status.success(), "{program}: {output:?}");
    };
    // A database and a part of the bucket, and settings that name both.
    let place = |name: &str| {
        let database = format!("{name}_{own}");
        postgres("psql", &["-qX", "-d", &server, "-c", &format!("create database {database}")]);
        let database = format!("{}/{database}", server.rsplit_once('/').unwrap().0);
        let bucket = s3.replacen("/?", &format!("/{name}-{own}?"), 1);
        let text = format!(
            "[catalog]\nurl = \"{database}\"\n[index]\nurl = \"{database}\"\n[blobs]\nurl = \"{bucket}\"\n"
        );
        std::fs::write(path(name), text).unwrap();
        (database, bucket)
    };
    let (database, bucket) = place("before");
    let config = path("before");
    let on_servers = ["--config", config.as_str()];
    let node = folder.path().join("node");
    let with_config = |data: &Path, line: &[&str]| {
        let line: Vec<&str> = line.iter().chain(&on_servers).copied().collect();
        plain(data, &line)
    };
    let key = papers(&node, with_config);
    fill(&node, &on_servers, &key);
    let before = found(&node, &on_servers, &key, "walking a puppy");

    postgres("pg_dump", &["-Fc", "-d", &database, "-f", &path("dump")]);
    // Between the two one file comes and one goes.
    let late = folder.path().join("late.txt");
    std::fs::write(&late, "A late text about boats.").unwrap();
    let server = Served::start(with_config(&node, &["serve", "--listen", "127.0.0.1:0"]));
    let client = |line: &[&str]| {
        let mut command = with_config(&node, line);
        command.env("QUIRE_URL", &server.1).env("QUIRE_API_KEY", &key);
        said(command)
    };
    client(&["add", "Papers", late.to_str().unwrap()]);
    let files = client(&["files", "Papers"]);
    let cars = files.as_array().unwrap().iter().find(|file| file["name"] == "cars.txt").unwrap();
    client(&["delete", cars["fileId"].as_str().unwrap()]);
    drop(server);
    let (there, copy_of_bucket) = place("after");
    let (from, to) = (
        Blobs::connect(&bucket, &folder.path().join("from")).unwrap(),
        Blobs::connect(&copy_of_bucket, &folder.path().join("to")).unwrap(),
    );
    for name in from.names().await.unwrap() {
        let original = from.local(&name).await.unwrap();
        to.keep(to.receive_file(original.path()).unwrap()).await.unwrap();
    }
    postgres("pg_restore", &["-d", &there, &path("dump")]);

    let config = path("after");
    let restored = ["--config", config.as_str()];
    let again = folder.path().join("again");
    assert_eq!(found(&again, &restored, &key, "walking a puppy"), before);
    assert_eq!(found(&again, &restored, &key, "engine oil")[0], "cars.txt", "what was read of it is there");
    let doctor = plain(&again, &["doctor", "--scrub", "--json", "--config", &config]).output().unwrap();
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let finding =
        report["findings"].as_array().unwrap().iter().find(|finding| finding["what"] == "originals");
    let text = finding.unwrap()["text"].as_str().unwrap();
    assert!(text.contains("1 missing") && text.contains("cars.txt in Papers"), "{report}");
    assert_eq!(report["damaged"], Value::Array(vec![]));
    for database in [&database, &there] {
        let name = database.rsplit_once('/').unwrap().1;
        let line = format!("drop database {name} with (force)");
        postgres("psql", &["-qX", "-d", &variable("QUIRE_TEST_POSTGRES").unwrap(), "-c", &line]);
    }
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
