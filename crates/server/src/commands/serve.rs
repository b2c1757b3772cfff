//! `quire serve`: runs the server until it is told to stop.

use std::{net::SocketAddr, path::Path, time::Duration};

use clap::Args;
use engine::{Fault, access::Reading, ids::UserId, ingest::Ingest};
use jiff::Timestamp;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Global, local, output};
use crate::{
    app::App,
    assemble::{Assembled, assemble, missing_of_sandbox},
    config::{Config, Tls},
    dashboard,
    http::{
        listener::{self, Service},
        routes,
    },
    logging, reindex, sessions, site, sources, telemetry, webhooks, worker,
};

/// How often the last use of keys is recorded.
const WRITE_DOWN_EVERY: Duration = Duration::from_secs(5);
/// Sources that are read at the same time: they mostly wait.
const SOURCES_AT_ONCE: usize = 2;
/// How often a node says that it is alive, and looks whether others are.
const BEAT_EVERY: Duration = Duration::from_secs(3);
/// How long a node is silent before the others take over from it.
const DEAD_AFTER: Duration = Duration::from_secs(15);
/// How often expired records are deleted from the catalog; only its size depends on it.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// How long the first start waits for its sample documents; then they are processed while it serves.
const SAMPLE_WITHIN: Duration = Duration::from_secs(20);

#[derive(Args)]
pub(super) struct Listen {
    /// Address to listen on; port 0 picks a free one [default: http.listen, 127.0.0.1:8443]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

pub(super) async fn run(global: &Global, listen: Listen) -> Result<(), Fault> {
    let (listener, config) = prepare(global, listen).await?;
    let data = global.created(&config)?;
    let address = listener.local_addr().map_err(|error| local(error.into()))?;
    let url = url(address, config.http.tls);
    let announce =
        |dashboard: &str| format!("quire {} is listening on {url}\n{dashboard}", env!("CARGO_PKG_VERSION"));
    let announcement = Announcement { url: &url, account: None, reading: None, text: &announce };
    Box::pin(serve(&data, config, listener, announcement)).await
}

/// What is printed once all is ready.
pub(super) struct Announcement<'a> {
    /// The server's address.
    pub(super) url: &'a str,
    /// The account that the set-up link is for; without one the link creates one.
    pub(super) account: Option<UserId>,
    /// A box whose files are processed before the text is printed.
    pub(super) reading: Option<Reading>,
    /// The text, given the line about the dashboard.
    pub(super) text: &'a (dyn Fn(&str) -> String + Sync),
}

impl Announcement<'_> {
    /// The whole text. While nobody can sign in, the dashboard is reached by a link that works once.
    async fn write(&self, app: &App) -> Result<String, Fault> {
        let base = app.config.http.public_url.as_deref().unwrap_or(self.url).trim_end_matches('/');
        let line = match dashboard::set_up_link(&*app.catalog, base, self.account).await? {
            Some(link) => output::text("command-set-up-link").with("link", &link).plain(),
            None => output::text("command-dashboard-at").with("url", format!("{base}/")).plain(),
        };
        Ok((self.text)(&line))
    }
}

/// Settings, logging and the listener: what must work before anything else is tried.
pub(super) async fn prepare(global: &Global, listen: Listen) -> Result<(TcpListener, Config), Fault> {
    let mut config = global.settings()?;
    logging::start(&config.log).map_err(local)?;
    config.http.listen = listen.listen.unwrap_or(config.http.listen);
    let address = config.http.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        local(anyhow::anyhow!("cannot listen on {address}: {error}"))
            .hint("choose another with --listen ADDRESS")
    })?;
    Ok((listener, config))
}

/// What people and programs on this machine call the server.
pub(super) fn url(address: SocketAddr, tls: Tls) -> String {
    let host = if address.ip().is_unspecified() { "localhost".to_string() } else { address.ip().to_string() };
    let host = if address.is_ipv6() && !address.ip().is_unspecified() { format!("[{host}]") } else { host };
    let scheme = if tls == Tls::Proxy { "http" } else { "https" };
    format!("{scheme}://{host}:{}", address.port())
}

