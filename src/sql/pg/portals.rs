//! What a connection keeps by name: prepared statements, and portals with their rows.
//!
//! The library's store takes any number of names, and its `Execute` collects the rows before it sends the first.

use super::cursors;
use super::kept::kept;
use super::named;
use super::parser::Parser;
use super::prepared::{Command, Prepared};
use super::rows::error;
use super::send::{self, Cancelled};
use bytes::Bytes;
use datafusion::sql::sqlparser::ast::{CloseCursor, DiscardObject, Ident, Statement};
use futures::{Sink, SinkExt, StreamExt};
use pgwire::api::portal::{Format, Portal, PortalExecutionState};
use pgwire::api::query::ExtendedQueryHandler;
use pgwire::api::results::{DescribePortalResponse, DescribeStatementResponse, FieldInfo, Response, Tag};
use pgwire::api::stmt::{QueryParser, StoredStatement};
use pgwire::api::store::{Entry, MemPortalStore, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, PgWireConnectionState, Type};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::extendedquery::{
    Bind, Close, Parse, TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::response::TransactionStatus;
use std::fmt::Debug;
use std::sync::Arc;

/// Keeps the statement of `message` under its name.
///
/// # Errors
/// If the connection keeps too many, or the statement is wrong.
pub async fn parse<C, Q>(client: &C, message: &Parse, parser: Q) -> PgWireResult<()>
where
    C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
    C::PortalStore: PortalStore<Statement = Q::Statement>,
    Q: QueryParser,
{
    let name = message.name.as_deref();
    kept(client).statements.check(name, message.query.len())?;
    match StoredStatement::parse(client, message, parser).await? {
        Some(statement) => client.portal_store().put_statement(Arc::new(statement)),
        None => client.portal_store().put_empty_statement(name.unwrap_or(DEFAULT_NAME)),
    }
    kept(client).statements.take(name, message.query.len());
    Ok(())
}

/// Keeps the portal of `message` under its name.
///
/// # Errors
/// If the connection keeps too many, or there is no such statement.
pub fn bind<C>(client: &C, message: &Bind) -> PgWireResult<()>
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore<Statement = Prepared>,
{
    let name = message.portal_name.as_deref();
    let bytes: usize = message.parameters.iter().flatten().map(Bytes::len).sum();
    kept(client).portals.check(name, bytes)?;
    let of = message.statement_name.as_deref().unwrap_or(DEFAULT_NAME);
    match client.portal_store().get_statement(of) {
        Some(Entry::Value(statement)) => {
            let portal = Portal::try_new(message, as_texts(statement))?;
            client.portal_store().put_portal(Arc::new(portal));
        }
        Some(Entry::Empty) if message.parameters.is_empty() => {
            client.portal_store().put_empty_portal(name.unwrap_or(DEFAULT_NAME));
        }
        Some(Entry::Empty) => {
            return Err(error("08P01", "an empty statement has no parameters".to_owned()));
        }
        None => return Err(PgWireError::StatementNotFound(of.to_owned())),
    }
    kept(client).portals.take(name, bytes);
    Ok(())
}

/// The statement with text for parameters that were declared as JSON or as UUIDs, which the library does not read.
fn as_texts(statement: Arc<StoredStatement<Prepared>>) -> Arc<StoredStatement<Prepared>> {
    let is_text = |data_type: &Option<Type>| {
        data_type.as_ref().is_some_and(|t| [Type::JSON, Type::JSONB, Type::UUID].contains(t))
    };
    if !statement.parameter_types.iter().any(is_text) {
        return statement;
    }
    let types = statement.parameter_types.iter();
    let types = types.map(|t| if is_text(t) { Some(Type::TEXT) } else { t.clone() }).collect();
    Arc::new(StoredStatement::new(statement.id.clone(), statement.statement.clone(), types))
}

/// Drops what `message` names.
pub fn close<C>(client: &C, message: &Close)
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore,
{
    let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
    match message.target_type {
        TARGET_TYPE_BYTE_STATEMENT => drop_statement(client, name),
        TARGET_TYPE_BYTE_PORTAL => {
            client.portal_store().rm_portal(name);
            kept(client).portals.free(name);
        }
        _ => {}
    }
}

/// Drops what `statement` says that the client needs no more.
pub fn release<C>(client: &C, statement: &Statement)
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore,
{
    match statement {
        Statement::Deallocate { name, .. } if is_all(name) => drop_statements(client),
        Statement::Deallocate { name, .. } if name.quote_style.is_none() => {
            drop_statement(client, &name.value.to_lowercase());
        }
        Statement::Deallocate { name, .. } => drop_statement(client, &name.value),
        Statement::Discard { object_type: DiscardObject::ALL } => {
            drop_statements(client);
            drop_portals(client);
            // None is left, so none is missing.
            let _ = cursors::close(client, &CloseCursor::All);
        }
        Statement::Commit { .. } | Statement::Rollback { savepoint: None, .. } => {
            drop_portals(client);
            cursors::end_transaction(client);
        }
        _ => {}
    }
}

/// Drops the portals that end with a series of messages: a named one lives as long as its transaction.
pub fn end_series<C>(client: &C)
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore,
{
    client.portal_store().rm_portal(DEFAULT_NAME);
    if client.transaction_status() == TransactionStatus::Idle {
        drop_portals(client);
    }
}

fn is_all(name: &Ident) -> bool {
    name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all")
}

fn drop_statement<C>(client: &C, name: &str)
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore,
{
    client.portal_store().rm_statement(name);
    kept(client).statements.free(name);
    named::forget(client, name);
}

fn drop_statements<C>(client: &C)
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore,
{
    for name in kept(client).statements.free_all().into_keys() {
        client.portal_store().rm_statement(&name);
    }
    named::forget_all(client);
}

fn drop_portals<C>(client: &C)
where
    C: ClientInfo + ClientPortalStore,
    C::PortalStore: PortalStore,
{
    client.portal_store().clear_portals();
    kept(client).portals.free_all();
}

/// Runs the query of `portal` if it has not begun, and sends at most `max_rows` of its rows as the client reads them; 0 is
/// all.
///
/// # Errors
/// The error that the query ends with, which may come after some rows.
pub async fn execute<H, C>(
    handler: &H,
    client: &mut C,
    portal: &Portal<H::Statement>,
    max_rows: usize,
) -> PgWireResult<()>
where
    H: ExtendedQueryHandler,
    C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
    C::PortalStore: PortalStore<Statement = H::Statement>,
    C::Error: Debug,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    if !matches!(client.state(), PgWireConnectionState::ReadyForQuery) {
        return Err(PgWireError::NotReadyForQuery);
    }
    client.set_state(PgWireConnectionState::QueryInProgress);
    let state = portal.state();
    let mut state = state.lock().await;
    let mut cancelled = Cancelled::listen(client).await?;
    if matches!(*state, PortalExecutionState::Initial) {
        let answer = cancelled.or(handler.do_query(client, portal, max_rows)).await??;
        let Response::Query(rows) = answer else {
            return Err(error("XX000", "the query has no rows to send".to_owned()));
        };
        *state = PortalExecutionState::Suspended(rows);
    }
    let sent = match &mut *state {
        PortalExecutionState::Suspended(rows) => send::rows(client, rows, max_rows, &mut cancelled).await,
        PortalExecutionState::Initial | PortalExecutionState::Finished => {
            let none = Tag::new("SELECT").with_rows(0);
            client.send(PgWireBackendMessage::CommandComplete(none.into())).await?;
            Ok(false)
        }
    };
    // A stream that has ended, or failed, gives its place and its batches back at once.
    if !matches!(sent, Ok(true)) {
        *state = PortalExecutionState::Finished;
    }
    sent?;
    client.set_state(PgWireConnectionState::ReadyForQuery);
    Ok(())
}

