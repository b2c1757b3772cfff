//! `quire search`: passages of a box, readable in a terminal.

use std::io::{IsTerminal, stdout};

use clap::{Args, ValueEnum};
use engine::Fault;
use serde_json::{Value, json};

use super::{Global, client::Connection, output};

/// Characters of a passage that are shown, around its first marked word.
const SHOWN: usize = 420;

#[derive(Args)]
pub(super) struct Search {
    /// Box: its id or its name
    r#box: String,
    /// What to look for
    query: String,
    #[command(flatten)]
    how: How,
    /// Only these files, by id (may be repeated)
    #[arg(long = "source", value_name = "FILE")]
    sources: Vec<String>,
    /// Lowest score of a passage, 0 to 1
    #[arg(long, default_value_t = 0.0, value_name = "SCORE")]
    threshold: f32,
    #[command(flatten)]
    connection: Connection,
}

/// How to search; shared with `quire eval`.
#[derive(Args)]
pub(super) struct How {
    /// How many passages, 1 to 50
    #[arg(long, default_value_t = 10, value_name = "N")]
    top_k: u32,
    /// By meaning, by words or by both
    #[arg(long, value_enum, default_value_t = Mode::Hybrid)]
    mode: Mode,
    /// Do not rerank the best candidates
    #[arg(long)]
    no_rerank: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    Hybrid,
    Semantic,
    Keyword,
}

impl How {
    /// The body of a search.
    pub(super) fn body(&self, query: &str) -> Value {
        let mode = match self.mode {
            Mode::Hybrid => "hybrid",
            Mode::Semantic => "semantic",
            Mode::Keyword => "keyword",
        };
        json!({"query": query, "top_k": self.top_k, "mode": mode, "rerank": !self.no_rerank})
    }
}

pub(super) async fn run(global: &Global, search: Search) -> Result<(), Fault> {
    let working = output::working(global.json, output::plain("command-searching"));
    let api = search.connection.open(global)?;
    let box_id = api.find_box(&search.r#box).await?;
    let mut body = search.how.body(&search.query);
    body["threshold"] = json!(search.threshold);
    if !search.sources.is_empty() {
        body["sources"] = json!(search.sources);
    }
    let data = api.post(&format!("/boxes/{box_id}/retrieve-documents"), &body).await?;
    drop(working);
    output::print(global.json, &data, &readable(&data, stdout().is_terminal()));
    Ok(())
}

/// Each passage with its place, and at the end what it cost.
fn readable(data: &Value, colours: bool) -> String {
    let passages = data["documents"][0]["documents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for passage in passages {
        let (rank, score) = (passage["rank"].as_u64().unwrap_or(0), passage["score"].as_f64().unwrap_or(0.0));
        let name = passage["fileName"].as_str().unwrap_or_default();
        let page = passage["page"].to_string();
        let title = output::text("command-place").with("file", name).with("page", &page).plain();
        let title = if colours { format!("\x1b[1m{title}\x1b[0m") } else { title };
        let section: Vec<&str> =
            passage["section"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let section = if section.is_empty() { String::new() } else { format!("  {}", section.join(" › ")) };
        text.push_str(&format!("{rank:>2}. {title}  ({score:.2}){section}\n"));
        for line in excerpt(passage, colours).lines().filter(|line| !line.trim().is_empty()) {
            text.push_str(&format!("    {}\n", line.trim_end()));
        }
        text.push('\n');
    }
    if passages.is_empty() {
        text.push_str(&output::plain("command-nothing-found"));
        text.push('\n');
    }
    text.push_str(&units(&data["usage"]));
    text
}

/// What a request cost, and what is left.
pub(super) fn units(usage: &Value) -> String {
    let cost = usage["intelligence_units_consumed"].as_u64().unwrap_or(0);
    let cost = output::text("command-units").with("count", cost).plain();
    match usage["intelligence_units_remaining"].as_u64() {
        Some(left) => output::text("command-units-left").with("units", &cost).with("count", left).plain(),
        None => cost,
    }
}

/// The passage around its first marked word, the words marked.
fn excerpt(passage: &Value, colours: bool) -> String {
    let text: Vec<char> = passage["text"].as_str().unwrap_or_default().chars().collect();
    let origin = passage["start"].as_u64().unwrap_or(0);
    let at = |value: &Value| {
        usize::try_from(value.as_u64().unwrap_or(0).saturating_sub(origin)).unwrap_or(0).min(text.len())
    };
    let marks: Vec<(usize, usize)> = passage["highlights"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|mark| (at(&mark["start"]), at(&mark["end"])))
        .collect();
    let first = marks.first().map_or(0, |&(start, _)| start.saturating_sub(SHOWN / 3));
    let first = if text.len() <= SHOWN { 0 } else { first.min(text.len() - SHOWN) };
    let last = text.len().min(first + SHOWN);
    let (on, off) = if colours { ("\x1b[33m", "\x1b[0m") } else { ("", "") };
    let mut shown = String::from(if first > 0 { "…" } else { "" });
    let mut next = first;
    for (start, end) in marks.into_iter().filter(|&(start, end)| start >= first && end <= last) {
        // Places never overlap, but what comes over the wire is not believed.
        let start = start.max(next);
        if start >= end {
            continue;
        }
        shown.extend(&text[next..start]);
        shown.push_str(on);
        shown.extend(&text[start..end]);
        shown.push_str(off);
        next = end;
    }
    shown.extend(&text[next..last]);
    if last < text.len() {
        shown.push('…');
    }
    plain(&shown)
}

/// Documents are not trusted with the terminal: control characters but our own colours and line ends go.
pub(super) fn plain(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let colour = ["\x1b[33m", "\x1b[0m"].into_iter().find(|colour| rest.starts_with(colour));
        let taken = colour.map_or(next.len_utf8(), str::len);
        if colour.is_some() || next == '\n' || !next.is_control() {
            clean.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_where_they_stand() {
        let passage = json!({"text": "Ünder the warranty\x1b[2J of 2 years", "start": 100,
            "highlights": [{"start": 110, "end": 118}, {"start": 105, "end": 3}]});
        assert_eq!(excerpt(&passage, true), "Ünder the \x1b[33mwarranty\x1b[0m[2J of 2 years");
        assert_eq!(excerpt(&passage, false), "Ünder the warranty[2J of 2 years");
        let long =
            json!({"text": "x ".repeat(600), "start": 0, "highlights": [{"start": 1000, "end": 1001}]});
        assert!(excerpt(&long, false).starts_with('…'));
    }

    #[test]
    fn what_it_costs_is_said() {
        let data = json!({"documents": [{"documents": []}],
            "usage": {"intelligence_units_consumed": 1, "intelligence_units_remaining": 999}});
        assert_eq!(readable(&data, false), "Nothing was found.\n1 unit, 999 left this month");
    }
}
