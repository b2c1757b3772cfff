//! Reads and writes the rows of one box's file: the truth that everything else derives from.

use engine::{
    document::{Document, Format, Page},
    ids::FileId,
    layout::Layout,
    seams::index::{Chunk, Contents, Held, HowRead, IndexedChunk, LaidOut, Removed},
};
use half::{f16, slice::HalfFloatSliceExt};
use rusqlite::{Connection, OptionalExtension, Result, Row, Transaction, params, types::Type};

/// The fact that names the embedder of the box.
const MODEL: &str = "model";
/// The fact that has what the codes of its vectors are taken around.
const CENTRE: &str = "centre";

/// What the text index needs to know of a chunk.
pub(super) struct Passage {
    pub(super) chunk: i64,
    pub(super) file: i64,
    pub(super) language: Option<String>,
    pub(super) title: String,
    pub(super) section: Vec<String>,
    pub(super) lead: String,
    pub(super) text: String,
}

/// What one stored file changed.
#[derive(Debug)]
pub(super) struct Change {
    /// The number under which the change is kept until the text index has it.
    pub(super) number: i64,
    /// The file's number before, if it was there.
    pub(super) before: Option<i64>,
    /// The number of the file's first chunk; the others follow without a gap.
    pub(super) first_chunk: i64,
    /// What went away.
    pub(super) removed: Removed,
}

/// The embedder of the box.
pub(super) fn model(connection: &Connection) -> Result<Option<String>> {
    fact(connection, MODEL)
}

/// What the codes of the box's vectors are taken around, where it was settled.
pub(super) fn centre(connection: &Connection) -> Result<Option<Vec<f32>>> {
    let kept = fact(connection, CENTRE)?;
    Ok(kept.and_then(|numbers| serde_json::from_str(&numbers).ok()))
}

/// Settles it.
pub(super) fn settle_centre(transaction: &Transaction<'_>, centre: &[f32]) -> Result<()> {
    set_fact(transaction, CENTRE, &serde_json::json!(centre).to_string())
}

