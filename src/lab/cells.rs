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

/// A column of a batch, looked up once for all of its rows.
#[derive(Clone, Copy)]
pub struct Column<'a>(Option<&'a ArrayRef>);

impl<'a> Column<'a> {
    /// The column of that name; without values if there is none.
    pub fn of(batch: &'a RecordBatch, name: &str) -> Self {
        Self(batch.column_by_name(name))
    }

    fn valid(self, at: usize) -> Option<&'a ArrayRef> {
        self.0.filter(|column| column.is_valid(at))
    }

    /// The text in that row, where it lies.
    pub fn borrowed(self, at: usize) -> Option<&'a str> {
        let column = self.valid(at)?;
        let plain = column.as_string_opt::<i32>().map(|texts| texts.value(at));
        plain.or_else(|| column.as_string_view_opt().map(|texts| texts.value(at)))
    }

    /// A copy of the text in that row, if there is one.
    pub fn may(self, at: usize) -> Option<String> {
        self.borrowed(at).map(str::to_owned)
    }

    /// The same; empty if there is none.
    pub fn text(self, at: usize) -> String {
        self.may(at).unwrap_or_default()
    }

    /// The integer in that row.
    pub fn int(self, at: usize) -> Option<i64> {
        Some(self.valid(at)?.as_primitive_opt::<Int64Type>()?.value(at))
    }

    /// The number in that row.
    pub fn number(self, at: usize) -> Option<f64> {
        Some(self.valid(at)?.as_primitive_opt::<Float64Type>()?.value(at))
    }

    /// True or false.
    pub fn flag(self, at: usize) -> Option<bool> {
        Some(self.valid(at)?.as_boolean_opt()?.value(at))
    }
}

impl<'a> Row<'a> {
    fn cell(&self, name: &str) -> Column<'a> {
        Column::of(self.batch, name)
    }

    /// A text; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        self.cell(name).text(self.at)
    }

    /// A text, if there is one.
    pub fn may(&self, name: &str) -> Option<String> {
        self.cell(name).may(self.at)
    }

    /// The same where it lies.
    pub fn borrowed(&self, name: &str) -> Option<&'a str> {
        self.cell(name).borrowed(self.at)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.cell(name).int(self.at)
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.cell(name).number(self.at)
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.cell(name).flag(self.at)
    }

    /// A time, microseconds since 1970.
    pub fn micros(&self, name: &str) -> Option<i64> {
        Some(self.cell(name).valid(self.at)?.as_primitive_opt::<TimestampMicrosecondType>()?.value(self.at))
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let list = || {
            let elements = self.cell(name).valid(self.at)?.as_list_opt::<i32>()?.value(self.at);
            let texts = elements.as_string_opt::<i32>()?;
            Some(texts.iter().flatten().map(str::to_owned).collect())
        };
        list().unwrap_or_default()
    }
}
