//! Copies a box from one index to another as it is, and catches up with what changes meanwhile.

use std::{collections::HashMap, sync::Arc};

use sha2::{Digest, Sha256};

use super::reindex::stored;
use crate::{
    Fault,
    access::Writing,
    document::Document,
    ids::{ChunkId, FileId},
    seams::index::{Held, Index, IndexedChunk},
};

/// Chunks read from the index at a time.
const CHUNKS_AT_ONCE: u64 = 256;

/// A copy of a box in progress: which revision of each file it has.
#[derive(Debug, Default)]
pub struct Relocation {
    copied: HashMap<FileId, i64>,
}

impl Relocation {
    /// Copies what changed since the last time, takes out what is gone, and says how many files that were. When this
    /// returns, the copy is what `from` was at some moment since.
    ///
    /// `claim` is asked before a file is copied; what it gives is held meanwhile, and a file that it gives nothing for is
    /// being deleted and is left out.
    pub async fn catch_up<C: Send>(
        &mut self,
        from: &dyn Index,
        to: &dyn Index,
        writing: &Writing,
        claim: impl AsyncFn(FileId) -> Result<Option<C>, Fault>,
        mut seen: impl FnMut(usize, usize),
    ) -> Result<usize, Fault> {
        let contents = from.contents(writing.reading()).await?;
        let model = contents.model.as_deref().unwrap_or_default();
        let before = to.contents(writing.reading()).await?;
        let there: HashMap<FileId, &Held> = contents.files.iter().map(|held| (held.file, held)).collect();
        let mut changed = 0;
        for gone in before.files.iter().filter(|held| !there.contains_key(&held.file)) {
            to.remove(writing, gone.file).await?;
            changed += 1;
        }
        let already: HashMap<FileId, (u64, u64)> =
            before.files.iter().map(|held| (held.file, (held.pages, held.chunks))).collect();
        for (at, held) in contents.files.iter().enumerate() {
            seen(at, contents.files.len());
            match self.copied.get(&held.file) {
                Some(&revision) if revision == held.revision => continue,
                // A copy that was cut short goes on where it was.
                None if already.get(&held.file) == Some(&(held.pages, held.chunks))
                    && digest(from, writing, held).await? == digest(to, writing, held).await? => {}
                _ => {
                    let Some(_claimed) = claim(held.file).await? else { continue };
                    copy(from, to, writing, held, model).await?;
                    changed += 1;
                }
            }
            self.copied.insert(held.file, held.revision);
        }
        Ok(changed)
    }
}

/// Whether two indexes have the same of a box, to the last byte. Asked while nobody changes it, before one of the two is
/// dropped.
pub async fn compare(one: &dyn Index, other: &dyn Index, writing: &Writing) -> Result<(), Fault> {
    let (mine, theirs) = (one.contents(writing.reading()).await?, other.contents(writing.reading()).await?);
    let differs = |what: String| Fault::internal(format!("the copy differs: {what}; nothing was dropped"));
    if (mine.files.len(), &mine.model) != (theirs.files.len(), &theirs.model) {
        return Err(differs(format!("{} files are {}", mine.files.len(), theirs.files.len())));
    }
    let copies: HashMap<FileId, &Held> = theirs.files.iter().map(|held| (held.file, held)).collect();
    for held in &mine.files {
        let same = match copies.get(&held.file) {
            Some(copy)
                if (copy.pages, copy.chunks, &copy.title) == (held.pages, held.chunks, &held.title) =>
            {
                digest(one, writing, held).await? == digest(other, writing, held).await?
            }
            _ => false,
        };
        if !same {
            return Err(differs(format!("the file {}", held.file)));
        }
    }
    Ok(())
}

/// Copies one file, and reads it back to compare.
async fn copy(
    from: &dyn Index,
    to: &dyn Index,
    writing: &Writing,
    held: &Held,
    model: &str,
) -> Result<(), Fault> {
    // Stored again meanwhile: the next catching up sees its new revision.
    let Some((document, chunks)) = stored_whole(from, writing, held).await? else { return Ok(()) };
    let (document, chunks) = (Arc::new(document), Arc::from(chunks));
    to.replace(writing, held.file, &document, &chunks, model).await?;
    if digest_of(&document.pages, &chunks) != digest(to, writing, held).await? {
        return Err(Fault::internal(format!("the copy of {} is not what was copied", held.file)));
    }
    Ok(())
}

/// Everything that the index has of a file; `None` where it was stored again meanwhile.
pub async fn stored_whole(
    index: &dyn Index,
    writing: &Writing,
    held: &Held,
) -> Result<Option<(Document, Vec<IndexedChunk>)>, Fault> {
    let document = stored(index, writing, held).await?;
    let chunks = chunks(index, writing, held).await?;
    let whole = chunks.len() as u64 == held.chunks && document.pages.len() as u64 == held.pages;
    let same = index.revision(writing.reading(), held.file).await? == Some(held.revision);
    Ok((whole && same).then_some((document, chunks)))
}

async fn chunks(index: &dyn Index, writing: &Writing, held: &Held) -> Result<Vec<IndexedChunk>, Fault> {
    let mut chunks = Vec::with_capacity(held.chunks as usize);
    for first in (0..held.chunks).step_by(CHUNKS_AT_ONCE as usize) {
        let ordinals = first..held.chunks.min(first + CHUNKS_AT_ONCE);
        let ids: Vec<ChunkId> =
            ordinals.map(|ordinal| ChunkId { file: held.file, ordinal: ordinal as u32 }).collect();
        let reading = writing.reading();
        let parts = index.chunks(reading, &ids).await?.into_iter();
        let models = index.vectors(reading, &ids).await?.into_iter().zip(index.tokens(reading, &ids).await?);
        let whole = parts.zip(models).filter_map(|(chunk, (vector, tokens))| {
            Some(IndexedChunk { chunk: chunk?, vector, tokens }).filter(|chunk| !chunk.vector.is_empty())
        });
        chunks.extend(whole);
    }
    Ok(chunks)
}

async fn digest(index: &dyn Index, writing: &Writing, held: &Held) -> Result<[u8; 32], Fault> {
    Ok(digest_of(&stored(index, writing, held).await?.pages, &chunks(index, writing, held).await?))
}

/// A fingerprint of everything that the index has of a file.
fn digest_of(pages: &[crate::document::Page], chunks: &[IndexedChunk]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for page in pages {
        hash.update(format!("{page:?}"));
    }
    for IndexedChunk { chunk, vector, tokens } in chunks {
        hash.update(format!("{chunk:?}"));
        vector.iter().for_each(|number| hash.update(number.to_le_bytes()));
        hash.update(tokens);
    }
    hash.finalize().into()
}
