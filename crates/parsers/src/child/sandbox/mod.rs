//! Gives up every right that reading one file does not need.
//!
//! Resource limits, `no_new_privs` and a process group of its own always hold. Landlock (`files`) and seccomp (`calls`) hold where
//! the kernel has them; what is missing is told to the parent, which warns of it or refuses to go on.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;

use std::fmt;
use std::path::PathBuf;

use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};

use crate::programs::installed;
use crate::{Limits, Ocr};

/// Open files: the input, standard streams, pipes to `tesseract` and `pdftotext`, and what those load.
const OPEN_FILES: u64 = 64;
/// Bytes of the only file that a child may write to, its standard error: a few messages of the runtime.
const ERROR_BYTES: u64 = 1 << 20;

/// What to do where the kernel cannot confine a parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Read no file.
    Required,
    /// Read it with what there is.
    #[default]
    BestEffort,
}

impl Sandbox {
    /// Why a file is not read with these parts missing; `None` where it is.
    pub(super) fn refusal(self, missing: &[Missing]) -> Option<String> {
        let first = missing.first().filter(|_| self == Sandbox::Required)?;
        Some(format!(
            "files are not read, because this machine cannot confine the parser: {first}; \
             the operator can set ingest.sandbox to \"best-effort\" to read them all the same"
        ))
    }
}

/// A part of the sandbox that the kernel supplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Keeps files, connections and signals out of reach.
    Landlock,
    /// Refuses all system calls but a few.
    Seccomp,
}

/// A part that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Which.
    pub layer: Layer,
    /// Why, in words for the operator.
    pub why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layer = match self.layer {
            Layer::Landlock => "Landlock",
            Layer::Seccomp => "seccomp",
        };
        // What a hostile child says of itself goes into one line of a log.
        let why: String = self.why.chars().filter(|c| !c.is_control()).take(200).collect();
        write!(f, "{layer} is missing ({why})")
    }
}

/// What the second half of the confinement needs to know of the first.
pub(super) struct Entered {
    /// What could not be had so far.
    pub(super) missing: Vec<Missing>,
    /// Whether other programs may be asked.
    programs: bool,
    /// Whether the kernel lets signals reach only what is confined too.
    signals_stay_inside: bool,
}

/// The first half, for a process of one thread. Fails only where a limit that must hold could not be set.
pub(super) fn enter(limits: &Limits) -> Result<Entered, String> {
    close_inherited();
    recognition::prepare();
    let programs = programs(limits);
    let cpu_seconds = limits.total_seconds.ceil() as u64;
    let mut resources = vec![
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_AS, limits.memory_bytes),
        (Resource::RLIMIT_CPU, cpu_seconds),
        (Resource::RLIMIT_FSIZE, ERROR_BYTES),
        (Resource::RLIMIT_NOFILE, OPEN_FILES),
    ];
    if !programs.is_empty() {
        resources.push((Resource::RLIMIT_NPROC, threads_of_this_user() + MORE_PROCESSES));
    }
    for (resource, value) in resources {
        setrlimit(resource, value, value)
            .map_err(|error| format!("{resource:?} could not be set: {error}"))?;
    }
    let mut entered =
        Entered { missing: Vec::new(), programs: !programs.is_empty(), signals_stay_inside: false };
    #[cfg(target_os = "linux")]
    {
        nix::sys::prctl::set_no_new_privs()
            .map_err(|error| format!("privileges could not be given up: {error}"))?;
        match files::confine(&programs) {
            Ok(signals_stay_inside) => entered.signals_stay_inside = signals_stay_inside,
            Err(why) => entered.missing.push(Missing { layer: Layer::Landlock, why }),
        }
    }
    #[cfg(not(target_os = "linux"))]
    entered.missing.push(Missing { layer: Layer::Landlock, why: "only Linux has it".into() });
    Ok(entered)
}

impl Entered {
    /// The second half, on the thread that reads the file: from here on no thread starts another, unless programs may.
    pub(super) fn finish(self) -> Vec<Missing> {
        let mut missing = self.missing;
        #[cfg(target_os = "linux")]
        let refused = calls::confine(self.programs, self.signals_stay_inside);
        #[cfg(not(target_os = "linux"))]
        let refused = Err::<(), _>("only Linux has it".to_owned());
        if let Err(why) = refused {
            missing.push(Missing { layer: Layer::Seccomp, why });
        }
        missing
    }
}

/// The programs that these limits let a parser ask, where they are installed.
fn programs(limits: &Limits) -> Vec<PathBuf> {
    let wanted = [(limits.ocr == Ocr::Tesseract, "tesseract"), (limits.second_opinion, "pdftotext")];
    wanted.into_iter().filter(|(wanted, _)| *wanted).filter_map(|(_, name)| installed(name)).collect()
}

/// Processes and threads that this user may have beyond those of now. The kernel counts all of the user's, the server's
/// threads among them, of which there may be some 500 more in a moment; a child needs three.
const MORE_PROCESSES: u64 = 1024;

fn threads_of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let (Ok(user), Ok(processes)) = (std::fs::metadata("/proc/self"), std::fs::read_dir("/proc")) else {
        return MORE_PROCESSES;
    };
    let user = user.uid();
    let ours = processes
        .flatten()
        .filter(|process| process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .filter(|process| process.metadata().is_ok_and(|about| about.uid() == user));
    ours.map(|process| std::fs::read_dir(process.path().join("task")).map_or(1, |tasks| tasks.count() as u64))
        .sum()
}

/// Closes every descriptor but the standard ones. Ours are closed on exec anyway; a library's may not be.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2)
        .collect();
    for descriptor in open {
        let _ = nix::unistd::close(descriptor);
    }
}
