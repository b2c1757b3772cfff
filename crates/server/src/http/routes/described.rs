//! The JSON body of `POST /boxes/{box_id}/files`: a file given as text, as Markdown or by its address.

use engine::{
    Fault, Reason,
    seams::catalog::{FileName, Metadata},
};
use futures::stream;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use stores::blobs::Staged;
use utoipa::ToSchema;

use super::{
    labels::{check_tags, parse_expiry, parse_name},
    received::{Received, parse_external_id, stage_pieces},
};
use crate::{app::App, outside::Outside};

/// A file without a form: exactly one of `text`, `markdown` and `url` says what is in it.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DescribedFile {
    /// What to call it; the last part of its address if left out.
    #[schema(example = "Opening hours")]
    name: Option<String>,
    /// Plain text.
    text: Option<String>,
    /// Text in Markdown: its headings become sections.
    #[schema(example = "# Opening hours\n\nWe are open from nine to five.")]
    markdown: Option<String>,
    /// Where to fetch it from, if the operator allows it (setting `fetch.urls`).
    url: Option<String>,
    /// An object of your own.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Metadata>,
    /// Labels.
    tags: Option<Vec<String>>,
    /// Your own name for the file; the same one again replaces its content.
    external_id: Option<String>,
    /// When the file is deleted by itself, in the future.
    #[schema(value_type = Option<String>, format = DateTime, example = "2027-01-31T12:00:00Z")]
    expires_at: Option<String>,
}

/// What is in a file.
enum Content {
    /// This text, of this media type; a name without an ending gets this one.
    Text { text: String, media_type: &'static str, endings: &'static [&'static str] },
    /// What is at this address.
    Url(String),
}

impl DescribedFile {
    /// A text that somebody typed or pasted.
    pub(crate) fn of_text(name: &str, text: &str) -> Self {
        DescribedFile { name: Some(name.into()), markdown: Some(text.into()), ..DescribedFile::default() }
    }

    /// What is at an address.
    pub(crate) fn of_address(url: &str) -> Self {
        DescribedFile { url: Some(url.into()), ..DescribedFile::default() }
    }

    /// The file on disk, and all that is said of it.
    pub(crate) async fn receive(self, app: &App) -> Result<Received, Fault> {
        let content = content(self.text, self.markdown, self.url)?;
        let name = self.name.as_deref().map(parse_name).transpose()?;
        let tags = self.tags.map(check_tags).transpose()?;
        let external_id = self.external_id.as_deref().map(parse_external_id).transpose()?;
        let expires_at = self.expires_at.as_deref().map(parse_expiry).transpose()?;
        let (staged, name) = match content {
            Content::Text { text, media_type, endings } => {
                let name = name.ok_or_else(|| Fault::missing("name", "a name for the file"))?;
                let name = with_ending(name, endings)?;
                ((stage_text(app, &text).await?, name, media_type.to_string()), None)
            }
            Content::Url(url) => (fetch(app, &url).await?, name),
        };
        Ok(Received::described(staged, name, self.metadata, tags, external_id, expires_at))
    }
}

fn content(text: Option<String>, markdown: Option<String>, url: Option<String>) -> Result<Content, Fault> {
    match (text, markdown, url) {
        (Some(text), None, None) => {
            Ok(Content::Text { text, media_type: "text/plain", endings: TEXT_ENDINGS })
        }
        (None, Some(text), None) => {
            Ok(Content::Text { text, media_type: "text/markdown", endings: &[".md", ".markdown"] })
        }
        (None, None, Some(url)) => Ok(Content::Url(url)),
        (None, None, None) => Err(Fault::missing(
            "text",
            "the content of the file as `text` or `markdown`, or its address as `url`",
        )),
        _ => Err(Fault::invalid("text", "send only one of `text`, `markdown` and `url`")),
    }
}

/// Endings of files that are text as they stand.
const TEXT_ENDINGS: &[&str] =
    &[".txt", ".text", ".md", ".markdown", ".csv", ".tsv", ".json", ".yaml", ".yml", ".log", ".rst"];

/// The ending tells the parser which kind of text it is.
fn with_ending(name: FileName, endings: &[&str]) -> Result<FileName, Fault> {
    let lower = name.as_str().to_lowercase();
    if endings.iter().any(|ending| lower.ends_with(ending)) {
        return Ok(name);
    }
    parse_name(&format!("{}{}", name.as_str(), endings[0]))
}

async fn stage_text(app: &App, text: &str) -> Result<Staged, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::invalid("text", "the text is empty; send at least one character"));
    }
    let mut incoming = app.library.blobs.receive()?;
    incoming.write(text.as_bytes())?;
    Ok(tokio::task::spawn_blocking(move || incoming.finish()).await.map_err(Fault::internal)??)
}