/// Runs until a signal comes, then drains. The announcement is printed once all is ready: scripts wait for it.
pub(super) async fn serve(
    data: &Path,
    config: Config,
    listener: TcpListener,
    announcement: Announcement<'_>,
) -> Result<(), Fault> {
    let working = output::working(false, output::plain("command-loading"));
    let Assembled { app, ingest, .. } = &assemble(data, config).await.map_err(local)?;
    drop(working);
    let service = Service::of(app, site::router(app), data).map_err(local)?;
    let shutdown = app.shutdown.clone();
    tokio::spawn(warn_of_sandbox(data.to_path_buf(), app.clone()));
    let workers = start_workers(app, ingest, &shutdown);
    let uses = tokio::spawn(write_down_uses(app.clone(), shutdown.clone()));
    tokio::spawn(sweep(app.clone(), shutdown.clone()));
    tokio::spawn(webhooks::run(app.clone(), shutdown.clone()));
    for _ in 0..SOURCES_AT_ONCE {
        tokio::spawn(sources::run(app.clone(), shutdown.clone()));
    }
    tokio::spawn(beat(app.clone(), shutdown.clone()));
    let (library, stopped) = (app.library.clone(), shutdown.clone());
    tokio::spawn(async move { library.tend(stopped).await });
    let told = tokio::spawn(telemetry::run(app.clone(), shutdown.clone()));
    tokio::spawn(telemetry::count(app.clone(), shutdown.clone()));
    serve_metrics(app, &shutdown).await;
    tokio::spawn(stop_on_signal(Signals::listen()?, shutdown.clone(), app.config.http.shutdown_grace()));
    if let Some(reading) = &announcement.reading {
        processed(app, reading).await?;
    }
    output::say(&announcement.write(app).await?);
    listener::serve(listener, service).await;
    workers.wait().await;
    let _ = (uses.await, told.await);
    tracing::info!("Stopped");
    Ok(())
}

/// Waits until the files of a box are processed, but no longer than [`SAMPLE_WITHIN`].
async fn processed(app: &App, reading: &Reading) -> Result<(), Fault> {
    let _working = output::working(false, output::plain("command-processing-sample"));
    let mut changes = app.library.listen();
    let waiting = async {
        while app.catalog.totals(&[*reading]).await?.first().is_some_and(|totals| totals.under_way > 0) {
            let _ = changes.recv().await;
        }
        Ok(())
    };
    tokio::time::timeout(SAMPLE_WITHIN, waiting).await.unwrap_or(Ok(()))
}

fn start_workers(app: &App, ingest: &Ingest, shutdown: &CancellationToken) -> TaskTracker {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = app.config.ingest.workers;
    let tracker = TaskTracker::new();
    for number in 1..=if wanted == 0 { cores } else { wanted } {
        let name = format!("{}-{number}", app.catalog.node());
        tracker.spawn(worker::run(
            app.library.clone(),
            ingest.clone(),
            app.spans.clone(),
            name,
            shutdown.clone(),
        ));
    }
    let (app, ingest, shutdown) = (app.clone(), ingest.clone(), shutdown.clone());
    tracker.spawn(async move { reindex::run(&app.library, &ingest, &app.search, shutdown).await });
    tracker.close();
    tracker
}

/// Says once what the sandbox of parsers lacks on this machine, and keeps it for whoever asks.
async fn warn_of_sandbox(data: std::path::PathBuf, app: App) {
    let required = app.config.ingest.sandbox == parsers::Sandbox::Required;
    let missing = missing_of_sandbox(&data, &app.config).await.map_err(|error| format!("{error:#}"));
    match app.about.sandbox.get_or_init(|| missing) {
        Ok(missing) => missing.iter().for_each(|part| match required {
            true => tracing::error!("Files are not read, because ingest.sandbox is required: {part}"),
            false => tracing::warn!("Files are read without part of the sandbox: {part}"),
        }),
        Err(error) => tracing::error!("Files cannot be read: {error}"),
    }
}

