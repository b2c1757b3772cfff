//! `/boxes/{box_id}/sources`: places elsewhere that a box follows, and how the last time went.

use std::time::Duration;

use axum::{
    extract::{FromRequestParts, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    access::Managing,
    ids::{BoxId, SourceId},
    seams::catalog::{Action, NewSource, Source, SourceKind, SourceSettings},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{ManagingBox, in_path},
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
    outside::Outside,
    sources::{self, GitSettings, S3Settings, WebSettings, stored, told},
};

/// How often a source can be read.
const SCHEDULES: [(&str, Option<Duration>); 4] = [
    ("manual", None),
    ("hourly", Some(Duration::from_secs(60 * 60))),
    ("daily", Some(Duration::from_secs(24 * 60 * 60))),
    ("weekly", Some(Duration::from_secs(7 * 24 * 60 * 60))),
];

/// A source to be followed.
#[derive(Deserialize, ToSchema)]
pub(super) struct NewSourceObject {
    /// web, git or s3
    #[schema(example = "web")]
    kind: String,
    /// The first page or the site map of a web site, or the HTTPS address of a repository.
    #[schema(example = "https://example.org/docs/")]
    url: Option<String>,
    /// Whether `url` is a site map; true if left out and it ends in .xml. Web only.
    sitemap: Option<bool>,
    /// The most pages, 1 to 5,000; 100 if left out. Web only.
    #[schema(minimum = 1, maximum = 5000)]
    max_pages: Option<u32>,
    /// How many links away from the first page, 0 to 10; 3 if left out. Web only.
    #[schema(maximum = 10)]
    max_depth: Option<u32>,
    /// A branch or a tag; the usual branch if left out. Git only.
    branch: Option<String>,
    /// Only files below this folder. Git only.
    path: Option<String>,
    /// What a repository that is not public asks for. Git only.
    token: Option<String>,
    /// The bucket. S3 only.
    bucket: Option<String>,
    /// What the names of objects begin with. S3 only.
    prefix: Option<String>,
    /// The region; us-east-1 if left out. S3 only.
    region: Option<String>,
    /// The address of another server than Amazon's. S3 only.
    endpoint: Option<String>,
    /// The keys of the bucket; none if it is public. S3 only.
    access_key: Option<String>,
    secret_key: Option<String>,
    /// manual, hourly, daily or weekly; daily if left out.
    schedule: Option<String>,
    /// Whether files that are gone there are deleted from the box; true if left out.
    delete_missing: Option<bool>,
}

impl NewSourceObject {
    fn read(self, app: &App) -> Result<NewSource, Fault> {
        let outside = sources::outside(app)?;
        let kind: SourceKind = self.kind.parse().map_err(|wrong: String| Fault::invalid("kind", wrong))?;
        let schedule = self.schedule.as_deref().unwrap_or("daily");
        let every = SCHEDULES.iter().find(|(name, _)| *name == schedule).map(|(_, every)| *every);
        let every = every.ok_or_else(|| {
            Fault::invalid("schedule", "`schedule` must be manual, hourly, daily or weekly")
        })?;
        let delete_missing = self.delete_missing.unwrap_or(true);
        let settings = match kind {
            SourceKind::Web => self.web(app, outside)?,
            SourceKind::Git => self.git(app, outside)?,
            SourceKind::S3 => self.s3(app, outside)?,
        };
        Ok(NewSource { kind, settings, every, delete_missing })
    }

    fn web(&self, app: &App, outside: &Outside) -> Result<SourceSettings, Fault> {
        let url = address(app, outside, "url", self.url.as_deref())?;
        let within = |name: &str, value: Option<u32>, usual: u32, least: u32, most: u32| match value {
            None => Ok(usual),
            Some(value) if (least..=most).contains(&value) => Ok(value),
            Some(value) => {
                Err(Fault::invalid(name, format!("`{name}` must be from {least} to {most}, not {value}")))
            }
        };
        stored(&WebSettings {
            sitemap: self.sitemap.unwrap_or_else(|| url.path().ends_with(".xml")),
            url: url.to_string(),
            max_pages: within("max_pages", self.max_pages, 100, 1, 5_000)?,
            max_depth: within("max_depth", self.max_depth, 3, 0, 10)?,
        })
    }

    fn git(&self, app: &App, outside: &Outside) -> Result<SourceSettings, Fault> {
        let url = address(app, outside, "url", self.url.as_deref())?.to_string();
        let branch = short("branch", self.branch.as_ref())?;
        // What begins with a dash would be an option.
        if branch.as_ref().is_some_and(|branch| branch.starts_with('-')) {
            return Err(Fault::invalid("branch", "`branch` must not begin with a dash"));
        }
        let (path, token) = (short("path", self.path.as_ref())?, short("token", self.token.as_ref())?);
        stored(&GitSettings { url, branch, path, token })
    }

    fn s3(&self, app: &App, outside: &Outside) -> Result<SourceSettings, Fault> {
        let bucket = short("bucket", self.bucket.as_ref())?;
        let bucket = bucket.ok_or_else(|| Fault::missing("bucket", "the name of the bucket"))?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        if !bucket.chars().all(plain) {
            return Err(Fault::invalid(
                "bucket",
                "`bucket` can contain only letters, digits, dashes, dots and underscores",
            ));
        }
        if self.region.as_ref().is_some_and(|region| !region.chars().all(plain)) {
            return Err(Fault::invalid(
                "region",
                "`region` can contain only letters, digits, dashes, dots and underscores",
            ));
        }
        if self.access_key.is_some() != self.secret_key.is_some() {
            return Err(Fault::missing("secret_key", "`access_key` and `secret_key` go together"));
        }
        let endpoint = self.endpoint.as_deref();
        let endpoint = endpoint.map(|text| address(app, outside, "endpoint", Some(text))).transpose()?;
        stored(&S3Settings {
            bucket,
            prefix: short("prefix", self.prefix.as_ref())?,
            region: short("region", self.region.as_ref())?,
            endpoint: endpoint.map(|url| url.as_str().trim_end_matches('/').to_string()),
            access_key: short("access_key", self.access_key.as_ref())?,
            secret_key: short("secret_key", self.secret_key.as_ref())?,
        })
    }
}

/// An address, if it may be reached. What its name resolves to is checked whenever it is.
fn address(app: &App, outside: &Outside, name: &str, text: Option<&str>) -> Result<reqwest::Url, Fault> {
    let text = text.ok_or_else(|| Fault::missing(name, "an address that begins with https://"))?;
    let url = outside.parse(text).map_err(|fault| Fault { param: Some(name.into()), ..fault })?;
    if url.scheme() != "https" && !app.config.sources.private_addresses {
        return Err(Fault::invalid(name, format!("`{name}` must begin with https://")));
    }
    Ok(url)
}

/// A text of one line, or nothing.
fn short(name: &str, text: Option<&String>) -> Result<Option<String>, Fault> {
    let text = text.map(|text| text.trim().to_string()).filter(|text| !text.is_empty());
    match text {
        Some(text) if text.len() > 1_000 || text.chars().any(char::is_control) => {
            Err(Fault::invalid(name, format!("`{name}` must be one line of at most 1,000 characters")))
        }
        text => Ok(text),
    }
}

/// A source as the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceObject {
    #[schema(value_type = String)]
    source_id: SourceId,
    #[schema(value_type = String)]
    box_id: BoxId,
    /// web, git or s3
    #[schema(value_type = String)]
    kind: &'static str,
    /// What it was made with, without secrets.
    #[schema(value_type = Object)]
    settings: Value,
    /// manual, hourly, daily or weekly
    #[schema(value_type = String)]
    schedule: &'static str,
    delete_missing: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Whether it is being read.
    running: bool,
    /// Files that came from it and are in the box.
    files: u64,
    #[schema(value_type = Option<String>, format = DateTime)]
    next_sync: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_sync: Option<Timestamp>,
    /// What the last sync did.
    added: u64,
    changed: u64,
    removed: u64,
    unchanged: u64,
    /// Files that are gone there and were kept, because they are so many; sync with `allow_deletions` deletes them.
    held_back: u64,
    /// What could not be read; the first hundred.
    failed: Vec<FailedObject>,
    /// Why the source as a whole could not be read.
    error: Option<String>,
}

