//! The index: embedded here, where one `SQLite` file a box is the truth and vector codes and the text index derive from
//! it; on servers in [`postgres`].
//!
//! - [`schema`] and [`truth`]: the file of a box and its rows.
//! - [`rows`] and [`vectors`]: which chunks are live, and the nearest of them; in memory.
//! - [`text`]: full text, beside the file or in memory.
//! - [`open`] and [`boxes`]: one open box, and which boxes are open.
//!
//! Everything but the truth can be deleted and is rebuilt from it.

mod boxes;
#[cfg(test)]
mod contract;
pub mod copies;
mod open;
mod postgres;
mod rows;
mod schema;
mod sharded;
#[cfg(test)]
mod tests;
mod text;
mod truth;
mod vectors;

use std::{collections::HashSet, io, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Reading, Writing},
    blocking,
    document::{Document, Page},
    ids::{BoxId, ChunkId, FileId},
    seams::index::{Chunk, Contents, HowRead, Index, IndexedChunk, LaidOut, Recall, Recalled, Removed},
};

pub use boxes::Bounds;
use boxes::Boxes;
use open::{Incoming, OpenBox};
pub use postgres::Postgres;
pub use sharded::Sharded;

/// The index of all boxes under one folder of the local disk.
#[derive(Clone)]
pub struct Embedded {
    boxes: Arc<Boxes>,
    drafts: Arc<Boxes>,
}

/// What a recall asks of either side.
#[derive(Debug, Clone)]
struct Wanted {
    only: Option<HashSet<FileId>>,
    limit: usize,
    exact_to: usize,
}

impl Embedded {
    /// The index kept under `root`, which is created where it is missing.
    pub fn open(root: impl Into<PathBuf>, bounds: Bounds) -> io::Result<Self> {
        let root = root.into();
        let drafts = Boxes::new(root.join("drafts"), bounds)?;
        Ok(Embedded { boxes: Arc::new(Boxes::new(root, bounds)?), drafts: Arc::new(drafts) })
    }

    /// How many boxes are open now; never more than the bounds say, unless more are in use at once.
    pub fn open_boxes(&self) -> usize {
        self.boxes.count()
    }

    /// Runs disk and CPU work off the async threads.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Boxes) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let boxes = self.boxes.clone();
        blocking::run(move |_| work(&boxes)).await?
    }

    /// Reads from a box, or answers with nothing where there is no such box.
    async fn read<T: Default + Send + 'static>(
        &self,
        box_id: BoxId,
        work: impl FnOnce(&OpenBox) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.off_thread(move |boxes| boxes.existing(box_id).map_or(Ok(T::default()), |open| work(&open)))
            .await
    }
}

#[async_trait]
impl Index for Embedded {
    async fn replace(
        &self,
        writing: &Writing,
        file: FileId,
        document: &Arc<Document>,
        chunks: &Arc<[IndexedChunk]>,
        model: &str,
    ) -> Result<(), Fault> {
        let box_id = writing.box_id();
        let incoming =
            Incoming { file, document: document.clone(), chunks: chunks.clone(), model: model.to_string() };
        let boxes = self.boxes.clone();
        blocking::aside(move || {
            // A box retired while we waited for it makes place for a new one of the same name.
            loop {
                if let Ok(()) = boxes.made(box_id)?.replace(&incoming)? {
                    return Ok(());
                }
            }
        })
        .await?
    }

    async fn remove(&self, writing: &Writing, file: FileId) -> Result<Removed, Fault> {
        self.read(writing.box_id(), move |open| Ok(open.remove(file)?.unwrap_or_default())).await
    }

