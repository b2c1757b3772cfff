//! `GET /models` and `GET /models/{box_id}`: boxes, as OpenAI clients list models.

use axum::{Json, extract::State};
use engine::{access::no_such_box, ids::BoxId, seams::catalog::BoxRecord};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        auth::{Searcher, SearchingBox},
        error::{ErrorEnvelope, Failure},
    },
};

/// A box as a model.
#[derive(Clone, Serialize, ToSchema)]
pub(super) struct ModelObject {
    /// The box; `model` in a chat request takes it.
    #[schema(value_type = String)]
    id: BoxId,
    #[schema(example = "model")]
    object: &'static str,
    created: i64,
    owned_by: &'static str,
    /// What the box is called.
    name: String,
}

/// Boxes as models.
#[derive(Serialize, ToSchema)]
pub(super) struct ModelList {
    success: bool,
    #[schema(example = "list")]
    object: &'static str,
    data: Vec<ModelObject>,
}

/// One model, at top level and in the envelope.
#[derive(Serialize, ToSchema)]
pub(super) struct ModelEnvelope {
    success: bool,
    #[serde(flatten)]
    model: ModelObject,
    data: ModelObject,
}

impl ModelObject {
    fn of(record: BoxRecord) -> Self {
        let (id, created) = (record.id, record.created_at.as_second());
        ModelObject {
            id,
            object: "model",
            created,
            owned_by: "quire",
            name: record.name.as_str().to_string(),
        }
    }
}

/// Lists the boxes that the key may be used on, as models.
#[utoipa::path(get, path = "/models", operation_id = "list_models", tag = "chat", responses(
    (status = 200, description = "The boxes", body = ModelList),
    (status = "4XX", description = "The key is not usable, or a limit is exceeded", body = ErrorEnvelope)
))]
pub(super) async fn list(
    State(app): State<App>,
    Searcher(caller): Searcher,
) -> Result<Json<ModelList>, Failure> {
    let records = app.catalog.boxes_of(&caller.searchable()?).await?;
    let data = records.into_iter().map(ModelObject::of).collect();
    Ok(Json(ModelList { success: true, object: "list", data }))
}

/// Shows one box as a model.
#[utoipa::path(get, path = "/models/{box_id}", operation_id = "get_model", tag = "chat", params(("box_id" = String, Path, description = "The box")), responses(
    (status = 200, description = "The box", body = ModelEnvelope),
    (status = "4XX", description = "The key or its role does not allow it", body = ErrorEnvelope)
))]
pub(super) async fn show(
    State(app): State<App>,
    SearchingBox(reading): SearchingBox,
) -> Result<Json<ModelEnvelope>, Failure> {
    let record = app.catalog.boxes_of(&[reading]).await?.pop().ok_or_else(no_such_box)?;
    let model = ModelObject::of(record);
    Ok(Json(ModelEnvelope { success: true, data: model.clone(), model }))
}
