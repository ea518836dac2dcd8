//! A result as JSON by columns: each name once, and numbers that a browser does not round.

use super::error::SqlError;
use super::tables::type_name;
use arrow::array::{Array, AsArray, PrimitiveArray, RecordBatch};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, FieldRef, Float32Type, Float64Type, Int64Type, SchemaRef, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::json::writer::{NullableEncoder, make_encoder};
use arrow::json::{Encoder, EncoderFactory, EncoderOptions};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// The largest integer up to which a double has every integer.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// What is told beside the rows.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The limit of the request, if there were more rows than that.
    pub cut_at: Option<u64>,
    /// From the arrival of the query to its last row.
    pub elapsed: Duration,
    /// Up to when what was read is final, microseconds since 1970; none if that is not known.
    pub final_until: Option<i64>,
}

/// `{"columns": [{"name", "type"}], "data": [[…], …], "rows": n, "elapsed_ms": n, "final_until"}`, one array of `data` a column, and
/// `"limit"` if rows are missing; at most `most` bytes.
///
/// 64-bit integers beyond ±(2⁵³ − 1) are text, as are `NaN`, `Infinity` and `-Infinity`. Times are as RFC 3339 has them;
/// structs are objects, lists arrays.
///
/// # Errors
/// [`SqlError::Limit`] for more bytes, [`SqlError::Wrong`] for a type that JSON has no way to write.
pub fn encode_columns(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    about: About,
    most: usize,
) -> Result<Vec<u8>, SqlError> {
    let named = |field: &FieldRef| json!({"name": field.name(), "type": type_name(field.data_type())});
    let names: Vec<_> = schema.fields().iter().map(named).collect();
    let mut out = Vec::new();
    let _ = write!(out, "{{\"columns\":{},\"data\":[", serde_json::Value::from(names));
    let options =
        EncoderOptions::default().with_explicit_nulls(true).with_encoder_factory(Arc::new(Unrounded));
    for at in 0..schema.fields().len() {
        out.extend_from_slice(if at == 0 { b"[" } else { b",[" });
        let mut is_first = true;
        for batch in batches {
            column(batch, at, &options, &mut is_first, &mut out, most)?;
        }
        out.push(b']');
    }
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let limit = about.cut_at.map(|limit| format!(",\"limit\":{limit}")).unwrap_or_default();
    let until = about.final_until.and_then(chrono::DateTime::from_timestamp_micros);
    let until = serde_json::json!(until.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)));
    let elapsed = about.elapsed.as_millis();
    let _ = write!(out, "],\"rows\":{rows}{limit},\"elapsed_ms\":{elapsed},\"final_until\":{until}}}");
    Ok(out)
}

fn column(
    batch: &RecordBatch,
    at: usize,
    options: &EncoderOptions,
    is_first: &mut bool,
    out: &mut Vec<u8>,
    most: usize,
) -> Result<(), SqlError> {
    let schema = batch.schema();
    let mut encoder = make_encoder(&schema.fields()[at], batch.column(at).as_ref(), options)?;
    for row in 0..batch.num_rows() {
        if !std::mem::take(is_first) {
            out.push(b',');
        }
        if encoder.is_null(row) {
            out.extend_from_slice(b"null");
        } else {
            encoder.encode(row, out);
        }
        if out.len() > most {
            let why = format!("the encoded result has more than {most} bytes (sql.max_result_size)");
            return Err(SqlError::Limit(why));
        }
    }
    Ok(())
}

/// Writes as text what a browser would round, or what JSON has no number for.
#[derive(Debug)]
struct Unrounded;

impl EncoderFactory for Unrounded {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn Array,
        _options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            DataType::Int64 => Box::new(Numbers(array.as_primitive::<Int64Type>(), write_integer)),
            DataType::UInt64 => Box::new(Numbers(array.as_primitive::<UInt64Type>(), write_natural)),
            DataType::Float64 => Box::new(Numbers(array.as_primitive::<Float64Type>(), write_double)),
            DataType::Float32 => Box::new(Numbers(array.as_primitive::<Float32Type>(), write_float)),
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.nulls().cloned())))
    }
}

/// Numbers, and how one is written.
struct Numbers<'a, T: ArrowPrimitiveType>(&'a PrimitiveArray<T>, fn(T::Native, &mut Vec<u8>));

