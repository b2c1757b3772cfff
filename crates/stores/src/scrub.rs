//! Leaves nothing of deleted rows in a `SQLite` file.
//!
//! `secure_delete` overwrites a row where it stands, but not the copies that are left in the unused middle of a page when
//! `SQLite` moves rows from one page to another. So before changes go from the log (the WAL) into the file, the unused middle of
//! every page among them is overwritten too. That holds only while nobody else empties the log: see [`keep_log`].

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    path::Path,
};

use rusqlite::{Connection, Result, Transaction, TransactionBehavior, config::DbConfig};

use crate::Error;

/// Pages in the log from which on it is worth emptying: 4 MB.
const MANY: u64 = 1000;
/// Bytes before the first page of a log, and before each.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// From here on only [`wipe`] empties the log, neither a full one nor a closing connection does.
pub(crate) fn keep_log(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.query_row("pragma wal_autocheckpoint = 0", [], |_| Ok(()))
}

/// Whether the log of the file at `path` is long enough to be emptied.
pub(crate) fn is_due(path: &Path) -> bool {
    std::fs::metadata(log(path)).is_ok_and(|log| log.len() > MANY * (4096 + FRAME_HEADER))
}

/// Overwrites what is left of deleted rows and empties the log; `false` where a reader is in the middle of it, and then it is to be
/// done again.
pub(crate) fn wipe(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let changed = changed_pages(&log(path)).map_err(Error::io("reading the log of a file"))?;
    if !changed.is_empty() {
        scrub(connection, &changed)?;
    }
    let emptied = connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0))?;
    Ok(emptied == 0)
}

fn log(path: &Path) -> std::path::PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// The numbers of the pages in a log. Those of an earlier round of the log are among them, which does no harm.
fn changed_pages(log: &Path) -> io::Result<BTreeSet<u32>> {
    let mut pages = BTreeSet::new();
    let mut log = match File::open(log) {
        Ok(log) => log,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(pages),
        Err(error) => return Err(error),
    };
    let size = log.metadata()?.len();
    let mut header = [0; 12];
    if size < LOG_HEADER {
        return Ok(pages);
    }
    log.read_exact(&mut header)?;
    let page_size = u64::from(number(&header[8..]));
    let mut at = LOG_HEADER;
    while at + FRAME_HEADER + page_size <= size {
        let mut page = [0; 4];
        log.seek(SeekFrom::Start(at))?;
        log.read_exact(&mut page)?;
        pages.insert(number(&page));
        at += FRAME_HEADER + page_size;
    }
    Ok(pages)
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Overwrites the unused middle of these pages.
fn scrub(connection: &Connection, pages: &BTreeSet<u32>) -> Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    {
        let mut read = transaction.prepare_cached("select data from sqlite_dbpage where pgno = ?1")?;
        let mut write = transaction.prepare_cached("update sqlite_dbpage set data = ?2 where pgno = ?1")?;
        for &number in pages {
            let found = read.query_row([number], |row| row.get::<_, Vec<u8>>(0));
            // The file may have become shorter since.
            let Some(mut page) = found.map(Some).or_else(none_left)? else { continue };
            if let Some(unused) = unused(&page, number)
                && page[unused.clone()].iter().any(|&byte| byte != 0)
            {
                page[unused].fill(0);
                write.execute((number, page))?;
            }
        }
    }
    transaction.commit()
}

fn none_left<T>(error: rusqlite::Error) -> Result<Option<T>> {
    match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(None),
        error => Err(error),
    }
}

/// The middle of a page of a tree: after the places of its rows, before the first row. `None` for other pages, which are
/// overwritten whole when they become free.
fn unused(page: &[u8], number: u32) -> Option<std::ops::Range<usize>> {
    // The first page begins with the header of the file.
    let header = if number == 1 { 100 } else { 0 };
    let two = |at: usize| Some(usize::from(u16::from_be_bytes([*page.get(at)?, *page.get(at + 1)?])));
    let places = match page.get(header)? {
        2 | 5 => header + 12,
        10 | 13 => header + 8,
        _ => return None,
    };
    let start = places + 2 * two(header + 3)?;
    // A page of 65,536 bytes without rows has its first row there, which is written as 0.
    let end = match two(header + 5)? {
        0 => page.len(),
        end => end,
    };
    (start <= end && end <= page.len()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    fn open(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("pragma journal_mode = wal; pragma secure_delete = on;").unwrap();
        keep_log(&connection).unwrap();
        connection
    }

    fn marker(number: u64) -> String {
        format!("MARK{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn holds(path: &Path, text: &str) -> bool {
        [path.to_path_buf(), log(path)].iter().any(|path| {
            std::fs::read(path).unwrap_or_default().windows(text.len()).any(|part| part == text.as_bytes())
        })
    }

    /// Rows of many lengths come and go, which makes `SQLite` move others from page to page.
    #[test]
    fn nothing_of_a_deleted_row_stays_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box.db");
        let connection = open(&path);
        connection
            .execute_batch(
                "create table rows (id integer primary key, text text); create index i on rows (text);",
            )
            .unwrap();
        let mut chance = StdRng::seed_from_u64(7);
        let mut there: HashMap<u64, String> = HashMap::new();
        let mut gone = Vec::new();
        for number in 0..3000 {
            let leaves = there.keys().next().copied().filter(|_| chance.random_bool(0.5));
            match leaves {
                Some(id) => {
                    connection.execute("delete from rows where id = ?1", [id as i64]).unwrap();
                    gone.push(there.remove(&id).unwrap());
                    assert!(wipe(&connection, &path).unwrap());
                }
                None => {
                    let id = chance.random_range(0..1_000_000_000u64);
                    let text = marker(number) + &" words".repeat(chance.random_range(1..150));
                    if connection.execute("insert into rows values (?1, ?2)", (id as i64, &text)).is_ok() {
                        there.insert(id, marker(number));
                    }
                }
            }
        }
        wipe(&connection, &path).unwrap();
        let left: Vec<&String> = gone.iter().filter(|marker| holds(&path, marker)).collect();
        assert!(left.is_empty(), "{} of {} are left", left.len(), gone.len());
        assert!(there.values().all(|marker| holds(&path, marker)));
        let sound: String = connection.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }

    #[test]
    fn a_log_that_a_crash_left_is_wiped_by_whoever_opens_the_file_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box.db");
        let connection = open(&path);
        connection
            .execute_batch("create table rows (text text); insert into rows values ('SECRET')")
            .unwrap();
        wipe(&connection, &path).unwrap();
        connection.execute_batch("delete from rows").unwrap();
        drop(connection);
        assert!(holds(&path, "SECRET"), "closing does not empty the log");
        wipe(&open(&path), &path).unwrap();
        assert!(!holds(&path, "SECRET"));
    }
}
