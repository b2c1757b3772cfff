//! Accepts connections: TLS by its first byte, anything else is plain HTTP; drains them when told to stop.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{layers::Peer, plain, routes, tls};
use crate::{app::App, config::Tls};

/// A TLS record that starts a handshake begins with this byte; no HTTP request does.
const HANDSHAKE: u8 = 0x16;
/// For the first byte, the handshake, and each request's head: generous for people, short for those who dawdle.
const PATIENCE: Duration = Duration::from_secs(15);
/// Open connections; each costs some 50 KB, so this bounds them to about 200 MB.
const MOST_CONNECTIONS: usize = 4096;

/// What to serve on a listener.
pub struct Service {
    /// `None`: a proxy in front speaks TLS.
    pub tls: Option<Arc<ServerConfig>>,
    /// The routes.
    pub secure: Router,
    /// What plain HTTP gets on the TLS port.
    pub plain: Router,
    /// How long connections may take to finish.
    pub grace: Duration,
}

impl Service {
    /// What a server with this data folder serves.
    pub fn of(app: &App, data: &Path) -> anyhow::Result<Self> {
        let http = &app.config.http;
        let tls = match http.tls {
            Tls::Auto => Some(tls::server_config(http, data)?),
            Tls::Proxy => None,
        };
        let grace = Duration::from_secs(http.shutdown_grace_s);
        Ok(Service { tls, secure: routes::router(app), plain: plain::router(app), grace })
    }
}

/// Serves until `shutdown`, then lets requests under way finish.
pub async fn serve(listener: TcpListener, service: Service, shutdown: CancellationToken) {
    let Service { tls, secure, plain, grace } = service;
    let acceptor = tls.map(TlsAcceptor::from);
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let tasks = tokio_util::task::TaskTracker::new();
    loop {
        let permit = slots.clone().acquire_owned().await.expect("never closed");
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = Connection { stream, peer, _permit: permit };
                let (acceptor, secure, plain) = (acceptor.clone(), secure.clone(), plain.clone());
                tasks.spawn(connection.run(acceptor, secure, plain, shutdown.clone()));
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

struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    async fn run(
        self,
        acceptor: Option<TlsAcceptor>,
        secure: Router,
        plain: Router,
        shutdown: CancellationToken,
    ) {
        let _ = self.stream.set_nodelay(true);
        let Some(acceptor) = acceptor else {
            return self.speak_http(secure, shutdown).await;
        };
        let mut first = [0];
        match timeout(PATIENCE, self.stream.peek(&mut first)).await {
            Ok(Ok(1)) if first[0] == HANDSHAKE => {}
            Ok(Ok(1)) => return self.speak_http(plain, shutdown).await,
            _ => return,
        }
        let Connection { stream, peer, _permit } = self;
        match timeout(PATIENCE, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => drive(stream, peer, secure, shutdown).await,
            Ok(Err(error)) => tracing::debug!(%error, peer.address = %peer, "TLS handshake failed"),
            Err(_) => tracing::debug!(peer.address = %peer, "TLS handshake took too long"),
        }
    }

    async fn speak_http(self, router: Router, shutdown: CancellationToken) {
        drive(self.stream, self.peer, router, shutdown).await;
    }
}

/// Speaks HTTP/1.1 or h2 on a stream until it ends or the server stops.
async fn drive<S>(stream: S, peer: SocketAddr, router: Router, shutdown: CancellationToken)
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
    let connection =
        builder.serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, peer.address = %peer, "Connection ended early");
    }
}
