//! Stores and removes files, each in one transaction. Those that change one box take turns at its row.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Fault,
    document::{Document, Page},
    ids::{BoxId, FileId},
    layout::Layout,
    seams::index::{Chunk, IndexedChunk, Removed},
};

use super::{
    super::{
        open::other_model,
        text::{ANALYSIS, Counts, count_terms},
        truth::{as_json, format_name},
    },
    nearest::Half,
    words::{self, Length, Posting},
};
use crate::{Error, postgres::Connection};

/// Chunks sent to the server at once: a few megabytes.
const TOGETHER: usize = 256;

/// A file to be stored, with the terms of its chunks.
pub(super) struct Incoming<'a> {
    file: FileId,
    document: &'a Document,
    chunks: &'a [IndexedChunk],
    model: &'a str,
    terms: Terms,
}

/// The terms of a file.
pub(super) struct Terms {
    counts: Vec<Counts>,
    /// What misspelt words may be taken for.
    words: BTreeSet<String>,
}

impl<'a> Incoming<'a> {
    pub(super) fn of(
        file: FileId,
        document: &'a Document,
        chunks: &'a [IndexedChunk],
        model: &'a str,
    ) -> Self {
        let title = document.title.as_deref().unwrap_or("");
        let terms = Terms::of(chunks.iter().map(|chunk| &chunk.chunk), title);
        Incoming { file, document, chunks, model, terms }
    }
}

impl Terms {
    /// The terms of these chunks, in order, of a document of this title.
    pub(super) fn of<'a>(chunks: impl Iterator<Item = &'a Chunk>, title: &str) -> Self {
        let mut words = BTreeSet::new();
        let counts = chunks.map(|chunk| count_terms(chunk, title, &mut words)).collect();
        Terms { counts, words }
    }

    /// How many there are, in the texts and above them.
    fn count(&self) -> (i64, i64) {
        let sum = |of: fn(&Counts) -> u32| self.counts.iter().map(|counts| i64::from(of(counts))).sum();
        (sum(|counts| counts.body), sum(|counts| counts.head))
    }

    fn names(&self) -> Vec<&str> {
        self.postings().into_keys().collect()
    }

    fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// The postings of every term.
    fn postings(&self) -> BTreeMap<&str, Vec<Posting>> {
        let mut postings: BTreeMap<&str, Vec<Posting>> = BTreeMap::new();
        for (ordinal, counts) in self.counts.iter().enumerate() {
            let length = Length { body: counts.body, head: counts.head };
            for (term, &(body, head)) in &counts.terms {
                let posting = Posting { ordinal: ordinal as u32, body, head, length };
                postings.entry(term).or_default().push(posting);
            }
        }
        postings
    }
}

/// Makes this the file's content.
pub(super) async fn replace(
    connection: &Connection,
    box_id: BoxId,
    draft: bool,
    incoming: &Incoming<'_>,
) -> Result<(), Fault> {
    let (number, model) = made(connection, box_id, draft).await?;
    if !incoming.chunks.is_empty()
        && let Some(stored) = model.filter(|stored| stored != incoming.model)
        && others_have_chunks(connection, number, incoming.file).await?
    {
        return Err(other_model(&stored, incoming.model));
    }
    remove_from(connection, number, incoming.file).await?;
    let file = insert_file(connection, number, incoming).await?;
    insert_pages(connection, file, &incoming.document.pages).await?;
    insert_chunks(connection, number, file, incoming.chunks).await?;
    insert_postings(connection, number, file, &incoming.terms).await?;
    let model = (!incoming.chunks.is_empty()).then_some(incoming.model);
    Ok(count(connection, number, 1, file, model).await?)
}

/// Removes everything of the file.
pub(super) async fn remove(
    connection: &Connection,
    box_id: BoxId,
    draft: bool,
    file: FileId,
) -> Result<Removed, Fault> {
    match existing(connection, box_id, draft).await? {
        Some((number, _)) => Ok(remove_from(connection, number, file).await?),
        None => Ok(Removed::default()),
    }
}

/// Removes a box's content; gives its number.
pub(super) async fn drop_box(
    connection: &Connection,
    box_id: BoxId,
    draft: bool,
) -> Result<Option<i64>, Error> {
    let Some((number, _)) = existing(connection, box_id, draft).await? else { return Ok(None) };
    let name = box_id.to_string();
    connection.execute("delete from index_names where box_id = $1 and draft = $2", &[&name, &draft]).await?;
    connection.execute("delete from index_postings where box = $1", &[&number]).await?;
    connection.execute("delete from index_boxes where number = $1", &[&number]).await?;
    Ok(Some(number))
}

/// Exchanges the names of a box's content and of its draft.
pub(super) async fn adopt(connection: &Connection, box_id: BoxId) -> Result<(), Error> {
    for draft in [false, true] {
        made(connection, box_id, draft).await?;
    }
    let sql = "update index_names a set number = b.number from index_names b
               where a.box_id = $1 and b.box_id = $1 and a.draft <> b.draft";
    connection.execute(sql, &[&box_id.to_string()]).await?;
    Ok(())
}

