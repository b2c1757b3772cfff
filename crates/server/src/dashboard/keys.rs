//! Account → API keys: make one, see how they are used, revoke one.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use engine::{
    Fault, Reason,
    access::Role,
    apikey::ApiKey,
    ids::BoxId,
    seams::catalog::{Action, BoxRecord, KeyName, KeyRecord, NewKey},
};
use jiff::Timestamp;

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
    show::Moment,
};
use crate::{
    app::App,
    http::{BASE, origin::Origin},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A key as the list shows it.
struct KeyRow {
    prefix: String,
    name: String,
    boxes: String,
    created: Moment,
    expires: Option<Moment>,
    used: Option<Moment>,
    /// active, expired or revoked
    state: &'static str,
    exposed: Option<String>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    keys: Vec<KeyRow>,
    boxes: Vec<(BoxId, String, Role)>,
    /// The key that was just created; shown this once.
    fresh: Option<String>,
    address: String,
}

fn row(key: KeyRecord, boxes: &[BoxRecord], now: Timestamp) -> KeyRow {
    let name_of = |id: &BoxId| {
        let found = boxes.iter().find(|record| record.id == *id);
        found.map_or_else(|| id.to_string(), |record| record.name.as_str().to_string())
    };
    let scope = match &key.boxes {
        None => "All your boxes".to_string(),
        Some(ids) if ids.is_empty() => "No boxes left".to_string(),
        Some(ids) => ids.iter().map(name_of).collect::<Vec<_>>().join(", "),
    };
    let state = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now => "expired",
        _ => "active",
    };
    let exposed = key.exposed.map(|(at, how)| {
        let how = if how == "url" { "inside a URL" } else { "over plain HTTP" };
        format!(
            "Sent {how} on {}. Others may have seen it: revoke it and create a new one.",
            Moment::of(at).text
        )
    });
    KeyRow {
        prefix: key.prefix,
        name: key.name.as_str().to_string(),
        boxes: scope,
        created: Moment::of(key.created_at),
        expires: key.expires_at.map(Moment::of),
        used: key.last_used_at.map(Moment::of),
        state,
        exposed,
    }
}

async fn render(app: &App, who: &SignedIn, origin: &Origin, fresh: Option<String>) -> Shown {
    // So that keys used in the last seconds show it.
    app.identities.write_down_uses(&*app.catalog).await?;
    let records = app.catalog.boxes_of(&who.person().readable()).await?;
    let now = Timestamp::now();
    let mut keys: Vec<KeyRow> =
        app.catalog.keys(Some(who.user().id)).await?.into_iter().map(|key| row(key, &records, now)).collect();
    keys.reverse();
    let boxes = records.into_iter().map(|record| {
        let role = who.person().role(record.id).unwrap_or(Role::Viewer);
        (record.id, record.name.as_str().to_string(), role)
    });
    page::show(&KeysPage {
        frame: Frame::new(app, &who.0, "API keys", Place::Keys),
        keys,
        boxes: boxes.collect(),
        fresh,
        address: format!("{origin}{BASE}"),
    })
}

/// All keys of the visitor.
pub(super) async fn list(State(app): State<App>, who: SignedIn, origin: Origin) -> Shown {
    render(&app, &who, &origin, None).await
}

/// Creates a key and shows it, once.
pub(super) async fn add(State(app): State<App>, who: SignedIn, origin: Origin, fields: Fields) -> Shown {
    let name: KeyName = fields.parse("name")?;
    let days: Option<u32> = fields.optional("days")?;
    let boxes: Vec<BoxId> = fields.all("box").filter_map(|id| id.parse().ok()).collect();
    let boxes = (fields.text("scope") == "some").then_some(boxes);
    if boxes.as_ref().is_some_and(Vec::is_empty) {
        return Err(Fault::invalid("box", "choose at least one box, or all").into());
    }
    let expires_at = days.map(|days| Timestamp::now().saturating_add(DAY * days).unwrap_or(Timestamp::MAX));
    let key = ApiKey::generate();
    let (shown, target) = (key.reveal(), format!("{} ({})", name.as_str(), key.prefix()));
    app.catalog.add_key(NewKey { key, user: who.user().id, name, expires_at, boxes }).await?;
    audit::note(&app, &who.0, Action::KeyMade, None, target).await?;
    render(&app, &who, &origin, Some(shown)).await
}

/// Revokes a key of the visitor.
pub(super) async fn revoke(State(app): State<App>, who: SignedIn, Path(prefix): Path<String>) -> Shown {
    let own = app.catalog.keys(Some(who.user().id)).await?;
    let key = own.into_iter().find(|key| key.prefix == prefix);
    let key = key.ok_or_else(|| Fault::new(Reason::NotFound, "you have no such key"))?;
    app.catalog.revoke_key(&prefix).await?;
    let target = format!("{} ({prefix})", key.name.as_str());
    audit::note(&app, &who.0, Action::KeyRevoked, None, target).await?;
    Ok(page::go("/account/keys?done=key-revoked"))
}
