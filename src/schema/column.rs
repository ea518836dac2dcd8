//! What a column is: its name, its type, since when there is it.

use arrow::datatypes::{DataType, Field, Fields, TimeUnit};
use std::sync::Arc;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What it holds, with units.
    pub doc: &'static str,
    /// The version of its table's schema that brought it.
    pub since: u16,
}

impl Column {
    /// The same column, for one that a later version of the schema brings: it stands behind all earlier ones and may be
    /// NULL.
    #[must_use]
    pub const fn since(mut self, version: u16) -> Self {
        self.since = version;
        self
    }
}

/// The types that columns have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// JSON or long text: no dictionary, no statistics.
    Payload,
    /// A timestamp in microseconds UTC.
    Micros,
    /// A 64-bit integer.
    Int,
    /// A 64-bit float.
    Double,
    /// True or false.
    Bool,
    /// A list of texts.
    Texts,
    /// A list of documents.
    Documents,
}

impl Kind {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Kind::Text | Kind::Payload => DataType::Utf8,
            Kind::Micros => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Int => DataType::Int64,
            Kind::Double => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Texts => DataType::List(Arc::new(Field::new("element", DataType::Utf8, true))),
            Kind::Documents => {
                DataType::List(Arc::new(Field::new("element", DataType::Struct(document_fields()), true)))
            }
        }
    }
}

/// The fields of one element of `spans.documents`.
pub fn document_fields() -> Fields {
    Fields::from(vec![
        Field::new("id", DataType::Utf8, true),
        Field::new("uri", DataType::Utf8, true),
        Field::new("content", DataType::Utf8, true),
        Field::new("score", DataType::Float64, true),
        Field::new("rank", DataType::Int32, true),
        Field::new("metadata", DataType::Utf8, true),
    ])
}

/// A column that is never NULL.
pub(super) const fn must(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, doc, since: 1 }
}

/// A column that may be NULL.
pub(super) const fn may(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, doc, since: 1 }
}
