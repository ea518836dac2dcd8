//! From the text of a query to statements and plans.

use super::auth;
use super::named;
use super::prepared::{Command, Prepared};
use super::rewrite::Dialect;
use super::rows::{error, text_field, wire_error, wire_fields};
use super::session;
use crate::net::Access;
use crate::sql::context::Sql;
use crate::sql::functions::{AT_TIME_ZONE, series_parameters};
use crate::sql::{SqlError, literals, shape};
use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use async_trait::async_trait;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, TypeSignature};
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_postgres::arrow_pg::datatypes::into_pg_type;
use pgwire::api::portal::Format;
use pgwire::api::results::FieldInfo;
use pgwire::api::stmt::QueryParser;
use pgwire::api::{ClientInfo, Type};
use pgwire::error::PgWireResult;
use std::collections::HashMap;
use std::sync::Arc;

/// Statements that one message may have.
const MAX_STATEMENTS: usize = 100;

/// Parses the PostgreSQL dialect, with the rewrites that catalogue queries of known clients need.
pub struct Parser {
    sql: Arc<Sql>,
    dialect: Arc<Dialect>,
    access: Access,
}

impl Parser {
    /// Over the tables of `sql`, for callers that `access` knows.
    pub fn new(sql: Arc<Sql>, access: Access) -> Self {
        Self { sql, dialect: Arc::new(Dialect::new()), access }
    }

    /// The statements of `query`.
    ///
    /// # Errors
    /// For text that does not parse, is too long, too deep, or has too many statements.
    pub async fn parse(&self, query: &str) -> PgWireResult<Vec<Statement>> {
        let limit = self.sql.config().max_sql_size;
        if query.len() > limit.in_memory() {
            return Err(error("54000", format!("the query is longer than {limit} (sql.max_sql_size)")));
        }
        let (query, dialect) = (query.to_owned(), self.dialect.clone());
        // The rewrites walk the tree recursively: that needs the big stack of a query thread.
        let parsed = self
            .sql
            .on_query_thread(async move {
                let query = literals::joined(&query)?;
                shape::check(&query)?;
                dialect.parse(&query).map_err(|why| SqlError::syntax(&why))
            })
            .await
            .and_then(|parsed| parsed)
            .map_err(|why| wire_error(&why))?;
        if parsed.len() > MAX_STATEMENTS {
            return Err(error("54000", format!("more than {MAX_STATEMENTS} statements at once")));
        }
        Ok(parsed)
    }

    /// What `statement` asks for; an EXECUTE asks for the query that its name stands for, and its EXPLAIN for the plan of that.
    ///
    /// # Errors
    /// As [`Command::of`]; for an EXECUTE that does not fit what was prepared.
    pub async fn command<C>(&self, client: &C, statement: Statement) -> PgWireResult<Command>
    where
        C: ClientInfo + ?Sized,
    {
        let text = match named::text_of(client, &statement)? {
            None => named::explained(client, &statement)?,
            text => text,
        };
        let Some(text) = text else { return Command::of(statement) };
        match self.parse(&text).await?.pop() {
            Some(query) => Command::of(query),
            None => Err(error("42601", "there is nothing to execute".to_owned())),
        }
    }
}

#[async_trait]
impl QueryParser for Parser {
    type Statement = Prepared;

    async fn parse_sql<C>(
        &self,
        client: &C,
        sql: &str,
        types: &[Option<Type>],
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
        let command = self.command(client, statement).await?;
        let plan = match command.planned() {
            Some(statement) => {
                let plan = self.sql.prepare(statement.clone()).await.map_err(|why| wire_error(&why))?;
                Some(Arc::new(declared(&plan, types)?.unwrap_or(plan)))
            }
            None => None,
        };
        Ok(Some(Prepared { command, plan }))
    }

    fn get_parameter_types(&self, statement: &Prepared) -> PgWireResult<Vec<Type>> {
        let Some(plan) = &statement.plan else { return Ok(vec![]) };
        let mut types = wire_types(&parameters(plan)?)?;
        for place in oid_lists(plan) {
            if let Some(known) = types.get_mut(place) {
                *known = Type::OID_ARRAY;
            }
        }
        Ok(types)
    }

