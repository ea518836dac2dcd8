//! `generate_series` and `range` in FROM, with a bound on their rows. The engine makes their table while it plans, and so of constants
//! alone: where an argument is a parameter, or the time of a query that runs later, a node stands for the table until the values are
//! known.

use crate::sql::error::SqlError;
use arrow::datatypes::{DataType, Field, IntervalUnit, Schema, TimeUnit};
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    Expr, ExprSchemable, Extension, LogicalPlan, LogicalPlanBuilder, UserDefinedLogicalNodeCore, Volatility,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Rows that `generate_series` and `range` may produce in FROM.
const MAX_SERIES: i128 = 10_000_000;

/// Replaces the table functions of `context` by bounded ones.
///
/// # Errors
/// An internal error if DataFusion no longer has them.
pub fn bound_tables(context: &SessionContext) -> Result<()> {
    for name in ["generate_series", "range"] {
        let inner = context.table_function(name)?.function().clone();
        context.register_udtf(name, Arc::new(BoundedSeries { inner, name }));
    }
    Ok(())
}

/// The plan with the tables of the series whose parameters have values now.
///
/// # Errors
/// For a series that cannot be of these values.
pub fn filled_series(plan: LogicalPlan, state: &SessionState) -> Result<LogicalPlan> {
    let filled = plan.transform_up_with_subqueries(|node| match open(&node) {
        Some(series) => Ok(Transformed::yes(series.filled(state)?)),
        None => Ok(Transformed::no(node)),
    })?;
    Ok(filled.data)
}

/// The types of the parameters that are arguments of series, as far as the other arguments tell.
pub fn series_parameters(plan: &LogicalPlan) -> HashMap<String, DataType> {
    let mut types = HashMap::new();
    // The closure never fails.
    let _ = plan.apply_with_subqueries(|node| {
        if let Some(series) = open(node)
            && let Some(kind) = Kind::of(&series.args)
        {
            for (place, arg) in series.args.iter().enumerate() {
                if let Expr::Placeholder(parameter) = arg {
                    types.insert(parameter.id.clone(), kind.argument(place));
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    types
}

fn open(node: &LogicalPlan) -> Option<&OpenSeries> {
    let LogicalPlan::Extension(Extension { node }) = node else { return None };
    node.as_any().downcast_ref()
}

#[derive(Debug, Clone)]
struct BoundedSeries {
    inner: Arc<dyn TableFunctionImpl>,
    name: &'static str,
}

impl BoundedSeries {
    /// The table of a series of constants.
    fn table(&self, exprs: &[Expr], session: &dyn Session) -> Result<Arc<dyn TableProvider>> {
        let exprs = match Kind::of(exprs) {
            Some(kind) => {
                let given = |(place, arg): (usize, &Expr)| kind.given(place, arg.clone());
                exprs.iter().enumerate().map(given).collect::<Result<Vec<Expr>>>()?
            }
            None => exprs.to_vec(),
        };
        let numbers: Vec<i128> = exprs.iter().filter_map(literal).collect();
        let rows = match numbers.as_slice() {
            [stop] => *stop,
            [start, stop] => stop - start,
            [start, stop, step, ..] => (stop - start) / (*step).abs().max(1),
            [] => 0,
        };
        if rows.abs() > MAX_SERIES {
            let why = format!("{}() would produce {rows} rows; the limit is {MAX_SERIES}", self.name);
            return Err(DataFusionError::External(Box::new(SqlError::Limit(why))));
        }
        self.inner.call_with_args(TableFunctionArgs::new(&exprs, session))
    }
}

impl TableFunctionImpl for BoundedSeries {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().iter().any(is_open) {
            return self.table(args.exprs(), args.session());
        }
        let node = Arc::new(OpenSeries::new(self.clone(), args.exprs().to_vec())?);
        Ok(Arc::new(ViewTable::new(LogicalPlan::Extension(Extension { node }), None)))
    }
}

/// Whether an argument has no value before the query runs: in it is a parameter, or a function such as `now()`.
fn is_open(arg: &Expr) -> bool {
    let found = arg.exists(|part| {
        Ok(match part {
            Expr::Placeholder(_) => true,
            Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Stable,
            _ => false,
        })
    });
    // The closure never fails.
    found.unwrap_or(false)
}

/// The first parameter in an argument.
fn parameter(arg: &Expr) -> Option<String> {
    let mut found = None;
    // The closure never fails.
    let _ = arg.apply(|part| {
        let Expr::Placeholder(parameter) = part else { return Ok(TreeNodeRecursion::Continue) };
        found = Some(parameter.id.clone());
        Ok(TreeNodeRecursion::Stop)
    });
    found
}

fn literal(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(n)), _) => Some(i128::from(*n)),
        _ => None,
    }
}

/// What a series is of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Numbers,
    /// Moments with a zone, or without one.
    Moments(Option<Arc<str>>),
}

