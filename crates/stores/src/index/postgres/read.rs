//! Reads pages, chunks and contents.

use std::ops::Range;

use engine::{
    document::Page,
    ids::{BoxId, ChunkId, FileId},
    seams::index::{Chunk, Contents, Held, IndexedChunk},
};
use tokio_postgres::Row;

use super::{super::truth::format_of, nearest::Half};
use crate::{Error, postgres::Connection};

/// The pages of a file with these numbers, in order.
pub(super) async fn pages(
    connection: Connection,
    box_id: BoxId,
    draft: bool,
    file: FileId,
    numbers: Range<u32>,
) -> Result<Vec<Page>, Error> {
    let sql = "select p.number, p.label, p.text, p.format, p.ocr, p.confidence, p.tables, p.warnings
               from index_names n join index_files f on f.box = n.number join index_pages p on p.file = f.number
               where n.box_id = $1 and n.draft = $2 and f.id = $3 and p.number >= $4 order by p.number limit $5";
    let statement = connection.prepared(sql).await?;
    let (from, limit) = (i64::from(numbers.start), i64::from(numbers.end - numbers.start));
    let rows = connection
        .query(&statement, &[&box_id.to_string(), &draft, &file.to_string(), &from, &limit])
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Page {
                number: number(row, 0)?,
                label: row.try_get(1)?,
                text: row.try_get(2)?,
                format: format_of(row.try_get(3)?).map_err(Error::Corrupt)?,
                ocr: row.try_get(4)?,
                confidence: row.try_get(5)?,
                tables: number(row, 6)?,
                warnings: json(row, 7)?,
            })
        })
        .collect()
}

/// The chunks of these ids, in the order asked.
pub(super) async fn chunks(
    connection: Connection,
    box_id: BoxId,
    draft: bool,
    ids: &[ChunkId],
) -> Result<Vec<Option<IndexedChunk>>, Error> {
    let sql = "select q.place, c.page, c.page_end, c.start, c.\"end\", c.language, c.section, c.lead, c.text,
               v.half, c.tokens
               from unnest($3::text[], $4::bigint[]) with ordinality as q (id, ordinal, place)
               join index_names n on n.box_id = $1 and n.draft = $2
               join index_files f on f.box = n.number and f.id = q.id
               join index_chunks c on c.file = f.number and c.ordinal = q.ordinal
               join index_vectors v on v.box = n.number and v.file = f.number and v.ordinal = q.ordinal";
    let statement = connection.prepared(sql).await?;
    let files: Vec<String> = ids.iter().map(|id| id.file.to_string()).collect();
    let ordinals: Vec<i64> = ids.iter().map(|id| id.ordinal.into()).collect();
    let rows = connection.query(&statement, &[&box_id.to_string(), &draft, &files, &ordinals]).await?;
    let mut found = vec![None; ids.len()];
    for row in &rows {
        let place: i64 = row.try_get(0)?;
        let vector: Half = row.try_get(9)?;
        let chunk = Chunk {
            page: number(row, 1)?,
            page_end: number(row, 2)?,
            start: number(row, 3)?,
            end: number(row, 4)?,
            language: row.try_get(5)?,
            section: json(row, 6)?,
            lead: row.try_get(7)?,
            text: row.try_get(8)?,
        };
        found[place as usize - 1] =
            Some(IndexedChunk { chunk, vector: vector.floats(), tokens: row.try_get(10)? });
    }
    Ok(found)
}

/// What the box holds.
pub(super) async fn contents(connection: &Connection, box_id: BoxId, draft: bool) -> Result<Contents, Error> {
    let sql = "select f.id, f.number, f.title, f.pages, f.chunks, b.model
               from index_names n join index_boxes b on b.number = n.number join index_files f on f.box = n.number
               where n.box_id = $1 and n.draft = $2 order by f.id";
    let statement = connection.prepared(sql).await?;
    let rows = connection.query(&statement, &[&box_id.to_string(), &draft]).await?;
    let mut contents = Contents::default();
    for row in &rows {
        let id: &str = row.try_get(0)?;
        let held = Held {
            file: id.parse().map_err(|_| Error::Corrupt(format!("`{id}` is no file")))?,
            revision: row.try_get(1)?,
            title: Some(row.try_get::<_, String>(2)?).filter(|title| !title.is_empty()),
            pages: number(row, 3)?.into(),
            chunks: number(row, 4)?.into(),
        };
        if held.chunks > 0 {
            contents.model = row.try_get(5)?;
        }
        contents.files.push(held);
    }
    Ok(contents)
}

fn number(row: &Row, column: usize) -> Result<u32, Error> {
    let number: i64 = row.try_get(column)?;
    u32::try_from(number).map_err(|_| Error::Corrupt(format!("column {column} holds {number}")))
}

fn json<T: serde::de::DeserializeOwned>(row: &Row, column: usize) -> Result<T, Error> {
    serde_json::from_str(row.try_get(column)?)
        .map_err(|wrong| Error::Corrupt(format!("column {column}: {wrong}")))
}
