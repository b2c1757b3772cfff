//! Indexes the vectors of large boxes, in the background, and sees that older files get their terms.
//!
//! Storing into a box that has an HNSW index takes the server many times as long, and building one over what is there
//! takes a fraction of that. So it is built once a box has stopped growing fast: a load goes through first. Any node
//! does it, one at a time; what a node that died had begun is begun again.

use std::{
    sync::Weak,
    time::{Duration, Instant},
};

use super::{Postgres, Shared, renew::renew};
use crate::Error;

/// Chunks from which a box has an index of its vectors: below, reading them all takes about as long as walking one.
const INDEX_FROM: i64 = 20_000;
/// Chunks from which it is not waited for the end of a load: a search would take too long meanwhile.
const INDEX_AT_ONCE_FROM: i64 = 300_000;
/// A box that has grown by less than this share of itself since it was last looked at is no longer being loaded.
const GROWS_SLOWLY: i64 = 50;
/// How often boxes are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(20);

/// Looks after the indexes for as long as there is somebody who uses them.
pub(super) async fn run(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = tend(&shared, INDEX_FROM).await {
            tracing::warn!(%error, "Could not index the vectors of large boxes; they are scanned exactly");
        }
        match renew(&shared).await {
            Ok(0) => {}
            Ok(files) => {
                tracing::info!(files, "Rebuilt the terms of files that an older version had stored")
            }
            Err(error) => tracing::warn!(%error, "Could not rebuild the terms of older files"),
        }
    }
}

/// A large box without an index.
struct Large {
    number: i64,
    chunks: i64,
    dimensions: i32,
}

/// Indexes the boxes of `from` chunks and more that have no index and have stopped to grow; says how many those were.
async fn tend(shared: &Shared, from: i64) -> Result<usize, Error> {
    let large = large(shared, from).await?;
    let mut built = 0;
    for wanted in &large {
        let before = shared.growing.lock().insert(wanted.number, wanted.chunks);
        let slow = before.is_some_and(|before| (wanted.chunks - before).abs() * GROWS_SLOWLY < wanted.chunks);
        if slow || wanted.chunks >= INDEX_AT_ONCE_FROM {
            let started = Instant::now();
            if build(shared, wanted).await? {
                let (number, chunks) = (wanted.number, wanted.chunks);
                let duration_ms = started.elapsed().as_millis() as u64;
                tracing::info!(number, chunks, duration_ms, "Indexed the vectors of a large box");
                built += 1;
            }
        }
    }
    shared.growing.lock().retain(|number, _| large.iter().any(|large| large.number == *number));
    Ok(built)
}

async fn large(shared: &Shared, from: i64) -> Result<Vec<Large>, Error> {
    let sql = "select b.number, b.chunks, (select vector_dims(v.half) from index_vectors v where v.box = b.number limit 1)
               from index_boxes b where b.chunks >= $1 and not exists
               (select 1 from pg_index i where i.indisvalid and i.indexrelid = to_regclass('index_vectors_of_' || b.number))";
    let connection = shared.primary.get().await?;
    let statement = connection.prepared(sql).await?;
    let mut large = Vec::new();
    for row in connection.query(&statement, &[&from]).await? {
        if let Some(dimensions) = row.try_get(2)? {
            large.push(Large { number: row.try_get(0)?, chunks: row.try_get(1)?, dimensions });
        }
    }
    Ok(large)
}

