//! Account → API keys: make one, see how they are used, revoke one.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use engine::{
    Fault,
    access::Role,
    ids::BoxId,
    origins::Origins,
    permissions::{Permission, Permissions},
    seams::catalog::{BoxRecord, KeyRecord},
};
use jiff::Timestamp;

use super::{
    certificate,
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
    said::Said,
    show::Moment,
};
use crate::{
    app::App,
    http::{BASE, origin::Origin},
    manage::keys::{self, WantedKey},
    words::Words,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A key as the list shows it.
struct KeyRow {
    prefix: String,
    name: String,
    permissions: String,
    /// The only web sites whose pages may use it, if it is not for programs.
    origins: Option<String>,
    boxes: String,
    created: Moment,
    expires: Option<Moment>,
    used: Option<Moment>,
    /// active, expired or revoked
    state: &'static str,
    /// The text for that.
    state_words: &'static str,
    exposed: Option<String>,
    /// The program that holds it: where it comes from.
    client: Option<String>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    keys: Vec<KeyRow>,
    /// What programs hold that the visitor let in.
    programs: Vec<KeyRow>,
    /// What a key may be used for, and the text that says so.
    permissions: Vec<(Permission, &'static str)>,
    boxes: Vec<(BoxId, String, Role)>,
    /// The key that was just created; shown only once.
    fresh: Option<String>,
    address: String,
    /// Whether programs must be told to trust this server's own certificate.
    certificate: bool,
}

/// The text that says what a permission is for.
pub(super) fn what_may(permission: Permission) -> &'static str {
    match permission {
        Permission::Search => "account-may-search",
        Permission::Read => "account-may-read",
        Permission::Write => "account-may-write",
        Permission::Manage => "account-may-manage",
    }
}

fn row(words: Words, key: KeyRecord, boxes: &[BoxRecord], now: Timestamp) -> KeyRow {
    let name_of = |id: &BoxId| {
        let found = boxes.iter().find(|record| record.id == *id);
        found.map_or_else(|| id.to_string(), |record| record.name.as_str().to_string())
    };
    let scope = match &key.boxes {
        None => words.plain("account-all-your-boxes"),
        Some(ids) if ids.is_empty() => words.plain("account-no-boxes-left"),
        Some(ids) => ids.iter().map(name_of).collect::<Vec<_>>().join(", "),
    };
    let (state, state_words) = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => ("revoked", "account-state-revoked"),
        (None, Some(end)) if end <= now => ("expired", "account-state-expired"),
        _ => ("active", "account-state-active"),
    };
    let exposed = key.exposed.map(|(at, how)| {
        let how = if how == "url" { "account-exposed-url" } else { "account-exposed-http" };
        words.text(how).with("when", Moment::of(at).text).plain()
    });
    KeyRow {
        prefix: key.prefix,
        name: key.name.as_str().to_string(),
        permissions: key.permissions.iter().map(Permission::as_str).collect::<Vec<_>>().join(", "),
        origins: Some(key.origins.to_string()).filter(|origins| !origins.is_empty()),
        boxes: scope,
        created: Moment::of(key.created_at),
        expires: key.expires_at.map(Moment::of),
        used: key.last_used_at.map(Moment::of),
        state,
        state_words,
        exposed,
        client: key.client,
    }
}

/// All keys of the visitor.
pub(super) async fn list(State(app): State<App>, who: SignedIn, origin: Origin) -> Shown {
    let (app, words) = (&app, who.0.words);
    let records = app.catalog.boxes_of(&who.person().readable()).await?;
    let now = Timestamp::now();
    let keys = keys::list(app, &who.person().may_act()).await?;
    let (programs, keys) =
        keys.into_iter().map(|key| row(words, key, &records, now)).partition(|row| row.client.is_some());
    let boxes = records.into_iter().map(|record| {
        let role = who.person().role(record.id).unwrap_or(Role::Viewer);
        (record.id, record.name.as_str().to_string(), role)
    });
    let fresh = match who.0.brought.take(|said| matches!(said, Said::Key(_))) {
        Some(Said::Key(key)) => Some(key),
        _ => None,
    };
    let secret = fresh.is_some();
    let shown = page::show(&KeysPage {
        frame: Frame::new(app, &who.0, words.text("frame-keys"), Place::Keys),
        keys,
        programs,
        permissions: Permission::ALL.map(|permission| (permission, what_may(permission))).into(),
        boxes: boxes.collect(),
        fresh,
        address: format!("{origin}{BASE}"),
        certificate: certificate::of(app),
    })?;
    Ok(if secret { page::with_secret(shown) } else { shown })
}

/// Creates a key; the next page shows it, once.
pub(super) async fn add(State(app): State<App>, who: SignedIn, fields: Fields) -> Shown {
    let days: Option<u32> = fields.optional("days")?;
    let boxes: Vec<BoxId> = fields.all("box").filter_map(|id| id.parse().ok()).collect();
    let permissions: Result<Vec<Permission>, String> = fields.all("permission").map(str::parse).collect();
    let permissions =
        permissions.and_then(Permissions::of).map_err(|wrong| Fault::invalid("permission", wrong))?;
    let some = fields.text("scope") == "some";
    if !some && !boxes.is_empty() {
        return Err(Fault::invalid("scope", "choose either all boxes or only those that are ticked").into());
    }
    let origins: Origins = fields.parse("origins")?;
    if !origins.is_empty() && !some {
        return Err(Fault::invalid("scope", "a key for web pages works in certain boxes: tick them").into());
    }
    if !origins.is_empty() && permissions != Permissions::SEARCH {
        let cause = "a key for web pages can only search: leave nothing else ticked";
        return Err(Fault::invalid("permission", cause).into());
    }
    let wanted = WantedKey {
        name: fields.parse("name")?,
        boxes: some.then_some(boxes),
        permissions: Some(permissions),
        expires_at: days.map(|days| Timestamp::now().saturating_add(DAY * days).unwrap_or(Timestamp::MAX)),
        origins,
    };
    let (shown, _) = keys::add(&who.0.by(&app), &who.person().may_act(), wanted).await?;
    Ok(who.0.say(&Said::Key(shown), page::go("/account/keys")))
}

/// Revokes a key of the visitor.
pub(super) async fn revoke(State(app): State<App>, who: SignedIn, Path(prefix): Path<String>) -> Shown {
    let key = keys::revoke(&who.0.by(&app), &who.person().may_act(), &prefix).await?;
    let done = if key.client.is_some() { "program-revoked" } else { "key-revoked" };
    Ok(page::go(format!("/account/keys?done={done}")))
}
