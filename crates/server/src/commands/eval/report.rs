//! The report: one HTML file with plots, nothing fetched from anywhere.

use std::{fmt::Write, time::Duration};

use crate::{
    evaluation::searches::{self, DEPTHS, Outcome, Summary},
    html::escaped,
};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2433;background:#fff}
h1,h2{font-weight:600}table{border-collapse:collapse}td,th{padding:.3rem .8rem;border-bottom:1px solid #d9dee8;text-align:left;vertical-align:top}
svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}.bar{fill:#3b6fd4}.miss{color:#b3261e}
@media(prefers-color-scheme:dark){body{color:#e6e9f0;background:#12151c}td,th{border-color:#2c3342}.bar{fill:#7aa2f7}.miss{color:#ff8a80}}";

/// The beginning of a report: its title and its figures.
pub(super) fn head(title: &str, rows: &[(String, String)]) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{0}</title><style>{STYLE}</style><h1>{0}</h1>",
        escaped(title)
    );
    page.push_str("<table>");
    for (name, value) in rows {
        let _ = write!(page, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    page.push_str("</table>");
    page
}

/// The whole report of searches.
pub(super) fn html(name: &str, summary: &Summary, outcomes: &[Outcome]) -> String {
    let mut page = head(&format!("Search in {name}"), &summary.rows());
    page.push_str("<h2>Found among the first</h2>");
    let hits = DEPTHS.iter().zip(summary.hit);
    page.push_str(&bars(
        &hits.map(|(depth, share)| (depth.to_string(), share * 100.0)).collect::<Vec<_>>(),
        "%",
    ));
    page.push_str("<h2>Rank of the first right place</h2>");
    page.push_str(&bars(&ranks(outcomes), ""));
    page.push_str("<h2>Latency</h2>");
    page.push_str(&bars(&latencies(outcomes.iter().map(|outcome| outcome.took)), ""));
    page.push_str(
        "<h2>Questions</h2><table><tr><th>Question<th>Should find<th>Found first<th>Rank<th>ms</tr>",
    );
    for outcome in outcomes {
        let wanted: Vec<String> = outcome.question.relevant.iter().map(|t| escaped(&t.to_string())).collect();
        let found: Vec<String> = outcome.found.iter().take(3).map(|t| escaped(&t.to_string())).collect();
        let rank = searches::first(outcome);
        let shown = rank.map_or("<span class=\"miss\">not found</span>".into(), |rank| rank.to_string());
        let _ = write!(
            page,
            "<tr><td>{}<td>{}<td>{}<td>{shown}<td>{:.0}</tr>",
            escaped(&outcome.question.text),
            wanted.join("<br>"),
            found.join("<br>"),
            outcome.took.as_secs_f64() * 1e3
        );
    }
    page.push_str("</table></html>\n");
    page
}

/// How often the first right place stood at each rank.
fn ranks(outcomes: &[Outcome]) -> Vec<(String, f64)> {
    let count = |rank: Option<usize>| outcomes.iter().filter(|o| searches::first(o) == rank).count() as f64;
    let mut bars: Vec<(String, f64)> = (1..=10).map(|rank| (rank.to_string(), count(Some(rank)))).collect();
    bars.push(("none".into(), outcomes.iter().filter(|o| searches::first(o).is_none()).count() as f64));
    bars
}

/// How many calls took how long, in steps that double.
pub(super) fn latencies(times: impl Iterator<Item = Duration>) -> Vec<(String, f64)> {
    let times: Vec<f64> = times.map(|time| time.as_secs_f64() * 1e3).collect();
    let mut bars = Vec::new();
    let mut from = 0.0;
    for to in [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, f64::INFINITY] {
        let name = if to.is_finite() { format!("< {to} ms") } else { format!("≥ {from} ms") };
        bars.push((name, times.iter().filter(|time| (from..to).contains(*time)).count() as f64));
        from = to;
    }
    bars
}

/// A bar chart.
pub(super) fn bars(values: &[(String, f64)], unit: &str) -> String {
    chart(values, unit, 64.0)
}

/// A bar chart with room for longer names.
pub(super) fn wide_bars(values: &[(String, f64)], unit: &str) -> String {
    chart(values, unit, 128.0)
}

fn chart(values: &[(String, f64)], unit: &str, width: f64) -> String {
    let (height, room) = (160.0, 24.0);
    let most = values.iter().map(|(_, value)| *value).fold(1.0, f64::max);
    let total = width * values.len() as f64;
    let mut svg =
        format!("<svg role=\"img\" viewBox=\"0 0 {total} {}\" width=\"{total}\">", height + 2.0 * room);
    for (at, (name, value)) in values.iter().enumerate() {
        let (x, tall) = (at as f64 * width, value / most * height);
        let top = room + height - tall;
        let _ = write!(
            svg,
            "<rect class=\"bar\" x=\"{}\" y=\"{top:.1}\" width=\"{}\" height=\"{tall:.1}\"/>\
             <text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"middle\">{4}{unit}</text>\
             <text x=\"{2}\" y=\"{5}\" text-anchor=\"middle\">{6}</text>",
            x + 8.0,
            width - 16.0,
            x + width / 2.0,
            top - 4.0,
            (value * 10.0).round() / 10.0,
            height + 2.0 * room - 6.0,
            escaped(name)
        );
    }
    svg.push_str("</svg>");
    svg
}
