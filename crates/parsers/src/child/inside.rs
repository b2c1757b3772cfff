//! What runs inside the child: limits first, then the parser, then the answer.

use std::io::{BufWriter, Read, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use engine::document::Document;
use engine::seams::parser::ParseFailure;

use super::frames::{Frame, Request};
use super::sandbox;
use crate::{Job, failure};

/// The parser's stack. Parsers cap their own nesting; libraries recurse a little more freely.
const STACK_BYTES: usize = 64 << 20;
/// A request is a path, a name and some numbers.
const LONGEST_REQUEST: u64 = 1 << 20;
/// The parent need not hear of every page of a fast file.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);

/// Reads one file as the parent asks, and answers on standard output.
///
/// To be called first thing in `main`, before anything opens files or starts threads: it closes all descriptors but the
/// three standard ones and gives up every right that reading one file does not need.
pub fn child_main() -> ExitCode {
    // A damaged page may make a library panic; it is caught, and its text is of use to nobody.
    std::panic::set_hook(Box::new(|_| {}));
    let mut request = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_REQUEST).read_to_end(&mut request);
    let Ok(request) =
        read.map_err(drop).and_then(|_| serde_json::from_slice::<Request>(&request).map_err(drop))
    else {
        return ExitCode::from(2);
    };
    if let Err(why) = sandbox::enter(&request) {
        send(&mut std::io::stdout().lock(), &Frame::Failed(failure::internal(why)));
        return ExitCode::from(1);
    }
    let thread = std::thread::Builder::new().name("parse".into()).stack_size(STACK_BYTES);
    let outcome = thread.spawn(move || read_file(&request)).map(std::thread::JoinHandle::join);
    let result = match outcome {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(failure::damaged("the file is damaged in a way that stopped the parser")),
        Err(_) => Err(failure::internal("the parser could not start a thread")),
    };
    answer(result);
    ExitCode::SUCCESS
}

fn read_file(request: &Request) -> Result<Document, ParseFailure> {
    let bytes = crate::load(&request.path)?;
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
    let job = Job { limits: &request.limits, progress: &progress, depth: 0, recognised: &recognised };
    crate::read(bytes, &request.name, &job)
}

fn answer(result: Result<Document, ParseFailure>) {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match result {
        Ok(Document { media_type, title, pages, warnings }) => {
            for page in pages {
                send(&mut out, &Frame::Page(page));
            }
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
