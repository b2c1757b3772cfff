//! `quire doctor`: prints what is found, and mends what can be mended.

use std::process::ExitCode;

use clap::Args;
use engine::{Fault, Reason};
use serde_json::json;

use super::{Global, output, place::shown};
use crate::{
    assemble,
    doctor::{self, Finding, Look, Report, State},
};

const EXIT: &str =
    "Exit status: 0 if nothing is wrong (with --strict: and there is no warning), 1 otherwise.";

#[derive(Args)]
#[command(after_help = EXIT)]
pub(super) struct Doctor {
    /// Read everything again: originals against their hashes, and every page of the databases
    #[arg(long)]
    scrub: bool,
    /// Mend what can be mended, and say for each finding what was done; reads everything, as --scrub does. Stop the server first
    #[arg(long)]
    repair: bool,
    /// Count warnings as failures, for monitors
    #[arg(long)]
    strict: bool,
}

/// What is wrong with one thing keeps nobody from looking at the others.
pub(super) async fn run(global: &Global, doctor: Doctor) -> Result<ExitCode, Fault> {
    let config = match global.settings() {
        Ok(config) => config,
        Err(fault) => {
            let wrong = Finding::new("settings", State::Wrong, fault.cause);
            return Ok(print(global, &doctor, &Report::of(wrong)));
        }
    };
    let data = global.existing(&config)?;
    // What a server is writing looks like what a crash leaves; on shared stores claims keep both apart.
    let _alone = match doctor.repair && !config.is_shared() {
        true => Some(assemble::lock(&data).map_err(|_| {
            let cause = format!("a server is running on {}", shown(&data));
            Fault::new(Reason::Conflict, cause).hint("stop it first: --repair needs the folder for itself")
        })?),
        false => None,
    };
    let working = output::working(global.json, output::plain("command-checking"));
    let scrub = doctor.scrub || doctor.repair;
    let look = Look { data: &data, config: &config, scrub, originals: usize::MAX, repair: doctor.repair };
    let report = doctor::examine(&look).await;
    drop(working);
    Ok(print(global, &doctor, &report))
}

fn print(global: &Global, doctor: &Doctor, report: &Report) -> ExitCode {
    let Report { findings, damaged } = report;
    let bad = |finding: &Finding| match finding.state {
        State::Ok => false,
        State::Warning => doctor.strict,
        State::Wrong => true,
    };
    let well = !findings.iter().any(bad);
    let row = |finding: &Finding| {
        let mut rows = vec![vec![finding.state.as_str().into(), finding.what.into(), finding.text.clone()]];
        let done = finding.done.iter();
        rows.extend(done.map(|done| vec!["mended".into(), finding.what.into(), done.clone()]));
        rows
    };
    let rows: Vec<Vec<String>> = findings.iter().flat_map(row).collect();
    let entry = |f: &Finding| {
        let (ok, state) = (f.state != State::Wrong, f.state.as_str().to_lowercase());
        json!({"what": f.what, "ok": ok, "state": state, "text": f.text, "done": f.done})
    };
    let entries: Vec<_> = findings.iter().map(entry).collect();
    let value =
        json!({"ok": well, "version": env!("CARGO_PKG_VERSION"), "findings": entries, "damaged": damaged});
    output::print(global.json, &value, &output::table(&["", "command-head-what", ""], &rows, ""));
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
