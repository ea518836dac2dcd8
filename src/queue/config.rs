//! Settings of the queue.

use super::lane::Lane;
use serde::{Deserialize, Serialize};

/// Settings of the queue.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Most items that failed or expired and are kept, so that they can be put back; the oldest are forgotten first.
    pub max_failed_items: usize,
    /// Most bytes of items that failed or expired and are kept.
    pub max_failed_bytes: usize,
    /// Most bytes of the queue's log on the disk; beyond, the journal keeps what the log does not take.
    pub max_disk_bytes: u64,
    /// Evaluators that answer at once.
    pub fast: LaneConfig,
    /// Evaluators that take long, or wait for others.
    pub slow: LaneConfig,
}

/// The limits of one lane.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LaneConfig {
    /// Most items in the lane; more are decided `throttled`.
    pub max_items: usize,
    /// Most bytes of items in the lane; more are decided `throttled`.
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

impl Default for LaneConfig {
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

impl Default for Config {
    fn default() -> Self {
        Self {
            max_failed_items: 1_000,
            max_failed_bytes: 64 << 20,
            max_disk_bytes: 4 << 30,
            fast: LaneConfig::default(),
            slow: LaneConfig { max_age_s: 86_400, ..LaneConfig::default() },
        }
    }
}

impl Config {
    /// The limits of `lane`.
    pub fn lane(&self, lane: Lane) -> &LaneConfig {
        match lane {
            Lane::Fast => &self.fast,
            Lane::Slow => &self.slow,
        }
    }

    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for lane in Lane::ALL {
            let (limits, name) = (self.lane(lane), lane.as_str());
            if limits.max_attempts == 0 {
                faults.push(format!("queue.{name}.max_attempts is 0: nothing would be evaluated"));
            }
            if limits.max_items == 0 || limits.max_bytes == 0 {
                faults.push(format!("queue.{name}.max_items and queue.{name}.max_bytes must be above 0"));
            }
        }
        faults
    }
}
