//! `PUT /process`: reads a file for somebody else and keeps nothing, in the shape of `Open WebUI`'s document loader.

use axum::{
    Json,
    body::Body,
    extract::{Request, State},
    http::HeaderMap,
};
use engine::{
    Fault, Reason,
    document::{Document, Page},
    seams::{
        catalog::FileName,
        parser::{FailureKind, ParseFailure},
    },
};
use futures::StreamExt;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::time::Duration;
use stores::blobs::Staged;
use utoipa::ToSchema;

use super::labels::parse_name;
use crate::{
    app::App,
    http::{
        auth::Reader,
        body,
        error::{ErrorEnvelope, Failure},
    },
};

/// Files of one user that are read at once while their sender waits: each takes a core and up to a gigabyte.
const AT_ONCE: usize = 2;
/// When to come again where that many are being read.
const WAIT: Duration = Duration::from_secs(5);

/// A page of a file, as `LangChain` has documents.
#[derive(Serialize, ToSchema)]
pub(super) struct LoadedPage {
    page_content: String,
    /// `source`, `page` from 0, `page_label`, `total_pages`, `media_type`; `title` and `warnings` where there are any.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// Reads a file and returns its pages; nothing of it is kept. Free.
#[utoipa::path(put, path = "/process", operation_id = "read_file", tag = "models",
    params(("X-Filename" = Option<String>, Header, description = "The name of the file, percent-encoded")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The bytes of the file"),
    responses(
        (status = 200, description = "The pages, in order; the shape of Open WebUI, without the envelope", body = Vec<LoadedPage>),
        (status = "4XX", description = "The key is wrong, or the file cannot be read", body = ErrorEnvelope)
    ))]
pub(super) async fn process(
    State(app): State<App>,
    Reader(caller): Reader,
    request: Request,
) -> Result<Json<Vec<LoadedPage>>, Failure> {
    let (head, body) = request.into_parts();
    let name = name(&head.headers)?;
    let _place = app.readers.take(&caller.user, AT_ONCE).ok_or_else(too_many)?;
    let staged = stage(&app, body, &name).await?;
    let read = app.ingest.read(staged.path(), name.as_str(), &[], &|_, _| {}).await;
    let document = read.map_err(refused)?;
    Ok(Json(pages(document, name.as_str())))
}

fn too_many() -> Fault {
    let cause =
        format!("this user account already has {AT_ONCE} files being processed; wait until one is done");
    Fault::new(Reason::OverloadedKey, cause).retry_after(WAIT)
}

/// What the sender calls the file.
fn name(headers: &HeaderMap) -> Result<FileName, Fault> {
    let sent = headers.get("x-filename").and_then(|value| value.to_str().ok()).unwrap_or("document");
    // A form decodes pluses too, which stand for themselves here.
    let escaped = sent.replace('+', "%2B");
    let decoded = form_urlencoded::parse(format!("n={}", escaped.replace('&', "%26")).as_bytes())
        .next()
        .map(|(_, value)| value.into_owned());
    parse_name(&decoded.unwrap_or_default())
}

/// Writes the body to disk as it comes in.
async fn stage(app: &App, body: Body, name: &FileName) -> Result<Staged, Fault> {
    let most = app.config.limits.file_mb * 1024 * 1024;
    let mut incoming = app.library.blobs.receive()?;
    let mut stream = body.into_data_stream();
    while let Some(bytes) = stream.next().await {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                body::drain(&mut stream).await;
                return Err(body::cut_off(&error));
            }
        };
        if incoming.size() + bytes.len() as u64 > most {
            body::drain(&mut stream).await;
            let limit = app.config.limits.file_mb;
            return Err(Fault::new(Reason::TooLarge, format!("{} is larger than {limit} MB", name.as_str()))
                .hint("split the file, or ask the operator to raise the setting limits.file_mb"));
        }
        incoming.write(&bytes)?;
    }
    if incoming.size() == 0 {
        return Err(Fault::new(Reason::InvalidParameter, "the body is empty; send the bytes of a file"));
    }
    Ok(tokio::task::spawn_blocking(move || incoming.finish()).await.map_err(Fault::internal)??)
}

pub(super) fn refused(failure: ParseFailure) -> Fault {
    match failure.kind {
        FailureKind::Internal => Fault::internal(failure),
        FailureKind::Unsupported => Fault::new(Reason::UnsupportedMediaType, failure.message),
        FailureKind::Damaged | FailureKind::Locked | FailureKind::Limits => {
            Fault::new(Reason::Unprocessable, failure.message)
        }
    }
}

fn pages(document: Document, name: &str) -> Vec<LoadedPage> {
    let Document { media_type, title, pages, warnings } = document;
    let total = pages.len();
    let page = |page: Page| {
        let known = [
            ("source", json!(name)),
            ("page", json!(page.number.saturating_sub(1))),
            ("page_label", json!(page.label)),
            ("total_pages", json!(total)),
            ("media_type", json!(media_type)),
        ];
        let mut metadata: Map<String, Value> =
            known.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        if let Some(title) = &title {
            metadata.insert("title".into(), json!(title));
        }
        let said: Vec<&String> = warnings.iter().chain(&page.warnings).collect();
        if !said.is_empty() {
            // A text: vector stores take no lists.
            metadata.insert(
                "warnings".into(),
                json!(said.iter().map(|w| w.as_str()).collect::<Vec<_>>().join("; ")),
            );
        }
        LoadedPage { page_content: page.text, metadata }
    };
    pages.into_iter().map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_percent_encoded() {
        for (sent, name_is) in [
            ("report.pdf", "report.pdf"),
            ("J%C3%A4nner%202021%20%26%20more+.pdf", "Jänner 2021 & more+.pdf"),
            ("..%2F..%2Fetc%2Fpasswd", "passwd"),
            ("a&b.txt", "a&b.txt"),
        ] {
            let headers = HeaderMap::from_iter([(
                axum::http::HeaderName::from_static("x-filename"),
                axum::http::HeaderValue::from_str(sent).unwrap(),
            )]);
            assert_eq!(name(&headers).unwrap().as_str(), name_is, "{sent}");
        }
        assert_eq!(name(&HeaderMap::new()).unwrap().as_str(), "document");
    }
}
