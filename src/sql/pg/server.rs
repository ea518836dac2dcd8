//! Accepts connections up to a cap, and closes them on shutdown.

use super::auth::{Encrypted, Startup};
use super::query::Queries;
use crate::net::{Access, Tls, tune};
use crate::sql::Sql;
use pgwire::api::auth::StartupHandler;
use pgwire::api::cancel::{CancelHandler, DefaultCancelHandler};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::{ConnectionManager, PgWireServerHandlers};
use pgwire::tokio::process_socket;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// Pause after a connection could not be accepted, which mostly means that file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The name of this door in the metrics.
const DOOR: &str = "PostgreSQL";

/// Who may connect, and how.
pub struct PgDoor {
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
/// open; one more is closed at once. When the call returns, every connection is closed.
pub async fn serve(listener: TcpListener, sql: Arc<Sql>, door: PgDoor, shutdown: CancellationToken) {
    metrics::counter!("groundline_connections_refused_total", "door" => DOOR).increment(0);
    let encrypted = match &door.tls {
        Some(tls) if tls.is_mutual() => Encrypted::Always,
        _ if door.allow_plain => Encrypted::Never,
        _ => Encrypted::FromAfar,
    };
    let tls = door.tls;
    let most = sql.config().max_connections;
    let connections = Arc::new(ConnectionManager::new());
    let queries = Arc::new(Queries::new(sql, door.access.clone()));
    let cancel = Arc::new(DefaultCancelHandler::new(connections.clone()));
    let handlers = |refused: CancellationToken| {
        let startup = Startup::new(door.access.clone(), encrypted, connections.clone(), refused);
        Arc::new(Handlers { queries: queries.clone(), startup: Arc::new(startup), cancel: cancel.clone() })
    };
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = open.join_next(), if !open.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) if open.len() < most => {
                    tune(&socket);
                    let acceptor = tls.as_ref().map(Tls::pg);
                    let end = shutdown.child_token();
                    open.spawn(converse(socket, acceptor, handlers(end.clone()), end));
                }
                Ok((_, peer)) => {
                    metrics::counter!("groundline_connections_refused_total", "door" => DOOR).increment(1);
                    tracing::debug!(%peer, most, "connection refused: sql.max_connections are open");
                }
                Err(error) => {
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
        metrics::gauge!("groundline_connections", "door" => DOOR).set(open.len() as f64);
    }
    while open.join_next().await.is_some() {}
}

async fn converse(
    socket: TcpStream,
    tls: Option<TlsAcceptor>,
    handlers: Arc<Handlers>,
    end: CancellationToken,
) {
    tokio::select! {
        () = end.cancelled() => {}
        done = process_socket(socket, tls, handlers) => {
            if let Err(error) = done {
                tracing::debug!(%error, "connection ended");
            }
        }
    }
}

struct Handlers {
    queries: Arc<Queries>,
    startup: Arc<Startup>,
    cancel: Arc<DefaultCancelHandler>,
}

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl SimpleQueryHandler> {
        self.queries.clone()
    }

    fn extended_query_handler(&self) -> Arc<impl ExtendedQueryHandler> {
        self.queries.clone()
    }

    fn startup_handler(&self) -> Arc<impl StartupHandler> {
        self.startup.clone()
    }

    fn cancel_handler(&self) -> Arc<impl CancelHandler> {
        self.cancel.clone()
    }
}
