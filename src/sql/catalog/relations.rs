//! The tables and views of the engine, with numbers, types and comments.

use crate::schema::columns::Table;
use crate::sql::format::wire_schema;
use crate::sql::tables::documented;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::information_schema::InformationSchemaProvider;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::TableType;
use datafusion::prelude::SessionContext;
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
const FIRST_SYSTEM: i32 = 13_100;

/// Tables whose number clients know by heart.
const KNOWN: &[(&str, i32)] = &[
    ("pg_type", 1247),
    ("pg_attribute", 1249),
    ("pg_proc", 1255),
    ("pg_class", 1259),
    ("pg_database", 1262),
    ("pg_attrdef", 2604),
    ("pg_constraint", 2606),
    ("pg_description", 2609),
    ("pg_index", 2610),
    ("pg_namespace", 2615),
    ("pg_trigger", 2620),
    ("pg_extension", 3079),
];

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

/// All tables and views, those of schema `public` first.
///
/// # Errors
/// If a table cannot be looked up at once, or has a type that the protocol has no name for.
pub fn relations(
    context: &SessionContext,
    public: &Arc<dyn SchemaProvider>,
    system: &Arc<dyn SchemaProvider>,
) -> Result<Vec<Relation>> {
    let information: Arc<dyn SchemaProvider> =
        Arc::new(InformationSchemaProvider::new(context.state().catalog_list().clone()));
    let docs: HashMap<(&str, &str), &str> = documented().map(|(t, c, doc)| ((t, c), doc)).collect();
    let mut all = Vec::new();
    for (namespace, schema) in [(PUBLIC, public), (PG_CATALOG, system), (INFORMATION_SCHEMA, &information)] {
        let mut names = schema.table_names();
        names.sort_unstable();
        for name in names {
            let Some(table) = at_once(schema, &name)? else { continue };
            let numbered = i32::try_from(all.len()).unwrap_or(0);
            let oid = match namespace {
                PUBLIC => FIRST_OWN + numbered,
                _ => known(&name).unwrap_or(FIRST_SYSTEM + numbered),
            };
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

fn known(name: &str) -> Option<i32> {
    KNOWN.iter().find(|(known, _)| *known == name).map(|(_, oid)| *oid)
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
    wire_schema(schema).fields().iter().map(column).collect()
}
