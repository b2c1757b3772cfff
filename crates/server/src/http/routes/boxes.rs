//! `GET /boxes` and `GET /boxes/{box_id}`: the boxes a key may be used on.

use axum::extract::State;
use engine::{
    access::{Caller, Role, no_such_box},
    ids::BoxId,
    seams::catalog::BoxRecord,
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        auth::{Asking, ReadingBox},
        error::ErrorEnvelope,
        query::{Nothing, Parameters},
        reply::{Envelope, Reply, Success},
    },
};

/// A box as the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BoxObject {
    #[schema(value_type = String, example = "box_019388f0a5c07d2e8a6b3c1d2e3f4a5b")]
    box_id: BoxId,
    name: String,
    #[schema(value_type = Option<String>, example = "owner")]
    role: Option<Role>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// Boxes as the API lists them.
#[derive(Serialize, ToSchema)]
pub(super) struct BoxList {
    boxes: Vec<BoxObject>,
    total: usize,
}

fn object(record: BoxRecord, caller: &Caller) -> BoxObject {
    BoxObject {
        box_id: record.id,
        name: record.name.as_str().to_string(),
        role: caller.role(record.id),
        created_at: record.created_at,
    }
}

/// Lists the boxes that the key may be used on.
#[utoipa::path(get, path = "/boxes", operation_id = "list_boxes", tag = "boxes", responses(
    (status = 200, description = "The boxes, oldest first", body = Envelope<BoxList>),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn list(
    State(app): State<App>,
    Asking(caller): Asking,
    query: Parameters<Nothing>,
) -> Reply<BoxList> {
    let records = app.catalog.boxes_of(&caller.readable()).await?;
    let boxes: Vec<_> = records.into_iter().map(|record| object(record, &caller)).collect();
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
    let record = app.catalog.boxes_of(&[reading]).await?.pop().ok_or_else(no_such_box)?;
    Ok(Success::with_warnings(object(record, &caller), query.warnings))
}
