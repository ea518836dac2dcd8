//! Operators between types for which the engine has none, or has another meaning: intervals and numbers, dates and intervals,
//! conditions and the texts that name them, numbers that have no sign.

use arrow::array::{AsArray, IntervalMonthDayNanoArray};
use arrow::datatypes::{DataType, Float64Type, IntervalMonthDayNanoType, IntervalUnit, TimeUnit};
use datafusion::common::DFSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarUDF, Volatility, cast, create_udf, lit,
};
use datafusion::scalar::ScalarValue;
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;

const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

/// Plans `INTERVAL '5 minutes' * 3`, `INTERVAL '1 day' / 2`, `CURRENT_DATE - INTERVAL '12 hours'`, `passed = 'f'` and differences of
/// what has no sign, such as `row_number()`.
#[derive(Debug)]
pub struct OperatorPlanner {
    times: Arc<ScalarUDF>,
}

impl OperatorPlanner {
    /// The planner with its function.
    pub fn new() -> Self {
        Self { times: Arc::new(times()) }
    }

    /// The product of an interval and a number, if `expr` is one.
    fn product(&self, expr: &RawBinaryExpr, schema: &DFSchema) -> Option<Expr> {
        let left = expr.left.get_type(schema).ok()?;
        let right = expr.right.get_type(schema).ok()?;
        // A parameter has no type yet.
        let is_number = |kind: &DataType| kind.is_numeric() || *kind == DataType::Null;
        let (interval, number) = match &expr.op {
            BinaryOperator::Multiply if is_interval(&left) && is_number(&right) => (&expr.left, &expr.right),
            BinaryOperator::Multiply if is_number(&left) && is_interval(&right) => (&expr.right, &expr.left),
            BinaryOperator::Divide if is_interval(&left) && is_number(&right) => (&expr.left, &expr.right),
            _ => return None,
        };
        let factor = cast(number.clone(), DataType::Float64);
        let factor = if expr.op == BinaryOperator::Divide { lit(1.0) / factor } else { factor };
        Some(self.times.call(vec![cast(interval.clone(), INTERVAL), factor]))
    }
}

impl ExprPlanner for OperatorPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        match expr.op {
            BinaryOperator::Multiply | BinaryOperator::Divide => Ok(match self.product(&expr, schema) {
                Some(product) => PlannerResult::Planned(product),
                None => PlannerResult::Original(expr),
            }),
            BinaryOperator::Plus | BinaryOperator::Minus => {
                let RawBinaryExpr { op, left, right } = expr;
                let of = |side: &Expr| side.get_type(schema).unwrap_or(DataType::Null);
                let (first, second) = (of(&left), of(&right));
                let left = if is_interval(&second) { moment(left, &first) } else { left };
                let is_sum = op == BinaryOperator::Plus && is_interval(&first);
                let right = if is_sum { moment(right, &second) } else { right };
                // Of row numbers and lengths, too, the second may be the larger one.
                let may_be_negative = op == BinaryOperator::Minus
                    && first.is_unsigned_integer()
                    && second.is_unsigned_integer();
                let signed = |side| if may_be_negative { cast(side, DataType::Int64) } else { side };
                let (left, right) = (signed(left), signed(right));
                Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
            }
            BinaryOperator::Eq | BinaryOperator::NotEq => {
                let RawBinaryExpr { op, left, right } = expr;
                let left = condition(left, &right, schema);
                let right = condition(right, &left, schema);
                Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
            }
            _ => Ok(PlannerResult::Original(expr)),
        }
    }
}

fn is_interval(kind: &DataType) -> bool {
    matches!(kind, DataType::Interval(_))
}

/// A date as the moment at which it begins: the engine would leave the hours out that an interval adds. What is no date as it is.
fn moment(date: Expr, kind: &DataType) -> Expr {
    match kind {
        DataType::Date32 | DataType::Date64 => cast(date, DataType::Timestamp(TimeUnit::Microsecond, None)),
        _ => date,
    }
}

/// A text that names true or false, as the condition that it is compared with; anything else as it is.
fn condition(text: Expr, other: &Expr, schema: &DFSchema) -> Expr {
    let Expr::Literal(value, _) = &text else { return text };
    let named = match value.try_as_str().flatten().map(|text| text.trim().to_lowercase()).as_deref() {
        Some("t" | "true" | "y" | "yes" | "on" | "1") => true,
        Some("f" | "false" | "n" | "no" | "off" | "0") => false,
        _ => return text,
    };
    if other.get_type(schema).is_ok_and(|kind| kind == DataType::Boolean) { lit(named) } else { text }
}

