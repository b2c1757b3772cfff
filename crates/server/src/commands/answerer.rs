//! `quire answerer test`: five questions to the configured answerer, and what that shows it can do.

use std::{process::ExitCode, sync::Arc, time::Instant};

use clap::Subcommand;
use engine::{
    Fault,
    chat::prompt::NOTHING,
    ids::{ChunkId, FileId},
    seams::{
        answerer::{Answerer, Brief, Format, Passage, Piece, Speaker, Turn},
        index::Chunk,
    },
};
use serde_json::{Value, json};

use super::{Global, local, output};
use crate::assemble;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Ask the configured model five questions about a made-up document, and show what it can do
    Test,
}

/// What is asked about, one passage each.
const PASSAGES: [&str; 3] = [
    "The Aurora 300 weighs 4.2 kg. Its warranty lasts 36 months from the day of purchase. It is made in Porto.",
    "Prices of lamps\n\n| Lamp | Price |\n|---|---|\n| Aurora 300 | 249 EUR |\n| Aurora 500 | 399 EUR |",
    "Rücksendungen sind innerhalb von 30 Tagen kostenlos. Danach kostet eine Rücksendung 6 Euro.",
];

/// One thing that is tried.
struct Trial {
    shows: &'static str,
    question: &'static str,
    /// What the answer must contain; `None`: there is no answer.
    fact: Option<&'static str>,
    json: bool,
}

const fn trial(shows: &'static str, question: &'static str, fact: Option<&'static str>) -> Trial {
    Trial { shows, question, fact, json: false }
}

const TRIALS: [Trial; 5] = [
    trial("answers from prose", "How long is the warranty of the Aurora 300?", Some("36 months")),
    trial("answers from a table", "What is the price of the Aurora 500?", Some("399")),
    trial("answers in German", "Innerhalb wie vieler Tage sind Rücksendungen kostenlos?", Some("30")),
    trial("says when there is no answer", "Who founded the company that makes the Aurora?", None),
    Trial { json: true, ..trial("answers in JSON", "How much does the Aurora 300 weigh?", Some("4.2")) },
];

/// What came of one.
struct Result {
    right: bool,
    /// Whether it cites the exact words of a passage.
    cites: bool,
    said: String,
    first_ms: u128,
    whole_ms: u128,
}

