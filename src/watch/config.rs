//! Settings of metrics and quality gauges.

use crate::units::Time;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Settings of metrics and quality gauges.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How often the quality gauges are computed.
    #[serde(with = "Time")]
    pub quality_interval: Duration,
    /// The scores of the last so much time count.
    #[serde(with = "Time")]
    pub quality_window: Duration,
    /// Most series of quality gauges; the rest is left out and counted.
    pub quality_max_series: usize,
    /// How long after its start a span may come: numbers are final no sooner, and what comes later is late.
    #[serde(with = "Time")]
    pub lateness: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            quality_interval: Duration::from_secs(15),
            quality_window: Duration::from_hours(1),
            quality_max_series: 2_000,
            lateness: Duration::from_mins(2),
        }
    }
}

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.quality_interval < Duration::from_millis(100) {
            faults.push("watch.quality_interval is below 100ms: the query would run all the time".to_owned());
        }
        if self.quality_window < Duration::from_secs(1) {
            faults.push("watch.quality_window is below 1s: no score would count".to_owned());
        }
        faults
    }
}
