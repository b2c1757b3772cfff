//! What the sample box holds: quire's own documentation, so that the first question a newcomer asks has an answer.

use engine::{
    Fault,
    access::Writing,
    ids::UserId,
    seams::catalog::{BoxRecord, NewFile},
};
use stores::blobs::Staged;

use crate::library::Library;

/// The name of the box.
pub(super) const BOX: &str = "Sample";

macro_rules! documents {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../docs/", $name)))),*]
    };
}

/// Every page of the documentation. A test compares the list with the folder.
const DOCUMENTS: &[(&str, &str)] = documents![
    "accounts.md",
    "chat.md",
    "concepts.md",
    "dashboard.md",
    "errors.md",
    "index.md",
    "operating.md",
    "quickstart.md",
    "scaling.md",
    "search.md",
    "units.md",
];

/// The sample box, and whether it is new. A new one is filled; one that exists is the user's own to change.
pub(super) async fn sample_box(library: &Library, owner: UserId) -> Result<(BoxRecord, bool), Fault> {
    let boxes = library.catalog.boxes().await?;
    if let Some(record) = boxes.into_iter().find(|record| record.name.as_str() == BOX) {
        return Ok((record, false));
    }
    let record = library.catalog.add_box(BOX.parse().expect("a valid name"), owner).await?;
    for (name, text) in DOCUMENTS {
        let mut incoming = library.blobs.receive()?;
        incoming.write(text.as_bytes())?;
        let describe = |staged: &Staged| NewFile {
            name: name.parse().expect("a valid name"),
            external_id: Some(format!("quire-documentation/{name}")),
            sha256: staged.sha256.clone(),
            size: staged.size,
            media_type: "text/markdown".into(),
            tags: None,
            metadata: None,
        };
        library.add(&Writing::for_operator(record.id), incoming.finish()?, describe).await?;
    }
    Ok((record, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_holds_every_page_of_the_documentation() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| name.ends_with(".md"));
        names.sort();
        let held: Vec<&str> = DOCUMENTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(held, names, "add the page to DOCUMENTS");
    }
}
