//! What somebody should know without looking for it: files that could not be read, units that run out, keys that stop working.
//!
//! A notice follows from how things are and goes away with its cause, so nothing of it is stored. Which of them a person has seen, their
//! browser remembers by their ids.

use std::time::Duration;

use askama::Template;
use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    Fault,
    access::Reading,
    seams::catalog::{BoxRecord, BoxTotals, KeyRecord},
};
use jiff::Timestamp;
use serde_json::json;

use super::{
    boxes,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
    show::Moment,
};
use crate::{
    app::App,
    http::error::Failure,
    manage::keys,
    payer,
    words::{Text, Words},
};

/// How long before its end a key is told of, and how long after.
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Hundredths of the month's units from which on their end is told of.
const MUCH: u64 = 80;

/// Something to know.
struct Notice {
    /// Names what is said: the same as long as nothing new happens.
    id: String,
    /// How bad it is, as chips show it.
    state: &'static str,
    text: Text,
    /// Where something can be done about it.
    link: String,
    /// What is done there.
    action: &'static str,
}

#[derive(Template)]
#[template(path = "notices.html")]
struct NoticesPage {
    frame: Frame,
    notices: Vec<Notice>,
}

/// All that somebody should know, the most urgent first.
async fn of(app: &App, who: &SignedIn) -> Result<Vec<Notice>, Fault> {
    let (words, now) = (who.0.words, Timestamp::now());
    let mut notices = units(app, who).await?;
    for key in keys::list(app, &who.person().may_act()).await? {
        notices.extend(about_key(words, &key, now));
    }
    notices.extend(failed_files(app, who).await?);
    Ok(notices)
}

/// Files that could not be read, in boxes where the visitor can do something about it.
async fn failed_files(app: &App, who: &SignedIn) -> Result<Vec<Notice>, Fault> {
    let writes = |reading: &Reading| who.person().may_write(reading.box_id()).is_ok();
    let readings: Vec<Reading> = who.person().readable().into_iter().filter(writes).collect();
    let boxes = boxes::with_totals(app, who, &readings).await?;
    let failed = boxes.into_iter().filter(|(_, totals)| totals.failed > 0);
    let notice = |(record, totals): (BoxRecord, BoxTotals)| Notice {
        id: format!("failed {} {}", record.id, totals.failed),
        state: "failed",
        text: who
            .0
            .words
            .text("account-notice-failed")
            .with("count", totals.failed)
            .with("box", record.name.as_str()),
        link: format!("/boxes/{}?status=failed", record.id),
        action: "account-notice-show-files",
    };
    Ok(failed.map(notice).collect())
}

/// That few units are left, or none.
async fn units(app: &App, who: &SignedIn) -> Result<Vec<Notice>, Fault> {
    let balance = payer::balance(app, who.user().id).await?;
    let (left, total) = (balance.remaining(), balance.monthly);
    if total == 0 || balance.used.saturating_mul(100) < total.saturating_mul(MUCH) {
        return Ok(Vec::new());
    }
    let key = if left == 0 { "account-notice-no-units" } else { "account-notice-few-units" };
    let resets = Moment::of(balance.resets_at());
    Ok(vec![Notice {
        id: format!("{key} {}", resets.iso),
        state: if left == 0 { "failed" } else { "queued" },
        text: who.0.words.text(key).with("left", left).with("iso", resets.iso).with("when", resets.text),
        link: "/account/usage".into(),
        action: "account-notice-show-usage",
    }])
}

/// That a key stops working soon, has just stopped, or was sent where others could read it. Programs that people let in renew theirs.
fn about_key(words: Words, key: &KeyRecord, now: Timestamp) -> Option<Notice> {
    if key.revoked_at.is_some() || key.client.is_some() {
        return None;
    }
    let near = |end: &Timestamp| now.duration_until(*end).unsigned_abs() <= SOON;
    let (text, state, at) = match (&key.exposed, key.expires_at.filter(near)) {
        (Some((at, _)), _) => ("account-notice-key-exposed", "failed", *at),
        (None, Some(end)) if end <= now => ("account-notice-key-expired", "failed", end),
        (None, Some(end)) => ("account-notice-key-expires", "queued", end),
        (None, None) => return None,
    };
    let when = Moment::of(at);
    Some(Notice {
        id: format!("{text} {}", key.prefix),
        state,
        text: words.text(text).with("name", key.name.as_str()).with("iso", when.iso).with("when", when.text),
        link: "/account/keys".into(),
        action: "account-notice-show-keys",
    })
}

/// The page.
pub(super) async fn show(State(app): State<App>, who: SignedIn) -> Shown {
    let notices = of(&app, &who).await?;
    let frame = Frame::new(&app, &who.0, who.0.words.text("account-notices"), Place::Notices);
    page::show(&NoticesPage { frame, notices })
}

/// The ids of all, for the bell of every page.
pub(super) async fn ids(State(app): State<App>, who: SignedIn) -> Result<Response, Failure> {
    let notices = of(&app, &who).await?;
    let ids: Vec<&str> = notices.iter().map(|notice| &notice.id[..]).collect();
    Ok(Json(json!({"ids": ids})).into_response())
}
