//! Several indexes as one: the catalog says which of them has a box.

use std::sync::Arc;

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Reading, Writing},
    document::{Document, Page},
    ids::{BoxId, ChunkId, FileId},
    seams::{
        catalog::Catalog,
        index::{Chunk, Contents, HowRead, Index, IndexedChunk, LaidOut, Recall, Recalled, Removed},
    },
};

/// The indexes of several database clusters. A box is in one of them, chosen when it is first written to, until
/// `quire box move` takes it to another.
///
/// The catalog is asked each time: whoever changes a box holds a claim that a move holds too, so that nothing is written
/// to where the box was.
#[derive(Clone)]
pub struct Sharded {
    shards: Vec<Arc<dyn Index>>,
    catalog: Arc<dyn Catalog>,
}

impl Sharded {
    /// These indexes, of which a box's is the one with the number that the catalog notes.
    pub fn new(shards: Vec<Arc<dyn Index>>, catalog: Arc<dyn Catalog>) -> Self {
        Sharded { shards, catalog }
    }

    fn shard(&self, number: u32) -> Result<&Arc<dyn Index>, Fault> {
        let missing = || Fault::internal(format!("there is no shard {number}: index.shards lost one"));
        self.shards.get(number as usize).ok_or_else(missing)
    }

    /// Where a box is; one that was never written to is nowhere, and any will do.
    async fn of(&self, box_id: BoxId) -> Result<&Arc<dyn Index>, Fault> {
        self.shard(self.catalog.shard_of(box_id).await?.unwrap_or(0))
    }

    /// Where a box is, or from now on will be: identifiers end in chance, which spreads them evenly.
    async fn made(&self, box_id: BoxId) -> Result<&Arc<dyn Index>, Fault> {
        if let Some(number) = self.catalog.shard_of(box_id).await? {
            return self.shard(number);
        }
        let choice = u32::from(box_id.as_bytes()[15]) % self.shards.len() as u32;
        self.shard(self.catalog.place_box(&Writing::for_operator(box_id), choice).await?)
    }
}

#[async_trait]
impl Index for Sharded {
    async fn replace(
        &self,
        writing: &Writing,
        file: FileId,
        document: &Arc<Document>,
        chunks: &Arc<[IndexedChunk]>,
        model: &str,
    ) -> Result<(), Fault> {
        let made = self.made(writing.box_id()).await?;
        made.replace(writing, file, document, chunks, model).await?;
        // What a move that was cut short has left elsewhere is of an older version now.
        for shard in self.shards.iter().filter(|shard| !Arc::ptr_eq(shard, made)) {
            shard.remove(writing, file).await?;
        }
        Ok(())
    }

    async fn remove(&self, writing: &Writing, file: FileId) -> Result<Removed, Fault> {
        let own = self.of(writing.box_id()).await?;
        let mut removed = Removed::default();
        // From all: a move that was cut short leaves copies.
        for shard in &self.shards {
            let gone = shard.remove(writing, file).await?;
            if Arc::ptr_eq(shard, own) {
                removed = gone;
            }
        }
        Ok(removed)
    }

    async fn drop_box(&self, writing: &Writing) -> Result<(), Fault> {
        // Its record may be gone already, and with it where it was.
        for shard in &self.shards {
            shard.drop_box(writing).await?;
        }
        Ok(())
    }

    async fn pages(
        &self,
        reading: &Reading,
        file: FileId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<Page>, Fault> {
        self.of(reading.box_id()).await?.pages(reading, file, from, limit).await
    }

    async fn how_read(&self, reading: &Reading, file: FileId) -> Result<HowRead, Fault> {
        self.of(reading.box_id()).await?.how_read(reading, file).await
    }

    async fn laid_out(
        &self,
        reading: &Reading,
        pages: &[(FileId, u32)],
    ) -> Result<Vec<Option<LaidOut>>, Fault> {
        self.of(reading.box_id()).await?.laid_out(reading, pages).await
    }

    async fn revision(&self, reading: &Reading, file: FileId) -> Result<Option<i64>, Fault> {
        self.of(reading.box_id()).await?.revision(reading, file).await
    }

    async fn recall(&self, reading: &Reading, recall: Recall<'_>) -> Result<Recalled, Fault> {
        self.of(reading.box_id()).await?.recall(reading, recall).await
    }

    async fn cosines(
        &self,
        reading: &Reading,
        ids: &[ChunkId],
        vector: &[f32],
    ) -> Result<Vec<Option<f32>>, Fault> {
        self.of(reading.box_id()).await?.cosines(reading, ids, vector).await
    }

    async fn chunks(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault> {
        self.of(reading.box_id()).await?.chunks(reading, ids).await
    }

    async fn tokens(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<u8>>, Fault> {
        self.of(reading.box_id()).await?.tokens(reading, ids).await
    }

    async fn vectors(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>, Fault> {
        self.of(reading.box_id()).await?.vectors(reading, ids).await
    }

    async fn contents(&self, reading: &Reading) -> Result<Contents, Fault> {
        self.of(reading.box_id()).await?.contents(reading).await
    }

    async fn model(&self, reading: &Reading) -> Result<Option<String>, Fault> {
        self.of(reading.box_id()).await?.model(reading).await
    }

    async fn usual_language(&self, reading: &Reading) -> Result<Option<String>, Fault> {
        self.of(reading.box_id()).await?.usual_language(reading).await
    }

    fn draft(&self) -> Arc<dyn Index> {
        let shards = self.shards.iter().map(|shard| shard.draft()).collect();
        Arc::new(Sharded { shards, catalog: self.catalog.clone() })
    }

    async fn adopt(&self, writing: &Writing) -> Result<(), Fault> {
        self.made(writing.box_id()).await?.adopt(writing).await
    }

    async fn describe(&self) -> Result<String, Fault> {
        let mut said = Vec::new();
        for (number, shard) in self.shards.iter().enumerate() {
            said.push(format!("shard {number}: {}", shard.describe().await?));
        }
        Ok(said.join("; "))
    }
}
