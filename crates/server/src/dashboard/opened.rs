//! `/files/{file_id}`: where the link of a file or a citation leads a person.

use axum::{extract::State, http::Uri, response::Response};
use engine::ids::FileKind;

use super::{
    page,
    permit::{Named, SignedIn, no_such_file},
};
use crate::{app::App, http::error::Failure};

/// Goes to the file in its box, on the page that the link names.
pub(super) async fn show(
    State(app): State<App>,
    who: SignedIn,
    Named(id): Named<FileKind>,
    uri: Uri,
) -> Result<Response, Failure> {
    let box_id = app.catalog.box_of_file(id).await?.ok_or_else(no_such_file)?;
    // Somebody else's file is no file at all.
    who.person().may_read(box_id).map_err(|_| no_such_file())?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(page::go(format!("/boxes/{box_id}/files/{id}{query}")))
}
