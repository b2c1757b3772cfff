//! `quire eval --answers`: asks, and writes down what came of it.

use std::fmt::Write;

use engine::Fault;
use serde_json::{Value, json};

use super::{Api, measures, report};
use crate::{
    evaluation::{
        answers::{Outcome, Share, Summary},
        questions::{Question, Target},
        searches::once,
    },
    html::escaped,
};

/// Asks one question.
pub(super) async fn ask(api: &Api, box_id: &str, question: Question) -> Result<Outcome, Fault> {
    let body = json!({"messages": [{"role": "user", "content": question.text}]});
    let (data, took) = api.post_timed(&format!("/boxes/{box_id}/chat/completions"), &body).await?;
    let said = data["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_string();
    let cited = once(data["citations"].as_array().into_iter().flatten().map(Target::found));
    let units = data["usage"]["intelligence_units_consumed"].as_u64().unwrap_or(0);
    Ok(Outcome { question, said, cited, took, units })
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.value() {
            Some(share) => write!(f, "{:.1}% ({} of {})", share * 100.0, self.0, self.1),
            None => f.write_str("none asked"),
        }
    }
}

impl Summary {
    fn shares(&self) -> [(&'static str, Share); 5] {
        [
            ("right", self.right),
            ("answered", self.answered),
            ("facts said", self.facts),
            ("right place cited", self.cited),
            ("rightly refused", self.refused),
        ]
    }

    fn rows(&self) -> Vec<(String, String)> {
        let mut rows = vec![("questions".to_string(), self.right.1.to_string())];
        rows.extend(self.shares().map(|(name, share)| (name.to_string(), share.to_string())));
        rows.extend(measures::spent(self.latency, self.units));
        rows
    }

    pub(super) fn table(&self) -> String {
        measures::table(self.rows())
    }

    pub(super) fn json(&self) -> Value {
        let ms = self.latency.map(|time| time.as_secs_f64() * 1e3);
        json!({
            "questions": self.right.1,
            "right": self.right.value(),
            "answered": self.answered.value(),
            "facts": self.facts.value(),
            "cited": self.cited.value(),
            "refused": self.refused.value(),
            "latency_ms": {"p50": ms[0], "p90": ms[1], "p99": ms[2]},
            "units": self.units,
        })
    }
}

/// The report: figures, plots, and every question with its answer and what is wrong with it.
pub(super) fn html(name: &str, summary: &Summary, outcomes: &[Outcome]) -> String {
    let mut page = report::head(&format!("Answers from {name}"), &summary.rows());
    page.push_str("<h2>Shares</h2>");
    let shares = summary.shares().into_iter().filter_map(|(name, share)| Some((name, share.value()?)));
    page.push_str(&report::wide_bars(
        &shares.map(|(name, share)| (name.to_string(), share * 100.0)).collect::<Vec<_>>(),
        "%",
    ));
    page.push_str("<h2>Latency</h2>");
    page.push_str(&report::bars(&report::latencies(outcomes.iter().map(|outcome| outcome.took)), ""));
    page.push_str("<h2>Questions</h2><table><tr><th>Question<th>Answer<th>Cites<th>Wrong<th>ms</tr>");
    for outcome in outcomes {
        let cited: Vec<String> = outcome.cited.iter().map(|t| escaped(&t.to_string())).collect();
        let wrong: Vec<String> = outcome.wrong().iter().map(|wrong| escaped(&wrong.to_string())).collect();
        let _ = write!(
            page,
            "<tr><td>{}<td>{}<td>{}<td class=\"miss\">{}<td>{:.0}</tr>",
            escaped(&outcome.question.text),
            escaped(&outcome.said),
            cited.join("<br>"),
            wrong.join("<br>"),
            outcome.took.as_secs_f64() * 1e3
        );
    }
    page.push_str("</table></html>\n");
    page
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::evaluation::questions::parse;

    #[test]
    fn a_report_says_what_is_wrong_with_an_answer() {
        let outcome = |said: &str| Outcome {
            question: parse(r#"{"question": "q", "answer": "12 days"}"#, true).unwrap(),
            said: said.into(),
            cited: Vec::new(),
            took: Duration::from_millis(5),
            units: 2,
        };
        let outcomes = [outcome("Nothing was found."), outcome("12 days"), outcome("12 days.")];
        let summary = Summary::of(&outcomes);
        let page = html("<Papers>", &summary, &outcomes);
        assert!(page.contains("&lt;Papers&gt;") && page.contains("<svg") && page.contains("lacks “12 days”"));
        assert!(summary.table().contains("66.7% (2 of 3)"));
        assert_eq!(summary.json()["refused"], Value::Null);
    }
}