impl<T: ArrowPrimitiveType> Encoder for Numbers<'_, T> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        (self.1)(self.0.value(row), out);
    }
}

// Writing to a vector does not fail.

fn write_integer(value: i64, out: &mut Vec<u8>) {
    let _ = if value.unsigned_abs() > MAX_SAFE { write!(out, "\"{value}\"") } else { write!(out, "{value}") };
}

fn write_natural(value: u64, out: &mut Vec<u8>) {
    let _ = if value > MAX_SAFE { write!(out, "\"{value}\"") } else { write!(out, "{value}") };
}

fn write_double(value: f64, out: &mut Vec<u8>) {
    match odd(value) {
        Some(name) => out.extend_from_slice(name),
        None => drop(serde_json::to_writer(out, &value)),
    }
}

fn write_float(value: f32, out: &mut Vec<u8>) {
    match odd(f64::from(value)) {
        Some(name) => out.extend_from_slice(name),
        None => drop(serde_json::to_writer(out, &value)),
    }
}

/// The text of a value that is no number to JSON, as JavaScript's `Number()` reads it.
fn odd(value: f64) -> Option<&'static [u8]> {
    match value {
        f64::INFINITY => Some(b"\"Infinity\""),
        f64::NEG_INFINITY => Some(b"\"-Infinity\""),
        value if value.is_nan() => Some(b"\"NaN\""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float32Array, Float64Array, Int64Array, ListArray, UInt64Array};
    use serde_json::Value;

    fn encoded(columns: Vec<(&str, ArrayRef)>, about: About, most: usize) -> Result<Value, SqlError> {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)));
        let batch = batch.unwrap();
        let bytes = encode_columns(&batch.schema(), &[batch.clone(), batch.slice(0, 0)], about, most)?;
        Ok(serde_json::from_slice(&bytes).unwrap())
    }

    const QUICK: About = About { cut_at: None, elapsed: Duration::from_micros(9_900), final_until: None };

    #[test]
    fn numbers_are_not_rounded() {
        let safe = 9_007_199_254_740_991;
        let integers = Int64Array::from(vec![Some(safe), Some(safe + 1), Some(-safe), Some(i64::MIN), None]);
        let naturals = UInt64Array::from(vec![0, 1, 2, u64::MAX, u64::try_from(safe).unwrap()]);
        let doubles = Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300]);
        let floats = Float32Array::from(vec![0.1, f32::NAN, 1.0, f32::INFINITY, 2.5]);
        let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([
            Some(vec![Some(1), None]),
            None,
            Some(vec![Some(i64::MAX)]),
            Some(vec![]),
            None,
        ]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("i", Arc::new(integers)),
            ("u", Arc::new(naturals)),
            ("d", Arc::new(doubles)),
            ("f", Arc::new(floats)),
            ("l", Arc::new(lists)),
        ];
        let wanted = json!({
            "columns": [{"name": "i", "type": "bigint"}, {"name": "u", "type": "bigint"},
                {"name": "d", "type": "double"}, {"name": "f", "type": "real"},
                {"name": "l", "type": "list of bigint"}],
            "data": [
                [safe, "9007199254740992", -safe, "-9223372036854775808", null],
                [0, 1, 2, "18446744073709551615", safe],
                [0.1, "NaN", "Infinity", "-Infinity", 1e300],
                [0.1, "NaN", 1.0, "Infinity", 2.5],
                [[1, null], null, ["9223372036854775807"], [], null],
            ],
            "rows": 5, "elapsed_ms": 9, "final_until": null,
        });
        assert_eq!(encoded(columns, QUICK, 10_000).unwrap(), wanted);
    }

    #[test]
    fn what_is_cut_says_so_and_what_is_too_long_is_refused() {
        let one = || -> Vec<(&str, ArrayRef)> { vec![("n", Arc::new(Int64Array::from(vec![1, 2])))] };
        let cut = encoded(one(), About { cut_at: Some(2), ..QUICK }, 10_000).unwrap();
        assert_eq!((&cut["limit"], &cut["rows"]), (&json!(2), &json!(2)));
        assert!(encoded(one(), QUICK, 10_000).unwrap().get("limit").is_none());
        assert!(matches!(encoded(one(), QUICK, 50), Err(SqlError::Limit(_))));
    }
}
