//! API keys: making, listing and revoking them.

use engine::{
    Fault, Reason,
    access::Acting,
    apikey::ApiKey,
    ids::BoxId,
    origins::Origins,
    permissions::Permissions,
    seams::catalog::{Action, Catalog, KeyName, KeyRecord, NewKey},
};
use jiff::Timestamp;

use super::By;
use crate::app::App;

/// A key as it is asked for.
pub(crate) struct WantedKey {
    pub(crate) name: KeyName,
    /// The only boxes it is valid for; all that whoever makes it can use if left out.
    pub(crate) boxes: Option<Vec<BoxId>>,
    /// All but `manage` if left out; only `search` for web pages.
    pub(crate) permissions: Option<Permissions>,
    /// Never if left out.
    pub(crate) expires_at: Option<Timestamp>,
    /// The only web sites whose pages may use it; none for programs.
    pub(crate) origins: Origins,
}

/// Makes a key; its text is given out this once.
pub(crate) async fn add(by: &By, acting: &Acting, wanted: WantedKey) -> Result<(String, KeyRecord), Fault> {
    let (shown, record) = make(&*by.app.catalog, acting, wanted).await?;
    by.note(Action::KeyMade, None, named(&record)).await?;
    Ok((shown, record))
}

/// The same without a line in the audit log, which is of those who use the server, not of its operator's commands.
pub(crate) async fn make(
    catalog: &dyn Catalog,
    acting: &Acting,
    wanted: WantedKey,
) -> Result<(String, KeyRecord), Fault> {
    if wanted.expires_at.is_some_and(|end| end <= Timestamp::now()) {
        return Err(Fault::invalid("expiresAt", "`expiresAt` must be in the future"));
    }
    if wanted.boxes.as_ref().is_some_and(Vec::is_empty) {
        return Err(Fault::invalid("boxes", "choose at least one box, or all boxes"));
    }
    let for_pages = !wanted.origins.is_empty();
    let permissions = wanted.permissions.or(for_pages.then_some(Permissions::SEARCH));
    let (permissions, boxes) = (acting.permissions(permissions)?, acting.boxes(wanted.boxes)?);
    if for_pages {
        check_for_pages(permissions, boxes.is_some())?;
    }
    let key = ApiKey::generate();
    let shown = key.reveal();
    let new = NewKey {
        key,
        user: acting.user(),
        name: wanted.name,
        expires_at: acting.until(wanted.expires_at)?,
        permissions,
        boxes,
        origins: wanted.origins,
    };
    Ok((shown, catalog.add_key(new).await?))
}

/// Every visitor of a page can take the key out of it, so it must be of no use for anything but what the page is for.
fn check_for_pages(permissions: Permissions, names_boxes: bool) -> Result<(), Fault> {
    if permissions != Permissions::SEARCH {
        let cause = "a key that names origins can only have the permission `search`: visitors of the pages can see it";
        return Err(Fault::invalid("permissions", cause));
    }
    if !names_boxes {
        return Err(Fault::missing("boxes", "a key that names origins is for certain boxes"));
    }
    Ok(())
}

/// The keys of whoever acts that reach no further than they do, latest first.
pub(crate) async fn list(app: &App, acting: &Acting) -> Result<Vec<KeyRecord>, Fault> {
    // What was used within the last seconds shall show.
    app.identities.write_down_uses(&*app.catalog).await?;
    let mut keys = app.catalog.keys(Some(acting.user())).await?;
    keys.retain(|key| acting.reaches(key.boxes.as_deref()));
    keys.reverse();
    Ok(keys)
}

/// Revokes a key of whoever acts, from the next request on.
pub(crate) async fn revoke(by: &By, acting: &Acting, prefix: &str) -> Result<KeyRecord, Fault> {
    let own = by.app.catalog.keys(Some(acting.user())).await?;
    let known = own.into_iter().find(|key| key.prefix == prefix && acting.reaches(key.boxes.as_deref()));
    let key = known
        .ok_or_else(|| Fault::new(Reason::NotFound, "you have no key with this prefix").param("prefix"))?;
    by.app.catalog.revoke_key(prefix).await?;
    let action = if key.client.is_some() { Action::ProgramRevoked } else { Action::KeyRevoked };
    by.note(action, None, named(&key)).await?;
    Ok(key)
}

fn named(key: &KeyRecord) -> String {
    let from = if key.origins.is_empty() { String::new() } else { format!(", from {}", key.origins) };
    format!("{} ({}): {}{from}", key.name.as_str(), key.prefix, key.permissions)
}
