//! `GET /files/{file_id}/pages/{number}/image`: a page as it looks.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequestParts, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use engine::{
    Fault, Reason,
    ids::UserId,
    seams::{catalog::FileRecord, parser::Drawing},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::loader;
use crate::{
    app::{App, pictures::Which},
    http::{
        auth::{Reader, ReadingFile, in_path},
        error::{ErrorEnvelope, Failure},
        query::Parameters,
    },
};

/// Pixels across: legible on a screen of two dots a point, small enough to be drawn in a tenth of a second.
const USUAL_WIDTH: u32 = 1_200;
const WIDTHS: std::ops::RangeInclusive<u32> = 16..=2_400;
/// Which way of drawing these are of: a picture of another is not the same.
const DRAWN_BY: &str = "1";

/// How to draw the page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PictureQuery {
    /// Pixels across, 16 to 2400; 1200 if left out.
    #[param(value_type = Option<u32>)]
    width: Option<String>,
}

/// The page of a path, as it is written there.
pub(super) struct PageInPath(String);

impl FromRequestParts<App> for PageInPath {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        Ok(PageInPath(in_path(parts, app, "number").await.unwrap_or_default()))
    }
}

/// Draws a page of a PDF or a picture, as a PNG. Free.
#[utoipa::path(get, path = "/files/{file_id}/pages/{number}/image", operation_id = "get_page_image", tag = "files",
    params(("file_id" = String, Path, description = "The file"), ("number" = u32, Path, description = "The page, from 1"), PictureQuery),
    responses(
        (status = 200, description = "The page", content_type = "image/png", body = Vec<u8>),
        (status = 304, description = "It is what `If-None-Match` names"),
        (status = "4XX", description = "The key or its role does not allow it, there is no such page, or its kind has no picture", body = ErrorEnvelope)
    ))]
pub(super) async fn of_page(
    State(app): State<App>,
    Reader(caller): Reader,
    file: ReadingFile,
    PageInPath(page): PageInPath,
    query: Parameters<PictureQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let wanted = (page.as_str(), query.value.width.as_deref());
    Ok(picture(&app, caller.user, &file.record, wanted, &headers).await?)
}

/// A page of a file that somebody may read, as a picture of a width.
pub(crate) async fn picture(
    app: &App,
    account: UserId,
    file: &FileRecord,
    (page, width): (&str, Option<&str>),
    headers: &HeaderMap,
) -> Result<Response, Fault> {
    let drawing = Drawing { width: parse_width(width)?, page: existing(file, page)? };
    let Drawing { page, width } = drawing;
    let tag = format!("\"{}-{page}-{width}-{DRAWN_BY}\"", file.sha256);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|known| known.trim() == tag || known.trim() == "*")) {
        return Ok(described(StatusCode::NOT_MODIFIED.into_response(), &tag));
    }
    let which = Which { file: file.id, sha256: file.sha256.clone(), page, width };
    let drawn = app.pictures.get(which, account, draw(app, file, drawing)).await?;
    let mut response = Body::from(drawn).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
    Ok(described(response, &tag))
}

async fn draw(app: &App, file: &FileRecord, drawing: Drawing) -> Result<Bytes, Fault> {
    let original = app.library.blobs.local(&file.sha256).await?;
    let drawn = app.ingest.parser.draw(original.path(), file.name.as_str(), drawing).await;
    drawn.map(Bytes::from).map_err(loader::refused)
}

fn parse_width(text: Option<&str>) -> Result<u32, Fault> {
    let Some(text) = text else { return Ok(USUAL_WIDTH) };
    let width = text.parse().ok().filter(|width| WIDTHS.contains(width));
    let (least, most) = (WIDTHS.start(), WIDTHS.end());
    let cause = || format!("`width` must be a whole number of pixels from {least} to {most}");
    width.ok_or_else(|| Fault::invalid("width", cause()))
}

/// Whether the pages of a file have a look of their own.
pub(crate) fn has_any(file: &FileRecord) -> bool {
    file.media_type == "application/pdf" || file.media_type.starts_with("image/")
}

/// The number of a page that can be drawn.
fn existing(file: &FileRecord, page: &str) -> Result<u32, Fault> {
    let pages = file.extent.pages;
    if pages == 0 {
        let cause =
            format!("the file is {}; only files that have been processed have pages", file.status.as_str());
        return Err(Fault::new(Reason::NotReady, cause).hint("GET /files/{file_id} shows its status"));
    }
    if !has_any(file) {
        let kind = &file.media_type;
        let cause = format!("pages of this file ({kind}) have no image; only pages of PDFs and images do");
        return Err(Fault::new(Reason::Unprocessable, cause)
            .hint("POST /boxes/{box_id}/retrieve-full-documents returns the text of its pages"));
    }
    let number = page.parse().ok().filter(|number| (1..=pages).contains(number));
    let cause = || format!("the file has no such page; its pages are numbered from 1 to {pages}");
    number.ok_or_else(|| Fault::new(Reason::NotFound, cause()).param("number"))
}

/// Asked for again each time, because the right to see it may end; sent again only where it is another.
fn described(mut response: Response, tag: &str) -> Response {
    let headers = response.headers_mut();
    let fixed = [
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
        (header::CONTENT_DISPOSITION, "inline"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_bounded() {
        assert_eq!(parse_width(None).unwrap(), USUAL_WIDTH);
        assert_eq!(parse_width(Some("16")).unwrap(), 16);
        for wrong in ["", "15", "2401", "-1", "1e3", "99999999999999999999", "0x20", "100.5", " 100"] {
            assert!(parse_width(Some(wrong)).unwrap_err().cause.contains("16 to 2400"), "{wrong}");
        }
    }
}
