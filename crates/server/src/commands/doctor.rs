//! `quire doctor`: is everything in order, and if not, what to do.

use std::{path::Path, process::ExitCode};

use clap::Args;
use engine::Fault;
use serde_json::json;

use super::{Global, local, output};
use crate::{assemble, config::Config};

#[derive(Args)]
pub(super) struct Doctor {
    /// Read every original again and compare it with its hash (reads the whole store)
    #[arg(long)]
    scrub: bool,
}

/// One thing that was checked.
struct Finding {
    what: &'static str,
    state: State,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Something is missing that quire can do without.
    Warning,
    Wrong,
}

impl State {
    fn of(well: bool) -> Self {
        if well { State::Ok } else { State::Wrong }
    }

    fn as_str(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Wrong => "WRONG",
        }
    }
}

pub(super) async fn run(global: &Global, doctor: Doctor) -> Result<ExitCode, Fault> {
    let mut findings = vec![settings(global)];
    if findings[0].state == State::Wrong {
        return Ok(report(global, &findings, &[]));
    }
    let config = global.settings()?;
    let data = global.existing(&config)?;
    let working = output::working(global.json, "Checking");
    let library = assemble::open_library(&data, &config).await.map_err(local)?;
    let catalog = &library.catalog;
    let (users, boxes, queue) =
        (catalog.users().await?, catalog.boxes().await?, catalog.queue_length().await?);
    let text = format!("{} users, {} boxes, {queue} files waiting to be processed", users.len(), boxes.len());
    findings.push(Finding { what: "catalog", state: State::Ok, text });
    let wanted = catalog.wanted_originals().await?;
    let mut lost = 0;
    for sha256 in &wanted {
        lost += u64::from(!library.blobs.has(sha256).await?);
    }
    let text = format!("{} originals, {lost} missing", wanted.len());
    findings.push(Finding { what: "originals", state: State::of(lost == 0), text });
    findings.push(Finding { what: "index", state: State::Ok, text: library.index.describe().await? });
    findings.push(limits(&config));
    findings.extend(assemble::Models::describe(&config.models, &data).into_iter().map(model));
    findings.push(sandbox(&data, &config).await);
    findings.push(tool("tesseract", "reads pictures and scanned pages", "scanned pages stay empty"));
    findings.push(tool(
        "pdftotext",
        "gives a second opinion on PDF pages that come out blank",
        "such pages stay blank",
    ));
    drop(working);
    let mut damaged = Vec::new();
    if doctor.scrub {
        let scrubbed = {
            let _working = output::working(global.json, "Reading every original");
            library.blobs.scrub().await?
        };
        let text = format!(
            "{} sound, {} damaged {}",
            scrubbed.sound,
            scrubbed.damaged.len(),
            scrubbed.damaged.join(" ")
        );
        findings.push(Finding {
            what: "scrub",
            state: State::of(scrubbed.damaged.is_empty()),
            text: text.trim_end().into(),
        });
        damaged = scrubbed.damaged;
    }
    Ok(report(global, &findings, &damaged))
}

fn settings(global: &Global) -> Finding {
    match global.settings() {
        Ok(_) => Finding { what: "settings", state: State::Ok, text: "all known and valid".into() },
        Err(fault) => Finding { what: "settings", state: State::Wrong, text: fault.cause },
    }
}

/// Who counts requests; many nodes that each count for themselves let more through than the limits say.
fn limits(config: &Config) -> Finding {
    let text = match (&config.limiter.url, config.is_shared()) {
        (Some(_), _) => "requests are counted over all nodes",
        (None, true) => "each node counts for itself: set limiter.url to count over all of them",
        (None, false) => "requests are counted in memory, users' windows also on disk",
    };
    let well = config.limiter.url.is_some() || !config.is_shared();
    Finding { what: "limits", state: State::of(well), text: text.into() }
}

/// Whether a parser that a hostile file has taken over could do more than answer.
async fn sandbox(data: &Path, config: &Config) -> Finding {
    let (well, text) = match assemble::missing_of_sandbox(data, config).await {
        Ok(missing) if missing.is_empty() => {
            (true, "files are read without access to other files, connections or processes".to_string())
        }
        Ok(missing) => {
            let parts: Vec<String> = missing.iter().map(ToString::to_string).collect();
            let required = config.ingest.sandbox == parsers::Sandbox::Required;
            let then = if required {
                "no file is read (ingest.sandbox)"
            } else {
                "a hostile file that takes over the parser can do more; run quire on Linux 6.12 or newer"
            };
            (!required, format!("{}: {then}", parts.join(", ")))
        }
        Err(error) => (false, format!("the parser does not run: {error:#}")),
    };
    Finding { what: "sandbox", state: State::of(well), text }
}

fn model((what, described): (&'static str, anyhow::Result<String>)) -> Finding {
    match described {
        Ok(text) => Finding { what, state: State::Ok, text },
        Err(error) => Finding { what, state: State::Wrong, text: format!("{error:#}") },
    }
}

/// An optional program. quire works without it, but worse, so its absence is a warning.
fn tool(name: &'static str, what: &str, without: &str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    match found {
        Some(program) => {
            Finding { what: name, state: State::Ok, text: format!("{} ({what})", program.display()) }
        }
        None => Finding { what: name, state: State::Warning, text: format!("not installed ({without})") },
    }
}

fn report(global: &Global, findings: &[Finding], damaged: &[String]) -> ExitCode {
    let well = findings.iter().all(|finding| finding.state != State::Wrong);
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| vec![finding.state.as_str().into(), finding.what.into(), finding.text.clone()])
        .collect();
    let entry = |f: &Finding| {
        let (ok, state) = (f.state != State::Wrong, f.state.as_str().to_lowercase());
        json!({"what": f.what, "ok": ok, "state": state, "text": f.text})
    };
    let entries: Vec<_> = findings.iter().map(entry).collect();
    let value =
        json!({"ok": well, "version": env!("CARGO_PKG_VERSION"), "findings": entries, "damaged": damaged});
    output::print(global.json, &value, &output::table(&["", "WHAT", ""], &rows, ""));
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
