//! Whether everything is in order, what to do where it is not, and what can be mended without hands.
//!
//! `quire doctor` and the dashboard show the same findings. A check that can mend what it finds does so where
//! [`Look::repair`] says so, and its finding tells how things are afterwards and what was done.

mod boxes;
mod certificate;
mod leftovers;
mod machine;
mod originals;

use std::{collections::HashSet, path::Path};

use engine::{Fault, bounds::Bound, seams::catalog::Catalog};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use parsers::Ocr;

use crate::{app::App, assemble, backup, config::Config, library::Library};

/// A backup that is older should worry.
const OLD_BACKUP: SignedDuration = SignedDuration::from_hours(48);
/// Of a bound, what may be used before it is said.
const NEARLY: f64 = 0.9;
/// Originals that are compared for a page of the dashboard: 30 ms for a folder, a fifth of a second for a bucket.
const ORIGINALS_OF_A_PAGE: usize = 2_000;

/// What to look at, and how closely.
pub struct Look<'a> {
    /// The data folder.
    pub data: &'a Path,
    /// The settings.
    pub config: &'a Config,
    /// Whether to read everything: originals against their hashes, and every page of the databases.
    pub scrub: bool,
    /// Originals up to which what is there is compared with what files refer to: to list a large bucket takes minutes.
    pub originals: usize,
    /// Whether to mend what can be mended; whoever says so has locked the folder.
    pub repair: bool,
}

impl Look<'_> {
    /// Whether a server uses the stores, as far as can be told from here.
    fn is_served(&self) -> bool {
        self.config.is_shared() || (!self.repair && assemble::is_served(self.data))
    }
}

/// One thing that was checked.
#[derive(Debug)]
pub struct Finding {
    /// The thing.
    pub what: &'static str,
    /// How it is.
    pub state: State,
    /// The same in words, with what to do.
    pub text: String,
    /// What was mended.
    pub done: Vec<String>,
}

impl Finding {
    /// A finding about which nothing was done.
    pub fn new(what: &'static str, state: State, text: impl Into<String>) -> Self {
        Finding { what, state, text: text.into(), done: Vec::new() }
    }

    /// A check that may itself have failed.
    fn of(what: &'static str, checked: Result<(State, String), Fault>) -> Self {
        match checked {
            Ok((state, text)) => Finding::new(what, state, text),
            Err(fault) => Finding::new(what, State::Wrong, said(&fault)),
        }
    }
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Ok,
    /// Something is missing that quire can do without.
    Warning,
    /// Something does not work, or data is lost.
    Wrong,
}

impl State {
    fn of(well: bool) -> Self {
        if well { State::Ok } else { State::Wrong }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Wrong => "WRONG",
        }
    }
}

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order of checking.
    pub findings: Vec<Finding>,
    /// Originals that are damaged.
    pub damaged: Vec<String>,
}

impl Report {
    /// A report of one finding.
    pub fn of(finding: Finding) -> Self {
        Report { findings: vec![finding], damaged: Vec::new() }
    }
}

/// Looks at everything, whether or not a server runs. What is wrong with one thing keeps nobody from looking at the others.
pub async fn examine(look: &Look<'_>) -> Report {
    let mut report = Report::of(Finding::new("settings", State::Ok, "all known and valid"));
    report.findings.extend(of_folder(look));
    match opened(look).await {
        Ok(library) => of_stores(&mut report, &library, look).await,
        Err(why) => report.findings.push(Finding::new("catalog", State::Wrong, why)),
    }
    report.findings.push(limits(look.config));
    let models = assemble::Models::describe(&look.config.models, look.data);
    report.findings.extend(models.into_iter().map(model));
    let missing = assemble::missing_of_sandbox(look.data, look.config).await;
    report.findings.push(sandbox(look.config, missing.map_err(|error| format!("{error:#}"))));
    report.findings.extend(of_reading(look.config));
    report
}

/// The same by a server of itself. That its models are loaded and its catalog is sound it knows, and with
/// [`Look::originals`] it leaves to the command what takes longer than anybody waits for a page.
pub async fn examine_running(app: &App) -> Report {
    let (data, config) = (app.about.data.as_path(), &app.config);
    let look = Look { data, config, scrub: false, originals: ORIGINALS_OF_A_PAGE, repair: false };
    let mut report = Report::of(Finding::new("settings", State::Ok, "all known and valid"));
    report.findings.extend(of_folder(&look));
    of_stores(&mut report, &app.library, &look).await;
    report.findings.push(limits(config));
    report.findings.extend(app.about.sandbox.get().map(|missing| sandbox(config, missing.clone())));
    report.findings.extend(of_reading(config));
    report
}

/// The data folder, and what its machine gives it.
fn of_folder(look: &Look<'_>) -> Vec<Finding> {
    let mut found = vec![machine::disk(look.data, look.config)];
    if !look.config.is_shared() {
        found.push(machine::encryption(look.data));
    }
    found.extend([machine::permissions(look), backups(look), certificate::finding(look.data, look.config)]);
    found
}

/// What files are read with.
fn of_reading(config: &Config) -> [Finding; 2] {
    let opinion = "gives a second opinion on PDF pages that come out blank";
    [recognition(config.ingest.ocr), tool("pdftotext", opinion, "such pages stay blank")]
}

