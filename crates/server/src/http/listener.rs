//! Accepts connections: TLS by its first byte, anything else is plain HTTP; ends those that wait too long, and drains all when
//! told to stop.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, http::Request, response::Response};
use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::{
    activity::{Activity, Overdue, Patience, Tracked},
    guard,
    incoming::Incoming,
    layers::Peer,
    places::{Place, Places},
    plain, routes, tls,
    wording::Worded,
};
use crate::{
    app::App,
    config::{Config, Tls},
};

/// A TLS record that starts a handshake begins with this byte; no HTTP request does.
const HANDSHAKE: u8 = 0x16;
/// How long a client has to hear that its connection ends.
const CLOSING: Duration = Duration::from_secs(1);
/// How often a client is asked whether it is still there (HTTP/2), and how long it may take to say so.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_WAIT: Duration = Duration::from_secs(20);
/// Requests at the same time on one HTTP/2 connection; what browsers and SDKs are used to.
const MOST_STREAMS: u32 = 100;
/// What may wait to be sent for one answer, and be received for one head. A hundred answers on a connection that nobody
/// reads keep 6 MB so.
const BUFFER: usize = 64 * 1024;

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

/// Who may come in: so many over all, and so many of each network.
struct Door {
    all: Arc<Semaphore>,
    networks: Places<IpAddr>,
    /// Places of one network.
    most: usize,
    /// Proxies, which stand for many clients.
    unbounded: Vec<IpAddr>,
}

/// The places of one connection.
type Inside = (OwnedSemaphorePermit, Option<Place<IpAddr>>);

impl Door {
    fn of(config: &Config) -> Self {
        let connections = &config.connections;
        Door {
            all: Arc::new(Semaphore::new(connections.most.min(most_files()))),
            networks: Places::default(),
            most: if connections.per_network == 0 { usize::MAX } else { connections.per_network },
            unbounded: match config.http.tls {
                Tls::Auto => Vec::new(),
                Tls::Proxy => config.http.trusted_proxies.clone(),
            },
        }
    }

    fn enter(&self, peer: IpAddr) -> Option<Inside> {
        let permit = self.all.clone().try_acquire_owned().ok()?;
        if self.unbounded.contains(&peer.to_canonical()) {
            return Some((permit, None));
        }
        let place = self.networks.take(&guard::network(peer), self.most)?;
        Some((permit, Some(place)))
    }
}

/// How many connections the process may open files for, after raising its limit as far as it goes. Stores need some too.
fn most_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return usize::MAX };
    let raised = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    let files = if raised.is_ok() { hard } else { soft };
    usize::try_from(files / 4 * 3).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