impl Kind {
    /// What the arguments tell of it, as PostgreSQL takes them: an argument whose type is not known has that of the others, and beside
    /// an interval alone it is a moment with a zone. None where three arguments are not known.
    fn of(args: &[Expr]) -> Option<Self> {
        let none = DFSchema::empty();
        let types: Vec<DataType> =
            args.iter().map(|arg| arg.get_type(&none).unwrap_or(DataType::Null)).collect();
        let ends = || types.iter().take(2);
        let zone_of = |end: &DataType| match end {
            DataType::Timestamp(_, zone) => Some(zone.clone()),
            _ => None,
        };
        // A zone is more than none.
        if let Some(zone) = ends().filter_map(zone_of).max() {
            return Some(Kind::Moments(zone));
        }
        if ends().any(|end| matches!(end, DataType::Date32 | DataType::Date64)) {
            return Some(Kind::Moments(None));
        }
        if matches!(types.get(2), Some(DataType::Interval(_))) {
            return Some(Kind::Moments(Some("UTC".into())));
        }
        (types.len() < 3 || types.iter().any(DataType::is_integer)).then_some(Kind::Numbers)
    }

    /// The type of its rows.
    fn value(&self) -> DataType {
        self.argument(0)
    }

    /// The type of an argument.
    fn argument(&self, place: usize) -> DataType {
        match self {
            Kind::Numbers => DataType::Int64,
            Kind::Moments(zone) if place < 2 => DataType::Timestamp(TimeUnit::Nanosecond, zone.clone()),
            Kind::Moments(_) => DataType::Interval(IntervalUnit::MonthDayNano),
        }
    }

    /// A constant as the argument at a place, of the type that the engine's series take; what is none, or has another meaning, stays as
    /// it is.
    fn given(&self, place: usize, arg: Expr) -> Result<Expr> {
        let Expr::Literal(value, of) = arg else { return Ok(arg) };
        let given = value.data_type();
        let fits = given.is_null()
            || matches!(given, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
            || match self {
                Kind::Numbers => given.is_integer(),
                Kind::Moments(_) if place < 2 => {
                    matches!(given, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64)
                }
                Kind::Moments(_) => matches!(given, DataType::Interval(_)),
            };
        let value = match self {
            // The engine's series of numbers know NULL without a type.
            Kind::Numbers if value.is_null() => ScalarValue::Null,
            _ if fits => value.cast_to(&self.argument(place))?,
            _ => value,
        };
        Ok(Expr::Literal(value, of))
    }
}

/// A series with parameters: it becomes its table in [`filled_series`].
#[derive(Debug)]
struct OpenSeries {
    function: BoundedSeries,
    args: Vec<Expr>,
    schema: DFSchemaRef,
}

impl OpenSeries {
    fn new(function: BoundedSeries, args: Vec<Expr>) -> Result<Self> {
        // Parameters that a client declares later tell more.
        let value = Kind::of(&args).map_or(DataType::Null, |kind| kind.value());
        let schema = Schema::new(vec![Field::new("value", value, false)]);
        Ok(Self { function, args, schema: Arc::new(DFSchema::try_from(schema)?) })
    }

