//! The nearest vectors: an exact scan of a small box or a small filter, HNSW in a large box.
//!
//! An HNSW index over all boxes would find mostly other boxes' chunks, so each large box has one of its own, over its
//! rows alone, built in the background. Until it is there the scan is exact, and slower.

use std::error::Error as StdError;

use bytes::{BufMut, BytesMut};
use engine::{
    ids::{ChunkId, FileId},
    seams::index::{Candidate, Recall},
};
use half::{f16, slice::HalfFloatSliceExt};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::{Content, Postgres};
use crate::{Error, postgres::Connection};

/// Settings of every connection. Of 400 candidates the best ten are the true ones in more than 98 of 100 cases; a filter
/// that leaves too few of them makes the search go on.
pub(super) const SETTINGS: &str =
    "set hnsw.ef_search = 400; set hnsw.iterative_scan = strict_order; set jit = off";

/// Chunks from which a box has an index of its vectors: below, reading them all takes about as long as walking one.
const INDEX_FROM: i64 = 20_000;
/// Chunks that a filter may leave to be read all: exact, and faster than an index of which it leaves little.
const GATHER_TO: i64 = 20_000;

impl Postgres {
    /// Starts to index the vectors of a box that has become large, unless that was done.
    pub(super) fn index_when_large(&self, number: i64, chunks: i64, dimensions: usize) {
        if chunks < INDEX_FROM || dimensions == 0 || !self.shared.indexed.lock().insert(number) {
            return;
        }
        let index = self.clone();
        tokio::spawn(async move {
            let started = std::time::Instant::now();
            match index.build_index(number, dimensions).await {
                Ok(true) => {
                    let duration_ms = started.elapsed().as_millis() as u64;
                    tracing::info!(number, chunks, duration_ms, "Indexed the vectors of a large box");
                }
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, number, "Could not index the vectors of a large box; its scans stay exact");
                    index.shared.indexed.lock().remove(&number);
                }
            }
        });
    }

    /// Builds the index of a box's vectors; `false` where it is there, or another node is at it.
    pub(super) async fn build_index(&self, number: i64, dimensions: usize) -> Result<bool, Error> {
        let connection = self.shared.primary.get().await?;
        // It holds a lock, and its statement may take minutes.
        connection.spoil();
        connection.batch_execute("set statement_timeout = 0").await?;
        let lock =
            "select pg_try_advisory_lock(hashtextextended(current_schema() || '/hnsw/' || $1::text, 0))";
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
        let sql = format!(
            "create index concurrently {name} on index_vectors
             using hnsw ((half::halfvec({dimensions})) halfvec_ip_ops) with (m = 16, ef_construction = 100)
             where box = {number}"
        );
        connection.batch_execute(&sql).await?;
        Ok(true)
    }

    /// Drops the index of a box's vectors, if it has one.
    pub(super) async fn forget_index(&self, number: i64) -> Result<(), Error> {
        self.shared.indexed.lock().remove(&number);
        let connection = self.shared.primary.get().await?;
        connection
            .batch_execute(&format!("drop index concurrently if exists index_vectors_of_{number}"))
            .await?;
        Ok(())
    }
}

/// The chunks nearest to a vector, with their cosines.
pub(super) async fn find(
    connection: Connection,
    content: &Content,
    vector: &[f32],
    recall: &Recall<'_>,
) -> Result<Vec<Candidate>, Error> {
    let (number, dimensions) = (content.number, vector.len());
    let (query, limit) = (Half::of(vector), recall.limit);
    let rows = match recall.only {
        None => {
            // Box and limit are part of the text: only so does the planner know which index is good for it.
            let sql = format!(
                "select f.id, v.ordinal, v.distance from
                 (select file, ordinal, half::halfvec({dimensions}) <#> $1 as distance from index_vectors
                  where box = {number} order by half::halfvec({dimensions}) <#> $1 limit {limit}) v
                 join index_files f on f.number = v.file order by v.distance"
            );
            let statement = connection.prepared(&sql).await?;
            connection.query(&statement, &[&query]).await?
        }
        Some(only) => {
            let files: Vec<String> = only.iter().map(FileId::to_string).collect();
            let sql = "select array_agg(number), coalesce(sum(chunks), 0)::bigint from index_files
                       where box = $1 and id = any($2)";
            let statement = connection.prepared(sql).await?;
            let row = connection.query_one(&statement, &[&number, &files]).await?;
            let (files, chunks): (Option<Vec<i64>>, i64) = (row.try_get(0)?, row.try_get(1)?);
            let Some(files) = files else { return Ok(Vec::new()) };
            let sql = if chunks <= GATHER_TO {
                format!(
                    "with allowed as materialized
                     (select file, ordinal, half from index_vectors where box = {number} and file = any($2)),
                     v as (select file, ordinal, half <#> $1 as distance from allowed order by 3 limit {limit})
                     select f.id, v.ordinal, v.distance from v join index_files f on f.number = v.file
                     order by v.distance"
                )
            } else {
                format!(
                    "select f.id, v.ordinal, v.distance from
                     (select file, ordinal, half::halfvec({dimensions}) <#> $1 as distance from index_vectors
                      where box = {number} and file = any($2)
                      order by half::halfvec({dimensions}) <#> $1 limit {limit}) v
                     join index_files f on f.number = v.file order by v.distance"
                )
            };
            let statement = connection.prepared(&sql).await?;
            connection.query(&statement, &[&query, &files]).await?
        }
    };
    rows.iter()
        .map(|row| {
            let (id, ordinal, distance): (&str, i64, f64) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let file = id.parse().map_err(|_| Error::Corrupt(format!("`{id}` is no file")))?;
            let chunk = ChunkId { file, ordinal: ordinal as u32 };
            Ok(Candidate { chunk, score: -distance as f32 })
        })
        .collect()
}

/// A vector as pgvector keeps it: 16 bits a number.
#[derive(Debug, Clone)]
pub(super) struct Half(Vec<f16>);

impl Half {
    pub(super) fn of(vector: &[f32]) -> Self {
        Half(vector.iter().map(|&number| f16::from_f32(number)).collect())
    }

    pub(super) fn floats(&self) -> Vec<f32> {
        self.0.to_f32_vec()
    }
}

impl ToSql for Half {
    /// Dimensions, nothing, then the numbers, all of 16 bits.
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.put_u16(u16::try_from(self.0.len())?);
        out.put_u16(0);
        self.0.iter().for_each(|number| out.put_u16(number.to_bits()));
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        kind.name() == "halfvec"
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Half {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        let numbers = raw.get(4..).ok_or("a vector without a head")?.chunks_exact(2);
        Ok(Half(numbers.map(|pair| f16::from_bits(u16::from_be_bytes([pair[0], pair[1]]))).collect()))
    }

    fn accepts(kind: &Type) -> bool {
        kind.name() == "halfvec"
    }
}