/// Builds the index of a box's vectors; `false` where it is there, or another node is at it.
async fn build(shared: &Shared, large: &Large) -> Result<bool, Error> {
    let Large { number, chunks, dimensions } = *large;
    let connection = shared.primary.get().await?;
    // It holds a lock, and its statement may take minutes.
    connection.spoil();
    connection.batch_execute("set statement_timeout = 0").await?;
    let lock = "select pg_try_advisory_lock(hashtextextended(current_schema() || '/hnsw/' || $1::text, 0))";
    if !connection.query_one(lock, &[&number.to_string()]).await?.try_get::<_, bool>(0)? {
        return Ok(false);
    }
    let name = format!("index_vectors_of_{number}");
    let sql = "select i.indisvalid from pg_index i where i.indexrelid = to_regclass($1)";
    match connection.query_opt(sql, &[&name]).await?.map(|row| row.try_get::<_, bool>(0)).transpose()? {
        Some(true) => return Ok(false),
        // A build that was cut short leaves an index that is not used.
        Some(false) => connection.batch_execute(&format!("drop index concurrently {name}")).await?,
        None => {}
    }
    // A graph that does not fit into this memory is built several times slower.
    let kilobytes = (chunks * (2 * i64::from(dimensions) + 600) / 1024).clamp(65_536, 2_097_152);
    let memory = format!(
        "select set_config('maintenance_work_mem',
         greatest(pg_size_bytes(current_setting('maintenance_work_mem')) / 1024, {kilobytes}) || 'kB', false)"
    );
    connection.batch_execute(&memory).await?;
    let sql = format!(
        "create index concurrently {name} on index_vectors
         using hnsw ((half::halfvec({dimensions})) halfvec_ip_ops) with (m = 16, ef_construction = 100)
         where box = {number}"
    );
    connection.batch_execute(&sql).await?;
    Ok(true)
}

impl Postgres {
    /// Drops the index of a box's vectors, if it has one.
    pub(super) async fn forget_index(&self, number: i64) -> Result<(), Error> {
        let connection = self.shared.primary.get().await?;
        connection
            .batch_execute(&format!("drop index concurrently if exists index_vectors_of_{number}"))
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{
        access::Writing,
        document::Document,
        ids::{BoxId, FileId},
        seams::index::{Chunk, Index, IndexedChunk},
    };

    use super::*;

    async fn store(index: &Postgres, writing: &Writing, chunks: usize) {
        let document = Document {
            media_type: "text/plain".into(),
            title: None,
            pages: Vec::new(),
            warnings: Vec::new(),
        };
        let chunk = Chunk {
            text: "text".into(),
            page: 1,
            page_end: 1,
            start: 0,
            end: 4,
            section: [].into(),
            lead: "".into(),
            language: None,
        };
        let chunks = (0..chunks)
            .map(|number| {
                let angle = number as f32;
                let vector = vec![angle.sin(), angle.cos(), 0.0];
                IndexedChunk { chunk: chunk.clone(), vector, tokens: Vec::new() }
            })
            .collect();
        index.replace(writing, FileId::generate(), &Arc::new(document), &chunks, "m").await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_large_box_is_indexed_once_its_load_is_over() {
        let Some(url) = crate::scaled::schema() else { return };
        let (index, other) =
            (Postgres::connect(&url, &[]).await.unwrap(), Postgres::connect(&url, &[]).await.unwrap());
        let (large, small) =
            (Writing::for_operator(BoxId::generate()), Writing::for_operator(BoxId::generate()));
        store(&index, &small, 5).await;
        for _ in 0..3 {
            store(&index, &large, 200).await;
            assert_eq!(tend(&index.shared, 100).await.unwrap(), 0, "it still grows");
        }
        store(&index, &large, 5).await;
        assert_eq!(tend(&index.shared, 100).await.unwrap(), 1, "it hardly grows any more");
        for node in [&index, &other, &index] {
            assert_eq!(tend(&node.shared, 100).await.unwrap(), 0, "it is there");
        }
        index.drop_box(&large).await.unwrap();
        let left = "select count(*) from pg_class where relname like 'index\\_vectors\\_of\\_%'
                    and relnamespace = current_schema()::regnamespace";
        let connection = index.shared.primary.get().await.unwrap();
        let left: i64 = connection.query_one(left, &[]).await.unwrap().get(0);
        assert_eq!(left, 0, "and goes with the box");
    }
}
