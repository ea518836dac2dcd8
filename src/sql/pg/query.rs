//! The extended query protocol, and how every statement is run.

use super::auth;
use super::cursors::{self, Declared, Fetch, Reading};
use super::lists;
use super::moments;
use super::parser::{Parser, parameters, wire_types};
use super::portals;
use super::prepared::{Command, Prepared};
use super::rows::{error, respond, wire_error};
use super::send::{self, Cancelled, Reply};
use super::session;
use super::transactions;
use crate::net::Access;
use crate::sql::SqlError;
use crate::sql::context::{Sql, Work};
use arrow::datatypes::DataType;
use async_trait::async_trait;
use datafusion::logical_expr::LogicalPlan;
use datafusion_postgres::arrow_pg::datatypes::df;
use futures::{Sink, SinkExt};
use pgwire::api::portal::{Format, Portal, PortalExecutionState};
use pgwire::api::query::{ExtendedQueryHandler, send_describe_response};
use pgwire::api::results::{DescribePortalResponse, DescribeStatementResponse, QueryResponse, Response, Tag};
use pgwire::api::stmt::StoredStatement;
use pgwire::api::store::{Entry, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, PgWireConnectionState, Type};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::extendedquery::{
    Bind, BindComplete, Close, CloseComplete, Describe, Execute, Parse, ParseComplete, Sync as EndOfSeries,
    TARGET_TYPE_BYTE_PORTAL,
};
use pgwire::messages::response::{ReadyForQuery, TransactionStatus};
use pgwire::types::format::FormatOptions;
use std::fmt::Debug;
use std::sync::Arc;

/// The name of this endpoint in the metrics.
const ENDPOINT: &str = "pg";

/// Answers queries on every connection.
pub struct Queries {
    sql: Arc<Sql>,
    access: Access,
    parser: Arc<Parser>,
}

impl Queries {
    /// Answers from `sql`, each connection with the rows that its token may see now.
    pub fn new(sql: Arc<Sql>, access: Access) -> Self {
        let parser = Arc::new(Parser::new(sql.clone(), access.clone()));
        Self { sql, access, parser }
    }

    /// The text of queries as statements.
    pub fn parser(&self) -> &Parser {
        &self.parser
    }

    /// Whether the connection is logged in: the library goes on reading after a login that failed.
    ///
    /// # Errors
    /// If it is not, or its token was taken away.
    pub fn check<C: ClientInfo>(&self, client: &C) -> PgWireResult<()> {
        auth::scope(client, &self.access).map(|_| ())
    }

    async fn run<C: ClientInfo>(
        &self,
        client: &C,
        work: Work,
        format: &Format,
    ) -> PgWireResult<QueryResponse> {
        let scope = auth::scope(client, &self.access)?;
        let snapshots = transactions::snapshots(client, &scope)?;
        let rows = self.sql.run_in(ENDPOINT, &scope, work, session::timeout(client), snapshots).await;
        let rows = rows.map_err(|why| wire_error(&why))?;
        respond(rows, format, options(client)).await
    }

    /// Begins what `command` asks for; `bound` is its plan, if it was planned before.
    ///
    /// # Errors
    /// Whatever comes before the first row.
    pub async fn begin<C>(
        &self,
        client: &mut C,
        command: &Command,
        bound: Option<LogicalPlan>,
        format: &Format,
    ) -> PgWireResult<Reply>
    where
        C: ClientInfo + ClientPortalStore,
        C::PortalStore: PortalStore,
    {
        if client.transaction_status() == TransactionStatus::Error && !command.ends_transaction() {
            let why = "current transaction is aborted, commands ignored until end of transaction block";
            return Err(error("25P02", why.to_owned()));
        }
        let reply = match command {
            Command::Control(statement) => {
                portals::release(client, statement);
                session::respond(client, statement)?
            }
            Command::Copy(copy) => {
                let work = Work::Parsed(Box::new(copy.query.clone()));
                let rows = self.run(client, work, &copy.format()).await?;
                return Ok(Reply::Copy(copy.clone(), rows));
            }
            Command::Declare(declared) => Box::pin(self.declare(client, declared, bound)).await?,
            Command::Explain(explained) => explained.respond(client, format)?,
            Command::Prepare(named) => {
                named.keep(client)?;
                Response::Execution(Tag::new("PREPARE"))
            }
            Command::Fetch(fetch) if fetch.is_move => {
                let passed = match self.pass_portal(client, fetch).await? {
                    Some(passed) => passed,
                    None => cursors::pass(self.reading(client, fetch).await?, fetch).await?,
                };
                Response::Execution(Tag::new("MOVE").with_rows(passed))
            }
            Command::Fetch(fetch) => {
                let reading = self.reading(client, fetch).await?;
                Response::Query(cursors::next(reading, fetch, format, options(client))?)
            }
            Command::Query(statement) => {
                let work = bound.map_or_else(|| Work::Parsed(statement.clone()), |p| Work::Plan(Box::new(p)));
                Response::Query(self.run(client, work, format).await?)
            }
        };
        Ok(Reply::Plain(reply))
    }

