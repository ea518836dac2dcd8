//! `in_days(duration)`: the time between two moments as PostgreSQL has it, in days and what is left of one. The engine has it as a
//! count, of which `date_part` loses the part of a second where there are more than two. And `span(interval)`, by which intervals are
//! compared: to the engine 25 hours are less than a day. What is finer than a second has a `date_part` of its own, because the engine's
//! loses nanoseconds that 32 bits do not hold.

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Int32Array, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, DurationNanosecondType, Field, FieldRef, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit, TimeUnit,
};
use datafusion::common::DFSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// Nanoseconds of a minute.
const MINUTE: i64 = 60_000_000_000;

/// Digits of a span: enough for every interval.
const DIGITS: u8 = 38;

/// The function. Its results are named after its argument.
pub fn in_days() -> ScalarUDF {
    ScalarUDF::from(InDays { signature: Signature::any(1, Volatility::Immutable) })
}

/// Whether a call is of a part of the time between two moments.
pub fn is_part_of_duration(call: &ScalarFunction, schema: &DFSchema) -> bool {
    let is_duration = |time: &Expr| matches!(time.get_type(schema), Ok(DataType::Duration(_)));
    call.func.name() == "date_part" && call.args.last().is_some_and(is_duration)
}

/// The function. It has the name of the engine's own, and columns are named after it.
pub fn fine_part() -> ScalarUDF {
    ScalarUDF::from(FinePart { signature: Signature::any(2, Volatility::Immutable) })
}

/// Whether a call is of a part of an interval that is finer than a second.
pub fn is_fine_part(call: &ScalarFunction, schema: &DFSchema) -> bool {
    let [Expr::Literal(part, _), time] = call.args.as_slice() else { return false };
    call.func.name() == "date_part"
        && part.try_as_str().flatten().and_then(fine_unit).is_some()
        && matches!(time.get_type(schema), Ok(DataType::Duration(_) | DataType::Interval(_)))
}

/// Nanoseconds of a unit that is finer than a second.
fn fine_unit(part: &str) -> Option<i64> {
    match part.to_lowercase().as_str() {
        "millisecond" | "milliseconds" => Some(1_000_000),
        "microsecond" | "microseconds" => Some(1_000),
        _ => None,
    }
}

/// The function. Its results are named after its argument.
pub fn span() -> ScalarUDF {
    ScalarUDF::from(Span { signature: Signature::any(1, Volatility::Immutable) })
}

/// Whether an expression is an interval.
pub fn is_interval(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Interval(_)))
}

/// Whether two intervals are compared.
pub fn compares_intervals(left: &Expr, op: Operator, right: &Expr, schema: &DFSchema) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
        && is_interval(left, schema)
        && is_interval(right, schema)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct InDays {
    signature: Signature,
}

impl ScalarUDFImpl for InDays {
    fn name(&self) -> &str {
        "in_days"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [duration] = args else { return Err(other_arguments()) };
        Ok(duration.schema_name().to_string())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Interval(IntervalUnit::MonthDayNano))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[])?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [durations] = args.args.as_slice() else { return Err(other_arguments()) };
        let wanted = DataType::Duration(TimeUnit::Nanosecond);
        let durations: ArrayRef = cast(&durations.to_array(args.number_rows)?, &wanted)?;
        let durations = durations.as_primitive::<DurationNanosecondType>();
        let in_days = |duration: i64| {
            let days = i32::try_from(duration / DAY).ok()?;
            Some(IntervalMonthDayNano::new(0, days, duration % DAY))
        };
        let intervals: IntervalMonthDayNanoArray =
            durations.iter().map(|duration| duration.and_then(in_days)).collect();
        Ok(ColumnarValue::Array(Arc::new(intervals)))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct FinePart {
    signature: Signature,
}

impl ScalarUDFImpl for FinePart {
    fn name(&self) -> &str {
        "date_part"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int32)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[])?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ColumnarValue::Scalar(part), times] = args.args.as_slice() else {
            return Err(other_arguments());
        };
        let unit = part.try_as_str().flatten().and_then(fine_unit).ok_or_else(other_arguments)?;
        let wanted = DataType::Interval(IntervalUnit::MonthDayNano);
        let times: ArrayRef = cast(&times.to_array(args.number_rows)?, &wanted)?;
        let times = times.as_primitive::<IntervalMonthDayNanoType>();
        let part = |time: IntervalMonthDayNano| i32::try_from(time.nanoseconds % MINUTE / unit).ok();
        let parts: Int32Array = times.iter().map(|time| time.and_then(part)).collect();
        Ok(ColumnarValue::Array(Arc::new(parts)))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Span {
    signature: Signature,
}

impl ScalarUDFImpl for Span {
    fn name(&self) -> &str {
        "span"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [interval] = args else { return Err(other_arguments()) };
        Ok(interval.schema_name().to_string())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Decimal128(DIGITS, 0))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[])?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [intervals] = args.args.as_slice() else { return Err(other_arguments()) };
        let wanted = DataType::Interval(IntervalUnit::MonthDayNano);
        let intervals: ArrayRef = cast(&intervals.to_array(args.number_rows)?, &wanted)?;
        let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>();
        let spans: Decimal128Array = intervals.iter().map(|interval| interval.map(nanoseconds)).collect();
        Ok(ColumnarValue::Array(Arc::new(spans.with_precision_and_scale(DIGITS, 0)?)))
    }
}

/// Nanoseconds of an interval, with 30 days a month and 24 hours a day, as PostgreSQL compares it.
fn nanoseconds(interval: IntervalMonthDayNano) -> i128 {
    let days = i128::from(interval.months) * 30 + i128::from(interval.days);
    days * i128::from(DAY) + i128::from(interval.nanoseconds)
}

fn other_arguments() -> DataFusionError {
    DataFusionError::Internal("a function of intervals has other arguments".to_owned())
}
