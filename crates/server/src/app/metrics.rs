//! What the server counts about itself, in Prometheus' words.

use std::time::Duration;

use axum::http::Method;
use engine::seams::{catalog::Operation, limiter::Refusal};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    limit: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FileLabels {
    outcome: &'static str,
}

/// From 0.1 ms (a health check) to 50 s (a long answer), in steps of about three.
const SECONDS: [f64; 12] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 50.0];

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

/// The registry and what is in it.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Histogram,
    refusals: Family<RefusalLabels, Counter>,
    operations: Family<OperationLabels, Histogram, fn() -> Histogram>,
    units: Family<OperationLabels, Counter>,
    files: Family<FileLabels, Counter>,
    waiting: Gauge,
    store_ready: Gauge,
    lost_spans: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("quire");
        let requests = Family::default();
        let durations = seconds();
        let refusals = Family::default();
        let operations = Family::new_with_constructor(seconds as fn() -> Histogram);
        let (units, files) = (Family::default(), Family::default());
        let (waiting, store_ready, lost_spans) = (Gauge::default(), Gauge::default(), Counter::default());
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_duration_seconds", "Time to the response's head", durations.clone());
        registry.register("rate_limited", "Requests over a limit", refusals.clone());
        registry.register(
            "operation_duration_seconds",
            "From holding units for a search, an answer, embeddings or reranking to charging for it",
            operations.clone(),
        );
        registry.register("units_charged", "Intelligence units charged", units.clone());
        registry.register("files_read", "Files that were read", files.clone());
        registry.register(
            "files_waiting",
            "Files that wait to be read, as of some seconds ago",
            waiting.clone(),
        );
        registry.register(
            "store_ready",
            "Whether the catalog answered some seconds ago",
            store_ready.clone(),
        );
        registry.register(
            "spans_lost",
            "Spans that were not sent because too many waited",
            lost_spans.clone(),
        );
        Metrics {
            registry,
            requests,
            durations,
            refusals,
            operations,
            units,
            files,
            waiting,
            store_ready,
            lost_spans,
        }
    }
}

impl Metrics {
    /// Counts one answered request.
    pub fn observe(&self, method: &Method, route: &str, status: u16, duration: Duration) {
        let labels = RequestLabels { method: method_name(method), route: route.to_string(), status };
        self.requests.get_or_create(&labels).inc();
        self.durations.observe(duration.as_secs_f64());
    }

    /// Counts one request over a limit.
    pub fn refused(&self, refusal: Refusal) {
        let limit = match refusal {
            Refusal::Key => "key",
            Refusal::User => "user",
        };
        self.refusals.get_or_create(&RefusalLabels { limit }).inc();
    }

    /// Counts one call that was charged.
    pub(crate) fn charged(&self, operation: Operation, duration: Duration, units: u64) {
        let labels = OperationLabels { operation: operation.as_str() };
        self.operations.get_or_create(&labels).observe(duration.as_secs_f64());
        self.units.get_or_create(&labels).inc_by(units);
    }

    /// Counts a file that was read, or could not be.
    pub(crate) fn file_read(&self, outcome: &'static str) {
        self.files.get_or_create(&FileLabels { outcome }).inc();
    }

    /// Notes what the catalog says, if it answers.
    pub(crate) fn looked(&self, waiting: Option<u64>) {
        self.store_ready.set(i64::from(waiting.is_some()));
        if let Some(waiting) = waiting {
            self.waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        }
    }

    /// Counts spans that were not sent.
    pub(crate) fn lost_spans(&self, lost: u64) {
        self.lost_spans.inc_by(lost);
    }

    /// Everything, as text.
    pub fn render(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a text cannot fail");
        text
    }
}

/// Methods are the caller's to invent; labels are not.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