/// The first signal drains, the second ends the process at once.
async fn stop_on_signal(mut signals: Signals, shutdown: CancellationToken, grace: Duration) {
    signals.next().await;
    tracing::info!("Stopping: requests in progress may finish; a second signal stops at once");
    end_within(grace);
    shutdown.cancel();
    signals.next().await;
    std::process::exit(1);
}

/// Ends the process in time whatever it is doing, even if work blocks or the runtime is stuck: it uses a thread of its
/// own. Nothing is lost by it that a killed process would not lose.
fn end_within(grace: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(grace);
        tracing::warn!("Stopped before all work in progress was complete");
        std::process::exit(0);
    });
}

/// What tells a server to stop: a service manager's TERM or a person's Ctrl-C.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Fault> {
        let listen = |kind| signal(kind).map_err(|error| local(error.into()));
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Metrics are a convenience: a taken port moves them, it does not stop the server.
async fn serve_metrics(app: &App, shutdown: &CancellationToken) {
    let Some(wanted) = app.config.http.metrics_listen else { return };
    let listener = match TcpListener::bind(wanted).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind(SocketAddr::new(wanted.ip(), 0)).await,
    };
    match listener.and_then(|listener| Ok((listener.local_addr()?, listener))) {
        Ok((address, listener)) => {
            tracing::info!("Metrics are at http://{address}/metrics");
            let stopped = shutdown.clone().cancelled_owned();
            let metrics =
                axum::serve(listener, routes::metrics_router(app.clone())).with_graceful_shutdown(stopped);
            tokio::spawn(metrics.into_future());
        }
        Err(error) => tracing::warn!(%error, "Metrics are not served: cannot listen on {wanted}"),
    }
}

async fn write_down_uses(app: App, shutdown: CancellationToken) {
    loop {
        let stopping = tokio::select! {
            () = tokio::time::sleep(WRITE_DOWN_EVERY) => false,
            () = shutdown.cancelled() => true,
        };
        if let Err(fault) = app.identities.write_down_uses(&*app.catalog).await {
            tracing::warn!(error = ?fault, "Could not record when keys were last used");
        }
        if let Err(fault) = app.recent_queries.write_down(&*app.catalog).await {
            tracing::warn!(error = ?fault, "Could not record recent queries");
        }
        if let Err(fault) = app.questions.write_down(&*app.catalog).await {
            tracing::warn!(error = ?fault, "Could not record questions that went wrong");
        }
        if stopping {
            return;
        }
    }
}

/// Reports that this node is alive, listens to the others, and takes over from those that died.
pub(super) async fn beat(app: App, shutdown: CancellationToken) {
    let beating = async {
        loop {
            let beaten = async {
                app.catalog.beat_node().await?;
                app.catalog.bury_nodes(DEAD_AFTER).await
            };
            match beaten.await {
                Ok(0) => {}
                Ok(buried) => tracing::warn!(buried, "Took over the work of nodes that stopped responding"),
                Err(fault) => tracing::warn!(error = ?fault, "Could not record that this node is alive"),
            }
            if let Err(fault) = app.answers.follow(&*app.catalog).await {
                tracing::warn!(error = ?fault, "Could not look up the chosen language model");
            }
            tokio::time::sleep(BEAT_EVERY).await;
        }
    };
    tokio::select! {
        () = beating => {}
        () = app.library.hear_others() => {}
        () = shutdown.cancelled() => {}
    }
}

async fn sweep(app: App, shutdown: CancellationToken) {
    loop {
        let now = Timestamp::now();
        let swept = async {
            app.catalog.release_abandoned_units(now).await?;
            app.catalog.free_abandoned_attempts(now).await?;
            app.catalog.forget_old_answers(now).await?;
            app.questions.forget(&*app.catalog, now).await?;
            if let Some(since) = app.config.retention.audit_since(now) {
                app.catalog.forget_audit(since).await?;
            }
            app.catalog.forget_conversations(app.config.accounts.oldest_conversation(now)).await?;
            sessions::sweep(&*app.catalog, now).await
        };
        if let Err(fault) = swept.await {
            tracing::warn!(error = ?fault, "Could not delete expired records");
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP_EVERY) => {}
            () = shutdown.cancelled() => return,
        }
    }
}
