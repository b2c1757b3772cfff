//! Who is asking: from the `Authorization` header to a [`Caller`].

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{FromRequestParts, Path},
    http::{HeaderMap, Uri, header, request::Parts},
};
use engine::{
    Fault, Reason,
    access::{Acting, Caller, Managing, Owning, Reading, Writing, no_such_box},
    apikey::ApiKey,
    ids::{AttemptId, BoxId, FileId},
    permissions::Permission,
    seams::catalog::{Exposure, FileRecord, KeyState},
};
use jiff::Timestamp;
use subtle::ConstantTimeEq;

use super::error::Failure;
use crate::{
    app::{App, identities::Identity},
    payer::Payer,
};

/// The caller behind a request's key, or why there is none.
pub async fn authenticate(
    app: &App,
    headers: &HeaderMap,
    path: &str,
    now: Timestamp,
) -> Result<Arc<Caller>, Fault> {
    let key = bearer(headers)?;
    let (identity, until) = verified(app, &key).await?.ok_or_else(not_found)?;
    let caller = identity.usable(now)?;
    if until.is_some_and(|until| until <= now) {
        return Err(Fault::new(Reason::KeyExpired, "the access token has expired").hint("refresh it"));
    }
    // What a program was given for one address is worth nothing at another.
    if caller.audience.as_deref().is_some_and(|audience| audience != path) {
        return Err(Fault::new(Reason::KeyInvalid, "the access token was issued for another address")
            .hint("use it there, or use an API key here"));
    }
    app.identities.note_use(key.prefix(), now);
    Ok(caller)
}

/// The identity that a key or a token names and until when the token works, if its secret is a right one.
async fn verified(app: &App, key: &ApiKey) -> Result<Option<(Arc<Identity>, Option<Timestamp>)>, Fault> {
    let Some(identity) = app.identities.find(&*app.catalog, key.prefix()).await? else { return Ok(None) };
    let hash = key.secret_hash();
    let right = identity.stored.secrets.iter().find(|secret| secret.hash.ct_eq(&hash).into());
    let until = right.map(|secret| secret.until);
    Ok(until.map(|until| (identity, until)))
}

/// Whether this is an access token of a program, rather than a key.
pub(super) async fn is_token(app: &App, key: &ApiKey) -> Result<bool, Fault> {
    Ok(verified(app, key).await?.is_some_and(|(_, until)| until.is_some()))
}

fn bearer(headers: &HeaderMap) -> Result<ApiKey, Fault> {
    let missing = || {
        Fault::new(Reason::KeyMissing, "the request has no API key")
            .hint("send it as `Authorization: Bearer quire_…`")
    };
    let value = headers.get(header::AUTHORIZATION).ok_or_else(missing)?;
    let (scheme, token) = value.to_str().unwrap_or("").trim().split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(missing());
    }
    ApiKey::parse(token.trim()).ok_or_else(not_found)
}

fn not_found() -> Fault {
    Fault::new(Reason::KeyInvalid, "the key was not found")
        .hint("check it for typos, or create a new one in the dashboard")
}

/// Whether a URL holds what looks like a key.
pub fn holds_key(uri: &Uri) -> bool {
    key_in_url(uri).is_some()
}

fn key_in_url(uri: &Uri) -> Option<ApiKey> {
    ApiKey::find(uri.path_and_query().map_or("", |asked| asked.as_str()))
}

/// Marks the key that a URL holds, if it is a real one.
pub async fn expose_key_in_url(app: &App, uri: &Uri) -> Result<(), Fault> {
    match key_in_url(uri) {
        Some(key) => expose(app, &key, Exposure::Url).await,
        None => Ok(()),
    }
}

/// Marks the key that came over plain HTTP, if it is a real one. Nobody who sends keys this way is counted by a limiter, so
/// each counts as a wrong one.
pub async fn expose_plain_key(app: &App, from: IpAddr, headers: &HeaderMap, uri: &Uri) -> Result<(), Fault> {
    let (key, how) = match bearer(headers) {
        Ok(key) => (Some(key), Exposure::PlainHttp),
        Err(_) => (key_in_url(uri), Exposure::Url),
    };
    let Some(key) = key else { return Ok(()) };
    app.guard.wrong_key(from).await?;
    expose(app, &key, how).await
}

