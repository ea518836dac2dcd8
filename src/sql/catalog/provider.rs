//! The schema `pg_catalog`: our own tables before those of the library.

use super::build::{Columns, Row, batch, table};
use super::relations::{Relation, at_once, relations};
use super::{constants, lookups, tables};
use arrow::array::{RecordBatch, new_null_array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Puts our own tables and functions before those of the library. Comes after every table and view of `database`.
///
/// # Errors
/// If a schema is not there, or a table cannot be looked up at once.
pub fn register(context: &SessionContext, database: &str) -> Result<()> {
    let missing = || DataFusionError::Internal(format!("{database} lacks a schema"));
    let catalog = context.catalog(database).ok_or_else(missing)?;
    let public = catalog.schema("public").ok_or_else(missing)?;
    let library = catalog.schema("pg_catalog").ok_or_else(missing)?;
    let relations = relations(context, &public, &library)?;
    let mut own = BTreeMap::new();
    for (name, columns, rows) in made(&relations, database) {
        let table: Arc<dyn TableProvider> = table(columns, &rows)?;
        own.insert(name, table);
    }
    if let Some(procedures) = at_once(&library, "pg_proc")? {
        own.insert("pg_proc", with_lists(with_rows(&procedures, &tables::functions())?)?);
    }
    let types = at_once(&library, "pg_type")?.and_then(|types| batches(&types)).unwrap_or_default();
    catalog.register_schema("pg_catalog", Arc::new(PgCatalog { library, own }))?;
    lookups::register(context, &relations, &types);
    constants::register(context);
    Ok(())
}

fn made(relations: &[Relation], database: &str) -> Vec<(&'static str, Columns, Vec<Row>)> {
    vec![
        ("pg_attribute", tables::ATTRIBUTES, tables::attributes(relations)),
        ("pg_class", tables::CLASSES, tables::classes(relations)),
        ("pg_constraint", tables::CONSTRAINTS, vec![]),
        ("pg_database", tables::DATABASES, tables::databases(database)),
        ("pg_description", tables::DESCRIPTIONS, tables::descriptions(relations)),
        ("pg_index", tables::INDEXES, vec![]),
        ("pg_namespace", tables::NAMESPACE, tables::namespaces()),
        ("pg_roles", tables::ROLES, tables::roles()),
        ("pg_tables", tables::TABLES, tables::tables(relations)),
        ("pg_views", tables::VIEWS, tables::views(relations)),
    ]
}

/// A table of the library with more rows.
fn with_rows(table: &Arc<dyn TableProvider>, rows: &[Row]) -> Result<Arc<dyn TableProvider>> {
    // Not every cell of the new rows is known.
    let fields =
        table.schema().fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let same = |batch: &RecordBatch| Ok(RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?);
    let mut all = batches(table).unwrap_or_default().iter().map(same).collect::<Result<Vec<_>>>()?;
    all.push(batch(&schema, rows)?);
    Ok(Arc::new(MemTable::try_new(schema, vec![all])?))
}

/// The rows of a table in memory; none if it is another kind of table.
fn batches(table: &Arc<dyn TableProvider>) -> Option<Vec<RecordBatch>> {
    let table = table.downcast_ref::<MemTable>()?;
    // Nobody writes to it.
    let parts = table.batches.iter().filter_map(|part| part.try_read().ok());
    Some(parts.flat_map(|part| part.clone()).collect())
}

/// The schema.
#[derive(Debug)]
struct PgCatalog {
    library: Arc<dyn SchemaProvider>,
    own: BTreeMap<&'static str, Arc<dyn TableProvider>>,
}

#[async_trait]
impl SchemaProvider for PgCatalog {
    fn table_names(&self) -> Vec<String> {
        self.library.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let name = name.to_lowercase();
        if let Some(own) = self.own.get(name.as_str()) {
            return Ok(Some(own.clone()));
        }
        self.library.table(&name).await?.map(with_lists).transpose()
    }

    fn table_exist(&self, name: &str) -> bool {
        self.library.table_exist(name)
    }
}

/// The library has privileges and options as texts, and clients read them as lists.
fn with_lists(table: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>> {
    let schema = table.schema();
    let is_list = |field: &Field| {
        let named = ["acl", "options", "config"].iter().any(|end| field.name().ends_with(end));
        named && *field.data_type() == DataType::Utf8
    };
    let Some(batches) = batches(&table).filter(|_| schema.fields().iter().any(|f| is_list(f))) else {
        return Ok(table);
    };
    let texts = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|f| if is_list(f) { Field::new(f.name(), texts.clone(), true) } else { f.as_ref().clone() })
        .collect();
    let shown: SchemaRef = Arc::new(Schema::new(fields));
    let batches = batches.iter().map(|batch| relisted(batch, &shown)).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(MemTable::try_new(shown, vec![batches])?))
}

fn relisted(batch: &RecordBatch, shown: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(shown.fields()).map(|(array, field)| {
        let same = array.data_type() == field.data_type();
        if same { array.clone() } else { new_null_array(field.data_type(), batch.num_rows()) }
    });
    Ok(RecordBatch::try_new(shown.clone(), columns.collect())?)
}
