//! Accepts connections of an HTTP endpoint up to a cap and serves HTTP/1.1 and HTTP/2 on them. OTLP/gRPC is HTTP/2, so it
//! takes the same way.

use super::config::Config;
use super::pace::{Pace, Paced};
use super::pulse::{Answer, Asked, Noted, Patience, Pulse, Verdict};
use super::tls::Tls;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use socket2::{SockRef, TcpKeepalive};
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// What may come on one HTTP/2 stream, and on one connection, before it is read. The 64 KiB of the standard would make a
/// batch of several megabytes wait for the network many times.
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;

/// How often a silent HTTP/2 client is asked whether it is there, and how long it may take to say so.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Largest head of a request on HTTP/2, bytes.
const MAX_HEAD: usize = 64 << 10;

/// When the system asks a silent peer whether it is there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Pause after a connection could not be accepted, which mostly means that file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long an idle connection may take to end after it was told to.
const FAREWELL: Duration = Duration::from_secs(5);

/// What the connections of an endpoint may do.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    max_connections: usize,
    max_streams: u32,
    patience: Patience,
    pace: Pace,
}

impl Limits {
    /// As configured.
    pub fn of(config: &Config) -> Self {
        let grace = config.body_grace;
        Self {
            max_connections: config.max_connections,
            max_streams: config.max_streams,
            patience: Patience { header: config.header_timeout, idle: config.idle_timeout, write: grace },
            pace: Pace { grace, rate: config.body_min_rate.bytes() },
        }
    }
}

/// What every connection of an endpoint needs.
struct Endpoint {
    name: &'static str,
    router: Router,
    limits: Limits,
    tls: Option<Tls>,
    stop: CancellationToken,
}

/// Serves `router` on `listener` until `stop`. Then nothing is accepted any more, open requests end, and when the call
/// returns every connection is closed; a caller that stops waiting cuts off those that are left.
pub async fn serve(
    name: &'static str,
    listener: TcpListener,
    router: Router,
    limits: Limits,
    tls: Option<Tls>,
    stop: CancellationToken,
) {
    announce(name);
    let endpoint = Arc::new(Endpoint { name, router, limits, tls, stop: stop.clone() });
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = open.join_next(), if !open.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    // Those that have ended must not count.
                    while open.try_join_next().is_some() {}
                    if open.len() < limits.max_connections {
                        open.spawn(converse(socket, endpoint.clone()));
                    } else {
                        metrics::counter!("groundline_connections_refused_total", "door" => name).increment(1);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, endpoint = name, "connection not accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
        metrics::gauge!("groundline_connections", "door" => name).set(open.len() as f64);
    }
    drop(listener);
    while open.join_next().await.is_some() {}
    metrics::gauge!("groundline_connections", "door" => name).set(0.0);
}

/// The endpoint's metrics, from the first scrape on.
fn announce(endpoint: &'static str) {
    metrics::gauge!("groundline_connections", "door" => endpoint).set(0.0);
    metrics::counter!("groundline_connections_refused_total", "door" => endpoint).increment(0);
    for reason in ["header", "idle", "write", "tls"] {
        reaped(endpoint, reason, 0);
    }
}

fn reaped(endpoint: &'static str, reason: &'static str, by: u64) {
    metrics::counter!("groundline_connections_reaped_total", "door" => endpoint, "reason" => reason)
        .increment(by);
}

/// No waiting for full packets, and a peer that is gone is noticed.
pub fn tune(socket: &TcpStream) {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 4);
    let tuned = socket.set_nodelay(true).and_then(|()| SockRef::from(socket).set_tcp_keepalive(&keepalive));
    if let Err(error) = tuned {
        tracing::debug!(%error, "a socket could not be tuned");
    }
}

/// In a request's extensions: the address at the other end of its connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

async fn converse(socket: TcpStream, endpoint: Arc<Endpoint>) {
    tune(&socket);
    let peer = socket.peer_addr().ok().map(|address| Peer(address.ip()));
    let Some(tls) = &endpoint.tls else { return exchange(socket, peer, &endpoint).await };
    let shaken = tokio::select! {
        () = endpoint.stop.cancelled() => return,
        shaken = timeout(endpoint.limits.patience.header, tls.http().accept(socket)) => shaken,
    };
    match shaken {
        Ok(Ok(stream)) => exchange(stream, peer, &endpoint).await,
        Ok(Err(error)) => {
            reaped(endpoint.name, "tls", 1);
            tracing::debug!(%error, endpoint = endpoint.name, "no TLS");
        }
        Err(_) => reaped(endpoint.name, "header", 1),
    }
}

/// Serves one connection until it ends, is idle for too long, or does too little.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: Option<Peer>,
    endpoint: &Endpoint,
) {
    let pulse = Pulse::new();
    let (router, pace, asked) =
        (TowerToHyperService::new(endpoint.router.clone()), endpoint.limits.pace, pulse.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let asked = Asked::begin(&asked);
        let mut request = request.map(|body| Body::new(Paced::new(body, pace)));
        if let Some(peer) = peer {
            request.extensions_mut().insert(peer);
        }
        let answer = router.call(request);
        async move { Ok::<_, Infallible>(answer.await?.map(|body| Answer::new(body, asked))) }
    });
    let builder = builder(&endpoint.limits);
    let io = TokioIo::new(Noted::new(stream, pulse.clone()));
    let mut connection = pin!(builder.serve_connection(io, service));
    let (mut stopping, mut farewell) = (false, false);
    let mut next = Duration::ZERO;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, endpoint = endpoint.name, "connection ended");
                }
                return;
            }
            () = endpoint.stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = sleep(next) => match pulse.verdict(&endpoint.limits.patience) {
                Verdict::Fine(wait) => next = wait.max(Duration::from_millis(1)),
                Verdict::Idle if !farewell => {
                    farewell = true;
                    reaped(endpoint.name, "idle", 1);
                    connection.as_mut().graceful_shutdown();
                    next = FAREWELL;
                }
                Verdict::Idle => return,
                Verdict::Slow(what) => return reaped(endpoint.name, what, 1),
            },
        }
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // Its own timeout would also end connections that wait for their next request.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(limits.max_streams)
        .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    builder
}