    async fn drop_box(&self, writing: &Writing) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.off_thread(move |boxes| boxes.drop_box(box_id)).await
    }

    async fn pages(
        &self,
        reading: &Reading,
        file: FileId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<Page>, Fault> {
        self.read(reading.box_id(), move |open| open.pages(file, from, limit)).await
    }

    async fn how_read(&self, reading: &Reading, file: FileId) -> Result<HowRead, Fault> {
        self.read(reading.box_id(), move |open| open.how_read(file)).await
    }

    async fn laid_out(
        &self,
        reading: &Reading,
        pages: &[(FileId, u32)],
    ) -> Result<Vec<Option<LaidOut>>, Fault> {
        let (asked, wanted) = (pages.to_vec(), pages.len());
        let mut found = self.read(reading.box_id(), move |open| open.laid_out(&asked)).await?;
        found.resize(wanted, None);
        Ok(found)
    }

    async fn revision(&self, reading: &Reading, file: FileId) -> Result<Option<i64>, Fault> {
        self.read(reading.box_id(), move |open| open.revision(file)).await
    }

    async fn recall(&self, reading: &Reading, recall: Recall<'_>) -> Result<Recalled, Fault> {
        let wanted = Wanted { only: recall.only.cloned(), limit: recall.limit, exact_to: recall.exact_to };
        let by_vector = async {
            let Some(vector) = recall.vector.map(<[f32]>::to_vec) else { return Ok(Vec::new()) };
            let (wanted, model) = (wanted.clone(), recall.model.to_string());
            self.read(reading.box_id(), move |open| open.by_vector(&vector, &model, &wanted)).await
        };
        let by_text = async {
            let Some(text) = recall.text.map(str::to_string) else { return Ok(Default::default()) };
            let wanted = wanted.clone();
            self.read(reading.box_id(), move |open| open.by_text(&text, &wanted)).await
        };
        let (semantic, (keyword, corrected)) = tokio::try_join!(by_vector, by_text)?;
        Ok(Recalled { semantic, keyword, corrected })
    }

    async fn cosines(
        &self,
        reading: &Reading,
        ids: &[ChunkId],
        vector: &[f32],
    ) -> Result<Vec<Option<f32>>, Fault> {
        let (asked, vector, wanted) = (ids.to_vec(), vector.to_vec(), ids.len());
        let mut found = self.read(reading.box_id(), move |open| open.cosines(&asked, &vector)).await?;
        found.resize(wanted, None);
        Ok(found)
    }

    async fn chunks(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault> {
        let (asked, wanted) = (ids.to_vec(), ids.len());
        let mut found = self.read(reading.box_id(), move |open| open.chunks(&asked)).await?;
        found.resize(wanted, None);
        Ok(found)
    }

    async fn tokens(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<u8>>, Fault> {
        let (asked, wanted) = (ids.to_vec(), ids.len());
        let mut found = self.read(reading.box_id(), move |open| open.tokens(&asked)).await?;
        found.resize(wanted, Vec::new());
        Ok(found)
    }

    async fn vectors(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>, Fault> {
        let (asked, wanted) = (ids.to_vec(), ids.len());
        let mut found = self.read(reading.box_id(), move |open| open.vectors(&asked)).await?;
        found.resize(wanted, Vec::new());
        Ok(found)
    }

    async fn contents(&self, reading: &Reading) -> Result<Contents, Fault> {
        self.read(reading.box_id(), OpenBox::contents).await
    }

    async fn model(&self, reading: &Reading) -> Result<Option<String>, Fault> {
        self.read(reading.box_id(), OpenBox::model).await
    }

    async fn usual_language(&self, reading: &Reading) -> Result<Option<String>, Fault> {
        self.read(reading.box_id(), OpenBox::usual_language).await
    }

    fn draft(&self) -> Arc<dyn Index> {
        Arc::new(Embedded { boxes: self.drafts.clone(), drafts: self.boxes.clone() })
    }

    async fn adopt(&self, writing: &Writing) -> Result<(), Fault> {
        let (box_id, drafts) = (writing.box_id(), self.drafts.clone());
        self.off_thread(move |boxes| boxes.exchange(box_id, &drafts)).await
    }

    async fn describe(&self) -> Result<String, Fault> {
        Ok("in the data folder; vectors by codes and exact rescoring, words by BM25".into())
    }
}