fn fact(connection: &Connection, name: &str) -> Result<Option<String>> {
    connection
        .prepare_cached("select value from facts where name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// The embedder of the box, unless there are no chunks any more.
pub(super) fn filled_by(connection: &Connection) -> Result<Option<String>> {
    let filled = connection
        .prepare_cached("select exists (select 1 from files where chunks > 0)")?
        .query_row([], |row| row.get(0))?;
    if filled { model(connection) } else { Ok(None) }
}

/// Whether a file other than this one has chunks.
pub(super) fn others_have_chunks(connection: &Connection, file: FileId) -> Result<bool> {
    connection
        .prepare_cached("select exists (select 1 from files where chunks > 0 and id <> ?1)")?
        .query_row([file.as_bytes()], |row| row.get(0))
}

/// Stores a file in place of what it was before.
pub(super) fn replace(
    transaction: &Transaction<'_>,
    file: FileId,
    document: &Document,
    chunks: &[IndexedChunk],
    model: &str,
) -> Result<Change> {
    let gone = remove(transaction, file)?;
    if !chunks.is_empty() && self::model(transaction)?.as_deref() != Some(model) {
        set_fact(transaction, MODEL, model)?;
        transaction.prepare_cached("delete from facts where name = ?1")?.execute([CENTRE])?;
    }
    transaction
        .prepare_cached("insert into files (id, title, pages, chunks) values (?1, ?2, ?3, ?4)")?
        .execute(params![
            file.as_bytes(),
            document.title.as_deref().unwrap_or(""),
            document.pages.len() as i64,
            chunks.len() as i64
        ])?;
    let number = transaction.last_insert_rowid();
    insert_pages(transaction, number, &document.pages)?;
    let first_chunk = insert_chunks(transaction, number, chunks)?;
    let change = note_change(transaction, number)?;
    let (before, removed) = gone.map_or((None, Removed::default()), |gone| (gone.before, gone.removed));
    Ok(Change { number: change, before, first_chunk, removed })
}

/// Removes a file; `None` where it is not there.
pub(super) fn remove(transaction: &Transaction<'_>, file: FileId) -> Result<Option<Change>> {
    let Some(number) = file_number(transaction, file)? else { return Ok(None) };
    for table in ["vectors", "tokens"] {
        let statement =
            format!("delete from {table} where chunk in (select number from chunks where file = ?1)");
        transaction.prepare_cached(&statement)?.execute([number])?;
    }
    let chunks = transaction.prepare_cached("delete from chunks where file = ?1")?.execute([number])? as u64;
    let pages = transaction.prepare_cached("delete from pages where file = ?1")?.execute([number])? as u64;
    transaction.prepare_cached("delete from files where number = ?1")?.execute([number])?;
    let removed = Removed { pages, chunks, vectors: chunks };
    let change = note_change(transaction, number)?;
    Ok(Some(Change { number: change, before: Some(number), first_chunk: 0, removed }))
}

fn set_fact(transaction: &Transaction<'_>, name: &str, value: &str) -> Result<()> {
    transaction
        .prepare_cached(
            "insert into facts values (?1, ?2) on conflict (name) do update set value = excluded.value",
        )?
        .execute([name, value])
        .map(drop)
}

fn note_change(transaction: &Transaction<'_>, file: i64) -> Result<i64> {
    transaction.prepare_cached("insert into changes (file) values (?1)")?.execute([file])?;
    Ok(transaction.last_insert_rowid())
}

fn insert_pages(transaction: &Transaction<'_>, file: i64, pages: &[Page]) -> Result<()> {
    let mut insert =
        transaction.prepare_cached("insert into pages values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    for page in pages {
        insert.execute(params![
            file,
            page.number,
            page.label,
            page.text,
            format_name(page.format),
            page.ocr,
            page.confidence,
            page.tables,
            as_json(&page.warnings),
            page.layout.as_ref().map(Layout::as_bytes),
        ])?;
    }
    Ok(())
}

/// Returns the number of the first chunk: a file's chunks are inserted together, so the others follow it.
fn insert_chunks(transaction: &Transaction<'_>, file: i64, chunks: &[IndexedChunk]) -> Result<i64> {
    let mut insert = transaction.prepare_cached(
        "insert into chunks (file, ordinal, page, page_end, start, \"end\", language, section, lead, text)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut insert_vector = transaction.prepare_cached("insert into vectors values (?1, ?2)")?;
    let mut insert_tokens = transaction.prepare_cached("insert into tokens values (?1, ?2)")?;
    let mut first = 0;
    for (ordinal, IndexedChunk { chunk, vector, tokens }) in chunks.iter().enumerate() {
        insert.execute(params![
            file,
            ordinal as i64,
            chunk.page,
            chunk.page_end,
            chunk.start,
            chunk.end,
            chunk.language,
            as_json(&chunk.section),
            &*chunk.lead,
            chunk.text,
        ])?;
        let number = transaction.last_insert_rowid();
        if ordinal == 0 {
            first = number;
        }
        insert_vector.execute(params![number, halves_as_bytes(vector)])?;
        if !tokens.is_empty() {
            insert_tokens.execute(params![number, tokens])?;
        }
    }
    Ok(first)
}

/// The number under which a file's rows are kept.
pub(super) fn file_number(connection: &Connection, file: FileId) -> Result<Option<i64>> {
    connection
        .prepare_cached("select number from files where id = ?1")?
        .query_row([file.as_bytes()], |row| row.get(0))
        .optional()
}

/// Every file with the number of its first chunk and how many it has, in the order of their numbers.
pub(super) fn runs(connection: &Connection) -> Result<Vec<(FileId, i64, usize)>> {
    connection
        .prepare_cached(
            "select id, coalesce((select min(chunks.number) from chunks where file = files.number and ordinal = 0), 0),
             chunks from files order by files.number",
        )?
        .query_map([], |row| Ok((file_id(row, 0)?, row.get(1)?, row.get::<_, u32>(2)? as usize)))?
        .collect()
}

/// What the box holds.
pub(super) fn contents(connection: &Connection) -> Result<Contents> {
    let files = connection
        .prepare_cached("select id, pages, chunks, number, title from files order by id")?
        .query_map([], |row| {
            Ok(Held {
                file: file_id(row, 0)?,
                pages: row.get::<_, u32>(1)?.into(),
                chunks: row.get::<_, u32>(2)?.into(),
                revision: row.get(3)?,
                title: Some(row.get::<_, String>(4)?).filter(|title| !title.is_empty()),
            })
        })?
        .collect::<Result<Vec<_>>>()?;
    let model = if files.iter().any(|held| held.chunks > 0) { model(connection)? } else { None };
    Ok(Contents { model, files })
}

/// Up to `limit` pages of a file from page number `from` on.
pub(super) fn pages(connection: &Connection, file: i64, from: u32, limit: u32) -> Result<Vec<Page>> {
    connection
        .prepare_cached(
            "select number, label, text, format, ocr, confidence, tables, warnings, layout from pages
             where file = ?1 and number >= ?2 order by number limit ?3",
        )?
        .query_map(params![file, from, limit], |row| {
            Ok(Page {
                number: row.get(0)?,
                label: row.get(1)?,
                text: row.get(2)?,
                format: format_named(row, 3)?,
                ocr: row.get(4)?,
                confidence: row.get(5)?,
                tables: row.get(6)?,
                warnings: from_json(row, 7)?,
                layout: row.get::<_, Option<Vec<u8>>>(8)?.map(Layout::from_bytes),
            })
        })?
        .collect()
}

/// Counts how the pages of a file were read.
pub(super) fn how_read(connection: &Connection, file: i64) -> Result<HowRead> {
    connection
        .prepare_cached(
            "select count(*), count(*) filter (where blank), count(*) filter (where blank and warned),
             count(*) filter (where ocr), count(*) filter (where warned)
             from (select text = '' as blank, warnings <> '[]' as warned, ocr from pages where file = ?1)",
        )?
        .query_row([file], |row| {
            Ok(HowRead {
                pages: row.get(0)?,
                blank: row.get(1)?,
                unread: row.get(2)?,
                recognised: row.get(3)?,
                warned: row.get(4)?,
            })
        })
}

/// A page with where its words stand, if it has a look of its own.
pub(super) fn laid_out(connection: &Connection, file: i64, number: u32) -> Result<Option<LaidOut>> {
    connection
        .prepare_cached(
            "select text, layout from pages where file = ?1 and number = ?2 and layout is not null",
        )?
        .query_row(params![file, number], |row| {
            Ok(LaidOut { text: row.get(0)?, layout: Layout::from_bytes(row.get(1)?) })
        })
        .optional()
}

/// The chunk of this number.
pub(super) fn chunk(connection: &Connection, number: i64) -> Result<Option<Chunk>> {
    connection
        .prepare_cached(
            "select page, page_end, start, \"end\", language, section, lead, text from chunks where number = ?1",
        )?
        .query_row([number], |row| {
            Ok(Chunk {
                page: row.get(0)?,
                page_end: row.get(1)?,
                start: row.get(2)?,
                end: row.get(3)?,
                language: row.get(4)?,
                section: from_json(row, 5)?.into(),
                lead: row.get::<_, String>(6)?.into(),
                text: row.get(7)?,
            })
        })
        .optional()
}

/// The packed token vectors of the chunk of this number.
pub(super) fn tokens(connection: &Connection, number: i64) -> Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("select packed from tokens where chunk = ?1")?
        .query_row([number], |row| row.get(0))
        .optional()
}

/// The vector of the chunk of this number.
pub(super) fn vector(connection: &Connection, number: i64) -> Result<Option<Vec<f32>>> {
    connection
        .prepare_cached("select half from vectors where chunk = ?1")?
        .query_row([number], |row| Ok(floats(row.get_ref(0)?.as_blob()?)))
        .optional()
}

/// Calls `visit` with the bytes of every vector, in the order of the chunks' numbers.
pub(super) fn each_vector(
    connection: &Connection,
    most: Option<usize>,
    mut visit: impl FnMut(&[u8]),
) -> Result<()> {
    let mut statement = connection.prepare_cached("select half from vectors order by chunk limit ?1")?;
    let mut rows = statement.query([most.map_or(-1, |most| most as i64)])?;
    while let Some(row) = rows.next()? {
        visit(row.get_ref(0)?.as_blob()?);
    }
    Ok(())
}

/// Calls `visit` with the vector bytes of each of these chunks that is still there, and its place among them.
pub(super) fn vectors_of(
    connection: &Connection,
    chunks: &[i64],
    mut visit: impl FnMut(usize, &[u8]),
) -> Result<()> {
    let mut statement = connection.prepare_cached("select half from vectors where chunk = ?1")?;
    // One look at a moment for all, and one lock of the file instead of one for each.
    let snapshot = connection.unchecked_transaction()?;
    for (at, chunk) in chunks.iter().enumerate() {
        let mut rows = statement.query([chunk])?;
        if let Some(row) = rows.next()? {
            visit(at, row.get_ref(0)?.as_blob()?);
        }
    }
    snapshot.commit()
}

/// Calls `visit` with the text of every chunk of one file, or of all files, in order.
pub(super) fn each_passage(
    connection: &Connection,
    file: Option<i64>,
    mut visit: impl FnMut(Passage),
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "select chunks.number, file, language, title, section, lead, text
         from chunks join files on files.number = chunks.file
         where ?1 is null or file = ?1 order by chunks.number",
    )?;
    let mut rows = statement.query([file])?;
    while let Some(row) = rows.next()? {
        visit(Passage {
            chunk: row.get(0)?,
            file: row.get(1)?,
            language: row.get(2)?,
            title: row.get(3)?,
            section: from_json(row, 4)?,
            lead: row.get(5)?,
            text: row.get(6)?,
        });
    }
    Ok(())
}

/// The languages of the box's chunks, most frequent first; `None` stands for those that could not be detected.
pub(super) fn languages(connection: &Connection) -> Result<Vec<Option<String>>> {
    connection
        .prepare_cached("select language from chunks group by language order by count(*) desc, language")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Chunks looked at to tell a box's usual language: enough to outvote odd ones, and read in no time.
const LATEST: i64 = 500;

/// The language that most of the latest chunks are in; nothing where it could not be told of any.
pub(super) fn usual_language(connection: &Connection) -> Result<Option<String>> {
    connection
        .prepare_cached(
            "select language from (select language from chunks order by number desc limit ?1)
             where language is not null group by language order by count(*) desc limit 1",
        )?
        .query_row([LATEST], |row| row.get(0))
        .optional()
}

/// How many chunks the box has.
pub(super) fn chunk_count(connection: &Connection) -> Result<u64> {
    let count: i64 = connection
        .prepare_cached("select coalesce(sum(chunks), 0) from files")?
        .query_row([], |row| row.get(0))?;
    Ok(count as u64)
}

/// The number of the latest change, 0 where nothing ever changed.
pub(super) fn latest_change(connection: &Connection) -> Result<i64> {
    connection
        .prepare_cached("select coalesce((select seq from sqlite_sequence where name = 'changes'), 0)")?
        .query_row([], |row| row.get(0))
}

/// The files that changed after the change `after`, up to `latest`; `None` where some of these changes were forgotten.
pub(super) fn changed_between(connection: &Connection, after: i64, latest: i64) -> Result<Option<Vec<i64>>> {
    let files = connection
        .prepare_cached("select file from changes where number > ?1 and number <= ?2")?
        .query_map([after, latest], |row| row.get(0))?
        .collect::<Result<Vec<i64>>>()?;
    Ok((files.len() as i64 == latest - after).then_some(files))
}

/// How many changes are remembered, and how many chunks their files have.
pub(super) fn remembered_changes(connection: &Connection) -> Result<(u64, u64)> {
    connection
        .prepare_cached(
            "select count(*), coalesce(sum(chunks), 0) from changes left join files on files.number = changes.file",
        )?
        .query_row([], |row| Ok((row.get::<_, u32>(0)?.into(), row.get::<_, u32>(1)?.into())))
}

/// Forgets the changes up to this number, which the text index now has.
pub(super) fn forget_changes(connection: &Connection, up_to: i64) -> Result<()> {
    connection.prepare_cached("delete from changes where number <= ?1")?.execute([up_to]).map(drop)
}

/// Little-endian halves, as stored.
pub(super) fn halves_as_bytes(vector: &[f32]) -> Vec<u8> {
    let mut halves = vec![f16::ZERO; vector.len()];
    halves.convert_from_f32_slice(vector);
    halves.reinterpret_cast().iter().flat_map(|bits: &u16| bits.to_le_bytes()).collect()
}

/// Stored bytes as halves.
pub(super) fn halves(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
}

/// Stored bytes as floats.
fn floats(bytes: &[u8]) -> Vec<f32> {
    halves(bytes).map(|bits| f16::from_bits(bits).to_f32()).collect()
}

pub(super) fn format_name(format: Format) -> &'static str {
    match format {
        Format::Markdown => "markdown",
        Format::Text => "text",
    }
}

/// The format of that name.
pub(super) fn format_of(name: &str) -> std::result::Result<Format, String> {
    match name {
        "markdown" => Ok(Format::Markdown),
        "text" => Ok(Format::Text),
        other => Err(format!("`{other}` is no format")),
    }
}

fn format_named(row: &Row<'_>, column: usize) -> Result<Format> {
    format_of(row.get_ref(column)?.as_str()?).map_err(|why| unreadable(column, why))
}

fn file_id(row: &Row<'_>, column: usize) -> Result<FileId> {
    row.get(column).map(FileId::from_bytes)
}

pub(super) fn as_json(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

fn from_json(row: &Row<'_>, column: usize) -> Result<Vec<String>> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable(column, error))
}

fn unreadable(column: usize, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}
