//! Parses each file in a child process of its own: the parent watches the clock, the kernel the rest.

mod conversation;
mod frames;
mod inside;
mod sandbox;

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use engine::document::Document;
use engine::seams::parser::{Drawing, FailureKind, ParseFailure, Parser, Progress};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

use crate::{Limits, Ocr, failure};
use frames::Request;

pub use conversation::{Conversation, Heard};
pub use inside::{child_main, child_main_with};
pub use sandbox::{Layer, Missing, Sandbox};

/// Where in its folder a child finds what it is asked for.
const REQUEST: &str = "request";
/// Where its standard error goes.
const ERRORS: &str = "errors";

/// Reads files in child processes, one for each.
///
/// The child is `program` with `args`, usually this very binary with a hidden subcommand whose first act is
/// [`child_main`]. Dropping the future kills the child and all it started.
#[derive(Debug, Clone)]
pub struct ChildParser {
    /// The program to run.
    pub program: PathBuf,
    /// What makes the program call [`child_main`].
    pub args: Vec<OsString>,
    /// What one file may cost.
    pub limits: Limits,
    /// Where each child gets a folder of its own, removed when it ends.
    pub scratch_root: PathBuf,
    /// What to do where the kernel cannot confine a child.
    pub sandbox: Sandbox,
}

impl ChildParser {
    /// A parser that runs this very binary with `args`.
    pub fn of_this_binary(
        args: Vec<OsString>,
        limits: Limits,
        scratch_root: PathBuf,
        sandbox: Sandbox,
    ) -> std::io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, args, limits, scratch_root, sandbox })
    }

    /// What of its sandbox a child on this machine does not have, as one says that was given an empty file.
    pub async fn missing(&self) -> Result<Vec<Missing>, ParseFailure> {
        let nothing = tempfile::NamedTempFile::new_in(&self.scratch_root).map_err(start)?;
        let mut conversation = Conversation::new(&self.limits, Sandbox::BestEffort);
        self.converse(nothing.path(), "nothing.txt", &self.limits, &|_, _| {}, &mut conversation).await?;
        match conversation.missing() {
            Some(missing) => Ok(missing.to_vec()),
            None => Err(failure::internal("the parser did not say whether it is confined")),
        }
    }

    async fn converse(
        &self,
        path: &Path,
        name: &str,
        limits: &Limits,
        progress: Progress<'_>,
        conversation: &mut Conversation<'_>,
    ) -> Result<Document, ParseFailure> {
        match self.ask(path, name, None, limits, progress, conversation).await? {
            Made::Document(document) => Ok(document),
            Made::Picture(_) => Err(failure::internal("the parser gave a picture that nobody asked for")),
        }
    }

    /// Has a child read the file, or draw a page of it.
    async fn ask(
        &self,
        path: &Path,
        name: &str,
        drawing: Option<Drawing>,
        limits: &Limits,
        progress: Progress<'_>,
        conversation: &mut Conversation<'_>,
    ) -> Result<Made, ParseFailure> {
        let scratch =
            tempfile::Builder::new().prefix("parse-").tempdir_in(&self.scratch_root).map_err(start)?;
        // The child is handed the open file. It never hears where that is.
        let input = File::open(path)
            .map_err(|error| failure::internal(format!("the file cannot be opened: {error}")))?;
        let required = self.sandbox == Sandbox::Required;
        let request = Request { name: name.to_owned(), limits: limits.clone(), required, drawing };
        let mut running = self.spawn(scratch.path(), input, &request).map_err(start)?;
        let outcome = listen(&mut running, limits, progress, conversation).await;
        if matches!(outcome, Outcome::Ended) {
            running.settle().await;
        }
        running.kill();
        let status = running.child.wait().await.ok();
        match outcome {
            Outcome::Made(made) => Ok(made),
            Outcome::Failed(why) => Err(why),
            Outcome::Ended => Err(cause_of_death(status, &last_words(scratch.path()).await, limits)),
        }
    }

    fn spawn(&self, scratch: &Path, input: File, request: &Request) -> std::io::Result<Running> {
        std::fs::write(scratch.join(REQUEST), serde_json::to_vec(request)?)?;
        let child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()))
            // Of the address space that is limited, each arena of the C library would reserve 64 MiB, each of our allocator 1 GiB.
            .env("MALLOC_ARENA_MAX", "1")
            .env("MIMALLOC_ARENA_RESERVE", "32MiB")
            .current_dir(scratch)
            .stdin(Stdio::from(input))
            .stdout(Stdio::piped())
            .stderr(File::create(scratch.join(ERRORS))?)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Running { child })
    }
}

