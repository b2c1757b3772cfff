//! `quire export` and `quire import`: a box to a file and back, beside a running server too.

use std::{
    fs::File,
    io::{BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use engine::{
    Fault, Reason, bundle,
    bundle::{Head, Totals},
    seams::catalog::{Action, BoxName, BoxRecord, Catalog, Email, NewEntry, User},
};
use indicatif::ProgressBar;
use jiff::Timestamp;
use serde_json::json;

use super::{Global, boxes, local, output, place::shown};
use crate::{assemble, bundles};

/// Bytes read and written at a time.
const BUFFER: usize = 1 << 20;

#[derive(Args)]
pub(super) struct Export {
    /// Box: its id or its name
    r#box: String,
    /// File to write; it must not exist yet
    file: PathBuf,
}

#[derive(Args)]
pub(super) struct Import {
    /// File that `quire export` wrote
    file: PathBuf,
    /// Another name for the box
    #[arg(long, value_name = "NAME")]
    name: Option<BoxName>,
    /// Account that owns the box [default: the account here with the address of its previous owner]
    #[arg(long, value_name = "EMAIL")]
    owner: Option<Email>,
}

/// Writes beside the file and puts it in its place once it was read back: a file of that name is always whole.
pub(super) async fn export(global: &Global, wanted: Export) -> Result<(), Fault> {
    let config = global.settings()?;
    let data = global.existing(&config)?;
    let catalog = global.catalog()?;
    let record = boxes::find(&*catalog, &wanted.r#box).await?;
    let path = std::path::absolute(&wanted.file).map_err(|error| local(error.into()))?;
    if path.exists() {
        return Err(Fault::new(Reason::Conflict, format!("{} exists already", path.display())));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let unwritten = |error: std::io::Error| {
        Fault::new(Reason::Internal, format!("cannot write {}: {error}", path.display()))
    };
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritten)?;
    let bar = output::started(global.json, output::bar("command-exporting", "command-files"));
    let open = async || assemble::open_library(&data, &config).await.map_err(local);
    let seen = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let to = BufWriter::with_capacity(BUFFER, file.as_file_mut());
    let (exported, mut to) = bundles::export(open, &record, to, seen).await?;
    to.flush().map_err(unwritten)?;
    drop(to);
    file.as_file().sync_all().map_err(unwritten)?;
    bar.finish_and_clear();
    let (_, totals) = read_through(global, file.path(), "command-reading-back")?;
    if totals != exported.totals {
        return Err(Fault::new(Reason::Internal, "the bundle does not read back as it was written"));
    }
    file.persist_noclobber(&path).map_err(|error| unwritten(error.error))?;
    note(&*catalog, Action::BoxExported, &record).await?;
    let value = json!({"boxId": record.id, "name": record.name, "file": path, "contents": totals});
    let mut said = output::text("command-exported")
        .with("box", record.name.as_str())
        .with("file", path.display().to_string())
        .with("files", totals.files)
        .with("passages", totals.chunks);
    if totals.unread > 0 {
        said =
            output::text("command-exported-unread").with("said", said.plain()).with("count", totals.unread);
    }
    output::print(global.json, &value, &said.plain());
    Ok(())
}

pub(super) async fn import(global: &Global, wanted: Import) -> Result<(), Fault> {
    let config = global.settings()?;
    let data = global.existing(&config)?;
    let (head, before) = read_through(global, &wanted.file, "command-checking")?;
    let library = assemble::open_library(&data, &config).await.map_err(local)?;
    let owner = owner(&*library.catalog, &wanted, &head).await?;
    let (model, dimensions) = assemble::Models::embedder_known_as(&config.models, &data).map_err(local)?;
    let arriving = bundles::Wanted { name: wanted.name.clone(), owner: owner.id, model: &model, dimensions };
    let bar = bytes_bar(global, &wanted.file, "command-importing")?;
    let imported = tokio::select! {
        imported = bundles::import(&library, arriving, open(&wanted.file)?, |at| bar.set_position(at)) => imported?,
        // What was brought so far is seen by nobody, and a server removes it once nothing more comes.
        _ = tokio::signal::ctrl_c() => {
            return Err(Fault::new(Reason::Conflict, "stopped: nothing was imported"));
        }
    };
    bar.finish_and_clear();
    note(&*library.catalog, Action::BoxImported, &imported.record).await?;
    let (record, totals) = (&imported.record, imported.totals);
    let same_model = head.model.as_deref().is_none_or(|theirs| theirs == model);
    let value = json!({
        "boxId": record.id, "name": record.name, "owner": owner.email, "contents": totals,
        "model": model, "modelBefore": head.model, "embeddedAgain": totals.unread,
    });
    let whole = output::text("command-imported")
        .with("box", record.name.as_str())
        .with("id", record.id.to_string())
        .with("owner", &owner.email)
        .with("files", totals.files)
        .with("passages", totals.chunks);
    let mut said = vec![whole.plain()];
    if !same_model {
        let theirs = head.model.clone().unwrap_or_else(|| output::plain("command-none"));
        let again =
            output::text("command-imported-other-model").with("before", &theirs).with("model", &model);
        said.push(again.with("count", totals.unread).plain());
    } else if totals.unread > 0 {
        said.push(output::text("command-imported-unread").with("count", before.unread).plain());
    }
    output::print(global.json, &value, &said.join("\n"));
    Ok(())
}

/// Reads a whole bundle, and shows how far it is.
fn read_through(global: &Global, path: &Path, doing: &str) -> Result<(Head, Totals), Fault> {
    let bar = bytes_bar(global, path, doing)?;
    let read = bundle::verify(open(path)?, |at| bar.set_position(at));
    bar.finish_and_clear();
    read.map_err(|wrong| {
        Fault::new(Reason::InvalidParameter, format!("{}: {wrong}", path.display()))
            .hint("nothing was imported")
    })
}

fn open(path: &Path) -> Result<BufReader<File>, Fault> {
    let file = File::open(path)
        .map_err(|error| Fault::new(Reason::NotFound, format!("cannot read {}: {error}", shown(path))))?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

fn bytes_bar(global: &Global, path: &Path, doing: &str) -> Result<ProgressBar, Fault> {
    let style = output::style(&format!("{} [{{bar:40}}] {{bytes}}/{{total_bytes}}", output::plain(doing)));
    let bar = output::started(global.json, style);
    bar.set_length(open(path)?.get_ref().metadata().map_or(0, |metadata| metadata.len()));
    Ok(bar)
}

/// Whoever is named; else the account that has the address of the owner there.
async fn owner(catalog: &dyn Catalog, wanted: &Import, head: &Head) -> Result<User, Fault> {
    if let Some(email) = &wanted.owner {
        return catalog.user(email).await;
    }
    let email = head.owner.as_deref().and_then(|email| email.parse::<Email>().ok());
    let found = match &email {
        Some(email) => catalog.user(email).await.ok(),
        None => None,
    };
    found.ok_or_else(|| {
        let cause = match email {
            Some(email) => format!("the box belonged to {email}, who has no account here"),
            None => "the bundle names no owner".into(),
        };
        Fault::new(Reason::NotFound, cause).hint("name its owner with --owner EMAIL")
    })
}

/// Who runs commands on the store is not an account; the log says so.
async fn note(catalog: &dyn Catalog, action: Action, record: &BoxRecord) -> Result<(), Fault> {
    let entry = NewEntry {
        at: Timestamp::now(),
        user: None,
        who: "operator".into(),
        address: "command line".into(),
        box_id: Some(record.id),
        action,
        target: record.name.as_str().into(),
    };
    catalog.note(entry).await
}
