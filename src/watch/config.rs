//! Settings of metrics and quality gauges.

use serde::{Deserialize, Serialize};

/// Settings of metrics and quality gauges.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How often the quality gauges are computed, milliseconds.
    pub quality_interval_ms: u64,
    /// The scores of the last so many seconds count.
    pub quality_window_s: u64,
    /// Most series of quality gauges; the rest is left out and counted.
    pub quality_max_series: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { quality_interval_ms: 15_000, quality_window_s: 3_600, quality_max_series: 2_000 }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.quality_interval_ms < 100 {
            faults
                .push("watch.quality_interval_ms is below 100: the query would run all the time".to_owned());
        }
        if self.quality_window_s == 0 {
            faults.push("watch.quality_window_s is 0: no score would count".to_owned());
        }
        faults
    }
}
