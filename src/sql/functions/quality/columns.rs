//! The arguments of a batch, row by row.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::error::{DataFusionError, Result};

/// A column of numbers.
///
/// # Errors
/// An internal error if it is of another type: the planner brings arguments to theirs.
pub fn floats(array: &ArrayRef) -> Result<&Float64Array> {
    array.as_primitive_opt::<Float64Type>().ok_or_else(|| wrong_type(array))
}

/// A column of whole numbers.
///
/// # Errors
/// As [`floats`].
pub fn integers(array: &ArrayRef) -> Result<&Int64Array> {
    array.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong_type(array))
}

/// A column of verdicts.
///
/// # Errors
/// As [`floats`].
pub fn booleans(array: &ArrayRef) -> Result<&BooleanArray> {
    array.as_boolean_opt().ok_or_else(|| wrong_type(array))
}

/// A column of numbers, or of verdicts as 0 and 1.
///
/// # Errors
/// As [`floats`].
pub fn numbers(array: &ArrayRef) -> Result<Float64Array> {
    let wide = if *array.data_type() == DataType::Boolean {
        cast(array, &DataType::Float64)?
    } else {
        array.clone()
    };
    floats(&wide).cloned()
}

/// The rows in which none of `arrays` is NULL; none if that is every row.
pub fn complete<'a>(arrays: impl IntoIterator<Item = &'a dyn Array>) -> Option<NullBuffer> {
    NullBuffer::union_many(arrays.into_iter().map(Array::nulls))
}

/// The value itself.
///
/// # Errors
/// If it is NaN or infinite: one such row would make the whole answer so.
pub fn finite(name: &str, value: f64) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(DataFusionError::Execution(format!("{name} must be a finite number, but a row has {value}")))
}

/// Why a row with the probability `pi` is refused.
#[cold]
pub fn improbable(name: &str, pi: f64) -> DataFusionError {
    DataFusionError::Execution(format!("{name} must be above 0 and at most 1, but a row has {pi}"))
}

fn wrong_type(array: &ArrayRef) -> DataFusionError {
    DataFusionError::Internal(format!("quality function got {}", array.data_type()))
}