/// The number and the model of a box's content, which nobody else changes until the end of the transaction.
async fn existing(
    connection: &Connection,
    box_id: BoxId,
    draft: bool,
) -> Result<Option<(i64, Option<String>)>, Error> {
    let sql = "select b.number, b.model from index_names n join index_boxes b on b.number = n.number
               where n.box_id = $1 and n.draft = $2 for update of b";
    let statement = connection.prepared(sql).await?;
    let row = connection.query_opt(&statement, &[&box_id.to_string(), &draft]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

/// The same, created where there is none.
async fn made(connection: &Connection, box_id: BoxId, draft: bool) -> Result<(i64, Option<String>), Error> {
    if let Some(found) = existing(connection, box_id, draft).await? {
        return Ok(found);
    }
    let row = connection.query_one("insert into index_boxes default values returning number", &[]).await?;
    let number: i64 = row.try_get(0)?;
    let sql = "insert into index_names (box_id, draft, number) values ($1, $2, $3) on conflict do nothing";
    if connection.execute(sql, &[&box_id.to_string(), &draft, &number]).await? == 0 {
        // Somebody was faster, and has committed by now.
        connection.execute("delete from index_boxes where number = $1", &[&number]).await?;
    }
    let found = existing(connection, box_id, draft).await?;
    found.ok_or_else(|| Error::Corrupt("the box is gone as soon as it was made".into()))
}

async fn others_have_chunks(connection: &Connection, number: i64, file: FileId) -> Result<bool, Error> {
    let sql = "select exists (select 1 from index_files where box = $1 and chunks > 0 and id <> $2)";
    let statement = connection.prepared(sql).await?;
    Ok(connection.query_one(&statement, &[&number, &file.to_string()]).await?.try_get(0)?)
}

async fn remove_from(connection: &Connection, number: i64, file: FileId) -> Result<Removed, Error> {
    let sql = "select number, pages, chunks from index_files where box = $1 and id = $2";
    let statement = connection.prepared(sql).await?;
    let Some(row) = connection.query_opt(&statement, &[&number, &file.to_string()]).await? else {
        return Ok(Removed::default());
    };
    let (file, pages, chunks): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    count(connection, number, -1, file, None).await?;
    remove_postings(connection, number, file).await?;
    let statement = connection.prepared("delete from index_files where number = $1").await?;
    connection.execute(&statement, &[&file]).await?;
    Ok(Removed { pages: pages as u64, chunks: chunks as u64, vectors: chunks as u64 })
}

async fn remove_postings(connection: &Connection, number: i64, file: i64) -> Result<(), Error> {
    let sql = "delete from index_postings where box = $1 and file = $2
               and term = any((select terms from index_files where number = $2)::text[])";
    let statement = connection.prepared(sql).await?;
    connection.execute(&statement, &[&number, &file]).await?;
    Ok(())
}

/// Makes these the terms of a file that is stored already. Whoever calls this holds the row of the box.
pub(super) async fn replace_terms(
    connection: &Connection,
    number: i64,
    file: i64,
    terms: &Terms,
) -> Result<(), Error> {
    let (body, head) = terms.count();
    let sql = "update index_boxes b set body_terms = b.body_terms - f.body_terms + $3,
               head_terms = b.head_terms - f.head_terms + $4
               from index_files f where b.number = $1 and f.number = $2";
    connection.execute(sql, &[&number, &file, &body, &head]).await?;
    remove_postings(connection, number, file).await?;
    let sql = "update index_files set body_terms = $2, head_terms = $3, terms = $4, words = $5, analysis = $6
               where number = $1";
    let (names, words) = (terms.names(), terms.words());
    connection.execute(sql, &[&file, &body, &head, &names, &words, &ANALYSIS]).await?;
    insert_postings(connection, number, file, terms).await
}

/// Adds a file to what is known of the box, or takes it away.
async fn count(
    connection: &Connection,
    number: i64,
    sign: i64,
    file: i64,
    model: Option<&str>,
) -> Result<(), Error> {
    let sql = "insert into index_languages (box, language, chunks)
               select $1::bigint, coalesce(language, ''), count(*) * $2::bigint from index_chunks where file = $3 group by 2
               on conflict (box, language) do update set chunks = index_languages.chunks + excluded.chunks";
    let statement = connection.prepared(sql).await?;
    connection.execute(&statement, &[&number, &sign, &file]).await?;
    let sql = "update index_boxes b set model = coalesce($4, b.model), chunks = b.chunks + $2 * f.chunks,
               body_terms = b.body_terms + $2 * f.body_terms, head_terms = b.head_terms + $2 * f.head_terms
               from index_files f where b.number = $1 and f.number = $3";
    let statement = connection.prepared(sql).await?;
    connection.execute(&statement, &[&number, &sign, &file, &model]).await?;
    Ok(())
}

async fn insert_file(connection: &Connection, number: i64, incoming: &Incoming<'_>) -> Result<i64, Error> {
    let sql = "insert into index_files
               (box, id, title, pages, chunks, body_terms, head_terms, terms, words, analysis)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning number";
    let statement = connection.prepared(sql).await?;
    let (body, head) = incoming.terms.count();
    let (terms, words) = (incoming.terms.names(), incoming.terms.words());
    let title = storable(incoming.document.title.as_deref().unwrap_or(""));
    let (pages, chunks) = (incoming.document.pages.len() as i64, incoming.chunks.len() as i64);
    let file = incoming.file.to_string();
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 10] =
        [&number, &file, &title, &pages, &chunks, &body, &head, &terms, &words, &ANALYSIS];
    Ok(connection.query_one(&statement, &parameters).await?.try_get(0)?)
}

async fn insert_pages(connection: &Connection, file: i64, pages: &[Page]) -> Result<(), Error> {
    let sql = "insert into index_pages select $1::bigint, * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[],
               $6::boolean[], $7::real[], $8::bigint[], $9::text[], $10::bytea[])";
    let statement = connection.prepared(sql).await?;
    for pages in pages.chunks(TOGETHER) {
        let numbers: Vec<i64> = pages.iter().map(|page| page.number.into()).collect();
        let labels: Vec<String> = pages.iter().map(|page| storable(&page.label)).collect();
        let texts: Vec<String> = pages.iter().map(|page| storable(&page.text)).collect();
        let formats: Vec<&str> = pages.iter().map(|page| format_name(page.format)).collect();
        let ocr: Vec<bool> = pages.iter().map(|page| page.ocr).collect();
        let confidence: Vec<Option<f32>> = pages.iter().map(|page| page.confidence).collect();
        let tables: Vec<i64> = pages.iter().map(|page| page.tables.into()).collect();
        let warnings: Vec<String> = pages.iter().map(|page| as_json(&page.warnings)).collect();
        let layouts: Vec<Option<&[u8]>> =
            pages.iter().map(|page| page.layout.as_ref().map(Layout::as_bytes)).collect();
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 10] =
            [&file, &numbers, &labels, &texts, &formats, &ocr, &confidence, &tables, &warnings, &layouts];
        connection.execute(&statement, &parameters).await?;
    }
    Ok(())
}

