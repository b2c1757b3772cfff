//! What comes in from the browser: uploads, one file per request and many requests one after the other; texts that are pasted; and
//! addresses to fetch from.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    access::Writing,
    seams::catalog::{Action, UploadOutcome},
};
use serde_json::json;

use super::{
    audit,
    fields::Fields,
    files::Row,
    page::{self, Shown},
    permit::InBox,
};
use crate::{
    app::App,
    http::{
        error::Failure,
        form::Form,
        routes::{described::DescribedFile, received::Received},
    },
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
    let row = Row::of(at.who.0.words, &file);
    let answer = json!({"id": row.id, "name": row.name, "kind": row.kind, "size": row.size, "pages": row.pages,
        "status": row.status, "words": row.words, "reason": row.reason, "known": known});
    Ok(axum::Json(answer).into_response())
}

/// Takes in a text that was pasted, or what is at an address.
pub(super) async fn add(State(app): State<App>, at: InBox<Writing>, fields: Fields) -> Shown {
    let described = match fields.text("url") {
        "" => DescribedFile::of_text(fields.text("name"), fields.raw("text")),
        url => DescribedFile::of_address(url),
    };
    let (staged, describe) = described.receive(&app).await?.whole()?;
    let uploaded = app.library.add(&at.right, staged, describe).await?;
    if uploaded.outcome != UploadOutcome::Known {
        let name = uploaded.file.name.as_str();
        audit::note(&app, &at.who.0, Action::FileUploaded, Some(at.here.id), name).await?;
    }
    Ok(page::go(format!("/boxes/{}?done=added", at.here.id)))
}
