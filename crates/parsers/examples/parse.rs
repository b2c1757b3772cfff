//! Reads files and prints one JSON line for each: for measuring and for looking at results.
//!
//! `parse [--child] [--no-ocr | --tesseract] FILE…`: in this process, or each in a child with limits as the server does it.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use engine::document::Document;
use engine::seams::parser::{ParseFailure, Parser};
use nix::sys::resource::{UsageWho, getrusage};
use parsers::{ChildParser, Limits, Ocr};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "parse-child") {
        return parsers::child_main();
    }
    let child = arguments.iter().any(|argument| argument == "--child");
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let ocr = match (given("--no-ocr"), given("--tesseract")) {
        (true, _) => Ocr::Off,
        (_, true) => Ocr::Tesseract,
        _ => Ocr::BuiltIn,
    };
    let limits = Limits { ocr, ..Limits::default() };
    // Documents nest; the child gives its parser as much.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        for file in arguments.iter().filter(|argument| !argument.starts_with("--")) {
            report(file, child, &limits);
        }
    });
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn report(file: &str, child: bool, limits: &Limits) {
    let who = if child { UsageWho::RUSAGE_CHILDREN } else { UsageWho::RUSAGE_SELF };
    let (before, start) = (cpu_seconds(who), Instant::now());
    let result = if child {
        in_child(file, limits)
    } else {
        parsers::parse(Path::new(file), file, limits, &|_, _| {})
    };
    let (document, failure) = match result {
        Ok(document) => (Some(document), None),
        Err(failure) => (None, Some(failure)),
    };
    let line = serde_json::json!({
        "file": file,
        "wall_seconds": start.elapsed().as_secs_f64(),
        "cpu_seconds": cpu_seconds(who) - before,
        "peak_kilobytes": getrusage(who).map(|usage| usage.max_rss()).unwrap_or(0),
        "failure": failure,
        "document": document,
    });
    println!("{line}");
}

fn in_child(file: &str, limits: &Limits) -> Result<Document, ParseFailure> {
    let internal = |error: std::io::Error| ParseFailure {
        kind: engine::seams::parser::FailureKind::Internal,
        message: error.to_string(),
    };
    let parser = ChildParser::of_this_binary(
        vec!["parse-child".into()],
        limits.clone(),
        std::env::temp_dir(),
        Default::default(),
    )
    .map_err(internal)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(internal)?;
    runtime.block_on(parser.parse(Path::new(file), file, &[], &|_, _| {}))
}

fn cpu_seconds(who: UsageWho) -> f64 {
    let Ok(usage) = getrusage(who) else { return 0.0 };
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}
