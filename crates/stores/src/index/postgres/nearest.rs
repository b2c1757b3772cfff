//! The nearest vectors: an exact scan of a small box (small as the settings say) or a small filter, HNSW in a large box.
//!
//! An HNSW index over all boxes would find mostly other boxes' chunks, so each large box has one of its own, over its
//! rows alone, built in the background (`tend`). Until it is there the scan is exact, and slower.

use std::error::Error as StdError;

use bytes::{BufMut, BytesMut};
use engine::{
    ids::{ChunkId, FileId},
    seams::index::{Candidate, Recall},
};
use half::{f16, slice::HalfFloatSliceExt};
use tokio_postgres::{
    Row,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use super::{super::vectors::Kernels, Content};
use crate::{Error, postgres::Connection};

/// Settings of every connection. Of 400 candidates the best ten are the true ones in more than 98 of 100 cases; a filter
/// that leaves too few of them makes the search go on.
pub(super) const SETTINGS: &str =
    "set hnsw.ef_search = 400; set hnsw.iterative_scan = strict_order; set jit = off";

/// Chunks that a filter may leave to be read all: exact, and faster than an index of which it leaves little.
const GATHER_TO: i64 = 20_000;

/// The chunks nearest to a vector, with their cosines.
pub(super) async fn find(
    connection: Connection,
    content: &Content,
    vector: &[f32],
    recall: &Recall<'_>,
) -> Result<Vec<Candidate>, Error> {
    let (number, dimensions) = (content.number, vector.len());
    // Some more than wanted, because PostgreSQL rounds the query too: which are the nearest is counted again below.
    let (query, limit) = (Half::of(vector), recall.limit + recall.limit / 4);
    let rows = match recall.only {
        None if content.chunks <= i64::try_from(recall.exact_to).unwrap_or(i64::MAX) => {
            // An index is of vectors with their dimensions, so that none is used here.
            let sql = format!(
                "select f.id, v.ordinal, v.half from
                 (select file, ordinal, half, half <#> $1 as distance from index_vectors
                  where box = {number} order by 4 limit {limit}) v
                 join index_files f on f.number = v.file order by v.distance"
            );
            let statement = connection.prepared(&sql).await?;
            connection.query(&statement, &[&query]).await?
        }
        None => {
            // Box and limit are part of the text: only then does the planner know which index it can use.
            let sql = format!(
                "select f.id, v.ordinal, v.half from
                 (select file, ordinal, half, half::halfvec({dimensions}) <#> $1 as distance from index_vectors
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
                     v as (select file, ordinal, half, half <#> $1 as distance from allowed order by 4 limit {limit})
                     select f.id, v.ordinal, v.half from v join index_files f on f.number = v.file
                     order by v.distance"
                )
            } else {
                format!(
                    "select f.id, v.ordinal, v.half from
                     (select file, ordinal, half, half::halfvec({dimensions}) <#> $1 as distance from index_vectors
                      where box = {number} and file = any($2)
                      order by half::halfvec({dimensions}) <#> $1 limit {limit}) v
                     join index_files f on f.number = v.file order by v.distance"
                )
            };
            let statement = connection.prepared(&sql).await?;
            connection.query(&statement, &[&query, &files]).await?
        }
    };
    let candidate = |row: &Row| {
        let (id, ordinal, half): (&str, i64, Half) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let file = id.parse().map_err(|_| Error::Corrupt(format!("`{id}` is no file")))?;
        Ok(Candidate { chunk: ChunkId { file, ordinal: ordinal as u32 }, score: half.dot(vector) })
    };
    let mut found = rows.iter().map(candidate).collect::<Result<Vec<_>, Error>>()?;
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(recall.limit);
    Ok(found)
}

/// A vector as pgvector keeps it: 16 bits per number.
#[derive(Debug, Clone)]
pub(super) struct Half(Vec<f16>);

impl Half {
    pub(super) fn of(vector: &[f32]) -> Self {
        Half(vector.iter().map(|&number| f16::from_f32(number)).collect())
    }

    pub(super) fn floats(&self) -> Vec<f32> {
        self.0.to_f32_vec()
    }

    /// The dot product with a query, counted as the other index counts it.
    pub(super) fn dot(&self, query: &[f32]) -> f32 {
        if self.0.len() == query.len() { Kernels::best().dot(self.0.reinterpret_cast(), query) } else { 0.0 }
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
