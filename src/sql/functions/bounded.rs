//! Functions whose output can be far larger than their input, with a limit on it.
//!
//! The memory pool does not see what a scalar function allocates, so `repeat('x', 2000000000)` would take two gigabytes
//! before any limit is asked. Each function here gets an estimate of its output for a batch, made from the lengths of its
//! arguments, and refuses what is beyond [`MAX_MADE`] or [`MAX_JOINED`].

use super::wrapped::{Around, Wrapped};
use crate::sql::error::SqlError;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::compute::kernels::length::length;
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use datafusion::prelude::SessionContext;

/// Bytes that one call may make from next to nothing, for one batch of rows.
const MAX_MADE: i128 = 16 << 20;

/// Bytes that one call may put together from texts that exist, for one batch of rows.
const MAX_JOINED: i128 = 256 << 20;

/// Steps that one call may take for one batch of rows, where they grow with the product of its arguments' lengths.
const MAX_STEPS: i128 = 1_000_000_000;

/// Bytes that an element of a list takes at least.
const ELEMENT: i128 = 8;

/// Estimates the bytes of one row's output from that row's arguments.
type Estimate = fn(&Lengths, usize) -> i128;

const BOUNDED: &[(&str, i128, Estimate)] = &[
    ("repeat", MAX_MADE, |a, row| a.size(0, row) * a.number(1, row)),
    ("lpad", MAX_MADE, |a, row| a.number(1, row) * 4),
    ("rpad", MAX_MADE, |a, row| a.number(1, row) * 4),
    ("array_repeat", MAX_MADE, |a, row| a.size(0, row).max(ELEMENT) * a.number(1, row)),
    ("array_resize", MAX_MADE, |a, row| a.number(1, row) * ELEMENT),
    ("range", MAX_MADE, series),
    ("generate_series", MAX_MADE, series),
    ("concat", MAX_JOINED, joined),
    ("concat_ws", MAX_JOINED, |a, row| joined(a, row) + a.size(0, row) * a.count() as i128),
    ("array_concat", MAX_JOINED, |a, row| joined(a, row) * ELEMENT),
    ("array_to_string", MAX_JOINED, |a, row| a.size(0, row) * (a.size(1, row) + 2 * ELEMENT)),
    ("replace", MAX_JOINED, |a, row| {
        let hits = a.size(0, row) / a.size(1, row).max(1);
        a.size(0, row) + hits * a.size(2, row)
    }),
    ("array_replace_all", MAX_JOINED, replaced),
    ("array_replace_n", MAX_JOINED, replaced),
    ("levenshtein", MAX_STEPS, |a, row| a.size(0, row) * a.size(1, row)),
    ("regexp_replace", MAX_JOINED, |a, row| a.size(0, row) + (a.size(0, row) + 1) * a.size(2, row)),
];

fn joined(a: &Lengths, row: usize) -> i128 {
    (0..a.count()).map(|i| a.size(i, row)).sum()
}

/// A list in which every element may become the last argument.
fn replaced(a: &Lengths, row: usize) -> i128 {
    a.size(0, row) * a.size(2, row).max(ELEMENT)
}

fn series(a: &Lengths, row: usize) -> i128 {
    let (start, stop) =
        if a.count() == 1 { (0, a.number(0, row)) } else { (a.number(0, row), a.number(1, row)) };
    let step = if a.count() > 2 { a.number(2, row).abs().max(1) } else { 1 };
    ((stop - start).abs() / step + 1) * ELEMENT
}

/// Replaces the functions of `context` that need a bound by bounded ones.
///
/// # Errors
/// None are expected; the type is that of the registry.
pub fn bound_scalars(context: &SessionContext) -> Result<()> {
    let state = context.state();
    for (name, most, estimate) in BOUNDED {
        if let Some(inner) = state.scalar_functions().get(*name) {
            let bounded = Bounded { name, most: *most, estimate: *estimate };
            context.register_udf(ScalarUDF::from(Wrapped::new(inner.clone(), bounded)));
        }
    }
    Ok(())
}

/// The arguments of a call, brought to what estimates need.
struct Lengths {
    sizes: Vec<Option<Int64Array>>,
    numbers: Vec<Option<Int64Array>>,
    /// Whether the argument is the same in all rows, and has one row here: a long text is not copied to be measured.
    constant: Vec<bool>,
}

