//! A parser that is in the hands of its file: tries to break out of the sandbox and says what worked. For tests only.
//!
//! As a child it reads its targets from its input, as a parser would read a document. `breakout --free TARGETS` tries the same
//! without a sandbox, so that a test knows that the attempts are worth something on this machine.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicU32;

use engine::document::{Document, Format, Page};
use engine::seams::parser::{ParseFailure, Progress};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use parsers::Limits;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What is worth attacking.
#[derive(Deserialize)]
struct Targets {
    /// Another file, which somebody else may have uploaded.
    other_file: PathBuf,
    /// A folder that anybody may write to.
    folder: PathBuf,
    /// The process that started this one.
    parent: i32,
    /// A port on which somebody listens.
    port: u16,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, targets] = &arguments[..] else { return parsers::child::child_main_with(read) };
    let Ok(targets) = serde_json::from_str(targets) else { return ExitCode::FAILURE };
    if first == "--free" {
        println!("{}", attack(&targets));
    }
    ExitCode::SUCCESS
}

fn read(
    bytes: Vec<u8>,
    _: &str,
    _: &Limits,
    _: Progress<'_>,
    _: &AtomicU32,
) -> Result<Document, ParseFailure> {
    let text = match serde_json::from_slice(&bytes) {
        Ok(targets) => attack(&targets).to_string(),
        Err(wrong) => wrong.to_string(),
    };
    let page = Page {
        number: 1,
        label: "1".into(),
        text,
        format: Format::Text,
        ocr: false,
        confidence: None,
        tables: 0,
        warnings: Vec::new(),
        layout: None,
    };
    Ok(Document { media_type: "text/plain".into(), title: None, pages: vec![page], warnings: Vec::new() })
}

/// Each attempt with `true` where it worked, or with the error that stopped it.
fn attack(targets: &Targets) -> Value {
    let mut results = Map::new();
    let mut attempt = |name: &str, outcome: Result<(), String>| {
        results.insert(name.into(), outcome.map_or_else(Value::String, |()| Value::Bool(true)));
    };
    let new_file = targets.folder.join(format!("new-{}", std::process::id()));
    attempt("read /etc/passwd", text(std::fs::read("/etc/passwd")));
    attempt("read another file", text(std::fs::read(&targets.other_file)));
    attempt("list the folder", text(std::fs::read_dir(&targets.folder)));
    attempt("list /", text(std::fs::read_dir("/")));
    attempt("read the environment", text(std::fs::read("/proc/self/environ")));
    attempt("write a file", text(std::fs::write(&new_file, "x")));
    attempt("write to its own folder", text(std::fs::write("new", "x")));
    attempt("make a folder", text(std::fs::create_dir(new_file.with_extension("folder"))));
    attempt("change another file", text(std::fs::File::options().append(true).open(&targets.other_file)));
    attempt("open a UDP socket", text(UdpSocket::bind("127.0.0.1:0")));
    attempt("open a Unix socket", text(UnixDatagram::unbound()));
    attempt("listen", text(TcpListener::bind("127.0.0.1:0")));
    attempt("connect", text(TcpStream::connect(("127.0.0.1", targets.port))));
    // Signal 0 asks only whether a signal would be allowed.
    attempt("signal the parent", text(kill(Pid::from_raw(targets.parent), None)));
    attempt("run a program", text(Command::new("/bin/true").status()));
    attempt(
        "start a thread",
        text(std::thread::Builder::new().spawn(|| {}).map(std::thread::JoinHandle::join)),
    );
    Value::Object(results)
}

fn text<T, E: std::fmt::Display>(outcome: Result<T, E>) -> Result<(), String> {
    outcome.map(drop).map_err(|error| error.to_string())
}
