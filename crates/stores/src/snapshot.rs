//! Copies of a `SQLite` file as of one moment, while others write to it.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
    ffi,
};

use crate::{Error, scrub};

/// How long to wait for a writer: commits take milliseconds.
const BUSY: Duration = Duration::from_secs(10);

/// Writes a copy of the file, which must exist, to a place where there is none; on disk when this returns. The same content
/// gives the same bytes.
pub fn snapshot(from: &Path, to: &Path) -> Result<(), Error> {
    let source = open(from)?;
    source.execute("vacuum into ?1", [to.to_string_lossy()])?;
    drop(source);
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(Error::io("writing a copy of a database"))
}

/// The same with every page where it is, so that a copy has most of its bytes in common with one from before a change. What was
/// deleted is overwritten in the file, and so in the copy.
pub fn mirror(from: &Path, to: &Path) -> Result<(), Error> {
    let source = open(from)?;
    let mut target = Connection::open(to)?;
    let copying = Backup::new(&source, &mut target)?;
    // All at once: others go on reading and writing meanwhile, and nothing that they write is seen.
    let began = Instant::now();
    while copying.step(-1)? != StepResult::Done {
        if began.elapsed() > BUSY {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None).into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    drop(copying);
    // One file, without a log beside it.
    target.execute_batch("pragma journal_mode = delete")?;
    target.close().map_err(|(_, error)| error)?;
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(Error::io("writing a copy of a database"))
}

/// Whether every page of the file is what `SQLite` expects; what is wrong, where it is not.
pub fn check(path: &Path) -> Result<(), String> {
    let said = open(path).map_err(|error| error.to_string()).and_then(|connection| {
        let mut statement = connection.prepare("pragma quick_check(1)").map_err(|error| error.to_string())?;
        statement.query_row([], |row| row.get::<_, String>(0)).map_err(|error| error.to_string())
    })?;
    if said == "ok" { Ok(()) } else { Err(said) }
}

/// Leaves the log as it is when it is closed: it is the server's.
fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    scrub::keep_log(&connection)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_what_was_committed_and_not_what_was_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        let rows = "pragma journal_mode = wal; create table t (x); insert into t values (1), (2);";
        writer.execute_batch(rows).unwrap();
        writer.execute_batch("begin immediate; insert into t values (3);").unwrap();
        let copies = ["b.db", "c.db"].map(|name| folder.path().join(name));
        for copy in &copies {
            snapshot(&path, copy).unwrap();
        }
        assert_eq!(fs::read(&copies[0]).unwrap(), fs::read(&copies[1]).unwrap(), "the same bytes");
        writer.execute_batch("commit").unwrap();
        let count = |path: &Path| -> i64 {
            Connection::open(path).unwrap().query_row("select count(*) from t", [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count(&copies[0]), count(&path)), (2, 3));
        assert!(snapshot(&folder.path().join("nowhere.db"), &folder.path().join("d.db")).is_err());
        assert!(check(&copies[0]).is_ok());
    }

    #[test]
    fn a_mirror_has_its_pages_where_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let writer = Connection::open(at("a.db")).unwrap();
        writer.execute_batch("pragma journal_mode = wal; create table t (x);").unwrap();
        for number in 0..5_000 {
            writer.execute("insert into t values (?1)", [format!("row {number} of a long table")]).unwrap();
        }
        mirror(&at("a.db"), &at("b.db")).unwrap();
        writer.execute_batch("begin immediate; delete from t where rowid = 100;").unwrap();
        mirror(&at("a.db"), &at("c.db")).unwrap();
        writer.execute_batch("commit").unwrap();
        mirror(&at("a.db"), &at("d.db")).unwrap();
        let [before, during, after] = ["b.db", "c.db", "d.db"].map(|name| fs::read(at(name)).unwrap());
        assert_eq!(before, during, "what is not committed is not seen");
        let differing =
            before.chunks(4096).zip(after.chunks(4096)).filter(|(one, other)| one != other).count();
        assert!((1..=3).contains(&differing), "{differing} pages");
        assert!(check(&at("d.db")).is_ok());
    }

    #[test]
    fn a_damaged_page_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("create table t (x); create index i on t (x);").unwrap();
        for number in 0..2_000 {
            connection
                .execute("insert into t values (?1)", [format!("row {number} of a long table")])
                .unwrap();
        }
        drop(connection);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 2048].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        assert!(check(&path).is_err());
    }
}
