//! The little that our SQL needs of a database: values in, rows out, `$1`-style parameters.

use std::str::FromStr;

use engine::{seams::catalog::Email, trace::Place};
use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::postgres;
use crate::Error;

/// A parameter or a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Value::Integer(integer)
    }
}
impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Integer(i64::from(truth))
    }
}
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}
impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Value::Integer(time.as_millisecond())
    }
}
impl From<Place> for Value {
    fn from(place: Place) -> Self {
        Value::Text(place.traceparent())
    }
}
impl<K: engine::ids::Kind> From<engine::ids::Id<K>> for Value {
    fn from(id: engine::ids::Id<K>) -> Self {
        Value::Text(id.to_string())
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(*integer),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// One row of an answer; columns are read by position.
pub(crate) struct Row(pub(super) Vec<Value>);

impl Row {
    pub(crate) fn integer(&self, column: usize) -> Result<i64, Error> {
        match &self.0[column] {
            Value::Integer(integer) => Ok(*integer),
            other => Err(Error::Corrupt(format!("column {column} holds {other:?}, not a number"))),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, Error> {
        match &self.0[column] {
            Value::Text(text) => Ok(text),
            other => Err(Error::Corrupt(format!("column {column} holds {other:?}, not a text"))),
        }
    }

    /// A text column of hexadecimal digits.
    pub(crate) fn bytes(&self, column: usize) -> Result<Vec<u8>, Error> {
        let text = self.text(column)?;
        let byte = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        bytes.ok_or_else(|| Error::Corrupt(format!("column {column} holds no bytes")))
    }

    pub(crate) fn is_null(&self, column: usize) -> bool {
        self.0[column] == Value::Null
    }

    /// A text column parsed into its type.
    pub(crate) fn parse<T: FromStr<Err: std::fmt::Display>>(&self, column: usize) -> Result<T, Error> {
        self.text(column)?.parse().map_err(|wrong| Error::Corrupt(format!("column {column}: {wrong}")))
    }

    /// An address as it was stored: rules that came later must not make an account unreadable.
    pub(crate) fn email(&self, column: usize) -> Result<Email, Error> {
        Ok(Email::stored(self.text(column)?))
    }

    pub(crate) fn time(&self, column: usize) -> Result<Timestamp, Error> {
        let millisecond = self.integer(column)?;
        Timestamp::from_millisecond(millisecond).map_err(|wrong| Error::Corrupt(wrong.to_string()))
    }

    /// Where in a trace something belongs, if that is known.
    pub(crate) fn trace(&self, column: usize) -> Result<Option<Place>, Error> {
        Ok(self.optional(column, |row, column| Ok(Place::parse(row.text(column)?)))?.flatten())
    }

    /// `None` for a null column, else what `read` makes of it.
    pub(crate) fn optional<T>(
        &self,
        column: usize,
        read: impl FnOnce(&Self, usize) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        if self.is_null(column) { Ok(None) } else { read(self, column).map(Some) }
    }
}

/// A transaction in progress.
pub(crate) struct Transaction<'a>(pub(super) Session<'a>);

/// Where a transaction runs.
pub(super) enum Session<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres(&'a postgres::Session<'a>),
}

impl Transaction<'_> {
    /// Runs a statement and says how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, parameters: &[Value]) -> Result<usize, Error> {
        match &self.0 {
            Session::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                bind(&mut statement, parameters)?;
                Ok(statement.raw_execute()?)
            }
            Session::Postgres(session) => session.execute(sql, parameters),
        }
    }

    /// All rows of the answer.
    pub(crate) fn all(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, Error> {
        match &self.0 {
            Session::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                let width = statement.column_count();
                bind(&mut statement, parameters)?;
                let mut rows = statement.raw_query();
                let mut answer = Vec::new();
                while let Some(row) = rows.next()? {
                    let columns = (0..width)
                        .map(|column| Ok(value(row.get_ref(column)?)))
                        .collect::<Result<_, Error>>()?;
                    answer.push(Row(columns));
                }
                Ok(answer)
            }
            Session::Postgres(session) => Ok(session.all(sql, parameters)?.into_iter().map(Row).collect()),
        }
    }

    /// The first row of the answer, if there is one.
    pub(crate) fn first(&self, sql: &str, parameters: &[Value]) -> Result<Option<Row>, Error> {
        Ok(self.all(sql, parameters)?.into_iter().next())
    }

    /// The time by the clock that all nodes share: the database server's, or this machine's where the database is a file.
    pub(crate) fn now(&self) -> Result<Timestamp, Error> {
        match &self.0 {
            Session::Sqlite(_) => Ok(Timestamp::now()),
            Session::Postgres(_) => {
                let sql = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
                self.first(sql, &[])?.ok_or_else(|| Error::Corrupt("no time".into()))?.time(0)
            }
        }
    }

    /// A column with its ASCII letters in lower case. What databases make of other letters depends on where they run.
    pub(crate) fn ascii_lowercase(&self, column: &str) -> String {
        match &self.0 {
            Session::Sqlite(_) => format!("lower({column})"),
            Session::Postgres(_) => format!("lower({column} collate \"C\")"),
        }
    }

    /// Ends a query that takes its rows of a table for itself and passes over those that somebody else has: a database
    /// with one writer does not need it.
    pub(crate) fn skipping_taken(&self, table: &str) -> String {
        match &self.0 {
            Session::Sqlite(_) => String::new(),
            Session::Postgres(_) => format!(" for update of {table} skip locked"),
        }
    }
}

/// Binds `$1` to the first parameter and so on, wherever they stand in the statement: `SQLite` itself would number them by
/// their first appearance.
fn bind(statement: &mut rusqlite::CachedStatement<'_>, parameters: &[Value]) -> Result<(), Error> {
    for at in 1..=statement.parameter_count() {
        let name =
            statement.parameter_name(at).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
        let parameter = name.and_then(|number| parameters.get(number.checked_sub(1)?));
        let parameter = parameter.ok_or_else(|| Error::Corrupt("a statement lacks a parameter".into()))?;
        statement.raw_bind_parameter(at, parameter)?;
    }
    Ok(())
}

fn value(column: ValueRef<'_>) -> Value {
    match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Real(real) => Value::Integer(real as i64),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}
