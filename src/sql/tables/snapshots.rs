//! The snapshots that one query reads, each taken once.

use crate::domain::columns::Table;
use crate::lake::TableSnapshot;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Gives the present snapshot of a table; cheap and consistent.
pub type Snapshots = Arc<dyn Fn(Table) -> TableSnapshot + Send + Sync>;

/// The snapshots of one query.
///
/// A table that a query names twice, in a join with itself or through a view, is read from the same snapshot both times.
/// Kept in the session configuration of the query, which is where scans can find it.
#[derive(Default)]
pub struct QuerySnapshots {
    taken: Mutex<HashMap<Table, TableSnapshot>>,
}

impl QuerySnapshots {
    /// The snapshot of `table`, taken now if this is the first time that the query asks.
    pub fn get(&self, table: Table, snapshots: &Snapshots) -> TableSnapshot {
        self.taken.lock().entry(table).or_insert_with(|| snapshots(table)).clone()
    }
}
