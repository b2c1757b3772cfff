//! Accepts connections: TLS by its first byte, anything else is plain HTTP; drains them when told to stop.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::{layers::Peer, plain, routes, tls, wording::Worded};
use crate::{app::App, config::Tls};

/// A TLS record that starts a handshake begins with this byte; no HTTP request does.
const HANDSHAKE: u8 = 0x16;
/// For the first byte, the handshake, and each request's head: generous for people, short for those who dawdle.
const PATIENCE: Duration = Duration::from_secs(15);
/// Open connections; each costs some 50 KB, so this bounds them to about 200 MB.
const MOST_CONNECTIONS: usize = 4096;

/// What to serve on a listener.
pub struct Service {
    app: App,
    /// `None`: a proxy in front speaks TLS.
    tls: Option<TlsAcceptor>,
    secure: Router,
    /// What plain HTTP gets on the TLS port.
    plain: Router,
}

impl Service {
    /// What a server with this data folder serves.
    pub fn of(app: &App, data: &Path) -> anyhow::Result<Self> {
        let http = &app.config.http;
        let tls = match http.tls {
            Tls::Auto => Some(tls::server_config(http, data)?.into()),
            Tls::Proxy => None,
        };
        Ok(Service { app: app.clone(), tls, secure: routes::router(app), plain: plain::router(app) })
    }
}

/// Serves until the app is told to shut down, then lets requests under way finish.
pub async fn serve(listener: TcpListener, service: Service) {
    let service = Arc::new(service);
    let grace = Duration::from_secs(service.app.config.http.shutdown_grace_s);
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let tasks = TaskTracker::new();
    loop {
        let permit = slots.clone().acquire_owned().await.expect("never closed");
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = service.app.shutdown.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                tasks.spawn(handle(service.clone(), stream, peer, permit));
            }
            // Out of file handles, most likely: wait for some to come back rather than spin.
            Err(error) => {
                tracing::warn!(%error, "Could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    if timeout(grace, tasks.wait()).await.is_err() {
        tracing::warn!(open = tasks.len(), "Closed connections that did not finish in time");
    }
}

/// One connection from its first byte, which tells TLS from plain HTTP, to its end.
async fn handle(service: Arc<Service>, stream: TcpStream, peer: SocketAddr, _permit: OwnedSemaphorePermit) {
    let _ = stream.set_nodelay(true);
    let Some(acceptor) = &service.tls else {
        return speak(stream, peer, &service.app, service.secure.clone()).await;
    };
    let mut first = [0];
    match timeout(PATIENCE, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first[0] == HANDSHAKE => {}
        Ok(Ok(1)) => return speak(stream, peer, &service.app, service.plain.clone()).await,
        _ => return,
    }
    match timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, peer, &service.app, service.secure.clone()).await,
        Ok(Err(error)) => tracing::debug!(%error, peer.address = %peer, "TLS handshake failed"),
        Err(_) => tracing::debug!(peer.address = %peer, "TLS handshake took too long"),
    }
}

/// Speaks HTTP/1.1 or h2 on a stream until it ends or the server stops.
async fn speak<S>(stream: S, peer: SocketAddr, app: &App, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = router.map_request(move |request: Request<_>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        request
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_concurrent_streams(200);
    let stream = TokioIo::new(Worded::new(stream, app.clone()));
    let connection = builder.serve_connection_with_upgrades(stream, TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = app.shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, peer.address = %peer, "Connection ended early");
    }
}
