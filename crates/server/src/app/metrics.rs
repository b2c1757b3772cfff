//! What the server counts about itself, in Prometheus' words.

use std::time::Duration;

use axum::http::Method;
use engine::seams::limiter::Refusal;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, histogram::Histogram},
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

/// The registry and what is in it.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Histogram,
    refusals: Family<RefusalLabels, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("quire");
        let requests = Family::default();
        // From 0.1 ms (a health check) to 50 s (a long answer), in steps of about three.
        let durations =
            Histogram::new([0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 50.0]);
        let refusals = Family::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_duration_seconds", "Time to the response's head", durations.clone());
        registry.register("rate_limited", "Requests over a limit", refusals.clone());
        Metrics { registry, requests, durations, refusals }
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
