//! `quire reindex`: rebuilds a box's index, in the server that runs on the store or, where none does, in this process.

use std::time::Duration;

use clap::Args;
use engine::{
    Fault, Reason,
    access::Writing,
    seams::catalog::{Catalog, ReindexAction, ReindexState},
};
use indicatif::ProgressBar;
use serde_json::Value;

use super::{Global, boxes, local, output, serve};
use crate::{
    assemble::{self, Assembled},
    reindex,
};

/// How often progress is checked.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// How many checks a node has to take the work, before this process does it itself.
const TAKEN_WITHIN: u32 = 10;

#[derive(Args)]
pub(super) struct Reindex {
    /// Box: its id or its name
    r#box: String,
    /// Go back to the index that the last reindexing replaced
    #[arg(long)]
    back: bool,
}

/// Builds the new index beside the old one, reports how much recent queries find the same, and switches over.
pub(super) async fn run(global: &Global, wanted: Reindex) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let writing = Writing::for_operator(boxes::find(&*catalog, &wanted.r#box).await?.id);
    let action = if wanted.back { ReindexAction::GoBack } else { ReindexAction::Rebuild };
    catalog.request_reindex(&writing, action).await?;
    let bar = output::started(global.json, output::bar("command-rebuilding", "command-files"));
    let config = global.settings()?;
    let data = global.existing(&config)?;
    let served = match config.is_shared() {
        // Whether a node serves shared stores cannot be told from here: one that does takes it within a second.
        true => is_taken(&*catalog, &writing).await?,
        false => assemble::is_served(&data),
    };
    let report = match served {
        true => watch(&*catalog, &writing, &bar).await?,
        false => {
            let assembled = assemble::assemble(&data, config).await.map_err(local)?;
            let Assembled { app, ingest, .. } = &assembled;
            tokio::select! {
                done = work(app, ingest) => done?,
                () = serve::beat(app.clone(), app.shutdown.clone()) => {}
                report = watch(&*catalog, &writing, &bar) => drop(report?),
            }
            watch(&*catalog, &writing, &bar).await?
        }
    };
    bar.finish_and_clear();
    output::print(global.json, &report, &readable(&report));
    Ok(())
}

/// Whether a node takes the work within a few seconds.
async fn is_taken(catalog: &dyn Catalog, writing: &Writing) -> Result<bool, Fault> {
    for _ in 0..TAKEN_WITHIN {
        match catalog.reindex_state(writing.reading()).await? {
            Some(ReindexState::Wanted) => tokio::time::sleep(LOOK_EVERY).await,
            _ => return Ok(true),
        }
    }
    Ok(false)
}

async fn work(app: &crate::app::App, ingest: &engine::ingest::Ingest) -> Result<(), Fault> {
    while reindex::next(&app.library, ingest, &app.search).await? {}
    Ok(())
}

/// Waits for the end.
async fn watch(catalog: &dyn Catalog, writing: &Writing, bar: &ProgressBar) -> Result<Value, Fault> {
    loop {
        match catalog.reindex_state(writing.reading()).await? {
            Some(ReindexState::Done(report)) => {
                return serde_json::from_str(&report).map_err(Fault::internal);
            }
            Some(ReindexState::Failed(why)) => return Err(Fault::new(Reason::Conflict, why)),
            Some(ReindexState::Running(done, total)) => {
                bar.set_length(total.into());
                bar.set_position(done.into());
            }
            Some(ReindexState::Wanted) => {}
            None => return Err(Fault::new(Reason::NotFound, "the box has been deleted")),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn readable(report: &Value) -> String {
    let text = |name: &str| match &report[name] {
        Value::String(text) => text.clone(),
        Value::Null => output::plain("command-none"),
        other => other.to_string(),
    };
    if report["modelBefore"] == Value::Null && report["chunks"] == Value::Null {
        let said = output::text("command-gone-back").with("model", text("model"));
        return said.with("count", text("readAgain")).plain();
    }
    let overlap = match report["overlap"].as_f64() {
        Some(share) => output::text("command-overlap")
            .with("share", format!("{:.0}", share * 100.0))
            .with("count", text("queriesCompared"))
            .plain(),
        None => output::plain("command-no-queries"),
    };
    output::text("command-reindexed")
        .with("files", text("files"))
        .with("passages", text("chunks"))
        .with("model", text("model"))
        .with("before", text("modelBefore"))
        .with("overlap", &overlap)
        .plain()
}
