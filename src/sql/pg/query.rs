//! The simple and the extended query protocol.

use super::auth;
use super::portals;
use super::prepared::Prepared;
use super::rows::{error, respond, text_field, wire_error, wire_fields};
use super::session;
use crate::net::Access;
use crate::sql::context::{Sql, Work};
use crate::sql::{SqlError, shape};
use arrow::datatypes::DataType;
use async_trait::async_trait;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_postgres::arrow_pg::datatypes::{df, into_pg_type};
use datafusion_postgres::datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use futures::{Sink, SinkExt};
use pgwire::api::portal::{Format, Portal};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::results::{FieldInfo, Response};
use pgwire::api::stmt::QueryParser;
use pgwire::api::store::{Entry, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, Type};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::extendedquery::{
    Bind, BindComplete, Close, CloseComplete, Execute, Parse, ParseComplete, Sync as EndOfSeries,
};
use pgwire::messages::response::ReadyForQuery;
use pgwire::types::format::FormatOptions;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

/// The name of this door in the metrics.
const DOOR: &str = "pg";

/// Statements that one message may have.
const MAX_STATEMENTS: usize = 100;

/// Answers queries on every connection.
pub struct Queries {
    sql: Arc<Sql>,
    access: Access,
    parser: Arc<Parser>,
}

impl Queries {
    /// Answers from `sql`, each connection with the rows that its token may see now.
    pub fn new(sql: Arc<Sql>, access: Access) -> Self {
        let rewriter = Arc::new(PostgresCompatibilityParser::new());
        let parser = Arc::new(Parser { sql: sql.clone(), rewriter, access: access.clone() });
        Self { sql, access, parser }
    }

    async fn run<C: ClientInfo>(&self, client: &C, work: Work, format: &Format) -> PgWireResult<Response> {
        let scope = auth::scope(client, &self.access)?;
        let rows = self.sql.run(DOOR, &scope, work, session::timeout(client)).await;
        let rows = rows.map_err(|why| wire_error(&why))?;
        let options = FormatOptions::from_client_metadata(client.metadata());
        respond(rows, format, Arc::new(options)).await
    }
}

#[async_trait]
impl SimpleQueryHandler for Queries {
    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // The library goes on reading after a login that failed.
        auth::scope(client, &self.access)?;
        let statements = self.parser.parse(query).await?;
        if statements.is_empty() {
            return Ok(vec![Response::EmptyQuery]);
        }
        let mut responses = Vec::with_capacity(statements.len());
        for statement in statements {
            session::check_transaction(client, &statement)?;
            let response = if session::is_control(&statement) {
                portals::release(client, &statement);
                session::respond(client, &statement)?
            } else {
                self.run(client, Work::Parsed(Box::new(statement)), &Format::UnifiedText).await?
            };
            responses.push(response);
        }
        Ok(responses)
    }
}

#[async_trait]
impl ExtendedQueryHandler for Queries {
    type Statement = Prepared;
    type QueryParser = Parser;

    fn query_parser(&self) -> Arc<Parser> {
        self.parser.clone()
    }

    async fn on_parse<C>(&self, client: &mut C, message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // The library goes on reading after a login that failed.
        auth::scope(client, &self.access)?;
        portals::parse(client, &message, self.parser.clone()).await?;
        Ok(client.send(PgWireBackendMessage::ParseComplete(ParseComplete::new())).await?)
    }

    async fn on_bind<C>(&self, client: &mut C, message: Bind) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
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
            Some(Entry::Value(portal)) if portal.statement.statement.is_query() => {
                let max_rows = usize::try_from(message.max_rows).unwrap_or(0);
                portals::execute(self, client, &portal, max_rows).await
            }
            // What has at most one row may be collected.
            _ => self._on_execute(client, message).await,
        }
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
        match &portal.statement.statement {
            Prepared::Control(statement) => {
                session::check_transaction(client, statement)?;
                portals::release(client, statement);
                session::respond(client, statement)
            }
            Prepared::Query(statement, plan) => {
                session::check_transaction(client, statement)?;
                let types = parameters(plan)?;
                let inferred: Vec<Option<&DataType>> = types.iter().map(Option::as_ref).collect();
                let wire = wire_types(&types)?;
                let wire: Vec<Option<&Type>> = wire.iter().map(Some).collect();
                let values = df::deserialize_parameters_with_server_types(portal, &inferred, &wire)?;
                let plan = plan
                    .as_ref()
                    .clone()
                    .replace_params_with_values(&values)
                    .map_err(|why| wire_error(&SqlError::from(why)))?;
                self.run(client, Work::Plan(Box::new(plan)), &portal.result_column_format).await
            }
        }
    }
}

/// How many rows a client gets at a time; 0 is all. No result has more than `most`, and the library makes room for as many
/// as were asked for.
fn rows_asked(asked: i32, most: u64) -> i32 {
    if u64::try_from(asked).is_ok_and(|asked| asked <= most) { asked } else { 0 }
}

