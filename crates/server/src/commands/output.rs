//! What commands print: lines and tables for people, JSON for scripts.

use std::{
    io::{BufRead, IsTerminal, Write, stderr, stdin, stdout},
    process::ExitCode,
    sync::LazyLock,
    time::Duration,
};

use engine::{Fault, Reason};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;
use tokio::task::JoinHandle;

use crate::{
    http::error::ErrorObject,
    words::{Text, Words},
};

/// A text for people, in the language of their terminal.
pub(super) fn text(key: &str) -> Text {
    words().text(key)
}

/// The same, with nothing put into it.
pub(super) fn plain(key: &str) -> String {
    words().plain(key)
}

/// The language of the terminal.
pub(super) fn words() -> Words {
    static WORDS: LazyLock<Words> = LazyLock::new(|| match cfg!(test) {
        true => Words::default(),
        false => Words::of_terminal(|variable| std::env::var(variable).ok()),
    });
    *WORDS
}

/// Prints a result: `value` for scripts, `text` for people.
pub(super) fn print(json: bool, value: &impl Serialize, text: &str) {
    if json { say(&serde_json::to_string(value).expect("plain JSON")) } else { say(text) }
}

/// A line on standard output. The reader may have gone away (`| head`); that is not an error.
pub(super) fn say(text: &str) {
    let _ = writeln!(stdout(), "{}", text.trim_end());
    let _ = stdout().flush();
}

/// A remark in addition to the result, for a person at a terminal; scripts do not get it.
pub(super) fn note(text: &str) {
    if stderr().is_terminal() {
        let _ = writeln!(stderr(), "{text}");
    }
}

/// How long a command may take before it says that it is at work.
const SILENT: Duration = Duration::from_millis(800);

/// Shows a person that a command is at work, once it takes about a second; cleared when dropped.
pub(super) struct Working {
    bar: ProgressBar,
    start: JoinHandle<()>,
}

/// Shows a text next to a spinner until the result is dropped.
pub(super) fn working(json: bool, text: impl Into<String>) -> Working {
    let bar = ProgressBar::new_spinner().with_message(text.into());
    if json {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let shown = bar.clone();
    let start = tokio::spawn(async move {
        tokio::time::sleep(SILENT).await;
        shown.enable_steady_tick(Duration::from_millis(120));
    });
    Working { bar, start }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.start.abort();
        self.bar.finish_and_clear();
    }
}

/// A bar that is drawn at once, before the first step is done; hidden where a script reads.
pub(super) fn started(json: bool, style: ProgressStyle) -> ProgressBar {
    let bar = ProgressBar::new(0).with_style(style);
    if json {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// How progress bars look.
pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a valid template").progress_chars("=> ")
}

/// A bar that says what is done to how many of what; both are keys.
pub(super) fn bar(doing: &str, what: &str) -> ProgressStyle {
    style(&format!("{} [{{bar:40}}] {{pos}}/{{len}} {}", plain(doing), plain(what)))
}

/// Asks before something that cannot be undone. Without a terminal nobody can answer: a script says `--yes`.
pub(super) fn confirm(question: &Text) -> Result<(), Fault> {
    let (question, yes) = (question.plain(), plain("command-yes"));
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Err(Fault::new(Reason::InvalidParameter, format!("{question} Confirmation is required"))
            .hint("pass --yes to confirm"));
    }
    let _ = write!(stderr(), "{question} {} ", text("command-type-yes").with("yes", &yes).plain());
    let mut answer = String::new();
    let _ = stdin().lock().read_line(&mut answer);
    match answer.trim().to_lowercase() {
        answer if ["yes", "y", &yes].contains(&answer.as_str()) => Ok(()),
        _ => Err(Fault::new(Reason::Conflict, "nothing was done, because it was not confirmed")),
    }
}

/// Says what went wrong: on standard error for people, as the error object on standard output for scripts.
pub(super) fn failed(fault: &Fault, json: bool) -> ExitCode {
    if json {
        let object = ErrorObject::of(fault, None);
        say(&serde_json::to_string(&object).expect("plain JSON"));
    }
    let mark = plain("command-error");
    let mark = if stderr().is_terminal() { format!("\x1b[1;31m{mark}\x1b[0m") } else { mark };
    let _ = writeln!(stderr(), "{mark} {}", fault.cause);
    if let Some(source) = &fault.source {
        let because = text("command-because").with("cause", source.to_string()).plain();
        let _ = writeln!(stderr(), "  {because}");
    }
    ExitCode::FAILURE
}

/// Rows in columns as wide as their widest cell; `nothing` where there are none. Heads are keys, or empty.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>], nothing: &str) -> String {
    if rows.is_empty() {
        return nothing.to_string();
    }
    let heads: Vec<String> =
        heads.iter().map(|key| if key.is_empty() { String::new() } else { plain(key) }).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(heads.iter().map(String::as_str).collect()))
        .chain(body)
        .collect::<Vec<_>>()
        .join("\n")
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
        let heads = ["command-head-id", "command-head-name"];
        assert_eq!(table(&heads, &rows, ""), "ID      NAME\na       long cell\nlonger  x");
        assert_eq!(table(&heads, &[], "no rows"), "no rows");
    }
}
