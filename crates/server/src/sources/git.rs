//! A Git repository, by its HTTPS address. `git` itself fetches one commit, in a child without settings, hooks or prompts, which is ended
//! when it takes too long or too much; it only connects to addresses that were checked. Nothing is checked out.

use std::{net::IpAddr, path::Path, process::Stdio, time::Duration};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::{Fault, Reason};
use serde::{Deserialize, Serialize};
use tokio::{io::AsyncReadExt, process::Command};

use super::{
    Reader,
    sink::{Arrived, MOST_BYTES, Sink},
};
use crate::{config::SourceSettings, outside::Outside};

/// Bytes that a repository may take on the disk while it is read.
const MOST_DISK: u64 = 2 << 30;
/// What `git` may use of memory and of the processor: a small repository can be made to unpack without end.
const MOST_MEMORY: u64 = 4 << 30;
const MOST_SECONDS: u64 = 1_800;
/// Bytes of the list of files, in which a folder can hold itself many times over, and of what `git` says about failures.
const MOST_LISTED: u64 = 64 << 20;
const MOST_SAID: u64 = 64 << 10;
/// Bytes of a path; what is called longer is left out.
const LONGEST_PATH: usize = 1_000;
/// What a shell ends with where a program is missing.
const NOT_FOUND: i32 = 127;
/// How often the disk is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Which files of which repository.
#[derive(Clone, Serialize, Deserialize)]
pub struct GitSettings {
    /// Its address.
    pub url: String,
    /// A branch or a tag; the usual branch if left out.
    pub branch: Option<String>,
    /// Only files below this folder.
    pub path: Option<String>,
    /// What is asked for where it is not public.
    pub token: Option<String>,
}

/// A repository.
pub(super) struct Repository {
    outside: Outside,
    settings: GitSettings,
    program: String,
    private: bool,
}

impl Repository {
    pub(super) fn new(outside: Outside, settings: GitSettings, config: &SourceSettings) -> Self {
        Repository { outside, settings, program: config.git.clone(), private: config.private_addresses }
    }
}

/// A file of the commit.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    hash: String,
    size: u64,
    path: String,
}

#[async_trait]
impl Reader for Repository {
    async fn read(&self, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let folder = tempfile::tempdir().map_err(Fault::internal)?;
        let repository = folder.path().join("repository");
        self.clone_into(&repository).await?;
        for entry in self.entries(&repository).await? {
            if sink.version_of(&entry.path) == Some(entry.hash.as_str()) {
                sink.same(&entry.path)?;
                continue;
            }
            if entry.size > MOST_BYTES {
                sink.failed(&entry.path, format!("it is larger than {} MB", MOST_BYTES >> 20))?;
                continue;
            }
            let bytes = self.git(&repository, &["cat-file", "blob", &entry.hash], MOST_BYTES).await?;
            let file_name = entry.path.rsplit('/').next().unwrap_or_default().to_string();
            let media_type = "application/octet-stream".to_string();
            sink.put(Arrived { name: entry.path, file_name, media_type, version: entry.hash, bytes }).await?;
        }
        Ok(())
    }
}

impl Repository {
    /// Fetches the latest commit of the branch, without what led to it.
    async fn clone_into(&self, folder: &Path) -> Result<(), Fault> {
        let url = self.outside.parse(&self.settings.url)?;
        let host = url.host_str().unwrap_or_default().to_string();
        let port = url.port_or_known_default().unwrap_or(443);
        let addresses = self.outside.resolve(&url).await?;
        let pinned = addresses.iter().map(|address| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let pinned = pinned.collect::<Vec<_>>().join(",");
        let mut settings = vec![
            // The name was resolved and checked here; git connects to these addresses and to nothing else.
            ("http.curloptResolve", format!("{host}:{port}:{pinned}")),
            ("http.followRedirects", "false".into()),
            ("http.proxy", String::new()),
            ("http.lowSpeedLimit", "1000".into()),
            ("http.lowSpeedTime", "30".into()),
            ("protocol.allow", "never".into()),
            ("protocol.https.allow", "always".into()),
            ("transfer.bundleURI", "false".into()),
            ("fetch.fsckObjects", "true".into()),
        ];
        if self.private {
            settings.push(("protocol.http.allow", "always".into()));
        }
        if let Some(token) = &self.settings.token {
            let basic = STANDARD.encode(format!("x-access-token:{token}"));
            settings.push(("http.extraHeader", format!("Authorization: Basic {basic}")));
        }
        let mut line = vec!["clone", "--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags"];
        let branch = self.settings.branch.as_ref().map(|branch| format!("--branch={branch}"));
        line.extend(branch.as_deref());
        let into = folder.to_string_lossy().into_owned();
        line.extend(["--", url.as_str(), &into]);
        let mut command = self.command(&line);
        // In the environment, because everybody on the machine can read command lines.
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (at, (name, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), name).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        let cloning = finished(command, MOST_SAID);
        tokio::select! {
            done = cloning => done.map(drop),
            () = too_large(folder) => Err(refused(format!("the repository is larger than {} GB", MOST_DISK >> 30))),
        }
    }

    /// The files of the commit; no links, no submodules.
    async fn entries(&self, folder: &Path) -> Result<Vec<Entry>, Fault> {
        let mut line = vec!["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"];
        if let Some(path) = self.settings.path.as_deref().map(|path| path.trim_matches('/')) {
            line.extend(["--", path].into_iter().filter(|_| !path.is_empty()));
        }
        let listed = self.git(folder, &line, MOST_LISTED).await?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter_map(|line| entry(std::str::from_utf8(line).ok()?))
            .collect())
    }