/// The portal `name`, if the connection has one of a query.
pub fn of_query<C>(client: &C, name: &str) -> Option<Arc<Portal<Prepared>>>
where
    C: ClientPortalStore,
    C::PortalStore: PortalStore,
{
    // Where simple queries are answered, the library does not say what its store holds.
    let store = client.portal_store().as_any().downcast_ref::<MemPortalStore<Prepared>>()?;
    match store.get_portal(name)? {
        Entry::Value(portal) if matches!(portal.statement.statement.command, Command::Query(_)) => {
            Some(portal)
        }
        _ => None,
    }
}

/// Passes over at most `most` rows of a portal that has begun, and says how many there were.
///
/// # Errors
/// The error that the query ends with.
pub async fn pass(state: &mut PortalExecutionState, most: usize) -> PgWireResult<usize> {
    let PortalExecutionState::Suspended(rows) = state else { return Ok(0) };
    for passed in 0..most {
        let row = rows.data_rows().next().await;
        if !matches!(row, Some(Ok(_))) {
            *state = PortalExecutionState::Finished;
            return row.transpose().map(|_| passed);
        }
    }
    Ok(most)
}

/// The types of a statement's parameters: what the client said, or what the plan tells.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn parameter_types(target: &StoredStatement<Prepared>, parser: &Parser) -> PgWireResult<Vec<Type>> {
    let known = parser.get_parameter_types(&target.statement)?;
    let told = &target.parameter_types;
    let parameters = (0..known.len().max(told.len())).map(|at| {
        let told = told.get(at).cloned().flatten();
        told.or_else(|| known.get(at).cloned()).unwrap_or(Type::UNKNOWN)
    });
    Ok(parameters.collect())
}

/// The parameters and columns of a statement.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn describe_statement<C: ClientInfo>(
    client: &C,
    target: &StoredStatement<Prepared>,
    parser: &Parser,
) -> PgWireResult<DescribeStatementResponse> {
    let fields = columns(client, &target.statement, parser, &Format::UnifiedText)?;
    Ok(DescribeStatementResponse::new(parameter_types(target, parser)?, fields))
}

