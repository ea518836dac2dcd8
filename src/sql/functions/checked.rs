//! Sums, differences, products and negatives of whole numbers that fail where they do not fit: the engine's own go round, so that the
//! largest number and one is the smallest. The engine folds constants before anything runs, so they are replaced when a plan has its
//! types, and have the names that the engine's own have. So is what `date_part` takes of the time between two moments,
//! what is cast to whole numbers, and intervals that are compared.

use super::durations::{
    compares_intervals, fine_part, in_days, is_fine_part, is_interval, is_part_of_duration, span,
};
use super::nearest::{cuts_off, nearest};
use super::sums::{bounded_sum, checked_sum};
use arrow::compute::kernels::numeric::{add, mul, neg, sub};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::error::ArrowError;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::{AggregateFunction, Between, Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    AggregateUDF, BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, WindowFunctionDefinition,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr_common::datum::apply;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// Replaces arithmetic of whole numbers by what fails where the result does not fit. It runs when the types are known.
#[derive(Debug)]
pub struct CheckedArithmetic {
    plus: ScalarUDF,
    minus: ScalarUDF,
    times: ScalarUDF,
    negative: ScalarUDF,
    sum: Arc<AggregateUDF>,
    in_days: ScalarUDF,
    fine_part: ScalarUDF,
    nearest: ScalarUDF,
    span: ScalarUDF,
}

impl CheckedArithmetic {
    /// The rule with its functions.
    pub fn new() -> Self {
        let of = |operation, arguments| {
            let signature = Signature::any(arguments, Volatility::Immutable);
            ScalarUDF::new_from_impl(Checked { operation, signature })
        };
        Self {
            plus: of(Operation::Plus, 2),
            minus: of(Operation::Minus, 2),
            times: of(Operation::Times, 2),
            negative: of(Operation::Negative, 1),
            sum: Arc::new(checked_sum()),
            in_days: in_days(),
            fine_part: fine_part(),
            nearest: nearest(),
            span: span(),
        }
    }

    fn node(&self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let mut schema = merge_schema(&node.inputs());
        if let LogicalPlan::TableScan(scan) = &node {
            let name = scan.table_name.clone();
            schema.merge(&DFSchema::try_from_qualified_schema(name, &scan.source.schema())?);
        }
        // The name of an aggregate tells its FILTER as it is written in plans, with the functions' own names.
        let names = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let name = names.save(&expr);
            let checked = expr.transform_up(|part| Ok(self.part(part, &schema)))?;
            Ok(checked.update_data(|expr| name.restore(expr)))
        })
    }

    fn part(&self, part: Expr, schema: &DFSchema) -> Transformed<Expr> {
        let spanned = |interval: Box<Expr>| Box::new(self.span.call(vec![*interval]));
        match part {
            Expr::BinaryExpr(BinaryExpr { left, op, right })
                if compares_intervals(&left, op, &right, schema) =>
            {
                Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(spanned(left), op, spanned(right))))
            }
            Expr::Between(Between { expr, negated, low, high }) if is_interval(&expr, schema) => {
                let [expr, low, high] = [expr, low, high].map(spanned);
                Transformed::yes(Expr::Between(Between::new(expr, negated, low, high)))
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let function = match op {
                    Operator::Plus => Some(&self.plus),
                    Operator::Minus => Some(&self.minus),
                    Operator::Multiply => Some(&self.times),
                    _ => None,
                };
                let fits = || {
                    let kind = whole(&left, schema);
                    kind.is_some() && kind == whole(&right, schema)
                };
                match function.filter(|_| fits()) {
                    Some(function) => Transformed::yes(function.call(vec![*left, *right])),
                    None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
                }
            }
            Expr::Negative(inner) if whole(&inner, schema).is_some() => {
                Transformed::yes(self.negative.call(vec![*inner]))
            }
            Expr::AggregateFunction(AggregateFunction { func, params })
                if is_sum(&func, &params.args, schema) =>
            {
                let func = self.sum.clone();
                Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params }))
            }
            Expr::ScalarFunction(call) if is_fine_part(&call, schema) => {
                Transformed::yes(self.fine_part.call(call.args))
            }
            Expr::ScalarFunction(mut call) if is_part_of_duration(&call, schema) => {
                let duration = call.args.pop();
                call.args.extend(duration.map(|duration| self.in_days.call(vec![duration])));
                Transformed::yes(Expr::ScalarFunction(call))
            }
            Expr::Cast(cast) if cuts_off(&cast, schema) => {
                let Cast { expr, field } = cast;
                let nearest = self.nearest.call(vec![*expr]);
                Transformed::yes(Expr::Cast(Cast::new_from_field(Box::new(nearest), field)))
            }
            Expr::WindowFunction(mut window) => {
                let params = &window.params;
                if let WindowFunctionDefinition::AggregateUDF(func) = &window.fun
                    && is_sum(func, &params.args, schema)
                {
                    window.fun = WindowFunctionDefinition::AggregateUDF(self.sum.clone());
                    return Transformed::yes(Expr::WindowFunction(window));
                }
                Transformed::no(Expr::WindowFunction(window))
            }
            other => Transformed::no(other),
        }
    }
}

