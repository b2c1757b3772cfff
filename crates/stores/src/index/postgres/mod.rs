//! The index on `PostgreSQL` with pgvector: for many nodes.
//!
//! - [`schema`]: the tables; a box's content has a number, and a name leads to it, so that adopting a draft changes names.
//! - [`store`]: storing and removing files.
//! - [`nearest`]: vectors, by an exact scan in a small box and by HNSW in a large one; [`tend`] builds what that walks.
//! - [`words`]: full text: postings in a table, and the same BM25 over the same terms as the embedded index has; [`renew`]
//!   makes older ones anew.
//! - [`read`]: pages, chunks and contents; [`replicas`]: from where.

mod nearest;
mod read;
mod renew;
mod replicas;
mod schema;
mod store;
mod tend;
mod words;

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Reading, Writing},
    document::{Document, Page},
    ids::{BoxId, ChunkId, FileId},
    seams::index::{Chunk, Contents, HowRead, Index, IndexedChunk, LaidOut, Recall, Recalled, Removed},
};
use parking_lot::Mutex;
use replicas::{Replica, Replicas};

use super::open::other_model;
use crate::{
    Error,
    postgres::{Address, Connection, Pool},
};

/// Connections per node to each server: a search uses two.
const CONNECTIONS: usize = 32;

/// The index of all boxes in one database, with replicas of it to read from.
#[derive(Clone)]
pub struct Postgres {
    shared: Arc<Shared>,
    /// Whether this is the second index, beside the first.
    draft: bool,
}

struct Shared {
    primary: Pool,
    /// Where searches go.
    replicas: Replicas,
    /// How many chunks each large box without an index had when it was last looked at.
    growing: Mutex<HashMap<i64, i64>>,
}

/// A transaction in progress; undone where it is dropped before its end.
struct Transaction(Connection);

impl Transaction {
    async fn commit(self) -> Result<(), Error> {
        self.0.batch_execute("commit").await?;
        self.0.mend();
        Ok(())
    }
}

/// The content of a box, as its row says.
struct Content {
    number: i64,
    model: Option<String>,
    chunks: i64,
    /// Terms of all chunks, in their texts and in what is above them.
    terms: (i64, i64),
    /// Most frequent first; an empty one is unknown.
    languages: Vec<String>,
}

impl Postgres {
    /// Connects to the database and brings its tables up to date; searches go to the replicas, where there are any.
    pub async fn connect(url: &str, replicas: &[&str]) -> Result<Self, Error> {
        let pool =
            |url: &str| Ok::<_, Error>(Pool::greeting(Address::parse(url)?, CONNECTIONS, nearest::SETTINGS));
        let primary = pool(url)?;
        schema::prepare(&Address::parse(url)?).await?;
        let replicas = Replicas::new(replicas.iter().map(|url| pool(url)).collect::<Result<_, _>>()?);
        let shared = Arc::new(Shared { primary, replicas, growing: Mutex::default() });
        tokio::spawn(tend::run(Arc::downgrade(&shared)));
        Ok(Postgres { shared, draft: false })
    }

    /// Where to read what there is of a box.
    async fn source(&self, box_id: BoxId) -> Result<Option<&Replica>, Error> {
        self.shared.replicas.with(&self.shared.primary, (box_id, self.draft)).await
    }

    /// Reads what there is of a box.
    async fn read<T, F: Future<Output = Result<T, Error>> + Send>(
        &self,
        box_id: BoxId,
        work: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, Error> {
        self.read_from(self.source(box_id).await?, work).await
    }

    /// Reads, from a replica or from the primary. What was lost on the way is asked for again, of the primary.
    async fn read_from<T, F: Future<Output = Result<T, Error>> + Send>(
        &self,
        replica: Option<&Replica>,
        work: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, Error> {
        let primary = &self.shared.primary;
        let tried = async { work(replica.map_or(primary, |replica| &replica.pool).get().await?).await };
        match (tried.await, replica) {
            // Whatever is wrong with it: a replica also gives up queries that stand in the way of what it follows.
            (Err(error), Some(replica)) => replica.rest(&error),
            (Err(Error::Away(_)), None) => primary.forget_idle(),
            (done, _) => return done,
        }
        work(primary.get().await?).await
    }

    /// Begins to change something.
    async fn begin(&self) -> Result<Transaction, Error> {
        let begun = async || {
            let connection = self.shared.primary.get().await?;
            // Dropped before its end, it must not be lent out in the middle of a transaction.
            connection.spoil();
            connection.batch_execute("begin").await?;
            Ok::<_, Error>(Transaction(connection))
        };
        match begun().await {
            // A connection that died while nobody used it; nothing was done yet.
            Err(Error::Away(_)) => {
                self.shared.primary.forget_idle();
                begun().await
            }
            done => done,
        }
    }

    /// The content of a box; `None` where nothing was ever stored.
    async fn content(&self, connection: Connection, box_id: BoxId) -> Result<Option<Content>, Error> {
        let sql = "select b.number, b.model, b.chunks, b.body_terms, b.head_terms,
                   array(select l.language from index_languages l where l.box = b.number and l.chunks > 0
                   order by l.chunks desc, l.language)
                   from index_names n join index_boxes b on b.number = n.number
                   where n.box_id = $1 and n.draft = $2";
        let statement = connection.prepared(sql).await?;
        let row = connection.query_opt(&statement, &[&box_id.to_string(), &self.draft]).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Content {
            number: row.try_get(0)?,
            model: row.try_get(1)?,
            chunks: row.try_get(2)?,
            terms: (row.try_get(3)?, row.try_get(4)?),
            languages: row.try_get(5)?,
        }))
    }
}

