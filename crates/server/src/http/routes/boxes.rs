//! `/boxes` and `/boxes/{box_id}`: the boxes a key may be used on; founding, changing and deleting one.

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::{
    Fault,
    access::{Caller, Reading, Role, no_such_box},
    ids::BoxId,
    seams::catalog::{BoxLanguage, BoxName, BoxRecord},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{Asking, Founder, ManagingBox, OwningBox, Reader, ReadingBox},
        body::{self, JsonBody},
        error::{ErrorEnvelope, Failure},
        idempotency::Founded,
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
    manage,
};

/// A box as the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BoxObject {
    #[schema(value_type = String, example = "box_019388f0a5c07d2e8a6b3c1d2e3f4a5b")]
    box_id: BoxId,
    name: String,
    /// auto, english or multilingual
    #[schema(value_type = String, example = "auto")]
    language: BoxLanguage,
    #[schema(value_type = Option<String>, example = "owner")]
    role: Option<Role>,
    /// How many files it has.
    files: u64,
    /// After how many days its files are deleted; null: never.
    #[schema(example = 365)]
    retention_days: Option<u32>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// Boxes as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct BoxList {
    boxes: Vec<BoxObject>,
    total: usize,
}

fn object(record: BoxRecord, role: Option<Role>, files: u64) -> BoxObject {
    BoxObject {
        box_id: record.id,
        name: record.name.as_str().to_string(),
        language: record.language,
        role,
        files,
        retention_days: record.retention_days,
        created_at: record.created_at,
    }
}

/// The boxes that may be read, oldest first.
async fn objects(app: &App, caller: &Caller, readings: &[Reading]) -> Result<Vec<BoxObject>, Fault> {
    let mut objects = Vec::new();
    for record in app.catalog.boxes_of(readings).await? {
        let reading = readings.iter().find(|reading| reading.box_id() == record.id).copied();
        let totals = app.catalog.totals(reading.as_slice()).await?.pop().unwrap_or_default();
        let role = caller.role(record.id);
        objects.push(object(record, role, totals.files));
    }
    Ok(objects)
}

/// Lists the boxes that the key may be used on.
#[utoipa::path(get, path = "/boxes", operation_id = "list_boxes", tag = "boxes", responses(
    (status = 200, description = "The boxes, oldest first", body = Envelope<BoxList>),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn list(
    State(app): State<App>,
    Reader(caller): Reader,
    query: Parameters<Nothing>,
) -> Reply<BoxList> {
    let boxes = objects(&app, &caller, &caller.readable()?).await?;
    Ok(Success::with_warnings(BoxList { total: boxes.len(), boxes }, query.warnings))
}

/// Shows one box.
#[utoipa::path(get, path = "/boxes/{box_id}", operation_id = "get_box", tag = "boxes", params(("box_id" = String, Path, description = "The box")), responses(
    (status = 200, description = "The box", body = Envelope<BoxObject>),
    (status = "4XX", description = "The key or its role does not allow it", body = ErrorEnvelope)
))]
pub(super) async fn show(
    State(app): State<App>,
    Asking(caller): Asking,
    ReadingBox(reading): ReadingBox,
    query: Parameters<Nothing>,
) -> Reply<BoxObject> {
    let shown = objects(&app, &caller, &[reading]).await?.pop().ok_or_else(no_such_box)?;
    Ok(Success::with_warnings(shown, query.warnings))
}

/// A box to be founded.
#[derive(Deserialize, ToSchema)]
pub(super) struct NewBox {
    /// What people call it, 1 to 200 characters.
    #[schema(example = "Manuals")]
    name: String,
    /// `english` and `multilingual` choose the model that searches by meaning; `auto`, which it is if left out, leaves that to
    /// what the documents turn out to be.
    #[schema(example = "auto")]
    language: Option<String>,
}

fn parse_name(name: &str) -> Result<BoxName, Fault> {
    name.parse().map_err(|wrong: String| Fault::invalid("name", wrong))
}

fn parse_language(language: &str) -> Result<BoxLanguage, Fault> {
    language.parse().map_err(|wrong: String| Fault::invalid("language", wrong))
}

