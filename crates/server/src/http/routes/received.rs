//! The parts of an upload on their way in: the file goes to disk while it is hashed.

use std::pin::pin;

use axum::body::Bytes;
use engine::{
    Fault, Reason,
    seams::catalog::{FileName, Metadata, NewFile},
};
use futures::{Stream, TryStreamExt, stream};
use jiff::Timestamp;
use stores::blobs::Staged;

use super::labels::{check_tags, parse_expiry, parse_name, parse_tags};
use crate::{
    app::App,
    http::{
        body,
        form::{Form, Part},
    },
};

/// Bytes of the small fields of an upload, each.
const FIELD_BYTES: usize = 64 * 1024;
/// The parts of the form.
const FIELDS: &[&str] = &["file", "name", "metadata", "tags", "externalId", "expiresAt"];

/// The parts of an upload, as they come in.
#[derive(Default)]
pub(crate) struct Received {
    staged: Option<(Staged, FileName, String)>,
    name: Option<FileName>,
    metadata: Option<Metadata>,
    tags: Option<Vec<String>>,
    external_id: Option<String>,
    expires_at: Option<Timestamp>,
    pub(super) warnings: Vec<String>,
}

impl Received {
    /// Reads a form; the sender of one that is refused is listened to for a while, so that they hear why.
    pub(crate) async fn from_form(app: &App, mut form: Form) -> Result<Self, Fault> {
        let mut received = Received::default();
        match received.read(app, &mut form).await {
            Ok(()) => Ok(received),
            Err(fault) => {
                form.drain().await;
                Err(fault)
            }
        }
    }

    async fn read(&mut self, app: &App, form: &mut Form) -> Result<(), Fault> {
        while let Some(part) = form.next_part().await? {
            match part.name.as_str() {
                "file" => {
                    only_once(self.staged.is_some(), "file")?;
                    self.staged = Some(stage(app, form, part).await?);
                }
                "name" => {
                    only_once(self.name.is_some(), "name")?;
                    self.name = Some(parse_name(&form.text("name", FIELD_BYTES).await?)?);
                }
                "metadata" => {
                    only_once(self.metadata.is_some(), "metadata")?;
                    self.metadata = Some(parse_metadata(&form.text("metadata", FIELD_BYTES).await?)?);
                }
                // Many clients send a list as one field for each of its items.
                "tags" => {
                    let mut tags = self.tags.take().unwrap_or_default();
                    tags.extend(parse_tags(&form.text("tags", FIELD_BYTES).await?)?);
                    self.tags = Some(check_tags(tags)?);
                }
                "externalId" | "external_id" => {
                    only_once(self.external_id.is_some(), "externalId")?;
                    let id = form.text("externalId", FIELD_BYTES).await?;
                    self.external_id = Some(parse_external_id(&id)?);
                }
                "expiresAt" | "expires_at" => {
                    only_once(self.expires_at.is_some(), "expiresAt")?;
                    let moment = form.text("expiresAt", FIELD_BYTES).await?;
                    self.expires_at = Some(parse_expiry(&moment)?);
                }
                other => self.warnings.push(body::warning(other, FIELDS)),
            }
        }
        Ok(())
    }

    /// The same of a file that came without a form.
    pub(super) fn described(
        staged: (Staged, FileName, String),
        name: Option<FileName>,
        metadata: Option<Metadata>,
        tags: Option<Vec<String>>,
        external_id: Option<String>,
        expires_at: Option<Timestamp>,
    ) -> Self {
        let staged = Some(staged);
        Received { staged, name, metadata, tags, external_id, expires_at, warnings: Vec::new() }
    }

    /// The file, and how to describe it to the catalog.
    pub(crate) fn whole(self) -> Result<(Staged, impl FnOnce(&Staged) -> NewFile), Fault> {
        let Received { staged, name, metadata, tags, external_id, expires_at, .. } = self;
        let (staged, sent_name, media_type) = staged
            .ok_or_else(|| Fault::missing("file", "the form has no part named `file` with a file in it"))?;
        let name = name.unwrap_or(sent_name);
        let describe = move |staged: &Staged| NewFile {
            name,
            external_id,
            sha256: staged.sha256.clone(),
            size: staged.size,
            media_type,
            tags,
            metadata,
            expires_at,
        };
        Ok((staged, describe))
    }
}

/// Of two values one would be lost, and nobody could say which was meant.
fn only_once(there: bool, name: &str) -> Result<(), Fault> {
    match (there, name) {
        (false, _) => Ok(()),
        (true, "file") => {
            Err(Fault::invalid("file", "an upload can contain only one `file`; upload the others separately"))
        }
        (true, _) => Err(Fault::invalid(name, format!("the form has more than one `{name}`; send it once"))),
    }
}

/// Writes a file part to disk as it comes in, hashing it on the way; never holds more than a piece of it.
pub(super) async fn stage(
    app: &App,
    form: &mut Form,
    part: Part,
) -> Result<(Staged, FileName, String), Fault> {
    let name = parse_name(part.file_name.as_deref().unwrap_or("unnamed"))?;
    let media_type = part.content_type.unwrap_or_else(|| "application/octet-stream".into());
    let pieces = stream::try_unfold(form, |form| async {
        let piece = form.next_piece().await?;
        Ok(piece.map(|piece| (piece, form)))
    });
    let staged = stage_pieces(app, &name, "file", pieces).await?;
    Ok((staged, name, media_type))
}

/// Writes pieces to disk until there are no more, or too many.
pub(super) async fn stage_pieces(
    app: &App,
    name: &FileName,
    param: &str,
    pieces: impl Stream<Item = Result<Bytes, Fault>>,
) -> Result<Staged, Fault> {
    let most = app.config.limits.file_mb * 1024 * 1024;
    let mut incoming = app.library.blobs.receive()?;
    let mut pieces = pin!(pieces);
    while let Some(bytes) = pieces.try_next().await? {
        if incoming.size() + bytes.len() as u64 > most {
            let limit = app.config.limits.file_mb;
            return Err(Fault::new(Reason::TooLarge, format!("{} is larger than {limit} MB", name.as_str()))
                .param(param)
                .hint("split the file, or ask the operator to raise the setting limits.file_mb"));
        }
        incoming.write(&bytes)?;
    }
    Ok(tokio::task::spawn_blocking(move || incoming.finish()).await.map_err(Fault::internal)??)
}

pub(super) fn parse_metadata(text: &str) -> Result<Metadata, Fault> {
    serde_json::from_str(text).map_err(|_| Fault::invalid("metadata", "`metadata` must be a JSON object"))
}

pub(super) fn parse_external_id(text: &str) -> Result<String, Fault> {
    let id = text.trim();
    if !(1..=200).contains(&id.chars().count()) {
        return Err(Fault::invalid("externalId", "`externalId` must have 1 to 200 characters"));
    }
    Ok(id.to_string())
}
