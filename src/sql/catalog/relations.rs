//! The tables and views of the engine, with numbers, types and comments.

use super::system::{TABLE, system_tables};
use crate::schema::columns::Table;
use crate::sql::format::wire_schema;
use crate::sql::tables::documented;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::TableType;
use datafusion_postgres::arrow_pg::datatypes::field_into_pg_type;
use futures::FutureExt;
use pgwire::api::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// The number of the schema `pg_catalog`, which the library's own rows refer to.
pub const PG_CATALOG: i32 = 11;

/// The number of the schema `public`, as in PostgreSQL.
pub const PUBLIC: i32 = 2200;

/// The number of the schema `information_schema`.
pub const INFORMATION_SCHEMA: i32 = 13_000;

/// What our own tables and functions are numbered from, as in PostgreSQL.
pub const FIRST_OWN: i32 = 16_384;

/// What tables of the catalogue are numbered from that have no number of their own.
const FIRST_SYSTEM: i32 = 14_000;

/// A table or view.
#[derive(Debug)]
pub struct Relation {
    /// Its number.
    pub oid: i32,
    /// Its name.
    pub name: String,
    /// The number of its schema.
    pub namespace: i32,
    /// Whether it is a view.
    pub is_view: bool,
    /// What it holds, if that is written down.
    pub comment: Option<&'static str>,
    /// The query of a view.
    pub definition: Option<String>,
    /// Its columns in order.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type on the wire.
    pub data_type: Type,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What it holds, if that is written down.
    pub comment: Option<&'static str>,
}

/// All tables and views of `public`, `pg_catalog` and `information_schema`, in this order.
///
/// # Errors
/// If a table cannot be looked up at once, or has a type that the protocol has no name for.
pub fn relations(schemas: [&Arc<dyn SchemaProvider>; 3]) -> Result<Vec<Relation>> {
    let docs: HashMap<(&str, &str), &str> = documented().map(|(t, c, doc)| ((t, c), doc)).collect();
    let known: HashMap<(&str, &str), i32> = system_tables().map(|t| ((t.schema, t.name), t.oid)).collect();
    let named = [(PUBLIC, "public"), (PG_CATALOG, "pg_catalog"), (INFORMATION_SCHEMA, "information_schema")];
    let mut all = Vec::new();
    for ((namespace, called), schema) in named.into_iter().zip(schemas) {
        let mut names = schema.table_names();
        names.sort_unstable();
        for name in names {
            let Some(table) = at_once(schema, &name)? else { continue };
            let numbered = i32::try_from(all.len()).unwrap_or(0);
            let first = if namespace == PUBLIC { FIRST_OWN } else { FIRST_SYSTEM };
            let oid = known.get(&(called, name.as_str())).copied().unwrap_or(first + numbered);
            all.push(relation(oid, name, namespace, &table, &docs)?);
        }
    }
    Ok(all)
}

/// Tables are looked up in memory, so that never has to wait.
pub fn at_once(schema: &Arc<dyn SchemaProvider>, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    schema.table(name).now_or_never().unwrap_or_else(|| {
        Err(DataFusionError::Internal(format!("looking up the table {name} had to wait for something")))
    })
}

fn relation(
    oid: i32,
    name: String,
    namespace: i32,
    table: &Arc<dyn TableProvider>,
    docs: &HashMap<(&str, &str), &'static str>,
) -> Result<Relation> {
    // A view of the newest rows has the columns of its table.
    let documented = name.strip_suffix("_latest").unwrap_or(&name);
    let comment = Table::ALL.into_iter().find(|t| t.name() == documented).map(Table::doc);
    let columns = columns(&table.schema(), |column| docs.get(&(documented, column)).copied())?;
    let definition = table.get_table_definition().map(str::to_owned);
    let is_view = table.table_type() == TableType::View;
    Ok(Relation { oid, name, namespace, is_view, comment, definition, columns })
}

fn columns(schema: &SchemaRef, doc: impl Fn(&str) -> Option<&'static str>) -> Result<Vec<Column>> {
    let column = |field: &Arc<arrow::datatypes::Field>| {
        let data_type = field_into_pg_type(field);
        let data_type = data_type.map_err(|why| DataFusionError::Internal(why.to_string()))?;
        let (name, nullable) = (field.name().clone(), field.is_nullable());
        let comment = doc(&name);
        Ok(Column { name, data_type, nullable, comment })
    };
    // The number of the table itself is not shown, as in PostgreSQL.
    wire_schema(schema).fields().iter().filter(|field| field.name() != TABLE).map(column).collect()
}
