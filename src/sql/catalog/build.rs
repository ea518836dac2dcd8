//! Small tables from lists of cells.

use arrow::array::{
    ArrayRef, BooleanArray, Int16Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    new_null_array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion_postgres::arrow_pg::datatypes::PG_OID_ALIAS_KEY;
use std::collections::HashMap;
use std::sync::Arc;

/// What a column holds. Cells that nobody gave are 0, false, empty or, for lists and [`CellType::Maybe`], NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// The number of an object.
    Oid,
    /// A whole number of four bytes.
    Int,
    /// A whole number of two bytes.
    Small,
    /// Yes or no.
    Bool,
    /// A text.
    Text,
    /// A text that may be NULL.
    Maybe,
    /// A list of texts.
    Texts,
    /// A list of numbers of two bytes.
    Smalls,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// For [`CellType::Oid`], [`CellType::Int`] and [`CellType::Small`].
    Int(i32),
    /// For [`CellType::Bool`].
    Bool(bool),
    /// For [`CellType::Text`] and [`CellType::Maybe`].
    Text(String),
}

impl Cell {
    /// A text.
    pub fn text(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }

    fn as_int(&self) -> Option<i32> {
        if let Cell::Int(number) = self { Some(*number) } else { None }
    }

    fn as_bool(&self) -> Option<bool> {
        if let Cell::Bool(is) = self { Some(*is) } else { None }
    }

    fn as_text(&self) -> Option<&str> {
        if let Cell::Text(text) = self { Some(text) } else { None }
    }
}

/// The columns of a table.
pub type Columns = &'static [(&'static str, CellType)];

/// The cells of a row by column; what is not there has the default of its kind.
pub type Row = HashMap<&'static str, Cell>;

/// A table of `rows`.
///
/// # Errors
/// None are expected; the type is that of Arrow's constructors.
pub fn table(columns: Columns, rows: &[Row]) -> Result<Arc<MemTable>> {
    let fields: Vec<Field> = columns.iter().map(|(name, kind)| field(name, *kind)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = batch(&schema, rows)?;
    Ok(Arc::new(MemTable::try_new(schema, vec![vec![batch]])?))
}

/// `rows` with the columns of `schema`.
///
/// # Errors
/// For a column that may not be NULL and has a type that no [`Cell`] has.
pub fn batch(schema: &SchemaRef, rows: &[Row]) -> Result<RecordBatch> {
    let arrays = schema.fields().iter().map(|field| array(field, rows)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?)
}

/// `rows` with the columns of `schema`; cells that nobody gave are NULL.
///
/// # Errors
/// For a column that may not be NULL.
pub fn sparse(schema: &SchemaRef, rows: &[Row]) -> Result<RecordBatch> {
    let arrays = schema.fields().iter().map(|field| given(field, rows)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?)
}

fn given(field: &Field, rows: &[Row]) -> ArrayRef {
    let cells = || rows.iter().map(|row| row.get(field.name().as_str()));
    match field.data_type() {
        DataType::Int32 => Arc::new(cells().map(|cell| cell?.as_int()).collect::<Int32Array>()),
        DataType::Boolean => Arc::new(cells().map(|cell| cell?.as_bool()).collect::<BooleanArray>()),
        DataType::Utf8 => Arc::new(cells().map(|cell| cell?.as_text()).collect::<StringArray>()),
        other => new_null_array(other, rows.len()),
    }
}

fn field(name: &str, kind: CellType) -> Field {
    let list = |element: DataType| DataType::List(Arc::new(Field::new_list_field(element, true)));
    match kind {
        CellType::Oid => Field::new(name, DataType::Int32, false)
            .with_metadata(HashMap::from([(PG_OID_ALIAS_KEY.to_owned(), "oid".to_owned())])),
        CellType::Int => Field::new(name, DataType::Int32, false),
        CellType::Small => Field::new(name, DataType::Int16, false),
        CellType::Bool => Field::new(name, DataType::Boolean, false),
        CellType::Text => Field::new(name, DataType::Utf8, false),
        CellType::Maybe => Field::new(name, DataType::Utf8, true),
        CellType::Texts => Field::new(name, list(DataType::Utf8), true),
        CellType::Smalls => Field::new(name, list(DataType::Int16), true),
    }
}

fn array(field: &Field, rows: &[Row]) -> ArrayRef {
    let cells = || rows.iter().map(|row| row.get(field.name().as_str()));
    let ints = || cells().map(|cell| cell.and_then(Cell::as_int).unwrap_or(0));
    match field.data_type() {
        DataType::Int16 => Arc::new(ints().map(|n| i16::try_from(n).unwrap_or(0)).collect::<Int16Array>()),
        DataType::Int32 => Arc::new(ints().collect::<Int32Array>()),
        DataType::Int64 => Arc::new(ints().map(i64::from).collect::<Int64Array>()),
        DataType::Boolean => {
            let is = |cell: Option<&Cell>| Some(cell.and_then(Cell::as_bool).unwrap_or(false));
            Arc::new(cells().map(is).collect::<BooleanArray>())
        }
        DataType::Utf8 => {
            let empty = (!field.is_nullable()).then_some("");
            Arc::new(cells().map(|cell| cell.and_then(Cell::as_text).or(empty)).collect::<StringArray>())
        }
        other => new_null_array(other, rows.len()),
    }
}
