//! `table_columns`: the documentation of every column, as a table.

use super::shown::{Shown, as_stored, shown};
use crate::schema::columns::{QUEUE, Table, WATERMARKS};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use std::sync::Arc;

/// A table with one row a column of every table: its table, name, type, whether it may be NULL, and what it holds.
///
/// # Errors
/// None are expected; the type is that of Arrow's constructors.
pub fn column_docs() -> Result<MemTable> {
    let rows: Vec<_> = columns().collect();
    let texts = |f: &dyn Fn(&(&'static str, Shown)) -> String| -> ArrayRef {
        Arc::new(rows.iter().map(|r| Some(f(r))).collect::<StringArray>())
    };
    let nullable: ArrayRef = Arc::new(rows.iter().map(|r| Some(r.1.nullable)).collect::<BooleanArray>());
    let batch = RecordBatch::try_from_iter([
        ("table", texts(&|r| r.0.to_owned())),
        ("column", texts(&|r| r.1.name.to_owned())),
        ("type", texts(&|r| type_name(&r.1.data_type))),
        ("nullable", nullable),
        ("doc", texts(&|r| r.1.doc.to_owned())),
    ])?;
    MemTable::try_new(batch.schema(), vec![vec![batch]])
}

fn columns() -> impl Iterator<Item = (&'static str, Shown)> {
    let stored = Table::ALL.iter().flat_map(|t| shown(*t).into_iter().map(move |c| (t.name(), c)));
    let live = [("queue", QUEUE), ("watermarks", WATERMARKS)];
    stored.chain(
        live.into_iter().flat_map(|(table, columns)| columns.iter().map(move |c| (table, as_stored(c)))),
    )
}

/// The documentation of every column: its table, its name, what it holds.
pub fn documented() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    columns().map(|(table, column)| (table, column.name, column.doc))
}

/// The type in words that a user of SQL expects.
pub fn type_name(data_type: &DataType) -> String {
    let plain = match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Int64 | DataType::UInt64 => "bigint",
        kind if kind.is_integer() => "integer",
        DataType::Float64 => "double",
        DataType::Float32 | DataType::Float16 => "real",
        DataType::Boolean => "boolean",
        DataType::Null => "null",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => "timestamp ns utc",
        DataType::Timestamp(_, Some(_)) => "timestamp us utc",
        DataType::Timestamp(..) => "timestamp",
        kind if kind.is_decimal() => "numeric",
        kind if kind.is_binary() => "bytes",
        DataType::Dictionary(_, values) => return type_name(values),
        DataType::List(element) | DataType::LargeList(element) => {
            return format!("list of {}", type_name(element.data_type()));
        }
        DataType::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|f| format!("{} {}", f.name(), type_name(f.data_type()))).collect();
            return format!("struct({})", fields.join(", "));
        }
        other => return other.to_string(),
    };
    plain.to_owned()
}
