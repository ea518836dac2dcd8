//! Accepts connections up to a cap, and closes them on shutdown.

use super::auth::{Encrypted, Startup};
use super::connection::{Handlers, talk};
use super::query::Queries;
use crate::net::{Access, Tls, tune};
use crate::sql::Sql;
use pgwire::api::ConnectionManager;
use pgwire::api::cancel::DefaultCancelHandler;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// Pause after a connection could not be accepted, which mostly means that file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Bytes of a message beside the text of a query: 65,535 parameters of 256 bytes.
const PARAMETERS: usize = 16 << 20;

/// Connections beside `max_connections` that may ask to cancel a query: whoever presses Ctrl-C needs no session.
const BESIDE: usize = 8;

/// The name of this endpoint in the metrics.
const ENDPOINT: &str = "PostgreSQL";

/// Who may connect, and how.
pub struct PgEndpoint {
    /// The tokens; the password is one.
    pub access: Access,
    /// Offered to clients that ask for encryption. With client certificates it is demanded.
    pub tls: Option<Tls>,
    /// Whether tokens may come unencrypted from other machines, because something in front of this port decrypts.
    pub allow_plain: bool,
}

/// Serves the PostgreSQL wire protocol on `listener` until `shutdown`.
///
/// Where there are no tokens the caller guarantees that `listener` is bound to the loopback. At most `max_connections` are
/// open; eight more may ask to cancel a query and are told 53300 when they ask for anything else, and
/// one more than these is closed at once. When the call returns, every connection is closed.
pub async fn serve(listener: TcpListener, sql: Arc<Sql>, endpoint: PgEndpoint, shutdown: CancellationToken) {
    metrics::counter!("groundline_connections_refused_total", "door" => ENDPOINT).increment(0);
    let encrypted = match &endpoint.tls {
        Some(tls) if tls.is_mutual() => Encrypted::Always,
        _ if endpoint.allow_plain => Encrypted::Never,
        _ => Encrypted::FromAfar,
    };
    let tls = endpoint.tls;
    let most = sql.config().max_connections;
    let max_message = sql.config().max_sql_size.in_memory().saturating_add(PARAMETERS);
    let connections = Arc::new(ConnectionManager::new());
    let queries = Arc::new(Queries::new(sql, endpoint.access.clone()));
    let cancel = Arc::new(DefaultCancelHandler::new(connections.clone()));
    let handlers = |refused: CancellationToken, full: Option<metrics::Counter>| {
        let startup = Startup::new(endpoint.access.clone(), encrypted, connections.clone(), refused);
        let (queries, startup, cancel) = (queries.clone(), Arc::new(startup), cancel.clone());
        Arc::new(Handlers { queries, startup, cancel, max_message, full })
    };
    let conversation = |socket: TcpStream, full: Option<metrics::Counter>| {
        tune(&socket);
        let end = shutdown.child_token();
        converse(socket, tls.as_ref().map(Tls::pg), handlers(end.clone(), full), end)
    };
    let (mut open, mut beside) = (JoinSet::new(), JoinSet::new());
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = open.join_next(), if !open.is_empty() => {}
            Some(_) = beside.join_next(), if !beside.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) if open.len() < most => {
                    open.spawn(conversation(socket, None));
                }
                Ok((socket, _)) if beside.len() < BESIDE => {
                    let refused = metrics::counter!("groundline_connections_refused_total", "door" => ENDPOINT);
                    beside.spawn(conversation(socket, Some(refused)));
                }
                Ok((_, peer)) => {
                    metrics::counter!("groundline_connections_refused_total", "door" => ENDPOINT).increment(1);
                    tracing::debug!(%peer, most, "connection refused: sql.max_connections are open");
                }
                Err(error) => {
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
        metrics::gauge!("groundline_connections", "door" => ENDPOINT).set(open.len() as f64);
    }
    while open.join_next().await.is_some() {}
    while beside.join_next().await.is_some() {}
}

async fn converse(
    socket: TcpStream,
    tls: Option<TlsAcceptor>,
    handlers: Arc<Handlers>,
    end: CancellationToken,
) {
    tokio::select! {
        () = end.cancelled() => {}
        done = talk(socket, tls, handlers) => {
            if let Err(error) = done {
                tracing::debug!(%error, "connection ended");
            }
        }
    }
}
