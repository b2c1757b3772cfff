//! `quire quickstart`: from nothing to a working curl line.

use engine::{
    Fault,
    access::Writing,
    apikey::ApiKey,
    ids::UserId,
    permissions::Permissions,
    seams::catalog::{Catalog, Email, NewKey, NewUser},
};
use jiff::{Timestamp, ToSpan};

use super::{
    Global, local, output,
    sample::{self, BOX},
    serve::{self, Announcement, Listen},
};
use crate::{
    assemble,
    http::{BASE, tls},
};

const EMAIL: &str = "you@localhost";
/// The name of the key that quickstart creates, by which the next one finds and replaces it.
const KEY: &str = "quickstart";
/// How long that key works: long enough to try quire, short enough that a forgotten one does no harm.
const KEY_DAYS: i64 = 30;

pub(super) async fn run(global: &Global, listen: Listen) -> Result<(), Fault> {
    let (listener, config) = serve::prepare(global, listen).await?;
    let address = listener.local_addr().map_err(|error| local(error.into()))?;
    let data = global.created(&config)?;
    let data = std::path::absolute(&data).unwrap_or(data);
    let working = output::working(global.json, output::plain("command-preparing"));
    let library = assemble::open_library(&data, &config).await.map_err(local)?;
    let user = account(&*library.catalog).await?;
    let (sample, new) = sample::sample_box(&library, user).await?;
    let (shown, expires) = replaced_key(&*library.catalog, user).await?;
    drop((library, working));
    let authority = config.http.certificate.clone().unwrap_or_else(|| tls::certificate_path(&data));
    let url = serve::url(address, config.http.tls);
    let (base, id) = (format!("{url}{BASE}"), sample.id.to_string());
    let program = std::env::current_exe().map_or("quire".into(), |path| path.display().to_string());
    let (authority, data_shown) = (authority.display().to_string(), data.display().to_string());
    let curl = format!("curl --cacert '{authority}' -H 'Authorization: Bearer {shown}'");
    let search = format!(
        "{curl} -H 'Content-Type: application/json' -d '{{\"query\":\"How do I delete a file?\"}}' {base}/boxes/{id}/retrieve-documents"
    );
    let ready = output::text("command-ready")
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("url", &url)
        .with("account", EMAIL)
        .with("box", BOX)
        .with("id", &id)
        .with("key", &shown)
        .with("expires", output::moment(Some(expires)))
        .with("check", format!("{curl} {base}/check"))
        .with("search", &search)
        .with("export", format!("export QUIRE_URL={url} QUIRE_CA='{authority}' QUIRE_API_KEY={shown}"))
        .with("ask", format!("{program} ask {BOX} 'How do I delete a file?'"))
        .with("add", format!("{program} add {BOX} PATH"))
        .with("data", &data_shown);
    let announce = |dashboard: &str| format!("\n{}\n", ready.clone().with("dashboard", dashboard).plain());
    let reading = new.then(|| *Writing::for_operator(sample.id).reading());
    let announcement = Announcement { url: &url, account: Some(user), reading, text: &announce };
    Box::pin(serve::serve(&data, config, listener, announcement)).await
}

/// The quickstart account, created where there is none.
async fn account(catalog: &dyn Catalog) -> Result<UserId, Fault> {
    let email: Email = EMAIL.parse().expect("a valid address");
    match catalog.users().await?.into_iter().find(|user| user.email == email) {
        Some(user) => Ok(user.id),
        None => {
            let user = NewUser { email, password_hash: None, plan: Default::default() };
            Ok(catalog.add_user(user).await?.id)
        }
    }
}

/// A new key in place of the one that the last quickstart created: its secret was not stored, so it cannot be shown again.
async fn replaced_key(catalog: &dyn Catalog, user: UserId) -> Result<(String, Timestamp), Fault> {
    let earlier = catalog.keys(Some(user)).await?;
    for key in earlier.iter().filter(|key| key.name.as_str() == KEY && key.revoked_at.is_none()) {
        catalog.revoke_key(&key.prefix).await?;
    }
    let (key, name) = (ApiKey::generate(), KEY.parse().expect("a valid name"));
    let shown = key.reveal();
    let expires = Timestamp::now().saturating_add((KEY_DAYS * 24).hours()).map_err(Fault::internal)?;
    let (permissions, expires_at) = (Permissions::USUAL, Some(expires));
    let origins = Default::default();
    catalog.add_key(NewKey { key, user, name, expires_at, permissions, boxes: None, origins }).await?;
    Ok((shown, expires))
}
