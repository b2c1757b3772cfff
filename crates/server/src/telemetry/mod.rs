//! Sends spans and metrics to a collector (OTLP over HTTP, as JSON), where the operator names one.

mod otlp;

use std::time::{Duration, SystemTime};

use engine::{Fault, seams::catalog::FileStatus};
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::{sync::broadcast::error::RecvError, time::MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{app::App, config::TelemetrySettings};

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where to send what.
struct Collector {
    http: Client,
    traces: Url,
    metrics: Url,
    headers: Vec<(String, String)>,
    service: String,
}

impl Collector {
    fn of(settings: &TelemetrySettings) -> Result<Option<Self>, Fault> {
        let Some(address) = settings.address() else { return Ok(None) };
        let path = |signal: &str| {
            Url::parse(&format!("{}/v1/{signal}", address.trim_end_matches('/')))
                .map_err(|wrong| Fault::internal(format!("telemetry.endpoint: {wrong}")))
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().timeout(PATIENCE).build().map_err(Fault::internal)?;
        let headers = settings.pairs();
        let service = settings.service.clone();
        Ok(Some(Collector { http, traces: path("traces")?, metrics: path("metrics")?, headers, service }))
    }

    async fn send(&self, url: &Url, body: &Value) -> Result<(), reqwest::Error> {
        let mut request = self.http.post(url.clone()).json(body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.send().await?.error_for_status().map(drop)
    }
}

/// Sends what there is every few seconds, and once more at the end. What cannot be sent is not kept: nobody's work waits for it.
pub async fn run(app: App, shutdown: CancellationToken) {
    let collector = match Collector::of(&app.config.telemetry) {
        Ok(Some(collector)) => collector,
        Ok(None) => return,
        Err(fault) => return tracing::warn!(error = ?fault, "No telemetry is sent"),
    };
    let began = SystemTime::now();
    let mut ticks = tokio::time::interval(app.config.telemetry.every());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        let ending = tokio::select! {
            _ = ticks.tick() => false,
            () = shutdown.cancelled() => true,
        };
        let sent = send(&app, &collector, began).await;
        match (&sent, well) {
            (Err(error), true) => tracing::warn!(%error, "The telemetry collector cannot be reached"),
            (Ok(()), false) => tracing::info!("The telemetry collector can be reached again"),
            _ => {}
        }
        well = sent.is_ok();
        if ending {
            return;
        }
    }
}

async fn send(app: &App, collector: &Collector, began: SystemTime) -> Result<(), reqwest::Error> {
    let (spans, lost) = app.spans.take();
    app.metrics.lost_spans(lost);
    look(app).await;
    let metrics = otlp::metrics(&collector.service, &app.metrics.render(), began, SystemTime::now());
    if !spans.is_empty() {
        collector.send(&collector.traces, &otlp::traces(&collector.service, &spans)).await?;
    }
    collector.send(&collector.metrics, &metrics).await
}

/// Looks at what is not counted as it happens.
async fn look(app: &App) {
    app.metrics.looked(app.catalog.queue_length().await.ok());
}

/// Counts files as they are read, and looks at the queue, for metrics.
pub async fn count(app: App, shutdown: CancellationToken) {
    let mut changes = app.library.listen();
    let mut ticks = tokio::time::interval(Duration::from_secs(15));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = ticks.tick() => look(&app).await,
            change = changes.recv() => match change {
                Ok(change) => note(&app, change.status),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            () = shutdown.cancelled() => return,
        }
    }
}

fn note(app: &App, status: FileStatus) {
    if !matches!(status, FileStatus::Queued | FileStatus::Processing | FileStatus::Deleting) {
        app.metrics.file_read(status.as_str());
    }
}
