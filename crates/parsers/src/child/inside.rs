//! What runs inside the child: limits first, then the parser, then the answer.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use engine::document::Document;
use engine::seams::parser::{ParseFailure, Progress};
use nix::unistd::{Pid, setpgid};

use super::REQUEST;
use super::frames::{Few, Frame, PageFrame, Request};
use super::sandbox::{self, Entered, Sandbox};
use crate::{Job, Limits, failure};

/// The parser's stack. Parsers cap their own nesting; libraries recurse a little more freely.
const STACK_BYTES: usize = 64 << 20;
/// A request is a name and some numbers.
const LONGEST_REQUEST: u64 = 1 << 20;
/// The parent need not hear of every page of a fast file.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
/// How far the child steps back behind the server: where both want a core, a question gets nine tenths of it. Even then a page has
/// more than twice the time that it needs ([`Limits::seconds_per_page`]).
const STEP_BACK: i32 = 10;

/// What makes a document of a file's bytes and name.
type Reader = fn(Vec<u8>, &str, &Limits, Progress<'_>, &AtomicU32) -> Result<Document, ParseFailure>;

/// Reads the file that is its standard input as the parent asks, and answers on standard output.
///
/// To be called first thing in `main`, before anything opens files or starts threads: it closes all descriptors but the
/// three standard ones and gives up every right that reading one file does not need.
pub fn child_main() -> ExitCode {
    child_main_with(|bytes, name, limits, progress, recognised| {
        crate::read(bytes, name, &Job { limits, progress, depth: 0, recognised })
    })
}

/// The same with another reader: tests have one that tries to break out.
#[doc(hidden)]
pub fn child_main_with(reader: Reader) -> ExitCode {
    // A damaged page may make a library panic; it is caught, and its text is of use to nobody.
    std::panic::set_hook(Box::new(|_| {}));
    // Our parent ends the whole group. A session would do as well, but Linux shares the processor out to sessions before it looks at
    // how far anybody in them has stepped back: a child in its own would get half of a core that the server needs.
    if setpgid(Pid::from_raw(0), Pid::from_raw(0)).is_err() {
        return ExitCode::from(4);
    }
    let Some(request) = request() else { return ExitCode::from(2) };
    // Somebody waits for a picture. Where it fails, the child is as urgent as before.
    let _ = rustix::process::nice(if request.drawing.is_some() { STEP_BACK / 2 } else { STEP_BACK });
    let entered = match sandbox::enter(&request.limits) {
        Ok(entered) => entered,
        Err(why) => {
            send(&mut std::io::stdout().lock(), &Frame::Failed(failure::internal(why)));
            return ExitCode::from(1);
        }
    };
    let thread = std::thread::Builder::new().name("parse".into()).stack_size(STACK_BYTES);
    let outcome =
        thread.spawn(move || read_confined(&request, entered, reader)).map(std::thread::JoinHandle::join);
    let result = match outcome {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(failure::damaged("the file is damaged in a way that stopped the parser")),
        Err(_) => Err(failure::internal("the parser could not start a thread")),
    };
    answer(result);
    ExitCode::SUCCESS
}

fn request() -> Option<Request> {
    let mut request = Vec::new();
    File::open(REQUEST).ok()?.take(LONGEST_REQUEST).read_to_end(&mut request).ok()?;
    serde_json::from_slice(&request).ok()
}

/// What was made of the file.
enum Made {
    Document(Document),
    Picture(Vec<u8>),
}

/// Gives up the last rights, says how that went, and only then looks at the file.
fn read_confined(request: &Request, entered: Entered, reader: Reader) -> Result<Made, ParseFailure> {
    let missing = entered.finish();
    let sandbox = if request.required { Sandbox::Required } else { Sandbox::BestEffort };
    let refusal = sandbox.refusal(&missing);
    send(&mut std::io::stdout().lock(), &Frame::Confined { missing: Few(missing) });
    if let Some(why) = refusal {
        return Err(failure::internal(why));
    }
    let bytes = input().map_err(crate::unreadable)?;
    if let Some(drawing) = request.drawing {
        return crate::drawing::draw(bytes, &request.name, drawing, &request.limits).map(Made::Picture);
    }
    let recognised = AtomicU32::new(0);
    let last = Mutex::new(None::<Instant>);
    let progress = |done: u32, total: Option<u32>| {
        let Ok(mut last) = last.lock() else { return };
        let due = last.is_none_or(|last| last.elapsed() >= PROGRESS_PAUSE) || Some(done) == total;
        if due {
            *last = Some(Instant::now());
            let recognised = recognised.load(Ordering::Relaxed);
            send(&mut std::io::stdout().lock(), &Frame::Progress { done, total, recognised });
        }
    };
    reader(bytes, &request.name, &request.limits, &progress, &recognised).map(Made::Document)
}

/// All of standard input. As a file it tells its size, so that memory is asked for once.
fn input() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(std::io::stdin().as_fd().try_clone_to_owned()?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn answer(result: Result<Made, ParseFailure>) {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match result {
        Ok(Made::Picture(png)) => {
            send(&mut out, &Frame::Picture { bytes: png.len() as u64 });
            if out.write_all(&png).is_err() {
                std::process::exit(3);
            }
        }
        Ok(Made::Document(Document { media_type, title, pages, warnings })) => {
            for page in pages {
                send(&mut out, &Frame::Page(PageFrame::from(page)));
            }
            let warnings = Few::first(warnings);
            send(&mut out, &Frame::Done { media_type, title, warnings });
        }
        Err(why) => send(&mut out, &Frame::Failed(why)),
    }
    let _ = out.flush();
}

/// A parent that no longer listens is gone; so is the reason to go on.
fn send(out: &mut impl Write, frame: &Frame) {
    let sent = serde_json::to_writer(&mut *out, frame)
        .map_err(drop)
        .and_then(|()| out.write_all(b"\n").map_err(drop));
    if sent.is_err() {
        std::process::exit(3);
    }
}