    /// What a command on the repository says, at most so many bytes.
    async fn git(&self, folder: &Path, line: &[&str], most: u64) -> Result<Vec<u8>, Fault> {
        let mut command = self.command(line);
        command.env("GIT_DIR", folder);
        finished(command, most).await
    }

    /// A child that reads no settings of this machine, asks nobody, has its bounds and ends with us.
    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        // In kilobytes, seconds and blocks of 512 bytes.
        let (memory, disk) = (MOST_MEMORY >> 10, MOST_DISK / 512);
        let bounded =
            format!("ulimit -v {memory} && ulimit -t {MOST_SECONDS} && ulimit -f {disk} && exec \"$@\"");
        command
            .args(["-c", &bounded, "sh", &self.program])
            .args(line)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "true")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

/// What a child says, if all went well and it is no more than so many bytes.
async fn finished(mut command: Command, most: u64) -> Result<Vec<u8>, Fault> {
    let mut child = command.spawn().map_err(Fault::internal)?;
    let (mut out, mut errors) = (child.stdout.take(), child.stderr.take());
    let said = async {
        let mut bytes = Vec::new();
        if let Some(out) = &mut out {
            out.take(most + 1).read_to_end(&mut bytes).await.map_err(Fault::internal)?;
        }
        // The child is ended with what it still had to say.
        match bytes.len() as u64 > most {
            true => Err(refused(format!("the repository lists more than {} MB", most >> 20))),
            false => Ok(bytes),
        }
    };
    let failures = async {
        let mut bytes = Vec::new();
        if let Some(errors) = &mut errors {
            (&mut *errors).take(MOST_SAID).read_to_end(&mut bytes).await.map_err(Fault::internal)?;
            tokio::io::copy(errors, &mut tokio::io::sink()).await.map_err(Fault::internal)?;
        }
        Ok(bytes)
    };
    let (said, failures) = tokio::try_join!(said, failures)?;
    let status = child.wait().await.map_err(Fault::internal)?;
    if status.success() {
        return Ok(said);
    }
    if status.code() == Some(NOT_FOUND) {
        return Err(refused("git is not installed on the server (setting sources.git)"));
    }
    let failures = String::from_utf8_lossy(&failures).into_owned();
    let line = failures.lines().rfind(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let line =
        line.unwrap_or("git failed").trim_start_matches("fatal: ").chars().take(200).collect::<String>();
    let mut fault = refused(format!("the repository cannot be read: {line}"));
    fault.source = Some(failures.into());
    Err(fault)
}

/// Ends once a folder takes too much of the disk.
async fn too_large(folder: &Path) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let folder = folder.to_path_buf();
        let size = tokio::task::spawn_blocking(move || size_of(&folder)).await.unwrap_or(0);
        if size > MOST_DISK {
            return;
        }
    }
}

fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size_of(&entry.path()),
            _ => entry.metadata().map_or(0, |about| about.len()),
        })
        .sum()
}

/// A line of `git ls-tree -l`: mode, type, hash, size, path.
fn entry(line: &str) -> Option<Entry> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split_whitespace();
    let (mode, kind, hash, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let file = kind == "blob" && matches!(mode, "100644" | "100755");
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    (file && !hidden && path.len() <= LONGEST_PATH)
        .then(|| Some(Entry { hash: hash.into(), size: size.parse().ok()?, path: path.into() }))?
}

fn refused(cause: impl Into<String>) -> Fault {
    Fault::new(Reason::Unprocessable, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(program: &str) -> Repository {
        let settings =
            GitSettings { url: "https://example.org/x".into(), branch: None, path: None, token: None };
        let outside = Outside::new(false, "sources.private_addresses").unwrap();
        Repository { outside, settings, program: program.into(), private: false }
    }

    #[tokio::test]
    async fn what_a_child_says_is_bounded_and_its_failures_are_named() {
        let folder = Path::new("/nonexistent");
        let said = repository("echo").git(folder, &["a", "b"], 4).await.unwrap();
        assert_eq!(said, b"a b\n");
        // Says "y" for ever.
        let fault = repository("yes").git(folder, &[], 1 << 20).await.unwrap_err();
        assert_eq!(fault.cause, "the repository lists more than 1 MB");
        let fault = repository("no-such-program").git(folder, &[], 9).await.unwrap_err();
        assert!(fault.cause.starts_with("git is not installed"), "{fault}");
        let fault =
            repository("sh").git(folder, &["-c", "echo fatal: gone >&2; exit 3"], 9).await.unwrap_err();
        assert_eq!(fault.cause, "the repository cannot be read: gone");
        let limits = repository("sh").git(folder, &["-c", "ulimit -v; ulimit -t"], 99).await.unwrap();
        assert_eq!(String::from_utf8(limits).unwrap(), format!("{}\n{MOST_SECONDS}\n", MOST_MEMORY >> 10));
    }

    #[test]
    fn only_plain_files_that_are_not_hidden_are_read() {
        let hash = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        let found =
            |mode: &str, kind: &str, path: &str| entry(&format!("{mode} {kind} {hash}      12\t{path}"));
        let expected = Entry { hash: hash.into(), size: 12, path: "docs/a b.md".into() };
        assert_eq!(found("100644", "blob", "docs/a b.md"), Some(expected));
        assert_eq!(found("120000", "blob", "link"), None);
        assert_eq!(found("160000", "commit", "module"), None);
        assert_eq!(found("100644", "blob", ".github/x.yml"), None);
        assert_eq!(entry("nonsense"), None);
    }
}
