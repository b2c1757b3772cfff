//! Reads pages, chunks and contents.

use std::ops::Range;

use engine::{
    document::Page,
    ids::{BoxId, ChunkId, FileId},
    layout::Layout,
    seams::index::{Chunk, Contents, Held, HowRead, LaidOut},
};
use tokio_postgres::{Row, types::ToSql};

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
    let sql = "select p.number, p.label, p.text, p.format, p.ocr, p.confidence, p.tables, p.warnings, p.layout
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
                layout: row.try_get::<_, Option<Vec<u8>>>(8)?.map(Layout::from_bytes),
            })
        })
        .collect()
}

/// Counts how the pages of a file were read.
pub(super) async fn how_read(
    connection: Connection,
    box_id: BoxId,
    draft: bool,
    file: FileId,
) -> Result<HowRead, Error> {
    let sql = "select count(*), count(*) filter (where blank), count(*) filter (where blank and warned),
               count(*) filter (where ocr), count(*) filter (where warned)
               from (select p.text = '' as blank, p.warnings <> '[]' as warned, p.ocr
                     from index_names n join index_files f on f.box = n.number join index_pages p on p.file = f.number
                     where n.box_id = $1 and n.draft = $2 and f.id = $3) read";
    let statement = connection.prepared(sql).await?;
    let row = connection.query_one(&statement, &[&box_id.to_string(), &draft, &file.to_string()]).await?;
    Ok(HowRead {
        pages: number(&row, 0)?,
        blank: number(&row, 1)?,
        unread: number(&row, 2)?,
        recognised: number(&row, 3)?,
        warned: number(&row, 4)?,
    })
}

/// Those of these pages that have a look of their own, with where their words stand.
pub(super) async fn laid_out(
    connection: Connection,
    box_id: BoxId,
    draft: bool,
    pages: &[(FileId, u32)],
) -> Result<Vec<Option<LaidOut>>, Error> {
    let sql = "select q.place, p.text, p.layout
               from unnest($3::text[], $4::bigint[]) with ordinality as q (id, number, place)
               join index_names n on n.box_id = $1 and n.draft = $2
               join index_files f on f.box = n.number and f.id = q.id
               join index_pages p on p.file = f.number and p.number = q.number
               where p.layout is not null";
    let statement = connection.prepared(sql).await?;
    let files: Vec<String> = pages.iter().map(|(file, _)| file.to_string()).collect();
    let numbers: Vec<i64> = pages.iter().map(|(_, number)| (*number).into()).collect();
    let mut found = vec![None; pages.len()];
    for row in connection.query(&statement, &[&box_id.to_string(), &draft, &files, &numbers]).await? {
        let layout = Layout::from_bytes(row.try_get(2)?);
        found[number(&row, 0)? as usize - 1] = Some(LaidOut { text: row.try_get(1)?, layout });
    }
    Ok(found)
}

/// The number of a file's content, which grows whenever it is stored.
pub(super) async fn revision(
    connection: Connection,
    box_id: BoxId,
    draft: bool,
    file: FileId,
) -> Result<Option<i64>, Error> {
    let sql = "select f.number from index_names n join index_files f on f.box = n.number
               where n.box_id = $1 and n.draft = $2 and f.id = $3";
    let statement = connection.prepared(sql).await?;
    let row = connection.query_opt(&statement, &[&box_id.to_string(), &draft, &file.to_string()]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Chunks of a box, by their ids.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) box_id: BoxId,
    pub(super) draft: bool,
    pub(super) ids: &'a [ChunkId],
}

impl Wanted<'_> {
    /// For each chunk that is there its place among those wanted and these columns, of the chunk `c` or its vector `v`.
    async fn rows(&self, connection: &Connection, columns: &str) -> Result<Vec<(usize, Row)>, Error> {
        let of_vectors =
            "join index_vectors v on v.box = n.number and v.file = f.number and v.ordinal = q.ordinal";
        let of_chunks = "join index_chunks c on c.file = f.number and c.ordinal = q.ordinal";
        let sql = format!(
            "select q.place, {columns} from unnest($3::text[], $4::bigint[]) with ordinality as q (id, ordinal, place)
             join index_names n on n.box_id = $1 and n.draft = $2
             join index_files f on f.box = n.number and f.id = q.id {}",
            if columns.contains("v.") { of_vectors } else { of_chunks }
        );
        let statement = connection.prepared(&sql).await?;
        let (box_id, draft) = (self.box_id.to_string(), self.draft);
        let files: Vec<String> = self.ids.iter().map(|id| id.file.to_string()).collect();
        let ordinals: Vec<i64> = self.ids.iter().map(|id| id.ordinal.into()).collect();
        let parameters: [&(dyn ToSql + Sync); 4] = [&box_id, &draft, &files, &ordinals];
        let rows = connection.query(&statement, &parameters).await?.into_iter();
        rows.map(|row| Ok((row.try_get::<_, i64>(0)? as usize - 1, row))).collect()
    }
}

/// How near the chunks are to a vector.
pub(super) async fn cosines(
    connection: Connection,
    wanted: Wanted<'_>,
    vector: &[f32],
) -> Result<Vec<Option<f32>>, Error> {
    let mut found = vec![None; wanted.ids.len()];
    for (place, row) in wanted.rows(&connection, "v.half").await? {
        found[place] = Some(row.try_get::<_, Half>(1)?.dot(vector));
    }
    Ok(found)
}

/// The chunks of these ids, in the order asked.
pub(super) async fn chunks(connection: Connection, wanted: Wanted<'_>) -> Result<Vec<Option<Chunk>>, Error> {
    let columns = "c.page, c.page_end, c.start, c.\"end\", c.language, c.section, c.lead, c.text";
    let mut found = vec![None; wanted.ids.len()];
    for (place, row) in &wanted.rows(&connection, columns).await? {
        found[*place] = Some(chunk(row)?);
    }
    Ok(found)
}

/// All chunks of a file, in order.
pub(super) async fn chunks_of(connection: &Connection, file: i64) -> Result<Vec<Chunk>, Error> {
    let sql = "select ordinal, page, page_end, start, \"end\", language, section, lead, text
               from index_chunks where file = $1 order by ordinal";
    connection.query(sql, &[&file]).await?.iter().map(chunk).collect()
}

/// A chunk from a row of its columns, after one that tells its place.
fn chunk(row: &Row) -> Result<Chunk, Error> {
    Ok(Chunk {
        page: number(row, 1)?,
        page_end: number(row, 2)?,
        start: number(row, 3)?,
        end: number(row, 4)?,
        language: row.try_get(5)?,
        section: json::<Vec<String>>(row, 6)?.into(),
        lead: row.try_get::<_, String>(7)?.into(),
        text: row.try_get(8)?,
    })
}

/// Their packed token vectors; empty where there are none.
pub(super) async fn tokens(connection: Connection, wanted: Wanted<'_>) -> Result<Vec<Vec<u8>>, Error> {
    let mut found = vec![Vec::new(); wanted.ids.len()];
    for (place, row) in wanted.rows(&connection, "c.tokens").await? {
        found[place] = row.try_get(1)?;
    }
    Ok(found)
}

/// Their vectors; empty where one is gone.
pub(super) async fn vectors(connection: Connection, wanted: Wanted<'_>) -> Result<Vec<Vec<f32>>, Error> {
    let mut found = vec![Vec::new(); wanted.ids.len()];
    for (place, row) in wanted.rows(&connection, "v.half").await? {
        found[place] = row.try_get::<_, Half>(1)?.floats();
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
