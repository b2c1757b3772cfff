//! `quire sync`: keeps the files of a folder in a box, over HTTPS. A file's path within the folder is its `externalId`.

mod folder;
mod plan;

use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Args;
use engine::{Fault, Reason};
use folder::{Content, Contents, Found, Look, look};
use plan::{Kept, Plan};
use reqwest::{Body, Method};
use serde_json::{Value, json};
use tokio_util::io::ReaderStream;

use super::{
    Global,
    client::{Api, Connection, Upload},
    local, output,
};
use crate::following::external_id;

/// The entry of a file's metadata that says which folder it came from.
const MARK: &str = "syncedFrom";
/// How often a watched folder is looked at. A change is followed after the second look that finds the file the same.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// When what failed is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Lines about files that are passed over.
const MOST_LINES: usize = 20;

#[derive(Args)]
pub(super) struct Sync {
    /// Box: its id or its name
    r#box: String,
    /// Folder to keep in the box, with everything below it except hidden files
    folder: PathBuf,
    /// Keep running until Ctrl-C and follow changes as they are made
    #[arg(long)]
    watch: bool,
    /// Delete many files from the box without asking
    #[arg(long)]
    yes: bool,
    /// Name of the folder in the box; files from other folders are left alone [default: the folder's own name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// Compares a folder with a box and makes the box follow.
pub(super) async fn run(global: &Global, sync: Sync) -> Result<ExitCode, Fault> {
    let working = output::working(global.json, output::plain("command-comparing-folder"));
    let mut syncing = Syncing::open(global, &sync).await?;
    let look = syncing.look().await?;
    let (local, skipped) = syncing.read(&look, look.files.keys()).await?;
    drop(working);
    syncing.local = local;
    let plan = syncing.plan(&skipped);
    if plan.deletes_much(&syncing.kept) && !sync.yes {
        let question = output::text("command-sync-gone").with("count", plan.removed.len());
        output::confirm(&question.with("source", &syncing.source))?;
    }
    let mut report = Report { skipped, unchanged: plan.unchanged, ..Report::default() };
    report.skipped.extend(look.skipped.clone());
    syncing.follow(plan, &look, &mut report).await;
    report.print(global.json);
    if sync.watch {
        syncing.watch(global, look, sync.yes).await?;
    }
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A folder and the box that follows it.
struct Syncing {
    api: Api,
    box_id: String,
    folder: PathBuf,
    source: String,
    /// What the box holds.
    kept: Vec<Kept>,
    /// Hashes of files that nobody has given an id: one of the same bytes becomes that file.
    anonymous: HashSet<String>,
    /// The hash of each file that can be kept.
    local: BTreeMap<String, String>,
    contents: Contents,
}

impl Syncing {
    async fn open(global: &Global, sync: &Sync) -> Result<Self, Fault> {
        let wrong = |error: std::io::Error| {
            Fault::new(Reason::InvalidParameter, format!("cannot read {}: {error}", sync.folder.display()))
        };
        let folder = sync.folder.canonicalize().map_err(wrong)?;
        if !folder.is_dir() {
            let cause = format!("{} is not a folder", folder.display());
            return Err(Fault::new(Reason::InvalidParameter, cause).hint("`quire add` adds single files"));
        }
        let own_name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let source = sync.name.clone().or(own_name).unwrap_or_else(|| "/".into());
        let api = sync.connection.open(global)?;
        let box_id = api.find_box(&sync.r#box).await?;
        let files = api.all_files(&box_id).await?;
        let kept = files.iter().filter_map(|file| Kept::of(file, &source)).collect();
        let anonymous = files.iter().filter(|file| file["externalId"].is_null());
        let anonymous = anonymous.filter_map(|file| file["sha256"].as_str().map(str::to_string)).collect();
        let (local, contents) = Default::default();
        Ok(Syncing { api, box_id, folder, source, kept, anonymous, local, contents })
    }

    async fn look(&self) -> Result<Look, Fault> {
        let folder = self.folder.clone();
        let looked = tokio::task::spawn_blocking(move || look(&folder)).await.map_err(Fault::internal)?;
        looked.map_err(|error| {
            local(anyhow::anyhow!("cannot read {}: {error}; nothing was changed", self.folder.display()))
        })
    }

    /// The hashes of these files, and those that cannot be kept.
    async fn read(
        &mut self,
        look: &Look,
        paths: impl Iterator<Item = &String>,
    ) -> Result<(BTreeMap<String, String>, Vec<(String, String)>), Fault> {
        let wanted: Vec<(String, Found)> =
            paths.map(|path| (path.clone(), look.files[path].clone())).collect();
        let known: HashSet<String> = self.kept.iter().map(|file| file.sha256.clone()).collect();
        let mut contents = std::mem::take(&mut self.contents);
        let read = tokio::task::spawn_blocking(move || {
            let (mut hashes, mut skipped) = (BTreeMap::new(), Vec::new());
            for (path, found) in wanted {
                match contents.of(&path, &found, &known) {
                    Ok(Content::Readable(hash)) => drop(hashes.insert(path, hash)),
                    Ok(Content::Unsupported(why)) => skipped.push((path, why)),
                    Err(error) => skipped.push((path, format!("cannot be read: {error}"))),
                }
            }
            (contents, hashes, skipped)
        });
        let (contents, hashes, skipped) = read.await.map_err(Fault::internal)?;
        self.contents = contents;
        Ok((hashes, skipped))
    }

    /// What must be done. A file that is there and cannot be read stays as the box has it: it is not gone.
    fn plan(&self, unread: &[(String, String)]) -> Plan {
        let unread: HashSet<String> = unread.iter().map(|(path, _)| external_id(path)).collect();
        let kept = self.kept.iter().filter(|file| !unread.contains(&file.external_id));
        Plan::new(&self.local, &kept.cloned().collect::<Vec<_>>())
    }

    /// Does what the plan says: first what adds, last what takes away.
    async fn follow(&mut self, plan: Plan, look: &Look, report: &mut Report) {
        for (file, path) in plan.renamed {
            match self.rename(&file, &path).await {
                Ok(()) => report.renamed.push((file.external_id, path, file.id)),
                Err(fault) => {
                    if !report.goes_on(path, fault) {
                        return;
                    }
                }
            }
        }
        for (path, new) in
            plan.added.iter().map(|path| (path, true)).chain(plan.changed.iter().map(|path| (path, false)))
        {
            match self.upload(path, &look.files[path], new).await {
                Ok(id) if new => report.added.push((path.clone(), id)),
                Ok(id) => report.changed.push((path.clone(), id)),
                Err(fault) => {
                    if !report.goes_on(path.clone(), fault) {
                        return;
                    }
                }
            }
        }
        for file in plan.removed {
            match self.api.ask(Method::DELETE, &format!("/files/{}", file.id)).await {
                Ok(_) => report.removed.push((file.external_id.clone(), file.id.clone())),
                // Somebody else was faster.
                Err(fault) if fault.reason == Reason::NotFound => {}
                Err(fault) => match report.goes_on(file.external_id, fault) {
                    true => continue,
                    false => return,
                },
            }
            self.kept.retain(|kept| kept.id != file.id);
        }
    }

    async fn rename(&mut self, file: &Kept, path: &str) -> Result<(), Fault> {
        let (name, external_id) = (plan::name(path), external_id(path));
        let changes = json!({"name": name, "externalId": external_id});
        self.api.patch(&format!("/files/{}", file.id), &changes).await?;
        for kept in self.kept.iter_mut().filter(|kept| kept.id == file.id) {
            (kept.name, kept.external_id) = (name.to_string(), external_id.clone());
        }
        Ok(())
    }

    /// Uploads a file. The mark is set once, so that a new version leaves the file's metadata as it is; and it is added to what a
    /// file has that was there before.
    async fn upload(&mut self, path: &str, found: &Found, new: bool) -> Result<String, Fault> {
        let metadata = json!({MARK: self.source});
        let marked = metadata.to_string();
        let sha256 = self.local.get(path).cloned().unwrap_or_default();
        let adopts = new && self.anonymous.remove(&sha256);
        let external_id = external_id(path);
        let upload = Upload {
            name: plan::name(path),
            tags: &[],
            external_id: Some(&external_id),
            metadata: (new && !adopts).then_some(marked.as_str()),
        };
        let sent = self.api.upload(&self.box_id, upload, || {
            let opened = std::fs::File::open(&found.path).and_then(|file| Ok((file.metadata()?.len(), file)));
            let (size, file) = opened.map_err(|error| local(error.into()))?;
            let pieces =
                ReaderStream::new(tokio::io::AsyncReadExt::take(tokio::fs::File::from_std(file), size));
            Ok((Body::wrap_stream(pieces), size))
        });
        let sent = sent.await?;
        let id = sent["fileId"].as_str().unwrap_or_default().to_string();
        if adopts {
            self.api.patch(&format!("/files/{id}"), &json!({"metadata": metadata})).await?;
        }
        let own = new || self.kept.iter().any(|kept| kept.id == id && kept.own);
        self.kept.retain(|kept| kept.id != id);
        self.kept.push(Kept { id: id.clone(), external_id, name: plan::name(path).into(), sha256, own });
        Ok(id)
    }

    /// Follows changes until it is told to stop.
    async fn watch(&mut self, global: &Global, first: Look, yes: bool) -> Result<(), Fault> {
        if !global.json {
            let folder = self.folder.display().to_string();
            output::note(&output::text("command-watching").with("folder", &folder).plain());
        }
        tokio::select! {
            ended = self.follow_changes(global, first, yes) => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    }

    /// A file that changed is left alone until two looks find it the same: somebody may still be writing it. What failed is tried
    /// again after a while.
    async fn follow_changes(&mut self, global: &Global, first: Look, yes: bool) -> Result<(), Fault> {
        let mut before = first;
        let (mut unsettled, mut held_back) = (false, 0);
        let mut again: Option<Instant> = None;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = match self.look().await {
                Ok(now) => now,
                Err(fault) => {
                    output::note(&fault.cause);
                    continue;
                }
            };
            let same = now.files.len() == before.files.len()
                && now.files.iter().all(|(path, found)| {
                    before.files.get(path).is_some_and(|earlier| earlier.stamp == found.stamp)
                });
            if !same {
                (before, unsettled) = (now, true);
                continue;
            }
            if !std::mem::take(&mut unsettled) && again.is_none_or(|at| Instant::now() < at) {
                continue;
            }
            let (hashes, skipped) = self.read(&now, now.files.keys()).await?;
            self.local = hashes;
            let mut plan = self.plan(&skipped);
            if !yes && plan.deletes_much(&self.kept) {
                let much = std::mem::take(&mut plan.removed).len();
                if std::mem::replace(&mut held_back, much) != much {
                    output::note(&output::words().count("command-sync-held-back", much as u64));
                }
            }
            if plan.is_empty() {
                again = None;
                continue;
            }
            let mut report = Report { skipped, unchanged: plan.unchanged, ..Report::default() };
            self.follow(plan, &now, &mut report).await;
            again = (!report.failed.is_empty()).then(|| Instant::now() + AGAIN_AFTER);
            report.print(global.json);
        }
    }
}

/// What was done: paths, with the ids of their files.
#[derive(Default)]
struct Report {
    added: Vec<(String, String)>,
    changed: Vec<(String, String)>,
    renamed: Vec<(String, String, String)>,
    removed: Vec<(String, String)>,
    failed: Vec<(String, String)>,
    skipped: Vec<(String, String)>,
    unchanged: usize,
}

impl Report {
    /// Notes what failed; says whether other files can fare better. They cannot where the key, the limit or the server is at fault.
    fn goes_on(&mut self, path: String, fault: Fault) -> bool {
        self.failed.push((path, fault.cause));
        use Reason::{BoxUnknown, KeyInvalid, RateLimitKey, UpstreamUnavailable};
        !matches!(fault.reason, BoxUnknown | KeyInvalid | RateLimitKey | UpstreamUnavailable)
    }

    fn print(&self, json: bool) {
        let files = |list: &[(String, String)], what: &str| -> Vec<Value> {
            list.iter().map(|(path, more)| json!({"path": path, what: more})).collect()
        };
        let renamed: Vec<Value> = self
            .renamed
            .iter()
            .map(|(from, to, id)| json!({"from": from, "path": to, "fileId": id}))
            .collect();
        let value = json!({"added": files(&self.added, "fileId"), "changed": files(&self.changed, "fileId"),
            "renamed": renamed, "removed": files(&self.removed, "fileId"), "failed": files(&self.failed, "error"),
            "skipped": files(&self.skipped, "reason"), "unchanged": self.unchanged});
        let counted = output::text("command-synced")
            .with("added", self.added.len())
            .with("changed", self.changed.len())
            .with("renamed", self.renamed.len())
            .with("removed", self.removed.len())
            .with("failed", self.failed.len())
            .with("unchanged", self.unchanged);
        let mut text = counted.plain();
        for (path, why) in &self.failed {
            text.push_str(&format!("\n  {path}: {why}"));
        }
        if !self.skipped.is_empty() {
            let skipped = output::words().count("command-skipped", self.skipped.len() as u64);
            text.push_str(&format!("\n{skipped}"));
        }
        for (path, why) in self.skipped.iter().take(MOST_LINES) {
            text.push_str(&format!("\n  {path}: {why}"));
        }
        if self.skipped.len() > MOST_LINES {
            text.push_str(&format!("\n  {}", output::plain("command-more-skipped")));
        }
        output::print(json, &value, &text);
    }
}
