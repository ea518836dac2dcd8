//! Settings of the queue.

use serde::{Deserialize, Serialize};

/// Settings of the queue.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Most items in the queue; more are decided `throttled`.
    pub max_items: usize,
    /// Most bytes of items in the queue; more are decided `throttled`.
    pub max_bytes: usize,
    /// An item that waited longer is decided `expired`, seconds.
    pub max_age_s: u64,
    /// How long a worker may hold an item, seconds; then another one may take it.
    pub lease_s: u64,
    /// Attempts before an item is given up (`failed`).
    pub max_attempts: u32,
    /// The wait before the second attempt, milliseconds; it doubles with each further one.
    pub retry_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_items: 20_000,
            max_bytes: 256 << 20,
            max_age_s: 3_600,
            lease_s: 120,
            max_attempts: 4,
            retry_ms: 1_000,
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.max_attempts == 0 {
            faults.push("queue.max_attempts is 0: nothing would be evaluated".to_owned());
        }
        if self.max_items == 0 || self.max_bytes == 0 {
            faults.push("queue.max_items and queue.max_bytes must be above 0".to_owned());
        }
        faults
    }
}
