//! The measures of searches as they are printed.

use std::time::Duration;

use serde_json::{Value, json};

use super::output;
use crate::evaluation::searches::{DEPTHS, Summary};

impl Summary {
    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let mut rows = vec![("questions".to_string(), self.questions.to_string())];
        for (depth, share) in DEPTHS.into_iter().zip(self.hit) {
            rows.push((format!("found among the first {depth}"), percent(share)));
        }
        for (depth, share) in DEPTHS.into_iter().zip(self.recall) {
            rows.push((format!("recall@{depth}"), percent(share)));
        }
        rows.push(("nDCG@10".into(), percent(self.ndcg)));
        rows.push(("MRR".into(), percent(self.mrr)));
        rows.extend(spent(self.latency, self.units));
        rows
    }

    pub(super) fn table(&self) -> String {
        table(self.rows())
    }

    pub(super) fn json(&self) -> Value {
        let by_depth = |shares: &[f64; 4]| -> Value {
            DEPTHS
                .iter()
                .zip(shares)
                .map(|(depth, share)| (depth.to_string(), json!(share)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let ms = self.latency.map(|time| time.as_secs_f64() * 1e3);
        json!({
            "questions": self.questions,
            "hit": by_depth(&self.hit),
            "recall": by_depth(&self.recall),
            "ndcg10": self.ndcg,
            "mrr": self.mrr,
            "latency_ms": {"p50": ms[0], "p90": ms[1], "p99": ms[2]},
            "units": self.units,
        })
    }
}

/// What the questions took, as rows: percentiles of time, and units.
pub(super) fn spent(latency: [Duration; 3], units: u64) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (name, time) in ["p50", "p90", "p99"].into_iter().zip(latency) {
        rows.push((format!("latency {name}"), format!("{:.1} ms", time.as_secs_f64() * 1e3)));
    }
    rows.push(("intelligence units".into(), units.to_string()));
    rows
}

/// Measures as a table for a terminal.
pub(super) fn table(rows: Vec<(String, String)>) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name, value]).collect();
    output::table(&["MEASURE", "VALUE"], &rows, "")
}
