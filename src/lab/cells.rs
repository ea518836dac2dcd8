//! Cells of batches by name. A column that is missing, or of another type, has no values.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type, TimestampMicrosecondType};

/// A row of a batch.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    batch: &'a RecordBatch,
    at: usize,
}

/// The rows of `batches`, in order.
pub fn rows(batches: &[RecordBatch]) -> impl Iterator<Item = Row<'_>> {
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |at| Row { batch, at }))
}

impl<'a> Row<'a> {
    fn column(&self, name: &str) -> Option<&'a ArrayRef> {
        self.batch.column_by_name(name).filter(|column| column.is_valid(self.at))
    }

    /// A text; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        self.may(name).unwrap_or_default()
    }

    /// A text, if there is one.
    pub fn may(&self, name: &str) -> Option<String> {
        self.borrowed(name).map(str::to_owned)
    }

    /// The same where it lies.
    pub fn borrowed(&self, name: &str) -> Option<&'a str> {
        let column = self.column(name)?;
        let plain = column.as_string_opt::<i32>().map(|texts| texts.value(self.at));
        let view = || column.as_string_view_opt().map(|texts| texts.value(self.at));
        plain.or_else(view)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        Some(self.column(name)?.as_primitive_opt::<Int64Type>()?.value(self.at))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        Some(self.column(name)?.as_primitive_opt::<Float64Type>()?.value(self.at))
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Option<bool> {
        Some(self.column(name)?.as_boolean_opt()?.value(self.at))
    }

    /// A time, microseconds since 1970.
    pub fn micros(&self, name: &str) -> Option<i64> {
        Some(self.column(name)?.as_primitive_opt::<TimestampMicrosecondType>()?.value(self.at))
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let list = || {
            let elements = self.column(name)?.as_list_opt::<i32>()?.value(self.at);
            let texts = elements.as_string_opt::<i32>()?;
            Some(texts.iter().flatten().map(str::to_owned).collect())
        };
        list().unwrap_or_default()
    }
}
