//! `quire migrate-store`: moves an installation from a data folder to servers, or back.

use std::path::{Path, PathBuf};

use clap::Args;
use engine::{Fault, Reason, access::Writing, ingest::Relocation, seams::catalog::Users};
use indicatif::ProgressBar;
use serde_json::json;

use super::{Global, local, output};
use crate::{assemble, config::Config, library::Library};

#[derive(Args)]
pub(super) struct Migrate {
    /// Where everything is: a data folder, or a settings file that names servers
    #[arg(long, value_name = "DIR|FILE")]
    from: PathBuf,
    /// Where everything is to go: the other of the two
    #[arg(long, value_name = "DIR|FILE")]
    to: PathBuf,
}

/// One side of the move.
struct Side {
    config: Config,
    data: PathBuf,
    /// Scratch of a side that is on servers.
    _scratch: Option<tempfile::TempDir>,
}

impl Side {
    fn of(path: &Path) -> Result<Self, Fault> {
        let wrong = |text: String| Fault::new(Reason::InvalidParameter, text);
        let name = path.display();
        if path.is_file() {
            let config = Config::load(Some(path)).map_err(|error| wrong(error.to_string()))?;
            if !config.is_shared() {
                return Err(wrong(format!(
                    "{name} names no servers: set catalog.url, index.url and blobs.url"
                )));
            }
            let scratch = tempfile::tempdir().map_err(|error| local(error.into()))?;
            return Ok(Side { config, data: scratch.path().to_path_buf(), _scratch: Some(scratch) });
        }
        if assemble::is_served(path) {
            return Err(wrong(format!("a server is running on {name}; stop it first")));
        }
        Ok(Side { config: Config::defaults(), data: path.to_path_buf(), _scratch: None })
    }

    async fn library(&self) -> Result<Library, Fault> {
        assemble::open_library(&self.data, &self.config).await.map_err(local)
    }
}

/// Copies records, then originals, then pages and chunks, each compared with what it was copied from. Nothing is taken away
/// from where it was.
pub(super) async fn run(global: &Global, migrate: Migrate) -> Result<(), Fault> {
    let (from, to) = (Side::of(&migrate.from)?, Side::of(&migrate.to)?);
    if from.config.is_shared() == to.config.is_shared() {
        let cause = "one side is a data folder, the other a settings file that names servers";
        return Err(Fault::new(Reason::InvalidParameter, cause));
    }
    let tables = {
        let _working = output::working(global.json, output::plain("command-copying-records"));
        let there = assemble::open_sql(&from.data, &from.config).map_err(local)?;
        if there.users().await?.is_empty() {
            let cause = format!("there is nothing in {}", migrate.from.display());
            return Err(Fault::new(Reason::NotFound, cause));
        }
        let here = assemble::open_sql(&to.data, &to.config).map_err(local)?;
        here.copy_from(&there).await?
    };
    let (there, here) = (from.library().await?, to.library().await?);
    let originals = copy_originals(&there, &here, bar(global, "command-originals")).await?;
    let files = copy_boxes(&there, &here, bar(global, "command-files")).await?;
    let value = json!({"rows": tables, "originals": originals, "files": files});
    let rows: u64 = tables.values().sum();
    let said = output::text("command-migrated").with("records", rows).with("originals", originals);
    output::print(global.json, &value, &said.with("files", files).plain());
    Ok(())
}

fn bar(global: &Global, what: &str) -> ProgressBar {
    output::started(global.json, output::bar("command-copying", what))
}

/// Every original that files refer to; its name is its hash, which is made again on the way.
async fn copy_originals(from: &Library, to: &Library, bar: ProgressBar) -> Result<usize, Fault> {
    let wanted = from.catalog.wanted_originals().await?;
    bar.set_length(wanted.len() as u64);
    for sha256 in &wanted {
        bar.inc(1);
        if to.blobs.has(sha256).await? {
            continue;
        }
        let original = from.blobs.local(sha256).await?;
        let (blobs, path) = (to.blobs.clone(), original.path().to_path_buf());
        let staged = tokio::task::spawn_blocking(move || blobs.receive_file(&path)).await;
        let staged = staged.map_err(Fault::internal)??;
        if staged.sha256 != *sha256 {
            return Err(Fault::internal(format!(
                "the original {sha256} is damaged: see `quire doctor --scrub`"
            )));
        }
        to.blobs.keep(staged).await?;
    }
    bar.finish_and_clear();
    Ok(wanted.len())
}

/// The pages, chunks and vectors of every box, as they are.
async fn copy_boxes(from: &Library, to: &Library, bar: ProgressBar) -> Result<usize, Fault> {
    let mut files = 0;
    for record in from.catalog.boxes().await? {
        let writing = Writing::for_operator(record.id);
        let mut relocation = Relocation::default();
        let seen = |done: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        // Nobody else is at work here: a server on either side is stopped.
        let all = async |_| Ok(Some(()));
        relocation.catch_up(&*from.index, &*to.index, &writing, all, seen).await?;
        engine::ingest::compare(&*from.index, &*to.index, &writing).await?;
        files += to.index.contents(writing.reading()).await?.files.len();
    }
    bar.finish_and_clear();
    Ok(files)
}
