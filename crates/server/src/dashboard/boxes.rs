//! The boxes that somebody is a member of, and creating one.

use askama::Template;
use axum::{extract::State, http::HeaderMap};
use engine::{
    Fault,
    access::{Reading, Role},
    ids::BoxId,
    seams::catalog::{BoxLanguage, BoxName, BoxRecord, BoxTotals},
};

use super::{
    checklist::{self, Step},
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
    show,
};
use crate::{app::App, manage::boxes};

/// A box as the list shows it.
struct Card {
    id: BoxId,
    name: String,
    role: Role,
    files: String,
    pages: String,
    size: String,
    members: String,
    under_way: u64,
    failed: u64,
}

#[derive(Template)]
#[template(path = "boxes.html")]
struct BoxesPage {
    frame: Frame,
    boxes: Vec<Card>,
    /// What there is to do first.
    steps: Vec<Step>,
    done: usize,
}

/// The boxes that these rights are to, with what is in each.
pub(super) async fn with_totals(
    app: &App,
    who: &SignedIn,
    readings: &[Reading],
) -> Result<Vec<(BoxRecord, BoxTotals)>, Fault> {
    let records = app.catalog.boxes_of(readings).await?;
    let readings: Vec<_> =
        records.iter().map(|record| who.person().may_read(record.id)).collect::<Result<_, _>>()?;
    let totals = app.catalog.totals(&readings).await?;
    Ok(records.into_iter().zip(totals).collect())
}

/// All boxes that one may read.
pub(super) async fn list(State(app): State<App>, who: SignedIn, headers: HeaderMap) -> Shown {
    let words = who.0.words;
    let boxes = with_totals(&app, &who, &who.person().readable()).await?;
    let steps = checklist::of(&app, &who, &headers, &boxes).await?;
    let boxes = boxes.into_iter().map(|(record, totals)| Card {
        id: record.id,
        name: record.name.as_str().to_string(),
        role: who.person().role(record.id).unwrap_or(Role::Viewer),
        files: words.count("frame-count-files", totals.files),
        pages: words.count("frame-count-pages", totals.pages),
        size: show::size(words, totals.bytes),
        members: words.count("frame-count-members", totals.members),
        under_way: totals.under_way,
        failed: totals.failed,
    });
    page::show(&BoxesPage {
        frame: Frame::new(&app, &who.0, words.text("frame-boxes"), Place::Boxes),
        boxes: boxes.collect(),
        done: steps.iter().filter(|step| step.done).count(),
        steps,
    })
}

/// Creates a box and goes there.
pub(super) async fn add(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let name: BoxName = fields.parse("name")?;
    let record = boxes::add(&who.0.by(&app), &who.person().may_act(), name, BoxLanguage::Auto).await?;
    Ok(page::go(format!("/boxes/{}", record.id)))
}