    fn get_result_schema(
        &self,
        statement: &Prepared,
        format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        match (&statement.command, &statement.plan) {
            (Command::Control(control), _) => {
                Ok(session::column(control).map(|name| text_field(&name)).into_iter().collect())
            }
            (Command::Explain(explained), _) => {
                Ok(vec![explained.column(format.unwrap_or(&Format::UnifiedText))])
            }
            (Command::Query(_), Some(plan)) => {
                let schema = Arc::new(plan.schema().as_arrow().clone());
                wire_fields(&schema, format.unwrap_or(&Format::UnifiedText), None)
            }
            // The columns of a cursor are told by who knows the connection.
            _ => Ok(vec![]),
        }
    }
}

/// The types of `$1`, `$2` and so on, as far as the plan tells: by what they are compared with, or by a cast.
///
/// # Errors
/// For a parameter that is used as two types.
pub fn parameters(plan: &LogicalPlan) -> PgWireResult<Vec<Option<DataType>>> {
    let types = plan.get_parameter_types().map_err(|why| wire_error(&SqlError::from(why)))?;
    let casts = uses(plan);
    let mut numbered = Vec::new();
    for (name, data_type) in types {
        let data_type = data_type.or_else(|| casts.get(&name).cloned());
        let number: usize = name.trim_start_matches('$').parse().unwrap_or(0);
        // The protocol counts parameters in two bytes.
        let Some(place) = number.checked_sub(1).filter(|place| *place < usize::from(u16::MAX)) else {
            continue;
        };
        // What was in a part that the rewrites left out has a number too.
        if numbered.len() <= place {
            numbered.resize(place + 1, None);
        }
        numbered[place] = data_type;
    }
    Ok(numbered)
}

/// The plan, in which the parameters whose type nothing in it tells have the type that the client declared: `SELECT $1` has a
/// column of that type. So have intervals, of which the engine thinks that they are times like what they are taken from, and times of
/// series, which may have a zone or none. None where there are no such parameters, or their types do not fit: then their values tell.
fn declared(plan: &LogicalPlan, types: &[Option<Type>]) -> PgWireResult<Option<LogicalPlan>> {
    let (told, of_series) = (parameters(plan)?, series_parameters(plan));
    let wanted: Vec<Option<DataType>> = (0..told.len())
        .map(|place| {
            let wanted = types.get(place).and_then(Option::as_ref)?;
            let may_be = |told: &DataType| match *wanted {
                Type::INTERVAL => told.is_temporal(),
                Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::DATE => {
                    matches!(told, DataType::Timestamp(..))
                        && of_series.contains_key(&format!("${}", place + 1))
                }
                _ => false,
            };
            let is_open = told[place].as_ref().is_none_or(may_be);
            if is_open { engine_type(wanted) } else { None }
        })
        .collect();
    if wanted.iter().all(Option::is_none) {
        return Ok(None);
    }
    let typed = plan.clone().transform_up_with_subqueries(|node| {
        let node = node.map_expressions(|expr| expr.transform_up(|part| Ok(typed(part, &wanted))))?;
        node.map_data(LogicalPlan::recompute_schema)
    });
    Ok(typed.ok().map(|typed| typed.data))
}

/// A parameter with the type that is wanted for it, if one is.
fn typed(part: Expr, wanted: &[Option<DataType>]) -> Transformed<Expr> {
    match part {
        Expr::Placeholder(mut parameter) => {
            let number: Option<usize> = parameter.id.trim_start_matches('$').parse().ok();
            let place = number.and_then(|number| number.checked_sub(1));
            match place.and_then(|place| wanted.get(place).cloned().flatten()) {
                Some(data_type) => {
                    parameter.field = Some(Arc::new(Field::new(parameter.id.clone(), data_type, true)));
                    Transformed::yes(Expr::Placeholder(parameter))
                }
                None => Transformed::no(Expr::Placeholder(parameter)),
            }
        }
        other => Transformed::no(other),
    }
}

/// The engine's type for one of the protocol.
fn engine_type(wire: &Type) -> Option<DataType> {
    let list = |element: DataType| Some(DataType::new_list(element, true));
    Some(match *wire {
        Type::BOOL => DataType::Boolean,
        Type::INT2 => DataType::Int16,
        Type::INT4 => DataType::Int32,
        Type::INT8 => DataType::Int64,
        Type::FLOAT4 => DataType::Float32,
        Type::FLOAT8 => DataType::Float64,
        // As the engine reads NUMERIC without a scale.
        Type::NUMERIC => DataType::Decimal128(38, 10),
        Type::TEXT | Type::VARCHAR | Type::JSON | Type::JSONB | Type::UUID => DataType::Utf8,
        Type::BYTEA => DataType::Binary,
        Type::DATE => DataType::Date32,
        Type::TIME => DataType::Time64(TimeUnit::Microsecond),
        Type::TIMESTAMP => DataType::Timestamp(TimeUnit::Microsecond, None),
        Type::TIMESTAMPTZ => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Type::INTERVAL => DataType::Interval(IntervalUnit::MonthDayNano),
        Type::BOOL_ARRAY => return list(DataType::Boolean),
        Type::INT4_ARRAY => return list(DataType::Int32),
        Type::INT8_ARRAY => return list(DataType::Int64),
        Type::FLOAT8_ARRAY => return list(DataType::Float64),
        Type::TEXT_ARRAY => return list(DataType::Utf8),
        _ => return None,
    })
}

