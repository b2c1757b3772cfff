//! `quire doctor`: is everything in order, and if not, what to do.

mod certificate;
mod machine;

use std::{path::Path, process::ExitCode};

use clap::Args;
use engine::{Fault, bounds::Bound, seams::catalog::Catalog};
use jiff::{SignedDuration, Timestamp};
use parsers::Ocr;
use serde_json::json;

use super::{Global, output};
use crate::{assemble, backup, config::Config, library::Library};

const EXIT: &str =
    "Exit status: 0 if nothing is wrong (with --strict: and there is no warning), 1 otherwise.";

/// A backup that is older should worry.
const OLD_BACKUP: SignedDuration = SignedDuration::from_hours(48);
/// Of a bound, what may be used before it is said.
const NEARLY: f64 = 0.9;

#[derive(Args)]
#[command(after_help = EXIT)]
pub(super) struct Doctor {
    /// Read everything again: originals against their hashes, and every page of the databases
    #[arg(long)]
    scrub: bool,
    /// Count warnings as failures, for monitors
    #[arg(long)]
    strict: bool,
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

/// Everything that was found.
#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
    /// Originals that are damaged.
    damaged: Vec<String>,
}

impl Report {
    fn add(&mut self, what: &'static str, state: State, text: impl Into<String>) {
        self.findings.push(Finding { what, state, text: text.into() });
    }
}

/// What is wrong with one thing keeps nobody from looking at the others.
pub(super) async fn run(global: &Global, doctor: Doctor) -> Result<ExitCode, Fault> {
    let mut report = Report::default();
    let config = match global.settings() {
        Ok(config) => config,
        Err(fault) => {
            report.add("settings", State::Wrong, fault.cause);
            return Ok(print(global, &doctor, &report));
        }
    };
    report.add("settings", State::Ok, "all known and valid");
    let data = global.existing(&config)?;
    let working = output::working(global.json, "Checking");
    report.findings.push(machine::disk(&data, &config));
    if !config.is_shared() {
        report.findings.push(machine::encryption(&data));
    }
    report.findings.push(backups(&data, &config));
    report.findings.push(certificate::finding(&data, &config));
    match opened(&data, &config).await {
        Ok(library) => look_into(&mut report, &library, &data, &config, doctor.scrub).await,
        Err(why) => report.add("catalog", State::Wrong, why),
    }
    report.findings.push(limits(&config));
    report.findings.extend(assemble::Models::describe(&config.models, &data).into_iter().map(model));
    report.findings.push(sandbox(&data, &config).await);
    report.findings.push(recognition(config.ingest.ocr));
    report.findings.push(tool(
        "pdftotext",
        "gives a second opinion on PDF pages that come out blank",
        "such pages stay blank",
    ));
    drop(working);
    Ok(print(global, &doctor, &report))
}

/// The stores, if the catalog is sound: what is damaged must not be written to.
async fn opened(data: &Path, config: &Config) -> Result<Library, String> {
    let catalog = data.join("catalog.db");
    if !config.is_shared() {
        stores::check(&catalog)
            .map_err(|wrong| format!("{} is damaged: {wrong}; restore a backup", catalog.display()))?;
    }
    assemble::open_library(data, config).await.map_err(|error| format!("{error:#}"))
}

/// What the stores say of themselves; one that does not answer is a finding.
async fn look_into(report: &mut Report, library: &Library, data: &Path, config: &Config, scrub: bool) {
    report.findings.push(machine::clock(&*library.catalog).await);
    let checks = [
        ("catalog", catalog(&*library.catalog).await),
        ("queue", queue(&*library.catalog, data, config).await),
        ("quota", quota(&*library.catalog).await),
        ("originals", originals(library).await),
        ("index", library.index.describe().await.map(|text| (State::Ok, text))),
    ];
    for (what, checked) in checks {
        match checked {
            Ok((state, text)) => report.add(what, state, text),
            Err(fault) => report.add(what, State::Wrong, said(&fault)),
        }
    }
    if scrub {
        match scrubbed(library).await {
            Ok((state, text, damaged)) => {
                report.add("scrub", state, text);
                report.damaged = damaged;
            }
            Err(fault) => report.add("scrub", State::Wrong, said(&fault)),
        }
        if !config.is_shared() {
            report.findings.push(boxes(library, data).await);
        }
    }
}

fn said(fault: &Fault) -> String {
    match &fault.source {
        Some(source) => format!("{}: {source}", fault.cause),
        None => fault.cause.clone(),
    }
}

async fn catalog(catalog: &dyn Catalog) -> Result<(State, String), Fault> {
    let (users, boxes) = (catalog.users().await?, catalog.boxes().await?);
    Ok((State::Ok, format!("{} users, {} boxes", users.len(), boxes.len())))
}

