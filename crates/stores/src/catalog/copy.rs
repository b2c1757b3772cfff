//! Copies a whole catalog into another, table by table, and compares both.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{
    Sql,
    sql::{Transaction, Value},
};
use crate::Error;

/// Rows written in one transaction.
const TOGETHER: usize = 500;

/// The rows of a table: their number, and a fingerprint that does not depend on their order.
type Sum = (u64, [u8; 32]);

impl Sql {
    /// Copies all tables from another catalog into this one, which nobody else uses; existing rows stay, so that an
    /// interrupted copy can go on. Says how many rows each table has; a fault where they differ in the end.
    pub async fn copy_from(&self, other: &Sql) -> Result<BTreeMap<String, u64>, Error> {
        // One of the two is a file, which knows the order in which the tables were made: each only refers to earlier ones.
        let file = if self.database.server().is_none() { self } else { other };
        let tables = file.database.read(tables_of_file)?;
        let mut counts = BTreeMap::new();
        if self.database.read(|t| t.first("select 1 from users limit 1", &[]))?.is_none() {
            // What migrations put there is what the other has too, perhaps changed.
            let emptied = self.database.write(|t| {
                t.execute("delete from plans", &[])?;
                t.execute("delete from access_version", &[])?;
                Ok(())
            });
            emptied.await.map_err(|fault| Error::Corrupt(fault.to_string()))?;
        }
        for (table, columns) in &tables {
            copy_table(other, self, table, columns).await?;
            let (mine, theirs) = (sum(self, table, columns)?, sum(other, table, columns)?);
            if mine != theirs {
                return Err(Error::Corrupt(format!(
                    "the copy of the table {table} differs ({} rows, {} wanted): empty the new store and start again",
                    mine.0, theirs.0
                )));
            }
            counts.insert(table.clone(), mine.0);
        }
        Ok(counts)
    }
}

fn tables_of_file(transaction: &Transaction<'_>) -> Result<Vec<(String, Vec<String>)>, Error> {
    // Heartbeats are of those who run, not of what is kept; sizes of boxes are counted by the new place itself.
    let sql = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'
               and name not in ('nodes', 'box_sizes') order by rowid";
    // Which index cluster has a box is for the new place to decide.
    let columns = "select name from pragma_table_info($1) where name <> 'shard' order by cid";
    let names = transaction.all(sql, &[])?;
    names
        .iter()
        .map(|row| {
            let table = row.text(0)?.to_string();
            let columns = transaction.all(columns, &[table.as_str().into()])?;
            let columns =
                columns.iter().map(|row| Ok(row.text(0)?.to_string())).collect::<Result<_, Error>>()?;
            Ok((table, columns))
        })
        .collect()
}

async fn copy_table(from: &Sql, to: &Sql, table: &str, columns: &[String]) -> Result<(), Error> {
    let rows = from.database.read(|t| rows(t, table, columns))?;
    let places: Vec<String> = (1..=columns.len()).map(|place| format!("${place}")).collect();
    let insert = format!(
        "insert into {table} ({}) values ({}) on conflict do nothing",
        columns.join(", "),
        places.join(", ")
    );
    for some in rows.chunks(TOGETHER) {
        let (some, insert) = (some.to_vec(), insert.clone());
        let written = to.database.write(move |t| {
            for row in &some {
                t.execute(&insert, row)?;
            }
            Ok(())
        });
        written.await.map_err(|fault| Error::Corrupt(format!("copying {table}: {fault}")))?;
    }
    Ok(())
}

fn rows(transaction: &Transaction<'_>, table: &str, columns: &[String]) -> Result<Vec<Vec<Value>>, Error> {
    let sql = format!("select {} from {table}", columns.join(", "));
    Ok(transaction.all(&sql, &[])?.into_iter().map(|row| row.0).collect())
}

fn sum(catalog: &Sql, table: &str, columns: &[String]) -> Result<Sum, Error> {
    let rows = catalog.database.read(|t| rows(t, table, columns))?;
    let mut all = [0; 32];
    for row in &rows {
        let hash: [u8; 32] = Sha256::digest(format!("{row:?}")).into();
        all.iter_mut().zip(hash).for_each(|(all, byte)| *all ^= byte);
    }
    Ok((rows.len() as u64, all))
}