/// Fetches a file, within the time and size that it may have.
async fn fetch(app: &App, url: &str) -> Result<(Staged, FileName, String), Fault> {
    let outside = app.fetch.as_ref().ok_or_else(|| {
        Fault::new(Reason::Unprocessable, "this server does not fetch files from URLs")
            .param("url")
            .hint("send the file itself, or ask the operator to set fetch.urls = true")
    })?;
    let url = outside.parse(url)?;
    let patience = app.config.fetch.timeout();
    let fetched = tokio::time::timeout(patience, fetch_within(app, outside, url)).await;
    fetched.map_err(|_| {
        let cause = format!(
            "fetching the file took more than {} seconds; try again, or upload the file itself",
            patience.as_secs()
        );
        Fault::new(Reason::Unprocessable, cause).param("url")
    })?
}

async fn fetch_within(
    app: &App,
    outside: &Outside,
    url: reqwest::Url,
) -> Result<(Staged, FileName, String), Fault> {
    let (url, response) = outside.get(url).await?;
    if !response.status().is_success() {
        let cause = format!(
            "the address in `url` answered with the status {}; check the address",
            response.status().as_u16()
        );
        return Err(Fault::new(Reason::Unprocessable, cause).param("url"));
    }
    let media_type =
        response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type =
        media_type.and_then(|value| value.split(';').next()).map(|value| value.trim().to_lowercase());
    let media_type = media_type.filter(|value| !value.is_empty() && value.len() <= 100);
    let name = name_of(&url)?;
    let pieces = stream::try_unfold(response, |mut response| async {
        let piece = response.chunk().await.map_err(|error| outside.failed(&error))?;
        Ok(piece.map(|piece| (piece, response)))
    });
    let staged = stage_pieces(app, &name, "url", pieces).await?;
    Ok((staged, name, media_type.unwrap_or_else(|| "application/octet-stream".into())))
}

/// The last part of the path, or else the host.
fn name_of(url: &reqwest::Url) -> Result<FileName, Fault> {
    let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let last = percent_decode_str(last).decode_utf8_lossy();
    let host = url.host_str().unwrap_or("page");
    parse_name(if last.trim().is_empty() { host } else { &last }).or_else(|_| parse_name(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_address() {
        for (url, name) in [
            ("https://example.org/a/b%20c.pdf?x=1#y", "b c.pdf"),
            ("https://example.org/a+b.txt", "a+b.txt"),
            ("https://example.org/", "example.org"),
            ("https://example.org", "example.org"),
            ("https://example.org/a%2Fb.md", "b.md"),
        ] {
            assert_eq!(name_of(&url.parse().unwrap()).unwrap().as_str(), name, "{url}");
        }
    }

    #[test]
    fn a_text_keeps_an_ending_that_fits() {
        for (name, kept) in [("a.md", "a.md"), ("A.CSV", "A.CSV"), ("a", "a.txt"), ("v1.2", "v1.2.txt")] {
            assert_eq!(with_ending(parse_name(name).unwrap(), TEXT_ENDINGS).unwrap().as_str(), kept);
        }
    }

    #[test]
    fn exactly_one_content_is_taken() {
        let some = || Some("x".to_string());
        assert!(content(None, None, None).is_err() && content(some(), some(), None).is_err());
        assert!(content(some(), None, None).is_ok() && content(None, None, some()).is_ok());
    }
}