/// Only whoever knows the secret can expose a key: a prefix alone is public. A key is marked once; sending it again, or one
/// that was revoked, changes nothing and costs no write.
async fn expose(app: &App, key: &ApiKey, how: Exposure) -> Result<(), Fault> {
    let Some((identity, _)) = verified(app, key).await? else { return Ok(()) };
    let revoke = app.config.keys.revoke_exposed;
    let marked = identity.stored.exposed && !revoke;
    if marked || identity.stored.state == KeyState::Revoked {
        return Ok(());
    }
    if app.catalog.expose_key(key.prefix(), how, revoke).await? {
        let (prefix, how) = (key.prefix(), how.as_str());
        tracing::warn!(key.prefix = prefix, how, revoked = revoke, "An API key was exposed");
    }
    Ok(())
}

/// The caller, in a handler. [`super::layers::gate`] has put it there.
pub struct Asking(pub Arc<Caller>);

impl FromRequestParts<App> for Asking {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Failure> {
        let caller = parts.extensions.get::<Arc<Caller>>().cloned();
        caller
            .map(Asking)
            .ok_or_else(|| Failure(Fault::internal("a route outside the gate asked who is asking")))
    }
}

/// The caller, where their key may search. Comes before the body, so that nobody learns more than they may.
pub struct Searcher(pub Arc<Caller>);

impl FromRequestParts<App> for Searcher {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Search)?;
        Ok(Searcher(caller))
    }
}

/// The caller, where their key may read.
pub struct Reader(pub Arc<Caller>);

impl FromRequestParts<App> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Read)?;
        Ok(Reader(caller))
    }
}

/// The caller, where their key may write.
pub struct Writer(pub Arc<Caller>);

impl FromRequestParts<App> for Writer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Write)?;
        Ok(Writer(caller))
    }
}

/// The box in the path, where the key may be used on it for anything at all: what for is asked later.
pub struct ReachedBox(pub BoxId);

impl FromRequestParts<App> for ReachedBox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        let box_id = box_in_path(parts, app).await?;
        caller.reaches(box_id)?;
        Ok(ReachedBox(box_id))
    }
}

/// Whoever asks is who pays.
impl FromRequestParts<App> for Payer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        Ok(Payer::with_key(app, &caller, parts.extensions.get::<AttemptId>().copied()))
    }
}

/// The right to search the box in the path.
pub struct SearchingBox(pub Reading);

impl FromRequestParts<App> for SearchingBox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Search)?;
        Ok(SearchingBox(caller.may_search(box_in_path(parts, app).await?)?))
    }
}

/// The right to read the box in the path. Comes before the body, so that nobody learns more than they may.
pub struct ReadingBox(pub Reading);

impl FromRequestParts<App> for ReadingBox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Read)?;
        Ok(ReadingBox(caller.may_read(box_in_path(parts, app).await?)?))
    }
}

/// The right to change the box in the path.
pub struct WritingBox(pub Writing);

impl FromRequestParts<App> for WritingBox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Write)?;
        Ok(WritingBox(caller.may_write(box_in_path(parts, app).await?)?))
    }
}

/// The right to manage the box in the path.
pub struct ManagingBox(pub Managing);

impl FromRequestParts<App> for ManagingBox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Manage)?;
        Ok(ManagingBox(caller.may_manage(box_in_path(parts, app).await?)?))
    }
}

/// The right to delete the box in the path.
pub struct OwningBox(pub Owning);

impl FromRequestParts<App> for OwningBox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Manage)?;
        Ok(OwningBox(caller.may_own(box_in_path(parts, app).await?)?))
    }
}

/// The right to do something in the name of the account, such as making keys.
pub struct InOwnName(pub Acting);

