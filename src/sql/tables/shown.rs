//! How stored columns are shown: their order, and the nanosecond times of spans.

use crate::schema::columns::{Column, Table};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column as ColumnExpr};
use std::sync::Arc;

/// The stored column that has the exact start of a span.
pub const START_NS: &str = "start_time_unix_nano";
const DURATION_NS: &str = "duration_ns";

/// The columns of `spans` that come first, in this order; the others follow as they are stored.
const SPANS_FIRST: &[&str] = &[
    "trace_id",
    "span_id",
    "parent_span_id",
    "name",
    "span_kind",
    "start_time",
    "end_time",
    "duration_ns",
    "status_code",
    "status_message",
    "service_name",
    "scope_name",
    "resource_attributes",
    "attributes",
    "events",
    "links",
    "trace_state",
    "flags",
    "tenant",
    "received_at",
];

/// One column of a table in SQL.
#[derive(Debug)]
pub struct Shown {
    /// Its name in SQL.
    pub name: &'static str,
    /// Its type in SQL.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its documentation.
    pub doc: &'static str,
    /// Where its values come from.
    pub from: From,
}

/// Where the values of a shown column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The stored column of the same name.
    Stored,
    /// The exact start of a span.
    StartNs,
    /// The exact start of a span and its duration.
    EndNs,
}

impl Shown {
    /// The stored columns that it is made of.
    pub fn needs(&self) -> Vec<&'static str> {
        match self.from {
            From::Stored => vec![self.name],
            From::StartNs => vec![START_NS],
            From::EndNs => vec![START_NS, DURATION_NS],
        }
    }

    /// The expression that makes it from an input with the stored columns in `input`.
    ///
    /// # Errors
    /// A plan error if `input` lacks a column that it needs.
    pub fn expr(&self, input: &Schema) -> Result<Arc<dyn PhysicalExpr>> {
        let column = |name: &str| -> Result<Arc<dyn PhysicalExpr>> {
            let index = input.index_of(name).map_err(DataFusionError::from)?;
            Ok(Arc::new(ColumnExpr::new(name, index)))
        };
        let nanos = match self.from {
            From::Stored => return column(self.name),
            From::StartNs => column(START_NS)?,
            From::EndNs => Arc::new(BinaryExpr::new(column(START_NS)?, Operator::Plus, column(DURATION_NS)?)),
        };
        Ok(Arc::new(CastExpr::new(nanos, self.data_type.clone(), None)))
    }
}

/// The column as it is stored.
pub fn as_stored(c: &Column) -> Shown {
    Shown {
        name: c.name,
        data_type: c.kind.data_type(),
        nullable: c.nullable,
        doc: c.doc,
        from: From::Stored,
    }
}

/// The columns of `table` in SQL, in order.
pub fn shown(table: Table) -> Vec<Shown> {
    let stored = as_stored;
    if table != Table::Spans {
        return table.columns().iter().map(stored).collect();
    }
    let mut first: Vec<Option<Shown>> = SPANS_FIRST.iter().map(|_| None).collect();
    let mut rest = Vec::new();
    let computed = [
        span_time("start_time", "Start, nanoseconds UTC.", From::StartNs),
        span_time("end_time", "End, nanoseconds UTC.", From::EndNs),
    ];
    let kept = table.columns().iter().filter(|c| !matches!(c.name, "start_time" | START_NS)).map(stored);
    for column in computed.into_iter().chain(kept) {
        match SPANS_FIRST.iter().position(|name| *name == column.name) {
            Some(at) => first[at] = Some(column),
            None => rest.push(column),
        }
    }
    first.into_iter().flatten().chain(rest).collect()
}

fn span_time(name: &'static str, doc: &'static str, from: From) -> Shown {
    let data_type = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    Shown { name, data_type, nullable: false, doc, from }
}

/// The schema of `columns`.
pub fn schema(columns: &[Shown]) -> SchemaRef {
    let fields: Vec<Field> =
        columns.iter().map(|c| Field::new(c.name, c.data_type.clone(), c.nullable)).collect();
    Arc::new(Schema::new(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_begin_with_the_agreed_columns_and_lose_none() {
        let names: Vec<_> = shown(Table::Spans).iter().map(|c| c.name).collect();
        assert_eq!(&names[..SPANS_FIRST.len()], SPANS_FIRST);
        assert_eq!(names.len(), Table::Spans.columns().len(), "one hidden, one added");
        assert!(!names.contains(&START_NS));
    }
}
