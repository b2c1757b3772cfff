//! The page on which a person decides whether a program may use their boxes.

use std::time::Duration;

use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use engine::{
    Fault, Reason,
    access::{Person, Role},
    seams::catalog::{Action, NewCode},
};
use jiff::Timestamp;

use super::{
    fields::Fields,
    keys::what_may,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
};
use crate::{
    app::App,
    http::{
        oauth::asking::{self, Asked, FIELDS, Unasked},
        origin::Origin,
    },
    sessions::{self, new_token},
    words::Words,
};

/// How long a program may take to fetch its tokens once a person has allowed it.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage {
    frame: Frame,
    name: String,
    /// The address of the document about the program, where its id is one.
    document: Option<String>,
    redirect_uri: String,
    /// The site that the person is sent back to, or their own machine.
    back_to: String,
    /// The texts of what it may do.
    may: Vec<&'static str>,
    boxes: Vec<String>,
    /// Whether that is all boxes, also future ones.
    all: bool,
    /// The request, to be sent again with the decision.
    fields: Vec<(&'static str, String)>,
}

/// Asks.
pub(super) async fn show(
    State(app): State<App>,
    who: SignedIn,
    origin: Origin,
    Query(sent): Query<Vec<(String, String)>>,
) -> Shown {
    let asked = match asking::read(&app, &sent, &origin.to_string()).await {
        Ok(asked) => asked,
        Err(Unasked::Told(fault)) => return Err(fault.into()),
        Err(Unasked::Sent(address)) => return Ok(page::go(address)),
    };
    let words = who.0.words;
    let boxes = usable(&app, who.person(), &asked).await?;
    let field = |name: &&'static str| {
        let value = sent.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
        value.map(|value| (*name, value))
    };
    let shown = page::show(&ConsentPage {
        frame: Frame::new(
            &app,
            &who.0,
            words.text("account-let-in").with("name", asked.program.name.as_str()),
            Place::Outside,
        ),
        document: Some(asked.program.id.clone()).filter(|id| id.starts_with("https://")),
        back_to: place_of(words, &asked.redirect_uri),
        redirect_uri: asked.redirect_uri.clone(),
        may: asked.permissions.iter().map(what_may).collect(),
        boxes,
        all: asked.audience.only.is_none(),
        name: asked.program.name.as_str().to_string(),
        fields: FIELDS.iter().filter_map(field).collect(),
    })?;
    Ok(shown)
}

/// The names of the boxes that the program would reach: where the person may use the API. None at all is a refusal.
async fn usable(app: &App, person: &Person, asked: &Asked) -> Result<Vec<String>, Fault> {
    if let Some(only) = asked.audience.only {
        person.may_manage(only)?;
    }
    let mut readable = person.readable();
    readable.retain(|reading| {
        let box_id = reading.box_id();
        person.role(box_id) >= Some(Role::Admin) && asked.audience.only.is_none_or(|only| only == box_id)
    });
    if readable.is_empty() {
        let cause = "programs can use boxes of which you are an admin or owner, and you have none yet";
        return Err(
            Fault::new(Reason::RoleInsufficient, cause).hint("ask an owner of a box to make you an admin")
        );
    }
    let boxes = app.catalog.boxes_of(&readable).await?;
    Ok(boxes.into_iter().map(|record| record.name.as_str().to_string()).collect())
}

/// Where an address leads, in a few words.
fn place_of(words: Words, redirect_uri: &str) -> String {
    let (scheme, rest) = redirect_uri.split_once(':').unwrap_or(("", redirect_uri));
    let host = rest.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
    match scheme.to_ascii_lowercase().as_str() {
        "https" => host.to_string(),
        "http" => words.plain("account-own-program"),
        other => words.text("account-own-app").with("name", other).plain(),
    }
}

/// Takes the decision and sends the person back to the program.
pub(super) async fn decide(State(app): State<App>, who: SignedIn, origin: Origin, fields: Fields) -> Shown {
    let sent: Vec<(String, String)> = FIELDS
        .iter()
        .flat_map(|name| fields.all(name).map(|value| (name.to_string(), value.to_string())))
        .collect();
    let asked = match asking::read(&app, &sent, &origin.to_string()).await {
        Ok(asked) => asked,
        Err(Unasked::Told(fault)) => return Err(fault.into()),
        Err(Unasked::Sent(address)) => return Ok(leave(&who, &address)),
    };
    if fields.text("decision") != "allow" {
        return Ok(leave(&who, &asked.denied()));
    }
    usable(&app, who.person(), &asked).await?;
    let (code, now) = (new_token(), Timestamp::now());
    let new = NewCode {
        code: sessions::hash(&code),
        user: who.user().id,
        client: asked.program.id.clone(),
        name: asked.program.name.clone(),
        redirect_uri: asked.redirect_uri.clone(),
        challenge: asked.challenge.clone(),
        audience: asked.audience.path.clone(),
        only: asked.audience.only,
        permissions: asked.permissions,
        now,
        expires_at: now.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX),
    };
    app.catalog.add_code(new).await?;
    let (name, permissions) = (asked.program.name.as_str(), asked.permissions);
    let target = format!("{name} ({}): {permissions}, back to {}", asked.program.id, asked.redirect_uri);
    who.0.by(&app).note(Action::ProgramLetIn, asked.audience.only, target).await?;
    Ok(leave(&who, &asked.allowed(&code)))
}

/// To the program, which is elsewhere.
fn leave(who: &SignedIn, address: &str) -> Response {
    let away = page::go(address);
    if who.0.script { away } else { page::after_form(away) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_where_they_are_sent() {
        for (uri, place) in [
            ("https://claude.ai/api/callback?x", "claude.ai"),
            ("http://127.0.0.1:5/cb", "a program on your own machine"),
            ("cursor://anysphere/cb", "an app on your own machine (cursor)"),
        ] {
            assert_eq!(place_of(Words::default(), uri), place);
        }
    }
}
