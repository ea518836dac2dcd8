//! What one query reads: each table's snapshot, taken once, and whose rows of it.

use crate::lake::TableSnapshot;
use crate::net::Scope;
use crate::schema::columns::Table;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Gives the present snapshot of a table; cheap and consistent.
pub type Snapshots = Arc<dyn Fn(Table) -> TableSnapshot + Send + Sync>;

/// The snapshots of one query.
///
/// A table that a query names twice, in a join with itself or through a view, is read from the same snapshot both times.
/// Kept in the session configuration of the query, which is where scans can find it.
pub struct QuerySnapshots {
    taken: Mutex<HashMap<Table, TableSnapshot>>,
    scope: Scope,
}

impl QuerySnapshots {
    /// Nothing taken yet, for a query that sees the rows of `scope`.
    pub fn new(scope: Scope) -> Self {
        Self { taken: Mutex::default(), scope }
    }

    /// Whose rows the query sees.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The tables that were read until now.
    pub fn tables(&self) -> Vec<Table> {
        self.taken.lock().keys().copied().collect()
    }

    /// The snapshot of `table`, taken now if this is the first time that the query asks.
    pub fn get(&self, table: Table, snapshots: &Snapshots) -> TableSnapshot {
        self.taken.lock().entry(table).or_insert_with(|| snapshots(table)).clone()
    }
}
