//! Builds a second index of a box beside the one in use.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{EmbeddedFile, Ingest};
use crate::{
    Fault,
    access::Writing,
    document::Document,
    ids::FileId,
    seams::{
        catalog::Held as Claimed,
        embedder::Embedder,
        index::{Contents, Held, Index},
    },
};

/// Pages read from the index at a time.
const PAGES_AT_ONCE: u32 = 200;

/// A draft of a box's index in progress: which revision of each file it has.
#[derive(Debug, Default)]
pub struct Draft {
    copied: HashMap<FileId, i64>,
}

impl Draft {
    /// What the draft lacks, in order.
    pub fn lacks<'a>(&self, contents: &'a Contents) -> Vec<&'a Held> {
        contents.files.iter().filter(|held| self.copied.get(&held.file) != Some(&held.revision)).collect()
    }

    /// Cuts and embeds one file again, from the pages that the index has of it. Takes long, and changes nothing.
    pub async fn embed(
        ingest: &Ingest,
        writing: &Writing,
        held: &Held,
        name: &str,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<EmbeddedFile, Fault> {
        let document = stored(&*ingest.index, writing, held).await?;
        ingest.embed(writing, document, name, embedder.clone(), &|_, _| {}).await
    }

    /// Puts a file into the draft. Whoever calls this has seen, since they claimed the file or its box, that it is not
    /// deleted; a claim that is handed over lasts until it is stored, whoever waits for that.
    pub async fn store(
        &mut self,
        ingest: &Ingest,
        writing: &Writing,
        held: &Held,
        embedded: EmbeddedFile,
        claimed: Option<Claimed>,
    ) -> Result<(), Fault> {
        let draft = ingest.index.draft();
        let (writing, file) = (*writing, held.file);
        let storing = tokio::spawn(async move {
            let _claimed = claimed;
            draft.replace(&writing, file, &embedded.document, &embedded.chunks, &embedded.model).await
        });
        storing.await.map_err(Fault::internal)??;
        self.copied.insert(held.file, held.revision);
        Ok(())
    }

    /// Takes out what the box no longer has.
    pub async fn forget(
        &mut self,
        ingest: &Ingest,
        writing: &Writing,
        contents: &Contents,
    ) -> Result<(), Fault> {
        let there: HashSet<FileId> = contents.files.iter().map(|held| held.file).collect();
        let gone: Vec<FileId> = self.copied.keys().filter(|file| !there.contains(file)).copied().collect();
        for file in gone {
            ingest.index.draft().remove(writing, file).await?;
            self.copied.remove(&file);
        }
        Ok(())
    }
}

/// A document as the index has it. What it does not keep, the draft does not need.
pub(super) async fn stored(index: &dyn Index, writing: &Writing, held: &Held) -> Result<Document, Fault> {
    let mut pages = Vec::new();
    loop {
        let from = pages.last().map_or(1, |page: &crate::document::Page| page.number + 1);
        let more = index.pages(writing.reading(), held.file, from, PAGES_AT_ONCE).await?;
        if more.is_empty() {
            break;
        }
        pages.extend(more);
    }
    Ok(Document { media_type: String::new(), title: held.title.clone(), pages, warnings: Vec::new() })
}