    async fn declare<C: ClientInfo>(
        &self,
        client: &C,
        declared: &Declared,
        bound: Option<LogicalPlan>,
    ) -> PgWireResult<Response> {
        let plan = match bound {
            Some(plan) => plan,
            None => self.sql.prepare(declared.query.clone()).await.map_err(|why| wire_error(&why))?,
        };
        cursors::declare(client, declared, plan)?;
        Ok(Response::Execution(Tag::new("DECLARE CURSOR")))
    }

    /// The rows of the cursor that `fetch` names, begun.
    async fn reading<C: ClientInfo>(&self, client: &C, fetch: &Fetch) -> PgWireResult<Reading> {
        // Asked again each time: the token may have been taken away since.
        let scope = auth::scope(client, &self.access)?;
        let mut reading = cursors::reading(client, fetch).await?;
        let timeout = session::timeout(client);
        let snapshots = transactions::snapshots(client, &scope)?;
        let begin = |plan| async {
            let work = Work::Plan(Box::new(plan));
            self.sql.run_in(ENDPOINT, &scope, work, timeout, snapshots).await
        };
        cursors::start(&mut reading.rows, begin).await?;
        Ok(reading)
    }

    /// Passes over rows of the portal that `fetch` names, and says how many there were; none if there is no such portal.
    async fn pass_portal<C>(&self, client: &C, fetch: &Fetch) -> PgWireResult<Option<usize>>
    where
        C: ClientInfo + ClientPortalStore,
        C::PortalStore: PortalStore,
    {
        let Some(portal) = portals::of_query(client, &fetch.name) else { return Ok(None) };
        let state = portal.state();
        let mut state = state.lock().await;
        if matches!(*state, PortalExecutionState::Initial) {
            let Some(plan) = bound(&portal)? else { return Ok(None) };
            let work = Work::Plan(Box::new(plan));
            *state =
                PortalExecutionState::Suspended(self.run(client, work, &portal.result_column_format).await?);
        }
        portals::pass(&mut state, fetch.most()).await.map(Some)
    }

    /// Executes what has no portal of rows: it begins and ends with one message.
    async fn execute_once<C>(&self, client: &mut C, portal: &Portal<Prepared>) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if !matches!(client.state(), PgWireConnectionState::ReadyForQuery) {
            return Err(PgWireError::NotReadyForQuery);
        }
        client.set_state(PgWireConnectionState::QueryInProgress);
        let mut cancelled = Cancelled::listen(client).await?;
        let plan = bound(portal)?;
        let command = &portal.statement.statement.command;
        let work = Box::pin(self.begin(client, command, plan, &portal.result_column_format));
        match cancelled.or(work).await?? {
            // The columns were described before.
            Reply::Plain(Response::Query(mut found)) => {
                send::rows(client, &mut found, 0, &mut cancelled).await?;
            }
            reply => send::reply(client, reply, &mut cancelled).await?,
        }
        client.set_state(PgWireConnectionState::ReadyForQuery);
        Ok(())
    }
}

fn options<C: ClientInfo>(client: &C) -> Arc<FormatOptions> {
    Arc::new(FormatOptions::from_client_metadata(client.metadata()))
}

/// The plan of a portal's statement with the values of its parameters.
fn bound(portal: &Portal<Prepared>) -> PgWireResult<Option<LogicalPlan>> {
    let Some(plan) = &portal.statement.statement.plan else { return Ok(None) };
    let types = parameters(plan)?;
    let inferred: Vec<Option<&DataType>> = types.iter().map(Option::as_ref).collect();
    let mut wire = wire_types(&types)?;
    for (data_type, value) in wire.iter_mut().zip(&portal.parameters) {
        // The library leaves out a NULL whose type nobody tells, and what comes behind it would take its place; of an object
        // of JSON it makes a list.
        if *data_type == Type::UNKNOWN && value.as_ref().is_none_or(|value| lists::is_object(value)) {
            *data_type = Type::TEXT;
        }
    }
    let wire: Vec<Option<&Type>> = wire.iter().map(Some).collect();
    let values = df::deserialize_parameters_with_server_types(portal, &inferred, &wire)?;
    let values = moments::reach(portal, plan, values)?;
    let plan = plan.as_ref().clone().replace_params_with_values(&values);
    plan.map(Some).map_err(|why| wire_error(&SqlError::from(why)))
}

