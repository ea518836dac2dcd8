//! What a query may use.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Limits of queries; each holds on every door. Names of the keys appear in the error that a limit causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Memory that all queries share for their sorts, joins, groups and collected results, bytes.
    pub memory_bytes: usize,
    /// How long a query may take from its arrival to its last row, milliseconds.
    pub timeout_ms: u64,
    /// Rows that a result may have.
    pub max_rows: u64,
    /// Bytes that a result may have, counted as Arrow arrays.
    pub max_result_bytes: u64,
    /// Queries that run at once; four times as many may wait for their turn.
    pub max_concurrent: usize,
    /// Bytes that the text of a query may have.
    pub max_sql_bytes: usize,
    /// Parallel parts of one query, and threads that all queries share.
    pub target_partitions: usize,
    /// Open connections of the PostgreSQL port.
    pub max_connections: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            timeout_ms: 30_000,
            max_rows: 1_000_000,
            max_result_bytes: 256 << 20,
            max_concurrent: 8,
            max_sql_bytes: 1 << 20,
            target_partitions: 2,
            max_connections: 64,
        }
    }
}

impl Config {
    /// Every fault of these values, one sentence each; empty when they can be used.
    pub fn faults(&self) -> Vec<String> {
        let checks = [
            (self.memory_bytes >= 1 << 20, "memory_bytes must be at least 1048576"),
            (self.timeout_ms >= 1, "timeout_ms must be at least 1"),
            (self.max_rows >= 1, "max_rows must be at least 1"),
            (self.max_result_bytes >= 1, "max_result_bytes must be at least 1"),
            (self.max_concurrent >= 1, "max_concurrent must be at least 1"),
            (self.max_concurrent <= 1024, "max_concurrent must be at most 1024"),
            (self.max_sql_bytes >= 1, "max_sql_bytes must be at least 1"),
            (self.target_partitions >= 1, "target_partitions must be at least 1"),
            (self.target_partitions <= 256, "target_partitions must be at most 256"),
            (self.max_connections >= 1, "max_connections must be at least 1"),
        ];
        checks.iter().filter(|(holds, _)| !holds).map(|(_, fault)| (*fault).to_owned()).collect()
    }

    /// The time limit.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// Queries that may wait for their turn; one more is told to come back later.
    pub fn max_waiting(&self) -> usize {
        self.max_concurrent * 4
    }
}
