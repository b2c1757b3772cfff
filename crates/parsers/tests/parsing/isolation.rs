//! Children with limits: they answer, they are stopped, and they leave nothing behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::seams::parser::{FailureKind, Parser};
use parsers::{ChildParser, Limits, Sandbox};

use crate::{alone, docx, pdf};

/// The example of this crate doubles as the child; `cargo test` builds it beside the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test binary");
    let folder = tests.parent().and_then(Path::parent).expect("a target folder");
    folder.join("examples").join("parse")
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("scratch")).expect("a scratch folder");
        Self { folder }
    }

    fn parser(&self, limits: Limits) -> ChildParser {
        ChildParser {
            program: program(),
            args: vec!["parse-child".into()],
            limits,
            scratch_root: self.folder.path().join("scratch"),
            sandbox: Sandbox::default(),
        }
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("input");
        std::fs::write(&path, bytes).expect("an input");
        path
    }

    fn scratch_is_empty(&self) -> bool {
        std::fs::read_dir(self.folder.path().join("scratch")).expect("the scratch folder").next().is_none()
    }
}

#[tokio::test]
async fn a_child_answers_with_pages_and_progress() {
    let place = Place::new();
    let file = place.file(&pdf(&[&["First page"], &["Second page"]]));
    let told = std::sync::Mutex::new(Vec::new());
    let progress = |done: u32, total: Option<u32>| told.lock().expect("no panic").push((done, total));
    let document = place.parser(alone()).parse(&file, "x.pdf", &[], &progress).await.expect("a document");
    assert_eq!(document.pages.len(), 2);
    assert_eq!(document.pages[1].text, "Second page");
    assert!(told.lock().expect("no panic").contains(&(2, Some(2))));
    assert!(place.scratch_is_empty());
}

#[tokio::test]
async fn a_failure_inside_the_child_comes_back_as_it_is() {
    let place = Place::new();
    let file = place.file(b"\x7fELF\x02\x01\x01\x00");
    let why = place.parser(alone()).parse(&file, "x", &[], &|_, _| {}).await.unwrap_err();
    assert_eq!(why.kind, FailureKind::Unsupported);
}

#[tokio::test]
async fn a_file_that_takes_too_long_is_stopped() {
    let place = Place::new();
    let file = place.file(b"words");
    // A child that never answers, as one would that loops.
    let parser = ChildParser {
        program: "/bin/sleep".into(),
        args: vec!["600".into()],
        limits: Limits { base_seconds: 0.3, ..alone() },
        ..place.parser(alone())
    };
    let start = Instant::now();
    let why = parser.parse(&file, "x", &[], &|_, _| {}).await.unwrap_err();
    assert_eq!(why.kind, FailureKind::Limits);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(place.scratch_is_empty());
}

#[tokio::test]
async fn a_file_that_needs_too_much_memory_is_stopped() {
    let place = Place::new();
    let path = place.file(b"");
    std::fs::File::options()
        .write(true)
        .open(&path)
        .expect("the input")
        .set_len(900 << 20)
        .expect("a long file");
    let limits = Limits { memory_bytes: 512 << 20, ..alone() };
    let why = place.parser(limits).parse(&path, "x", &[], &|_, _| {}).await.unwrap_err();
    assert_eq!(why.kind, FailureKind::Limits, "{why}");
}

#[tokio::test]
async fn a_zip_bomb_is_stopped_by_what_really_comes_out() {
    let place = Place::new();
    let file = place.file(&docx(&format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "a".repeat(8 << 20))));
    let limits = Limits { inflated_bytes: 1 << 20, ..alone() };
    let why = place.parser(limits).parse(&file, "x.docx", &[], &|_, _| {}).await.unwrap_err();
    assert_eq!(why.kind, FailureKind::Limits);
}

#[tokio::test]
async fn a_child_that_talks_nonsense_or_dies_is_no_document() {
    let place = Place::new();
    let file = place.file(b"words");
    for (program, argument) in [("/bin/echo", "nonsense"), ("/bin/false", ""), ("/nowhere/at/all", "")] {
        let parser =
            ChildParser { program: program.into(), args: vec![argument.into()], ..place.parser(alone()) };
        let why = parser.parse(&file, "x", &[], &|_, _| {}).await.unwrap_err();
        assert_eq!(why.kind, FailureKind::Internal, "{program}: {why}");
    }
    let parser = ChildParser {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "kill -SEGV $$".into()],
        ..place.parser(alone())
    };
    assert_eq!(parser.parse(&file, "x", &[], &|_, _| {}).await.unwrap_err().kind, FailureKind::Damaged);
}

#[tokio::test]
async fn a_child_cannot_say_more_than_its_parent_hears() {
    let place = Place::new();
    let file = place.file(b"words");
    let parser = ChildParser {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "yes".into()],
        limits: Limits { reply_bytes: 1 << 16, ..alone() },
        ..place.parser(alone())
    };
    let why = parser.parse(&file, "x", &[], &|_, _| {}).await.unwrap_err();
    assert!(matches!(why.kind, FailureKind::Internal | FailureKind::Limits | FailureKind::Damaged), "{why}");
}

#[tokio::test]
async fn a_dropped_parse_kills_the_child_and_all_it_started() {
    let place = Place::new();
    let file = place.file(b"words");
    let mark = place.folder.path().join("still-alive");
    let parser = ChildParser {
        // It leads a group of its own, as our own child does first of all.
        program: "/usr/bin/setsid".into(),
        args: vec!["sh".into(), "-c".into(), format!("(sleep 1; touch {}) & wait", mark.display()).into()],
        ..place.parser(alone())
    };
    let dropped =
        tokio::time::timeout(Duration::from_millis(200), parser.parse(&file, "x", &[], &|_, _| {})).await;
    assert!(dropped.is_err());
    // The grandchild would leave its mark after a second; waiting longer is the only way to see that it does not.
    tokio::time::sleep(Duration::from_millis(1_600)).await;
    assert!(!mark.exists());
}

/// Linux shares the processor out to sessions first, so a child steps back only in the session of its server.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_steps_back_behind_its_server() {
    let place = Place::new();
    let file = place.file("Words that take a while to read. ".repeat(1 << 20).as_bytes());
    let parser = place.parser(alone());
    let parsing = parser.parse(&file, "x.txt", &[], &|_, _| {});
    let own = stat("self").expect("this process");
    let stepped_back = async {
        loop {
            let steps_back = |child: &Stat| child.nice == (own.nice + 10).min(19);
            if let Some(child) = children().into_iter().find(steps_back) {
                return child;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        child = stepped_back => {
            assert_eq!(child.group, child.id, "the server ends its group");
            assert_eq!(child.session, own.session);
        }
        read = parsing => panic!("it was read and did not step back: {:?}", read.map(|document| document.pages.len())),
    }
}

/// What the kernel says of a process.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Stat {
    id: i32,
    group: i32,
    session: i32,
    nice: i32,
}

#[cfg(target_os = "linux")]
fn stat(process: &str) -> Option<Stat> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<i32> =
        line.rsplit(')').next()?.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    let id = line.split(' ').next()?.parse().ok()?;
    Some(Stat { id, group: *fields.get(2)?, session: *fields.get(3)?, nice: *fields.get(16)? })
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Stat> {
    let own = std::process::id();
    let threads = std::fs::read_dir(format!("/proc/{own}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(stat).collect::<Vec<_>>()).collect()
}