async fn insert_chunks(
    connection: &Connection,
    number: i64,
    file: i64,
    chunks: &[IndexedChunk],
) -> Result<(), Error> {
    let sql =
        "insert into index_chunks select $1::bigint, * from unnest($2::bigint[], $3::bigint[], $4::bigint[],
               $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[])";
    let insert_chunks = connection.prepared(sql).await?;
    let sql =
        "insert into index_vectors select $1::bigint, $2::bigint, * from unnest($3::bigint[], $4::halfvec[])";
    let insert_vectors = connection.prepared(sql).await?;
    for (at, chunks) in chunks.chunks(TOGETHER).enumerate() {
        let first = (at * TOGETHER) as i64;
        let ordinals: Vec<i64> = (first..first + chunks.len() as i64).collect();
        let number_of = |of: fn(&IndexedChunk) -> u32| -> Vec<i64> {
            chunks.iter().map(|chunk| i64::from(of(chunk))).collect()
        };
        let pages = number_of(|chunk| chunk.chunk.page);
        let page_ends = number_of(|chunk| chunk.chunk.page_end);
        let starts = number_of(|chunk| chunk.chunk.start);
        let ends = number_of(|chunk| chunk.chunk.end);
        let languages: Vec<Option<&str>> =
            chunks.iter().map(|chunk| chunk.chunk.language.as_deref()).collect();
        let sections: Vec<String> = chunks.iter().map(|chunk| as_json(&chunk.chunk.section)).collect();
        let leads: Vec<String> = chunks.iter().map(|chunk| storable(&chunk.chunk.lead)).collect();
        let texts: Vec<String> = chunks.iter().map(|chunk| storable(&chunk.chunk.text)).collect();
        let tokens: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.tokens.as_slice()).collect();
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 11] = [
            &file, &ordinals, &pages, &page_ends, &starts, &ends, &languages, &sections, &leads, &texts,
            &tokens,
        ];
        connection.execute(&insert_chunks, &parameters).await?;
        let vectors: Vec<Half> = chunks.iter().map(|chunk| Half::of(&chunk.vector)).collect();
        connection.execute(&insert_vectors, &[&number, &file, &ordinals, &vectors]).await?;
    }
    Ok(())
}

async fn insert_postings(connection: &Connection, number: i64, file: i64, of: &Terms) -> Result<(), Error> {
    let sql = "insert into index_postings (box, file, term, part, hits)
               select $1::bigint, $2::bigint, * from unnest($3::text[], $4::bigint[], $5::bytea[])";
    let statement = connection.prepared(sql).await?;
    let (mut terms, mut parts, mut hits) = (Vec::new(), Vec::new(), Vec::new());
    for (term, postings) in of.postings() {
        for (part, postings) in postings.chunks(words::MOST_IN_PART).enumerate() {
            terms.push(term);
            parts.push(part as i64);
            hits.push(words::pack(postings));
        }
    }
    if !terms.is_empty() {
        connection.execute(&statement, &[&number, &file, &terms, &parts, &hits]).await?;
    }
    Ok(())
}

/// There is no NUL in the server's texts.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}
