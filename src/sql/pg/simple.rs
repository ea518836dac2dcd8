//! The simple query protocol: statements one after the other, each answered before the next begins.
//!
//! The library has this loop too, but plans every statement of a message before it sends the first row, does not hear a
//! request to cancel while it sends, and ends a failed COPY with a message that clients do not know.

use super::query::Queries;
use super::rows::error;
use super::send::{self, Cancelled, Reply};
use super::session;
use async_trait::async_trait;
use futures::Sink;
use pgwire::api::portal::Format;
use pgwire::api::query::{SimpleQueryHandler, send_ready_for_query};
use pgwire::api::results::Response;
use pgwire::api::store::PortalStore;
use pgwire::api::{ClientInfo, ClientPortalStore, PgWireConnectionState};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::simplequery::Query;
use std::fmt::Debug;

#[async_trait]
impl SimpleQueryHandler for Queries {
    async fn on_query<C>(&self, client: &mut C, query: Query) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let answered = Box::pin(self.answer(client, &query)).await;
        session::end_series(client);
        answered
    }

    async fn do_query<C>(&self, _client: &mut C, _query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        Err(error("XX000", "queries are answered one by one".to_owned()))
    }
}

impl Queries {
    async fn answer<C>(&self, client: &mut C, query: &Query) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if !matches!(client.state(), PgWireConnectionState::ReadyForQuery) {
            return Err(PgWireError::NotReadyForQuery);
        }
        client.set_state(PgWireConnectionState::QueryInProgress);
        self.check(client)?;
        let mut cancelled = Cancelled::listen(client).await?;
        let statements = cancelled.or(self.parser().parse(&query.query)).await??;
        if statements.is_empty() {
            send::reply(client, Reply::Plain(Response::EmptyQuery), &mut cancelled).await?;
        }
        for statement in statements {
            let asked = Box::pin(self.parser().command(&*client, statement));
            let command = cancelled.or(asked).await??;
            let begun = Box::pin(self.begin(client, &command, None, &Format::UnifiedText));
            let reply = cancelled.or(begun).await??;
            send::reply(client, reply, &mut cancelled).await?;
        }
        client.set_state(PgWireConnectionState::ReadyForQuery);
        let status = client.transaction_status();
        send_ready_for_query(client, status).await
    }
}
