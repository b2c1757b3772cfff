//! `POST /boxes/{box_id}/files`: a form comes in part by part; the file goes to disk while it is hashed. Or JSON comes in whole,
//! see [`super::described`].

use axum::{
    extract::{FromRequest, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::seams::catalog::{Action, UploadOutcome};
use serde::Serialize;
use utoipa::ToSchema;

use super::{described::DescribedFile, files::FileObject, received::Received};
use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::WritingBox,
        body::JsonBody,
        error::{ErrorEnvelope, Failure},
        form::Form,
        origin::Origin,
        reply::{Envelope, Success},
    },
};

/// The result of an upload.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadObject {
    #[serde(flatten)]
    file: FileObject,
    /// The box has these bytes already, so no file was added.
    deduplicated: bool,
    /// A file with the same `externalId` gets this content.
    replaced: bool,
}

/// The form of an upload.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form; the fields are read one by one as they come in")]
pub(super) struct UploadForm {
    /// The file; its name is taken from the part.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// A JSON object of your own.
    metadata: Option<String>,
    /// Labels: a JSON array or `a,b,c`.
    tags: Option<String>,
    /// Your own name for the file; the same one again replaces its content.
    #[schema(rename = "externalId")]
    external_id: Option<String>,
    /// When the file is deleted by itself, in the future.
    #[schema(rename = "expiresAt", format = DateTime)]
    expires_at: Option<String>,
}

/// Adds a file to a box, or a new version of one.
#[utoipa::path(post, path = "/boxes/{box_id}/files", operation_id = "upload_file", tag = "files",
    params(("box_id" = String, Path, description = "The box")),
    request_body(content(
        (UploadForm = "multipart/form-data"),
        (DescribedFile = "application/json")
    )),
    responses(
        (status = 201, description = "The file was received and waits to be read", body = Envelope<UploadObject>),
        (status = 200, description = "The box has these bytes already", body = Envelope<UploadObject>),
        (status = "4XX", description = "The form is wrong, or the file too large", body = ErrorEnvelope)
    ))]
pub(super) async fn upload(
    State(app): State<App>,
    WritingBox(writing): WritingBox,
    actor: Actor,
    origin: Origin,
    sent: Sent,
) -> Result<Response, Failure> {
    let mut received = match sent {
        Sent::Form(form) => Received::from_form(&app, *form).await?,
        Sent::Json(body) => {
            let mut received = body.value.receive(&app).await?;
            received.warnings = body.warnings;
            received
        }
    };
    let warnings = std::mem::take(&mut received.warnings);
    let (staged, describe) = received.whole()?;
    let uploaded = app.library.add(&writing, staged, describe).await?;
    let deduplicated = uploaded.outcome == UploadOutcome::Known;
    let replaced = uploaded.outcome == UploadOutcome::Replaced;
    if !deduplicated {
        actor.note(Action::FileUploaded, writing.box_id(), uploaded.file.name.as_str()).await?;
    }
    let status = if deduplicated { StatusCode::OK } else { StatusCode::CREATED };
    let object = UploadObject { file: FileObject::of(uploaded.file, &origin), deduplicated, replaced };
    Ok((status, Success::with_warnings(object, warnings)).into_response())
}

/// A file as it is sent.
pub(super) enum Sent {
    Form(Box<Form>),
    Json(Box<JsonBody<DescribedFile>>),
}

impl FromRequest<App> for Sent {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let content_type = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        let json =
            content_type.is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"application/json"));
        match json {
            true => Ok(Sent::Json(Box::new(JsonBody::from_request(request, app).await?))),
            false => Ok(Sent::Form(Box::new(Form::from_request(request, app).await?))),
        }
    }
}
