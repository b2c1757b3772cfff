//! The tables of one box's file, and how the file is opened.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, Result, TransactionBehavior};

use crate::scrub;

/// The layout this code reads and writes. A change is a new entry in [`MIGRATIONS`], never an edit of an old one.
const VERSION: u32 = MIGRATIONS.len() as u32;

/// Statements that take the layout from the version of their place to the next.
///
/// Rows are numbered with `autoincrement`, so that a number once given never comes back: what the derived text index
/// still knows of a removed chunk can be told from a live one by its number alone. Vectors and token vectors live in
/// tables of their own, because a scan of one should not drag the others through the page cache.
const MIGRATIONS: &[&str] = &[
    "
    create table facts (name text primary key, value text not null) without rowid;
    create table files (
        number integer primary key autoincrement,
        id blob not null unique,
        title text not null,
        pages integer not null,
        chunks integer not null
    );
    create table pages (
        file integer not null,
        number integer not null,
        label text not null,
        text text not null,
        format text not null,
        ocr integer not null,
        confidence real,
        tables integer not null,
        warnings text not null,
        primary key (file, number)
    );
    create table chunks (
        number integer primary key autoincrement,
        file integer not null,
        ordinal integer not null,
        page integer not null,
        page_end integer not null,
        start integer not null,
        \"end\" integer not null,
        language text,
        section text not null,
        lead text not null,
        text text not null,
        unique (file, ordinal)
    );
    create table vectors (chunk integer primary key, half blob not null);
    create table tokens (chunk integer primary key, packed blob not null);
    create table changes (number integer primary key autoincrement, file integer not null);
",
    "
    -- No table changes; see `migrate`.
",
    "
    -- Where the words of a page stand; only pages of PDFs and pictures have it.
    alter table pages add column layout blob;
",
    "
    -- The languages of a box are counted whenever its words change, without reading its chunks.
    create index chunks_by_language on chunks (language);
",
];

/// Files of this layout were written before deleted text was overwritten wherever it had been; they are written once more.
const UNSCRUBBED: u32 = 1;

/// Opens a box's file for changing, creating it where it is missing.
pub(super) fn open_for_writing(path: &Path) -> Result<Connection> {
    let mut connection = Connection::open(path)?;
    set_up(&connection)?;
    // Full: an acknowledged file survives a power cut. Secure delete: removed text is overwritten in the file.
    connection
        .execute_batch("pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on;")?;
    scrub::keep_log(&connection)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Opens a box's file for reading only.
pub(super) fn open_for_reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    Ok(connection)
}

/// Whether the file has the layout that this code reads.
pub(super) fn is_current(connection: &Connection) -> Result<bool> {
    Ok(version(connection)? == VERSION)
}

fn version(connection: &Connection) -> Result<u32> {
    connection.query_row("pragma user_version", [], |row| row.get(0))
}

fn set_up(connection: &Connection) -> Result<()> {
    // A reader only ever waits for a checkpoint, a writer for another process' writer: both are short.
    connection.busy_timeout(Duration::from_secs(10))?;
    // 2 MiB of pages per connection: the upper levels of the trees of a million chunks fit, and 128 boxes stay cheap.
    connection.execute_batch("pragma cache_size = -2048;")?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

fn migrate(connection: &mut Connection) -> Result<()> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    // Immediate: of two that open a new box at once, the second waits and finds nothing left to do.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for step in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    if found == UNSCRUBBED {
        connection.execute_batch("vacuum")?;
    }
    Ok(())
}
