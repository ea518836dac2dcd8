//! Infinite numbers in text: PostgreSQL writes `Infinity`, and the library `inf`, of which drivers make something else or an error.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use bytes::{BufMut, BytesMut};
use pgwire::api::results::{FieldFormat, FieldInfo};
use pgwire::messages::data::DataRow;

/// How the library writes it, alone, behind a minus and in lists.
const WRITTEN: &str = "inf";

/// How PostgreSQL writes it.
const SPELLED: &str = "Infinity";

/// The places of the columns of `batch` that are sent as text and have an infinite number.
pub fn endless(fields: &[FieldInfo], batch: &RecordBatch) -> Vec<usize> {
    let columns = batch.columns().iter().zip(fields).enumerate();
    let endless =
        columns.filter(|(_, (column, field))| field.format() == FieldFormat::Text && is_endless(column));
    endless.map(|(place, _)| place).collect()
}

/// Whether a column of numbers, or of lists of them, has an infinite one. What stands in the place of a NULL may count.
fn is_endless(column: &ArrayRef) -> bool {
    match column.data_type() {
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().values().iter().any(|number| number.is_infinite())
        }
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().values().iter().any(|number| number.is_infinite())
        }
        DataType::List(_) => is_endless(column.as_list::<i32>().values()),
        DataType::LargeList(_) => is_endless(column.as_list::<i64>().values()),
        _ => false,
    }
}

/// `row` with the infinite numbers in `places` as PostgreSQL writes them. A row that is shorter than it says stays as it is.
pub fn spelled(row: DataRow, places: &[usize]) -> DataRow {
    match respelled(&row.data, places) {
        Some(data) => DataRow::new(data, row.field_count),
        None => row,
    }
}

fn respelled(mut cells: &[u8], places: &[usize]) -> Option<BytesMut> {
    let mut data = BytesMut::with_capacity(cells.len() + places.len() * SPELLED.len());
    let mut place = 0;
    while let Some((length, behind)) = cells.split_first_chunk::<4>() {
        // NULL has a length below nought, and nothing behind it.
        let size = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        let (cell, behind) = behind.split_at_checked(size)?;
        if places.contains(&place) && size > 0 {
            let text = std::str::from_utf8(cell).ok()?.replace(WRITTEN, SPELLED);
            data.put_i32(i32::try_from(text.len()).ok()?);
            data.put_slice(text.as_bytes());
        } else {
            data.put_slice(length);
            data.put_slice(cell);
        }
        cells = behind;
        place += 1;
    }
    cells.is_empty().then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, StringArray};
    use pgwire::api::Type;
    use std::sync::Arc;

    fn row(cells: &[Option<&str>]) -> DataRow {
        let mut data = BytesMut::new();
        for cell in cells {
            data.put_i32(cell.map_or(-1, |cell| i32::try_from(cell.len()).unwrap()));
            data.put_slice(cell.unwrap_or_default().as_bytes());
        }
        DataRow::new(data, i16::try_from(cells.len()).unwrap())
    }

    #[test]
    fn infinite_numbers_are_spelled_out() {
        let written = row(&[Some("inf"), None, Some("-inf"), Some("{1,inf,NULL}"), Some("inf"), Some("")]);
        let wanted = row(&[
            Some("Infinity"),
            None,
            Some("-Infinity"),
            Some("{1,Infinity,NULL}"),
            Some("inf"),
            Some(""),
        ]);
        let found = spelled(written, &[0, 1, 2, 3]);
        assert_eq!((found.data, found.field_count), (wanted.data, 6));
        let mut torn = row(&[Some("inf")]);
        torn.data.truncate(6);
        let data = torn.data.clone();
        assert_eq!(spelled(torn, &[0]).data, data);
    }

    #[test]
    fn only_columns_of_numbers_in_text_are_looked_at() {
        let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::NEG_INFINITY)]));
        let plain: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN, 2.0]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["inf", "inf", "inf"]));
        let columns = [("a", numbers.clone()), ("b", plain), ("c", texts), ("d", numbers)];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
                .unwrap();
        let field = |format| FieldInfo::new("x".to_owned(), None, None, Type::FLOAT8, format);
        let formats = [FieldFormat::Text, FieldFormat::Text, FieldFormat::Text, FieldFormat::Binary];
        assert_eq!(endless(&formats.map(field), &batch), [0]);
    }
}
