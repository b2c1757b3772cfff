//! `quire backup` and `quire restore`: the data folder to another folder and back.

use std::path::{Path, PathBuf};

use clap::Args;
use engine::{Fault, Reason};
use indicatif::ProgressBar;
use serde_json::json;

use super::{
    Global, local,
    output::{self, moment},
    place::shown,
};
use crate::{
    assemble,
    backup::{self, Doing},
    config::Config,
};

#[derive(Args)]
pub(super) struct Backup {
    /// Folder of the backups, on another disk; each backup is a folder in it
    folder: PathBuf,
    /// How many backups to keep; older ones are removed
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    keep: u16,
    /// Take no backup; read the whole latest one and compare it with its checksums
    #[arg(long)]
    check: bool,
}

#[derive(Args)]
pub(super) struct Restore {
    /// A backup, or a folder of backups: then the latest of them
    folder: PathBuf,
}

pub(super) async fn take(global: &Global, wanted: Backup) -> Result<(), Fault> {
    if wanted.check {
        return check(global, &wanted.folder);
    }
    let config = global.settings()?;
    must_be_folder(&config)?;
    let data = global.existing(&config)?;
    let bar = output::started(global.json, output::style("{msg} [{bar:40}] {pos}/{len}"));
    let taken = backup::take(&data, &wanted.folder, wanted.keep.into(), |doing, done, all| {
        show(&bar, doing, done, all)
    });
    let taken = taken.await.map_err(local)?;
    bar.finish_and_clear();
    let manifest = &taken.manifest;
    let value = json!({
        "folder": taken.folder, "at": manifest.at, "files": manifest.files.len(), "copied": taken.copied,
        "bytesCopied": taken.bytes_copied, "readAgain": taken.read_again, "damaged": manifest.damaged,
        "removed": taken.removed,
    });
    let whole = output::text("command-backed-up")
        .with("from", shown(&data))
        .with("to", shown(&taken.folder))
        .with("files", manifest.files.len())
        .with("copied", taken.copied)
        .with("megabytes", taken.bytes_copied.div_ceil(1_000_000));
    let mut said = vec![whole.plain()];
    if taken.read_again > 0 {
        said.push(output::words().count("command-backup-changed", taken.read_again as u64));
    }
    if !manifest.damaged.is_empty() {
        said.push(output::words().count("command-backup-damaged", manifest.damaged.len() as u64));
    }
    output::print(global.json, &value, &said.join("\n"));
    Ok(())
}

fn check(global: &Global, folder: &Path) -> Result<(), Fault> {
    let bar = output::started(global.json, output::style("{msg} [{bar:40}] {pos}/{len}"));
    let latest = backup::latest(folder).map_err(local)?;
    let manifest =
        backup::check(&latest, |done, all| show(&bar, Doing::Checking, done, all)).map_err(local)?;
    bar.finish_and_clear();
    let value = json!({"folder": latest, "at": manifest.at, "files": manifest.files.len(), "sound": true});
    let said = output::text("command-backup-sound")
        .with("backup", shown(&latest))
        .with("when", moment(Some(manifest.at)))
        .with("files", manifest.files.len());
    output::print(global.json, &value, &said.plain());
    Ok(())
}

pub(super) async fn restore(global: &Global, wanted: Restore) -> Result<(), Fault> {
    let config = global.settings()?;
    must_be_folder(&config)?;
    let data = global.folder(&config);
    if assemble::is_served(&data) {
        let cause = format!("a server is running on {}", shown(&data));
        return Err(Fault::new(Reason::Conflict, cause).hint("restore into an empty folder"));
    }
    let latest = backup::latest(&wanted.folder).map_err(local)?;
    let bar = output::started(global.json, output::style("{msg} [{bar:40}] {pos}/{len}"));
    let restored = backup::restore(&latest, &data, |doing, done, all| show(&bar, doing, done, all));
    let restored = restored.map_err(local)?;
    bar.finish_and_clear();
    let value = json!({
        "data": data, "backup": latest, "at": restored.at, "files": restored.files, "bytes": restored.bytes,
    });
    let said = output::text("command-restored")
        .with("backup", shown(&latest))
        .with("when", moment(Some(restored.at)))
        .with("folder", shown(&data))
        .with("files", restored.files);
    output::print(global.json, &value, &said.plain());
    Ok(())
}

fn show(bar: &ProgressBar, doing: Doing, done: usize, all: usize) {
    bar.set_message(output::plain(match doing {
        Doing::Originals => "command-copying-originals",
        Doing::Boxes => "command-copying-boxes",
        Doing::Checking => "command-checking",
        Doing::Restoring => "command-restoring",
    }));
    bar.set_length(all as u64);
    bar.set_position(done as u64);
}

/// Stores on servers are not files of ours.
fn must_be_folder(config: &Config) -> Result<(), Fault> {
    match config.is_shared() {
        false => Ok(()),
        true => Err(Fault::new(
            Reason::InvalidParameter,
            "the stores are on servers: back up PostgreSQL and the bucket with their own tools, as docs/backup.md says",
        )
        .hint("`quire export` writes single boxes")),
    }
}