/// The stores, if the catalog is sound: what is damaged must not be written to.
async fn opened(look: &Look<'_>) -> Result<Library, String> {
    let catalog = look.data.join("catalog.db");
    if !look.config.is_shared() {
        stores::check(&catalog).map_err(|wrong| {
            format!("{} is damaged: {wrong}; {}", catalog.display(), how_to_restore(look.data))
        })?;
    }
    assemble::open_library(look.data, look.config).await.map_err(|error| format!("{error:#}"))
}

/// The line that brings back what cannot be mended.
fn how_to_restore(data: &Path) -> String {
    match backup::last(data) {
        Some(last) => format!(
            "move the folder away and run `quire restore {} --data {}`",
            last.folder.display(),
            data.display()
        ),
        None => "there is no backup of it that quire knows".into(),
    }
}

/// What the stores say of themselves; one that does not answer is a finding.
async fn of_stores(report: &mut Report, library: &Library, look: &Look<'_>) {
    let catalog_there = &*library.catalog;
    report.findings.extend([
        machine::clock(catalog_there).await,
        Finding::of("catalog", catalog(catalog_there).await),
        Finding::of("queue", queue(catalog_there, look).await),
        Finding::of("quota", quota(catalog_there).await),
        Finding::of("index", library.index.describe().await.map(|text| (State::Ok, text))),
    ]);
    if !look.config.is_shared() {
        report.findings.push(leftovers::finding(look, library).await);
    }
    let mut lost = HashSet::new();
    report.findings.push(originals::finding(look, library, &mut lost).await);
    if look.scrub {
        report.findings.push(originals::scrub(look, library, &mut lost, &mut report.damaged).await);
        if !look.config.is_shared() {
            report.findings.push(boxes::finding(look, library, &lost).await);
        }
    }
}

fn said(fault: &Fault) -> String {
    match &fault.source {
        Some(source) => format!("{}: {source}", fault.cause),
        None => fault.cause.clone(),
    }
}

/// So many of something.
fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

async fn catalog(catalog: &dyn Catalog) -> Result<(State, String), Fault> {
    let (users, boxes) = (catalog.users().await?, catalog.boxes().await?);
    Ok((State::Ok, format!("{} users, {} boxes", users.len(), boxes.len())))
}

/// Files that wait are read by a server; where none runs, they wait for it.
async fn queue(catalog: &dyn Catalog, look: &Look<'_>) -> Result<(State, String), Fault> {
    let waiting = catalog.queue_length().await?;
    let served = look.is_served();
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

/// When the data folder was last backed up, and what was left where a backup was cut short.
fn backups(look: &Look<'_>) -> Finding {
    let what = "backup";
    if look.config.is_shared() {
        let text = "the servers' own tools back up what is on them (docs/backup.md)";
        return Finding::new(what, State::Ok, text);
    }
    let Some(last) = backup::last(look.data) else {
        let text = "there is none yet; `quire backup DIR` takes one while the server runs";
        return Finding::new(what, State::Warning, text);
    };
    let old = Timestamp::now().duration_since(last.at) > OLD_BACKUP;
    let gone = !last.folder.exists();
    let place = if gone { ", which is no longer there" } else { "" };
    let at = last.at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC");
    let text = format!("the last is of {at}, in {}{place}", last.folder.display());
    let mut finding = Finding::new(what, if old || gone { State::Warning } else { State::Ok }, text);
    let Some(folder) = last.folder.parent() else { return finding };
    if look.repair {
        match backup::tidy(folder) {
            Ok(0) => {}
            Ok(removed) => {
                let backups = count(removed, "backup that was", "backups that were");
                finding.done.push(format!("removed {backups} not finished from {}", folder.display()));
            }
            Err(error) => finding.text += &format!("; {error:#}"),
        }
    } else if let unfinished @ 1.. = backup::unfinished(folder) {
        finding.text += &format!("; {unfinished} beside it not finished, which the next backup removes");
    }
    finding
}

/// Who counts requests; many nodes that each count for themselves let more through than the limits say.
fn limits(config: &Config) -> Finding {
    let text = match (&config.limiter.url, config.is_shared()) {
        (Some(_), _) => "requests are counted over all nodes",
        (None, true) => "each node counts for itself: set limiter.url to count over all of them",
        (None, false) => "requests are counted in memory, users' windows also on disk",
    };
    let well = config.limiter.url.is_some() || !config.is_shared();
    Finding::new("limits", State::of(well), text)
}

/// Whether a parser that a hostile file has taken over could do more than answer.
fn sandbox(config: &Config, missing: Result<Vec<parsers::Missing>, String>) -> Finding {
    let (well, text) = match missing {
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
        Err(error) => (false, format!("the parser does not run: {error}")),
    };
    Finding::new("sandbox", State::of(well), text)
}

fn model((what, described): (&'static str, anyhow::Result<String>)) -> Finding {
    match described {
        Ok(text) => Finding::new(what, State::Ok, text),
        Err(error) => Finding::new(what, State::Wrong, format!("{error:#}")),
    }
}

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
    Finding::new("recognition", state, text)
}

/// An optional program. quire works without it, but worse, so its absence is a warning.
fn tool(name: &'static str, what: &str, without: &str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    match found {
        Some(program) => Finding::new(name, State::Ok, format!("{} ({what})", program.display())),
        None => Finding::new(name, State::Warning, format!("not installed ({without})")),
    }
}
