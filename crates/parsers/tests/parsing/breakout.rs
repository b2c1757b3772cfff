//! A parser in the hands of its file (`examples/breakout.rs`) tries to break out; nothing may work. Each layer of the sandbox has
//! attempts here that only it can stop, so that a layer that is off fails a test.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::seams::parser::{FailureKind, Parser};
use parsers::{ChildParser, Limits, Ocr, Sandbox};
use serde_json::{Map, Value, json};

use crate::alone;

/// What a child that may ask `tesseract` can do beyond others: that is how it is started.
const TAKEN_FOR_PROGRAMS: [&str; 1] = ["start a thread"];

struct Place {
    folder: tempfile::TempDir,
    listener: std::net::TcpListener,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("scratch")).expect("a scratch folder");
        std::fs::create_dir(folder.path().join("programs")).expect("a folder of programs");
        std::fs::write(folder.path().join("secret"), "of another tenant").expect("another file");
        let program = folder.path().join("programs").join("tesseract");
        std::fs::copy("/bin/true", &program).expect("a program");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("its rights");
        Self { folder, listener: std::net::TcpListener::bind("127.0.0.1:0").expect("a port") }
    }

    fn targets(&self) -> Value {
        json!({
            "other_file": self.folder.path().join("secret"),
            "folder": self.folder.path(),
            "parent": std::process::id(),
            "port": self.listener.local_addr().expect("its address").port(),
        })
    }

    /// A child that finds these programs on its search path.
    fn parser(&self, path: &Path, limits: Limits) -> ChildParser {
        let mut search: OsString = "PATH=".into();
        search.push(path);
        ChildParser {
            program: "/usr/bin/env".into(),
            args: vec![search, program().into(), "breakout-child".into()],
            limits,
            scratch_root: self.folder.path().join("scratch"),
            sandbox: Sandbox::BestEffort,
        }
    }

    async fn attack(&self, parser: &ChildParser) -> Map<String, Value> {
        let input = self.folder.path().join("input");
        std::fs::write(&input, self.targets().to_string()).expect("an input");
        let document = parser.parse(&input, "input", &[], &|_, _| {}).await.expect("what it tried");
        serde_json::from_str(&document.pages[0].text).expect("its report")
    }
}

fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test binary");
    let folder = tests.parent().and_then(Path::parent).expect("a target folder");
    folder.join("examples").join("breakout")
}

fn what_worked(results: &Map<String, Value>) -> Vec<&str> {
    results.iter().filter(|(_, result)| **result == true).map(|(name, _)| name.as_str()).collect()
}

/// Whether this kernel has every layer; says so where it has not.
async fn kernel_confines(parser: &ChildParser) -> bool {
    let missing = parser.missing().await.expect("a child that answers");
    for part in &missing {
        println!("skipped: {part}");
    }
    missing.is_empty()
}

#[tokio::test]
async fn without_a_sandbox_every_attempt_to_break_out_works() {
    let place = Place::new();
    let free = tokio::process::Command::new(program())
        .args(["--free", &place.targets().to_string()])
        .current_dir(place.folder.path())
        .output()
        .await
        .expect("a report");
    let results: Map<String, Value> = serde_json::from_slice(&free.stdout).expect("its report");
    let failed: Vec<_> = results.iter().filter(|(_, result)| **result != true).collect();
    assert!(results.len() > 10 && failed.is_empty(), "{failed:?}");
}

#[tokio::test]
async fn a_parser_in_the_hands_of_its_file_cannot_break_out() {
    let place = Place::new();
    let parser = place.parser(Path::new("/nowhere"), alone());
    if !kernel_confines(&parser).await {
        return;
    }
    let results = place.attack(&parser).await;
    assert!(results.len() > 10 && what_worked(&results).is_empty(), "{results:?}");
    // The list of calls stopped these: without it Landlock would have said "permission denied".
    for attempt in ["read /etc/passwd", "open a UDP socket", "signal the parent", "start a thread"] {
        assert!(
            results[attempt]
                .as_str()
                .is_some_and(|why| why.contains("os error 38") || why.contains("ENOSYS")),
            "{results:?}"
        );
    }
}

#[tokio::test]
async fn a_parser_that_may_ask_tesseract_cannot_break_out_either() {
    let place = Place::new();
    let limits = Limits { ocr: Ocr::Tesseract, ..alone() };
    let parser = place.parser(&place.folder.path().join("programs"), limits);
    if !kernel_confines(&parser).await {
        return;
    }
    let results = place.attack(&parser).await;
    assert_eq!(what_worked(&results), TAKEN_FOR_PROGRAMS, "{results:?}");
    // Opening files is on the list of calls for these, so that Landlock alone stopped it.
    let why = results["read /etc/passwd"].as_str().expect("an error");
    assert!(why.contains("os error 13"), "{why}");
}

#[tokio::test]
async fn a_required_sandbox_refuses_to_read_without_it() {
    let place = Place::new();
    // A child that never says that it is confined, as none can be on an old kernel.
    let mute = ChildParser {
        program: "/bin/echo".into(),
        args: vec![r#"{"progress":{"done":1,"total":1,"recognised":0}}"#.into()],
        sandbox: Sandbox::Required,
        ..place.parser(Path::new("/nowhere"), alone())
    };
    let why = mute.parse(&place.folder.path().join("secret"), "x", &[], &|_, _| {}).await.unwrap_err();
    assert!(why.kind == FailureKind::Internal && why.message.contains("confined"), "{why}");
    let parser = ChildParser { sandbox: Sandbox::Required, ..place.parser(Path::new("/nowhere"), alone()) };
    if kernel_confines(&parser).await {
        assert!(what_worked(&place.attack(&parser).await).is_empty());
    }
}
