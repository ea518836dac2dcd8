//! Sends answers as the client reads them, until they end or the client cancels.

use super::copy::{Copy, CopyRows};
use super::rows::error;
use futures::{Sink, SinkExt, StreamExt, channel::oneshot};
use pgwire::api::results::{FieldInfo, QueryResponse, Response, Tag};
use pgwire::api::{ClientInfo, ConnectionHandle};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::copy::{CopyData, CopyDone, CopyOutResponse};
use pgwire::messages::data::{FieldDescription, RowDescription};
use pgwire::messages::extendedquery::PortalSuspended;
use pgwire::messages::response::EmptyQueryResponse;
use std::fmt::Debug;
use std::sync::Arc;

/// The answer to one statement.
pub enum Reply {
    /// Rows, or only a tag.
    Plain(Response),
    /// Rows in the form of COPY.
    Copy(Arc<Copy>, QueryResponse),
}

/// A request to cancel what the connection does now.
pub struct Cancelled(oneshot::Receiver<()>);

impl Cancelled {
    /// From now on such a request ends what waits for [`Cancelled::or`].
    ///
    /// # Errors
    /// If the connection is not logged in.
    pub async fn listen<C: ClientInfo>(client: &C) -> PgWireResult<Self> {
        let handle = client.session_extensions().get::<Arc<ConnectionHandle>>();
        let handle = handle.ok_or_else(|| error("28000", "the connection is not logged in".to_owned()))?;
        Ok(Self(handle.start_query().await))
    }

    /// Waits for `work`, or for the request.
    ///
    /// # Errors
    /// If it is cancelled, which drops `work`.
    pub async fn or<T>(&mut self, work: impl Future<Output = T>) -> PgWireResult<T> {
        tokio::select! {
            biased;
            _ = &mut self.0 => Err(PgWireError::QueryCanceled),
            done = work => Ok(done),
        }
    }
}

/// Sends the answer to a statement of the simple protocol, with the columns of its rows.
///
/// # Errors
/// The error that the rows end with, which may come after some of them.
pub async fn reply<C>(client: &mut C, reply: Reply, cancelled: &mut Cancelled) -> PgWireResult<()>
where
    C: ClientInfo + Sink<PgWireBackendMessage> + Unpin,
    C::Error: Debug,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    match reply {
        Reply::Copy(how, rows) => copy(client, &how, rows, cancelled).await,
        Reply::Plain(Response::Query(mut found)) => {
            columns(client, &found.row_schema()).await?;
            rows(client, &mut found, 0, cancelled).await.map(|_| ())
        }
        Reply::Plain(Response::EmptyQuery) => {
            Ok(client.feed(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new())).await?)
        }
        Reply::Plain(Response::Execution(tag)) => complete(client, tag).await,
        Reply::Plain(Response::TransactionStart(tag)) => {
            let status = client.transaction_status().to_in_transaction_state();
            client.set_transaction_status(status);
            complete(client, tag).await
        }
        Reply::Plain(Response::TransactionEnd(tag)) => {
            let status = client.transaction_status().to_idle_state();
            client.set_transaction_status(status);
            complete(client, tag).await
        }
        Reply::Plain(other) => Err(error("XX000", format!("no way to send {other:?}"))),
    }
}

async fn complete<C>(client: &mut C, tag: Tag) -> PgWireResult<()>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    Ok(client.feed(PgWireBackendMessage::CommandComplete(tag.into())).await?)
}

async fn columns<C>(client: &mut C, fields: &[FieldInfo]) -> PgWireResult<()>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    let described = RowDescription::new(fields.iter().map(FieldDescription::from).collect());
    Ok(client.feed(PgWireBackendMessage::RowDescription(described)).await?)
}

/// Sends at most `max_rows` rows, 0 is all; says whether there may be more.
///
/// # Errors
/// The error that the rows end with, which may come after some of them.
pub async fn rows<C>(
    client: &mut C,
    found: &mut QueryResponse,
    max_rows: usize,
    cancelled: &mut Cancelled,
) -> PgWireResult<bool>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    let mut sent = 0;
    while max_rows == 0 || sent < max_rows {
        let Some(row) = cancelled.or(found.data_rows().next()).await? else {
            let tag = Tag::new(found.command_tag()).with_rows(sent);
            complete(client, tag).await?;
            return Ok(false);
        };
        client.feed(PgWireBackendMessage::DataRow(row?)).await?;
        sent += 1;
    }
    client.feed(PgWireBackendMessage::PortalSuspended(PortalSuspended::new())).await?;
    Ok(true)
}

/// Sends rows in the form of COPY.
///
/// # Errors
/// The error that the rows end with, which may come after some of them.
pub async fn copy<C>(
    client: &mut C,
    how: &Copy,
    mut found: QueryResponse,
    cancelled: &mut Cancelled,
) -> PgWireResult<()>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    let fields = found.row_schema();
    let mut encoder = CopyRows::new(how, &fields)?;
    let (format, count) = (how.code(), i16::try_from(fields.len()).unwrap_or(i16::MAX));
    let response = CopyOutResponse::new(format, count, vec![i16::from(format); fields.len()]);
    client.feed(PgWireBackendMessage::CopyOutResponse(response)).await?;
    if let Some(head) = encoder.head(&fields) {
        client.feed(PgWireBackendMessage::CopyData(CopyData::new(head))).await?;
    }
    let mut sent = 0;
    while let Some(row) = cancelled.or(found.data_rows().next()).await? {
        let line = encoder.row(&row?)?;
        client.feed(PgWireBackendMessage::CopyData(CopyData::new(line))).await?;
        sent += 1;
    }
    if let Some(tail) = encoder.tail() {
        client.feed(PgWireBackendMessage::CopyData(CopyData::new(tail))).await?;
    }
    client.feed(PgWireBackendMessage::CopyDone(CopyDone::new())).await?;
    complete(client, Tag::new("COPY").with_rows(sent)).await
}
