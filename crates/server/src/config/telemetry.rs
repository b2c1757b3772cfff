//! Settings of what a collector of traces and metrics is sent: nothing, unless the operator names one.

use std::{fmt, time::Duration};

use serde::Deserialize;

/// Variables by which programs are told about collectors, and the settings they stand for.
pub(super) const STANDARD: [(&str, &str); 3] = [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "endpoint"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "headers"),
    ("OTEL_SERVICE_NAME", "service"),
];

/// `[telemetry]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetrySettings {
    /// The collector's address; nothing is sent where it is empty.
    pub endpoint: String,
    /// What is sent along, such as a key of the collector: `name=value` with commas.
    pub headers: String,
    /// What this server is called there.
    pub service: String,
    /// The share of traces that is sent, where nobody else decided.
    pub sample: f64,
    /// Whether the words of queries are sent.
    pub queries: bool,
    /// How often.
    every_s: u64,
}

impl TelemetrySettings {
    /// The collector's address, where there is one.
    pub fn address(&self) -> Option<&str> {
        Some(self.endpoint.trim()).filter(|address| !address.is_empty())
    }

    /// How often something is sent.
    pub fn every(&self) -> Duration {
        Duration::from_secs(self.every_s.max(1))
    }

    /// The headers, each with its name.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let pairs = self.headers.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.trim().to_string(), value.trim().to_string())).collect()
    }

    /// What is wrong with them.
    pub(super) fn wrong(&self) -> Option<&'static str> {
        if !(0.0..=1.0).contains(&self.sample) {
            return Some("telemetry.sample must be from 0 to 1");
        }
        let bad = self
            .address()
            .is_some_and(|address| !address.starts_with("http://") && !address.starts_with("https://"));
        bad.then_some("telemetry.endpoint must begin with http:// or https://")
    }
}

/// Headers may hold a secret.
impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TelemetrySettings { endpoint, service, sample, queries, every_s, headers: _ } = self;
        f.debug_struct("TelemetrySettings")
            .field("endpoint", endpoint)
            .field("service", service)
            .field("sample", sample)
            .field("queries", queries)
            .field("every_s", every_s)
            .finish_non_exhaustive()
    }
}
