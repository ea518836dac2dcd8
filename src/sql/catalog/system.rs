//! What PostgreSQL's system catalogue and information schema have: from a list of tables, numbers and columns.

use super::build::{Row, sparse};
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray, RecordBatch, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef, TimeUnit};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use std::sync::Arc;

/// One line a table: its schema and name, its number, its columns with their kinds.
const LIST: &str = include_str!("system.txt");

/// The column that each table of the catalogue has beside its own: its number.
pub const TABLE: &str = "tableoid";

/// A table of the catalogue.
pub struct SystemTable {
    /// Its schema.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub oid: i32,
    columns: Vec<(&'static str, DataType)>,
}

/// All of them, by schema and name.
pub fn system_tables() -> impl Iterator<Item = SystemTable> {
    LIST.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace();
        let (schema, name) = words.next()?.split_once('.')?;
        let oid = words.next()?.parse().ok()?;
        let columns = words.filter_map(|word| word.split_once(':')).map(|(name, kind)| (name, of_kind(kind)));
        Some(SystemTable { schema, name, oid, columns: columns.collect() })
    })
}

fn of_kind(kind: &str) -> DataType {
    let list = |element| DataType::List(Arc::new(Field::new_list_field(element, true)));
    match kind {
        "oid" | "int" => DataType::Int32,
        "small" => DataType::Int16,
        "big" => DataType::Int64,
        "bool" => DataType::Boolean,
        "real" => DataType::Float32,
        "double" => DataType::Float64,
        "time" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "ints" => list(DataType::Int32),
        "smalls" => list(DataType::Int16),
        "texts" => list(DataType::Utf8),
        _ => DataType::Utf8,
    }
}

impl SystemTable {
    /// The table with `rows`; what a row does not give is NULL.
    ///
    /// # Errors
    /// None are expected; the type is that of Arrow's constructors.
    pub fn with_rows(&self, rows: &[Row]) -> Result<Arc<dyn TableProvider>> {
        let fields: Vec<Field> =
            self.columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = sparse(&schema, rows)?;
        self.completed(Arc::new(MemTable::try_new(schema, vec![vec![batch]])?))
    }

    /// `table` with the columns that it lacks, which are NULL, and with lists where it has texts of lists. A table that is not
    /// in memory stays as it is.
    ///
    /// # Errors
    /// None are expected; the type is that of Arrow's constructors.
    pub fn completed(&self, table: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>> {
        let Some(batches) = batches(&table) else { return Ok(table) };
        let old = table.schema();
        let mut fields: Vec<Field> = old.fields().iter().map(|field| self.listed(field)).collect();
        for (name, kind) in &self.columns {
            if old.field_with_name(name).is_err() {
                fields.push(Field::new(*name, kind.clone(), true));
            }
        }
        if old.field_with_name(TABLE).is_err() {
            fields.push(Field::new(TABLE, DataType::Int32, false));
        }
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let batches = batches.iter().map(|batch| self.widened(batch, &schema)).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
    }

    /// The field with the list that clients read where it is a text.
    fn listed(&self, field: &Field) -> Field {
        let kind = self.columns.iter().find(|(name, _)| name == field.name()).map(|(_, kind)| kind);
        match kind {
            Some(list @ DataType::List(_)) if *field.data_type() == DataType::Utf8 => {
                Field::new(field.name(), list.clone(), true)
            }
            _ => field.clone(),
        }
    }

    fn widened(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
            Some(array) if array.data_type() == field.data_type() => Ok(array.clone()),
            Some(array) => lists(array, field.data_type()),
            None if field.name() == TABLE => Ok(Arc::new(Int32Array::from(vec![self.oid; rows])) as ArrayRef),
            None => Ok(new_null_array(field.data_type(), rows)),
        };
        let columns = schema.fields().iter().map(column).collect::<Result<Vec<ArrayRef>>>()?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
    }
}

/// Texts such as `[25, 701]` and `['i', 'o']` as lists; what is no list is NULL.
fn lists(texts: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let Some(texts) = texts.as_string_opt::<i32>().filter(|texts| !texts.is_empty()) else {
        return Ok(new_null_array(data_type, texts.len()));
    };
    let row = |text: Option<&str>| {
        let values: Vec<serde_json::Value> = serde_json::from_str(&text?.replace('\'', "\"")).ok()?;
        let numbers: Option<Vec<Option<i32>>> =
            values.iter().map(|v| v.as_i64().map(|n| i32::try_from(n).ok())).collect();
        numbers
    };
    if matches!(data_type, DataType::List(element) if element.data_type().is_integer()) {
        let numbers = ListArray::from_iter_primitive::<Int32Type, _, _>(texts.iter().map(row));
        return Ok(cast(&numbers, data_type)?);
    }
    let mut out = arrow::array::ListBuilder::new(arrow::array::StringBuilder::new());
    for text in texts.iter() {
        let values = text.and_then(|t| serde_json::from_str::<Vec<String>>(&t.replace('\'', "\"")).ok());
        match values {
            Some(values) => out.append_value(values.into_iter().map(Some)),
            None => out.append_null(),
        }
    }
    Ok(cast(&out.finish(), data_type)?)
}

/// The rows of a table in memory; none if it is another kind of table.
pub fn batches(table: &Arc<dyn TableProvider>) -> Option<Vec<RecordBatch>> {
    let table = table.downcast_ref::<MemTable>()?;
    // Nobody writes to it.
    let parts = table.batches.iter().filter_map(|part| part.try_read().ok());
    Some(parts.flat_map(|part| part.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read() {
        let tables: Vec<SystemTable> = system_tables().collect();
        assert_eq!(tables.len(), LIST.lines().filter(|line| !line.starts_with('#')).count());
        let class = tables.iter().find(|t| t.name == "pg_class").unwrap();
        assert_eq!(
            (class.schema, class.oid, &class.columns[1]),
            ("pg_catalog", 1259, &("relname", DataType::Utf8))
        );
    }

    #[test]
    fn texts_of_lists_become_lists() {
        let texts: ArrayRef =
            Arc::new(arrow::array::StringArray::from(vec![Some("[25, 16]"), None, Some("x")]));
        let found = lists(&texts, &of_kind("ints")).unwrap();
        assert_eq!((found.null_count(), found.as_list::<i32>().value(0).len()), (2, 2));
        let texts: ArrayRef = Arc::new(arrow::array::StringArray::from(vec!["['i', 'o']"]));
        let found = lists(&texts, &of_kind("texts")).unwrap();
        assert_eq!(found.as_list::<i32>().value(0).as_string::<i32>().value(1), "o");
    }
}