impl Lengths {
    fn new(args: &[ColumnarValue], rows: usize) -> Result<Self> {
        let constant: Vec<bool> = args.iter().map(|a| matches!(a, ColumnarValue::Scalar(_))).collect();
        let rows_of = |is_constant: &bool| if *is_constant { 1 } else { rows };
        let arrays: Vec<ArrayRef> =
            args.iter().zip(&constant).map(|(a, one)| a.to_array(rows_of(one))).collect::<Result<_>>()?;
        Ok(Self {
            constant,
            sizes: arrays.iter().map(|a| length(a).ok().and_then(|l| integers(&l))).collect(),
            numbers: arrays.iter().map(integers).collect(),
        })
    }

    fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes of a text or elements of a list; 8 for anything else, 0 for NULL.
    fn size(&self, arg: usize, row: usize) -> i128 {
        match self.sizes.get(arg) {
            Some(Some(sizes)) => at(sizes, self.row(arg, row)),
            Some(None) => ELEMENT,
            None => 0,
        }
    }

    fn number(&self, arg: usize, row: usize) -> i128 {
        self.numbers.get(arg).and_then(Option::as_ref).map_or(0, |n| at(n, self.row(arg, row)))
    }

    fn row(&self, arg: usize, row: usize) -> usize {
        if self.constant.get(arg).copied().unwrap_or_default() { 0 } else { row }
    }
}

fn integers(array: &ArrayRef) -> Option<Int64Array> {
    let whole = array.data_type().is_integer().then(|| cast(array, &DataType::Int64).ok()).flatten()?;
    whole.as_primitive_opt::<Int64Type>().cloned()
}

/// A number; 0 for NULL, and where a batch has no rows.
fn at(array: &Int64Array, row: usize) -> i128 {
    if row < array.len() && array.is_valid(row) { i128::from(array.value(row)) } else { 0 }
}

#[derive(Debug)]
struct Bounded {
    name: &'static str,
    most: i128,
    estimate: Estimate,
}

impl Bounded {
    fn check(&self, args: &ScalarFunctionArgs) -> Result<()> {
        let times = |a: &FieldRef| a.data_type().is_temporal();
        if matches!(self.name, "range" | "generate_series") && args.arg_fields.iter().any(times) {
            let why = format!("{}() over times can be used in FROM only", self.name);
            return Err(DataFusionError::External(Box::new(SqlError::Wrong(why))));
        }
        // Constants are evaluated while planning, with one row.
        let rows = args.number_rows.max(1);
        let lengths = Lengths::new(&args.args, rows)?;
        let bytes: i128 = (0..rows).map(|row| (self.estimate)(&lengths, row).max(0)).sum();
        if self.most == MAX_STEPS && bytes > MAX_STEPS {
            let why = format!("{} would take {bytes} steps; the limit is {MAX_STEPS}", self.name);
            return Err(DataFusionError::External(Box::new(SqlError::Limit(why))));
        }
        within(self.name, bytes, self.most)
    }
}

/// Refuses an operation on texts that exist if its output is too large for one batch of rows.
///
/// # Errors
/// [`SqlError::Limit`] as an external error.
pub fn check_bytes(name: &str, bytes: i128) -> Result<()> {
    within(name, bytes, MAX_JOINED)
}

fn within(name: &str, bytes: i128, most: i128) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    let why = format!("{name} would produce {bytes} bytes; the limit is {most} for one batch of rows");
    Err(DataFusionError::External(Box::new(SqlError::Limit(why))))
}

impl Around for Bounded {
    fn name(&self) -> &'static str {
        self.name
    }

    fn invoke(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.check(&args)?;
        inner.invoke_with_args(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{RecordBatch, StringArray};
    use std::sync::Arc;

    #[tokio::test]
    async fn no_rows_give_no_rows() {
        let context = SessionContext::new();
        bound_scalars(&context).unwrap();
        let texts: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
        let numbers: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
        let none = RecordBatch::try_from_iter([("t", texts), ("n", numbers)]).unwrap();
        context.register_batch("empty", none).unwrap();
        for call in [
            "repeat(t, n)",
            "lpad(t, n)",
            "rpad('a', n)",
            "array_repeat(t, n)",
            "array_resize(make_array(n), n)",
            "unnest(range(n))",
            "unnest(generate_series(1, n))",
            "unnest(generate_series(1, CAST(array_length(make_array(n), 1) AS BIGINT)))",
            "concat(t, 'a')",
            "concat_ws(t, 'a', t)",
            "array_concat(make_array(t), make_array('a'))",
            "array_to_string(make_array(t), t)",
            "replace(t, 'a', t)",
            "array_replace_all(make_array(t), 'a', t)",
            "levenshtein(t, 'a')",
            "regexp_replace(t, 'a', t, 'g')",
        ] {
            let sql = format!("SELECT {call} FROM empty");
            let rows = context.sql(&sql).await.unwrap().collect().await.expect(&sql);
            assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 0, "{sql}");
        }
    }
}
