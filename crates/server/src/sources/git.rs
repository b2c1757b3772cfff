//! A Git repository, by its HTTPS address. `git` itself fetches one commit, in a child without settings, hooks or prompts, which is ended
//! when it takes too long or too much; it only connects to addresses that were checked. Nothing is checked out.

use std::{net::IpAddr, path::Path, process::Stdio, time::Duration};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::{Fault, Reason};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::{
    Reader,
    sink::{Arrived, MOST_BYTES, Sink},
};
use crate::{config::SourceSettings, outside::Outside};

/// Bytes that a repository may take on the disk while it is read.
const MOST_DISK: u64 = 2 << 30;
/// How often that is looked at.
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
                sink.same(&entry.path);
                continue;
            }
            if entry.size > MOST_BYTES {
                sink.failed(&entry.path, format!("it is larger than {} MB", MOST_BYTES >> 20));
                continue;
            }
            let bytes = self.git(&repository, &["cat-file", "blob", &entry.hash]).await?;
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
        let cloning = finished(command);
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
        let listed = self.git(folder, &line).await?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter_map(|line| entry(std::str::from_utf8(line).ok()?))
            .collect())
    }

    /// Runs a command on the repository.
    async fn git(&self, folder: &Path, line: &[&str]) -> Result<Vec<u8>, Fault> {
        let mut command = self.command(line);
        command.env("GIT_DIR", folder);
        finished(command).await
    }

    /// A child that reads no settings of this machine, asks nobody and ends with us.
    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
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

/// What a child says, if all went well.
async fn finished(mut command: Command) -> Result<Vec<u8>, Fault> {
    let output = command.output().await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => refused("git is not installed on the server (setting sources.git)"),
        _ => Fault::internal(error),
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().rfind(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let line =
        line.unwrap_or("git failed").trim_start_matches("fatal: ").chars().take(200).collect::<String>();
    let mut fault = refused(format!("the repository cannot be read: {line}"));
    fault.source = Some(said.into());
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
    (file && !hidden)
        .then(|| Some(Entry { hash: hash.into(), size: size.parse().ok()?, path: path.into() }))?
}

fn refused(cause: impl Into<String>) -> Fault {
    Fault::new(Reason::Unprocessable, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

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