/// Something that could not be read.
#[derive(Serialize, ToSchema)]
struct FailedObject {
    name: String,
    error: String,
}

impl SourceObject {
    fn of(source: Source) -> Result<Self, Fault> {
        let schedule =
            SCHEDULES.iter().find(|(_, every)| *every == source.every).map_or("manual", |(name, _)| *name);
        let settings = match source.kind {
            SourceKind::Web => json!(told::<WebSettings>(&source.settings)?),
            SourceKind::Git => json!(GitSettings { token: None, ..told(&source.settings)? }),
            SourceKind::S3 => json!(S3Settings { secret_key: None, ..told(&source.settings)? }),
        };
        let (last_sync, report) = source.last.unzip();
        let report = report.unwrap_or_default();
        let failed = report.failed.into_iter().map(|(name, error)| FailedObject { name, error }).collect();
        Ok(SourceObject {
            source_id: source.id,
            box_id: source.box_id,
            kind: source.kind.as_str(),
            settings,
            schedule,
            delete_missing: source.delete_missing,
            created_at: source.created_at,
            running: source.running,
            files: source.files,
            next_sync: source.due_at,
            last_sync,
            added: report.added,
            changed: report.changed,
            removed: report.removed,
            unchanged: report.unchanged,
            held_back: report.held_back,
            failed,
            error: report.error,
        })
    }
}

/// Sources as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct SourceList {
    sources: Vec<SourceObject>,
    total: usize,
}

/// Lists the sources of a box, with what the last sync of each did. The key needs the permission `manage`.
#[utoipa::path(get, path = "/boxes/{box_id}/sources", operation_id = "list_sources", tag = "sources",
    params(("box_id" = String, Path, description = "The box")),
    responses(
        (status = 200, description = "The sources, oldest first", body = Envelope<SourceList>),
        (status = "4XX", description = "The key or its role does not allow it", body = ErrorEnvelope)
    ))]
