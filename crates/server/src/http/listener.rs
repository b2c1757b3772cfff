//! Accepts connections: TLS by its first byte, anything else is plain HTTP; ends those that wait too long, and drains all when
//! told to stop.

use std::{convert::Infallible, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{Request, Version},
    response::Response,
};
use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::{
    activity::{Activity, Overdue, Patience, Tracked},
    door::{Door, Inside},
    incoming::Incoming,
    layers::{self, Peer},
    plain, tls,
    wording::Worded,
};
use crate::{app::App, config::Tls};

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
    /// A server with this data folder that serves these routes.
    pub fn of(app: &App, routes: Router, data: &Path) -> anyhow::Result<Self> {
        let http = &app.config.http;
        let tls = match http.tls {
            Tls::Auto => Some(tls::server_config(http, data)?.into()),
            Tls::Proxy => None,
        };
        Ok(Service { app: app.clone(), tls, secure: routes, plain: plain::router(app) })
    }
}

/// Serves until the app is told to shut down, then lets requests in progress finish.
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
            // Whoever finds no place is turned away at once: others behind them may find one.
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

/// Waits for requests in progress; what has not ended in time is told to end, then cut.
async fn drain(app: &App, tasks: &TaskTracker) {
    let grace = app.config.http.grace();
    if timeout(grace.drain, tasks.wait()).await.is_err() {
        tracing::warn!(open = tasks.len(), "Ending what did not finish in time");
    }
    app.drained.cancel();
    let _ = timeout(grace.ending, tasks.wait()).await;
}

/// One connection, until it ends or somebody else gets its place.
async fn handle(service: Arc<Service>, stream: TcpStream, peer: SocketAddr, inside: Inside) {
    tokio::select! {
        () = serve_one(&service, stream, peer, &inside.activity) => {}
        () = inside.turned_out.cancelled() => {
            tracing::debug!(peer.address = %peer, "Closed a quiet connection to make room");
        }
    }
}

/// One connection from its first byte, which tells TLS from plain HTTP, to its end.
async fn serve_one(service: &Service, stream: TcpStream, peer: SocketAddr, activity: &Arc<Activity>) {
    let _ = stream.set_nodelay(true);
    let app = &service.app;
    let Some(acceptor) = &service.tls else {
        return speak(stream, peer, app, service.secure.clone(), activity).await;
    };
    let greeted = tokio::select! {
        greeted = timeout(app.config.deadlines.handshake(), greet(stream, acceptor)) => greeted,
        () = app.shutdown.cancelled() => return,
    };
    match greeted {
        Ok(Ok(Greeted::Tls(stream))) => speak(stream, peer, app, service.secure.clone(), activity).await,
        Ok(Ok(Greeted::Plain(stream))) => speak(stream, peer, app, service.plain.clone(), activity).await,
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
async fn speak<S>(stream: S, peer: SocketAddr, app: &App, router: Router, activity: &Arc<Activity>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
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
    // Requests in progress are finished, no others are taken.
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

/// Passes a request on to the routes, watching its body come in and its answer go out. With some of the body still to come, the connection
/// ends with the answer, which says so: the client would otherwise send its next request on it.
async fn answer(
    request: Request<hyper::body::Incoming>,
    peer: SocketAddr,
    app: App,
    router: Router,
    activity: Arc<Activity>,
) -> Result<Response<Tracked<Body>>, Infallible> {
    let under_way = activity.begin();
    let version = request.version();
    let request = request.map(|body| Incoming::new(body, &app.config));
    let rest = request.body().rest();
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Peer(peer));
    let mut response = router.oneshot(request).await?;
    if rest.is_to_come() && version < Version::HTTP_2 {
        response = layers::close(response);
    }
    Ok(response.map(|body| Tracked::new(body, under_way)))
}

fn note<E: std::fmt::Display>(result: Result<(), E>, peer: SocketAddr) {
    if let Err(error) = result {
        tracing::debug!(%error, peer.address = %peer, "Connection ended early");
    }
}