impl AnalyzerRule for CheckedArithmetic {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| self.node(node)).map(|done| done.data)
    }

    fn name(&self) -> &str {
        "checked_arithmetic"
    }
}

/// The type of an expression, if it is one of whole numbers.
fn whole(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    let mut expr = expr;
    // What was replaced already has the type of what stands in it: a long chain is walked once, and not asked at each link.
    while let Expr::ScalarFunction(ScalarFunction { func, args }) = expr
        && Operation::ALL.iter().any(|operation| operation.name() == func.name())
        && let Some(first) = args.first()
    {
        expr = first;
    }
    expr.get_type(schema).ok().filter(DataType::is_integer)
}

/// Whether a call is a sum of numbers of 64 bits, which smaller ones are by now.
fn is_sum(func: &AggregateUDF, args: &[Expr], schema: &DFSchema) -> bool {
    let is_of_numbers =
        || matches!(args, [one] if matches!(whole(one, schema), Some(DataType::Int64 | DataType::UInt64)));
    func.name() == "sum" && is_of_numbers()
}

/// The plan, of which the types are known, with sums of whole numbers that stop at the ends of 64 bits: of the many rows of a view one
/// that is absurd should not fail the others.
///
/// # Errors
/// None are expected; the type is that of the planner.
pub fn with_bounded_sums(plan: LogicalPlan) -> Result<LogicalPlan> {
    let sum = Arc::new(bounded_sum());
    let bounded = plan.transform_up(|node| {
        let schema = merge_schema(&node.inputs());
        let part = |part: Expr| match part {
            Expr::AggregateFunction(AggregateFunction { func, params })
                if is_sum(&func, &params.args, &schema) =>
            {
                let func = sum.clone();
                Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params }))
            }
            other => Transformed::no(other),
        };
        node.map_expressions(|expr| expr.transform_up(|expr| Ok(part(expr))))
    })?;
    Ok(bounded.data)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Plus,
    Minus,
    Times,
    Negative,
}

impl Operation {
    const ALL: [Operation; 4] = [Operation::Plus, Operation::Minus, Operation::Times, Operation::Negative];

    fn name(self) -> &'static str {
        match self {
            Operation::Plus => "checked_plus",
            Operation::Minus => "checked_minus",
            Operation::Times => "checked_times",
            Operation::Negative => "checked_negative",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Operation::Plus => "+",
            Operation::Minus | Operation::Negative => "-",
            Operation::Times => "*",
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operation: Operation,
    signature: Signature,
}

impl Checked {
    fn compute(&self, args: &[ColumnarValue]) -> Result<ColumnarValue> {
        match (self.operation, args) {
            (Operation::Plus, [left, right]) => apply(left, right, add),
            (Operation::Minus, [left, right]) => apply(left, right, sub),
            (Operation::Times, [left, right]) => apply(left, right, mul),
            (Operation::Negative, [ColumnarValue::Array(values)]) => {
                Ok(ColumnarValue::Array(neg(values.as_ref())?))
            }
            (Operation::Negative, [ColumnarValue::Scalar(value)]) => {
                let negative = neg(value.to_array()?.as_ref())?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(negative.as_ref(), 0)?))
            }
            _ => Err(DataFusionError::Internal(format!("{} has other arguments", self.operation.name()))),
        }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        self.operation.name()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let sign = self.operation.sign();
        match args {
            [left, right] => Ok(format!("{} {sign} {}", left.schema_name(), right.schema_name())),
            [one] => Ok(format!("({sign} {})", one.schema_name())),
            _ => Err(DataFusionError::Internal(format!("{} has other arguments", self.operation.name()))),
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        // The planner puts NULL without a type for a column, to see what becomes of a condition.
        let known = types.iter().find(|kind| !kind.is_null());
        Ok(known.cloned().unwrap_or(DataType::Null))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let kind = args.return_type();
        if args.args.iter().any(|arg| arg.data_type().is_null()) {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from(kind)?));
        }
        self.compute(&args.args).map_err(|why| {
            if is_overflow(&why) { DataFusionError::Execution(out_of_range(kind)) } else { why }
        })
    }
}

