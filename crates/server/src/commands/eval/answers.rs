//! `quire eval --answers`: whether answers say what they should, cite the right place, and stay away where there is none.

use std::{fmt::Write, time::Duration};

use engine::Fault;
use serde_json::{Value, json};

use super::{
    Api, measures,
    questions::{Question, Target},
    report,
};
use crate::html::escaped;

/// The result of one question.
pub(super) struct Outcome {
    question: Question,
    said: String,
    /// The places that the answer cites, each once.
    cited: Vec<Target>,
    took: Duration,
    units: u64,
}

/// Asks one question.
pub(super) async fn ask(api: &Api, box_id: &str, question: Question) -> Result<Outcome, Fault> {
    let body = json!({"messages": [{"role": "user", "content": question.text}]});
    let (data, took) = api.post_timed(&format!("/boxes/{box_id}/chat/completions"), &body).await?;
    let said = data["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_string();
    let mut cited: Vec<Target> = Vec::new();
    for citation in data["citations"].as_array().into_iter().flatten() {
        let target = Target::found(citation);
        if !cited.contains(&target) {
            cited.push(target);
        }
    }
    let units = data["usage"]["intelligence_units_consumed"].as_u64().unwrap_or(0);
    Ok(Outcome { question, said, cited, took, units })
}

impl Outcome {
    /// What is wrong with the answer, in words; nothing where it is right.
    fn wrong(&self) -> Vec<String> {
        if self.question.unanswerable {
            return if self.cited.is_empty() {
                Vec::new()
            } else {
                vec!["answers although no document does".into()]
            };
        }
        let missing = self.question.facts.iter().filter(|fact| !fact.is_in(&self.said));
        let mut wrong: Vec<String> = missing.map(|fact| format!("lacks “{fact}”")).collect();
        if self.cites() == Some(false) {
            wrong.push("does not cite a right place".into());
        }
        wrong
    }

    /// Whether a right place is cited, where the question names one.
    fn cites(&self) -> Option<bool> {
        let relevant = &self.question.relevant;
        let right = || self.cited.iter().any(|cited| relevant.iter().any(|target| target.is(cited)));
        (!self.question.unanswerable && !relevant.is_empty()).then(right)
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Share(usize, usize);

impl Share {
    fn of(outcomes: impl Iterator<Item = bool>) -> Self {
        outcomes.fold(Share(0, 0), |Share(some, all), yes| Share(some + usize::from(yes), all + 1))
    }

    /// `None` where there was nothing to count.
    fn value(self) -> Option<f64> {
        (self.1 > 0).then(|| self.0 as f64 / self.1 as f64)
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.value() {
            Some(share) => write!(f, "{:.1}% ({} of {})", share * 100.0, self.0, self.1),
            None => f.write_str("none asked"),
        }
    }
}

/// The whole in numbers.
pub(super) struct Summary {
    right: Share,
    /// Of the questions that have an answer, those that got one.
    answered: Share,
    facts: Share,
    cited: Share,
    /// Of the questions that have no answer, those that got none.
    refused: Share,
    /// 50th, 90th and 99th percentile.
    latency: [Duration; 3],
    units: u64,
}

impl Summary {
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let answerable = || outcomes.iter().filter(|outcome| !outcome.question.unanswerable);
        let unanswerable = outcomes.iter().filter(|outcome| outcome.question.unanswerable);
        let facts = |outcome: &Outcome| {
            let said = outcome.said.clone();
            outcome.question.facts.clone().into_iter().map(move |fact| fact.is_in(&said))
        };
        Summary {
            right: Share::of(outcomes.iter().map(|outcome| outcome.wrong().is_empty())),
            answered: Share::of(answerable().map(|outcome| !outcome.cited.is_empty())),
            facts: Share::of(answerable().flat_map(facts)),
            cited: Share::of(answerable().filter_map(Outcome::cites)),
            refused: Share::of(unanswerable.map(|outcome| outcome.cited.is_empty())),
            latency: measures::percentiles(outcomes.iter().map(|outcome| outcome.took)),
            units: outcomes.iter().map(|outcome| outcome.units).sum(),
        }
    }

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
        let wrong: Vec<String> = outcome.wrong().iter().map(|wrong| escaped(wrong)).collect();
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
    use super::{super::questions::parse, *};

    fn outcome(line: &str, said: &str, cited: &[&str]) -> Outcome {
        let place = |file: &&str| Target { file: (*file).into(), page: Some(1), grade: 0.0 };
        Outcome {
            question: parse(line, true).unwrap(),
            said: said.into(),
            cited: cited.iter().map(place).collect(),
            took: Duration::from_millis(5),
            units: 2,
        }
    }

    #[test]
    fn answers_are_held_against_facts_places_and_silence() {
        let outcomes = [
            outcome(
                r#"{"question": "q", "facts": ["36 months"], "relevant": ["a.md"]}"#,
                "It is 36\nMonths. [1]",
                &["a.md"],
            ),
            outcome(
                r#"{"question": "q", "facts": ["36 months"], "relevant": ["a.md"]}"#,
                "It is 36 months. [1]",
                &["b.md"],
            ),
            outcome(r#"{"question": "q", "answer": "12 days"}"#, "Nothing was found.", &[]),
            outcome(r#"{"question": "q", "unanswerable": true}"#, "Nothing was found.", &[]),
            outcome(r#"{"question": "q", "unanswerable": true}"#, "It is 4. [1]", &["a.md"]),
        ];
        let summary = Summary::of(&outcomes);
        assert_eq!(summary.right, Share(2, 5));
        assert_eq!(summary.answered, Share(2, 3));
        assert_eq!(summary.facts, Share(2, 3));
        assert_eq!(summary.cited, Share(1, 2));
        assert_eq!(summary.refused, Share(1, 2));
        assert_eq!(outcomes[1].wrong(), ["does not cite a right place"]);
        assert_eq!(outcomes[2].wrong(), ["lacks “12 days”"]);
        let page = html("<Papers>", &summary, &outcomes);
        assert!(page.contains("&lt;Papers&gt;") && page.contains("<svg") && page.contains("lacks “12 days”"));
        assert!(summary.table().contains("66.7% (2 of 3)"));
    }

    #[test]
    fn what_was_not_asked_has_no_share() {
        let summary = Summary::of(&[outcome(r#"{"question": "q", "facts": ["x"]}"#, "x", &["a.md"])]);
        assert_eq!(
            (summary.json()["refused"].clone(), summary.json()["right"].clone()),
            (Value::Null, json!(1.0))
        );
    }
}