fn start(error: std::io::Error) -> ParseFailure {
    failure::internal(format!("the parser could not start: {error}"))
}

#[async_trait]
impl Parser for ChildParser {
    async fn parse(
        &self,
        path: &Path,
        name: &str,
        languages: &[String],
        progress: Progress<'_>,
    ) -> Result<Document, ParseFailure> {
        let limits = self.limits.with_languages(languages);
        let mut conversation = Conversation::new(&limits, self.sandbox);
        self.converse(path, name, &limits, progress, &mut conversation).await
    }

    fn minds_languages(&self) -> bool {
        self.limits.ocr.here() == Ocr::Tesseract
    }

    async fn draw(&self, path: &Path, name: &str, drawing: Drawing) -> Result<Vec<u8>, ParseFailure> {
        /// Somebody waits for it: an ordinary page takes a tenth of a second.
        const SECONDS: f64 = 15.0;
        // No other program is of use for it, so none may be started.
        let limits = Limits {
            base_seconds: SECONDS.min(self.limits.base_seconds),
            ocr: Ocr::Off,
            second_opinion: false,
            ..self.limits.clone()
        };
        let mut conversation = Conversation::new(&limits, self.sandbox).about_a_picture();
        match self.ask(path, name, Some(drawing), &limits, &|_, _| {}, &mut conversation).await? {
            Made::Picture(png) if conversation::is_picture(&png, drawing) => Ok(png),
            _ => Err(failure::internal("the parser gave no picture")),
        }
    }
}

/// A child that is killed, with all it started, when it is dropped.
struct Running {
    child: Child,
}

