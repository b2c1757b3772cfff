//! A language model in a GGUF file, run by llama.cpp's server as a child of this process.
//!
//! The child listens on the loopback address alone, behind a key that only we know, and is started again when it dies.
//! What it says goes through [`RemoteAnswerer`] like the words of any other model.

use std::fs::File;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use engine::Fault;
use engine::seams::answerer::{Answerer, Brief, Format, Pieces};
use thiserror::Error;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::{Patience, Remote, RemoteAnswerer};

/// The wait before a child that died is started again; doubled up to the longest, and short again once one has lived long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long connecting to the child may take, and how often an answer is begun again while it loads.
const CONNECT: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 5;

/// Which file is run, and how.
#[derive(Debug, Clone)]
pub struct Gguf {
    /// The model.
    pub file: PathBuf,
    /// llama.cpp's server, or a program that takes the same options.
    pub program: PathBuf,
    /// The command that starts the program, and that must end it when this process ends.
    pub launcher: Vec<std::ffi::OsString>,
    /// Tokens that the model reads and writes at most, over all answers at once.
    pub context: u32,
    /// How long an answer may take.
    pub patience: Patience,
}

/// Why a file cannot be run.
#[derive(Debug, Error)]
pub enum GgufError {
    /// The file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// The file is something else.
    #[error("{0} is no GGUF file")]
    OtherFormat(PathBuf),
    /// There is no such program.
    #[error("there is no program {0}; install llama.cpp, or name its server in answerer.program")]
    NoProgram(PathBuf),
    /// The child cannot be talked to.
    #[error("{0}")]
    Unprepared(String),
}

/// A language model in a file.
pub struct GgufAnswerer {
    remote: RemoteAnswerer,
    id: String,
    supervisor: JoinHandle<()>,
}

impl GgufAnswerer {
    /// Starts the child; it loads the model while the server starts. Asked before it is ready, it says that it is busy.
    pub fn start(gguf: Gguf) -> Result<Self, GgufError> {
        check_file(&gguf.file)?;
        let program =
            find_program(&gguf.program).ok_or_else(|| GgufError::NoProgram(gguf.program.clone()))?;
        let port = free_port().map_err(|error| GgufError::Unprepared(error.to_string()))?;
        let key = format!("{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple());
        let name = gguf.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let remote = Remote {
            url: format!("http://127.0.0.1:{port}/v1"),
            model: name.clone(),
            key: Some(key.clone()),
            timeout: CONNECT,
            attempts: ATTEMPTS,
        };
        let remote = RemoteAnswerer::new(remote, gguf.patience)
            .map_err(|fault| GgufError::Unprepared(fault.cause.clone()))?;
        let supervisor = tokio::spawn(keep_running(Gguf { program, ..gguf }, port, key));
        Ok(GgufAnswerer { remote, id: format!("{name}@gguf"), supervisor })
    }
}

impl Drop for GgufAnswerer {
    /// The child goes with the task that holds it.
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

#[async_trait]
impl Answerer for GgufAnswerer {
    fn id(&self) -> &str {
        &self.id
    }

    fn can(&self, format: &Format) -> bool {
        self.remote.can(format)
    }

    fn longest(&self) -> usize {
        self.remote.longest()
    }

    async fn answer(&self, brief: Brief) -> Result<Option<Box<dyn Pieces>>, Fault> {
        self.remote.answer(brief).await
    }
}

/// A wrong path should be known at the start, not at the first question.
fn check_file(path: &Path) -> Result<(), GgufError> {
    let unreadable = |error| GgufError::Unreadable(path.to_path_buf(), error);
    let mut magic = [0; 4];
    let read = File::open(path).map_err(unreadable)?.read(&mut magic).map_err(unreadable)?;
    if read == 4 && &magic == b"GGUF" { Ok(()) } else { Err(GgufError::OtherFormat(path.to_path_buf())) }
}

/// A name without a folder is looked for where programs are.
fn find_program(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_path_buf());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Starts the child, and starts it again whenever it ends.
async fn keep_running(gguf: Gguf, port: u16, key: String) {
    let mut wait = FIRST_WAIT;
    loop {
        let started = Instant::now();
        match spawn(&gguf, port, &key) {
            Ok(mut child) => {
                let ended = child.wait().await;
                tracing::warn!(model = %gguf.file.display(), ?ended, "The language model's process ended");
            }
            Err(error) => {
                tracing::error!(program = %gguf.program.display(), %error, "Could not start the language model");
            }
        }
        if started.elapsed() > LONGEST_WAIT {
            wait = FIRST_WAIT;
        }
        sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn spawn(gguf: &Gguf, port: u16, key: &str) -> std::io::Result<Child> {
    let mut words = gguf.launcher.iter().map(AsRef::as_ref).chain([gguf.program.as_os_str()]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .arg("--model")
        .arg(&gguf.file)
        .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--ctx-size", &gguf.context.to_string()])
        // Not on the command line, which every user of the machine can read.
        .env("LLAMA_API_KEY", key)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gguf(file: &Path, program: &str) -> Gguf {
        let patience = Patience::within(Duration::from_secs(1));
        Gguf { file: file.into(), program: program.into(), launcher: vec![], context: 512, patience }
    }

    #[tokio::test]
    async fn what_cannot_run_is_said_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let (model, other) = (folder.path().join("model.gguf"), folder.path().join("notes.txt"));
        std::fs::write(&model, "GGUF\x03\0\0\0").unwrap();
        std::fs::write(&other, "hi").unwrap();
        for (file, program, expected) in [
            (folder.path().join("none.gguf").as_path(), "true", "cannot read"),
            (&other, "true", "is no GGUF file"),
            (&model, "no-such-program-anywhere", "install llama.cpp"),
            (&model, "/no/such/program", "install llama.cpp"),
        ] {
            let wrong = GgufAnswerer::start(gguf(file, program)).err().unwrap().to_string();
            assert!(wrong.contains(expected), "{wrong}");
        }
        assert_eq!(GgufAnswerer::start(gguf(&model, "true")).unwrap().id(), "model@gguf");
    }
}