/// Serves until the app is told to shut down, then lets requests under way finish.
pub async fn serve(listener: TcpListener, service: Service) {
    let service = Arc::new(service);
    let app = &service.app;
    let door = Door::of(&app.config);
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = app.shutdown.cancelled() => break,
        };
        match accepted {
            // Whoever finds no place is turned away at once: others behind them may have one.
            Ok((stream, peer)) => match door.enter(peer.ip()) {
                Some(inside) => drop(tasks.spawn(handle(service.clone(), stream, peer, inside))),
                None => tracing::debug!(peer.address = %peer, "Refused a connection: too many are open"),
            },
            // Out of file handles, most likely: wait for some to come back rather than spin.
            Err(error) => {
                tracing::warn!(%error, "Could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    drain(app, &tasks).await;
}

/// Waits for requests under way; what has not ended in time is told to end, then cut.
async fn drain(app: &App, tasks: &TaskTracker) {
    let grace = app.config.http.grace();
    if timeout(grace.drain, tasks.wait()).await.is_err() {
        tracing::warn!(open = tasks.len(), "Ending what did not finish in time");
    }
    app.drained.cancel();
    let _ = timeout(grace.ending, tasks.wait()).await;
}

/// One connection from its first byte, which tells TLS from plain HTTP, to its end.
async fn handle(service: Arc<Service>, stream: TcpStream, peer: SocketAddr, _inside: Inside) {
    let _ = stream.set_nodelay(true);
    let app = &service.app;
    let Some(acceptor) = &service.tls else {
        return speak(stream, peer, app, service.secure.clone()).await;
    };
    let greeted = tokio::select! {
        greeted = timeout(app.config.deadlines.handshake(), greet(stream, acceptor)) => greeted,
        () = app.shutdown.cancelled() => return,
    };
    match greeted {
        Ok(Ok(Greeted::Tls(stream))) => speak(stream, peer, app, service.secure.clone()).await,
        Ok(Ok(Greeted::Plain(stream))) => speak(stream, peer, app, service.plain.clone()).await,
        Ok(Err(error)) => tracing::debug!(%error, peer.address = %peer, "TLS handshake failed"),
        Err(_) => tracing::debug!(peer.address = %peer, "TLS handshake took too long"),
    }
}

/// A connection that has said what it speaks.
enum Greeted {
    Tls(Box<TlsStream<TcpStream>>),
    Plain(TcpStream),
}

async fn greet(stream: TcpStream, acceptor: &TlsAcceptor) -> std::io::Result<Greeted> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first[0] == HANDSHAKE {
        return Ok(Greeted::Tls(Box::new(acceptor.accept(stream).await?)));
    }
    Ok(Greeted::Plain(stream))
}

/// Speaks HTTP/1.1 or h2 on a stream until it ends, waits too long or the server stops.
async fn speak<S>(stream: S, peer: SocketAddr, app: &App, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::new();
    let deadlines = &app.config.deadlines;
    let patience =
        Patience { first: deadlines.head(), idle: deadlines.idle(), stall: deadlines.answer_stall() };
    let service = service_fn(|request| answer(request, peer, app.clone(), router.clone(), activity.clone()));
    let stream = TokioIo::new(Worded::new(stream, app.clone(), activity.clone()));
    let builder = builder(deadlines.head());
    let mut connection = std::pin::pin!(builder.serve_connection(stream, service));
    tokio::select! {
        result = connection.as_mut() => return note(result, peer),
        overdue = activity.overdue(patience) => {
            tracing::debug!(peer.address = %peer, ?overdue, "Closing a connection");
            if overdue == Overdue::Stalled {
                return;
            }
        }
        () = app.shutdown.cancelled() => {}
    }
    // Requests under way are finished, no others are taken.
    connection.as_mut().graceful_shutdown();
    let closing = Patience { first: CLOSING, idle: CLOSING, ..patience };
    let overdue = async {
        tokio::time::sleep(CLOSING).await;
        activity.overdue(closing).await
    };
    tokio::select! {
        result = connection.as_mut() => note(result, peer),
        _ = overdue => {}
        // Streams say that they end, and why.
        () = app.drained.cancelled() => drop(timeout(CLOSING, connection).await),
    }
}

fn builder(head: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_WAIT)
        .max_concurrent_streams(MOST_STREAMS)
        .max_send_buf_size(BUFFER);
    builder
}

/// Passes a request on to the routes, watching its body come in and its answer go out.
async fn answer(
    request: Request<hyper::body::Incoming>,
    peer: SocketAddr,
    app: App,
    router: Router,
    activity: Arc<Activity>,
) -> Result<Response<Tracked<Body>>, Infallible> {
    let under_way = activity.begin();
    let mut request = request.map(|body| Body::new(Incoming::new(body, &app.config)));
    request.extensions_mut().insert(Peer(peer));
    let response = router.oneshot(request).await?;
    Ok(response.map(|body| Tracked::new(body, under_way)))
}

fn note<E: std::fmt::Display>(result: Result<(), E>, peer: SocketAddr) {
    if let Err(error) = result {
        tracing::debug!(%error, peer.address = %peer, "Connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_does_not_take_the_places_of_others() {
        let mut config = Config::defaults();
        (config.connections.most, config.connections.per_network) = (5, 2);
        let door = Door::of(&config);
        let [one, beside, other]: [IpAddr; 3] =
            ["2001:db8::1", "2001:db8::2", "192.0.2.1"].map(|address| address.parse().unwrap());
        let inside: Vec<_> = [one, beside].map(|address| door.enter(address).unwrap()).into();
        assert!(door.enter(one).is_none(), "two addresses of one IPv6 network are one client");
        assert!(door.enter(other).is_some());
        drop(inside);
        assert!(door.enter(one).is_some());
    }

    #[test]
    fn a_proxy_is_bounded_over_all_only() {
        let mut config = Config::defaults();
        (config.connections.most, config.connections.per_network) = (5, 2);
        config.http.tls = Tls::Proxy;
        let door = Door::of(&config);
        let inside: Vec<_> = (0..5).map(|_| door.enter([127, 0, 0, 1].into()).unwrap()).collect();
        assert!(door.enter([192, 0, 2, 1].into()).is_none());
        drop(inside);
    }
}
