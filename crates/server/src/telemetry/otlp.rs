//! Spans and metrics in the shape of OTLP's JSON.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use engine::trace::hex;
use serde_json::{Map, Value, json};

use crate::app::spans::Done;

fn resource(service: &str) -> Value {
    let about = [("service.name", service), ("service.version", env!("CARGO_PKG_VERSION"))];
    json!({"attributes": about.map(|(name, value)| attribute(name, &json!(value)))})
}

fn scope() -> Value {
    json!({"name": "quire", "version": env!("CARGO_PKG_VERSION")})
}

/// A value with its type; whole numbers are written as texts.
fn attribute(name: &str, value: &Value) -> Value {
    let typed = match value {
        Value::Bool(truth) => json!({"boolValue": truth}),
        Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": name, "value": typed})
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

/// Spans, for `/v1/traces`.
pub(super) fn traces(service: &str, spans: &[Done]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({"resourceSpans": [{"resource": resource(service), "scopeSpans": [{"scope": scope(), "spans": spans}]}]})
}

fn span(done: &Done) -> Value {
    let attributes: Vec<Value> = done.attributes.iter().map(|(name, value)| attribute(name, value)).collect();
    let mut span = json!({
        "traceId": hex(&done.place.trace),
        "spanId": hex(&done.place.span),
        "name": done.name,
        "kind": done.kind as u8,
        "startTimeUnixNano": nanoseconds(done.began),
        "endTimeUnixNano": nanoseconds(done.ended),
        "attributes": attributes,
        "status": if done.failed { json!({"code": 2}) } else { json!({}) },
    });
    if let Some(parent) = done.parent {
        span["parentSpanId"] = json!(hex(&parent));
    }
    span
}

/// What `/metrics` shows, for `/v1/metrics`: one list of metrics for both.
pub(super) fn metrics(service: &str, text: &str, began: SystemTime, now: SystemTime) -> Value {
    let times = (nanoseconds(began), nanoseconds(now));
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    let mut points: BTreeMap<&str, Vec<Sample<'_>>> = BTreeMap::new();
    for line in text.lines() {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            kinds.push((name, kind));
        } else if let Some(sample) = Sample::read(line) {
            let of = kinds.iter().rev().find(|(name, _)| sample.name.starts_with(name));
            points.entry(of.map_or(sample.name, |(name, _)| name)).or_default().push(sample);
        }
    }
    let metrics: Vec<Value> = kinds
        .iter()
        .filter_map(|(name, kind)| {
            let samples = points.get(name)?;
            let mut metric = json!({"name": name});
            match *kind {
                "histogram" => {
                    metric["histogram"] =
                        json!({"aggregationTemporality": 2, "dataPoints": histograms(samples, &times)});
                }
                "counter" => {
                    metric["sum"] = json!({"aggregationTemporality": 2, "isMonotonic": true,
                        "dataPoints": numbers(samples, &times)});
                }
                _ => metric["gauge"] = json!({"dataPoints": numbers(samples, &times)}),
            }
            Some(metric)
        })
        .collect();
    json!({"resourceMetrics": [{"resource": resource(service), "scopeMetrics": [{"scope": scope(), "metrics": metrics}]}]})
}

/// A line of `/metrics`.
struct Sample<'a> {
    name: &'a str,
    labels: Vec<(&'a str, &'a str)>,
    value: f64,
}

impl<'a> Sample<'a> {
    fn read(line: &'a str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        // Values of ours have neither quotes nor commas in them: routes, methods, words.
        let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once('='));
        let labels = labels.map(|(name, value)| (name, value.trim_matches('"'))).collect();
        Some(Sample { name, labels, value: value.parse().ok()? })
    }

    fn attributes(&self) -> Vec<Value> {
        let own = self.labels.iter().filter(|(name, _)| *name != "le");
        own.map(|(name, value)| attribute(name, &json!(value))).collect()
    }
}

fn numbers(samples: &[Sample<'_>], (began, now): &(String, String)) -> Vec<Value> {
    let point = |sample: &Sample<'_>| json!({"attributes": sample.attributes(), "startTimeUnixNano": began, "timeUnixNano": now, "asDouble": sample.value});
    samples.iter().map(point).collect()
}

/// Histograms count each bucket together with those below it there, and by itself here.
fn histograms(samples: &[Sample<'_>], (began, now): &(String, String)) -> Vec<Value> {
    let mut points: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    let mut below: BTreeMap<String, f64> = BTreeMap::new();
    for sample in samples {
        let attributes = json!(sample.attributes());
        let key = attributes.to_string();
        let point = points.entry(key.clone()).or_insert_with(|| {
            let mut point = Map::new();
            point.insert("attributes".into(), attributes);
            point.insert("startTimeUnixNano".into(), json!(began));
            point.insert("timeUnixNano".into(), json!(now));
            point.insert("bucketCounts".into(), json!([]));
            point.insert("explicitBounds".into(), json!([]));
            point
        });
        let bound = sample.labels.iter().find(|(name, _)| *name == "le").map(|(_, bound)| *bound);
        match bound {
            Some(bound) => {
                let counted = below.insert(key, sample.value).unwrap_or_default();
                push(point, "bucketCounts", json!(((sample.value - counted) as u64).to_string()));
                if let Ok(bound) = bound
                    .parse::<f64>()
                    .map_err(drop)
                    .and_then(|bound| bound.is_finite().then_some(bound).ok_or(()))
                {
                    push(point, "explicitBounds", json!(bound));
                }
            }
            None if sample.name.ends_with("_sum") => drop(point.insert("sum".into(), json!(sample.value))),
            None if sample.name.ends_with("_count") => {
                drop(point.insert("count".into(), json!((sample.value as u64).to_string())));
            }
            None => {}
        }
    }
    points.into_values().map(Value::Object).collect()
}

fn push(point: &mut Map<String, Value>, list: &str, value: Value) {
    if let Some(Value::Array(list)) = point.get_mut(list) {
        list.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_metrics_shows_is_told_to_collectors() {
        let text = "# HELP quire_requests Requests.\n# TYPE quire_requests counter\n\
            quire_requests_total{method=\"GET\",route=\"/a/{b}\"} 3\n# TYPE quire_queue gauge\nquire_queue 7\n\
            # TYPE quire_seconds histogram\nquire_seconds_sum 1.5\nquire_seconds_count 3\n\
            quire_seconds_bucket{le=\"0.1\"} 1\nquire_seconds_bucket{le=\"1.0\"} 2\nquire_seconds_bucket{le=\"+Inf\"} 3\n# EOF\n";
        let told = metrics("quire", text, UNIX_EPOCH, UNIX_EPOCH);
        let told = &told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let point = &told[0]["sum"]["dataPoints"][0];
        assert_eq!((&told[0]["name"], &point["asDouble"]), (&json!("quire_requests"), &json!(3.0)), "{told}");
        assert_eq!(point["attributes"][1], json!({"key": "route", "value": {"stringValue": "/a/{b}"}}));
        assert_eq!(told[1]["gauge"]["dataPoints"][0]["asDouble"], 7.0);
        let point = &told[2]["histogram"]["dataPoints"][0];
        assert_eq!((&point["count"], &point["sum"]), (&json!("3"), &json!(1.5)), "{told}");
        assert_eq!(point["bucketCounts"], json!(["1", "1", "1"]));
        assert_eq!(point["explicitBounds"], json!([0.1, 1.0]));
    }
}
