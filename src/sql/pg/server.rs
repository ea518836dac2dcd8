//! Accepts connections up to a cap, and closes them on shutdown.

use super::auth::{PgAuth, Startup};
use super::query::Queries;
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
use tokio_util::sync::CancellationToken;

/// Pause after a connection could not be accepted, which mostly means that file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the PostgreSQL wire protocol on `listener` until `shutdown`.
///
/// With [`PgAuth::Trust`] the caller guarantees that `listener` is bound to the loopback. At most `max_connections` are open;
/// one more is closed at once. When the call returns, every connection is closed.
pub async fn serve(listener: TcpListener, sql: Arc<Sql>, auth: PgAuth, shutdown: CancellationToken) {
    let most = sql.config().max_connections;
    let connections = Arc::new(ConnectionManager::new());
    let handlers = Arc::new(Handlers {
        queries: Arc::new(Queries::new(sql)),
        startup: Arc::new(Startup::new(auth, connections.clone())),
        cancel: Arc::new(DefaultCancelHandler::new(connections)),
    });
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = open.join_next(), if !open.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) if open.len() < most => {
                    open.spawn(converse(socket, handlers.clone(), shutdown.clone()));
                }
                Ok((_, peer)) => tracing::warn!(%peer, most, "connection refused: sql.max_connections are open"),
                Err(error) => {
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    while open.join_next().await.is_some() {}
}

async fn converse(socket: TcpStream, handlers: Arc<Handlers>, shutdown: CancellationToken) {
    tokio::select! {
        () = shutdown.cancelled() => {}
        done = process_socket(socket, None, handlers) => {
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