impl Running {
    /// Lets a child that has said its last word die of its own cause, so that the cause can be told. It is not waited
    /// for yet: as long as it is not, its id names its group and nobody else's.
    async fn settle(&self) {
        /// Closing files and leaving takes milliseconds; a child that goes on in silence is killed.
        const PATIENCE: Duration = Duration::from_secs(1);
        const PAUSE: Duration = Duration::from_millis(5);
        let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()) else { return };
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end && waitid(Id::Pid(Pid::from_raw(id)), flags) == Ok(WaitStatus::StillAlive)
        {
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The processor time that the child has had, if it asks for more right now; nothing where it waits for something else or the
    /// system does not tell.
    fn computed(&self) -> Option<Duration> {
        let folder = PathBuf::from(format!("/proc/{}", self.child.id()?));
        let mut threads = std::fs::read_dir(folder.join("task")).ok()?.flatten();
        threads.find_map(|thread| Computed::of(&thread.path()).filter(|thread| thread.runnable))?;
        Some(Computed::of(&folder)?.time)
    }

    fn kill(&mut self) {
        // The id is gone once the child is waited for, so it cannot name a stranger. The child's first act is to lead a
        // group, which its own children cannot leave; before that it has none and is killed alone.
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a child made of a file.
enum Made {
    Document(Document),
    Picture(Vec<u8>),
}

/// How listening to a child ended.
enum Outcome {
    Made(Made),
    Failed(ParseFailure),
    /// It stopped talking without an answer.
    Ended,
}

/// What Linux says of a process or thread.
struct Computed {
    runnable: bool,
    time: Duration,
}

impl Computed {
    /// From its folder below `/proc`.
    fn of(folder: &Path) -> Option<Self> {
        /// How Linux counts processor time for programs, on every machine.
        const TICKS_PER_SECOND: u32 = 100;
        let text = std::fs::read_to_string(folder.join("stat")).ok()?;
        // Behind the name, which may hold anything: the state, ten numbers, and ticks in the program and in the kernel.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        let runnable = fields.next()? == "R";
        let ticks = fields.skip(10).take(2).map(|ticks| ticks.parse::<u32>().ok()).sum::<Option<u32>>()?;
        Some(Computed { runnable, time: Duration::from_secs(1) * ticks / TICKS_PER_SECOND })
    }
}

/// The time a child has: some to start with, more for each page it really reads, and what others kept the processor from it.
struct Clock {
    start: Instant,
    pages: u32,
    recognised: u32,
    lent: Duration,
}

impl Clock {
    fn new() -> Self {
        Clock { start: Instant::now(), pages: 0, recognised: 0, lent: Duration::ZERO }
    }

    fn end(&self, limits: &Limits) -> Instant {
        self.start + self.earned(limits) + self.lent
    }

    fn earned(&self, limits: &Limits) -> Duration {
        let earned = limits.base_seconds
            + limits.seconds_per_page * f64::from(self.pages)
            + limits.seconds_per_ocr_page * f64::from(self.recognised);
        Duration::from_secs_f64(earned.clamp(0.0, limits.total_seconds.max(0.0)))
    }

    /// The time in which the child wanted to compute and could not.
    fn lacked(&self, running: &Running) -> Option<Duration> {
        Some(self.start.elapsed().saturating_sub(running.computed()?))
    }

    /// Lends the time that the child lacked because the machine was busy. Gives whether that is more than before.
    fn lend(&mut self, limits: &Limits, lacked: Option<Duration>) -> bool {
        /// In times of what was earned: no file stays for ever.
        const MOST: u32 = 3;
        /// Less is the clock's own inaccuracy.
        const LEAST: Duration = Duration::from_millis(200);
        let lent = lacked.unwrap_or_default().min(self.earned(limits) * MOST);
        let more = lent > self.lent + LEAST;
        self.lent = self.lent.max(lent);
        more
    }
}

async fn listen(
    running: &mut Running,
    limits: &Limits,
    progress: Progress<'_>,
    conversation: &mut Conversation<'_>,
) -> Outcome {
    let Some(stdout) = running.child.stdout.take() else { return Outcome::Ended };
    let mut lines = BufReader::new(stdout.take(limits.reply_bytes));
    let longest = Conversation::longest_line(limits);
    let mut clock = Clock::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut next = (&mut lines).take(longest);
        let mut reading = pin!(next.read_until(b'\n', &mut line));
        let read = loop {
            match timeout_at(clock.end(limits), &mut reading).await {
                Ok(Ok(read)) => break read,
                Ok(Err(_)) => return Outcome::Ended,
                Err(_) if clock.lend(limits, clock.lacked(running)) => {}
                Err(_) => return Outcome::Failed(too_slow(&clock)),
            }
        };
        // A line without an end is cut off, by the child's death or by our limits.
        if !line.ends_with(b"\n") {
            return if read as u64 == longest { too_much() } else { ended(&lines) };
        }
        match conversation.hear(&line) {
            Heard::More => {}
            Heard::Progress { done, total, recognised } => {
                clock.pages = clock.pages.max(done);
                clock.recognised = clock.recognised.max(recognised);
                progress(done, total);
            }
            Heard::Document(document) => {
                let pages = u32::try_from(document.pages.len()).unwrap_or(u32::MAX);
                progress(pages, Some(pages));
                return Outcome::Made(Made::Document(document));
            }
            Heard::Picture(bytes) => {
                let mut png = Vec::new();
                let mut picture = (&mut lines).take(bytes);
                return match timeout_at(clock.end(limits), picture.read_to_end(&mut png)).await {
                    Ok(Ok(_)) if png.len() as u64 == bytes => Outcome::Made(Made::Picture(png)),
                    Ok(_) => Outcome::Ended,
                    Err(_) => Outcome::Failed(too_slow(&clock)),
                };
            }
            Heard::Failed(why) => return Outcome::Failed(why),
        }
    }
}

/// Silence is the child's end, or ours where it said more than we listen to.
fn ended(lines: &BufReader<tokio::io::Take<ChildStdout>>) -> Outcome {
    if lines.get_ref().limit() == 0 {
        return too_much();
    }
    Outcome::Ended
}

fn too_much() -> Outcome {
    Outcome::Failed(failure::limits("the file holds more text than the limit"))
}

fn too_slow(clock: &Clock) -> ParseFailure {
    let seconds = clock.start.elapsed().as_secs();
    failure::limits(format!(
        "the file took longer than {seconds} seconds to read and was stopped after {} pages",
        clock.pages
    ))
}

/// The end of what the child wrote to its standard error.
async fn last_words(scratch: &Path) -> String {
    /// One message of the runtime.
    const LONGEST: u64 = 4096;
    let Ok(file) = tokio::fs::File::open(scratch.join(ERRORS)).await else { return String::new() };
    let mut words = Vec::new();
    let _ = file.take(LONGEST).read_to_end(&mut words).await;
    String::from_utf8_lossy(&words).into_owned()
}

fn cause_of_death(status: Option<ExitStatus>, words: &str, limits: &Limits) -> ParseFailure {
    let memory = || {
        failure::limits(format!(
            "reading the file needs more than {} MB of memory",
            limits.memory_bytes >> 20
        ))
    };
    let signal = status.and_then(|status| status.signal()).and_then(|number| Signal::try_from(number).ok());
    match signal {
        _ if words.contains("memory allocation of") => memory(),
        _ if words.contains("overflowed its stack") => failure::limits("the file nests its parts too deeply"),
        Some(Signal::SIGXCPU) => failure::limits("reading the file takes too much computing time"),
        Some(Signal::SIGXFSZ) => failure::damaged("the file is damaged in ways that take too long to tell"),
        Some(Signal::SIGKILL) => memory(),
        Some(_) => failure::damaged("the file is damaged in a way that stopped the parser"),
        None => {
            let code = status
                .and_then(|status| status.code())
                .map_or_else(|| "unknown".to_owned(), |code| code.to_string());
            ParseFailure {
                kind: FailureKind::Internal,
                message: format!("the parser ended without an answer (code {code})"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_a_busy_machine_took_is_lent_up_to_a_bound() {
        let limits = Limits { base_seconds: 10.0, ..Limits::default() };
        let mut clock = Clock::new();
        let seconds = Duration::from_secs;
        assert!(!clock.lend(&limits, None), "it waits for something else");
        assert!(!clock.lend(&limits, Some(Duration::from_millis(50))), "it had all of its time");
        assert!(clock.lend(&limits, Some(seconds(6))));
        assert!(!clock.lend(&limits, Some(seconds(6))), "that was lent already");
        assert!(clock.lend(&limits, Some(seconds(11))));
        assert_eq!(clock.end(&limits), clock.start + seconds(21));
        assert!(clock.lend(&limits, Some(seconds(500))));
        assert_eq!(clock.end(&limits), clock.start + seconds(40), "no file stays for ever");
        assert!(!clock.lend(&limits, Some(seconds(900))));
    }

    #[test]
    fn a_thread_that_computes_is_known_to() {
        assert!(Computed::of(Path::new("/proc/thread-self")).unwrap().runnable);
        assert!(Computed::of(Path::new("/proc/self/fd")).is_none());
    }
}
