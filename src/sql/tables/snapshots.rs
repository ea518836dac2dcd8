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
    turn: tokio::sync::Mutex<()>,
}

impl QuerySnapshots {
    /// Nothing taken yet, for a query that sees the rows of `scope`.
    pub fn new(scope: Scope) -> Self {
        Self { taken: Mutex::default(), scope, turn: tokio::sync::Mutex::default() }
    }

    /// Whose rows the query sees.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Waits until nothing else of the query has the turn, which ends when the guard is dropped: what reads as much as a whole query
    /// may, such as a table that is made of other queries, takes it, however many of them the query names.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
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
