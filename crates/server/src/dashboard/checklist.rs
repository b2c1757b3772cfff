//! What a new account does first, with what of it is done. It is there until all is, until it is hidden, or for a month.

use std::time::Duration;

use axum::http::HeaderMap;
use engine::{
    Fault,
    access::Operating,
    seams::catalog::{BoxRecord, BoxTotals},
};
use jiff::Timestamp;

use super::{
    cookies::{cookie, put_cookie},
    page::{self, Shown},
    permit::SignedIn,
};
use crate::{app::App, manage::keys, payer, sessions::ago};

/// Says that this browser's user has hidden the list.
const HIDDEN: &str = "__Host-quire-started";
/// How long a browser keeps that: longer than the list would be shown.
const KEPT: Duration = Duration::from_secs(60 * 24 * 60 * 60);
/// How long an account is new.
const NEW: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Something to do.
pub(super) struct Step {
    /// The text of what.
    pub(super) what: &'static str,
    /// The text that says what it is good for.
    pub(super) why: &'static str,
    pub(super) link: String,
    pub(super) done: bool,
}

/// The list, where there is something on it to do.
pub(super) async fn of(
    app: &App,
    who: &SignedIn,
    headers: &HeaderMap,
    boxes: &[(BoxRecord, BoxTotals)],
) -> Result<Vec<Step>, Fault> {
    let now = Timestamp::now();
    if cookie(headers, HIDDEN).is_some() || who.user().created_at < ago(now, NEW) {
        return Ok(Vec::new());
    }
    let first = boxes.first().map(|(record, _)| format!("/boxes/{}", record.id));
    let in_first =
        |page: &str| first.as_ref().map_or_else(|| "#new-box".into(), |first| format!("{first}{page}"));
    let asked = payer::balance(app, who.user().id).await?.used > 0;
    let has_key = !keys::list(app, &who.person().may_act()).await?.is_empty();
    let step = |what, why, link: String, done| Step { what, why, link, done };
    let mut steps = vec![
        step("boxes-step-box", "boxes-step-box-why", "#new-box".into(), first.is_some()),
        step(
            "boxes-step-files",
            "boxes-step-files-why",
            in_first(""),
            boxes.iter().any(|(_, has)| has.files > 0),
        ),
        step("boxes-step-ask", "boxes-step-ask-why", in_first("/chat"), asked),
        step("boxes-step-connect", "boxes-step-connect-why", "/account/integrations".into(), has_key),
    ];
    if let Ok(operating) = who.person().may_operate() {
        steps.extend(of_operator(app, &operating, now).await?);
    }
    let open = steps.iter().any(|step| !step.done);
    Ok(if open { steps } else { Vec::new() })
}

/// What only operators do.
async fn of_operator(app: &App, operating: &Operating, now: Timestamp) -> Result<[Step; 2], Fault> {
    let others = app.catalog.users().await?.len() > 1;
    let invited = others || !app.catalog.links_to_server(operating, now).await?.is_empty();
    let (users, model) = ("/operator/users".into(), "/operator/model".into());
    Ok([
        Step { what: "boxes-step-invite", why: "boxes-step-invite-why", link: users, done: invited },
        Step {
            what: "boxes-step-model",
            why: "boxes-step-model-why",
            link: model,
            done: !app.chat().quotes() || !app.answers.can_be_chosen(),
        },
    ])
}

/// Hides it in this browser.
pub(super) async fn hide(_: SignedIn) -> Shown {
    let mut response = page::go("/");
    put_cookie(response.headers_mut(), HIDDEN, "yes", Some(KEPT));
    Ok(response)
}