/// `interval_times(interval, factor)`: what is left of months goes to days (30 a month), of days to hours, as in PostgreSQL.
fn times() -> ScalarUDF {
    let product = |args: &[ColumnarValue]| {
        let all_scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let args = ColumnarValue::values_to_arrays(args)?;
        let [intervals, factors] = args.as_slice() else {
            return Err(DataFusionError::Internal("interval_times takes two arguments".to_owned()));
        };
        let (intervals, factors) =
            (intervals.as_primitive::<IntervalMonthDayNanoType>(), factors.as_primitive::<Float64Type>());
        let one = |(interval, factor): (Option<_>, Option<f64>)| match (interval, factor) {
            (Some(interval), Some(factor)) => scaled(interval, factor).map(Some),
            _ => Ok(None),
        };
        let out: IntervalMonthDayNanoArray =
            intervals.iter().zip(factors.iter()).map(one).collect::<Result<_>>()?;
        if all_scalar && !out.is_empty() {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(Arc::new(out)))
    };
    let takes = vec![INTERVAL, DataType::Float64];
    create_udf("interval_times", takes, INTERVAL, Volatility::Immutable, Arc::new(product))
}

type Interval = <IntervalMonthDayNanoType as arrow::datatypes::ArrowPrimitiveType>::Native;

fn scaled(interval: Interval, factor: f64) -> Result<Interval> {
    const DAY: f64 = 86_400e9;
    let months = f64::from(interval.months) * factor;
    let days = f64::from(interval.days) * factor + months.fract() * 30.0;
    let rest = (days.fract() * DAY).round();
    // Whole factors stay exact, which 53 bits of nanoseconds would not.
    let nanos = if factor.fract() == 0.0 && factor.abs() < 1e9 {
        i128::from(interval.nanoseconds) * factor as i128 + rest as i128
    } else {
        (interval.nanoseconds as f64 * factor).round() as i128 + rest as i128
    };
    let out = || DataFusionError::Execution(format!("an interval times {factor} is out of range"));
    let most = f64::from(i32::MAX);
    if !(months.abs() <= most && days.abs() <= most) {
        return Err(out());
    }
    let nanos = i64::try_from(nanos).map_err(|_| out())?;
    Ok(Interval::new(months.trunc() as i32, days.trunc() as i32, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::Int64Type;
    use datafusion::execution::FunctionRegistry;
    use datafusion::prelude::SessionContext;

    /// Runs of equal values are told apart by such differences.
    #[tokio::test]
    async fn a_difference_of_row_numbers_may_be_negative() {
        let context = SessionContext::new();
        let state = context.state_ref();
        state.write().register_expr_planner(Arc::new(OperatorPlanner::new())).unwrap();
        let places = "SELECT row_number() OVER (ORDER BY a DESC) - row_number() OVER (ORDER BY a) AS d \
                      FROM (VALUES (1), (2)) AS t(a)";
        let least = context.sql(&format!("SELECT min(d) FROM ({places}) AS p")).await.unwrap();
        let batches = least.collect().await.unwrap();
        assert_eq!(batches[0].column(0).as_primitive::<Int64Type>().value(0), -1);
    }

    #[test]
    fn what_is_left_of_a_unit_goes_to_the_smaller_one() {
        for (interval, factor, product) in [
            (Interval::new(0, 0, 7), 3.0, Interval::new(0, 0, 21)),
            (Interval::new(1, 0, 0), 1.5, Interval::new(1, 15, 0)),
            (Interval::new(0, 1, 0), 0.5, Interval::new(0, 0, 43_200_000_000_000)),
            (Interval::new(0, 0, i64::MAX / 2), 2.0, Interval::new(0, 0, i64::MAX - 1)),
            (Interval::new(0, 3, 10), -1.0, Interval::new(0, -3, -10)),
        ] {
            assert_eq!(scaled(interval, factor).unwrap(), product, "{interval:?} * {factor}");
        }
        for (interval, factor) in [
            (Interval::new(0, 0, i64::MAX), 2.0),
            (Interval::new(1, 0, 0), 1e12),
            (Interval::new(1, 0, 0), f64::NAN),
        ] {
            assert!(scaled(interval, factor).is_err(), "{interval:?} * {factor}");
        }
    }
}