/// Parses the PostgreSQL dialect, with the rewrites that catalogue queries of known clients need.
pub struct Parser {
    sql: Arc<Sql>,
    rewriter: Arc<PostgresCompatibilityParser>,
    access: Access,
}

impl Parser {
    async fn parse(&self, query: &str) -> PgWireResult<Vec<Statement>> {
        let limit = self.sql.config().max_sql_size;
        if query.len() > limit.in_memory() {
            return Err(error("54000", format!("the query is longer than {limit} (sql.max_sql_size)")));
        }
        let (query, rewriter) = (query.to_owned(), self.rewriter.clone());
        // The rewrites walk the tree recursively: that needs the big stack of a query thread.
        let parsed = self
            .sql
            .on_query_thread(async move {
                shape::check(&query)?;
                rewriter.parse(&query).map_err(|why| SqlError::Wrong(format!("SQL error: {why}")))
            })
            .await
            .and_then(|parsed| parsed)
            .map_err(|why| wire_error(&why))?;
        if parsed.len() > MAX_STATEMENTS {
            return Err(error("54000", format!("more than {MAX_STATEMENTS} statements at once")));
        }
        Ok(parsed)
    }
}

#[async_trait]
impl QueryParser for Parser {
    type Statement = Prepared;

    async fn parse_sql<C>(
        &self,
        client: &C,
        sql: &str,
        _types: &[Option<Type>],
    ) -> PgWireResult<Option<Prepared>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        auth::scope(client, &self.access)?;
        let mut statements = self.parse(sql).await?;
        if statements.len() > 1 {
            let why = "cannot insert multiple commands into a prepared statement";
            return Err(error("42601", why.to_owned()));
        }
        let Some(statement) = statements.pop() else { return Ok(None) };
        if session::is_control(&statement) {
            return Ok(Some(Prepared::Control(Box::new(statement))));
        }
        let plan = self.sql.prepare(statement.clone()).await.map_err(|why| wire_error(&why))?;
        Ok(Some(Prepared::Query(Box::new(statement), Box::new(plan))))
    }

    fn get_parameter_types(&self, statement: &Prepared) -> PgWireResult<Vec<Type>> {
        match statement {
            Prepared::Control(_) => Ok(vec![]),
            Prepared::Query(_, plan) => wire_types(&parameters(plan)?),
        }
    }

    fn get_result_schema(
        &self,
        statement: &Prepared,
        format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        match statement {
            Prepared::Control(control) if session::has_row(control) => Ok(vec![text_field("setting")]),
            Prepared::Control(_) => Ok(vec![]),
            Prepared::Query(_, plan) => {
                let schema = Arc::new(plan.schema().as_arrow().clone());
                wire_fields(&schema, format.unwrap_or(&Format::UnifiedText), None)
            }
        }
    }
}

/// The types of `$1`, `$2` and so on, as far as the plan tells: by what they are compared with, or by a cast.
fn parameters(plan: &LogicalPlan) -> PgWireResult<Vec<Option<DataType>>> {
    let types = plan.get_parameter_types().map_err(|why| wire_error(&SqlError::from(why)))?;
    let casts = cast_types(plan);
    let mut numbered: Vec<(u32, Option<DataType>)> = types
        .into_iter()
        .map(|(name, data_type)| {
            let data_type = data_type.or_else(|| casts.get(&name).cloned());
            (name.trim_start_matches('$').parse().unwrap_or(u32::MAX), data_type)
        })
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    Ok(numbered.into_iter().map(|(_, data_type)| data_type).collect())
}

/// The types of placeholders that are cast, such as `$1::int`.
fn cast_types(plan: &LogicalPlan) -> HashMap<String, DataType> {
    let mut types = HashMap::new();
    let mut look = |expr: &Expr| {
        if let Expr::Cast(cast) = expr
            && let Expr::Placeholder(placeholder) = cast.expr.as_ref()
        {
            types.insert(placeholder.id.clone(), cast.field.data_type().clone());
        }
        Ok(TreeNodeRecursion::Continue)
    };
    // The closures never fail, and a cast that was not found only means that its parameter is sent as text.
    let _ = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| expr.apply(&mut look))?;
        Ok(TreeNodeRecursion::Continue)
    });
    types
}

fn wire_types(types: &[Option<DataType>]) -> PgWireResult<Vec<Type>> {
    types.iter().map(|t| t.as_ref().map_or(Ok(Type::UNKNOWN), into_pg_type)).collect()
}

#[cfg(test)]
mod tests {
    use super::rows_asked;

    #[test]
    fn more_rows_than_a_result_can_have_are_all() {
        assert_eq!([-1, 0, 1, 1000, 1001, i32::MAX].map(|n| rows_asked(n, 1000)), [0, 0, 1, 1000, 0, 0]);
    }
}
