//! How many rows of each tenant a file has. Files do not change, so each is looked into once.

use super::super::config::has_tenant;
use super::super::error::LakeError;
use super::super::read::read_columns;
use super::super::snapshot::DataFile;
use crate::schema::columns::Table;
use arrow::array::AsArray;
use object_store::ObjectStore;
use object_store::path::Path;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What was found in files so far.
#[derive(Default)]
pub struct Tenants {
    known: HashMap<(Table, Path), Vec<(String, u64)>>,
}

impl Tenants {
    /// The tenants of a file of `table`, by name, with how many rows each has; empty if the table has no tenants.
    pub async fn of(
        &mut self,
        store: &Arc<dyn ObjectStore>,
        table: Table,
        file: &DataFile,
    ) -> Result<Vec<(String, u64)>, LakeError> {
        if !has_tenant(table) {
            return Ok(Vec::new());
        }
        let key = (table, file.path.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        for batch in read_columns(store, file, &["tenant"]).await? {
            let Some(column) = batch.column_by_name("tenant").and_then(|c| c.as_string_opt::<i32>()) else {
                continue;
            };
            for tenant in column.iter().flatten() {
                match rows.get_mut(tenant) {
                    Some(rows) => *rows += 1,
                    None => drop(rows.insert(tenant.to_owned(), 1)),
                }
            }
        }
        let found: Vec<_> = rows.into_iter().collect();
        self.known.insert(key, found.clone());
        Ok(found)
    }

    /// Forgets files that are not there any more.
    pub fn keep(&mut self, there: &HashSet<(Table, Path)>) {
        self.known.retain(|key, _| there.contains(key));
    }
}