/// The columns of a portal.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn describe<C: ClientInfo>(
    client: &C,
    target: &Portal<Prepared>,
    parser: &Parser,
) -> PgWireResult<DescribePortalResponse> {
    let fields = columns(client, &target.statement.statement, parser, &target.result_column_format)?;
    Ok(DescribePortalResponse::new(fields))
}

fn columns<C: ClientInfo>(
    client: &C,
    statement: &Prepared,
    parser: &Parser,
    format: &Format,
) -> PgWireResult<Vec<FieldInfo>> {
    if let Command::Fetch(fetch) = &statement.command
        && !fetch.is_move
    {
        return Ok(cursors::columns(client, &fetch.name, format)?.unwrap_or_default());
    }
    parser.get_result_schema(statement, Some(format))
}

#[cfg(test)]
mod tests {
    use super::super::kept::{MAX_PORTALS, MAX_STATEMENTS, MAX_TEXT, MAX_VALUES};
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser as SqlParser;
    use pgwire::api::DefaultClient;

    fn client() -> DefaultClient<Prepared> {
        DefaultClient::new(([127, 0, 0, 1], 5432).into(), false)
    }

    /// As many empty statements and portals as may be.
    fn full() -> DefaultClient<Prepared> {
        let client = client();
        for at in 0..MAX_STATEMENTS {
            let name = format!("s{at}");
            client.portal_store().put_empty_statement(&name);
            kept(&client).statements.take(Some(&name), 1);
        }
        for at in 0..MAX_PORTALS {
            bind(&client, &bound(Some(&format!("p{at}")), &format!("s{at}"))).expect("room");
        }
        client
    }

    fn bound(portal: Option<&str>, statement: &str) -> Bind {
        Bind::new(portal.map(str::to_owned), Some(statement.to_owned()), vec![], vec![], vec![])
    }

    fn room(client: &DefaultClient<Prepared>) -> (bool, bool) {
        let kept = kept(client);
        (kept.statements.check(Some("new"), 1).is_ok(), kept.portals.check(Some("new"), 1).is_ok())
    }

    fn after(sql: &str) -> DefaultClient<Prepared> {
        let client = full();
        let statements = SqlParser::parse_sql(&PostgreSqlDialect {}, sql).expect(sql);
        release(&client, &statements[0]);
        client
    }

    #[test]
    fn names_are_bounded() {
        let client = full();
        assert_eq!(room(&client), (false, false));
        match bind(&client, &bound(Some("new"), "s0")) {
            Err(PgWireError::UserError(why)) => assert_eq!(why.code, "53400"),
            other => panic!("{other:?}"),
        }
        assert!(bind(&client, &bound(Some("p0"), "s1")).is_ok(), "a name that is used again takes no place");
        assert!(bind(&client, &bound(None, "s1")).is_ok(), "nor does the unnamed portal");
        assert!(kept(&client).statements.check(None, MAX_TEXT).is_ok(), "nor the unnamed statement");
        close(&client, &Close::new(TARGET_TYPE_BYTE_PORTAL, Some("p7".to_owned())));
        assert_eq!(room(&client), (false, true));
        close(&client, &Close::new(TARGET_TYPE_BYTE_STATEMENT, Some("s7".to_owned())));
        assert_eq!(room(&client), (true, true));
        assert!(client.portal_store().get_statement("s7").is_none());
    }

    #[test]
    fn values_are_bounded() {
        let client = client();
        client.portal_store().put_empty_statement("s");
        kept(&client).portals.take(Some("p"), MAX_VALUES);
        let value = Some(Bytes::from_static(b"1"));
        let message = Bind::new(Some("q".to_owned()), Some("s".to_owned()), vec![], vec![value], vec![]);
        match bind(&client, &message) {
            Err(PgWireError::UserError(why)) => assert_eq!(why.code, "53400"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_name_without_a_statement_takes_no_place() {
        let client = client();
        assert!(bind(&client, &bound(Some("p"), "missing")).is_err());
        assert!(kept(&client).portals.free_all().is_empty());
    }

    #[test]
    fn statements_about_names_free_places() {
        assert_eq!(room(&after("DEALLOCATE S3")), (true, false));
        assert!(after("DEALLOCATE S3").portal_store().get_statement("s3").is_none());
        assert_eq!(room(&after("DEALLOCATE \"S3\"")), (false, false));
        assert_eq!(room(&after("DEALLOCATE PREPARE \"s3\"")), (true, false));
        assert_eq!(room(&after("DEALLOCATE ALL")), (true, false));
        assert_eq!(room(&after("DISCARD ALL")), (true, true));
        assert_eq!(room(&after("COMMIT")), (false, true));
        assert_eq!(room(&after("ROLLBACK")), (false, true));
    }

    #[test]
    fn portals_end_with_their_transaction() {
        let mut client = full();
        client.set_transaction_status(TransactionStatus::Transaction);
        end_series(&client);
        assert_eq!(room(&client), (false, false));
        client.set_transaction_status(TransactionStatus::Idle);
        end_series(&client);
        assert_eq!(room(&client), (false, true));
        assert!(client.portal_store().get_portal("p0").is_none());
    }
}