#[async_trait]
impl Index for Postgres {
    async fn replace(
        &self,
        writing: &Writing,
        file: FileId,
        document: &Arc<Document>,
        chunks: &Arc<[IndexedChunk]>,
        model: &str,
    ) -> Result<(), Fault> {
        let incoming = store::Incoming::of(file, document, chunks, model);
        let transaction = self.begin().await?;
        store::replace(&transaction.0, writing.box_id(), self.draft, &incoming).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn remove(&self, writing: &Writing, file: FileId) -> Result<Removed, Fault> {
        let transaction = self.begin().await?;
        let removed = store::remove(&transaction.0, writing.box_id(), self.draft, file).await?;
        transaction.commit().await?;
        Ok(removed)
    }

    async fn drop_box(&self, writing: &Writing) -> Result<(), Fault> {
        let transaction = self.begin().await?;
        let dropped = store::drop_box(&transaction.0, writing.box_id(), self.draft).await?;
        transaction.commit().await?;
        if let Some(number) = dropped {
            self.forget_index(number).await?;
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
        let (box_id, numbers) = (reading.box_id(), from..from.saturating_add(limit));
        let pages = self
            .read(box_id, |connection| read::pages(connection, box_id, self.draft, file, numbers.clone()));
        Ok(pages.await?)
    }

    async fn how_read(&self, reading: &Reading, file: FileId) -> Result<HowRead, Fault> {
        let box_id = reading.box_id();
        let counted = self.read(box_id, |connection| read::how_read(connection, box_id, self.draft, file));
        Ok(counted.await?)
    }

    async fn laid_out(
        &self,
        reading: &Reading,
        pages: &[(FileId, u32)],
    ) -> Result<Vec<Option<LaidOut>>, Fault> {
        let box_id = reading.box_id();
        Ok(self.read(box_id, |connection| read::laid_out(connection, box_id, self.draft, pages)).await?)
    }

    async fn revision(&self, reading: &Reading, file: FileId) -> Result<Option<i64>, Fault> {
        let box_id = reading.box_id();
        Ok(self.read(box_id, |connection| read::revision(connection, box_id, self.draft, file)).await?)
    }

    async fn recall(&self, reading: &Reading, recall: Recall<'_>) -> Result<Recalled, Fault> {
        let source = self.source(reading.box_id()).await?;
        let content = self.read_from(source, |connection| self.content(connection, reading.box_id())).await?;
        let Some(content) = content.filter(|content| content.chunks > 0) else {
            return Ok(Recalled::default());
        };
        if let (Some(_), Some(stored)) = (recall.vector, content.model.as_deref())
            && stored != recall.model
        {
            return Err(other_model(stored, recall.model));
        }
        let by_vector = async {
            let Some(vector) = recall.vector else { return Ok(Vec::new()) };
            self.read_from(source, |connection| nearest::find(connection, &content, vector, &recall)).await
        };
        let by_text = async {
            let Some(text) = recall.text else { return Ok(Default::default()) };
            self.read_from(source, |connection| words::find(connection, &content, text, &recall)).await
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
        let wanted = read::Wanted { box_id: reading.box_id(), draft: self.draft, ids };
        Ok(self.read(wanted.box_id, |connection| read::cosines(connection, wanted, vector)).await?)
    }

    async fn chunks(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault> {
        let wanted = read::Wanted { box_id: reading.box_id(), draft: self.draft, ids };
        Ok(self.read(wanted.box_id, |connection| read::chunks(connection, wanted)).await?)
    }

    async fn tokens(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<u8>>, Fault> {
        let wanted = read::Wanted { box_id: reading.box_id(), draft: self.draft, ids };
        Ok(self.read(wanted.box_id, |connection| read::tokens(connection, wanted)).await?)
    }

    async fn vectors(&self, reading: &Reading, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>, Fault> {
        let wanted = read::Wanted { box_id: reading.box_id(), draft: self.draft, ids };
        Ok(self.read(wanted.box_id, |connection| read::vectors(connection, wanted)).await?)
    }

    async fn contents(&self, reading: &Reading) -> Result<Contents, Fault> {
        // Whoever asks for this goes on to change things: replicas may be behind.
        let connection = self.shared.primary.get().await?;
        Ok(read::contents(&connection, reading.box_id(), self.draft).await?)
    }

    async fn model(&self, reading: &Reading) -> Result<Option<String>, Fault> {
        let box_id = reading.box_id();
        let content = self.read(box_id, |connection| self.content(connection, box_id)).await?;
        Ok(content.filter(|content| content.chunks > 0).and_then(|content| content.model))
    }

    async fn usual_language(&self, reading: &Reading) -> Result<Option<String>, Fault> {
        let box_id = reading.box_id();
        let content = self.read(box_id, |connection| self.content(connection, box_id)).await?;
        let languages = content.into_iter().flat_map(|content| content.languages);
        Ok(languages.into_iter().find(|language| !language.is_empty()))
    }

    fn draft(&self) -> Arc<dyn Index> {
        Arc::new(Postgres { shared: self.shared.clone(), draft: !self.draft })
    }

    async fn adopt(&self, writing: &Writing) -> Result<(), Fault> {
        let transaction = self.begin().await?;
        store::adopt(&transaction.0, writing.box_id()).await?;
        Ok(transaction.commit().await?)
    }

    async fn describe(&self) -> Result<String, Fault> {
        Ok(self.read_from(None, schema::describe).await?)
    }
}
