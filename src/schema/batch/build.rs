//! One function a column type: rows and an accessor in, a column out.

use arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListBuilder, StringArray, StringBuilder,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

/// A text column.
pub fn text<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<StringArray>())
}

/// A text column of owned texts, such as ids and JSON.
pub fn owned<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<String>) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(rows.len(), rows.len() * 32);
    for row in rows {
        builder.append_option(get(row));
    }
    Arc::new(builder.finish())
}

/// A text column of JSON that `write` appends to the bytes it is given, if there is something to say. `bytes` is about how
/// much all rows take: texts of prompts are too long to be moved each time that the column grows.
pub fn json<'a, T>(rows: &'a [T], bytes: usize, write: impl Fn(&'a T, &mut Vec<u8>) -> bool) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(rows.len(), bytes);
    let mut text = Vec::new();
    for row in rows {
        text.clear();
        let said = write(row, &mut text);
        builder.append_option(std::str::from_utf8(&text).ok().filter(|_| said));
    }
    Arc::new(builder.finish())
}

/// An integer column.
pub fn int<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<Int64Array>())
}

/// A float column.
pub fn double<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<Float64Array>())
}

/// A column of true and false.
pub fn boolean<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<bool>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<BooleanArray>())
}

/// A column of microsecond timestamps.
pub fn micros<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<i64>) -> ArrayRef {
    let array: TimestampMicrosecondArray = rows.iter().map(get).collect();
    Arc::new(array.with_timezone("UTC"))
}

/// A column of text lists; an empty list is NULL.
pub fn texts<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a [String]) -> ArrayRef {
    let field = Field::new("element", DataType::Utf8, true);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(field);
    for row in rows {
        let list = get(row);
        for item in list {
            builder.values().append_value(item);
        }
        builder.append(!list.is_empty());
    }
    Arc::new(builder.finish())
}

/// Empty text is "not said".
pub fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The text of `column` at `row`.
pub fn text_at(column: &StringArray, row: usize) -> Option<String> {
    (!column.is_null(row)).then(|| column.value(row).to_owned())
}
