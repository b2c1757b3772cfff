//! `quire quickstart`: from nothing to a working curl line.

use engine::{
    Fault,
    apikey::ApiKey,
    ids::UserId,
    seams::catalog::{BoxRecord, Catalog, Email, NewKey, NewUser},
};

use super::{
    Global, local,
    serve::{self, Listen},
};
use crate::http::{BASE, tls};

const EMAIL: &str = "you@localhost";
const BOX: &str = "Sample";

pub(super) async fn run(global: &Global, listen: Listen) -> Result<(), Fault> {
    let (listener, config) = serve::prepare(global, listen).await?;
    let address = listener.local_addr().map_err(|error| local(error.into()))?;
    let catalog = global.catalog()?;
    let user = account(&*catalog).await?;
    let sample = sample_box(&*catalog, user).await?;
    let key = ApiKey::generate();
    let shown = key.reveal();
    let name = "quickstart".parse().expect("a valid name");
    catalog.add_key(NewKey { key, user, name, expires_at: None, boxes: None }).await?;
    drop(catalog);
    let data = std::path::absolute(&global.data).unwrap_or_else(|_| global.data.clone());
    let authority = config.http.certificate.clone().unwrap_or_else(|| tls::certificate_path(&data));
    let url = serve::url(address, config.http.tls);
    let announcement = format!(
        "
quire {version} is ready.

  Address    {url}
  Account    {EMAIL}
  Box        {BOX} ({box_id})
  API key    {shown}   (shown this once)

Try it:

  curl --cacert '{authority}' -H 'Authorization: Bearer {shown}' {url}{BASE}/check

Everything is kept in {data}. Ctrl-C stops the server.
",
        version = env!("CARGO_PKG_VERSION"),
        box_id = sample.id,
        authority = authority.display(),
        data = data.display(),
    );
    serve::serve(&global.data, config, listener, &announcement).await
}

/// The quickstart account, made where there is none.
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

async fn sample_box(catalog: &dyn Catalog, owner: UserId) -> Result<BoxRecord, Fault> {
    match catalog.boxes().await?.into_iter().find(|record| record.name.as_str() == BOX) {
        Some(record) => Ok(record),
        None => catalog.add_box(BOX.parse().expect("a valid name"), owner).await,
    }
}