/// Creates a box, which the user of the key owns. The key needs the permission `manage` and must be valid for all boxes.
#[utoipa::path(post, path = "/boxes", operation_id = "make_box", tag = "boxes", request_body = NewBox, responses(
    (status = 201, description = "The box", body = Envelope<BoxObject>),
    (status = "4XX", description = "The key or the body is wrong, or the account has as many boxes as it may", body = ErrorEnvelope)
))]
pub(super) async fn add(
    Founder(acting): Founder,
    actor: Actor,
    body: JsonBody<NewBox>,
) -> Result<Response, Failure> {
    let NewBox { name, language } = &body.value;
    let language = language.as_deref().map(parse_language).transpose()?.unwrap_or_default();
    let record = manage::boxes::add(&actor.by(), &acting, parse_name(name)?, language).await?;
    let founded = Founded(record.id);
    let made = Success::with_warnings(object(record, Some(Role::Owner), 0), body.warnings);
    let mut response = (StatusCode::CREATED, made).into_response();
    response.extensions_mut().insert(founded);
    Ok(response)
}

/// What can be changed about a box.
#[derive(Deserialize, ToSchema)]
pub(super) struct BoxChanges {
    /// A new name, 1 to 200 characters.
    name: Option<String>,
    /// auto, english or multilingual. Where that takes another model, the box is indexed again, and searched meanwhile as it is.
    language: Option<String>,
    /// After how many days its files are deleted, 1 to 36500, counted from their last upload; null: never. Files that are
    /// older already are deleted at once.
    #[serde(rename = "retentionDays", default, deserialize_with = "body::given")]
    #[schema(value_type = Option<u32>, example = 365)]
    retention_days: Option<Option<u32>>,
}

/// Changes a box. The key needs the permission `manage`.
#[utoipa::path(patch, path = "/boxes/{box_id}", operation_id = "change_box", tag = "boxes",
    params(("box_id" = String, Path, description = "The box")),
    request_body = BoxChanges,
    responses(
        (status = 200, description = "The box as it is now", body = Envelope<BoxObject>),
        (status = "4XX", description = "The key, its role or the body is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn change(
    State(app): State<App>,
    Asking(caller): Asking,
    ManagingBox(managing): ManagingBox,
    actor: Actor,
    body: JsonBody<BoxChanges>,
) -> Reply<BoxObject> {
    // Before anything is changed: one wrong value refuses all of it.
    let name = body.value.name.as_deref().map(parse_name).transpose()?;
    let language = body.value.language.as_deref().map(parse_language).transpose()?;
    if let Some(language) = language {
        manage::boxes::set_language(&actor.by(), &managing, language).await?;
    }
    if let Some(name) = name {
        manage::boxes::rename(&actor.by(), &managing, name).await?;
    }
    if let Some(days) = body.value.retention_days {
        manage::boxes::keep_for(&actor.by(), &managing, days).await?;
    }
    let changed = objects(&app, &caller, &[*managing.reading()]).await?.pop().ok_or_else(no_such_box)?;
    Ok(Success::with_warnings(changed, body.warnings))
}

/// What the deletion of a box removed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BoxReceipt {
    #[schema(value_type = String)]
    box_id: BoxId,
    name: String,
    deleted: bool,
    #[schema(value_type = String, format = DateTime)]
    deleted_at: Timestamp,
    removed: RemovedWithBox,
}

#[derive(Serialize, ToSchema)]
struct RemovedWithBox {
    files: u64,
    pages: u64,
    /// Of the originals.
    bytes: u64,
}

/// Deletes a box with everything in it, permanently. The key needs the permission `manage`, and its user must own the box.
#[utoipa::path(delete, path = "/boxes/{box_id}", operation_id = "delete_box", tag = "boxes",
    params(("box_id" = String, Path, description = "The box")),
    responses(
        (status = 200, description = "What was removed", body = Envelope<BoxReceipt>),
        (status = "4XX", description = "The key or its role does not allow it", body = ErrorEnvelope)
    ))]
pub(super) async fn delete(
    OwningBox(owning): OwningBox,
    actor: Actor,
    query: Parameters<Nothing>,
) -> Reply<BoxReceipt> {
    let (record, deleted) = manage::boxes::delete(&actor.by(), &owning).await?;
    let totals = deleted.totals;
    let receipt = BoxReceipt {
        box_id: record.id,
        name: record.name.as_str().to_string(),
        deleted: true,
        deleted_at: Timestamp::now(),
        removed: RemovedWithBox { files: totals.files, pages: totals.pages, bytes: totals.bytes },
    };
    Ok(Success::with_warnings(receipt, query.warnings))
}
