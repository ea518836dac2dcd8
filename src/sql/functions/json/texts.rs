//! The texts of an argument.

use arrow::array::{Array, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;

/// The texts of a column; a constant is one row.
///
/// # Errors
/// For a value that has no text.
pub fn texts(value: &ColumnarValue, rows: usize) -> Result<StringArray> {
    let rows = if matches!(value, ColumnarValue::Scalar(_)) { 1 } else { rows };
    let array = cast(&value.to_array(rows)?, &DataType::Utf8)?;
    Ok(array.as_string::<i32>().clone())
}

/// The texts of an argument, row by row; a constant has one row.
#[derive(Debug)]
pub struct Texts {
    is_one: bool,
    texts: StringArray,
}

impl Texts {
    /// The texts of `value`, which has `rows` rows if it is no constant.
    ///
    /// # Errors
    /// As [`texts`].
    pub fn new(value: &ColumnarValue, rows: usize) -> Result<Self> {
        Ok(Self { is_one: matches!(value, ColumnarValue::Scalar(_)), texts: texts(value, rows)? })
    }

    /// The text of a row; none if it is NULL.
    pub fn at(&self, row: usize) -> Option<&str> {
        let at = if self.is_one { 0 } else { row };
        self.texts.is_valid(at).then(|| self.texts.value(at))
    }
}
