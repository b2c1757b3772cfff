//! What the sample box holds: quire's own documentation, so that the first question a newcomer asks has an answer.

use engine::{
    Fault,
    access::Writing,
    ids::UserId,
    seams::catalog::{BoxRecord, NewFile},
};
use stores::blobs::Staged;

use crate::{docs, library::Library};

/// The name of the box.
pub(super) const BOX: &str = "Sample";

/// The sample box, and whether it is new. A new one is filled; one that exists is the user's own to change.
pub(super) async fn sample_box(library: &Library, owner: UserId) -> Result<(BoxRecord, bool), Fault> {
    let boxes = library.catalog.boxes().await?;
    if let Some(record) = boxes.into_iter().find(|record| record.name.as_str() == BOX) {
        return Ok((record, false));
    }
    let record = library.catalog.add_box(BOX.parse().expect("a valid name"), owner).await?;
    // The API reference is mostly code; questions about it are answered by the guides.
    for page in docs::pages().filter(|page| page.name != "api.md") {
        let mut incoming = library.blobs.receive()?;
        incoming.write(page.markdown().as_bytes())?;
        let describe = |staged: &Staged| NewFile {
            name: page.name.parse().expect("a valid name"),
            external_id: Some(format!("quire-documentation/{}", page.name)),
            sha256: staged.sha256.clone(),
            size: staged.size,
            media_type: "text/markdown".into(),
            tags: None,
            metadata: None,
            expires_at: None,
        };
        library.add(&Writing::for_operator(record.id), incoming.finish()?, describe).await?;
    }
    Ok((record, true))
}
