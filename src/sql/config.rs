//! What a query may use.

use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What `min_n_eff` may be at most: a view that is empty for ever is a mistake.
const MOST_N_EFF: f64 = 1e6;

/// Limits of queries; each holds on every endpoint. Names of the keys appear in the error that a limit causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Memory that all queries share for their sorts, joins, groups and collected results.
    pub max_memory: ByteSize,
    /// How long a query may take from its arrival to its last row.
    #[serde(with = "Time")]
    pub timeout: Duration,
    /// Rows that a result may have.
    pub max_rows: u64,
    /// Largest result, counted as Arrow arrays.
    pub max_result_size: ByteSize,
    /// Queries that run at once; four times as many may wait for their turn.
    pub max_concurrent: usize,
    /// Longest text of a query.
    pub max_sql_size: ByteSize,
    /// Parallel parts of one query, and threads that all queries share.
    pub target_partitions: usize,
    /// Open connections of the PostgreSQL port.
    pub max_connections: usize,
    /// Effective sample size below which an estimate and its interval are NULL in quality views, NaN in quality gauges; 0 shows all.
    pub min_n_eff: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_memory: ByteSize::mib(512),
            timeout: Duration::from_secs(30),
            max_rows: 1_000_000,
            max_result_size: ByteSize::mib(256),
            max_concurrent: 8,
            max_sql_size: ByteSize::mib(1),
            target_partitions: 2,
            max_connections: 64,
            min_n_eff: 2.0,
        }
    }
}

impl Config {
    /// Every fault of these values, one sentence each; empty when they can be used.
    pub fn faults(&self) -> Vec<String> {
        let checks = [
            (self.max_memory >= ByteSize::mib(1), "max_memory must be at least 1MiB"),
            (self.timeout >= Duration::from_millis(1), "timeout must be at least 1ms"),
            (self.max_rows >= 1, "max_rows must be at least 1"),
            (!self.max_result_size.is_zero(), "max_result_size must be at least 1B"),
            (self.max_concurrent >= 1, "max_concurrent must be at least 1"),
            (self.max_concurrent <= 1024, "max_concurrent must be at most 1024"),
            (!self.max_sql_size.is_zero(), "max_sql_size must be at least 1B"),
            (self.target_partitions >= 1, "target_partitions must be at least 1"),
            (self.target_partitions <= 256, "target_partitions must be at most 256"),
            (self.max_connections >= 1, "max_connections must be at least 1"),
            ((0.0..=MOST_N_EFF).contains(&self.min_n_eff), "min_n_eff must be 0 to 1000000"),
        ];
        checks.iter().filter(|(holds, _)| !holds).map(|(_, fault)| format!("sql.{fault}")).collect()
    }

    /// Queries that may wait for their turn; one more is told to come back later.
    pub fn max_waiting(&self) -> usize {
        self.max_concurrent * 4
    }
}