/// Files that wait are read by a server; where none runs, they wait for it.
async fn queue(catalog: &dyn Catalog, data: &Path, config: &Config) -> Result<(State, String), Fault> {
    let waiting = catalog.queue_length().await?;
    let served = config.is_shared() || assemble::is_served(data);
    let text = format!("{waiting} files waiting to be processed");
    Ok(match served || waiting == 0 {
        true => (State::Ok, text),
        false => (State::Warning, format!("{text}, and no server runs on this folder")),
    })
}

/// Accounts that soon cannot store more.
async fn quota(catalog: &dyn Catalog) -> Result<(State, String), Fault> {
    let mut full = Vec::new();
    for user in catalog.users().await? {
        let holdings = catalog.holdings(user.id).await?;
        let storage = holdings.into_iter().find(|holding| holding.bound == Bound::StorageGb);
        if let Some(held) = storage.filter(|held| held.used as f64 > held.allowed as f64 * NEARLY) {
            full.push(format!("{} ({}%)", user.email, held.used * 100 / held.allowed.max(1)));
        }
    }
    Ok(match full.is_empty() {
        true => (State::Ok, "no account is near its storage limit".into()),
        false => (State::Warning, format!("nearly all storage is used by {}", full.join(", "))),
    })
}

async fn originals(library: &Library) -> Result<(State, String), Fault> {
    let wanted = library.catalog.wanted_originals().await?;
    let mut lost = 0;
    for sha256 in &wanted {
        lost += u64::from(!library.blobs.has(sha256).await?);
    }
    Ok((State::of(lost == 0), format!("{} originals, {lost} missing", wanted.len())))
}

async fn scrubbed(library: &Library) -> Result<(State, String, Vec<String>), Fault> {
    let scrubbed = library.blobs.scrub().await?;
    let (sound, damaged) = (scrubbed.sound, scrubbed.damaged);
    let text = format!("{sound} sound, {} damaged {}", damaged.len(), damaged.join(" "));
    Ok((State::of(damaged.is_empty()), text.trim_end().into(), damaged))
}

/// Every page of every box's database.
async fn boxes(library: &Library, data: &Path) -> Finding {
    let what = "boxes";
    let listed = match library.catalog.boxes().await {
        Ok(boxes) => boxes,
        Err(fault) => return Finding { what, state: State::Wrong, text: said(&fault) },
    };
    let root = data.join("index");
    let wrong: Vec<String> = listed
        .iter()
        .filter_map(|record| {
            let path = stores::index::copies::file_of(&root, record.id);
            let wrong = path.exists().then(|| stores::check(&path).err()).flatten()?;
            Some(format!("{} ({}): {wrong}", record.name.as_str(), path.display()))
        })
        .collect();
    let text = match wrong.is_empty() {
        true => format!("{} sound", listed.len()),
        false => format!("{}; restore a backup, or delete the file and read the box again", wrong.join("; ")),
    };
    Finding { what, state: State::of(wrong.is_empty()), text }
}

/// When the data folder was last backed up.
fn backups(data: &Path, config: &Config) -> Finding {
    let what = "backup";
    if config.is_shared() {
        let text = "the servers' own tools back up what is on them (docs/backup.md)";
        return Finding { what, state: State::Ok, text: text.into() };
    }
    let (state, text) = match backup::last(data) {
        None => (
            State::Warning,
            "there is none yet; `quire backup DIR` takes one while the server runs".to_string(),
        ),
        Some(last) => {
            let old = Timestamp::now().duration_since(last.at) > OLD_BACKUP;
            let gone = !last.folder.exists();
            let place = if gone { ", which is no longer there" } else { "" };
            let text = format!(
                "the last is of {}, in {}{place}",
                output::moment(Some(last.at)),
                last.folder.display()
            );
            (if old || gone { State::Warning } else { State::Ok }, text)
        }
    };
    Finding { what, state, text }
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
/// What reads pictures and scanned pages.
fn recognition(wanted: Ocr) -> Finding {
    let (state, text) = match (wanted, wanted.here()) {
        (_, Ocr::Off) => (State::Warning, "off (pictures and scanned pages have no text)"),
        (Ocr::Tesseract, Ocr::BuiltIn) => (
            State::Warning,
            "the built-in models read pictures and scanned pages; tesseract is not installed",
        ),
        (_, Ocr::BuiltIn) => (State::Ok, "the built-in models read pictures and scanned pages"),
        (_, Ocr::Tesseract) => (State::Ok, "tesseract reads pictures and scanned pages"),
    };
    Finding { what: "recognition", state, text: text.into() }
}

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

fn print(global: &Global, doctor: &Doctor, report: &Report) -> ExitCode {
    let Report { findings, damaged } = report;
    let bad = |finding: &Finding| match finding.state {
        State::Ok => false,
        State::Warning => doctor.strict,
        State::Wrong => true,
    };
    let well = !findings.iter().any(bad);
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
