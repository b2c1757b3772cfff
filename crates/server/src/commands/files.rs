//! `quire add`, `quire files` and `quire delete`: files of a box, over HTTPS.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use engine::{Fault, Reason};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use reqwest::{Body, Method};
use serde_json::{Value, json};
use tokio_util::io::ReaderStream;

use super::{
    Global,
    client::{Api, Connection, Upload},
    local, output,
};

/// How often the status of uploaded files is asked for.
const LOOK_EVERY: Duration = Duration::from_millis(1500);

#[derive(Args)]
pub(super) struct Add {
    /// Box: its id or its name
    r#box: String,
    /// Files and folders; a folder is added with everything below it except hidden files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Label for every file (may be repeated)
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Return once the files are uploaded, without waiting until they are processed
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Args)]
pub(super) struct List {
    /// Box: its id or its name
    r#box: String,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Args)]
pub(super) struct Delete {
    /// Files, by id
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    connection: Connection,
}

/// A local file and what became of it.
struct Item {
    path: PathBuf,
    outcome: Outcome,
}

enum Outcome {
    /// The box has these bytes already.
    Known(String),
    /// It was uploaded; its id.
    Added(String),
    /// It could not be uploaded or processed.
    Failed(String),
}

/// Uploads files and waits until they are processed. What the box has already is skipped, so running it again resumes
/// an interrupted run.
pub(super) async fn add(global: &Global, add: Add) -> Result<ExitCode, Fault> {
    let working = output::working(global.json, output::plain("command-comparing-box"));
    let api = add.connection.open(global)?;
    let box_id = api.find_box(&add.r#box).await?;
    let paths = walk(&add.paths)?;
    let known: HashMap<String, String> =
        api.all_files(&box_id).await?.iter().filter_map(hash_and_id).collect();
    drop(working);
    let bars = Bars::new(global.json, paths.len());
    let mut items = Vec::new();
    for path in paths {
        let outcome = add_one(&api, &box_id, &path, &known, &add.tags, &bars).await;
        let outcome = outcome.unwrap_or_else(|fault| Outcome::Failed(fault.cause));
        bars.overall.inc(1);
        items.push(Item { path, outcome });
    }
    if !add.no_wait {
        wait_until_processed(&api, &box_id, &mut items, &bars).await?;
    }
    bars.finish();
    Ok(report(global, &items))
}

/// A processed file is recognised by its bytes; one that failed is worth another try.
fn hash_and_id(file: &Value) -> Option<(String, String)> {
    let text = |name: &str| file[name].as_str().map(str::to_string);
    (file["status"] != "failed").then_some((text("sha256")?, text("fileId")?))
}

/// Every file under the paths, in a steady order.
fn walk(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    let mut files = Vec::new();
    for path in paths {
        let failed = |error: std::io::Error| {
            Fault::new(Reason::InvalidParameter, format!("cannot read {}: {error}", path.display()))
        };
        if std::fs::metadata(path).map_err(failed)?.is_dir() {
            let entries =
                std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
            let mut inside: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
            inside.retain(|path| !is_hidden(path) && !path.is_symlink());
            inside.sort();
            files.extend(walk(&inside)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

async fn add_one(
    api: &Api,
    box_id: &str,
    path: &Path,
    known: &HashMap<String, String>,
    tags: &[String],
    bars: &Bars,
) -> Result<Outcome, Fault> {
    let hashed = path.to_path_buf();
    let hash = tokio::task::spawn_blocking(move || stores::blobs::hash_of(&hashed))
        .await
        .map_err(Fault::internal)?;
    let hash = hash.map_err(|error| local(error.into()))?;
    if let Some(id) = known.get(&hash) {
        return Ok(Outcome::Known(id.clone()));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let size = std::fs::metadata(path).map_err(|error| local(error.into()))?.len();
    let bar = bars.file(&name, size);
    let upload = Upload { name: &name, tags, external_id: None, metadata: None };
    let uploaded = api.upload(box_id, upload, || {
        bar.set_position(0);
        let file = std::fs::File::open(path).map_err(|error| local(error.into()))?;
        let reader = bar.wrap_async_read(tokio::fs::File::from_std(file));
        Ok((Body::wrap_stream(ReaderStream::new(reader)), size))
    });
    let uploaded = uploaded.await;
    bar.finish_and_clear();
    let uploaded = uploaded?;
    let id = uploaded["fileId"].as_str().unwrap_or_default().to_string();
    Ok(if uploaded["deduplicated"] == true { Outcome::Known(id) } else { Outcome::Added(id) })
}

/// Watches the uploaded files until each is ready or failed.
async fn wait_until_processed(api: &Api, box_id: &str, items: &mut [Item], bars: &Bars) -> Result<(), Fault> {
    let mut waiting: HashSet<String> = items.iter().filter_map(Item::added).collect();
    bars.processing(waiting.len());
    while !waiting.is_empty() {
        for file in api.all_files(box_id).await? {
            let id = file["fileId"].as_str().unwrap_or_default();
            let done = !matches!(file["status"].as_str(), Some("queued" | "processing"));
            if !done || !waiting.remove(id) {
                continue;
            }
            bars.overall.inc(1);
            if file["status"] == "failed" {
                let why = file["error"].as_str().unwrap_or("it could not be processed").to_string();
                let item = items.iter_mut().find(|item| item.added().as_deref() == Some(id));
                item.into_iter().for_each(|item| item.outcome = Outcome::Failed(why.clone()));
            }
        }
        if !waiting.is_empty() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

impl Item {
    fn added(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Added(id) => Some(id.clone()),
            Outcome::Known(_) | Outcome::Failed(_) => None,
        }
    }
}

/// One bar for everything and one for the file that is in progress; none where a script reads.
struct Bars {
    bars: MultiProgress,
    overall: ProgressBar,
}

impl Bars {
    fn new(quiet: bool, files: usize) -> Self {
        let bars = MultiProgress::new();
        if quiet {
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        let overall = bars.add(ProgressBar::new(files as u64));
        let files = output::plain("command-files");
        overall.set_style(output::style(&format!("{{msg:>10}} [{{bar:40}}] {{pos}}/{{len}} {files}")));
        overall.set_message(output::plain("command-uploading"));
        Bars { bars, overall }
    }

    fn file(&self, name: &str, size: u64) -> ProgressBar {
        let bar = self.bars.insert_before(&self.overall, ProgressBar::new(size));
        bar.set_style(output::style("{bytes:>10} [{bar:40}] {total_bytes} {wide_msg}"));
        bar.set_message(name.to_string());
        bar
    }

    fn processing(&self, files: usize) {
        self.overall.set_length(files as u64);
        self.overall.set_position(0);
        self.overall.set_message(output::plain("command-processing"));
    }

    fn finish(&self) {
        self.overall.finish_and_clear();
    }
}

/// What became of everything; any failure makes the command fail.
fn report(global: &Global, items: &[Item]) -> ExitCode {
    let path = |item: &Item| item.path.display().to_string();
    let (mut added, mut known, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        match &item.outcome {
            Outcome::Added(id) => added.push(json!({"path": path(item), "fileId": id})),
            Outcome::Known(id) => known.push(json!({"path": path(item), "fileId": id})),
            Outcome::Failed(why) => failed.push(json!({"path": path(item), "error": why})),
        }
    }
    let counted = output::text("command-added-files").with("added", added.len()).with("known", known.len());
    let mut text = counted.with("failed", failed.len()).plain();
    for failure in &failed {
        let word = |name: &str| failure[name].as_str().unwrap_or_default().to_string();
        text.push_str(&format!("\n  {}: {}", word("path"), word("error")));
    }
    let code = if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    output::print(global.json, &json!({"added": added, "known": known, "failed": failed}), &text);
    code
}

pub(super) async fn list(global: &Global, list: List) -> Result<(), Fault> {
    let working = output::working(global.json, output::plain("command-listing"));
    let api = list.connection.open(global)?;
    let box_id = api.find_box(&list.r#box).await?;
    let files = api.all_files(&box_id).await?;
    drop(working);
    let rows: Vec<_> = files.iter().map(row).collect();
    let heads = [
        "command-head-name",
        "command-head-id",
        "command-head-status",
        "command-head-pages",
        "command-head-size",
        "command-head-note",
    ];
    let text = output::table(&heads, &rows, &output::plain("command-no-files"));
    output::print(global.json, &files, &text);
    Ok(())
}

fn row(file: &Value) -> Vec<String> {
    let text = |name: &str| file[name].as_str().unwrap_or("").to_string();
    let status = match text("status").as_str() {
        "processing" => {
            let pages = &file["progress"]["pages"];
            let of = pages.as_u64().map_or("?".to_string(), |pages| pages.to_string());
            let done = file["progress"]["pagesDone"].to_string();
            output::text("command-processing-page").with("page", &done).with("pages", &of).plain()
        }
        other => other.to_string(),
    };
    let warnings = file["warnings"].as_array().and_then(|list| list.first()).and_then(Value::as_str);
    let note = file["error"].as_str().or(warnings).unwrap_or("").to_string();
    let size = indicatif::HumanBytes(file["storageSize"].as_u64().unwrap_or(0)).to_string();
    vec![text("name"), text("fileId"), status, file["pages"].to_string(), size, note]
}

pub(super) async fn delete(global: &Global, delete: Delete) -> Result<(), Fault> {
    let api = delete.connection.open(global)?;
    let mut receipts = Vec::new();
    let mut lines = Vec::new();
    for (number, file) in delete.files.iter().enumerate() {
        let text = output::text("command-deleting-file").with("number", number + 1);
        let _working = output::working(global.json, text.with("count", delete.files.len()));
        let receipt = api.ask(Method::DELETE, &format!("/files/{file}")).await?;
        let count = |name: &str| receipt["removed"][name].to_string();
        let said = output::text("command-deleted-file")
            .with("name", receipt["name"].as_str().unwrap_or(file))
            .with("originals", count("originals"))
            .with("pages", count("pages"))
            .with("chunks", count("chunks"))
            .with("vectors", count("vectors"));
        lines.push(said.plain());
        receipts.push(receipt);
    }
    output::print(global.json, &receipts, &lines.join("\n"));
    Ok(())
}