pub(super) async fn run(global: &Global, command: Command) -> std::result::Result<ExitCode, Fault> {
    let Command::Test = command;
    let config = global.settings()?;
    let folder = global.folder(&config);
    let working = output::working(global.json, output::plain("command-asking"));
    let opened = tokio::task::spawn_blocking(move || assemble::open_answerer(&config, &folder)).await;
    let answerer = opened.map_err(Fault::internal)?.map_err(local)?;
    let mut results = Vec::with_capacity(TRIALS.len());
    for trial in &TRIALS {
        results.push(tried(&answerer, trial).await?);
    }
    drop(working);
    let right = results.iter().filter(|result| result.right).count();
    let rows: Vec<Vec<String>> =
        TRIALS.iter().zip(&results).map(|(trial, result)| row(trial, result)).collect();
    let table = output::table(
        &[
            "command-head-it",
            "command-head-result",
            "command-head-cites",
            "command-head-first-word",
            "command-head-whole",
            "command-head-said",
        ],
        &rows,
        "",
    );
    let result = output::text("command-answerer-right").with("model", answerer.id()).with("right", right);
    let text = format!("{}\n\n{table}", result.with("count", TRIALS.len()).plain());
    let values: Vec<Value> =
        TRIALS.iter().zip(&results).map(|(trial, result)| value(trial, result)).collect();
    output::print(global.json, &json!({"answerer": answerer.id(), "right": right, "trials": values}), &text);
    // One that neither answers nor refuses is of no use.
    Ok(if right >= 2 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(trial: &Trial, result: &Result) -> Vec<String> {
    let yes = |yes: bool| output::plain(if yes { "command-yes" } else { "command-no" });
    let cites = if trial.fact.is_some() { yes(result.cites) } else { "-".into() };
    let said: String =
        result.said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect();
    let (first, whole) = (format!("{} ms", result.first_ms), format!("{} ms", result.whole_ms));
    vec![trial.shows.into(), yes(result.right), cites, first, whole, said]
}

fn value(trial: &Trial, result: &Result) -> Value {
    json!({
        "shows": trial.shows, "question": trial.question, "right": result.right, "cites": result.cites,
        "said": result.said, "firstMs": result.first_ms, "wholeMs": result.whole_ms,
    })
}

async fn tried(answerer: &Arc<dyn Answerer>, trial: &Trial) -> std::result::Result<Result, Fault> {
    let brief = brief(trial);
    if !answerer.can(&brief.format) {
        let said = output::plain("command-answerer-cannot");
        return Ok(Result { right: false, cites: false, said, first_ms: 0, whole_ms: 0 });
    }
    let (started, mut first_ms) = (Instant::now(), None);
    let (mut said, mut quoted) = (String::new(), false);
    if let Some(mut pieces) = answerer.answer(brief).await? {
        while let Some(piece) = pieces.next().await? {
            first_ms.get_or_insert(started.elapsed().as_millis());
            match piece {
                Piece::Text(text) | Piece::Plain(text) => said.push_str(&text),
                Piece::Quote(passage, place) => {
                    said.push_str(PASSAGES.get(passage - 1).and_then(|text| text.get(place)).unwrap_or(""));
                    quoted = true;
                }
                Piece::Row(_, _, read) => {
                    said.push_str(&read);
                    quoted = true;
                }
                Piece::Tokens(_) | Piece::Cut => {}
            }
        }
    }
    let whole_ms = started.elapsed().as_millis();
    let refused = said.trim().is_empty() || said.contains(NOTHING);
    let well_formed =
        !trial.json || serde_json::from_str::<Value>(said.trim()).is_ok_and(|value| value.is_object());
    let right = match trial.fact {
        Some(fact) => !refused && well_formed && said.contains(fact),
        None => refused,
    };
    let cites = quoted || cites(&said);
    Ok(Result { right, cites, said, first_ms: first_ms.unwrap_or(whole_ms), whole_ms })
}

/// Whether a text has a source `[n: "words"]` whose words are in passage n.
fn cites(text: &str) -> bool {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split('[').skip(1).any(|part| {
        let Some((number, words)) = part.split_once(':') else { return false };
        let words = words.split(']').next().unwrap_or("").trim().trim_matches(['"', '“', '”', '\\']);
        let passage = number.trim().parse::<usize>().ok().and_then(|at| PASSAGES.get(at.wrapping_sub(1)));
        !words.is_empty() && passage.is_some_and(|passage| flat(passage).contains(&flat(words)))
    })
}

fn brief(trial: &Trial) -> Brief {
    let file = FileId::generate();
    let passage = |(ordinal, text): (u32, &&str)| Passage {
        id: ChunkId { file, ordinal },
        file_name: "lamps.md".into(),
        chunk: Chunk {
            text: (*text).to_string(),
            page: 1,
            page_end: 1,
            start: 0,
            end: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
            section: Arc::from(Vec::new()),
            lead: "".into(),
            language: None,
        },
        score: 0.5,
    };
    let format = match trial.json {
        true => Format::Schema(json!({"name": "weight", "schema": {
            "type": "object", "properties": {"weight": {"type": "string"}}, "required": ["weight"]}})),
        false => Format::Text,
    };
    Brief {
        question: trial.question.into(),
        turns: vec![Turn { speaker: Speaker::User, text: trial.question.into() }],
        passages: (0..).zip(&PASSAGES).map(passage).collect(),
        format,
        ..Brief::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_counts_where_its_words_are_in_the_passage() {
        assert!(cites("It lasts 36 months [1: \"warranty lasts 36 months\"]."));
        assert!(!cites("It lasts 36 months [2: \"warranty lasts 36 months\"]."));
        assert!(!cites("It lasts [1] 36 months [7: \"x\"] [1: \"\"]."));
    }

    #[test]
    fn every_fact_is_in_the_passages() {
        let whole = PASSAGES.join(" ");
        assert!(TRIALS.iter().filter_map(|trial| trial.fact).all(|fact| whole.contains(fact)));
    }
}