/// The types of placeholders that are cast, such as `$1::int`, searched in, such as `name = ANY($1)`, arguments of functions
/// that take one type and of series, zones as in `AT TIME ZONE $1`, or numbers of rows, as in `LIMIT $1`.
fn uses(plan: &LogicalPlan) -> HashMap<String, DataType> {
    let mut types = series_parameters(plan);
    let mut look = |expr: &Expr, node: &LogicalPlan| match expr {
        Expr::Placeholder(placeholder) if matches!(node, LogicalPlan::Limit(_)) => {
            types.insert(placeholder.id.clone(), DataType::Int64);
        }
        Expr::Cast(cast) => {
            if let Expr::Placeholder(placeholder) = cast.expr.as_ref() {
                types.insert(placeholder.id.clone(), cast.field.data_type().clone());
            }
        }
        Expr::ScalarFunction(call) if call.func.name() == "array_has" => {
            if let [Expr::Placeholder(placeholder), sought] = call.args.as_slice()
                && let Some(input) = node.inputs().first()
                && let Ok(element) = sought.get_type(input.schema())
            {
                types.insert(placeholder.id.clone(), DataType::new_list(element, true));
            }
        }
        Expr::ScalarFunction(call) if call.func.name() == AT_TIME_ZONE => {
            let moment = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
            for (arg, data_type) in call.args.iter().zip([moment, DataType::Utf8]) {
                if let Expr::Placeholder(placeholder) = arg {
                    types.insert(placeholder.id.clone(), data_type);
                }
            }
        }
        Expr::ScalarFunction(call) => {
            let exact = exact_types(&call.func.signature().type_signature, call.args.len());
            for (arg, data_type) in call.args.iter().zip(exact) {
                if let Expr::Placeholder(placeholder) = arg {
                    types.insert(placeholder.id.clone(), data_type.clone());
                }
            }
        }
        _ => {}
    };
    // The closures never fail, and a use that was not found only means that its parameter is sent as text.
    let _ = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                look(expr, node);
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(TreeNodeRecursion::Continue)
    });
    types
}

/// The places of the parameters that are lists of numbers of the catalogue: those in calls of `oids`. A driver that knows no lists
/// of numbers yet knows those.
fn oid_lists(plan: &LogicalPlan) -> Vec<usize> {
    let mut places = Vec::new();
    let mut look = |expr: &Expr| {
        if let Expr::ScalarFunction(call) = expr
            && call.func.name() == "oids"
            && let [Expr::Cast(cast)] = call.args.as_slice()
            && let Expr::Placeholder(parameter) = cast.expr.as_ref()
        {
            let number: Option<usize> = parameter.id.trim_start_matches('$').parse().ok();
            places.extend(number.and_then(|number| number.checked_sub(1)));
        }
    };
    // As in `uses`, the closures never fail.
    let _ = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                look(expr);
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(TreeNodeRecursion::Continue)
    });
    places
}

/// The types that a function takes, if it takes no others in a call of so many arguments.
fn exact_types(signature: &TypeSignature, arguments: usize) -> &[DataType] {
    match signature {
        TypeSignature::Exact(exact) => exact,
        TypeSignature::OneOf(several) => {
            let mut fitting = several.iter().filter_map(|one| match one {
                TypeSignature::Exact(exact) if exact.len() == arguments => Some(exact.as_slice()),
                TypeSignature::Exact(_) => None,
                _ => Some(&[] as &[DataType]),
            });
            match (fitting.next(), fitting.next()) {
                (Some(only), None) => only,
                _ => &[],
            }
        }
        _ => &[],
    }
}

/// The same as the protocol names them.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn wire_types(types: &[Option<DataType>]) -> PgWireResult<Vec<Type>> {
    types.iter().map(|t| t.as_ref().map_or(Ok(Type::UNKNOWN), into_pg_type)).collect()
}
