//! The tables of the index, and what the server must have for them.

use crate::{
    Error,
    postgres::{Address, Connection, Pool, Step, run_steps},
};

/// The oldest pgvector that goes on looking where a filter leaves too few.
const OLDEST_PGVECTOR: (u32, u32) = (0, 8);

/// Steps are only ever added, never changed. Numbers are given by sequences, so that none ever comes back.
const STEPS: &[Step] =
    &[Step::adding(TABLES), Step::adding(REVISIONS), Step::adding(WORDS), Step::adding(LAYOUTS)];

const TABLES: &str = "
    create table index_boxes (
        number bigint generated always as identity primary key,
        model text,
        chunks bigint not null default 0,
        body_terms bigint not null default 0,
        head_terms bigint not null default 0
    );
    -- Which content a box has now, and which beside it.
    create table index_names (
        box_id text not null,
        draft boolean not null,
        number bigint not null references index_boxes (number),
        primary key (box_id, draft)
    );
    create table index_languages (
        box bigint not null references index_boxes (number) on delete cascade,
        language text not null,
        chunks bigint not null,
        primary key (box, language)
    );
    create table index_files (
        number bigint generated always as identity primary key,
        box bigint not null references index_boxes (number) on delete cascade,
        id text not null,
        title text not null,
        pages bigint not null,
        chunks bigint not null,
        body_terms bigint not null,
        head_terms bigint not null,
        -- what leads to its postings
        terms text[] not null,
        unique (box, id)
    );
    create table index_pages (
        file bigint not null references index_files (number) on delete cascade,
        number bigint not null,
        label text not null,
        text text not null,
        format text not null,
        ocr boolean not null,
        confidence real,
        tables bigint not null,
        warnings text not null,
        primary key (file, number)
    );
    create table index_chunks (
        file bigint not null references index_files (number) on delete cascade,
        ordinal bigint not null,
        page bigint not null,
        page_end bigint not null,
        start bigint not null,
        \"end\" bigint not null,
        language text,
        section text not null,
        lead text not null,
        text text not null,
        -- packed; empty where the model gives none
        tokens bytea not null,
        primary key (file, ordinal)
    );
    -- Token vectors do not compress.
    alter table index_chunks alter column tokens set storage external;
    -- Apart from the chunks: a scan of one should not drag the other through memory.
    create table index_vectors (
        box bigint not null,
        file bigint not null references index_files (number) on delete cascade,
        ordinal bigint not null,
        half halfvec not null,
        primary key (box, file, ordinal)
    );
    alter table index_vectors alter column half set storage plain;
    create index index_vectors_by_file on index_vectors (file);
    create table index_postings (
        box bigint not null,
        term text collate \"C\" not null,
        file bigint not null,
        part bigint not null,
        hits bytea not null,
        primary key (box, term, file, part) include (hits)
    );
    alter table index_postings set (autovacuum_vacuum_insert_scale_factor = 0.05);
";

/// A name's revision grows with every change of what it leads to: so an up-to-date replica can be told from one that is
/// behind. Triggers see to it, for nodes of the version before make changes too.
const REVISIONS: &str = "
    create sequence index_revisions;
    alter table index_names add column revision bigint not null default 0;
    create index index_names_by_number on index_names (number);
    create function index_note_file() returns trigger language plpgsql set search_path from current as $$
    begin
        update index_names set revision = nextval('index_revisions') where number = coalesce(new.box, old.box);
        return null;
    end $$;
    create trigger index_note_file after insert or delete on index_files
        for each row execute function index_note_file();
    create function index_note_name() returns trigger language plpgsql set search_path from current as $$
    begin
        new.revision := nextval('index_revisions');
        return new;
    end $$;
    create trigger index_note_name before insert or update of number on index_names
        for each row execute function index_note_name();
";

/// The words of each box, for those who misspell them, kept by triggers: nodes of the version before remove files too. A
/// file says by which version of the analysis its terms were made; [`tend`](super::tend) makes older ones anew, so also
/// those of files stored before there was this step.
const WORDS: &str = "
    create table index_words (
        box bigint not null references index_boxes (number) on delete cascade,
        word text collate \"C\" not null,
        files bigint not null,
        primary key (box, word)
    ) with (fillfactor = 80);
    alter table index_files add column analysis bigint not null default 0;
    alter table index_files add column words text[] not null default '{}';
    create index index_files_by_analysis on index_files (analysis, number);
    create function index_note_words() returns trigger language plpgsql set search_path from current as $$
    begin
        if tg_op <> 'INSERT' and cardinality(old.words) > 0
            -- With the box all its words go at once.
            and exists (select 1 from index_boxes where number = old.box)
        then
            update index_words set files = files - 1 where box = old.box and word = any(old.words);
            delete from index_words where box = old.box and word = any(old.words) and files <= 0;
        end if;
        if tg_op <> 'DELETE' and cardinality(new.words) > 0 then
            insert into index_words (box, word, files) select new.box, unnest(new.words), 1
                on conflict (box, word) do update set files = index_words.files + 1;
        end if;
        return null;
    end $$;
    create trigger index_note_words after insert or delete or update of words on index_files
        for each row execute function index_note_words();
";

/// Where the words of a page stand; only pages of PDFs and pictures have it. What nodes of the version before store has none.
const LAYOUTS: &str = "
    alter table index_pages add column layout bytea;
    -- It is as dense as it gets.
    alter table index_pages alter column layout set storage external;
";

/// Brings the tables up to date, once however many nodes start.
pub(super) async fn prepare(address: &Address) -> Result<(), Error> {
    let connection = Pool::new(address.clone(), 1).get().await?;
    // A failed step leaves a transaction open.
    connection.spoil();
    if let Some(schema) = &address.schema {
        let made = connection.batch_execute(&format!("create schema if not exists {schema}")).await;
        made.or_else(|error| if error.code().is_some() { Ok(()) } else { Err(error) })?;
    }
    let extended = "begin; select pg_advisory_xact_lock(hashtextextended('quire/migrations', 0));
                    create extension if not exists vector with schema public; commit";
    connection.batch_execute(extended).await?;
    run_steps(&connection, "index_steps", STEPS, None).await?;
    let version = pgvector(&connection).await?;
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST_PGVECTOR {
        return Err(Error::Address(format!("the database has pgvector {version}; 0.8 or newer is needed")));
    }
    Ok(())
}

async fn pgvector(connection: &Connection) -> Result<String, Error> {
    let sql = "select extversion from pg_extension where extname = 'vector'";
    Ok(connection.query_one(sql, &[]).await?.try_get(0)?)
}

/// What answers searches here, for an operator.
pub(super) async fn describe(connection: Connection) -> Result<String, Error> {
    let server: String = connection.query_one("show server_version", &[]).await?.try_get(0)?;
    let vectors = pgvector(&connection).await?;
    Ok(format!(
        "PostgreSQL {server}, pgvector {vectors}; words are ranked by quire's own BM25 over its own terms, as in a data \
         folder: no text search extension of the server is used or needed"
    ))
}
