//! `quire eval`: how well searches and answers of a box work, with questions whose answers are known.

mod answers;
mod log;
mod measures;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use engine::{Fault, Reason};

use super::{
    Global,
    client::{Api, Connection},
    local, output,
    search::How,
};
use crate::evaluation::{
    answers as answered,
    questions::{self, Question, Target},
    searches::{Outcome, Summary, once},
};

#[derive(Args)]
#[command(after_help = FORMAT)]
pub(super) struct Eval {
    /// Box: its id or its name
    r#box: String,
    /// Questions, one JSON object per line
    #[arg(value_name = "QUESTIONS.jsonl")]
    questions: PathBuf,
    /// Measure answers instead of searches
    #[arg(long)]
    answers: bool,
    /// Write QUESTIONS.jsonl instead: the questions that the box did not answer well, each with what is found now
    #[arg(long, conflicts_with_all = ["answers", "html"])]
    from_log: bool,
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
Without a page any page of the file counts. Every question is one search and costs its units.

With --answers a line says what the answer must say, or that there is none; each question is one answer and costs its units:
  {\"question\": \"How long is the warranty?\", \"facts\": [\"36 months\"], \"relevant\": [\"warranty.pdf#page=3\"]}
  {\"question\": \"Who pays?\", \"answer\": [\"the buyer\", \"the customer\"]}
  {\"question\": \"Who founded the company?\", \"unanswerable\": true}";

pub(super) async fn run(global: &Global, eval: Eval) -> Result<(), Fault> {
    let api = eval.connection.open(global)?;
    if eval.from_log {
        let box_id = api.find_box(&eval.r#box).await?;
        return log::write(global, &api, &box_id, &eval).await;
    }
    let questions = read(&eval.questions, eval.answers)?;
    let box_id = api.find_box(&eval.r#box).await?;
    let doing = if eval.answers { "command-asking" } else { "command-searching" };
    let bar = output::started(global.json, output::bar(doing, "command-questions"));
    bar.set_length(questions.len() as u64);
    let (html, value, table) = if eval.answers {
        let mut outcomes = Vec::with_capacity(questions.len());
        for question in questions {
            outcomes.push(answers::ask(&api, &box_id, question).await?);
            bar.inc(1);
        }
        let summary = answered::Summary::of(&outcomes);
        (answers::html(&eval.r#box, &summary, &outcomes), summary.json(), summary.table())
    } else {
        let mut outcomes = Vec::with_capacity(questions.len());
        for question in questions {
            outcomes.push(ask(&api, &box_id, &eval.how, question).await?);
            bar.inc(1);
        }
        let summary = Summary::of(&outcomes);
        (report::html(&eval.r#box, &summary, &outcomes), summary.json(), summary.table())
    };
    bar.finish_and_clear();
    if let Some(path) = &eval.html {
        write(path, &html)?;
    }
    output::print(global.json, &value, &table);
    Ok(())
}

/// Reads a file of questions, for searches or for answers.
fn read(path: &Path, answers: bool) -> Result<Vec<Question>, Fault> {
    let wrong = |cause: String| Fault::new(Reason::InvalidParameter, format!("{}: {cause}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let mut questions = questions::read(&text, answers).map_err(wrong)?;
    // A search always finds something.
    questions.retain(|question| answers || !question.unanswerable);
    if questions.is_empty() {
        return Err(wrong("holds no question".into()));
    }
    Ok(questions)
}

fn write(path: &Path, text: &str) -> Result<(), Fault> {
    std::fs::write(path, text)
        .map_err(|error| local(anyhow::anyhow!("cannot write {}: {error}", path.display())))
}

async fn ask(api: &Api, box_id: &str, how: &How, question: Question) -> Result<Outcome, Fault> {
    let path = format!("/boxes/{box_id}/retrieve-documents");
    let (data, took) = api.post_timed(&path, &how.body(&question.text)).await?;
    let passages = data["documents"][0]["documents"].as_array();
    let found = once(passages.into_iter().flatten().map(Target::found));
    let units = data["usage"]["intelligence_units_consumed"].as_u64().unwrap_or(0);
    Ok(Outcome { question, found, took, units })
}