    fn filled(&self, state: &SessionState) -> Result<LogicalPlan> {
        let name = self.function.name;
        let Some(kind) = Kind::of(&self.args) else {
            let why =
                format!("function {name} is not unique: cast one of the parameters, as in $1::timestamptz");
            return Err(DataFusionError::Plan(why));
        };
        let context = SimplifyContext::builder()
            .with_config_options(state.config_options().clone())
            .with_query_execution_start_time(state.execution_props().query_execution_start_time)
            .build();
        let (simplifier, none) = (ExprSimplifier::new(context), DFSchema::empty());
        let given = |(place, arg): (usize, &Expr)| -> Result<Expr> {
            // A value that was put in has the name of its parameter.
            let arg = simplifier.coerce(arg.clone().unalias(), &none)?;
            kind.given(place, simplifier.simplify(arg)?.unalias())
        };
        let args: Vec<Expr> = self.args.iter().enumerate().map(given).collect::<Result<_>>()?;
        if let Some(id) = args.iter().find_map(parameter) {
            // As the engine says where it evaluates one.
            let why = format!("Placeholder '{id}' was not provided a value for execution.");
            return Err(DataFusionError::Execution(why));
        }
        let table = provider_as_source(self.function.table(&args, state)?);
        LogicalPlanBuilder::scan(name, table, None)?.build()
    }
}

impl PartialEq for OpenSeries {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name && self.args == other.args
    }
}

impl Eq for OpenSeries {}

impl Hash for OpenSeries {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
        self.args.hash(state);
    }
}

impl PartialOrd for OpenSeries {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let names = self.function.name.cmp(other.function.name);
        Some(names.then(self.args.partial_cmp(&other.args)?))
    }
}

