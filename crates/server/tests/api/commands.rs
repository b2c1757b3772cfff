//! The binary itself: operator commands, their JSON, and a server started as people start it.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

use crate::support::{Answer, client, scaled};

pub(crate) fn quire(data: &Path, line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quire"));
    command.args(line).arg("--data").arg(data).env("QUIRE__HTTP__METRICS_LISTEN", "").envs(scaled(data));
    // Whatever language the terminal of whoever runs the tests has.
    command.env("LC_ALL", "C");
    command
}

pub(crate) fn json(data: &Path, line: &[&str]) -> Value {
    let output = quire(data, line).arg("--json").output().unwrap();
    assert!(output.status.success(), "{line:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn failure(data: &Path, line: &[&str]) -> (Output, Value) {
    let output = quire(data, line).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{line:?}: {output:?}");
    let error = serde_json::from_slice(&output.stdout).unwrap();
    (output, error)
}

/// Makes an account with the box Papers; gives its key.
pub(crate) fn papers(data: &Path, quire: impl Fn(&Path, &[&str]) -> Command) -> String {
    let json = |line: &[&str]| -> Value {
        let output = quire(data, line).arg("--json").output().unwrap();
        assert!(output.status.success(), "{line:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    json(&["user", "add", "ada@example.org"]);
    json(&["box", "add", "Papers", "--owner", "ada@example.org"]);
    json(&["key", "add", "--user", "ada@example.org"])["key"].as_str().unwrap().to_string()
}

/// A served binary, killed with the test; gives its address.
pub(crate) struct Served(pub(crate) Child, pub(crate) String);

impl Served {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.find(|line| line.as_ref().unwrap().contains("https://"));
        let line = line.expect("a server says its address; this one ended before").unwrap();
        let at = line.find("https://").unwrap();
        // Goes on reading, so that the server never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Served(child, line[at..].split_whitespace().next().unwrap().to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_nothing_to_a_checked_key_by_commands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let user = json(data, &["user", "add", "Ada@Example.org"]);
    assert_eq!(user["email"], "ada@example.org");
    assert!(user["userId"].as_str().unwrap().starts_with("usr_"));
    let made = json(data, &["box", "add", "Papers", "--owner", "ada@example.org"]);
    assert_eq!(made["name"], "Papers");
    let key = json(
        data,
        &["key", "add", "--user", "ada@example.org", "--name", "ci", "--expires", "90d", "--box", "Papers"],
    );
    assert_eq!(key["prefix"], key["key"].as_str().unwrap()[6..14]);
    let server = Served::start(quire(data, &["serve", "--listen", "127.0.0.1:0"]));
    let client = client(data);
    let check = async || {
        let request = client.get(format!("{}/api/public/v1/check", server.1));
        Answer::of(request.bearer_auth(key["key"].as_str().unwrap()).send().await.unwrap()).await.verdict()
    };
    assert_eq!(check().await, "200 ok");
    let site = ["--name", "site", "--box", "Papers", "--origin", "https://WWW.example.org/"];
    let site = json(data, &[&["key", "add", "--user", "ada@example.org"][..], &site[..]].concat());
    assert_eq!(site["origins"][0], "https://www.example.org");
    assert_eq!(
        (&site["permissions"][0], site["permissions"].as_array().unwrap().len()),
        (&"search".into(), 1)
    );
    assert_eq!(json(data, &["key", "list"])[1]["origins"], site["origins"]);
    json(data, &["user", "disable", "ada@example.org"]);
    assert_eq!(check().await, "401 B3002 key_revoked");
    json(data, &["user", "enable", "ada@example.org"]);
    assert_eq!(check().await, "200 ok");
    json(data, &["key", "revoke", key["prefix"].as_str().unwrap()]);
    assert_eq!(check().await, "401 B3002 key_revoked");
    assert_eq!(json(data, &["key", "list"])[0]["state"], "revoked");
    assert_eq!(json(data, &["user", "list"]).as_array().unwrap().len(), 1);
    json(data, &["plan", "set", "ada@example.org", "--units", "7"]);
    assert_eq!(json(data, &["user", "list"])[0]["monthlyUnits"], 7);
    json(data, &["user", "add", "eve@example.org", "--plan", "standard"]);
    json(data, &["box", "grant", "Papers", "eve@example.org", "Admin"]);
    assert_eq!(json(data, &["box", "list"])[0]["members"][1]["role"], "admin");
    json(data, &["box", "revoke", "Papers", "eve@example.org"]);
    json(data, &["box", "delete", "Papers", "--yes"]);
    assert_eq!(json(data, &["box", "list"]), Value::Array(vec![]));
}

#[test]
fn commands_speak_the_language_of_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let said = |language: &str, line: &[&str]| {
        let output = quire(folder.path(), line).env("LC_ALL", language).output().unwrap();
        assert!(output.status.success(), "{line:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        said("es_CO.UTF-8", &["user", "add", "ada@example.org"]).starts_with("Se ha añadido ada@example.org")
    );
    assert!(said("de_DE.UTF-8", &["user", "list"]).starts_with("E-MAIL"));
    assert!(said("fr_FR", &["box", "list"]).contains("Aucune boîte"));
    assert!(said("pt_BR.UTF-8", &["key", "list"]).contains("Ainda não há chaves"));
    assert!(said("ja_JP.UTF-8", &["key", "list"]).contains("No keys yet"));
    let key = |language| {
        let line = ["key", "add", "--user", "ada@example.org", "--json"];
        let value: Value = serde_json::from_str(&said(language, &line)).unwrap();
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(key("es_CO.UTF-8"), key("C"), "what scripts read is the same");
}

#[test]
fn errors_are_the_error_object_and_exit_1() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["user", "add", "ada@example.org"]);
    for (line, code, says) in [
        (&["user", "add", "ada@example.org"][..], "B1004", "already"),
        (&["user", "add", "no-address"], "B1004", "no-address"),
        (&["user", "add", "x@example.org", "--plan", "gold"], "B1004", "gold"),
        (&["user", "disable", "nobody@example.org"], "B1004", "nobody@example.org"),
        (&["user", "unlock", "nobody@example.org"], "B1004", "nobody@example.org"),
        (&["user", "confirm", "nobody@example.org"], "B1004", "quire user add nobody@example.org"),
        (&["box", "add", "B", "--owner", "nobody@example.org"], "B1004", "nobody@example.org"),
        (&["box", "grant", "nope", "ada@example.org", "owner"], "B1004", "nope"),
        (&["key", "add", "--user", "ada@example.org", "--box", "nope"], "B1004", "nope"),
        (&["key", "add", "--user", "ada@example.org", "--expires", "soon"], "B1004", "soon"),
        (&["key", "add", "--user", "ada@example.org", "--origin", "example.org"], "B1004", "example.org"),
        (&["key", "add", "--user", "ada@example.org", "--origin", "https://example.org"], "B1004", "boxes"),
        (&["key", "revoke", "AAAAAAAA"], "B1004", "AAAAAAAA"),
        (&["serve", "--config", "/no/such/file"], "B1004", "/no/such/file"),
        (&["nonsense"], "B1004", "nonsense"),
    ] {
        let (output, error) = failure(data, line);
        assert_eq!(error["code"], code, "{line:?}");
        assert!(error["cause"].as_str().unwrap().contains(says), "{line:?}: {error}");
        assert!(!output.stderr.is_empty(), "{line:?} says nothing to people");
    }
}

#[test]
fn settings_are_refused_with_the_nearest_name() {
    let folder = tempfile::tempdir().unwrap();
    let output = quire(folder.path(), &["serve"]).env("QUIRE__LIMITS__KEY_REQUEST", "5").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("did you mean limits.key_requests?"), "{said}");
}

#[test]
fn a_password_comes_from_standard_input_and_must_be_long_enough() {
    let folder = tempfile::tempdir().unwrap();
    for (password, works) in [("short\n", false), ("password1234\n", false), ("long enough\n", true)] {
        let mut command = quire(folder.path(), &["user", "add", "ada@example.org", "--password-stdin"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().success(), works, "{password:?}");
    }
}

#[test]
fn help_completions_and_manual_are_there() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        &["--help"][..],
        &["help", "key", "add"],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["man"],
        &["--version"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_quire")).args(line).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{line:?}: {output:?}");
    }
    let pages = folder.path().join("man");
    assert!(quire(folder.path(), &["man", "--to", pages.to_str().unwrap()]).status().unwrap().success());
    assert!(pages.join("quire-key-add.1").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quickstart_prints_a_curl_line_that_works_as_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = quire(folder.path(), &["quickstart", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .map(|child| Served(child, String::new()))
        .unwrap();
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let line = lines.map(Result::unwrap).find(|line| line.trim_start().starts_with("curl ")).unwrap();
    let output = Command::new("sh").arg("-c").arg(format!("{line} -sS")).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(answer["data"]["message"], "ok");
    let files = Command::new("sh")
        .arg("-c")
        .arg(format!("{} -sS", line.replace("/check", "/files")))
        .output()
        .unwrap();
    let files: Value = serde_json::from_slice(&files.stdout).unwrap();
    let names: Vec<_> = files["data"]["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert!(names.contains(&&"quickstart.md".into()), "the sample box holds the documentation: {names:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_the_server_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Served::start(quire(folder.path(), &["serve", "--listen", "127.0.0.1:0"]));
    let pid = server.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_added_listed_and_deleted_by_commands() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let key = papers(data, quire);
    let papers = tempfile::tempdir().unwrap();
    std::fs::create_dir(papers.path().join("sub")).unwrap();
    std::fs::write(papers.path().join("a.txt"), "alpha").unwrap();
    std::fs::write(papers.path().join("sub/b.md"), "# Beta").unwrap();
    std::fs::write(papers.path().join(".hidden"), "no").unwrap();
    let server = Served::start(quire(data, &["serve", "--listen", "127.0.0.1:0"]));
    let client = |line: &[&str]| {
        let mut command = quire(data, line);
        command.arg("--json").env("QUIRE_URL", &server.1).env("QUIRE_API_KEY", &key);
        let output = command.output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        (output.status.code(), value)
    };
    let path = papers.path().to_str().unwrap();
    let (code, added) = client(&["add", "Papers", path]);
    assert_eq!((code, added["added"].as_array().unwrap().len()), (Some(0), 2), "{added}");
    let (code, again) = client(&["add", "Papers", path]);
    assert_eq!((code, again["known"].as_array().unwrap().len()), (Some(0), 2), "run again: nothing to do");
    let (_, files) = client(&["files", "Papers"]);
    assert_eq!(files[0]["status"], "ready");
    std::fs::write(papers.path().join("broken.pdf"), "%PDF-1.7 broken beyond repair").unwrap();
    let (code, _) = client(&["files", "Nowhere"]);
    assert_eq!(code, Some(1));
    let output = quire(data, &["add", "Papers", path])
        .env("QUIRE_URL", &server.1)
        .env("QUIRE_API_KEY", &key)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("0 added, 2 already there, 1 failed") && said.contains("broken.pdf"), "{said}");
    let id = files[0]["fileId"].as_str().unwrap();
    let (code, receipts) = client(&["delete", id]);
    assert_eq!((code, &receipts[0]["deleted"]), (Some(0), &Value::Bool(true)));
    let doctor = json(data, &["doctor", "--scrub"]);
    assert_eq!(doctor["ok"], true, "{doctor}");
    if !scaled(data).is_empty() {
        return; // Nobody damages what lies in a bucket from here.
    }
    let folders = std::fs::read_dir(data.join("blobs/originals")).unwrap();
    let mut originals = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let original = originals.next().unwrap().unwrap().path();
    std::fs::write(&original, "damaged").unwrap();
    let (_, found) = failure(data, &["doctor", "--scrub"]);
    assert_eq!(found["damaged"][0], original.file_name().unwrap().to_str().unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_is_searched_measured_and_reindexed_by_commands() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let key = papers(data, quire);
    let papers = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(papers.path().join(name), text).unwrap();
    write("pets.txt", "Puppies need a walk twice a day and much patience.");
    write("cars.txt", "The engine needs new oil every twenty thousand kilometres.");
    write("errors.txt", "E4021 is answered when the request was sent too late.");
    let server = Served::start(quire(data, &["serve", "--listen", "127.0.0.1:0"]));
    let client = |line: &[&str]| {
        let mut command = quire(data, line);
        let output = command.env("QUIRE_URL", &server.1).env("QUIRE_API_KEY", &key).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    client(&["add", "Papers", papers.path().to_str().unwrap()]);

    // No word in common: the real model understands.
    let found = client(&["search", "Papers", "how to raise a young dog", "--top-k", "1"]);
    assert!(found.starts_with(" 1. pets.txt, page 1") && found.contains("Puppies need a walk"), "{found}");
    let found: Value = serde_json::from_str(&client(&["search", "Papers", "E4021", "--json"])).unwrap();
    assert_eq!(found["documents"][0]["documents"][0]["fileName"], "errors.txt");

    let answer = client(&["ask", "Papers", "How often does the engine need new oil?"]);
    assert!(
        answer.starts_with("The engine needs new oil every twenty thousand kilometres. [1]\n"),
        "{answer}"
    );
    assert!(answer.contains("\n[1] cars.txt, page 1\n") && answer.contains("1 unit, "), "{answer}");
    let answer = client(&["ask", "Papers", "How often does the engine need new oil?", "--json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["citations"][0]["fileName"], "cars.txt");

    let questions = papers.path().join("questions.jsonl");
    let lines = [
        r#"{"question": "how to raise a young dog", "relevant": ["pets.txt#page=1"]}"#,
        r#"{"question": "When must lubricant be changed?", "truth": "Every 20,000 km. [cars.txt#page=1]"}"#,
    ];
    std::fs::write(&questions, lines.join("\n")).unwrap();
    let report = papers.path().join("report.html");
    let (questions, html) = (questions.to_str().unwrap(), report.to_str().unwrap());
    let measured = client(&["eval", "Papers", questions, "--html", html, "--json"]);
    let measured: Value = serde_json::from_str(&measured).unwrap();
    assert_eq!((&measured["questions"], &measured["recall"]["10"]), (&2.into(), &1.0.into()), "{measured}");
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("<svg") && page.contains("cars.txt, page 1") && !page.contains("http"));

    let lines = [
        r#"{"question": "How often does the engine need new oil?", "facts": ["twenty thousand kilometres"], "relevant": ["cars.txt"]}"#,
        r#"{"question": "How often does the engine need new oil?", "answer": "every year"}"#,
        r#"{"question": "Who is the president of the chess club?", "unanswerable": true}"#,
    ];
    std::fs::write(questions, lines.join("\n")).unwrap();
    let measured = client(&["eval", "Papers", questions, "--answers", "--html", html, "--json"]);
    let measured: Value = serde_json::from_str(&measured).unwrap();
    let shares = ["right", "facts", "cited", "refused"].map(|name| measured[name].as_f64().unwrap());
    assert_eq!((measured["questions"].as_u64(), shares), (Some(3), [2.0 / 3.0, 0.5, 1.0, 1.0]), "{measured}");
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("<svg") && page.contains("lacks “every year”") && !page.contains("http"), "{page}");

    // What found nothing is an evaluation set now.
    let log = papers.path().join("asked.jsonl");
    let log = log.to_str().unwrap();
    let permissions = "search,read,manage";
    let manager = json(data, &["key", "add", "--user", "ada@example.org", "--permissions", permissions]);
    let manager = manager["key"].as_str().unwrap();
    let written: Value =
        serde_json::from_str(&client(&["eval", "Papers", log, "--from-log", "--json", "--key", manager]))
            .unwrap();
    let asked = std::fs::read_to_string(log).unwrap();
    assert_eq!(written["questions"], asked.lines().count(), "{written}");
    let chess = asked.lines().find(|line| line.contains("chess club")).unwrap();
    assert!(chess.contains(r#""unanswerable":true"#), "{chess}");
    client(&["eval", "Papers", log, "--answers"]);

    // The server does it, since it has the store.
    let reindexed = json(data, &["reindex", "Papers"]);
    assert_eq!((&reindexed["files"], &reindexed["model"]), (&3.into(), &reindexed["modelBefore"]));
    drop(server);
    let back = json(data, &["reindex", "Papers", "--back"]);
    assert_eq!(
        (&back["files"], &back["readAgain"]),
        (&3.into(), &0.into()),
        "nobody serves: the command does it"
    );
}
