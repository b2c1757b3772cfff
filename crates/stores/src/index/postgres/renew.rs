//! Makes the terms of files anew that were stored when texts gave other terms, in the background.
//!
//! Until then such a file is found by the terms it has, which are mostly the same, but nothing is taken for its words.

use super::{
    super::text::ANALYSIS,
    Shared,
    store::{self, Terms},
};
use crate::{Error, postgres::Connection};

/// Makes the terms of older files anew, one transaction each; says how many those were. Only one node is at it.
pub(super) async fn renew(shared: &Shared) -> Result<usize, Error> {
    let sql = "select box, number from index_files where analysis < $1 order by analysis, number limit 100";
    let connection = shared.primary.get().await?;
    if connection.query(sql, &[&ANALYSIS]).await?.is_empty() {
        return Ok(0);
    }
    // It holds a lock, and may be dropped within a transaction.
    connection.spoil();
    let lock = "select pg_try_advisory_lock(hashtextextended(current_schema() || '/terms', 0))";
    if !connection.query_one(lock, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let mut renewed = 0;
    loop {
        let older = connection.query(sql, &[&ANALYSIS]).await?;
        if older.is_empty() {
            return Ok(renewed);
        }
        for row in older {
            connection.batch_execute("begin").await?;
            renew_file(&connection, row.try_get(0)?, row.try_get(1)?).await?;
            connection.batch_execute("commit").await?;
            renewed += 1;
        }
    }
}

/// Makes the terms of one file anew, unless it is gone. Nobody else changes its box until the end of the transaction.
async fn renew_file(connection: &Connection, number: i64, file: i64) -> Result<(), Error> {
    connection.query("select 1 from index_boxes where number = $1 for update", &[&number]).await?;
    let sql = "select title from index_files where number = $1";
    let Some(row) = connection.query_opt(sql, &[&file]).await? else { return Ok(()) };
    let chunks = super::read::chunks_of(connection, file).await?;
    store::replace_terms(connection, number, file, &Terms::of(chunks.iter(), row.try_get(0)?)).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{
        access::Writing,
        document::Document,
        ids::{BoxId, FileId},
        seams::index::{Chunk, EXACT_TO, Index, IndexedChunk, Recall, Recalled},
    };

    use super::*;
    use crate::index::Postgres;

    async fn ask(index: &Postgres, writing: &Writing, text: &str) -> Recalled {
        let recall =
            Recall { text: Some(text), vector: None, model: "m", only: None, limit: 5, exact_to: EXACT_TO };
        index.recall(writing.reading(), recall).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn files_of_an_older_version_are_found_and_get_their_words() {
        let Some(url) = crate::scaled::schema() else { return };
        let index = Postgres::connect(&url, &[]).await.unwrap();
        let writing = Writing::for_operator(BoxId::generate());
        let chunk = Chunk {
            text: "hearing care services".into(),
            page: 1,
            page_end: 1,
            start: 0,
            end: 21,
            section: [].into(),
            lead: "".into(),
            language: Some("en".into()),
        };
        let title = Some("Benefits".to_string());
        let document = Document { media_type: "text/plain".into(), title, pages: vec![], warnings: vec![] };
        let chunks = Arc::from([IndexedChunk { chunk, vector: vec![1.0, 0.0], tokens: vec![] }]);
        let file = FileId::generate();
        index.replace(&writing, file, &Arc::new(document), &chunks, "m").await.unwrap();
        let fresh = ask(&index, &writing, "hearin servises benifits").await;
        assert_eq!((fresh.keyword.len(), fresh.corrected.len()), (1, 3));

        // As a node of the version before leaves it.
        let connection = index.shared.primary.get().await.unwrap();
        let older = "update index_files set words = default, analysis = default";
        connection.batch_execute(older).await.unwrap();
        let before = ask(&index, &writing, "hearing servises").await;
        assert_eq!((before.keyword.len(), before.corrected.len()), (1, 0));

        assert_eq!(renew(&index.shared).await.unwrap(), 1);
        assert_eq!(renew(&index.shared).await.unwrap(), 0);
        let after = ask(&index, &writing, "hearin servises benifits").await;
        assert_eq!(after.keyword, fresh.keyword, "the scores are the same too");
        assert_eq!(after.corrected, fresh.corrected);

        index.remove(&writing, file).await.unwrap();
        let left = connection.query_one("select count(*) from index_words", &[]).await.unwrap();
        assert_eq!(left.get::<_, i64>(0), 0, "no word of a removed file stays");
    }
}