#[async_trait]
impl ExtendedQueryHandler for Queries {
    type Statement = Prepared;
    type QueryParser = Parser;

    fn query_parser(&self) -> Arc<Parser> {
        self.parser.clone()
    }

    async fn on_parse<C>(&self, client: &mut C, mut message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        self.check(client)?;
        lists::open_unknown(&mut message.type_oids);
        portals::parse(client, &message, self.parser.clone()).await?;
        Ok(client.send(PgWireBackendMessage::ParseComplete(ParseComplete::new())).await?)
    }

    async fn on_bind<C>(&self, client: &mut C, mut message: Bind) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.statement_name.as_deref().unwrap_or(DEFAULT_NAME);
        if let Some(Entry::Value(statement)) = client.portal_store().get_statement(name) {
            let types = portals::parameter_types(&statement, &self.parser)?;
            lists::tighten(&mut message, &types);
            lists::without_version(&mut message, &types);
            lists::spell_uuids(&mut message, &types);
        }
        portals::bind(client, &message)?;
        Ok(client.send(PgWireBackendMessage::BindComplete(BindComplete::new())).await?)
    }

    async fn on_close<C>(&self, client: &mut C, message: Close) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        portals::close(client, &message);
        Ok(client.send(PgWireBackendMessage::CloseComplete(CloseComplete::new())).await?)
    }

    async fn on_sync<C>(&self, client: &mut C, _: EndOfSeries) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        portals::end_series(client);
        session::end_series(client);
        let ready = ReadyForQuery::new(client.transaction_status());
        Ok(client.send(PgWireBackendMessage::ReadyForQuery(ready)).await?)
    }

    async fn on_execute<C>(&self, client: &mut C, mut message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        message.max_rows = rows_asked(message.max_rows, self.sql.config().max_rows);
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        match client.portal_store().get_portal(name) {
            Some(Entry::Value(portal)) => match portal.statement.statement.command {
                Command::Query(_) => {
                    let max_rows = usize::try_from(message.max_rows).unwrap_or(0);
                    portals::execute(self, client, &portal, max_rows).await
                }
                _ => self.execute_once(client, &portal).await,
            },
            _ => self._on_execute(client, message).await,
        }
    }

    async fn on_describe<C>(&self, client: &mut C, message: Describe) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if message.target_type == TARGET_TYPE_BYTE_PORTAL
            && let Some(name) = &message.name
            && let Some(fields) = cursors::columns(client, name, &Format::UnifiedText)?
        {
            // A cursor is a portal to those who ask.
            return send_describe_response(client, &DescribePortalResponse::new(fields)).await;
        }
        self._on_describe(client, message).await
    }

    async fn do_describe_statement<C>(
        &self,
        client: &mut C,
        target: &StoredStatement<Prepared>,
    ) -> PgWireResult<DescribeStatementResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        portals::describe_statement(client, target, &self.parser)
    }

    async fn do_describe_portal<C>(
        &self,
        client: &mut C,
        target: &Portal<Prepared>,
    ) -> PgWireResult<DescribePortalResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        portals::describe(client, target, &self.parser)
    }

    async fn do_query<C>(
        &self,
        client: &mut C,
        portal: &Portal<Prepared>,
        _max_rows: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let command = &portal.statement.statement.command;
        let begun = Box::pin(self.begin(client, command, bound(portal)?, &portal.result_column_format));
        match begun.await? {
            Reply::Plain(response) => Ok(response),
            Reply::Copy(..) => Err(error("XX000", "a copy has no portal".to_owned())),
        }
    }
}

/// How many rows a client gets at a time; 0 is all. No result has more than `most`, and the library makes room for as many
/// as were asked for.
fn rows_asked(asked: i32, most: u64) -> i32 {
    if u64::try_from(asked).is_ok_and(|asked| asked <= most) { asked } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::rows_asked;

    #[test]
    fn more_rows_than_a_result_can_have_are_all() {
        assert_eq!([-1, 0, 1, 1000, 1001, i32::MAX].map(|n| rows_asked(n, 1000)), [0, 0, 1, 1000, 0, 0]);
    }
}