impl FromRequestParts<App> for InOwnName {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        Ok(InOwnName(caller.may_act()?))
    }
}

/// The right to found boxes.
pub struct Founder(pub Acting);

impl FromRequestParts<App> for Founder {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let InOwnName(acting) = InOwnName::from_request_parts(parts, app).await?;
        acting.may_found()?;
        Ok(Founder(acting))
    }
}

/// The file in the path, and the right to read its box.
pub struct ReadingFile {
    /// What is known of the file.
    pub record: FileRecord,
    /// The right to read its box.
    pub reading: Reading,
}

impl FromRequestParts<App> for ReadingFile {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Read)?;
        let id = file_in_path(parts, app).await?;
        Ok(readable_file(app, &caller, id).await?)
    }
}

/// A file that a caller may read. A file in a box of somebody else is no file at all; what the key lacks, it lacks for every
/// file.
pub async fn readable_file(app: &App, caller: &Caller, id: FileId) -> Result<ReadingFile, Fault> {
    caller.must(Permission::Read)?;
    let box_id = app.catalog.box_of_file(id).await?.ok_or_else(no_such_file)?;
    let reading = caller.may_read(box_id).map_err(hide_unknown_box)?;
    let record = app.catalog.files(&reading, &[id]).await?.pop().flatten().ok_or_else(no_such_file)?;
    Ok(ReadingFile { record, reading })
}

/// The file in the path, and the right to change its box.
pub struct WritingFile {
    /// Which file.
    pub id: FileId,
    /// The right to change its box.
    pub writing: Writing,
}

impl FromRequestParts<App> for WritingFile {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        caller.must(Permission::Write)?;
        let id = file_in_path(parts, app).await?;
        Ok(writable_file(app, &caller, id).await?)
    }
}

/// A file that a caller may change, as [`readable_file`] has it.
pub async fn writable_file(app: &App, caller: &Caller, id: FileId) -> Result<WritingFile, Fault> {
    caller.must(Permission::Write)?;
    let box_id = app.catalog.box_of_file(id).await?.ok_or_else(no_such_file)?;
    Ok(WritingFile { id, writing: caller.may_write(box_id).map_err(hide_unknown_box)? })
}

/// The one answer for a file that does not exist and for a file of somebody else.
pub(crate) fn no_such_file() -> Fault {
    Fault::new(Reason::NotFound, "the file does not exist, or this key has no access to it")
        .hint("GET /boxes/{box_id}/files lists the files of a box")
        .param("file_id")
}

/// Nobody outside a box learns that a file is in it.
fn hide_unknown_box(fault: Fault) -> Fault {
    if matches!(fault.reason, Reason::BoxUnknown | Reason::KeyScope) { no_such_file() } else { fault }
}

/// The box that the path names. A text that is no box id names a box that does not exist.
async fn box_in_path(parts: &mut Parts, app: &App) -> Result<BoxId, Fault> {
    in_path(parts, app, "box_id").await.and_then(|text| text.parse().ok()).ok_or_else(no_such_box)
}

/// The file that the path names. A text that is no file id names a file that does not exist.
async fn file_in_path(parts: &mut Parts, app: &App) -> Result<FileId, Fault> {
    in_path(parts, app, "file_id").await.and_then(|text| text.parse().ok()).ok_or_else(no_such_file)
}

/// What the path has in the place of a name.
pub(crate) async fn in_path(parts: &mut Parts, app: &App, name: &str) -> Option<String> {
    let Path(segments) = Path::<Vec<(String, String)>>::from_request_parts(parts, app).await.ok()?;
    segments.into_iter().find(|(segment, _)| segment == name).map(|(_, value)| value)
}

/// The caller behind a key's prefix, if the key could be used now. For links that a key has signed, and for answers that go
/// on for long; what a key may be used for never changes.
pub async fn usable(app: &App, prefix: &str) -> Result<Arc<Caller>, Fault> {
    let identity = app.identities.find(&*app.catalog, prefix).await?.ok_or_else(not_found)?;
    identity.usable(Timestamp::now())
}