fn is_overflow(why: &DataFusionError) -> bool {
    let DataFusionError::ArrowError(inner, _) = why.find_root() else { return false };
    matches!(inner.as_ref(), ArrowError::ArithmeticOverflow(_))
}

/// What PostgreSQL says of a result that its type does not hold.
fn out_of_range(kind: &DataType) -> String {
    let name = match kind {
        DataType::Int64 | DataType::UInt64 => "bigint",
        DataType::Int32 | DataType::UInt32 => "integer",
        _ => "smallint",
    };
    format!("{name} out of range")
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;

    async fn answer(sql: &str) -> Result<(String, String)> {
        let context = SessionContext::new();
        context.add_analyzer_rule(Arc::new(CheckedArithmetic::new()));
        let batches = context.sql(sql).await?.collect().await?;
        let column = batches[0].column(0);
        let shown = arrow::util::display::array_value_to_string(column, 0)?;
        Ok((batches[0].schema().field(0).name().clone(), shown))
    }

    #[tokio::test]
    async fn what_does_not_fit_is_an_error() {
        let rows = "FROM (VALUES (9223372036854775807, arrow_cast(-2147483648, 'Int32'), 1)) AS t(a, b, c)";
        for (expression, name) in [
            ("9223372036854775807 + 1", "bigint"),
            ("-9223372036854775807 - 2", "bigint"),
            ("4611686018427387904 * 2", "bigint"),
            ("a + c", "bigint"),
            ("a + 1", "bigint"),
            ("a * a", "bigint"),
            ("c - (-a) - 1 + 1", "bigint"),
            ("-(-a - 1)", "bigint"),
            ("-b", "integer"),
            ("b - arrow_cast(1, 'Int32')", "integer"),
        ] {
            let why = answer(&format!("SELECT {expression} {rows}")).await.expect_err(expression);
            let why = why.strip_backtrace();
            assert!(why.contains(&format!("{name} out of range")), "{expression}: {why}");
        }
    }

    #[tokio::test]
    async fn sums_of_numbers_without_a_sign_are_right_or_an_error() {
        // The engine makes numbers of 64 bits of smaller ones, without a sign where they have none.
        let largest = "arrow_cast('18446744073709551615', 'UInt64')";
        let unsigned = format!("FROM (VALUES ({largest}, 1), (arrow_cast(1, 'UInt64'), 2)) AS t(a, g)");
        for (sum, kept, value) in [
            ("sum(a)", "g < 2", Some("18446744073709551615")),
            ("sum(a)", "true", None),
            ("sum(a) OVER ()", "true", None),
            ("sum(a) OVER (ORDER BY g ROWS CURRENT ROW)", "true", Some("18446744073709551615")),
            ("sum(DISTINCT a)", "true", None),
            ("sum(arrow_cast(g, 'UInt8'))", "true", Some("3")),
            ("sum(a)", "g > 2", Some("")),
        ] {
            let found = answer(&format!("SELECT {sum} {unsigned} WHERE {kept}")).await;
            assert_eq!(found.as_ref().ok().map(|found| found.1.as_str()), value, "{sum} {kept}: {found:?}");
        }
        let grouped = answer(&format!("SELECT sum(a) {unsigned} GROUP BY g / g")).await;
        assert!(grouped.unwrap_err().strip_backtrace().contains("bigint out of range"));
    }

    #[tokio::test]
    async fn the_time_between_two_moments_has_the_parts_of_postgresql() {
        let moments =
            "FROM (VALUES (TIMESTAMP '2026-01-02 05:02:03.7', TIMESTAMP '2026-01-01 00:00:00')) AS t(b, a)";
        for (expression, value) in [
            ("extract(epoch FROM b - a)", "104523.7"),
            ("extract(epoch FROM a - b)", "-104523.7"),
            ("date_part('epoch', b - (b - INTERVAL '3.25 seconds'))", "3.25"),
            ("extract(day FROM b - a)", "1"),
            ("extract(hour FROM b - a)", "5"),
            ("extract(minute FROM b - a)", "2"),
            ("extract(microsecond FROM b - a)", "3700000"),
            ("max(extract(epoch FROM b - a))", "104523.7"),
            ("extract(epoch FROM b)", "1767330123.7"),
        ] {
            let found = answer(&format!("SELECT {expression} {moments}")).await.expect(expression);
            assert_eq!(found.1, value, "{expression}");
            assert!(!found.0.contains("in_days"), "{}", found.0);
        }
        let grouped = format!(
            "SELECT extract(epoch FROM b - a), count(*) {moments} GROUP BY extract(epoch FROM b - a)"
        );
        assert_eq!(answer(&grouped).await.expect("groups").1, "104523.7");
    }

    #[tokio::test]
    async fn intervals_are_compared_by_how_long_they_are() {
        let moments =
            "FROM (VALUES (TIMESTAMP '2026-01-02 05:00:00', TIMESTAMP '2026-01-01 00:00:00')) AS t(b, a)";
        for (condition, value) in [
            ("b - a < INTERVAL '1 day'", "false"),
            ("b - a >= INTERVAL '29 hours'", "true"),
            ("b - a > INTERVAL '30 hours'", "false"),
            ("b - a BETWEEN INTERVAL '1 day' AND INTERVAL '2 days'", "true"),
            ("b - a NOT BETWEEN INTERVAL '1 hour' AND INTERVAL '1 day'", "true"),
            ("b - a = b - a", "true"),
            ("INTERVAL '25 hours' > INTERVAL '1 day'", "true"),
            ("INTERVAL '24 hours' = INTERVAL '1 day'", "true"),
            ("INTERVAL '1 month' > INTERVAL '31 days'", "false"),
            ("b - a < CAST(NULL AS INTERVAL)", ""),
        ] {
            let found = answer(&format!("SELECT {condition} {moments}")).await.expect(condition);
            assert_eq!(found.1, value, "{condition}");
            assert!(!found.0.contains("span"), "{}", found.0);
        }
        let kept = format!("SELECT count(*) {moments} WHERE b - a < INTERVAL '1 day'");
        assert_eq!(answer(&kept).await.expect("a filter").1, "0");
    }

    #[tokio::test]
    async fn casts_to_whole_numbers_round_as_those_of_postgresql() {
        let rows = "FROM (VALUES (2.7, 2.5, -0.6, CAST(NULL AS DOUBLE), 7)) AS t(a, b, c, n, i)";
        for (expression, value) in [
            ("CAST(a AS BIGINT)", "3"),
            ("CAST(b AS INT)", "2"),
            ("CAST(b + 1 AS INT)", "4"),
            ("CAST(c AS SMALLINT)", "-1"),
            ("CAST(CAST(a AS REAL) AS INT)", "3"),
            ("CAST(CAST(b AS DECIMAL(10, 2)) AS BIGINT)", "3"),
            ("CAST(CAST(-b AS DECIMAL(10, 2)) AS BIGINT)", "-3"),
            ("CAST(floor(a) AS INT)", "2"),
            ("CAST(n AS INT)", ""),
            ("CAST(i AS INT)", "7"),
            ("sum(CAST(a AS INT))", "3"),
        ] {
            let found = answer(&format!("SELECT {expression} {rows}")).await.expect(expression);
            assert_eq!(found.1, value, "{expression}");
            assert!(!found.0.contains("nearest"), "{}", found.0);
        }
        let grouped = format!(
            "SELECT CAST(a AS INT), count(*) {rows} WHERE CAST(a AS INT) = 3 GROUP BY CAST(a AS INT)"
        );
        assert_eq!(answer(&grouped).await.expect("groups").1, "3");
        assert!(answer("SELECT CAST(x AS INT) FROM (VALUES (CAST('NaN' AS DOUBLE))) AS t(x)").await.is_err());
    }

    #[tokio::test]
    async fn what_fits_is_as_it_was() {
        let rows = "FROM (VALUES (1, 2.5, CAST(NULL AS BIGINT))) AS t(a, f, n)";
        for (expression, value) in [
            ("a + 2 * a - 1", "2"),
            ("-a", "-1"),
            ("a + n", ""),
            ("a + NULL", ""),
            ("f * 2", "5.0"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("CASE WHEN a > 0 THEN a ELSE 9223372036854775807 + a END", "1"),
            ("(SELECT max(a) + 1 FROM (VALUES (2)) AS u(a))", "3"),
        ] {
            let found = answer(&format!("SELECT {expression} {rows}")).await.expect(expression);
            assert_eq!(found.1, value, "{expression}");
        }
        let (name, value) =
            answer("SELECT a + 1, count(*) FROM (VALUES (1), (1)) AS t(a) GROUP BY a + 1").await.unwrap();
        assert_eq!((name.as_str(), value.as_str()), ("t.a + Int64(1)", "2"));
        let numbers = "FROM (VALUES (9223372036854775807, 1), (1, 1), (-1, 1)) AS t(a, g)";
        for (sum, kept, value) in [
            ("sum(a)", "true", Some("9223372036854775807")),
            ("sum(a)", "a > 0", None),
            ("sum(DISTINCT a)", "true", Some("9223372036854775807")),
            ("sum(DISTINCT a)", "a > 0", None),
            ("sum(DISTINCT a) FILTER (WHERE a > 0)", "true", None),
            ("sum(DISTINCT a) FILTER (WHERE a > 1)", "true", Some("9223372036854775807")),
            ("sum(DISTINCT a) + count(DISTINCT g)", "a > 0", None),
            ("sum(DISTINCT g)", "true", Some("1")),
            ("sum(DISTINCT g)", "a = 0", Some("")),
            ("sum(DISTINCT a) OVER ()", "a > 0", None),
            ("sum(DISTINCT g) OVER ()", "a > 0", Some("1")),
            ("sum(DISTINCT g) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "true", Some("1")),
            ("sum(g)", "a = 0", Some("")),
            ("sum(a) OVER (ORDER BY a)", "true", Some("-1")),
            ("sum(a) OVER ()", "a > 0", None),
            ("sum(a) OVER (ORDER BY a DESC ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)", "a > 0", None),
        ] {
            let found = answer(&format!("SELECT {sum} {numbers} WHERE {kept}")).await;
            assert_eq!(found.as_ref().ok().map(|found| found.1.as_str()), value, "{sum} {kept}: {found:?}");
        }
        let each = answer(&format!("SELECT sum(DISTINCT a) FILTER (WHERE a > 1) {numbers} GROUP BY g")).await;
        assert_eq!(each.unwrap().1, "9223372036854775807");
        let grouped = answer(&format!("SELECT sum(a) {numbers} GROUP BY g")).await.unwrap();
        assert_eq!(grouped, ("sum(t.a)".to_owned(), "9223372036854775807".to_owned()));
        for counted in [
            "SELECT count(*) FILTER (WHERE a + 1 > 2)",
            "SELECT sum(a) FILTER (WHERE a + 1 > 2) / 2",
            "SELECT g + 1, count(*) FILTER (WHERE a * 2 > 2) AS n",
            "SELECT count(*) FILTER (WHERE a + 1 > 2) OVER ()",
        ] {
            let grouped = if counted.contains(" g ") { "GROUP BY g + 1 ORDER BY n" } else { "" };
            let rows = "FROM (VALUES (1, 0), (2, 0)) AS t(a, g)";
            let (name, value) = answer(&format!("{counted} {rows} {grouped}")).await.expect(counted);
            assert_eq!(value, "1", "{counted}");
            assert!(!name.contains("checked"), "{name}");
        }
        let joined = "SELECT u.b + 1 FROM (VALUES (1)) AS t(a) LEFT JOIN (VALUES (1)) AS u(b) ON t.a = u.b WHERE u.b + 1 > 1";
        assert_eq!(answer(joined).await.unwrap().1, "2");
    }
}
