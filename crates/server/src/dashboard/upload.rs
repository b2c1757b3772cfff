//! Uploads from the browser: one file per request, many requests one after the other.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    access::Writing,
    seams::catalog::{Action, UploadOutcome},
};
use serde_json::json;

use super::{audit, files::Row, permit::InBox};
use crate::{
    app::App,
    http::{error::Failure, form::Form, routes::received::Received},
};

/// Takes a file in; the page's script asks.
pub(super) async fn upload(
    State(app): State<App>,
    at: InBox<Writing>,
    form: Form,
) -> Result<Response, Failure> {
    let (staged, describe) = Received::from_form(&app, form).await?.whole()?;
    let uploaded = app.library.add(&at.right, staged, describe).await?;
    let (file, known) = (uploaded.file, uploaded.outcome == UploadOutcome::Known);
    if !known {
        audit::note(&app, &at.who.0, Action::FileUploaded, Some(at.here.id), file.name.as_str()).await?;
    }
    let row = Row::of(&file);
    let answer = json!({"id": row.id, "name": row.name, "kind": row.kind, "size": row.size, "pages": row.pages,
        "status": row.status, "words": row.words, "reason": row.reason, "known": known});
    Ok(axum::Json(answer).into_response())
}
