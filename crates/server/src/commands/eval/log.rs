//! `quire eval --from-log`: the questions that a box did not answer well, as a file of questions to be completed by hand.

use engine::Fault;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Api, Eval, Global, Question, Target, ask, output};

/// Questions that are written at most; more than anybody looks through.
const MOST: usize = 1_000;

/// Writes what was asked, each question once with the place that is found first now, or as unanswerable.
pub(super) async fn write(global: &Global, api: &Api, box_id: &str, eval: &Eval) -> Result<(), Fault> {
    if eval.questions.exists() {
        let cause = format!("{} already exists and is not overwritten", eval.questions.display());
        return Err(super::local(anyhow::anyhow!(cause)));
    }
    let mut lines = String::new();
    let asked = logged(api, box_id).await?;
    for entry in &asked {
        let text = entry["question"].as_str().unwrap_or_default().to_string();
        let mut line = json!({"question": text, "asked": entry["count"], "outcome": entry["outcome"]});
        if entry["outcome"] == "unanswered" {
            line["unanswerable"] = json!(true);
        } else {
            let question = Question { text, ..Question::default() };
            let found = ask(api, box_id, &eval.how, question).await?.found;
            line["relevant"] = found.iter().take(1).map(place).collect();
        }
        lines.push_str(&format!("{line}\n"));
    }
    super::write(&eval.questions, &lines)?;
    let said = output::text("command-logged-questions").with("count", asked.len());
    let said = said.with("file", eval.questions.display().to_string()).plain();
    output::print(global.json, &json!({"questions": asked.len(), "file": eval.questions}), &said);
    Ok(())
}

fn place(target: &Target) -> Value {
    json!({"file": target.file, "page": target.page})
}

/// The questions in the log, latest first.
async fn logged(api: &Api, box_id: &str) -> Result<Vec<Value>, Fault> {
    let mut found: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/boxes/{box_id}/questions?limit=200{cursor}");
        let mut page = api.ask(Method::GET, &path).await?;
        if let Value::Array(questions) = page["questions"].take() {
            found.extend(questions);
        }
        match page["next_cursor"].as_str() {
            Some(next) if found.len() < MOST => cursor = format!("&cursor={next}"),
            _ => break,
        }
    }
    found.truncate(MOST);
    Ok(found)
}
