//! `quire doctor`: is everything in order, and if not, what to do.

use std::process::ExitCode;

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

/// One thing looked at.
struct Finding {
    what: &'static str,
    well: bool,
    text: String,
}

pub(super) async fn run(global: &Global, doctor: Doctor) -> Result<ExitCode, Fault> {
    let mut findings = vec![settings(global)];
    if !findings[0].well {
        return Ok(report(global, &findings, &[]));
    }
    let config = global.settings()?;
    let library = assemble::open_library(&global.data, &config).await.map_err(local)?;
    let catalog = &library.catalog;
    let (users, boxes, queue) =
        (catalog.users().await?, catalog.boxes().await?, catalog.queue_length().await?);
    let text = format!("{} users, {} boxes, {queue} files to be read", users.len(), boxes.len());
    findings.push(Finding { what: "catalog", well: true, text });
    let wanted = catalog.wanted_originals().await?;
    let mut lost = 0;
    for sha256 in &wanted {
        lost += u64::from(!library.blobs.has(sha256).await?);
    }
    let text = format!("{} originals, {lost} missing", wanted.len());
    findings.push(Finding { what: "originals", well: lost == 0, text });
    findings.push(Finding { what: "index", well: true, text: library.index.describe().await? });
    findings.push(limits(&config));
    findings.extend(assemble::Models::describe(&config.models, &global.data).into_iter().map(model));
    findings.push(sandbox(global, &config).await);
    findings.push(tool("tesseract", "reads pictures and scanned pages"));
    findings.push(tool("pdftotext", "gives a second opinion on PDF pages that come out blank"));
    let mut damaged = Vec::new();
    if doctor.scrub {
        let scrubbed = library.blobs.scrub().await?;
        let text = format!(
            "{} sound, {} damaged {}",
            scrubbed.sound,
            scrubbed.damaged.len(),
            scrubbed.damaged.join(" ")
        );
        findings.push(Finding {
            what: "scrub",
            well: scrubbed.damaged.is_empty(),
            text: text.trim_end().into(),
        });
        damaged = scrubbed.damaged;
    }
    Ok(report(global, &findings, &damaged))
}

fn settings(global: &Global) -> Finding {
    match global.settings() {
        Ok(_) => Finding { what: "settings", well: true, text: "all known and valid".into() },
        Err(fault) => Finding { what: "settings", well: false, text: fault.cause },
    }
}

/// Who counts requests; many nodes that each count for themselves let more through than the limits say.
fn limits(config: &Config) -> Finding {
    let text = match (&config.limiter.url, config.is_shared()) {
        (Some(_), _) => "requests are counted over all nodes",
        (None, true) => "each node counts for itself: set limiter.url to count over all of them",
        (None, false) => "requests are counted in memory, users' windows also on disk",
    };
    Finding { what: "limits", well: config.limiter.url.is_some() || !config.is_shared(), text: text.into() }
}

/// Whether a parser in the hands of a hostile file could do more than answer.
async fn sandbox(global: &Global, config: &Config) -> Finding {
    let (well, text) = match assemble::missing_of_sandbox(&global.data, config).await {
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
    Finding { what: "sandbox", well, text }
}

fn model((what, described): (&'static str, anyhow::Result<String>)) -> Finding {
    match described {
        Ok(text) => Finding { what, well: true, text },
        Err(error) => Finding { what, well: false, text: format!("{error:#}") },
    }
}

/// An optional program; its absence is worth knowing, not a failure.
fn tool(name: &'static str, what: &str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    let text = match found {
        Some(program) => format!("{} ({what})", program.display()),
        None => format!("not installed (it {what})"),
    };
    Finding { what: name, well: true, text }
}

fn report(global: &Global, findings: &[Finding], damaged: &[String]) -> ExitCode {
    let well = findings.iter().all(|finding| finding.well);
    let mark = |finding: &Finding| if finding.well { "ok" } else { "WRONG" };
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| vec![mark(finding).into(), finding.what.into(), finding.text.clone()])
        .collect();
    let entries: Vec<_> =
        findings.iter().map(|f| json!({"what": f.what, "ok": f.well, "text": f.text})).collect();
    let value =
        json!({"ok": well, "version": env!("CARGO_PKG_VERSION"), "findings": entries, "damaged": damaged});
    output::print(global.json, &value, &output::table(&["", "WHAT", ""], &rows, ""));
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
