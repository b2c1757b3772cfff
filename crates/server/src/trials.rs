//! Five questions about a made-up document, and what an answerer shows with them that it can do.

use std::{sync::Arc, time::Instant};

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

/// What is asked about, one passage each.
const PASSAGES: [&str; 3] = [
    "The Aurora 300 weighs 4.2 kg. Its warranty lasts 36 months from the day of purchase. It is made in Porto.",
    "Prices of lamps\n\n| Lamp | Price |\n|---|---|\n| Aurora 300 | 249 EUR |\n| Aurora 500 | 399 EUR |",
    "Rücksendungen sind innerhalb von 30 Tagen kostenlos. Danach kostet eine Rücksendung 6 Euro.",
];

/// One thing that is tried.
pub(crate) struct Trial {
    /// The text that says what it shows.
    pub(crate) shows: &'static str,
    pub(crate) question: &'static str,
    /// What the answer must contain; `None`: there is no answer.
    pub(crate) fact: Option<&'static str>,
    json: bool,
}

const fn trial(shows: &'static str, question: &'static str, fact: Option<&'static str>) -> Trial {
    Trial { shows, question, fact, json: false }
}

/// All that is tried.
pub(crate) const TRIALS: [Trial; 5] = [
    trial("command-trial-prose", "How long is the warranty of the Aurora 300?", Some("36 months")),
    trial("command-trial-table", "What is the price of the Aurora 500?", Some("399")),
    trial("command-trial-german", "Innerhalb wie vieler Tage sind Rücksendungen kostenlos?", Some("30")),
    trial("command-trial-none", "Who founded the company that makes the Aurora?", None),
    Trial { json: true, ..trial("command-trial-json", "How much does the Aurora 300 weigh?", Some("4.2")) },
];

/// What came of one.
pub(crate) struct Tried {
    pub(crate) right: bool,
    /// Whether it cites the exact words of a passage.
    pub(crate) cites: bool,
    /// What was said; `None` where it cannot answer in such a form.
    pub(crate) said: Option<String>,
    pub(crate) first_ms: u128,
    pub(crate) whole_ms: u128,
}

/// Asks all of them, one after the other.
pub(crate) async fn ask_all(answerer: &dyn Answerer) -> Result<Vec<(&'static Trial, Tried)>, Fault> {
    let mut results = Vec::with_capacity(TRIALS.len());
    for trial in &TRIALS {
        results.push((trial, ask(answerer, trial).await?));
    }
    Ok(results)
}

async fn ask(answerer: &dyn Answerer, trial: &Trial) -> Result<Tried, Fault> {
    let brief = brief(trial);
    if !answerer.can(&brief.format) {
        return Ok(Tried { right: false, cites: false, said: None, first_ms: 0, whole_ms: 0 });
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
    Ok(Tried { right, cites, said: Some(said), first_ms: first_ms.unwrap_or(whole_ms), whole_ms })
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