impl UserDefinedLogicalNodeCore for OpenSeries {
    fn name(&self) -> &str {
        "OpenSeries"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        self.args.clone()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(Expr::to_string).collect();
        write!(f, "OpenSeries: {}({})", self.function.name, args.join(", "))
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Self::new(self.function.clone(), exprs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::ParamValues;

    fn bounded() -> SessionContext {
        let context = SessionContext::new();
        bound_tables(&context).unwrap();
        context
    }

    fn text(text: &str) -> ScalarValue {
        ScalarValue::from(text)
    }

    async fn rows(sql: &str, values: Vec<ScalarValue>) -> Result<Vec<String>> {
        let context = bounded();
        let state = context.state();
        let plan = state.create_logical_plan(sql).await?;
        let plan = plan.replace_params_with_values(&ParamValues::from(values))?;
        let plan = filled_series(plan, &state)?;
        let batches = context.execute_logical_plan(plan).await?.collect().await?;
        let shown = |batch: &arrow::array::RecordBatch| -> Vec<String> {
            let cell = |row| arrow::util::display::array_value_to_string(batch.column(0), row).unwrap();
            (0..batch.num_rows()).map(cell).collect()
        };
        Ok(batches.iter().flat_map(shown).collect())
    }

    #[tokio::test]
    async fn types_are_those_of_the_other_arguments() {
        let number = Some(DataType::Int64);
        let moment =
            |zone: Option<&str>| Some(DataType::Timestamp(TimeUnit::Nanosecond, zone.map(Arc::from)));
        let interval = Some(DataType::Interval(IntervalUnit::MonthDayNano));
        for (args, wanted) in [
            ("$1, $2", vec![number.clone(), number.clone()]),
            ("1, $1", vec![number.clone()]),
            ("$1, 10, $2", vec![number.clone(), number]),
            ("$1, $2, INTERVAL '1 day'", vec![moment(Some("UTC")), moment(Some("UTC"))]),
            ("TIMESTAMP '2026-01-01', $1, $2", vec![moment(None), interval.clone()]),
            ("$1::date, $2, $3", vec![None, moment(None), interval]),
            ("$1, $2, $3", vec![None, None, None]),
        ] {
            let sql = format!("SELECT value FROM generate_series({args})");
            let plan = bounded().state().create_logical_plan(&sql).await.unwrap();
            let types = series_parameters(&plan);
            let found: Vec<Option<DataType>> =
                (1..=wanted.len()).map(|number| types.get(&format!("${number}")).cloned()).collect();
            assert_eq!(found, wanted, "{args}");
        }
    }

    #[tokio::test]
    async fn values_are_put_in() {
        let number = |number| ScalarValue::Int64(Some(number));
        let hours = "SELECT value FROM generate_series($1, $2, INTERVAL '12 hours')";
        for (sql, values, wanted) in [
            ("SELECT * FROM generate_series($1, $2)", vec![number(1), text("3")], vec!["1", "2", "3"]),
            ("SELECT n + 1 FROM range($1, 9, $2) AS t(n)", vec![number(1), number(4)], vec!["2", "6"]),
            ("SELECT value FROM generate_series($1 + 1, 3)", vec![number(1)], vec!["2", "3"]),
            ("SELECT value FROM generate_series(1, $1)", vec![ScalarValue::Int64(None)], vec![]),
            (
                hours,
                vec![text("2026-01-01T00:00:00Z"), text("2026-01-01T12:00:00Z")],
                vec!["2026-01-01T00:00:00Z", "2026-01-01T12:00:00Z"],
            ),
            (hours, vec![text("2026-01-01T00:00:00Z"), ScalarValue::Null], vec![]),
            (
                "SELECT value FROM generate_series($1, DATE '2026-01-02', $2)",
                vec![text("2026-01-01"), text("1 day")],
                vec!["2026-01-01T00:00:00", "2026-01-02T00:00:00"],
            ),
            (
                "SELECT value FROM generate_series(CAST(1 AS INT), CAST(3 AS SMALLINT))",
                vec![],
                vec!["1", "2", "3"],
            ),
            (
                "SELECT value FROM generate_series('2026-01-01', '2026-01-02', INTERVAL '1 day')",
                vec![],
                vec!["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
            ),
        ] {
            assert_eq!(rows(sql, values).await.expect(sql), wanted, "{sql}");
        }
    }

    #[tokio::test]
    async fn now_is_when_the_query_runs() {
        let context = bounded();
        let mut state = context.state();
        state.execution_props_mut().query_execution_start_time = None;
        let sql =
            "SELECT value FROM generate_series(now() - INTERVAL '1 hour', now(), INTERVAL '30 minutes')";
        let plan = state.create_logical_plan(sql).await.unwrap();
        assert!(plan.display_indent().to_string().contains("OpenSeries"));
        state.mark_start_execution();
        let plan = filled_series(plan, &state).unwrap();
        assert_eq!(context.execute_logical_plan(plan).await.unwrap().count().await.unwrap(), 3);
    }

    #[tokio::test]
    async fn what_fits_no_series_is_an_error() {
        let three = "SELECT * FROM generate_series($1, $2, $3)";
        for (sql, values, part) in [
            (three, vec![text("1"), text("2"), text("3")], "is not unique"),
            ("SELECT * FROM generate_series(1, $1)", vec![text("x")], "Cannot cast string"),
            ("SELECT * FROM generate_series(1, $1)", vec![ScalarValue::from(2.5)], "INTEGER"),
            (
                "SELECT * FROM generate_series(1, $1)",
                vec![ScalarValue::Int64(Some(i64::MAX))],
                "the limit is",
            ),
        ] {
            let why = rows(sql, values).await.expect_err(sql).strip_backtrace();
            assert!(why.contains(part), "{sql}: {why}");
        }
        let state = bounded().state();
        let open = state.create_logical_plan("SELECT * FROM generate_series(1, $1 + 1)").await.unwrap();
        let why = filled_series(open, &state).unwrap_err().strip_backtrace();
        assert!(why.contains("'$1' was not provided a value"), "{why}");
    }
}
