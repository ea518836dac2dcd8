//! The schemas `pg_catalog` and `information_schema`: our own tables before those of the library, and every table of
//! PostgreSQL's beside them, so that a query finds what it names.

use super::build::{Columns, Row, batch, table};
use super::relations::{Relation, at_once, relations};
use super::system::{SystemTable, batches, system_tables};
use super::{constants, information, lookups, sizes, tables};
use crate::sql::settings;
use crate::sql::tables::Snapshots;
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::information_schema::InformationSchemaProvider;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Tables of the engine's own information schema that its SHOW statements read.
const ENGINES: &[&str] = &["df_settings", "parameters", "routines"];

/// Puts our own tables and functions before those of the library. Comes after every table and view of `database`, whose
/// sizes are those of `snapshots`.
///
/// # Errors
/// If a schema is not there, or a table cannot be looked up at once.
pub fn register(context: &SessionContext, database: &str, snapshots: &Snapshots) -> Result<()> {
    let missing = || DataFusionError::Internal(format!("{database} lacks a schema"));
    let catalog = context.catalog(database).ok_or_else(missing)?;
    let public = catalog.schema("public").ok_or_else(missing)?;
    let library = catalog.schema("pg_catalog").ok_or_else(missing)?;
    let engine: Arc<dyn SchemaProvider> =
        Arc::new(InformationSchemaProvider::new(context.state().catalog_list().clone()));
    let systems: Vec<SystemTable> = system_tables().collect();
    // First what there is, without rows: the rows of the catalogue tell of the catalogue too.
    let (system, information) = schemas(&systems, &library, &engine, &[], database)?;
    let relations = relations([&public, &system, &information])?;
    let (system, information) = schemas(&systems, &library, &engine, &relations, database)?;
    let types = at_once(&library, "pg_type")?.and_then(|types| batches(&types)).unwrap_or_default();
    put(&catalog, "pg_catalog", system)?;
    put(&catalog, "information_schema", information)?;
    lookups::register(context, &relations, &types);
    sizes::register(context, &relations, snapshots);
    constants::register(context);
    Ok(())
}

fn put(catalog: &Arc<dyn CatalogProvider>, name: &str, schema: Arc<dyn SchemaProvider>) -> Result<()> {
    catalog.register_schema(name, schema).map(|_| ())
}

/// `pg_catalog` and `information_schema`.
type Schemas = (Arc<dyn SchemaProvider>, Arc<dyn SchemaProvider>);

fn schemas(
    systems: &[SystemTable],
    library: &Arc<dyn SchemaProvider>,
    engine: &Arc<dyn SchemaProvider>,
    relations: &[Relation],
    database: &str,
) -> Result<Schemas> {
    let mut own: BTreeMap<&str, Arc<dyn TableProvider>> = BTreeMap::new();
    for (name, columns, rows) in made(relations, database) {
        own.insert(name, table(columns, &rows)?);
    }
    let mut listed: BTreeMap<&str, Vec<Row>> = information::made(relations, database).into_iter().collect();
    listed.insert("pg_settings", tables::settings(settings::all()));
    listed.insert("pg_user", tables::users());
    let (mut catalog, mut information) = (BTreeMap::new(), BTreeMap::new());
    for system in systems {
        let (name, schema) = (system.name, system.schema);
        if schema == "information_schema" {
            if !ENGINES.contains(&name) {
                let rows = listed.get(name).map(Vec::as_slice).unwrap_or_default();
                information.insert(name, system.with_rows(rows)?);
            }
            continue;
        }
        let there = match own.remove(name) {
            Some(own) => Some(own),
            None if listed.contains_key(name) => None,
            None => at_once(library, name)?,
        };
        let whole = match there {
            Some(there) => system.completed(there)?,
            None => system.with_rows(listed.get(name).map(Vec::as_slice).unwrap_or_default())?,
        };
        catalog
            .insert(name, if name == "pg_proc" { with_rows(&whole, &tables::functions())? } else { whole });
    }
    let catalog = System { tables: catalog, rest: library.clone() };
    let information = System { tables: information, rest: engine.clone() };
    Ok((Arc::new(catalog), Arc::new(information)))
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

/// A schema of tables that are made once, and what else its first provider has.
#[derive(Debug)]
struct System {
    tables: BTreeMap<&'static str, Arc<dyn TableProvider>>,
    rest: Arc<dyn SchemaProvider>,
}

#[async_trait]
impl SchemaProvider for System {
    fn table_names(&self) -> Vec<String> {
        let own = self.tables.keys().map(|name| (*name).to_owned());
        own.chain(self.rest.table_names()).collect::<BTreeSet<String>>().into_iter().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let name = name.to_lowercase();
        match self.tables.get(name.as_str()) {
            Some(own) => Ok(Some(own.clone())),
            None => self.rest.table(&name).await,
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.contains_key(name.to_lowercase().as_str()) || self.rest.table_exist(name)
    }
}
