//! `quire answerer test`: five questions to the answerer, and what that shows it can do.

use std::{process::ExitCode, sync::Arc};

use clap::Subcommand;
use engine::{Fault, seams::catalog::Catalog};
use serde_json::{Value, json};

use super::{Global, local, output};
use crate::{
    assemble,
    config::{AnswererKind, Config},
    trials::{self, TRIALS, Trial, Tried},
    words::Words,
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Ask five questions about a made-up document, and show how well they are answered
    Test,
}

pub(super) async fn run(global: &Global, command: Command) -> Result<ExitCode, Fault> {
    let Command::Test = command;
    let config = global.settings()?;
    let folder = global.folder(&config);
    let chosen = match catalog_to_follow(global, &config) {
        Some(catalog) => catalog.chosen_model().await?,
        None => None,
    };
    let working = output::working(global.json, output::plain("command-asking"));
    let opened = tokio::task::spawn_blocking(move || assemble::open_answerer(&config, &folder, chosen)).await;
    let answerer = opened.map_err(Fault::internal)?.map_err(local)?;
    let results = trials::ask_all(&*answerer).await?;
    drop(working);
    let right = results.iter().filter(|(_, tried)| tried.right).count();
    let rows: Vec<Vec<String>> = results.iter().map(|(trial, tried)| row(trial, tried)).collect();
    let table = output::table(
        &[
            "command-head-it",
            "command-head-result",
            "command-head-cites",
            "command-head-first-word",
            "command-head-whole",
            "command-head-said",
        ],
        &rows,
        "",
    );
    let result = output::text("command-answerer-right").with("model", answerer.id()).with("right", right);
    let text = format!("{}\n\n{table}", result.with("count", TRIALS.len()).plain());
    let values: Vec<Value> = results.iter().map(|(trial, tried)| value(trial, tried)).collect();
    output::print(global.json, &json!({"answerer": answerer.id(), "right": right, "trials": values}), &text);
    // One that neither answers nor refuses is of no use.
    Ok(if right >= 2 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where operators may have chosen a model, if the settings leave that to them.
fn catalog_to_follow(global: &Global, config: &Config) -> Option<Arc<dyn Catalog>> {
    (config.answerer.kind == AnswererKind::Dashboard).then(|| global.catalog().ok()).flatten()
}

fn row(trial: &Trial, tried: &Tried) -> Vec<String> {
    let yes = |yes: bool| output::plain(if yes { "command-yes" } else { "command-no" });
    let cites = if trial.fact.is_some() { yes(tried.cites) } else { "-".into() };
    let said = match &tried.said {
        Some(said) => said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect(),
        None => output::plain("command-answerer-cannot"),
    };
    let (first, whole) = (format!("{} ms", tried.first_ms), format!("{} ms", tried.whole_ms));
    vec![output::plain(trial.shows), yes(tried.right), cites, first, whole, said]
}

fn value(trial: &Trial, tried: &Tried) -> Value {
    json!({
        "shows": Words::default().plain(trial.shows), "question": trial.question, "right": tried.right,
        "cites": tried.cites, "said": tried.said, "firstMs": tried.first_ms, "wholeMs": tried.whole_ms,
    })
}
