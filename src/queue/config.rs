//! Settings of the queue.

use crate::units::{ByteSize, Time};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Settings of the queue.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Most items in the queue; more are decided `throttled`.
    pub max_items: usize,
    /// Most bytes of items in the queue; more are decided `throttled`.
    pub max_size: ByteSize,
    /// An item that waited longer is decided `expired`.
    #[serde(with = "Time")]
    pub max_age: Duration,
    /// How long a worker may hold an item; then another one may take it.
    #[serde(with = "Time")]
    pub lease: Duration,
    /// Attempts before an item is given up (`failed`).
    pub max_attempts: u32,
    /// The wait before the second attempt; it doubles with each further one.
    #[serde(with = "Time")]
    pub retry_backoff: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_items: 20_000,
            max_size: ByteSize::mib(256),
            max_age: Duration::from_hours(1),
            lease: Duration::from_mins(2),
            max_attempts: 4,
            retry_backoff: Duration::from_secs(1),
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
        if self.max_items == 0 || self.max_size.is_zero() {
            faults.push("queue.max_items and queue.max_size must be above 0".to_owned());
        }
        faults
    }
}
