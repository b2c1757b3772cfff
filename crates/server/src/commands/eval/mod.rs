//! `quire eval`: how well searches of a box work, with questions whose answers are known.

mod measures;
mod questions;
mod report;

use std::{path::PathBuf, time::Duration};

use clap::Args;
use engine::Fault;
use serde_json::Value;

use self::{
    measures::Summary,
    questions::{Question, Target},
};
use super::{
    Global,
    client::{Api, Connection},
    local, output,
    search::How,
};

#[derive(Args)]
#[command(after_help = FORMAT)]
pub(super) struct Eval {
    /// Box: its id or its name
    r#box: String,
    /// Questions, one JSON object per line
    #[arg(value_name = "QUESTIONS.jsonl")]
    questions: PathBuf,
    /// Write a report with plots, one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    connection: Connection,
}

const FORMAT: &str = "A line of QUESTIONS.jsonl names what should be found, by file name and page:
  {\"question\": \"How long is the warranty?\", \"relevant\": [\"warranty.pdf#page=3\"]}
  {\"question\": \"Who pays?\", \"relevant\": [{\"file\": \"terms.docx\", \"grade\": 2}, \"faq.md\"]}
  {\"question\": \"What is covered?\", \"truth\": \"All parts are covered. [warranty.pdf#page=4]\"}
Without a page any page of the file counts. Every question is one search and costs its units.";

/// The result of one question.
struct Outcome {
    question: Question,
    /// What was found, best first, each place once.
    found: Vec<Target>,
    took: Duration,
    units: u64,
}

pub(super) async fn run(global: &Global, eval: Eval) -> Result<(), Fault> {
    let questions = questions::read(&eval.questions)?;
    let api = eval.connection.open(global)?;
    let box_id = api.find_box(&eval.r#box).await?;
    let bar = output::started(global.json, output::bar("Searching", "questions"));
    bar.set_length(questions.len() as u64);
    let mut outcomes = Vec::with_capacity(questions.len());
    for question in questions {
        outcomes.push(ask(&api, &box_id, &eval.how, question).await?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let summary = Summary::of(&outcomes);
    if let Some(path) = &eval.html {
        let html = report::html(&eval.r#box, &summary, &outcomes);
        std::fs::write(path, html)
            .map_err(|error| local(anyhow::anyhow!("cannot write {}: {error}", path.display())))?;
    }
    output::print(global.json, &summary.json(), &summary.table());
    Ok(())
}

async fn ask(api: &Api, box_id: &str, how: &How, question: Question) -> Result<Outcome, Fault> {
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let (data, took) = api.post_timed(&path, &how.body(&question.text)).await?;
    let passages = data["documents"][0]["documents"].as_array().cloned().unwrap_or_default();
    let mut found: Vec<Target> = Vec::new();
    for passage in &passages {
        let target = Target {
            file: passage["fileName"].as_str().unwrap_or_default().to_string(),
            page: passage["page"].as_u64(),
            grade: 0.0,
        };
        if !found.iter().any(|other| other.file == target.file && other.page == target.page) {
            found.push(target);
        }
    }
    let units = data["usage"]["intelligence_units_consumed"].as_u64().unwrap_or(0);
    Ok(Outcome { question, found, took, units })
}

/// A number of a JSON object, or nothing.
fn number(value: &Value, name: &str) -> Option<f64> {
    value.get(name).and_then(Value::as_f64)
}