pub(super) async fn list(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    query: Parameters<Nothing>,
) -> Reply<SourceList> {
    let found = app.catalog.sources(&managing).await?;
    let sources = found.into_iter().map(SourceObject::of).collect::<Result<Vec<_>, Fault>>()?;
    Ok(Success::with_warnings(SourceList { total: sources.len(), sources }, query.warnings))
}

/// Has a box follow a web site, a Git repository or a bucket. It is read at once, and then on its schedule. The key needs the permission
/// `manage`, and the operator must allow it (setting `sources.enabled`).
#[utoipa::path(post, path = "/boxes/{box_id}/sources", operation_id = "make_source", tag = "sources",
    params(("box_id" = String, Path, description = "The box")),
    request_body = NewSourceObject,
    responses(
        (status = 201, description = "The source", body = Envelope<SourceObject>),
        (status = "4XX", description = "The key, its role or the body is wrong, or the address is in a private network", body = ErrorEnvelope)
    ))]
pub(super) async fn add(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    actor: Actor,
    body: JsonBody<NewSourceObject>,
) -> Result<Response, Failure> {
    let new = body.value.read(&app)?;
    let source = app.catalog.add_source(&managing, new).await?;
    actor.note(Action::SourceMade, managing.box_id(), &source.id.to_string()).await?;
    let made = Success::with_warnings(SourceObject::of(source)?, body.warnings);
    Ok((StatusCode::CREATED, made).into_response())
}

/// The source in the path.
pub(super) struct Named(SourceId);

impl FromRequestParts<App> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let text = in_path(parts, app, "source_id").await;
        Ok(Named(text.and_then(|text| text.parse().ok()).ok_or_else(no_such_source)?))
    }
}

fn no_such_source() -> Fault {
    Fault::new(
        Reason::NotFound,
        "the box has no source with this id; GET /boxes/{box_id}/sources lists its sources",
    )
    .param("source_id")
}

async fn find(app: &App, managing: &Managing, id: SourceId) -> Result<SourceObject, Fault> {
    let found = app.catalog.sources(managing).await?.into_iter().find(|source| source.id == id);
    SourceObject::of(found.ok_or_else(no_such_source)?)
}

/// Shows a source, with what its last sync did. The key needs the permission `manage`.
#[utoipa::path(get, path = "/boxes/{box_id}/sources/{source_id}", operation_id = "get_source", tag = "sources",
    params(("box_id" = String, Path, description = "The box"), ("source_id" = String, Path, description = "The source")),
    responses(
        (status = 200, description = "The source", body = Envelope<SourceObject>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such source", body = ErrorEnvelope)
    ))]
pub(super) async fn show(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    Named(id): Named,
    query: Parameters<Nothing>,
) -> Reply<SourceObject> {
    Ok(Success::with_warnings(find(&app, &managing, id).await?, query.warnings))
}

/// How a source is read.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SyncQuery {
    /// `true` to delete files that are gone there even if they are many.
    allow_deletions: Option<bool>,
}

/// Reads a source now. The key needs the permission `manage`.
#[utoipa::path(post, path = "/boxes/{box_id}/sources/{source_id}/sync", operation_id = "sync_source", tag = "sources",
    params(("box_id" = String, Path, description = "The box"), ("source_id" = String, Path, description = "The source"), SyncQuery),
    responses(
        (status = 202, description = "It is read within seconds", body = Envelope<SourceObject>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such source", body = ErrorEnvelope)
    ))]
pub(super) async fn sync(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    Named(id): Named,
    query: Parameters<SyncQuery>,
) -> Result<Response, Failure> {
    sources::outside(&app)?;
    let many = query.value.allow_deletions.unwrap_or(false);
    if !app.catalog.ask_for_sync(&managing, id, many, Timestamp::now()).await? {
        return Err(no_such_source().into());
    }
    let source = Success::with_warnings(find(&app, &managing, id).await?, query.warnings);
    Ok((StatusCode::ACCEPTED, source).into_response())
}

/// What was deleted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeletedSource {
    #[schema(value_type = String)]
    source_id: SourceId,
    deleted: bool,
}

/// Deletes a source. The files that came from it stay in the box. The key needs the permission `manage`.
#[utoipa::path(delete, path = "/boxes/{box_id}/sources/{source_id}", operation_id = "delete_source", tag = "sources",
    params(("box_id" = String, Path, description = "The box"), ("source_id" = String, Path, description = "The source")),
    responses(
        (status = 200, description = "It is not read any more", body = Envelope<DeletedSource>),
        (status = "4XX", description = "The key or its role does not allow it, or there is no such source", body = ErrorEnvelope)
    ))]
pub(super) async fn delete(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    Named(source_id): Named,
    actor: Actor,
    query: Parameters<Nothing>,
) -> Reply<DeletedSource> {
    if !app.catalog.delete_source(&managing, source_id).await? {
        return Err(no_such_source().into());
    }
    actor.note(Action::SourceDeleted, managing.box_id(), &source_id.to_string()).await?;
    Ok(Success::with_warnings(DeletedSource { source_id, deleted: true }, query.warnings))
}
