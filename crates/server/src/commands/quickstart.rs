//! `quire quickstart`: from nothing to a working curl line.

use engine::{
    Fault,
    access::Writing,
    apikey::ApiKey,
    ids::UserId,
    seams::catalog::{BoxRecord, Catalog, Email, NewFile, NewKey, NewUser},
};
use stores::blobs::Staged;

use super::{
    Global, local,
    serve::{self, Announcement, Listen},
};
use crate::{
    assemble,
    http::{BASE, tls},
    library::Library,
};

const EMAIL: &str = "you@localhost";
const BOX: &str = "Sample";

pub(super) async fn run(global: &Global, listen: Listen) -> Result<(), Fault> {
    let (listener, config) = serve::prepare(global, listen).await?;
    let address = listener.local_addr().map_err(|error| local(error.into()))?;
    let library = assemble::open_library(&global.data, &config).await.map_err(local)?;
    let catalog = &library.catalog;
    let user = account(&**catalog).await?;
    let sample = sample_box(&library, user).await?;
    let key = ApiKey::generate();
    let shown = key.reveal();
    let name = "quickstart".parse().expect("a valid name");
    catalog.add_key(NewKey { key, user, name, expires_at: None, boxes: None }).await?;
    drop(library);
    let data = std::path::absolute(&global.data).unwrap_or_else(|_| global.data.clone());
    let authority = config.http.certificate.clone().unwrap_or_else(|| tls::certificate_path(&data));
    let url = serve::url(address, config.http.tls);
    let announce = |dashboard: &str| {
        format!(
        "
quire {version} is ready.

  Address    {url}
  Account    {EMAIL}
  Box        {BOX} ({box_id})
  API key    {shown}   (shown this once)

{dashboard}

Try the API:

  curl --cacert '{authority}' -H 'Authorization: Bearer {shown}' {url}{BASE}/check

Search the sample document:

  curl --cacert '{authority}' -H 'Authorization: Bearer {shown}' -H 'Content-Type: application/json' -d '{{\"query\":\"How do I delete a file?\"}}' {url}{BASE}/boxes/{box_id}/retrieve-documents

Then add documents of your own:

  QUIRE_URL={url} QUIRE_CA='{authority}' QUIRE_API_KEY={shown} {program} add {BOX} PATH

Everything is kept in {data}. Ctrl-C stops the server.
",
        version = env!("CARGO_PKG_VERSION"),
        program = std::env::current_exe().map_or("quire".into(), |path| path.display().to_string()),
        box_id = sample.id,
        authority = authority.display(),
        data = data.display(),
    )
    };
    let announcement = Announcement { url: &url, account: Some(user), text: &announce };
    serve::serve(&global.data, config, listener, announcement).await
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

/// The sample box; a new one holds a sample document.
async fn sample_box(library: &Library, owner: UserId) -> Result<BoxRecord, Fault> {
    if let Some(record) =
        library.catalog.boxes().await?.into_iter().find(|record| record.name.as_str() == BOX)
    {
        return Ok(record);
    }
    let record = library.catalog.add_box(BOX.parse().expect("a valid name"), owner).await?;
    let mut incoming = library.blobs.receive()?;
    incoming.write(include_bytes!("sample.md"))?;
    let describe = |staged: &Staged| NewFile {
        name: "welcome.md".parse().expect("a valid name"),
        external_id: None,
        sha256: staged.sha256.clone(),
        size: staged.size,
        media_type: "text/markdown".into(),
        tags: None,
        metadata: None,
    };
    library.add(&Writing::for_operator(record.id), incoming.finish()?, describe).await?;
    Ok(record)
}
