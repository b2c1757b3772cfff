//! What commands print: lines and tables for people, JSON for scripts.

use std::{
    io::{IsTerminal, Write, stderr, stdout},
    process::ExitCode,
};

use engine::Fault;
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use crate::http::error::ErrorObject;

/// Prints a result: `value` for scripts, `text` for people.
pub(super) fn print(json: bool, value: &impl Serialize, text: &str) {
    if json { say(&serde_json::to_string(value).expect("plain JSON")) } else { say(text) }
}

/// A line on standard output. Whoever reads may have gone away (`| head`); that is no error of ours.
pub(super) fn say(text: &str) {
    let _ = writeln!(stdout(), "{}", text.trim_end());
    let _ = stdout().flush();
}

/// Says what went wrong: on standard error for people, as the error object on standard output for scripts.
pub(super) fn failed(fault: &Fault, json: bool) -> ExitCode {
    if json {
        let object = ErrorObject::of(fault, None);
        say(&serde_json::to_string(&object).expect("plain JSON"));
    }
    let mark = if stderr().is_terminal() { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    let _ = writeln!(stderr(), "{mark} {}", fault.cause);
    if let Some(source) = &fault.source {
        let _ = writeln!(stderr(), "  because: {source}");
    }
    ExitCode::FAILURE
}

/// Rows in columns as wide as their widest cell; `nothing` where there are none.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>], nothing: &str) -> String {
    if rows.is_empty() {
        return nothing.to_string();
    }
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(heads.to_vec())).chain(body).collect::<Vec<_>>().join("\n")
}

/// A time as people read it; a dash for none.
pub(super) fn moment(time: Option<Timestamp>) -> String {
    match time {
        Some(time) => time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string(),
        None => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_string(), "long cell".into()], vec!["longer".into(), "x".into()]];
        assert_eq!(table(&["ONE", "TWO"], &rows, ""), "ONE     TWO\na       long cell\nlonger  x");
        assert_eq!(table(&["ONE"], &[], "no rows"), "no rows");
    }
}
